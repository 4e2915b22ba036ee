/* productfn.c - matrix products, and running sums and products. */
#include "front/infer/lazy.h"

#include <string.h>

/* Element [i, j] of a @ b, one of which may be a vector; operands: a, b. */
static td_status
product_element(walk *w, const thing *self, const nest *at, thing *out)
{
    const thing *a = &self->lazy->c.arg[0], *b = &self->lazy->c.arg[1];
    const td_type *t = self->type->item[0];
    uint32_t na = a->type->ndim, nb = b->type->ndim;
    td_val zero = td_const_int(w->f, TD_I64, 0), one = td_const_int(w->f, TD_I64, 1), k;
    td_num sum = td_num_slot(w->f, t->dt, 1);
    nest sa = {.n = na}, sb = {.n = nb};
    thing x, y, so_far;

    td_num_set(w->f, sum, td_num_zero(w->f, t->dt));
    k = td_for(w->f, zero, dim_val(w, &a->view->shape[na - 1]), one);
    w->depth++;
    memcpy(sa.shape, a->view->shape, sizeof sa.shape);
    memcpy(sb.shape, b->view->shape, sizeof sb.shape);
    sa.at[0] = at->at[0];
    sa.at[na - 1] = k;
    sb.at[nb - 1] = at->at[at->n - 1];
    sb.at[0] = k;
    TD_TRY(element_at(w, a, &sa, &x));
    TD_TRY(element_at(w, b, &sb, &y));
    so_far = num_of(t, td_num_get(w->f, sum));
    TD_TRY(num_op(w, OP_multiply, (thing[]){x, y}, 2, &x));
    TD_TRY(num_op(w, OP_add, (thing[]){so_far, x}, 2, &x));
    td_num_set(w->f, sum, num_as(w, &x, t->dt));
    close_region(w);
    *out = num_of(t, td_num_get(w->f, sum));
    return built(w, w->node);
}

/* Products of floats, where memory can be had, call the BLAS unless they are known to be small. */
static bool
calls_blas(const walk *w, const call *c, const dim *shape, uint32_t n, const dim *inner)
{
    td_dtype dt = c->arg[0].type->item[0]->dt;
    int64_t work = inner->known;

    for (uint32_t i = 0; i < n && work >= 0; i++)
        work = shape[i].known >= 0 && work < 1000 ? work * shape[i].known : -1;
    return w->how->mode == TD_MODE_FUNCTION && !w->how->gpu && !w->how->alone && !w->exact &&
           dt == c->arg[1].type->item[0]->dt &&
           (dt == TD_F32 || dt == TD_F64 || dt == TD_C64 || dt == TD_C128) &&
           (work < 0 || work > 1000);
}

td_status
must_meet(walk *w, const dim *n, const dim *m, const char *what)
{
    thing inner[2] = {dim_thing(n), dim_thing(m)};

    if (w->how->mode == TD_MODE_KERNEL && !w->how->debug)
        return TD_OK;
    return must(w, TD_E2(w->f, equal, val_as(w, &inner[0], TD_I64), val_as(w, &inner[1], TD_I64)),
                TD_REPORT_SHAPE, what, inner, 2);
}

/* a @ b where at least one is a matrix. */
td_status
matrix_product(walk *w, const thing *a, const thing *b, thing *out)
{
    uint32_t na = a->type->ndim, nb = b->type->ndim, n = 0;
    call c = {.node = w->node, .n = 2, .arg = td_alloc(w->mem, 2 * sizeof *c.arg)};
    const td_type *s = a->type->item[0], *t = b->type->item[0];
    dim shape[2];

    if (s->kind != TD_T_NUM || t->kind != TD_T_NUM || s->dt == TD_BOOL || t->dt == TD_BOOL)
        return bad(w, w->node, TD_ERR_TYPE, "@ is not defined for %s and %s", a->type->name,
                   b->type->name);
    c.arg[0] = *a;
    c.arg[1] = *b;
    if (w->how->mode != TD_MODE_KERNEL)
        for (int i = 0; i < 2; i++)
            TD_TRY(settle(w, &c.arg[i])); /* each element is read many times */
    TD_TRY(must_meet(w, &a->view->shape[na - 1], &b->view->shape[0], "matrix product"));
    if (na == 2)
        shape[n++] = a->view->shape[0];
    if (nb == 2)
        shape[n++] = b->view->shape[1];
    if (calls_blas(w, &c, shape, n, &a->view->shape[na - 1]))
        return call_stand_in(w, "product", &c.arg[0],
                             &(call){.node = w->node, .n = 1, .arg = &c.arg[1]}, out);
    TD_TRY(lazy_new(w, product_element, &c, td_type_num(td_promote(s->dt, t->dt)), n, shape, out));
    out->lazy->own = true;
    return TD_OK;
}

/* cumsum, cumprod of all elements, or along a vector's axis: row is the operation. */
td_status
fn_running(walk *w, const call *c, int number, thing *out)
{
    td_op op = (td_op)td_intrinsics[number].row;
    const char *what = op == OP_add ? "cumsum" : "cumprod";
    const thing *axis = arg_or_kw(c, 1, "axis"), *dtype = arg_or_kw(c, 2, "dtype");
    const td_type *item;
    td_val one = td_const_int(w->f, TD_I64, op != OP_add);
    thing x, e, so_far, at;
    td_num sum;
    nest s;

    TD_TRY(want_args(w, c, what, 1, 3));
    x = c->arg[0];
    if (!is_array(&x) || x.type->item[0]->kind != TD_T_NUM)
        return bad(w, c->node, TD_ERR_TYPE, "%s takes an array of numbers, not %s", what,
                   x.type->name);
    if (axis && !is_none(axis) && x.type->ndim != 1)
        return bad(w, c->node, TD_ERR_TYPE, "%s takes axis= of a vector here, not of %s", what,
                   x.type->name);
    if (dtype && !is_none(dtype))
        TD_TRY(call_row(w, fn_astype, 0, (thing[]){x, *dtype}, 2, &x));
    if (x.type->ndim != 1)
        TD_TRY(call_row(w, fn_copy, 1, &x, 1, &x));
    item = x.type->item[0];
    if ((!dtype || is_none(dtype)) && !td_dtype_is_float(item->dt) &&
        !td_dtype_is_complex(item->dt))
        item = td_type_num(td_dtype_kind(item->dt) == 'u' ? TD_U64 : TD_I64);
    TD_TRY(new_array(w, item, 1, x.view->shape, out));
    sum = td_num_slot(w->f, item->dt, 1);
    e = num_index(one, true);
    td_num_set(w->f, sum, num_as(w, &e, item->dt));
    nest_open(w, &s, 1, x.view->shape, true);
    TD_TRY(element_at(w, &x, &(nest){.n = 1, .at = {s.flat_at}, .shape = {x.view->shape[0]}}, &e));
    so_far = num_of(item, td_num_get(w->f, sum));
    e = num_convert(w, &e, item);
    TD_TRY(num_op(w, op, (thing[]){so_far, e}, 2, &e));
    td_num_set(w->f, sum, num_as(w, &e, item->dt));
    so_far = num_index(s.flat_at, true);
    TD_TRY(element_view(w, out, &so_far, c->node, &at));
    TD_TRY(array_store(w, &at, &e, c->node));
    nest_close(w, &s);
    return built(w, c->node);
}
