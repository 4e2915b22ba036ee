/* factor.h - jobs for the device's libraries on arrays: factorisations, Fourier transforms. */
#ifndef TD_ARRAY_FACTOR_H
#define TD_ARRAY_FACTOR_H
#include "array/graph/array.h"
#include "dev/core/fourier.h"
#include "dev/core/solver.h"

/* j, its op, dtype, sizes and flags set, on n contiguous arrays of the row's sizes, in its order; those that are
 * written are the caller's own.  Runs at once.  TD_SKIP: the device has no library for it. */
td_status td_array_factor(td_solver *j, const td_array *const *a, int n);

/* out = the transform of `in` along the last `rank` axes of both, whose other axes agree; out is the caller's own,
 * and of C2R `in` too: it is written over.  An input that does not lie as the library can read it is copied first.
 * Runs at once, may be captured.  TD_SKIP: the device has no library, or out does not lie so that it can be written. */
td_status td_array_fourier(const td_array *in, const td_array *out, td_fourier_kind kind, bool inverse, int rank);

#endif
