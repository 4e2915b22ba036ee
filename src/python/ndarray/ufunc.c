/* ufunc.c - treadle.ufunc: the rows of ops.def as functions, their methods and attributes. */
#include "python/common/py.h"

#include <math.h>
#include <string.h>

typedef struct ufunc {
    PyObject_HEAD td_op op;
} ufunc;

static const td_opinfo *
ufunc_op(PyObject *self)
{
    return &td_optab[((ufunc *)self)->op];
}

/* Is the array that the result is to go into, or the mask, an object with NumPy's protocol? */
static bool
foreign_keywords(PyObject *kw)
{
    PyObject *out = kw ? PyDict_GetItemString(kw, "out") : NULL;
    PyObject *where = kw ? PyDict_GetItemString(kw, "where") : NULL;

    return (out && py_foreign_operand(out) > 0) || (where && py_foreign_operand(where) > 0);
}

/* o's __array_ufunc__, unless it is that of NumPy's arrays, which calls the ufunc again.  NULL
 * without an exception: there is none. */
static PyObject *
override_of(PyObject *o)
{
    PyObject *type = (PyObject *)Py_TYPE(o), *numpys = py_package("numpy", "ndarray"),
             *mine = PyObject_GetAttrString(type, "__array_ufunc__"),
             *plain = numpys ? PyObject_GetAttrString(numpys, "__array_ufunc__") : NULL,
             *f = mine && mine != plain ? PyObject_GetAttrString(o, "__array_ufunc__") : NULL;

    Py_XDECREF(numpys);
    Py_XDECREF(mine);
    Py_XDECREF(plain);
    if (!f)
        PyErr_Clear();
    return f;
}

/* f(self, method, *args, **kw), f being an operand's __array_ufunc__, which gets out= as a tuple. */
static PyObject *
ask(PyObject *f, PyObject *self, const char *method, PyObject *args, PyObject *kw)
{
    Py_ssize_t n = PyTuple_Size(args),
               nin = strcmp(method, "__call__") == 0 ? td_optab[((ufunc *)self)->op].arity : n;
    PyObject *out = n > nin ? PyTuple_GetSlice(args, nin, n)
                    : kw    ? Py_XNewRef(PyDict_GetItemString(kw, "out"))
                            : NULL,
             *head = Py_BuildValue("(Os)", self, method),
             *inputs = PyTuple_GetSlice(args, 0, n > nin ? nin : n),
             *all = head && inputs ? PySequence_Concat(head, inputs) : NULL, *r = NULL;

    kw = kw ? PyDict_Copy(kw) : PyDict_New();
    if (out && out != Py_None && !PyTuple_Check(out)) {
        PyObject *one = PyTuple_Pack(1, out);

        Py_DECREF(out);
        out = one;
    }
    if (all && kw && (!out || PyDict_SetItemString(kw, "out", out) == 0))
        r = PyObject_Call(f, all, kw);
    Py_XDECREF(kw);
    Py_XDECREF(all);
    Py_XDECREF(inputs);
    Py_XDECREF(head);
    Py_XDECREF(out);
    return r;
}

/* The result of __array_ufunc__ of an operand that is neither array nor number (a sparse
 * matrix); NumPy's functions ask it too. */
static PyObject *
overridden(PyObject *self, PyObject *args, PyObject *kw)
{
    static const char *const keys[] = {"out", "where"};
    PyObject *f = NULL, *r = NULL;
    Py_ssize_t n = PyTuple_Size(args);

    for (Py_ssize_t i = 0; !f && i < n + 2; i++) {
        PyObject *o = i < n ? PyTuple_GetItem(args, i)
                      : kw  ? PyDict_GetItemString(kw, keys[i - n])
                            : NULL;

        if (!o || py_is_array(o))
            continue;
        f = override_of(o);
        if (f && py_is_librarys(o))
            Py_CLEAR(f); /* NumPy asks it, with arrays and a ufunc that it knows */
    }
    if (f && f != Py_None)
        r = ask(f, self, "__call__", args, kw);
    Py_XDECREF(f);
    if ((r && r != Py_NotImplemented) || PyErr_Occurred())
        return r;
    Py_XDECREF(r);
    PyErr_Format(py.no_numbers, "%s: operands must be arrays or numbers", ufunc_op(self)->name);
    return NULL;
}

/* NumPy's ufunc, or its method of that name, after a refusal of ours; NULL: another failure, which stays. */
static PyObject *
numpys(PyObject *self, const char *method)
{
    PyObject *name = PyErr_ExceptionMatches(py.no_numbers)
                         ? PyUnicode_FromFormat("%s%s", ufunc_op(self)->name, method)
                         : NULL,
             *f = name ? py_instead("ufunc", name) : NULL;

    Py_XDECREF(name);
    return f;
}

static PyObject *
in_numpy(PyObject *self, const char *method, PyObject *args, PyObject *kw)
{
    PyObject *f = numpys(self, method), *r = f ? PyObject_Call(f, args, kw) : NULL;

    Py_XDECREF(f);
    return r;
}

static PyObject *
own_call(PyObject *self, PyObject *args, PyObject *kw)
{
    PyObject *r = py_ufunc_call(((ufunc *)self)->op, args, kw);

    if (r)
        return r;
    if (PyErr_Occurred()) {
        PyObject *type, *value, *trace;

        PyErr_Fetch(&type, &value, &trace);
        if (!foreign_keywords(kw)) {
            PyErr_Restore(type, value, trace);
            return NULL;
        }
        Py_XDECREF(type);
        Py_XDECREF(value);
        Py_XDECREF(trace);
    }
    return overridden(self, args, kw);
}

static PyObject *
ufunc_call(PyObject *self, PyObject *args, PyObject *kw)
{
    PyObject *r = own_call(self, args, kw);

    return r ? r : in_numpy(self, "", args, kw);
}

/* The reductions that apply an operation repeatedly. */
static const struct repeated {
    td_op op;
    td_red red;
} repeated[] = {
    {OP_add, TD_RED_sum},     {OP_multiply, TD_RED_prod},   {OP_maximum, TD_RED_max},
    {OP_minimum, TD_RED_min}, {OP_logical_and, TD_RED_all}, {OP_logical_or, TD_RED_any},
};

/* Does o want its __array_ufunc__ called, though it can be converted? */
static bool
asks(PyObject *o)
{
    PyObject *attr = py_is_array(o) ? NULL : py_attr(o, "__treadle_ufunc__");

    if (!attr)
        PyErr_Clear();
    Py_XDECREF(attr);
    return attr != NULL;
}

/* o.__array_ufunc__(self, method, *args, **kw) */
static PyObject *
asked(PyObject *self, PyObject *o, const char *method, PyObject *args, PyObject *kw)
{
    PyObject *f = PyObject_GetAttrString(o, "__array_ufunc__");
    PyObject *r = f ? ask(f, self, method, args, kw) : NULL;

    Py_XDECREF(f);
    return r;
}

/* treadle._numpy._folds.method(name, ...), unless an argument wants to be asked */
static PyObject *
through_folds(PyObject *self, const char *method, PyObject *args, PyObject *kw)
{
    for (Py_ssize_t i = 0; i < PyTuple_Size(args); i++)
        if (asks(PyTuple_GetItem(args, i)))
            return asked(self, PyTuple_GetItem(args, i), method, args, kw);

    PyObject *f = py_package("treadle._numpy._folds", method);
    PyObject *head = f ? Py_BuildValue("(s)", ufunc_op(self)->name) : NULL;
    PyObject *all = head ? PySequence_Concat(head, args) : NULL;
    PyObject *r = all ? PyObject_Call(f, all, kw) : NULL;

    Py_XDECREF(all);
    Py_XDECREF(head);
    Py_XDECREF(f);
    return r;
}

static PyObject *
ufunc_accumulate(PyObject *self, PyObject *args, PyObject *kw)
{
    PyObject *r = through_folds(self, "accumulate", args, kw);

    return r ? r : in_numpy(self, ".accumulate", args, kw);
}

static PyObject *
ufunc_reduceat(PyObject *self, PyObject *args, PyObject *kw)
{
    PyObject *r = through_folds(self, "reduceat", args, kw);

    return r ? r : in_numpy(self, ".reduceat", args, kw);
}

static PyObject *
ufunc_outer(PyObject *self, PyObject *args, PyObject *kw)
{
    PyObject *r = through_folds(self, "outer", args, kw);

    return r ? r : in_numpy(self, ".outer", args, kw);
}

/* The same for METH_FASTCALL arguments. */
static PyObject *
fast_through_folds(PyObject *self, const char *method, PyObject *const *args, Py_ssize_t nargs,
                   PyObject *kwnames)
{
    Py_ssize_t nkw = kwnames ? PyTuple_Size(kwnames) : 0;
    PyObject *all = PyTuple_New(nargs), *kw = PyDict_New(), *r = NULL;
    bool ok = all && kw;

    for (Py_ssize_t i = 0; ok && i < nargs; i++)
        ok = PyTuple_SetItem(all, i, Py_NewRef(args[i])) == 0;
    for (Py_ssize_t i = 0; ok && i < nkw; i++)
        ok = PyDict_SetItem(kw, PyTuple_GetItem(kwnames, i), args[nargs + i]) == 0;
    if (ok)
        r = through_folds(self, method, all, kw);
    Py_XDECREF(all);
    Py_XDECREF(kw);
    return r;
}

/* Can the reduction compute in another dtype?  The others use their operand's. */
static bool
takes_dtype(td_red red)
{
    return red == TD_RED_sum || red == TD_RED_prod;
}

static PyObject *
own_reduce(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    static const char *const names[] = {"array",    "axis",    "dtype", "out",
                                        "keepdims", "initial", "where", NULL};
    PyObject *arg[7], *a, *r = NULL, *zero;
    size_t i = 0, n = sizeof repeated / sizeof *repeated;

    while (i < n && repeated[i].op != ((ufunc *)self)->op)
        i++;
    if (i == n || (nargs && asks(args[0])))
        return fast_through_folds(self, "reduce", args, nargs, kwnames);
    zero = PyLong_FromLong(0);
    if (zero && py_parse("reduce", names, 1, 7, args, nargs, kwnames, arg)) {
        if (!py_is_none(arg[2]) && !takes_dtype(repeated[i].red)) {
            Py_DECREF(zero);
            return fast_through_folds(self, "reduce", args, nargs, kwnames);
        }
        a = py_array_object(arg[0]);
        if (!arg[1])
            arg[1] = zero;
        if (arg[3] && PyTuple_Check(arg[3]) && PyTuple_Size(arg[3]) == 1)
            arg[3] = PyTuple_GetItem(arg[3], 0);
        if (a)
            r = py_reduce(repeated[i].red, a, arg + 1);
        Py_XDECREF(a);
    }
    Py_XDECREF(zero);
    return r;
}

/* As in_numpy, for METH_FASTCALL arguments. */
static PyObject *
fast_in_numpy(PyObject *self, const char *method, PyObject *const *args, Py_ssize_t nargs,
              PyObject *kwnames)
{
    PyObject *f = nargs ? numpys(self, method) : NULL,
             *r = f ? py_call_with(f, args[0], args + 1, nargs - 1, kwnames) : NULL;

    Py_XDECREF(f);
    return r;
}

static PyObject *
ufunc_reduce(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    PyObject *r = own_reduce(self, args, nargs, kwnames);

    return r ? r : fast_in_numpy(self, ".reduce", args, nargs, kwnames);
}

/* ---- attributes ---- */

static PyObject *
get_name(PyObject *self, void *unused)
{
    (void)unused;
    return PyUnicode_FromString(ufunc_op(self)->name);
}

/* The docstring in numpydoc form, made from the row by Python code, which is imported only when somebody asks for
 * help. */
static PyObject *
get_doc(PyObject *self, void *unused)
{
    static const char *const results[] = {
        [TD_RES_SAME] = "SAME", [TD_RES_BOOL] = "BOOL", [TD_RES_REAL] = "REAL"};
    const td_opinfo *row = ufunc_op(self);
    PyObject *f = py_package("treadle._describe", "row"), *r = NULL;

    (void)unused;
    if (f)
        r = PyObject_CallFunction(f, "sissss", row->name, row->arity, row->kinds,
                                  results[row->result],
                                  row->flags & TD_OPF_WIDE   ? "WIDE"
                                  : row->flags & TD_OPF_KEEP ? "KEEP"
                                                             : "",
                                  row->meaning);
    Py_XDECREF(f);
    return r;
}

/* The name by which kernels know the row: the first of NumPy's or treadle's. */
static PyObject *
get_td_name(PyObject *self, void *unused)
{
    const char *names = ufunc_op(self)->names;
    size_t n = strcspn(names, " ");

    (void)unused;
    if (strncmp(names, "numpy.", 6) == 0 || strncmp(names, "treadle.", 8) == 0)
        return PyUnicode_FromStringAndSize(names, (Py_ssize_t)n);
    PyErr_SetString(PyExc_AttributeError, "_td_name");
    return NULL;
}

static PyObject *
get_nin(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromLong(ufunc_op(self)->arity);
}

static PyObject *
get_nout(PyObject *self, void *unused)
{
    (void)self, (void)unused;
    return PyLong_FromLong(1);
}

static PyObject *
get_nargs(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromLong(ufunc_op(self)->arity + 1);
}

/* None: an elementwise ufunc has no core dimensions. */
static PyObject *
get_signature(PyObject *self, void *unused)
{
    (void)self, (void)unused;
    return Py_NewRef(Py_None);
}

/* The value of inspect.signature. */
static PyObject *
get_parameters(PyObject *self, void *unused)
{
    PyObject *f = py_package("treadle._numpy._spelled", "parameters");
    PyObject *r = f ? PyObject_CallFunction(f, "ii", ufunc_op(self)->arity, 1) : NULL;

    (void)unused;
    Py_XDECREF(f);
    return r;
}

/* NumPy's characters of dtypes, in the order of its lists of loops; 0 for bfloat16, which has none. */
static const char dtype_char[] = {
    [TD_BOOL] = '?', [TD_I8] = 'b',  [TD_I16] = 'h', [TD_I32] = 'i', [TD_I64] = 'l',
    [TD_U8] = 'B',   [TD_U16] = 'H', [TD_U32] = 'I', [TD_U64] = 'L', [TD_F16] = 'e',
    [TD_BF16] = 0,   [TD_F32] = 'f', [TD_F64] = 'd', [TD_C64] = 'F', [TD_C128] = 'D',
};
static const td_dtype listed[] = {TD_BOOL, TD_I8,  TD_U8,  TD_I16, TD_U16, TD_I32, TD_U32,
                                  TD_I64,  TD_U64, TD_F16, TD_F32, TD_F64, TD_C64, TD_C128};

/* "dd->d", if the row has a loop over operands of dt; else NULL without an exception. */
static PyObject *
loop_text(td_op op, td_dtype dt)
{
    td_dtype in = dt;
    td_op row = op;
    char text[TD_MAXARG + 4];
    int n = 0;

    if (td_op_loop(&row, &in) || (in != dt && !py_takes_truth(op)))
        return NULL;
    for (int i = 0; i < td_optab[op].arity; i++)
        text[n++] = dtype_char[op == OP_select && i == 0 ? TD_BOOL : dt];
    text[n++] = '-';
    text[n++] = '>';
    text[n++] = dtype_char[td_op_result(row, in)];
    return PyUnicode_FromStringAndSize(text, n);
}

static PyObject *
get_types(PyObject *self, void *unused)
{
    PyObject *list = PyList_New(0);

    (void)unused;
    for (size_t i = 0; list && i < sizeof listed / sizeof *listed; i++) {
        PyObject *text = loop_text(((ufunc *)self)->op, listed[i]);

        if (PyErr_Occurred() || (text && PyList_Append(list, text) < 0))
            Py_CLEAR(list);
        Py_XDECREF(text);
    }
    return list;
}

static PyObject *
get_ntypes(PyObject *self, void *unused)
{
    PyObject *list = get_types(self, unused),
             *n = list ? PyLong_FromSsize_t(PyList_Size(list)) : NULL;

    Py_XDECREF(list);
    return n;
}

/* The operation's identity; None: it has none. */
static PyObject *
get_identity(PyObject *self, void *unused)
{
    const char *text = ufunc_op(self)->identity;

    (void)unused;
    if (!*text)
        return Py_NewRef(Py_None);
    if (*text == 'T' || *text == 'F')
        return PyBool_FromLong(*text == 'T');
    return strcmp(text, "-inf") == 0 ? PyFloat_FromDouble(-INFINITY)
                                     : PyLong_FromString(text, NULL, 10);
}

static PyObject *
get_meaning(PyObject *self, void *unused)
{
    (void)unused;
    return PyUnicode_FromString(ufunc_op(self)->meaning);
}

static PyObject *
ufunc_repr(PyObject *self)
{
    return PyUnicode_FromFormat("<ufunc '%s'>", ufunc_op(self)->name);
}

/* indices[, values] */
static PyObject *
ufunc_at(PyObject *self, PyObject *const *args, Py_ssize_t nargs)
{
    PyObject *f, *name, *r = NULL;

    if (nargs != ufunc_op(self)->arity + 1 || nargs > 3) {
        PyErr_Format(PyExc_TypeError, "%s.at: expected an array, indices%s", ufunc_op(self)->name,
                     ufunc_op(self)->arity == 2 ? " and values" : " alone");
        return NULL;
    }
    if (nargs > 2 && args[2] == Py_None) {
        PyErr_Format(PyExc_TypeError, "%s.at: values may not be None", ufunc_op(self)->name);
        return NULL;
    }
    name = get_name(self, NULL);
    f = name ? py_package("treadle._select._writing", "at") : NULL;
    if (f)
        r = PyObject_CallFunctionObjArgs(f, name, args[0], args[1], nargs > 2 ? args[2] : NULL,
                                         NULL);
    Py_XDECREF(f);
    Py_XDECREF(name);
    return r ? r : fast_in_numpy(self, ".at", args, nargs, NULL);
}

/* Pickled by name. */
static PyObject *
ufunc_pickle(PyObject *self, PyObject *unused)
{
    (void)unused;
    return get_name(self, NULL);
}

static void
ufunc_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);

    PyObject_Free(self);
    Py_DECREF(type);
}

bool
py_ufunc_init(PyObject *m)
{
    static PyGetSetDef getset[] = {
        {"__name__", get_name, NULL, NULL, NULL},
        {"__qualname__", get_name, NULL, NULL, NULL},
        {"__doc__", get_doc, NULL, NULL, NULL},
        {"name", get_name, NULL, "Its name, as __name__.", NULL},
        {"_td_name", get_td_name, NULL, NULL, NULL},
        {"nin", get_nin, NULL, "Number of operands.", NULL},
        {"nout", get_nout, NULL, "Number of results.", NULL},
        {"nargs", get_nargs, NULL, "Number of operands and results.", NULL},
        {"types", get_types, NULL, "The loops, as NumPy's characters of dtypes: 'dd->d'.", NULL},
        {"ntypes", get_ntypes, NULL, "Number of loops.", NULL},
        {"identity", get_identity, NULL, "What the operation leaves as it is, or None.", NULL},
        {"signature", get_signature, NULL, "None: the operation is of single elements.", NULL},
        {"__signature__", get_parameters, NULL, NULL, NULL},
        {"meaning", get_meaning, NULL, "The operation as a NumPy expression.", NULL},
        {NULL, NULL, NULL, NULL, NULL},
    };
    static PyMethodDef methods[] = {
        {"reduce", PY_FAST(ufunc_reduce), METH_FASTCALL | METH_KEYWORDS,
         "reduce($self, /, array, axis=0, dtype=None, out=None, keepdims=False)\n--\n\n"
         "The operation along axes."},
        {"at", PY_FAST(ufunc_at), METH_FASTCALL,
         "at($self, array, indices, values=None, /)\n--\n\n"
         "array[indices] = operation(array[indices], values), in place and once for each time "
         "that an index occurs."},
        {"accumulate", PY_FAST(ufunc_accumulate), METH_VARARGS | METH_KEYWORDS,
         "accumulate($self, /, array, axis=0, dtype=None, out=None)\n--\n\n"
         "The operation repeated up to each element along an axis."},
        {"reduceat", PY_FAST(ufunc_reduceat), METH_VARARGS | METH_KEYWORDS,
         "reduceat($self, /, array, indices, axis=0, dtype=None, out=None)\n--\n\n"
         "The operation along an axis from each index to the next; the element there where the"
         " next is no larger."},
        {"outer", PY_FAST(ufunc_outer), METH_VARARGS | METH_KEYWORDS,
         "outer($self, /, a, b, /, **kwargs)\n--\n\n"
         "The operation of every element of a with every one of b."},
        {"__reduce__", ufunc_pickle, METH_NOARGS, NULL},
        {NULL, NULL, 0, NULL},
    };
    static PyType_Slot slots[] = {
        PY_SLOT(Py_tp_dealloc, ufunc_dealloc),
        PY_SLOT(Py_tp_call, ufunc_call),
        PY_SLOT(Py_tp_repr, ufunc_repr),
        {Py_tp_getset, getset},
        {Py_tp_methods, methods},
        {0, NULL},
    };
    static PyType_Spec spec = {
        .name = "treadle.ufunc",
        .basicsize = sizeof(ufunc),
        .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
        .slots = slots,
    };

    return py_add_type(m, "ufunc", &spec, &py.ufunc);
}

PyObject *
py_ufuncs(PyObject *module, PyObject *unused)
{
    PyObject *d = PyDict_New();

    (void)module, (void)unused;
    for (int i = 0; d && i < TD_OPS; i++) {
        ufunc *f = PyObject_New(ufunc, py.ufunc);

        if (f)
            f->op = (td_op)i;
        if (!f || PyDict_SetItemString(d, td_optab[i].name, (PyObject *)f) < 0)
            Py_CLEAR(d);
        Py_XDECREF((PyObject *)f);
    }
    return d;
}
