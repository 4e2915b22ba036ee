/* numpyapi.c - NumPy's C interface, as far as we use it: arrays over memory, and what an array is made of.
 *
 * NumPy exports a table of functions.  The places of these functions, and the head of an array object, are the same in all
 * versions, so one wheel works with all.
 */
#include "python/common/py.h"

enum { NEW_FROM_DESCR = 94, SET_BASE = 282, C_CONTIGUOUS = 1, WRITEABLE = 0x0400 };

/* PyArrayObject */
typedef struct array {
    PyObject_HEAD char *data;
    int ndim;
    const Py_ssize_t *dim, *stride;
    PyObject *base, *dtype;
    int flags;
} array;

typedef PyObject *new_from_descr(PyTypeObject *type, PyObject *dtype, int ndim,
                                 const Py_ssize_t *dim, const Py_ssize_t *stride, void *data,
                                 int flags, PyObject *like);
typedef int set_base(PyObject *array, PyObject *base);

static void **table;
static PyTypeObject *ndarray;

void **
py_numpy_table(void)
{
    PyObject *np = table ? NULL : py_numpy(), *core, *umath, *api;

    if (!np)
        return table;
    core = PyObject_GetAttrString(np, "_core");
    if (!core) {
        PyErr_Clear();
        core = PyObject_GetAttrString(np, "core"); /* before NumPy 2 */
    }
    umath = core ? PyObject_GetAttrString(core, "_multiarray_umath") : NULL;
    api = umath ? PyObject_GetAttrString(umath, "_ARRAY_API") : NULL;
    ndarray = api ? (PyTypeObject *)PyObject_GetAttrString(np, "ndarray") : NULL;
    table = ndarray ? PyCapsule_GetPointer(api, NULL) : NULL;
    Py_XDECREF(core);
    Py_XDECREF(umath);
    Py_XDECREF(api); /* NumPy keeps it */
    return table;
}

PyObject *
py_numpy_new(PyTypeObject *type, td_dtype dt, int ndim, const Py_ssize_t *dim,
             const Py_ssize_t *stride, void *data, bool writable)
{
    void **t = py_numpy_table();
    PyObject *d = t ? py_dtype_object(dt) : NULL; /* the call takes it */
    new_from_descr *make = t ? (new_from_descr *)(uintptr_t)t[NEW_FROM_DESCR] : NULL;

    return d ? make(type ? type : ndarray, d, ndim, dim, stride, data, writable ? WRITEABLE : 0,
                    NULL)
             : NULL;
}

PyObject *
py_numpy_over(td_dtype dt, int ndim, const Py_ssize_t *dim, const Py_ssize_t *stride, void *data,
              bool writable, PyObject *owner)
{
    PyObject *r = py_numpy_new(NULL, dt, ndim, dim, stride, data, writable);
    set_base *own = r ? (set_base *)(uintptr_t)table[SET_BASE] : NULL;

    if (!r) {
        Py_DECREF(owner);
        return NULL;
    }
    if (own(r, owner) < 0) /* takes the reference, even then */
        Py_CLEAR(r);
    return r;
}

int
py_numpy_has_class(PyObject *o)
{
    PyObject *priority;
    double above;

    if (!ndarray || Py_IS_TYPE(o, ndarray) || !PyType_IsSubtype(Py_TYPE(o), ndarray))
        return 0;
    if (PyObject_HasAttrString(o, "_td_of_program"))
        return 1;
    priority = PyObject_GetAttrString(o, "__array_priority__");
    above = priority ? PyFloat_AsDouble(priority) : -1;
    Py_XDECREF(priority);
    return PyErr_Occurred() ? -1 : above > 0;
}

bool
py_numpy_look(PyObject *o, py_numpy_parts *out)
{
    const array *a = (const array *)o;

    if (!ndarray || !Py_IS_TYPE(o, ndarray))
        return false;
    for (int dt = 0; dt < TD_DTYPE_COUNT; dt++)
        if (a->dtype == py.dtype[dt]) { /* NumPy has one object for each */
            *out = (py_numpy_parts){.data = a->data,
                                    .ndim = a->ndim,
                                    .dim = a->dim,
                                    .stride = a->stride,
                                    .dt = (td_dtype)dt,
                                    .contiguous = a->flags & C_CONTIGUOUS};
            return a->ndim <= TD_MAXDIM;
        }
    return false;
}
