/* kernel.c - treadle._core.Dispatcher: a Python function that is compiled for the types it is
 * called with.
 *
 * k[grid, block, stream, shared] returns a built-in function bound to a launcher.  The last few
 * are kept, so that launches in a loop make no objects.
 */
#include "python/kernel/boxvalue.h"

#include <string.h>

enum { FRAMES_AROUND = 64 }; /* Python frames that may surround a function that an executor maps */

/* launcher - a dispatcher with a launch's configuration. */
typedef struct launcher {
    PyObject_HEAD py_dispatcher *d;
    py_dims dims;
    PyObject *key; /* keeps the stream */
} launcher;

static PyTypeObject *launcher_type;

/* ---- launchers ---- */

static PyObject *
launcher_call(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    launcher *l = (launcher *)self;

    return py_kernel_call(l->d, &l->dims, args, nargs, kwnames, NULL);
}

static PyMethodDef launch_method = {"launch", PY_FAST(launcher_call), METH_FASTCALL | METH_KEYWORDS,
                                    "Launches the kernel with these arguments."};

static int
launcher_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT((PyObject *)((launcher *)self)->d);
    Py_VISIT(((launcher *)self)->key);
    return 0;
}

static int
launcher_clear(PyObject *self)
{
    launcher *l = (launcher *)self;
    PyObject *d = (PyObject *)l->d, *key = l->key;

    l->d = NULL;
    l->key = NULL;
    Py_XDECREF(d);
    Py_XDECREF(key);
    return 0;
}

static void
launcher_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);

    PyObject_GC_UnTrack(self);
    launcher_clear(self);
    PyObject_GC_Del(self);
    Py_DECREF(type);
}

static PyObject *
new_launcher(py_dispatcher *d, const py_dims *dims, PyObject *key)
{
    launcher *l = PyObject_GC_New(launcher, launcher_type);
    PyObject *f;

    if (!l)
        return NULL;
    l->d = (py_dispatcher *)Py_NewRef((PyObject *)d);
    l->dims = *dims;
    l->key = Py_NewRef(key);
    PyObject_GC_Track((PyObject *)l);
    f = PyCFunction_NewEx(&launch_method, (PyObject *)l, NULL);
    Py_DECREF((PyObject *)l);
    return f;
}

static bool
same_dims(const py_dims *a, const py_dims *b)
{
    return a->stream == b->stream && a->dims.shared == b->dims.shared &&
           memcmp(a->dims.grid, b->dims.grid, sizeof a->dims.grid) == 0 &&
           memcmp(a->dims.block, b->dims.block, sizeof a->dims.block) == 0;
}

static PyObject *
dispatcher_subscript(PyObject *self, PyObject *key)
{
    py_dispatcher *d = (py_dispatcher *)self;
    PyObject *f, *old;
    py_dims dims;

    if (d->how.mode != TD_MODE_KERNEL || d->device) {
        PyErr_Format(PyExc_TypeError, "%U is no kernel: it is called, not launched", d->name);
        return NULL;
    }
    if (!py_dims_read(d, key, &dims))
        return NULL;
    for (int i = 0; i < PY_CONFIGS && d->config[i]; i++)
        if (same_dims(&((launcher *)PyCFunction_GetSelf(d->config[i]))->dims, &dims))
            return Py_NewRef(d->config[i]);
    f = new_launcher(d, &dims, key);
    if (!f)
        return NULL;
    old = d->config[d->next_config];
    d->config[d->next_config] = Py_NewRef(f);
    d->next_config = (d->next_config + 1) % PY_CONFIGS;
    Py_XDECREF(old);
    return f;
}

/* ---- calls ---- */

/* A function that cannot be compiled for these arguments: _refused(error, args, kw) of its class, if there is one, has the answer. */
static PyObject *
call_refused(py_dispatcher *d, PyObject *args, PyObject *kw)
{
    PyObject *type, *value, *trace, *f, *r;

    PyErr_Fetch(&type, &value, &trace);
    f = PyObject_GetAttrString((PyObject *)d, "_refused");
    if (!f) {
        PyErr_Restore(type, value, trace);
        return NULL;
    }
    PyErr_NormalizeException(&type, &value, &trace);
    r = PyObject_CallFunctionObjArgs(f, value, args, kw ? kw : Py_None, NULL);
    Py_DECREF(f);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
    return r;
}

static PyObject *
dispatcher_call(PyObject *self, PyObject *args, PyObject *kw)
{
    static const py_dims one = {.dims = {.grid = {1, 1, 1}, .block = {1, 1, 1}}};
    py_dispatcher *d = (py_dispatcher *)self;
    Py_ssize_t n = PyTuple_Size(args), nkw = kw ? PyDict_Size(kw) : 0, at = 0, i = n;
    PyObject *all[2 * PY_LEAVES], *names, *k, *v, *r;
    bool refused = false;

    if (d->elsewhere)
        return PyObject_Call(d->elsewhere, args, kw);
    names = nkw ? PyTuple_New(nkw) : NULL;
    if (d->how.mode == TD_MODE_KERNEL) {
        PyErr_Format(PyExc_TypeError,
                     d->device ? "%U is a device function: kernels call it"
                               : "%U is a kernel: launch it as %U[grid, block](...)",
                     d->name, d->name);
        Py_XDECREF(names);
        return NULL;
    }
    if (n > PY_LEAVES || nkw > PY_LEAVES) {
        PyErr_Format(PyExc_TypeError, "%U: more than %d arguments", d->name, PY_LEAVES);
        Py_XDECREF(names);
        return NULL;
    }
    for (Py_ssize_t j = 0; j < n; j++)
        all[j] = PyTuple_GetItem(args, j);
    while (names && PyDict_Next(kw, &at, &k, &v)) {
        PyTuple_SetItem(names, i - n, Py_NewRef(k));
        all[i++] = v;
    }
    r = nkw && !names ? NULL : py_kernel_call(d, &one, all, n, names, &refused);
    Py_XDECREF(names);
    return refused ? call_refused(d, args, kw) : r;
}

/* ---- creation and destruction ---- */

static bool
read_signature(py_dispatcher *d)
{
    PyObject *code = PyObject_GetAttrString(d->fn, "__code__"),
             *names = code ? PyObject_GetAttrString(code, "co_varnames") : NULL,
             *count = names ? PyObject_GetAttrString(code, "co_argcount") : NULL,
             *only = count ? PyObject_GetAttrString(code, "co_kwonlyargcount") : NULL,
             *flags = only ? PyObject_GetAttrString(code, "co_flags") : NULL;

    if (flags) {
        d->nonly = (uint32_t)PyLong_AsUnsignedLong(only);
        d->nparam = (uint32_t)PyLong_AsUnsignedLong(count) + d->nonly;
        d->star = PyLong_AsLong(flags) & 4; /* inspect.CO_VARARGS */
        d->params = PyTuple_GetSlice(names, 0, (Py_ssize_t)d->nparam);
        d->defaults = PyObject_GetAttrString(d->fn, "__defaults__");
        d->name = PyObject_GetAttrString(d->fn, "__name__");
    }
    if (d->defaults == Py_None)
        Py_CLEAR(d->defaults);
    Py_XDECREF(code);
    Py_XDECREF(names);
    Py_XDECREF(count);
    Py_XDECREF(only);
    Py_XDECREF(flags);
    return d->params && d->name && !PyErr_Occurred();
}

static PyObject *
dispatcher_new(PyTypeObject *type, PyObject *args, PyObject *kw)
{
    static char *names[] = {"fn",      "mode",     "device", "debug", "fma",     "fast",
                            "checked", "parallel", "prange", "nogil", "threads", "registers",
                            "lines",   "plain",    "numba",  NULL};
    int device = 0, debug = 0, fma = 1, fast = 0, checked = 0, parallel = 0, prange = 0, nogil = 0;
    int lines = 0, plain = 0, numba = 0;
    unsigned threads = 0, registers = 0;
    PyObject *fn, *code;
    py_dispatcher *d;
    int mode = TD_MODE_KERNEL;

    if (!PyArg_ParseTupleAndKeywords(args, kw, "O|ippppppppIIppp:Dispatcher", names, &fn, &mode,
                                     &device, &debug, &fma, &fast, &checked, &parallel, &prange,
                                     &nogil, &threads, &registers, &lines, &plain, &numba))
        return NULL;
    code = py_attr(fn, "__code__");
    Py_XDECREF(code);
    if (!code) {
        PyErr_Format(PyExc_TypeError, "only Python functions can be compiled, not %R",
                     (PyObject *)Py_TYPE(fn));
        return NULL;
    }
    d = py_allocate(type);
    if (!d)
        return NULL;
    d->fn = Py_NewRef(fn);
    d->device = device;
    d->gil = mode != TD_MODE_KERNEL && !nogil;
    d->how = (td_compile){.mode = (td_mode)mode,
                          .debug = debug,
                          .fma = fma,
                          .fast = fast,
                          .checked = checked,
                          .parallel = parallel,
                          .prange = prange,
                          .threads = threads,
                          .registers = registers,
                          .lines = lines,
                          .frames = Py_GetRecursionLimit() - FRAMES_AROUND,
                          .by_parts = Py_Version >= 0x030e0000,
                          .plain = plain,
                          .numba = numba};
    d->keep = PyDict_New();
    d->trees = PyList_New(0);
    if (!d->keep || !d->trees || !read_signature(d))
        Py_CLEAR(d);
    return (PyObject *)d;
}

static int
dispatcher_traverse(PyObject *self, visitproc visit, void *arg)
{
    py_dispatcher *d = (py_dispatcher *)self;

    Py_VISIT(Py_TYPE(self));
    Py_VISIT(d->fn);
    Py_VISIT(d->defaults);
    Py_VISIT(d->keep);
    Py_VISIT(d->trees);
    Py_VISIT(d->elsewhere);
    for (int i = 0; i < PY_CONFIGS; i++)
        Py_VISIT(d->config[i]);
    return py_specs_visit(d, visit, arg);
}

static int
dispatcher_clear(PyObject *self)
{
    py_dispatcher *d = (py_dispatcher *)self;
    PyObject *keep = d->keep;

    py_specs_free(d);
    py_sources_free(d);
    py_signatures_free(d);
    d->keep = NULL;
    Py_CLEAR(d->texts);
    py_handles_drop(keep);
    Py_CLEAR(d->fn);
    Py_CLEAR(d->defaults);
    Py_CLEAR(d->trees);
    Py_CLEAR(d->elsewhere);
    for (int i = 0; i < PY_CONFIGS; i++)
        Py_CLEAR(d->config[i]);
    return 0;
}

static void
dispatcher_dealloc(PyObject *self)
{
    py_dispatcher *d = (py_dispatcher *)self;

    PyObject_GC_UnTrack(self);
    dispatcher_clear(self);
    Py_XDECREF(d->name);
    Py_XDECREF(d->params);
    py_free(self);
}

static PyObject *
get_fn(PyObject *self, void *unused)
{
    (void)unused;
    return Py_XNewRef(((py_dispatcher *)self)->fn);
}

static PyObject *
get_elsewhere(PyObject *self, void *unused)
{
    PyObject *f = ((py_dispatcher *)self)->elsewhere;

    (void)unused;
    return Py_NewRef(f ? f : Py_None);
}

static int
set_elsewhere(PyObject *self, PyObject *f, void *unused)
{
    py_dispatcher *d = (py_dispatcher *)self;
    PyObject *old = d->elsewhere;

    (void)unused;
    d->elsewhere = f && f != Py_None ? Py_NewRef(f) : NULL;
    Py_XDECREF(old);
    return 0;
}

static PyObject *
dispatcher_device(PyObject *self, void *unused)
{
    (void)unused;
    return PyBool_FromLong(((py_dispatcher *)self)->device);
}

static bool
init_launcher(void)
{
    static PyType_Slot slots[] = {
        PY_SLOT(Py_tp_dealloc, launcher_dealloc),
        PY_SLOT(Py_tp_traverse, launcher_traverse),
        PY_SLOT(Py_tp_clear, launcher_clear),
        {0, NULL},
    };
    static PyType_Spec spec = {
        .name = "treadle._core.launcher",
        .basicsize = sizeof(launcher),
        .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
        .slots = slots,
    };

    launcher_type = (PyTypeObject *)PyType_FromSpec(&spec);
    return launcher_type != NULL;
}

bool
py_kernel_init(PyObject *m)
{
    static PyGetSetDef getset[] = {
        {"py_func", get_fn, NULL, "The Python function.", NULL},
        {"is_device", dispatcher_device, NULL, "May only kernels call it?", NULL},
        {"_elsewhere", get_elsewhere, set_elsewhere, "What calls go to instead; None: nothing.",
         NULL},
        {NULL, NULL, NULL, NULL, NULL},
    };
    static PyType_Slot slots[] = {
        PY_SLOT(Py_tp_new, dispatcher_new),
        PY_SLOT(Py_tp_dealloc, dispatcher_dealloc),
        PY_SLOT(Py_tp_traverse, dispatcher_traverse),
        PY_SLOT(Py_tp_clear, dispatcher_clear),
        PY_SLOT(Py_tp_call, dispatcher_call),
        PY_SLOT(Py_mp_subscript, dispatcher_subscript),
        {Py_tp_getset, getset},
        {Py_tp_methods, py_kernel_methods},
        {0, NULL},
    };
    static PyType_Spec spec = {
        .name = "treadle._core.Dispatcher",
        .basicsize = sizeof(py_dispatcher),
        .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
        .slots = slots,
    };

    py_report_init();
    py.dispatcher = (PyTypeObject *)PyType_FromSpec(&spec);
    return py.dispatcher && py_ok(td_type_room()) && py_boxes_init(m) && py_instance_init(m) &&
           init_launcher() && py_syntax_init(m) &&
           PyModule_AddObjectRef(m, "Dispatcher", (PyObject *)py.dispatcher) == 0;
}
