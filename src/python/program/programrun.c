/* programrun.c - launches CUDA C++ kernels: grid, block and keywords, limits, and what follows a
 * launch.
 */
#include "python/program/program.h"

#include "array/graph/capture.h"
#include "array/run/spill.h"
#include "dev/core/site.h"
#include "dev/core/trace.h"
#include "dev/cpu/cpucode.h"
#include "dev/foreign/driver.h"

#include <string.h>

#define ARGUMENTS_OFFSET                                                                           \
    ((size_t)1 << (8 * sizeof(size_t) - 1)) /* flag in the argument count of a vectorcall */

/* ---- grid and block ---- */

static bool
read_extent(PyObject *o, const char *what, uint32_t *out)
{
    long v = PyLong_CheckExact(o) ? PyLong_AsLong(o) : -1;

    if (!PyLong_CheckExact(o)) {
        PyObject *n = PyNumber_Index(o);

        v = n ? PyLong_AsLong(n) : -1;
        Py_XDECREF(n);
    }
    if (v > 0 && v <= UINT32_MAX) {
        *out = (uint32_t)v;
        return true;
    }
    if (!PyErr_Occurred() || PyErr_ExceptionMatches(PyExc_OverflowError)) {
        PyErr_Clear();
        PyErr_Format(py.limit_error, "the %s's extents are positive numbers, not %R", what, o);
    }
    return false;
}

/* An int, or one to three of them. */
static bool
read_extents(PyObject *o, const char *what, uint32_t out[3])
{
    bool tuple = PyTuple_Check(o);
    Py_ssize_t n;
    bool ok = true;

    out[0] = out[1] = out[2] = 1;
    if (PyIndex_Check(o))
        return read_extent(o, what, &out[0]);
    n = tuple ? PyTuple_Size(o) : PySequence_Size(o);
    if (n < 0)
        PyErr_Clear();
    if (n < 1 || n > 3) {
        PyErr_Format(PyExc_TypeError, "the %s is a number or a tuple of up to three, not %R", what,
                     o);
        return false;
    }
    for (Py_ssize_t i = 0; ok && i < n; i++) {
        PyObject *item = tuple ? PyTuple_GetItem(o, i) : PySequence_GetItem(o, i);

        ok = item && read_extent(item, what, &out[i]);
        if (!tuple)
            Py_XDECREF(item);
    }
    return ok;
}

/* ---- limits ---- */

static const char *const extent_name[7] = {"the block's x",
                                           "the block's y",
                                           "the block's z",
                                           "the grid's x",
                                           "the grid's y",
                                           "the grid's z",
                                           "the block's number of threads"};

void
py_cukernel_limits(py_cukernel *k)
{
    static const uint32_t usual[7] = {1024, 1024, 64, INT32_MAX, UINT16_MAX, UINT16_MAX, 1024};
    int v;

    for (int i = 0; i < 6; i++) /* CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X … GRID_DIM_Z are 2 … 7 */
        k->most[i] = td_dev_attribute(k->dev, 2 + i, &v) == TD_OK && v > 0 ? (uint32_t)v : usual[i];
    k->most[6] = td_func_attribute(k->func, CU_FUNC_MAX_THREADS, &v) == TD_OK && v > 0 ? (uint32_t)v
                                                                                       : usual[6];
}

static bool
within_limits(const py_cukernel *k, const td_dims *d)
{
    const uint64_t have[7] = {d->block[0],
                              d->block[1],
                              d->block[2],
                              d->grid[0],
                              d->grid[1],
                              d->grid[2],
                              (uint64_t)d->block[0] * d->block[1] * d->block[2]};

    for (int i = 0; i < 7; i++)
        if (have[i] > k->most[i]) {
            PyErr_Format(py.limit_error, "%U: %s is %llu, %s %s %u", k->name, extent_name[i],
                         (unsigned long long)have[i], i == 6 ? "the kernel on" : "the device",
                         td_dev_info(k->dev)->name, k->most[i]);
            return false;
        }
    return true;
}

/* ---- the launch ---- */

static void
keep_arrays(const py_cuargs *g, bool on)
{
    for (uint32_t i = 0; i < g->narray; i++) {
        if (on)
            (void)td_buf_ref(g->array[i].buf);
        else
            td_buf_unref(g->array[i].buf);
    }
}

/* On the CPU the kernel runs now; other threads may use the GIL meanwhile. */
static td_status
launch_here(py_cuargs *g, td_stream *s, const td_dims *d)
{
    void *token;
    td_status st;

    keep_arrays(g, true);
    token = td_graph_unlock();
    st = td_launch(g->k->func, s, d, (const uint64_t *)(const void *)g->bytes, (int)g->n);
    td_graph_lock(token);
    keep_arrays(g, false);
    return st;
}

static td_status
launch_there(py_cuargs *g, td_stream *s, const td_dims *d)
{
    td_status st = td_stream_enter(s);

    td_site_hold(); /* a failure that comes late names this line */
    if (!st)
        st = td_launch(g->k->func, s, d, (const uint64_t *)(const void *)g->bytes, (int)g->n);
    for (uint32_t i = 0; !st && i < g->narray; i++)
        if (g->array[i].buf->stream != s)
            td_buf_use(g->array[i].buf, s);
    td_site_release();
    return st ? st : td_stream_leave(s);
}

/* While a graph is captured: it will launch the kernel again, so it keeps what the launch
 * needs. */
static bool
keep_for_graph(const py_cukernel *k, PyObject *const *args, Py_ssize_t n)
{
    bool ok = py_capture_keep((PyObject *)(uintptr_t)k);

    for (Py_ssize_t i = 0; ok && i < n; i++)
        ok = py_capture_keep(args[i]);
    return ok;
}

static size_t
nbytes_of(const td_array *a)
{
    return (size_t)td_array_size(a) * td_dtype_size(td_array_dtype(a));
}

static PyObject *
launch_held(py_cuargs *g, td_stream *s, td_dims *d, PyObject *const *args, Py_ssize_t n)
{
    const py_cukernel *k = g->k;
    td_dev *now;
    td_status st;

    d->offset = g->own ? g->offset : k->offset;
    d->packed = g->nbytes;
    d->what = k->label;
    for (Py_ssize_t i = 0; td_watched() && i < n; i++)
        if (py_is_array(args[i])) /* for profiles; memory of plain pointers is not counted */
            d->nbytes += nbytes_of(&((py_ndarray *)args[i])->a);
    if (!py_ok(td_dev_current(&now)) || (td_capture_now() && !keep_for_graph(k, args, n)) ||
        !py_cuargs_settle(g))
        return NULL;
    st = td_dev_info(k->dev)->host ? launch_here(g, s, d) : launch_there(g, s, d);
    if (!py_program_flush())
        return NULL;
    if (st == TD_ERR_VALUE) /* on the CPU, shared memory beyond the limit */
        PyErr_SetString(py.limit_error, td_error());
    return st == TD_ERR_VALUE || !py_ok(st) ? NULL : Py_NewRef(Py_None);
}

static PyObject *
programrun_launch(py_cuargs *g, td_stream *s, td_dims *d, PyObject *const *args, Py_ssize_t n)
{
    PyObject *r;
    td_hold h;

    td_hold_begin(&h);
    r = launch_held(g, s, d, args, n);
    td_hold_end(&h);
    return r;
}

/* keywords - those of a launch. */
typedef struct keywords {
    td_stream *stream;
    uint32_t shared;
    bool cooperative;
} keywords;

static bool
read_keywords(const py_cukernel *k, PyObject *const *values, PyObject *names, keywords *out)
{
    Py_ssize_t n = names ? PyTuple_Size(names) : 0;

    *out = (keywords){.stream = td_dev_stream(k->dev)};
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *name = PyTuple_GetItem(names, i);
        bool ok;

        if (PyUnicode_CompareWithASCIIString(name, "stream") == 0) {
            ok = py_stream(values[i], k->dev, &out->stream);
        } else if (PyUnicode_CompareWithASCIIString(name, "shared") == 0 ||
                   PyUnicode_CompareWithASCIIString(name, "shared_size") == 0) { /* PyCUDA's name */
            ok = py_shared_bytes(values[i], &out->shared);
        } else if (PyUnicode_CompareWithASCIIString(name, "cooperative") == 0) {
            ok = py_flag(values[i], false, &out->cooperative);
        } else {
            PyErr_Format(PyExc_TypeError,
                         "a launch has no keyword '%U': shared, stream, cooperative", name);
            ok = false;
        }
        if (!ok)
            return false;
    }
    return true;
}

/* The launch's configuration from the first two arguments. */
static bool
read_dims(const py_cukernel *k, PyObject *const *args, const keywords *kw, td_dims *d)
{
    d->shared = kw->shared;
    d->first = d->last = 0;
    d->cooperative = kw->cooperative;
    d->nbytes = 0;
    d->site = 0;
    return read_extents(args[0], "grid", d->grid) && read_extents(args[1], "block", d->block) &&
           within_limits(k, d);
}

static PyObject *
too_few(const py_cukernel *k, const char *how)
{
    PyErr_Format(PyExc_TypeError, "%U: a launch is %s", k->name, how);
    return NULL;
}

/* kernel(grid, block, args, *, shared, stream, cooperative) */
PyObject *
py_cukernel_call(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *names)
{
    const py_cukernel *k = (const py_cukernel *)self;
    Py_ssize_t nargs = (Py_ssize_t)(nargsf & ~ARGUMENTS_OFFSET), n;
    PyObject *list, *item[PY_CU_ARGS], *r = NULL;
    keywords kw;
    py_cuargs g;
    td_dims d;

    if (nargs < 2 || nargs > 3)
        return too_few(k, "kernel(grid, block, (arguments, ...), shared=, stream=, cooperative=)");
    if (!read_keywords(k, args + nargs, names, &kw) || !read_dims(k, args, &kw, &d))
        return NULL;
    list = nargs < 3                ? PyTuple_New(0)
           : PyTuple_Check(args[2]) ? Py_NewRef(args[2])
                                    : PySequence_Tuple(args[2]);
    n = list ? PyTuple_Size(list) : 0;
    if (list && n > PY_CU_ARGS)
        PyErr_Format(PyExc_TypeError, "%U: %zd arguments, at most %d are possible", k->name, n,
                     PY_CU_ARGS);
    for (Py_ssize_t i = 0; i < n && n <= PY_CU_ARGS; i++)
        item[i] = PyTuple_GetItem(list, i);
    if (list && n <= PY_CU_ARGS && py_cuargs_read(&g, k, item, n))
        r = programrun_launch(&g, kw.stream, &d, item, n);
    Py_XDECREF(list);
    return r;
}

/* prepared(grid, block, *args, shared, stream, cooperative) */
PyObject *
py_cukernel_prepared(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *names)
{
    const py_cukernel *k = (const py_cukernel *)self;
    Py_ssize_t nargs = (Py_ssize_t)(nargsf & ~ARGUMENTS_OFFSET);
    keywords kw;
    py_cuargs g;
    td_dims d;

    if (nargs < 2)
        return too_few(k, "prepared(grid, block, *arguments, shared=, stream=)");
    if (!read_keywords(k, args + nargs, names, &kw) || !read_dims(k, args, &kw, &d) ||
        !py_cuargs_read(&g, k, args + 2, nargs - 2))
        return NULL;
    return programrun_launch(&g, kw.stream, &d, args + 2, nargs - 2);
}

/* kernel.packed(grid, block, buffer, *, shared, stream, cooperative) */
PyObject *
py_cukernel_packed(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *names)
{
    const py_cukernel *k = (const py_cukernel *)self;
    PyObject *r = NULL;
    Py_buffer b;
    keywords kw;
    py_cuargs g;
    td_dims d;

    if (nargs != 3)
        return too_few(k, "packed(grid, block, buffer, shared=, stream=)");
    if (!read_keywords(k, args + nargs, names, &kw) || !read_dims(k, args, &kw, &d) ||
        PyObject_GetBuffer(args[2], &b, PyBUF_SIMPLE) < 0)
        return NULL;
    if (!k->param) {
        PyErr_Format(PyExc_TypeError,
                     "%U: the driver does not tell its parameters: prepare it with a format",
                     k->name);
    } else if ((size_t)b.len != k->nbytes) {
        PyErr_Format(PyExc_TypeError,
                     "%U: %zd bytes of packed arguments for %u bytes of parameters", k->name, b.len,
                     k->nbytes);
    } else {
        g.k = k;
        g.n = k->nparam;
        g.narray = 0;
        g.own = false;
        g.nbytes = k->nbytes;
        memcpy(g.bytes, b.buf, k->nbytes);
        r = programrun_launch(&g, kw.stream, &d, NULL, 0);
    }
    PyBuffer_Release(&b);
    return r;
}
