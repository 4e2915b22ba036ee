// regions.h - kernels that the rewriter has cut at their barriers.
//
// Such a kernel is called once per block.  Code that is uniform over the block runs once, unchanged.  Between barriers
// the threads run as a loop (each), or as fibers where they wait for each other in ways that cannot be cut
// (each_in_turns).
//
//     td_cu::local<float> td_of_sum(blockDim);       // a variable that outlives its region
//     TD_CU_EACH { auto &sum = td_of_sum[td_n] = x[threadIdx.x]; s[threadIdx.x] = sum; } TD_CU_END;
//     TD_CU_EACH auto &sum = td_of_sum[td_n]; { y[threadIdx.x] = sum + s[0]; } TD_CU_END;
//
// td_n is the thread's number in its block.
#ifndef TD_CU_REGIONS_H
#define TD_CU_REGIONS_H

namespace td_cu {

template <class T> struct array_of { using item = T; };
template <class T, size_t N> struct array_of<T[N]> { using item = typename array_of<T>::item; };

enum { most_threads = 1024, inside = 128 }; // inside: most bytes of a variable that lies on the stack for all threads

// One T for each thread of the block.  A fixed address and length let the compiler see that it does not alias other
// memory.
template <class T, bool Inside = sizeof(T) <= inside> struct local {
    alignas(64) T v[most_threads];
    __attribute__((always_inline)) explicit local(block_size) {}
    __attribute__((always_inline)) T &operator[](size_t n) { return v[n]; }
};
template <class T> struct local<T, false> {
    T *v;
    explicit local(block_size n) : v(new T[size_t(n.x) * n.y * n.z]) {}
    local(const local &) = delete;
    ~local() { delete[] v; }
    __attribute__((always_inline)) T &operator[](size_t n) { return v[n]; }
};

// A parameter that threads change: each has a copy.
template <class T> struct local_of : local<T> {
    __attribute__((always_inline)) local_of(block_size n, const T &of) : local<T>(n)
    {
        for (size_t i = 0; i < size_t(n.x) * n.y * n.z; i++)
            this->v[i] = of;
    }
};

// The threads that have not returned.
struct alive : local<bool> {
    size_t n;
    __attribute__((always_inline)) explicit alive(block_size b) : local<bool>(b), n(size_t(b.x) * b.y * b.z) { memset(v, 1, n); }
    bool none() const { return !memchr(v, 1, n); }
};

template <class T> TD_CU_INLINE void set(T &to, const T &from) { to = from; }
template <class T, size_t N> TD_CU_INLINE void set(T (&to)[N], const T (&from)[N])
{
    for (size_t i = 0; i < N; i++)
        set(to[i], from[i]);
}

// ---- threads of a region as a loop ----

// Runs f for one row of threads.  N: blockDim.x if it is known, so that short rows become whole vectors; 0: it is not.
// first: the number of the row's first thread.
template <unsigned N, class F> TD_CU_INLINE void row(unsigned n, unsigned y, unsigned z, size_t first, const F &f)
{
    for (unsigned x = 0; x < (N ? N : n); x++) {
        say_thread({{x, y, z}});
        f(thread_index{{x, y, z}}, first + x);
    }
}

// For a region whose only private memory is registers and td_cu::local: no access depends on another thread's. Not
// unrolled, since that would come before vectorisation.
template <unsigned N, class F> TD_CU_INLINE void free_row(unsigned n, unsigned y, unsigned z, size_t first, const F &f)
{
#ifdef __clang__
#pragma clang loop vectorize(assume_safety) unroll(disable)
#else
#pragma GCC ivdep
#endif
    for (unsigned x = 0; x < (N ? N : n); x++) {
        say_thread({{x, y, z}});
        f(thread_index{{x, y, z}}, first + x);
    }
}

template <bool Free, class F> TD_CU_INLINE void free_or_row(unsigned n, unsigned y, unsigned z, size_t first, const F &f)
{
    if constexpr (Free)
        free_row<0>(n, y, z, first, f);
    else
        row<0>(n, y, z, first, f);
}

TD_CU_INLINE void suppose(bool x)
{
#ifdef __clang__
    __builtin_assume(x);
#else
    if (!x)
        __builtin_unreachable();
#endif
}

template <bool Free, unsigned N, class F> TD_CU_INLINE void rows(block_size n, const F &f)
{
    for (unsigned z = 0; z < n.z; z++)
        for (unsigned y = 0; y < n.y; y++)
            if constexpr (Free)
                free_row<N>(n.x, y, z, (size_t(z) * n.y + y) * (N ? N : n.x), f);
            else
                row<N>(n.x, y, z, (size_t(z) * n.y + y) * (N ? N : n.x), f);
}

template <bool Free, class F> TD_CU_INLINE void each(block_size n, const F &f)
{
    if (n.x == 16)
        rows<Free, 16>(n, f);
    else if (n.x == 32)
        rows<Free, 32>(n, f);
    else
        rows<Free, 0>(n, f);
}

// Runs f; without the test in rows in which it holds for all threads.
template <bool Free, class T, class F> TD_CU_INLINE void each_within(block_size n, const T &test, const F &f)
{
    for (unsigned z = 0; z < n.z; z++)
        for (unsigned y = 0; y < n.y; y++) {
            const size_t first = (size_t(z) * n.y + y) * n.x;

            if (to_truth(test(row_index{{0, n.x - 1, true}, y, z})).always)
                free_or_row<Free>(n.x, y, z, first, [&](thread_index t, size_t i) __attribute__((always_inline)) {
                    suppose(test(t));
                    f(t, i);
                });
            else
                free_or_row<Free>(n.x, y, z, first, f);
        }
}

// Is f true for any thread?  Tries the first thread first, which usually decides.
template <class F> TD_CU_INLINE bool any(block_size n, const F &f)
{
    bool some = f(thread_index{{0, 0, 0}}, 0);

    for (unsigned z = 0; z < n.z && !some; z++)
        for (unsigned y = 0; y < n.y; y++)
            for (unsigned x = 0; x < n.x; x++)
                some |= f(thread_index{{x, y, z}}, 0);
    return some;
}

// ---- threads of a region take turns ----

template <class F> struct turns {
    block at;
    const F *f;
};

template <class F> void turn(void *ctx, int i)
{
    turns<F> *all = static_cast<turns<F> *>(ctx);
    const uint32_t *n = all->at.b->block;
    thread t;

    t.at = &all->at;
    t.number = unsigned(i);
    t.index = {{t.number % n[0], t.number / n[0] % n[1], t.number / n[0] / n[1]}};
    resume(&t);
    if (!_setjmp(t.end))
        (*all->f)(t.index, t.number);
    now = nullptr;
}

template <class F> __attribute__((noinline)) void each_in_turns(block_index at, const F &f)
{
    turns<F> all = {};
    jmp_buf *end = end_now;
    bool ran;

    all.at.b = block_now;
    all.at.index = at;
    all.at.shared = shared_now;
    all.at.n = threads_of(block_now);
    all.f = &f;
    ran = host->run(int(all.at.n), turn<F>, &all);
    now = nullptr;
    end_now = end;
    drop_warps(&all.at);
    if (!ran)
        longjmp(*end, 1);
}

// ---- the block ----

template <auto F, class... P, unsigned... I>
TD_CU_INLINE void unpack_block(const td_cu_block *b, block_index at, list<P...>, indices<I...>)
{
    F({}, at, {b->block[0], b->block[1], b->block[2]}, {b->grid[0], b->grid[1], b->grid[2]}, *static_cast<P *>(b->param[I])...);
}

template <auto F, class... P> __attribute__((noinline)) void block_of(const td_cu_block *b, block_index at, list<P...> l)
{
    unpack_block<F>(b, at, l, count_to<sizeof...(P)>{});
}

template <auto F> void TD_CU_REGIONS(const td_cu_block *b)
{
    const block_index at = {{b->index[0], b->index[1], b->index[2]}};
    jmp_buf end;

    say_block(b, at, static_cast<char *>(b->shared));
    end_now = &end;
    if (!_setjmp(end))
        block_of<F>(b, at, typename split_of<F>::rest{});
}

} // namespace td_cu

#define TD_CU_LAMBDA [&](td_cu::thread_index threadIdx, [[maybe_unused]] size_t td_n) __attribute__((always_inline))
#define TD_CU_TEST [&](auto threadIdx) __attribute__((always_inline))
#define TD_CU_EACH td_cu::each<false>(blockDim, TD_CU_LAMBDA {
#define TD_CU_EACH_FREE td_cu::each<true>(blockDim, TD_CU_LAMBDA {
#define TD_CU_EACH_IN_TURNS td_cu::each_in_turns(blockIdx, [&](td_cu::thread_index threadIdx, [[maybe_unused]] size_t td_n) {
#define TD_CU_END })
// A thread that has returned takes no part in later regions.
#define TD_CU_RETURN do { td_alive[td_n] = false; return; } while (0)
#define TD_CU_ALIVE if (!td_alive[td_n]) return

// A kernel's name, for assertions within the lambdas that its cut has made; nullptr elsewhere.
static const char *const td_function = nullptr;

#endif
