/* kernelmake.c - makes kernels for argument types, and checks whether an earlier one is still
 * valid.
 *
 * A compilation (py_spec) records the values it treated as constants.  When one of them is
 * another object now, the function is compiled again.  The old one is kept for a while, since
 * programs switch back and forth.
 */
#include "python/kernel/kernel.h"

#include "base/opts.h"
#include "dev/core/raw.h"
#include "ir/wide/widen.h"

#include <stdlib.h>
#include <string.h>

/* ---- is a compilation still valid? ---- */

static PyObject *
value_now(const py_dep *d) /* a new reference; NULL without an exception: there is none */
{
    PyObject *v;

    if (d->name && !d->attr)
        return Py_XNewRef(PyDict_GetItemWithError(d->space, d->name));
    v = d->descr  ? py_part_of(d->descr, d->space)
        : d->name ? PyObject_GetAttr(d->space, d->name)
                  : PyObject_GetAttrString(d->space, "cell_contents");
    if (!v)
        PyErr_Clear();
    return v;
}

/* Equal numbers and strings are one constant.  Floats are compared by their bits: 0.0 equals
 * -0.0, and a NaN equals nothing. */
static bool
same_constant(PyObject *x, PyObject *y)
{
    PyTypeObject *t = x ? Py_TYPE(x) : NULL;

    if (x && y && t == &PyFloat_Type && t == Py_TYPE(y)) {
        double value[2] = {PyFloat_AsDouble(x), PyFloat_AsDouble(y)};
        uint64_t bits[2];

        memcpy(bits, value, sizeof bits);
        return bits[0] == bits[1];
    }
    if (!x || !y || t != Py_TYPE(y) || (t != &PyLong_Type && t != &PyUnicode_Type))
        return false;
    return PyObject_RichCompareBool(x, y, Py_EQ) == 1;
}

static bool
dep_holds(py_dep *d)
{
    PyObject *v;
    bool ok;

    if (d->name && !d->attr) { /* a global: compare without touching reference counts */
        v = PyDict_GetItemWithError(d->space, d->name);
        if (v == d->value)
            return true;
        v = Py_XNewRef(v);
    } else {
        v = value_now(d);
    }
    ok = v == d->value || same_constant(v, d->value);
    if (ok && v != d->value) {
        PyObject *old = d->value;

        d->value = Py_NewRef(v);
        Py_XDECREF(old);
    }
    Py_XDECREF(v);
    return ok;
}

static bool
constants_hold(py_spec *s)
{
    for (uint32_t i = 0; i < s->ndep; i++)
        if (!dep_holds(&s->dep[i]))
            return false;
    return true;
}

/* ---- the table ---- */

static uint64_t
hash_of(const td_dev *dev, py_mode mode, const td_type *const *type, uint32_t narg)
{
    uint64_t h = ((uintptr_t)dev >> 4) + mode;

    for (uint32_t i = 0; i < narg; i++)
        h = (h ^ (uintptr_t)type[i] >> 4) * 0x9fb21c651e98df25u;
    return h ^ h >> 32;
}

static bool
is_for(const py_spec *s, const td_dev *dev, py_mode mode, bool serial, const td_type *const *type,
       uint32_t narg)
{
    return s->dev == dev && s->mode == mode && s->serial == serial && s->narg == narg &&
           memcmp(s->type, type, narg * sizeof *type) == 0;
}

static py_spec *
find_compilation(py_dispatcher *d, td_dev *dev, bool serial, const td_type *const *type,
                 uint32_t narg)
{
    py_mode mode = py_mode_of(dev);
    uint64_t h;

    if (d->last && is_for(d->last, dev, mode, serial, type, narg) && constants_hold(d->last))
        return d->last;
    h = hash_of(dev, mode, type, narg);
    for (py_spec *s = d->table[h % PY_TABLE]; s; s = s->next)
        if (s->hash == h && is_for(s, dev, mode, serial, type, narg) && constants_hold(s))
            return d->last = s;
    return NULL;
}

static void
drop_deps(py_spec *s)
{
    for (uint32_t i = 0; i < s->ndep; i++) {
        Py_DECREF(s->dep[i].space);
        Py_XDECREF(s->dep[i].name);
        Py_XDECREF(s->dep[i].value);
    }
    s->ndep = 0;
}

void
py_spec_free(py_spec *s)
{
    drop_deps(s);
    py_bounds_free(s->bounds);
    for (uint32_t i = 0; s->hidden && i < s->made.nhidden; i++)
        Py_XDECREF((PyObject *)s->hidden[i]);
    td_jit_release(s->kernel);
    py_box_free(s->box);
    td_buf_unref(s->grid);
    td_buf_unref(s->partials);
    td_arena_free(&s->mem);
    free(s->hidden);
    free(s->verdict);
    free(s->type);
    free(s->dep);
    free(s);
}

void
py_specs_free(py_dispatcher *d)
{
    d->last = NULL;
    for (int i = 0; i < PY_TABLE; i++)
        for (py_spec *s; (s = d->table[i]);) {
            d->table[i] = s->next;
            py_spec_free(s);
        }
}

int
py_specs_visit(py_dispatcher *d, visitproc visit, void *arg)
{
    for (int i = 0; i < PY_TABLE; i++)
        for (py_spec *s = d->table[i]; s; s = s->next)
            for (uint32_t k = 0; k < s->ndep; k++) {
                Py_VISIT(s->dep[k].space);
                Py_VISIT(s->dep[k].value);
            }
    return 0;
}

/* Adds s before compilations of the same types whose constants have changed.  If these are too
 * many, the oldest is freed, unless a launch uses it. */
static void
enter(py_dispatcher *d, py_spec *s)
{
    py_spec **p = &d->table[s->hash % PY_TABLE], **oldest = NULL;
    int n = 0;

    s->next = *p;
    *p = s;
    for (p = &s->next; *p; p = &(*p)->next)
        if ((*p)->hash == s->hash && is_for(*p, s->dev, s->mode, s->serial, s->type, s->narg)) {
            n++;
            oldest = p;
        }
    if (n >= PY_VARIANTS && !(*oldest)->busy) {
        py_spec *gone = *oldest;

        *oldest = gone->next;
        py_spec_free(gone);
    }
    d->last = s;
}

/* ---- compiling ---- */

/* NULL: no memory */
static const td_origin *
copy_origins(const td_fn *f, td_arena *mem)
{
    td_origin *copy = td_alloc_big(mem, f->norigin * sizeof *copy);

    for (uint32_t i = 0; copy && i < f->norigin; i++) {
        size_t file = strlen(f->origin[i].file) + 1, name = strlen(f->origin[i].function) + 1;
        char *text = td_alloc_big(mem, file + name);

        if (!text)
            return NULL;
        memcpy(text, f->origin[i].file, file);
        memcpy(text + file, f->origin[i].function, name);
        copy[i] = (td_origin){text, text + file};
    }
    return copy;
}

/* The kernel outlives the dispatcher, so it gets its own copy of the instructions. */
static td_status
copy_ir(void *ctx, td_fn *f)
{
    const td_fn *made = ctx;
    td_fn own = *made;

    own.mem = f->mem;
    own.name = f->name;
    own.cap = own.n;
    own.ins = td_alloc_big(f->mem, (own.n + 1) * sizeof *own.ins);
    if (!own.ins)
        return td_fail(TD_ERR_NOMEM, "kernel: %u instructions", own.n);
    memcpy(own.ins, made->ins, own.n * sizeof *own.ins);
    if (own.norigin && !(own.origin = copy_origins(made, f->mem)))
        return td_fail(TD_ERR_NOMEM, "kernel: %u files", own.norigin);
    *f = own;
    return TD_OK;
}

/* A recursive function needs more stack than a GPU's threads have by default. */
static td_status
make_stack(const py_spec *s)
{
    enum { LIMIT_STACK_SIZE = 0 }; /* CU_LIMIT_STACK_SIZE */
    size_t have, want = TD_GPU_STACK + 4096;

    if (!td_dev_info(s->dev)->simt || !td_fn_has_functions(&s->made.fn))
        return TD_OK;
    TD_TRY(td_dev_limit(s->dev, LIMIT_STACK_SIZE, false, &have));
    return have < want ? td_dev_limit(s->dev, LIMIT_STACK_SIZE, true, &want) : TD_OK;
}

static td_status
make_kernel(py_spec *s)
{
    bool threads = s->home->how.mode == TD_MODE_KERNEL;
    bool interprets = threads && !td_dev_info(s->dev)->simt && td_jit_interprets();
    td_status st;
    void *token;
    td_hash key;

    if (s->mode == PY_WATCHED ||
        s->bounds) /* the interpreter runs s->made.fn; others run in place of s */
        return TD_OK;
    s->made.fn.simt = threads;
    key = td_fn_hash(&s->made.fn);
    token = td_graph_unlock();
    st = make_stack(s);
    if (!st)
        st = interprets ? TD_SKIP : td_jit_get(s->dev, key, copy_ir, &s->made.fn, &s->kernel);
    if (st == TD_SKIP)
        st = td_jit_interpreted(s->dev, key, copy_ir, &s->made.fn, &s->kernel);
    td_graph_lock(token);
    return st;
}

/* The function's name with the characters that machine code allows. */
static const char *
plain_name(py_spec *s, const char *name)
{
    size_t n = strlen(name);
    char *copy = td_alloc(&s->mem, n + 2);

    for (size_t i = 0; i < n; i++) {
        char c = name[i];
        bool ok = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');

        copy[i] = ok || c == '_' ? c : '_';
    }
    return copy;
}

/* Are numbered checks of indices left to each launch?  All are numbered where they are asked for, else those of functions that
 * must do what Python does. */
static bool
chooses_checks(const py_spec *s)
{
    return !s->verdict && (s->mode == PY_CHECKED ||
                           (s->mode == PY_PLAIN && s->home->how.mode == TD_MODE_FUNCTION));
}

static bool
run_front(py_spec *s, bool gpu, bool alone)
{
    td_compile how = s->home->how;
    py_asking asking;
    const td_source *source = py_source(s->home, (PyObject *)s->home);
    td_status st;

    if (!source)
        return false;
    how.gpu = gpu;
    how.alone = alone;
    how.debug = how.debug || s->mode;
    how.watched = s->mode == PY_WATCHED;
    how.numbered = s->mode == PY_CHECKED;
    how.marked = !alone && chooses_checks(s);
    how.verdict = s->verdict;
    how.parallel = how.parallel && !s->serial;
    how.overlap = s->serial;
    how.lines = how.lines && gpu;
    py_asking_begin(&asking, s->home, s);
    st = td_front(source, &asking.host, s->type, s->narg, &how, &s->mem, &s->made);
    if (!st && s->mem.failed)
        st = td_fail(TD_ERR_NOMEM, "%s: memory is out while it is compiled", source->name);
    if (!st)
        s->made.fn.name = plain_name(s, source->name);
    return !py_unforgotten() && py_ok(st);
}

/* The array on the device. NumPy's arrays have the order there that describe_numpy promises: C's. */
static bool
fetch_numbers(const py_spec *s, PyObject *o, td_array *out)
{
    PyObject *f, *ordered;
    bool ok;

    if (py_is_array(o))
        return py_asarray(o, -1, s->dev, out);
    f = py_package("numpy", "asarray");
    ordered = f ? PyObject_CallFunction(f, "OOs", o, Py_None, "C") : NULL;
    ok = ordered && py_asarray(ordered, -1, s->dev, out);
    Py_XDECREF(ordered);
    Py_XDECREF(f);
    return ok;
}

/* An array that the function takes from its globals or closure; records as their bytes, with
 * one more axis. */
static bool
fetch_array(const py_spec *s, const td_hidden *h, td_array *out)
{
    PyObject *o = py_handle_object(h->object), *f, *bytes;
    bool ok;

    if (h->type->item[0]->kind != TD_T_RECORD)
        return fetch_numbers(s, o, out);
    f = py_package("treadle.cuda._records", "bytes_of");
    bytes = f ? PyObject_CallFunctionObjArgs(f, o, NULL) : NULL;
    ok = bytes && py_asarray(bytes, -1, s->dev, out);
    Py_XDECREF(bytes);
    Py_XDECREF(f);
    return ok;
}

/* Fetches all of them, onto the kernel's device. */
static bool
fetch_arrays(py_spec *s)
{
    s->hidden = calloc(s->made.nhidden + 1, sizeof(py_ndarray *));
    if (!s->hidden)
        return PyErr_NoMemory(), false;
    for (uint32_t i = 0; i < s->made.nhidden; i++) {
        const td_hidden *h = &s->made.hidden[i];
        py_ndarray *nd;

        if (h->kind != TD_HIDDEN_ARRAY)
            continue;
        nd = py_new();
        if (!nd || !fetch_array(s, h, &nd->a)) {
            Py_XDECREF((PyObject *)nd);
            return false;
        }
        s->hidden[i] = nd;
    }
    return true;
}

/* Fetches what the kernel's other hidden parameters need. */
static bool
fetch_memory(py_spec *s)
{
    for (uint32_t i = 0; i < s->made.nhidden; i++) {
        td_hiddenkind kind = s->made.hidden[i].kind;

        if (kind == TD_HIDDEN_MAILBOX && !s->box && !py_box_new(s))
            return false;
        if (kind == TD_HIDDEN_PARTIALS && !s->partials &&
            !py_ok(td_buf_new(s->dev, NULL, py_partials_bytes(s), &s->partials)))
            return false;
        if (kind == TD_HIDDEN_GRID && !s->grid &&
            (!py_ok(td_buf_new(s->dev, NULL, 8, &s->grid)) ||
             !py_ok(td_fill(td_dev_stream(s->dev), s->grid->ptr, 0, 8))))
            return false;
    }
    return true;
}

static py_spec *
new_spec(py_dispatcher *d, td_dev *dev, bool serial, const td_type *const *type, uint32_t narg)
{
    py_spec *s = calloc(1, sizeof *s);

    if (s)
        s->type = malloc((narg + 1) * sizeof *s->type);
    if (!s || !s->type) {
        free(s);
        PyErr_NoMemory();
        return NULL;
    }
    s->home = d;
    s->dev = dev;
    s->mode = py_mode_of(dev);
    s->narg = narg;
    s->serial = serial;
    s->hash = hash_of(dev, s->mode, type, narg);
    memcpy(s->type, type, narg * sizeof *type);
    return s;
}

/* The line of the first atomic addition to a float. */
static uint32_t
find_unordered(const td_fn *f)
{
    for (uint32_t i = 0; i < f->n; i++)
        if (f->ins[i].op == OP_atomic_add && !td_dtype_is_int((td_dtype)f->ins[i].dt))
            return f->ins[i].line ? f->ins[i].line : 1;
    return 0;
}

static bool
compile_spec(py_spec *s)
{
    if (!run_front(s, td_dev_info(s->dev)->simt, false))
        return false;
    s->unordered = find_unordered(&s->made.fn);
    return (!chooses_checks(s) || !s->made.nindex || py_bounds_new(s)) && fetch_arrays(s) &&
           fetch_memory(s) && py_ok(make_kernel(s)) && py_warn();
}

py_spec *
py_spec_without(py_spec *s, const uint8_t *verdict)
{
    uint32_t n = s->made.nindex;
    py_spec *own = new_spec(s->home, s->dev, s->serial, s->type, s->narg);

    if (!own)
        return NULL;
    own->mode = s->mode;
    own->verdict = malloc(n + 1);
    if (!own->verdict)
        PyErr_NoMemory();
    else
        memcpy(own->verdict, verdict, n);
    if (!own->verdict || !compile_spec(own)) {
        py_spec_free(own);
        return NULL;
    }
    drop_deps(own); /* s has them */
    if (own->made.nindex == n)
        return own;
    py_spec_free(own);
    PyErr_Format(PyExc_SystemError, "%U: its checks are not the same twice", s->home->name);
    return NULL;
}

py_spec *
py_spec_for(py_dispatcher *d, td_dev *dev, bool serial, const td_type *const *type, uint32_t narg)
{
    py_spec *s = find_compilation(d, dev, serial, type, narg), *other;

    if (s || PyErr_Occurred())
        return s;
    s = new_spec(d, dev, serial, type, narg);
    if (!s)
        return NULL;
    if (!compile_spec(s)) {
        py_spec_free(s);
        return NULL;
    }
    /* another thread may have made it by now */
    other = find_compilation(d, dev, serial, type, narg);
    if (other || PyErr_Occurred()) {
        py_spec_free(s);
        return other;
    }
    enter(d, s);
    return s;
}

bool
py_spec_once(py_dispatcher *d, bool gpu, bool serial, const td_type *const *type, uint32_t narg,
             py_spec_use *use, void *ctx)
{
    py_spec *s = new_spec(d, py_cpu(), serial, type, narg);
    bool ok;

    if (s)
        s->mode = PY_PLAIN; /* nothing will be launched */
    ok = s && run_front(s, gpu, true) && use(s, ctx);
    if (s)
        py_spec_free(s);
    return ok;
}
