/* ducc.h - what libtreadle_fft.so gives: Fourier transforms in host memory by ducc0 (third_party/ducc0). */
#ifndef TD_DEV_DUCC_H
#define TD_DEV_DUCC_H
#include <stddef.h>
#include <stdint.h>

/* Complex to complex; real to the complex half and back; real to all complex numbers. */
typedef enum td_ducc_kind { TD_DUCC_C2C, TD_DUCC_R2C, TD_DUCC_C2R, TD_DUCC_R2F } td_ducc_kind;

/* One side of a transform. Strides are in elements and may be negative; an input's may be 0. */
typedef struct td_ducc_side {
    void          *at;
    const int64_t *shape, *stride;
} td_ducc_side;

/* td_ducc_job - both sides have ndim axes, and sizes greater than 0.  R2C writes and C2R reads n / 2 + 1 complex numbers
 * along the last of `axes`; C2R does not look at imaginary parts that have to be 0. */
typedef struct td_ducc_job {
    td_ducc_kind kind;
    int          wide;    /* float64 and complex128; else float32 and complex64 */
    int          inverse; /* the exponent's sign is plus */
    int          ndim, naxes;
    const int   *axes;   /* distinct */
    double       factor; /* multiplies the result */
    td_ducc_side in, out;
    int          threads; /* to cut the work for, >= 1 */
    void (*parallel)(int64_t n, void (*task)(void *ctx, int64_t i), void *ctx); /* as td_parallel */
} td_ducc_job;

/* 0; 1: no memory; 2: failed, and why (n bytes) has the library's words.  out is unspecified after a failure. */
typedef int td_ducc_fn(const td_ducc_job *j, char *why, size_t n);

/* The library's exports: for every CPU, and for x86 with AVX2 and FMA. */
#define TD_DUCC_BASE "td_ducc_base"
#define TD_DUCC_AVX2 "td_ducc_avx2"

#endif
