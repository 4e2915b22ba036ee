/* index.c - reads and writes variables at places given by integer arrays.
 *
 * The gradient of a read is summed into zeros; that of a write is read.  Each is the other's
 * adjoint, so derivatives of any order are made of these two.
 */
#include "grad/internal.h"
#include "grad/layout.h"

#include <string.h>

typedef struct picked {
    td_pick p;            /* without its index arrays, which are saved */
    td_shape from, value; /* shapes of the variable read or written, and of the written value */
    td_dtype dt, value_dt;
    bool add;
} picked;

/* The saved index arrays; the caller drops them. */
static td_status
indices(const td_back *b, td_pick *p, td_var **index)
{
    const picked *k = b->fn->par;

    *p = k->p;
    for (int i = 0; i < p->n; i++) {
        TD_TRY(td_gradfn_saved(b, i, &index[i]));
        p->index[i] = &index[i]->value;
    }
    p->trusted = true; /* they have been checked */
    return TD_OK;
}

static void
drop_indices(td_var **index)
{
    for (int i = 0; i < TD_MAXDIM; i++)
        td_var_unref(index[i]);
}

static td_status
zeros_like(td_dev *d, td_dtype dt, const td_shape *s, td_var **out)
{
    td_array a;

    TD_TRY(td_array_full(d, dt, s, (td_scalar){.dt = TD_I64}, &a));
    return td_var_new(&a, out);
}

static td_status
pick_back(const td_back *b)
{
    const picked *k = b->fn->par;
    td_var *index[TD_MAXDIM] = {NULL}, *zeros = NULL, *g = b->g[0];
    td_pick p;
    td_status st = indices(b, &p, index);

    if (!st)
        st = zeros_like(td_array_dev(&g->value), k->dt, &k->from, &zeros);
    if (!st)
        st = td_var_put(zeros, &p, index, g, true, &b->in[0]);
    td_var_unref(zeros);
    drop_indices(index);
    return st;
}

/* The gradient of the overwritten variable: zeros where it was overwritten. */
static td_status
cleared(const td_back *b, const td_pick *p, td_var **index)
{
    td_var *g = b->g[0], *zero;
    td_status st;

    TD_TRY(zeros_like(td_array_dev(&g->value), td_array_dtype(&g->value), &(td_shape){.ndim = 0},
                      &zero));
    st = td_var_put(g, p, index, zero, false, &b->in[0]);
    td_var_unref(zero);
    return st;
}

static td_status
put_back(const td_back *b)
{
    const picked *k = b->fn->par;
    td_var *index[TD_MAXDIM] = {NULL}, *g = NULL, *cast = NULL;
    td_pick p;
    td_status st = indices(b, &p, index);

    if (!st && td_back_wants(b, 0)) {
        if (k->add)
            b->in[0] = td_var_ref(b->g[0]);
        else
            st = cleared(b, &p, index);
    }
    if (!st && td_back_wants(b, 1)) {
        st = td_var_pick(b->g[0], &p, index, &g);
        if (!st)
            st = td_var_cast(g, k->value_dt, &cast);
        if (!st)
            st = td_var_sum_to(cast, &k->value, &b->in[1]);
    }
    td_var_unref(g);
    td_var_unref(cast);
    drop_indices(index);
    return st;
}

static const td_rule pick_rule = {"Index", pick_back, NULL, NULL},
                     put_rule = {"IndexPut", put_back, NULL, NULL};

/* Makes the function of in[]; v is the one that is read or written. */
static td_status
record_index(const td_rule *rule, td_var *const *in, int nin, const td_pick *p,
             td_var *const *index, bool add, td_gradfn **out)
{
    td_gradfn *f;
    picked *k;

    TD_TRY(td_gradfn_new(rule, in, nin, 1, p->n, sizeof *k, &f));
    k = f->par;
    k->p = *p;
    k->from = in[0]->value.view.shape;
    k->dt = td_array_dtype(&in[0]->value);
    k->add = add;
    if (nin > 1) {
        k->value = in[1]->value.view.shape;
        k->value_dt = td_array_dtype(&in[1]->value);
    }
    for (int i = 0; i < p->n; i++) {
        td_status st = td_gradfn_save(f, i, index[i], TD_SAVED_NONE);

        if (st) {
            td_gradfn_unref(f);
            return st;
        }
    }
    *out = f;
    return TD_OK;
}

/* Lays r, what p picks of v, out as v is. The dims of the indices come where v leaves the order open. */
static td_status
lay_out_picked(const td_view *v, const td_pick *p, td_array *r)
{
    td_view of_v = {.shape = r->view.shape}, of_index = of_v, layout;
    int added = of_v.shape.ndim - (v->shape.ndim - p->n), k = 0;
    int64_t step = 1;

    if (td_layout_plain(v) || td_array_size(r) == 0)
        return TD_OK;
    for (int i = 0, next = 0; i < v->shape.ndim; i++)
        if (next < p->n && p->axis[next] == i)
            next++;
        else {
            of_v.stride[k < p->place ? k : k + added] = v->stride[i];
            k++;
        }
    for (int i = p->place + added - 1; i >= p->place; i--) {
        of_index.stride[i] = step;
        step *= of_index.shape.dim[i];
    }
    td_layout_order(&r->view.shape, (const td_view *[]){&of_v, &of_index}, 2, &layout);
    return td_layout_settle(r, &layout);
}

td_status
td_var_pick(td_var *v, const td_pick *p, td_var *const *index, td_var **out)
{
    td_gradfn *f = NULL;
    td_array a;
    td_status st = TD_OK;

    TD_TRY(td_array_pick(&v->value, p, &a));
    st = lay_out_picked(&v->value.view, p, &a);
    if (!st && td_grad_wanted(&v, 1))
        st = record_index(&pick_rule, &v, 1, p, index, false, &f);
    if (!st)
        return td_gradfn_result(f, &a, 0, out);
    td_array_unref(&a);
    return st;
}

static td_status
put_into(const td_array *a, const td_pick *p, td_var *value, bool add)
{
    td_array cast;
    td_status st;

    if (!add)
        return td_array_put(a, p, &(td_operand){.array = &value->value});
    if (td_array_dtype(a) == td_array_dtype(&value->value))
        return td_array_put_sum(a, p, &value->value);
    TD_TRY(td_array_cast(&value->value, td_array_dtype(a), &cast));
    st = td_array_put_sum(a, p, &cast);
    td_array_unref(&cast);
    return st;
}

td_status
td_var_put(td_var *v, const td_pick *p, td_var *const *index, td_var *value, bool add, td_var **out)
{
    td_var *in[2] = {v, value};
    td_gradfn *f = NULL;
    td_array a;
    td_status st;

    TD_TRY(td_one_device("index_put", td_array_dev(&v->value), td_array_dev(&value->value)));
    TD_TRY(td_array_copy(&v->value, &a));
    st = put_into(&a, p, value, add);
    if (!st && td_grad_wanted(in, 2))
        st = record_index(&put_rule, in, 2, p, index, add, &f);
    if (!st)
        return td_gradfn_result(f, &a, 0, out);
    td_array_unref(&a);
    return st;
}

td_status
td_var_put_into(td_var *v, const td_pick *p, td_var *const *index, td_var *value, bool add)
{
    td_var *in[2] = {v, value};
    uint32_t before = v->value.store->version;

    (void)index;
    TD_TRY(td_var_writable(v));
    TD_TRY(td_one_device("index_put", td_array_dev(&v->value), td_array_dev(&value->value)));
    if (td_grad_wanted(in, 2))
        return TD_SKIP;
    TD_TRY(put_into(&v->value, p, value, add));
    td_var_wrote(v, before);
    return TD_OK;
}

/* ---- one index for each element, along one axis ---- */

typedef struct places {
    td_pick p;
    td_var *index[TD_MAXDIM];
} places;

/* 0, 1, … along axis k of a shape of that rank, extents of 1 elsewhere. */
static td_status
counter(td_dev *d, int rank, int k, int64_t n, td_var **out)
{
    td_scalar zero = {.dt = TD_I64}, one = {.dt = TD_I64, .i = 1};
    td_shape s = {.ndim = rank};
    td_array flat, a;
    td_status st;

    for (int i = 0; i < rank; i++)
        s.dim[i] = i == k ? n : 1;
    TD_TRY(td_array_iota(d, TD_I64, n, zero, one, &flat));
    st = td_array_reshape(&flat, &s, &a);
    td_array_unref(&flat);
    return st ? st : td_var_new(&a, out);
}

static td_status
check_gather(const td_var *v, int axis, const td_var *index)
{
    const td_shape *s = &v->value.view.shape, *i = &index->value.view.shape;
    char have[256], want[256];
    bool fits = s->ndim == i->ndim;

    if (td_array_dtype(&index->value) != TD_I64)
        return td_fail(TD_ERR_STATE, "gather(): Expected dtype int64 for index");
    for (int k = 0; k < s->ndim && fits; k++)
        fits = k == axis || i->dim[k] <= s->dim[k];
    return fits ? TD_OK
                : td_fail(TD_ERR_STATE,
                          "Size does not match at dimension: expected index %s to be no larger "
                          "than self %s apart from dimension %d",
                          td_shape_text(i, have, sizeof have), td_shape_text(s, want, sizeof want),
                          axis);
}

/* The index arrays that name an element of v for each element of index; the caller drops them. */
static td_status
along(td_var *v, int axis, td_var *index, places *k)
{
    const td_shape *s = &index->value.view.shape;

    memset(k, 0, sizeof *k);
    TD_TRY(check_gather(v, axis, index));
    for (int i = 0; i < s->ndim; i++) {
        if (i == axis)
            k->index[i] = td_var_ref(index);
        else
            TD_TRY(counter(td_array_dev(&v->value), s->ndim, i, s->dim[i], &k->index[i]));
        k->p.axis[i] = k->p.shown[i] = i;
        k->p.index[i] = &k->index[i]->value;
        k->p.n++;
    }
    return TD_OK;
}

/* v and index with an axis, if they have none. */
static td_status
lined(td_var *v, td_var **out)
{
    if (v->value.view.shape.ndim) {
        *out = td_var_ref(v);
        return TD_OK;
    }
    return td_var_reshape(v, &(td_shape){.ndim = 1, .dim = {1}}, out);
}

/* r in shape s; takes r. */
static td_status
shaped(td_var *r, const td_shape *s, td_var **out)
{
    td_status st;

    if (td_shape_eq(&r->value.view.shape, s)) {
        *out = r;
        return TD_OK;
    }
    st = td_var_reshape(r, s, out);
    td_var_unref(r);
    return st;
}

td_status
td_var_gather(td_var *v, int axis, td_var *index, bool trusted, td_var **out)
{
    td_var *line = NULL, *at = NULL, *r;
    places k = {.p = {.n = 0}};
    td_status st = lined(v, &line);

    if (!st)
        st = lined(index, &at);
    if (!st)
        st = along(line, axis, at, &k);
    k.p.trusted = trusted;
    if (!st)
        st = td_var_pick(line, &k.p, k.index, &r);
    if (!st)
        st = shaped(r, &index->value.view.shape, out);
    drop_indices(k.index);
    td_var_unref(line);
    td_var_unref(at);
    return st;
}

/* Cuts value to index's shape; PyTorch allows it to be larger. */
static td_status
cut_to_indices(td_var *value, const td_shape *s, td_var **out)
{
    td_view w = value->value.view, dense = td_view_contiguous(&w.shape);

    if (w.shape.ndim != s->ndim || td_shape_eq(&w.shape, s)) {
        *out = td_var_ref(value);
        return TD_OK;
    }
    for (int i = 0; i < s->ndim; i++) {
        if (w.shape.dim[i] < s->dim[i])
            return td_fail(TD_ERR_STATE,
                           "scatter: the index has more elements than src along dimension %d", i);
        w.shape.dim[i] = dense.shape.dim[i] = s->dim[i];
    }
    return td_var_slice(value, &w, &dense, out);
}

td_status
td_var_scatter(td_var *v, int axis, td_var *index, td_var *value, bool add, td_var **out)
{
    td_var *line = NULL, *at = NULL, *part = NULL, *r;
    places k = {.p = {.n = 0}};
    td_status st = lined(v, &line);

    if (!st)
        st = lined(index, &at);
    if (!st)
        st = along(line, axis, at, &k);
    if (!st)
        st = cut_to_indices(value, &at->value.view.shape, &part);
    if (!st)
        st = td_var_put(line, &k.p, k.index, part, add, &r);
    if (!st)
        st = shaped(r, &v->value.view.shape, out);
    drop_indices(k.index);
    td_var_unref(line);
    td_var_unref(at);
    td_var_unref(part);
    return st;
}
