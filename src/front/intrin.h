/* intrin.h - the functions that kernels know: rows of intrinsic.def. */
#ifndef TD_FRONT_INTRIN_H
#define TD_FRONT_INTRIN_H
#include "front/reduce.h"
#include "front/walk.h"

enum { ITER_ENUMERATE = 1, ITER_ZIP, ITER_REVERSED };

/* VALUE: no function.  PURE: numbers known when compiling give known results.  ELEM: pure, and of every element
 * where an argument is an array. */
enum { INTRIN_FN, INTRIN_VALUE, INTRIN_PURE, INTRIN_ELEM };

typedef struct td_intrinsic_row {
    intrinsic_fn *fn;
    const char *names;  /* Python's, space-separated */
    int         row;    /* what the function needs to know: an operation, an axis */
    uint8_t     how;    /* INTRIN_* */
} td_intrinsic_row;

extern const td_intrinsic_row td_intrinsics[];

#define FN(fn, row, names) intrinsic_fn fn;
#define VALUE(fn, row, names) intrinsic_fn fn;
#define PURE(fn, row, names) intrinsic_fn fn;
#define ELEM(fn, row, names) intrinsic_fn fn;
#include "front/intrinsic.def"

#endif
