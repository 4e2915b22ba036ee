/* kernelinfo.c - a dispatcher's signatures: compiling ahead of calls, and information about what
 * was compiled.
 */
#include "python/kernel/kernel.h"

#include "front/infer/lint.h"

#include <stdlib.h>
#include <string.h>

/* ---- types as treadle.types reads them ---- */

/* A tuple of treadle.types; -1: exception. */
Py_ssize_t
py_types_read(PyObject *types, const td_type **out)
{
    Py_ssize_t n = PyTuple_Check(types) ? PyTuple_Size(types) : -1;

    if (n < 0 || n > PY_LEAVES) {
        PyErr_Format(PyExc_TypeError, "a signature is a tuple of at most %d types", PY_LEAVES);
        return -1;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        int r = py_type_of(PyTuple_GetItem(types, i), &out[i]);

        if (r == 0)
            PyErr_Format(PyExc_TypeError, "%R has no form among a kernel's arguments",
                         PyTuple_GetItem(types, i));
        if (r <= 0)
            return -1;
    }
    return n;
}

/* ---- signatures ---- */

static bool
add_signature(py_dispatcher *d, const td_type *const *type, uint32_t narg)
{
    py_signature *list = realloc(d->signature, (d->nsignature + 1) * sizeof *list);
    const td_type **own = malloc((narg + 1) * sizeof *own);

    if (list)
        d->signature = list;
    if (!list || !own) {
        free(own);
        PyErr_NoMemory();
        return false;
    }
    memcpy(own, type, narg * sizeof *type);
    d->signature[d->nsignature++] = (py_signature){.type = own, .narg = narg};
    return true; // cppcheck-suppress memleak ; d has it
}

void
py_signatures_free(py_dispatcher *d)
{
    for (uint32_t i = 0; i < d->nsignature; i++)
        free(d->signature[i].type);
    free(d->signature);
    d->signature = NULL;
    d->nsignature = 0;
}

/* The cost of passing `have` for `want`: 0 the same type, more for what changes; -1:
 * impossible. */
static int
conversion_cost(const td_type *have, const td_type *want)
{
    int sum = 0;

    if (have == want)
        return 0;
    if (have->kind != want->kind)
        return -1;
    if (have->kind == TD_T_NUM) {
        td_dtype from = (td_dtype)have->dt, to = (td_dtype)want->dt;

        if (from == to)
            return 0;
        if (td_can_cast(from, to, 's'))
            return 1;
        return have->weak && td_can_cast(from, to, 'k') ? 2 : td_can_cast(from, to, 'u') ? 8 : -1;
    }
    if (have->kind == TD_T_ARRAY)
        return have->item[0] == want->item[0] && have->ndim == want->ndim &&
                       (have->layout == want->layout || want->layout == 'A') &&
                       (!have->readonly || want->readonly)
                   ? 1
                   : -1;
    if (have->kind != TD_T_TUPLE || have->n != want->n ||
        (want->object && have->object != want->object))
        return -1;
    for (uint32_t i = 0; i < have->n; i++) {
        int c = conversion_cost(have->item[i], want->item[i]);

        if (c < 0)
            return -1;
        sum += c;
    }
    return sum;
}

/* Converts the leaves of an argument of type `have` to those of `want`. */
static void
convert_leaves(py_leaf **leaf, const td_type *have, const td_type *want)
{
    py_leaf *l = *leaf;

    if (have->kind == TD_T_TUPLE) {
        for (uint32_t i = 0; i < have->n; i++)
            convert_leaves(leaf, have->item[i], want->item[i]);
        return;
    }
    if (have->kind == TD_T_NONE || have->kind == TD_T_OBJECT)
        return;
    (*leaf)++;
    l->type = want;
    if (have->kind == TD_T_NUM && have->dt != want->dt)
        py_leaf_number(l, py_leaf_scalar(l, (td_dtype)have->dt), (td_dtype)want->dt);
}

static void
no_signature(py_call *c)
{
    PyObject *have = py_types_spell(c->type, c->narg);

    if (have)
        PyErr_Format(PyExc_TypeError, "%U: none of its %u signatures takes %R", c->d->name,
                     c->d->nsignature, have);
    Py_XDECREF(have);
}

bool
py_signature_fit(py_call *c)
{
    const py_dispatcher *d = c->d;
    py_leaf *leaf = c->leaf;
    int best = -1;
    uint32_t at = 0;

    for (uint32_t i = 0; i < d->nsignature; i++) {
        int sum = d->signature[i].narg == c->narg ? 0 : -1;

        for (uint32_t k = 0; sum >= 0 && k < c->narg; k++) {
            int one = conversion_cost(c->type[k], d->signature[i].type[k]);

            sum = one < 0 ? -1 : sum + one;
        }
        if (sum >= 0 && (best < 0 || sum < best)) {
            best = sum;
            at = i;
        }
    }
    if (best < 0) {
        no_signature(c);
        return false;
    }
    for (uint32_t k = 0; best && k < c->narg; k++) {
        convert_leaves(&leaf, c->type[k], d->signature[at].type[k]);
        c->type[k] = d->signature[at].type[k];
    }
    return true;
}

/* ---- methods ---- */

static td_dev *
info_device(py_dispatcher *d, PyObject *where)
{
    td_dev *dev = NULL;

    if (d->how.mode != TD_MODE_KERNEL && py_is_none(where))
        return py_cpu();
    return py_device(where, &dev) ? dev : NULL;
}

/* _compile(types, device=None, keep=False): keep: calls are given this signature. */
static PyObject *
info_compile(PyObject *self, PyObject *args)
{
    py_dispatcher *d = (py_dispatcher *)self;
    const td_type *type[PY_LEAVES];
    PyObject *types, *where = NULL;
    Py_ssize_t n;
    td_dev *dev;
    int keep = 0;

    if (!PyArg_ParseTuple(args, "O|Op:_compile", &types, &where, &keep))
        return NULL;
    n = py_types_read(types, type);
    dev = n < 0 ? NULL : info_device(d, where);
    if (!dev || !py_spec_for(d, dev, false, type, (uint32_t)n) ||
        (keep && !add_signature(d, type, (uint32_t)n)))
        return NULL;
    return Py_NewRef(Py_None);
}

/* _declare(types, result): one more signature, of these argument types; result None: inferred. */
static PyObject *
info_declare(PyObject *self, PyObject *args)
{
    py_dispatcher *d = (py_dispatcher *)self;
    const td_type *type[PY_LEAVES], *result = NULL;
    PyObject *types, *returns;
    Py_ssize_t n;

    if (!PyArg_ParseTuple(args, "OO:_declare", &types, &returns))
        return NULL;
    n = py_types_read(types, type);
    if (n < 0 || (!py_is_none(returns) && py_type_of(returns, &result) < 0))
        return NULL;
    if (d->device && n != d->nparam)
        return PyErr_Format(PyExc_TypeError, "%U: it takes %u arguments, and %zd are declared",
                            d->name, d->nparam, n);
    if (!add_signature(d, type, (uint32_t)n))
        return NULL;
    d->signature[d->nsignature - 1].result = result;
    return Py_NewRef(Py_None);
}

/* _returns(types): the result type as text; compiles for the CPU if needed.  None: no result. */
static PyObject *
info_returns(PyObject *self, PyObject *types)
{
    const td_type *type[PY_LEAVES];
    Py_ssize_t n = py_types_read(types, type);
    py_dispatcher *d = (py_dispatcher *)self;
    py_spec *s = n < 0 ? NULL : py_spec_for(d, py_cpu(), false, type, (uint32_t)n);
    PyObject *all, *r;

    if (!s || !s->made.result)
        return s ? Py_NewRef(Py_None) : NULL;
    all = py_types_spell(&s->made.result, 1);
    r = all ? Py_NewRef(PyTuple_GetItem(all, 0)) : NULL;
    Py_XDECREF(all);
    return r;
}

/* _types(*args): the types of the arguments, as texts. */
static PyObject *
info_types(PyObject *self, PyObject *args)
{
    Py_ssize_t n = PyTuple_Size(args);
    PyObject *all[PY_LEAVES], *r = NULL;
    py_call c;

    if (n > PY_LEAVES)
        return PyErr_Format(PyExc_TypeError, "more than %d arguments", PY_LEAVES);
    for (Py_ssize_t i = 0; i < n; i++)
        all[i] = PyTuple_GetItem(args, i);
    if (!py_call_begin(&c, (py_dispatcher *)self, NULL, all, n))
        return NULL;
    for (Py_ssize_t i = 0; i < n; i++)
        if (!py_call_add(&c, all[i]))
            goto out;
    r = py_types_spell(c.type, c.narg);
out:
    py_call_end(&c);
    return r;
}

static PyObject *
spec_dict(py_spec *s)
{
    const char *notes = s->made.notes ? s->made.notes : "";
    PyObject *types = py_types_spell(s->type, s->narg),
             *result = s->made.result ? py_types_spell(&s->made.result, 1) : NULL, *r;

    r = Py_BuildValue(
        "{s:O,s:O,s:s,s:s,s:I,s:s,s:O,s:O,s:K,s:K}", "args", types ? types : Py_None, "result",
        result ? result : Py_None, "device", td_dev_info(s->dev)->name, "kernel",
        s->kernel ? td_jit_name(s->kernel) : "interpreted", "shared", (unsigned)s->made.shared,
        "notes", notes, "cooperative", s->made.cooperative ? Py_True : Py_False, "barrier",
        s->made.barrier ? Py_True : Py_False, "written", (unsigned long long)s->made.written,
        "read", (unsigned long long)s->made.read);
    Py_XDECREF(types);
    Py_XDECREF(result);
    return r;
}

static py_spec *
nth_spec(py_dispatcher *d, Py_ssize_t n)
{
    for (int i = 0; i < PY_TABLE; i++)
        for (py_spec *s = d->table[i]; s; s = s->next)
            if (n-- == 0)
                return py_bounds_last(s);
    return NULL;
}

static PyObject *
info_specs(PyObject *self, PyObject *unused)
{
    PyObject *list = PyList_New(0);
    py_spec *s;

    (void)unused;
    for (Py_ssize_t i = 0; list && (s = nth_spec((py_dispatcher *)self, i)); i++) {
        PyObject *item = spec_dict(s);

        if (!item || PyList_Append(list, item) < 0)
            Py_CLEAR(list);
        Py_XDECREF(item);
    }
    return list;
}

/* _text(number, stage, arch): of the number-th of _specs(). */
static PyObject *
info_text(PyObject *self, PyObject *args)
{
    const char *stage, *arch = NULL;
    Py_ssize_t n;
    PyObject *r;
    char *text;
    py_spec *s;

    if (!PyArg_ParseTuple(args, "ns|z:_text", &n, &stage, &arch))
        return NULL;
    s = nth_spec((py_dispatcher *)self, n);
    if (!s)
        return PyErr_Format(PyExc_IndexError, "there is no compilation %zd", n);
    if (!arch && td_dev_info(s->dev)->simt)
        arch = td_dev_info(s->dev)->arch;
    if (!py_ok(td_jit_text(&s->made.fn, stage, arch, &text)))
        return NULL;
    r = PyUnicode_FromString(text);
    free(text);
    return r;
}

/* _lint(number): lines about the number-th of _specs(). */
static PyObject *
info_lint(PyObject *self, PyObject *args)
{
    py_dispatcher *d = (py_dispatcher *)self;
    const td_source *source;
    td_text text = {0};
    PyObject *r = NULL;
    Py_ssize_t n;
    py_spec *s;

    if (!PyArg_ParseTuple(args, "n:_lint", &n))
        return NULL;
    s = nth_spec(d, n);
    if (!s)
        return PyErr_Format(PyExc_IndexError, "there is no compilation %zd", n);
    source = py_source(d, self);
    if (source && py_ok(td_lint(&s->made, source, s->type, s->narg, &text)))
        r = PyUnicode_FromString(text.s ? text.s : "");
    td_text_free(&text);
    return r;
}

/* _attribute(number, which): of the number-th of _specs(), by CU_FUNC_ATTRIBUTE; None: the device has none. */
static PyObject *
info_attribute(PyObject *self, PyObject *args)
{
    td_status st = TD_SKIP;
    int which, value;
    Py_ssize_t n;
    py_spec *s;

    if (!PyArg_ParseTuple(args, "ni:_attribute", &n, &which))
        return NULL;
    s = nth_spec((py_dispatcher *)self, n);
    if (!s)
        return PyErr_Format(PyExc_IndexError, "there is no compilation %zd", n);
    if (s->kernel && td_jit_func(s->kernel))
        st = td_func_attribute(td_jit_func(s->kernel), which, &value);
    if (st == TD_SKIP)
        return Py_NewRef(Py_None);
    return py_ok(st) ? PyLong_FromLong(value) : NULL;
}

/* _most_blocks(number, threads, shared): of a cooperative launch. */
static PyObject *
info_most_blocks(PyObject *self, PyObject *args)
{
    td_dims dims = {.grid = {1, 1, 1}, .block = {1, 1, 1}};
    int64_t most;
    unsigned threads, shared;
    Py_ssize_t n;
    py_spec *s;

    if (!PyArg_ParseTuple(args, "nII:_most_blocks", &n, &threads, &shared))
        return NULL;
    s = nth_spec((py_dispatcher *)self, n);
    if (!s)
        return PyErr_Format(PyExc_IndexError, "there is no compilation %zd", n);
    dims.block[0] = threads;
    dims.shared = shared;
    return py_ok(py_blocks_most(s, &dims, &most)) ? PyLong_FromLongLong(most) : NULL;
}

PyMethodDef py_kernel_methods[] = {
    {"_attribute", info_attribute, METH_VARARGS,
     "_attribute(number, which): what the driver knows of a compilation; None on the CPU."},
    {"_most_blocks", info_most_blocks, METH_VARARGS,
     "_most_blocks(number, threads, shared): blocks that can be on the device at once."},
    {"_build", py_kernel_build, METH_VARARGS,
     "_build(types, stage, name, arch=None, serial=False): (bytes, what is known) for a file."},
    {"_compile", info_compile, METH_VARARGS,
     "_compile(types, device=None, keep=False): compiles for these types of arguments."},
    {"_declare", info_declare, METH_VARARGS,
     "_declare(types, result): what a device function's arguments and its result become."},
    {"_returns", info_returns, METH_O,
     "_returns(types): what it returns on the CPU for these types of arguments, compiled where it "
     "must be."},
    {"_types", info_types, METH_VARARGS, "_types(*args): the types of these arguments."},
    {"_specs", info_specs, METH_NOARGS, "_specs(): what has been compiled."},
    {"_text", info_text, METH_VARARGS,
     "_text(number, stage, arch=None): 'ir', 'llvm', 'ptx' or 'asm' of a compilation."},
    {"_lint", info_lint, METH_VARARGS,
     "_lint(number): what makes a compilation slower than it could be."},
    {NULL, NULL, 0, NULL},
};
