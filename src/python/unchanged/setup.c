/* setup.c - functions of _core with which treadle.unchanged prepares unchanged programs and
 * inspects them.
 */
#include "python/unchanged/unchanged.h"

/* Does NumPy lay its arrays out as np_array says? */
static bool
layout_holds(PyObject *np)
{
    PyObject *a = PyObject_CallMethod(np, "zeros", "((ii)s)", 2, 3, "float32"),
             *at = a ? PyObject_GetAttrString(a, "ctypes") : NULL,
             *data = at ? PyObject_GetAttrString(at, "data") : NULL,
             *dtype = a ? PyObject_GetAttrString(a, "dtype") : NULL;
    const np_array *n = (const np_array *)a; /* px.ndarray is not known yet */
    bool ok = data && dtype && PyLong_AsVoidPtr(data) == n->data && n->ndim == 2 &&
              n->dim[0] == 2 && n->dim[1] == 3 && n->stride[0] == 12 && n->stride[1] == 4 &&
              !n->base && n->dtype == dtype &&
              (n->flags & (NP_C | NP_F | NP_OWN | NP_ALIGNED | NP_WRITE)) ==
                  (NP_C | NP_OWN | NP_ALIGNED | NP_WRITE);

    Py_XDECREF(a);
    Py_XDECREF(at);
    Py_XDECREF(data);
    Py_XDECREF(dtype);
    if (!ok && !PyErr_Occurred())
        PyErr_SetString(PyExc_ImportError,
                        "unchanged programs: this NumPy lays out its arrays in a "
                        "way that treadle does not know");
    return ok;
}

static bool
numpy_types(PyObject *np)
{
    for (int i = 0; i < TD_DTYPE_COUNT; i++) {
        if (i == TD_BF16)
            continue;
        px.dtype[i] = py_dtype_object((td_dtype)i);
        px.scalar[i] = px.dtype[i] ? PyObject_GetAttrString(px.dtype[i], "type") : NULL;
        if (!px.scalar[i])
            return false;
    }
    px.generic = (PyTypeObject *)PyObject_GetAttrString(np, "generic");
    px.ndarray = (PyTypeObject *)PyObject_GetAttrString(np, "ndarray");
    return px.generic && px.ndarray;
}

/* Replaces a reference; None becomes NULL. */
static void
set_reference(PyObject **place, PyObject *o)
{
    PyObject *old = *place;

    *place = o == Py_None ? NULL : Py_NewRef(o);
    Py_XDECREF(old);
}

static PyObject *
setup(PyObject *module, PyObject *far)
{
    PyObject *np = py_numpy();

    (void)module;
    if (!np || !layout_holds(np) || !numpy_types(np))
        return NULL;
    if (!px_arena_init() || !px_fault_watch()) {
        PyErr_SetString(PyExc_MemoryError, "unchanged programs: the system reserves no addresses");
        return NULL;
    }
    td_buf_on_new(px_buf_new);
    set_reference(&px.far, far);
    if (!px_numpy_init() || !px_slots_init() || !px_scalars_init() || !px_subscript_init() ||
        !px_method_init() || !px_choice_init())
        return NULL;
    return Py_NewRef(Py_None);
}

static PyObject *
set(PyObject *module, PyObject *args)
{
    long long crossover;
    PyObject *note, *watch;

    (void)module;
    if (!PyArg_ParseTuple(args, "LOO", &crossover, &note, &watch))
        return NULL;
    px.crossover = crossover;
    set_reference(&px.note, note);
    set_reference(&px.watch, watch);
    return Py_NewRef(Py_None);
}

static PyObject *
setup_shown(PyObject *module, PyObject *o)
{
    (void)module;
    return px_shown(Py_NewRef(o));
}

static PyObject *
lifted(PyObject *module, PyObject *o)
{
    (void)module;
    return px_lifted(o);
}

static PyObject *
target(PyObject *module, PyObject *o)
{
    (void)module;
    return px_target(o);
}

static PyObject *
written(PyObject *module, PyObject *args)
{
    PyObject *o, *to;

    (void)module;
    if (!PyArg_ParseTuple(args, "O!O", px.ndarray, &o, &to))
        return NULL;
    px_written(o, Py_NewRef(to));
    return Py_NewRef(Py_None);
}

static PyObject *
setup_present(PyObject *module, PyObject *o)
{
    (void)module;
    return px_present(o) ? Py_NewRef(o) : NULL;
}

static PyObject *
where(PyObject *module, PyObject *o)
{
    static const char *const names[] = {
        [PX_OPEN] = "open", [PX_CLEAN] = "clean", [PX_AHEAD] = "ahead"};
    const px_block *b = px.ndarray && px_is_np(o) ? px_block_of(px_np(o)->data) : NULL;

    (void)module;
    return b ? PyUnicode_FromString(names[b->state]) : Py_NewRef(Py_None);
}

static PyObject *
far(PyObject *module, PyObject *o)
{
    (void)module;
    return PyBool_FromLong(px.ndarray && px_is_far(o));
}

static PyObject *
stays(PyObject *module, PyObject *o)
{
    (void)module;
    return PyBool_FromLong(px.ndarray && px_is_np(o) &&
                           (px_is_pending(px_block_of(px_np(o)->data)) || px_stays_ahead(o)));
}

static PyObject *
pending(PyObject *module, PyObject *o)
{
    const px_block *b = px.ndarray && px_is_np(o) ? px_block_of(px_np(o)->data) : NULL;

    (void)module;
    return PyBool_FromLong(px_is_pending(b));
}

static PyObject *
busy(PyObject *module, PyObject *on)
{
    (void)module;
    px_busy += PyObject_IsTrue(on) > 0 ? 1 : -1;
    return Py_NewRef(Py_None);
}

static PyObject *
setup_watch(PyObject *module, PyObject *none)
{
    (void)module, (void)none;
    (void)px_fault_watch();
    return Py_NewRef(Py_None);
}

static bool
setup_fetch(px_block *b)
{
    if (b->of || b->state != PX_AHEAD)
        return true;
    if (!py_ok(px_choice_settle(b)))
        return false;
    return b->state != PX_AHEAD || td_dev_info(td_array_dev(&b->whole))->host ||
           py_ok(px_block_fetch(b));
}

static PyObject *
fetch_all(PyObject *module, PyObject *none)
{
    (void)module, (void)none;
    return px_blocks_each(setup_fetch) ? Py_NewRef(Py_None) : NULL;
}

static PyObject *
setup_settle(PyObject *module, PyObject *none)
{
    td_dev *d;

    (void)module, (void)none;
    px.timed = true;
    if (!py_ok(td_eval_all()))
        return NULL;
    if (!py_ok(td_dev_default(&d)))
        return NULL;
    if (td_dev_info(d)->queued) {
        PyThreadState *gil = PyEval_SaveThread();
        td_status st = td_dev_sync(d);

        PyEval_RestoreThread(gil);
        if (!py_ok(st))
            return NULL;
    }
    return Py_NewRef(Py_None);
}

static PyObject *
untimed(PyObject *module, PyObject *none)
{
    (void)module, (void)none;
    px.timed = false;
    return Py_NewRef(Py_None);
}

static PyMethodDef functions[] = {
    {"_unchanged_settle", setup_settle, METH_NOARGS,
     "_unchanged_settle(): the program reads a clock: what is recorded is computed and waited for, "
     "and from now on "
     "results that are dropped unseen are computed."},
    {"_unchanged_untimed", untimed, METH_NOARGS,
     "_unchanged_untimed(): results that are dropped unseen are not computed any more."},
    {"_unchanged_watch", setup_watch, METH_NOARGS,
     "_unchanged_watch(): page faults come to us first again."},
    {"_unchanged_fetch", fetch_all, METH_NOARGS,
     "_unchanged_fetch(): the values of all arrays come from a GPU, which a forked process does "
     "not have."},
    {"_unchanged_busy", busy, METH_O,
     "_unchanged_busy(on): between a call with True and one with False, NumPy's work in this "
     "thread is NumPy's."},
    {"_unchanged_setup", setup, METH_O,
     "_unchanged_setup(far): NumPy's types and allocator are found and changed; once."},
    {"_unchanged_set", set, METH_VARARGS,
     "_unchanged_set(crossover, note, watch): what decides, and who is told."},
    {"_unchanged_shown", setup_shown, METH_O,
     "_unchanged_shown(r): a result with NumPy's arrays for treadle's."},
    {"_unchanged_lifted", lifted, METH_O,
     "_unchanged_lifted(o): o with treadle's arrays for NumPy's of its dtypes, in lists and tuples "
     "too."},
    {"_unchanged_target", target, METH_O,
     "_unchanged_target(a): a's memory as treadle's array, to write; None: it cannot be."},
    {"_unchanged_written", written, METH_VARARGS,
     "_unchanged_written(a, target): what _unchanged_target(a) gave has been written."},
    {"_unchanged_present", setup_present, METH_O,
     "_unchanged_present(o): o, whose arrays have their values in memory."},
    {"_unchanged_where", where, METH_O,
     "_unchanged_where(a): open, clean or ahead; None: a's memory is not of ours."},
    {"_unchanged_pending", pending, METH_O,
     "_unchanged_pending(a): is a's value recorded, and not computed yet?"},
    {"_unchanged_stays", stays, METH_O,
     "_unchanged_stays(a): should treadle use a where its value is, ahead of the program's "
     "memory?"},
    {"_unchanged_far", far, METH_O, "_unchanged_far(a): is an operation on a treadle's?"},
    {NULL, NULL, 0, NULL},
};

bool
px_init(PyObject *m)
{
    px.crossover = INT64_MAX;
    return px_face_init(m) && px_module_init(m) && px_loops_init(m) &&
           PyModule_AddFunctions(m, functions) == 0;
}
