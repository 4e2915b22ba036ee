/* intrin.h - the functions that kernels know: rows of intrinsic.def. */
#ifndef TD_FRONT_INTRIN_H
#define TD_FRONT_INTRIN_H
#include "front/walk.h"

enum { ITER_ENUMERATE = 1, ITER_ZIP, ITER_REVERSED };

typedef struct td_intrinsic_row {
    intrinsic_fn *fn;
    const char *names;  /* Python's, space-separated */
    int         row;    /* what the function needs to know: an operation, an axis */
    bool        value;  /* a value, not a function */
} td_intrinsic_row;

extern const td_intrinsic_row td_intrinsics[];

#define FN(fn, row, names) intrinsic_fn fn;
#define VALUE(fn, row, names) intrinsic_fn fn;
#include "front/intrinsic.def"

#endif
