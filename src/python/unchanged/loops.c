/* loops.c - runs the program's loops in timed pieces, until compiled code takes over
 * (treadle/unchanged/_loops.py).
 *
 * Most loops are short.  A loop that is known to end soon runs as a whole, at the cost of a call.
 */
#include "base/clock.h"
#include "base/ufunc.h"
#include "front/infer/front.h"
#include "python/unchanged/unchanged.h"

#include <stddef.h>
#include <stdint.h>
#include <structmember.h>

enum {
    LOOK = 16,   /* iterations of the first piece of a loop that contains no other */
    ROUNDS = 64, /* iterations of the first piece of a while loop */
    AGAIN = 64,  /* a loop that ends soon is timed once in so many runs */
    FEW = 8,     /* a range of at most this many is not timed */
    SHORT = 3,   /* after ending in its first piece this often, a while loop is expected to */
};

typedef struct site {                        /* LoopSite: a loop of the program's text */
    PyObject_HEAD PyObject *loop, *programs; /* of Python's: _rewrite.Loop, {types: Program} */
    PyObject *dead;                          /* why it stays with Python; None: it does not */
    char inner;                              /* other loops are inside it */
    /* seconds per iteration, last measured; seconds in all */
    double each, spent;
    uint32_t entries, ended; /* ended: times that a while loop ended in its first piece */
} site;

typedef struct loop_run { /* loop_run - a loop being run. */
    PyObject_HEAD site *at;
    PyObject *items; /* NULL: of a while loop */
    Py_ssize_t n, done, given, size;
    int64_t begun; /* when the piece began, ns */
    /* estimated seconds for the rest in Python, when compiled code is considered */
    double expected;
    bool tried, over;
    char
        early; /* it was handed over before its first iteration, since compiled code for the loop is there */
} loop_run;

static struct {
    PyObject *sites, *run, *plain; /* {key: LoopSite}; run(loop); (False, None) */
    PyTypeObject *site, *loop_run;
    double compiling, entering; /* estimated seconds to compile a loop, and to hand it over */
} lo;

/* ---- pieces ---- */

static PyObject *
make_pair(PyObject *how, PyObject *piece)
{
    PyObject *p = piece ? PyTuple_Pack(2, how, piece) : NULL;

    Py_XDECREF(piece);
    return p;
}

/* ((how, items),) */
static PyObject *
whole_pair(PyObject *how, PyObject *items)
{
    PyObject *p = PyTuple_Pack(2, how, items), *all = p ? PyTuple_Pack(1, p) : NULL;

    Py_XDECREF(p);
    return all;
}

static PyObject *
range_of(Py_ssize_t n)
{
    return PyObject_CallFunction((PyObject *)&PyRange_Type, "n", n);
}

static PyObject *
part(PyObject *items, Py_ssize_t from, Py_ssize_t to)
{
    PyObject *a = PyLong_FromSsize_t(from), *b = PyLong_FromSsize_t(to),
             *cut = a && b ? PySlice_New(a, b, NULL) : NULL,
             *r = cut ? PyObject_GetItem(items, cut) : NULL;

    Py_XDECREF(a);
    Py_XDECREF(b);
    Py_XDECREF(cut);
    return r;
}

/* A piece has ended: measures the time per iteration.  The next piece is twice as long, up to
 * 2 ms. */
static void
measure_piece(loop_run *t)
{
    double took = 1e-9 * (double)(td_now_ns() - t->begun), each;

    if (!t->given)
        return;
    each = took / (double)t->given;
    t->at->spent += took;
    t->at->each = each;
    t->done += t->given;
    t->given = 0;
    t->size *= 2;
    if (each * (double)t->size > 2e-3)
        t->size = (Py_ssize_t)(2e-3 / each) + 1;
}

/* Is compiling worth it if Python takes that many seconds for the rest? */
static bool
pays(const site *s, double rest)
{
    if (rest <= 4 * lo.entering)
        return false;
    return PyDict_Size(s->programs) > 0 || rest + s->spent > 2 * lo.compiling;
}

static PyObject *
next_of_items(loop_run *t)
{
    site *s = t->at;
    Py_ssize_t left = t->n - t->done, size;
    bool is_python = s->dead != Py_None || t->tried, looks = s->inner && (!t->done || is_python);

    if (left <= 0)
        return NULL;
    if (!t->done && !t->early && !is_python && PyDict_Size(s->programs) > 0 &&
        s->each * (double)left > 4 * lo.entering) {
        t->early = 1;
        t->expected = s->each * (double)left;
        return PyTuple_Pack(2, Py_None, Py_None);
    }
    t->early = 0;
    if (t->done && !is_python && pays(s, s->each * (double)left)) {
        t->tried = true;
        t->expected = s->each * (double)left;
        return PyTuple_Pack(2, Py_None, Py_None);
    }
    size = is_python || t->size > left ? left : t->size;
    t->given = size;
    t->begun = td_now_ns();
    return make_pair(looks ? Py_True : Py_False, part(t->items, t->done, t->done + size));
}

static PyObject *
next_of_rounds(loop_run *t)
{
    site *s = t->at;

    if (t->over)
        return NULL;
    s->ended = t->done ? 0 : s->ended;
    if (t->tried || s->dead != Py_None) {
        t->over = true;
        return Py_NewRef(lo.plain);
    }
    if (t->done && pays(s, s->each * (double)t->done)) { /* as many again */
        t->tried = true;
        t->expected = s->each * (double)t->done;
        return PyTuple_Pack(2, Py_None, Py_None);
    }
    t->given = t->size;
    t->begun = td_now_ns();
    return make_pair(Py_True, range_of(t->size));
}

static PyObject *
loop_run_next(PyObject *self)
{
    loop_run *t = (loop_run *)self;

    measure_piece(t);
    return t->items ? next_of_items(t) : next_of_rounds(t);
}

static PyObject *
loop_run_run(PyObject *self, PyObject *none)
{
    (void)none;
    return PyObject_CallFunctionObjArgs(lo.run, self, NULL);
}

static PyObject *
loop_run_rest(PyObject *self, PyObject *none)
{
    loop_run *t = (loop_run *)self;

    (void)none;
    return t->items ? part(t->items, t->done, t->n) : Py_NewRef(Py_None);
}

static PyObject *
loop_run_end(PyObject *self, PyObject *none)
{
    loop_run *t = (loop_run *)self;

    (void)none;
    t->done = t->n;
    t->over = true;
    return Py_NewRef(Py_None);
}

static void
loop_run_dealloc(PyObject *self)
{
    loop_run *t = (loop_run *)self;
    PyTypeObject *type = Py_TYPE(self);

    Py_XDECREF((PyObject *)t->at);
    Py_XDECREF(t->items);
    PyObject_Free(self);
    Py_DECREF(type);
}

static PyMethodDef loop_run_methods[] = {
    {"run", loop_run_run, METH_NOARGS,
     "run(): the rest runs compiled; how it was left, and what the loop's variables have become. "
     "None: it goes on in Python."},
    {"rest", loop_run_rest, METH_NOARGS, "rest(): the items that are left; None: a while loop's."},
    {"end", loop_run_end, METH_NOARGS, "end(): nothing is left."},
    {NULL, NULL, 0, NULL},
};

static PyMemberDef loop_run_members[] = {
    {"site", T_OBJECT, offsetof(loop_run, at), READONLY, "the LoopSite"},
    {"early", T_BOOL, offsetof(loop_run, early), READONLY, "no iteration has run yet"},
    {"expected", T_DOUBLE, offsetof(loop_run, expected), READONLY,
     "s that Python would take for the rest"},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot loop_run_slots[] = {
    PY_SLOT(Py_tp_dealloc, loop_run_dealloc), PY_SLOT(Py_tp_iter, PyObject_SelfIter),
    PY_SLOT(Py_tp_iternext, loop_run_next),   {Py_tp_methods, loop_run_methods},
    {Py_tp_members, loop_run_members},        {0, NULL},
};

static PyType_Spec loop_run_spec = {"treadle._core.LoopTurns", sizeof(loop_run), 0,
                                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                    loop_run_slots};

/* ---- sites ---- */

static PyObject *
site_new(PyTypeObject *type, PyObject *args, PyObject *kw)
{
    PyObject *loop;
    int inner;
    site *s;

    if (kw || !PyArg_ParseTuple(args, "Op:LoopSite", &loop, &inner))
        return NULL;
    s = PyObject_New(site, type);
    if (!s)
        return NULL;
    s->loop = Py_NewRef(loop);
    s->dead = Py_NewRef(Py_None);
    s->inner = (char)inner;
    s->each = s->spent = 0;
    s->entries = s->ended = 0;
    s->programs = PyDict_New();
    if (!s->programs)
        Py_CLEAR(s);
    return (PyObject *)s;
}

static void
site_dealloc(PyObject *self)
{
    site *s = (site *)self;
    PyTypeObject *type = Py_TYPE(self);

    Py_XDECREF(s->loop);
    Py_XDECREF(s->programs);
    Py_XDECREF(s->dead);
    PyObject_Free(self);
    Py_DECREF(type);
}

static PyMemberDef site_members[] = {
    {"loop", T_OBJECT, offsetof(site, loop), READONLY, "what was made of the text"},
    {"programs", T_OBJECT, offsetof(site, programs), READONLY, "{types: compiled program}"},
    {"dead", T_OBJECT, offsetof(site, dead), 0, "why the loop is left to Python; None: it is not"},
    {"spent", T_DOUBLE, offsetof(site, spent), READONLY,
     "s that Python took for it, as far as seen"},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot site_slots[] = {
    PY_SLOT(Py_tp_new, site_new),
    PY_SLOT(Py_tp_dealloc, site_dealloc),
    {Py_tp_members, site_members},
    {0, NULL},
};

static PyType_Spec site_spec = {"treadle._core.LoopSite", sizeof(site), 0, Py_TPFLAGS_DEFAULT,
                                site_slots};

/* ---- a loop begins ---- */

static PyObject *
loop_begin(site *s, PyObject *items, Py_ssize_t n)
{
    loop_run *t = PyObject_New(loop_run, lo.loop_run);

    if (!t)
        return NULL;
    t->at = (site *)Py_NewRef((PyObject *)s);
    t->items = Py_XNewRef(items);
    t->n = n;
    t->done = t->given = 0;
    t->begun = 0;
    t->expected = 0;
    t->tried = t->over = false;
    t->early = 0;
    t->size = !items ? ROUNDS : s->inner || s->each > 0 ? 1 : LOOK;
    return (PyObject *)t;
}

/* Has the loop ended so soon before that compiling gains nothing? */
static bool
ends_soon(const site *s, Py_ssize_t n)
{
    if (s->entries % AGAIN == 0)
        return false;
    return n < 0 ? s->ended > SHORT : s->each > 0 && s->each * (double)n <= 4 * lo.entering;
}

static PyObject *
loop(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    site *s = nargs == 2 ? (site *)PyDict_GetItemWithError(lo.sites, args[0]) : NULL;
    PyObject *items = nargs == 2 ? args[1] : Py_None;
    Py_ssize_t n = -1;

    (void)module;
    if (PyErr_Occurred())
        return NULL;
    if (!s)
        return whole_pair(Py_False, items);
    if (s->dead != Py_None)
        return whole_pair(s->inner && items != Py_None ? Py_True : Py_False, items);
    s->entries++;
    if (items == Py_None) {
        if (ends_soon(s, n))
            return whole_pair(Py_False, items);
        s->ended++;
        return loop_begin(s, NULL, 0);
    }
    if (Py_TYPE(items) != &PyRange_Type && Py_TYPE(items) != px.ndarray)
        return whole_pair(s->inner ? Py_True : Py_False, items);
    n = PyObject_Size(items);
    if (n < 0) { /* an array of no axes, or a range that is longer than any array */
        PyErr_Clear();
        return whole_pair(Py_False, items);
    }
    if (ends_soon(s, n) || (n <= FEW && !s->inner))
        return whole_pair(Py_False, items);
    return loop_begin(s, items, n);
}

static void
replace_object(PyObject **place, PyObject *o)
{
    PyObject *old = *place;

    *place = Py_NewRef(o);
    Py_XDECREF(old);
}

static PyObject *
loops_setup(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *sites, *run;

    if (!PyArg_ParseTuple(args, "O!Odd:_loops_setup", &PyDict_Type, &sites, &run, &lo.compiling,
                          &lo.entering))
        return NULL;
    replace_object(&lo.sites, sites);
    replace_object(&lo.run, run);
    if (!px.ndarray) {
        PyObject *np = py_numpy();

        px.ndarray = np ? (PyTypeObject *)PyObject_GetAttrString(np, "ndarray") : NULL;
        if (!px.ndarray)
            return NULL;
    }
    return Py_NewRef(Py_None);
}

static PyMethodDef functions[] = {
    {"_loop", (PyCFunction)(void (*)(void))loop, METH_FASTCALL,
     "_loop(key, items): the pieces of a loop that begins, pairs of how and items: (False, some) "
     "run "
     "as they are written, (True, some) with the loops in them watched, (None, None): call run() "
     "of what "
     "was returned. items None: of a while loop."},
    {"_loops_setup", loops_setup, METH_VARARGS,
     "_loops_setup(sites, run, compiling, entering): the LoopSites by key; run(turns), which runs "
     "a "
     "loop compiled; s that compiling and handing over take."},
    {NULL, NULL, 0, NULL},
};

bool
px_loops_init(PyObject *m)
{
    lo.plain = PyTuple_Pack(2, Py_False, Py_None);
    lo.site = (PyTypeObject *)PyType_FromSpec(&site_spec);
    lo.loop_run = (PyTypeObject *)PyType_FromSpec(&loop_run_spec);
    return lo.plain && lo.site && lo.loop_run && PyModule_AddFunctions(m, functions) == 0 &&
           PyModule_AddObjectRef(m, "LoopSite", (PyObject *)lo.site) == 0;
}
