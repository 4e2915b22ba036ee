/* var.c - variables: life, views, leaves; and the modes of threads. */
#include "grad/internal.h"

#include <stdlib.h>

static _Thread_local bool off, inference;
static td_dtype usual = TD_F32;

bool
td_grad_mode(void)
{
    return !off && !inference;
}

bool
td_grad_enabled(void)
{
    return !off;
}

bool
td_grad_inference(void)
{
    return inference;
}

bool
td_grad_set_inference(bool on)
{
    bool was = inference;

    inference = on;
    return was;
}

bool
td_grad_set_mode(bool on)
{
    bool was = !off;

    off = !on;
    return was;
}

td_dtype
td_grad_default(void)
{
    return usual;
}

void
td_grad_set_default(td_dtype dt)
{
    usual = dt;
}

td_status
td_var_new(td_array *a, td_var **out)
{
    td_var *v = malloc(sizeof *v);

    if (!v) {
        td_array_unref(a);
        return td_fail(TD_ERR_NOMEM, "variable: out of host memory");
    }
    v->refs = 1;
    v->requires_grad = v->retain = v->busy = v->apart = false;
    v->inference = inference;
    v->grad_dtype = TD_GRAD_OWN;
    v->out = 0;
    v->seen = a->store->version - a->store->aside;
    v->value = *a;
    a->store = NULL;
    v->fn = NULL;
    v->base = v->grad = v->twin = NULL;
    v->hooks = NULL;
    v->self = NULL;
    *out = v;
    return TD_OK;
}

td_var *
td_var_ref(td_var *v)
{
    v->refs++;
    return v;
}

/* Takes the hook that stores f's gradient in v out of its list.  NULL: there is none. */
static td_hook *
retainer(td_gradfn *f, const td_var *v)
{
    for (td_hook **at = &f->hooks; *at; at = &(*at)->next) {
        td_hook *h = *at;

        if (h->object != v)
            continue;
        *at = h->next;
        h->next = NULL;
        return h;
    }
    return NULL;
}

void
td_var_move_retained(td_var *v, td_gradfn *f, uint32_t out)
{
    td_hook *h = retainer(v->fn, v);

    v->retain = h && f;
    if (!v->retain) {
        td_hooks_free(h);
        return;
    }
    h->out = out;
    td_hook_add(&f->hooks, h);
}

/* ---- gradients of variables that are no leaves ---- */

static td_status
keep_gradient(td_hook *h, td_var **g)
{
    td_var *v = h->object;

    td_var_unref(v->grad);
    v->grad = td_var_ref(*g);
    return TD_OK;
}

static void
end_hook(td_hook *h)
{
    free(h);
}

td_status
td_var_retain(td_var *v)
{
    td_hook *h;

    TD_TRY(td_var_refresh(v));
    if (!v->fn && !v->requires_grad)
        return td_fail(TD_ERR_STATE, "can't retain_grad on Tensor that has requires_grad=False");
    if (!v->fn || v->retain)
        return TD_OK;
    h = calloc(1, sizeof *h);
    if (!h)
        return td_fail(TD_ERR_NOMEM, "retain_grad: out of host memory");
    *h = (td_hook){.before = keep_gradient, .free = end_hook, .object = v, .out = v->out};
    td_hook_add(&v->fn->hooks, h);
    v->retain = true;
    return TD_OK;
}

/* ---- hooks ---- */

void
td_hook_add(td_hook **list, td_hook *h)
{
    /* What keeps a gradient comes last: it keeps what the other hooks have made of it. */
    while (*list && ((*list)->before != keep_gradient || h->before == keep_gradient))
        list = &(*list)->next;
    h->next = *list;
    *list = h;
}

bool
td_hook_drop(td_hook **list, td_hook *h)
{
    while (*list && *list != h)
        list = &(*list)->next;
    if (!*list)
        return false;
    *list = h->next;
    h->free(h);
    return true;
}

void
td_hooks_free(td_hook *h)
{
    for (td_hook *next; h; h = next) {
        next = h->next;
        h->free(h);
    }
}

void
td_var_unref(td_var *v)
{
    if (!v || --v->refs)
        return;
    if (v->retain)
        td_var_move_retained(v, NULL, 0);
    td_gradfn_unref(v->fn);
    td_hooks_free(v->hooks);
    td_var_unref(v->base);
    td_var_unref(v->grad);
    td_var_unref(v->twin);
    td_array_unref(&v->value);
    free(v);
}

bool
td_var_tracked(const td_var *v)
{
    return v->requires_grad || v->fn ||
           (v->base && v->seen != td_var_version(v) && td_var_tracked(v->base));
}

td_status
td_var_detach(td_var *v, td_var **out)
{
    td_array a = td_array_ref(&v->value);

    TD_TRY(td_var_new(&a, out));
    (*out)->apart = v->apart;
    (*out)->inference = v->inference;
    (*out)->seen = td_var_version(v);
    return TD_OK;
}

td_status
td_var_savable(const td_var *v)
{
    return !v->inference
               ? TD_OK
               : td_fail(TD_ERR_STATE,
                         "Inference tensors cannot be saved for backward. Please do not use "
                         "Tensors created in inference mode in computation tracked by autograd. To "
                         "work around this, you can make a clone to get a normal tensor and use it "
                         "in autograd, or use `torch.no_grad()` instead of "
                         "`torch.inference_mode()`.");
}

td_status
td_var_twin(td_var *v, td_var **out)
{
    if (!v->twin)
        TD_TRY(td_var_detach(v, &v->twin));
    *out = td_var_ref(v->twin);
    return TD_OK;
}

td_status
td_var_require(td_var *v, bool on)
{
    td_dtype dt = td_array_dtype(&v->value);

    if (!on && td_var_tracked(v) && !v->requires_grad)
        return td_fail(TD_ERR_STATE,
                       "you can only change requires_grad flags of leaf variables. If you want to "
                       "use a computed variable in a subgraph that doesn't require "
                       "differentiation use var_no_grad = var.detach().");
    if (on && !td_dtype_is_float(dt) && !td_dtype_is_complex(dt))
        return td_fail(TD_ERR_STATE,
                       "only Tensors of floating point and complex dtype can require gradients");
    if (on && v->inference && !inference)
        return td_fail(TD_ERR_STATE, "Setting requires_grad=True on inference tensor outside "
                                     "InferenceMode is not allowed.");
    if (!v->fn)
        v->requires_grad = on;
    return TD_OK;
}

td_status
td_var_view(td_var *v, td_gradfn *f, td_array *a, td_var **out)
{
    bool view = a->store == v->value.store;

    TD_TRY(td_gradfn_result(f, a, 0, out));
    if (view)
        (*out)->inference = v->inference;
    if (view && v->apart) {
        (*out)->apart = true;
        (*out)->seen = td_var_version(v);
    }
    if (view && td_grad_mode()) /* a view made while nothing is recorded stays without history */
        (*out)->base = td_var_ref(v->base ? v->base : v);
    return TD_OK;
}

void
td_edge_drop(td_edge *e)
{
    td_gradfn_unref(e->fn);
    td_var_unref(e->leaf);
    *e = (td_edge){NULL, NULL, 0};
}

td_status
td_var_refresh(td_var *v)
{
    td_var *again;
    bool was;
    td_status st;

    if (!v->base || v->seen == td_var_version(v))
        return TD_OK;
    v->seen = td_var_version(v);
    if (v->requires_grad || !td_var_tracked(v->base))
        return TD_OK;
    was = td_grad_set_mode(true);
    st = td_var_strided(v->base, &v->value.view, &again);
    td_grad_set_mode(was);
    TD_TRY(st);
    if (v->retain)
        td_var_move_retained(v, again->fn, again->out);
    td_gradfn_unref(v->fn);
    v->fn = td_gradfn_ref(again->fn);
    v->out = again->out;
    td_var_unref(again);
    return TD_OK;
}

td_status
td_var_edge(td_var *v, td_edge *out)
{
    *out = (td_edge){NULL, NULL, 0};
    TD_TRY(td_var_refresh(v));
    if (v->fn)
        *out = (td_edge){td_gradfn_ref(v->fn), NULL, v->out};
    else if (v->requires_grad)
        out->leaf = td_var_ref(v);
    return TD_OK;
}

void
td_var_forget(td_var *v)
{
    td_gradfn *f = v->fn;
    td_hook *h = v->hooks;

    if (v->retain)
        td_var_move_retained(v, NULL, 0);
    v->fn = NULL;
    v->hooks = NULL;
    td_gradfn_unref(f);
    td_hooks_free(h);
}

void
td_var_visit(td_var *v, int (*visit)(void *object, void *ctx), void *ctx, int *result)
{
    const td_hook *lists[2] = {v->hooks, NULL};

    *result = 0;
    if (v->refs != 1)
        return;
    if (v->fn && v->fn->refs == 1) {
        lists[1] = v->fn->hooks;
        if (v->fn->object)
            *result = visit(v->fn->object, ctx);
    }
    for (int i = 0; i < 2; i++)
        for (const td_hook *h = lists[i]; h && !*result; h = h->next)
            if (h->visited)
                *result = visit(h->object, ctx);
}
