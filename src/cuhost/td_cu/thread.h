// thread.h - the running thread: its built-in variables, its shared memory, its end.
#ifndef TD_CU_THREAD_H
#define TD_CU_THREAD_H

namespace td_cu {

// The built-in variables as parameters.  They have types of their own, so that an entry sees whether a kernel takes
// them.
struct thread_index : uint3 {};
struct block_index : uint3 {};
struct block_size : dim3 { using dim3::dim3; };
struct grid_size : dim3 { using dim3::dim3; };

struct warp;

// A running block.
struct block {
    const td_cu_block *b;
    block_index index;
    char *shared;
    int first;           // the number of its first thread among the fibers
    unsigned n;          // threads
    uint64_t all;        // __syncthreads
    uint64_t counted[2]; // __syncthreads_count and its kin: sums of even and of odd phases
    uint32_t phase;
    warp *warps;         // made at the first use of one
    block *grid;         // of a cooperative launch: all blocks; else NULL
    uint64_t *grid_all;  // grid.sync()
    unsigned nblock;
};

// A thread that is a fiber.
struct thread {
    block *at;
    unsigned number; // in its block
    thread_index index;
    jmp_buf end;
};

__attribute__((unused)) static const td_cu_host *host;
__attribute__((unused)) static thread_local thread *now;       // NULL: the block's threads run as a loop
__attribute__((unused)) static thread_local char *shared_now;
__attribute__((unused)) static thread_local jmp_buf *end_now;  // where a thread, or its block, ends
__attribute__((unused)) static thread_local const td_cu_block *block_now;

} // namespace td_cu

// Always right, but slow: code that takes TD_CU_PARAMS has parameters of these names instead.
__attribute__((unused)) static thread_local td_cu::thread_index threadIdx;
__attribute__((unused)) static thread_local td_cu::block_index blockIdx;
__attribute__((unused)) static thread_local td_cu::block_size blockDim;
__attribute__((unused)) static thread_local td_cu::grid_size gridDim;
__attribute__((unused)) static constexpr int warpSize = 32;

#define TD_CU_PARAMS                                                                                                   \
    [[maybe_unused]] td_cu::thread_index threadIdx, [[maybe_unused]] td_cu::block_index blockIdx,                      \
        [[maybe_unused]] td_cu::block_size blockDim, [[maybe_unused]] td_cu::grid_size gridDim
#define TD_CU_ARGS threadIdx, blockIdx, blockDim, gridDim

namespace td_cu {

// ---- shared memory ----

// Bytes, known once the module is loaded; dynamic shared memory follows them.
__attribute__((unused)) static size_t nstatic, nreserved;

TD_CU_INLINE size_t reserve(size_t nbytes, size_t align)
{
    size_t at = (nreserved + align - 1) / align * align;

    nreserved = at + nbytes;
    nstatic = (nreserved + 63) / 64 * 64;
    return at;
}

template <class T, int K> static const size_t shared_at = reserve(sizeof(T), alignof(T));

// `const` says that it is the same in the whole function, so that loops read it once.
__attribute__((const, noinline, unused)) static char *shared_base() { return shared_now; }

// The K-th __shared__ variable of the text.
template <class T, int K> TD_CU_INLINE T &shared()
{
    return *reinterpret_cast<T *>(shared_base() + shared_at<T, K>);
}

// extern __shared__
template <class T> TD_CU_INLINE T *dynamic_shared()
{
    return reinterpret_cast<T *>(shared_base() + nstatic);
}

// ---- the end of a thread ----

[[noreturn]] __attribute__((noinline, unused, format(printf, 3, 4))) static void
fail(uint3 t, uint3 b, const char *format, ...)
{
    char text[1024];
    size_t n;
    va_list rest;

    va_start(rest, format);
    vsnprintf(text, sizeof text - 100, format, rest);
    va_end(rest);
    n = strlen(text);
    snprintf(text + n, sizeof text - n, " in block (%u, %u, %u), thread (%u, %u, %u)", b.x, b.y, b.z, t.x, t.y, t.z);
    host->fail(text);
    longjmp(*end_now, 1);
}

} // namespace td_cu

#define __trap() td_cu::fail(threadIdx, blockIdx, "%s:%d: __trap()", __FILE__, __LINE__)

#endif
