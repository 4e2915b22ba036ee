/* ufunc.h - NumPy's own loops, which compiled code calls: over single float64s where it must have NumPy's exact bits
 * (NumPy's exp and sin are vector code that differs from the C library's in the last place), and those of numpy.linalg,
 * which call LAPACK, over matrices.
 *
 * A loop is set once, before code that calls it is compiled.
 */
#ifndef TD_BASE_UFUNC_H
#define TD_BASE_UFUNC_H
#include <stdbool.h>
#include <stdint.h>

typedef void td_ufunc_loop(char **args, const intptr_t *n, const intptr_t *steps, void *data);

enum { TD_UFUNCS = 512 }; /* function numbers are those of td_op */

/* A loop over float64 with nin (1 or 2) arguments and one result; NULL: NumPy's has another result.  floats: NumPy
 * computes with int64s in float64 as well, because the ufunc has no loop for them. */
void td_ufunc_set(int number, int nin, td_ufunc_loop *loop, void *data, bool floats);
bool td_ufunc_is_set(int number, int nin);
bool td_ufunc_floats(int number);
double td_ufunc_call(int number, const double *x);

/* ---- numpy.linalg's ---- */

enum {
    TD_LINEARS = 128,
    TD_LINEAR_ARGS = 8
}; /* numbers are those of treadle/_compile/_linear.py */

void td_linear_set(int number, int nin, td_ufunc_loop *loop, void *data);
int td_linear_nin(
    int number); /* how many of its arrays it only reads: the first ones; 0: the loop was never set */

/* From the first call inside of a task of the pool to the end of what the pool runs, the library had better use one
 * thread: begin says so, and end takes it back.  begin: false: the library cannot be told so, and end is not called. */
void td_linear_around(bool (*begin)(void), void (*end)(void));

/* Calls a loop for one matrix, or one of each operand.  w: the loop's number, how many arrays (TD_LINEAR_ARGS at the
 * most) and how many sizes; the arrays' addresses; the sizes of the signature's axes, in the order of their first
 * appearance; the strides in bytes of the arrays' axes, one array after another.  1: LAPACK found no result (a singular
 * matrix, no convergence), or the loop was never set. */
uint64_t td_linear_call(const uint64_t *w);

#endif
