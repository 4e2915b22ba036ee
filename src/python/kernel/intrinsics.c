/* intrinsics.c - finds out, by identity, which Python objects are rows of td_intrinsic().
 *
 * A row lists dotted names.  For each module that the program has imported, the objects under
 * these names are looked up once.  treadle's own objects have their name in an attribute
 * _td_name: looking them up would import modules with hundreds of names at the first call.
 */
#include "python/kernel/kernel.h"

#include <string.h>

static struct {
    PyObject *numbers; /* dict: address -> number */
    PyObject *names;   /* dict: dotted name -> number */
    PyObject *roots;   /* dict: first part of a name -> was it looked up? */
    PyObject *kept;    /* list: the objects, kept so that no others get their addresses */
} known;

/* Are objects whose names begin with this part known by _td_name only? */
static bool
is_own_root(const char *root)
{
    return strncmp(root, "cuda.", 5) == 0 || strncmp(root, "treadle.", 8) == 0;
}

static bool
note_intrinsic(PyObject *o, PyObject *number)
{
    PyObject *at = PyLong_FromVoidPtr(o);
    bool ok =
        at && PyDict_SetItem(known.numbers, at, number) == 0 && PyList_Append(known.kept, o) == 0;

    Py_XDECREF(at);
    return ok;
}

/* Splits the table's names once, into every name and every first part. */
static bool
read_table(void)
{
    const char *names;
    bool ok = true;

    known.numbers = PyDict_New();
    known.names = PyDict_New();
    known.roots = PyDict_New();
    known.kept = PyList_New(0);
    if (!known.numbers || !known.names || !known.roots || !known.kept)
        return false;
    for (int i = 0; ok && (names = td_intrinsic(i)); i++)
        while (ok && *names) {
            size_t n = strcspn(names, " "), head = strcspn(names, ".");
            PyObject *name = PyUnicode_FromStringAndSize(names, (Py_ssize_t)n),
                     *root = head < n && !is_own_root(names)
                                 ? PyUnicode_FromStringAndSize(names, (Py_ssize_t)head)
                                 : NULL,
                     *number = PyLong_FromLong(i);

            ok = name && number && PyDict_SetItem(known.names, name, number) == 0 &&
                 (!root || PyDict_SetItem(known.roots, root, Py_False) == 0) && !PyErr_Occurred();
            Py_XDECREF(name);
            Py_XDECREF(root);
            Py_XDECREF(number);
            names += n + strspn(names + n, " ");
        }
    return ok;
}

/* The object of a dotted name within a module; NULL without an exception: there is none. */
static PyObject *
resolve(PyObject *module, const char *path)
{
    PyObject *o = Py_NewRef(module);
    char part[64];

    while (o && *path) {
        size_t n = strcspn(path, ".");
        PyObject *next = NULL;

        if (n < sizeof part) {
            memcpy(part, path, n);
            part[n] = 0;
            next = PyObject_GetAttrString(o, part);
        }
        Py_DECREF(o);
        o = next;
        path += n + (path[n] == '.');
    }
    PyErr_Clear(); /* this version of the module has no such name */
    return o;
}

/* Looks up the names that begin with root. */
static bool
look_up(PyObject *root, PyObject *module)
{
    const char *first = PyUnicode_AsUTF8AndSize(root, NULL);
    PyObject *name, *number;
    Py_ssize_t at = 0;
    size_t n = first ? strlen(first) : 0;
    bool ok = first != NULL;

    while (ok && PyDict_Next(known.names, &at, &name, &number)) {
        const char *text = PyUnicode_AsUTF8AndSize(name, NULL);
        PyObject *o;

        if (!text || strncmp(text, first, n) != 0 || text[n] != '.')
            continue;
        o = resolve(module, text + n + 1);
        ok = !o || note_intrinsic(o, number);
        Py_XDECREF(o);
    }
    return ok;
}

/* Looks into modules imported since the last time.  1: found some; 0: none; -1: exception. */
static int
find_modules(void)
{
    PyObject *names = PyDict_Keys(known.roots), *modules = PyImport_GetModuleDict();
    int found = names ? 0 : -1;

    for (Py_ssize_t i = 0; found >= 0 && i < PyList_Size(names); i++) {
        PyObject *root = PyList_GetItem(names, i), *module;
        const char *text = PyUnicode_AsUTF8AndSize(root, NULL);

        if (!text)
            found = -1;
        else if (PyDict_GetItem(known.roots, root) == Py_False &&
                 (module = PyDict_GetItemString(modules, text)) != NULL) {
            Py_INCREF(module);
            found =
                PyDict_SetItem(known.roots, root, Py_True) == 0 && look_up(root, module) ? 1 : -1;
            Py_DECREF(module);
        }
    }
    Py_XDECREF(names);
    return found;
}

/* -1: none; -2: exception */
static int
number_in(PyObject *dict, PyObject *key)
{
    PyObject *n = key ? PyDict_GetItemWithError(dict, key) : NULL;

    return n ? (int)PyLong_AsLong(n) : PyErr_Occurred() ? -2 : -1;
}

static int
by_address(PyObject *o)
{
    PyObject *at = PyLong_FromVoidPtr(o);
    int r = number_in(known.numbers, at);

    Py_XDECREF(at);
    return r;
}

int
py_intrinsic(PyObject *o)
{
    PyObject *name;
    int r;

    if (!known.numbers && !read_table())
        return -2;
    r = by_address(o);
    if (r != -1)
        return r;
    r = find_modules();
    r = r < 0 ? -2 : r ? by_address(o) : -1;
    if (r != -1)
        return r;
    if (PyModule_Check(o)) /* do not ask modules: some import others then */
        return -1;
    name = py_attr(o, "_td_name");
    if (!name)
        return PyErr_Occurred() ? -2 : -1;
    r = PyUnicode_Check(name) ? number_in(known.names, name) : -1;
    Py_DECREF(name);
    return r;
}
