/* interp_code.c - decodes a kernel for the interpreter: operands become offsets, regions jumps. */
#include "ir/interp/interp_code.h"

#include <string.h>

enum { ALIGN = 128 };

typedef struct decoder {
    const td_fn *f;
    const uint64_t *args;
    td_arena *mem;
    td_prog *p;
    uint32_t *root;           /* for each pointer: index of the td_code_ptr that it was made from */
    size_t ndynamic, dynamic; /* bytes, and where they begin */
    bool has_dynamic;
    uint32_t *pc;                   /* of each instruction: the first code at or after it */
    uint32_t loop[TD_DEPTH], depth; /* open for, loop and block instructions */
} decoder;

static td_status
bad(const decoder *d, uint32_t i, td_status st, const char *why)
{
    const td_inst *s = &d->f->ins[i];

    return td_fail(st, "kernel %s: %%%u (%s, line %u): %s", d->f->name, i, td_optab[s->op].name,
                   s->line, why);
}

static td_code *
emit_code(decoder *d, uint32_t i, td_code_kind kind)
{
    const td_inst *s = &d->f->ins[i];
    td_code *c = &d->p->code[d->p->ncode++];
    uint32_t *operand[TD_MAXARG] = {&c->a, &c->b, &c->c, &c->d, &c->e};

    *c = (td_code){.kind = kind,
                   .out = d->p->word[i],
                   .at = i,
                   .lanes = s->lanes,
                   .step = 1,
                   .dt = (td_dtype)s->dt};
    for (int k = 0; k < TD_MAXARG; k++)
        *operand[k] = s->arg[k].i < i ? d->p->word[s->arg[k].i] : UINT32_MAX;
    return c;
}

static void
interp_code_fill(decoder *d, uint32_t i, td_word w)
{
    for (int l = 0; l < d->f->ins[i].lanes; l++)
        d->p->init[d->p->word[i] + (uint32_t)l] = w;
}

/* A constant as a word: floats as the bits of a double, integers as the element's. */
td_word
td_interp_constant(const td_inst *s)
{
    td_word w = {.u = s->imm};
    float f;
    uint16_t h;

    switch (s->dt) {
    case TD_F64: return w;
    case TD_F32: f = (float)w.d; return td_interp_word(TD_F32, &f);
    case TD_F16:
    case TD_BF16:
        h = s->dt == TD_F16 ? td_double_to_half(w.d) : td_double_to_bfloat(w.d);
        return td_interp_word((td_dtype)s->dt, &h);
    }
    return td_interp_word((td_dtype)s->dt, &s->imm);
}

static td_status
new_pointer(decoder *d, uint32_t i)
{
    const td_inst *s = &d->f->ins[i];
    size_t *total = s->op == OP_local ? &d->p->nlocal : &d->p->nshared;
    td_code_ptr *p = &d->p->ptr[d->p->nptr];

    if (s->op == OP_at) {
        d->root[i] = d->root[s->arg[0].i];
        return TD_OK;
    }
    d->root[i] = d->p->nptr++;
    *p = (td_code_ptr){.op = (td_op)s->op, .at = i, .word = d->p->word[i]};
    if (s->op == OP_param)
        p->base = (uintptr_t)d->args[s->imm];
    if (s->op == OP_param || s->op == OP_pointer)
        return TD_OK;
    p->nbytes = d->ndynamic;
    if (s->op == OP_dynamic && d->has_dynamic) { /* all dynamic instructions name the same memory */
        p->offset = d->dynamic;
        return TD_OK;
    }
    if (s->op != OP_dynamic &&
        __builtin_mul_overflow(s->imm, td_dtype_size((td_dtype)s->dt), &p->nbytes))
        return bad(d, i, TD_ERR_VALUE, "the array's size does not fit");
    p->offset = (*total + ALIGN - 1) & ~(size_t)(ALIGN - 1);
    if (__builtin_add_overflow(p->offset, p->nbytes, total) || *total > SIZE_MAX / 4)
        return bad(d, i, TD_ERR_VALUE, "the array's size does not fit");
    if (s->op == OP_dynamic) {
        d->has_dynamic = true;
        d->dynamic = p->offset;
    }
    return TD_OK;
}

/* Puts what is known before a thread runs into init.  True: i then needs no code. */
static bool
preset(decoder *d, uint32_t i)
{
    const td_inst *s = &d->f->ins[i];

    switch (s->op) {
    case OP_param:
        interp_code_fill(
            d, i,
            td_interp_word(s->flags & TD_INST_PTR ? TD_U64 : (td_dtype)s->dt, &d->args[s->imm]));
        return true;
    case OP_const:   interp_code_fill(d, i, td_interp_constant(s)); return true;
    case OP_shared:
    case OP_local:
    case OP_dynamic: /* set when a thread starts */
    case OP_slot:    return true;
    case OP_iota:
        for (int l = 0; l < s->lanes; l++)
            d->p->init[d->p->word[i] + (uint32_t)l].i = l;
        return true;
    }
    return false;
}

/* d: the member mask, an exchange's last operand; e: how many bytes an operand has. */
static void
wait_at(decoder *d, uint32_t i)
{
    const td_inst *s = &d->f->ins[i];
    int members = td_op_members(s->op);
    td_code *c = emit_code(d, i, CODE_WAIT);

    c->imm = (int64_t)s->imm;
    c->d = members < 0 ? UINT32_MAX : d->p->word[s->arg[members].i];
    if (td_optab[s->op].arity)
        c->e = (uint32_t)td_dtype_size((td_dtype)td_at(d->f, s->arg[0])->dt);
    d->p->waits = true;
    d->p->meets = d->p->meets || s->op == OP_grid_barrier;
}

/* A load, store or atomic. */
static td_code *
memory_code(decoder *d, uint32_t i, td_code_kind kind)
{
    const td_inst *s = &d->f->ins[i];
    td_code *c = emit_code(d, i, kind);

    c->ptr = d->root[s->arg[0].i];
    c->step = td_at(d->f, s->arg[1])->lanes > 1;
    c->imm = (int64_t)s->imm;
    return c;
}

/* CODE_INDEX's number of axis 0. */
static const uint8_t place_of[OP_COUNT] = {
    [OP_tid] = 0, [OP_bid] = 3, [OP_bdim] = 6, [OP_gdim] = 9};

/* Do threads come together in it? */
static bool
meets(unsigned op)
{
    return td_op_is_barrier(op) || td_op_is_exchange(op);
}

static td_status
decode_value(decoder *d, uint32_t i)
{
    const td_inst *s = &d->f->ins[i];
    uint32_t mask;
    td_code *c;

    if (meets(s->op)) {
        wait_at(d, i);
        return TD_OK;
    }
    if (td_interp_core((td_op)s->op)) {
        c = emit_code(d, i, CODE_RUN);
        c->a = c->a == UINT32_MAX ? c->out : c->a; /* as below */
        c->b = c->b == UINT32_MAX ? c->out : c->b;
        c->c = c->c == UINT32_MAX ? c->out : c->c;
        c->run = td_interp_core((td_op)s->op);
        return TD_OK;
    }
    if (s->op < TD_OPS || s->op == OP_cast) {
        td_dtype dt = (td_dtype)td_at(d->f, s->arg[td_optab[s->op].arity - 1])->dt;

        c = emit_code(d, i, CODE_RUN);
        c->b = c->b == UINT32_MAX ? c->a : c->b; /* missing operands are read but not used */
        c->c = c->c == UINT32_MAX ? c->a : c->c;
        c->run = s->op == OP_cast ? td_interp_cast(dt, (td_dtype)s->dt)
                                  : td_interp_elt((td_op)s->op, dt);
        return c->run ? TD_OK
                      : bad(d, i, TD_ERR_JIT,
                            "is spelled with other operations, and was not expanded");
    }
    switch (s->op) {
    case OP_bitcast: emit_code(d, i, CODE_BITCAST); break;
    case OP_splat:   emit_code(d, i, CODE_SPLAT); break;
    case OP_rotate:
        c = emit_code(d, i, CODE_ROTATE);
        c->imm = ((int64_t)s->imm % s->lanes + s->lanes) % s->lanes;
        break;
    case OP_zip:       emit_code(d, i, CODE_ZIP); break;
    case OP_unzip:     emit_code(d, i, CODE_UNZIP)->imm = (int64_t)s->imm; break;
    case OP_extract:   emit_code(d, i, CODE_SPLAT)->a += (uint32_t)s->imm; break;
    case OP_get:       emit_code(d, i, CODE_COPY); break;
    case OP_tid:
    case OP_bid:
    case OP_bdim:
    case OP_gdim:      emit_code(d, i, CODE_INDEX)->imm = place_of[s->op] + (int64_t)s->imm; break;
    case OP_permute:   emit_code(d, i, CODE_PERMUTE); break;
    case OP_any:       emit_code(d, i, CODE_ANY)->imm = td_at(d->f, s->arg[0])->lanes; break;
    case OP_all:       emit_code(d, i, CODE_ALL)->imm = td_at(d->f, s->arg[0])->lanes; break;
    case OP_bits:      emit_code(d, i, CODE_BITS)->imm = td_at(d->f, s->arg[0])->lanes; break;
    case OP_unbits:    emit_code(d, i, CODE_UNBITS); break;
    case OP_at:        emit_code(d, i, CODE_AT); break;
    case OP_address:
    case OP_pointer:   emit_code(d, i, CODE_COPY); break;
    case OP_piece_end: emit_code(d, i, CODE_COPY)->a += 1; break;
    case OP_piece:     emit_code(d, i, CODE_COPY)->a += 2; break;
    case OP_lane:      emit_code(d, i, CODE_INDEX)->imm = INDEX_LANE; break;
    case OP_load:
        c = memory_code(d, i, CODE_LOAD);
        c->d = c->c;
        c->c = UINT32_MAX;
        break;
    case OP_atomic_cas:
        c = memory_code(d, i, CODE_CAS);
        mask = c->e;
        c->e = c->d;
        c->d = mask;
        break;
    default:
        c = memory_code(d, i, CODE_ATOMIC);
        c->run = td_interp_atomic((td_op)s->op, (td_dtype)s->dt);
    }
    return TD_OK;
}

static td_code *
decode_pieces(decoder *d, uint32_t i, td_code_kind kind)
{
    td_code *c = emit_code(d, i, kind);

    c->imm = (int64_t)d->f->ins[i].imm;
    c->d = d->p->word[i];
    c->e = d->p->word[d->f->ins[i].jump];
    return c;
}

static void
decode_end(decoder *d, uint32_t i)
{
    const td_inst *opener = &d->f->ins[d->f->ins[i].jump];
    td_code *c;

    if (opener->op == OP_func) {
        emit_code(d, i, CODE_RETURN);
    } else if (opener->op == OP_parallel) {
        c = decode_pieces(d, (uint32_t)(opener - d->f->ins), CODE_PIECE);
        c->jump = c->at + 1;
    } else if (opener->op == OP_for) {
        c = emit_code(d, (uint32_t)(opener - d->f->ins), CODE_NEXT);
        c->jump = c->at + 1;
        d->depth--;
    } else if (opener->op == OP_loop) {
        emit_code(d, i, d->p->spins ? CODE_AGAIN : CODE_JUMP)->jump = d->f->ins[i].jump + 1;
        d->depth--;
    } else if (opener->op == OP_block) {
        d->depth--;
    }
}

static void
decode_call(decoder *d, uint32_t i)
{
    td_code *c = emit_code(d, i, CODE_CALL);
    uint32_t k = 0;

    while (d->f->ins[k].op != OP_func || d->f->ins[k].imm != d->f->ins[i].imm)
        k++; /* the verifier has checked it */
    c->out = c->d = d->p->word[k];
    c->e = d->p->word[d->f->ins[k].jump];
    c->jump = k + 1;
}

/* Jumps still name instructions; td_prog_new turns them into code indices. */
static void
decode_control(decoder *d, uint32_t i)
{
    const td_inst *s = &d->f->ins[i];
    td_code *c;

    if (meets(s->op)) {
        wait_at(d, i);
        return;
    }
    switch (s->op) {
    case OP_store: memory_code(d, i, CODE_STORE); break;
    case OP_set:
        c = emit_code(d, i, CODE_COPY);
        c->out = c->a;
        c->a = c->b;
        break;
    case OP_fence: emit_code(d, i, CODE_FENCE); break;
    case OP_if:    emit_code(d, i, CODE_UNLESS)->jump = s->jump + 1; break;
    case OP_else:  emit_code(d, i, CODE_JUMP)->jump = s->jump + 1; break;
    case OP_break_if:
        emit_code(d, i, CODE_BREAK)->jump = d->f->ins[d->loop[d->depth - 1 - s->imm]].jump + 1;
        break;
    case OP_for:
        emit_code(d, i, CODE_FOR)->jump = s->jump + 1;
        d->loop[d->depth++] = i;
        break;
    case OP_loop:
    case OP_block:    d->loop[d->depth++] = i; break;
    case OP_exit_if:  emit_code(d, i, CODE_EXIT); break;
    case OP_release:  emit_code(d, i, CODE_RELEASE); break;
    case OP_parallel: decode_pieces(d, i, CODE_PIECES)->jump = s->jump + 1; break;
    case OP_func:     emit_code(d, i, CODE_JUMP)->jump = s->jump + 1; break;
    case OP_call:     decode_call(d, i); break;
    case OP_end:      decode_end(d, i); break;
    }
}

/* Assigns words to every value and an entry to every pointer. */
static td_status
interp_code_place(decoder *d)
{
    td_prog *p = d->p;

    for (uint32_t i = 0; i < d->f->n; i++) {
        const td_inst *s = &d->f->ins[i];

        if (td_dtype_is_complex((td_dtype)s->dt))
            return bad(d, i, TD_ERR_TYPE, "complex values are not interpreted");
        d->p->word[i] = (uint32_t)p->nwords;
        p->nwords += s->op == OP_parallel ? 3 : td_optab[s->op].value ? s->lanes : 0;
        if (s->flags & TD_INST_PTR)
            TD_TRY(new_pointer(d, i));
    }
    return TD_OK;
}

td_status
td_prog_new(const td_fn *f, const uint64_t *args, size_t ndynamic, td_arena *mem, td_prog *out)
{
    decoder d = {.f = f, .args = args, .ndynamic = ndynamic, .mem = mem, .p = out};

    *out = (td_prog){.fn = f};
    out->word = td_alloc_big(mem, (f->n + 1) * sizeof *out->word);
    d.root = td_alloc_big(mem, (f->n + 1) * sizeof *d.root);
    d.pc = td_alloc_big(mem, (f->n + 1) * sizeof *d.pc);
    out->code = td_alloc_big(mem, (f->n + 1) * sizeof *out->code);
    out->ptr = td_alloc_big(mem, (f->n + 1) * sizeof *out->ptr);
    if (mem->failed)
        return td_fail(TD_ERR_NOMEM, "kernel %s: interpreter, %u instructions", f->name, f->n);
    TD_TRY(td_fn_waits(f, mem, &out->spins));
    out->waits = out->spins;
    TD_TRY(interp_code_place(&d));
    out->init = td_alloc_big(mem, (out->nwords + 1) * sizeof *out->init);
    if (!out->init)
        return td_fail(TD_ERR_NOMEM, "kernel %s: interpreter, %zu words", f->name, out->nwords);
    for (uint32_t i = 0; i < f->n; i++) {
        d.pc[i] = out->ncode;
        if (preset(&d, i))
            continue;
        if (!td_optab[f->ins[i].op].value || td_op_opens(f->ins[i].op))
            decode_control(&d, i);
        else
            TD_TRY(decode_value(&d, i));
    }
    d.pc[f->n] = out->ncode;
    for (uint32_t k = 0; k < out->ncode; k++)
        out->code[k].jump = d.pc[out->code[k].jump];
    out->code[out->ncode++] = (td_code){.kind = CODE_DONE};
    return TD_OK;
}
