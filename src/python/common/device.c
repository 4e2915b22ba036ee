/* device.c - treadle.Device and the functions about devices and their memory. */
#include "python/common/py.h"

#include "base/opts.h"

#include <string.h>

/* Device - a handle on a device.  As a context manager it is the calling thread's default
 * device. */
typedef struct device {
    PyObject_HEAD td_dev *dev; /* borrowed: devices live as long as the process */
    td_dev *outer[8];          /* the defaults that nested `with` blocks replaced; NULL: none */
    int depth;
} device;

PyObject *
py_device_object(td_dev *d)
{
    device *r = PyObject_New(device, py.device);

    if (!r)
        return NULL;
    r->dev = d;
    r->depth = 0;
    return (PyObject *)r;
}

bool
py_device(PyObject *o, td_dev **out)
{
    const char *name;
    td_status st;

    if (py_is_none(o)) {
        st = td_dev_default(out);
    } else if (Py_IS_TYPE(o, py.device)) {
        *out = ((device *)o)->dev;
        return true;
    } else if (PyUnicode_Check(o)) {
        name = PyUnicode_AsUTF8AndSize(o, NULL);
        if (!name)
            return false;
        st = td_dev_get(name, out);
    } else {
        PyErr_Format(PyExc_TypeError, "a device is a name such as 'cpu' or 'cuda:0', not %R",
                     (PyObject *)Py_TYPE(o));
        return false;
    }
    return py_ok(st);
}

PyObject *
py_made_on_mesh(const char *name, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    Py_ssize_t n = kwnames ? PyTuple_Size(kwnames) : 0;
    PyObject *mesh = NULL, *head, *f, *r = NULL, *type, *value, *trace;
    bool is_mesh;

    PyErr_Fetch(&type, &value, &trace);
    for (Py_ssize_t i = 0; i < n; i++)
        if (PyUnicode_CompareWithASCIIString(PyTuple_GetItem(kwnames, i), "device") == 0)
            mesh = args[nargs + i];
    is_mesh = mesh && PyObject_HasAttrString((PyObject *)Py_TYPE(mesh), "__treadle_mesh__");
    if (!is_mesh) {
        PyErr_Restore(type, value, trace);
        return NULL;
    }
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
    f = py_package("treadle.sharding._calls", "made");
    head = f ? PyUnicode_FromString(name) : NULL;
    r = head ? py_call_with(f, head, args, nargs, kwnames) : NULL;
    Py_XDECREF(head);
    Py_XDECREF(f);
    return r;
}

static PyObject *
device_new(PyTypeObject *type, PyObject *args, PyObject *kw)
{
    static char *names[] = {"name", NULL};
    PyObject *name = NULL;
    td_dev *d;

    (void)type;
    if (!PyArg_ParseTupleAndKeywords(args, kw, "|O:Device", names, &name) || !py_device(name, &d))
        return NULL;
    return py_device_object(d);
}

static void
device_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);

    PyObject_Free(self);
    Py_DECREF(type);
}

static const td_devinfo *
info_of(PyObject *self)
{
    return td_dev_info(((device *)self)->dev);
}

static PyObject *
device_enter(PyObject *self, PyObject *unused)
{
    device *d = (device *)self;

    (void)unused;
    if (d->depth == (int)(sizeof d->outer / sizeof *d->outer)) {
        PyErr_SetString(PyExc_RuntimeError,
                        "device: `with` on the same device object is nested too deeply");
        return NULL;
    }
    d->outer[d->depth++] = td_dev_used();
    td_dev_use(d->dev);
    return Py_NewRef(self);
}

static PyObject *
device_exit(PyObject *self, PyObject *args)
{
    device *d = (device *)self;

    (void)args;
    if (d->depth > 0)
        td_dev_use(d->outer[--d->depth]);
    return Py_NewRef(Py_None);
}

static PyObject *
device_sync(PyObject *self, PyObject *unused)
{
    PyThreadState *gil;
    td_status st;

    (void)unused;
    if (!py_ok(td_eval_all()))
        return NULL;
    if (!py_ok(td_graph_await_stream(td_dev_stream(((device *)self)->dev))))
        return NULL;
    gil = PyEval_SaveThread();
    st = td_dev_sync(((device *)self)->dev);
    PyEval_RestoreThread(gil);
    py_owners_release();
    return py_ok(st) && py_warn() ? Py_NewRef(Py_None) : NULL;
}

static PyObject *
device_str(PyObject *self)
{
    return PyUnicode_FromString(info_of(self)->name);
}

static PyObject *
device_repr(PyObject *self)
{
    return PyUnicode_FromFormat("device('%s')", info_of(self)->name);
}

static Py_hash_t
device_hash(PyObject *self)
{
    return (Py_hash_t)((uintptr_t)((device *)self)->dev >> 4);
}

/* A handle equals other handles on the same device, and the device's name. */
static PyObject *
device_compare(PyObject *x, PyObject *y, int how)
{
    bool same;

    if (how != Py_EQ && how != Py_NE)
        return Py_NewRef(Py_NotImplemented);
    if (Py_IS_TYPE(y, py.device))
        same = ((device *)x)->dev == ((device *)y)->dev;
    else if (PyUnicode_Check(y))
        same = PyUnicode_CompareWithASCIIString(y, info_of(x)->name) == 0;
    else
        return Py_NewRef(Py_NotImplemented);
    return PyBool_FromLong(same == (how == Py_EQ));
}

static PyObject *
get_info(PyObject *self, void *field)
{
    static const char *const kinds[] = {
        [TD_DEV_CPU] = "cpu", [TD_DEV_CUDA] = "cuda", [TD_DEV_NULL] = "null"};
    const td_devinfo *i = info_of(self);

    switch (*(const char *)field) {
    case 'n': return PyUnicode_FromString(i->name);
    case 'k': return PyUnicode_FromString(kinds[i->kind]);
    case 'm': return PyUnicode_FromString(i->model);
    case 'a': return PyUnicode_FromString(i->arch);
    case 'i': return PyLong_FromLong(i->index);
    case 'u': return PyLong_FromLong(i->units);
    case 'd': return PyLong_FromLong(i->driver);
    case 'M': return PyLong_FromSize_t(i->memory);
    case 'h': return PyBool_FromLong(i->host);
    case 's': return PyBool_FromLong(i->simt);
    default:  break;
    }
    return Py_NewRef(Py_None);
}

static PyObject *
limit_object(size_t limit)
{
    return limit == SIZE_MAX ? Py_NewRef(Py_None) : PyLong_FromSize_t(limit);
}

/* The pool's counts, and the device's total and free bytes. */
static PyObject *
device_stats(PyObject *self, PyObject *unused)
{
    td_dev *d = ((device *)self)->dev;
    td_memstat s = td_mem_stats(d);
    size_t free_bytes, total;

    (void)unused;
    if (!py_ok(td_dev_memory(d, &free_bytes, &total)))
        return NULL;
    return Py_BuildValue("{s:n,s:n,s:n,s:N,s:n,s:K,s:K,s:n,s:n}", "used", (Py_ssize_t)s.used,
                         "cached", (Py_ssize_t)s.cached, "peak", (Py_ssize_t)s.peak, "limit",
                         limit_object(s.limit), "largest", (Py_ssize_t)s.largest, "allocs",
                         (unsigned long long)s.allocs, "driver_allocs",
                         (unsigned long long)s.driver_allocs, "free", (Py_ssize_t)free_bytes,
                         "total", (Py_ssize_t)total);
}

static PyObject *
device_trim(PyObject *self, PyObject *unused)
{
    (void)unused;
    return py_ok(td_mem_trim(((device *)self)->dev)) ? Py_NewRef(Py_None) : NULL;
}

static PyObject *
device_limit(PyObject *self, PyObject *nbytes)
{
    td_dev *d = ((device *)self)->dev;
    size_t limit = nbytes == Py_None ? SIZE_MAX : PyLong_AsSize_t(nbytes);

    if (limit == (size_t)-1 && PyErr_Occurred())
        return NULL;
    return py_ok(td_mem_limit(d, limit)) ? Py_NewRef(Py_None) : NULL;
}

static PyMethodDef device_methods[] = {
    {"__enter__", device_enter, METH_NOARGS, NULL},
    {"__exit__", device_exit, METH_VARARGS, NULL},
    {"synchronize", device_sync, METH_NOARGS,
     "synchronize($self, /)\n--\n\n"
     "Launch recorded work of the device and wait for all of it.\n\n"
     "Raises\n"
     "------\n"
     "DeviceError\n"
     "    Work that was given to the device failed.\n\n"
     "Examples\n"
     "--------\n"
     ">>> np.device(\"cpu\").synchronize()"},
    {"memory_stats", device_stats, METH_NOARGS,
     "memory_stats($self, /)\n--\n\n"
     "Counts of the device's bytes and allocations.\n\n"
     "Returns\n"
     "-------\n"
     "dict\n"
     "    As treadle.memory.stats gives.\n\n"
     "Examples\n"
     "--------\n"
     ">>> np.device(\"cpu\").memory_stats()[\"used\"] >= 0\n"
     "True"},
    {"memory_limit", device_limit, METH_O,
     "memory_limit($self, nbytes, /)\n--\n\n"
     "Set the most bytes that arrays and cached memory may take together.\n\n"
     "Parameters\n"
     "----------\n"
     "nbytes : int or None\n"
     "    The limit in bytes; None means no limit.\n\n"
     "Examples\n"
     "--------\n"
     ">>> np.device(\"cpu\").memory_limit(None)"},
    {"memory_trim", device_trim, METH_NOARGS,
     "memory_trim($self, /)\n--\n\n"
     "Give cached memory back to the system.\n\n"
     "Examples\n"
     "--------\n"
     ">>> np.device(\"cpu\").memory_trim()"},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef device_getset[] = {
    {"name", get_info, NULL, "'cpu', 'cuda:0', 'null'.", "n"},
    {"kind", get_info, NULL, "'cpu', 'cuda' or 'null'.", "k"},
    {"model", get_info, NULL, "What the maker calls it.", "m"},
    {"arch", get_info, NULL, "What kernels are compiled for.", "a"},
    {"index", get_info, NULL, "Its number among its kind.", "i"},
    {"units", get_info, NULL, "Multiprocessors; cores.", "u"},
    {"driver", get_info, NULL, "The CUDA driver's version, 13000 for 13.0.", "d"},
    {"memory", get_info, NULL, "Bytes, in all.", "M"},
    {"host", get_info, NULL, "Is its memory the host's?", "h"},
    {"simt", get_info, NULL, "Do blocks consist of threads that run in warps?", "s"},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot device_slots[] = {
    {Py_tp_doc, "device(name=None)\n--\n\n"
                "A device by name; ``with device(name):`` makes it the thread's default.\n\n"
                "Attributes are name, kind, model, arch, index, units (multiprocessors or\n"
                "cores), driver (13000 for CUDA 13.0) and memory (bytes in all).\n\n"
                "Parameters\n"
                "----------\n"
                "name : str or device, optional\n"
                "    \"cpu\", \"cuda:0\" or \"cuda\"; None means the thread's default.\n\n"
                "Raises\n"
                "------\n"
                "DeviceError\n"
                "    There is no such device.\n\n"
                "Examples\n"
                "--------\n"
                ">>> np.device(\"cpu\").kind\n"
                "'cpu'"},
    PY_SLOT(Py_tp_new, device_new),
    PY_SLOT(Py_tp_dealloc, device_dealloc),
    PY_SLOT(Py_tp_str, device_str),
    PY_SLOT(Py_tp_repr, device_repr),
    PY_SLOT(Py_tp_hash, device_hash),
    PY_SLOT(Py_tp_richcompare, device_compare),
    {Py_tp_getset, device_getset},
    {Py_tp_methods, device_methods},
    {0, NULL},
};

static PyType_Spec device_spec = {
    .name = "treadle.device",
    .basicsize = sizeof(device),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = device_slots,
};

bool
py_device_init(PyObject *m)
{
    return py_add_type(m, "device", &device_spec, &py.device);
}

/* ---- functions ---- */

static PyObject *
use(PyObject *module, PyObject *name)
{
    td_dev *d = NULL;

    (void)module;
    if (name != Py_None && !py_device(name, &d))
        return NULL;
    td_dev_use(d);
    return Py_NewRef(Py_None);
}

static bool
append_device(PyObject *list, const char *name)
{
    PyObject *o;
    td_dev *d;
    int r;

    if (!py_ok(td_dev_get(name, &d)) || !(o = py_device_object(d)))
        return false;
    r = PyList_Append(list, o);
    Py_DECREF(o);
    return r == 0;
}

static PyObject *
devices(PyObject *module, PyObject *unused)
{
    PyObject *list = PyList_New(0);
    bool ok = list != NULL;
    int n = td_dev_count(TD_DEV_CUDA);
    char name[16];

    (void)module, (void)unused;
    for (int i = 0; ok && i < n; i++) {
        PyOS_snprintf(name, sizeof name, "cuda:%d", i);
        ok = append_device(list, name);
    }
    if (!ok || !append_device(list, "cpu"))
        Py_CLEAR(list);
    return list;
}

/* Waits for a device, or for all of an object that lists some.  False: exception. */
static bool
wait_for(PyObject *o)
{
    bool one = PyUnicode_Check(o) || Py_IS_TYPE(o, py.device) || o == Py_None;
    PyObject *items = one ? NULL : PySequence_Fast(o, "synchronize: give devices"), *d, *r = NULL;
    bool ok = one || items;
    td_dev *dev;

    if (one && py_device(o, &dev) && (d = py_device_object(dev))) {
        r = device_sync(d, NULL);
        Py_DECREF(d);
    }
    for (Py_ssize_t i = 0; ok && items && i < PySequence_Size(items); i++) {
        d = PySequence_GetItem(items, i);
        ok = d && wait_for(d);
        Py_XDECREF(d);
    }
    ok = one ? r != NULL : ok;
    Py_XDECREF(items);
    Py_XDECREF(r);
    return ok;
}

/* Waits for the current device, and for the others that were made so far. */
static bool
wait_for_all(void)
{
    td_dev *made[128], *current;
    int n = td_dev_made(made, (int)(sizeof made / sizeof *made));
    bool ok = py_device(NULL, &current) && wait_for(Py_None);

    for (int i = 0; i < n && ok; i++) {
        PyObject *d = made[i] == current ? NULL : py_device_object(made[i]);

        ok = made[i] == current || (d && wait_for(d));
        Py_XDECREF(d);
    }
    return ok;
}

static PyObject *
synchronize(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    bool ok = nargs && (nargs > 1 || args[0] != Py_None) ? true : wait_for_all();

    (void)module;
    for (Py_ssize_t i = 0; i < nargs && ok; i++)
        ok = args[i] == Py_None || wait_for(args[i]);
    return ok ? Py_NewRef(Py_None) : NULL;
}

static PyObject *
cuda_missing(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    return PyUnicode_FromString(td_dev_cuda_missing());
}

static PyObject *
options(PyObject *module, PyObject *unused)
{
    const td_opts *o = td_options();

    (void)module, (void)unused;
    return Py_BuildValue("{s:z,s:z,s:z,s:z,s:z,s:z,s:n,s:i,s:i,s:i,s:O}", "device", o->device,
                         "checks", o->checks ? o->checks : "none", "cpu", o->cpu, "dump", o->dump,
                         "cache_dir", o->cache_dir, "profile", o->profile, "cache_size",
                         (Py_ssize_t)o->cache_size, "threads", o->threads, "eager", o->eager,
                         "kernels_kept", o->kept, "sync", o->sync ? Py_True : Py_False);
}

/* device, number -> the driver's attribute; None: there is none */
static PyObject *
attribute(PyObject *module, PyObject *args)
{
    PyObject *where;
    int number, value = 0;
    td_status st;
    td_dev *d;

    (void)module;
    if (!PyArg_ParseTuple(args, "Oi:_device_attribute", &where, &number) || !py_device(where, &d))
        return NULL;
    st = td_dev_attribute(d, number, &value);
    if (st == TD_SKIP)
        return Py_NewRef(Py_None);
    return py_ok(st) ? PyLong_FromLong(value) : NULL;
}

static PyObject *
uuid(PyObject *module, PyObject *where)
{
    unsigned char bytes[16];
    td_status st;
    td_dev *d;

    (void)module;
    if (!py_device(where, &d))
        return NULL;
    st = td_dev_uuid(d, bytes);
    if (st == TD_SKIP)
        return Py_NewRef(Py_None);
    return py_ok(st) ? PyBytes_FromStringAndSize((const char *)bytes, sizeof bytes) : NULL;
}

static PyObject *
device_choose(PyObject *module, PyObject *where)
{
    td_dev *d = NULL;

    (void)module;
    if (where != Py_None && !py_device(where, &d))
        return NULL;
    td_dev_choose(d);
    return Py_NewRef(Py_None);
}

static PyObject *
profiler(PyObject *module, PyObject *args)
{
    PyObject *where;
    td_dev *d;
    int on;

    (void)module;
    if (!PyArg_ParseTuple(args, "Op:_profiler", &where, &on) || !py_device(where, &d))
        return NULL;
    return py_ok(td_dev_profiler(d, on)) ? Py_NewRef(Py_None) : NULL;
}

PyMethodDef py_device_functions[] = {
    {"_device_attribute", attribute, METH_VARARGS,
     "_device_attribute(device, number): CUDA's attribute of that number; None: the device has "
     "none."},
    {"_device_uuid", uuid, METH_O, "_device_uuid(device): 16 bytes, or None."},
    {"_choose_device", device_choose, METH_O,
     "_choose_device(device): the default of all threads that have used none; None: as before."},
    {"_profiler", profiler, METH_VARARGS,
     "_profiler(device, on): a profiler outside of the process collects, or not."},
    {"use", use, METH_O,
     "use($module, device, /)\n--\n\n"
     "Set the calling thread's default device.\n\n"
     "Parameters\n"
     "----------\n"
     "device : device, str or None\n"
     "    The device from now on; None goes back to the process's.\n\n"
     "Raises\n"
     "------\n"
     "DeviceError\n"
     "    There is no such device.\n\n"
     "Examples\n"
     "--------\n"
     ">>> np.use(\"cpu\")\n"
     ">>> np.use(None)"},
    {"devices", devices, METH_NOARGS,
     "devices($module, /)\n--\n\n"
     "All devices that can be used, GPUs first.\n\n"
     "Returns\n"
     "-------\n"
     "list of devices\n"
     "    The CPU is the last one.\n\n"
     "Examples\n"
     "--------\n"
     ">>> str(np.devices()[-1])\n"
     "'cpu'"},
    {"synchronize", PY_FAST(synchronize), METH_FASTCALL,
     "synchronize($module, *devices)\n--\n\n"
     "Launch recorded work and wait for all of it.\n\n"
     "Parameters\n"
     "----------\n"
     "*devices : device, str or mesh\n"
     "    The devices; none, or None, means all that have been used.\n\n"
     "Raises\n"
     "------\n"
     "DeviceError\n"
     "    Work that was given to the device failed.\n\n"
     "Examples\n"
     "--------\n"
     ">>> np.synchronize()"},
    {"cuda_missing", cuda_missing, METH_NOARGS,
     "cuda_missing($module, /)\n--\n\n"
     "Why there is no CUDA device; '' when there is one."},
    {"options", options, METH_NOARGS,
     "options($module, /)\n--\n\n"
     "What was read from TREADLE_* in the environment."},
    {NULL, NULL, 0, NULL},
};

td_dev *
py_cpu(void)
{
    td_dev *d = NULL;

    return td_dev_get("cpu", &d) ? NULL : d;
}
