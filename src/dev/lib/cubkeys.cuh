/* cubkeys.cuh - encodes keys of all dtypes as unsigned numbers, and declares the sorts that cubkeys.cu makes.
 *
 * CUB is compiled once per size of keys, not per dtype.  While CUB holds a key in registers, its bits become its code:
 * an unsigned number that sorts as the key does.  A `coder`, given at run time, says how.  Unsigned: the bits.
 * Signed: the bits with the sign flipped.  Floats: for negative numbers all bits flipped, else the sign; then the
 * codes below -inf are moved to the end by wrapping, so that NaNs of both signs come last.
 */
#ifndef TD_DEV_CUBKEYS_CUH
#define TD_DEV_CUBKEYS_CUH
#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdint.h>

/* code = (bits ^ (negative ? neg : 0) ^ all) - shift.  A stable order by value then changes two codes: those above inf
 * (NaN) become ~0, and zero (-0) gets `step` added. */
template <typename U>
struct td_coder {
    U neg, all, shift;
    U inf, zero, step;
    U nan; /* the bits that ~0 is decoded to */
};

/* CUB's two calls: with temp NULL it only sets *nbytes.  Sorts codes by bits [0, bits). */
template <typename U>
cudaError_t td_sort_keys(void *temp, size_t *nbytes, const td_coder<U> &c, const U *in, U *out, uint32_t n, int bits,
                         cudaStream_t s);
template <typename U>
cudaError_t td_sort_pairs(void *temp, size_t *nbytes, const td_coder<U> &c, const U *in, U *out, const uint32_t *vin,
                          uint32_t *vout, uint32_t n, int bits, cudaStream_t s);

template <typename U>
struct td_signed;
template <>
struct td_signed<uint8_t> { typedef int8_t type; };
template <>
struct td_signed<uint16_t> { typedef int16_t type; };
template <>
struct td_signed<uint32_t> { typedef int32_t type; };
template <>
struct td_signed<uint64_t> { typedef int64_t type; };

/* VALUE: codes by value, for a stable order; else every bit pattern has its own code. */
template <bool VALUE, typename U>
__host__ __device__ __forceinline__ U
td_encode(const td_coder<U> &c, U x)
{
    typedef typename td_signed<U>::type S;
    U sign = (U)((S)x >> (8 * sizeof(U) - 1)), t = (U)((x ^ (sign & c.neg) ^ c.all) - c.shift);

    if (VALUE) {
        t = t > c.inf ? (U)~(U)0 : t;
        t = (U)(t + (t == c.zero ? c.step : 0));
    }
    return t;
}

template <bool VALUE, typename U>
__host__ __device__ __forceinline__ U
td_decode(const td_coder<U> &c, U t)
{
    typedef typename td_signed<U>::type S;
    U w = (U)(t + c.shift), sign = (U)((S)(U)~w >> (8 * sizeof(U) - 1));

    if (VALUE && t == (U)~(U)0)
        return c.nan;
    return (U)(w ^ (sign & c.neg) ^ c.all);
}
#endif
