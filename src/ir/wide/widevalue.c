/* widevalue.c - values of a group: one lane where lanes are uniform or count up, vectors
 * elsewhere; slots.
 */
#include "ir/wide/wide.h"

#include <string.h>

td_val
w_int(wide *w, td_dtype dt, int64_t v)
{
    return td_const_int(w->f, dt, v);
}

td_val
w_select(wide *w, td_val mask, td_val a, td_val b)
{
    td_fn *f = w->f;
    td_dtype dt = f->st ? TD_BOOL : (td_dtype)td_at(f, a)->dt;

    if (td_dtype_is_half(dt)) {
        a = td_bitcast(f, a, TD_U16);
        b = td_bitcast(f, b, TD_U16);
    }
    return td_bitcast(f, TD_E3(f, select, mask, a, b), dt);
}

/* ---- where values are valid ---- */

static void
remember(wide *w, uint32_t i, bool both)
{
    if (w->nundo == w->capundo) {
        uint32_t cap = w->capundo ? 2 * w->capundo : 256, *p;

        p = td_alloc_big(w->f->mem, cap * sizeof *p);
        if (!p) {
            w->f->st = td_fail(TD_ERR_NOMEM, "kernel %s: widening", w->in->name);
            return;
        }
        if (w->nundo)
            memcpy(p, w->undo, w->nundo * sizeof *p);
        w->undo = p;
        w->capundo = cap;
    }
    w->undo[w->nundo++] = i << 1 | both;
}

void
w_close(wide *w, uint32_t mark)
{
    while (w->nundo > mark) {
        uint32_t e = w->undo[--w->nundo];
        wat *v = &w->at[e >> 1];

        v->vec = TD_NONE;
        if (e & 1)
            v->one = TD_NONE;
    }
}

static td_val
vector_of(wide *w, uint32_t i)
{
    const wat *v = &w->at[i];
    td_dtype dt = (td_dtype)w->in->ins[i].dt;
    td_fn *f = w->f;

    switch (v->shape) {
    case W_AFFINE:
        return TD_E2(f, add, td_splat(f, v->one, w->lanes),
                     TD_E2(f, multiply, td_iota(f, dt, w->lanes), w_int(w, dt, v->stride)));
    case W_PREFIX: return TD_E2(f, less, td_iota(f, TD_I32, w->lanes), v->one);
    case W_SUFFIX: return TD_E2(f, greater_equal, td_iota(f, TD_I32, w->lanes), v->one);
    default:       return td_splat(f, v->one, w->lanes);
    }
}

/* ---- arrays over the block's threads ---- */

/* Stores value i in its array for later phases: the existing lanes of a vector, else one lane. */
static void
put_by(wide *w, uint32_t i)
{
    const wat *v = &w->at[i];
    bool lanes = v->shape == W_LANES;

    td_store(w->f, v->array, w->place, lanes ? v->vec : v->one, lanes ? w->tail : TD_NONE, 0);
}

static td_val
fetch_spilled(wide *w, uint32_t i)
{
    bool lanes = w->at[i].shape == W_LANES;

    return td_load(w->f, w->at[i].array, w->place, lanes ? w->tail : TD_NONE, lanes ? w->lanes : 1,
                   0);
}

/* ---- values ---- */

void
w_defined(wide *w, uint32_t i, td_val one, td_val vec)
{
    wat *v = &w->at[i];

    if (w->f->st)
        return;
    v->one = one;
    v->vec = vec;
    v->when = w->epoch;
    if (v->meets && vec.i == UINT32_MAX)
        v->vec = vector_of(w, i);
    if (v->spill && w->epoch)
        put_by(w, i);
}

static bool
ready(const wide *w, uint32_t i)
{
    const wat *v = &w->at[i];

    return (v->one.i & v->vec.i) != UINT32_MAX && (!v->when || v->when == w->epoch);
}

static void compute_value(wide *w, uint32_t i);

/* Brings in a value of an earlier phase. */
static void
bring(wide *w, uint32_t i)
{
    wat *v = &w->at[i];
    bool spill = v->spill;

    v->vec = v->one = TD_NONE;
    if (spill) {
        *(v->shape == W_LANES ? &v->vec : &v->one) = fetch_spilled(w, i);
        v->when = w->epoch;
    } else {
        compute_value(w, i);
    }
    remember(w, i, true);
}

td_val
w_one(wide *w, td_val v)
{
    uint32_t i = w_src(w, v);

    if (w->f->st)
        return TD_NONE;
    if (!ready(w, i))
        bring(w, i);
    TD_ASSERT(w->f->st || w->at[i].one.i != UINT32_MAX);
    return w->at[i].one;
}

td_val
w_vec(wide *w, td_val v)
{
    uint32_t i = w_src(w, v);

    if (w->f->st)
        return TD_NONE;
    if (!ready(w, i))
        bring(w, i);
    if (w->at[i].vec.i == UINT32_MAX) {
        w->at[i].vec = vector_of(w, i);
        remember(w, i, false);
    }
    return w->at[i].vec;
}

/* Emits i with its operands as one lane or as vectors. */
static td_val
copy_widened(wide *w, uint32_t i, int lanes)
{
    td_inst s = w->in->ins[i];

    for (int a = 0; a < TD_MAXARG; a++)
        if (s.arg[a].i != UINT32_MAX)
            s.arg[a] = lanes == 1 ? w_one(w, s.arg[a]) : w_vec(w, s.arg[a]);
    s.lanes = (uint8_t)lanes;
    return td_push(w->f, s);
}

static td_val
emit_least(wide *w, td_val a, td_val b)
{
    return TD_E3(w->f, select, TD_E2(w->f, less, a, b), a, b);
}

/* How many lanes from the first on have a < u (strict) or a <= u, where a counts up by one. */
static td_val
count_below(wide *w, td_val a, td_val u, bool strict)
{
    td_fn *f = w->f;
    bool wide64 = td_at(f, a)->dt == TD_I64;
    td_dtype un = wide64 ? TD_U64 : TD_U32;
    td_val room = td_bitcast(f, TD_E2(f, subtract, u, a), un), n;

    n = emit_least(w, room, w_int(w, un, w->lanes - !strict));
    n = td_cast(f, n, TD_I32);
    if (!strict)
        n = TD_E2(f, add, n, w_int(w, TD_I32, 1));
    return TD_E3(f, select, strict ? TD_E2(f, less, a, u) : TD_E2(f, less_equal, a, u), n,
                 w_int(w, TD_I32, 0));
}

/* The number of lanes of a PREFIX or SUFFIX. */
static td_val
count_of(wide *w, uint32_t i)
{
    const td_inst *s = &w->in->ins[i];
    bool first = w_shape(w, s->arg[0]) > W_GROUP;
    td_val a, b;

    a = w_one(w, s->arg[!first]);
    b = w_one(w, s->arg[first]);
    switch (s->op) {
    case OP_less:          return count_below(w, a, b, first);
    case OP_less_equal:    return count_below(w, a, b, !first);
    case OP_greater:       return count_below(w, a, b, !first);
    case OP_greater_equal: return count_below(w, a, b, first);
    case OP_logical_xor:
    case OP_bitwise_xor:   return a;
    }
    if (!w_is_uniform(w_shape(w, s->arg[first])))
        return emit_least(w, a, b);
    return w->at[i].shape == W_PREFIX ? TD_E3(w->f, select, b, a, w_int(w, TD_I32, 0))
                                      : TD_E3(w->f, select, b, w_int(w, TD_I32, 0), a);
}

static void
compute_value(wide *w, uint32_t i)
{
    const td_inst *s = &w->in->ins[i];

    switch (s->op) {
    case OP_tid:
        w_defined(w, i, w->linear ? TD_NONE : w->tid[s->imm], w->linear ? w->tid[s->imm] : TD_NONE);
        return;
    case OP_bid:     w_defined(w, i, w->bid[s->imm], TD_NONE); return;
    case OP_bdim:    w_defined(w, i, w->bdim[s->imm], TD_NONE); return;
    case OP_gdim:    w_defined(w, i, w->gdim[s->imm], TD_NONE); return;
    case OP_at:
    case OP_pointer:
    case OP_address: w_pointer(w, i); return;
    }
    if (w_is_warp(s->op)) {
        w_warp(w, i);
        return;
    }
    switch (w->at[i].shape) {
    case W_LANES:  w_defined(w, i, TD_NONE, copy_widened(w, i, w->lanes)); return;
    case W_PREFIX:
    case W_SUFFIX: w_defined(w, i, count_of(w, i), TD_NONE); return;
    default:       w_defined(w, i, copy_widened(w, i, 1), TD_NONE); return;
    }
}

/* ---- slots ---- */

static void
get_value(wide *w, uint32_t i)
{
    uint32_t slot = w->in->ins[i].arg[0].i;
    td_val v;

    if (w->at[i].alias != i || w->at[i].dead)
        return;
    v = td_get(w->f, w->at[slot].one);
    w_defined(w, i, w->at[slot].shape == W_LANES ? TD_NONE : v,
              w->at[slot].shape == W_LANES ? v : TD_NONE);
}

static void
set(wide *w, uint32_t i)
{
    const td_inst *s = &w->in->ins[i];
    const wat *slot = &w->at[s->arg[0].i];
    td_val v, mask = TD_NONE;

    if (!slot->gets)
        return;
    if (slot->shape != W_LANES) {
        td_set(w->f, slot->one, w_one(w, s->arg[1]));
        return;
    }
    v = w_vec(w, s->arg[1]);
    if (w->at[i].partial)
        mask = w_mask(w);
    if (mask.i != UINT32_MAX)
        v = w_select(w, mask, v, td_get(w->f, slot->one));
    td_set(w->f, slot->one, v);
}

/* Emits i once, as a single thread would do it. */
static void
do_once(wide *w, uint32_t i)
{
    td_inst s = w->in->ins[i];
    td_val v;

    for (int a = 0; a < td_optab[s.op].arity; a++)
        s.arg[a] = w_is_uniform(w_shape(w, s.arg[a])) ? w_one(w, s.arg[a])
                                                      : td_extract(w->f, w_vec(w, s.arg[a]), 0);
    v = td_push(w->f, s);
    if (td_optab[s.op].value)
        w_defined(w, i, v, TD_NONE);
}

/* Has the block done it once, before its groups? */
static bool
done_once(const wide *w, uint32_t i)
{
    const td_inst *s = &w->in->ins[i];

    if (s->op == OP_get || s->op == OP_set)
        return w->at[s->arg[0].i].keep == W_ONCE;
    return td_optab[s->op].value && w->at[i].shape == W_BLOCK;
}

void
w_inst(wide *w, uint32_t i)
{
    const td_inst *s = &w->in->ins[i];

    if (w->epoch && done_once(w, i))
        return;
    w->f->line = s->line;
    if (td_op_is_atomic(s->op)) {
        w_access(w, i);
        return;
    }
    if (td_optab[s->op].wide == TD_WIDE_ONCE || td_optab[s->op].wide == TD_WIDE_WHERE) {
        do_once(w, i);
        return;
    }
    switch (s->op) {
    case OP_slot:
    case OP_shared:
    case OP_dynamic:
    case OP_local:
    case OP_param:   return; /* made at the kernel's entry */
    case OP_load:
    case OP_store:   w_access(w, i); return;
    case OP_get:     get_value(w, i); return;
    case OP_set:     set(w, i); return;
    }
    compute_value(w, i);
}
