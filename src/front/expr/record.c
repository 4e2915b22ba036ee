/* record.c - fields of records, and of all records of an array.
 *
 * A field of an array's records is an array with their strides, where these are whole elements of the field.  Where they
 * are not (packed records), it is computed from the records when it is read, and what is stored to its elements goes to
 * the records.
 */
#include "front/infer/box.h"
#include "front/infer/lazy.h"

#include <string.h>

static const td_field *
find_field(const td_type *rec, const char *name)
{
    for (uint32_t i = 0; i < rec->n; i++)
        if (strcmp(rec->field[i].name, name) == 0)
            return &rec->field[i];
    return NULL;
}

/* The alignment of a field's address, in records that lie one after another from an aligned address on. */
static uint32_t
field_align(const view *v, const td_type *rec, const td_field *f)
{
    uint32_t all = f->offset | (v->align ? v->align : rec->size);

    return all & (~all + 1);
}

/* ---- the field of all records of an array ---- */

static const td_field *
packed_field(const thing *x)
{
    return &x->lazy->c.arg->type->item[0]->field[x->lazy->number];
}

td_status
packed_place(walk *w, const thing *x, const nest *at, thing *out)
{
    const thing *records = x->lazy->c.arg;
    uint32_t n = records->type->ndim;
    nest of_record = *at, within = *at;
    thing r;

    of_record.n = n;
    TD_TRY(element_at(w, records, &of_record, &r));
    TD_TRY(record_field(w, &r, packed_field(x)->name, w->node, out));
    within.n = at->n - n;
    for (uint32_t i = 0; i < within.n; i++) {
        within.at[i] = at->at[n + i];
        within.shape[i] = at->shape[n + i];
    }
    r = *out;
    return within.n ? element_place(w, &r, &within, out) : TD_OK;
}

static td_status
packed_element(walk *w, const thing *self, const nest *at, thing *out)
{
    TD_TRY(packed_place(w, self, at, out));
    return loaded(w, out);
}

bool
is_packed(const thing *x)
{
    return x->lazy && x->lazy->element == packed_element;
}

static td_status
packed_array(walk *w, const thing *a, const td_field *f, uint32_t node, thing *out)
{
    call c = {.node = node, .n = 1, .arg = td_alloc(w->mem, sizeof *c.arg)};
    uint32_t n = a->type->ndim;
    dim shape[TD_MAXDIM_KERNEL];

    c.arg[0] = *a;
    for (uint32_t i = 0; i < n + f->ndim; i++)
        shape[i] = i < n ? a->view->shape[i] : dim_known(f->shape[i - n]);
    TD_TRY(lazy_new(w, packed_element, &c, f->type, n + f->ndim, shape, out));
    out->lazy->number = (int)(f - a->type->item[0]->field);
    return TD_OK;
}

static bool
all_numbers(const thing *key, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (!is_num(&key[i]))
            return false;
    return true;
}

td_status
packed_cut(walk *w, const thing *x, const thing *key, bool store, uint32_t node, thing *out)
{
    const thing *records = x->lazy->c.arg;
    bool many = key->type->kind == TD_T_TUPLE;
    const thing *k = many ? key->item : key;
    uint32_t n = records->type->ndim, nk = many ? key->type->n : 1;
    thing r, first = tuple_of(w, key->item, many && nk > n ? n : 0);

    if (!packed_field(x)->ndim || (nk >= n && all_numbers(k, n))) {
        TD_TRY(element_view(w, records, nk > n ? &first : key, node, &r));
        TD_TRY(loaded(w, &r));
        TD_TRY(record_field(w, &r, packed_field(x)->name, node, out));
        if (nk <= n)
            return TD_OK;
        r = *out;
        first = tuple_of(w, key->item + n, nk - n);
        return element_view(w, &r, &first, node, out);
    }
    if (store)
        return bad(w, node, TD_ERR_TYPE,
                   "the records are packed: store to their fields one record at a time, "
                   "a[i].%s[…], or make their dtype with align=True",
                   packed_field(x)->name);
    r = *x;
    TD_TRY(settle(w, &r));
    return element_view(w, &r, key, node, out);
}

/* The stride of the records becomes one in units of the field's elements. */
static void
scale_stride(walk *w, dim *stride, uint32_t unit)
{
    if (stride->v.i == UINT32_MAX)
        *stride = dim_known(stride->known / unit);
    else if (unit > 1)
        *stride = dim_of(TD_E2(w->f, truncate_divide, stride->v, td_const_int(w->f, TD_I64, unit)));
}

static td_status
field_array(walk *w, const thing *a, const td_type *rec, const td_field *f, uint32_t node,
            thing *out)
{
    uint32_t n = a->type->ndim, all = n + f->ndim;
    uint32_t unit = f->type->kind == TD_T_NUM ? td_type_size(f->type) : 1;
    int64_t step = f->type->kind == TD_T_NUM ? 1 : td_type_size(f->type);
    view *v = at_record(w, a->view);

    if (all > TD_MAXDIM_KERNEL)
        return bad(w, node, TD_ERR_TYPE, "an array of %u dimensions: kernels take at most %d", all,
                   TD_MAXDIM_KERNEL);
    /* the records' strides are multiples of their size, or of what their own records are aligned to */
    if ((a->view->align ? a->view->align : rec->size) % unit)
        return packed_array(w, a, f, node, out);
    v->align = field_align(a->view, rec, f);
    v->base = td_at_byte(w->f, v->base, td_const_int(w->f, TD_I64, f->offset),
                         f->type->kind == TD_T_RECORD ? TD_U8 : td_dtype_real_of(f->type->dt));
    for (uint32_t i = 0; i < n; i++)
        scale_stride(w, &v->stride[i], unit);
    for (uint32_t i = all; i-- > n; step *= f->shape[i - n]) {
        v->shape[i] = dim_known(f->shape[i - n]);
        v->stride[i] = dim_known(step);
        v->axis[i] = -1;
    }
    *out = (thing){.type = td_type_array(f->type, all, 'A', a->type->readonly), .view = v};
    return built(w, node);
}

/* ---- the field of one record ---- */

/* A field of str: its characters up to the last one that is not 0. */
static td_status
text_field(walk *w, td_val bytes, uint32_t size, thing *out)
{
    td_val from = td_at_byte(w->f, bytes, box_whole(w, 0), TD_U32), n = td_slot(w->f, TD_I64, 1);
    td_val copy = td_local(w->f, TD_U32, size / 4 + 1), k, c, words;

    td_set(w->f, n, box_whole(w, 0));
    k = td_for(w->f, box_whole(w, 0), box_whole(w, size / 4), box_whole(w, 1));
    c = td_load(w->f, from, k, TD_NONE, 1, 1);
    td_store(w->f, copy, k, c, TD_NONE, 0);
    td_if(w->f, TD_E2(w->f, not_equal, c, td_const_int(w->f, TD_U32, 0)));
    td_set(w->f, n, TD_E2(w->f, add, k, box_whole(w, 1)));
    td_end(w->f);
    td_end(w->f);
    TD_TRY(box_ask(w, TD_ASK_TEXT, (td_val[]){td_address(w->f, copy), td_get(w->f, n)}, 2, &words));
    *out = box_thing(w, td_type_box(TD_BOX_STR, NULL, 0, false), box_word(w, words, 0, TD_U64));
    return built(w, w->node);
}

/* Is it a field of str, in the machine's byte order? */
static bool
is_text_field(const td_field *f)
{
    return f->type->kind == TD_T_RECORD && !f->ndim && f->type->n == 1 &&
           strncmp(f->type->field[0].name, "<U", 2) == 0;
}

bool
is_record(const thing *x)
{
    return x->type->kind == TD_T_RECORD || (x->type->kind == TD_T_ARRAY && !x->type->ndim &&
                                            !x->lazy && x->type->item[0]->kind == TD_T_RECORD);
}

td_status
record_part(walk *w, const thing *r, const thing *key, uint32_t node, thing *out)
{
    const td_type *rec = r->type->kind == TD_T_ARRAY ? r->type->item[0] : r->type;
    td_objinfo info = {0};
    int64_t i;

    if (key->type->kind == TD_T_OBJECT)
        TD_TRY(w->host->describe(w->host->ctx, key->type->object, &info));
    if (info.kind == TD_OBJ_STR)
        return record_field(w, r, info.text, node, out);
    if (!is_num(key) || !is_int(key) || !key->known)
        return bad(w, node, TD_ERR_TYPE,
                   "a record is indexed by a field's name or number that is known when compiling, "
                   "not %s",
                   key->type->name);
    i = key->lit.i < 0 ? key->lit.i + rec->n : key->lit.i;
    if (i < 0 || i >= rec->n)
        return bad(w, node, TD_ERR_TYPE, "%s has %u fields, and none of number %lld", rec->name,
                   (unsigned)rec->n, (long long)key->lit.i);
    return record_field(w, r, rec->field[i].name, node, out);
}

/* The field of a record, or of each record of an array. */
td_status
record_field(walk *w, const thing *r, const char *name, uint32_t node, thing *out)
{
    bool array = r->type->kind == TD_T_ARRAY;
    const td_type *rec = array ? r->type->item[0] : r->type;
    const td_field *f = find_field(rec, name);
    view *v = td_alloc(w->mem, sizeof *v);
    uint32_t n = array ? r->type->ndim : 0;
    td_val here;

    if (!f)
        return bad(w, node, TD_ERR_VALUE, "%s has no field %s", rec->name, name);
    if (array && n)
        return field_array(w, r, rec, f, node, out);
    *v = *r->view;
    v->fixed |= array && r->type->readonly && v->arg == NO_ARG;
    here = td_at_byte(w->f, v->base, td_const_int(w->f, TD_I64, f->offset),
                      f->type->kind == TD_T_RECORD ? TD_U8 : td_dtype_real_of(f->type->dt));
    v->base = here;
    v->offset = TD_NONE;
    v->align = field_align(r->view, rec, f);
    if (is_text_field(f) && box_may(w))
        return text_field(w, here, f->type->size, out);
    if (f->type->kind == TD_T_RECORD && !f->ndim) {
        *out = (thing){.type = f->type, .view = v};
        return built(w, node);
    }
    for (uint32_t i = 0; i < f->ndim; i++)
        v->shape[i] = dim_known(f->shape[i]);
    *out = array_thing(w, f->type, f->ndim, v->shape, here, v->space, name);
    if (v->fixed)
        out->type = td_type_array(f->type, f->ndim, 'C', true);
    out->view->arg = r->view->arg;
    /* aliasing is decided by the record's indices, not by axes of the field */
    out->view->root = r->view->root;
    out->view->nroot = r->view->nroot;
    out->view->form = r->view->form;
    memcpy(out->view->at, r->view->at, sizeof r->view->at);
    memset(out->view->axis, -1, sizeof out->view->axis);
    out->view->mask = r->view->mask;
    out->view->align = v->align;
    return built(w, node);
}
