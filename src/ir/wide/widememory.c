/* widememory.c - loads, stores and atomic operations of a group.
 *
 * Neighbouring elements for neighbouring lanes are one access, scattered ones a gather or
 * scatter.  A pointer that differs between lanes is a vector of addresses, accessed lane by lane.
 * Local arrays are interleaved: an element of all lanes side by side; with barriers, of all
 * threads of the block.
 */
#include "ir/wide/wide.h"

#include <string.h>

enum { SUM_MOST = 4 }; /* most levels of the sums that form an index */

static bool
is_uniform(const wide *w, td_val v)
{
    return v.i == UINT32_MAX || w_shape(w, v) == W_BLOCK || w_shape(w, v) == W_GROUP;
}

/* Do neighbouring lanes access neighbouring elements? */
static bool
in_row(const wide *w, td_val index)
{
    const wat *v = &w->at[w_src(w, index)];

    return v->shape == W_AFFINE && v->stride == 1;
}

static td_val
access_index(wide *w, td_val index)
{
    return in_row(w, index) ? w_one(w, index) : w_vec(w, index);
}

/* The position of element `index` in each lane's own array. */
static td_val
local_index(wide *w, td_val index)
{
    td_fn *f = w->f;
    td_val at = is_uniform(w, index) ? w_one(w, index) : w_vec(w, index);

    at = TD_E2(f, multiply, td_cast(f, at, TD_I64),
               w_int(w, TD_I64, w->barriers ? TD_WIDE_THREADS : w->lanes));
    if (w->barriers)
        at = TD_E2(f, add, at, td_cast(f, w->place, TD_I64));
    return f->st || td_at(f, at)->lanes == 1 ? at : TD_E2(f, add, at, td_iota(f, TD_I64, w->lanes));
}

/* An alignment promised for one lane's access holds for the vector's first lane only if it is
 * at most an element. */
static int
alignment(const td_inst *s)
{
    return s->imm < td_dtype_size((td_dtype)s->dt) ? (int)s->imm : 0;
}

/* ---- lane by lane ---- */

/* Emits a load, store or atomic for one lane; arg: vectors of the operands (index, then
 * values). */
static td_val
one_lane(wide *w, const td_inst *s, td_val address, const td_val *arg, int n, int lane)
{
    td_inst own = *s;
    td_fn *f = w->f;

    own.lanes = 1;
    own.arg[0] = td_pointer(f, td_extract(f, address, lane), (td_dtype)s->dt);
    for (int a = 0; a < n; a++)
        own.arg[1 + a] = td_extract(f, arg[a], lane);
    own.arg[1 + n] = TD_NONE;
    return td_push(f, own);
}

static void
lane_by_lane(wide *w, uint32_t i, td_val mask)
{
    const td_inst *s = &w->in->ins[i];
    td_fn *f = w->f;
    td_val arg[3], v, got = TD_NONE, address = w_vec(w, s->arg[0]), zero = w_int(w, TD_I32, 0);
    int n = td_optab[s->op].arity - 2;

    for (int a = 0; a < n; a++)
        arg[a] = w_vec(w, s->arg[1 + a]);
    if (td_optab[s->op].value) {
        got = td_local(f, (td_dtype)s->dt, (uint64_t)w->lanes);
        td_store(f, got, zero, td_splat(f, w_int(w, (td_dtype)s->dt, 0), w->lanes), TD_NONE, 0);
    }
    for (int lane = 0; lane < w->lanes; lane++) {
        if (mask.i != UINT32_MAX)
            td_if(f, td_extract(f, mask, lane));
        v = one_lane(w, s, address, arg, n, lane);
        if (td_optab[s->op].value)
            td_store(f, got, w_int(w, TD_I32, lane), v, TD_NONE, 0);
        if (mask.i != UINT32_MAX)
            td_end(f);
    }
    if (td_optab[s->op].value)
        w_defined(w, i, TD_NONE, td_load(f, got, zero, TD_NONE, w->lanes, 0));
}

/* ---- atomic operations on the block's own memory ---- */

/* The new value of an atomic operation, if the builder can express it; false: it cannot. */
static bool
changed_value(wide *w, const td_inst *s, td_val old, td_val v, td_val *out)
{
    static const struct {
        td_op atomic, plain;
        const char *kinds;
    } rows[] = {{OP_atomic_add, OP_add, "iuf"},      {OP_atomic_and, OP_bitwise_and, "iu"},
                {OP_atomic_or, OP_bitwise_or, "iu"}, {OP_atomic_xor, OP_bitwise_xor, "iu"},
                {OP_atomic_max, OP_maximum, "iu"},   {OP_atomic_min, OP_minimum, "iu"}};

    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        if (rows[r].atomic == s->op && strchr(rows[r].kinds, td_dtype_kind((td_dtype)s->dt)) &&
            !td_dtype_is_half((td_dtype)s->dt)) {
            if (out)
                *out = td_emit(w->f, rows[r].plain, (td_val[]){old, v});
            return true;
        }
    return false;
}

/* Do only this block's threads, which run on one core, access the memory at p? */
static bool
is_block_own(const wide *w, td_val p)
{
    uint32_t i = w_src(w, p);

    while (w->in->ins[i].op == OP_at)
        i = w_src(w, w->in->ins[i].arg[0]);
    return !w->host && (w->in->ins[i].op == OP_shared || w->in->ins[i].op == OP_dynamic);
}

/* Lane after lane, by plain loads and stores. */
static void
change_own(wide *w, uint32_t i, td_val mask)
{
    const td_inst *s = &w->in->ins[i];
    td_fn *f = w->f;
    td_val p = w_one(w, s->arg[0]), index = w_vec(w, s->arg[1]), v = w_vec(w, s->arg[2]);
    td_val got = TD_NONE, at, old, new = TD_NONE, zero = w_int(w, TD_I32, 0);

    if (w->at[i].used) {
        got = td_local(f, (td_dtype)s->dt, (uint64_t)w->lanes);
        td_store(f, got, zero, td_splat(f, w_int(w, (td_dtype)s->dt, 0), w->lanes), TD_NONE, 0);
    }
    for (int lane = 0; lane < w->lanes; lane++) {
        if (mask.i != UINT32_MAX)
            td_if(f, td_extract(f, mask, lane));
        at = td_extract(f, index, lane);
        old = td_load(f, p, at, TD_NONE, 1, 0);
        changed_value(w, s, old, td_extract(f, v, lane), &new);
        td_store(f, p, at, new, TD_NONE, 0);
        if (w->at[i].used)
            td_store(f, got, w_int(w, TD_I32, lane), old, TD_NONE, 0);
        if (mask.i != UINT32_MAX)
            td_end(f);
    }
    if (w->at[i].used)
        w_defined(w, i, TD_NONE, td_load(f, got, zero, TD_NONE, w->lanes, 0));
}

/* ---- accesses of whole groups ---- */

static td_val
access(wide *w, uint32_t i, td_val p, td_val index, td_val mask)
{
    const td_inst *s = &w->in->ins[i];
    td_inst own = *s;
    int n = td_optab[s->op].arity;

    own.lanes = (uint8_t)w->lanes;
    own.imm = s->op == OP_load || s->op == OP_store ? (uint64_t)alignment(s) : s->imm;
    own.arg[0] = p;
    own.arg[1] = index;
    for (int a = 2; a < n - 1; a++)
        own.arg[a] = w_vec(w, s->arg[a]);
    own.arg[n - 1] = mask;
    return td_push(w->f, own);
}

/* Is the index Python's x < 0 ? x + n : x, of an x that counts up?  Returns x; TD_NONE: no. */
static td_val
wrapped_index(const wide *w, td_val index)
{
    const td_inst *s = &w->in->ins[w_src(w, index)], *c, *zero;

    if (s->op != OP_select || w_shape(w, s->arg[2]) != W_AFFINE)
        return TD_NONE;
    c = &w->in->ins[w_src(w, s->arg[0])];
    if (c->op != OP_less || w_src(w, c->arg[0]) != w_src(w, s->arg[2]))
        return TD_NONE;
    zero = &w->in->ins[w_src(w, c->arg[1])];
    return zero->op == OP_const && !zero->imm ? s->arg[2] : TD_NONE;
}

/* How much the index grows per lane, provided nothing in its sum wraps; INT64_MIN: it is not
 * of that form. */
static int64_t
stride_if(const wide *w, td_val index, int depth)
{
    const td_inst *s = &w->in->ins[w_src(w, index)];
    td_val x = wrapped_index(w, index);
    int64_t a, b;

    if (is_uniform(w, index))
        return 0;
    if (x.i != UINT32_MAX || w_shape(w, index) == W_AFFINE)
        return w->at[w_src(w, x.i != UINT32_MAX ? x : index)].stride;
    if (s->op != OP_add || !depth)
        return INT64_MIN;
    a = stride_if(w, s->arg[0], depth - 1);
    b = stride_if(w, s->arg[1], depth - 1);
    return a == INT64_MIN || b == INT64_MIN ? INT64_MIN : a + b;
}

/* Lane 0 of such an index; *ok: nothing wraps. */
static td_val
straight(wide *w, td_val index, td_val *ok)
{
    const td_inst *s = &w->in->ins[w_src(w, index)];
    td_val x = wrapped_index(w, index), a, b;

    if (is_uniform(w, index) || (x.i == UINT32_MAX && w_shape(w, index) == W_AFFINE))
        return w_one(w, index);
    if (x.i != UINT32_MAX) {
        a = w_one(w, x);
        b = TD_E2(w->f, less_equal, w_int(w, (td_dtype)w->in->ins[w_src(w, x)].dt, 0), a);
        *ok = w_and(w, *ok, b);
        return a;
    }
    a = straight(w, s->arg[0], ok);
    b = straight(w, s->arg[1], ok);
    return TD_E2(w->f, add, a, b);
}

/* Such an index is seldom negative, and then the lanes' elements are neighbours. */
static td_val
access_wrapped(wide *w, uint32_t i, td_val p, td_val mask)
{
    const td_inst *s = &w->in->ins[i];
    td_fn *f = w->f;
    td_val ok = TD_NONE, first = straight(w, s->arg[1], &ok), all = w_vec(w, s->arg[1]), v,
           slot = TD_NONE;
    bool load = s->op == OP_load;

    if (load)
        slot = td_slot(f, (td_dtype)s->dt, w->lanes);
    else
        w_vec(w, s->arg[2]); /* made here, for use in both branches */
    td_if(f, ok);
    v = access(w, i, p, first, mask);
    if (load)
        td_set(f, slot, v);
    td_else(f);
    v = access(w, i, p, all, mask);
    if (load)
        td_set(f, slot, v);
    td_end(f);
    return load ? td_get(f, slot) : v;
}

static void
access_once(wide *w, uint32_t i)
{
    td_inst own = w->in->ins[i];
    td_val v;

    for (int a = 0; a < td_optab[own.op].arity; a++)
        if (own.arg[a].i != UINT32_MAX)
            own.arg[a] = w_one(w, own.arg[a]);
    v = td_push(w->f, own);
    if (td_optab[own.op].value)
        w_defined(w, i, v, TD_NONE);
}

/* Is it the same compare-and-swap in all lanes?  Threads that raise use one on the mailbox. */
static bool
swaps_uniformly(const wide *w, const td_inst *s)
{
    return s->op == OP_atomic_cas && td_dtype_is_int((td_dtype)s->dt) && is_uniform(w, s->arg[0]) &&
           is_uniform(w, s->arg[1]) && is_uniform(w, s->arg[2]) && is_uniform(w, s->arg[3]);
}

/* The first lane swaps; the other lanes find what it left. */
static void
swap_once(wide *w, uint32_t i, td_val mask)
{
    const td_inst *s = &w->in->ins[i];
    td_fn *f = w->f;
    bool all = mask.i == UINT32_MAX;
    td_val expected = w_one(w, s->arg[2]), new = w_one(w, s->arg[3]), bits, first, old, v;

    old = td_atomic_cas(f, w_one(w, s->arg[0]), w_one(w, s->arg[1]), expected, new,
                        all ? TD_NONE : w_any(w, mask));
    bits = all ? w_int(w, TD_U64, 1) : td_bits(f, mask);
    bits = TD_E2(f, bitwise_and, bits, TD_E2(f, subtract, w_int(w, TD_U64, 0), bits));
    first = td_unbits(f, bits, w->lanes);
    v = TD_E3(f, select, first, old, TD_E3(f, select, TD_E2(f, equal, old, expected), new, old));
    if (!all)
        v = TD_E3(f, select, mask, v, w_int(w, (td_dtype)s->dt, 0));
    w_defined(w, i, TD_NONE, v);
}

void
w_access(wide *w, uint32_t i)
{
    const td_inst *s = &w->in->ins[i];
    int last = td_optab[s->op].arity - 1;
    td_val mask, own = s->arg[last], v;
    bool apart;

    if (w_once(w, i) && !td_op_is_atomic(s->op)) {
        access_once(w, i);
        return;
    }
    mask = w_mask(w);
    if (own.i != UINT32_MAX)
        mask = w_and(w, mask, w_vec(w, own));
    if (!w_is_local(w, s->arg[0]) && !is_uniform(w, s->arg[0])) {
        lane_by_lane(w, i, mask);
        return;
    }
    if (td_op_is_atomic(s->op) && is_block_own(w, s->arg[0]) &&
        changed_value(w, s, mask, mask, NULL)) {
        change_own(w, i, mask);
        return;
    }
    if (swaps_uniformly(w, s)) {
        swap_once(w, i, mask);
        return;
    }
    apart = !td_op_is_atomic(s->op) && w_shape(w, s->arg[1]) == W_LANES;
    if (w_is_local(w, s->arg[0]))
        v = access(w, i, w_one(w, s->arg[0]), local_index(w, s->arg[1]), mask);
    else if (apart && stride_if(w, s->arg[1], SUM_MOST) == 1)
        v = access_wrapped(w, i, w_one(w, s->arg[0]), mask);
    else
        v = access(w, i, w_one(w, s->arg[0]), access_index(w, s->arg[1]), mask);
    if (td_optab[s->op].value)
        w_defined(w, i, TD_NONE, v);
}

/* ---- pointers ---- */

/* `at`, `address`, `pointer`: a pointer that differs between lanes becomes a vector of
 * addresses. */
void
w_pointer(wide *w, uint32_t i)
{
    const td_inst *s = &w->in->ins[i];
    td_fn *f = w->f;
    td_val p, k;

    if (w->at[i].shape != W_LANES) {
        td_inst own = *s;

        own.arg[0] = w_one(w, s->arg[0]);
        if (s->op == OP_at)
            own.arg[1] = w_one(w, s->arg[1]);
        w_defined(w, i, td_push(f, own), TD_NONE);
        return;
    }
    if (s->op != OP_at) {
        w_defined(w, i, TD_NONE, w_vec(w, s->arg[0]));
        return;
    }
    p = is_uniform(w, s->arg[0]) ? td_address(f, w_one(w, s->arg[0])) : w_vec(w, s->arg[0]);
    k = td_cast(f, w_vec(w, s->arg[1]), TD_I64);
    w_defined(w, i, TD_NONE, TD_E2(f, add, td_bitcast(f, k, TD_U64), p));
}
