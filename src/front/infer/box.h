/* box.h - lists, dicts, sets and strings of functions on the CPU: values that are addresses of base/box.h's boxes.
 *
 * What stands in a list is found as a variable's type is, from all that is put into it: each place of the program that
 * makes a box is a *site*, whose elements' types outlive the walk.  A box's type names its site; where two sites' boxes
 * meet, in a variable or in another box, they become one site.  Types that a caller of the function sees (arguments,
 * results, treadle.types) say what their elements are instead: TD_T_BOX with items.
 *
 * A list that is written out stays a tuple until something wants a list: a name that is changed, an element, a result.
 */
#ifndef TD_FRONT_BOX_H
#define TD_FRONT_BOX_H
#include "base/box.h"
#include "front/infer/intrin.h"

enum { BOX_ELEM, BOX_VALUE }; /* a dict's keys are its elements */

typedef struct boxsite boxsite;
struct boxsite {
    td_boxkind which;
    uint32_t   id;
    boxsite   *up; /* the site that it has become one with; NULL: none */
    const td_type *elem[2]; /* NULL: nothing has been put in yet */
    bool       typed; /* treadle.typed's */
    bool       fixed; /* its elements' types are given */
};

static inline bool
is_box(const thing *x)
{
    return x->type->kind == TD_T_BOX;
}

static inline bool
box_is(const thing *x, td_boxkind which)
{
    return is_box(x) && x->type->ndim == which;
}

/* Are there boxes in this function? */
static inline bool
box_may(const walk *w)
{
    return w->how->mode == TD_MODE_FUNCTION && !w->how->gpu && !w->exact;
}

/* f"…" that nothing has made a str of. */
static inline bool
is_pieces(const thing *x)
{
    return x->type->kind == TD_T_ITER && x->type->object == ITER_TEXT;
}

/* ---- box.c ---- */
/* Fails where there are no boxes: kernels, GPUs, ufuncs. */
td_status box_here(walk *w, uint32_t node, const char *what);
const td_type *box_unify(walk *w, const td_type *a, const td_type *b); /* NULL: they do not meet */
const td_type *box_inside(walk *w, const td_type *t);  /* a caller's type, as the function sees it */
bool      box_pins(const td_type *t);  /* can such an argument, which lives longer than the call, hold what the call makes? */
td_status box_outside(walk *w, const td_type *t, const td_type **out); /* and back; fails where an element's type is not known */
boxsite  *box_site(walk *w, const thing *x);
thing     box_thing(walk *w, const td_type *t, td_val at);
/* An empty box of the site of that node; salt tells several of one node apart. */
td_status box_new(walk *w, td_boxkind which, uint32_t node, uint32_t salt, td_val room, thing *out);
td_status box_typed(walk *w, const td_type *t, thing *out); /* an empty one of a caller's type */
const td_type *box_list_of(walk *w, const thing *elem, uint32_t node); /* the type of lists of such that the node makes; NULL: failed */
/* A list that is written out, or a constant string, becomes a box; all else stays. */
td_status boxed(walk *w, thing *x);
bool      is_text(walk *w, const thing *x); /* a str, or a constant string */
td_val    box_head(walk *w, const thing *b, size_t field); /* int64: a field of td_box */
void      box_set_n(walk *w, const thing *b, td_val n);
uint32_t  box_words(const td_type *t);
td_status box_ask(walk *w, int which, const td_val *in, uint32_t n, td_val *words); /* words: a pointer to what it gives */
td_val    box_word(walk *w, td_val words, uint32_t i, td_dtype dt);
td_val    box_element(walk *w, const thing *b, td_val i); /* pointer to the words of element i: uint64 */
td_status box_put(walk *w, const thing *b, int which, td_val ptr, uint32_t at, const thing *x);
td_status box_get(walk *w, const thing *b, int which, td_val ptr, uint32_t at, thing *out);
const td_type *box_elem(walk *w, const thing *b, int which); /* NULL: not known in this walk */
td_status box_wait(walk *w, const thing *b); /* its elements' type is not known: the next walk, or an error */
td_status box_fit(walk *w, const thing *b, int which, const thing *x, thing *own); /* x as an element */
/* x gets a name of w->fr: a list that changes under it becomes one of the runtime, and so does a computed string. */
td_status box_named(walk *w, uint32_t name, thing *x);
void      box_grow_names(walk *w); /* of w->fr: which names' lists change */
td_status box_truth(walk *w, const thing *x, thing *out);
td_status box_length(walk *w, const thing *x, thing *out);
/* Element k, for a loop's iteration; if there is none the loop ends. */
td_status box_item(walk *w, const thing *x, td_val k, uint32_t node, thing *out);
td_status box_index(walk *w, const thing *x, const thing *key, thing *out);
td_status box_assign(walk *w, const thing *x, const thing *key, const thing *value);
td_status box_delete(walk *w, const thing *x, const thing *key);
td_status box_binary(walk *w, td_syn op, const thing *a, const thing *b, bool in_place, thing *out);
td_status box_compare(walk *w, td_syn op, const thing *a, const thing *b, thing *out);
td_status box_has(walk *w, const thing *b, const thing *x, thing *out); /* x in b */
td_status box_method(walk *w, const thing *self, const char *name, const call *c, thing *out);
td_status box_from(walk *w, td_boxkind which, const thing *it, uint32_t node, thing *out); /* list(it), set(it) */
td_status box_array(walk *w, const thing *list, thing *out); /* a list of real numbers as an array of its memory, valid until the list changes; one of complex numbers, or of lists and tuples of one length, as a new array */
td_status value_equal(walk *w, const thing *a, const thing *b, td_val *same); /* bool */
td_status box_fail_unless(walk *w, td_val ok, td_report kind, const char *text, const thing *value, uint32_t n);
void      box_note(walk *w); /* the loops around use boxes: they run in order */

td_status box_array_type(walk *w, const thing *x, const thing *key, uint32_t node, thing *out); /* boxfn.c: float64[:] of a type */

/* x as type t, of a caller's sites, to the words from ptr's word `at` on, and back; what: for errors. */
td_status box_put_as(walk *w, const td_type *t, td_val ptr, uint32_t at, const thing *x, const char *what);
td_status box_put_words(walk *w, td_val ptr, uint32_t *at, const thing *x); /* the words of an element, from word *at on */
td_status box_get_as(walk *w, const td_type *t, td_val ptr, uint32_t at, thing *out);

/* ---- instances of classes: object.c; TD_SKIP: the class has no such method ---- */
td_status object_new(walk *w, const td_type *class, const call *c, thing *out);
td_status object_attribute(walk *w, const thing *self, const char *name, uint32_t node, thing *out);
td_status object_assign(walk *w, const thing *self, const char *name, uint32_t node, const thing *x);
td_status object_method(walk *w, const thing *self, const char *name, const call *c, thing *out);
td_status object_special(walk *w, const thing *self, const char *name, const thing *x, uint32_t n, thing *out);
td_status object_truth(walk *w, const thing *x, thing *out);
td_status object_length(walk *w, const thing *x, thing *out);
td_status object_index(walk *w, const thing *x, const thing *key, thing *out);
td_status object_set_item(walk *w, const thing *x, const thing *key, const thing *value);
td_status object_has(walk *w, const thing *b, const thing *x, thing *out);
td_status object_binary(walk *w, td_syn op, const thing *a, const thing *b, bool in_place, thing *out);
td_status object_compare(walk *w, td_syn op, const thing *a, const thing *b, thing *out);
td_status object_number(walk *w, const thing *x, const td_type *t, thing *out); /* int(x), float(x), bool(x) … */
td_status object_builtin(walk *w, const char *names, const call *c, thing *out); /* names: the row's */
td_status object_unary(walk *w, td_syn op, const thing *x, thing *out); /* -x, +x, ~x */
td_status object_is(walk *w, const thing *a, const thing *b, bool negated, thing *out);

/* ---- prints of what only Python writes: boxprint.c ---- */
bool      print_is_plain(walk *w, const thing *x); /* numbers, constant strings, None, tuples of them */
/* x as a value of a print; fails where nothing can show it */
td_status print_value(walk *w, const thing *x, uint32_t node, thing *out);
td_status print_type(walk *w, const td_type *t, const td_type **out); /* the type of such a value as the host reads it */
void      print_now(walk *w, td_val mailbox); /* has the host show what was printed so far */

/* ---- lists: list.c ---- */
td_status list_item(walk *w, const thing *x, td_val k, thing *out); /* of an iterator of ITER_MEMBERS */
td_status list_index(walk *w, const thing *x, const thing *key, thing *out);
td_status list_assign(walk *w, const thing *x, const thing *key, const thing *value);
td_status list_delete(walk *w, const thing *x, const thing *key);
td_status list_append(walk *w, const thing *list, const thing *x);
td_status list_extend(walk *w, const thing *list, const thing *from, uint32_t node);
td_status list_binary(walk *w, td_syn op, const thing *a, const thing *b, bool in_place, thing *out);
td_status list_compare(walk *w, td_syn op, const thing *a, const thing *b, thing *out);
td_status list_has(walk *w, const thing *b, const thing *x, thing *out);
td_status list_method(walk *w, const thing *self, const char *name, const call *c, thing *out);
td_status box_slice(walk *w, int which, const thing *x, const thing *key, const td_val *more, uint32_t nmore, td_val *words);
td_status box_place(walk *w, const thing *x, const thing *key, const char *text, td_val *out); /* an index that is in range */

/* ---- dicts and sets: map.c ---- */
td_status map_index(walk *w, const thing *x, const thing *key, thing *out);
td_status map_assign(walk *w, const thing *x, const thing *key, const thing *value);
td_status map_delete(walk *w, const thing *x, const thing *key);
td_status map_has(walk *w, const thing *b, const thing *x, thing *out);
td_status map_binary(walk *w, td_syn op, const thing *a, const thing *b, bool in_place, thing *out);
td_status map_compare(walk *w, td_syn op, const thing *a, const thing *b, thing *out);
td_status map_method(walk *w, const thing *self, const char *name, const call *c, thing *out);
td_status map_item(walk *w, const thing *x, int part, td_val k, thing *out); /* part: 0 keys, 1 values, 2 items */
td_status map_add(walk *w, const thing *set, const thing *x);
td_status expr_dict(walk *w, uint32_t node, thing *out);
td_status expr_set(walk *w, uint32_t node, thing *out);

/* ---- strings: text.c ---- */
td_status text_index(walk *w, const thing *x, const thing *key, thing *out);
td_status text_item(walk *w, const thing *x, td_val k, thing *out);
td_status text_binary(walk *w, td_syn op, const thing *a, const thing *b, thing *out);
td_status text_compare(walk *w, td_syn op, const thing *a, const thing *b, thing *out);
td_status text_has(walk *w, const thing *b, const thing *x, thing *out);
td_status text_method(walk *w, const thing *self, const char *name, const call *c, thing *out);
td_status text_of(walk *w, const thing *x, thing *out); /* str(x) */
td_status text_number(walk *w, const thing *x, bool want_int, thing *out); /* int(x), float(x) */
td_status text_code(walk *w, const thing *x, thing *out); /* ord(x) */
td_status text_char(walk *w, const thing *x, thing *out); /* chr(x) */
td_status text_constant(walk *w, const char *utf8, thing *out);

/* What lists, dicts, sets and strings share. */
static inline td_val
box_whole(walk *w, int64_t v)
{
    return td_const_int(w->f, TD_I64, v);
}

static inline td_val
box_count(walk *w, const thing *x)
{
    return box_head(w, x, offsetof(td_box, n));
}

static inline td_status
box_none(thing *out)
{
    *out = (thing){.type = td_type_none()};
    return TD_OK;
}

#endif
