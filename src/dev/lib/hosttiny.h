/* hosttiny.h - products of many small matrices on the CPU, each of which would take less time than a call of BLAS. */
#ifndef TD_DEV_HOSTTINY_H
#define TD_DEV_HOSTTINY_H
#include "dev/core/blas.h"

enum { TD_TINY_SIDE = 32 }; /* most rows, columns and terms of a sum */

/* Is it a batch of float32 or float64 products of at most that size? */
bool td_hosttiny_can(const td_gemm *g);
/* Computes it, on all threads if that pays.  Products and sums are rounded separately and added in order of k, so all
 * machines give the same bits; a product with a vector of 4 terms or more adds lane by lane. */
void td_hosttiny_run(const td_gemm *g);

#endif
