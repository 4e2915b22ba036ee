/* intrin.h - the functions that kernels know: rows of intrinsic.def. */
#ifndef TD_FRONT_INTRIN_H
#define TD_FRONT_INTRIN_H
#include "front/infer/reduce.h"
#include "front/infer/walk.h"
#include "op_lists.h"

enum {
    ITER_ENUMERATE = 1,
    ITER_ZIP,
    ITER_REVERSED,
    ITER_INDICES, /* the indices of an array: item[n], its extents */
    ITER_PLACES,  /* the same with the elements: item[0] the indices, item[1] the array */
    ITER_GRID, /* cg.this_grid(): nothing but methods */
    ITER_TEXT, /* f"…": its strings and values, for print */
    ITER_LIST, /* of an exact function: exactlist.c */
    ITER_TYPE, /* nothing to go through: item[0] is a type that the program spells, float64[:] */
    ITER_MEMBERS, /* of a typed list: item[0]; item[1] is how many there were.  The next three of a dict or set */
    ITER_KEYS,
    ITER_VALUES,
    ITER_ITEMS,
    ITER_GENERATOR, /* a call of a function that yields, to be iterated over at once: generator.c */
    ITER_NESTED, /* nothing to go through, and the numbers from here on: functions defined inside of the compiled one */
};

/* Does it go through a box that may not change its length meanwhile? */
static inline bool
is_counted(const thing *x)
{
    return x->type->kind == TD_T_ITER && x->type->object >= ITER_MEMBERS &&
           x->type->object <= ITER_ITEMS;
}

enum { VOTE_COUNT, VOTE_ALL, VOTE_ANY, VOTE_SAME, VOTE_BALLOT };
enum { SHUFFLE_LANE, SHUFFLE_UP, SHUFFLE_DOWN, SHUFFLE_XOR };
enum { /* rows of cudaatomic.c */
    ATOMIC_ADD,
    ATOMIC_SUB,
    ATOMIC_AND,
    ATOMIC_OR,
    ATOMIC_XOR,
    ATOMIC_INC,
    ATOMIC_DEC,
    ATOMIC_EXCH,
    ATOMIC_MAX,
    ATOMIC_MIN,
    ATOMIC_NANMAX,
    ATOMIC_NANMIN,
};

/* A function of numbers whose types its signature fixes (typed.def).  The n arguments have these types; `to` is
 * the type of the (first) result, to which the caller converts out. */
typedef td_status spell_fn(walk *w, const thing *x, int n, int how, td_dtype to, thing *out);

/* VALUE: no function.  PURE: numbers known when compiling give known results.  ELEM: pure, and of every element
 * where an argument is an array. */
enum { INTRIN_FN, INTRIN_VALUE, INTRIN_PURE, INTRIN_ELEM };

typedef struct td_intrinsic_row {
    intrinsic_fn *fn;
    const char *names;  /* Python's, space-separated */
    int         row;    /* what the function needs to know: an operation, an axis */
    uint8_t     how;    /* INTRIN_* */
    const char *sig;    /* typed.def */
    spell_fn   *spell;
} td_intrinsic_row;

extern const td_intrinsic_row td_intrinsics[];

#define FN(fn, row, names) intrinsic_fn fn;
#define VALUE(fn, row, names) intrinsic_fn fn;
#define PURE(fn, row, names) intrinsic_fn fn;
#define ELEM(fn, row, names) intrinsic_fn fn;
#include "front/infer/intrinsic.def"

#define TYPED(names, sig, spell, how) spell_fn spell;
#include "front/infer/typed.def"
intrinsic_fn fn_typed;

td_status group_method(walk *w, const thing *group, const char *name, const call *c, thing *out);

/* log(x), or log(x) / log(base) by a function of one argument. */
td_status log_to_base(walk *w, const call *c, int number, intrinsic_fn *log, thing *out);

#endif
