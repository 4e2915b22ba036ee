/* graph.c - treadle._core.Capture for treadle/_compile/_graph.py: records a function's work. */
#include "python/common/py.h"

#include "array/graph/capture.h"

#include <stdlib.h>

typedef struct capture {
    PyObject_HEAD td_capture *c;
    PyObject *keep; /* a list: generators that the core borrows */
} capture;

static PyTypeObject *capture_type;
static _Thread_local PyObject *keeping; /* the list of the thread's open capture; borrowed */

bool
py_capture_keep(PyObject *o)
{
    return !td_capture_now() || !keeping || PyList_Append(keeping, o) == 0;
}

/* The arrays of a tuple or list, borrowed; the caller frees *out. */
static bool
capture_arrays(PyObject *seq, const td_array ***out, int *n)
{
    Py_ssize_t size = PyTuple_Check(seq) ? PyTuple_Size(seq) : -1;

    *out = NULL;
    if (size < 0) {
        PyErr_SetString(PyExc_TypeError, "Capture: a tuple of arrays is expected");
        return false;
    }
    *out = malloc(((size_t)size + 1) * sizeof **out);
    if (!*out) {
        PyErr_NoMemory();
        return false;
    }
    for (Py_ssize_t i = 0; i < size; i++) {
        PyObject *o = PyTuple_GetItem(seq, i);

        if (!py_is_array(o)) {
            PyErr_SetString(PyExc_TypeError, "Capture: a tuple of arrays is expected");
            return false;
        }
        (*out)[i] = py_array_of(o);
    }
    *n = (int)size;
    return true;
}

/* Takes the arrays, also on failure. */
static PyObject *
tuple_of(td_array *a, int n)
{
    PyObject *t = PyTuple_New(n);

    for (int i = 0; i < n; i++) {
        PyObject *o = t ? py_wrap(&a[i]) : NULL;

        if (!o)
            Py_CLEAR(t);
        else
            PyTuple_SetItem(t, i, o);
        if (a[i].store)
            td_array_unref(&a[i]);
    }
    return t;
}

/* Capture(device, inputs) -> (capture, placeholders) */
static PyObject *
capture_begin(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    const td_array **in = NULL;
    td_array *place = NULL;
    PyObject *places, *r = NULL;
    capture *self = NULL;
    td_dev *d;
    int n;

    (void)module;
    if (nargs != 2 || !py_device(args[0], &d) || !capture_arrays(args[1], &in, &n))
        goto out;
    place = calloc((size_t)n + 1, sizeof *place);
    if (!place) {
        PyErr_NoMemory();
        goto out;
    }
    self = PyObject_New(capture, capture_type);
    if (!self)
        goto out;
    self->c = NULL;
    self->keep = PyList_New(0);
    if (!self->keep || !py_ok(td_capture_begin(d, in, n, &self->c, place)))
        goto out;
    keeping = self->keep;
    places = tuple_of(place, n);
    if (places)
        r = PyTuple_Pack(2, (PyObject *)self, places);
    Py_XDECREF(places);
out:
    Py_XDECREF((PyObject *)self);
    free(place);
    free(in);
    return r;
}

static PyObject *
capture_end(PyObject *o, PyObject *const *args, Py_ssize_t nargs)
{
    capture *self = (capture *)o;
    const td_array **out = NULL;
    bool fixed = false;
    int n;
    td_status st;

    if (nargs != 2 || !capture_arrays(args[0], &out, &n) || !py_flag(args[1], false, &fixed)) {
        free(out);
        return NULL;
    }
    st = td_capture_end(self->c, out, n, fixed);
    keeping = NULL;
    free(out);
    return py_ok(st) ? Py_NewRef(Py_None) : NULL;
}

static PyObject *
capture_drop(PyObject *o, PyObject *unused)
{
    capture *self = (capture *)o;

    (void)unused;
    keeping = NULL;
    td_capture_free(self->c);
    self->c = NULL;
    return Py_NewRef(Py_None);
}

/* Replays the capture.  The results, or None if the capture does not fit the inputs. */
static PyObject *
play(PyObject *o, PyObject *inputs)
{
    capture *self = (capture *)o;
    const td_array **in = NULL;
    td_array few[8], *out = few;
    PyObject *r = NULL;
    td_status st;
    int n, nout;

    if (!self->c) {
        PyErr_SetString(PyExc_ValueError, "Capture: it was dropped");
        return NULL;
    }
    nout = td_capture_info(self->c).results;
    if (nout > 8)
        out = calloc((size_t)nout, sizeof *out);
    if (!out)
        return PyErr_NoMemory();
    if (capture_arrays(inputs, &in, &n)) {
        st = td_capture_play(self->c, in, n, out);
        if (st == TD_SKIP)
            r = Py_NewRef(Py_None);
        else
            r = py_ok(st) ? tuple_of(out, nout) : NULL;
    }
    free(in);
    if (out != few)
        free(out);
    return r;
}

static PyObject *
info(PyObject *o, void *unused)
{
    td_captureinfo i = {0};

    (void)unused;
    if (((capture *)o)->c)
        i = td_capture_info(((capture *)o)->c);
    return Py_BuildValue("{s:i,s:i,s:i,s:i,s:n}", "kernels", i.tape.kernels, "runs", i.tape.runs,
                         "patched", i.tape.patched, "outer", i.outer, "nbytes",
                         (Py_ssize_t)i.tape.nbytes);
}

/* (kind, name, bytes, line) of each recorded piece of work. */
static PyObject *
work(PyObject *o, void *unused)
{
    const td_capture *c = ((capture *)o)->c;
    int n = c ? td_capture_info(c).tape.kernels : 0;
    PyObject *list = PyList_New(n);

    (void)unused;
    for (int i = 0; list && i < n; i++) {
        td_tapework w = td_capture_work(c, i);
        PyObject *item =
            Py_BuildValue("(ssns)", w.kind, w.name, (Py_ssize_t)w.nbytes, td_name_text(w.site));

        if (!item || PyList_SetItem(list, i, item) < 0)
            Py_CLEAR(list);
    }
    return list;
}

static void
capture_dealloc(PyObject *o)
{
    capture *self = (capture *)o;
    PyTypeObject *type = Py_TYPE(o);

    td_capture_free(self->c);
    Py_XDECREF(self->keep);
    PyObject_Free(o);
    Py_DECREF(type);
}

static PyObject *
capturing(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    return PyBool_FromLong(td_capture_now() != NULL);
}

static PyMethodDef functions[] = {
    {"_capture", PY_FAST(capture_begin), METH_FASTCALL,
     "_capture(device, inputs): (capture, placeholders); the thread records from now on."},
    {"_capturing", capturing, METH_NOARGS, "_capturing(): does the thread record?"},
    {NULL, NULL, 0, NULL},
};

bool
py_graph_init(PyObject *m)
{
    static PyMethodDef methods[] = {
        {"end", PY_FAST(capture_end), METH_FASTCALL,
         "end(results, static): recording has ended with these arrays."},
        {"drop", capture_drop, METH_NOARGS, "drop(): the capture is undone."},
        {"play", play, METH_O,
         "play(inputs): the results; None: other inputs than these were recorded."},
        {NULL, NULL, 0, NULL},
    };
    static PyGetSetDef getset[] = {
        {"info", info, NULL, "Counts of kernels, of rows of them, of patched ones; bytes.", NULL},
        {"work", work, NULL, "(kind, name, bytes, line) of each recorded piece of work.", NULL},
        {NULL, NULL, NULL, NULL, NULL},
    };
    static PyType_Slot slots[] = {
        {Py_tp_doc, "The recorded work of a function of arrays."},
        PY_SLOT(Py_tp_dealloc, capture_dealloc),
        {Py_tp_methods, methods},
        {Py_tp_getset, getset},
        {0, NULL},
    };
    static PyType_Spec spec = {
        .name = "treadle._core.Capture",
        .basicsize = sizeof(capture),
        .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
        .slots = slots,
    };

    capture_type = (PyTypeObject *)PyType_FromSpec(&spec);
    return capture_type && PyModule_AddFunctions(m, functions) == 0;
}
