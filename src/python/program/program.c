/* program.c - treadle._core.Program: CUDA C++ compiled for a device and loaded. */
#include "python/program/program.h"

#include "dev/cpu/cpucode.h"
#include "python/kernel/kernel.h"

#include <stdlib.h>
#include <string.h>

static PyTypeObject *program_type;

/* ---- printing ---- */

bool
py_program_flush(void)
{
    PyObject *out, *text, *r;
    size_t n = 0;
    char *s;

    if (!td_culib_has_printed() || !(s = td_culib_printed(&n)))
        return true;
    out = PySys_GetObject("stdout"); /* borrowed */
    text = PyUnicode_DecodeUTF8(s, (Py_ssize_t)n, "replace");
    free(s);
    r = text && out && out != Py_None ? PyObject_CallMethod(out, "write", "O", text) : NULL;
    Py_XDECREF(text);
    Py_XDECREF(r);
    return !PyErr_Occurred();
}

/* ---- making a Program ---- */

/* texts - a sequence of str as C strings.  On the caller's stack. */
typedef struct texts {
    PyObject *tuple;
    const char **v;
    int n;
} texts;

static void
free_texts(texts *t)
{
    Py_CLEAR(t->tuple);
    free((void *)t->v);
    t->v = NULL;
}

static bool
read_texts(PyObject *o, const char *what, texts *t)
{
    *t = (texts){0};
    if (py_is_none(o))
        return true;
    if (PyUnicode_Check(o)) {
        PyErr_Format(PyExc_TypeError, "%s is a sequence of str, not one str", what);
        return false;
    }
    t->tuple = PySequence_Tuple(o);
    if (!t->tuple)
        return false;
    t->n = (int)PyTuple_Size(t->tuple);
    t->v = calloc((size_t)t->n + 1, sizeof *t->v);
    for (int i = 0; t->v && i < t->n; i++) {
        t->v[i] = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(t->tuple, i), NULL);
        if (!t->v[i]) {
            free_texts(t);
            return false;
        }
    }
    if (!t->v)
        PyErr_NoMemory();
    return t->v != NULL;
}

static bool
read_text(PyObject *o, const char *what, const char **out)
{
    if (py_is_none(o))
        return true;
    if (!PyUnicode_Check(o)) {
        PyErr_Format(PyExc_TypeError, "%s is a str, not %R", what, (PyObject *)Py_TYPE(o));
        return false;
    }
    *out = PyUnicode_AsUTF8AndSize(o, NULL);
    return *out != NULL;
}

static PyObject *
wrap(td_program *p)
{
    py_program *o = PyObject_New(py_program, program_type);

    if (!o) {
        td_program_free(p);
        return NULL;
    }
    o->p = p;
    return (PyObject *)o;
}

/* device=False: only compiles, for arch. */
static bool
read_device(PyObject *o, td_dev **out)
{
    *out = NULL;
    return o == Py_False || py_device(o, out);
}

static PyObject *
program(PyObject *module, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    static const char *const names[] = {"text", "device",    "file",  "arch",  "options", "names",
                                        "keep", "cache_dir", "debug", "cache", NULL};
    td_program_spec s = {.file = "kernel.cu"};
    texts options = {0}, instances = {0};
    td_program *p = NULL;
    PyObject *o[10];
    void *token;
    py_mode mode;
    td_status st;

    (void)module;
    if (!py_parse("program", names, 1, 1, args, nargs, kwnames, o) ||
        !read_text(o[0], "text", &s.text) || !read_device(o[1], &s.dev) ||
        !read_text(o[2], "file", &s.file) || !read_text(o[3], "arch", &s.arch) ||
        !read_text(o[6], "keep", &s.keep) || !read_text(o[7], "cache_dir", &s.cache_dir))
        return NULL;
    mode = s.dev ? py_mode_of(s.dev) : PY_PLAIN;
    /* treadle.config.checks wants no debugger's information of a CPU's compiler, which makes slower code with it */
    if (!py_flag(py_is_none(o[8]) ? NULL : o[8],
                 mode == PY_WATCHED || (mode == PY_CHECKED && !td_dev_info(s.dev)->host),
                 &s.debug) ||
        !py_flag(o[9], true, &s.cache))
        return NULL;
    s.checked = s.debug || mode != PY_PLAIN;
    if (!s.text)
        return PyErr_Format(PyExc_TypeError, "text is a str, not None");
    if (!read_texts(o[4], "options", &options) || !read_texts(o[5], "names", &instances)) {
        free_texts(&options);
        return NULL;
    }
    s.option = options.v;
    s.noption = options.n;
    s.name = instances.v;
    s.nname = instances.n;
    token = td_graph_unlock();
    st = td_program_new(&s, &p);
    td_graph_lock(token);
    free_texts(&options);
    free_texts(&instances);
    return py_ok(st) ? wrap(p) : NULL;
}

static PyObject *
load_program(PyObject *module, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    static const char *const names[] = {"image", "device", NULL};
    PyObject *o[2];
    td_program *p = NULL;
    Py_buffer image;
    td_dev *d;
    void *token;
    td_status st;

    (void)module;
    if (!py_parse("load_program", names, 1, 1, args, nargs, kwnames, o) || !py_device(o[1], &d) ||
        PyObject_GetBuffer(o[0], &image, PyBUF_SIMPLE) < 0)
        return NULL;
    token = td_graph_unlock();
    st = td_program_load(d, image.buf, (size_t)image.len, &p);
    td_graph_lock(token);
    PyBuffer_Release(&image);
    return py_ok(st) ? wrap(p) : NULL;
}

/* ---- members ---- */

static td_program *
program_of_object(PyObject *self)
{
    return ((py_program *)self)->p;
}

static PyObject *
get_kernel(PyObject *self, PyObject *name)
{
    const char *text = NULL;

    if (name == Py_None || !read_text(name, "a kernel's name", &text))
        return PyErr_Occurred()
                   ? NULL
                   : PyErr_Format(PyExc_TypeError, "a kernel's name is a str, not None");
    return py_cukernel_new((py_program *)self, text);
}

static PyObject *
get_variable(PyObject *self, PyObject *name)
{
    const char *text = NULL;
    uintptr_t at = 0;
    size_t n = 0;

    if (!read_text(name, "a variable's name", &text) || !text)
        return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_TypeError, "a name is a str, not None");
    if (!py_ok(td_program_global(program_of_object(self), text, &at, &n)))
        return NULL;
    return Py_BuildValue("(NN)", PyLong_FromSize_t(at), PyLong_FromSize_t(n));
}

static PyObject *
get_kernels(PyObject *self, void *unused)
{
    const td_cxx *c = td_program_text(program_of_object(self));
    PyObject *t = PyTuple_New(c ? (Py_ssize_t)c->nkernel : 0);

    (void)unused;
    for (uint32_t i = 0; t && c && i < c->nkernel; i++) {
        PyObject *name = PyUnicode_FromString(c->kernel[i].name);

        if (!name) {
            Py_DECREF(t);
            return NULL;
        }
        PyTuple_SetItem(t, (Py_ssize_t)i, name);
    }
    return t;
}

static PyObject *
get_textures(PyObject *self, void *unused)
{
    const td_cxx *c = td_program_text(program_of_object(self));
    PyObject *t = PyTuple_New(c ? (Py_ssize_t)c->ntexref : 0);

    (void)unused;
    for (uint32_t i = 0; t && c && i < c->ntexref; i++) {
        const td_cxx_texref *r = &c->texref[i];
        PyObject *row =
            Py_BuildValue("(ssiN)", r->name, r->type, r->dims, PyBool_FromLong(r->as_float));

        if (!row) {
            Py_DECREF(t);
            return NULL;
        }
        PyTuple_SetItem(t, (Py_ssize_t)i, row);
    }
    return t;
}

static PyObject *
get_image(PyObject *self, void *unused)
{
    size_t n;
    const void *image = td_program_image(program_of_object(self), &n);

    (void)unused;
    return PyBytes_FromStringAndSize(image, (Py_ssize_t)n);
}

static PyObject *
get_log(PyObject *self, void *unused)
{
    const char *log = td_program_log(program_of_object(self));

    (void)unused;
    return PyUnicode_DecodeUTF8(log, (Py_ssize_t)strlen(log), "replace");
}

static PyObject *
program_get_device(PyObject *self, void *unused)
{
    td_dev *d = td_program_dev(program_of_object(self));

    (void)unused;
    return d ? py_device_object(d) : Py_NewRef(Py_None);
}

static void
program_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);

    td_program_free(program_of_object(self));
    PyObject_Free(self);
    Py_DECREF(type);
}

static PyMethodDef functions[] = {
    {"program", PY_FAST(program), METH_FASTCALL | METH_KEYWORDS,
     "program(text, *, device=None, file='kernel.cu', arch=None, options=(), names=(), keep=None, "
     "cache_dir=None, debug=None, cache=True): CUDA C++, compiled and loaded."},
    {"load_program", PY_FAST(load_program), METH_FASTCALL | METH_KEYWORDS,
     "load_program(image, *, device=None): a cubin, PTX, a fatbin or what Program.image gave."},
    {NULL, NULL, 0, NULL},
};

bool
py_program_init(PyObject *m)
{
    static PyMethodDef methods[] = {
        {"kernel", get_kernel, METH_O,
         "kernel(name): the Kernel of that name, 'ns::add' or an instance 'f<float, 4>', which is "
         "compiled now if it has not been.  ValueError: there is none."},
        {"variable", get_variable, METH_O,
         "variable(name): (address, bytes) of a __device__ or __constant__ variable."},
        {NULL, NULL, 0, NULL},
    };
    static PyGetSetDef getset[] = {
        {"kernels", get_kernels, NULL, "Names of the kernels in the text, templates too.", NULL},
        {"textures", get_textures, NULL, "Texture references: (name, type, dims, as_float) each.",
         NULL},
        {"image", get_image, NULL, "The code: a cubin, PTX or a shared object.", NULL},
        {"log", get_log, NULL, "What the compiler said.", NULL},
        {"device", program_get_device, NULL, "The device, or None: only compiled.", NULL},
        {NULL, NULL, NULL, NULL, NULL},
    };
    static PyType_Slot slots[] = {
        PY_SLOT(Py_tp_dealloc, program_dealloc),
        {Py_tp_methods, methods},
        {Py_tp_getset, getset},
        {0, NULL},
    };
    static PyType_Spec spec = {
        .name = "treadle._core.Program",
        .basicsize = sizeof(py_program),
        .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
        .slots = slots,
    };

    return py_add_type(m, "Program", &spec, &program_type) &&
           PyModule_AddFunctions(m, functions) == 0 && py_cukernel_init(m);
}
