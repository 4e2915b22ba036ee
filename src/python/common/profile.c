/* profile.c - hands the core's profile records to treadle/_observe/_profile.py. */
#include "python/common/py.h"

#include "dev/core/trace.h"

static PyObject *
profile_start(PyObject *module, PyObject *unused)
{
    size_t from;

    (void)module, (void)unused;
    td_trace_start(&from);
    return PyLong_FromSize_t(from);
}

static PyObject *
profile_stop(PyObject *module, PyObject *unused)
{
    PyThreadState *gil = PyEval_SaveThread();
    size_t n = td_trace_stop();

    (void)module, (void)unused;
    PyEval_RestoreThread(gil);
    return PyLong_FromSize_t(n);
}

/* (kind, name, site, asked, device, lane, thread, failed, bytes, begin, end, on, off) */
static PyObject *
profile_record(const td_tracerec *r)
{
    return Py_BuildValue("(sssszHInnLLLL)", td_trace_kind_name((td_trace_kind)r->kind),
                         td_name_text(r->name), td_name_text(r->site), td_name_text(r->asked),
                         r->dev ? td_dev_info(r->dev)->name : NULL, (int)r->lane, r->thread,
                         (Py_ssize_t)r->failed, (Py_ssize_t)r->nbytes, (long long)r->begin,
                         (long long)r->end, (long long)r->on, (long long)r->off);
}

static PyObject *
records(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    size_t from = nargs == 2 ? PyLong_AsSize_t(args[0]) : 0,
           to = nargs == 2 ? PyLong_AsSize_t(args[1]) : 0;
    PyObject *list = PyErr_Occurred() ? NULL : PyList_New(0);
    td_tracerec r;

    (void)module;
    for (size_t i = from; list && i < to && td_trace_get(i, &r); i++) {
        PyObject *o = profile_record(&r);

        if (!o || PyList_Append(list, o) < 0)
            Py_CLEAR(list);
        Py_XDECREF(o);
    }
    return list;
}

static PyObject *
dropped(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    return PyLong_FromSize_t(td_trace_dropped());
}

static PyObject *
bandwidth(PyObject *module, PyObject *name)
{
    td_dev *d;

    (void)module;
    return py_device(name, &d) ? PyFloat_FromDouble(td_dev_bandwidth(d)) : NULL;
}

PyMethodDef py_profile_functions[] = {
    {"_trace_start", profile_start, METH_NOARGS, "_trace_start(): the number of the first record."},
    {"_trace_stop", profile_stop, METH_NOARGS, "_trace_stop(): the number of records."},
    {"_trace_records", PY_FAST(records), METH_FASTCALL, "_trace_records(from, to): tuples."},
    {"_trace_dropped", dropped, METH_NOARGS, "_trace_dropped(): records that found no room."},
    {"_bandwidth", bandwidth, METH_O,
     "_bandwidth(device): bytes a second of its memory; 0.0: not known."},
    {NULL, NULL, 0, NULL},
};
