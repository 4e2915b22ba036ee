/* kerneldebug.c - launches under treadle.debug(): the interpreter runs kernels of the CPU and of
 * the null device, whose memory the host can access, and stops in the debugger at breakpoints.
 */
#include "array/graph/values.h"
#include "array/run/fperror.h"
#include "base/opts.h"
#include "base/parallel.h"
#include "dev/core/dev.h"
#include "dev/core/tape.h"
#include "ir/interp/interp.h"
#include "python/kernel/kernel.h"

#include <stdlib.h>
#include <string.h>

enum { FLOAT_KINDS = TD_FP_DIVIDE | TD_FP_OVER | TD_FP_INVALID };

static int
    deterministic; /* 0; 1 warns of what is not deterministic, 2 refuses it; guarded by the GIL */

/* What treadle.debug() set in this thread; if nothing, TREADLE_DEBUG decides. */
static _Thread_local struct {
    bool said, on;
    uint32_t block[3], thread[3]; /* the block and thread whose breakpoints stop */
} debug;

static int sessions; /* threads that have set something; guarded by the GIL */
static bool bounds;  /* treadle.config.checks is "bounds"; guarded by the GIL */

static const char *const checks_name[] = {"none", "bounds"};

py_mode
py_mode_of(const td_dev *d)
{
    bool on = td_options()->debug;

    if (sessions && debug.said)
        on = debug.on;
    if (!on)
        return bounds ? PY_CHECKED : PY_PLAIN;
    return td_dev_info(d)->kind == TD_DEV_CUDA ? PY_CHECKED : PY_WATCHED;
}

/* ---- breakpoints ---- */

/* watch - one launch under the debugger.  On the caller's stack. */
typedef struct watch {
    py_spec *s;
    PyObject *error; /* the exception that ended the debugger */
    char hint[320];  /* a warning; "": none */
} watch;

/* The program's function that contains the site; borrowed. */
static PyObject *
function_of(const py_spec *s, const td_site *site)
{
    for (uint32_t i = 0; i < s->home->nsource; i++) {
        const td_source *from = &s->home->source[i]->s;

        if (from->object && strcmp(from->file, site->file) == 0 &&
            strcmp(from->name, site->function) == 0)
            return py_handle_object(from->object);
    }
    return s->home->fn;
}

/* The variables at the site, as a dict. */
static PyObject *
site_variables(const td_site *site, const uint64_t *word)
{
    PyObject *d = PyDict_New();
    const char *name = site->text;

    for (uint32_t i = 0; d && i < site->narg; i++) {
        size_t n = strcspn(++name, "\1");
        PyObject *key = PyUnicode_FromStringAndSize(name, (Py_ssize_t)n),
                 *value = key ? py_shown(site->arg[i], word) : NULL;

        if (!value || PyDict_SetItem(d, key, value) < 0)
            Py_CLEAR(d);
        Py_XDECREF(key);
        Py_XDECREF(value);
        word += td_type_words(site->arg[i]);
        name += n;
    }
    return d;
}

static bool
ask_debugger(const py_spec *s, const uint64_t *word, const uint32_t b[3], const uint32_t t[3])
{
    const td_site *site = &s->made.site[word[0] - 1];
    PyObject *stop = py_package("treadle._observe._debug", "stop"),
             *locals = stop ? site_variables(site, word + 1) : NULL, *r = NULL;

    if (locals)
        r = PyObject_CallFunction(stop, "OssIO(III)(III)", function_of(s, site), site->function,
                                  site->file, (unsigned)site->line, locals, b[0], b[1], b[2], t[0],
                                  t[1], t[2]);
    Py_XDECREF(stop);
    Py_XDECREF(locals);
    Py_XDECREF(r);
    return r != NULL;
}

/* Keeps the pending exception, and ends the kernel. */
static td_status
watch_failed(watch *w)
{
    PyObject *type, *value, *trace;

    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    w->error = value;
    Py_XDECREF(type);
    Py_XDECREF(trace);
    return td_fail(TD_ERR_KERNEL, "the debugger was left");
}

static td_status
halt(void *ctx, uint64_t word, const uint32_t b[3], const uint32_t t[3])
{
    watch *w = ctx;
    PyGILState_STATE gil;

    if (memcmp(b, debug.block, sizeof debug.block) != 0 ||
        memcmp(t, debug.thread, sizeof debug.thread) != 0)
        return TD_OK;
    gil = PyGILState_Ensure();
    if (!ask_debugger(w->s, (const uint64_t *)(uintptr_t)word, b, t))
        (void)watch_failed(w);
    PyGILState_Release(gil);
    return w->error ? TD_ERR_KERNEL : TD_OK;
}

/* Tells treadle.errstate of a value that arose in the kernel. */
static td_status
found(void *ctx, int kind, const char *text)
{
    bool raises = td_fp_watching >> TD_FP_RAISE & kind;
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *f = py_package("treadle._numpy._errstate", "found"),
             *r = f ? PyObject_CallFunction(f, "isO", kind, text, raises ? Py_True : Py_False)
                    : NULL;
    td_status st = r ? TD_OK : watch_failed(ctx);

    Py_XDECREF(f);
    Py_XDECREF(r);
    PyGILState_Release(gil);
    return st;
}

static void
take_hint(void *ctx, const char *text)
{
    watch *w = ctx;

    memcpy(w->hint, text, strnlen(text, sizeof w->hint - 1));
}

/* ---- fresh memory ---- */

td_status
py_empty_as(td_dev *d, td_dtype dt, const td_view *layout, td_array *out)
{
    td_status st = td_array_empty_as(d, dt, layout, out);
    td_buf *b;
    td_hold h;

    if (st || py_mode_of(d) != PY_WATCHED)
        return st;
    td_hold_begin(&h);
    st = td_array_use(out, true, &b);
    if (!st)
        st = td_fill(td_dev_stream(d), b->ptr, TD_FRESH_BYTE, b->nbytes);
    td_hold_end(&h);
    return st;
}

/* ---- the names of memory ---- */

/* v's strides are in units of `unit` bytes. */
static td_named
named_view(const char *name, uintptr_t at, const td_type *item, const td_view *v, int64_t unit)
{
    td_named n = {.name = name, .at = at, .size = td_type_size(item), .ndim = v->shape.ndim};

    for (int i = 0; i < n.ndim && i < TD_NAMED_DIMS; i++) {
        n.dim[i] = v->shape.dim[i];
        n.stride[i] = v->stride[i] * unit;
    }
    return n;
}

static const char *
utf8(PyObject *name)
{
    const char *s = name ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;

    if (!s)
        PyErr_Clear();
    return s ? s : "an argument";
}

static td_named
named_leaf(const py_call *c, const py_leaf *l)
{
    const char *name =
        l->arg < c->d->nparam ? utf8(PyTuple_GetItem(c->d->params, l->arg)) : "an argument";
    bool record = l->kind == PY_LEAF_RECORD;
    const td_type *item = record ? l->type : l->type->item[0];
    td_view v = {0};
    uintptr_t at;

    if (l->kind == PY_LEAF_ARRAY) {
        int64_t size = (int64_t)td_dtype_size(td_array_dtype(l->array));

        return named_view(name, l->buf->ptr + (uintptr_t)(l->array->view.offset * size), item,
                          &l->array->view, size);
    }
    at = l->buf ? l->buf->ptr : (uintptr_t)l->host.buf;
    if (!record)
        py_host_view_of(l, &v);
    return named_view(name, at, item, &v, item->kind == TD_T_RECORD ? 1 : td_type_size(item));
}

/* Names the arguments' arrays.  Arrays of the program's globals are left out, since kernels
 * only read them. */
static td_named *
names(const py_call *c, uint32_t *count)
{
    td_named *all = calloc(c->nleaf + 1, sizeof *all);
    uint32_t n = 0;

    for (uint32_t i = 0; all && i < c->nleaf; i++)
        if (c->leaf[i].kind != PY_LEAF_WORD)
            all[n++] = named_leaf(c, &c->leaf[i]);
    *count = n;
    return all;
}

/* ---- the launch ---- */

/* The kernel's own report comes first, unless it is a wrong index caused by an overflow. */
static bool
finish_watch(watch *w, td_status st, const char *text)
{
    if (w->error) {
        PyErr_SetObject((PyObject *)Py_TYPE(w->error), w->error);
        Py_CLEAR(w->error);
        if (w->s->box)
            py_box_drop(w->s->box);
        return false;
    }
    if (w->s->box && st == TD_ERR_OVERFLOW)
        py_box_drop(w->s->box);
    if (w->s->box && !py_box_read(w->s->box))
        return false;
    return py_ok(st ? td_fail(st, "%s", text) : TD_OK);
}

bool
py_debug_launch(py_spec *s, py_call *c, const td_dims *dims, const uint64_t *word, uint64_t *port)
{
    bool here = td_dev_info(s->dev)->host;
    watch w = {.s = s};
    td_check check = {.port = (uint64_t)(uintptr_t)port,
                      .halt = halt,
                      .ctx = &w,
                      .floats = td_fp_asked() ? td_fp_watching & FLOAT_KINDS : 0,
                      .found = found,
                      .hint = take_hint};
    td_named *named = names(c, &check.nnamed);
    char text[1024] = "";
    td_status st;
    void *token;

    if (!named)
        return PyErr_NoMemory(), false;
    check.named = named;
    st = td_tape_refuse("a kernel under treadle.debug()");
    if (!st && !here)
        st = td_dev_sync(s->dev); /* work that was launched before */
    if (st) {
        free(named);
        return py_ok(st);
    }
    py_call_keep(c, true);
    token = td_graph_unlock();
    st = td_interp_checked(&s->made.fn, dims->grid, dims->block, word, dims->shared,
                           here ? NULL : td_null_extent, &check);
    if (st)
        strncpy(text, td_error(), sizeof text - 1);
    td_graph_lock(token);
    py_call_keep(c, false);
    free(named);
    return finish_watch(&w, st, text) &&
           (st || !*w.hint || PyErr_WarnEx(PyExc_RuntimeWarning, w.hint, 1) == 0);
}

/* ---- treadle.debug() ---- */

/* _debug(on, block, thread): sets the mode and returns the earlier one; on None: as
 * TREADLE_DEBUG says. */
static PyObject *
say(PyObject *module, PyObject *args)
{
    PyObject *on, *before;
    unsigned b[3], t[3];

    (void)module;
    if (!PyArg_ParseTuple(args, "O(III)(III):_debug", &on, &b[0], &b[1], &b[2], &t[0], &t[1],
                          &t[2]))
        return NULL;
    before = Py_BuildValue("O(III)(III)",
                           !debug.said ? Py_None
                           : debug.on  ? Py_True
                                       : Py_False,
                           debug.block[0], debug.block[1], debug.block[2], debug.thread[0],
                           debug.thread[1], debug.thread[2]);
    if (!before)
        return NULL;
    sessions += (on != Py_None) - debug.said;
    debug.said = on != Py_None;
    debug.on = on == Py_True;
    for (int i = 0; i < 3; i++) {
        debug.block[i] = b[i];
        debug.thread[i] = t[i];
    }
    return before;
}

/* _checks(name): what treadle.config.checks is set to, "none" or "bounds"; None changes nothing.  Gives the name. */
static PyObject *
checks(PyObject *module, PyObject *name)
{
    (void)module;
    if (name != Py_None)
        bounds = py_is_text(name, checks_name[true]);
    return PyUnicode_FromString(checks_name[bounds]);
}

/* _deterministic(level): sets the level, None changes nothing.  Gives what holds. */
static PyObject *
set_deterministic(PyObject *module, PyObject *level)
{
    (void)module;
    if (level != Py_None) {
        long n = PyLong_AsLong(level);

        if (n == -1 && PyErr_Occurred())
            return NULL;
        deterministic = (int)n;
        td_parallel_fix(n > 0);
    }
    return PyLong_FromLong(deterministic);
}

static PyObject *
cut_width(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    return PyLong_FromLong(td_parallel_cut());
}

bool
py_deterministic_may(const py_spec *s)
{
    static const char text[] =
        "kernel %U adds floats by atomic operations (line %u), in another order every time: with "
        "treadle.config.deterministic sort what is added, or let one thread add it";

    if (!deterministic || !s->unordered)
        return true;
    if (deterministic == 1)
        return PyErr_WarnFormat(PyExc_UserWarning, 1, text, s->home->name,
                                (unsigned)s->unordered) == 0;
    return PyErr_Format(PyExc_RuntimeError, text, s->home->name, (unsigned)s->unordered), false;
}

PyMethodDef py_debug_functions[] = {
    {"_cut", cut_width, METH_NOARGS, "_cut(): for how many of a CPU's threads sums are cut."},
    {"_deterministic", set_deterministic, METH_O,
     "_deterministic(level): 0; results have the same bits each time, and what has not is warned "
     "of (1) or refused "
     "(2). Gives what holds."},
    {"_checks", checks, METH_O,
     "_checks(name): \"bounds\": kernels that are launched check their indices. Gives what holds."},
    {"_debug", say, METH_VARARGS,
     "_debug(on, block, thread): launches of this thread are debugged, or not; None: as "
     "TREADLE_DEBUG says. Gives what was said before."},
    {NULL, NULL, 0, NULL},
};
