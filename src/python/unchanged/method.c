/* method.c - methods of numpy.ndarray: treadle's for arrays that are treadle's, NumPy's for
 * others.
 */
#include "python/unchanged/unchanged.h"

#include <string.h>

enum how { FAR, TIES, LIBRARY, WRITES, READS, LENDS };
enum { ARGS = 16, DICT = 33 }; /* DICT: index of the word of a type that holds its dict */

typedef enum px_method {
#define METHOD(name, how, out) M_##name,
#include "python/unchanged/method.def"
    PX_METHODS
} px_method;

static struct row {
    const char *name;
    enum how how;
    uint8_t out;
    PyObject *near, *far; /* NumPy's and treadle's descriptors; far may be NULL */
} rows[] = {
#define METHOD(name, how, out) {#name, how, out, NULL, NULL},
#include "python/unchanged/method.def"
};

/* ---- calls ---- */

static PyObject *
call_near(const struct row *row, PyObject *self, PyObject *const *args, Py_ssize_t nargs,
          PyObject *kwnames)
{
    Py_ssize_t n = nargs + (kwnames ? PyTuple_Size(kwnames) : 0);
    PyObject *buf[ARGS + 1];

    if (n > ARGS) {
        PyErr_SetString(PyExc_TypeError, "too many arguments");
        return NULL;
    }
    buf[0] = self;
    memcpy(buf + 1, args, (size_t)n * sizeof *buf);
    return px_vectorcall(row->near, buf, nargs + 1, kwnames);
}

/* Calls treadle's method; NULL without an exception: it declined. */
static PyObject *
call_far(const struct row *row, PyObject *self, PyObject *const *args, Py_ssize_t nargs,
         PyObject *kwnames)
{
    Py_ssize_t n = nargs + (kwnames ? PyTuple_Size(kwnames) : 0), i;
    PyObject *buf[ARGS + 1], *r = NULL;
    bool same;

    if (n > ARGS)
        return NULL;
    for (i = 0; i < n && (buf[i + 1] = px_lifted(args[i])); i++)
        ;
    buf[0] = i < n ? NULL : row->how == WRITES ? px_target(self) : px_lift(self);
    px_busy++;
    if (buf[0] && buf[0] != Py_None)
        r = px_vectorcall(row->far, buf, nargs + 1, kwnames);
    px_busy--;
    same = r && r == buf[0]; /* the array itself, as astype(copy=False) of its own dtype */
    if (row->how == WRITES)
        px_written(self, buf[0]);
    else
        Py_XDECREF(buf[0]);
    while (i > 0)
        Py_DECREF(buf[i--]);
    if (!r && PyErr_Occurred())
        (void)px_declined();
    if (!same)
        return px_shown(r);
    Py_DECREF(r);
    return Py_NewRef(self);
}

static bool
has_out(const struct row *row, Py_ssize_t nargs, PyObject *kwnames)
{
    if (row->out && nargs >= row->out)
        return true;
    for (Py_ssize_t i = kwnames ? PyTuple_Size(kwnames) : 0; i-- > 0;)
        if (PyUnicode_CompareWithASCIIString(PyTuple_GetItem(kwnames, i), "out") == 0)
            return true;
    return false;
}

/* Calls the function of the method's name, which knows which arrays out= may be. */
static PyObject *
call_with_out(const struct row *row, PyObject *self, PyObject *const *args, Py_ssize_t nargs,
              PyObject *kwnames)
{
    PyObject *f = PyObject_CallMethod(px.far, "method", "sO", row->name, row->near),
             *r = f ? py_call_with(f, self, args, nargs, kwnames) : NULL;

    Py_XDECREF(f);
    return r;
}

/* Must NumPy's own method be called, whatever the size? */
static bool
is_near(const struct row *row, PyObject *self, PyObject *const *args, Py_ssize_t nargs)
{
    td_dev *d;

    if (!row->far || row->how == READS || row->how == LENDS)
        return true;
    if (row->how != TIES && row->how != LIBRARY)
        return false;
    if (td_dev_default(&d) || !td_dev_info(d)->host)
        return false;
    for (Py_ssize_t i = -1; row->how == LIBRARY && i < nargs; i++) {
        PyObject *o = i < 0 ? self : args[i];

        if (px_is_np(o) && px_is_pending(px_block_of(px_np(o)->data)))
            return false;
    }
    return true;
}

static bool
any_far(PyObject *self, PyObject *const *args, Py_ssize_t n)
{
    bool far = px_is_far(self);

    for (Py_ssize_t i = 0; i < n && !far; i++)
        far = px_is_far(args[i]);
    return far;
}

static PyObject *
method(px_method m, PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    const struct row *row = &rows[m];
    Py_ssize_t n = nargs + (kwnames ? PyTuple_Size(kwnames) : 0);
    int64_t since;
    PyObject *r;
    bool far;

    if (!n && !px_busy && px_choice_of(self)) {
        r = px_choice_reduce(self, row->name);
        if (r || PyErr_Occurred())
            return r;
    }
    far = px_is_np(self) && any_far(self, args, n);
    if (far && !is_near(row, self, args, nargs)) {
        if (has_out(row, nargs, kwnames))
            return call_with_out(row, self, args, nargs, kwnames);
        r = call_far(row, self, args, nargs, kwnames);
        if (r || PyErr_Occurred())
            return r;
        r = call_near(row, self, args, nargs, kwnames);
        if (r && !px_note(row->name, self))
            Py_CLEAR(r);
        return r;
    }
    if (px_is_np(self) && !(row->how == LENDS ? px_export(self) : px_present(self)))
        return NULL;
    since = px_clock();
    r = call_near(row, self, args, nargs, kwnames);
    return since && px_is_np(self) ? px_seen(r, row->name, self, since) : r;
}

#define METHOD(name, how, out)                                                                     \
    static PyObject *m_##name(PyObject *self, PyObject *const *args, Py_ssize_t nargs,             \
                              PyObject *kwnames)                                                   \
    {                                                                                              \
        return method(M_##name, self, args, nargs, kwnames);                                       \
    }
#include "python/unchanged/method.def"

/* ---- NumPy's type ---- */

static PyMethodDef defs[] = {
#define METHOD(name, how, out) {#name, PY_FAST(m_##name), METH_FASTCALL | METH_KEYWORDS, NULL},
#include "python/unchanged/method.def"
};

/* NumPy's text for help() and inspect.signature. */
static const char *
text_of(PyObject *near, const char *name)
{
    PyObject *doc = PyObject_GetAttrString(near, "__doc__"),
             *signature = PyObject_GetAttrString(near, "__text_signature__"), *text = NULL;

    if (doc && PyUnicode_Check(doc) && signature && PyUnicode_Check(signature))
        text = PyUnicode_FromFormat("%s%U\n--\n\n%U", name, signature, doc);
    else if (doc && PyUnicode_Check(doc))
        text = Py_NewRef(doc);
    PyErr_Clear();
    Py_XDECREF(doc);
    Py_XDECREF(signature);
    return text ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL; /* text lives as long as the type */
}

bool
px_method_init(void)
{
    PyObject *dict = ((PyObject **)(uintptr_t)px.ndarray)[DICT], *ours;

    for (int i = 0; i < PX_METHODS; i++) {
        PyObject *near = PyObject_GetAttrString((PyObject *)px.ndarray, rows[i].name);

        if (!near || !dict || !PyDict_Check(dict) ||
            PyDict_GetItemString(dict, rows[i].name) != near) {
            Py_XDECREF(near);
            PyErr_SetString(PyExc_ImportError, "unchanged programs: this Python lays out its types "
                                               "in a way that treadle does not know");
            return false;
        }
        rows[i].near = near;
        rows[i].far = py_attr((PyObject *)py.ndarray, rows[i].name);
        if (PyErr_Occurred())
            return false;
        defs[i].ml_doc = text_of(near, rows[i].name);
        ours = PyDescr_NewMethod(px.ndarray, &defs[i]);
        if (!ours || PyDict_SetItemString(dict, rows[i].name, ours) < 0)
            return false;
        Py_DECREF(ours);
    }
    PyType_Modified(px.ndarray);
    return true;
}
