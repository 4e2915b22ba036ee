/* interp_run.c - runs one thread of a decoded kernel until it has to wait. */
#include "base/box.h"
#include "base/parallel.h"
#include "ir/interp/interp_check.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    POISON = 0xa5,
    ALIGN = 128,
    PATIENCE = 16 /* iterations of a loop before others run */
};

static const char *
file_of(const td_fn *f, uint32_t at)
{
    return f->ins[at].from ? f->origin[f->ins[at].from - 1].file : NULL;
}

td_where
td_engine_line(const td_engine *e, uint32_t at, uint32_t beside)
{
    const td_inst *s = &e->p->fn->ins[at];
    const char *file = file_of(e->p->fn, at), *other = file_of(e->p->fn, beside);
    td_where w;

    if (file && (!other || strcmp(file, other) != 0))
        snprintf(w.text, sizeof w.text, "%.200s:%u", file, s->line);
    else
        snprintf(w.text, sizeof w.text, "line %u", s->line);
    return w;
}

td_status
td_thread_fail(td_status st, const char *kernel, const uint32_t bid[3], const uint32_t tid[3],
               td_place at, const char *text)
{
    char line[24] = "";

    if (at.line)
        snprintf(line, sizeof line, ", line %u", at.line);
    return td_fail(st, "kernel %.80s: block (%u,%u,%u), thread (%u,%u,%u)%s, %%%u (%s): %s", kernel,
                   bid[0], bid[1], bid[2], tid[0], tid[1], tid[2], line, at.at,
                   td_optab[at.op].name, text);
}

void
td_engine_place(const td_engine *e, const td_runner *t, uint32_t at, const char *what, char *out,
                size_t n)
{
    const td_inst *s = &e->p->fn->ins[at];
    const uint32_t *b = t->team->bid, *i = t->tid;
    char line[300] = "";

    if (s->from)
        snprintf(line, sizeof line, ", %.250s:%u", file_of(e->p->fn, at), s->line);
    snprintf(out, n, "%s [kernel %s, block (%u, %u, %u), thread (%u, %u, %u)%s]", what,
             e->p->fn->name, b[0], b[1], b[2], i[0], i[1], i[2], line);
}

td_status
td_engine_fail(const td_engine *e, const td_runner *t, uint32_t at, td_status st, const char *what,
               ...)
{
    const td_inst *s = &e->p->fn->ins[at];
    const uint32_t *b = t->team->bid, *i = t->tid;
    char text[512];
    va_list ap;

    va_start(ap, what);
    vsnprintf(text, sizeof text, what, ap);
    va_end(ap);
    if (s->from) {
        char all[1024];

        td_engine_place(e, t, at, text, all, sizeof all);
        return td_fail(st, "%s", all);
    }
    return td_thread_fail(st, e->p->fn->name, b, i,
                          (td_place){.op = (td_op)s->op, .at = at, .line = s->line}, text);
}

/* Fails, and says what the pointer points into. */
static td_status
outside(const td_engine *e, const td_runner *t, const td_code *c, int64_t index)
{
    const td_code_ptr *p = &e->p->ptr[c->ptr];
    const td_inst *s = &e->p->fn->ins[p->at];

    switch ((int)p->op) {
    case OP_param:
        return td_engine_fail(e, t, c->at, TD_ERR_INDEX,
                              "index %" PRId64 " is outside the memory of parameter %" PRIu64,
                              index, s->imm);
    case OP_pointer:
        return td_engine_fail(e, t, c->at, TD_ERR_INDEX,
                              "index %" PRId64 " from address 0x%" PRIx64 " is outside all memory",
                              index, t->val[c->a].u);
    case OP_dynamic:
        return td_engine_fail(e, t, c->at, TD_ERR_INDEX,
                              "index %" PRId64
                              " is outside the launch's %zu bytes of shared memory",
                              index, p->nbytes);
    }
    return td_engine_fail(e, t, c->at, TD_ERR_INDEX,
                          "index %" PRId64 " is outside the %s array of %" PRIu64 " elements",
                          index, td_optab[p->op].name, s->imm);
}

static bool
lies_inside(uintptr_t at, size_t size, const char *base, size_t nbytes)
{
    uintptr_t off = at - (uintptr_t)base;

    return off < nbytes && nbytes - off >= size;
}

static bool
in_frames(const td_engine *e, const td_runner *t, uintptr_t at, size_t size)
{
    for (const td_frame *f = t->frame; f; f = f->up)
        if (lies_inside(at, size, f->local, e->p->nlocal))
            return true;
    return false;
}

/* Does the access lie within bounds?  A pointer of a param may legally lie before the param's
 * address, since a view can start at its last element: the access must then lie in the
 * allocation that the pointer points into.  An address may lie in any known memory. */
static bool
access_in_bounds(const td_engine *e, const td_runner *t, const td_code_ptr *p, uintptr_t at,
                 size_t size)
{
    size_t left;

    if (p->op == OP_pointer &&
        (lies_inside(at, size, t->team->shared, e->p->nshared) ||
         lies_inside(at, size, t->local, e->p->nlocal) || in_frames(e, t, at, size)))
        return true;
    if (p->op != OP_pointer && lies_inside(at, size, (const char *)t->val[p->word].u, p->nbytes))
        return true;
    if (p->op != OP_param && p->op != OP_pointer)
        return false;
    if (!e->extent)
        return true;
    left = e->extent(at);
    return left >= size && (!p->nbytes || at + left == p->base + p->nbytes);
}

/* The address of lane l of a load or store; NULL: its mask is off.  The instruction's
 * alignment holds for the first lane; other lanes are aligned to their size, unless the first
 * is aligned to less. */
static td_status
lane_address(const td_engine *e, const td_runner *t, const td_code *c, uint32_t l, char **out)
{
    const td_code_ptr *p = &e->p->ptr[c->ptr];
    size_t size = td_dtype_size(c->dt), align = c->imm && !c->step && l == 0      ? (size_t)c->imm
                                                : c->imm && (size_t)c->imm < size ? (size_t)c->imm
                                                                                  : size;
    int64_t index = t->val[c->b + l * c->step].i;
    bool global = p->op == OP_param || p->op == OP_pointer;
    uintptr_t at;

    *out = NULL;
    if (e->shadow)
        TD_TRY(td_shadow_index(e, t, c, l));
    if (c->d != UINT32_MAX && !t->val[c->d + l].u)
        return TD_OK;
    if (!c->step)
        index = (int64_t)((uint64_t)index + l);
    at = t->val[c->a].u + (uintptr_t)index * size;
    *out = (char *)at;
    if (e->check && e->check->port == at)
        return TD_OK;
    *out = NULL;
    if (index > INT64_MAX / 16 || index < INT64_MIN / 16 || !access_in_bounds(e, t, p, at, size))
        return outside(e, t, c, index);
    if ((e->extent || !global) && at % align)
        return td_engine_fail(e, t, c->at, TD_ERR_INDEX,
                              "index %" PRId64 " is not aligned to %zu bytes", index, align);
    *out = (char *)at;
    return TD_OK;
}

static td_status
interp_run_load(const td_engine *e, td_runner *t, const td_code *c)
{
    char *p;

    for (uint32_t l = 0; l < c->lanes; l++) {
        TD_TRY(lane_address(e, t, c, l, &p));
        if (e->shadow && p)
            TD_TRY(td_shadow_read(e, t, c, p));
        t->val[c->out + l] = p ? td_interp_word(c->dt, p) : (td_word){0};
        if (e->shadow)
            t->over[c->out + l] = 0;
    }
    return TD_OK;
}

static td_status
run_store(const td_engine *e, td_runner *t, const td_code *c)
{
    bool done = false;
    char *p;

    for (uint32_t l = 0; l < c->lanes; l++) {
        TD_TRY(lane_address(e, t, c, l, &p));
        if (e->shadow && p)
            TD_TRY(td_shadow_write(e, t, c, p, &t->val[c->c + l], &done));
        if (e->check && e->check->floats && p)
            TD_TRY(td_shadow_float_stored(e, t, c, l));
        if (p && !done)
            memcpy(p, &t->val[c->c + l], td_dtype_size(c->dt));
    }
    return TD_OK;
}

/* The new value for an atomic operation on the old value at p. */
static td_word
replaced(const td_runner *t, const td_code *c, uint32_t l, td_word old)
{
    td_word out;

    if (c->kind == CODE_CAS)
        return memcmp(&old, &t->val[c->c + l], td_dtype_size(c->dt)) == 0 ? t->val[c->e + l] : old;
    c->run(&out, &old, &t->val[c->c + l], NULL, 1);
    return out;
}

/* Threads run one at a time, so plain accesses are atomic. */
static td_status
atomic(const td_engine *e, td_runner *t, const td_code *c)
{
    td_word old, new;
    char *p;

    for (uint32_t l = 0; l < c->lanes; l++) {
        TD_TRY(lane_address(e, t, c, l, &p));
        if (e->shadow && p)
            TD_TRY(td_shadow_atomic(e, t, c, p));
        old = p ? td_interp_word(c->dt, p) : (td_word){0};
        new = p ? replaced(t, c, l, old) : old;
        if (p)
            memcpy(p, &new, td_dtype_size(c->dt));
        t->val[c->out + l] = old;
    }
    return TD_OK;
}

static td_status
for_start(const td_engine *e, const td_runner *t, const td_code *c, bool *more)
{
    if (t->val[c->c].i <= 0)
        return td_engine_fail(e, t, c->at, TD_ERR_VALUE, "step %" PRId64 " is not positive",
                              t->val[c->c].i);
    t->val[c->out] = t->val[c->a];
    *more = t->val[c->a].i < t->val[c->b].i;
    return TD_OK;
}

/* Steps the counter.  A counter that would overflow is past every bound. */
static bool
for_next(const td_runner *t, const td_code *c)
{
    int64_t next;

    if (__builtin_add_overflow(t->val[c->out].i, t->val[c->c].i, &next) || next >= t->val[c->b].i)
        return false;
    t->val[c->out].i = next;
    return true;
}

/* Sets the pointers to the thread's and its block's own memory. */
static void
point(const td_engine *e, const td_runner *t)
{
    for (uint32_t k = 0; k < e->p->nptr; k++) {
        const td_code_ptr *p = &e->p->ptr[k];

        if (p->op == OP_shared || p->op == OP_dynamic)
            t->val[p->word].u = (uintptr_t)t->team->shared + p->offset;
        if (p->op == OP_local)
            t->val[p->word].u = (uintptr_t)t->local + p->offset;
    }
}

/* Enters a function, with new words and new local arrays. */
static td_status
interp_run_enter(const td_engine *e, td_runner *t, const td_code *c)
{
    size_t n = c->e - c->d;
    td_frame *f = malloc(sizeof *f + n * sizeof *f->word + e->p->nlocal + ALIGN);
    td_word frame = t->val[c->a];

    if (!f)
        return td_fail(TD_ERR_NOMEM, "kernel %s: calls inside of each other", e->p->fn->name);
    f->up = t->frame;
    f->call = c;
    f->local = (char *)&f->word[n];
    f->local += (ALIGN - (uintptr_t)f->local % ALIGN) % ALIGN;
    memcpy(f->word, t->val + c->d, n * sizeof *f->word);
    memcpy(t->val + c->d, e->p->init + c->d, n * sizeof *f->word);
    memset(f->local, POISON, e->p->nlocal);
    for (uint32_t k = 0; k < e->p->nptr; k++) {
        const td_code_ptr *p = &e->p->ptr[k];

        if (p->word < c->d || p->word >= c->e)
            continue;
        if (p->op == OP_shared || p->op == OP_dynamic)
            t->val[p->word].u = (uintptr_t)t->team->shared + p->offset;
        if (p->op == OP_local)
            t->val[p->word].u = (uintptr_t)f->local + p->offset;
    }
    t->frame = f;
    t->val[c->out] = frame;
    return TD_OK;
}

/* Leaves the innermost function; returns where it was called. */
static const td_code *
leave_function(td_runner *t)
{
    td_frame *f = t->frame;
    const td_code *c = f->call;

    memcpy(t->val + c->d, f->word, (c->e - c->d) * sizeof *f->word);
    t->frame = f->up;
    free(f);
    return c;
}

void
td_engine_drop(td_runner *t)
{
    while (t->frame) {
        td_frame *f = t->frame;

        t->frame = f->up;
        free(f);
    }
}

/* Begins piece k of a parallel region; false: there is no such piece. */
static bool
begin_piece(const td_engine *e, const td_runner *t, const td_code *c, int64_t k)
{
    int64_t lo = t->val[c->a].i, hi = t->val[c->b].i, n = c->imm, first, end;

    if (lo < hi && (uint64_t)hi - (uint64_t)lo < (uint64_t)n)
        n = (int64_t)((uint64_t)hi - (uint64_t)lo);
    if (lo >= hi || k >= n)
        return false;
    td_parallel_piece(lo, hi, n, k, &first, &end);
    memcpy(t->val + c->d, e->p->init + c->d, (c->e - c->d) * sizeof *t->val);
    point(e, t);
    t->val[c->out].i = first;
    t->val[c->out + 1].i = end;
    t->val[c->out + 2].i = k;
    return true;
}

static int64_t
thread_index(const td_engine *e, const td_runner *t, int64_t which)
{
    const uint32_t *const from[] = {t->tid, t->team->bid, e->block, e->grid};

    if (which == INDEX_LANE)
        return t->lane;
    return (int32_t)from[which / 3][which % 3];
}

/* Instructions between many lanes and one. */
static void
interp_run_gather(const td_runner *t, const td_code *c)
{
    td_word *out = t->val + c->out, *a = t->val + c->a;
    uint64_t bits = 0;
    int64_t n = c->imm;

    for (int64_t l = 0; c->kind != CODE_UNBITS && l < n; l++)
        bits |= a[l].u << l;
    switch (c->kind) {
    case CODE_ANY:  out->u = bits != 0; break;
    case CODE_ALL:  out->u = (uint64_t)__builtin_popcountll(bits) == (uint64_t)n; break;
    case CODE_BITS: out->u = bits; break;
    default:
        bits = a->u;
        for (uint32_t l = 0; l < c->lanes; l++)
            out[l].u = bits >> l & 1;
    }
}

/* Instructions that only move lanes. */
static void
run_lane_move(const td_engine *e, const td_runner *t, const td_code *c)
{
    td_word *out = t->val + c->out, *a = t->val + c->a;

    switch (c->kind) {
    case CODE_COPY: memcpy(out, a, c->lanes * sizeof *out); break;
    case CODE_SPLAT:
        for (uint32_t l = 0; l < c->lanes; l++)
            out[l] = *a;
        break;
    case CODE_ROTATE:
        for (uint32_t l = 0; l < c->lanes; l++)
            out[l] = a[(l + (uint32_t)c->imm) % c->lanes];
        break;
    case CODE_ZIP:
        for (uint32_t l = 0; l < c->lanes; l++)
            out[l] = t->val[(l & 1 ? c->b : c->a) + l / 2];
        break;
    case CODE_UNZIP:
        for (uint32_t l = 0; l < c->lanes; l++)
            out[l] = a[2 * l + (uint32_t)c->imm];
        break;
    case CODE_PERMUTE:
        for (uint32_t l = 0; l < c->lanes; l++)
            out[l] = a[(uint64_t)t->val[c->b + l].i % c->lanes];
        break;
    case CODE_AT: out->u = a->u + t->val[c->b].u; break;
    case CODE_BITCAST:
        for (uint32_t l = 0; l < c->lanes; l++)
            out[l] = td_interp_word(c->dt, &a[l]);
        break;
    default:
        for (uint32_t l = 0; l < c->lanes; l++)
            out[l].i = thread_index(e, t, c->imm);
    }
}

td_status
td_engine_run(const td_engine *e, td_runner *t)
{
    const td_code *c = t->at, *code = e->p->code;
    td_word *v = t->val;
    int iterations = 0;
    bool more = true;

    for (;; c++) {
        switch (c->kind) {
        case CODE_RUN:     c->run(v + c->out, v + c->a, v + c->b, v + c->c, (int)c->lanes); continue;
        case CODE_COPY:
        case CODE_SPLAT:
        case CODE_ROTATE:
        case CODE_ZIP:
        case CODE_UNZIP:
        case CODE_BITCAST:
        case CODE_AT:
        case CODE_PERMUTE:
        case CODE_INDEX:   run_lane_move(e, t, c); continue;
        case CODE_ANY:
        case CODE_ALL:
        case CODE_BITS:
        case CODE_UNBITS:  interp_run_gather(t, c); continue;
        case CODE_RELEASE: td_callmem_release(v[c->a].u, v[c->b].u, v[c->c].i); continue;
        case CODE_LOAD:    TD_TRY(interp_run_load(e, t, c)); continue;
        case CODE_STORE:   TD_TRY(run_store(e, t, c)); continue;
        case CODE_CAS:
        case CODE_ATOMIC:  TD_TRY(atomic(e, t, c)); continue;
        case CODE_TRACE:   td_shadow_trace(e, t, c); continue;
        case CODE_FLOAT:   td_shadow_float(e, t, c); continue;
        case CODE_FENCE:
            if (e->shadow)
                td_shadow_fence(t);
            continue;
        case CODE_AGAIN:
            if (++iterations == PATIENCE) {
                t->at = code + c->jump;
                return TD_OK;
            }
            more = false;
            break;
        case CODE_RETURN: c = leave_function(t); continue;
        case CODE_CALL:
            TD_TRY(interp_run_enter(e, t, c));
            more = false;
            break;
        case CODE_JUMP:   more = false; break;
        case CODE_UNLESS: more = v[c->a].u != 0; break;
        case CODE_BREAK:  more = v[c->a].u == 0; break;
        case CODE_FOR:    TD_TRY(for_start(e, t, c, &more)); break;
        case CODE_NEXT:   more = !for_next(t, c); break;
        case CODE_PIECES: more = begin_piece(e, t, c, 0); break;
        case CODE_PIECE:  more = !begin_piece(e, t, c, v[c->out + 2].i + 1); break;
        case CODE_EXIT:
            t->ended = v[c->a].u != 0;
            if (!t->ended)
                continue;
            t->at = code + e->p->ncode - 1;
            return TD_OK;
        case CODE_WAIT:
        case CODE_DONE: t->at = c; return TD_OK;
        }
        if (!more)
            c = code + c->jump - 1;
    }
}

void
td_engine_start(const td_engine *e, td_runner *t, uint64_t linear)
{
    t->tid[0] = (uint32_t)(linear % e->block[0]);
    t->tid[1] = (uint32_t)(linear / e->block[0] % e->block[1]);
    t->tid[2] = (uint32_t)(linear / e->block[0] / e->block[1]);
    t->at = e->p->code;
    t->lane = (uint32_t)(linear % e->p->fn->warp);
    t->ended = false;
    td_engine_drop(t);
    memcpy(t->val, e->p->init, e->p->nwords * sizeof *t->val);
    memset(t->local, POISON, e->p->nlocal);
    if (e->shadow)
        td_shadow_thread(e, t, linear);
    point(e, t);
}
