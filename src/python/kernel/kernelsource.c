/* kernelsource.c - functions as the front takes them: tree, names, defaults. */
#include "python/kernel/kernel.h"

#include <stdlib.h>

/* The handles of a sequence's items, of a dict's values in the order of `names`, or nothing for None. */
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

/* Names of the keyword-only parameters: they follow the positional ones. */
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
    uint32_t *handles = NULL, *kwhandles = NULL, n;
    bool ok = kw && default_handles(d, pos, NULL, &handles, &s->ndefault) &&
              default_handles(d, kw, names, &kwhandles, &n);

    s->defaults = handles;
    s->kwdefaults = kwhandles;
    Py_XDECREF(code);
    Py_XDECREF(names);
    Py_XDECREF(pos);
    Py_XDECREF(kw);
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
        ok = s->name && s->file && s->text && s->object && fill_defaults(d, fn, s);
    }
    Py_XDECREF(name);
    Py_XDECREF((PyObject *)t);
    return ok;
}

static void
free_source(td_source *s)
{
    free((void *)(uintptr_t)s->defaults);
    free((void *)(uintptr_t)s->kwdefaults);
    free(s);
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

static td_source *
known_source(const py_dispatcher *d, PyObject *o)
{
    for (uint32_t i = 0; i < d->nsource; i++)
        if (py_handle_object(d->source[i]->object) == o)
            return d->source[i];
    return NULL;
}

const td_source *
py_source(py_dispatcher *d, PyObject *o)
{
    PyObject *fn = py_is_dispatcher(o) ? ((py_dispatcher *)o)->fn : o;
    td_source *s = known_source(d, o), **list;

    if (s)
        return s;
    s = calloc(1, sizeof *s);
    if (!s)
        return PyErr_NoMemory(), NULL;
    if (!fill_source(d, o, fn, s)) {
        free_source(s);
        return NULL;
    }
    if (known_source(d, o)) { /* by now: other threads ran while Python read the source */
        free_source(s);
        return known_source(d, o);
    }
    list = realloc(d->source, (d->nsource + 1) * sizeof *list);
    if (!list) {
        free_source(s);
        return PyErr_NoMemory(), NULL;
    }
    d->source = list;
    return d->source[d->nsource++] = s;
}
