/* nowpick.c - reads and writes few elements, chosen by masks and indices, at once. */
#include "array/graph/values.h"
#include "array/run/now.h"

#include <string.h>

enum { BYTES = 16 * TD_NOW_MOST }; /* bytes of packed elements */

/* Describes a's memory.  False: it cannot be read now. */
static bool
memory_of(const td_array *a, td_few *out)
{
    const td_node *n = a->store->node;

    if (!td_node_on_host(n) || a->dt != a->store->dt)
        return false;
    *out = (td_few){(char *)n->buf->ptr, &a->view, td_array_dtype(a)};
    return true;
}

/* Writes x, broadcast to s and cast to dt, packed to `to`.  False: the interpreter has no such cast. */
static bool
pack(const td_few *x, td_dtype dt, const td_shape *s, char *to)
{
    td_view v = td_view_contiguous(s);
    td_few out = {to, &v, dt};
    const td_steps *p = td_steps_cast(x->dt, dt);

    if (p && td_shape_size(s))
        td_steps_run(p, x, 1, &out);
    return p != NULL;
}

/* ---- masks ---- */

static td_status
select_packed(td_dev *d, td_dtype dt, const char *mask, const char *from, int64_t n, td_array *out)
{
    size_t size = td_dtype_size(dt);
    td_shape s = {.ndim = 1};
    char *to;

    for (int64_t i = 0; i < n; i++)
        s.dim[0] += mask[i] != 0;
    TD_TRY(td_array_empty(d, dt, &s, out));
    to = (char *)out->store->node->buf->ptr;
    for (int64_t i = 0; i < n; i++) {
        if (!mask[i])
            continue;
        memcpy(to, from ? from + (size_t)i * size : (const char *)&i, size);
        to += size;
    }
    if (!from)
        out->store->node->in_range = n;
    return TD_OK;
}

td_status
td_now_select(const td_array *a, const td_array *mask, td_array *out)
{
    char marks[TD_NOW_MOST], values[BYTES];
    const td_shape *s = &mask->view.shape;
    int64_t n = td_array_size(mask);
    td_dtype dt = a ? td_array_dtype(a) : TD_I64;
    td_few m, x;

    if (!td_now_few(n) || n > TD_NOW_MOST || td_now_watched() || !memory_of(mask, &m) ||
        (a && !memory_of(a, &x)) || !pack(&m, TD_BOOL, s, marks) || (a && !pack(&x, dt, s, values)))
        return TD_SKIP;
    return select_packed(td_array_dev(mask), dt, marks, a ? values : NULL, n, out);
}

/* ---- indices ---- */

/* axes - a loop: how many iterations, and how many bytes apart. */
typedef struct axes {
    int64_t n, step;
} axes;

/* picking - one index array, for one axis of an array of at most two axes. */
typedef struct picking {
    td_shape shape; /* of what is picked */
    axes row, own, rest;
    int64_t nat, at[TD_NOW_MOST]; /* in range */
    char *memory;
    size_t size;
} picking;

static axes
axis_of(const td_array *a, int at)
{
    int64_t size = (int64_t)td_dtype_size(td_array_dtype(a));

    return at < 0 || at >= a->view.shape.ndim
               ? (axes){1, 0}
               : (axes){a->view.shape.dim[at], a->view.stride[at] * size};
}

/* TD_SKIP: it is not so simple, or an index is out of range, which the general way reports. */
static td_status
find(const td_array *a, const td_pick *p, picking *k)
{
    const td_array *by = p->index[0];
    td_few x, own;
    td_shape spread;

    if (p->n != 1 || p->axis[0] != p->place || a->view.shape.ndim > 2 || by->view.shape.ndim != 1 ||
        td_now_watched() || !td_now_few(td_array_size(by)) || td_array_size(by) > TD_NOW_MOST ||
        !memory_of(a, &x) || !memory_of(by, &own) || td_array_dev(a) != td_array_dev(by) ||
        !pack(&own, TD_I64, &by->view.shape, (char *)k->at))
        return TD_SKIP;
    TD_TRY(td_pick_shapes(a, p, &k->shape, &spread));
    k->row = axis_of(a, p->axis[0] - 1);
    k->own = axis_of(a, p->axis[0]);
    k->rest = axis_of(a, p->axis[0] + 1);
    k->nat = by->view.shape.dim[0];
    k->size = td_dtype_size(x.dt);
    k->memory = x.at + a->view.offset * (int64_t)k->size;
    for (int64_t i = 0; i < k->nat; i++) {
        k->at[i] += k->at[i] < 0 ? k->own.n : 0;
        if (k->at[i] < 0 || k->at[i] >= k->own.n)
            return TD_SKIP;
    }
    return td_now_few(td_shape_size(&k->shape)) && td_shape_size(&k->shape) <= TD_NOW_MOST
               ? TD_OK
               : TD_SKIP;
}

/* Copies the picked elements to the packed ones at `other`, or back. */
static void
move(const picking *k, char *other, bool write)
{
    for (int64_t r = 0; r < k->row.n; r++)
        for (int64_t i = 0; i < k->nat; i++)
            for (int64_t c = 0; c < k->rest.n; c++, other += k->size) {
                char *own = k->memory + r * k->row.step + k->at[i] * k->own.step + c * k->rest.step;

                memcpy(write ? own : other, write ? other : own, k->size);
            }
}

td_status
td_now_pick(const td_array *a, const td_pick *p, td_array *out)
{
    picking k;
    td_status st;

    TD_TRY(find(a, p, &k));
    TD_TRY(td_array_empty(td_array_dev(a), td_array_dtype(a), &k.shape, out));
    st = find(a, p, &k); /* if memory was short, a may have moved to the host */
    if (st) {
        td_array_unref(out);
        return st;
    }
    move(&k, (char *)out->store->node->buf->ptr, false);
    return TD_OK;
}

td_status
td_now_put(const td_array *a, const td_pick *p, const td_operand *value)
{
    char values[BYTES];
    td_dtype dt = td_array_dtype(a);
    uint64_t bits[2];
    td_few x;
    td_node *n;
    td_view unused;
    picking k;
    td_status st;

    if (a->store->readonly || !td_now_own(a->store) ||
        (value->array && td_array_dev(value->array) != td_array_dev(a)))
        return TD_SKIP;
    TD_TRY(find(a, p, &k));
    TD_TRY(td_operand_node(value, td_array_dev(a), dt, &n));
    st = td_now_there(n) && td_now_own(a->store) ? find(a, p, &k) : TD_SKIP;
    if (!st && td_view_broadcast(&n->view, &k.shape, &unused))
        st = TD_SKIP; /* the general way says what is wrong */
    if (!st) {
        x = td_now_operand(n, bits);
        st = pack(&x, dt, &k.shape, values) ? TD_OK : TD_SKIP;
    }
    td_node_unref(n);
    TD_TRY(st);
    a->store->node->in_range = 0;
    a->store->version++;
    move(&k, values, true);
    return TD_OK;
}
