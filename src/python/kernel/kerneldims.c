/* kerneldims.c - reads the launch configuration k[grid, block, stream, shared] and checks the
 * device's limits.
 */
#include "python/kernel/kernel.h"

/* Limits of grids and blocks that every CUDA device has; a CPU uses the same. */
static const int64_t grid_max[3] = {INT32_MAX, 65535, 65535}, block_max[3] = {1024, 1024, 64};

enum {
    CPU_THREADS = 1024,
    CPU_SHARED = 227 << 10,
    ATTR_SHARED_OPTIN = 97, /* CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN */
};

/* ---- reading ---- */

static bool
read_extent(PyObject *o, const char *what, uint32_t *out)
{
    PyObject *n = PyNumber_Index(o);
    int over = 0;
    long long v = n ? PyLong_AsLongLongAndOverflow(n, &over) : -1;

    Py_XDECREF(n);
    if (!n) {
        PyErr_Format(PyExc_TypeError, "the %s of a launch is an int or a tuple of up to 3, not %R",
                     what, (PyObject *)Py_TYPE(o));
        return false;
    }
    if (over || v < 1 || v > UINT32_MAX) {
        PyErr_Format(PyExc_ValueError, "the %s of a launch has extents from 1 on, not %R", what, o);
        return false;
    }
    *out = (uint32_t)v;
    return true;
}

static bool
read_extents(PyObject *o, const char *what, uint32_t out[3])
{
    Py_ssize_t n;

    out[0] = out[1] = out[2] = 1;
    if (PyLong_Check(o) || !PySequence_Check(o))
        return read_extent(o, what, &out[0]);
    n = PySequence_Size(o);
    if (n < 1 || n > 3) {
        PyErr_Format(PyExc_ValueError, "the %s of a launch has 1 to 3 extents, not %zd", what, n);
        return false;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *item = PySequence_GetItem(o, i);
        bool ok = item && read_extent(item, what, &out[i]);

        Py_XDECREF(item);
        if (!ok)
            return false;
    }
    return true;
}

/* A Stream knows its device; a number is a stream of the default device. */
static bool
read_stream(PyObject *o, td_stream **out)
{
    td_dev *d;

    *out = NULL;
    if (py_is_none(o) || (PyLong_Check(o) && PyLong_AsLong(o) == 0 && !PyErr_Occurred()))
        return true;
    if (Py_IS_TYPE(o, py.stream)) {
        PyObject *where = PyObject_GetAttrString(o, "device");
        bool ok = where && py_device(where, &d) && py_stream(o, d, out);

        Py_XDECREF(where);
        return ok;
    }
    return py_device(NULL, &d) && py_stream(o, d, out);
}

bool
py_shared_bytes(PyObject *o, uint32_t *out)
{
    PyObject *n = PyNumber_Index(o);
    long long v = n ? PyLong_AsLongLong(n) : -1;

    Py_XDECREF(n);
    if (v >= 0 && v <= UINT32_MAX) {
        *out = (uint32_t)v;
        return true;
    }
    PyErr_Clear();
    PyErr_Format(PyExc_ValueError, "the shared memory of a launch is a number of bytes, not %R", o);
    return false;
}

bool
py_dims_read(py_dispatcher *d, PyObject *key, py_dims *out)
{
    Py_ssize_t n = PyTuple_Check(key) ? PyTuple_Size(key) : 1;

    *out = (py_dims){.stream = NULL};
    if (n < 2 || n > 4) {
        PyErr_Format(PyExc_ValueError,
                     "%U is launched as %U[grid, block](...) or %U[grid, block, stream, shared "
                     "bytes](...): %zd given",
                     d->name, d->name, d->name, n);
        return false;
    }
    return read_extents(PyTuple_GetItem(key, 0), "grid", out->dims.grid) &&
           read_extents(PyTuple_GetItem(key, 1), "block", out->dims.block) &&
           (n < 3 || read_stream(PyTuple_GetItem(key, 2), &out->stream)) &&
           (n < 4 || py_shared_bytes(PyTuple_GetItem(key, 3), &out->dims.shared));
}

/* ---- limits ---- */

static bool
above(py_dispatcher *d, const py_spec *s, const char *what, int64_t value, int64_t limit)
{
    if (value <= limit)
        return false;
    PyErr_Format(PyExc_ValueError, "%U: %s is %lld, %s allows %lld", d->name, what,
                 (long long)value, td_dev_info(s->dev)->name, (long long)limit);
    return true;
}

static int64_t
most_shared(const py_spec *s)
{
    int most;

    if (!td_dev_info(s->dev)->simt)
        return CPU_SHARED;
    return td_dev_attribute(s->dev, ATTR_SHARED_OPTIN, &most) == TD_OK && most > 0
               ? most
               : (int64_t)td_dev_info(s->dev)->max_shared;
}

td_status
py_blocks_most(const py_spec *s, const td_dims *dims, int64_t *out)
{
    int64_t threads = (int64_t)dims->block[0] * dims->block[1] * dims->block[2];
    td_func *f = s->kernel ? td_jit_func(s->kernel) : NULL;
    int each = 0;
    td_status st = f ? td_func_resident(f, (int)threads, dims->shared, &each) : TD_SKIP;

    *out = st ? INT32_MAX : (int64_t)each * td_dev_info(s->dev)->units;
    return st == TD_SKIP ? TD_OK : st; /* a CPU runs any number of blocks at once */
}

/* All blocks of a kernel with grid.sync() must fit the device at once. */
static bool
fits_device(py_dispatcher *d, const py_spec *s, const td_dims *dims)
{
    int64_t most;

    return py_ok(py_blocks_most(s, dims, &most)) &&
           !above(d, s, "the number of blocks, which wait for each other,",
                  (int64_t)dims->grid[0] * dims->grid[1] * dims->grid[2], most);
}

/* Does the launch give at least the dynamic shared memory that is known to be used? */
static bool
gives_shared(py_dispatcher *d, const py_spec *s, const td_dims *dims)
{
    const td_made *m = &s->made;

    if (dims->shared >= m->dynamic)
        return true;
    PyErr_Format(PyExc_ValueError,
                 "%U uses dynamic shared memory, %s%llu bytes a block, and the launch gives %u: "
                 "write %U[grid, block, stream, %s]",
                 d->name, m->sized ? "" : "at least ", (unsigned long long)m->dynamic, dims->shared,
                 d->name, m->sized ? "bytes" : "bytes of all its elements");
    return false;
}

bool
py_dims_check(py_dispatcher *d, const py_spec *s, const td_dims *dims)
{
    static const char *const grids[] = {"the grid's x", "the grid's y", "the grid's z"},
                             *const blocks[] = {"the block's x", "the block's y", "the block's z"};
    const td_devinfo *info = td_dev_info(s->dev);
    bool cpu = !info->simt;
    int64_t threads = (int64_t)dims->block[0] * dims->block[1];

    for (int i = 0; i < 3; i++)
        if (above(d, s, grids[i], dims->grid[i], grid_max[i]) ||
            above(d, s, blocks[i], dims->block[i], block_max[i]))
            return false;
    threads *= dims->block[2];
    return gives_shared(d, s, dims) &&
           !above(d, s, "the block's number of threads", threads,
                  cpu ? CPU_THREADS : info->max_threads) &&
           !(d->how.threads && above(d, s, "the block's number of threads (launch bounds)", threads,
                                     d->how.threads)) &&
           !((dims->shared || s->made.shared) &&
             above(d, s, "shared memory in bytes", (int64_t)dims->shared + s->made.shared,
                   most_shared(s))) &&
           (!s->made.cooperative || fits_device(d, s, dims));
}
