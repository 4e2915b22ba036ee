/* nccl.c - groups of GPUs for python/treadle/distributed: joining, collectives on arrays, ending.
 *
 * A place in a group is a capsule that owns a td_comm until _nccl_close.  Arrays that are sent
 * are evaluated first; arrays that receive are new ones, which nobody else has seen.
 */
#include "dev/core/nccl.h"
#include "array/run/spill.h"
#include "dev/core/tape.h"
#include "python/common/py.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 1024 }; /* most calls made together */

static const char capsule_name[] = "treadle.nccl";

/* place - the contents of a capsule. */
typedef struct place {
    td_comm *comm; /* NULL: it has been closed */
} place;

static place *
comm_place(PyObject *o)
{
    place *p = PyCapsule_GetPointer(o, capsule_name);

    if (p && !p->comm) {
        PyErr_SetString(py.distributed, "the group was closed");
        return NULL;
    }
    return p;
}

static void
close_place(place *p)
{
    td_comm *c = p->comm;
    PyThreadState *gil;

    p->comm = NULL;
    if (!c)
        return;
    gil = PyEval_SaveThread();
    td_comm_free(c);
    PyEval_RestoreThread(gil);
}

static void
end_capsule(PyObject *o)
{
    place *p = PyCapsule_GetPointer(o, capsule_name);

    close_place(p);
    free(p);
}

/* Takes c. */
static PyObject *
capsule_of(td_comm *c)
{
    place *p = calloc(1, sizeof *p);
    PyObject *o = p ? PyCapsule_New(p, capsule_name, end_capsule) : NULL;

    if (!o) {
        td_comm_free(c);
        free(p);
        return p ? NULL : PyErr_NoMemory();
    }
    p->comm = c;
    return o;
}

/* ---- joining ---- */

/* device -> bytes */
static PyObject *
new_id(PyObject *module, PyObject *device)
{
    unsigned char id[TD_COMM_ID];
    PyThreadState *gil;
    td_status st;
    td_dev *d;

    (void)module;
    if (!py_device(device, &d))
        return NULL;
    gil = PyEval_SaveThread();
    st = td_comm_id(d, id);
    PyEval_RestoreThread(gil);
    return py_ok(st) ? PyBytes_FromStringAndSize((const char *)id, sizeof id) : NULL;
}

static bool
members_of(PyObject *devices, PyObject *ranks, td_dev **d, int *rank, int *n)
{
    Py_ssize_t count = PyTuple_Size(devices);

    if (count < 1 || count > MOST || PyTuple_Size(ranks) != count) {
        PyErr_SetString(PyExc_ValueError, "_nccl_join: as many ranks as devices, one or more");
        return false;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        rank[i] = (int)PyLong_AsLong(PyTuple_GetItem(ranks, i));
        if (PyErr_Occurred() || !py_device(PyTuple_GetItem(devices, i), &d[i]))
            return false;
    }
    *n = (int)count;
    return true;
}

/* devices, ranks, how many there are in all, id -> a capsule for each */
static PyObject *
nccl_join(PyObject *module, PyObject *args)
{
    PyObject *devices, *ranks, *r;
    td_dev *d[MOST];
    td_comm *comm[MOST];
    int rank[MOST], n, size;
    const char *id;
    Py_ssize_t nid;
    PyThreadState *gil;
    td_status st;

    (void)module;
    if (!PyArg_ParseTuple(args, "O!O!iy#:_nccl_join", &PyTuple_Type, &devices, &PyTuple_Type,
                          &ranks, &size, &id, &nid) ||
        !members_of(devices, ranks, d, rank, &n))
        return NULL;
    if (nid != TD_COMM_ID)
        return PyErr_Format(PyExc_ValueError, "_nccl_join: an id has %d bytes", TD_COMM_ID);
    gil = PyEval_SaveThread();
    st = td_comm_new(d, rank, n, size, (const unsigned char *)id, comm);
    PyEval_RestoreThread(gil);
    if (!py_ok(st))
        return NULL;
    r = PyTuple_New(n);
    for (int i = 0; i < n; i++) {
        PyObject *o = r ? capsule_of(comm[i]) : NULL;

        if (!r)
            td_comm_free(comm[i]);
        else if (o)
            PyTuple_SetItem(r, i, o);
        else
            Py_CLEAR(r);
    }
    return r;
}

/* ---- collectives ---- */

/* row - one call; holds the buffers while NCCL is called. */
typedef struct row {
    td_comm_call call;
    td_buf *src, *dst;
} row;

/* The memory of an evaluated array; None: no memory. */
static bool
comm_memory(PyObject *o, const td_comm *c, td_buf **buf, uintptr_t *at, size_t *count, td_dtype *dt)
{
    const td_array *a;

    *buf = NULL;
    if (o == Py_None)
        return true;
    if (!py_is_array(o)) {
        PyErr_SetString(PyExc_TypeError, "collective: treadle arrays");
        return false;
    }
    a = py_array_of(o);
    if (td_array_dev(a) != td_comm_dev(c) || !td_view_is_contiguous(&a->view)) {
        PyErr_SetString(PyExc_ValueError, "collective: C-contiguous arrays on the group's device");
        return false;
    }
    if (!py_ok(td_array_use(a, false, buf)))
        return false;
    (void)td_buf_ref(*buf);
    *dt = td_array_dtype(a);
    *count = (size_t)td_array_size(a);
    *at = (*buf)->ptr + (uintptr_t)a->view.offset * td_dtype_size(*dt);
    return true;
}

/* The stream for a call.  A recorded collective goes into the recording's order, since what it
 * could run concurrently with is not known. */
static td_stream *
stream_for(td_comm *c, bool apart)
{
    return apart && !td_tape_now() ? td_comm_stream(c) : td_dev_stream(td_comm_dev(c));
}

/* (capsule, op, src, dst, reduction, peer) */
static bool
parse_row(PyObject *tuple, bool apart, row *r)
{
    td_comm_call *k = &r->call;
    const char *op, *red;
    PyObject *capsule, *src, *dst;
    size_t from = 0, to = 0;
    place *p;
    int i, j;

    if (!PyArg_ParseTuple(tuple, "OsOOsi:_nccl_run", &capsule, &op, &src, &dst, &red, &k->peer) ||
        !(p = comm_place(capsule)))
        return false;
    i = td_comm_find(op);
    j = td_comm_find_red(red);
    if (i < 0 || j < 0) {
        PyErr_Format(PyExc_ValueError, "collective: no %s by %s", op, red);
        return false;
    }
    k->comm = p->comm;
    k->op = (td_comm_op)i;
    k->red = (td_comm_red)j;
    k->stream = stream_for(p->comm, apart);
    if (!comm_memory(src, p->comm, &r->src, &k->src, &from, &k->dt) ||
        !comm_memory(dst, p->comm, &r->dst, &k->dst, &to, &k->dt))
        return false;
    k->count = r->src && r->dst ? from < to ? from : to : r->src ? from : to;
    return true;
}

/* Is this the first call of its comm in the list? */
static bool
is_first(const row *rows, int i)
{
    for (int k = 0; k < i; k++)
        if (rows[k].call.comm == rows[i].call.comm)
            return false;
    return true;
}

/* Runs the calls; those on streams of their own wait for the default streams' work first. */
static td_status
run_rows(const row *rows, int n, bool apart)
{
    td_comm_call *calls = calloc((size_t)n, sizeof *calls);
    td_status st = calls ? TD_OK : td_fail(TD_ERR_NOMEM, "no host memory for %d collectives", n);

    for (int i = 0; i < n && !st; i++) {
        calls[i] = rows[i].call;
        if (apart && is_first(rows, i))
            st = td_stream_follow(calls[i].stream, td_dev_stream(td_comm_dev(calls[i].comm)));
    }
    st = st ? st : td_comm_run(calls, n);
    for (int i = 0; i < n; i++) {
        if (rows[i].src)
            td_buf_use(rows[i].src, rows[i].call.stream);
        if (rows[i].dst)
            td_buf_use(rows[i].dst, rows[i].call.stream);
    }
    free(calls);
    return st;
}

/* An event after the work of the stream, which is on c's device. */
static PyObject *
nccl_mark(const td_comm *c, td_stream *s)
{
    td_dev *d = td_comm_dev(c);
    td_event *e;
    PyObject *o;

    if (!py_ok(td_event_new(d, false, &e)))
        return NULL;
    o = py_event_wrap(e, d);
    if (o && !py_ok(td_event_record(e, s)))
        Py_CLEAR(o);
    return o;
}

/* Appends an event of the stream to the list. */
static bool
add_mark(PyObject *list, const td_comm *c, td_stream *s)
{
    PyObject *o = nccl_mark(c, s);
    bool ok = o && PyList_Append(list, o) == 0;

    Py_XDECREF(o);
    return ok;
}

/* A list of events, one after the calls of each comm. */
static PyObject *
mark_rows(const row *rows, int n)
{
    PyObject *list = PyList_New(0);

    for (int i = 0; i < n && list; i++)
        if (is_first(rows, i) && !add_mark(list, rows[i].call.comm, rows[i].call.stream))
            Py_CLEAR(list);
    return list;
}

/* calls, on streams of their own? -> then one event per comm, recorded after them; otherwise,
 * and while the thread records, no events, since the calls are in the default stream's order */
static PyObject *
nccl_run(PyObject *module, PyObject *args)
{
    PyObject *calls, *result = NULL;
    int apart, n;
    row *rows;
    PyThreadState *gil;
    td_status st;
    td_hold h;
    bool ok = true;

    (void)module;
    if (!PyArg_ParseTuple(args, "O!p:_nccl_run", &PyList_Type, &calls, &apart))
        return NULL;
    n = (int)PyList_Size(calls);
    if (n < 1)
        return PyList_New(0);
    rows = calloc((size_t)n, sizeof *rows);
    if (!rows)
        return PyErr_NoMemory();
    td_hold_begin(&h);
    for (int i = 0; i < n && ok; i++)
        ok = parse_row(PyList_GetItem(calls, i), apart != 0, &rows[i]);
    if (ok) {
        gil = PyEval_SaveThread();
        st = run_rows(rows, n, apart != 0);
        PyEval_RestoreThread(gil);
        if (py_ok(st))
            result = apart && !td_tape_now() ? mark_rows(rows, n) : PyList_New(0);
    }
    td_hold_end(&h);
    for (int i = 0; i < n; i++) {
        td_buf_unref(rows[i].src);
        td_buf_unref(rows[i].dst);
    }
    free(rows);
    return result;
}

/* ---- reductions in place ---- */

/* Can NCCL reduce the array in place? */
static bool
is_reducible(PyObject *o, const td_comm *c, td_comm_red red)
{
    const td_array *a = py_is_array(o) ? py_array_of(o) : NULL;

    return a && td_array_dev(a) == td_comm_dev(c) && td_view_is_contiguous(&a->view) &&
           td_array_size(a) && td_comm_reduces(td_array_dtype(a)) &&
           (red != TD_COMM_mean || td_dtype_is_float(td_array_dtype(a)));
}

/* Makes the call that reduces an array in place; its memory becomes its own.  1: done; 0: it
 * cannot be reduced in place; -1: exception. */
static int
place_call(PyObject *o, const td_comm *c, row *r)
{
    td_array *a;

    if (!is_reducible(o, c, r->call.red))
        return 0;
    a = py_array_of(o);
    if (!py_ok(td_array_use(a, true, &r->dst)))
        return -1;
    (void)td_buf_ref(r->dst);
    r->call.dt = td_array_dtype(a);
    r->call.count = (size_t)td_array_size(a);
    r->call.src = r->call.dst =
        r->dst->ptr + (uintptr_t)a->view.offset * td_dtype_size(td_array_dtype(a));
    return 1;
}

/* As place_call, for n arrays, n >= 1. */
static int
reduce_rows(PyObject *arrays, row *rows, int n, const td_comm_call *like, bool apart)
{
    PyThreadState *gil;
    td_status st;
    int done = 1;

    for (int i = 0; i < n && done == 1; i++) {
        rows[i].call = *like;
        done = place_call(PyList_GetItem(arrays, i), like->comm, &rows[i]);
    }
    if (done != 1)
        return done;
    gil = PyEval_SaveThread();
    st = run_rows(rows, n, apart && like->stream == td_comm_stream(like->comm));
    PyEval_RestoreThread(gil);
    return py_ok(st) ? 1 : -1;
}

/* capsule, list of arrays, reduction, on a stream of its own? -> an event after it, or None if
 * it is in the default stream's order.  NotImplemented: more than TD_TAPE_CALLS arrays, an
 * unknown reduction, or an array that is empty, not on the device, not dense in C order, or of
 * a dtype that NCCL does not reduce that way */
static PyObject *
reduce_in_place(PyObject *module, PyObject *args)
{
    PyObject *capsule, *arrays;
    td_comm_call like = {.op = TD_COMM_all_reduce};
    const char *red;
    int apart, n, done, kind;
    td_hold h;
    row *rows;
    place *p;

    (void)module;
    if (!PyArg_ParseTuple(args, "OO!sp:_nccl_reduce", &capsule, &PyList_Type, &arrays, &red,
                          &apart) ||
        !(p = comm_place(capsule)))
        return NULL;
    n = (int)PyList_Size(arrays);
    kind = td_comm_find_red(red);
    if (kind < 0 || n > TD_TAPE_CALLS)
        return Py_NewRef(Py_NotImplemented);
    rows = calloc((size_t)n + 1, sizeof *rows);
    if (!rows)
        return PyErr_NoMemory();
    like.comm = p->comm;
    like.red = (td_comm_red)kind;
    like.stream = stream_for(p->comm, apart != 0);
    td_hold_begin(&h);
    done = n ? reduce_rows(arrays, rows, n, &like, apart != 0) : 1;
    td_hold_end(&h);
    for (int i = 0; i < n; i++)
        td_buf_unref(rows[i].dst);
    free(rows);
    if (done != 1)
        return done ? NULL : Py_NewRef(Py_NotImplemented);
    return like.stream == td_comm_stream(p->comm) ? nccl_mark(like.comm, like.stream)
                                                  : Py_NewRef(Py_None);
}

/* ---- watching and ending ---- */

/* capsule -> (collectives begun, collectives whose call has returned) */
static PyObject *
nccl_count(PyObject *module, PyObject *capsule)
{
    place *p = comm_place(capsule);
    td_commcount k;

    (void)module;
    if (!p)
        return NULL;
    k = td_comm_count(p->comm);
    return Py_BuildValue("(KK)", (unsigned long long)k.begun, (unsigned long long)k.back);
}

/* capsule -> events recorded after all work that the device was given in the group */
static PyObject *
marks(PyObject *module, PyObject *capsule)
{
    place *p = comm_place(capsule);
    PyObject *list = p ? PyList_New(0) : NULL;

    (void)module;
    if (list && (!add_mark(list, p->comm, td_comm_stream(p->comm)) ||
                 !add_mark(list, p->comm, td_dev_stream(td_comm_dev(p->comm)))))
        Py_CLEAR(list);
    return list;
}

/* capsule, rank, count */
static PyObject *
left(PyObject *module, PyObject *args)
{
    unsigned long long n;
    PyObject *capsule;
    place *p;
    int rank;

    (void)module;
    if (!PyArg_ParseTuple(args, "OiK:_nccl_left", &capsule, &rank, &n) ||
        !(p = comm_place(capsule)))
        return NULL;
    td_comm_left(p->comm, rank, n);
    return Py_NewRef(Py_None);
}

/* capsule: raises PeerError if the group is broken */
static PyObject *
nccl_check(PyObject *module, PyObject *capsule)
{
    place *p = comm_place(capsule);

    (void)module;
    return p && py_ok(td_comm_check(p->comm)) ? Py_NewRef(Py_None) : NULL;
}

/* capsule, why */
static PyObject *
nccl_stop(PyObject *module, PyObject *args)
{
    PyObject *capsule;
    PyThreadState *gil;
    const char *why;
    place *p;

    (void)module;
    if (!PyArg_ParseTuple(args, "Os:_nccl_abort", &capsule, &why) || !(p = comm_place(capsule)))
        return NULL;
    gil = PyEval_SaveThread();
    td_comm_abort(p->comm, why);
    PyEval_RestoreThread(gil);
    return Py_NewRef(Py_None);
}

/* capsule: waits for its work, then closes it */
static PyObject *
shut(PyObject *module, PyObject *capsule)
{
    place *p = PyCapsule_GetPointer(capsule, capsule_name);

    (void)module;
    if (!p)
        return NULL;
    close_place(p);
    return Py_NewRef(Py_None);
}

/* device: the library that runs its collectives */
static PyObject *
info(PyObject *module, PyObject *device)
{
    td_dev *d;

    (void)module;
    return py_device(device, &d) ? PyUnicode_FromString(td_comm_info(d)) : NULL;
}

/* Counts the GPUs without opening any: a process that uses one should not touch the others. */
static PyObject *
gpus(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    return PyLong_FromLong(td_dev_count(TD_DEV_CUDA));
}

/* dtype: does NCCL compute with it? */
static PyObject *
reduces(PyObject *module, PyObject *dtype)
{
    td_dtype dt;

    (void)module;
    return py_dtype(dtype, &dt) ? PyBool_FromLong(td_comm_reduces(dt)) : NULL;
}

PyMethodDef py_nccl_functions[] = {
    {"_nccl_id", new_id, METH_O,
     "_nccl_id(device): bytes by which a group's members find each other."},
    {"_nccl_join", nccl_join, METH_VARARGS,
     "_nccl_join(devices, ranks, size, id): a capsule for each device."},
    {"_nccl_run", nccl_run, METH_VARARGS,
     "_nccl_run(calls, apart): (capsule, op, src, dst, reduction, peer) each; events behind them."},
    {"_nccl_reduce", reduce_in_place, METH_VARARGS,
     "_nccl_reduce(capsule, arrays, reduction, apart): in place; an event, None, NotImplemented."},
    {"_nccl_count", nccl_count, METH_O,
     "_nccl_count(capsule): collectives that have begun, and that have come back."},
    {"_nccl_marks", marks, METH_O, "_nccl_marks(capsule): events behind what was given."},
    {"_nccl_left", left, METH_VARARGS,
     "_nccl_left(capsule, rank, count): a member has left after so many collectives."},
    {"_nccl_check", nccl_check, METH_O,
     "_nccl_check(capsule): PeerError where the group is broken."},
    {"_nccl_abort", nccl_stop, METH_VARARGS, "_nccl_abort(capsule, why): what is under way ends."},
    {"_nccl_close", shut, METH_O, "_nccl_close(capsule): waits for its work and lets go of it."},
    {"_nccl_info", info, METH_O,
     "_nccl_info(device): path and version of NCCL, or what is missing."},
    {"_gpu_count", gpus, METH_NOARGS, "_gpu_count(): how many GPUs there are."},
    {"_nccl_reduces", reduces, METH_O, "_nccl_reduces(dtype): does NCCL compute with it?"},
    {NULL, NULL, 0, NULL},
};
