/* gen.c - kernel IR for a plan. */
#include "array/plan/gen.h"

#include <string.h>

enum { PHASE_BITS = 16 }; /* of a fraction that divides lanes of a period exactly */

td_val
td_gen_int(td_gen *g, int64_t v)
{
    return td_const_int(g->f, TD_I64, v);
}

td_dtype
td_gen_compute(td_dtype dt)
{
    return td_dtype_is_half(dt) ? TD_F32 : dt;
}

void
td_gen_params(td_gen *g, int n)
{
    const td_plan *p = g->p;

    for (uint16_t k = 0; k < p->nopnd; k++)
        if (p->opnd[k].role != TD_ROLE_INDEX)
            g->ptr[k] = td_num_param_ptr(g->f, (td_dtype)p->opnd[k].dt);
    for (int d = 0; d < p->nd; d++)
        g->dim[d] = td_param(g->f, TD_I64);
    for (int d = 1; d < p->nd && td_plan_narrow(p); d++) {
        g->magic[d] = td_param(g->f, TD_U32);
        g->shift[d] = td_param(g->f, TD_U32);
    }
    for (uint16_t k = 0; k < p->nopnd; k++) {
        for (int d = 0; d + 1 < p->nd; d++)
            g->stride[k][d] = td_param(g->f, TD_I64);
        if (p->opnd[k].inner == 2)
            g->stride[k][p->nd - 1] = td_param(g->f, TD_I64);
        for (int d = 0; d < 2 && d < p->nd; d++)
            if (p->period ? p->opnd[k].inner == 2 : p->opnd[k].near[d] != 0)
                g->stride[k][p->nd - 1 - d] = td_gen_int(g, p->opnd[k].near[d]);
    }
    for (uint16_t i = 0; i < p->nscalar; i++)
        g->scalar[i] = td_param(g->f, (td_dtype)p->scalar_dt[i]);
    for (int i = 0; i < n; i++)
        g->extra[i] = td_param(g->f, TD_I64);
    for (uint16_t k = 0; k < p->nopnd; k++)
        g->base[k] = td_gen_int(g, 0);
    g->j = g->base[0];
    g->mask = TD_NONE;
    g->lanes = 1;
}

td_val
td_gen_divide(td_gen *g, td_val at, int d, td_val *rest)
{
    bool narrow = td_plan_narrow(g->p);
    td_dtype dt = narrow ? TD_U32 : TD_I64;
    td_val n = td_cast(g->f, g->dim[d], dt), q;

    at = td_cast(g->f, at, dt);
    q = narrow ? TD_G2(g, right_shift, TD_G2(g, mulhi, at, g->magic[d]), g->shift[d])
               : TD_G2(g, truncate_divide, at, n);
    if (rest)
        *rest = td_cast(g->f, TD_G2(g, subtract, at, TD_G2(g, multiply, q, n)), TD_I64);
    return td_cast(g->f, q, TD_I64);
}

/* coord[from, to) of an element number. */
static void
unravel(td_gen *g, td_val at, int from, int to, td_val coord[])
{
    for (int d = to - 1; d > from; d--)
        at = td_gen_divide(g, at, d, &coord[d]);
    coord[from] = at;
}

void
td_gen_row(td_gen *g, td_val at, int from, int to, bool to_be_added)
{
    const td_plan *p = g->p;
    td_val coord[TD_MAXDIM];

    if (from < to)
        unravel(g, at, from, to, coord);
    for (uint16_t k = 0; k < p->nopnd; k++) {
        if (!to_be_added)
            g->base[k] = td_gen_int(g, 0);
        for (int d = from; d < to; d++)
            g->base[k] = TD_G2(g, add, g->base[k], TD_G2(g, multiply, coord[d], g->stride[k][d]));
    }
}

void
td_gen_flat(td_gen *g)
{
    td_val at = TD_G2(g, add, g->j, td_iota(g->f, TD_I64, g->lanes));

    unravel(g, at, 0, g->p->nd, g->coord);
}

void
td_gen_phase(td_gen *g, td_val first, int phase)
{
    td_val n = td_gen_int(g, g->p->period), lane = td_iota(g->f, TD_I64, g->lanes), row, up;
    td_val magic = td_gen_int(g, (1 << PHASE_BITS) / g->p->period + 1);

    g->j = TD_G2(g, add, first, td_gen_int(g, (int64_t)phase * g->lanes));
    lane = TD_G2(g, add, lane, td_gen_int(g, (int64_t)phase * g->lanes));
    row = td_gen_divide(g, first, 1, NULL);
    up = TD_G2(g, right_shift, TD_G2(g, multiply, lane, magic), td_gen_int(g, PHASE_BITS));
    g->coord[0] = TD_G2(g, add, row, up);
    g->coord[1] = TD_G2(g, subtract, lane, TD_G2(g, multiply, up, n));
}

static td_val
flat_index(td_gen *g, int k)
{
    td_val at = TD_G2(g, multiply, g->coord[0], g->stride[k][0]);

    for (int d = 1; d < g->p->nd; d++)
        at = TD_G2(g, add, at, TD_G2(g, multiply, g->coord[d], g->stride[k][d]));
    return at;
}

/* Element index of operand k at j: one lane when the elements are consecutive. */
static td_val
index_of(td_gen *g, int k, bool spread)
{
    const td_opnd *o = &g->p->opnd[k];
    td_val j = g->j;

    if (o->inner == 0)
        return g->base[k];
    if (o->inner == 2 && g->p->flat)
        return flat_index(g, k);
    if (g->lanes > 1 && (o->inner == 2 || spread))
        j = TD_G2(g, add, j, td_iota(g->f, TD_I64, g->lanes));
    if (o->inner == 2)
        j = TD_G2(g, multiply, j, g->stride[k][g->p->nd - 1]);
    return TD_G2(g, add, g->base[k], j);
}

td_val
td_gen_index(td_gen *g, int k)
{
    return index_of(g, k, false);
}

static int
align_of(const td_gen *g, const td_opnd *o)
{
    int size = (int)td_dtype_size((td_dtype)o->dt), n = g->lanes * size;

    if (g->aligned && o->inner == 1 && g->lanes > 1)
        return n < 16 ? n : 16;
    /* NumPy aligns complex elements to their parts */
    return td_dtype_is_complex((td_dtype)o->dt) && td_dev_info(g->p->dev)->simt ? size : 0;
}

static td_num
gen_load(td_gen *g, int k, td_val index, int lanes, int align)
{
    const td_opnd *o = &g->p->opnd[k];
    td_num v = td_num_load(g->f, g->ptr[k], (td_dtype)o->dt, index, lanes > 1 ? g->mask : TD_NONE,
                           lanes, align);

    return td_num_cast(g->f, v, td_gen_compute((td_dtype)o->dt));
}

/* Values of a half dtype are rounded to it after every operation, as NumPy does. */
static td_num
rounded(td_gen *g, td_num v, td_dtype dt)
{
    if (td_dtype_is_half(dt))
        v = td_num_cast(g->f, v, dt);
    return td_num_cast(g->f, v, td_gen_compute(dt));
}

static td_num
iota(td_gen *g, const td_step *s)
{
    td_val i = index_of(g, s->opnd, true), start = g->scalar[s->scalar],
           step = g->scalar[s->scalar + 1];
    td_dtype dt = (td_dtype)g->p->scalar_dt[s->scalar];

    i = TD_G2(g, add, start, TD_G2(g, multiply, td_cast(g->f, i, dt), step));
    return rounded(g, td_num_of(i), (td_dtype)s->dt);
}

static td_num
gen_gather(td_gen *g, const td_step *s)
{
    td_val i = TD_G2(g, multiply, g->val[s->src[0]].re, g->scalar[s->scalar]);
    const td_opnd *o = &g->p->opnd[s->opnd];
    bool line = g->p->step[s->src[0]].uniform && o->inner == 1; /* lanes read side by side */
    int lanes;

    i = TD_G2(g, add, i, index_of(g, s->opnd, !line));
    lanes = g->f->st ? 1 : line ? g->lanes : td_at(g->f, i)->lanes;
    return gen_load(g, s->opnd, i, lanes, line ? 0 : align_of(g, o));
}

static td_num
scalar(td_gen *g, const td_step *s)
{
    td_num v = {g->scalar[s->scalar], TD_NONE};

    if (td_dtype_is_complex((td_dtype)s->dt))
        v.im = g->scalar[s->scalar + 1];
    return td_num_cast(g->f, v, td_gen_compute((td_dtype)s->dt));
}

static td_num
tiled(td_gen *g, const td_step *s)
{
    td_dtype dt = (td_dtype)s->dt;
    int align = td_dtype_is_complex(dt) ? (int)td_dtype_size(dt) : 0;

    return td_num_cast(
        g->f, td_num_load(g->f, g->tile[s->opnd], dt, g->tile_index, TD_NONE, g->lanes, align),
        td_gen_compute(dt));
}

static td_num
compute(td_gen *g, const td_step *s)
{
    td_num x[TD_MAXSRC];
    td_dtype dt = (td_dtype)s->dt;

    for (int i = 0; i < s->nsrc; i++)
        x[i] = g->val[s->src[i]];
    switch ((td_kind)s->kind) {
    case TD_N_SCALAR: return scalar(g, s);
    case TD_N_LEAF:
        if (g->tile[s->opnd].i)
            return tiled(g, s);
        return gen_load(g, s->opnd, index_of(g, s->opnd, false),
                        g->p->opnd[s->opnd].inner ? g->lanes : 1,
                        align_of(g, &g->p->opnd[s->opnd]));
    case TD_N_OP:   return rounded(g, td_num_emit(g->f, (td_op)s->op, x), dt);
    case TD_N_CAST: return rounded(g, x[0], dt);
    case TD_N_IOTA: return iota(g, s);
    case TD_N_RANDOM:
        return td_num_of(td_gen_random(g, s, td_cast(g->f, index_of(g, s->opnd, true), TD_U64)));
    case TD_N_GATHER:  return gen_gather(g, s);
    case TD_N_SEARCH:  return td_num_of(td_gen_search(g, s, x[0].re, index_of(g, s->opnd, false)));
    case TD_N_REDUCE:
    case TD_N_SPILLED:
    case TD_N_ROWFN:
    case TD_N_HOST:    break;
    }
    td_bug(__FILE__, __LINE__, "step kind");
}

static bool
is_fixed(const td_gen *g, uint16_t i)
{
    return g->fixed && g->fixed[i];
}

void
td_gen_uniform(td_gen *g)
{
    int lanes = g->lanes;

    g->lanes = 1;
    for (uint16_t i = 0; i < g->p->nstep; i++)
        if (g->p->step[i].uniform && !is_fixed(g, i))
            g->val[i] = compute(g, &g->p->step[i]);
    g->lanes = lanes;
}

void
td_gen_fix(td_gen *g, const bool *fixed)
{
    int lanes = g->lanes;

    for (uint16_t i = 0; i < g->p->nstep; i++) {
        g->lanes = g->p->step[i].uniform ? 1 : lanes;
        if (fixed[i])
            g->val[i] = compute(g, &g->p->step[i]);
    }
    g->lanes = lanes;
    g->fixed = fixed;
}

/* ---- the rounds of a loop ---- */

/* Word number `at` of the table, as a kernel argument of dtype dt would arrive. */
static td_val
table_word(td_gen *g, td_val at, td_dtype dt)
{
    static const td_dtype bits[] = {[1] = TD_U8, [2] = TD_U16, [4] = TD_U32, [8] = TD_U64};
    td_val v = td_load(g->f, g->ptr[g->p->rounds.table], at, TD_NONE, 1, 0);

    if (!td_dtype_is_float(dt))
        return td_cast(g->f, v, dt);
    return td_bitcast(g->f, td_cast(g->f, v, bits[td_dtype_size(dt)]), dt);
}

/* Opens the loop: carries begin with what precedes the rounds, and the round's numbers come from the table. */
static void
open_rounds(td_gen *g)
{
    const td_rounds *l = &g->p->rounds;
    td_val zero = td_gen_int(g, 0), one = td_gen_int(g, 1), round, row;

    memcpy(g->rest, g->base, sizeof g->rest);
    for (int c = 0; c < l->ncarry; c++) {
        td_dtype dt = td_gen_compute((td_dtype)g->p->step[l->carry[c].carry].dt);
        td_num v =
            l->carry[c].init == TD_PLAN_NOSTEP ? td_num_zero(g->f, dt) : g->val[l->carry[c].init];

        g->carried[c] = td_num_slot(g->f, dt, g->lanes);
        td_num_set(g->f, g->carried[c], td_num_splat(g->f, v, g->lanes));
    }
    round = td_for(g->f, zero, g->scalar[l->count], one);
    row = TD_G2(g, multiply, round, td_gen_int(g, l->nvary));
    for (int v = 0; v < l->nvary; v++) {
        td_val word = TD_G2(g, add, row, td_gen_int(g, v));
        uint16_t at = l->vary[v].at;

        if (l->vary[v].moves)
            g->base[at] = TD_G2(g, add, g->base[at], table_word(g, word, TD_I64));
        else
            g->scalar[at] = table_word(g, word, (td_dtype)g->p->scalar_dt[at]);
    }
    for (int c = 0; c < l->ncarry; c++)
        g->val[l->carry[c].carry] = td_num_get(g->f, g->carried[c]);
}

/* Closes it: carries become the round's values, and what they are at the end is what later steps read. */
static void
close_rounds(td_gen *g)
{
    const td_rounds *l = &g->p->rounds;

    for (int c = 0; c < l->ncarry; c++)
        td_num_set(g->f, g->carried[c], td_num_splat(g->f, g->val[l->carry[c].next], g->lanes));
    td_end(g->f);
    memcpy(g->base, g->rest, sizeof g->base);
    for (int c = 0; c < l->ncarry; c++)
        g->val[l->carry[c].carry] = td_num_get(g->f, g->carried[c]);
}

void
td_gen_body(td_gen *g)
{
    const td_rounds *l = &g->p->rounds;
    bool loops = l->to > l->from;

    for (uint16_t i = 0; i < g->p->nstep; i++) {
        if (loops && i == l->to)
            close_rounds(g);
        if (loops && i == l->from)
            open_rounds(g);
        if (!g->p->step[i].uniform && g->p->step[i].kind != TD_STEP_CARRY && !is_fixed(g, i))
            g->val[i] = compute(g, &g->p->step[i]);
    }
    if (loops && l->to == g->p->nstep)
        close_rounds(g);
}

td_num
td_gen_step(td_gen *g, int step)
{
    return compute(g, &g->p->step[step]);
}

void
td_gen_store(td_gen *g, int k)
{
    const td_opnd *o = &g->p->opnd[k];
    td_dtype dt = (td_dtype)o->dt;
    td_num v = td_num_splat(g->f, td_num_cast(g->f, g->val[g->p->store_step[k]], dt), g->lanes);

    bool past = g->past && g->mask.i == TD_NONE.i;

    if (past)
        g->f->cache = TD_CACHE_CS;
    td_num_store(g->f, g->ptr[k], dt, index_of(g, k, false), v, g->mask,
                 past ? g->lanes * (int)td_dtype_size(dt) : align_of(g, o));
    g->f->cache = TD_CACHE_NONE;
}

static td_op
atomic_of(uint16_t op)
{
    switch (op) {
    case OP_add:         return OP_atomic_add;
    case OP_maximum:     return OP_atomic_max;
    case OP_minimum:     return OP_atomic_min;
    case OP_bitwise_and: return OP_atomic_and;
    case OP_bitwise_or:  return OP_atomic_or;
    case OP_bitwise_xor: return OP_atomic_xor;
    }
    td_bug(__FILE__, __LINE__, "atomic operation");
}

/* Memory becomes the larger or the smaller of itself and v, or NaN where one of them is: what atomic instructions make of
 * floats is the number.  Compare-and-swap until memory holds the result; most values change nothing. */
static void
swap_extreme(td_gen *g, uint16_t k, td_val at, td_val v, td_val mask)
{
    td_fn *f = g->f;
    td_op op = (td_op)g->p->put_op;
    td_dtype dt = (td_dtype)g->p->opnd[k].dt, bits = td_dtype_size(dt) == 4 ? TD_U32 : TD_U64;
    td_val held = td_slot(f, dt, 1), old, new, seen;

    if (mask.i != TD_NONE.i)
        td_if(f, mask);
    td_set(f, held, td_load(f, g->ptr[k], at, TD_NONE, 1, 0));
    td_loop(f);
    old = td_get(f, held);
    new = td_emit(f, op, (td_val[]){old, v});
    td_break_if(f, TD_G2(g, equal, td_bitcast(f, old, bits), td_bitcast(f, new, bits)));
    seen = td_atomic_cas(f, g->ptr[k], at, old, new, TD_NONE);
    td_set(f, held, seen);
    td_break_if(f, TD_G2(g, equal, td_bitcast(f, old, bits), td_bitcast(f, seen, bits)));
    td_end(f);
    if (mask.i != TD_NONE.i)
        td_end(f);
}

/* Memory becomes op(memory, value), one lane at a time. */
static void
combine(td_gen *g, uint16_t k, td_val at, td_num v, td_val mask)
{
    const td_plan *p = g->p;
    td_dtype dt = (td_dtype)p->opnd[k].dt, work = dt;
    td_num old;

    if (p->put == TD_PUT_FREE && td_dtype_is_float(dt) && p->put_op != OP_add) {
        swap_extreme(g, k, at, td_cast(g->f, v.re, dt), mask);
        return;
    }
    if (p->put == TD_PUT_FREE) {
        td_atomic(g->f, atomic_of(p->put_op), g->ptr[k], at, td_cast(g->f, v.re, dt), mask);
        return;
    }
    if (!g->f->st)
        work = (td_dtype)td_at(g->f, v.re)->dt;
    if (td_num_is_pair(v)) /* memory may be real: then each step drops the imaginary part */
        work = td_dtype_complex_of(work);
    old = td_num_cast(g->f, td_num_load(g->f, g->ptr[k], dt, at, mask, 1, 0), work);
    v = td_num_cast(g->f, td_num_emit(g->f, (td_op)p->put_op, (td_num[]){old, v}), dt);
    td_num_store(g->f, g->ptr[k], dt, at, v, mask, 0);
}

static void
scatter(td_gen *g, uint16_t k)
{
    const td_plan *p = g->p;
    td_val at = TD_G2(g, add, index_of(g, k, true), g->val[p->put_at].re), mask = g->mask;
    td_dtype dt = (td_dtype)p->opnd[k].dt;
    td_num v = g->val[p->store_step[k]];

    if (p->put_guard != TD_PLAN_NOSTEP) {
        td_val ok = td_splat(g->f, g->val[p->put_guard].re, g->lanes);

        mask = mask.i == TD_NONE.i ? ok : TD_G2(g, logical_and, mask, ok);
    }
    at = td_splat(g->f, at, g->lanes);
    if (p->put_op != TD_OPS)
        combine(g, k, at, v, mask);
    else
        td_num_store(g->f, g->ptr[k], dt, at,
                     td_num_splat(g->f, td_num_cast(g->f, v, dt), g->lanes), mask, 0);
}

void
td_gen_stores(td_gen *g)
{
    for (uint16_t k = 0; k < g->p->nopnd; k++) {
        if (g->p->opnd[k].role != TD_ROLE_STORE)
            continue;
        if (g->p->put)
            scatter(g, k);
        else
            td_gen_store(g, k);
    }
}
