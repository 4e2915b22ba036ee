/* typed.h - the functions behind typed.def's rows, and what the rows say about rounding. */
#ifndef TD_FRONT_TYPED_H
#define TD_FRONT_TYPED_H
#include "front/infer/intrin.h"

/* Flags beside an operation in a row's last column. */
enum {
    HOW_OP = 0xffff,
    TO_NEAREST = 0, /* ties to even */
    TO_ZERO = 1 << 16,
    DOWN = 2 << 16,
    UP = 3 << 16,
    TO_AWAY = 4 << 16, /* to nearest, ties away from 0 */
    HOW_ROUND = 7 << 16,
    UNSIGNED = 1 << 20,     /* takes the integers for unsigned ones */
    SATURATED = 1 << 21,    /* clamps to 0 … 1; NaN becomes 0 */
    NOT_NEGATIVE = 1 << 22, /* 0 where the result is negative */
};

/* Values of one lane. */
static inline td_val
typed_real(walk *w, td_dtype dt, double v)
{
    return td_const(w->f, dt, v);
}

static inline td_val
typed_whole(walk *w, td_dtype dt, int64_t v)
{
    return td_const_int(w->f, dt, v);
}

/* The value of a number that arguments() has converted. */
static inline td_val
val(const thing *x)
{
    return x->num.re;
}

static inline td_dtype
typed_dt(const thing *x)
{
    return (td_dtype)x->type->dt;
}

static inline td_dtype
unsigned_of(td_dtype dt)
{
    static const td_dtype of[] = {[1] = TD_U8, [2] = TD_U16, [4] = TD_U32, [8] = TD_U64};

    return of[td_dtype_size(dt)];
}

/* Rounds r, a float of dtype dt rounded to nearest, in the direction of `how`: moves it to its neighbour if the exact
 * value is below or above and the direction asks for it. */
td_val step(walk *w, td_val r, td_dtype dt, td_val below, td_val above, int how);

#endif
