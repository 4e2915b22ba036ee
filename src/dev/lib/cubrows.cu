/* cubrows.cu - many short rows: a block sorts a row in its registers and shared memory.
 *
 * Each row is read once and written once, where a sort of all rows together by code and row reads and writes them a
 * dozen times.  Keys of 1 and 2 bytes are codes in the upper bits of 4 bytes, so there is code for 4 and 8 bytes only.
 */
#include "cubrows.cuh"

#include <cub/block/block_exchange.cuh>
#include <cub/block/block_radix_sort.cuh>

namespace {

/* The bits of key i, in the upper bits of U. */
template <typename U>
__device__ __forceinline__ U
bits_at(const td_row_job<U> &j, int64_t i)
{
    if constexpr (sizeof(U) == 8)
        return ((const uint64_t *)j.in)[i];
    switch (j.size) {
    case 1: return (U)((const uint8_t *)j.in)[i] << 24;
    case 2: return (U)((const uint16_t *)j.in)[i] << 16;
    }
    return (U)((const uint32_t *)j.in)[i];
}

template <typename U>
__device__ __forceinline__ void
put_bits(const td_row_job<U> &j, int64_t i, U bits)
{
    if constexpr (sizeof(U) == 8) {
        ((uint64_t *)j.out)[i] = bits;
        return;
    }
    switch (j.size) {
    case 1: ((uint8_t *)j.out)[i] = (uint8_t)(bits >> 24); return;
    case 2: ((uint16_t *)j.out)[i] = (uint16_t)(bits >> 16); return;
    }
    ((uint32_t *)j.out)[i] = (uint32_t)bits;
}

/* Thread t reads elements t, t + THREADS, …, so that neighbours read neighbours.  Behind the row's end stand the
 * greatest codes, after equal ones of the row. */
template <typename U, bool INDEX, int THREADS, int EACH>
__global__ void __launch_bounds__(THREADS)
row_kernel(td_row_job<U> j)
{
    typedef cub::BlockRadixSort<U, THREADS, EACH, uint16_t> with_index;
    typedef cub::BlockRadixSort<U, THREADS, EACH> alone;
    typedef cub::BlockExchange<U, THREADS, EACH> exchange;
    __shared__ union {
        typename with_index::TempStorage with_index;
        typename alone::TempStorage alone;
        typename exchange::TempStorage exchange;
    } room;
    int64_t first = (int64_t)blockIdx.x * j.n;
    int low = 8 * ((int)sizeof(U) - j.size), t = (int)threadIdx.x;
    U code[EACH];

#pragma unroll
    for (int k = 0; k < EACH; k++) {
        int i = k * THREADS + t;

        code[k] = i < j.n ? td_encode<INDEX>(j.c, bits_at(j, first + i)) : (U)~(U)0;
    }
    if constexpr (INDEX) {
        uint16_t place[EACH];

        exchange(room.exchange).StripedToBlocked(code, code);
        __syncthreads();
#pragma unroll
        for (int k = 0; k < EACH; k++)
            place[k] = (uint16_t)(t * EACH + k);
        with_index(room.with_index).SortBlockedToStriped(code, place, low, 8 * (int)sizeof(U));
#pragma unroll
        for (int k = 0; k < EACH; k++)
            if (k * THREADS + t < j.n)
                j.index[first + k * THREADS + t] = place[k];
    } else {
        alone(room.alone).SortBlockedToStriped(code, low, 8 * (int)sizeof(U));
    }
    if (!j.out)
        return;
#pragma unroll
    for (int k = 0; k < EACH; k++)
        if (k * THREADS + t < j.n)
            put_bits(j, first + k * THREADS + t, td_decode<INDEX>(j.c, code[k]));
}

template <typename U, int THREADS, int EACH>
void
launch(const td_row_job<U> &j, cudaStream_t s)
{
    if (j.index)
        row_kernel<U, true, THREADS, EACH><<<j.rows, THREADS, 0, s>>>(j);
    else
        row_kernel<U, false, THREADS, EACH><<<j.rows, THREADS, 0, s>>>(j);
}

} // namespace

template <typename U>
cudaError_t
td_sort_rows(const td_row_job<U> &j, cudaStream_t s)
{
    static_assert(256 * 16 == TD_ROW_MAX, "the longest row");
    if (j.n <= 64 * 4)
        launch<U, 64, 4>(j, s);
    else if (j.n <= 128 * 8)
        launch<U, 128, 8>(j, s);
    else
        launch<U, 256, 16>(j, s);
    return cudaPeekAtLastError();
}

template cudaError_t td_sort_rows<uint32_t>(const td_row_job<uint32_t> &j, cudaStream_t s);
template cudaError_t td_sort_rows<uint64_t>(const td_row_job<uint64_t> &j, cudaStream_t s);
