/* exact.h - functions of numbers that give CPython's own results, or report that they cannot.
 *
 * treadle.exact(f, *numbers) walks f in a block of its own (w->exact is its guard).  Inside it, ints, floats,
 * bools, complex numbers and None are Python's.  Where int64 or the machine's arithmetic would differ from Python
 * (a sum that overflows, a division by zero, a function's domain, an exception, a variable without a value), a flag
 * is set, and the caller computes that item in Python.  Setting a flag does not change control flow; control leaves
 * at `raise` and at the head of each iteration of a loop, so that loops end.  What cannot be exact is refused
 * (bad).  The value of an item whose flag is set means nothing.
 *
 * treadle.exact_arrays(f, *arguments) does the same for a function that works on arrays: their elements are NumPy
 * scalars, with NumPy's types.  Writes made before a flag is set remain.
 *
 * Where paths with different kinds of numbers meet, the value is mixed: a type whose `object` has the bits of the
 * kinds, and a tag that tells the kind.  The value is then an int64, a float64 or a complex128; ints that a float64
 * cannot hold are flagged when they become one.
 */
#ifndef TD_FRONT_EXACT_H
#define TD_FRONT_EXACT_H
#include "front/infer/walk.h"

enum {
    EXACT_BOOL = 1,
    EXACT_INT = 2,
    EXACT_FLOAT = 4,
    EXACT_NONE = 8,
    EXACT_COMPLEX = 16,
    EXACT_NUMPY = 5, /* the kind of a NumPy scalar is that of Python's number, shifted by this many bits */
    EXACT_NPBOOL = EXACT_BOOL << EXACT_NUMPY,
    EXACT_NPINT = EXACT_INT << EXACT_NUMPY,     /* int64 */
    EXACT_NPFLOAT = EXACT_FLOAT << EXACT_NUMPY, /* float64 */
    EXACT_ALL_NUMPY = EXACT_NPBOOL | EXACT_NPINT | EXACT_NPFLOAT,
    EXACT_REAL = EXACT_BOOL | EXACT_INT | EXACT_FLOAT,
};

struct guard {
    td_val   bad;    /* slot: the item must be computed in Python */
    uint32_t depth;  /* of the regions around the block */
    uint32_t checks; /* places so far that may set it */
    td_val   heap;   /* pointer to words for lists; TD_NONE: none */
    td_val   top;    /* slot: how many are used */
    bool     numpy;  /* there are arrays, whose elements are NumPy scalars */
};

/* ---- exact.c ---- */
void     exact_flag(walk *w, td_val cond);   /* bool: where it holds the item is Python's */
void     exact_leave_flagged(walk *w); /* control goes there if it is */
void     exact_leave(walk *w);               /* it is, and control goes behind f */
/* marks the begin of a loop's iteration; the result is for exact_iteration_end at its end */
uint32_t exact_iteration_begin(walk *w, uint32_t node);
void     exact_iteration_end(walk *w, uint32_t node, uint32_t before);
/* 0: not one of these; NumPy scalars count if they are int64, float64 or bool */
uint32_t exact_kinds(const td_type *t);
thing    exact_of_kinds(td_val v, uint32_t kinds, td_val tag); /* tag: where there are several kinds */
const td_type *exact_join(const td_type *a, const td_type *b); /* NULL: they cannot be joined */
td_val   exact_tag(walk *w, const thing *x);
/* x as dt, whatever kind it is; of a complex number the real part.  whole: ints that a float64 does not hold are
 * flagged. */
td_val   exact_raw(walk *w, const thing *x, td_dtype dt, bool whole);
td_num   exact_pair(walk *w, const thing *x, bool whole); /* x as complex128 */
/* A mixed x becomes the one kind that its dtype stands for, or with EXACT_REAL a real one where that is complex;
 * what is neither that nor of the kinds is flagged. */
void     exact_pure(walk *w, thing *x, uint32_t kinds);
void     exact_float(walk *w, thing *x); /* float(x) of a number, rounded as Python does */
static inline bool
is_mixed(const thing *x)
{
    return x->type->kind == TD_T_NUM && x->type->object != 0;
}

/* ---- exactnum.c: the operators; a and b are numbers ---- */
td_status exact_binary(walk *w, td_syn op, const thing *a, const thing *b, thing *out);
td_status exact_unary(walk *w, td_syn op, const thing *a, thing *out); /* + - ~ */
td_status exact_compare(walk *w, td_syn op, const thing *a, const thing *b, thing *out);
td_status exact_select(walk *w, const thing *cond, const thing *a, const thing *b, thing *out);
void      exact_none(walk *w, const thing *x); /* flags None */
td_val    exact_is_int(walk *w, const thing *x); /* bool: no float and not complex */
/* r of ints is an int, with no negative zero, and flagged where a float64 may not hold it. */
td_val    exact_settled(walk *w, td_val r, td_val ints);
void      exact_domain(walk *w, td_val r, const td_val *x, uint32_t n); /* r: a function of floats x, as math has it */

/* ---- exactnumpy.c: where one of the operands is a NumPy scalar ---- */
/* Is x a NumPy scalar, or one now and then? */
static inline bool
is_numpy(const thing *x)
{
    return is_num(x) && ((x->type->object & EXACT_ALL_NUMPY) || !exact_kinds(x->type));
}
thing     numpy_scalar(walk *w, const thing *x); /* an array's element x */
thing     numpy_plain(walk *w, const thing *x);  /* as Python's number of the same value, or numbers of several kinds */
thing     numpy_number(walk *w, const thing *x); /* the same for scalars of any real dtype */
thing     numpy_like(walk *w, const thing *x, const thing *const *from, uint32_t n); /* Python's number x as what NumPy makes of it where one of `from` is NumPy's */
td_status numpy_binary(walk *w, td_syn op, const thing *a, const thing *b, thing *out);
td_status numpy_unary(walk *w, td_syn op, const thing *a, thing *out);
td_status numpy_compare(walk *w, td_syn op, const thing *a, const thing *b, thing *out);
td_status numpy_store(walk *w, const thing *to, const thing *x, uint32_t node); /* to: an element */
td_status numpy_ufunc(walk *w, int number, const call *c, thing *out);

/* ---- exactcomplex.c: of operands of which one is complex, or may be ---- */
static inline bool
is_complex(const thing *x)
{
    return is_num(x) && x->type->dt == TD_C128;
}
td_status complex_binary(walk *w, td_syn op, const thing *a, const thing *b, thing *out);
td_status complex_unary(walk *w, td_syn op, const thing *a, thing *out); /* + - */
td_status complex_equal(walk *w, td_op op, const thing *a, const thing *b, thing *out);
td_status complex_absolute(walk *w, const thing *a, thing *out);
bool      complex_size(walk *w, td_op op, const thing *a, const thing *b, thing *out); /* |z| < k; false: cannot be told so */
td_status complex_part(walk *w, const thing *a, bool imag, thing *out); /* a.real, of real numbers too */

/* ---- exactlist.c ---- */
bool      is_list(const thing *x);
void      exact_heap(walk *w); /* the guard's, for an item that begins */
int64_t   exact_heap_words(const walk *w);
td_status exact_list(walk *w, const thing *item, uint32_t n, thing *out); /* [a, b, c] */
td_status exact_list_get(walk *w, const thing *list, const thing *key, thing *out);
td_status exact_list_set(walk *w, const thing *list, const thing *key, const thing *x);
td_status exact_list_length(walk *w, const thing *list, thing *out);
/* Element k, for a loop's iteration; if there is none the loop ends. */
td_status exact_list_item(walk *w, const thing *list, td_val k, thing *out);
td_status exact_list_binary(walk *w, td_syn op, const thing *a, const thing *b, thing *out);
td_status exact_list_has(walk *w, const thing *list, const thing *x, thing *out); /* x in list */
bool      exact_list_tells(walk *w); /* can what stands in lists be given to Python?  Real numbers can */
thing     exact_list_array(walk *w, const thing *list); /* as an array, or two of numbers and kinds, for as long as the item is computed */
td_status exact_list_method(walk *w, const thing *list, const char *name, const call *c, thing *out);

/* ---- exactcall.c ---- */
bool      exact_has_rule(int number, const call *c); /* of a function that is said in Python, too */
td_status exact_call(walk *w, int number, const call *c, thing *out); /* of a row of intrinsic.def */
td_status exact_convert(walk *w, const td_type *t, const call *c, thing *out); /* int(x) */

#endif
