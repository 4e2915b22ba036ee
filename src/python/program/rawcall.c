/* rawcall.c - _core.RawCall: a callable that passes its call to the kernel of the current device.
 *
 * treadle.RawKernel and the functions of RawModule are called through it: once a device's kernel
 * exists, no Python code runs.  Also, what treadle.cuda's memory and runtime ask about addresses.
 */
#include "python/common/py.h"

#include "dev/core/raw.h"

enum { PLACES = 8 }; /* most devices whose kernels are kept; a further one replaces the first */

typedef struct rawcall {
    PyObject_HEAD PyObject *make; /* make(device) -> the callable for it */
    bool cooperative;
    int n;
    struct {
        td_dev *dev;
        PyObject *kernel;
    } at[PLACES];
} rawcall;

static PyObject *
rawcall_make(PyTypeObject *type, PyObject *args, PyObject *kw)
{
    static char *names[] = {"make", "cooperative", NULL};
    PyObject *fn;
    int cooperative = 0;
    rawcall *r;

    if (!PyArg_ParseTupleAndKeywords(args, kw, "O|p:RawCall", names, &fn, &cooperative))
        return NULL;
    r = PyObject_GC_New(rawcall, type);
    if (!r)
        return NULL;
    r->make = Py_NewRef(fn);
    r->cooperative = cooperative;
    r->n = 0;
    PyObject_GC_Track((PyObject *)r);
    return (PyObject *)r;
}

static int
rawcall_clear(PyObject *self)
{
    rawcall *r = (rawcall *)self;
    int n = r->n;

    r->n = 0;
    for (int i = 0; i < n; i++)
        Py_CLEAR(r->at[i].kernel);
    Py_CLEAR(r->make);
    return 0;
}

static int
rawcall_traverse(PyObject *self, visitproc visit, void *arg)
{
    rawcall *r = (rawcall *)self;

    Py_VISIT(Py_TYPE(self));
    Py_VISIT(r->make);
    for (int i = 0; i < r->n; i++)
        Py_VISIT(r->at[i].kernel);
    return 0;
}

static void
rawcall_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);

    PyObject_GC_UnTrack(self);
    rawcall_clear(self);
    PyObject_GC_Del(self);
    Py_DECREF(type);
}

/* The kernel of d, borrowed. */
static PyObject *
kernel_on(rawcall *r, td_dev *d)
{
    PyObject *where, *k, *old = NULL;
    int i = 0;

    for (int j = 0; j < r->n; j++)
        if (r->at[j].dev == d)
            return r->at[j].kernel;
    where = r->make ? py_device_object(d) : NULL;
    if (!where)
        return NULL;
    k = PyObject_CallFunctionObjArgs(r->make, where, NULL);
    Py_DECREF(where);
    if (!k)
        return NULL;
    if (r->n < PLACES)
        i = r->n++; /* another thread may have added one meanwhile, which is then found first */
    else
        old = r->at[0].kernel;
    r->at[i].dev = d;
    r->at[i].kernel = k;
    Py_XDECREF(old);
    return k;
}

/* Renames shared_mem= to the core's shared=. */
static PyObject *
renamed(const rawcall *r, PyObject *kw)
{
    PyObject *copy = kw ? PyDict_Copy(kw) : PyDict_New();
    PyObject *shared = copy ? PyDict_GetItemString(copy, "shared_mem") : NULL;

    if (!copy || (r->cooperative && PyDict_SetItemString(copy, "cooperative", Py_True) < 0) ||
        (shared && (PyDict_SetItemString(copy, "shared", shared) < 0 ||
                    PyDict_DelItemString(copy, "shared_mem") < 0)))
        Py_CLEAR(copy);
    return copy;
}

/* Appends grid=, block= and args= to args in their places, and removes them from kw. */
static PyObject *
placed(PyObject *args, PyObject *kw)
{
    static const char *const names[] = {"grid", "block", "args"};
    PyObject *given[3], *all;
    Py_ssize_t n = PyTuple_Size(args), more = n;

    while (more < 3 && (given[more] = PyDict_GetItemString(kw, names[more])))
        more++;
    if (more == n)
        return Py_NewRef(args);
    all = PyTuple_New(more);
    for (Py_ssize_t i = 0; all && i < more; i++)
        if (PyTuple_SetItem(all, i, Py_NewRef(i < n ? PyTuple_GetItem(args, i) : given[i])) < 0 ||
            (i >= n && PyDict_DelItemString(kw, names[i]) < 0))
            Py_CLEAR(all);
    return all;
}

static PyObject *
rawcall_call(PyObject *self, PyObject *args, PyObject *kw)
{
    rawcall *r = (rawcall *)self;
    PyObject *k, *own, *all, *result;
    td_dev *d;

    if (!py_ok(td_dev_default(&d)) || !(k = kernel_on(r, d)))
        return NULL;
    own = kw || r->cooperative ? renamed(r, kw) : NULL;
    if (!own && PyErr_Occurred())
        return NULL;
    Py_INCREF(k); /* another device may replace it meanwhile */
    all = own ? placed(args, own) : Py_NewRef(args);
    result = all ? PyObject_Call(k, all, own) : NULL;
    Py_DECREF(k);
    Py_XDECREF(all);
    Py_XDECREF(own);
    return result;
}

static PyObject *
kernel(PyObject *self, PyObject *unused)
{
    td_dev *d;

    (void)unused;
    return py_ok(td_dev_default(&d)) ? Py_XNewRef(kernel_on((rawcall *)self, d)) : NULL;
}

/* ---- addresses ---- */

static PyObject *
pointer_device(PyObject *module, PyObject *address)
{
    void *at = PyLong_AsVoidPtr(address);
    td_dev *d;

    (void)module;
    if (PyErr_Occurred())
        return NULL;
    return td_dev_of((uintptr_t)at, &d) ? Py_NewRef(Py_None) : py_device_object(d);
}

static PyObject *
priorities(PyObject *module, PyObject *unused)
{
    int least, greatest;
    td_dev *d;

    (void)module, (void)unused;
    return py_device(NULL, &d) && py_ok(td_stream_priorities(d, &least, &greatest))
               ? Py_BuildValue("(ii)", least, greatest)
               : NULL;
}

/* device, address, nbytes, owner -> an array of uint8 over memory that the owner keeps */
static PyObject *
bytes_at(PyObject *module, PyObject *args)
{
    PyObject *where, *owner;
    unsigned long long at;
    td_shape s = {.ndim = 1};
    Py_ssize_t nbytes;
    td_array a;
    td_view v;
    td_dev *d;

    (void)module;
    if (!PyArg_ParseTuple(args, "OKnO:_bytes_at", &where, &at, &nbytes, &owner) ||
        !py_device(where, &d))
        return NULL;
    if (nbytes < 0 || (nbytes && !at))
        return PyErr_Format(PyExc_ValueError, "%zd bytes at address %llu", nbytes, at);
    s.dim[0] = nbytes;
    v = td_view_contiguous(&s);
    return py_adopt_of(owner, d, (const void *)(uintptr_t)at, TD_U8, &v, false, &a) // NOLINT
               ? py_wrap(&a)
               : NULL;
}

static PyMethodDef functions[] = {
    {"_device_of", pointer_device, METH_O,
     "_device_of(address): the GPU whose memory it is; None: none's."},
    {"_stream_priorities", priorities, METH_NOARGS,
     "_stream_priorities(): (least, greatest) of the current device."},
    {"_bytes_at", bytes_at, METH_VARARGS,
     "_bytes_at(device, address, nbytes, owner): memory that owner keeps, as an array of uint8."},
    {NULL, NULL, 0, NULL},
};

bool
py_rawcall_init(PyObject *m)
{
    static PyMethodDef methods[] = {
        {"kernel", kernel, METH_NOARGS, "kernel(): that of the current device, made if need be."},
        {NULL, NULL, 0, NULL},
    };
    static PyType_Slot slots[] = {
        {Py_tp_doc, "RawCall(make, cooperative=False): calls make(device), once for each device, "
                    "and hands calls on to what it gave for the current one."},
        PY_SLOT(Py_tp_new, rawcall_make),
        PY_SLOT(Py_tp_dealloc, rawcall_dealloc),
        PY_SLOT(Py_tp_traverse, rawcall_traverse),
        PY_SLOT(Py_tp_clear, rawcall_clear),
        PY_SLOT(Py_tp_call, rawcall_call),
        {Py_tp_methods, methods},
        {0, NULL},
    };
    static PyType_Spec spec = {
        .name = "treadle._core.RawCall",
        .basicsize = sizeof(rawcall),
        .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
        .slots = slots,
    };
    PyObject *type = PyType_FromSpec(&spec);
    bool ok = type && PyModule_AddObjectRef(m, "RawCall", type) == 0 &&
              PyModule_AddFunctions(m, functions) == 0;

    Py_XDECREF(type);
    return ok;
}
