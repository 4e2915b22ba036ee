/* ops.c - casts, copies, reductions and views of variables, and their way to other devices. */
#include "grad/formula.h"
#include "grad/internal.h"
#include "grad/layout.h"

#include "array/graph/reduce.h"

#include <string.h>

/* ---- casts and copies ---- */

static td_status
cast_back(const td_back *b)
{
    return td_var_cast(b->g[0], *(const td_dtype *)b->fn->par, &b->in[0]);
}

static const td_rule cast_rule = {"ToCopy", cast_back, NULL, NULL},
                     copy_rule = {"Clone", cast_back, NULL, NULL};

/* a as the result of a rule on v; par keeps v's dtype.  Takes a. */
static td_status
copied(const td_rule *rule, td_var *v, td_array *a, td_var **out)
{
    td_gradfn *f = NULL;
    td_status st = TD_OK;

    if (td_grad_wanted(&v, 1) && td_dtype_kind(td_array_dtype(a)) != 'b' &&
        !td_dtype_is_int(td_array_dtype(a)))
        st = td_gradfn_new(rule, &v, 1, 1, 0, sizeof(td_dtype), &f);
    if (st) {
        td_array_unref(a);
        return st;
    }
    if (f)
        *(td_dtype *)f->par = td_array_dtype(&v->value);
    return td_gradfn_result(f, a, 0, out);
}

/* a's elements as dt, in a's layout without gaps */
static td_status
copy_like(const td_array *a, td_dtype dt, td_array *out)
{
    td_view layout;

    if (td_layout_plain(&a->view))
        return td_array_cast(a, dt, out);
    td_layout_like(&a->view, &layout);
    return td_array_cast_as(a, dt, &layout, out);
}

td_status
td_var_cast(td_var *v, td_dtype dt, td_var **out)
{
    td_array a;

    if (td_array_dtype(&v->value) == dt) {
        *out = td_var_ref(v);
        return TD_OK;
    }
    TD_TRY(copy_like(&v->value, dt, &a));
    return copied(&cast_rule, v, &a, out);
}

td_status
td_var_copy(td_var *v, td_var **out)
{
    td_array a;

    TD_TRY(td_array_copy(&v->value, &a));
    return copied(&copy_rule, v, &a, out);
}

td_status
td_var_clone(td_var *v, td_var **out)
{
    td_array a;

    TD_TRY(copy_like(&v->value, td_array_dtype(&v->value), &a));
    return copied(&copy_rule, v, &a, out);
}

td_status
td_var_laid(td_var *v, td_var *const *like, int n, td_var **out)
{
    const td_view *src[TD_LAYOUT_SOURCES];
    td_view layout;
    td_array a;
    td_status st;

    for (int i = 0; i < n; i++)
        src[i] = &like[i]->value.view;
    if (n == 1 && td_shape_eq(&src[0]->shape, &v->value.view.shape))
        td_layout_like(src[0], &layout);
    else
        td_layout_follow(&v->value.view.shape, src, n, &layout);
    if (td_view_eq(&v->value.view, &layout) && td_var_tracked(v)) {
        *out = td_var_ref(v);
        return TD_OK;
    }
    a = td_array_ref(&v->value);
    st = td_layout_settle(&a, &layout);
    if (st)
        td_array_unref(&a);
    return st ? st : copied(&copy_rule, v, &a, out);
}

/* ---- shapes ---- */

typedef struct shaped {
    td_shape from;
    int axes[TD_MAXDIM];
} shaped;

static td_status
reshape_back(const td_back *b)
{
    return td_var_reshape(b->g[0], &((const shaped *)b->fn->par)->from, &b->in[0]);
}

static td_status
transpose_back(const td_back *b)
{
    const shaped *p = b->fn->par;
    int back[TD_MAXDIM];

    for (int i = 0; i < p->from.ndim; i++)
        back[p->axes[i]] = i;
    return td_var_transpose(b->g[0], back, &b->in[0]);
}

static td_status
expand_back(const td_back *b)
{
    return td_var_sum_to(b->g[0], &((const shaped *)b->fn->par)->from, &b->in[0]);
}

static const td_rule reshape_rule = {"View", reshape_back, NULL, NULL},
                     transpose_rule = {"Permute", transpose_back, NULL, NULL},
                     expand_rule = {"Expand", expand_back, NULL, NULL};

/* a as the result of a rule on v; keeps v's shape and axes (or NULL).  Takes a. */
static td_status
reshaped(const td_rule *rule, td_var *v, const int *axes, td_array *a, td_var **out)
{
    td_gradfn *f = NULL;

    if (td_grad_wanted(&v, 1)) {
        td_status st = td_gradfn_new(rule, &v, 1, 1, 0, sizeof(shaped), &f);
        shaped *p = st ? NULL : f->par;

        if (st) {
            td_array_unref(a);
            return st;
        }
        p->from = v->value.view.shape;
        if (axes)
            memcpy(p->axes, axes, (size_t)p->from.ndim * sizeof *axes);
    }
    return td_var_view(v, f, a, out);
}

td_status
td_var_reshape(td_var *v, const td_shape *s, td_var **out)
{
    td_array a;

    TD_TRY(td_array_reshape(&v->value, s, &a));
    return reshaped(&reshape_rule, v, NULL, &a, out);
}

td_status
td_var_transpose(td_var *v, const int *axes, td_var **out)
{
    td_array a;

    TD_TRY(td_array_transpose(&v->value, axes, &a));
    return reshaped(&transpose_rule, v, axes, &a, out);
}

td_status
td_var_expand(td_var *v, const td_shape *s, td_var **out)
{
    td_array a;

    TD_TRY(td_array_broadcast(&v->value, s, &a));
    return reshaped(&expand_rule, v, NULL, &a, out);
}

td_status
td_var_broadcast(td_var *v, const td_shape *s, td_var **out)
{
    td_array a;

    if (td_shape_eq(&v->value.view.shape, s)) {
        *out = td_var_ref(v);
        return TD_OK;
    }
    TD_TRY(td_array_broadcast_as(&v->value, s, &a));
    return reshaped(&expand_rule, v, NULL, &a, out);
}

td_status
td_var_sum_to(td_var *v, const td_shape *s, td_var **out)
{
    const td_shape *have = &v->value.view.shape;
    int extra = have->ndim - s->ndim;
    td_redargs g = {.dtype = -1};
    td_var *r;
    td_status st;

    if (td_shape_eq(have, s)) {
        *out = td_var_ref(v);
        return TD_OK;
    }
    if (extra < 0)
        return td_var_broadcast(v, s, out);
    for (int i = 0; i < have->ndim; i++)
        if (i < extra || (s->dim[i - extra] == 1 && have->dim[i] != 1))
            g.axes |= 1u << i;
    if (!g.axes)
        return td_var_broadcast(v, s, out);
    g.keepdims = g.axes >> extra != 0;
    TD_TRY(td_var_reduce(TD_RED_sum, v, &g, &r));
    if (td_shape_eq(&r->value.view.shape, s)) {
        *out = r;
        return TD_OK;
    }
    st = g.keepdims ? td_var_reshape(r, s, out) : td_var_broadcast(r, s, out);
    td_var_unref(r);
    return st;
}

/* ---- reductions ---- */

typedef struct reduced {
    td_red red;
    td_redargs args;
    td_shape from, kept; /* the operand's shape; the result's with the axes kept */
    bool keep;           /* must a gradient be given the reduced axes? */
    td_dtype dt;
    double count;
    int8_t x, r; /* where x and r were saved; -1: not */
} reduced;

/* v with the reduced axes as axes of extent 1, unless broadcasting provides them. */
static td_status
with_axes(const reduced *p, td_var *v, td_var **out)
{
    if (p->keep)
        return td_var_reshape(v, &p->kept, out);
    *out = td_var_ref(v);
    return TD_OK;
}

static td_status
reduce_env(const td_back *b, const reduced *p, td_varop *env)
{
    td_var *r;
    td_status st;

    env[1] = (td_varop){.scalar = {.dt = TD_F64, .f = {p->count}}, .weak = 'f'};
    env[2] = (td_varop){.scalar = {.dt = TD_F64, .f = {p->args.ddof}}, .weak = 'f'};
    if (p->x >= 0)
        TD_TRY(td_gradfn_saved(b, p->x, &env[0].v));
    if (p->r >= 0) {
        TD_TRY(td_gradfn_saved(b, p->r, &r));
        st = with_axes(p, r, &env[3].v);
        td_var_unref(r);
        TD_TRY(st);
    }
    return with_axes(p, b->g[0], &env[4].v);
}

static td_status
reduce_back(const td_back *b)
{
    const reduced *p = b->fn->par;
    td_varop env[TD_FORMULA_NAMES] = {{.v = NULL}}, r = {.v = NULL};
    td_status st = reduce_env(b, p, env);
    td_var *cast;

    if (!st)
        st = td_formula_run(td_formula_of_red(p->red), env, p->args.axes, &r);
    for (int k = 0; k < TD_FORMULA_NAMES; k++)
        td_var_unref(env[k].v);
    TD_TRY(st);
    st = td_var_cast(r.v, p->dt, &cast);
    td_var_unref(r.v);
    TD_TRY(st);
    st = td_var_broadcast(cast, &p->from, &b->in[0]);
    td_var_unref(cast);
    return st;
}

static const td_rule reduce_rules[TD_RED_COUNT] = {
    [TD_RED_sum] = {"Sum", reduce_back, NULL, NULL},
    [TD_RED_prod] = {"Prod", reduce_back, NULL, NULL},
    [TD_RED_min] = {"Amin", reduce_back, NULL, NULL},
    [TD_RED_max] = {"Amax", reduce_back, NULL, NULL},
    [TD_RED_mean] = {"Mean", reduce_back, NULL, NULL},
    [TD_RED_var] = {"Var", reduce_back, NULL, NULL},
    [TD_RED_std] = {"Std", reduce_back, NULL, NULL},
};

static void
describe_reduction(reduced *p, td_red red, const td_var *v, const td_redargs *g)
{
    bool low = false; /* has a kept axis come before a reduced one? */

    p->red = red;
    p->args = *g;
    p->dt = td_array_dtype(&v->value);
    p->from = p->kept = v->value.view.shape;
    p->count = 1;
    p->x = p->r = -1;
    for (int i = 0; i < p->from.ndim; i++) {
        bool gone = g->axes >> i & 1;

        if (gone) {
            p->count *= (double)p->from.dim[i];
            p->kept.dim[i] = 1;
        }
        p->keep |= gone && low && !g->keepdims;
        low |= !gone;
    }
}

static td_status
record_reduction(td_red red, td_var *v, const td_redargs *g, td_array *a, td_var **out)
{
    uint8_t uses = td_formula_of_red(red)->uses;
    td_status st;
    td_gradfn *f;

    st = td_gradfn_new(&reduce_rules[red], &v, 1, 1, (uses & 1) + (uses >> 3 & 1), sizeof(reduced),
                       &f);
    if (st) {
        td_array_unref(a);
        return st;
    }
    describe_reduction(f->par, red, v, g);
    if (uses & 1) {
        ((reduced *)f->par)->x = 0;
        st = td_gradfn_save(f, 0, v, 0);
    }
    if (!st)
        st = td_gradfn_result(td_gradfn_ref(f), a, 0, out);
    else
        td_array_unref(a);
    if (!st && uses >> 3 & 1) {
        ((reduced *)f->par)->r = uses & 1;
        st = td_gradfn_save(f, uses & 1, *out, TD_SAVED_RESULT);
        if (st)
            td_var_unref(*out);
    }
    td_gradfn_unref(f);
    return st;
}

td_status
td_var_reduce(td_red red, td_var *v, const td_redargs *g, td_var **out)
{
    td_array a;

    if (g->dtype >= 0 && (td_dtype)g->dtype != td_array_dtype(&v->value)) {
        td_var *cast;
        td_status st;

        TD_TRY(td_var_cast(v, (td_dtype)g->dtype, &cast));
        st = td_var_reduce(red, cast, g, out);
        td_var_unref(cast);
        return st;
    }
    TD_TRY(td_array_reduce(red, &v->value, g, &a));
    return td_grad_wanted(&v, 1) && reduce_rules[red].back ? record_reduction(red, v, g, &a, out)
                                                           : td_var_new(&a, out);
}

/* ---- other devices ---- */

static td_status
move_array(const td_array *a, td_dev *d, td_array *out)
{
    size_t nbytes = (size_t)td_array_size(a) * td_dtype_size(td_array_dtype(a));
    td_status st = td_array_to_device(a, d, out);
    void *host;

    if (st != TD_SKIP)
        return st;
    host = td_host_alloc(nbytes);
    if (!host && nbytes)
        return td_fail(TD_ERR_NOMEM, "to: %zu bytes of host memory", nbytes);
    st = td_array_get(a, host);
    if (!st)
        st = td_array_from_host(d, td_array_dtype(a), &a->view.shape, host, out);
    td_host_free(host, nbytes);
    return st;
}

static td_status
device_back(const td_back *b)
{
    return td_var_to_device(b->g[0], *(td_dev *const *)b->fn->par, &b->in[0]);
}

static const td_rule device_rule = {"ToCopy", device_back, NULL, NULL};

td_status
td_var_to_device(td_var *v, td_dev *d, td_var **out)
{
    td_gradfn *f = NULL;
    td_array a;
    td_status st = TD_OK;

    if (td_array_dev(&v->value) == d) {
        *out = td_var_ref(v);
        return TD_OK;
    }
    TD_TRY(move_array(&v->value, d, &a));
    if (td_grad_wanted(&v, 1))
        st = td_gradfn_new(&device_rule, &v, 1, 1, 0, sizeof(td_dev *), &f);
    if (st) {
        td_array_unref(&a);
        return st;
    }
    if (f)
        *(td_dev **)f->par = td_array_dev(&v->value);
    return td_gradfn_result(f, &a, 0, out);
}
