/* ufunc.c - treadle.ufunc: the rows of ops.def as functions; and the tables as Python lists. */
#include "python/py.h"

#include "array/tune.h"
#include "jit/jit.h"

#include <string.h>

typedef struct ufunc {
    PyObject_HEAD td_op op;
} ufunc;

static const td_opinfo *
row_of(PyObject *self)
{
    return &td_optab[((ufunc *)self)->op];
}

/* keyword arguments of a call; unknown ones are refused by name */
typedef struct options {
    PyObject *out, *where, *dtype;
} options;

static bool
read_options(const char *fn, PyObject *kw, options *o)
{
    PyObject *key, *value;
    Py_ssize_t at = 0;

    while (kw && PyDict_Next(kw, &at, &key, &value)) {
        if (PyUnicode_CompareWithASCIIString(key, "out") == 0)
            o->out = value;
        else if (PyUnicode_CompareWithASCIIString(key, "where") == 0)
            o->where = value;
        else if (PyUnicode_CompareWithASCIIString(key, "dtype") == 0)
            o->dtype = value;
        else if (PyUnicode_CompareWithASCIIString(key, "casting") != 0 &&
                 PyUnicode_CompareWithASCIIString(key, "order") != 0 &&
                 PyUnicode_CompareWithASCIIString(key, "subok") != 0) {
            PyErr_Format(PyExc_TypeError, "%s() got an unexpected keyword argument '%U'", fn, key);
            return false;
        }
    }
    if (o->out && PyTuple_Check(o->out) && PyTuple_Size(o->out) == 1)
        o->out = PyTuple_GetItem(o->out, 0);
    if (o->out == Py_None)
        o->out = NULL;
    if (o->where == Py_True || o->where == Py_None)
        o->where = NULL;
    if (o->out && (!py_is_array(o->out) || !py_writable((py_ndarray *)o->out))) {
        if (!PyErr_Occurred())
            PyErr_Format(PyExc_TypeError, "%s: out must be a treadle array", fn);
        return false;
    }
    return true;
}

/* Operands in the dtype asked for; comparisons and select keep theirs where it is not meant. */
static td_status
cast_operands(py_args *g, td_op op, td_dtype dt)
{
    for (int i = op == OP_select; i < g->n; i++) {
        td_operand *x = &g->x[i];
        td_array cast;

        if (!x->array || td_array_dtype(x->array) == dt)
            continue;
        TD_TRY(td_array_cast(x->array, dt, &cast));
        if (g->own[i].store)
            td_array_unref(&g->own[i]);
        g->own[i] = cast;
        x->array = &g->own[i];
    }
    return TD_OK;
}

/* Numbers alone: the first becomes an array, as the core wants one. */
static bool
anchor(py_args *g)
{
    td_dev *dev;
    int i = 0;

    while (i < g->n && !g->x[i].array)
        i++;
    if (i < g->n)
        return true;
    if (!py_device(NULL, &dev) ||
        !py_ok(td_array_full(dev, g->x[0].scalar.dt, &(td_shape){0}, g->x[0].scalar, &g->own[0])))
        return false;
    g->x[0] = (td_operand){.array = &g->own[0]};
    return true;
}

/* where=: the result where the mask is true; elsewhere what out held, or zero. */
static PyObject *
masked(PyObject *value, const options *o)
{
    PyObject *args[3] = {o->where, value, o->out};
    td_operand zero = {.scalar = {.dt = TD_I64}, .weak = 'i'};
    py_ndarray *r;
    td_status st;
    py_args g;
    int ok = py_args_fill(&g, OP_select, args, o->out ? 3 : 2);

    if (ok <= 0 || !(r = py_new())) {
        if (ok == 0)
            PyErr_SetString(PyExc_TypeError, "where must be a boolean array");
        return NULL;
    }
    if (!o->out)
        g.x[2] = zero;
    st = td_array_apply(OP_select, g.x, 3, &r->a);
    py_args_free(&g);
    return py_done(r, st);
}

static PyObject *
store(PyObject *value, PyObject *out)
{
    td_operand x = {.array = py_array_of(value)};
    td_status st;

    if (!td_can_cast(td_array_dtype(x.array), td_array_dtype(py_array_of(out)), 'k')) {
        PyErr_Format(PyExc_TypeError,
                     "Cannot cast ufunc output from %s to %s with casting rule 'same_kind'",
                     td_dtype_name(td_array_dtype(x.array)),
                     td_dtype_name(td_array_dtype(py_array_of(out))));
        return NULL;
    }
    st = td_array_assign(py_array_of(out), &x);
    return st ? py_raise(st) : Py_NewRef(out);
}

/* What an operand that is neither array nor number makes of the function (a sparse matrix): its __array_ufunc__, which
 * NumPy's functions ask too. */
static PyObject *
overridden(PyObject *self, PyObject *args)
{
    PyObject *f = NULL, *r = NULL, *all, *head;

    for (Py_ssize_t i = 0; !f && i < PyTuple_Size(args); i++) {
        if (py_is_array(PyTuple_GetItem(args, i)))
            continue;
        f = PyObject_GetAttrString(PyTuple_GetItem(args, i), "__array_ufunc__");
        if (!f)
            PyErr_Clear();
    }
    head = f ? Py_BuildValue("(Os)", self, "__call__") : NULL;
    all = head ? PySequence_Concat(head, args) : NULL;
    if (all && f != Py_None)
        r = PyObject_CallObject(f, all);
    Py_XDECREF(all);
    Py_XDECREF(head);
    Py_XDECREF(f);
    if ((r && r != Py_NotImplemented) || PyErr_Occurred())
        return r;
    Py_XDECREF(r);
    PyErr_Format(PyExc_TypeError, "%s: operands must be arrays or numbers", row_of(self)->name);
    return NULL;
}

/* NULL without an error: an operand is neither array nor number. */
static PyObject *
apply(td_op op, PyObject *const *args, const options *o)
{
    PyObject *r = NULL, *shown;
    td_status st = TD_OK;
    td_dtype dt;
    py_args g;
    int ours = py_args_fill(&g, op, args, td_optab[op].arity);

    if (ours <= 0)
        return NULL;
    if (anchor(&g)) {
        if (o->dtype && o->dtype != Py_None && td_optab[op].result == TD_RES_SAME)
            st = py_dtype(o->dtype, &dt) ? cast_operands(&g, op, dt) : TD_SKIP;
        if (!st && o->out && !o->where) {
            st = td_array_apply_into(op, g.x, g.n, py_array_of(o->out));
            r = st ? NULL : Py_NewRef(o->out);
        } else if (!st && (r = (PyObject *)py_new()))
            r = py_done((py_ndarray *)r, td_array_apply(op, g.x, g.n, py_array_of(r)));
        if (st && st != TD_SKIP)
            py_raise(st);
    }
    py_args_free(&g);
    if (!r || !o->where)
        return r;
    shown = masked(r, o);
    Py_DECREF(r);
    if (!shown || !o->out)
        return shown;
    r = store(shown, o->out);
    Py_DECREF(shown);
    return r;
}

static PyObject *
ufunc_call(PyObject *self, PyObject *args, PyObject *kw)
{
    td_op op = ((ufunc *)self)->op;
    int arity = td_optab[op].arity;
    Py_ssize_t n = PyTuple_Size(args);
    PyObject *x[TD_MAXARG + 1];
    options o = {.out = n == arity + 1 ? PyTuple_GetItem(args, arity) : NULL};
    PyObject *r;

    if (n != arity && n != arity + 1) {
        PyErr_Format(PyExc_TypeError, "%s() takes %d arguments and an optional out (%zd given)",
                     td_optab[op].name, arity, n);
        return NULL;
    }
    for (int i = 0; i < arity; i++)
        x[i] = PyTuple_GetItem(args, i);
    if ((kw || o.out) && !read_options(td_optab[op].name, kw, &o))
        return NULL;
    r = apply(op, x, &o);
    return r || PyErr_Occurred() ? r : overridden(self, args);
}

/* The reductions that repeat an operation. */
static const struct repeated {
    td_op op;
    td_red red;
} repeated[] = {
    {OP_add, TD_RED_sum},     {OP_multiply, TD_RED_prod},   {OP_maximum, TD_RED_max},
    {OP_minimum, TD_RED_min}, {OP_logical_and, TD_RED_all}, {OP_logical_or, TD_RED_any},
};

/* treadle._folds.method(name, ...) */
static PyObject *
through_folds(PyObject *self, const char *method, PyObject *args, PyObject *kw)
{
    PyObject *f = py_package("treadle._folds", method);
    PyObject *head = f ? Py_BuildValue("(s)", row_of(self)->name) : NULL;
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
    return through_folds(self, "accumulate", args, kw);
}

static PyObject *
ufunc_reduceat(PyObject *self, PyObject *args, PyObject *kw)
{
    return through_folds(self, "reduceat", args, kw);
}

static PyObject *
ufunc_outer(PyObject *self, PyObject *args, PyObject *kw)
{
    return through_folds(self, "outer", args, kw);
}

/* The same for arguments of a fast call. */
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

static PyObject *
ufunc_reduce(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    static const char *const names[] = {"array",    "axis",    "dtype", "out",
                                        "keepdims", "initial", "where", NULL};
    PyObject *arg[7], *a, *r = NULL, *zero;
    size_t i = 0, n = sizeof repeated / sizeof *repeated;

    while (i < n && repeated[i].op != ((ufunc *)self)->op)
        i++;
    if (i == n)
        return fast_through_folds(self, "reduce", args, nargs, kwnames);
    zero = PyLong_FromLong(0);
    if (zero && py_parse("reduce", names, 1, 7, args, nargs, kwnames, arg)) {
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

/* ---- attributes ---- */

static PyObject *
get_name(PyObject *self, void *unused)
{
    (void)unused;
    return PyUnicode_FromString(row_of(self)->name);
}

static PyObject *
get_doc(PyObject *self, void *unused)
{
    static const char *const heads[] = {"", "x", "x, y", "x, y, z"};
    const td_opinfo *row = row_of(self);

    (void)unused;
    return PyUnicode_FromFormat(
        "%s(%s, /, out=None, *, where=True, dtype=None)\n\n%s, element by element.\n\n"
        "Operands are arrays, numbers or lists that broadcast together; the dtype follows "
        "NumPy's\npromotion.  Shapes that do not broadcast raise ValueError.",
        row->name, heads[row->arity], row->meaning);
}

static PyObject *
get_nin(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromLong(row_of(self)->arity);
}

static PyObject *
get_nout(PyObject *self, void *unused)
{
    (void)self, (void)unused;
    return PyLong_FromLong(1);
}

static PyObject *
get_meaning(PyObject *self, void *unused)
{
    (void)unused;
    return PyUnicode_FromString(row_of(self)->meaning);
}

static PyObject *
ufunc_repr(PyObject *self)
{
    return PyUnicode_FromFormat("<ufunc '%s'>", row_of(self)->name);
}

/* indices[, values] */
static PyObject *
ufunc_at(PyObject *self, PyObject *const *args, Py_ssize_t nargs)
{
    PyObject *f, *name, *r = NULL;

    if (nargs != row_of(self)->arity + 1 || nargs > 3) {
        PyErr_Format(PyExc_TypeError, "%s.at: expected an array, indices%s", row_of(self)->name,
                     row_of(self)->arity == 2 ? " and values" : " alone");
        return NULL;
    }
    name = get_name(self, NULL);
    f = name ? py_package("treadle._writing", "at") : NULL;
    if (f)
        r = PyObject_CallFunctionObjArgs(f, name, args[0], args[1], nargs > 2 ? args[2] : NULL,
                                         NULL);
    Py_XDECREF(f);
    Py_XDECREF(name);
    return r;
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
        {"nin", get_nin, NULL, "Number of operands.", NULL},
        {"nout", get_nout, NULL, "Number of results.", NULL},
        {"meaning", get_meaning, NULL, "The operation as a NumPy expression.", NULL},
        {NULL, NULL, NULL, NULL, NULL},
    };
    static PyMethodDef methods[] = {
        {"reduce", PY_FAST(ufunc_reduce), METH_FASTCALL | METH_KEYWORDS,
         "reduce(array, axis=0, dtype=None, out=None, keepdims=False): the operation along axes."},
        {"at", PY_FAST(ufunc_at), METH_FASTCALL,
         "at(array, indices[, values]): array[indices] = operation(array[indices], values), in "
         "place and "
         "once for each time that an index occurs."},
        {"accumulate", PY_FAST(ufunc_accumulate), METH_VARARGS | METH_KEYWORDS,
         "accumulate(array, axis=0, dtype=None, out=None): the operation repeated up to each "
         "element along an axis."},
        {"reduceat", PY_FAST(ufunc_reduceat), METH_VARARGS | METH_KEYWORDS,
         "reduceat(array, indices, axis=0, dtype=None, out=None): the operation along an axis from "
         "each index to the next; the element there where the next is no larger."},
        {"outer", PY_FAST(ufunc_outer), METH_VARARGS | METH_KEYWORDS,
         "outer(a, b, /, **kwargs): the operation of every element of a with every one of b."},
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

    py.ufunc = (PyTypeObject *)PyType_FromSpec(&spec);
    return py.ufunc && PyModule_AddObjectRef(m, "ufunc", (PyObject *)py.ufunc) == 0;
}

/* ---- the tables ---- */

static PyObject *
ufuncs(PyObject *module, PyObject *unused)
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

static PyObject *
append(PyObject *list, PyObject *row)
{
    if (list && (!row || PyList_Append(list, row) < 0))
        Py_CLEAR(list);
    Py_XDECREF(row);
    return list;
}

static PyObject *
ops(PyObject *module, PyObject *unused)
{
    PyObject *list = PyList_New(0);

    (void)module, (void)unused;
    for (int i = 0; list && i < TD_OPS; i++) {
        const td_opinfo *o = &td_optab[i];

        list = append(list, Py_BuildValue("(siss)", o->name, o->arity, o->kinds, o->meaning));
    }
    return list;
}

static PyObject *
reductions(PyObject *module, PyObject *unused)
{
    PyObject *list = PyList_New(0);

    (void)module, (void)unused;
#define RED(name, nacc, npair, identity, meaning)                                                  \
    list = append(list, Py_BuildValue("(sis)", #name, identity, meaning));
#include "array/reduce.def"
    return list;
}

static PyObject *
dtypes(PyObject *module, PyObject *unused)
{
    PyObject *list = PyList_New(0);

    (void)module, (void)unused;
    for (int i = 0; list && i < TD_DTYPE_COUNT; i++)
        list = append(list, Py_BuildValue("(sCsi)", td_dtab[i].name, td_dtab[i].kind,
                                          td_dtab[i].typestr, (int)td_dtab[i].size));
    return list;
}

static PyObject *
jit_stats(PyObject *module, PyObject *unused)
{
    td_jitstat s = td_jit_stats();
    td_evalstat e = td_eval_stats();
    uint64_t kernels = s.compiled + s.loaded;

    (void)module, (void)unused;
    return Py_BuildValue(
        "{s:K,s:K,s:K,s:d,s:K,s:K,s:K}", "compiled", (unsigned long long)s.compiled, "loaded",
        (unsigned long long)s.loaded, "launches", (unsigned long long)s.launches, "compile_ms",
        (double)s.compile_ns / 1e6, "recorded", (unsigned long long)e.recorded, "kernels",
        (unsigned long long)kernels, "evals", (unsigned long long)e.evals);
}

static PyObject *
tune(PyObject *module, PyObject *args)
{
    const char *name;
    int value;

    (void)module;
    if (!PyArg_ParseTuple(args, "si", &name, &value))
        return NULL;
    return py_ok(td_tune_set(name, value)) ? Py_NewRef(Py_None) : NULL;
}

PyMethodDef py_table_functions[] = {
    {"tune", tune, METH_VARARGS,
     "tune(name, value): sets a number of tune.def, for measuring kernels made later."},
    {"ufuncs", ufuncs, METH_NOARGS, "ufuncs(): {name: ufunc} of the rows of ops.def."},
    {"ops", ops, METH_NOARGS, "ops(): (name, arity, kinds, meaning) of the rows of ops.def."},
    {"reductions", reductions, METH_NOARGS,
     "reductions(): (name, has an identity, meaning) of the rows of reduce.def."},
    {"dtypes", dtypes, METH_NOARGS,
     "dtypes(): (name, kind, typestr, bytes) of the rows of dtypes.def."},
    {"jit_stats", jit_stats, METH_NOARGS,
     "jit_stats(): counts of recording, compiling and launching in this process."},
    {NULL, NULL, 0, NULL},
};
