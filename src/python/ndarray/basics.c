/* basics.c - functions of arrays that the package builds on: the core's operations without a ufunc, and questions
 * about where an array's value lies. */
#include "python/common/py.h"

#define FAST_KW (METH_FASTCALL | METH_KEYWORDS)

static PyObject *
broadcast_to(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    py_ndarray *r;
    PyObject *made;
    td_shape s, checked;

    (void)module;
    if (nargs != 2 || !py_want_array("broadcast_to", args[0]) || !py_shape(args[1], &s) ||
        !py_ok(td_shape_make(s.ndim, s.dim, &checked)))
        return NULL;
    r = py_new();
    made = r ? py_view_done(args[0], r, td_array_broadcast(py_array_of(args[0]), &checked, &r->a))
             : NULL;
    if (made)
        ((py_ndarray *)made)->readonly = true;
    return made;
}

static PyObject *
create_take(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    td_array index;
    py_ndarray *r;
    td_status st;
    int axis;

    (void)module;
    if (nargs != 3 || !py_want_array("take", args[0]))
        return NULL;
    axis = (int)PyLong_AsLong(args[2]);
    if (PyErr_Occurred())
        return NULL;
    if (py_is_array(args[1]) && !py_ok(td_one_device("take", td_array_dev(py_array_of(args[0])),
                                                     td_array_dev(py_array_of(args[1])))))
        return NULL;
    if (!py_asarray(args[1], TD_I64, td_array_dev(py_array_of(args[0])), &index))
        return NULL;
    r = py_new();
    st = r ? td_array_take(py_array_of(args[0]), &index, axis, &r->a) : TD_OK;
    td_array_unref(&index);
    return r ? py_done(r, st) : NULL;
}

static PyObject *
product(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    py_ndarray *r;

    (void)module;
    if (nargs != 2 || !py_want_array("matmul", args[0]) || !py_want_array("matmul", args[1]))
        return NULL;
    r = py_new();
    return r ? py_done(r, td_array_matmul(py_array_of(args[0]), py_array_of(args[1]), &r->a))
             : NULL;
}

PyObject *
py_fused_product(PyObject *x, PyObject *y)
{
    py_ndarray *r;

    if (!py_is_array(x) || !py_is_array(y) ||
        td_array_dev(py_array_of(x)) != td_array_dev(py_array_of(y)) ||
        !td_matmul_fuses(py_array_of(x), py_array_of(y)))
        return Py_NewRef(Py_None);
    r = py_new();
    return r ? py_done(r, td_array_matmul(py_array_of(x), py_array_of(y), &r->a)) : NULL;
}

/* a @ b if the graph computes it; None: a library is better at it, or the operands are not arrays */
static PyObject *
fused_product(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    (void)module;
    if (nargs == 2)
        return py_fused_product(args[0], args[1]);
    PyErr_SetString(PyExc_TypeError, "_fused_product: expected two operands");
    return NULL;
}

/* _on_host(a): are a's elements still on the host, or does a depend on such elements? */
static PyObject *
on_host(PyObject *module, PyObject *o)
{
    (void)module;
    return py_want_array("on_host", o) ? PyBool_FromLong(td_array_hosted(py_array_of(o))) : NULL;
}

static PyObject *
host_view(PyObject *module, PyObject *o)
{
    (void)module;
    return py_want_array("host_view", o) ? py_host_view(py_array_of(o), false) : NULL;
}

/* Are both views of one storage?  Nothing is computed. */
static PyObject *
same_storage(PyObject *module, PyObject *args)
{
    PyObject *a, *b;

    (void)module;
    if (!PyArg_ParseTuple(args, "OO:_same_storage", &a, &b) || !py_want_array("same_storage", a) ||
        !py_want_array("same_storage", b))
        return NULL;
    return PyBool_FromLong(py_array_of(a)->store == py_array_of(b)->store);
}

/* (a number that the array's storage has to itself while it lives, its elements; -1: they have another dtype) */
static PyObject *
storage_of(PyObject *module, PyObject *o)
{
    const td_array *a;

    (void)module;
    if (!py_want_array("storage_of", o))
        return NULL;
    a = py_array_of(o);
    return Py_BuildValue(
        "NL", PyLong_FromVoidPtr(a->store),
        a->store->dt == a->dt ? (long long)td_shape_size(&a->store->node->view.shape) : -1LL);
}

/* May code outside write to o's memory?  Not while recorded operations still read it. */
static PyObject *
is_exclusive(PyObject *module, PyObject *o)
{
    td_buf *buf;
    td_view v;
    td_node *n;

    (void)module;
    if (!py_want_array("is_exclusive", o) ||
        !py_ok(td_array_memory(py_array_of(o), false, &buf, &v)))
        return NULL;
    n = py_array_of(o)->store->node;
    return PyBool_FromLong((atomic_load(&buf->flags) & TD_BUF_SHARED) ||
                           (n && n->refs == 1 && n->buf == buf && atomic_load(&buf->refs) == 1));
}

static PyObject *
assign_where(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    td_array *a, own;
    td_operand x;
    td_status st;

    (void)module;
    if (nargs != 3 || !py_want_array("assign_where", args[0]) ||
        !py_want_array("assign_where", args[1]))
        return NULL;
    a = py_array_of(args[0]);
    if (!py_writable((py_ndarray *)args[0]) ||
        !py_value(args[2], td_array_dtype(a), td_array_dev(a), &x, &own))
        return NULL;
    st = td_array_assign_where(a, py_array_of(args[1]), &x);
    if (own.store)
        td_array_unref(&own);
    return st ? py_raise(st) : Py_NewRef(Py_None);
}

static PyObject *
evaluate(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    enum { BATCH = 32 };
    const td_array *a[BATCH];

    (void)module;
    if (nargs == 0)
        return py_ok(td_eval_all()) && py_warn() ? Py_NewRef(Py_None) : NULL;
    for (Py_ssize_t i = 0; i < nargs; i += BATCH) {
        int n = 0;

        for (; n < BATCH && i + n < nargs; n++) {
            if (!py_want_array("evaluate", args[i + n]))
                return NULL;
            a[n] = py_array_of(args[i + n]);
        }
        if (!py_ok(td_array_eval(a, n)))
            return NULL;
    }
    return py_warn() ? Py_NewRef(Py_None) : NULL;
}

static PyObject *
asnumpy(PyObject *module, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    static const char *const names[] = {"a", "stream", "order", "out", NULL};
    PyObject *arg[4], *host, *r;
    char order[2] = {0};

    (void)module;
    if (!py_parse("asnumpy", names, 1, 4, args, nargs, kwnames, arg))
        return NULL;
    if (!py_order(arg[2], 'C') || !py_numpy())
        return NULL;
    if (!py_is_none(arg[3])) {
        r = PyObject_CallMethod(arg[3], "__setitem__", "OO", Py_Ellipsis, arg[0]);
        Py_XDECREF(r);
        return r ? Py_NewRef(arg[3]) : NULL;
    }
    host = py_is_array(arg[0]) ? py_get(arg[0]) : Py_NewRef(arg[0]);
    order[0] = py_is_array(arg[0]) ? py_order(arg[2], 'C') : py_order(arg[2], 'K');
    r = host ? PyObject_CallMethod(py.numpy, "asarray", "OOs", host, Py_None, order) : NULL;
    Py_XDECREF(host);
    return r;
}

static PyObject *
bfloat16(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    return py_dtype_object(TD_BF16);
}

PyMethodDef py_basic_functions[] = {
    {"_bfloat16", bfloat16, METH_NOARGS, NULL},
    {"asnumpy", PY_FAST(asnumpy), FAST_KW,
     "asnumpy($module, /, a, stream=None, order='C', out=None)\n--\n\n"
     "The values on the host.\n\n"
     "Parameters\n"
     "----------\n"
     "a : array_like\n"
     "    The array.\n"
     "stream : Stream, optional\n"
     "    The stream that copies; None means the default one.\n"
     "order : {\"C\", \"F\", \"A\", \"K\"}, default 'C'\n"
     "    Order of the elements in the result.\n"
     "out : ndarray, optional\n"
     "    Takes the result and is returned: an array of treadle's or NumPy's with\n"
     "    the result's shape.\n\n"
     "Returns\n"
     "-------\n"
     "numpy.ndarray\n"
     "    Of a's shape and dtype, with memory of its own.\n\n"
     "Examples\n"
     "--------\n"
     ">>> type(np.asnumpy(np.ones(2))).__module__\n"
     "'numpy'"},
    {"evaluate", PY_FAST(evaluate), METH_FASTCALL,
     "evaluate($module, /, *arrays)\n--\n\n"
     "Launch recorded work, and do not wait for it.\n\n"
     "Parameters\n"
     "----------\n"
     "*arrays : ndarray\n"
     "    The arrays whose values are wanted; none means all pending ones.\n\n"
     "Raises\n"
     "------\n"
     "TypeError\n"
     "    An argument is no treadle array.\n\n"
     "Examples\n"
     "--------\n"
     ">>> x = np.ones(3) + 1\n"
     ">>> np.evaluate(x)"},
    {"_broadcast_to", PY_FAST(broadcast_to), METH_FASTCALL, NULL},
    {"_take", PY_FAST(create_take), METH_FASTCALL, NULL},
    {"_beside", PY_FAST(py_beside), METH_FASTCALL, NULL},
    {"_matmul", PY_FAST(product), METH_FASTCALL, NULL},
    {"_fused_product", PY_FAST(fused_product), METH_FASTCALL, NULL},
    {"_host_view", host_view, METH_O, NULL},
    {"_on_host", on_host, METH_O, NULL},
    {"_is_exclusive", is_exclusive, METH_O, NULL},
    {"_same_storage", same_storage, METH_VARARGS, NULL},
    {"_storage_of", storage_of, METH_O, NULL},
    {"_assign_where", PY_FAST(assign_where), METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL},
};
