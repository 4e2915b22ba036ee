/* tensorbucket.c - buckets of parameters whose gradients are reduced together; counts gradients
 * as they come.
 *
 * A backward pass calls Python only once for each bucket that is complete, not for each
 * parameter.
 */
#include "python/tensor/tensor.h"

#include <stdlib.h>

typedef struct bucket bucket;

/* mark - a hook on a parameter; it owns a reference on the bucket, which is its object. */
typedef struct mark {
    td_hook h;
    int number;
} mark;

struct bucket {
    PyObject_HEAD PyObject *params, *full; /* a tuple; full(bucket) is called */
    int n, missing;
    bool on, *got;
};

static PyTypeObject *bucket_type;

static td_status
bucket_failed(void)
{
    return td_fail(TD_ERR_CALLER, "a function of the program's failed in a backward pass");
}

static bool
bucket_count(bucket *b, int i)
{
    PyObject *r;

    if (!b->on)
        return true;
    if (b->got[i]) {
        PyErr_SetString(PyExc_RuntimeError,
                        "Expected to mark a variable ready only once. A parameter got its gradient "
                        "twice between two forward passes: use no_sync() to accumulate gradients");
        return false;
    }
    b->got[i] = true;
    if (--b->missing)
        return true;
    r = PyObject_CallFunctionObjArgs(b->full, (PyObject *)b, NULL);
    Py_XDECREF(r);
    return r != NULL;
}

static td_status
after(td_hook *h, td_var *v)
{
    PyObject *b = Py_NewRef((PyObject *)h->object);
    bool ok = bucket_count((bucket *)b, ((mark *)h)->number);

    (void)v;
    Py_DECREF(b);
    return ok ? TD_OK : bucket_failed();
}

static void
mark_free(td_hook *h)
{
    PyObject *b = h->object;

    free(h);
    Py_DECREF(b);
}

static bool
hang(bucket *b, int i)
{
    PyObject *param = PyTuple_GetItem(b->params, i);
    td_var *v = pt_var(param);
    mark *m = calloc(1, sizeof *m);

    if (!m)
        return PyErr_NoMemory(), false;
    m->h = (td_hook){
        .after = after, .free = mark_free, .object = Py_NewRef((PyObject *)b), .visited = true};
    m->number = i;
    td_hook_add(&v->hooks, &m->h);
    if (!PyObject_GC_IsTracked(param))
        PyObject_GC_Track(param);
    return true;
}

/* _grad_bucket(parameters, full) */
static PyObject *
bucket_make(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    PyObject *keep = NULL;
    td_var **v = NULL;
    bucket *b = NULL;
    int n = 0;
    bool ok = nargs == 2;

    (void)module;
    if (!ok)
        PyErr_SetString(PyExc_TypeError, "_grad_bucket: expected 2 arguments");
    ok = ok && pt_variables("_grad_bucket", args[0], false, &keep, &v, &n);
    free(v);
    if (ok && (b = (bucket *)PyType_GenericAlloc(bucket_type, 0))) {
        b->params = Py_NewRef(keep);
        b->full = Py_NewRef(args[1]);
        b->n = b->missing = n;
        b->on = true;
        b->got = calloc((size_t)n + 1, sizeof *b->got);
        if (!b->got)
            PyErr_NoMemory();
        ok = b->got != NULL;
        for (int i = 0; i < n && ok; i++)
            ok = hang(b, i);
        if (!ok)
            Py_CLEAR(b);
    }
    Py_XDECREF(keep);
    return (PyObject *)b;
}

/* Gives v's gradient memory of its own, dense in C order; zeros if there is no gradient. */
static td_status
settle_gradient(td_var *v)
{
    td_dtype dt = td_array_dtype(&v->value);
    td_var *g = v->grad;
    td_array a;
    td_status st;

    if (g && g->fn) {
        TD_TRY(td_var_detach(g, &v->grad));
        td_var_unref(g);
        g = v->grad;
    }
    if (!g) {
        TD_TRY(td_array_full(td_array_dev(&v->value), dt, &v->value.view.shape,
                             (td_scalar){.dt = TD_I64, .i = 0}, &a));
        return td_var_new(&a, &v->grad);
    }
    if (td_view_is_contiguous(&g->value.view))
        return TD_OK;
    TD_TRY(td_array_empty(td_array_dev(&g->value), td_array_dtype(&g->value), &g->value.view.shape,
                          &a));
    st = td_array_assign(&a, &(td_operand){.array = &g->value});
    if (st)
        td_array_unref(&a);
    return st ? st : td_var_set(g, &a);
}

static PyObject *
bucket_arrays(PyObject *self, PyObject *unused)
{
    bucket *b = (bucket *)self;
    PyObject *list = PyList_New(b->n);

    (void)unused;
    for (int i = 0; i < b->n && list; i++) {
        td_var *v = pt_var(PyTuple_GetItem(b->params, i));
        PyObject *o = NULL;
        td_array a;

        if (pt_ok(settle_gradient(v))) {
            a = td_array_ref(&v->grad->value);
            o = py_wrap(&a);
        }
        if (!o)
            Py_CLEAR(list);
        else
            PyList_SetItem(list, i, o);
    }
    return list;
}

static PyObject *
bucket_begin(PyObject *self, PyObject *unused)
{
    bucket *b = (bucket *)self;

    (void)unused;
    b->missing = b->n;
    for (int i = 0; i < b->n; i++)
        b->got[i] = false;
    return Py_NewRef(Py_None);
}

static PyObject *
bucket_skip(PyObject *self, PyObject *number)
{
    bucket *b = (bucket *)self;
    long i = PyLong_AsLong(number);

    if (PyErr_Occurred())
        return NULL;
    if (i < 0 || i >= b->n)
        return PyErr_Format(PyExc_IndexError, "skip: there is no parameter %ld of %d", i, b->n);
    return bucket_count(b, (int)i) ? Py_NewRef(Py_None) : NULL;
}

static PyObject *
bucket_remove(PyObject *self, PyObject *unused)
{
    bucket *b = (bucket *)self;

    (void)unused;
    for (int i = 0; b->params && i < b->n; i++) {
        td_var *v = pt_var(PyTuple_GetItem(b->params, i));

        for (td_hook *h = v->hooks, *next; h; h = next) {
            next = h->next;
            if (h->after == after && h->object == self)
                td_hook_drop(&v->hooks, h);
        }
    }
    return Py_NewRef(Py_None);
}

static PyObject *
get_got(PyObject *self, void *unused)
{
    bucket *b = (bucket *)self;
    PyObject *list = PyList_New(b->n);

    (void)unused;
    for (int i = 0; i < b->n && list; i++)
        PyList_SetItem(list, i, PyBool_FromLong(b->got[i]));
    return list;
}

static PyObject *
get_missing(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromLong(((bucket *)self)->missing);
}

static PyObject *
get_on(PyObject *self, void *unused)
{
    (void)unused;
    return PyBool_FromLong(((bucket *)self)->on);
}

static int
set_on(PyObject *self, PyObject *value, void *unused)
{
    int on = value ? PyObject_IsTrue(value) : 0;

    (void)unused;
    if (on >= 0)
        ((bucket *)self)->on = on;
    return on < 0 ? -1 : 0;
}

static int
bucket_traverse(PyObject *self, visitproc visit, void *arg)
{
    bucket *b = (bucket *)self;

    Py_VISIT(Py_TYPE(self));
    Py_VISIT(b->params);
    Py_VISIT(b->full);
    return 0;
}

static int
bucket_clear(PyObject *self)
{
    bucket *b = (bucket *)self;

    b->on = false;
    Py_CLEAR(b->full);
    return 0;
}

static void
bucket_dealloc(PyObject *self)
{
    bucket *b = (bucket *)self;
    PyTypeObject *type = Py_TYPE(self);

    PyObject_GC_UnTrack(self);
    Py_CLEAR(b->params);
    Py_CLEAR(b->full);
    free(b->got);
    PyObject_GC_Del(self);
    Py_DECREF(type);
}

static PyMethodDef functions[] = {
    {"_grad_bucket", PY_FAST(bucket_make), METH_FASTCALL,
     "_grad_bucket(parameters, full): full(bucket) is called when all have a gradient."},
    {NULL, NULL, 0, NULL},
};

bool
pt_bucket_init(PyObject *m)
{
    static PyMethodDef methods[] = {
        {"arrays", bucket_arrays, METH_NOARGS,
         "arrays(): the gradients, each dense in C order; zeros where there is none."},
        {"begin", bucket_begin, METH_NOARGS, "begin(): all are missing."},
        {"skip", bucket_skip, METH_O, "skip(i): parameter i gets no gradient in this pass."},
        {"remove", bucket_remove, METH_NOARGS, "remove(): counts no more."},
        {NULL, NULL, 0, NULL}};
    static PyGetSetDef attributes[] = {
        {"got", get_got, NULL, "Of each parameter: has its gradient come?", NULL},
        {"missing", get_missing, NULL, "How many have not come.", NULL},
        {"on", get_on, set_on, "Are they counted?", NULL},
        {NULL, NULL, NULL, NULL, NULL}};
    static PyType_Slot slots[] = {PY_SLOT(Py_tp_dealloc, bucket_dealloc),
                                  PY_SLOT(Py_tp_traverse, bucket_traverse),
                                  PY_SLOT(Py_tp_clear, bucket_clear),
                                  {Py_tp_methods, methods},
                                  {Py_tp_getset, attributes},
                                  {0, NULL}};
    static PyType_Spec spec = {.name = "treadle._core.GradBucket",
                               .basicsize = sizeof(bucket),
                               .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION |
                                        Py_TPFLAGS_HAVE_GC,
                               .slots = slots};

    bucket_type = (PyTypeObject *)PyType_FromSpec(&spec);
    return bucket_type && PyModule_AddFunctions(m, functions) == 0;
}
