/* intrin.c - calls of known functions, attributes and methods of values. */
#include "front/typed.h"

#include <stdio.h>
#include <string.h>

const td_intrinsic_row td_intrinsics[] = {
#define FN(fn, row, names)    {fn, names, row, false, NULL, NULL},
#define VALUE(fn, row, names) {fn, names, row, true, NULL, NULL},
#include "front/intrinsic.def"
#define TYPED(names, sig, spell, how) {fn_typed, names, how, false, sig, spell},
#include "front/typed.def"
};

enum { COUNT = sizeof td_intrinsics / sizeof *td_intrinsics };

const char *
td_intrinsic(int number)
{
    return number >= 0 && number < COUNT ? td_intrinsics[number].names : NULL;
}

td_status
call_intrinsic(walk *w, int number, const call *c, thing *out)
{
    TD_ASSERT(number >= 0 && number < COUNT);
    return td_intrinsics[number].fn(w, c, number, out);
}

td_status
value_intrinsic(walk *w, int number, uint32_t node, bool *is_value, thing *out)
{
    call c = {.node = node};

    TD_ASSERT(number >= 0 && number < COUNT);
    *is_value = td_intrinsics[number].value;
    return *is_value ? td_intrinsics[number].fn(w, &c, number, out) : TD_OK;
}

const thing *
arg_or_kw(const call *c, uint32_t i, const char *name)
{
    if (i < c->n)
        return &c->arg[i];
    for (uint32_t k = 0; k < c->nkw; k++)
        if (strcmp(c->kw[k], name) == 0)
            return &c->kwarg[k];
    return NULL;
}

td_status
want_args(walk *w, const call *c, const char *what, uint32_t least, uint32_t most)
{
    char many[32];

    if (c->n >= least && c->n <= most)
        return TD_OK;
    if (least == most)
        snprintf(many, sizeof many, "%u", least);
    else if (most == UINT32_MAX)
        snprintf(many, sizeof many, "%u or more", least);
    else
        snprintf(many, sizeof many, "%u to %u", least, most);
    return bad(w, c->node, TD_ERR_TYPE, "%s takes %s arguments, not %u", what, many, c->n);
}

/* A function that is a row of ops.def. */
td_status
fn_row(walk *w, const call *c, int number, thing *out)
{
    td_op op = (td_op)td_intrinsics[number].row;
    thing x[TD_MAXARG];

    TD_TRY(want_args(w, c, td_optab[op].name, td_optab[op].arity, td_optab[op].arity));
    for (uint32_t i = 0; i < c->n; i++) {
        x[i] = c->arg[i];
        TD_TRY(loaded(w, &x[i]));
    }
    return num_op(w, op, x, td_optab[op].arity, out);
}

/* ---- attributes ---- */

static thing
shape_tuple(walk *w, const thing *a)
{
    thing item[TD_MAXDIM_KERNEL];

    for (uint32_t i = 0; i < a->type->ndim; i++)
        item[i] = dim_thing(&a->view->shape[i]);
    return tuple_of(w, item, a->type->ndim);
}

static td_status
array_size(walk *w, const thing *a, thing *out)
{
    *out = num_int(1);
    for (uint32_t i = 0; i < a->type->ndim; i++) {
        thing n = dim_thing(&a->view->shape[i]);

        TD_TRY(num_binary(w, TD_SYN_Mult, out, &n, out));
    }
    return TD_OK;
}

static td_status
array_strides(walk *w, const thing *a, thing *out)
{
    thing item[TD_MAXDIM_KERNEL],
        unit = num_int(a->type->item[0]->kind == TD_T_RECORD ? 1 : td_type_size(a->type->item[0]));

    for (uint32_t i = 0; i < a->type->ndim; i++) {
        dim s = stride_of(w, a, i);
        thing t = dim_thing(&s);

        t.nonneg = false;
        TD_TRY(num_binary(w, TD_SYN_Mult, &t, &unit, &item[i]));
    }
    *out = tuple_of(w, item, a->type->ndim);
    return TD_OK;
}

static thing
transposed(walk *w, const thing *a)
{
    uint32_t n = a->type->ndim;
    char layout = a->type->layout == 'C' ? 'F' : a->type->layout == 'F' ? 'C' : 'A';
    thing t = {.type = td_type_array(a->type->item[0], n, layout, a->type->readonly),
               .view = td_alloc(w->mem, sizeof(view))};

    *t.view = *a->view;
    for (uint32_t i = 0; i < n; i++) {
        t.view->shape[i] = a->view->shape[n - 1 - i];
        t.view->axis[i] = a->view->axis[n - 1 - i];
        t.view->stride[i] = stride_of(w, a, n - 1 - i);
    }
    return t;
}

static td_status
array_attribute(walk *w, const thing *a, const char *name, uint32_t node, thing *out)
{
    if (strcmp(name, "shape") == 0)
        *out = shape_tuple(w, a);
    else if (strcmp(name, "ndim") == 0)
        *out = num_int(a->type->ndim);
    else if (strcmp(name, "size") == 0)
        return array_size(w, a, out);
    else if (strcmp(name, "strides") == 0)
        return array_strides(w, a, out);
    else if (strcmp(name, "itemsize") == 0)
        *out = num_int(td_type_size(a->type->item[0]));
    else if (strcmp(name, "T") == 0)
        *out = transposed(w, a);
    else
        return bad(w, node, TD_ERR_VALUE, "%s has no attribute %s in a kernel", a->type->name,
                   name);
    return TD_OK;
}

td_status
attribute(walk *w, const thing *self, const char *name, uint32_t node, thing *out)
{
    if (self->type->kind == TD_T_ARRAY)
        return array_attribute(w, self, name, node, out);
    if (self->type->kind == TD_T_RECORD) {
        TD_TRY(record_field(w, self, name, node, out));
        return loaded(w, out);
    }
    if (is_num(self) && (strcmp(name, "real") == 0 || strcmp(name, "imag") == 0))
        return num_op(w, *name == 'r' ? OP_real : OP_imag, self, 1, out);
    return bad(w, node, TD_ERR_VALUE, "%s has no attribute %s in a kernel", self->type->name, name);
}

td_status
call_method(walk *w, const thing *self, const char *name, const call *c, thing *out)
{
    if (self->type->kind == TD_T_ITER && self->type->object == ITER_GRID)
        return group_method(w, self, name, c, out);
    return bad(w, c->node, TD_ERR_VALUE, "%s has no method %s in a kernel", self->type->name, name);
}

/* ---- to[...] = x ---- */

/* Element by element; x is a number, or an array of as many dims. */
td_status
call_fill(walk *w, const thing *to, const thing *x, uint32_t node)
{
    td_val zero = td_const_int(w->f, TD_I64, 0), one = td_const_int(w->f, TD_I64, 1);
    thing key[TD_MAXDIM_KERNEL], at, element = *x;
    uint32_t n = to->type->ndim;

    if (x->type->kind == TD_T_ARRAY && x->type->ndim != n)
        return bad(w, node, TD_ERR_TYPE, "%s cannot be assigned to %s: the number of dims differs",
                   x->type->name, to->type->name);
    for (uint32_t i = 0; i < n; i++) {
        td_val k = td_for(w->f, zero, dim_val(w, &to->view->shape[i]), one);

        w->depth++;
        key[i] = num_index(k, true);
    }
    at = tuple_of(w, key, n);
    if (x->type->kind == TD_T_ARRAY)
        TD_TRY(array_index(w, x, &at, node, &element));
    TD_TRY(element_view(w, to, &at, node, &at));
    TD_TRY(array_store(w, &at, &element, node));
    for (uint32_t i = 0; i < n; i++)
        close_region(w);
    return built(w, node);
}

td_status
store_result_array(walk *w, const thing *x, td_val ptr, uint32_t *at)
{
    (void)ptr;
    (void)at;
    return bad(w, w->fr->s->root, TD_ERR_TYPE, "%s cannot be returned", x->type->name);
}
