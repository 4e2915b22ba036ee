/* prange.c - loops whose iterations run in any order: on a CPU's cores and as lanes of its
 * vectors, or one per thread on a GPU.
 *
 * Variables that such a loop assigns belong to each iteration.  Under prange, a variable that the
 * body changes only in the ways of reduced.c is reduced: each piece of the loop starts with the
 * operation's neutral value, and the pieces' results are combined in their order, so the result
 * does not depend on scheduling.  For an array each piece has a copy. Any other read of another
 * iteration's value is refused (parallel.c).
 */
#include "front/infer/lazy.h"

#include <string.h>

enum {
    PIECES = 256, /* more than threads, so that long iterations spread; a piece costs 0.1 us */
    SUMMED =
        64, /* the same where the iterations reduce something: the partial results wait in an array */
    LANES = 16,   /* iterations that fill a CPU's vectors; also the partial results of a piece */
    GRAIN = 4096, /* iterations of a body without loops that are worth a piece */
};

/* ---- reductions ---- */

typedef struct reduction {
    uint32_t name;
    combining how;
    thing before;
    thing parts;    /* of an array: as many of it as there are pieces, */
    thing own;      /* and the one of the piece at work */
    td_val part;    /* local array of the pieces' results */
    uint32_t entry; /* on a GPU: which of the blocks' partial results */
} reduction;

static thing
neutral(const reduction *r)
{
    switch (r->how.op) {
    case TD_SYN_Add:
    case TD_SYN_BitXor: return num_int(0);
    case TD_SYN_Mult:   return num_int(1);
    default:
        return r->before; /* min, max, &, |, one constant: the value itself again changes nothing */
    }
}

/* Combines a flag that iterations set to one constant: the constant if either side has it,
 * else the value before. */
static td_status
combine_same(walk *w, const thing *same, const thing *a, const thing *b, thing *out)
{
    thing k = num_convert(w, same, a->type), hit;
    td_dtype dt = b->type->dt;

    TD_TRY(num_compare(w, TD_SYN_Eq, a, &k, &hit));
    if (hit.known)
        *out = hit.lit.i ? *a : *b;
    else
        *out = num_of(
            b->type,
            (td_num){TD_E3(w->f, select, hit.num.re, val_as(w, a, dt), val_as(w, b, dt)), TD_NONE});
    return built(w, w->node);
}

td_status
reduce_combine(walk *w, const combining *how, const thing *a, const thing *b, thing *out)
{
    td_syn op = how->op;

    if (op == TD_SYN_Lt || op == TD_SYN_Gt)
        return num_op(w, op == TD_SYN_Lt ? OP_minimum : OP_maximum, (thing[]){*a, *b}, 2, out);
    if (op == TD_SYN_Eq)
        return combine_same(w, &how->same, a, b, out);
    if (op != TD_SYN_And && op != TD_SYN_Or)
        return num_binary(w, op, a, b, out);
    if (a->type->dt != TD_BOOL || b->type->dt != TD_BOOL)
        return bad(w, w->node, TD_ERR_TYPE,
                   "iterations of a prange combine bools by and, or, not %s", b->type->name);
    return num_binary(w, op == TD_SYN_And ? TD_SYN_BitAnd : TD_SYN_BitOr, a, b, out);
}

/* ---- a CPU's cores ---- */

/* Allocates the pieces' results and fills them with the neutral value, since not all pieces
 * need to run. */
static td_status
prepare_partials(walk *w, reduction *r, const td_type *t)
{
    thing n = neutral(r);
    td_val p, zero = td_const_int(w->f, TD_I64, 0);
    uint32_t words = td_dtype_is_complex(t->dt) ? 2 : 1;

    r->part = td_local(w->f, td_dtype_real_of(t->dt), SUMMED * LANES * words);
    p = td_each(w->f, zero, td_const_int(w->f, TD_I64, SUMMED * LANES));
    td_num_store(w->f, r->part, t->dt, p, num_as(w, &n, t->dt), TD_NONE, 0);
    td_end(w->f);
    return built(w, w->node);
}

/* before op part 0 op part 1 … becomes the variable. */
static td_status
prange_gather(walk *w, const reduction *r, const td_type *t)
{
    place total = place_new(w, &(join){.type = t});
    td_val p, zero = td_const_int(w->f, TD_I64, 0), one = td_const_int(w->f, TD_I64, 1);
    thing sum, part;

    TD_TRY(place_set(w, &total, &r->before));
    p = td_for(w->f, zero, td_const_int(w->f, TD_I64, SUMMED * LANES), one);
    sum = place_get(w, &total);
    part = num_of(t, td_num_load(w->f, r->part, t->dt, p, TD_NONE, 1, 0));
    TD_TRY(reduce_combine(w, &r->how, &sum, &part, &sum));
    TD_TRY(place_set(w, &total, &sum));
    td_end(w->f);
    w->fr->var[r->name] = place_get(w, &total);
    return built(w, w->node);
}

/* The same for an array, in its place. */
static td_status
gather_array(walk *w, const reduction *r, uint32_t node)
{
    td_val zero = td_const_int(w->f, TD_I64, 0), one = td_const_int(w->f, TD_I64, 1);
    td_val n = dim_val(w, &r->parts.view->shape[0]);
    thing key = num_index(td_for(w->f, zero, n, one), true), part;

    w->depth++;
    TD_TRY(array_index(w, &r->parts, &key, node, &part));
    TD_TRY(num_binary(w, r->how.op, &r->before, &part, &part));
    TD_TRY(call_fill(w, &r->before, &part, node));
    close_region(w);
    w->fr->var[r->name] = r->before;
    return built(w, node);
}

typedef struct region { /* a parallel loop that is being emitted */
    uint32_t node, body, n, *name;
    const thing *count; /* of iterations */
    thing *before;
    reduction *red, *arr; /* numbers, arrays */
    uint32_t nred, narr;
    uint32_t clash,
        clashing; /* a statement that iterations must not do at once, to which array; 0: none */
    loop l;       /* its variables: the reduced ones */
} region;

/* Allocates a copy of the array for each piece, filled with the neutral value.  Every piece
 * has an iteration. */
static td_status
prepare_array(walk *w, region *g, reduction *r)
{
    td_val zero = td_const_int(w->f, TD_I64, 0), most = td_const_int(w->f, TD_I64, SUMMED);
    const thing *x = &r->before;
    dim shape[TD_MAXDIM_KERNEL];
    thing start = neutral(r);
    uint32_t ndim = x->type->ndim;
    iterations *own = w->iterations;

    if (w->how->gpu || ndim == TD_MAXDIM_KERNEL)
        return bad(w, g->node, TD_ERR_TYPE,
                   "iterations of this prange change the array %s in its place: each needs a copy, "
                   "which %s; let each iteration store to places of its own, or write range",
                   name_of(w, r->name),
                   w->how->gpu ? "a GPU's threads do not get" : "would have too many dims");
    most = TD_E2(w->f, minimum, val_as(w, g->count, TD_I64), most);
    shape[0] = dim_of(TD_E2(w->f, maximum, most, zero));
    memcpy(shape + 1, x->view->shape, ndim * sizeof *shape);
    TD_TRY(new_array(w, x->type->item[0], ndim + 1, shape, &r->parts));
    w->iterations = iterations_outer(own); /* no iteration does this */
    TD_TRY(call_fill(w, &r->parts, &start, g->node));
    w->iterations = own;
    return TD_OK;
}

static td_status
find_reduction(walk *w, region *g, uint32_t name)
{
    thing *x = &w->fr->var[name];
    reduction *r = &g->red[g->nred];
    reducing how;
    join *j;

    if (!x->type || !find_reducing(w, g->node, name, &how))
        return TD_OK;
    TD_TRY(want_bound(w, x, name, g->node));
    *r = (reduction){.name = name, .how.op = how.op, .before = *x};
    if (is_array(x) && !x->lazy && x->type->item[0]->kind == TD_T_NUM && !how.renames) {
        g->arr[g->narr] = *r;
        return prepare_array(w, g, &g->arr[g->narr++]);
    }
    if (!is_num(x) || ((how.op == TD_SYN_And || how.op == TD_SYN_Or) && x->type->dt != TD_BOOL) ||
        (how.op == TD_SYN_Eq && td_dtype_is_complex(x->type->dt)))
        return TD_OK;
    if (how.same)
        TD_TRY(expr(w, how.same, &r->how.same));
    if (how.same && (!is_num(&r->how.same) || td_dtype_is_complex(r->how.same.type->dt)))
        return TD_OK;
    TD_TRY(join_add(w, loop_key(&g->l, name), x, g->node, name_of(w, name)));
    j = join_get(w, loop_key(&g->l, name));
    g->l.where[g->nred].slots.type = j->type; /* what this walk knows; it may grow */
    if (!w->how->gpu)
        TD_TRY(prepare_partials(w, r, j->type));
    g->l.var[g->nred++] = name;
    g->l.nvar = g->nred;
    return TD_OK;
}

/* Finds reduced array elements, h[0] += x: the iterations of a piece change its copy of h. */
static td_status
find_elements(walk *w, region *g)
{
    uint32_t *name, *at, n = find_shared(w, g->node, &name, &at);
    reducing how;

    for (uint32_t i = 0; i < n; i++) {
        thing *x = &w->fr->var[name[i]];

        if (!x->type || !is_array(x))
            continue;
        TD_TRY(want_bound(w, x, name[i], g->node));
        if (x->lazy || x->type->item[0]->kind != TD_T_NUM ||
            !find_reducing(w, g->node, name[i], &how)) {
            g->clash = at[i];
            g->clashing = name[i];
            continue;
        }
        g->arr[g->narr] = (reduction){.name = name[i], .how.op = how.op, .before = *x};
        TD_TRY(prepare_array(w, g, &g->arr[g->narr++]));
    }
    return TD_OK;
}

/* Refuses an array with copies that is also reached by another name: iterations would not see
 * what they change. */
static td_status
refuse_alias(walk *w, const region *g, const iterations *t)
{
    for (uint32_t i = 0; i < g->narr && iterations_are_prange(t) && !w->again; i++)
        if (iterations_touch(t, g->arr[i].before.view->root))
            return bad(
                w, g->node, TD_ERR_TYPE,
                "%s is combined over the iterations of the prange on line %u, which use its memory "
                "by another name besides: its elements have their values behind the loop only; use "
                "another array, or write range",
                name_of(w, g->arr[i].name), w->fr->s->tree[g->node + 1]);
    return TD_OK;
}

/* Refuses iterations that change one element in a way that cannot be combined: their order
 * matters. */
static td_status
refuse_clash(walk *w, const region *g, const iterations *t)
{
    const char *name;

    if (!g->clash || !iterations_are_prange(t) || w->again)
        return TD_OK;
    name = name_of(w, g->clashing);
    return bad(w, g->clash, TD_ERR_TYPE,
               "%s has elements that all iterations of the prange on line %u change, at once: "
               "change it in all places by one of +=, -=, *=, /=, &=, |=, ^= and use %s for "
               "nothing else, or write range",
               name, w->fr->s->tree[g->node + 1], name);
}

static td_status
find_reductions(walk *w, region *g, bool asked)
{
    g->red = td_alloc(w->mem, (g->n + 1) * sizeof *g->red);
    g->arr = td_alloc(w->mem, (w->fr->s->nnames + 1) * sizeof *g->arr);
    g->l.var = td_alloc(w->mem, (g->n + 1) * sizeof *g->l.var);
    g->l.where = td_alloc(w->mem, (g->n + 1) * sizeof *g->l.where);
    g->l.has = td_alloc(w->mem, (g->n + 1) * sizeof *g->l.has);
    g->l.before = td_alloc(w->mem, (g->n + 1) * sizeof *g->l.before);
    for (uint32_t i = 0; asked && i < g->n; i++)
        TD_TRY(find_reduction(w, g, g->name[i]));
    return asked ? find_elements(w, g) : TD_OK;
}

static bool
is_reduced(const region *g, uint32_t name)
{
    for (uint32_t i = 0; i < g->nred; i++)
        if (g->red[i].name == name)
            return true;
    for (uint32_t i = 0; i < g->narr; i++)
        if (g->arr[i].name == name)
            return true;
    return false;
}

/* Emits iteration k, whose variables are its own. */
static td_status
one_iteration(walk *w, region *g, const thing *it, iterations *t, td_val k)
{
    thing x;

    for (uint32_t i = 0; i < g->n; i++) {
        thing *v = &w->fr->var[g->name[i]];

        *v = g->before[i];
        if (!is_reduced(g, g->name[i]))
            v->carry = carry_new(w, t, g->name[i], false, v->carry);
    }
    for (uint32_t i = 0; i < g->nred; i++)
        w->fr->var[g->red[i].name] = place_get(w, &g->l.where[i]);
    for (uint32_t i = 0; i < g->narr; i++)
        w->fr->var[g->arr[i].name] = g->arr[i].own;
    w->item = lin_of(w, t);
    TD_TRY(iter_item(w, it, k, g->node, &x));
    w->item = NULL;
    TD_TRY(assign(w, F(g->node, For_target), &x));
    return emit_iteration(w, &g->l, g->body);
}

/* Emits iteration k in a block of its own if it may fail: then only that iteration ends. */
static td_status
guarded_iteration(walk *w, region *g, const thing *it, iterations *t, td_val k)
{
    uint32_t depth = w->iteration_depth, arrays = w->arrays;
    bool block = w->iteration_block;

    w->depth++;
    w->iteration_depth = w->depth;
    if ((w->iteration_block = w->fails))
        open_block(w);
    TD_TRY(one_iteration(w, g, it, t, k));
    if (w->iteration_block)
        close_region(w);
    if (iterations_how(t) == RUN_PARALLEL && !w->how->gpu)
        TD_TRY(piece_heap_sweep(w, &g->l, arrays));
    w->iteration_depth = depth;
    w->iteration_block = block;
    close_region(w);
    return built(w, g->node);
}

/* The piece's own copies of the arrays. */
static td_status
start_arrays(walk *w, region *g, td_val piece)
{
    for (uint32_t i = 0; i < g->narr; i++) {
        thing key = num_index(piece, true);

        TD_TRY(array_index(w, &g->arr[i].parts, &key, g->node, &g->arr[i].own));
        g->arr[i].own.view->name = name_of(w, g->arr[i].name);
    }
    return TD_OK;
}

/* Gives what is reduced places for one piece or thread, holding the neutral value. */
static td_status
start_reductions(walk *w, region *g)
{
    for (uint32_t i = 0; i < g->nred; i++) {
        thing start = neutral(&g->red[i]);

        g->l.where[i] = place_new(w, &(join){.type = g->l.where[i].slots.type});
        g->l.has[i] = true;
        TD_TRY(place_set(w, &g->l.where[i], &start));
    }
    return TD_OK;
}

/* What an iteration does may be long: it has a loop, of the program's own or of a function that it calls, or a call of
 * the runtime.  Known from the walk before. */
static td_hash
long_key(const region *g)
{
    return td_hash_u64(loop_key(&g->l, 0), OP_ask);
}

/* Finds that among the instructions of the iteration, from number `first` on. */
static void
note_long(walk *w, const region *g, uint32_t first)
{
    for (uint32_t i = first; i < w->f->n; i++) {
        int op = w->f->ins[i].op;

        if (op != OP_for && op != OP_loop && op != OP_call && op != OP_ask)
            continue;
        if (!td_map_get(&w->asked, long_key(g))) {
            w->again = true;
            if (td_map_set(&w->asked, long_key(g), w))
                w->mem->failed = true;
        }
        return;
    }
}

/* guarded_iteration, on a CPU's core. */
static td_status
noted_iteration(walk *w, region *g, const thing *it, iterations *t, td_val k)
{
    uint32_t first = w->f->n;

    TD_TRY(guarded_iteration(w, g, it, t, k));
    note_long(w, g, first);
    return TD_OK;
}

/* Runs iterations [lo, hi) that reduce something.  Lane l of LANES takes iterations l + LANES
 * * n and leaves its result in the array at LANES * piece + l.  A piece has only one copy of
 * an array and one random generator; with these, one lane takes all its iterations. */
static td_status
sum_on_lanes(walk *w, region *g, const thing *it, iterations *t, td_val piece, td_val lo, td_val hi)
{
    td_val zero = td_const_int(w->f, TD_I64, 0), one = td_const_int(w->f, TD_I64, 1);
    td_val lanes = td_const_int(w->f, TD_I64, LANES), at, k, l;
    bool one_lane;
    thing x;

    one_lane = g->narr || iterations_draws(t);
    l = one_lane ? td_for(w->f, zero, one, one) : td_each(w->f, zero, lanes);
    w->depth++;
    TD_TRY(start_arrays(w, g, piece));
    TD_TRY(start_reductions(w, g));
    k = td_for(w->f, TD_E2(w->f, add, lo, l), hi, one_lane ? one : lanes);
    TD_TRY(noted_iteration(w, g, it, t, k));
    at = TD_E2(w->f, add, TD_E2(w->f, multiply, piece, lanes), l);
    for (uint32_t i = 0; i < g->nred; i++) {
        const td_type *type = g->l.where[i].slots.type;

        x = place_get(w, &g->l.where[i]);
        td_num_store(w->f, g->red[i].part, type->dt, at, num_as(w, &x, type->dt), TD_NONE, 0);
    }
    close_region(w);
    return TD_OK;
}

/* Distributes chunks of `grain` iterations over the pieces; a loop too short for two chunks
 * runs in its caller. */
static td_status
on_cores(walk *w, region *g, const thing *it, iterations *t, const thing *n)
{
    bool reduces = g->nred || g->narr, lanes = iterations_lanes(t) && !reduces;
    /* an array is changed by a loop over its elements */
    bool loops = g->narr || has_loops(w, g->body) || td_map_get(&w->asked, long_key(g));
    int chunk = !loops ? GRAIN : lanes ? LANES : 1;
    td_val zero = td_const_int(w->f, TD_I64, 0), one = td_const_int(w->f, TD_I64, 1);
    td_val grain = td_const_int(w->f, TD_I64, chunk), count = val_as(w, n, TD_I64), chunks, first,
           lo, hi, base = TD_NONE;

    count = TD_E2(w->f, maximum, count, zero);
    chunks = TD_E2(w->f, truncate_divide,
                   TD_E2(w->f, add, count, TD_E2(w->f, subtract, grain, one)), grain);
    if (iterations_draws(t))
        base = draws_base(w);
    first = td_pieces(w->f, zero, chunks, reduces ? SUMMED : PIECES);
    lo = TD_E2(w->f, multiply, first, grain);
    hi = TD_E2(w->f, minimum, TD_E2(w->f, multiply, td_piece_end(w->f, first), grain), count);
    if (iterations_draws(t)) {
        w->piece = td_piece(w->f, first);
        TD_TRY(draws_seed(w, base, w->piece));
    }
    piece_heap_begin(w, &g->l);
    TD_TRY(reduces ? sum_on_lanes(w, g, it, t, td_piece(w->f, first), lo, hi)
                   : noted_iteration(w, g, it, t,
                                     lanes ? td_each(w->f, lo, hi) : td_for(w->f, lo, hi, one)));
    w->piece = TD_NONE;
    piece_heap_end(w);
    td_end(w->f);
    return built(w, g->node);
}

/* ---- a GPU's threads ---- */

static td_val
of_axis(walk *w, td_op which, int axis)
{
    return td_cast(w->f, td_index(w->f, which, axis), TD_I64);
}

/* The thread's place on an axis of the grid, or (size) how many there are. */
static td_val
place_on(walk *w, int axis, bool size)
{
    td_val block = of_axis(w, OP_bdim, axis);

    if (size)
        return TD_E2(w->f, multiply, of_axis(w, OP_gdim, axis), block);
    return TD_E2(w->f, add, TD_E2(w->f, multiply, of_axis(w, OP_bid, axis), block),
                 of_axis(w, OP_tid, axis));
}

/* The loop of independent iterations that makes up the whole list; 0: none. */
static uint32_t
only_loop(walk *w, uint32_t list)
{
    uint32_t node = count_of(w, list) == 1 ? item_of(w, list, 0) : 0;

    return kind_of(w, node) == TD_SYN_For && !count_of(w, F(node, For_orelse)) &&
                   iterations_free(w, node)
               ? node
               : 0;
}

/* Tells the launcher the loop's number of iterations, or that of the loop across it. */
static void
tell_iterations(walk *w, td_val many, bool outer)
{
    td_parloops *x = &w->made->loops;
    uint32_t term = td_parloop_add(x, w->mem, w->f, many), at = x->nloop - !outer;

    if (at < TD_PARLOOPS && outer)
        x->loop[at] = (td_parloop){.iterations = term, .nested = w->inner != 0};
    else if (at < TD_PARLOOPS)
        x->loop[at].inner = term;
    x->nloop += outer;
}

static td_status
across(walk *w, region *g, const thing *it, iterations *t, const thing *n)
{
    td_val many = val_as(w, n, TD_I64);

    w->inner = 0;
    tell_iterations(w, many, false);
    return guarded_iteration(w, g, it, t,
                             td_for(w->f, place_on(w, 0, false), many, place_on(w, 0, true)));
}

static bool
in_loop(const walk *w)
{
    for (const frame *fr = w->fr; fr; fr = fr->up)
        if (fr->loop)
            return true;
    return false;
}

/* Distributes the iterations over all threads of the grid.  Of two loops, where the outer one
 * consists of the inner one, the inner one's go along x, where neighbouring threads access
 * neighbouring elements.  The code after it waits for all iterations. */
static td_status
on_grid(walk *w, region *g, const thing *it, iterations *t, const thing *n, bool again)
{
    td_val id, size, many;

    if (w->sync < w->loops) {
        w->sync = w->loops;
        w->again = true;
    }
    w->inner = only_loop(w, g->body);
    id = place_on(w, w->inner != 0, false);
    size = place_on(w, w->inner != 0, true);
    if (!w->inner) { /* of both axes: another loop may be over two */
        id = TD_E2(w->f, add, id, TD_E2(w->f, multiply, place_on(w, 1, false), size));
        size = TD_E2(w->f, multiply, size, place_on(w, 1, true));
    }
    if (w->made->spread < (w->inner ? 2 : 1))
        w->made->spread = w->inner ? 2 : 1;
    TD_TRY(start_reductions(w, g));
    many = val_as(w, n, TD_I64);
    tell_iterations(w, many, true);
    TD_TRY(guarded_iteration(w, g, it, t, td_for(w->f, id, many, size)));
    w->inner = 0;
    for (uint32_t i = 0; i < g->nred; i++) {
        thing own = place_get(w, &g->l.where[i]);

        TD_TRY(grid_part(w, &g->red[i].how, &own, &g->red[i].entry));
    }
    if (w->loops++ < w->sync || again || g->nred) {
        td_grid_barrier(w->f, td_pointer(w->f, hidden_address(w, TD_HIDDEN_GRID), TD_U32));
        w->made->cooperative = true;
    }
    return built(w, g->node);
}

/* The same as gather, of the blocks' results: every thread has the variable then. */
static td_status
gather_grid(walk *w, const reduction *r, const td_type *t)
{
    place total = place_new(w, &(join){.type = t});
    thing start = neutral(r), sum;

    start = num_convert(w, &start, t);
    TD_TRY(grid_total(w, &r->how, &start, r->entry, &sum));
    TD_TRY(reduce_combine(w, &r->how, &r->before, &sum, &sum));
    TD_TRY(place_set(w, &total, &sum));
    w->fr->var[r->name] = place_get(w, &total);
    return built(w, w->node);
}

/* ---- both ---- */

td_status
for_parallel(walk *w, uint32_t node, const thing *it, iterations *t, const thing *n)
{
    region g = {.node = node, .body = F(node, For_body), .count = n};
    td_status st;
    bool again;

    g.l = (loop){.up = w->fr->loop, .node = node, .path = w->fr->path, .iterations = t};
    g.name = assigned(w, g.body, F(node, For_target), &g.n);
    g.before = td_alloc(w->mem, (g.n + 1) * sizeof *g.before);
    for (uint32_t i = 0; i < g.n; i++)
        g.before[i] = w->fr->var[g.name[i]];
    TD_TRY(
        find_reductions(w, &g, it->prange && iterations_how(t) == RUN_PARALLEL && w->how->prange));
    again = in_loop(w);
    w->fr->loop = &g.l;
    w->parallel = true;
    st = iterations_how(t) == RUN_LANES
             ? guarded_iteration(w, &g, it, t,
                                 td_each(w->f, td_const_int(w->f, TD_I64, 0), val_as(w, n, TD_I64)))
         : iterations_how(t) == RUN_ACROSS ? across(w, &g, it, t, n)
         : w->how->gpu                     ? on_grid(w, &g, it, t, n, again)
                                           : on_cores(w, &g, it, t, n);
    TD_TRY(st);
    TD_TRY(iterations_refuse(w, t));
    TD_TRY(refuse_clash(w, &g, t));
    TD_TRY(refuse_alias(w, &g, t));
    for (uint32_t i = 0; i < g.nred; i++)
        iterations_reduce(w, t, name_of(w, g.red[i].name));
    for (uint32_t i = 0; i < g.narr; i++)
        iterations_reduce(w, t, name_of(w, g.arr[i].name));
    w->parallel = iterations_how(t) != RUN_PARALLEL;
    w->fr->loop = g.l.up;
    w->dead = false;
    TD_TRY(iterations_end(w, t));
    for (uint32_t i = 0; i < g.n; i++) { /* the iterations' variables are gone with them */
        thing *x = &w->fr->var[g.name[i]];

        if (x->type)
            *x = stand_in(w, x->type);
        x->carry = carry_new(w, t, g.name[i], true, g.before[i].carry);
    }
    if (iterations_how(t) == RUN_PARALLEL && !w->how->gpu)
        end_if_failed(w);
    for (uint32_t i = 0; i < g.nred; i++)
        TD_TRY(w->how->gpu ? gather_grid(w, &g.red[i], g.l.where[i].slots.type)
                           : prange_gather(w, &g.red[i], g.l.where[i].slots.type));
    for (uint32_t i = 0; i < g.narr; i++)
        TD_TRY(gather_array(w, &g.arr[i], node));
    if (w->how->gpu && g.nred &&
        again) /* the next time round the partial results are written again */
        td_grid_barrier(w->f, td_pointer(w->f, hidden_address(w, TD_HIDDEN_GRID), TD_U32));
    return count_of(w, F(node, For_orelse)) ? stmts(w, F(node, For_orelse)) : TD_OK;
}
