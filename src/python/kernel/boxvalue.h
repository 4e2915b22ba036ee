/* boxvalue.h - lists, dicts, sets and strings between Python and compiled functions: boxvalue.c. */
#ifndef TD_PYTHON_BOXVALUE_H
#define TD_PYTHON_BOXVALUE_H
#include "base/box.h"
#include "python/kernel/kernel.h"

/* py_boxarg - a list or set of Python's that is an argument. */
typedef struct py_boxarg {
    PyObject *o; /* owned */
    td_box   *b;
    const td_type *type;
    td_hash   before; /* hash of its words as they came */
    int64_t   had;
} py_boxarg;

/* py_boxes - those of one call.  py_boxes_free. */
typedef struct py_boxes {
    td_callmem mem;
    PyObject  *held; /* dict: address -> what keeps the array there */
    uint32_t   n;
    py_boxarg  arg[PY_LEAVES];
} py_boxes;

const td_type *py_value_type(PyObject *o); /* of what a list holds; NULL: exception */
/* o as t, to words; boxes are made in h, and what keeps memory goes to the dict held (address -> owner), or to boxes that
 * live on.  False: exception. */
bool      py_value_put(const td_type *t, PyObject *o, uint64_t *w, td_callmem *h, PyObject *held);
PyObject *py_value_get(const td_type *t, const uint64_t *w, PyObject *held); /* held: keeps arrays' memory; NULL: they are copied */
bool      py_value_has_parts(const td_type *t); /* does it hold boxes or memory of others? */
uint32_t  py_value_words(const td_type *t);
td_box   *py_value_box(const td_type *t, td_callmem *h); /* an empty one; NULL: no memory */
PyObject *py_value_list(const td_type *t, td_box *b); /* a list with b's elements */
PyObject *py_value_map(const td_type *t, td_box *b);  /* a dict or set */
td_box   *py_boxes_add(py_boxes **all_of, PyObject *o, const td_type *t); /* NULL: exception */
bool      py_boxes_reflect(py_boxes *list); /* the arguments become what the function left; ok on NULL */
void      py_boxes_free(py_boxes *list);    /* ok on NULL */

/* ---- boxkeep.c: who keeps the memory of arrays in boxes ---- */
/* Of td_box.shared; the last bit: it may be reached from another box. */
enum { SEEN = 1 << 28, REACHED = 1 << 29, KEPT = 1 << 30, PINS = (1 << 28) - 1 };
typedef void py_word_fn(const td_type *t, td_box *b, const uint64_t *w, void *ctx);
void      py_box_each_part(const td_type *t, td_box *b, py_word_fn *fn, void *ctx); /* fn where a box or an array begins in b */
PyObject *py_held_at(PyObject *held, uint64_t address); /* the owner, of a box's dict: a new reference; NULL: none; ok on NULL */
bool      py_hold(PyObject *held, uint64_t address, PyObject *owner);
PyObject *py_box_held(td_box *b); /* b's dict, borrowed; NULL: exception */
PyObject *py_box_owner(const td_type *t, td_box *b, uint64_t address); /* of the array there, in what b reaches: a new reference; NULL: none */
void      py_box_keep(const td_type *t, td_box *b, py_call *c, td_callmem *heap); /* what b reaches of the call's lives on */
void      py_box_let_go(const td_type *t, td_box *b); /* now and then: owners of arrays that are no longer in b */
void      py_box_unhold(void *held);

/* ---- boxobject.c ---- */
void      py_box_to_kept(td_box *b); /* it lives on behind its call */
bool      py_is_boxobject(PyObject *o); /* treadle.typed's */
const td_type *py_boxobject_type(PyObject *o);
td_box   *py_boxobject_box(PyObject *o);
PyObject *py_boxobject_new(const td_type *t, td_box *b); /* holds b */
PyObject *py_boxobject_owner(PyObject *self, uint64_t address); /* of the array there, in what self reaches: a new reference; NULL: none */
bool      py_boxes_live(const td_callmem *h); /* do boxes made in h live on? */
void      py_boxobject_keep(PyObject *self, py_call *c, td_callmem *heap); /* what it reaches of the call's lives on */
void      py_boxes_run(int by); /* a call with such arguments begins (1) or ends (-1) */
bool      py_boxes_init(PyObject *module);
PyObject *py_boxobject_begin(PyObject *self, const td_type *t); /* it gets its box; None, or NULL: exception */
bool      py_boxobject_put(PyObject *o, const td_type *t, uint64_t *to, PyObject *value); /* value, as t, to words of o's box */

bool      py_instance_init(PyObject *module); /* instance.c; after py_boxes_init */

#endif
