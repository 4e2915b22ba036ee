/* memory.c - where the elements of arrays and records lie; loads and stores of them. */
#include "front/infer/exact.h"
#include "front/infer/walk.h"

#include <string.h>

td_dtype
memory_dtype(const td_type *t)
{
    const td_type *e = t->kind == TD_T_ARRAY ? t->item[0] : t;

    return e->kind == TD_T_RECORD ? TD_U8 : td_dtype_real_of(e->dt);
}

dim
stride_of(walk *w, const thing *a, uint32_t axis)
{
    const view *v = a->view;
    dim s = dim_known(1);

    if (a->type->layout == 'A' || is_records(a->type))
        return v->stride[axis];
    if (a->type->layout == 'C')
        for (uint32_t i = a->type->ndim; i-- > axis + 1;)
            s = dim_mul(w, s, v->shape[i]);
    else
        for (uint32_t i = 0; i < axis; i++)
            s = dim_mul(w, s, v->shape[i]);
    return s;
}

thing
array_thing(walk *w, const td_type *item, uint32_t ndim, const dim *shape, td_val base, int space,
            const char *name)
{
    thing a = {.type = td_type_array(item, ndim, 'C', false),
               .view = td_alloc(w->mem, sizeof *a.view)};

    *a.view = (view){.base = base,
                     .offset = TD_NONE,
                     .mask = TD_NONE,
                     .space = space,
                     .arg = NO_ARG,
                     .name = name};
    memcpy(a.view->shape, shape, ndim * sizeof *shape);
    view_root(a.view, ndim);
    if (item->kind == TD_T_RECORD)
        for (uint32_t i = ndim; i-- > 0;)
            a.view->stride[i] = i + 1 == ndim ? dim_known(item->size)
                                              : dim_mul(w, a.view->stride[i + 1], shape[i + 1]);
    return a;
}

/* ---- loads and stores ---- */

/* The address of the record at a 0-d view of records: its offset goes into the pointer. */
view *
at_record(walk *w, const view *v)
{
    view *r = td_alloc(w->mem, sizeof *r);

    *r = *v;
    if (v->offset.i != UINT32_MAX)
        r->base = td_at_byte(w->f, v->base, v->offset, TD_U8);
    r->offset = TD_NONE;
    return r;
}

uint32_t
element_align(const view *v, const td_type *e)
{
    uint32_t size = td_type_size(e);

    return v->align && v->align < size ? v->align : size;
}

/* A GPU reads a complex number at once; a CPU's loops become vectors of parts. */
static bool
accessed_by_parts(const walk *w, const view *v, const td_type *e)
{
    return !w->how->gpu && td_dtype_is_complex(e->dt) && !v->align;
}

td_status
array_load(walk *w, const thing *a, thing *out)
{
    const view *v = a->view;
    const td_type *e = a->type->item[0];
    td_val index = v->offset.i == UINT32_MAX ? td_const_int(w->f, TD_I64, 0) : v->offset;

    if (v->arg < NO_ARG)
        w->made->read |= UINT64_C(1) << v->arg;
    touch(w, v, false);
    if (e->kind == TD_T_RECORD) {
        bool fixed = v->fixed || (a->type->readonly && v->arg == NO_ARG);

        *out = (thing){.type = e, .view = at_record(w, v)};
        out->view->fixed = fixed;
        return built(w, w->node);
    }
    *out = num_of(
        e, accessed_by_parts(w, v, e)
               ? td_num_load_parts(w->f, v->base, e->dt, index, v->mask)
               : td_num_load(w->f, v->base, e->dt, index, v->mask, 1, (int)element_align(v, e)));
    if (w->exact)
        *out = numpy_scalar(w, out);
    return built(w, w->node);
}

void
note_alias(walk *w, const view *v)
{
    if (v->arg < NO_ARG)
        w->aliased |= UINT64_C(1) << v->arg;
    touch(w, v, true);
}

void
note_written(walk *w, const view *v)
{
    if (v->arg < NO_ARG)
        w->made->written |= UINT64_C(1) << v->arg;
    else if (!v->fresh)
        w->stores_aliased = true;
    touch(w, v, true);
}

/* Is byte b of a record part of a field? */
static bool
in_field(const td_type *rec, uint32_t b)
{
    for (uint32_t i = 0; i < rec->n; i++) {
        const td_field *f = &rec->field[i];
        uint32_t size = td_type_size(f->type), n = 1;

        for (uint32_t k = 0; k < f->ndim; k++)
            n *= (uint32_t)f->shape[k];
        if (b >= f->offset && b - f->offset < n * size &&
            (f->type->kind != TD_T_RECORD || in_field(f->type, (b - f->offset) % size)))
            return true;
    }
    return false;
}

static td_status
store_record(walk *w, const view *to, const thing *x, const td_type *t, uint32_t node)
{
    if (x->type != t)
        return bad(w, node, TD_ERR_TYPE, "a %s cannot be stored in %s", x->type->name, t->name);
    for (uint32_t b = 0; b < t->size; b++) { /* LLVM makes words of neighbouring bytes */
        td_val i = td_const_int(w->f, TD_I64, b);

        if (w->how->watched && !in_field(t, b)) /* who watches knows that nobody has written it */
            continue;
        td_store(w->f, to->base, i, td_load(w->f, x->view->base, i, x->view->mask, 1, 0), to->mask,
                 0);
    }
    return built(w, node);
}

td_status
array_store(walk *w, const thing *a, const thing *x, uint32_t node)
{
    td_val at;
    const view *v = a->view;
    const td_type *e = a->type->item[0];

    if (a->type->readonly)
        return bad(w, node, TD_ERR_TYPE, "%s is read-only", v->name ? v->name : "the array");
    if (a->type->ndim)
        return bad(w, node, TD_ERR_TYPE,
                   "%s is stored to element by element here: it has %u dims left",
                   v->name ? v->name : "the array", a->type->ndim);
    TD_TRY(iterations_store(w, node));
    note_written(w, v);
    if (e->kind == TD_T_RECORD)
        return store_record(w, at_record(w, v), x, e, node);
    if (!is_num(x))
        return bad(w, node, TD_ERR_TYPE, "an element of %s cannot hold %s", a->type->name,
                   x->type->name);
    if (td_dtype_is_complex(x->type->dt) && !td_dtype_is_complex(e->dt))
        return bad(w, node, TD_ERR_TYPE, "an element of %s cannot hold %s: take its .real or .imag",
                   a->type->name, x->type->name);
    at = v->offset.i == UINT32_MAX ? td_const_int(w->f, TD_I64, 0) : v->offset;
    if (accessed_by_parts(w, v, e))
        td_num_store_parts(w->f, v->base, e->dt, at, num_as(w, x, e->dt), v->mask);
    else
        td_num_store(w->f, v->base, e->dt, at, num_as(w, x, e->dt), v->mask,
                     (int)element_align(v, e));
    return built(w, node);
}

td_status
loaded(walk *w, thing *x)
{
    if (x->type->kind != TD_T_ARRAY || x->type->ndim)
        return TD_OK;
    TD_TRY(settle(w, x));
    return array_load(w, x, x);
}
