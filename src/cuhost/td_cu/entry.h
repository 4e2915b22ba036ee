// entry.h - runs a td_cu_block: calls the kernel for each thread.
#ifndef TD_CU_ENTRY_H
#define TD_CU_ENTRY_H

namespace td_cu {

template <class...> struct list {};
template <unsigned... I> struct indices {};

#if defined(__clang__)
template <class, unsigned... I> struct indices_of { using type = indices<I...>; };
template <unsigned N> using count_to = typename __make_integer_seq<indices_of, unsigned, N>::type;
#else
template <unsigned N> using count_to = indices<__integer_pack(N)...>;
#endif

template <class... P> list<P...> params(void (*)(P...));
template <class L> struct split { using rest = L; static constexpr bool builtin = false; };
template <class... P> struct split<list<thread_index, block_index, block_size, grid_size, P...>> {
    using rest = list<P...>;
    static constexpr bool builtin = true;
};
template <auto F> using split_of = split<decltype(params(F))>;

template <auto F, bool Builtin, class... P>
TD_CU_INLINE void call(thread_index t, block_index b, block_size n, grid_size g, const P &...p)
{
    if constexpr (Builtin)
        F(t, b, n, g, p...);
    else
        F(p...);
}

TD_CU_INLINE void say_thread(thread_index t)
{
#ifndef TD_CU_NO_GLOBALS // the text does not use the global variables
    threadIdx = t;
#endif
}

TD_CU_INLINE void say_block(const td_cu_block *b, block_index at, char *shared)
{
    shared_now = shared;
    block_now = b;
    blockIdx = at;
#ifndef TD_CU_NO_GLOBALS
    blockDim = {b->block[0], b->block[1], b->block[2]};
    gridDim = {b->grid[0], b->grid[1], b->grid[2]};
#endif
}

// ---- threads are a loop ----

template <auto F, bool Builtin, class... P>
TD_CU_INLINE void loop(const td_cu_block *b, block_index at, P... p)
{
    const block_size n(b->block[0], b->block[1], b->block[2]);
    const grid_size g(b->grid[0], b->grid[1], b->grid[2]);

    for (unsigned z = 0; z < n.z; z++)
        for (unsigned y = 0; y < n.y; y++)
            for (unsigned x = 0; x < n.x; x++) {
                say_thread({{x, y, z}});
                call<F, Builtin>({{x, y, z}}, at, n, g, p...);
            }
}

template <auto F, class... P, unsigned... I>
TD_CU_INLINE void unpack_loop(const td_cu_block *b, block_index at, list<P...>, indices<I...>)
{
    loop<F, split_of<F>::builtin, P...>(b, at, *static_cast<P *>(b->param[I])...);
}

template <auto F, class... P> __attribute__((noinline)) void loop_of(const td_cu_block *b, block_index at, list<P...> l)
{
    unpack_loop<F>(b, at, l, count_to<sizeof...(P)>{});
}

// setjmp is not in the function with the loop, which it would make slow.
template <auto F> void plain(const td_cu_block *b, block_index at, char *shared)
{
    jmp_buf end;

    say_block(b, at, shared);
    end_now = &end;
    if (!_setjmp(end))
        loop_of<F>(b, at, typename split_of<F>::rest{});
}

// ---- threads take turns ----

template <auto F, class... P, unsigned... I>
TD_CU_INLINE void unpack_one(const thread *t, list<P...>, indices<I...>)
{
    const td_cu_block *b = t->at->b;

    call<F, split_of<F>::builtin>(t->index, t->at->index, {b->block[0], b->block[1], b->block[2]},
                                  {b->grid[0], b->grid[1], b->grid[2]}, *static_cast<P *>(b->param[I])...);
}

template <auto F, class... P> __attribute__((noinline)) void one_of(const thread *t, list<P...> l)
{
    unpack_one<F>(t, l, count_to<sizeof...(P)>{});
}

// Restores the thread's own state when it continues, since other threads have run since.
TD_CU_INLINE void resume(thread *t)
{
    now = t;
    end_now = &t->end;
    say_thread(t->index);
    if (t->at->grid) {
        blockIdx = t->at->index;
        shared_now = t->at->shared;
    }
}

template <auto F> void one(void *ctx, int i)
{
    block *at = static_cast<block *>(ctx);
    thread t;

    if (at->grid) { // i counts all threads of the grid
        at += unsigned(i) / at->n;
        i -= at->first;
    }
    const uint32_t *n = at->b->block;
    t.at = at;
    t.number = unsigned(i);
    t.index = {{t.number % n[0], t.number / n[0] % n[1], t.number / n[0] / n[1]}};
    resume(&t);
    if (!_setjmp(t.end))
        one_of<F>(&t, typename split_of<F>::rest{});
    now = nullptr;
}

inline void drop_warps(block *at);

inline unsigned threads_of(const td_cu_block *b) { return b->block[0] * b->block[1] * b->block[2]; }

template <auto F> void switched(const td_cu_block *b, block_index at, char *shared)
{
    block one_block = {};

    one_block.b = b;
    one_block.index = at;
    one_block.shared = shared;
    one_block.n = threads_of(b);
    say_block(b, at, shared);
    if (!host->run(int(one_block.n), one<F>, &one_block))
        now = nullptr;
    drop_warps(&one_block);
}

// ---- cooperative launches: all blocks in one call ----

inline block_index index_of(const td_cu_block *b, unsigned i)
{
    return {{i % b->grid[0], i / b->grid[0] % b->grid[1], i / b->grid[0] / b->grid[1]}};
}

inline size_t shared_bytes(const td_cu_block *b) { return nstatic + (b->nshared + 63) / 64 * 64; }

inline void no_memory(size_t nbytes)
{
    char text[100];

    snprintf(text, sizeof text, "no memory for the blocks of a cooperative launch: %zu bytes", nbytes);
    host->fail(text);
}

template <auto F> void plain_grid(const td_cu_block *b)
{
    size_t nbytes = shared_bytes(b) + 64;
    char *shared = static_cast<char *>(aligned_alloc(64, nbytes));

    if (!shared)
        return no_memory(nbytes);
    for (unsigned i = 0; i < b->grid[0] * b->grid[1] * b->grid[2]; i++)
        plain<F>(b, index_of(b, i), shared);
    free(shared);
}

template <auto F> void switched_grid(const td_cu_block *b)
{
    unsigned n = threads_of(b), nblock = b->grid[0] * b->grid[1] * b->grid[2];
    size_t each = shared_bytes(b), head = (nblock * sizeof(block) + 63) / 64 * 64, nbytes = head + nblock * each + 64;
    char *memory = static_cast<char *>(aligned_alloc(64, nbytes / 64 * 64));
    uint64_t all = 0;
    block *at = reinterpret_cast<block *>(memory);

    if (!memory)
        return no_memory(nbytes);
    memset(memory, 0, head);
    for (unsigned i = 0; i < nblock; i++) {
        at[i].b = b;
        at[i].index = index_of(b, i);
        at[i].shared = memory + head + i * each;
        at[i].n = n;
        at[i].first = int(i * n);
        at[i].grid = at;
        at[i].grid_all = &all;
        at[i].nblock = nblock;
    }
    say_block(b, at[0].index, at[0].shared);
    if (!host->run(int(n * nblock), one<F>, at))
        now = nullptr;
    for (unsigned i = 0; i < nblock; i++)
        drop_warps(&at[i]);
    free(memory);
}

// ---- what a row of the table points to ----

template <auto F> void TD_CU_PLAIN(const td_cu_block *b)
{
    if (b->cooperative)
        return plain_grid<F>(b);
    plain<F>(b, {{b->index[0], b->index[1], b->index[2]}}, static_cast<char *>(b->shared));
}

template <auto F> void TD_CU_SWITCHED(const td_cu_block *b)
{
    if (b->cooperative)
        return switched_grid<F>(b);
    switched<F>(b, {{b->index[0], b->index[1], b->index[2]}}, static_cast<char *>(b->shared));
}

} // namespace td_cu

#endif
