/* ufunc.h - NumPy's own loops over float64.  Compiled code calls them for single numbers where it must have NumPy's
 * exact bits: NumPy's exp and sin are vector code that differs from the C library's in the last place.
 *
 * A loop is set once, before code that calls it is compiled.
 */
#ifndef TD_BASE_UFUNC_H
#define TD_BASE_UFUNC_H
#include <stdbool.h>
#include <stdint.h>

typedef void td_ufunc_loop(char **args, const intptr_t *n, const intptr_t *steps, void *data);

enum { TD_UFUNCS = 512 }; /* function numbers are those of td_op */

/* A loop over float64 with nin (1 or 2) arguments and one result. */
void td_ufunc_set(int number, int nin, td_ufunc_loop *loop, void *data);
bool td_ufunc_is_set(int number, int nin);
double td_ufunc_call(int number, const double *x);

#endif
