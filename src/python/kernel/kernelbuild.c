/* kernelbuild.c - code for files: objects, PTX, cubins, and what their callers must know. */
#include "python/kernel/kernel.h"

#include <stdlib.h>
#include <string.h>

typedef struct build {
    const char *stage, *name, *arch;
    PyObject *bytes, *about;
} build;

static const char *const hidden_names[] = {
    [TD_HIDDEN_MAILBOX] = "mailbox",   [TD_HIDDEN_GRID] = "grid",
    [TD_HIDDEN_SHARED] = "shared",     [TD_HIDDEN_ARRAY] = "array",
    [TD_HIDDEN_RESULT] = "result",     [TD_HIDDEN_CALLMEM] = "memory",
    [TD_HIDDEN_PARTIALS] = "partials", [TD_HIDDEN_DRAWS] = "random state",
};

static PyObject *
hidden_list(const td_made *m)
{
    PyObject *list = PyList_New((Py_ssize_t)m->nhidden);

    for (uint32_t i = 0; list && i < m->nhidden; i++) {
        PyObject *s = PyUnicode_FromString(hidden_names[m->hidden[i].kind]);

        if (!s || PyList_SetItem(list, (Py_ssize_t)i, s) < 0)
            Py_CLEAR(list);
    }
    return list;
}

/* (line, kind, text) of each place that reports. */
static PyObject *
site_list(const td_made *m)
{
    PyObject *list = PyList_New((Py_ssize_t)m->nsite);

    for (uint32_t i = 0; list && i < m->nsite; i++) {
        const td_site *s = &m->site[i];
        PyObject *item =
            Py_BuildValue("(Iis)", (unsigned)s->line, (int)s->kind, s->text ? s->text : "");

        if (!item || PyList_SetItem(list, (Py_ssize_t)i, item) < 0)
            Py_CLEAR(list);
    }
    return list;
}

static PyObject *
about(const td_made *m)
{
    PyObject *hidden = hidden_list(m), *sites = site_list(m),
             *result = m->result ? py_types_spell(&m->result, 1) : NULL, *r = NULL;

    if (hidden && sites && (result || !m->result))
        r = Py_BuildValue("{s:O,s:O,s:O,s:I,s:I,s:O,s:I,s:I}", "hidden", hidden, "sites", sites,
                          "result", result ? PyTuple_GetItem(result, 0) : Py_None, "result_bytes",
                          (unsigned)m->result_bytes, "shared", (unsigned)m->shared, "cooperative",
                          m->cooperative ? Py_True : Py_False, "spread", (unsigned)m->spread,
                          "partials", (unsigned)m->partials);
    Py_XDECREF(hidden);
    Py_XDECREF(sites);
    Py_XDECREF(result);
    return r;
}

static td_status
assemble(const td_fn *f, const char *arch, void **code, size_t *n)
{
    td_dev *dev = NULL;
    char *ptx;
    td_status st;

    if (!py_device(NULL, &dev))
        return TD_ERR_VALUE;
    if (!td_dev_info(dev)->simt)
        return td_fail(TD_ERR_DEVICE,
                       "a cubin is made by a GPU's driver, and the current device is %s",
                       td_dev_info(dev)->name);
    TD_TRY(td_jit_text(f, "ptx", arch, &ptx));
    st = td_dev_assemble(dev, ptx, code, n);
    free(ptx);
    return st;
}

/* Files run without treadle, whose runtime lists, dicts, sets and computed strings need. */
static bool
stands_alone(const td_fn *f)
{
    for (uint32_t i = 0; i < f->n; i++)
        if (f->ins[i].op == OP_ask) {
            PyErr_Format(PyExc_TypeError,
                         "build: %s makes lists, dicts, sets or strings, which need treadle's "
                         "runtime: fill arrays instead",
                         f->name);
            return false;
        }
    return true;
}

static bool
kernelbuild_make(py_spec *s, void *ctx)
{
    build *b = ctx;
    td_fn *f = &s->made.fn;
    void *code = NULL;
    size_t n = 0;
    td_status st;

    if (!stands_alone(f))
        return false;
    if (b->name)
        f->name = b->name;
    f->simt = s->home->how.mode == TD_MODE_KERNEL;
    if (strcmp(b->stage, "object") == 0) {
        st = td_jit_object(f, &code, &n);
    } else if (strcmp(b->stage, "cubin") == 0) {
        st = assemble(f, b->arch, &code, &n);
    } else {
        char *text = NULL;

        st = td_jit_text(f, "ptx", b->arch, &text);
        n = st ? 0 : strlen(text);
        code = text;
    }
    if (PyErr_Occurred() || !py_ok(st))
        return false;
    b->bytes = PyBytes_FromStringAndSize(code, (Py_ssize_t)n);
    free(code);
    b->about = b->bytes ? about(&s->made) : NULL;
    return b->about != NULL;
}

/* stage: "object" (this machine's kind of CPU), "ptx", "cubin" (the current device's driver). */
PyObject *
py_kernel_build(PyObject *self, PyObject *args)
{
    const td_type *type[PY_LEAVES];
    build b = {0};
    PyObject *types, *r = NULL;
    Py_ssize_t n;
    int serial = 0;

    if (!PyArg_ParseTuple(args, "Osz|zp:_build", &types, &b.stage, &b.name, &b.arch, &serial))
        return NULL;
    n = py_types_read(types, type);
    if (n >= 0 && py_spec_once((py_dispatcher *)self, strcmp(b.stage, "object") != 0, serial, type,
                               (uint32_t)n, kernelbuild_make, &b))
        r = Py_BuildValue("(OO)", b.bytes, b.about);
    Py_XDECREF(b.bytes);
    Py_XDECREF(b.about);
    return r;
}
