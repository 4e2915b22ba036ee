/* kernelsource.c - a Python function as the front needs it: tree, names, defaults; and whether it
 * is unchanged.
 */
#include "python/kernel/kernel.h"

#include <stdlib.h>
#include <string.h>

/* Handles of a sequence's items, or of a dict's values in the order of `names`; None: nothing. */
static bool
default_handles(py_dispatcher *d, PyObject *values, PyObject *names, uint32_t **out, uint32_t *n)
{
    Py_ssize_t count = names ? PyTuple_Size(names) : values != Py_None ? PyTuple_Size(values) : 0;

    *out = calloc((size_t)count + 1, sizeof **out);
    if (!*out)
        return PyErr_NoMemory(), false;
    *n = (uint32_t)count;
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *v = !names ? PyTuple_GetItem(values, i)
                      : values != Py_None
                          ? PyDict_GetItemWithError(values, PyTuple_GetItem(names, i))
                          : NULL;

        if (v && !((*out)[i] = py_handle(d->keep, v)))
            return false;
        if (PyErr_Occurred())
            return false;
    }
    return true;
}

/* Names of the keyword-only parameters, which follow the positional ones. */
static PyObject *
keyword_only(PyObject *code)
{
    PyObject *names = PyObject_GetAttrString(code, "co_varnames"),
             *npos = names ? PyObject_GetAttrString(code, "co_argcount") : NULL,
             *nkw = npos ? PyObject_GetAttrString(code, "co_kwonlyargcount") : NULL, *r = NULL;

    if (nkw) {
        Py_ssize_t at = PyLong_AsSsize_t(npos);

        r = PyTuple_GetSlice(names, at, at + PyLong_AsSsize_t(nkw));
    }
    Py_XDECREF(names);
    Py_XDECREF(npos);
    Py_XDECREF(nkw);
    return r;
}

static bool
fill_defaults(py_dispatcher *d, PyObject *fn, td_source *s)
{
    PyObject *code = PyObject_GetAttrString(fn, "__code__"),
             *names = code ? keyword_only(code) : NULL,
             *pos = names ? PyObject_GetAttrString(fn, "__defaults__") : NULL,
             *kw = pos ? PyObject_GetAttrString(fn, "__kwdefaults__") : NULL;
    uint32_t *handles = NULL, *kwhandles = NULL;
    bool ok = kw && default_handles(d, pos, NULL, &handles, &s->ndefault) &&
              default_handles(d, kw, names, &kwhandles, &s->nkwdefault);

    s->defaults = handles;
    s->kwdefaults = kwhandles;
    Py_XDECREF(code);
    Py_XDECREF(names);
    Py_XDECREF(pos);
    Py_XDECREF(kw);
    return ok;
}

static PyObject *
function_in(PyObject *o)
{
    return py_is_dispatcher(o) ? ((py_dispatcher *)o)->fn : o;
}

static descrgetfunc part_getter;

/* Is the descriptor of the type that functions' descriptors have? */
static bool
is_part(PyObject *descr)
{
    static PyTypeObject *type;

    if (!type) {
        type = Py_TYPE(descr);
        Py_INCREF((PyObject *)type);
        part_getter = (descrgetfunc)(uintptr_t)PyType_GetSlot(type, Py_tp_descr_get);
    }
    return part_getter && Py_TYPE(descr) == type;
}

PyObject *
py_part_of(PyObject *descr, PyObject *fn)
{
    return part_getter(descr, fn, (PyObject *)Py_TYPE(fn));
}

/* Records a function's attribute, and returns it in *value; false: exception. */
static bool
depend_on(py_spec *s, PyObject *fn, const char *name, PyObject **value)
{
    PyObject *key = PyUnicode_InternFromString(name),
             *descr = key ? PyObject_GetAttr((PyObject *)Py_TYPE(fn), key) : NULL;
    uint32_t at = s->ndep;
    bool ok;

    *value = descr ? PyObject_GetAttr(fn, key) : NULL;
    ok = *value && (py_is_none(*value) || py_depend(s, fn, key, *value, true));
    if (ok && s->ndep > at)
        s->dep[at].descr = is_part(descr) ? descr : NULL;
    Py_XDECREF(descr); /* the function's type, which is Python's own, keeps it */
    Py_XDECREF(key);
    return ok;
}

/* Without recorded defaults all arguments were given, so nothing depends on the defaults. */
bool
py_depend_function(py_spec *s, PyObject *o)
{
    PyObject *fn = function_in(o), *code = NULL, *pos = NULL, *kw = NULL, *key, *value;
    bool ok = depend_on(s, fn, "__code__", &code) && depend_on(s, fn, "__defaults__", &pos) &&
              depend_on(s, fn, "__kwdefaults__", &kw);
    Py_ssize_t at = 0;

    while (ok && PyDict_Check(kw) && PyDict_Next(kw, &at, &key, &value))
        ok = py_depend(s, kw, key, value, false);
    Py_XDECREF(code);
    Py_XDECREF(pos);
    Py_XDECREF(kw);
    return ok;
}

/* A copy of the list, which grows; the types are the dispatcher's.  Kernels have no result, and calls are fitted to
 * theirs. */
static bool
fill_declared(PyObject *o, td_source *s)
{
    const py_dispatcher *d = py_is_dispatcher(o) ? (py_dispatcher *)o : NULL;
    td_signature *list;

    if (!d || !d->nsignature || (!d->device && d->how.mode != TD_MODE_FUNCTION))
        return true;
    list = malloc(d->nsignature * sizeof *list);
    if (!list) {
        PyErr_NoMemory();
        return false;
    }
    memcpy(list, d->signature, d->nsignature * sizeof *list);
    s->signature = list;
    s->nsignature = d->nsignature;
    return true;
}

/* The types of variables that jit's locals= names: the dispatcher keeps them as _locals. */
static bool
fill_locals(PyObject *o, td_source *s)
{
    PyObject *all = py_is_dispatcher(o) ? PyObject_GetAttrString(o, "_locals") : NULL, *name, *type;
    Py_ssize_t at = 0, n = all ? PyDict_Size(all) : 0;
    const char **names = malloc(((size_t)n + 1) * sizeof *names);
    const td_type **types = malloc(((size_t)n + 1) * sizeof *types);
    bool ok = names && types;

    if (!all)
        PyErr_Clear();
    if (!ok)
        PyErr_NoMemory();
    s->declared = names;
    s->declared_type = types;
    while (ok && all && PyDict_Next(all, &at, &name, &type)) {
        names[s->ndeclared] = PyUnicode_AsUTF8AndSize(name, NULL);
        ok = names[s->ndeclared] && py_type_of(type, &types[s->ndeclared]) == 1;
        s->ndeclared++;
    }
    Py_XDECREF(all); /* the dispatcher has it */
    return ok;
}

static bool
fill_source(py_dispatcher *d, PyObject *o, PyObject *fn, td_source *s)
{
    PyObject *name = PyObject_GetAttrString(fn, "__name__");
    py_tree *t = name ? py_tree_of(fn) : NULL;
    bool ok =
        t && PyList_Append(d->trees, (PyObject *)t) == 0 && PyList_Append(d->trees, name) == 0;

    if (ok) { /* the list keeps them */
        *s = (td_source){.name = PyUnicode_AsUTF8AndSize(name, NULL),
                         .file = PyUnicode_AsUTF8AndSize(t->file, NULL),
                         .text = PyUnicode_AsUTF8AndSize(t->text, NULL),
                         .line = t->line,
                         .tree = t->tree,
                         .ntree = t->ntree,
                         .root = t->root,
                         .names = t->names,
                         .nnames = t->nnames,
                         .device = py_is_dispatcher(o) && ((py_dispatcher *)o)->device,
                         .object = py_handle(d->keep, o)};
        ok = s->name && s->file && s->text && s->object && fill_defaults(d, fn, s) &&
             fill_locals(o, s) && fill_declared(o, s);
    }
    Py_XDECREF(name);
    Py_XDECREF((PyObject *)t);
    return ok;
}

static void
free_source(py_known *k)
{
    free((void *)(uintptr_t)k->s.defaults);
    free((void *)(uintptr_t)k->s.kwdefaults);
    free((void *)(uintptr_t)k->s.declared);
    free((void *)(uintptr_t)k->s.declared_type);
    free((void *)(uintptr_t)k->s.signature);
    Py_XDECREF(k->code);
    free(k);
}

void
py_sources_free(py_dispatcher *d)
{
    for (uint32_t i = 0; i < d->nsource; i++)
        free_source(d->source[i]);
    free(d->source);
    d->source = NULL;
    d->nsource = 0;
}

/* Does the function still have the code and defaults of k?  -1: exception. */
static int
is_current(py_dispatcher *d, const py_known *k, PyObject *fn)
{
    PyObject *code = PyObject_GetAttrString(fn, "__code__");
    td_source now = {0};
    int r = !code ? -1 : code != k->code ? 0 : fill_defaults(d, fn, &now) ? 1 : -1;

    if (r > 0)
        r = now.ndefault == k->s.ndefault && now.nkwdefault == k->s.nkwdefault &&
            memcmp(now.defaults, k->s.defaults, now.ndefault * sizeof *now.defaults) == 0 &&
            memcmp(now.kwdefaults, k->s.kwdefaults, now.nkwdefault * sizeof *now.kwdefaults) == 0;
    free((void *)(uintptr_t)now.defaults);
    free((void *)(uintptr_t)now.kwdefaults);
    Py_XDECREF(code);
    return r;
}

/* *out NULL: there is none.  False: exception. */
static bool
find_known(py_dispatcher *d, PyObject *o, const td_source **out)
{
    *out = NULL;
    for (uint32_t i = d->nsource; i-- > 0;) {
        int r = py_handle_object(d->source[i]->s.object) != o
                    ? 0
                    : is_current(d, d->source[i], function_in(o));

        if (r < 0)
            return false;
        if (r) {
            *out = &d->source[i]->s;
            return true;
        }
    }
    return true;
}

/* Takes k.  NULL: exception. */
static const td_source *
add_known(py_dispatcher *d, py_known *k)
{
    py_known **list = realloc(d->source, (d->nsource + 1) * sizeof *list);

    if (!list) {
        free_source(k);
        return PyErr_NoMemory(), NULL;
    }
    d->source = list;
    d->source[d->nsource++] = k;
    return &k->s;
}

const td_source *
py_source(py_dispatcher *d, PyObject *o)
{
    PyObject *fn = function_in(o);
    const td_source *s;
    py_known *k;

    if (!find_known(d, o, &s) || s)
        return s;
    k = calloc(1, sizeof *k);
    if (!k)
        return PyErr_NoMemory(), NULL;
    k->code = PyObject_GetAttrString(fn, "__code__");
    /* other threads may run while Python reads the source */
    if (!k->code || !fill_source(d, o, fn, &k->s) || !find_known(d, o, &s) || s) {
        free_source(k);
        return s;
    }
    return add_known(d, k);
}
