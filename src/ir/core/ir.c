/* ir.c - the builder.  It checks operands at once, so that a wrong emission fails with its own name and its caller on
 * the stack; verify.c checks scopes and regions of the complete kernel. */
#include "ir/core/ir.h"

#include "ir/core/expr.h"

#include <string.h>

td_fn
td_fn_new(td_arena *mem, const char *name)
{
    return (td_fn){.mem = mem, .name = name, .warp = TD_WARP};
}

td_val
td_push(td_fn *f, td_inst s)
{
    if (f->st)
        return (td_val){0};
    if (f->n == f->cap) {
        uint32_t cap = f->cap ? f->cap * 2 : 64;
        td_inst *p = td_alloc_big(f->mem, cap * sizeof *p);

        if (!p) {
            f->st = td_fail(TD_ERR_NOMEM, "kernel %s: %u instructions", f->name, cap);
            return (td_val){0};
        }
        if (f->n)
            memcpy(p, f->ins, f->n * sizeof *p);
        f->ins = p;
        f->cap = cap;
    }
    s.line = f->line;
    s.from = f->from;
    f->ins[f->n] = s;
    return (td_val){f->n++};
}

td_inst
td_inst_new(td_op op, td_dtype dt, int lanes)
{
    td_inst s = {.op = (uint16_t)op, .dt = (uint8_t)dt, .lanes = (uint8_t)lanes};

    for (int a = 0; a < TD_MAXARG; a++)
        s.arg[a] = TD_NONE;
    if (td_optab[op].value == 2)
        s.flags = TD_INST_PTR;
    return s;
}

static int
lanes_of(const td_fn *f, td_val v)
{
    return f->st || v.i == UINT32_MAX ? 1 : td_at(f, v)->lanes;
}

static td_dtype
dt_of(const td_fn *f, td_val v)
{
    return f->st ? TD_BOOL : (td_dtype)td_at(f, v)->dt;
}

static td_val
param(td_fn *f, td_dtype dt, uint32_t flags)
{
    td_inst s = td_inst_new(OP_param, dt, 1);

    s.flags = flags;
    s.imm = f->nparam++;
    return td_push(f, s);
}

td_val
td_param(td_fn *f, td_dtype dt)
{
    return param(f, dt, 0);
}

td_val
td_param_ptr(td_fn *f, td_dtype dt)
{
    return param(f, dt, TD_INST_PTR);
}

td_val
td_const(td_fn *f, td_dtype dt, double val)
{
    td_inst s = td_inst_new(OP_const, dt, 1);

    if (td_dtype_is_float(dt))
        memcpy(&s.imm, &val, sizeof val);
    else
        s.imm = (uint64_t)(int64_t)val;
    return td_push(f, s);
}

td_val
td_const_int(td_fn *f, td_dtype dt, int64_t val)
{
    td_inst s = td_inst_new(OP_const, dt, 1);

    if (td_dtype_is_float(dt))
        return td_const(f, dt, (double)val);
    s.imm = dt == TD_BOOL ? val != 0 : (uint64_t)val;
    return td_push(f, s);
}

static int
widest(const td_fn *f, const td_val *arg, int n)
{
    int w = 1;

    for (int i = 0; i < n; i++)
        if (lanes_of(f, arg[i]) > w)
            w = lanes_of(f, arg[i]);
    return w;
}

/* Splats one-lane operands and checks dtypes; the operation's dtype is that of its last operand. */
static td_dtype
prepare(td_fn *f, td_op op, const td_val *arg, td_val *out)
{
    const td_opinfo *o = &td_optab[op];
    td_dtype dt = dt_of(f, arg[o->arity - 1]);
    int w = widest(f, arg, o->arity);

    if (!f->st && !td_op_admits(op, dt))
        f->st = td_fail(TD_ERR_TYPE, "%s: not defined for %s", o->name, td_dtype_name(dt));
    for (int i = 0; i < o->arity; i++) {
        td_dtype want = op == OP_select && i == 0 ? TD_BOOL : dt;

        if (!f->st && dt_of(f, arg[i]) != want)
            f->st = td_fail(TD_ERR_TYPE, "%s: operand %d is %s, not %s", o->name, i,
                            td_dtype_name(dt_of(f, arg[i])), td_dtype_name(want));
        out[i] = td_splat(f, arg[i], w);
    }
    return dt;
}

td_val
td_emit_raw(td_fn *f, td_op op, const td_val *arg)
{
    td_val x[TD_MAXARG];
    td_dtype dt;
    td_inst s;

    TD_ASSERT(op < TD_OPS);
    if (f->st)
        return (td_val){0};
    dt = prepare(f, op, arg, x);
    s = td_inst_new(op, td_op_result(op, dt), lanes_of(f, x[0]));
    memcpy(s.arg, x, td_optab[op].arity * sizeof *x);
    return td_push(f, s);
}

/* Selects between half types by their bits, since the IR has no arithmetic on halves. */
static td_val
select_bits(td_fn *f, const td_val *arg)
{
    td_dtype dt = dt_of(f, arg[1]);
    td_val bits[] = {arg[0], td_bitcast(f, arg[1], TD_U16), td_bitcast(f, arg[2], TD_U16)};

    return td_bitcast(f, td_emit_raw(f, OP_select, bits), dt);
}

td_val
td_emit(td_fn *f, td_op op, const td_val *arg)
{
    td_val x[TD_MAXARG];

    TD_ASSERT(op < TD_OPS);
    if (f->st)
        return (td_val){0};
    if (op == OP_select && td_dtype_is_half(dt_of(f, arg[1])) &&
        dt_of(f, arg[1]) == dt_of(f, arg[2]))
        return select_bits(f, arg);
    if (!td_exprtab[op])
        return td_emit_raw(f, op, arg);
    prepare(f, op, arg, x);
    return f->st ? (td_val){0} : td_splat(f, td_exprtab[op](f, x), lanes_of(f, x[0]));
}

static td_val
unary(td_fn *f, td_op op, td_val v, td_dtype dt, int lanes, uint64_t imm)
{
    td_inst s = td_inst_new(op, dt, lanes);

    s.arg[0] = v;
    s.imm = imm;
    return td_push(f, s);
}

td_val
td_cast(td_fn *f, td_val v, td_dtype dt)
{
    return f->st || dt_of(f, v) == dt ? v : unary(f, OP_cast, v, dt, lanes_of(f, v), 0);
}

td_val
td_bitcast(td_fn *f, td_val v, td_dtype dt)
{
    return f->st || dt_of(f, v) == dt ? v : unary(f, OP_bitcast, v, dt, lanes_of(f, v), 0);
}

td_val
td_splat(td_fn *f, td_val v, int lanes)
{
    return f->st || lanes_of(f, v) == lanes ? v : unary(f, OP_splat, v, dt_of(f, v), lanes, 0);
}

td_val
td_iota(td_fn *f, td_dtype dt, int lanes)
{
    return lanes == 1 ? td_const_int(f, dt, 0) : td_push(f, td_inst_new(OP_iota, dt, lanes));
}

td_val
td_rotate(td_fn *f, td_val v, int k)
{
    return unary(f, OP_rotate, v, dt_of(f, v), lanes_of(f, v), (uint64_t)k);
}

td_val
td_extract(td_fn *f, td_val v, int lane)
{
    return lanes_of(f, v) == 1 ? v : unary(f, OP_extract, v, dt_of(f, v), 1, (uint64_t)lane);
}

td_val
td_zip(td_fn *f, td_val a, td_val b)
{
    int lanes = lanes_of(f, a) > lanes_of(f, b) ? lanes_of(f, a) : lanes_of(f, b);
    td_inst s = td_inst_new(OP_zip, dt_of(f, a), 2 * lanes);

    s.arg[0] = td_splat(f, a, lanes);
    s.arg[1] = td_splat(f, b, lanes);
    return td_push(f, s);
}

td_val
td_unzip(td_fn *f, td_val v, int odd)
{
    return unary(f, OP_unzip, v, dt_of(f, v), lanes_of(f, v) / 2, (uint64_t)odd);
}

td_val
td_permute(td_fn *f, td_val v, td_val index)
{
    td_inst s = td_inst_new(OP_permute, dt_of(f, v), lanes_of(f, v));

    s.arg[0] = v;
    s.arg[1] = index;
    return td_push(f, s);
}

td_val
td_any(td_fn *f, td_val v)
{
    return lanes_of(f, v) == 1 ? v : unary(f, OP_any, v, TD_BOOL, 1, 0);
}

td_val
td_all(td_fn *f, td_val v)
{
    return lanes_of(f, v) == 1 ? v : unary(f, OP_all, v, TD_BOOL, 1, 0);
}

td_val
td_bits(td_fn *f, td_val v)
{
    return unary(f, OP_bits, v, TD_U64, 1, 0);
}

td_val
td_unbits(td_fn *f, td_val v, int lanes)
{
    return unary(f, OP_unbits, v, TD_BOOL, lanes, 0);
}

const char *
td_cache_name(int cache)
{
    static const char *const names[TD_CACHES] = {NULL, "ca", "cg", "cs", "lu", "cv", "wb", "wt"};

    return cache < TD_CACHES ? names[cache] : NULL;
}

td_val
td_load(td_fn *f, td_val ptr, td_val index, td_val mask, int lanes, int align)
{
    td_inst s = td_inst_new(OP_load, dt_of(f, ptr), lanes);

    s.arg[0] = ptr;
    s.arg[1] = index;
    s.arg[2] = mask;
    s.imm = (uint64_t)align;
    s.flags |= f->cache << 8;
    return td_push(f, s);
}

void
td_store(td_fn *f, td_val ptr, td_val index, td_val val, td_val mask, int align)
{
    td_inst s = td_inst_new(OP_store, dt_of(f, ptr), lanes_of(f, val));

    s.arg[0] = ptr;
    s.arg[1] = index;
    s.arg[2] = val;
    s.arg[3] = mask;
    s.imm = (uint64_t)align;
    s.flags |= f->cache << 8;
    td_push(f, s);
}

td_val
td_atomic(td_fn *f, td_op how, td_val ptr, td_val index, td_val val, td_val mask)
{
    td_inst s = td_inst_new(how, dt_of(f, ptr), lanes_of(f, val));

    TD_ASSERT(td_op_is_atomic(how) && how != OP_atomic_cas);
    s.arg[0] = ptr;
    s.arg[1] = index;
    s.arg[2] = val;
    s.arg[3] = mask;
    return td_push(f, s);
}

td_val
td_atomic_cas(td_fn *f, td_val ptr, td_val index, td_val expected, td_val val, td_val mask)
{
    int lanes = lanes_of(f, expected) > lanes_of(f, val) ? lanes_of(f, expected) : lanes_of(f, val);
    td_inst s = td_inst_new(OP_atomic_cas, dt_of(f, ptr), lanes);

    s.arg[0] = ptr;
    s.arg[1] = index;
    s.arg[2] = td_splat(f, expected, lanes);
    s.arg[3] = td_splat(f, val, lanes);
    s.arg[4] = mask;
    return td_push(f, s);
}

td_val
td_at_byte(td_fn *f, td_val ptr, td_val nbytes, td_dtype dt)
{
    td_inst s = td_inst_new(OP_at, dt, 1);

    s.arg[0] = ptr;
    s.arg[1] = nbytes;
    return td_push(f, s);
}

td_val
td_address(td_fn *f, td_val ptr)
{
    return unary(f, OP_address, ptr, TD_U64, 1, 0);
}

td_val
td_pointer(td_fn *f, td_val address, td_dtype dt)
{
    return unary(f, OP_pointer, address, dt, 1, 0);
}

td_val
td_slot(td_fn *f, td_dtype dt, int lanes)
{
    return td_push(f, td_inst_new(OP_slot, dt, lanes));
}

td_val
td_get(td_fn *f, td_val slot)
{
    return unary(f, OP_get, slot, dt_of(f, slot), lanes_of(f, slot), 0);
}

void
td_set(td_fn *f, td_val slot, td_val val)
{
    td_inst s = td_inst_new(OP_set, dt_of(f, slot), lanes_of(f, slot));

    s.arg[0] = slot;
    s.arg[1] = td_splat(f, val, s.lanes);
    td_push(f, s);
}

static void
control(td_fn *f, td_op op, td_val arg)
{
    td_inst s = td_inst_new(op, TD_BOOL, 1);

    s.arg[0] = arg;
    td_push(f, s);
}

void
td_if(td_fn *f, td_val cond)
{
    control(f, OP_if, cond);
}

void
td_else(td_fn *f)
{
    control(f, OP_else, TD_NONE);
}

td_val
td_for(td_fn *f, td_val lo, td_val hi, td_val step)
{
    td_inst s = td_inst_new(OP_for, dt_of(f, lo), 1);

    s.arg[0] = lo;
    s.arg[1] = hi;
    s.arg[2] = step;
    return td_push(f, s);
}

td_val
td_pieces(td_fn *f, td_val lo, td_val hi, int most)
{
    td_inst s = td_inst_new(OP_parallel, dt_of(f, lo), 1);

    s.arg[0] = lo;
    s.arg[1] = hi;
    s.imm = (uint64_t)most;
    return td_push(f, s);
}

td_val
td_piece_end(td_fn *f, td_val first)
{
    return unary(f, OP_piece_end, first, dt_of(f, first), 1, 0);
}

td_val
td_piece(td_fn *f, td_val first)
{
    return unary(f, OP_piece, first, TD_I64, 1, 0);
}

td_val
td_each(td_fn *f, td_val lo, td_val hi)
{
    td_val i = td_for(f, lo, hi, td_const_int(f, dt_of(f, lo), 1));

    if (!f->st)
        f->ins[i.i].flags |= TD_INST_EACH;
    return i;
}

void
td_loop(td_fn *f)
{
    control(f, OP_loop, TD_NONE);
}

void
td_block(td_fn *f)
{
    control(f, OP_block, TD_NONE);
}

void
td_break_if(td_fn *f, td_val cond)
{
    td_break_out(f, cond, 0);
}

void
td_break_out(td_fn *f, td_val cond, int level)
{
    unary(f, OP_break_if, cond, TD_BOOL, 1, (uint64_t)level);
}

td_val
td_open_func(td_fn *f, uint32_t number)
{
    td_inst s = td_inst_new(OP_func, TD_U64, 1);

    s.imm = number;
    return td_push(f, s);
}

void
td_call_func(td_fn *f, td_val frame, uint32_t number)
{
    td_inst s = td_inst_new(OP_call, TD_BOOL, 1);

    s.arg[0] = frame;
    s.imm = number;
    (void)td_push(f, s);
}

void
td_exit_if(td_fn *f, td_val cond)
{
    control(f, OP_exit_if, cond);
}

void
td_end(td_fn *f)
{
    control(f, OP_end, TD_NONE);
}

/* Gives each opener the index of its closer and back: if <-> else <-> end, others <-> end. */
static td_status
match_regions(td_fn *f)
{
    uint32_t open[TD_DEPTH], depth = 0;

    for (uint32_t i = 0; i < f->n; i++) {
        td_inst *s = &f->ins[i];

        if (td_op_opens(s->op)) {
            if (depth == TD_DEPTH)
                return td_fail(
                    TD_ERR_JIT,
                    "kernel %s: line %u: more than %d loops and conditions inside of each other",
                    f->name, s->line, TD_DEPTH);
            open[depth++] = i;
        } else if (s->op == OP_else || s->op == OP_end) {
            if (!depth)
                return td_fail(TD_ERR_JIT, "kernel %s: %%%u closes no region", f->name, i);
            s->jump = open[depth - 1];
            f->ins[s->jump].jump = i;
            if (s->op == OP_else)
                open[depth - 1] = i;
            else
                depth--;
        }
    }
    if (depth)
        return td_fail(TD_ERR_JIT, "kernel %s: region %%%u is not closed", f->name,
                       open[depth - 1]);
    return TD_OK;
}

td_status
td_fn_finish(td_fn *f)
{
    if (!f->st)
        f->st = match_regions(f);
    if (!f->st)
        f->st = td_fn_verify(f);
    return f->st;
}

void
td_fn_note(td_fn *f, td_val v, const char *text, size_t size)
{
    td_note *n = td_alloc(f->mem, sizeof *n);

    *n = (td_note){f->note, v, text, size};
    f->note = n;
}

td_hash
td_fn_hash(const td_fn *f)
{
    td_hash h = td_hash_u64(TD_HASH_INIT, f->n);

    h = td_hash_u64(h, (uint64_t)f->threads << 32 | f->resident);
    h = td_hash_u64(h, (uint64_t)f->warp << 32 | f->registers);
    h = td_hash_u64(h,
                    (uint64_t)f->optimise << 3 | (uint64_t)f->libm << 2 | f->simt << 1 | f->fast);
    for (uint32_t i = 0; i < f->n; i++) {
        td_inst s = f->ins[i];

        if (!f->lines)
            s.line = s.from = 0;
        h = td_hash_add(h, &s, sizeof s);
    }
    for (uint32_t i = 0; f->lines && i < f->norigin; i++)
        h = td_hash_add(h, f->origin[i].file, strlen(f->origin[i].file));
    return h;
}

enum {
    LONG_MOST = 12000, /* instructions; LLVM's usual passes take 1 to 3 s for so many */
    /* a loop costs as much time as so many instructions, since LLVM has passes for loops alone */
    LONG_LOOP = 64,
};

bool
td_fn_is_long(const td_fn *f)
{
    uint64_t cost = f->n;

    for (uint32_t i = 0; f->optimise && i < f->n; i++)
        if (f->ins[i].op == OP_for || f->ins[i].op == OP_loop)
            cost += LONG_LOOP;
    return cost > LONG_MOST;
}

bool
td_fn_has_functions(const td_fn *f)
{
    for (uint32_t i = 0; i < f->n; i++)
        if (f->ins[i].op == OP_func)
            return true;
    return false;
}
