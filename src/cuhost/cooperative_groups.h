// cooperative_groups.h - groups of threads: the block, tiles of a warp, coalesced lanes, the grid.
//
// They use the barriers and exchanges of the functions with masks.  grid_group::sync() needs a cooperative launch.
#ifndef TD_CU_COOPERATIVE_GROUPS_H
#define TD_CU_COOPERATIVE_GROUPS_H
#pragma GCC system_header
#include "treadle_cuda.h"

namespace td_cu {

TD_CU_INLINE thread_index this_thread() { return now ? now->index : threadIdx; }
TD_CU_INLINE block_index this_block() { return now ? now->at->index : blockIdx; }
TD_CU_INLINE uint3 size_of_block() { return {block_now->block[0], block_now->block[1], block_now->block[2]}; }
TD_CU_INLINE uint3 size_of_grid() { return {block_now->grid[0], block_now->grid[1], block_now->grid[2]}; }
TD_CU_INLINE unsigned volume(uint3 n) { return n.x * n.y * n.z; }
TD_CU_INLINE unsigned linear(uint3 at, uint3 n) { return at.x + n.x * (at.y + n.y * at.z); }
TD_CU_INLINE unsigned this_number() { return now ? now->number : linear(this_thread(), size_of_block()); }

// The index of the n-th set bit.
TD_CU_INLINE int nth_bit(uint32_t mask, unsigned n)
{
    while (n-- && mask)
        mask &= mask - 1;
    return mask ? __builtin_ctz(mask) : 31;
}

// Exchanges a value of any size, 8 bytes at a time.
template <class T, class F> inline T in_words(const T &v, F f)
{
    uint64_t words[(sizeof(T) + 7) / 8] = {};
    T r;

    memcpy(words, static_cast<const void *>(&v), sizeof v);
    for (uint64_t &w : words)
        w = f(w);
    memcpy(static_cast<void *>(&r), words, sizeof r);
    return r;
}

__attribute__((unused)) static void sync_grid()
{
    thread *t = now;

    if (t && t->at->grid) {
        host->barrier(t->at->grid_all, 0, int(t->at->n * t->at->nblock));
        resume(t);
    } else if (volume(size_of_grid()) == 1)
        sync_block();
    else
        fail(this_thread(), this_block(), "grid.sync() in a launch that is not cooperative");
}

} // namespace td_cu

namespace cooperative_groups {

typedef unsigned long long td_cu_rank;

namespace details {
struct group {}; // the base of all groups
} // namespace details

// A set of lanes of the calling thread's warp.
class td_cu_lanes : public details::group {
protected:
    unsigned mask;
    explicit td_cu_lanes(unsigned m) : mask(m) {}
    static unsigned below() { return (1u << td_cu::lane_id()) - 1; }

public:
    unsigned td_cu_mask() const { return mask; }
    void sync() const { __syncwarp(mask); }
    unsigned size() const { return unsigned(__popc(mask)); }
    unsigned num_threads() const { return size(); }
    unsigned thread_rank() const { return unsigned(__popc(mask & below())); }
    template <class T> T shfl(T v, int rank) const
    {
        return td_cu::in_words(v, [&](uint64_t w) { return __shfl_sync(mask, w, td_cu::nth_bit(mask, unsigned(rank) % size())); });
    }
    template <class T> T shfl_up(T v, unsigned by) const
    {
        unsigned rank = thread_rank();

        return shfl(v, int(by <= rank ? rank - by : rank));
    }
    template <class T> T shfl_down(T v, unsigned by) const
    {
        unsigned rank = thread_rank();

        return shfl(v, int(rank + by < size() ? rank + by : rank));
    }
    int any(int p) const { return __any_sync(mask, p); }
    int all(int p) const { return __all_sync(mask, p); }
    unsigned ballot(int p) const { return pack(__ballot_sync(mask, p)); }
    template <class T> unsigned match_any(T v) const { return pack(__match_any_sync(mask, v)); }
    template <class T> unsigned match_all(T v, int &same) const { return pack(__match_all_sync(mask, v, &same)); }

private:
    // Converts a mask of lanes to a mask of ranks in the group.
    unsigned pack(unsigned bits) const
    {
        unsigned r = 0, rank = 0;

        for (unsigned left = mask; left; left &= left - 1, rank++)
            r |= (bits >> __builtin_ctz(left) & 1) << rank;
        return r;
    }
};

class thread_block : public details::group {
public:
    static void sync() { td_cu::sync_block(); }
    static void barrier_wait() { td_cu::sync_block(); }
    static unsigned thread_rank() { return td_cu::this_number(); }
    static unsigned size() { return td_cu::volume(td_cu::size_of_block()); }
    static unsigned num_threads() { return size(); }
    static dim3 group_index() { return td_cu::this_block(); }
    static dim3 thread_index() { return td_cu::this_thread(); }
    static dim3 group_dim() { return td_cu::size_of_block(); }
    static dim3 dim_threads() { return td_cu::size_of_block(); }
};

class grid_group : public details::group {
public:
    static void sync() { td_cu::sync_grid(); }
    static bool is_valid() { return block_has_grid(); }
    static td_cu_rank thread_rank() { return block_rank() * thread_block::size() + thread_block::thread_rank(); }
    static td_cu_rank block_rank() { return td_cu::linear(td_cu::this_block(), td_cu::size_of_grid()); }
    static td_cu_rank num_blocks() { return td_cu::volume(td_cu::size_of_grid()); }
    static td_cu_rank num_threads() { return num_blocks() * thread_block::size(); }
    static td_cu_rank size() { return num_threads(); }
    static dim3 block_index() { return td_cu::this_block(); }
    static dim3 dim_blocks() { return td_cu::size_of_grid(); }
    static dim3 group_dim() { return td_cu::size_of_grid(); }

private:
    static bool block_has_grid() { return td_cu::now && td_cu::now->at->grid; }
};

class coalesced_group : public td_cu_lanes {
public:
    explicit coalesced_group(unsigned m) : td_cu_lanes(m) {}
    unsigned meta_group_rank() const { return 0; }
    unsigned meta_group_size() const { return 1; }
};

template <unsigned N, class Parent = void> class thread_block_tile : public td_cu_lanes {
    static_assert(N == 1 || N == 2 || N == 4 || N == 8 || N == 16 || N == 32, "a tile has 1, 2, 4, 8, 16 or 32 threads");

    static unsigned lanes() { return (N == 32 ? ~0u : (1u << N % 32) - 1) << (unsigned(td_cu::lane_id()) & ~(N - 1)); }

public:
    thread_block_tile() : td_cu_lanes(lanes()) {}
    template <class P> thread_block_tile(const thread_block_tile<N, P> &) : td_cu_lanes(lanes()) {}
    static constexpr unsigned size() { return N; }
    static constexpr unsigned num_threads() { return N; }
    static unsigned thread_rank() { return unsigned(td_cu::lane_id()) % N; }
    static unsigned meta_group_rank() { return td_cu::this_number() / N; }
    static unsigned meta_group_size() { return (thread_block::size() + N - 1) / N; }
    template <class T> T shfl(T v, int rank) const
    {
        return td_cu::in_words(v, [&](uint64_t w) { return __shfl_sync(mask, w, rank, N); });
    }
    template <class T> T shfl_up(T v, unsigned by) const
    {
        return td_cu::in_words(v, [&](uint64_t w) { return __shfl_up_sync(mask, w, by, N); });
    }
    template <class T> T shfl_down(T v, unsigned by) const
    {
        return td_cu::in_words(v, [&](uint64_t w) { return __shfl_down_sync(mask, w, by, N); });
    }
    template <class T> T shfl_xor(T v, unsigned with) const
    {
        return td_cu::in_words(v, [&](uint64_t w) { return __shfl_xor_sync(mask, w, int(with), N); });
    }
};

// A group of any kind.
class thread_group : public details::group {
    unsigned mask; // 0: the block

public:
    thread_group() : mask(0) {}
    explicit thread_group(unsigned m) : mask(m) {}
    thread_group(const thread_block &) : mask(0) {}
    thread_group(const td_cu_lanes &l) : mask(l.td_cu_mask()) {}
    void sync() const { mask ? coalesced_group(mask).sync() : thread_block::sync(); }
    unsigned size() const { return mask ? coalesced_group(mask).size() : thread_block::size(); }
    unsigned num_threads() const { return size(); }
    unsigned thread_rank() const { return mask ? coalesced_group(mask).thread_rank() : thread_block::thread_rank(); }
};

TD_CU_INLINE thread_block this_thread_block() { return {}; }
TD_CU_INLINE grid_group this_grid() { return {}; }
TD_CU_INLINE coalesced_group coalesced_threads() { return coalesced_group(__activemask()); }

template <unsigned N, class Parent> TD_CU_INLINE thread_block_tile<N, Parent> tiled_partition(const Parent &) { return {}; }
TD_CU_INLINE thread_group tiled_partition(const thread_group &, unsigned n)
{
    return thread_group((n >= 32 ? ~0u : (1u << n) - 1) << (unsigned(td_cu::lane_id()) & ~(n - 1)));
}
template <class Label> inline coalesced_group labeled_partition(const td_cu_lanes &g, Label label)
{
    return coalesced_group(__match_any_sync(g.td_cu_mask(), label));
}
inline coalesced_group binary_partition(const td_cu_lanes &g, bool p) { return labeled_partition(g, int(p)); }

template <class G> TD_CU_INLINE void sync(const G &g) { g.sync(); }
template <class G> TD_CU_INLINE auto thread_rank(const G &g) { return g.thread_rank(); }
template <class G> TD_CU_INLINE auto group_size(const G &g) { return g.size(); }

// Lets one thread of the group call f.
template <class G, class F, class... A> inline void invoke_one(const G &g, F f, A... a)
{
    if (g.thread_rank() == 0)
        f(a...);
}

// ---- copies that a GPU does in the background ----

template <class G> inline void memcpy_async(const G &g, void *to, const void *from, size_t nbytes)
{
    for (size_t i = g.thread_rank(); i < nbytes; i += g.size())
        static_cast<char *>(to)[i] = static_cast<const char *>(from)[i];
}
template <class G> inline void wait(const G &g) { g.sync(); }
template <int Left, class G> inline void wait_prior(const G &g) { g.sync(); }

} // namespace cooperative_groups

#endif
