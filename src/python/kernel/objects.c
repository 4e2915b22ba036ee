/* objects.c - Python objects for the front: names, attributes, descriptions.
 *
 * What a compilation treats as a constant is recorded in it (py_dep): a global name, a cell, an
 * object's attribute, a called function's code and defaults.
 */
#include "python/kernel/kernel.h"

#include <stdlib.h>
#include <string.h>

/* ---- dependencies ---- */

/* What py_forget has kept. */
static struct {
    PyObject *type, *value, *trace;
} kept;

/* Clears the exception that stands, which says that something is not there. One that says nothing of the program, for
 * want of memory or by Ctrl-C, ends the compilation: py_unforgotten raises it. */
static void
py_forget(void)
{
    PyObject *e = PyErr_Occurred();

    if (!e || kept.type ||
        (!PyErr_GivenExceptionMatches(e, PyExc_MemoryError) &&
         PyErr_GivenExceptionMatches(e, PyExc_Exception)))
        PyErr_Clear();
    else
        PyErr_Fetch(&kept.type, &kept.value, &kept.trace);
}

bool
py_unforgotten(void)
{
    if (!kept.type)
        return false;
    PyErr_Restore(kept.type, kept.value, kept.trace);
    kept.type = kept.value = kept.trace = NULL;
    return true;
}

bool
py_depend(py_spec *s, PyObject *space, PyObject *name, PyObject *value, bool attr)
{
    for (uint32_t i = 0; i < s->ndep; i++)
        if (s->dep[i].space == space && s->dep[i].name == name && s->dep[i].attr == attr)
            return true;
    if (s->ndep == s->cdep) {
        uint32_t cap = s->cdep ? s->cdep * 2 : 8;
        py_dep *p = realloc(s->dep, cap * sizeof *p);

        if (!p)
            return PyErr_NoMemory(), false;
        s->dep = p;
        s->cdep = cap;
    }
    s->dep[s->ndep++] = (py_dep){.space = Py_NewRef(space),
                                 .name = Py_XNewRef(name),
                                 .value = Py_XNewRef(value),
                                 .attr = attr};
    return true;
}

/* ---- names ---- */

/* The cell of a free name, a new reference; NULL without an exception: it has no cell. */
static PyObject *
find_cell(PyObject *fn, PyObject *name)
{
    PyObject *cells = PyObject_GetAttrString(fn, "__closure__"),
             *code = cells && cells != Py_None ? PyObject_GetAttrString(fn, "__code__") : NULL,
             *free = code ? PyObject_GetAttrString(code, "co_freevars") : NULL, *cell = NULL;

    for (Py_ssize_t i = 0; free && !cell && i < PyTuple_Size(free); i++)
        if (PyUnicode_Compare(PyTuple_GetItem(free, i), name) == 0)
            cell = Py_NewRef(PyTuple_GetItem(cells, i));
    Py_XDECREF(cells);
    Py_XDECREF(code);
    Py_XDECREF(free);
    return cell;
}

static PyObject *
find_builtin(PyObject *globals, PyObject *name)
{
    PyObject *b = PyDict_GetItemString(globals, "__builtins__"), *v = NULL;

    if (b && PyModule_Check(b))
        b = PyModule_GetDict(b);
    if (!b)
        b = PyEval_GetBuiltins();
    if (b && PyDict_Check(b))
        v = PyDict_GetItemWithError(b, name);
    return Py_XNewRef(v);
}

/* The value of a name in fn, a new reference; NULL without an exception: not defined. */
static PyObject *
find_name(py_spec *spec, PyObject *fn, PyObject *name)
{
    PyObject *cell = find_cell(fn, name), *globals, *v = NULL;

    if (cell) {
        v = PyObject_GetAttrString(cell, "cell_contents");
        if (!v)
            PyErr_Clear(); /* an empty cell is assigned later */
        if (v && !py_depend(spec, cell, NULL, v, false))
            Py_CLEAR(v);
        Py_DECREF(cell);
        return v;
    }
    globals = PyErr_Occurred() ? NULL : PyObject_GetAttrString(fn, "__globals__");
    if (!globals)
        return NULL;
    v = Py_XNewRef(PyDict_GetItemWithError(globals, name));
    if (!PyErr_Occurred() && !py_depend(spec, globals, name, v, false))
        Py_CLEAR(v);
    if (!v && !PyErr_Occurred())
        v = find_builtin(globals, name);
    Py_DECREF(globals);
    return v;
}

static td_status
give_handle(py_asking *a, PyObject *v, uint32_t *out, const char *what)
{
    if (v) {
        *out = py_handle(a->d->keep, v);
        Py_DECREF(v);
        if (*out)
            return TD_OK;
        return td_fail(TD_ERR_NOMEM, "%s: memory is out", what);
    }
    py_forget();
    return td_fail(TD_ERR_VALUE, "%s is not defined", what);
}

static td_status
ask_name(void *ctx, const td_source *s, uint32_t name, uint32_t *out)
{
    py_asking *a = ctx;
    PyObject *fn = py_handle_object(s->object), *key = PyUnicode_FromString(s->names[name]);
    PyObject *v;

    if (py_is_dispatcher(fn))
        fn = ((py_dispatcher *)fn)->fn;
    PyUnicode_InternInPlace(&key);
    v = key ? find_name(a->spec, fn, key) : NULL;
    Py_XDECREF(key);
    return give_handle(a, v, out, s->names[name]);
}

/* Is it one of treadle's own intrinsics?  Nobody replaces those, and kernels use many. */
static bool
is_own_intrinsic(PyObject *v)
{
    PyObject *name = py_intrinsic(v) >= 0 ? py_attr(v, "_td_name") : NULL;

    Py_XDECREF(name);
    return name != NULL;
}

/* Records a module's attribute as an entry of its dict, which a call checks faster. */
static bool
depend_on_attribute(py_spec *s, PyObject *o, PyObject *key, PyObject *v)
{
    PyObject *dict = PyModule_Check(o) ? PyModule_GetDict(o) : NULL;

    if (dict ? is_own_intrinsic(v) : py_intrinsic(v) >= 0)
        return true;
    py_forget();
    if (dict && PyDict_GetItemWithError(dict, key) == v)
        return py_depend(s, dict, key, v, false);
    return py_depend(s, o, key, v, true);
}

static td_status
ask_attr(void *ctx, uint32_t obj, const char *name, uint32_t *out)
{
    py_asking *a = ctx;
    PyObject *o = py_handle_object(obj), *key = PyUnicode_FromString(name);
    PyObject *v = key ? PyObject_GetAttr(o, key) : NULL;

    PyUnicode_InternInPlace(&key);
    if (v && !depend_on_attribute(a->spec, o, key, v))
        Py_CLEAR(v);
    Py_XDECREF(key);
    return give_handle(a, v, out, name);
}

/* The executor's Python version of a function that CPython computes in its own way. */
static td_status
ask_spelled(void *ctx, uint32_t obj, uint32_t *out)
{
    PyObject *module = PyImport_ImportModule("treadle.executor._pythons");
    PyObject *all = module ? PyObject_GetAttrString(module, "SPELLED") : NULL;
    PyObject *v = all ? PyDict_GetItemWithError(all, py_handle_object(obj)) : NULL;

    Py_XINCREF(v);
    Py_XDECREF(all);
    Py_XDECREF(module);
    return give_handle(ctx, v, out, "a spelling");
}

/* The Python function that replaces a function of NumPy or random, or that is registered under a name: borrowed; NULL:
 * none. */
static PyObject *
stand_in_of(PyObject *key)
{
    PyObject *module = PyImport_ImportModule("treadle._compile._stand_ins");
    PyObject *all = module ? PyObject_GetAttrString(module, "STAND_INS") : NULL;
    PyObject *v = all ? PyDict_GetItemWithError(all, key) : NULL;

    Py_XDECREF(all);
    Py_XDECREF(module);
    py_forget();
    return v;
}

static td_status
ask_stand_in(void *ctx, const char *name, uint32_t *out)
{
    PyObject *key = PyUnicode_FromString(name), *v = key ? stand_in_of(key) : NULL;

    Py_XDECREF(key);
    return give_handle(ctx, Py_XNewRef(v), out, name);
}

static PyObject *
spelled_type(const td_type *t)
{
    PyObject *all = py_types_spell(&t, 1), *r = all ? Py_NewRef(PyTuple_GetItem(all, 0)) : NULL;

    Py_XDECREF(all);
    return r;
}

/* Types as _overloads.implementation takes them. */
static PyObject *
overload_types(const td_type *const *type, uint32_t n)
{
    PyObject *all = PyTuple_New((Py_ssize_t)n);

    for (uint32_t i = 0; all && i < n; i++) {
        PyObject *one = type[i]->kind == TD_T_OBJECT
                            ? Py_BuildValue("(O)", py_handle_object(type[i]->object))
                            : spelled_type(type[i]);

        if (!one)
            Py_CLEAR(all);
        else
            PyTuple_SetItem(all, (Py_ssize_t)i, one);
    }
    return all;
}

static PyObject *
overload_names(const char *const *kw, uint32_t nkw)
{
    PyObject *all = PyTuple_New((Py_ssize_t)nkw);

    for (uint32_t i = 0; all && i < nkw; i++) {
        PyObject *one = PyUnicode_FromString(kw[i]);

        if (!one)
            Py_CLEAR(all);
        else
            PyTuple_SetItem(all, (Py_ssize_t)i, one);
    }
    return all;
}

/* What chooses implementations of a function by its arguments' types, a new reference: its own method, or the registry
 * of overloads, a module that is imported by the first program that registers one.  NULL: there is none; *itself: does it
 * take the function, too? */
static PyObject *
overload_chooser(PyObject *function, bool *itself)
{
    PyObject *module, *known, *f = PyObject_GetAttrString(function, "_td_implementation");
    int has;

    py_forget();
    *itself = !f;
    if (f)
        return f;
    module = PyDict_GetItemString(PyImport_GetModuleDict(), "treadle._compile._overloads");
    known = module ? PyObject_GetAttrString(module, "FACTORIES") : NULL;
    has = known ? PyDict_Contains(known, function) : 0;
    Py_XDECREF(known);
    py_forget();
    return has == 1 ? PyObject_GetAttrString(module, "implementation") : NULL;
}

static td_status
ask_overload(void *ctx, uint32_t obj, const td_type *const *type, uint32_t n, const char *const *kw,
             uint32_t nkw, uint32_t *out)
{
    bool itself;
    PyObject *function = py_handle_object(obj), *f = overload_chooser(function, &itself),
             *types = f ? overload_types(type, n) : NULL,
             *names = types ? overload_names(kw, nkw) : NULL, *made = NULL;
    td_status st = TD_SKIP;

    if (names)
        made = itself ? PyObject_CallFunctionObjArgs(f, function, types, names, NULL)
                      : PyObject_CallFunctionObjArgs(f, types, names, NULL);
    if (f && !made)
        st = py_keep();
    else if (made && made != Py_None)
        st = give_handle(ctx, Py_NewRef(made), out, "an overload");
    Py_XDECREF(made);
    Py_XDECREF(names);
    Py_XDECREF(types);
    Py_XDECREF(f);
    return st;
}

/* ---- describing objects ---- */

static const struct {
    char weak;
    td_objkind kind;
} numbers[] = {{'b', TD_OBJ_BOOL},
               {'i', TD_OBJ_INT},
               {'f', TD_OBJ_FLOAT},
               {'c', TD_OBJ_COMPLEX},
               {0, TD_OBJ_NUMBER}};

static td_status
fail_unusable(const char *what)
{
    py_forget();
    return td_fail(TD_ERR_TYPE, "%s cannot be used in a kernel", what);
}

static bool
is_enum(PyObject *class)
{
    PyObject *m = PyType_Check(class) ? PyDict_GetItemString(PyImport_GetModuleDict(), "enum")
                                      : NULL,
             *base = m ? PyObject_GetAttrString(m, "Enum") : NULL;
    int is = base ? PyObject_IsSubclass(class, base) : 0;

    Py_XDECREF(base);
    py_forget();
    return is > 0;
}

/* A new reference to what stands for an object: for a member of an enum of numbers (IntEnum) its value, for another
 * enum's member a tuple of its value, which has the enum as its class. */
static PyObject *
enum_value(PyObject *o)
{
    PyObject *value = is_enum((PyObject *)Py_TYPE(o)) ? PyObject_GetAttrString(o, "value")
                                                      : Py_NewRef(o),
             *tuple;

    if (!value || !py_is_member_class((PyObject *)Py_TYPE(o)))
        return value;
    tuple = PyTuple_Pack(1, value);
    Py_DECREF(value);
    return tuple;
}

/* 1: a number; 0: it is not */
static int
describe_number(PyObject *o, td_objinfo *out)
{
    char weak;

    if (PyUnicode_Check(o) || PyTuple_Check(o) || py_is_array(o) || PyType_Check(o) ||
        py_number(o, &out->num, &weak) <= 0)
        return py_forget(), 0;
    if (weak == 'i' && out->num.dt == TD_F64) /* beyond 64 bits */
        return 0;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (numbers[i].weak == weak)
            out->kind = numbers[i].kind;
    return 1;
}

static td_status
describe_tuple(py_asking *a, PyObject *o, td_objinfo *out)
{
    Py_ssize_t n = PyTuple_Size(o);
    uint32_t *item = td_alloc_big(&a->spec->mem, ((size_t)n + 1) * sizeof *item);

    if (!item)
        return td_fail(TD_ERR_NOMEM, "a tuple of %zd items", n);
    for (Py_ssize_t i = 0; i < n; i++)
        if (!(item[i] = py_handle(a->d->keep, PyTuple_GetItem(o, i))))
            return fail_unusable("a tuple");
    out->kind = TD_OBJ_TUPLE;
    out->item = item;
    out->n = (uint32_t)n;
    return TD_OK;
}

static td_status
describe_slice(py_asking *a, PyObject *o, td_objinfo *out)
{
    PyObject *start = PyObject_GetAttrString(o, "start"), *stop = PyObject_GetAttrString(o, "stop"),
             *step = PyObject_GetAttrString(o, "step"),
             *parts = start && stop && step ? PyTuple_Pack(3, start, stop, step) : NULL;
    td_status st = parts ? describe_tuple(a, parts, out) : fail_unusable("a slice");

    Py_XDECREF(start);
    Py_XDECREF(stop);
    Py_XDECREF(step);
    Py_XDECREF(parts); /* the slice holds the parts */
    out->kind = TD_OBJ_SLICE;
    return st;
}

/* A class's name in the compilation's memory: a class of C's makes a new string for each who asks.  NULL: an exception. */
static const char *
class_name(py_asking *a, PyObject *class)
{
    PyObject *name = PyType_GetName((PyTypeObject *)class);
    const char *s = name ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
    size_t n = s ? strlen(s) + 1 : 0;
    char *copy = s ? td_alloc_big(&a->spec->mem, n) : NULL;

    if (copy)
        memcpy(copy, s, n);
    Py_XDECREF(name);
    return copy;
}

bool
py_is_member_class(PyObject *class)
{
    return is_enum(class) && !PyType_IsSubtype((PyTypeObject *)class, &PyLong_Type) &&
           !PyType_IsSubtype((PyTypeObject *)class, &PyFloat_Type) &&
           !PyType_IsSubtype((PyTypeObject *)class, &PyUnicode_Type);
}

bool
py_is_named(PyObject *class)
{
    if (py_is_member_class(class))
        return true;
    return PyType_Check(class) && class != (PyObject *)&PyTuple_Type &&
           PyType_IsSubtype((PyTypeObject *)class, &PyTuple_Type) &&
           PyObject_HasAttrString(class, "_fields");
}

/* Describes a class of named tuples by its fields, and an enum, whose members have one.  TD_SKIP: it is neither. */
static td_status
describe_named(py_asking *a, PyObject *o, td_objinfo *out)
{
    bool member = py_is_member_class(o);
    PyObject *fields = !py_is_named(o) ? NULL
                       : member        ? Py_BuildValue("(s)", "value")
                                       : PyObject_GetAttrString(o, "_fields");
    td_status st = TD_SKIP;

    py_forget();
    if (fields && PyTuple_Check(fields))
        st = describe_tuple(a, fields, out);
    Py_XDECREF(fields);
    if (st)
        return st;
    out->text = class_name(a, o);
    out->kind = TD_OBJ_NAMED;
    out->member = member;
    return out->text ? TD_OK : fail_unusable("a class of named tuples");
}

/* A tuple of a class that has names for its items, or of none. */
static td_status
describe_items(py_asking *a, PyObject *o, PyObject *class, td_objinfo *out)
{
    td_objinfo named = {0};
    td_status st;

    TD_TRY(describe_tuple(a, o, out));
    st = describe_named(a, class, &named);
    out->text = named.text;
    out->object = st ? 0 : py_handle(a->d->keep, class);
    return st == TD_SKIP || out->object ? TD_OK : fail_unusable("a named tuple");
}

static td_status
describe_array(PyObject *o, td_objinfo *out)
{
    const td_array *a = py_array_of(o);

    out->kind = TD_OBJ_ARRAY;
    out->type = py_array_type(py_num_type(td_array_dtype(a)), &a->view, true);
    return out->type ? TD_OK : fail_unusable("an array of so many dimensions");
}

/* A NumPy array or record is a constant: it is copied to the device, in C order, when the
 * kernel is made. */
static td_status
describe_numpy(PyObject *o, td_objinfo *out)
{
    PyObject *dtype = PyObject_GetAttrString(o, "dtype"), *ndim = PyObject_GetAttrString(o, "ndim");
    const td_type *item = dtype && ndim ? py_dtype_type(dtype) : NULL;
    long n = ndim ? PyLong_AsLong(ndim) : 0;

    Py_XDECREF(dtype);
    Py_XDECREF(ndim);
    if (!item || n > TD_MAXDIM_KERNEL)
        return fail_unusable("this NumPy array");
    out->kind = TD_OBJ_ARRAY;
    out->type = td_type_array(item, (uint32_t)n, 'C', true);
    return TD_OK;
}

static bool
is_numpys(PyObject *o, const char *name)
{
    PyObject *np = PyDict_GetItemString(PyImport_GetModuleDict(), "numpy"),
             *class = np ? PyObject_GetAttrString(np, name) : NULL;
    bool r = class && PyObject_IsInstance(o, class) == 1;

    Py_XDECREF(class);
    py_forget();
    return r;
}

static bool
is_function(PyObject *o)
{
    static PyObject *class;

    if (!class) {
        class = py_package("types", "FunctionType");
        py_forget();
    }
    return class && PyObject_IsInstance(o, class) == 1;
}

/* Is it of Numba's package, its tests apart?  The functions there stand for code that only Numba's compiler has: their
 * Python bodies are often `pass`. */
static bool
is_numbas(PyObject *o)
{
    PyObject *module = py_attr(o, "__module__");
    const char *name =
        module && PyUnicode_Check(module) ? PyUnicode_AsUTF8AndSize(module, NULL) : NULL;
    bool is = name && strncmp(name, "numba.", 6) == 0 && strncmp(name, "numba.tests", 11) != 0;

    Py_XDECREF(module);
    PyErr_Clear();
    return is;
}

static td_status
describe_function(py_asking *a, PyObject *o, td_objinfo *out)
{
    out->source = py_depend_function(a->spec, o) ? py_source(a->d, o) : NULL;
    if (!out->source) {
        PyObject *type, *value, *trace, *text;
        const char *why;
        td_status st;

        PyErr_Fetch(&type, &value, &trace);
        if (type && PyErr_GivenExceptionMatches(type, PyExc_MemoryError)) {
            PyErr_Restore(type, value, trace);
            py_forget();
            return td_fail(TD_ERR_NOMEM, "reading a function: memory is out");
        }
        text = value ? PyObject_Str(value) : NULL;
        why = text ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
        st = type == PyExc_OSError ? TD_ERR_IO : TD_ERR_VALUE;
        st = td_fail(st, "%s", why ? why : "a function's source cannot be found");
        Py_XDECREF(text);
        Py_XDECREF(type);
        Py_XDECREF(value);
        Py_XDECREF(trace);
        return st;
    }
    out->kind = TD_OBJ_FUNCTION;
    return TD_OK;
}

/* The repr of something that kernels cannot use, 80 characters at most, in the compilation's memory. */
static td_status
describe_other(py_asking *a, PyObject *o, td_objinfo *out)
{
    PyObject *name = PyModule_Check(o) ? PyModule_GetNameObject(o) : NULL,
             *text = name ? PyUnicode_FromFormat("module %U", name) : PyObject_Repr(o);
    const char *s = text ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
    char *copy = td_alloc(&a->spec->mem, 96);

    py_forget();
    PyOS_snprintf(copy, 96, "%.80s%s", s ? s : "an object", s && strlen(s) > 80 ? "…" : "");
    Py_XDECREF(text);
    Py_XDECREF(name);
    out->kind = TD_OBJ_OTHER;
    out->text = copy;
    return TD_OK;
}

/* The kinds that a look at the object's type tells.  TD_SKIP: none of them. */
static td_status
describe_simple(py_asking *a, PyObject *o, td_objinfo *out)
{
    if (o == Py_None || o == Py_Ellipsis) {
        out->kind = o == Py_None ? TD_OBJ_NONE : TD_OBJ_ELLIPSIS;
        return TD_OK;
    }
    if (PyUnicode_Check(o)) {
        out->kind = TD_OBJ_STR;
        out->text = PyUnicode_AsUTF8AndSize(o, NULL);
        return out->text ? TD_OK : fail_unusable("a string of broken surrogates");
    }
    if (PyExceptionClass_Check(o)) {
        out->kind = TD_OBJ_EXCEPTION;
        out->text = class_name(a, o);
        return out->text ? TD_OK : fail_unusable("an exception class");
    }
    return TD_SKIP;
}

static td_status
describe_object(py_asking *a, PyObject *o, td_objinfo *out)
{
    td_status st = describe_simple(a, o, out);
    PyObject *spelled;
    int r;

    if (st != TD_SKIP)
        return st;
    if (py_is_array(o))
        return describe_array(o, out);
    r = py_type_of(o, &out->type);
    if (r < 0)
        return fail_unusable("this type");
    if (r) {
        out->kind = TD_OBJ_TYPE;
        return TD_OK;
    }
    spelled = a->d->how.mode == TD_MODE_FUNCTION && PyCallable_Check(o) && !py_is_dispatcher(o)
                  ? stand_in_of(o)
                  : NULL;
    out->stand_in = spelled != NULL;
    if (spelled)
        return describe_function(a, spelled, out);
    r = py_intrinsic(o);
    if (r >= 0) {
        out->kind = TD_OBJ_INTRINSIC;
        out->number = r;
        return TD_OK;
    }
    py_forget();
    if (is_numpys(o, "ndarray") || is_numpys(o, "void"))
        return describe_numpy(o, out);
    if (describe_number(o, out))
        return TD_OK;
    if (PySlice_Check(o))
        return describe_slice(a, o, out);
    if (PyTuple_Check(o))
        return describe_items(a, o, (PyObject *)Py_TYPE(o), out);
    if ((st = describe_named(a, o, out)) != TD_SKIP)
        return st;
    if (!py_is_dispatcher(o) && PyCallable_Check(o) && (spelled = stand_in_of(o))) {
        out->stand_in = true;
        return describe_function(a, spelled, out); /* which describes what a kernel does instead */
    }
    if (py_is_dispatcher(o) && ((py_dispatcher *)o)->how.mode == TD_MODE_FUNCTION)
        out->division = ((py_dispatcher *)o)->how.checked ? 'r' : 'n';
    if (py_is_dispatcher(o) || (is_function(o) && !is_numbas(o)))
        return describe_function(a, o, out);
    return describe_other(a, o, out);
}

static td_status
ask_describe(void *ctx, uint32_t obj, td_objinfo *out)
{
    PyObject *given = py_handle_object(obj), *o = enum_value(given);
    bool member = py_is_member_class((PyObject *)Py_TYPE(given));
    td_status st;

    memset(out, 0, sizeof *out);
    if (!o)
        return fail_unusable("an enum's member without a value");
    st = member ? describe_items(ctx, o, (PyObject *)Py_TYPE(given), out)
                : describe_object(ctx, o, out);
    Py_DECREF(o); /* the member also keeps what out borrows */
    return st;
}

static td_status
ask_dtype(void *ctx, const td_type *t, uint32_t *out)
{
    PyObject *dtype = t->kind == TD_T_NUM ? py_dtype_object((td_dtype)t->dt) : py_type_dtype(t);

    return give_handle(ctx, dtype, out, t->name);
}

/* The text belongs to a table of the module. */
static const char *
ask_advice(void *ctx, uint32_t obj)
{
    PyObject *advice = py_package("treadle._compile._advice", "advice"),
             *text =
                 advice ? PyObject_CallFunctionObjArgs(advice, py_handle_object(obj), NULL) : NULL;
    const char *s = text && PyUnicode_Check(text) ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;

    (void)ctx;
    py_forget();
    Py_XDECREF(advice);
    Py_XDECREF(text);
    return s;
}

void
py_asking_begin(py_asking *a, py_dispatcher *d, py_spec *spec)
{
    *a = (py_asking){.host = {.name = ask_name,
                              .attr = ask_attr,
                              .spelled = ask_spelled,
                              .stand_in = ask_stand_in,
                              .overload = ask_overload,
                              .describe = ask_describe,
                              .dtype = ask_dtype,
                              .advice = ask_advice},
                     .d = d,
                     .spec = spec};
    a->host.ctx = a;
}
