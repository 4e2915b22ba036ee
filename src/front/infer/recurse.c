/* recurse.c - recursive functions, direct or through others.
 *
 * Other functions are inlined.  A function found inside itself is emitted once instead, as a
 * `func` of the IR, from the next walk on; calls pass words in a local array of the caller's:
 *
 *     word 0: 1 if the thread failed inside;  1: depth of the calls;  then arguments, then the result
 *
 * In an exact function word 0 says instead that the item must be computed in Python, as soon as
 * that is known: a wrapped value may keep calls from ending.  Depths count Python's frames there,
 * so that Python takes over before its own limit.
 *
 * The parameters have the types that all calls' arguments join to.  The result's type comes from
 * the returns that do not depend on it: a call whose result no walk has seen yet is left out of
 * the walk.
 */
#include "front/infer/exact.h"

enum {
    STATUS,
    LEVEL,
    FIRST, /* of the arguments */
    STACK =
        4
        << 20, /* bytes of a thread's stack that calls inside of each other take: half of what there is */
    FRAME = 256,  /* bytes of a call besides its values */
    DEEP = 10000, /* most calls */
};

struct outline {
    outline *next;
    const td_source *s;
    uint32_t number, nparam, *param; /* names */
    bool emitted;                    /* in this walk, as the next */
    td_val frame, limit;             /* while it is emitted */
    uint32_t depth;                  /* of the regions around its body */
    bool touches, ends;              /* known from the walk before: it uses arrays; it gives up */
};

static outline *
recurse_find(const walk *w, const td_source *s)
{
    for (outline *o = w->outlines; o; o = o->next)
        if (o->s == s)
            return o;
    return NULL;
}

bool
is_recursive(const walk *w, const td_source *s)
{
    return recurse_find(w, s) != NULL;
}

void
recursive_found(walk *w, const td_source *s)
{
    outline *o = td_alloc(w->mem, sizeof *o);

    *o =
        (outline){.next = w->outlines, .s = s, .number = w->outlines ? w->outlines->number + 1 : 0};
    o->param = td_alloc(w->mem, (s->nnames + 1) * sizeof *o->param);
    w->outlines = o;
    w->again = true;
}

void
recursive_reset(walk *w)
{
    w->outline = NULL;
    for (outline *o = w->outlines; o; o = o->next)
        o->emitted = false;
}

void
recursive_touch(walk *w)
{
    if (w->outline && !w->outline->touches) {
        w->outline->touches = true;
        w->again = true;
    }
}

/* ---- words ---- */

static td_val
word_at(walk *w, td_val ptr, uint32_t at, td_dtype dt)
{
    return td_at_byte(w->f, ptr, td_const_int(w->f, TD_I64, 8 * (int64_t)at), dt);
}

static td_val
first(walk *w)
{
    return td_const_int(w->f, TD_I64, 0);
}

static void
put_word(walk *w, td_val ptr, uint32_t at, td_val v)
{
    td_store(w->f, word_at(w, ptr, at, (td_dtype)td_at(w->f, v)->dt), first(w), v, TD_NONE, 0);
}

static td_val
get_word(walk *w, td_val ptr, uint32_t at, td_dtype dt)
{
    return td_load(w->f, word_at(w, ptr, at, dt), first(w), TD_NONE, 1, 0);
}

static bool
has_view(const td_type *t)
{
    return t->kind == TD_T_ARRAY || t->kind == TD_T_RECORD;
}

static bool
has_items(const td_type *t)
{
    return t->kind == TD_T_TUPLE || t->kind == TD_T_SLICE || t->kind == TD_T_RANGE ||
           t->kind == TD_T_ITER;
}

static void
put_view(walk *w, td_val ptr, uint32_t *at, const thing *x)
{
    const view *v = x->view;

    put_word(w, ptr, (*at)++, td_address(w->f, v->base));
    put_word(w, ptr, (*at)++, v->offset.i == UINT32_MAX ? first(w) : v->offset);
    put_word(w, ptr, (*at)++, v->mask.i == UINT32_MAX ? td_const_int(w->f, TD_BOOL, 1) : v->mask);
    for (uint32_t i = 0; i < x->type->ndim; i++) {
        dim stride = stride_of(w, x, i);

        put_word(w, ptr, (*at)++, dim_val(w, &v->shape[i]));
        put_word(w, ptr, (*at)++, dim_val(w, &stride));
    }
    note_alias(w, v);
}

void
words_put(walk *w, td_val ptr, uint32_t *at, const thing *x)
{
    const td_type *t = x->type;

    if (is_num(x)) {
        td_num_store(w->f, word_at(w, ptr, *at, td_dtype_real_of(t->dt)), t->dt, first(w),
                     num_as(w, x, t->dt), TD_NONE, 0);
        *at += t->dt == TD_C128 ? 2 : 1;
        if (is_mixed(x))
            put_word(w, ptr, (*at)++, x->tag);
    } else if (t->kind == TD_T_BOX) {
        put_word(w, ptr, (*at)++, x->num.re);
    } else if (has_view(t)) {
        put_view(w, ptr, at, x);
    }
    for (uint32_t i = 0; has_items(t) && i < t->n; i++)
        words_put(w, ptr, at, &x->item[i]);
}

static thing
get_view(walk *w, td_val ptr, uint32_t *at, const td_type *t)
{
    thing x = {.type = t, .view = td_alloc(w->mem, sizeof *x.view)};

    *x.view = (view){.arg = NO_ARG, .mask = TD_NONE};
    x.view->base = td_pointer(w->f, get_word(w, ptr, (*at)++, TD_U64), memory_dtype(t));
    x.view->offset = get_word(w, ptr, (*at)++, TD_I64);
    if (w->how->debug)
        x.view->mask = get_word(w, ptr, *at, TD_BOOL);
    ++*at;
    for (uint32_t i = 0; i < t->ndim; i++) {
        x.view->shape[i] = dim_of(get_word(w, ptr, (*at)++, TD_I64));
        x.view->stride[i] = dim_of(get_word(w, ptr, (*at)++, TD_I64));
    }
    return x;
}

thing
words_get(walk *w, td_val ptr, uint32_t *at, const td_type *t)
{
    thing x = {.type = t};

    if (t->kind == TD_T_NUM) {
        x = num_of(t, td_num_load(w->f, word_at(w, ptr, *at, td_dtype_real_of(t->dt)), t->dt,
                                  first(w), TD_NONE, 1, 0));
        *at += t->dt == TD_C128 ? 2 : 1;
        if (is_mixed(&x))
            x.tag = get_word(w, ptr, (*at)++, TD_U8);
    } else if (t->kind == TD_T_BOX) {
        x.num = (td_num){get_word(w, ptr, (*at)++, TD_U64), TD_NONE};
    } else if (has_view(t)) {
        x = get_view(w, ptr, at, t);
    } else if (has_items(t)) {
        x.item = td_alloc(w->mem, (t->n + 1) * sizeof *x.item);
        for (uint32_t i = 0; i < t->n; i++)
            x.item[i] = words_get(w, ptr, at, t->item[i]);
    }
    return x;
}

uint32_t
words_of(const td_type *t)
{
    uint32_t n = 0;

    if (t->kind == TD_T_NUM)
        return (t->dt == TD_C128 ? 2 : 1) + (t->object != 0);
    if (t->kind == TD_T_BOX)
        return 1;
    if (has_view(t))
        return 3 + 2u * t->ndim;
    for (uint32_t i = 0; has_items(t) && i < t->n; i++)
        n += words_of(t->item[i]);
    return n;
}

/* x as the join's type: through slots, as where paths meet. */
td_status
join_fitted(walk *w, const join *j, const thing *x, thing *out)
{
    place p;

    if (j->type == x->type)
        return *out = *x, TD_OK;
    p = place_new(w, j);
    TD_TRY(place_set(w, &p, x));
    *out = place_get(w, &p);
    return TD_OK;
}

/* ---- the function ---- */

static td_hash
param_key(const outline *o, uint32_t i)
{
    return td_hash_u64(td_hash_u64(TD_HASH_INIT, (uintptr_t)o->s->tree), i);
}

static uint64_t
path_of(const outline *o)
{
    return td_mix64((uintptr_t)o->s->tree ^ 0x5ec0de);
}

static td_hash
value_key(const outline *o)
{
    return join_key_at(path_of(o), o->s->root, 0);
}

void
recursive_end(walk *w)
{
    outline *o = w->outline;

    if (!o->ends)
        o->ends = w->again = true;
    put_word(w, o->frame, STATUS, td_const_int(w->f, TD_U64, 1));
    leave(w, o->depth);
}

/* Too deep: the thread gives up, before its stack is full. */
static td_status
check_depth(walk *w, outline *o, td_val depth)
{
    uint32_t site = site_new(w, TD_REPORT_DEPTH, o->s->root, o->s->name);
    thing value = num_of(td_type_num(TD_I64), (td_num){depth, TD_NONE});

    o->limit = td_const_int(w->f, TD_I64, DEEP);
    if (w->exact) {
        exact_flag(w, TD_E2(w->f, greater, depth, o->limit));
        exact_leave_flagged(w);
        return built(w, o->s->root);
    }
    td_if(w->f, TD_E2(w->f, greater, depth, o->limit));
    TD_TRY(report_fail(w, site, &value, 1));
    thread_end(w);
    td_end(w->f);
    return built(w, o->s->root);
}

/* How deep calls may go is told when the function's size is. */
static void
set_limit(walk *w, const outline *o, uint32_t from)
{
    bool gpu = w->how->gpu; /* whose calls save fewer registers */
    int64_t bytes = gpu ? FRAME / 2 : FRAME, most, deep = w->exact ? w->how->frames : DEEP;

    for (uint32_t i = from; i < w->f->n; i++)
        bytes += w->f->ins[i].op == OP_local
                     ? (int64_t)w->f->ins[i].imm * (int64_t)td_dtype_size((td_dtype)w->f->ins[i].dt)
                 : gpu ? 2
                       : 4;
    most = (gpu ? TD_GPU_STACK : STACK) / bytes;
    if (!w->f->st)
        w->f->ins[o->limit.i].imm = (uint64_t)(most < deep ? most : deep);
}

static td_status
emit_body(walk *w, outline *o, frame *fr, thing *value)
{
    call none = {.node = fr->call};
    uint32_t at = FIRST;
    td_val depth = get_word(w, o->frame, LEVEL, TD_I64);
    thing *bound = td_alloc(w->mem, (o->s->nnames + 1) * sizeof *bound), result;
    td_status st;
    join *j;

    for (uint32_t i = 0; i < o->nparam; i++)
        bound[o->param[i]] = words_get(w, o->frame, &at, join_get(w, param_key(o, i))->type);
    fr->bound = bound;
    o->depth = w->depth;
    if (w->exact) {
        w->exact->bad = td_slot(w->f, TD_BOOL, 1);
        w->exact->depth = w->depth;
    }
    open_block(w);
    TD_TRY(check_depth(w, o, depth));
    st = walk_body(w, fr, &none, value);
    if (st && !(st == TD_SKIP && w->again))
        return st;
    if (!st && !(fr->skipped && is_none(value))) {
        TD_TRY(settle(w, value));
        TD_TRY(join_add(w, value_key(o), value, o->s->root, "the value returned"));
        j = join_get(w, value_key(o));
        if (join_types(w, j->type, value->type) == j->type) { /* else another walk follows */
            TD_TRY(join_fitted(w, j, value, &result));
            words_put(w, o->frame, &at, &result);
        }
    }
    close_region(w);
    if (w->exact)
        put_word(w, o->frame, STATUS, td_get(w->f, w->exact->bad));
    return TD_OK;
}

static td_status
emit_outline(walk *w, outline *o, uint32_t node)
{
    frame fr = {.s = o->s, .call = node, .inlined = true, .path = path_of(o)};
    iterations *t = w->iterations;
    outline *up = w->outline;
    trying *tries = w->tries;
    guard *outer = w->exact, own = {.bad = TD_NONE, .heap = TD_NONE};
    bool parallel = w->parallel, block = w->iteration_block;
    uint32_t inner = w->inner, from = w->f->n;
    td_val heap = w->heap;
    thing value = {.type = td_type_none()};
    td_status st;

    if (o->number >= TD_FUNCS)
        return bad(w, node, TD_ERR_TYPE, "more than %d functions call themselves", TD_FUNCS);
    o->frame = td_pointer(w->f, td_open_func(w->f, o->number), TD_U64);
    o->emitted = true;
    w->outline = o;
    w->tries = NULL;
    w->iterations = NULL;
    w->inner = 0;
    w->iteration_block = false;
    w->heap = TD_NONE;
    w->exact = outer ? &own : NULL;
    st = emit_body(w, o, &fr, &value);
    td_end(w->f);
    set_limit(w, o, from);
    w->outline = up;
    w->tries = tries;
    w->exact = outer;
    w->iterations = t;
    w->inner = inner;
    w->parallel = parallel;
    w->iteration_block = block;
    w->heap = heap;
    w->dead = false;
    return st;
}

/* ---- calls ---- */

/* The parameters' names, and what the call gives them, by name. */
static td_status
outline_arguments(walk *w, outline *o, const call *c, thing **out)
{
    frame fr = {.s = o->s, .call = c->node, .inlined = true, .path = path_of(o), .up = w->fr};
    uint32_t called = w->node;
    td_status st;

    fr.var = td_alloc(w->mem, (o->s->nnames + 1) * sizeof *fr.var);
    fr.local = td_alloc(w->mem, o->s->nnames + 1);
    w->fr = &fr;
    w->node = o->s->root;
    st = bind_params(w,
                     kind_of(w, o->s->root) == TD_SYN_Lambda ? F(o->s->root, Lambda_args)
                                                             : F(o->s->root, FunctionDef_args),
                     c);
    w->fr = fr.up;
    w->node = called;
    o->nparam = 0;
    for (uint32_t i = 0; i <= o->s->nnames; i++)
        if (fr.var[i].type)
            o->param[o->nparam++] = i;
    *out = fr.var;
    return st;
}

/* How many of Python's frames a call adds to those that were there when the function began that is being emitted. */
static int64_t
frames_since(const walk *w)
{
    int64_t n = 1;

    for (frame *fr = w->fr; fr->up; fr = fr->up) {
        n += fr->folds;
        if (w->outline && fr->entered == path_of(w->outline))
            break;
        n++;
    }
    return n;
}

/* What the call hands over: the frame, filled. */
static td_status
hand_over(walk *w, outline *o, const thing *arg, td_val ptr, uint32_t *at)
{
    td_val level = td_const_int(w->f, TD_I64, w->exact ? frames_since(w) : 1);

    if (w->outline)
        level = TD_E2(w->f, add, get_word(w, w->outline->frame, LEVEL, TD_I64), level);
    put_word(w, ptr, STATUS, td_const_int(w->f, TD_U64, 0));
    put_word(w, ptr, LEVEL, level);
    for (uint32_t i = 0; i < o->nparam; i++) {
        thing x;

        TD_TRY(join_fitted(w, join_get(w, param_key(o, i)), &arg[o->param[i]], &x));
        words_put(w, ptr, at, &x);
    }
    return built(w, w->node);
}

td_status
call_recursive(walk *w, const td_source *s, const call *c, thing *out)
{
    outline *o = recurse_find(w, s);
    uint32_t words = FIRST, at = FIRST;
    thing *arg = NULL;
    td_val ptr;
    join *j;

    TD_TRY(outline_arguments(w, o, c, &arg));
    for (uint32_t i = 0; i < o->nparam; i++) {
        const thing *x = &arg[o->param[i]];

        TD_TRY(join_add(w, param_key(o, i), x, c->node, s->names[o->param[i] - 1]));
        words += words_of(join_get(w, param_key(o, i))->type);
    }
    if (!o->emitted)
        TD_TRY(emit_outline(w, o, c->node));
    j = join_get(w, value_key(o));
    if (!j && w->walks > 3)
        return bad(
            w, c->node, TD_ERR_TYPE,
            "%s calls itself before it is known what it returns: it needs a return whose value "
            "does not come from such a call",
            s->name);
    if (w->exact)
        exact_leave_flagged(w);
    ptr = td_local(w->f, TD_U64, words + (j ? words_of(j->type) : 0));
    TD_TRY(hand_over(w, o, arg, ptr, &at));
    td_call_func(w->f, td_address(w->f, ptr), o->number);
    if (o->touches)
        iterations_recurse(w);
    if (w->exact) {
        exact_flag(w, get_word(w, ptr, STATUS, TD_BOOL));
        exact_leave_flagged(w);
    }
    if (o->ends) {
        td_val status = get_word(w, ptr, STATUS, TD_U64);

        td_if(w->f, TD_E2(w->f, not_equal, status, td_const_int(w->f, TD_U64, 0)));
        thread_end(w);
        td_end(w->f);
    }
    w->node = c->node;
    at_line(w, c->node);
    if (!j) {
        w->again = true;
        return TD_SKIP;
    }
    *out = words_get(w, ptr, &at, j->type);
    return built(w, c->node);
}
