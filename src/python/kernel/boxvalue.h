/* boxvalue.h - lists, dicts, sets and strings between Python and compiled functions: boxvalue.c. */
#ifndef TD_PYTHON_BOXVALUE_H
#define TD_PYTHON_BOXVALUE_H
#include "base/box.h"
#include "python/kernel/kernel.h"

/* py_boxarg - a Python list or set that is an argument. */
typedef struct py_boxarg {
    PyObject *o; /* owned */
    td_box   *b;
    const td_type *type;
    td_hash   before; /* hash of its words before the call */
    int64_t   had;
} py_boxarg;

/* py_boxes - all of those of one call. */
typedef struct py_boxes {
    td_callmem mem;
    PyObject  *held; /* dict: address -> owner of the array there */
    uint32_t   n;
    py_boxarg  arg[PY_LEAVES];
} py_boxes;

const td_type *py_value_type(PyObject *o); /* the type of a list's element; NULL: exception */
/* Converts o as t to words.  Boxes are made in h.  Owners of memory go into the dict held (address -> owner), or
 * into boxes that live on.  False: exception. */
bool      py_value_put(const td_type *t, PyObject *o, uint64_t *w, td_callmem *h, PyObject *held);
/* held: owners of arrays' memory; NULL: arrays are copied */
PyObject *py_value_get(const td_type *t, const uint64_t *w, PyObject *held);
bool      py_value_has_parts(const td_type *t); /* does it hold boxes or memory of others? */
uint32_t  py_value_words(const td_type *t);
td_box   *py_value_box(const td_type *t, td_callmem *h); /* an empty one; NULL: no memory */
PyObject *py_value_list(const td_type *t, td_box *b); /* a list with b's elements */
PyObject *py_value_map(const td_type *t, td_box *b);  /* a dict or set */
td_box   *py_boxes_add(py_boxes **all_of, PyObject *o, const td_type *t); /* NULL: exception */
bool      py_boxes_reflect(py_boxes *list); /* copies the boxes' contents back to the arguments; ok on NULL */
void      py_boxes_free(py_boxes *list);    /* ok on NULL */

/* ---- boxkeep.c: who keeps the memory of arrays in boxes ---- */
/* Bits of td_box.shared; the topmost: another box may reach it. */
enum { SEEN = 1 << 28, REACHED = 1 << 29, KEPT = 1 << 30, PINS = (1 << 28) - 1 };
typedef void py_word_fn(const td_type *t, td_box *b, const uint64_t *w, void *ctx);
/* calls fn where a box or an array begins in b */
void      py_box_each_part(const td_type *t, td_box *b, py_word_fn *fn, void *ctx);
/* the array's owner in a box's dict: a new reference; NULL: none; ok on NULL */
PyObject *py_held_at(PyObject *held, uint64_t address);
bool      py_hold(PyObject *held, uint64_t address, PyObject *owner);
PyObject *py_box_held(td_box *b); /* b's dict, borrowed; NULL: exception */
/* the owner of the array there, in anything b reaches: a new reference; NULL: none */
PyObject *py_box_owner(const td_type *t, td_box *b, uint64_t address);
/* makes boxes of the call that b reaches live on */
void      py_box_keep(const td_type *t, td_box *b, py_call *c, td_callmem *heap);
void      py_box_let_go(const td_type *t, td_box *b); /* from time to time drops owners of arrays that have left b */
void      py_box_unhold(void *held);

/* ---- boxobject.c ---- */
void      py_box_to_kept(td_box *b); /* moves it to the boxes that live on */
bool      py_is_boxobject(PyObject *o); /* treadle.typed's */
const td_type *py_boxobject_type(PyObject *o);
td_box   *py_boxobject_box(PyObject *o);
PyObject *py_boxobject_new(const td_type *t, td_box *b); /* holds b */
/* the owner of the array there, in anything self reaches: a new reference; NULL: none */
PyObject *py_boxobject_owner(PyObject *self, uint64_t address);
bool      py_boxes_live(const td_callmem *h); /* do boxes made in h outlive their call? */
/* makes boxes of the call that self reaches live on */
void      py_boxobject_keep(PyObject *self, py_call *c, td_callmem *heap);
void      py_boxes_run(int by); /* a call with such arguments begins (1) or ends (-1) */
bool      py_boxes_init(PyObject *module);
PyObject *py_boxobject_begin(PyObject *self, const td_type *t); /* makes the object's box; None, or NULL: exception */
/* converts value as t to words of o's box */
bool      py_boxobject_put(PyObject *o, const td_type *t, uint64_t *to, PyObject *value);

/* ---- instance.c ---- */
bool      py_instance_init(PyObject *module); /* instance.c; call after py_boxes_init */
/* 1: o is a numpy.random.Generator, *instance a new reference to what stands for it; 0: another object; -1: exception */
int       py_generator_instance(PyObject *o, PyObject **instance);
/* the generator that an instance stands for, any other object itself; takes the reference to o, which may be NULL */
PyObject *py_generator_shown(PyObject *o);

#endif
