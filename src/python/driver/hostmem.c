/* hostmem.c - treadle._core.HostMemory: host memory that a device can access, shown as bytes.
 *
 * The memory outlives the object until the device's work has passed, like that of other
 * libraries.
 */
#include "python/common/py.h"

#include <stdlib.h>

typedef struct lent {
    py_owner head;
    td_hostmem m;
    Py_buffer view; /* registered memory: the buffer that lends it */
} lent;

typedef struct hostmem {
    PyObject_HEAD lent *o; /* NULL: it was freed */
    td_hostmem m;
    td_dev *dev;
    Py_ssize_t nbytes; /* as requested */
} hostmem;

static const char *const kinds[] = {[TD_HOST_PINNED] = "pinned",
                                    [TD_HOST_MAPPED] = "mapped",
                                    [TD_HOST_MANAGED] = "managed",
                                    [TD_HOST_REGISTERED] = "registered"};

static void
end_lent(py_owner *head)
{
    lent *o = (lent *)head;

    (void)td_hostmem_put(head->dev, &o->m); /* a broken device has released it */
    if (o->view.obj)
        PyBuffer_Release(&o->view);
    free(o);
}

static bool
hostmem_kind(const char *name, td_hostkind *out)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (PyOS_stricmp(kinds[i], name) == 0) {
            *out = (td_hostkind)i;
            return true;
        }
    PyErr_Format(PyExc_ValueError, "HostMemory: there is no kind '%s'", name);
    return false;
}

/* Reads the argument: a size, or memory to register. */
static bool
ask_for(lent *o, PyObject *what, Py_ssize_t *nbytes)
{
    if (o->m.kind != TD_HOST_REGISTERED) {
        *nbytes = PyLong_AsSsize_t(what);
        if (*nbytes < 0 && !PyErr_Occurred())
            PyErr_Format(PyExc_ValueError, "HostMemory: %zd bytes", *nbytes);
    } else if (PyObject_GetBuffer(what, &o->view, PyBUF_ANY_CONTIGUOUS) == 0) {
        o->m.host = o->view.buf;
        *nbytes = o->view.len;
        if (*nbytes == 0)
            PyErr_SetString(PyExc_ValueError, "HostMemory: an empty array cannot be pinned");
    }
    o->m.nbytes = (size_t)*nbytes;
    return !PyErr_Occurred();
}

static PyObject *
hostmem_make(PyTypeObject *type, PyObject *args, PyObject *kw)
{
    static char *names[] = {"device", "kind", "memory", "combined", NULL};
    PyObject *where, *what;
    const char *kind;
    int combined = 0;
    lent *o = calloc(1, sizeof *o);
    hostmem *r = NULL;
    Py_ssize_t nbytes = 0;

    (void)type;
    if (!o)
        return PyErr_NoMemory();
    if (!PyArg_ParseTupleAndKeywords(args, kw, "OsO|p:HostMemory", names, &where, &kind, &what,
                                     &combined) ||
        !py_device(where, &o->head.dev) || !hostmem_kind(kind, &o->m.kind) ||
        !ask_for(o, what, &nbytes))
        goto fail;
    o->m.combined = combined;
    o->head.end = end_lent;
    r = PyObject_New(hostmem, py.hostmem);
    if (!r)
        goto fail;
    r->o = NULL;
    if (!py_ok(td_hostmem_get(o->head.dev, &o->m)))
        goto fail;
    r->o = o;
    r->m = o->m;
    r->dev = o->head.dev;
    r->nbytes = nbytes;
    return (PyObject *)r;
fail:
    if (o->view.obj)
        PyBuffer_Release(&o->view);
    free(o);
    Py_XDECREF((PyObject *)r);
    return NULL;
}

static PyObject *
hostmem_release(PyObject *self, PyObject *unused)
{
    hostmem *h = (hostmem *)self;
    PyThreadState *gil;
    td_status st;
    lent *o = h->o;

    (void)unused;
    if (!o)
        return Py_NewRef(Py_None);
    if (!py_ok(td_eval_all()))
        return NULL;
    h->o = NULL;
    gil = PyEval_SaveThread();
    st = td_dev_sync(h->dev);
    PyEval_RestoreThread(gil);
    py_owner_end(&o->head);
    return py_ok(st) ? Py_NewRef(Py_None) : NULL;
}

static void
hostmem_dealloc(PyObject *self)
{
    hostmem *h = (hostmem *)self;
    PyTypeObject *type = Py_TYPE(self);

    if (h->o)
        py_owner_retire(&h->o->head);
    PyObject_Free(self);
    Py_DECREF(type);
    py_owners_release();
}

static bool
is_there(const hostmem *h)
{
    if (!h->o)
        PyErr_SetString(PyExc_ValueError, "HostMemory: the memory was given back");
    return h->o != NULL;
}

static int
getbuffer(PyObject *self, Py_buffer *b, int flags)
{
    hostmem *h = (hostmem *)self;

    b->obj = NULL;
    return is_there(h) ? PyBuffer_FillInfo(b, self, h->m.host, h->nbytes, 0, flags) : -1;
}

static PyObject *
hostmem_array(PyObject *self, PyObject *unused)
{
    hostmem *h = (hostmem *)self;
    td_shape s = {.ndim = 1, .dim = {h->nbytes}};
    td_view v = td_view_contiguous(&s);
    td_array a;

    (void)unused;
    if (!is_there(h))
        return NULL;
    if (!h->m.dev) {
        PyErr_Format(PyExc_ValueError, "HostMemory: kernels do not see %s memory",
                     kinds[h->m.kind]);
        return NULL;
    }
    return py_adopt_of(self, h->dev, (const void *)h->m.dev, TD_U8, &v, false, &a) ? py_wrap(&a)
                                                                                   : NULL;
}

static PyObject *
hostmem_size(PyObject *self, PyObject *unused)
{
    (void)unused;
    return PyLong_FromSsize_t(((hostmem *)self)->nbytes);
}

static PyObject *
hostmem_get(PyObject *self, void *field)
{
    hostmem *h = (hostmem *)self;

    switch (*(const char *)field) {
    case 'k': return PyUnicode_FromString(kinds[h->m.kind]);
    case 'n': return PyLong_FromSsize_t(h->nbytes);
    case 'h': return PyLong_FromVoidPtr(h->m.host);
    case 'd': return PyLong_FromSize_t(h->m.dev);
    default:  break;
    }
    return py_device_object(h->dev);
}

bool
py_hostmem_init(PyObject *m)
{
    static PyMethodDef methods[] = {
        {"array", hostmem_array, METH_NOARGS,
         "array(): an array of uint8 over the memory as the device sees it."},
        {"size", hostmem_size, METH_NOARGS, "size(): bytes, as asked; CuPy's name of nbytes."},
        {"release", hostmem_release, METH_NOARGS,
         "release(): waits for the device and gives the memory back; arrays over it must be gone."},
        {NULL, NULL, 0, NULL},
    };
    static PyGetSetDef getset[] = {
        {"kind", hostmem_get, NULL, "'pinned', 'mapped', 'managed' or 'registered'.", "k"},
        {"nbytes", hostmem_get, NULL, "Bytes, as asked.", "n"},
        {"ptr", hostmem_get, NULL, "The address on the host.", "h"},
        {"device_ptr", hostmem_get, NULL, "The address on the device; 0: it has none.", "d"},
        {"device", hostmem_get, NULL, "The device that reaches it.", "D"},
        {NULL, NULL, NULL, NULL, NULL},
    };
    static PyType_Slot slots[] = {
        {Py_tp_doc, "HostMemory(device, kind, memory, combined=False): memory is a count of bytes "
                    "or, where kind is 'registered', who has it."},
        PY_SLOT(Py_tp_new, hostmem_make),
        PY_SLOT(Py_tp_dealloc, hostmem_dealloc),
        PY_SLOT(Py_bf_getbuffer, getbuffer),
        {Py_tp_methods, methods},
        {Py_tp_getset, getset},
        {0, NULL},
    };
    static PyType_Spec spec = {
        .name = "treadle._core.HostMemory",
        .basicsize = sizeof(hostmem),
        .flags = Py_TPFLAGS_DEFAULT,
        .slots = slots,
    };

    return py_add_type(m, "HostMemory", &spec, &py.hostmem);
}
