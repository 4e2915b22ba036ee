/* cubkeys.cu - CUB's radix sort with codes made in registers; compiled once for each sort.
 *
 * KEY: uint8_t to uint64_t; pairs have keys of 4 and 8 bytes.  PAIRS: 0 or 1.  CUB lets a key's type define how its bits are read
 * (detail::radix::traits_t).  Here that calls the coder, which is passed as CUB's "decomposer".
 */
#include "cubkeys.cuh"

#include <cub/device/device_radix_sort.cuh>
#include <cuda/std/tuple>

namespace {

struct key {
    KEY bits;
};

struct coder {
    td_coder<KEY> c;

    /* CUB requires this of a decomposer; the traits below read the key themselves. */
    __host__ __device__ cuda::std::tuple<KEY &>
    operator()(key &k) const
    {
        return {k.bits};
    }
};

struct conversion {
    static __host__ __device__ __forceinline__ KEY
    to_bit_ordered(const coder &d, KEY x)
    {
        return td_encode<PAIRS, KEY>(d.c, x);
    }

    static __host__ __device__ __forceinline__ KEY
    from_bit_ordered(const coder &d, KEY t)
    {
        return td_decode<PAIRS, KEY>(d.c, t);
    }
};

struct inversion {
    static __host__ __device__ __forceinline__ KEY
    inverse(const coder &, KEY t)
    {
        return ~t;
    }
};

} // namespace

CUB_NAMESPACE_BEGIN
namespace detail {
namespace radix {

template <>
struct traits_t<::key, false> {
    using bit_ordered_type = KEY;
    using bit_ordered_conversion_policy = ::conversion;
    using bit_ordered_inversion_policy = ::inversion;

    template <class, class>
    using digit_extractor_t = ShiftDigitExtractor<KEY>;

    template <class>
    static __host__ __device__ __forceinline__ ShiftDigitExtractor<KEY>
    digit_extractor(int begin_bit, int num_bits, const ::coder &)
    {
        return ShiftDigitExtractor<KEY>(begin_bit, num_bits);
    }

    static __host__ __device__ KEY
    min_raw_binary_key(const ::coder &d)
    {
        return ::conversion::from_bit_ordered(d, 0);
    }

    static __host__ __device__ KEY
    max_raw_binary_key(const ::coder &d)
    {
        return ::conversion::from_bit_ordered(d, ~(KEY)0);
    }

    static __host__ __device__ int
    default_end_bit(const ::coder &)
    {
        return 8 * sizeof(KEY);
    }
};

} // namespace radix
} // namespace detail
CUB_NAMESPACE_END

#if PAIRS
template <>
cudaError_t
td_sort_pairs<KEY>(void *temp, size_t *nbytes, const td_coder<KEY> &c, const KEY *in, KEY *out, const uint32_t *vin,
                   uint32_t *vout, uint32_t n, int bits, cudaStream_t s)
{
    return cub::DeviceRadixSort::SortPairs(temp, *nbytes, (const key *)in, (key *)out, vin, vout, n, coder{c}, 0, bits, s);
}
#else
template <>
cudaError_t
td_sort_keys<KEY>(void *temp, size_t *nbytes, const td_coder<KEY> &c, const KEY *in, KEY *out, uint32_t n, int bits,
                  cudaStream_t s)
{
    return cub::DeviceRadixSort::SortKeys(temp, *nbytes, (const key *)in, (key *)out, n, coder{c}, 0, bits, s);
}
#endif
