/* matmul.c - matrix products of variables. */
#include "grad/internal.h"

#include <inttypes.h>

static td_status matmul_product(td_var *x, td_var *y, td_var **out);

static td_status
swapped(td_var *v, td_var **out)
{
    int axes[TD_MAXDIM], n = v->value.view.shape.ndim;

    for (int i = 0; i < n; i++)
        axes[i] = i < n - 2 ? i : 2 * n - 3 - i;
    return td_var_transpose(v, axes, out);
}

/* v with its last two axes swapped, conjugated. */
static td_status
adjoint(td_var *v, td_var **out)
{
    td_varop o = {.v = v};
    td_var *c;
    td_status st;

    if (!td_dtype_is_complex(td_array_dtype(&v->value)))
        return swapped(v, out);
    TD_TRY(td_var_apply(OP_conjugate, &o, 1, &c));
    st = swapped(c, out);
    td_var_unref(c);
    return st;
}

/* v with an axis of extent 1 added at `at`. */
static td_status
with_axis(td_var *v, int at, td_var **out)
{
    td_shape s = v->value.view.shape;

    for (int i = s.ndim++; i > at; i--)
        s.dim[i] = s.dim[i - 1];
    s.dim[at] = 1;
    return td_var_reshape(v, &s, out);
}

/* parts - the matrices of a backward pass; vectors have been given an axis. */
typedef struct parts {
    td_var *x, *y, *g;
} parts;

static void
parts_free(parts *m)
{
    td_var_unref(m->x);
    td_var_unref(m->y);
    td_var_unref(m->g);
}

static td_status
add_axis(td_var **v, int at)
{
    td_var *wide;

    TD_TRY(with_axis(*v, at, &wide));
    td_var_unref(*v);
    *v = wide;
    return TD_OK;
}

static td_status
take_apart(const td_back *b, const bool *vector, parts *m)
{
    m->g = td_var_ref(b->g[0]);
    if (td_back_wants(b, 1))
        TD_TRY(td_gradfn_saved(b, 0, &m->x));
    if (td_back_wants(b, 0))
        TD_TRY(td_gradfn_saved(b, 1, &m->y));
    if (vector[1])
        TD_TRY(add_axis(&m->g, m->g->value.view.shape.ndim));
    if (vector[0])
        TD_TRY(add_axis(&m->g, m->g->value.view.shape.ndim - 1));
    if (vector[0] && m->x)
        TD_TRY(add_axis(&m->x, 0));
    if (vector[1] && m->y)
        TD_TRY(add_axis(&m->y, 1));
    return TD_OK;
}

typedef struct multiplied {
    td_shape shape[2];
    bool by_columns[2]; /* the operands' layouts */
} multiplied;

/* A gradient in its operand's own shape; takes r. */
static td_status
fit_gradient(td_var *r, const td_shape *s, bool row, bool column, td_var **out)
{
    td_shape matrix = *s;
    td_var *sum;
    td_status st;

    if (column)
        matrix.dim[matrix.ndim++] = 1;
    if (row) {
        matrix.dim[1] = matrix.dim[0];
        matrix.dim[0] = 1;
        matrix.ndim = 2;
    }
    st = td_var_sum_to(r, &matrix, &sum);
    td_var_unref(r);
    TD_TRY(st);
    st = td_shape_eq(&matrix, s) ? TD_OK : td_var_reshape(sum, s, out);
    if (!st && td_shape_eq(&matrix, s))
        *out = sum;
    else
        td_var_unref(sum);
    return st;
}

/* Are v's columns contiguous, like another matrix's rows? */
static bool
in_columns(const td_view *v)
{
    int n = v->shape.ndim;

    return n >= 2 && v->stride[n - 2] == 1 && v->stride[n - 1] != 1 && v->shape.dim[n - 2] > 1;
}

/* x @ y, laid out by columns. */
static td_status
product_by_columns(td_var *x, td_var *y, td_var **out)
{
    td_var *tx, *ty, *r;
    td_status st;

    TD_TRY(swapped(x, &tx));
    st = swapped(y, &ty);
    if (!st) {
        st = matmul_product(ty, tx, &r);
        td_var_unref(ty);
    }
    td_var_unref(tx);
    TD_TRY(st);
    st = swapped(r, out);
    td_var_unref(r);
    return st;
}

/* first @ second with one of them transposed, laid out in rows or in columns.  So the gradient
 * of a transposed matrix arrives laid out in rows. */
static td_status
product_transposed(td_var *first, td_var *second, bool turn_first, bool by_columns, td_var **out)
{
    td_var *t, *x, *y;
    td_status st;

    TD_TRY(adjoint(turn_first ? first : second, &t));
    x = turn_first ? t : first;
    y = turn_first ? second : t;
    st = by_columns ? product_by_columns(x, y, out) : matmul_product(x, y, out);
    td_var_unref(t);
    return st;
}

static td_status
matmul_back(const td_back *b)
{
    const multiplied *p = b->fn->par;
    bool vector[2] = {p->shape[0].ndim == 1, p->shape[1].ndim == 1};
    parts m = {NULL, NULL, NULL};
    td_status st = take_apart(b, vector, &m);
    td_var *r;

    if (!st && td_back_wants(b, 0)) {
        st = product_transposed(m.g, m.y, false, p->by_columns[0], &r);
        if (!st)
            st = fit_gradient(r, &p->shape[0], vector[0], false, &b->in[0]);
    }
    if (!st && td_back_wants(b, 1)) {
        st = product_transposed(m.x, m.g, true, p->by_columns[1], &r);
        if (!st)
            st = fit_gradient(r, &p->shape[1], false, vector[1], &b->in[1]);
    }
    parts_free(&m);
    return st;
}

static const td_rule matmul_rule = {"Mm", matmul_back, NULL, NULL};

static td_status
record_matmul(td_var *x, td_var *y, td_gradfn **out)
{
    td_var *v[2] = {x, y};
    td_status st;
    td_gradfn *f;

    TD_TRY(td_gradfn_new(&matmul_rule, v, 2, 1, 2, sizeof(multiplied), &f));
    for (int i = 0; i < 2; i++) {
        ((multiplied *)f->par)->shape[i] = v[i]->value.view.shape;
        ((multiplied *)f->par)->by_columns[i] = in_columns(&v[i]->value.view);
    }
    st = td_var_tracked(y) ? td_gradfn_save(f, 0, x, 0) : TD_OK;
    if (!st && td_var_tracked(x))
        st = td_gradfn_save(f, 1, y, 1);
    if (st)
        td_gradfn_unref(f);
    else
        *out = f;
    return st;
}

/* The number of matrices in a product of stacks of shapes a and b, whose leading dims broadcast. */
static int64_t
stacked(const td_shape *a, const td_shape *b)
{
    int64_t count = 1;

    for (int i = 3; i <= a->ndim || i <= b->ndim; i++) {
        int64_t m = i <= a->ndim ? a->dim[a->ndim - i] : 1,
                n = i <= b->ndim ? b->dim[b->ndim - i] : 1;

        count *= m == 1 ? n : m;
    }
    return count;
}

/* Rewords a product of vectors and matrices whose inner sizes differ as PyTorch says it. */
static td_status
worded(td_status st, const td_shape *a, const td_shape *b)
{
    int64_t k = a->ndim ? a->dim[a->ndim - 1] : 0, rows = 1,
            own = b->ndim ? b->dim[b->ndim > 1 ? b->ndim - 2 : 0] : 0;

    if (!a->ndim || !b->ndim || k == own)
        return st;
    for (int i = 0; i < a->ndim - 1; i++)
        rows *= a->dim[i];
    if (a->ndim == 1 && b->ndim == 1)
        return td_fail(st,
                       "inconsistent tensor size, expected tensor [%" PRId64 "] and src [%" PRId64
                       "] to have the same number of elements, but got %" PRId64 " and %" PRId64
                       " elements respectively",
                       k, own, k, own);
    if (b->ndim == 1)
        return td_fail(st,
                       "size mismatch, got input (%" PRId64 "), mat (%" PRId64 "x%" PRId64
                       "), vec (%" PRId64 ")",
                       rows, rows, k, own);
    if (b->ndim == 2)
        return td_fail(st,
                       "mat1 and mat2 shapes cannot be multiplied (%" PRId64 "x%" PRId64
                       " and %" PRId64 "x%" PRId64 ")",
                       rows, k, own, b->dim[1]);
    return td_fail(st,
                   "Expected size for first two dimensions of batch2 tensor to be: [%" PRId64
                   ", %" PRId64 "] but got: [%" PRId64 ", %" PRId64 "].",
                   stacked(a, b), k, stacked(a, b), own);
}

static td_status
matmul_product(td_var *x, td_var *y, td_var **out)
{
    td_var *v[2] = {x, y};
    td_gradfn *f = NULL;
    td_array a;
    td_status st;

    st = td_array_matmul(&x->value, &y->value, &a);
    if (st)
        return st == TD_ERR_VALUE ? worded(st, &x->value.view.shape, &y->value.view.shape) : st;
    if (td_grad_wanted(v, 2))
        st = record_matmul(x, y, &f);
    if (!st)
        return td_gradfn_result(f, &a, 0, out);
    td_array_unref(&a);
    return st;
}

/* Multiplies many rows by one matrix as a single product. */
static td_status
flat_product(td_var *x, td_var *y, td_var **out)
{
    td_shape s = x->value.view.shape, flat = {.ndim = 2, .dim = {1, s.dim[s.ndim - 1]}};
    td_var *rows, *r;
    td_status st;

    for (int i = 0; i < s.ndim - 1; i++)
        flat.dim[0] *= s.dim[i];
    s.dim[s.ndim - 1] = y->value.view.shape.dim[1];
    TD_TRY(td_var_reshape(x, &flat, &rows));
    st = matmul_product(rows, y, &r);
    td_var_unref(rows);
    TD_TRY(st);
    st = td_var_reshape(r, &s, out);
    td_var_unref(r);
    return st;
}

td_status
td_var_matmul(td_var *x, td_var *y, td_var **out)
{
    td_dtype dx = td_array_dtype(&x->value), dy = td_array_dtype(&y->value);

    if (dx != dy)
        return td_fail(TD_ERR_STATE, "expected m1 and m2 to have the same dtype, but got: %s != %s",
                       td_dtype_name(dx), td_dtype_name(dy));
    if (x->value.view.shape.ndim > 2 && y->value.view.shape.ndim == 2 && td_array_size(&x->value) &&
        td_array_size(&y->value))
        return flat_product(x, y, out);
    return matmul_product(x, y, out);
}
