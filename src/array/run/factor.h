/* factor.h - jobs for the device's libraries on arrays: factorisations, Fourier transforms. */
#ifndef TD_ARRAY_FACTOR_H
#define TD_ARRAY_FACTOR_H
#include "array/graph/array.h"
#include "dev/core/fourier.h"
#include "dev/core/solver.h"
#include "dev/lib/ducc.h"

/* Runs j, whose op, dtype, sizes and flags are set, on n contiguous arrays in the order and of the sizes that its row says.
 * The written ones belong to the caller alone.  Runs at once.  TD_SKIP: the device has no library for it. */
td_status td_array_factor(td_solver *j, const td_array *const *a, int n);

/* out = the transform of `in` along the last `rank` axes of both, whose other axes agree.  out belongs to the caller alone;
 * for C2R `in` does too, and is overwritten.  An input in a layout that the library cannot read is copied first.
 * Runs at once, may be captured.  TD_SKIP: the device has no library, or it cannot write out's layout. */
td_status td_array_fourier(const td_array *in, const td_array *out, td_fourier_kind kind, bool inverse, int rank);

/* out = factor * the transform of `in` along naxes distinct axes, both on the CPU, in any layout.  The arrays' axes agree but
 * for the last of `axes`, of which R2C writes and C2R reads half.  out belongs to the caller alone.  Runs at once. */
td_status td_array_fourier_host(const td_array *in, const td_array *out, td_ducc_kind kind, bool inverse, const int *axes,
                                int naxes, double factor);

#endif
