/* kernelrun.c - launches compiled functions: arguments to words, words to the device.
 *
 * There are two steps, since giving an array memory of its own moves it.  First every array is
 * evaluated, and those that are written get memory of their own.  Then addresses are taken, and
 * from there to the launch nothing releases the GIL. On the CPU host memory is used in place; a
 * GPU gets copies, and what it wrote is copied back.
 */
#include "array/run/spill.h"
#include "base/draws.h"
#include "dev/core/site.h"
#include "dev/core/trace.h"
#include "python/kernel/boxvalue.h"
#include "python/kernel/kernel.h"

#include <stdlib.h>
#include <string.h>

/* run - one launch.  On the caller's stack. */
typedef struct run {
    py_call *c;
    py_spec *s;
    py_spec
        *serial; /* in use as well: the loops run in order, which s told only later; NULL: none */
    td_stream *stream;
    td_dims dims;
    uint32_t n; /* words */
    uint64_t word[PY_WORDS];
    unsigned char *result;
    uint64_t port;   /* where a watched kernel stores at breakpoints */
    td_buf *there;   /* memory of the result on a GPU */
    td_callmem heap; /* memory that the function allocated for arrays */
} run;

static bool
is_written(const run *r, const py_leaf *l)
{
    return r->s->made.written >> l->arg & 1;
}

static PyObject *
arg_name(const run *r, const py_leaf *l)
{
    py_dispatcher *d = r->c->d;

    return l->arg < d->nparam ? Py_NewRef(PyTuple_GetItem(d->params, l->arg))
                              : PyUnicode_FromFormat("argument %d", (int)l->arg);
}

static bool
read_only(const run *r, const py_leaf *l)
{
    PyObject *name = arg_name(r, l);

    if (name)
        PyErr_Format(PyExc_ValueError,
                     "%U writes to argument '%U', which is read-only: give it a copy",
                     r->c->d->name, name);
    Py_XDECREF(name);
    return false;
}

/* ---- arrays ---- */

/* Launches everything pending; arrays that are written get memory of their own. */
static bool
settle_arrays(run *r)
{
    py_call *c = r->c;

    for (uint32_t i = 0; i < c->nleaf; i++) {
        py_leaf *l = &c->leaf[i];

        if (l->readonly && is_written(r, l))
            return read_only(r, l);
        if (l->kind == PY_LEAF_ARRAY && !py_ok(td_array_use(l->array, false, &l->buf)))
            return false;
    }
    for (uint32_t i = 0; i < c->nleaf; i++) {
        py_leaf *l = &c->leaf[i];

        if (l->kind == PY_LEAF_ARRAY && is_written(r, l) &&
            !py_ok(td_array_use(l->array, true, &l->buf)))
            return false;
    }
    return true;
}

static bool
array_words(run *r, const td_type *t, const td_array *a)
{
    td_buf *b;

    if (!py_ok(td_array_use(a, false, &b)))
        return false;
    r->n += py_array_words(
        t, b->ptr + (uintptr_t)(a->view.offset * (int64_t)td_dtype_size(td_array_dtype(a))),
        &a->view, r->word + r->n);
    return true;
}

/* ---- host memory on a GPU ---- */

static bool
warn_copy(const run *r, const py_leaf *l)
{
    PyObject *name = arg_name(r, l);
    int st = -1;

    if (name)
        st = PyErr_WarnFormat(py.slow, 1,
                              "%U: argument '%U' is host memory: it is copied to %s and back. Use "
                              "cuda.to_device, or cuda.In, Out or InOut to say which way",
                              r->c->d->name, name, td_dev_info(r->s->dev)->name);
    Py_XDECREF(name);
    return st == 0;
}

static bool
copy_there(run *r, py_leaf *l)
{
    size_t n = (size_t)l->host.len;
    char *packed = NULL;
    bool ok;

    if (l->kind == PY_LEAF_HOST && !l->said && !warn_copy(r, l))
        return false;
    if (!py_ok(td_buf_new(r->s->dev, r->stream, n ? n : 1, &l->buf)))
        return false;
    if (l->way == PY_OUT)
        return true;
    if (l->kind == PY_LEAF_HOST && !PyBuffer_IsContiguous(&l->host, 'C')) {
        packed = malloc(n + 1);
        if (!packed || PyBuffer_ToContiguous(packed, &l->host, l->host.len, 'C') < 0) {
            free(packed);
            return packed ? false : (PyErr_NoMemory(), false);
        }
    }
    ok = py_ok(td_copy_in(r->stream, l->buf->ptr, packed ? packed : l->host.buf, n));
    free(packed);
    return ok;
}

static bool
copy_back(run *r, py_leaf *l)
{
    size_t n = (size_t)l->host.len;
    char *packed = NULL;
    PyThreadState *gil;
    td_status st;
    bool ok;

    if (!l->buf || l->way == PY_IN || l->readonly || !is_written(r, l))
        return true;
    if (l->kind == PY_LEAF_HOST && !PyBuffer_IsContiguous(&l->host, 'C')) {
        packed = malloc(n + 1);
        if (!packed)
            return PyErr_NoMemory(), false;
    }
    gil = PyEval_SaveThread();
    st = td_copy_out(r->stream, packed ? packed : l->host.buf, l->buf->ptr, n);
    PyEval_RestoreThread(gil);
    ok = py_ok(st) && (!packed || PyBuffer_FromContiguous(&l->host, packed, l->host.len, 'C') == 0);
    free(packed);
    return ok;
}

/* ---- arguments as words ---- */

static bool
host_words(run *r, py_leaf *l)
{
    td_view v;
    uintptr_t at;

    if (!td_dev_info(r->s->dev)->host && !copy_there(r, l))
        return false;
    at = l->buf ? l->buf->ptr : (uintptr_t)l->host.buf;
    if (l->kind == PY_LEAF_RECORD) {
        r->word[r->n++] = at;
        return true;
    }
    py_host_view_of(l, &v);
    r->n += py_array_words(l->type, at, &v, r->word + r->n);
    return true;
}

static bool
add_argument_words(run *r)
{
    py_call *c = r->c;

    for (uint32_t i = 0; i < c->nleaf; i++) {
        py_leaf *l = &c->leaf[i];

        if (r->n + 2 * TD_MAXDIM_KERNEL + 1 > PY_WORDS) {
            PyErr_Format(PyExc_TypeError, "%U: more than %d words of arguments", c->d->name,
                         PY_WORDS);
            return false;
        }
        switch (l->kind) {
        case PY_LEAF_WORD:
            r->word[r->n++] = l->word[0];
            if (l->nword == 2)
                r->word[r->n++] = l->word[1];
            break;
        case PY_LEAF_ARRAY:
            r->n += py_array_words(
                l->type,
                l->buf->ptr + (uintptr_t)(l->array->view.offset *
                                          (int64_t)td_dtype_size(td_array_dtype(l->array))),
                &l->array->view, r->word + r->n);
            break;
        default:
            if (!host_words(r, l))
                return false;
        }
    }
    return true;
}

/* The words of the number-th hidden argument. */
static bool
add_one_hidden(run *r, uint32_t number)
{
    const td_hidden *h = &r->s->made.hidden[number];

    if (r->n + 2 * TD_MAXDIM_KERNEL + 1 > PY_WORDS) {
        PyErr_SetString(PyExc_TypeError, "more words of arguments than a kernel takes");
        return false;
    }
    switch (h->kind) {
    case TD_HIDDEN_MAILBOX:  r->word[r->n++] = r->s->box->mem.dev; break;
    case TD_HIDDEN_GRID:     r->word[r->n++] = r->s->grid->ptr; break;
    case TD_HIDDEN_PARTIALS: r->word[r->n++] = r->s->partials->ptr; break;
    case TD_HIDDEN_PORT:     r->word[r->n++] = (uint64_t)(uintptr_t)&r->port; break;
    case TD_HIDDEN_CALLMEM:  r->word[r->n++] = (uint64_t)(uintptr_t)&r->heap; break;
    case TD_HIDDEN_SHARED:   r->word[r->n++] = r->dims.shared; break;
    case TD_HIDDEN_DRAWS:
        if (!(r->word[r->n++] = (uint64_t)(uintptr_t)td_draws_here()))
            return PyErr_NoMemory(), false;
        break;
    case TD_HIDDEN_RESULT:
        r->word[r->n++] = r->there ? r->there->ptr : (uint64_t)(uintptr_t)r->result;
        break;
    case TD_HIDDEN_ARRAY: return array_words(r, h->type, &r->s->hidden[number]->a);
    }
    return true;
}

static bool
add_hidden(run *r)
{
    for (uint32_t i = 0; i < r->s->made.nhidden; i++)
        if (!add_one_hidden(r, i))
            return false;
    return true;
}

/* The same, with 0 for addresses: what a launch is judged by. */
static bool
add_hidden_numbers(run *r)
{
    for (uint32_t i = 0; i < r->s->made.nhidden; i++) {
        td_hiddenkind kind = r->s->made.hidden[i].kind;
        uint32_t at = r->n;

        if (!add_one_hidden(r, i))
            return false;
        if (kind != TD_HIDDEN_ARRAY && kind != TD_HIDDEN_SHARED)
            r->word[at] = 0;
    }
    return true;
}

/* ---- the launch ---- */

void
py_call_keep(py_call *c, bool on)
{
    for (uint32_t i = 0; i < c->nleaf; i++) {
        if (c->leaf[i].kind != PY_LEAF_ARRAY)
            continue;
        if (on)
            (void)td_buf_ref(c->leaf[i].buf);
        else
            td_buf_unref(c->leaf[i].buf);
    }
}

/* The function's name, for profiles and failures.  The kernel cannot have it: functions with
 * the same text share one. */
static const char *
label(const run *r)
{
    py_dispatcher *d = r->c->d;

    if (!d->label) {
        const char *text = PyUnicode_AsUTF8AndSize(d->name, NULL);

        if (!text)
            PyErr_Clear(); /* the name is not a text */
        d->label = td_name_text(td_name_id(text));
    }
    return d->label;
}

/* Describes the launch for a profile: its name, and the bytes of its arrays. */
static void
describe_run(run *r)
{
    r->dims.what = label(r);
    for (uint32_t i = 0; td_watched() && i < r->c->nleaf; i++) {
        const py_leaf *l = &r->c->leaf[i];

        if (l->kind == PY_LEAF_ARRAY)
            r->dims.nbytes +=
                (size_t)td_array_size(l->array) * td_dtype_size(td_array_dtype(l->array));
        else if (l->kind != PY_LEAF_WORD)
            r->dims.nbytes += (size_t)l->host.len;
    }
}

static td_status
launch_here(run *r)
{
    bool tell = td_watched();
    void *token;
    td_status st;

    if (tell) {
        describe_run(r);
        td_site_hold(); /* look the line up while Python's lock is held */
    }
    if (!r->c->d->gil)
        py_call_keep(r->c, true);
    token = r->c->d->gil ? NULL : td_graph_unlock();
    st = td_jit_launch(r->s->kernel, r->stream, &r->dims, r->word, (int)r->n);
    if (!r->c->d->gil) {
        td_graph_lock(token);
        py_call_keep(r->c, false);
    }
    if (tell)
        td_site_release();
    return st;
}

/* On a GPU the driver's call returns at once, and releasing the GIL would take as long. */
static td_status
launch_there(run *r)
{
    td_status st = td_stream_enter(r->stream);

    describe_run(r);
    td_site_hold(); /* a failure that comes late names this line */
    if (!st)
        st = td_jit_launch(r->s->kernel, r->stream, &r->dims, r->word, (int)r->n);
    for (uint32_t i = 0; !st && i < r->c->nleaf; i++)
        if (r->c->leaf[i].buf && r->c->leaf[i].buf->stream != r->stream)
            td_buf_use(r->c->leaf[i].buf, r->stream);
    td_site_release();
    return st ? st : td_stream_leave(r->stream);
}

static bool
kernelrun_launch(run *r)
{
    bool here = td_dev_info(r->s->dev)->host;

    if (r->s->unordered && !py_deterministic_may(r->s))
        return false;
    if (r->s->mode == PY_WATCHED)
        return py_debug_launch(r->s, r->c, &r->dims, r->word, &r->port);
    if (!py_ok(here ? launch_here(r) : launch_there(r))) {
        if (here && r->s->box)
            py_box_drop(r->s->box); /* a report of this launch must not be taken for another's */
        return false;
    }
    if (!r->s->box)
        return true;
    py_box_watch(r->s->box, r->stream);
    return !here || py_box_read(r->s->box);
}

static bool
launch_finish(run *r)
{
    py_call *c = r->c;

    for (uint32_t i = 0; c->hosts && i < c->nleaf; i++)
        if ((c->leaf[i].kind == PY_LEAF_HOST || c->leaf[i].kind == PY_LEAF_RECORD) &&
            !copy_back(r, &c->leaf[i]))
            return false;
    return true;
}

/* A function's launch configuration depends on its arguments. */
static bool
choose_dims(run *r)
{
    if (r->c->d->how.mode == TD_MODE_KERNEL)
        return true;
    py_parallel_dims(r->s, r->word, r->n, &r->dims);
    return py_dims_check(r->c->d, r->s, &r->dims);
}

/* In place of a function that checks its indices: the compilation without those checks that hold here. */
static bool
choose_checks(run *r)
{
    bool kernel = r->c->d->how.mode == TD_MODE_KERNEL;
    uint32_t n = r->n;

    if (!r->s->bounds)
        return true;
    if (!add_hidden_numbers(r) || !(r->s = py_bounds_choose(r->s, r->word, r->n, &r->dims)))
        return false;
    r->n = n;
    if (!r->s->serial && r->s->made.apart && py_call_overlaps(r->c, r->s->made.written)) {
        r->s = py_spec_for(r->c->d, r->c->dev, true, r->c->type, r->c->narg);
        if (!r->s)
            return false;
        r->serial = r->s;
        r->serial->busy++;
        if (!(r->s = py_bounds_choose(r->s, r->word, n, &r->dims)))
            return false;
    }
    return !kernel || py_dims_check(r->c->d, r->s, &r->dims);
}

static bool
run_all(run *r)
{
    return add_argument_words(r) && choose_checks(r) && choose_dims(r) && add_hidden(r) &&
           kernelrun_launch(r) && launch_finish(r);
}

/* Finds the compilation for the call with its arrays ready.  If loop iterations could conflict
 * in overlapping arrays, it is the serial one. */
static bool
find_spec(run *r)
{
    py_call *c = r->c;

    r->s = py_spec_for(c->d, c->dev, false, c->type, c->narg);
    if (!r->s || !settle_arrays(r))
        return false;
    if (!r->s->made.apart || !py_call_overlaps(c, r->s->made.written))
        return true;
    r->s = py_spec_for(c->d, c->dev, true, c->type, c->narg);
    return r->s && settle_arrays(r);
}

/* Allocates memory for the result, on a GPU there as well. */
static bool
make_room(run *r, uint64_t *small, size_t nsmall)
{
    size_t n = r->s->made.result_bytes;

    r->result = n > nsmall ? calloc(1, n) : (unsigned char *)small;
    if (!r->result)
        return PyErr_NoMemory(), false;
    return !n || td_dev_info(r->s->dev)->host ||
           (py_ok(td_buf_new(r->s->dev, r->stream, n, &r->there)) &&
            py_ok(td_fill(r->stream, r->there->ptr, 0, n)));
}

/* After the launch: copies the result from the device. */
static PyObject *
take_result(run *r)
{
    PyThreadState *gil;
    td_status st = TD_OK;

    if (r->c->d->how.mode == TD_MODE_KERNEL)
        return Py_NewRef(Py_None);
    if (r->there) {
        gil = PyEval_SaveThread();
        st = td_copy_out(r->stream, r->result, r->there->ptr, r->s->made.result_bytes);
        PyEval_RestoreThread(gil);
    }
    return py_ok(st) ? py_result(r->s->made.result, r->result, r->c, &r->heap) : NULL;
}

/* Copies boxes back into lists that are arguments; boxes that treadle.typed's objects hold
 * live on. */
static bool
give_boxes(run *r)
{
    py_call *c = r->c;
    bool ok = !c->boxes || py_boxes_reflect(c->boxes);
    /* with no new box, one such argument and no array, it can only hold what it held before */
    bool some = c->typed > 1 || r->heap.boxes || r->heap.first || c->boxes;

    for (uint32_t i = 0; c->typed && !some && i < c->nleaf; i++)
        some = c->leaf[i].kind == PY_LEAF_HOST;
    for (uint32_t i = 0; c->typed && some && i < c->nleaf; i++)
        if (c->leaf[i].held && py_is_boxobject(c->leaf[i].held))
            py_boxobject_keep(c->leaf[i].held, c, &r->heap);
    return ok;
}

static PyObject *
run_call(py_call *c, const py_dims *dims, bool *refused)
{
    uint64_t small[16] = {0};
    PyObject *answer = NULL;
    py_spec *held;
    run r; /* uninitialised: its words are written before they are read */

    r.c = c;
    r.n = 0;
    r.there = NULL;
    r.serial = NULL;
    r.heap = (td_callmem){0};
    r.stream = dims->stream ? dims->stream : td_dev_stream(c->dev);
    if (!find_spec(&r))
        return NULL;
    r.dims = dims->dims;
    r.dims.cooperative = r.s->made.cooperative;
    if (c->d->how.mode == TD_MODE_KERNEL && !py_dims_check(c->d, r.s, &r.dims))
        return NULL;
    if (refused)
        *refused = false;
    c->ran = held = r.s;
    held->busy++;
    if (c->typed)
        py_boxes_run(1);
    if (make_room(&r, small, sizeof small) && run_all(&r)) {
        c->ran = r.s;
        answer = take_result(&r);
    }
    if (!give_boxes(&r))
        Py_CLEAR(answer);
    td_callmem_free(&r.heap);
    td_buf_unref(r.there);
    if (c->typed)
        py_boxes_run(-1);
    held->busy--;
    if (r.serial)
        r.serial->busy--;
    if (r.result != (unsigned char *)small)
        free(r.result);
    return answer;
}

/* ---- binding ---- */

static PyObject *
wrong_count(py_dispatcher *d, Py_ssize_t nargs)
{
    PyObject *comma = PyUnicode_FromString(", "),
             *names = comma ? PyUnicode_Join(comma, d->params) : NULL;

    if (names)
        PyErr_Format(PyExc_TypeError, "%U takes %u argument%s (%U), not %zd", d->name, d->nparam,
                     d->nparam == 1 ? "" : "s", names, nargs);
    Py_XDECREF(comma);
    Py_XDECREF(names);
    return NULL;
}

/* The parameter that a keyword names; -1: exception. */
static Py_ssize_t
param_of(py_dispatcher *d, PyObject *name)
{
    for (Py_ssize_t i = 0; i < (Py_ssize_t)d->nparam; i++)
        if (PyUnicode_Compare(PyTuple_GetItem(d->params, i), name) == 0)
            return i;
    PyErr_Format(PyExc_TypeError, "%U() got an unexpected keyword argument '%U'", d->name, name);
    return -1;
}

/* The default of parameter i, borrowed; NULL: it has none. */
static PyObject *
default_of(py_dispatcher *d, Py_ssize_t i)
{
    Py_ssize_t positional = (Py_ssize_t)(d->nparam - d->nonly),
               at = i - positional + (d->defaults ? PyTuple_Size(d->defaults) : 0);
    PyObject *all, *v;

    if (i < positional)
        return d->defaults && at >= 0 ? PyTuple_GetItem(d->defaults, at) : NULL;
    all = PyObject_GetAttrString(d->fn, "__kwdefaults__");
    v = all && all != Py_None ? PyDict_GetItemWithError(all, PyTuple_GetItem(d->params, i)) : NULL;
    Py_XDECREF(all); /* the function has it */
    return v;
}

/* Puts arguments, keywords and defaults into `full`: borrowed; -1: exception. */
static Py_ssize_t
bind(py_dispatcher *d, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames, PyObject **full)
{
    Py_ssize_t nkw = kwnames ? PyTuple_Size(kwnames) : 0, have = (Py_ssize_t)d->nparam;

    if (d->star && d->nonly)
        return PyErr_Format(
                   PyExc_TypeError,
                   "%U: a compiled function has *arguments or keyword-only parameters, not both",
                   d->name),
               -1;
    if (nargs > PY_LEAVES || have > PY_LEAVES || (nargs > have - (Py_ssize_t)d->nonly && !d->star))
        return wrong_count(d, nargs), -1;
    memset(full, 0, PY_LEAVES * sizeof *full);
    memcpy(full, args, (size_t)nargs * sizeof *full);
    for (Py_ssize_t i = 0; i < nkw; i++) {
        Py_ssize_t at = param_of(d, PyTuple_GetItem(kwnames, i));

        if (at < 0)
            return -1;
        if (full[at]) {
            PyErr_Format(PyExc_TypeError, "%U() got multiple values for argument '%U'", d->name,
                         PyTuple_GetItem(kwnames, i));
            return -1;
        }
        full[at] = args[nargs + i];
    }
    for (Py_ssize_t i = 0; i < have; i++) {
        if (!full[i])
            full[i] = default_of(d, i);
        if (!full[i] && PyErr_Occurred())
            return -1;
        if (!full[i])
            return wrong_count(d, nargs + nkw), -1;
    }
    return have > nargs ? have : nargs;
}

PyObject *
py_kernel_call(py_dispatcher *d, const py_dims *dims, PyObject *const *args, Py_ssize_t nargs,
               PyObject *kwnames, bool *refused)
{
    PyObject *full[PY_LEAVES], *answer = NULL;
    td_hold h;
    py_call c;

    if (kwnames || d->nonly || nargs != (Py_ssize_t)d->nparam) {
        nargs = bind(d, args, nargs, kwnames, full);
        if (nargs < 0)
            return NULL;
        args = full;
    }
    if (refused)
        *refused = true;
    if (!py_call_begin(&c, d, dims->stream, args, nargs))
        return NULL;
    for (Py_ssize_t i = 0; i < nargs; i++)
        if (!py_call_add(&c, args[i]))
            goto out;
    td_hold_begin(&h);
    if (!d->nsignature || py_signature_fit(&c))
        answer = run_call(&c, dims, refused);
    td_hold_end(&h);
out:
    py_call_end(&c);
    return answer;
}
