/* tensorgrad.c - Tensor's derivatives: requires_grad, grad, backward, grad_fn, hooks, modes. */
#include "python/tensor/tensor.h"

#include <stdlib.h>
#include <string.h>

/* ---- attributes ---- */

static PyObject *
get_requires_grad(PyObject *self, void *unused)
{
    (void)unused;
    return PyBool_FromLong(td_var_tracked(pt_var(self)));
}

static int
set_requires_grad(PyObject *self, PyObject *value, void *unused)
{
    int on = value ? PyObject_IsTrue(value) : 0;

    (void)unused;
    return on >= 0 && pt_ok(td_var_require(pt_var(self), on)) ? 0 : -1;
}

static PyObject *
requires_grad_(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    static const char *const names[] = {"requires_grad", NULL};
    PyObject *arg[1];
    bool on;

    if (!py_parse("requires_grad_", names, 0, 1, args, nargs, kwnames, arg) ||
        !py_flag(arg[0], true, &on) || !pt_ok(td_var_require(pt_var(self), on)))
        return NULL;
    return Py_NewRef(self);
}

static PyObject *
get_is_leaf(PyObject *self, void *unused)
{
    td_var *v = pt_var(self);

    (void)unused;
    return PyBool_FromLong(v->requires_grad || !td_var_tracked(v));
}

static PyObject *
get_version(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromUnsignedLong(td_var_version(pt_var(self)));
}

static PyObject *
get_base(PyObject *self, void *unused)
{
    td_var *b = pt_var(self)->base;

    (void)unused;
    return b ? pt_object(td_var_ref(b)) : Py_NewRef(Py_None);
}

static PyObject *
get_data(PyObject *self, void *unused)
{
    td_var *r = NULL;
    td_status st = td_var_detach(pt_var(self), &r);

    (void)unused;
    if (!st)
        r->apart = true;
    return pt_done(st, r);
}

static int
set_data(PyObject *self, PyObject *value, void *unused)
{
    td_array a;

    (void)unused;
    if (!value || !pt_is(value)) {
        PyErr_SetString(PyExc_TypeError, "Variable data has to be a tensor");
        return -1;
    }
    a = td_array_ref(&pt_var(value)->value);
    return pt_ok(td_var_set(pt_var(self), &a)) ? 0 : -1;
}

static PyObject *
get_retains(PyObject *self, void *unused)
{
    (void)unused;
    return PyBool_FromLong(pt_var(self)->retain);
}

/* ---- grad_fn ---- */

typedef struct py_gradfn {
    PyObject_HEAD td_gradfn *f;
} py_gradfn;

static void
gradfn_dealloc(PyObject *self)
{
    py_gradfn *o = (py_gradfn *)self;
    PyTypeObject *type = Py_TYPE(self);

    o->f->self = NULL;
    td_gradfn_unref(o->f);
    PyObject_Free(self);
    Py_DECREF(type);
}

/* A subclass of Node by that name, which lives as long as the process. */
static PyObject *
node_type_new(PyObject *name)
{
    PyType_Slot slots[] = {PY_SLOT(Py_tp_dealloc, gradfn_dealloc), {0, NULL}};
    PyType_Spec spec = {.basicsize = sizeof(py_gradfn),
                        .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                        .slots = slots};
    PyObject *bases = PyTuple_Pack(1, pt.fn), *text = PyUnicode_AsUTF8String(name), *type = NULL;

    spec.name = text ? PyBytes_AsString(text) : NULL;
    if (bases && spec.name)
        type = PyType_FromSpecWithBases(&spec, bases);
    Py_XDECREF(bases);
    Py_XDECREF(text);
    return type;
}

/* The subclass of Node for functions of that name, so that type(grad_fn) tells what they are. */
static PyObject *
node_type(const char *name)
{
    static PyObject *known;
    PyObject *key = PyUnicode_FromFormat("treadle.torch.%sBackward0", name), *type = NULL;

    if (!known)
        known = PyDict_New();
    if (key && known && (type = PyDict_GetItemWithError(known, key)))
        Py_INCREF(type);
    else if (key && known && !PyErr_Occurred()) {
        type = node_type_new(key);
        if (type && PyDict_SetItem(known, key, type) < 0)
            Py_CLEAR(type);
    }
    Py_XDECREF(key);
    return type;
}

PyObject *
pt_gradfn_object(td_gradfn *f)
{
    PyObject *type;
    py_gradfn *o;

    if (f->self)
        return Py_NewRef((PyObject *)f->self);
    if (f->object)
        return Py_NewRef(PyTuple_GetItem((PyObject *)f->object, 0));
    type = node_type(f->rule->name);
    o = type ? PyObject_New(py_gradfn, (PyTypeObject *)type) : NULL;
    Py_XDECREF(type);
    if (!o)
        return NULL;
    o->f = td_gradfn_ref(f);
    f->self = o;
    return (PyObject *)o;
}

static PyObject *
gradfn_name(PyObject *self, PyObject *unused)
{
    (void)unused;
    return PyUnicode_FromFormat("%sBackward0", ((py_gradfn *)self)->f->rule->name);
}

static PyObject *
gradfn_repr(PyObject *self)
{
    return PyUnicode_FromFormat("<%sBackward0>", ((py_gradfn *)self)->f->rule->name);
}

static PyObject *
accumulator(td_var *leaf)
{
    PyObject *type = py_package("treadle.torch._prim", "AccumulateGrad"),
             *t = pt_object(td_var_ref(leaf)),
             *r = type && t ? PyObject_CallFunctionObjArgs(type, t, NULL) : NULL;

    Py_XDECREF(type);
    Py_XDECREF(t);
    return r;
}

/* ((function or leaf's accumulator, output), ...) */
PyObject *
pt_gradfn_next(const td_gradfn *f)
{
    PyObject *all = PyTuple_New(f->nin);

    for (int i = 0; all && i < f->nin; i++) {
        const td_edge *e = &f->in[i];
        PyObject *to = e->fn     ? pt_gradfn_object(e->fn)
                       : e->leaf ? accumulator(e->leaf)
                                 : Py_NewRef(Py_None);
        PyObject *pair = to ? Py_BuildValue("(NI)", to, e->out) : NULL;

        if (!pair)
            Py_CLEAR(all);
        else
            PyTuple_SetItem(all, i, pair);
    }
    return all;
}

static PyObject *
gradfn_next(PyObject *self, void *unused)
{
    (void)unused;
    return pt_gradfn_next(((py_gradfn *)self)->f);
}

static PyObject *
get_grad_fn(PyObject *self, void *unused)
{
    PyObject *r;
    td_edge e;

    (void)unused;
    if (!pt_ok(td_var_edge(pt_var(self), &e)))
        return NULL;
    r = e.fn ? pt_gradfn_object(e.fn) : Py_NewRef(Py_None);
    td_edge_drop(&e);
    return r;
}

PyGetSetDef pt_grad_attributes[] = {
    {"requires_grad", get_requires_grad, set_requires_grad, "Are operations on it recorded?", NULL},
    {"grad_fn", get_grad_fn, NULL, "What made it, or None.", NULL},
    {"is_leaf", get_is_leaf, NULL, "Was it made by the program, not by a recorded operation?",
     NULL},
    {"_version", get_version, NULL, "How often its storage has been written to.", NULL},
    {"_base", get_base, NULL, "The tensor that it is a view of, or None.", NULL},
    {"data", get_data, set_data, "The same storage without the history.", NULL},
    {"retains_grad", get_retains, NULL, "Does it keep its gradient though it is no leaf?", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

/* ---- backward ---- */

bool
pt_variables(const char *what, PyObject *o, bool holes, PyObject **keep, td_var ***out, int *n)
{
    Py_ssize_t count;
    bool ok = true;

    *out = NULL;
    *keep = pt_is(o) ? PyTuple_Pack(1, o) : PySequence_Tuple(o);
    if (!*keep)
        return false;
    count = PyTuple_Size(*keep);
    *n = (int)count;
    *out = calloc((size_t)count + 1, sizeof **out);
    if (!*out)
        return PyErr_NoMemory(), false;
    for (Py_ssize_t i = 0; i < count && ok; i++) {
        PyObject *item = PyTuple_GetItem(*keep, i);

        if (!(holes && item == Py_None))
            ok = pt_tensor_arg(what, item, &(*out)[i]);
    }
    return ok;
}

static bool anomalies; /* do backward passes check gradients for NaN? */

static void
raise_nan(td_gradfn *f, int k)
{
    PyObject *fn = pt_gradfn_object(f), *name = fn ? PyObject_CallMethod(fn, "name", NULL) : NULL;

    if (name)
        PyErr_Format(PyExc_RuntimeError, "Function '%U' returned nan values in its %dth output.",
                     name, k);
    Py_XDECREF(name);
    Py_XDECREF(fn);
}

/* RuntimeError: the k-th gradient that f made has a NaN. */
static td_status
check_nan(td_gradfn *f, int k, td_var *g)
{
    td_redargs all = {.dtype = -1};
    td_var *marks = NULL, *any = NULL;
    td_scalar found = {.dt = TD_BOOL};
    td_dtype dt = td_array_dtype(&g->value);
    bool was, ok;

    if (!td_dtype_is_float(dt) && !td_dtype_is_complex(dt))
        return TD_OK;
    was = td_grad_set_mode(false);
    ok = pt_axes(Py_None, g->value.view.shape.ndim, &all.axes) &&
         pt_ok(td_var_apply(OP_isnan, &(td_varop){.v = g}, 1, &marks)) &&
         pt_ok(td_var_reduce(TD_RED_any, marks, &all, &any)) && py_read_scalar(&any->value, &found);
    td_grad_set_mode(was);
    td_var_unref(marks);
    td_var_unref(any);
    if (ok && found.i) {
        raise_nan(f, k);
        ok = false;
    }
    return ok ? TD_OK : td_fail(TD_ERR_CALLER, "a gradient could not be checked");
}

/* _grad_anomaly(on): should backward passes check for NaN?  Returns the earlier setting */
static PyObject *
set_anomaly(PyObject *module, PyObject *on)
{
    bool was = anomalies;
    int t = PyObject_IsTrue(on);

    (void)module;
    anomalies = t > 0;
    return t < 0 ? NULL : PyBool_FromLong(was);
}

/* passing - a backward pass: its tensors, gradients and inputs, each None, a tensor or a sequence (borrowed), and how it runs. */
typedef struct passing {
    /* gradients: None or one for each tensor; inputs: None: all leaves */
    PyObject *tensors, *gradients, *inputs;
    bool retain, graph;
    bool collect; /* gradients are returned instead of being added to grad */
} passing;

/* A tuple of the found gradients; None for inputs that the pass did not reach. */
static PyObject *
collected(td_var **found, int n)
{
    PyObject *r = PyTuple_New(n);

    for (int i = 0; r && i < n; i++) {
        PyObject *one = found[i] ? pt_object(found[i]) : Py_NewRef(Py_None);

        found[i] = NULL;
        PyTuple_SetItem(r, i, one);
    }
    return r;
}

/* Runs the pass.  Returns a tuple of gradients if it collects, else None. */
static PyObject *
pass_backward(const passing *x)
{
    PyObject *arg[] = {x->tensors, x->gradients, x->inputs}, *keep[3] = {NULL}, *r = NULL;
    td_var **set[3] = {NULL}, **found = NULL;
    int n[3] = {0};
    bool ok = true;

    for (int i = 0; i < 3 && ok; i++)
        if (arg[i] != Py_None)
            ok = pt_variables("backward", arg[i], i == 1, &keep[i], &set[i], &n[i]);
    if (ok && set[1] && n[1] != n[0]) {
        PyErr_Format(PyExc_RuntimeError, "got %d tensors and %d gradients", n[0], n[1]);
        ok = false;
    }
    if (ok && x->collect && !(found = calloc((size_t)n[2] + 1, sizeof *found))) {
        PyErr_NoMemory();
        ok = false;
    }
    if (ok && pt_ok(td_grad_run(&(td_pass){.root = set[0],
                                           .grad = set[1],
                                           .nroot = n[0],
                                           .input = set[2],
                                           .ninput = n[2],
                                           .found = found,
                                           .retain = x->retain,
                                           .graph = x->graph,
                                           .check = anomalies ? check_nan : NULL})))
        r = x->collect ? collected(found, n[2]) : Py_NewRef(Py_None);
    for (int i = 0; found && i < n[2]; i++)
        td_var_unref(found[i]);
    free(found);
    for (int i = 0; i < 3; i++) {
        free(set[i]);
        Py_XDECREF(keep[i]);
    }
    return r;
}

/* _grad_run(tensors, gradients, inputs, retain, graph, collect), the last three truth values: see passing */
static PyObject *
grad_run(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    (void)module;
    if (nargs != 6)
        return PyErr_Format(PyExc_TypeError, "_grad_run: expected 6 arguments, not %zd", nargs);
    return pass_backward(&(passing){.tensors = args[0],
                                    .gradients = args[1],
                                    .inputs = args[2],
                                    .retain = PyObject_IsTrue(args[3]) > 0,
                                    .graph = PyObject_IsTrue(args[4]) > 0,
                                    .collect = PyObject_IsTrue(args[5]) > 0});
}

static PyObject *
backward(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    static const char *const names[] = {"gradient", "retain_graph", "create_graph", "inputs", NULL};
    PyObject *arg[4];
    bool graph, retain;

    if (!py_parse("backward", names, 0, 4, args, nargs, kwnames, arg) ||
        !py_flag(arg[2], false, &graph) ||
        !py_flag(py_is_none(arg[1]) ? NULL : arg[1], graph, &retain))
        return NULL;
    return pass_backward(&(passing){.tensors = self,
                                    .gradients = py_is_none(arg[0]) ? Py_None : arg[0],
                                    .inputs = py_is_none(arg[3]) ? Py_None : arg[3],
                                    .retain = retain,
                                    .graph = graph});
}

static PyObject *
detach(PyObject *self, PyObject *unused)
{
    td_var *r = NULL;
    td_status st = td_var_detach(pt_var(self), &r);

    (void)unused;
    return pt_done(st, r);
}

static PyObject *
detach_(PyObject *self, PyObject *unused)
{
    (void)unused;
    td_var_forget(pt_var(self));
    pt_var(self)->requires_grad = false;
    return Py_NewRef(self);
}

static PyObject *
retain_grad(PyObject *self, PyObject *unused)
{
    (void)unused;
    return pt_ok(td_var_retain(pt_var(self))) ? Py_NewRef(Py_None) : NULL;
}

PyMethodDef pt_grad_methods[] = {
    {"requires_grad_", PY_FAST(requires_grad_), METH_FASTCALL | METH_KEYWORDS,
     "requires_grad_($self, /, requires_grad=True)\n--\n\nWhether derivatives are computed; "
     "returns the tensor."},
    {"backward", PY_FAST(backward), METH_FASTCALL | METH_KEYWORDS,
     "backward($self, /, gradient=None, retain_graph=None, create_graph=False, inputs=None)\n--\n\n"
     "Gradients of the leaves that it was made of are added to their grad."},
    {"detach", detach, METH_NOARGS,
     "detach($self, /)\n--\n\n"
     "The same storage without the history."},
    {"detach_", detach_, METH_NOARGS,
     "detach_($self, /)\n--\n\n"
     "Forgets its history."},
    {"retain_grad", retain_grad, METH_NOARGS,
     "retain_grad($self, /)\n--\n\n"
     "Backward passes keep its gradient."},
    {NULL, NULL, 0, NULL},
};

/* ---- modes ---- */

static PyObject *
mode(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    return PyBool_FromLong(td_grad_mode());
}

static PyObject *
set_mode(PyObject *module, PyObject *on)
{
    int t = PyObject_IsTrue(on);

    (void)module;
    return t < 0 ? NULL : PyBool_FromLong(td_grad_set_mode(t));
}

static PyObject *
enabled(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    return PyBool_FromLong(td_grad_enabled());
}

/* _grad_inference(): this thread's mode; _grad_inference(flag): sets it and gives what it was */
static PyObject *
inference_mode(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    int on = nargs ? PyObject_IsTrue(args[0]) : td_grad_inference();

    (void)module;
    return on < 0 ? NULL : PyBool_FromLong(nargs ? td_grad_set_inference(on) : on);
}

static PyObject *
of_inference(PyObject *module, PyObject *o)
{
    td_var *v;

    (void)module;
    return pt_tensor_arg("is_inference", o, &v) ? PyBool_FromLong(v->inference) : NULL;
}

/* RuntimeError: o is a tensor made in inference mode, so no backward pass may need it. */
static PyObject *
savable(PyObject *module, PyObject *o)
{
    (void)module;
    return !pt_is(o) || pt_ok(td_var_savable(pt_var(o))) ? Py_NewRef(Py_None) : NULL;
}

static PyObject *
set_default(PyObject *module, PyObject *o)
{
    td_dtype dt, was = td_grad_default();

    (void)module;
    if (o != Py_None) {
        if (!pt_dtype(o, &dt))
            return NULL;
        td_grad_set_default(dt);
    }
    return pt_dtype_object(was);
}

static PyObject *
serial(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    return PyLong_FromUnsignedLongLong(td_grad_serial());
}

/* _grad_reach(tensors, since): the leaves from which functions younger than `since` computed the tensors; None: older
 * functions took part too. */
static PyObject *
grad_reach(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    unsigned long long since = nargs == 2 ? PyLong_AsUnsignedLongLong(args[1]) : 0;
    PyObject *keep = NULL, *r = NULL;
    td_var **set = NULL, **leaves = NULL;
    int n = 0, count = 0;
    bool beyond = false;

    (void)module;
    if (nargs != 2 && !PyErr_Occurred())
        PyErr_SetString(PyExc_TypeError, "_grad_reach: expected 2 arguments");
    if (!PyErr_Occurred() && pt_variables("_grad_reach", args[0], false, &keep, &set, &n) &&
        pt_ok(td_grad_reach(set, n, since, &leaves, &count, &beyond)))
        r = beyond ? Py_NewRef(Py_None) : PyTuple_New(count);
    for (int i = 0; i < count; i++) {
        PyObject *one = r && !beyond ? pt_object(leaves[i]) : NULL;

        if (one)
            PyTuple_SetItem(r, i, one);
        else if (!r || beyond)
            td_var_unref(leaves[i]);
        else
            Py_CLEAR(r);
    }
    free(leaves);
    free(set);
    Py_XDECREF(keep);
    return r;
}

PyMethodDef pt_grad_functions[] = {
    {"_grad_serial", serial, METH_NOARGS, NULL},
    {"_grad_reach", PY_FAST(grad_reach), METH_FASTCALL, NULL},
    {"_grad_run", PY_FAST(grad_run), METH_FASTCALL, NULL},
    {"_grad_mode", mode, METH_NOARGS, NULL},
    {"_grad_set_mode", set_mode, METH_O, NULL},
    {"_grad_enabled", enabled, METH_NOARGS, NULL},
    {"_grad_inference", PY_FAST(inference_mode), METH_FASTCALL, NULL},
    {"_grad_of_inference", of_inference, METH_O, NULL},
    {"_grad_savable", savable, METH_O, NULL},
    {"_grad_anomaly", set_anomaly, METH_O, NULL},
    {"_grad_default_dtype", set_default, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};

bool
pt_grad_init(PyObject *m)
{
    static PyMethodDef methods[] = {{"name", gradfn_name, METH_NOARGS, NULL},
                                    {NULL, NULL, 0, NULL}};
    static PyGetSetDef attributes[] = {{"next_functions", gradfn_next, NULL, NULL, NULL},
                                       {NULL, NULL, NULL, NULL, NULL}};
    static PyType_Slot slots[] = {PY_SLOT(Py_tp_dealloc, gradfn_dealloc),
                                  PY_SLOT(Py_tp_repr, gradfn_repr),
                                  {Py_tp_methods, methods},
                                  {Py_tp_getset, attributes},
                                  {0, NULL}};
    static PyType_Spec spec = {.name = "treadle.torch.Node",
                               .basicsize = sizeof(py_gradfn),
                               .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE |
                                        Py_TPFLAGS_DISALLOW_INSTANTIATION,
                               .slots = slots};

    return py_add_type(m, "_GradFn", &spec, &pt.fn);
}
