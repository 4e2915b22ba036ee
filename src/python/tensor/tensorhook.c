/* tensorhook.c - a program's functions on Tensors: hooks, and functions with their own backward. */
#include "python/tensor/tensor.h"

#include <stdlib.h>

/* ---- hooks ---- */

typedef struct handle handle;

/* hook - a td_hook that calls a Python function.  Its list owns it. */
typedef struct hook {
    td_hook h;
    td_hook **list;
    handle *handle; /* the object that can remove it; borrowed */
} hook;

struct handle {
    PyObject_HEAD hook *hook; /* NULL: it was removed */
};

static void
hook_free(td_hook *h)
{
    hook *k = (hook *)h;
    PyObject *f = h->object;

    if (k->handle)
        k->handle->hook = NULL;
    free(k);
    Py_DECREF(f);
}

static td_status
hook_failed(void)
{
    return td_fail(TD_ERR_CALLER, "a function of the program's failed in a backward pass");
}

/* What a hook gave, r, in the place of g.  NULL: the exception is set. */
static td_var *
replacement(PyObject *f, PyObject *r, const td_var *g)
{
    td_var *v = pt_is(r) ? pt_var(r) : NULL;
    td_dtype was = td_array_dtype(&g->value);
    PyObject *name;

    if (!v) {
        pt_wrong_type(PyExc_TypeError, "expected Variable, but hook returned '%U'", r);
        return NULL;
    }
    if (td_array_dtype(&v->value) == was && td_shape_eq(&v->value.view.shape, &g->value.view.shape))
        return td_var_ref(v);
    name = PyObject_GetAttrString(f, "__name__");
    if (!name) {
        PyErr_Clear();
        name = PyUnicode_FromString("<unknown>");
    }
    if (name && td_array_dtype(&v->value) != was)
        PyErr_Format(PyExc_RuntimeError,
                     "hook '%S' has changed the type of value (was torch.%sTensor got "
                     "torch.%sTensor)",
                     name, td_grad_word(was), td_grad_word(td_array_dtype(&v->value)));
    else if (name)
        PyErr_Format(PyExc_RuntimeError, "hook '%S' has changed the size of value", name);
    Py_XDECREF(name);
    return NULL;
}

static td_status
hook_before(td_hook *h, td_var **g)
{
    PyObject *arg = pt_object(td_var_ref(*g)), *f = Py_NewRef((PyObject *)h->object);
    PyObject *r = arg ? PyObject_CallFunctionObjArgs(f, arg, NULL) : NULL;

    td_var *changed = r && r != Py_None ? replacement(f, r, *g) : NULL;
    bool ok = r && (r == Py_None || changed);

    Py_XDECREF(arg);
    Py_XDECREF(r);
    Py_DECREF(f);
    if (changed) {
        td_var_unref(*g);
        *g = changed;
    }
    return ok ? TD_OK : hook_failed();
}

static td_status
after(td_hook *h, td_var *v)
{
    PyObject *arg = pt_object(td_var_ref(v)), *f = Py_NewRef((PyObject *)h->object);
    PyObject *r = arg ? PyObject_CallFunctionObjArgs(f, arg, NULL) : NULL;

    bool ok = r && (r == Py_None || pt_is(r));

    Py_XDECREF(arg);
    Py_DECREF(f);
    if (r && !ok)
        pt_wrong_type(PyExc_TypeError, "expected Variable, but hook returned '%U'", r);
    Py_XDECREF(r);
    return ok ? TD_OK : hook_failed();
}

static void
handle_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);

    if (((handle *)self)->hook)
        ((handle *)self)->hook->handle = NULL;
    PyObject_Free(self);
    Py_DECREF(type);
}

static PyObject *
handle_remove(PyObject *self, PyObject *unused)
{
    hook *k = ((handle *)self)->hook;

    (void)unused;
    if (k)
        td_hook_drop(k->list, &k->h);
    return Py_NewRef(Py_None);
}

static PyObject *
handle_enter(PyObject *self, PyObject *unused)
{
    (void)unused;
    return Py_NewRef(self);
}

static PyObject *
handle_exit(PyObject *self, PyObject *args)
{
    (void)args;
    return handle_remove(self, NULL);
}

/* Adds f to list; from now on the garbage collector visits self. */
static PyObject *
hang(PyObject *self, td_hook **list, PyObject *f, uint32_t out, bool last)
{
    handle *r = PyObject_New(handle, pt.handle);
    hook *k = r ? calloc(1, sizeof *k) : NULL;

    if (!k) {
        if (r)
            PyErr_NoMemory();
        PyObject_Free(r);
        return NULL;
    }
    k->h = (td_hook){.before = last ? NULL : hook_before,
                     .after = last ? after : NULL,
                     .free = hook_free,
                     .object = Py_NewRef(f),
                     .visited = true,
                     .out = out};
    k->list = list;
    k->handle = r;
    r->hook = k;
    td_hook_add(list, &k->h);
    if (!PyObject_GC_IsTracked(self))
        PyObject_GC_Track(self);
    return (PyObject *)r;
}

static PyObject *
register_hook(PyObject *self, PyObject *f)
{
    td_var *v = pt_var(self);
    td_edge e;

    if (!pt_ok(td_var_edge(v, &e)))
        return NULL;
    td_edge_drop(&e);
    if (td_var_tracked(v))
        return hang(self, v->fn ? &v->fn->hooks : &v->hooks, f, v->out, false);
    PyErr_SetString(PyExc_RuntimeError,
                    "cannot register a hook on a tensor that doesn't require gradient");
    return NULL;
}

static PyObject *
register_after(PyObject *self, PyObject *f)
{
    td_var *v = pt_var(self);

    if (v->requires_grad && !v->fn)
        return hang(self, &v->hooks, f, 0, true);
    PyErr_SetString(PyExc_RuntimeError,
                    td_var_tracked(v)
                        ? "post accumulate grad hooks cannot be registered on non-leaf tensors"
                        : "cannot register a hook on a tensor that doesn't require gradient");
    return NULL;
}

PyMethodDef pt_hook_methods[] = {
    {"register_hook", register_hook, METH_O,
     "register_hook($self, f, /)\n--\n\n"
     "f(gradient) is called when it is known, and may give another."},
    {"register_post_accumulate_grad_hook", register_after, METH_O,
     "register_post_accumulate_grad_hook($self, f, /)\n--\n\n"
     "f(tensor) is called once its grad is complete."},
    {NULL, NULL, 0, NULL},
};

/* ---- functions with a backward of their own ---- */

/* A capsule of the function in the graph, which does not keep it; its name tells whether it is there still. */
static const char node_there[] = "treadle.node", node_gone[] = "treadle.node that is gone";

static void
custom_end(void *object)
{
    if (PyTuple_Size(object) > 2)
        PyCapsule_SetName(PyTuple_GetItem(object, 2), node_gone);
    Py_DECREF((PyObject *)object);
}

/* The object drops what it saved; nobody waits for an exception of that. */
static void
custom_let_go(void *object)
{
    PyObject *r = PyObject_CallMethod(PyTuple_GetItem(object, 0), "_let_go", NULL);

    if (!r)
        PyErr_WriteUnraisable(object);
    Py_XDECREF(r);
}

/* _grad_next(capsule): the next_functions of a function with a backward of its own; () when it is gone. */
static PyObject *
custom_next(PyObject *module, PyObject *capsule)
{
    (void)module;
    return PyCapsule_IsValid(capsule, node_there)
               ? pt_gradfn_next(PyCapsule_GetPointer(capsule, node_there))
               : PyTuple_New(0);
}

/* Tells the object, as `_node`, which function of the graph stands for it.  Objects without room for that, which are
 * nobody's grad_fn, are told nothing. */
static bool
tell_node(PyObject *object, PyObject *capsule, td_var *output)
{
    td_edge e;
    bool ok;

    if (!pt_ok(td_var_edge(output, &e)))
        return false;
    ok = !e.fn || (!PyCapsule_SetPointer(capsule, e.fn) && !PyCapsule_SetName(capsule, node_there));
    if (ok && e.fn && PyObject_SetAttrString(object, "_node", capsule))
        ok = PyErr_ExceptionMatches(PyExc_AttributeError);
    if (ok)
        PyErr_Clear();
    td_edge_drop(&e);
    return ok;
}

/* The gradients (None: none came) as arguments after the object. */
static PyObject *
hook_arguments(PyObject *object, const td_back *b)
{
    PyObject *args = PyTuple_New(b->fn->nout + 1);

    if (!args)
        return NULL;
    PyTuple_SetItem(args, 0, Py_NewRef(object));
    for (int k = 0; k < b->fn->nout; k++) {
        PyObject *g = b->g[k] ? pt_object(td_var_ref(b->g[k])) : Py_NewRef(Py_None);

        if (!g) {
            Py_DECREF(args);
            return NULL;
        }
        PyTuple_SetItem(args, k + 1, g);
    }
    return args;
}

/* Reads the function's results as gradients of the inputs. */
static bool
results(PyObject *r, const td_back *b)
{
    PyObject *all = PyTuple_Check(r) ? Py_NewRef(r) : PyTuple_Pack(1, r);
    Py_ssize_t n = all ? PyTuple_Size(all) : 0;
    bool ok = all != NULL;

    for (Py_ssize_t i = b->fn->nin; i < n && ok; i++)
        ok = PyTuple_GetItem(all, i) == Py_None;
    if (all && (!ok || n < b->fn->nin)) {
        PyErr_Format(PyExc_RuntimeError,
                     "function %sBackward returned an incorrect number of gradients (expected %d, "
                     "got %zd)",
                     b->fn->rule->name, b->fn->nin, n);
        ok = false;
    }
    for (int i = 0; i < b->fn->nin && ok; i++) {
        PyObject *one = PyTuple_GetItem(all, i);

        if (one == Py_None)
            continue;
        ok = pt_is(one);
        if (ok)
            b->in[i] = td_var_ref(pt_var(one));
        else
            pt_wrong_type(PyExc_RuntimeError, "expected Variable or None (got %U)", one);
    }
    Py_XDECREF(all);
    return ok;
}

static td_status
custom_run(void *object, const td_back *b)
{
    PyObject *pair = object, *args = hook_arguments(PyTuple_GetItem(pair, 0), b);
    PyObject *r = args ? PyObject_Call(PyTuple_GetItem(pair, 1), args, NULL) : NULL;
    bool ok = r && results(r, b);

    Py_XDECREF(args);
    Py_XDECREF(r);
    return ok ? TD_OK : hook_failed();
}

/* _grad_custom(object, backward, inputs, outputs, name="Custom"): inputs hold Tensors and None; object._let_go() is
 * called when a pass frees what was saved */
static PyObject *
custom(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    PyObject *keep[2] = {NULL}, *r = NULL, *capsule = NULL;
    td_var **set[2] = {NULL}, **out = NULL;
    const char *name = nargs > 4 ? PyUnicode_AsUTF8AndSize(args[4], NULL) : "Custom";
    td_custom c = {.run = custom_run, .let_go = custom_let_go, .end = custom_end};
    int n[2] = {0};
    bool ok = nargs >= 4 && name;

    (void)module;
    if (!ok && !PyErr_Occurred())
        PyErr_SetString(PyExc_TypeError, "_grad_custom: expected 4 arguments");
    for (int i = 0; i < 2 && ok; i++)
        ok = pt_variables("_grad_custom", args[i + 2], i == 0, &keep[i], &set[i], &n[i]);
    if (ok)
        ok = (out = py_calloc((size_t)n[1] + 1, sizeof *out)) &&
             (capsule = PyCapsule_New(&c, node_gone, NULL)) &&
             (c.object = PyTuple_Pack(3, args[0], args[1], capsule));
    if (ok)
        ok = pt_ok(td_var_custom(&c, name, set[0], n[0], set[1], n[1], out));
    if (ok && n[1])
        ok = tell_node(args[0], capsule, out[0]);
    r = ok ? PyTuple_New(n[1]) : NULL;
    for (int i = 0; ok && i < n[1]; i++) {
        PyObject *one = pt_object(out[i]);

        if (one && !PyObject_GC_IsTracked(one))
            PyObject_GC_Track(one);
        if (r)
            PyTuple_SetItem(r, i, one);
        else
            Py_XDECREF(one);
    }
    for (int i = 0; i < 2; i++) {
        free(set[i]);
        Py_XDECREF(keep[i]);
    }
    free(out);
    Py_XDECREF(capsule);
    return r;
}

static PyMethodDef functions[] = {
    {"_grad_next", custom_next, METH_O, NULL},
    {"_grad_custom", PY_FAST(custom), METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL},
};

bool
pt_hook_init(PyObject *m)
{
    static PyMethodDef methods[] = {{"remove", handle_remove, METH_NOARGS,
                                     "remove($self, /)\n--\n\n"
                                     "Not called any more."},
                                    {"__enter__", handle_enter, METH_NOARGS, NULL},
                                    {"__exit__", handle_exit, METH_VARARGS, NULL},
                                    {NULL, NULL, 0, NULL}};
    static PyType_Slot slots[] = {
        PY_SLOT(Py_tp_dealloc, handle_dealloc), {Py_tp_methods, methods}, {0, NULL}};
    static PyType_Spec spec = {.name = "treadle.torch.RemovableHandle",
                               .basicsize = sizeof(handle),
                               .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                               .slots = slots};

    return py_add_type(m, "_HookHandle", &spec, &pt.handle) &&
           PyModule_AddFunctions(m, functions) == 0;
}
