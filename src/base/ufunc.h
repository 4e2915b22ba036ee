/* ufunc.h - NumPy's own loops over float64, which compiled code calls for single numbers where NumPy's bits matter: its
 * exp and sin are vector code of its own, and differ from the C library's in the last place.
 *
 * A loop is set once, before code that calls it is compiled.
 */
#ifndef TD_BASE_UFUNC_H
#define TD_BASE_UFUNC_H
#include <stdbool.h>
#include <stdint.h>

typedef void td_ufunc_loop(char **args, const intptr_t *n, const intptr_t *steps, void *data);

enum { TD_UFUNCS = 512 }; /* numbers that a function may have: those of td_op */

/* Of float64: nin (1 or 2) arguments, one result. */
void td_ufunc_set(int number, int nin, td_ufunc_loop *loop, void *data);
bool td_ufunc_is_set(int number, int nin);
double td_ufunc_call(int number, const double *x);

#endif
