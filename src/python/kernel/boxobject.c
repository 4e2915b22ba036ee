/* boxobject.c - Python objects that hold boxes: treadle.typed's lists and dicts.
 *
 * Such an object pins its box.  Boxes that pinned ones can reach live on.  The others are freed
 * once there are twice as many boxes as survived the last sweep.  All of this is under the GIL.
 */
#include "python/kernel/boxvalue.h"

#include <string.h>

/* py_boxobject - a Python object that holds a box. */
typedef struct py_boxobject {
    PyObject_HEAD const td_type *type;
    td_box *b;
    struct py_boxobject *next, **place; /* links in the list of all such objects */
} py_boxobject;

static struct {
    PyTypeObject *type;
    PyObject *classes[TD_BOX_STR]; /* the classes of treadle.typed, by kind */
    py_boxobject *first;
    td_callmem kept; /* owns the boxes of all objects */
    int64_t n, live; /* boxes made in it, roughly; boxes after the last sweep */
    int running;     /* running calls that may hold boxes only in their variables */
} all;

/* ---- Python objects with boxes ---- */

bool
py_boxes_live(const td_callmem *h)
{
    return h == &all.kept;
}

bool
py_is_boxobject(PyObject *o)
{
    return all.type && PyObject_TypeCheck(o, all.type);
}

const td_type *
py_boxobject_type(PyObject *o)
{
    return ((py_boxobject *)o)->type;
}

td_box *
py_boxobject_box(PyObject *o)
{
    return ((py_boxobject *)o)->b;
}

void
py_box_to_kept(td_box *b)
{
    td_box_own(b);
    b->next = all.kept.boxes;
    b->place = &all.kept.boxes;
    if (b->next)
        b->next->place = &b->next;
    all.kept.boxes = b;
    all.n++;
    b->shared |= KEPT;
}

PyObject *
py_boxobject_owner(PyObject *self, uint64_t address)
{
    const py_boxobject *o = (const py_boxobject *)self;

    return py_box_owner(o->type, o->b, address);
}

static void
reach_box(const td_type *t, td_box *b, const uint64_t *w, void *ctx)
{
    td_box *in = t->kind == TD_T_BOX ? td_box_of(w[0]) : NULL;

    (void)b;
    if (!in || in->shared & REACHED)
        return;
    in->shared |= REACHED;
    py_box_each_part(t, in, reach_box, ctx);
}

/* Frees unreachable boxes, if enough were made since the last sweep. */
static void
sweep(void)
{
    if (all.running || all.n <= 2 * all.live + 1000)
        return;
    all.n = 0;
    for (py_boxobject *o = all.first; o; o = o->next) {
        uint64_t w = (uint64_t)(uintptr_t)o->b;

        reach_box(o->type, NULL, &w, NULL);
    }
    for (td_box *b = all.kept.boxes, *next; b; b = next) {
        next = b->next;
        if (b->shared & REACHED) {
            b->shared &= ~(uint32_t)REACHED;
            all.n++;
        } else {
            td_box_drop(b);
        }
    }
    all.live = all.n;
}

static void
hold_box(py_boxobject *o, const td_type *t, td_box *b)
{
    o->type = t;
    o->b = b;
    if (!(b->shared & KEPT))
        py_box_to_kept(b);
    b->shared++;
    o->next = all.first;
    o->place = &all.first;
    if (o->next)
        o->next->place = &o->next;
    all.first = o;
}

PyObject *
py_boxobject_new(const td_type *t, td_box *b)
{
    bool object = t->ndim == TD_BOX_OBJECT;
    PyTypeObject *class =
        (PyTypeObject *)(object ? py_handle_object(t->object) : all.classes[t->ndim]);
    py_boxobject *o;

    if (!class) {
        /* importing it registers its classes */
        PyObject *m = PyImport_ImportModule("treadle.typed");

        Py_XDECREF(m);
        class = (PyTypeObject *)all.classes[t->ndim];
    }
    if (!class)
        return PyErr_Occurred() ? NULL : (PyErr_SetString(PyExc_TypeError, t->name), NULL);
    o = (py_boxobject *)PyType_GenericAlloc(class, 0);
    if (o)
        hold_box(o, t, b);
    return (PyObject *)o;
}

void
py_boxobject_keep(PyObject *self, py_call *c, td_callmem *heap)
{
    const py_boxobject *o = (const py_boxobject *)self;
    PyObject *type, *value, *trace;

    PyErr_Fetch(&type, &value, &trace); /* a function that raised has changed boxes too */
    py_box_keep(o->type, o->b, c, heap);
    PyErr_Restore(type, value, trace);
}

static void
boxobject_free(PyObject *self)
{
    py_boxobject *o = (py_boxobject *)self;

    if (o->b) {
        *o->place = o->next;
        if (o->next)
            o->next->place = o->place;
        o->b->shared--;
        if (!(o->b->shared & (PINS | 1u << 31))) { /* nobody else can reach it */
            td_box_drop(o->b);
            all.n--;
        } else {
            sweep();
        }
    }
    py_free(self);
}

/* ---- methods, of which treadle.typed makes Python's ---- */

PyObject *
py_boxobject_begin(PyObject *self, const td_type *t)
{
    py_boxobject *o = (py_boxobject *)self;
    td_box *b;

    if (o->b)
        return PyErr_SetString(PyExc_ValueError, "its type is known already"), NULL;
    b = py_value_box(t, &all.kept);
    if (!b)
        return PyErr_NoMemory();
    all.n++;
    b->shared = KEPT;
    hold_box(o, t, b);
    return Py_NewRef(Py_None);
}

bool
py_boxobject_put(PyObject *self, const td_type *t, uint64_t *to, PyObject *value)
{
    py_boxobject *o = (py_boxobject *)self;
    PyObject *held = py_box_held(o->b);
    uint64_t w[64];

    if (py_value_words(t) > 64)
        return PyErr_SetString(PyExc_TypeError, "an element of more than 64 words"), false;
    if (!held || !py_value_put(t, value, w, &all.kept, held))
        return false;
    memcpy(to, w, 8 * (size_t)py_value_words(t));
    all.n += py_value_has_parts(t);
    py_box_let_go(o->type, o->b);
    sweep();
    return true;
}

/* _make(kind, types): a box; the types are treadle.types'. */
static PyObject *
box_make(PyObject *self, PyObject *args)
{
    PyObject *items;
    const td_type *item[2];
    int kind;

    if (!PyArg_ParseTuple(args, "iO!:_make", &kind, &PyTuple_Type, &items))
        return NULL;
    for (Py_ssize_t i = 0; i < PyTuple_Size(items) && i < 2; i++) {
        int r = py_type_of(PyTuple_GetItem(items, i), &item[i]);

        if (r <= 0)
            return r < 0 ? NULL
                         : PyErr_Format(PyExc_TypeError, "%R is no type of elements",
                                        PyTuple_GetItem(items, i));
    }
    return py_boxobject_begin(
        self, td_type_box((uint32_t)kind, item, (uint32_t)PyTuple_Size(items), true));
}

/* _like(kind, values): a box whose element types are those of the values. */
static PyObject *
box_like(PyObject *self, PyObject *args)
{
    PyObject *values;
    const td_type *item[2];
    int kind;

    if (!PyArg_ParseTuple(args, "iO!:_like", &kind, &PyTuple_Type, &values))
        return NULL;
    for (Py_ssize_t i = 0; i < PyTuple_Size(values) && i < 2; i++)
        if (!(item[i] = py_value_type(PyTuple_GetItem(values, i))))
            return NULL;
    return py_boxobject_begin(
        self, td_type_box((uint32_t)kind, item, (uint32_t)PyTuple_Size(values), true));
}

static bool
is_known(const py_boxobject *o)
{
    if (!o->b)
        PyErr_SetString(PyExc_TypeError, "the type of its elements is not known yet");
    return o->b != NULL;
}

static Py_ssize_t
box_len(PyObject *self)
{
    if (!((py_boxobject *)self)->b)
        return 0;
    return (Py_ssize_t)((py_boxobject *)self)->b->n;
}

static bool
element_place(py_boxobject *o, PyObject *key, int64_t *at)
{
    int64_t i = PyNumber_AsSsize_t(key, PyExc_IndexError);

    if (i == -1 && PyErr_Occurred())
        return false;
    i += i < 0 ? o->b->n : 0;
    *at = i;
    if (i >= 0 && i < o->b->n)
        return true;
    PyErr_SetString(PyExc_IndexError, "list index out of range");
    return false;
}

/* The element's number of a key; -1: it is not there; -2: exception. */
static int64_t
find_key(py_boxobject *o, PyObject *key)
{
    uint64_t w[64];

    td_callmem mem = {0};
    int64_t at = -2;

    if (py_value_words(o->type->item[0]) <= 64 &&
        py_value_put(o->type->item[0], key, w, &mem, NULL))
        at = td_box_find(o->b, w);
    td_box_free_all(&mem);
    return at;
}

static PyObject *
box_get(PyObject *self, PyObject *key)
{
    py_boxobject *o = (py_boxobject *)self;
    int64_t at;

    if (!is_known(o))
        return NULL;
    if (o->b->kind == TD_BOX_LIST)
        return element_place(o, key, &at)
                   ? py_value_get(o->type->item[0], td_box_at(o->b, at), o->b->held)
                   : NULL;
    at = find_key(o, key);
    if (at == -1)
        PyErr_SetObject(PyExc_KeyError, key);
    return at < 0 ? NULL
                  : py_value_get(o->type->item[1], td_box_at(o->b, at) + 1 + o->b->key, o->b->held);
}

static int
box_set(PyObject *self, PyObject *key, PyObject *value)
{
    py_boxobject *o = (py_boxobject *)self;
    uint64_t w[64], v[64];
    uint64_t words[2] = {(uint64_t)(uintptr_t)o->b};
    bool list = o->b && o->b->kind == TD_BOX_LIST, fresh;
    int64_t at;

    if (!is_known(o) || py_value_words(o->type->item[0]) > 64 ||
        py_value_words(o->type->item[!list]) > 64)
        return -1;
    if (list && !element_place(o, key, &at))
        return -1;
    if (!value) {
        if (list) {
            words[1] = (uint64_t)at;
            (void)td_box_ask(0, (uint64_t)(uintptr_t)words, TD_ASK_CLOSE);
            return 0;
        }
        at = find_key(o, key);
        if (at == -1)
            PyErr_SetObject(PyExc_KeyError, key);
        if (at >= 0)
            td_box_delete(o->b, at);
        return at < 0 ? -1 : 0;
    }
    if (!py_value_put(o->type->item[!list], value, v, &all.kept, py_box_held(o->b)))
        return -1;
    if (!list) {
        if (!py_value_put(o->type->item[0], key, w, &all.kept, py_box_held(o->b)))
            return -1;
        at = td_box_enter(o->b, w, &fresh);
        if (at < 0)
            return PyErr_NoMemory(), -1;
    }
    memcpy(td_box_at(o->b, at) + (list ? 0 : 1 + o->b->key), v,
           8 * (size_t)py_value_words(o->type->item[!list]));
    all.n += !list && py_value_has_parts(o->type->item[0]);
    py_box_let_go(o->type, o->b);
    sweep();
    return 0;
}

static int
box_has(PyObject *self, PyObject *key)
{
    int64_t at = ((py_boxobject *)self)->b ? find_key((py_boxobject *)self, key) : -1;

    if (at != -2)
        return at >= 0;
    PyErr_Clear(); /* an object that cannot be a key is not in it */
    return 0;
}

/* list: inserts before a position that is in range. */
static PyObject *
box_insert(PyObject *self, PyObject *args)
{
    py_boxobject *o = (py_boxobject *)self;
    uint64_t words[2], v[64];
    Py_ssize_t at;
    PyObject *x;

    if (!PyArg_ParseTuple(args, "nO:_insert", &at, &x) || !is_known(o) ||
        py_value_words(o->type->item[0]) > 64 ||
        !py_value_put(o->type->item[0], x, v, &all.kept, py_box_held(o->b)))
        return NULL;
    words[0] = (uint64_t)(uintptr_t)o->b;
    words[1] = (uint64_t)(at < 0 ? 0 : at > o->b->n ? o->b->n : at);
    if (td_box_ask(0, (uint64_t)(uintptr_t)words, TD_ASK_OPEN) != TD_ASK_OK)
        return PyErr_NoMemory();
    memcpy(td_box_at(o->b, (int64_t)words[1]), v, 8 * (size_t)o->b->width);
    return Py_NewRef(Py_None);
}

/* A list, dict or set of Python's with the same elements. */
static PyObject *
box_shown(PyObject *self, PyObject *unused)
{
    py_boxobject *o = (py_boxobject *)self;

    (void)unused;
    if (!is_known(o))
        return NULL;
    return o->b->kind == TD_BOX_LIST ? py_value_list(o->type, o->b) : py_value_map(o->type, o->b);
}

static PyObject *
box_clear(PyObject *self, PyObject *unused)
{
    uint64_t words[1] = {(uint64_t)(uintptr_t)((py_boxobject *)self)->b};

    (void)unused;
    if (!words[0])
        return Py_NewRef(Py_None);
    if (td_box_ask(0, (uint64_t)(uintptr_t)words, TD_ASK_CLEAR) != TD_ASK_OK)
        return PyErr_NoMemory();
    return Py_NewRef(Py_None);
}

static PyObject *
box_type_name(PyObject *self, PyObject *unused)
{
    (void)unused;
    if (!is_known((py_boxobject *)self))
        return NULL;
    return PyUnicode_FromString(((py_boxobject *)self)->type->name);
}

static PyObject *
box_register(PyObject *type, PyObject *args)
{
    PyObject *class;
    int kind;

    (void)type;
    if (!PyArg_ParseTuple(args, "iO:_register", &kind, &class) || kind < 0 || kind >= TD_BOX_STR)
        return NULL;
    Py_XDECREF(all.classes[kind]);
    all.classes[kind] = Py_NewRef(class);
    return Py_NewRef(Py_None);
}

static PyMethodDef methods[] = {
    {"_make", box_make, METH_VARARGS, NULL},
    {"_like", box_like, METH_VARARGS, NULL},
    {"_register", box_register, METH_VARARGS | METH_CLASS, NULL},
    {"_insert", box_insert, METH_VARARGS, NULL},
    {"_shown", box_shown, METH_NOARGS, NULL},
    {"_typename", box_type_name, METH_NOARGS, NULL},
    {"clear", box_clear, METH_NOARGS, "Takes all elements out."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_methods, methods},          PY_SLOT(Py_mp_length, box_len),
    PY_SLOT(Py_mp_subscript, box_get), PY_SLOT(Py_mp_ass_subscript, box_set),
    PY_SLOT(Py_sq_contains, box_has),  {0, NULL},
};

static PyType_Slot base_slots[] = {
    PY_SLOT(Py_tp_dealloc, boxobject_free),
    {0, NULL},
};

static PyType_Spec base_spec = {
    .name = "treadle._core.Boxed",
    .basicsize = sizeof(py_boxobject),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = base_slots,
};

static PyType_Spec spec = {
    .name = "treadle._core.Box",
    .basicsize = sizeof(py_boxobject),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = slots,
};

void
py_boxes_run(int by)
{
    all.running += by;
    if (!all.running)
        sweep();
}

bool
py_boxes_init(PyObject *module)
{
    PyObject *bases, *box;
    bool ok;

    all.type = (PyTypeObject *)PyType_FromSpec(&base_spec);
    td_box_on_drop(py_box_unhold);
    bases = all.type ? PyTuple_Pack(1, (PyObject *)all.type) : NULL;
    box = bases ? PyType_FromSpecWithBases(&spec, bases) : NULL;
    ok = box && PyModule_AddObjectRef(module, "Box", box) == 0 &&
         PyModule_AddObjectRef(module, "Boxed", (PyObject *)all.type) == 0;
    Py_XDECREF(bases);
    Py_XDECREF(box);
    return ok;
}
