/* report.c - what kernels report: prints, and failures that become exceptions.
 *
 * A kernel that can report has a mailbox (front/infer/report.h).  After every wait for a device,
 * the host looks into the mailboxes of launched kernels.  Prints go to Python's print; a failure
 * becomes the exception that the wait raises.  On the CPU the launch itself has waited.
 */
#include "dev/cpu/cpucode.h"
#include "python/kernel/boxvalue.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { PRINT_WORDS = 1 << 17 };

static struct {
    py_box *first;       /* mailboxes of launched kernels; guarded by the GIL */
    atomic_int watched;  /* how many */
    PyObject *exception; /* found by a wait, not raised yet */
} all;

/* ---- values ---- */

/* The shortest text that reads back as the same float32. */
static PyObject *
short_float(float x)
{
    for (int digits = 6; digits <= 9; digits++) {
        char *s = PyOS_double_to_string((double)x, 'g', digits, Py_DTSF_ADD_DOT_0, NULL);
        PyObject *text = NULL;

        if (!s)
            return NULL;
        if (digits == 9 || !(strtof(s, NULL) != x))
            text = PyUnicode_FromString(s);
        PyMem_Free(s);
        if (text || digits == 9)
            return text;
    }
    return NULL;
}

static PyObject *
value_text(const td_type *t, const uint64_t *word)
{
    size_t half = td_dtype_size((td_dtype)t->dt) / 2;
    unsigned char bits[16];
    PyObject *o, *text;
    td_scalar s;

    if (t->kind != TD_T_NUM) {
        o = py_value_get(t, word, NULL);
        text = o ? PyObject_Str(o) : NULL;
        Py_XDECREF(o);
        return text;
    }
    memcpy(bits, word, 8);
    if (td_dtype_is_complex((td_dtype)t->dt))
        memcpy(bits + half, word + 1, half);
    s = td_scalar_load((td_dtype)t->dt, bits);
    if (td_dtype_is_float((td_dtype)t->dt) && t->dt != TD_F64)
        return short_float((float)s.f[0]);
    o = py_scalar_object(s);
    text = o ? PyObject_Str(o) : NULL;
    Py_XDECREF(o);
    return text;
}

/* The site's text, with its values in place of '\1'. */
static PyObject *
fill_site_text(const td_site *site, const uint64_t *word)
{
    PyObject *pieces = PyList_New(0), *empty = PyUnicode_FromString(""), *r = NULL;
    const char *p = site->text ? site->text : "";
    uint32_t value = 0;
    bool ok = pieces && empty;

    while (ok && *p) {
        size_t n = strcspn(p, "\1");
        PyObject *piece;

        if (n) {
            piece = PyUnicode_DecodeUTF8(p, (Py_ssize_t)n, "replace");
        } else {
            const td_type *t = site->arg[value++];

            piece = value_text(t, word);
            word += py_value_words(t);
            n = 1;
        }
        ok = piece && PyList_Append(pieces, piece) == 0;
        Py_XDECREF(piece);
        p += n;
    }
    if (ok)
        r = PyUnicode_Join(empty, pieces);
    Py_XDECREF(pieces);
    Py_XDECREF(empty);
    return r;
}

/* ---- prints ---- */

static void
print_text(PyObject *text)
{
    PyObject *builtins = text ? PyEval_GetBuiltins() : NULL,
             *print = builtins ? PyDict_GetItemString(builtins, "print") : NULL,
             *r = print ? PyObject_CallFunctionObjArgs(print, text, NULL) : NULL;

    if (!r)
        PyErr_WriteUnraisable(text);
    Py_XDECREF(r);
    Py_XDECREF(text);
}

static uint64_t
report_load(const uint64_t *p)
{
    return __atomic_load_n(p, __ATOMIC_ACQUIRE);
}

static uint32_t
record_words(const td_site *site)
{
    uint32_t n = 1;

    for (uint32_t i = 0; i < site->narg; i++)
        n += py_value_words(site->arg[i]);
    return n;
}

/* Has the last launch ended, so that the print buffer can be reused? */
static bool
is_idle(const py_box *b)
{
    bool done = true;

    return !b->last || (td_event_done(b->last, &done) == TD_OK && done);
}

/* Printing runs Python code, which may launch and wait.  So everything is read again after
 * each print. */
static void
print_all(py_box *b)
{
    const td_made *m = &b->spec->made;

    b->spec->busy++; /* keeps the mailbox meanwhile */
    for (;;) {
        uint64_t end = report_load(&b->mail->used), number;
        const td_site *site;
        const uint64_t *record;

        if (end > b->mail->capacity)
            end = b->mail->capacity;
        if (b->read >= end || !(number = report_load(&b->mail->word[b->read])) || number > m->nsite)
            break;
        site = &m->site[number - 1];
        record = &b->mail->word[b->read];
        b->read += record_words(site);
        print_text(fill_site_text(site, record + 1));
    }
    if (b->mail->used && b->read && is_idle(b) &&
        b->spec->busy <= 2) { /* of this and of one call */
        if (b->mail->used > b->mail->capacity &&
            PyErr_WarnFormat(PyExc_RuntimeWarning, 1,
                             "%U printed more than fits into %d words at once: the rest is lost",
                             b->spec->home->name, PRINT_WORDS) < 0)
            PyErr_WriteUnraisable(NULL);
        memset(b->mail->word, 0, b->read * sizeof *b->mail->word);
        b->mail->used = b->read = 0;
    }
    b->spec->busy--;
}

/* A function asks for its prints while it runs. */
static void
show_prints(uint64_t mailbox)
{
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *type, *value, *trace;

    PyErr_Fetch(&type, &value, &trace);
    /* NOLINTNEXTLINE(performance-no-int-to-ptr) */
    print_all((py_box *)(uintptr_t)((td_mailbox *)(uintptr_t)mailbox)->owner);
    PyErr_Restore(type, value, trace);
    PyGILState_Release(gil);
}

/* ---- failures ---- */

static PyObject *
index_text(const td_site *site, const uint64_t *value)
{
    td_shape s = {.ndim = (int32_t)site->narg - 2};
    char shape[128];

    if (site->narg < 2 || s.ndim > TD_MAXDIM)
        return PyUnicode_FromFormat("index out of range of '%s'", site->text);
    for (int i = 0; i < s.ndim; i++)
        s.dim[i] = (int64_t)value[i + 2];
    if (!*site->text) /* a tuple, or an array without a name */
        return PyUnicode_FromFormat("index %lld is out of bounds for axis %lld with size %lld",
                                    (long long)value[1], (long long)value[0],
                                    (long long)s.dim[value[0]]);
    return PyUnicode_FromFormat("index %lld is out of bounds for axis %lld of '%s' with shape %s",
                                (long long)value[1], (long long)value[0], site->text,
                                td_shape_text(&s, shape, sizeof shape));
}

static PyObject *
failure_text(const td_site *site, const uint64_t *value)
{
    switch ((td_report)site->kind) {
    case TD_REPORT_INDEX: return index_text(site, value);
    case TD_REPORT_ZERO:  return PyUnicode_FromString("division by zero");
    case TD_REPORT_SHAPE:
        return PyUnicode_FromFormat("%s: %lld and %lld elements do not fit", site->text,
                                    (long long)value[0], (long long)value[1]);
    case TD_REPORT_EMPTY:
        return PyUnicode_FromFormat("%s of an empty array has no value", site->text);
    case TD_REPORT_UNBOUND:
        return PyUnicode_FromFormat(
            "cannot access local variable '%s' where it is not associated with a value",
            site->text);
    case TD_REPORT_ABSENT: return PyUnicode_FromFormat("%s: it is not there", site->text);
    case TD_REPORT_DEPTH:
        return PyUnicode_FromFormat(
            "%s: %lld calls inside of each other, more than a thread's stack holds", site->text,
            (long long)value[0]);
    case TD_REPORT_MEMORY:
        return PyUnicode_FromFormat("no memory for an array of %lld bytes", (long long)value[0]);
    case TD_REPORT_VALUE: return fill_site_text(site, value);
    case TD_REPORT_NONE:  return PyUnicode_FromFormat("expected %s, got None", site->text);
    default:              return PyUnicode_FromString(site->text ? site->text : "");
    }
}

static PyObject *
failure_class(const td_site *site)
{
    switch ((td_report)site->kind) {
    case TD_REPORT_ASSERT:   return PyExc_AssertionError;
    case TD_REPORT_INDEX:    return PyExc_IndexError;
    case TD_REPORT_ZERO:     return PyExc_ZeroDivisionError;
    case TD_REPORT_OVERFLOW: return PyExc_OverflowError;
    case TD_REPORT_UNBOUND:  return PyExc_UnboundLocalError;
    case TD_REPORT_SHAPE:
    case TD_REPORT_EMPTY:
    case TD_REPORT_ABSENT:   return PyExc_ValueError;
    case TD_REPORT_DEPTH:    return PyExc_RecursionError;
    case TD_REPORT_MEMORY:
    case TD_REPORT_ROOM:     return PyExc_MemoryError;
    case TD_REPORT_LOOKUP:   return PyExc_IndexError;
    case TD_REPORT_KEY:      return PyExc_KeyError;
    case TD_REPORT_VALUE:    return PyExc_ValueError;
    case TD_REPORT_CHANGED:  return PyExc_RuntimeError;
    case TD_REPORT_NONE:     return PyExc_TypeError;
    default:                 break;
    }
    return site->object ? py_handle_object(site->object) : PyExc_RuntimeError;
}

/* The place of a failure; in a kernel with the thread. */
static PyObject *
place_text(const py_box *b, const td_site *site)
{
    const td_mailbox *m = b->mail;

    if (b->spec->home->how.mode != TD_MODE_KERNEL)
        return PyUnicode_FromFormat("in %s, %s:%u", site->function, site->file,
                                    (unsigned)site->line);
    return PyUnicode_FromFormat("kernel %U, block (%d, %d, %d), thread (%d, %d, %d), %s:%u",
                                b->spec->home->name, m->block[0], m->block[1], m->block[2],
                                m->thread[0], m->thread[1], m->thread[2], site->file,
                                (unsigned)site->line);
}

void
py_box_drop(py_box *b)
{
    b->mail->ready = 0;
    b->mail->site = 0;
}

/* A number or str that a failure carries. */
static PyObject *
told_value(const td_type *t, const uint64_t *word)
{
    return t->kind == TD_T_BOX ? py_value_get(t, word, NULL)
                               : py_scalar_object(td_scalar_load((td_dtype)t->dt, word));
}

/* An exception of several arguments, or KeyError with the key itself. */
static PyObject *
error_with(const td_site *site, const uint64_t *value)
{
    const char *p = site->kind == TD_REPORT_KEY ? "\2\1" : site->text;
    PyObject *args = PyList_New(0), *row, *e = NULL;
    uint32_t k = 0;
    bool ok = args != NULL;

    while (ok && *p) {
        size_t n = strcspn(++p, "\2");
        bool is_value = n == 1 && *p == '\1';
        PyObject *x = is_value ? told_value(site->arg[k], value)
                               : PyUnicode_DecodeUTF8(p, (Py_ssize_t)n, "replace");

        ok = x && PyList_Append(args, x) == 0;
        Py_XDECREF(x);
        value += is_value;
        k += is_value;
        p += n;
    }
    row = ok ? PyList_AsTuple(args) : NULL;
    e = row ? PyObject_CallObject(failure_class(site), row) : NULL;
    Py_XDECREF(row);
    Py_XDECREF(args);
    return e;
}

/* Takes the failure out of b as an exception; NULL: another exception was raised instead. */
static PyObject *
failure(py_box *b)
{
    uint32_t number = b->mail->site;
    const td_site *site = &b->spec->made.site[number - 1];
    bool kernel = b->spec->home->how.mode == TD_MODE_KERNEL;
    PyObject *text = failure_text(site, b->mail->value), *place = place_text(b, site),
             *whole = NULL, *e = NULL;

    py_box_drop(b);
    if (text && place && PyUnicode_GetLength(text) && kernel)
        whole = PyUnicode_FromFormat("%U [%U]", text, place);
    else if (text && place)
        whole = Py_NewRef(kernel ? place : text);
    if (!kernel &&
        (site->kind == TD_REPORT_RAISE_WITH || (site->kind == TD_REPORT_KEY && site->narg)))
        e = error_with(site, b->mail->value);
    else if (whole && PyUnicode_GetLength(whole))
        e = PyObject_CallFunctionObjArgs(failure_class(site), whole, NULL);
    else if (whole)
        e = PyObject_CallFunctionObjArgs(failure_class(site), NULL);
    if (e && !kernel) {
        PyObject *r = PyObject_CallMethod(e, "add_note", "O", place);

        Py_XDECREF(r);
        PyErr_Clear();
    }
    Py_XDECREF(text);
    Py_XDECREF(place);
    Py_XDECREF(whole);
    return e;
}

static bool
has_failed(const py_box *b)
{
    return __atomic_load_n(&b->mail->ready, __ATOMIC_ACQUIRE) && b->mail->site &&
           b->mail->site <= b->spec->made.nsite;
}

/* ---- reading mailboxes ---- */

bool
py_box_read(py_box *b)
{
    PyObject *e;

    print_all(b);
    if (!has_failed(b))
        return true;
    e = failure(b);
    if (e)
        PyErr_SetObject((PyObject *)Py_TYPE(e), e);
    Py_XDECREF(e);
    return false;
}

/* Looks into the mailboxes of d's kernels. */
static td_status
look_into_boxes(const td_dev *d)
{
    td_status st = TD_OK;

    for (py_box *b = all.first; b; b = b->next)
        if (b->spec->dev == d && b->mail->used > b->read) {
            print_all(b);
            b = all.first; /* printing may have changed the list */
        }
    for (py_box *b = all.first; b && !st; b = b->next) {
        PyObject *e;

        if (b->spec->dev != d || !has_failed(b))
            continue;
        e = failure(b);
        if (!e) {
            PyErr_WriteUnraisable(NULL);
            continue;
        }
        Py_XDECREF(all.exception);
        all.exception = e;
        st = td_fail(TD_ERR_KERNEL, "a kernel failed: its exception has been kept");
    }
    return st;
}

static td_status
after_wait(td_dev *d)
{
    PyGILState_STATE gil;
    PyObject *type, *value, *trace;
    td_status st;

    if ((!atomic_load_explicit(&all.watched, memory_order_relaxed) && !td_culib_has_printed()) ||
        !Py_IsInitialized())
        return TD_OK;
    gil = PyGILState_Ensure();
    PyErr_Fetch(&type, &value, &trace);
    if (!py_program_flush())
        PyErr_WriteUnraisable(NULL);
    st = look_into_boxes(d);
    PyErr_Restore(type, value, trace);
    PyGILState_Release(gil);
    return st;
}

PyObject *
py_report_raise(void)
{
    PyObject *e = all.exception;

    all.exception = NULL;
    if (e)
        PyErr_SetObject((PyObject *)Py_TYPE(e), e);
    else
        PyErr_SetString(PyExc_RuntimeError, "a kernel failed; another thread has its exception");
    Py_XDECREF(e);
    return NULL;
}

/* ---- boxes ---- */

static bool
prints(const td_made *m)
{
    for (uint32_t i = 0; i < m->nsite; i++)
        if (m->site[i].kind == TD_REPORT_PRINT)
            return true;
    return false;
}

/* Mailboxes whose kernels are freed.  The device may still have to run the kernels, which then
 * write there. */
static py_box *dead;

static void
end_box(py_box *b)
{
    td_event_free(b->last);
    td_buf_unref(b->buf);
    (void)td_hostmem_put(b->dev, &b->mem);
    free(b);
}

static void
bury(void)
{
    for (py_box **p = &dead, *b; (b = *p);)
        if (is_idle(b)) {
            *p = b->next;
            end_box(b);
        } else {
            p = &b->next;
        }
}

/* Frees the memory when the mailbox itself ends. */
static void
keep_memory(void *box)
{
    (void)box;
}

bool
py_box_new(py_spec *s)
{
    uint64_t words = prints(&s->made) ? PRINT_WORDS : 0;
    size_t nbytes = sizeof(td_mailbox) + words * sizeof(uint64_t);
    py_box *b = calloc(1, sizeof *b);

    if (!b)
        return PyErr_NoMemory(), false;
    bury();
    b->spec = s;
    b->dev = s->dev;
    b->mem = (td_hostmem){.kind = TD_HOST_MAPPED, .nbytes = nbytes};
    if (!py_ok(td_hostmem_get(s->dev, &b->mem))) {
        free(b);
        return false;
    }
    if (!py_ok(td_buf_wrap(s->dev, (void *)b->mem.dev, nbytes, keep_memory, b, &b->buf))) {
        (void)td_hostmem_put(s->dev, &b->mem);
        free(b);
        return false;
    }
    b->mail = b->mem.host;
    memset(b->mail, 0, nbytes);
    b->mail->capacity = words;
    b->mail->owner = (uint64_t)(uintptr_t)b;
    s->box = b;
    return true;
}

/* Does not wait, since it runs in finalisers.  An event of the default stream comes after the
 * work of all streams. */
void
py_box_free(py_box *b)
{
    bool launched = b && b->place;

    if (!b)
        return;
    if (launched) {
        *b->place = b->next;
        if (b->next)
            b->next->place = b->place;
        atomic_fetch_sub(&all.watched, 1);
    }
    if (!launched || !td_dev_info(b->dev)->queued) {
        end_box(b);
        return;
    }
    if (!b->last && td_event_new(b->dev, false, &b->last))
        return; /* without an event nobody knows when it is free: leak it */
    if (td_event_record(b->last, td_dev_stream(b->dev)))
        return;
    b->next = dead;
    dead = b;
}

/* Launches of a kernel that prints do not overlap; an event tells when the last one has ended. */
static void
report_mark(py_box *b, td_stream *s)
{
    if (!b->mail->capacity || !td_dev_info(b->spec->dev)->queued)
        return;
    if (!b->last && td_event_new(b->spec->dev, false, &b->last))
        return;
    if (b->stream && b->stream != s)
        (void)td_stream_wait(s, b->last);
    (void)td_event_record(b->last, s);
    b->stream = s;
}

void
py_box_watch(py_box *b, td_stream *s)
{
    report_mark(b, s);
    if (b->place)
        return;
    b->next = all.first;
    if (b->next)
        b->next->place = &b->next;
    b->place = &all.first;
    all.first = b;
    atomic_fetch_add(&all.watched, 1);
}

void
py_report_init(void)
{
    td_dev_on_wait(after_wait);
    td_box_on_print(show_prints);
}
