/* programkernel.c - treadle._core.Kernel: a function of a program that can be launched.
 *
 * A kernel is called by the interpreter's vectorcall, so a launch makes no objects.  The flag for
 * it is in no header of the limited API before 3.12, but its bit and the offset's name have been
 * the same since 3.8.
 */
#include "python/program/program.h"

#include "dev/core/raw.h"
#include "dev/core/site.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <structmember.h>

#define HAVE_VECTORCALL (1UL << 11)

static PyTypeObject *kernel_type, *prepared_type;

/* ---- formats ---- */

/* Kind and size of a format character of module struct. */
static bool
read_format(char c, td_cxx_param *out)
{
    static const struct {
        char c, kind;
        uint8_t size;
        const char *type;
    } rows[] = {
        {'P', 'p', 8, "void *"},
        {'b', 'i', 1, "signed char"},
        {'B', 'u', 1, "unsigned char"},
        {'?', 'b', 1, "bool"},
        {'h', 'i', 2, "short"},
        {'H', 'u', 2, "unsigned short"},
        {'i', 'i', 4, "int"},
        {'I', 'u', 4, "unsigned int"},
        {'l', 'i', 8, "long"},
        {'L', 'u', 8, "unsigned long"},
        {'q', 'i', 8, "long long"},
        {'Q', 'u', 8, "unsigned long long"},
        {'e', 'f', 2, "half"},
        {'f', 'f', 4, "float"},
        {'d', 'f', 8, "double"},
        {'F', 's', 8, "complex<float>"},
        {'D', 's', 16, "complex<double>"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].c == c) {
            *out = (td_cxx_param){.type = rows[i].type,
                                  .name = "",
                                  .kind = rows[i].kind,
                                  .size = rows[i].size,
                                  .item = rows[i].kind == 'p' ? 'v' : '-'};
            return true;
        }
    PyErr_Format(PyExc_ValueError, "no argument has the format '%c'", c);
    return false;
}

/* The parameters of a format, owned.  NULL: exception. */
static td_cxx_param *
read_formats(const char *format, uint32_t *n)
{
    td_cxx_param *p = calloc(strlen(format) + 1, sizeof *p);

    *n = 0;
    if (!p)
        return (td_cxx_param *)(void *)PyErr_NoMemory();
    for (; *format; format++) {
        size_t digits = strspn(format, "0123456789");

        if (*format == ' ')
            continue;
        if (digits && format[digits] == 's' && digits < 5) { /* a number of bytes: a structure */
            p[*n] = (td_cxx_param){.type = "struct",
                                   .name = "",
                                   .kind = 's',
                                   .size = (uint32_t)atoi(format),
                                   .item = '-'};
            format += digits;
        } else if (!read_format(*format, &p[*n])) {
            free(p);
            return NULL;
        }
        ++*n;
    }
    return p;
}

/* ---- making a Kernel ---- */

/* Offsets by C's layout.  False without an exception: some size is not known. */
static bool
natural_offsets(py_cukernel *k)
{
    uint32_t at = 0;

    for (uint32_t i = 0; i < k->nparam; i++) {
        uint32_t n = k->param[i].size, align = n && n % 16 == 0 ? 16
                                               : n % 8 == 0     ? 8
                                               : n % 4 == 0     ? 4
                                               : n % 2 == 0     ? 2
                                                                : 1;

        if (!n)
            return false;
        at = (at + align - 1) / align * align;
        k->offset[i] = at;
        at += n;
    }
    k->nbytes = at;
    return true;
}

/* Offsets from the compiler or the driver. */
static td_status
told_offsets(py_cukernel *k)
{
    for (uint32_t i = 0; i < k->nparam; i++) {
        td_cu_param p;
        size_t at;

        TD_TRY(td_func_param(k->func, (int)i, &p, &at));
        k->offset[i] = (uint32_t)at;
        k->nbytes = (uint32_t)at + p.size;
    }
    return TD_OK;
}

static bool
lay_out_params(py_cukernel *k)
{
    td_status st;

    if (!k->param)
        return true;
    k->offset = calloc((size_t)k->nparam + 1, sizeof *k->offset);
    if (!k->offset)
        return PyErr_NoMemory(), false;
    st = told_offsets(k);
    if (st == TD_OK)
        return true;
    if (st != TD_SKIP)
        return py_ok(st);
    if (!natural_offsets(k))
        k->param = NULL;
    return true;
}

static py_cukernel *
new_kernel(PyTypeObject *type, PyObject *program, td_func *f, PyObject *name, py_vectorcall call)
{
    py_cukernel *k = PyObject_New(py_cukernel, type);
    const char *text = name ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;

    if (!k || !text) {
        Py_XDECREF(name);
        PyObject_Free(k);
        return NULL;
    }
    memset((char *)k + offsetof(py_cukernel, call), 0, sizeof *k - offsetof(py_cukernel, call));
    k->call = call;
    k->program = Py_NewRef(program);
    k->name = name;
    k->func = f;
    k->dev = td_func_dev(f);
    k->label = td_name_text(td_name_id(text));
    return k;
}

PyObject *
py_cukernel_new(py_program *p, const char *name)
{
    const td_cxx_kernel *sig;
    py_cukernel *k;
    td_func *f = NULL;
    void *token = td_graph_unlock();
    td_status st = td_program_func(p->p, name, &f);

    td_graph_lock(token);
    if (!py_ok(st))
        return NULL;
    k = new_kernel(kernel_type, (PyObject *)p, f, PyUnicode_FromString(name), py_cukernel_call);
    if (!k)
        return NULL;
    sig = td_program_kernel(p->p, f);
    if (sig && sig->nparam <= PY_CU_ARGS) {
        k->param = sig->param;
        k->nparam = sig->nparam;
    }
    py_cukernel_limits(k);
    if (!lay_out_params(k)) {
        Py_DECREF((PyObject *)k);
        return NULL;
    }
    return (PyObject *)k;
}

/* Does the letter allow the kind?  A letter does not tell a structure's class, a bool or the
 * sign; an address may be a number (a texture's). */
static bool
same_class(char format, char kind)
{
    return kind == '?' || kind == 's' || format == 's' || (format == 'f') == (kind == 'f');
}

/* The kernel's known parameters win over the format, which must agree with them. */
static bool
agree(const py_cukernel *k, const td_cxx_param *p, uint32_t n)
{
    bool ok = n == k->nparam;

    for (uint32_t i = 0; ok && i < n; i++)
        ok = !k->param[i].size ||
             (p[i].size == k->param[i].size && same_class(p[i].kind, k->param[i].kind));
    if (!ok) {
        PyObject *s = py_cukernel_signature(k);

        if (s)
            PyErr_Format(PyExc_TypeError, "the format does not fit %U", s);
        Py_XDECREF(s);
    }
    return ok;
}

static PyObject *
kernel_prepare(PyObject *self, PyObject *arg)
{
    const py_cukernel *k = (const py_cukernel *)self;
    const char *format = PyUnicode_Check(arg) ? PyUnicode_AsUTF8AndSize(arg, NULL) : NULL;
    td_cxx_param *p;
    py_cukernel *r;
    uint32_t n;

    if (!format)
        return PyErr_Occurred()
                   ? NULL
                   : PyErr_Format(PyExc_TypeError, "a format is a str of letters as in struct");
    p = read_formats(format, &n);
    if (!p || (k->param && !agree(k, p, n))) {
        free(p);
        return NULL;
    }
    r = new_kernel(prepared_type, k->program, k->func, Py_NewRef(k->name), py_cukernel_prepared);
    if (!r) {
        free(p);
        return NULL;
    }
    memcpy(r->most, k->most, sizeof r->most);
    r->own = p;
    r->nparam = n;
    for (uint32_t i = 0; i < n && k->param; i++)
        if (k->param[i].kind != '?')
            p[i] = k->param[i];
    r->param = p;
    if (!lay_out_params(r)) {
        Py_DECREF((PyObject *)r);
        return NULL;
    }
    return (PyObject *)r;
}

/* ---- attributes ---- */

static PyObject *
get_params(PyObject *self, void *unused)
{
    const py_cukernel *k = (const py_cukernel *)self;
    PyObject *t;

    (void)unused;
    if (!k->param)
        return Py_NewRef(Py_None);
    t = PyTuple_New((Py_ssize_t)k->nparam);
    for (uint32_t i = 0; t && i < k->nparam; i++) {
        const td_cxx_param *p = &k->param[i];
        PyObject *row = Py_BuildValue("(ssCI)", p->type, p->name, p->kind, p->size);

        if (!row) {
            Py_DECREF(t);
            return NULL;
        }
        PyTuple_SetItem(t, (Py_ssize_t)i, row);
    }
    return t;
}

static PyObject *
get_name(PyObject *self, void *unused)
{
    (void)unused;
    return Py_NewRef(((py_cukernel *)self)->name);
}

static PyObject *
get_program(PyObject *self, void *unused)
{
    (void)unused;
    return Py_NewRef(((py_cukernel *)self)->program);
}

static PyObject *
kernel_attribute(PyObject *self, PyObject *number)
{
    long n = PyLong_AsLong(number);
    int v = 0;
    td_status st;

    if (PyErr_Occurred())
        return NULL;
    st = td_func_attribute(((py_cukernel *)self)->func, (int)n, &v);
    if (st == TD_SKIP)
        return PyErr_Format(PyExc_ValueError, "the device knows no attribute %ld of functions", n);
    return py_ok(st) ? PyLong_FromLong(v) : NULL;
}

static PyObject *
kernel_set_attribute(PyObject *self, PyObject *args)
{
    py_cukernel *k = (py_cukernel *)self;
    int number, value;

    if (!PyArg_ParseTuple(args, "ii:set_attribute", &number, &value) ||
        !py_ok(td_func_set(k->func, number, value)))
        return NULL;
    return Py_NewRef(Py_None);
}

static PyObject *
kernel_config(PyObject *self, PyObject *args)
{
    int which, value;

    if (!PyArg_ParseTuple(args, "ii:set_config", &which, &value) ||
        !py_ok(td_func_config(((py_cukernel *)self)->func, which, value)))
        return NULL;
    return Py_NewRef(Py_None);
}

static PyObject *
kernel_resident(PyObject *self, PyObject *args)
{
    int threads, n = 0;
    Py_ssize_t shared = 0;
    td_status st;

    if (!PyArg_ParseTuple(args, "i|n:resident", &threads, &shared))
        return NULL;
    st = td_func_resident(((py_cukernel *)self)->func, threads, (size_t)shared, &n);
    return st == TD_SKIP || py_ok(st) ? PyLong_FromLong(st == TD_SKIP ? 1 : n) : NULL;
}

static PyObject *
kernel_repr(PyObject *self)
{
    PyObject *s = py_cukernel_signature((py_cukernel *)self),
             *r = s ? PyUnicode_FromFormat("<kernel %U>", s) : NULL;

    Py_XDECREF(s);
    return r;
}

static void
cukernel_dealloc(PyObject *self)
{
    py_cukernel *k = (py_cukernel *)self;
    PyTypeObject *type = Py_TYPE(self);

    if (k->weak)
        PyObject_ClearWeakRefs(self);
    free(k->offset);
    free(k->own);
    Py_XDECREF(k->name);
    Py_XDECREF(k->program);
    PyObject_Free(self);
    Py_DECREF(type);
}

/* For callers that do not use vectorcall. */
static PyObject *
tp_call(PyObject *self, PyObject *args, PyObject *kw)
{
    Py_ssize_t n = PyTuple_Size(args), nkw = kw ? PyDict_Size(kw) : 0, at = 0, i = n;
    PyObject *names = nkw ? PyTuple_New(nkw) : NULL, *k, *v, *r = NULL,
             **all = malloc((size_t)(n + nkw + 1) * sizeof *all);

    if (!all || (nkw && !names)) {
        free(all);
        Py_XDECREF(names);
        return PyErr_NoMemory();
    }
    for (Py_ssize_t j = 0; j < n; j++)
        all[j] = PyTuple_GetItem(args, j);
    while (names && PyDict_Next(kw, &at, &k, &v)) {
        PyTuple_SetItem(names, i - n, Py_NewRef(k));
        all[i++] = v;
    }
    r = ((py_cukernel *)self)->call(self, all, (size_t)n, names);
    free(all);
    Py_XDECREF(names);
    return r;
}

static PyMethodDef methods[] = {
    {"packed", PY_FAST(py_cukernel_packed), METH_FASTCALL | METH_KEYWORDS,
     "packed(grid, block, buffer, *, shared=0, stream=None): launches with arguments that lie side "
     "by side as in a C structure."},
    {"prepare", kernel_prepare, METH_O,
     "prepare(format): a function (grid, block, *arguments, shared=0, stream=None) whose arguments "
     "have the struct module's formats, 'PPif'."},
    {"attribute", kernel_attribute, METH_O,
     "attribute(number): what the driver knows of it, by CU_FUNC_ATTRIBUTE number."},
    {"set_attribute", kernel_set_attribute, METH_VARARGS, "set_attribute(number, value)"},
    {"set_config", kernel_config, METH_VARARGS,
     "set_config(which, value): which 0: the preferred cache, 1: the width of shared memory's "
     "banks."},
    {"resident", kernel_resident, METH_VARARGS,
     "resident(threads, shared=0): how many blocks a multiprocessor holds at once."},
    {NULL, NULL, 0, NULL},
};

bool
py_cukernel_init(PyObject *m)
{
    static PyMemberDef members[] = {
        {"__vectorcalloffset__", T_PYSSIZET, offsetof(py_cukernel, call), READONLY, NULL},
        {"__weaklistoffset__", T_PYSSIZET, offsetof(py_cukernel, weak), READONLY, NULL},
        {NULL, 0, 0, 0, NULL},
    };
    static PyGetSetDef getset[] = {
        {"name", get_name, NULL, "As it was asked for.", NULL},
        {"params", get_params, NULL,
         "(type, name, kind, bytes) of each parameter; None: nothing is known of them.", NULL},
        {"program", get_program, NULL, "The Program that it belongs to.", NULL},
        {NULL, NULL, NULL, NULL, NULL},
    };
    static PyType_Slot slots[] = {
        PY_SLOT(Py_tp_dealloc, cukernel_dealloc),
        PY_SLOT(Py_tp_call, tp_call),
        PY_SLOT(Py_tp_repr, kernel_repr),
        {Py_tp_members, members},
        {Py_tp_methods, methods},
        {Py_tp_getset, getset},
        {0, NULL},
    };
    static PyType_Spec spec = {
        .name = "treadle._core.Kernel",
        .basicsize = sizeof(py_cukernel),
        .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | HAVE_VECTORCALL,
        .slots = slots,
    };

    kernel_type = (PyTypeObject *)PyType_FromSpec(&spec);
    spec.name = "treadle._core.PreparedKernel";
    prepared_type = kernel_type ? (PyTypeObject *)PyType_FromSpec(&spec) : NULL;
    return prepared_type && PyModule_AddObjectRef(m, "Kernel", (PyObject *)kernel_type) == 0 &&
           PyModule_AddObjectRef(m, "PreparedKernel", (PyObject *)prepared_type) == 0;
}
