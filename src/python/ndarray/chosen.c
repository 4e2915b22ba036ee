/* chosen.c - see chosen.h. */
#include "python/ndarray/chosen.h"

#include "array/graph/capture.h"
#include "array/graph/internal.h"

#include <string.h>

static PyTypeObject *type;

bool
py_is_chosen(PyObject *o)
{
    return Py_IS_TYPE(o, type);
}

static py_chosen *
chosen_of(PyObject *c)
{
    return (py_chosen *)c;
}

/* ---- making ---- */

/* a's current value as an array that later writes to a do not change; None: other code may write to its memory at any
 * time. */
static PyObject *
frozen_copy(PyObject *a)
{
    td_node *n;
    py_ndarray *r;

    if (!py_ok(td_array_node(py_array_of(a), &n)))
        return NULL;
    if (td_node_shared(n)) {
        td_node_unref(n);
        return Py_NewRef(Py_None);
    }
    r = py_new();
    if (!r) {
        td_node_unref(n);
        return NULL;
    }
    return py_done(r, td_array_of_node(n, &r->a));
}

/* Takes both references. */
static PyObject *
chosen_make(PyObject *value, PyObject *mask)
{
    py_chosen *c = PyObject_New(py_chosen, type);

    if (!c) {
        Py_DECREF(value);
        Py_DECREF(mask);
        return NULL;
    }
    c->value = value;
    c->mask = mask;
    return (PyObject *)c;
}

static void
chosen_dealloc(PyObject *self)
{
    PyTypeObject *t = Py_TYPE(self);

    Py_XDECREF(chosen_of(self)->value);
    Py_XDECREF(chosen_of(self)->mask);
    PyObject_Free(self);
    Py_DECREF(t);
}

PyObject *
py_choose(PyObject *a, PyObject *mask)
{
    const td_array *x = py_array_of(a), *m = py_array_of(mask);
    PyObject *value, *where;

    if (td_array_dtype(m) != TD_BOOL || !x->view.shape.ndim ||
        !td_shape_eq(&x->view.shape, &m->view.shape) || td_array_dev(x) != td_array_dev(m) ||
        td_capture_now())
        return Py_NewRef(Py_None);
    value = frozen_copy(a);
    if (!value || value == Py_None)
        return value;
    where = frozen_copy(mask);
    if (!where || where == Py_None) {
        Py_DECREF(value);
        return where;
    }
    return chosen_make(value, where);
}

PyObject *
py_chosen_taken(PyObject *c)
{
    py_ndarray *r = py_new();

    return r ? py_done(r, td_array_select(py_array_of(chosen_of(c)->value),
                                          py_array_of(chosen_of(c)->mask), &r->a))
             : NULL;
}

/* ---- operations ---- */

static bool
same_mask(PyObject *x, PyObject *y)
{
    const td_array *a = py_array_of(x), *b = py_array_of(y);

    return td_node_alike(a->store->node, b->store->node) && td_view_eq(&a->view, &b->view);
}

static bool
is_number(PyObject *o)
{
    td_scalar s;
    char weak;
    int r;

    if (py_is_array(o))
        return py_array_of(o)->view.shape.ndim == 0;
    r = py_number(o, &s, &weak);
    if (r < 0)
        PyErr_Clear();
    return r > 0;
}

int
py_chosen_whole(PyObject *const *o, int n, PyObject **whole, PyObject **like)
{
    *like = NULL;
    for (int i = 0; i < n; i++) {
        if (py_is_chosen(o[i])) {
            if (*like && !same_mask(chosen_of(*like)->mask, chosen_of(o[i])->mask))
                return 0;
            *like = o[i];
        } else if (!is_number(o[i]))
            return 0;
    }
    for (int i = 0; i < n; i++)
        whole[i] = Py_NewRef(py_is_chosen(o[i]) ? chosen_of(o[i])->value : o[i]);
    return 1;
}

PyObject *
py_chosen_like(PyObject *like, PyObject *value)
{
    if (!value || !py_is_array(value) ||
        !td_shape_eq(&py_array_of(value)->view.shape,
                     &py_array_of(chosen_of(like)->mask)->view.shape))
        return value;
    return chosen_make(value, Py_NewRef(chosen_of(like)->mask));
}

int
py_chosen_put(PyObject *a, PyObject *mask, PyObject *c)
{
    td_operand value = {.array = py_array_of(chosen_of(c)->value)};
    PyObject *now;
    bool same;

    if (!py_writable((py_ndarray *)a))
        return -1;
    if (td_array_dtype(py_array_of(mask)) != TD_BOOL ||
        !td_shape_eq(&py_array_of(a)->view.shape, &value.array->view.shape) ||
        !td_shape_eq(&py_array_of(mask)->view.shape, &value.array->view.shape) ||
        td_array_dev(py_array_of(a)) != td_array_dev(value.array))
        return 0;
    now = frozen_copy(mask);
    same = now && now != Py_None && same_mask(now, chosen_of(c)->mask);
    Py_XDECREF(now);
    if (!now || !same)
        return now ? 0 : -1;
    if (!py_cast_warning(td_array_dtype(value.array), td_array_dtype(py_array_of(a))))
        return -1;
    return py_ok(td_array_assign_where(py_array_of(a), py_array_of(chosen_of(c)->mask), &value))
               ? 1
               : -1;
}

/* The number that stands for an element outside the mask, cast to the array's dtype. */
static const struct reduction {
    const char *name;
    td_red red;
    int64_t neutral;
} reductions[] = {
    {"sum", TD_RED_sum, 0}, {"mean", TD_RED_sum, 0}, {"prod", TD_RED_prod, 1},
    {"any", TD_RED_any, 0}, {"all", TD_RED_all, 1},
};

static uint32_t
all_axes(const py_chosen *c)
{
    return (1u << py_array_of(c->mask)->view.shape.ndim) - 1;
}

static td_status
chosen_count(const py_chosen *c, td_array *out)
{
    td_redargs all = {.axes = all_axes(c), .dtype = -1};

    return td_array_reduce(TD_RED_sum, py_array_of(c->mask), &all, out);
}

static td_status
chosen_reduce(const py_chosen *c, const struct reduction *r, td_array *out)
{
    const td_array *value = py_array_of(c->value);
    td_dtype dt = td_array_dtype(value);
    bool mean = strcmp(r->name, "mean") == 0;
    td_redargs all = {.axes = all_axes(c),
                      .dtype = mean && (td_dtype_is_int(dt) || dt == TD_BOOL) ? TD_F64 : -1};
    td_scalar one = {.dt = TD_I64, .i = r->neutral}, neutral;
    uint64_t bits[2];
    td_array left, n, total;
    td_status st;

    td_scalar_bits(one, dt, bits);
    neutral = td_scalar_load(dt, bits);
    TD_TRY(td_array_apply(
        OP_select,
        (td_operand[]){{.array = py_array_of(c->mask)}, {.array = value}, {.scalar = neutral}}, 3,
        &left));
    st = td_array_reduce(r->red, &left, &all, mean ? &total : out);
    td_array_unref(&left);
    if (st || !mean)
        return st;
    st = chosen_count(c, &n);
    if (!st) {
        td_array number;

        st = td_array_cast(&n, td_array_dtype(&total), &number);
        td_array_unref(&n);
        if (!st) {
            st = td_array_apply(OP_divide, (td_operand[]){{.array = &total}, {.array = &number}}, 2,
                                out);
            td_array_unref(&number);
        }
    }
    td_array_unref(&total);
    return st;
}

PyObject *
py_chosen_reduce(PyObject *c, const char *name)
{
    const struct reduction *row = NULL;
    py_ndarray *r;

    for (size_t i = 0; i < sizeof reductions / sizeof *reductions; i++)
        if (strcmp(reductions[i].name, name) == 0)
            row = &reductions[i];
    if (!row || td_dtype_is_half(td_array_dtype(py_array_of(chosen_of(c)->value))))
        return Py_NewRef(Py_None);
    r = py_new();
    return r ? py_done(r, chosen_reduce(chosen_of(c), row, &r->a)) : NULL;
}

bool
py_chosen_init(PyObject *module)
{
    PyType_Slot slots[] = {PY_SLOT(Py_tp_dealloc, chosen_dealloc), {0, NULL}};
    PyType_Spec spec = {
        .name = "treadle._core.chosen",
        .basicsize = sizeof(py_chosen),
        .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
        .slots = slots,
    };

    return py_add_type(module, "_chosen", &spec, &type);
}
