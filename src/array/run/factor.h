/* factor.h - jobs for the device's libraries on arrays: factorisations, Fourier transforms. */
#ifndef TD_ARRAY_FACTOR_H
#define TD_ARRAY_FACTOR_H
#include "array/graph/array.h"
#include "dev/core/fourier.h"
#include "dev/core/solver.h"

/* Runs j, whose op, dtype, sizes and flags are set, on n contiguous arrays in the order and of the sizes that its row says.
 * The written ones belong to the caller alone.  Runs at once.  TD_SKIP: the device has no library for it. */
td_status td_array_factor(td_solver *j, const td_array *const *a, int n);

/* out = the transform of `in` along the last `rank` axes of both, whose other axes agree.  out belongs to the caller alone;
 * for C2R `in` does too, and is overwritten.  An input in a layout that the library cannot read is copied first.
 * Runs at once, may be captured.  TD_SKIP: the device has no library, or it cannot write out's layout. */
td_status td_array_fourier(const td_array *in, const td_array *out, td_fourier_kind kind, bool inverse, int rank);

#endif
