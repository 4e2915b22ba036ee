/* calc.h - arithmetic on the arguments of a known function, once they have one float type. */
#ifndef TD_FRONT_CALC_H
#define TD_FRONT_CALC_H
#include "front/infer/intrin.h"

/* calc - the arguments of a function of floats.  dt: the dtype to compute in, t's own or float32 for half types. */
typedef struct calc {
    walk *w;
    td_fn *f;
    const td_type *t;
    td_dtype dt;
    td_val x[4];
} calc;

/* Converts the first n arguments to their common float type: integers count as Python's float, or float64. */
td_status calc_begin(walk *w, const call *c, const char *what, uint32_t n, calc *k);
thing     calc_end(calc *k, td_val v);                /* converts v to the arguments' type */
td_status as_float(walk *w, thing *x);                /* integers and bools become Python's float, or float64 */

static inline td_val calc1(calc *k, td_op op, td_val a) { return td_emit(k->f, op, &a); }
static inline td_val calc2(calc *k, td_op op, td_val a, td_val b) { return td_emit(k->f, op, (td_val[]){a, b}); }
static inline td_val calc_k(calc *k, double v) { return td_const(k->f, k->dt, v); }
static inline td_val
calc_if(calc *k, td_val c, td_val a, td_val b)
{
    return td_emit(k->f, OP_select, (td_val[]){c, a, b});
}

#endif
