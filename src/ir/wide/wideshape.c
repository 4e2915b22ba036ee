/* wideshape.c - finds which values are uniform across lanes, and what follows from it: a fixed
 * point from below over the shapes of values and slots and over the regions in which lanes
 * diverge.
 */
#include "ir/wide/wide.h"

enum { COSTLY = 255, CHEAP = 12, HOT = 8, DEEPEST = 6 };

static wshape
most(wshape a, wshape b)
{
    return a > b ? a : b;
}

/* ---- shapes of operations ---- */

static bool
is_const(const wide *w, td_val v, int64_t *out)
{
    const td_inst *s = &w->in->ins[w_src(w, v)];

    *out = (int64_t)s->imm;
    return s->op == OP_const;
}

static bool
counts(td_dtype dt)
{
    return dt == TD_I32 || dt == TD_I64 || dt == TD_U64;
}

/* The stride of the result if the operands are affine or uniform; false: it has none. */
static bool
stride_of(const wide *w, const td_inst *s, int64_t *out)
{
    uint64_t a = (uint64_t)w->at[w_src(w, s->arg[0])].stride, b = 0;
    int64_t c;

    if (td_optab[s->op].arity == 2)
        b = (uint64_t)w->at[w_src(w, s->arg[1])].stride;
    switch (s->op) {
    case OP_cast:     *out = (int64_t)a; return counts((td_dtype)td_at(w->in, s->arg[0])->dt);
    case OP_add:      *out = (int64_t)(a + b); return true;
    case OP_subtract: *out = (int64_t)(a - b); return true;
    case OP_multiply:
        if (!is_const(w, s->arg[b ? 0 : 1], &c))
            return false;
        *out = (int64_t)((a + b) * (uint64_t)c);
        return !a || !b;
    case OP_left_shift:
        if (!is_const(w, s->arg[1], &c) || c < 0 || c > 30)
            return false;
        *out = (int64_t)(a << c);
        return true;
    }
    return false;
}

/* The shape of a comparison between an affine value of stride 1 and a uniform one. */
static wshape
comparison(const wide *w, const td_inst *s)
{
    wshape a = w_shape(w, s->arg[0]), b = w_shape(w, s->arg[1]);
    td_dtype dt = (td_dtype)td_at(w->in, s->arg[0])->dt;
    bool up = a == W_AFFINE, less = s->op == OP_less || s->op == OP_less_equal;
    const wat *v = &w->at[w_src(w, s->arg[up ? 0 : 1])];

    if ((dt != TD_I32 && dt != TD_I64) || !w_is_uniform(up ? b : a) || v->shape != W_AFFINE ||
        v->stride != 1)
        return W_LANES;
    return up == less ? W_PREFIX : W_SUFFIX;
}

static wshape
logical(const wide *w, const td_inst *s)
{
    bool and = s->op == OP_logical_and || s->op == OP_bitwise_and;
    wshape a = w_shape(w, s->arg[0]), b = w_shape(w, s->arg[1]), want = and ? W_PREFIX : W_SUFFIX;
    int64_t c;

    if (s->op == OP_logical_xor || s->op == OP_bitwise_xor) {
        if (!is_const(w, s->arg[1], &c) || !c || (a != W_PREFIX && a != W_SUFFIX))
            return W_LANES;
        return a == W_PREFIX ? W_SUFFIX : W_PREFIX;
    }
    return (a == want || w_is_uniform(a)) && (b == want || w_is_uniform(b)) ? want : W_LANES;
}

/* The shape of an elementwise operation, cast or bitcast. */
static wshape
elementwise(wide *w, uint32_t i)
{
    const td_inst *s = &w->in->ins[i];
    wshape all = W_NONE;

    for (int a = 0; a < td_optab[s->op].arity; a++) {
        wshape one = w_shape(w, s->arg[a]);

        if (one == W_NONE)
            return W_NONE;
        all = most(all, one);
    }
    if (w_is_uniform(all))
        return all;
    if (all == W_AFFINE && counts((td_dtype)s->dt) && stride_of(w, s, &w->at[i].stride))
        return w->at[i].stride ? W_AFFINE : W_GROUP;
    switch (s->op) {
    case OP_less:
    case OP_less_equal:
    case OP_greater:
    case OP_greater_equal: return comparison(w, s);
    case OP_logical_and:
    case OP_logical_or:
    case OP_logical_xor:
    case OP_bitwise_and:
    case OP_bitwise_or:
    case OP_bitwise_xor:   return s->dt == TD_BOOL ? logical(w, s) : W_LANES;
    }
    return W_LANES;
}

static wshape
of_pointer(const wide *w, const td_inst *s)
{
    wshape p = w_shape(w, s->arg[0]), i = s->op == OP_at ? w_shape(w, s->arg[1]) : W_BLOCK;

    if (p == W_NONE || i == W_NONE)
        return W_NONE;
    return w_is_uniform(p) && w_is_uniform(i) ? most(p, i) : W_LANES;
}

static wshape
of_load(const wide *w, uint32_t i)
{
    const td_inst *s = &w->in->ins[i];
    wshape idx = most(w_shape(w, s->arg[0]), w_shape(w, s->arg[1])), mask = W_BLOCK;

    if (w_shape(w, s->arg[0]) == W_NONE || w_shape(w, s->arg[1]) == W_NONE)
        return W_NONE;
    if (w_is_local(w, s->arg[0]))
        return W_LANES;

    if (s->arg[2].i != UINT32_MAX)
        mask = w_shape(w, s->arg[2]);
    if (mask == W_NONE)
        return W_NONE;
    if (!w_is_uniform(idx) || !w_is_uniform(mask))
        return W_LANES;
    return idx == W_BLOCK && mask == W_BLOCK && w->at[i].clean ? W_BLOCK : W_GROUP;
}

static wshape
of_counter(wide *w, uint32_t i)
{
    const td_inst *s = &w->in->ins[i];
    wshape lo = w_shape(w, s->arg[0]), hi = w_shape(w, s->arg[1]), step = w_shape(w, s->arg[2]);

    if (lo == W_NONE || hi == W_NONE || step == W_NONE)
        return W_NONE;
    w->at[i].stride = w->at[w_src(w, s->arg[0])].stride;
    w->at[i].strip =
        lo == W_AFFINE && w->at[i].stride == 1 && w_is_uniform(hi) && w_is_uniform(step);
    if (!w_is_uniform(lo) || !w_is_uniform(hi) || !w_is_uniform(step)) {
        w->at[i].vary = w->at[i].one_by_one = true;
        w->at[i].leak |= !w->at[i].strip;
    }
    if (!w_is_uniform(step) || (!w_is_uniform(lo) && lo != W_AFFINE))
        return W_LANES;
    return lo == W_AFFINE ? W_AFFINE : most(lo, most(w_is_uniform(hi) ? hi : W_GROUP, step));
}

static wshape
of_value(wide *w, uint32_t i)
{
    const td_inst *s = &w->in->ins[i];

    if (s->op < TD_OPS || s->op == OP_cast || s->op == OP_bitcast)
        return elementwise(w, i);
    if (td_op_is_atomic(s->op))
        return W_LANES;
    if (td_optab[s->op].wide != TD_WIDE_OWN)
        return td_optab[s->op].wide == TD_WIDE_EACH ? W_LANES : W_GROUP;
    switch (s->op) {
    case OP_tid:
        w->at[i].stride = s->imm == 0;
        return w->linear ? W_LANES : s->imm == 0 ? W_AFFINE : W_GROUP;
    case OP_lane:    w->at[i].stride = 1; return W_AFFINE;
    case OP_at:
    case OP_pointer:
    case OP_address: return of_pointer(w, s);
    case OP_load:    return of_load(w, i);
    case OP_for:     return of_counter(w, i);
    case OP_get:
        w->at[i].stride = w->at[s->arg[0].i].stride;
        return (wshape)w->at[s->arg[0].i].shape;
    case OP_slot: return (wshape)w->at[i].shape;
    }
    return W_BLOCK;
}

/* ---- slots ---- */

/* Does a lane that is off at set a still need the slot's old value? */
static bool
partial(const wide *w, uint32_t slot, uint32_t a)
{
    for (uint32_t p = w->at[a].parent; p != w->at[slot].home && p != W_ROOT; p = w->at[p].parent) {
        if (!w->at[p].vary)
            continue;
        if (!td_op_is_breakable(w->in->ins[p].op))
            return true;
        if (!w->at[p].one_by_one)
            continue; /* they continue after a region further out */
        for (uint32_t g = w->at[slot].next; g != W_ROOT; g = w->at[g].next)
            if (w->in->ins[g].op == OP_get && !w_inside(w, g, p))
                return true;
    }
    return false;
}

static wshape
of_slot(wide *w, uint32_t slot)
{
    wshape all = w->at[slot].zero ? W_BLOCK : W_NONE;
    int64_t stride = 0;

    for (uint32_t a = w->at[slot].next; a != W_ROOT; a = w->at[a].next) {
        uint32_t v;
        wshape s;

        if (w->in->ins[a].op != OP_set)
            continue;
        v = w_src(w, w->in->ins[a].arg[1]);
        s = (wshape)w->at[v].shape;
        w->at[a].partial = partial(w, slot, a);
        if (s == W_NONE)
            continue;
        if (s == W_BLOCK && !w_at_block(w, a))
            s = W_GROUP;
        if (w->at[a].partial || s == W_PREFIX || s == W_SUFFIX ||
            (all != W_NONE && (s == W_AFFINE || all == W_AFFINE) && w->at[v].stride != stride))
            s = W_LANES;
        stride = w->at[v].stride;
        all = most(all, s);
    }
    w->at[slot].stride = stride;
    return all;
}

/* ---- regions ---- */

/* Lanes leave all regions around i, out to `target`, one by one. */
static bool
lanes_leave(wide *w, uint32_t i, uint32_t target, bool return_)
{
    bool news = false;

    for (uint32_t p = w->at[i].parent; p != W_ROOT; p = w->at[p].parent) {
        wat *r = &w->at[p], was = *r;

        r->cross |= p != target;
        r->one_by_one |= p == target;
        r->leak |= td_op_is_breakable(w->in->ins[p].op);
        r->vary |= td_op_is_breakable(w->in->ins[p].op) && !return_;
        news |= was.cross != r->cross || was.leak != r->leak || was.vary != r->vary ||
                was.one_by_one != r->one_by_one;
        if (p == target)
            break;
    }
    return news;
}

static bool
of_exit(wide *w, uint32_t i)
{
    wshape c = w_shape(w, w->in->ins[i].arg[0]);

    if (c == W_NONE || (!w->barriers && w->at[i].parent == W_ROOT) ||
        (c == W_BLOCK && w_at_block(w, i)))
        return false;
    if (!w->barriers && w_is_uniform(c) && !w_diverges(w, i, W_ROOT)) {
        w->leaves = true;
        return false;
    }
    w->exits = true;
    return lanes_leave(w, i, W_ROOT, true);
}

static bool
of_region(wide *w, uint32_t i)
{
    const td_inst *s = &w->in->ins[i];
    bool was = w->at[i].vary;

    if (s->op == OP_if)
        w->at[i].vary |= w_shape(w, s->arg[0]) > W_GROUP;
    else if (s->op == OP_else)
        w->at[i].vary = w->at[w->at[i].target].vary;
    else if (s->op == OP_exit_if)
        return of_exit(w, i);
    else if (s->op == OP_break_if && w_shape(w, s->arg[0]) != W_NONE &&
             (w_shape(w, s->arg[0]) > W_GROUP || w_diverges(w, i, w->at[i].target)))
        return lanes_leave(w, i, w->at[i].target, false);
    return was != w->at[i].vary;
}

static bool
round_once(wide *w)
{
    bool news = false;

    for (uint32_t i = 0; i < w->in->n; i++) {
        wat *v = &w->at[i];
        wshape s = W_NONE, was = (wshape)v->shape;

        if (w->in->ins[i].op == OP_slot)
            s = of_slot(w, i);
        else if (w->at[i].each)
            s = W_AFFINE;
        else if (w->host && w_at_block(w, i))
            s = W_BLOCK;
        else if (td_optab[w->in->ins[i].op].value)
            s = of_value(w, i);
        if (s == W_BLOCK && !w_at_block(w, i) && w->in->ins[i].op != OP_slot)
            s = W_GROUP;
        if (w->in->ins[i].op == OP_for && s == W_BLOCK && !v->block)
            s = W_GROUP;
        v->shape = (uint8_t)most(was, s);
        news |= v->shape != was;
        news |= of_region(w, i);
    }
    return news;
}

/* ---- conclusions from the shapes ---- */

static td_status
check_block_level(wide *w)
{
    for (uint32_t i = 0; i < w->in->n; i++) {
        const td_inst *s = &w->in->ins[i];
        bool ours = (td_op_opens(s->op) && w->at[i].block) ||
                    (s->op == OP_break_if && w->at[w->at[i].target].block);

        for (int a = 0; ours && a < (s->op == OP_for ? 3 : s->op == OP_if || s->op == OP_break_if);
             a++)
            if (w_shape(w, s->arg[a]) != W_BLOCK) {
                w->why = "a barrier stands where not all threads may come";
                return TD_SKIP;
            }
    }
    return TD_OK;
}

static void
number_phases(wide *w)
{
    uint32_t phase = 1;

    for (uint32_t i = 0; i < w->in->n; i++) {
        bool edge = w_edge(w, i);

        phase += edge;
        w->at[i].phase = phase;
        phase += edge;
    }
}

static void
keep_slots(wide *w)
{
    for (uint32_t s = 0; s < w->in->n; s++) {
        wat *v = &w->at[s];
        bool one = true;

        if (w->in->ins[s].op != OP_slot || v->next == W_ROOT)
            continue;
        for (uint32_t a = v->next; a != W_ROOT; a = w->at[a].next)
            one &= w->at[a].phase == w->at[v->next].phase;
        v->keep = v->shape == W_BLOCK                 ? W_ONCE
                  : !w->barriers || (one && !v->zero) ? W_LOCAL
                                                      : W_ARRAY;
    }
}

static bool
cheap(unsigned op)
{
    switch (op) {
    case OP_add:
    case OP_subtract:
    case OP_multiply:
    case OP_less:
    case OP_less_equal:
    case OP_greater:
    case OP_greater_equal:
    case OP_equal:
    case OP_not_equal:
    case OP_logical_and:
    case OP_logical_or:
    case OP_logical_xor:
    case OP_bitwise_and:
    case OP_bitwise_or:
    case OP_bitwise_xor:
    case OP_left_shift:
    case OP_right_shift:
    case OP_select:
    case OP_cast:
    case OP_const:
    case OP_tid:
    case OP_at:
    case OP_pointer:
    case OP_address:       return true;
    }
    return false;
}

/* The cost of computing value i again in a later phase. */
static int
recompute_cost(const wide *w, const uint8_t *known, uint32_t i)
{
    const td_inst *s = &w->in->ins[i];
    int sum = 1;

    if (w->at[i].shape == W_BLOCK)
        return 0;
    if (!cheap(s->op))
        return COSTLY;
    for (int a = 0; a < td_optab[s->op].arity; a++)
        sum += known[w_src(w, s->arg[a])];
    if (s->flags & TD_INST_PTR) /* there are no arrays of pointers */
        return sum > CHEAP ? CHEAP : sum;
    return sum > CHEAP ? COSTLY : sum;
}

/* v is needed in a later phase than its own. */
static void
outlive(wide *w, const uint8_t *known, uint32_t v)
{
    const td_inst *s = &w->in->ins[v];

    if (known[v] == COSTLY)
        w->at[v].spill = true;
    else if (w->at[v].shape != W_BLOCK && (s->flags & TD_INST_PTR))
        for (int a = 0; a < td_optab[s->op].arity; a++)
            outlive(w, known, w_src(w, s->arg[a]));
}

/* Decides for values that outlive their phase: compute them again, or keep them in arrays. */
static td_status
keep_values(wide *w)
{
    uint8_t *known = td_alloc_big(w->f->mem, w->in->n + 1);

    if (!known)
        return td_fail(TD_ERR_NOMEM, "kernel %s: widening", w->in->name);
    for (uint32_t i = 0; i < w->in->n; i++)
        known[i] = (uint8_t)recompute_cost(w, known, i);
    for (uint32_t i = 0; i < w->in->n; i++)
        for (int a = 0; a < TD_MAXARG && w->in->ins[i].arg[a].i < i; a++) {
            uint32_t v = w_src(w, w->in->ins[i].arg[a]);

            if (w->in->ins[v].op != OP_slot && w->at[v].phase != w->at[i].phase)
                outlive(w, known, v);
        }
    return TD_OK;
}

/* Marks the operands of i that are combined with vectors. */
static void
mark_meets(wide *w, uint32_t i)
{
    const td_inst *s = &w->in->ins[i];
    bool lanes = w->at[i].shape == W_LANES;

    if (s->op == OP_set)
        lanes = w->at[s->arg[0].i].shape == W_LANES;
    else if (s->op >= TD_OPS && s->op != OP_cast && s->op != OP_bitcast)
        return;
    for (int a = 0; lanes && a < TD_MAXARG && s->arg[a].i < i; a++)
        w->at[w_src(w, s->arg[a])].meets |= w->in->ins[s->arg[a].i].op != OP_slot;
}

td_status
w_shapes(wide *w)
{
    for (uint32_t i = 0; i < w->in->n; i++)
        w->at[i].stride = w->at[i].each;
    while (round_once(w))
        ;
    TD_TRY(check_block_level(w));
    number_phases(w);
    keep_slots(w);
    for (uint32_t i = 0; i < w->in->n; i++)
        mark_meets(w, i);
    return w->barriers ? keep_values(w) : TD_OK;
}

/* The size of the elements that i works on in lanes; 0: none. */
static size_t
works_on(const wide *w, uint32_t i)
{
    const td_inst *s = &w->in->ins[i];

    if (s->op < TD_OPS && w->at[i].shape == W_LANES)
        return td_dtype_size((td_dtype)td_at(w->in, s->arg[td_optab[s->op].arity - 1])->dt);
    if ((s->op == OP_load || s->op == OP_store || td_op_is_atomic(s->op)) && !w_once(w, i))
        return td_dtype_size((td_dtype)s->dt);
    return 0;
}

/* As many lanes as a register holds of the elements that most work is done on.  8-byte
 * elements may take two registers if there is as much other work. */
int
w_lanes(const wide *w, int vector_bytes)
{
    double small = 0, large = 0, weight = 1;
    int depth = 0;

    for (uint32_t i = 0; i < w->in->n; i++) {
        const td_inst *s = &w->in->ins[i];

        if (s->op == OP_loop || s->op == OP_for)
            weight *= depth++ < DEEPEST ? HOT : 1;
        else if (s->op == OP_end &&
                 (w->in->ins[s->jump].op == OP_loop || w->in->ins[s->jump].op == OP_for))
            weight /= --depth < DEEPEST ? HOT : 1;
        if (works_on(w, i) == 8)
            large += weight;
        else if (works_on(w, i))
            small += weight;
    }
    return w->warps ? 32 : vector_bytes / (2 * small >= large ? 4 : 8);
}
