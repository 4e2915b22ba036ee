/* walk.c - td_front: walks the function until its types settle; the last walk's IR is the kernel.
 */
#include "front/infer/box.h"

#include <stddef.h>
#include <string.h>

enum { MAX_WALKS = 24 }; /* and as many more as there are places whose types have to settle */

/* ---- arguments ---- */

static thing
param_array(walk *w, const td_type *t, uint32_t arg)
{
    view *v = td_alloc(w->mem, sizeof *v);
    td_dtype dt = memory_dtype(t);

    *v = (view){.base = td_param_ptr(w->f, dt), .offset = TD_NONE, .mask = TD_NONE, .arg = arg};
    for (uint32_t i = 0; i < t->ndim; i++)
        v->shape[i] = dim_of(td_param(w->f, TD_I64));
    if (t->layout == 'A' || t->item[0]->kind == TD_T_RECORD)
        for (uint32_t i = 0; i < t->ndim; i++)
            v->stride[i] = dim_of(td_param(w->f, TD_I64));
    view_root(v, t->ndim);
    return (thing){.type = t, .view = v};
}

thing
param_thing(walk *w, const td_type *t, uint32_t arg)
{
    switch ((td_tkind)t->kind) {
    case TD_T_NUM:    return num_of(t, td_num_param(w->f, t->dt));
    case TD_T_ARRAY:  return param_array(w, t, arg);
    case TD_T_RECORD: {
        view *v = td_alloc(w->mem, sizeof *v);

        *v = (view){
            .base = td_param_ptr(w->f, TD_U8), .offset = TD_NONE, .mask = TD_NONE, .arg = arg};
        view_root(v, 0);
        return (thing){.type = t, .view = v};
    }
    case TD_T_SLICE:
    case TD_T_TUPLE: {
        thing *item = td_alloc(w->mem, (t->n + 1) * sizeof *item);

        for (uint32_t i = 0; i < t->n; i++)
            item[i] = param_thing(w, t->item[i], arg);
        return (thing){.type = box_inside(w, t), .item = item};
    }
    case TD_T_OBJECT: {
        thing x = {.type = t};

        if (object(w, t->object, w->node, &x))
            x = (thing){.type = t};
        return x;
    }
    case TD_T_BOX:
        w->pins |= box_pins(t);
        return box_thing(w, box_inside(w, t), td_param(w->f, TD_U64));
    default: return (thing){.type = t};
    }
}

/* ---- results ---- */

/* Stores x, a word a number, from word *at of the result on. */
static td_status
store_result(walk *w, const thing *x, td_val ptr, uint32_t *at)
{
    if (is_none(x) || x->type->kind == TD_T_OBJECT) /* the type says all */
        return TD_OK;
    if (x->type->kind == TD_T_TUPLE || x->type->kind == TD_T_SLICE || is_optional(x)) {
        for (uint32_t i = 0; i < x->type->n; i++)
            TD_TRY(store_result(w, &x->item[i], ptr, at));
        return TD_OK;
    }
    if (x->type->kind == TD_T_ARRAY)
        return store_result_array(w, x, ptr, at);
    if (x->type->kind == TD_T_RECORD) { /* its address: the host copies it */
        td_val byte = td_const_int(w->f, TD_I64, 8 * (int64_t)(*at)++);

        td_store(w->f, td_at_byte(w->f, ptr, byte, TD_U64), td_const_int(w->f, TD_I64, 0),
                 td_address(w->f, x->view->base), TD_NONE, 0);
        return TD_OK;
    }
    if (is_box(x)) {
        td_val byte = td_const_int(w->f, TD_I64, 8 * (int64_t)(*at)++);

        td_store(w->f, td_at_byte(w->f, ptr, byte, TD_U64), td_const_int(w->f, TD_I64, 0),
                 x->num.re, TD_NONE, 0);
        return TD_OK;
    }
    if (!is_num(x))
        return bad(w, w->fr->s->root, TD_ERR_TYPE,
                   "%s returns %s: a compiled function returns numbers, tuples, arrays or None",
                   w->fr->s->name, x->type->name);
    td_num v = num_as(w, x, x->type->dt);

    for (int part = 0; part < (td_num_is_pair(v) ? 2 : 1); part++) {
        td_val byte = td_const_int(w->f, TD_I64, 8 * (int64_t)(*at)++);

        td_store(w->f, td_at_byte(w->f, ptr, byte, td_dtype_real_of(x->type->dt)),
                 td_const_int(w->f, TD_I64, 0), part ? v.im : v.re, TD_NONE, 0);
    }
    return TD_OK;
}

static td_status
give_result(walk *w, thing *x)
{
    uint32_t at = 0;
    thing own = *x;
    td_val ptr;

    TD_TRY(settle(w, &own));
    x = &own;
    TD_TRY(box_outside(w, x->type, &w->made->result));
    if (w->how->mode == TD_MODE_KERNEL)
        return is_none(x) ? TD_OK
                          : bad(w, w->fr->s->root, TD_ERR_TYPE,
                                "a kernel returns nothing, %s returns %s: write into an array",
                                w->fr->s->name, x->type->name);
    if (is_none(x))
        return TD_OK;
    ptr = td_pointer(w->f, hidden_address(w, TD_HIDDEN_RESULT), TD_U64);
    TD_TRY(store_result(w, x, ptr, &at));
    w->made->result_bytes = 8 * at;
    return built(w, w->fr->s->root);
}

/* ---- walks ---- */

/* Nothing is known of the function but its parameters' types. */
static void
begin_walk(walk *w, const td_source *s)
{
    w->made->fn = td_fn_new(w->mem, s->name);
    w->f = &w->made->fn;
    w->f->threads = w->how->threads;
    w->f->registers = w->how->registers;
    w->f->fast = w->how->fast;
    w->node = s->root;
    w->depth = 0;
    w->dead = false;
    w->tries = NULL;
    w->finals = NULL;
    w->again = false;
    w->iterations = NULL;
    w->parallel = false;
    w->piece = w->heap = TD_NONE;
    w->arrays = w->boxes = 0;
    w->forms = w->inner = 0;
    w->loops = w->nests = 0;
    w->made->apart = false;
    w->made->spread = 0;
    w->made->partials = 0;
    w->made->loops = (td_parloops){.term = NULL};
    w->made->cooperative = w->made->cooperative && w->how->mode == TD_MODE_KERNEL;
    w->made->notes = NULL;
    w->made->nsite = 0;
    w->made->nindex = 0;
    w->parts = NULL;
    recursive_reset(w);
    w->origin = NULL;
    w->caporigin = 0;
    w->made->written = w->made->read = 0;
    w->aliased = 0;
    w->stores_aliased = false;
    w->made->shared = 0;
    w->made->dynamic = 0;
    w->made->sized = true;
}

/* The caller gives keyword-only arguments behind the positional ones. */
static void
name_the_last(walk *w, call *c)
{
    uint32_t root = w->fr->s->root, only;

    if (kind_of(w, root) != TD_SYN_FunctionDef)
        return;
    only = F(F(root, FunctionDef_args), arguments_kwonlyargs);
    c->nkw = count_of(w, only) < c->n ? count_of(w, only) : c->n;
    c->n -= c->nkw;
    c->kwarg = c->arg + c->n;
    c->kw = td_alloc(w->mem, (c->nkw + 1) * sizeof *c->kw);
    for (uint32_t i = 0; i < c->nkw; i++)
        c->kw[i] = name_of(w, F(item_of(w, only, i), arg_arg));
}

static td_status
one_walk(walk *w, const td_source *s, const td_type *const *arg, uint32_t narg)
{
    frame outer = {.s = s, .path = 1}, fr = {.s = s, .path = 2};
    call c = {.node = s->root, .n = narg, .arg = td_alloc(w->mem, (narg + 1) * sizeof *c.arg)};
    thing result = {0};
    td_status st;

    begin_walk(w, s);
    w->fr = &outer;
    for (uint32_t i = 0; i < narg; i++)
        c.arg[i] = param_thing(w, arg[i], i);
    for (uint32_t i = 0; i < w->made->nhidden; i++)
        w->hidden[i] = param_thing(
            w, w->made->hidden[i].type ? w->made->hidden[i].type : td_type_num(TD_U64), NO_ARG);
    name_the_last(w, &c);
    st = walk_body(w, &fr, &c, &result);
    if (!st) {
        fr.up = NULL;
        w->fr = &fr;
        st = give_result(w, &result);
    } else if (st == TD_SKIP) {
        st = TD_OK;
    }
    w->fr = NULL;
    return st;
}

/* Loops are worth the time of all of LLVM's passes; other code is as good without them. */
static bool
loops(const td_fn *f)
{
    for (uint32_t i = 0; i < f->n; i++)
        if (f->ins[i].op == OP_for || f->ins[i].op == OP_loop)
            return true;
    return false;
}

static td_status
finish_walk(walk *w)
{
    if (w->stores_aliased)
        w->made->written |= w->aliased;
    w->f->optimise = loops(w->f) && !w->how->plain ? 3 : 0;
    w->f->lines = w->how->lines;
    if (w->how->fma)
        TD_TRY(td_fn_contract(w->f));
    if (w->how->gpu && !w->how->watched) /* who watches wants the order of the program */
        TD_TRY(td_fn_loads_first(w->f));
    if (w->mem->failed)
        return td_fail(TD_ERR_NOMEM, "compiling %s: host memory is out", w->f->name);
    return td_fn_finish(w->f);
}

td_status
td_front(const td_source *s, const td_host *host, const td_type *const *arg, uint32_t narg,
         const td_compile *how, td_arena *mem, td_made *out)
{
    walk w = {.mem = mem,
              .host = host,
              .how = how,
              .made = out,
              .numba = how->numba,
              .checked = how->checked};
    td_status st;

    *out = (td_made){0};
    TD_TRY(td_type_room());
    do {
        if (w.walks >= MAX_WALKS + w.joins.n + w.sites.n)
            st = td_fail(TD_ERR_TYPE,
                         "%s: the types of its variables do not settle: they grow with every "
                         "iteration of a loop",
                         s->name);
        else
            st = one_walk(&w, s, arg, narg);
        w.walks++;
    } while (!st && w.again);
    if (!st)
        st = finish_walk(&w);
    td_map_free(&w.joins);
    td_map_free(&w.verdicts);
    td_map_free(&w.asked);
    td_map_free(&w.sites);
    td_map_free(&w.nested);
    td_map_free(&w.nested_by_id);
    return st;
}
