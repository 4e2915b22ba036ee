/* join.c - joining, flipping, cumulative sums and moves of variables; a program's own functions.
 */
#include "grad/internal.h"

#include <stdlib.h>
#include <string.h>

/* ---- joining ---- */

typedef struct joined {
    int axis;
    int64_t at[]; /* where each part begins, and where the last one ends */
} joined;

static td_status
part_of(td_var *v, int axis, int64_t from, int64_t to, td_var **out)
{
    td_view flat = td_view_contiguous(&v->value.view.shape), w, dense;

    w = td_view_slice(&v->value.view, axis, from, 1, to - from);
    dense = td_view_slice(&flat, axis, from, 1, to - from);
    return td_var_slice(v, &w, &dense, out);
}

static td_status
join_back(const td_back *b)
{
    const joined *p = b->fn->par;

    for (int i = 0; i < b->fn->nin; i++)
        if (td_edge_live(&b->fn->in[i]) && td_back_wants(b, i))
            TD_TRY(part_of(b->g[0], p->axis, p->at[i], p->at[i + 1], &b->in[i]));
    return TD_OK;
}

static const td_rule join_rule = {"Cat", join_back, NULL, NULL};

static td_status
joined_shape(td_var *const *v, int n, int axis, td_shape *out)
{
    char first[256], other[256];

    *out = v[0]->value.view.shape;
    out->dim[axis] = 0;
    for (int i = 0; i < n; i++) {
        const td_shape *s = &v[i]->value.view.shape;
        td_shape same = *s;

        TD_TRY(td_one_device("cat", td_array_dev(&v[0]->value), td_array_dev(&v[i]->value)));
        if (s->ndim == out->ndim)
            same.dim[axis] = out->dim[axis];
        if (!td_shape_eq(&same, out))
            return td_fail(TD_ERR_STATE,
                           "Sizes of tensors must match except in dimension %d. Expected %s but "
                           "got %s for tensor number %d in the list.",
                           axis, td_shape_text(&v[0]->value.view.shape, first, sizeof first),
                           td_shape_text(s, other, sizeof other), i);
        out->dim[axis] += s->dim[axis];
    }
    return TD_OK;
}

static td_status
copy_parts(td_var *const *v, int n, int axis, const td_array *to)
{
    int64_t at = 0;

    for (int i = 0; i < n; i++) {
        int64_t count = v[i]->value.view.shape.dim[axis];
        td_view w = td_view_slice(&to->view, axis, at, 1, count);
        td_array part = td_array_view(to, &w);
        td_status st = td_array_size(&part)
                           ? td_array_assign(&part, &(td_operand){.array = &v[i]->value})
                           : TD_OK;

        td_array_unref(&part);
        TD_TRY(st);
        at += count;
    }
    return TD_OK;
}

static td_status
record_join(td_var *const *v, int n, int axis, td_gradfn **out)
{
    joined *p;

    TD_TRY(
        td_gradfn_new(&join_rule, v, n, 1, 0, sizeof *p + ((size_t)n + 1) * sizeof p->at[0], out));
    p = (*out)->par;
    p->axis = axis;
    for (int i = 0; i < n; i++)
        p->at[i + 1] = p->at[i] + v[i]->value.view.shape.dim[axis];
    return TD_OK;
}

td_status
td_var_join(td_var *const *v, int n, int axis, td_var **out)
{
    td_gradfn *f = NULL;
    td_shape s;
    td_array a;
    td_status st;

    TD_TRY(joined_shape(v, n, axis, &s));
    TD_TRY(td_array_empty(td_array_dev(&v[0]->value), td_array_dtype(&v[0]->value), &s, &a));
    st = copy_parts(v, n, axis, &a);
    if (!st && td_grad_wanted(v, n))
        st = record_join(v, n, axis, &f);
    if (!st)
        return td_gradfn_result(f, &a, 0, out);
    td_array_unref(&a);
    return st;
}

/* ---- turning round ---- */

td_status
td_var_flip(td_var *v, uint32_t axes, td_var **out)
{
    td_view w = v->value.view, dense = td_view_contiguous(&w.shape);

    for (int i = 0; i < w.shape.ndim; i++)
        if (axes >> i & 1 && w.shape.dim[i]) {
            w = td_view_slice(&w, i, w.shape.dim[i] - 1, -1, w.shape.dim[i]);
            dense = td_view_slice(&dense, i, dense.shape.dim[i] - 1, -1, dense.shape.dim[i]);
        }
    return td_var_slice(v, &w, &dense, out);
}

/* ---- sums and products of the elements up to each ---- */

typedef struct running {
    int axis;
    td_red red;
} running;

/* Sums g from each element to the end; takes g. */
static td_status
sum_from(td_var *g, int axis, td_var **out)
{
    td_var *turned, *sum;
    td_status st = td_var_flip(g, 1u << axis, &turned);

    td_var_unref(g);
    TD_TRY(st);
    st = td_var_cumulate(TD_RED_sum, turned, axis, &sum);
    td_var_unref(turned);
    TD_TRY(st);
    st = td_var_flip(sum, 1u << axis, out);
    td_var_unref(sum);
    return st;
}

static td_status
op2(td_op op, td_var *x, td_var *y, td_var **out)
{
    return td_var_apply(op, (td_varop[]){{.v = x}, {.v = y}}, 2, out);
}

/* select(where, x, number) or, `first`, select(where, number, x) */
static td_status
join_choose(td_var *where, td_var *x, double number, bool first, td_var **out)
{
    td_varop n = {.scalar = {.dt = TD_F64, .f = {number}}, .weak = 'f'}, o[3] = {{.v = where}};

    o[first ? 1 : 2] = n;
    o[first ? 2 : 1] = (td_varop){.v = x};
    return td_var_apply(OP_select, o, 3, out);
}

/* Marks the first zeros along the axis, and the elements at or after one. */
static td_status
find_zeros(td_var *x, int axis, td_var **first, td_var **behind)
{
    td_varop zero = {.scalar = {.dt = TD_I64}, .weak = 'i'},
             one = {.scalar = {.dt = TD_I64, .i = 1}, .weak = 'i'};
    td_var *is = NULL, *count = NULL, *lone = NULL;
    td_status st = td_var_apply(OP_equal, (td_varop[]){{.v = x}, zero}, 2, &is);

    if (!st)
        st = td_var_cumulate(TD_RED_sum, is, axis, &count);
    if (!st)
        st = td_var_apply(OP_greater, (td_varop[]){{.v = count}, zero}, 2, behind);
    if (!st)
        st = td_var_apply(OP_equal, (td_varop[]){{.v = count}, one}, 2, &lone);
    if (!st)
        st = op2(OP_logical_and, is, lone, first);
    td_var_unref(is);
    td_var_unref(count);
    td_var_unref(lone);
    return st;
}

/* sum_from(g * cumprod(x)) */
static td_status
weighted(td_var *g, td_var *x, int axis, td_var **out)
{
    td_var *r, *product;
    td_status st;

    TD_TRY(td_var_cumulate(TD_RED_prod, x, axis, &r));
    st = op2(OP_multiply, g, r, &product);
    td_var_unref(r);
    return st ? st : sum_from(product, axis, out);
}

/* Before the first zero z: the sum of g * r from the element on, divided by the element.  At
 * z: the same with z taken as 1. After it: 0, since every product contains z. */
static td_status
product_back(const td_back *b, int axis, td_var *x)
{
    td_var *first = NULL, *behind = NULL, *filled = NULL, *before = NULL, *at = NULL, *low = NULL;
    td_var *g = b->g[0], *quotient = NULL;
    td_status st = find_zeros(x, axis, &first, &behind);

    if (!st)
        st = join_choose(first, x, 1, true, &filled);
    if (!st)
        st = weighted(g, filled, axis, &at);
    if (!st)
        st = weighted(g, x, axis, &before);
    if (!st)
        st = op2(OP_divide, before, x, &quotient);
    if (!st)
        st = join_choose(behind, quotient, 0, true, &low);
    if (!st)
        st = td_var_apply(OP_select, (td_varop[]){{.v = first}, {.v = at}, {.v = low}}, 3,
                          &b->in[0]);
    td_var_unref(first);
    td_var_unref(behind);
    td_var_unref(filled);
    td_var_unref(before);
    td_var_unref(at);
    td_var_unref(low);
    td_var_unref(quotient);
    return st;
}

static td_status
cumulate_back(const td_back *b)
{
    const running *p = b->fn->par;
    td_var *x, *real;
    td_status st;

    if (p->red == TD_RED_sum)
        return sum_from(td_var_ref(b->g[0]), p->axis, &b->in[0]);
    TD_TRY(td_gradfn_saved(b, 0, &x));
    st = td_var_apply(OP_conjugate, &(td_varop){.v = x}, 1, &real);
    td_var_unref(x);
    TD_TRY(st);
    st = product_back(b, p->axis, real);
    td_var_unref(real);
    return st;
}

static const td_rule cumsum_rule = {"Cumsum", cumulate_back, NULL, NULL},
                     cumprod_rule = {"Cumprod", cumulate_back, NULL, NULL};

td_status
td_var_cumulate(td_red red, td_var *v, int axis, td_var **out)
{
    td_gradfn *f = NULL;
    td_array a;
    td_status st = TD_OK;

    TD_TRY(td_array_cumulate(red, &v->value, axis, -1, &a));
    if (td_grad_wanted(&v, 1) && (red == TD_RED_sum || red == TD_RED_prod)) {
        st = td_gradfn_new(red == TD_RED_sum ? &cumsum_rule : &cumprod_rule, &v, 1, 1,
                           red == TD_RED_prod, sizeof(running), &f);
        if (!st)
            *(running *)f->par = (running){axis, red};
        if (!st && red == TD_RED_prod)
            st = td_gradfn_save(f, 0, v, 0);
    }
    if (!st)
        return td_gradfn_result(f, &a, 0, out);
    td_gradfn_unref(f);
    td_array_unref(&a);
    return st;
}

/* ---- functions of a program's own ---- */

typedef struct custom {
    td_custom c;
    td_rule rule; /* with the function's own name */
    char name[48];
    struct taken {
        td_shape shape;
        td_dtype dt;
    } in[]; /* shape and dtype that the gradients must have */
} custom;

/* Brings a gradient to its input's shape and dtype; takes *g. */
static td_status
checked(const custom *p, int i, td_var **g)
{
    const td_shape *have = &(*g)->value.view.shape, *want = &p->in[i].shape;
    char got[256], expected[256];
    td_var *sum, *cast;
    td_status st;
    td_shape both;

    if (have->ndim < want->ndim || td_broadcast("", have, want, &both) || !td_shape_eq(&both, have))
        return td_fail(TD_ERR_STATE,
                       "Function %sBackward returned an invalid gradient at index %d - got %s but "
                       "expected shape compatible with %s",
                       p->name, i, td_shape_list(have, got, sizeof got),
                       td_shape_list(want, expected, sizeof expected));
    TD_TRY(td_var_sum_to(*g, want, &sum));
    st = td_var_cast(sum, p->in[i].dt, &cast);
    td_var_unref(sum);
    TD_TRY(st);
    td_var_unref(*g);
    *g = cast;
    return TD_OK;
}

static td_status
custom_back(const td_back *b)
{
    const custom *p = b->fn->par;

    TD_TRY(p->c.run(p->c.object, b));
    for (int i = 0; i < b->fn->nin; i++)
        if (b->in[i] && td_edge_live(&b->fn->in[i]))
            TD_TRY(checked(p, i, &b->in[i]));
    return TD_OK;
}

static void
custom_free(td_gradfn *f)
{
    const custom *p = f->par;

    p->c.end(p->c.object);
}

static void
custom_let_go(td_gradfn *f)
{
    const custom *p = f->par;

    if (p->c.let_go)
        p->c.let_go(p->c.object);
}

td_status
td_var_custom(const td_custom *c, const char *name, td_var *const *in, int nin,
              td_var *const *output, int nout, td_var **out)
{
    static const td_rule nothing = {"Custom", custom_back, NULL, NULL};
    td_gradfn *f;
    custom *p;
    td_status st = td_gradfn_new(&nothing, in, nin, nout, 0,
                                 sizeof *p + (size_t)nin * sizeof(struct taken), &f);

    if (st) {
        c->end(c->object);
        return st;
    }
    p = f->par;
    p->c = *c;
    strncpy(p->name, name, sizeof p->name - 1);
    p->rule = (td_rule){p->name, custom_back, custom_free, custom_let_go};
    f->rule = &p->rule;
    f->object = c->object;
    for (int i = 0; i < nin; i++)
        if (in[i])
            p->in[i] = (struct taken){in[i]->value.view.shape, td_array_dtype(&in[i]->value)};
    for (int i = 0; i < nout && !st; i++) {
        td_dtype dt = td_array_dtype(&output[i]->value);
        td_array a = td_array_ref(&output[i]->value);
        bool smooth = td_dtype_is_float(dt) || td_dtype_is_complex(dt);

        st = td_gradfn_result(smooth ? td_gradfn_ref(f) : NULL, &a, (uint32_t)i, &out[i]);
        for (int k = 0; st && k < i; k++)
            td_var_unref(out[k]);
    }
    td_gradfn_unref(f);
    return st;
}
