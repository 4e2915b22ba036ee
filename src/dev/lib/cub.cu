/* cub.cu - what libtreadle_cub.so is asked for, put together from the sorts of cubkeys.cu and cubrows.cu.
 *
 *   rows of at most TD_ROW_MAX keys: a block sorts each.
 *   one row, or few long ones: a sort of each.  Its index is a sort of pairs, with the places 0, 1, …
 *   many rows, keys of up to 4 bytes, no index: keys of 8 bytes, the row above the code.
 *   many rows else: the index of all by code, then that sorted by row, stable as every one of these.
 */
#include "cub.h"
#include "cubkeys.cuh"
#include "cubrows.cuh"

#include <type_traits>

namespace {

enum {
    BLOCK = 256,
    EACH = 4,           /* elements per thread */
    LONG_ROW = 1 << 20, /* from this many elements on, sorting a row by itself is faster */
    ALIGN = 256,
};

/* space - cuts temp into pieces; base NULL: only counts bytes. */
struct space {
    char *base;
    size_t used;

    template <typename T>
    T *
    take(size_t n)
    {
        size_t at = used;

        used += (n * sizeof(T) + ALIGN - 1) / ALIGN * ALIGN;
        return (T *)(base + at);
    }
};

/* run - the steps of one sort.  It keeps the first failure and launches nothing after it. */
struct run {
    space room;
    cudaStream_t stream;
    cudaError_t status;

    bool
    live() const
    {
        return room.base && !status;
    }
};

/* ---- kernels: f(i) for i below n ---- */

template <typename F>
__global__ void __launch_bounds__(BLOCK)
each_kernel(F f, uint32_t n)
{
    uint64_t i = (uint64_t)blockIdx.x * (BLOCK * EACH) + threadIdx.x;

#pragma unroll
    for (int k = 0; k < EACH; k++, i += BLOCK)
        if (i < n)
            f((uint32_t)i);
}

template <typename F>
void
each(run *r, const F &f, uint32_t n)
{
    uint32_t blocks = (uint32_t)(((uint64_t)n + BLOCK * EACH - 1) / (BLOCK * EACH));

    if (!r->live())
        return;
    each_kernel<<<blocks, BLOCK, 0, r->stream>>>(f, n);
    r->status = cudaPeekAtLastError();
}

struct count_up {
    uint32_t *out;
    __device__ void operator()(uint32_t i) const { out[i] = i; }
};

/* A key's code, and above it the number of its row. */
template <typename W>
struct join_row {
    td_coder<W> c;
    const W *in;
    uint64_t *out;
    uint32_t n;

    __device__ void
    operator()(uint32_t i) const
    {
        out[i] = (uint64_t)(i / n) << 8 * sizeof(W) | td_encode<false>(c, in[i]);
    }
};

template <typename W>
struct drop_row {
    td_coder<W> c;
    const uint64_t *in;
    W *out;
    __device__ void operator()(uint32_t i) const { out[i] = td_decode<false>(c, (W)in[i]); }
};

template <typename W>
struct code_of {
    td_coder<W> c;
    const W *in;
    uint32_t *out;
    __device__ void operator()(uint32_t i) const { out[i] = td_encode<true>(c, in[i]); }
};

template <typename W>
struct key_of {
    td_coder<W> c;
    const uint32_t *in;
    W *out;
    __device__ void operator()(uint32_t i) const { out[i] = td_decode<true>(c, (W)in[i]); }
};

struct row_of {
    const uint32_t *at;
    uint32_t *out, n;
    __device__ void operator()(uint32_t i) const { out[i] = at[i] / n; }
};

struct place_of {
    const uint32_t *at;
    int64_t *out;
    uint32_t n; /* length of a row; 0: there is only one row */
    __device__ void operator()(uint32_t i) const { out[i] = n ? at[i] % n : at[i]; }
};

template <typename W>
struct gather {
    const uint32_t *at;
    const W *in;
    W *out;
    __device__ void operator()(uint32_t i) const { out[i] = in[at[i]]; }
};

/* ---- CUB, with temp from the run's room ---- */

template <typename U>
void
keys(run *r, const td_coder<U> &c, const U *in, U *out, uint32_t n, int bits)
{
    size_t nbytes = 0;

    if (!r->status)
        r->status = td_sort_keys<U>(nullptr, &nbytes, c, in, out, n, bits, r->stream);
    char *temp = r->room.take<char>(nbytes);
    if (r->live())
        r->status = td_sort_keys<U>(temp, &nbytes, c, in, out, n, bits, r->stream);
}

template <typename U>
void
pairs(run *r, const td_coder<U> &c, const U *in, U *out, const uint32_t *vin, uint32_t *vout, uint32_t n, int bits)
{
    size_t nbytes = 0;

    if (!r->status)
        r->status = td_sort_pairs<U>(nullptr, &nbytes, c, in, out, vin, vout, n, bits, r->stream);
    char *temp = r->room.take<char>(nbytes);
    if (r->live())
        r->status = td_sort_pairs<U>(temp, &nbytes, c, in, out, vin, vout, n, bits, r->stream);
}

/* ---- codes ---- */

template <typename U>
td_coder<U>
plain()
{
    return {0, 0, 0, (U)~(U)0, 0, 0, (U)~(U)0};
}

template <typename U>
td_coder<U>
coder_of(const td_cub_job *j)
{
    td_coder<U> c = plain<U>();
    U top = (U)((U)1 << (8 * sizeof(U) - 1));

    if (j->kind != 'i' && j->kind != 'f')
        return c;
    c.all = top;
    if (j->kind == 'f') {
        U inf = (U)((U)(top - 1) >> j->fraction << j->fraction);

        c.neg = top - 1;
        c.shift = (U)~(U)(inf | top); /* -inf's code so far: it becomes the first */
        c.inf = (U)((inf ^ top) - c.shift);
        c.zero = td_encode<false>(c, top);
        c.step = 1;
        c.nan = (U)(inf | (U)1 << (j->fraction - 1));
    } else
        c.nan = td_decode<false>(c, (U)~(U)0);
    return c;
}

/* ---- sorts by the form of the rows ---- */

/* at[n]: the original positions of the sorted row's elements; out: the row itself, NULL: not wanted.  Keys of 1 and 2
 * bytes are sorted as codes of 4, which have a sort of pairs. */
template <typename W>
void
row_order(run *r, const td_coder<W> &c, const W *in, W *out, uint32_t *at, uint32_t n)
{
    uint32_t *places = r->room.take<uint32_t>(n);

    each(r, count_up{places}, n);
    if constexpr (sizeof(W) >= 4) {
        pairs(r, c, in, out ? out : r->room.take<W>(n), places, at, n, 8 * sizeof(W));
    } else {
        uint32_t *codes = r->room.take<uint32_t>(n), *sorted = r->room.take<uint32_t>(n);

        each(r, code_of<W>{c, in, codes}, n);
        pairs(r, plain<uint32_t>(), codes, sorted, places, at, n, 8 * sizeof(W));
        if (out)
            each(r, key_of<W>{c, sorted, out}, n);
    }
}

template <typename W>
void
row_index(run *r, const td_coder<W> &c, const W *in, W *out, int64_t *index, uint32_t n)
{
    uint32_t *at = r->room.take<uint32_t>(n);

    row_order(r, c, in, out, at, n);
    each(r, place_of{at, index, 0}, n);
}

int
bits_of(uint64_t below)
{
    int bits = 0;

    while (bits < 64 && below > (uint64_t)1 << bits)
        bits++;
    return bits;
}

template <typename W>
void
rows_keys(run *r, const td_coder<W> &c, const W *in, W *out, uint32_t rows, uint32_t n)
{
    uint32_t count = rows * n;
    uint64_t *codes = r->room.take<uint64_t>(count), *sorted = r->room.take<uint64_t>(count);

    each(r, join_row<W>{c, in, codes, n}, count);
    keys(r, plain<uint64_t>(), codes, sorted, count, 8 * (int)sizeof(W) + bits_of(rows));
    each(r, drop_row<W>{c, sorted, out}, count);
}

template <typename W>
void
rows_index(run *r, const td_coder<W> &c, const W *in, W *out, int64_t *index, uint32_t rows, uint32_t n)
{
    uint32_t count = rows * n, *at = r->room.take<uint32_t>(count), *row = r->room.take<uint32_t>(count),
             *sorted = r->room.take<uint32_t>(count), *last = r->room.take<uint32_t>(count);

    row_order(r, c, in, (W *)nullptr, at, count);
    each(r, row_of{at, row, n}, count);
    pairs(r, plain<uint32_t>(), row, sorted, at, last, count, bits_of(rows));
    if (index)
        each(r, place_of{last, index, n}, count);
    if (out)
        each(r, gather<W>{last, in, out}, count);
}

/* The coder of narrower keys, which stand in the upper bits of U. */
template <typename U, typename W>
td_coder<U>
in_upper_bits(const td_coder<W> &c)
{
    int up = 8 * (int)(sizeof(U) - sizeof(W));

    return {(U)((U)c.neg << up),  (U)((U)c.all << up),  (U)((U)c.shift << up), (U)(((U)c.inf << up) | (((U)1 << up) - 1)),
            (U)((U)c.zero << up), (U)((U)c.step << up), (U)((U)c.nan << up)};
}

template <typename W>
void
short_rows(run *r, const td_cub_job *j)
{
    typedef std::conditional_t<sizeof(W) == 8, uint64_t, uint32_t> U;
    td_row_job<U> job = {in_upper_bits<U>(coder_of<W>(j)), j->in, j->out, j->index, (uint32_t)j->rows, (int)j->n, j->size};

    r->room.take<char>(1); /* temp that is not NULL means: do it */
    if (r->live())
        r->status = td_sort_rows<U>(job, r->stream);
}

template <typename W>
void
sort_as(run *r, const td_cub_job *j)
{
    const W *in = (const W *)j->in;
    W *out = (W *)j->out;
    td_coder<W> c = coder_of<W>(j);
    space start = r->room, most = start;

    if (j->n <= TD_ROW_MAX)
        return short_rows<W>(r, j);
    if (j->rows > 1 && j->n < LONG_ROW) {
        if constexpr (sizeof(W) < 8)
            if (!j->index)
                return rows_keys(r, c, in, out, (uint32_t)j->rows, (uint32_t)j->n);
        return rows_index(r, c, in, out, j->index, (uint32_t)j->rows, (uint32_t)j->n);
    }
    for (int64_t i = 0; i < j->rows; i++, r->room = start) {
        int64_t at = i * j->n;

        if (j->index)
            row_index(r, c, in + at, out ? out + at : nullptr, j->index + at, (uint32_t)j->n);
        else
            keys(r, c, in + at, out + at, (uint32_t)j->n, 8 * sizeof(W));
        most = r->room.used > most.used ? r->room : most;
    }
    r->room = most;
}

int
sort(const td_cub_job *j, void *temp, size_t *nbytes, void *stream)
{
    run r = {{(char *)temp, 0}, (cudaStream_t)stream, cudaSuccess};

    switch (j->size) {
    case 1: sort_as<uint8_t>(&r, j); break;
    case 2: sort_as<uint16_t>(&r, j); break;
    case 4: sort_as<uint32_t>(&r, j); break;
    case 8: sort_as<uint64_t>(&r, j); break;
    default: return cudaErrorInvalidValue;
    }
    if (!temp)
        *nbytes = r.room.used;
    if (r.status)
        (void)cudaGetLastError(); /* clears the runtime's last error, so that the next call starts without it */
    return r.status;
}

const char *
text(int code)
{
    return cudaGetErrorString((cudaError_t)code);
}

} // namespace

extern "C" __attribute__((visibility("default"))) const td_cub *
td_cub_open(void)
{
    static const td_cub table = {sort, text};

    return &table;
}
