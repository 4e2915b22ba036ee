// warp.h - exchanges between the 32 threads of a warp: shuffles, votes, matches, reductions.
//
// Each lane stores its value in a slot and waits for the other lanes of the mask.  If the whole warp takes part, even
// and odd phases use different slots, so that one barrier is enough.  Lanes of a smaller mask wait a second time before
// they continue.  Lanes that have returned count as arrived.  A lane that asks for the value of a lane outside the mask
// gets its own.
#ifndef TD_CU_WARP_H
#define TD_CU_WARP_H

namespace td_cu {

struct part { // state of the lanes of a smaller mask; its index is the mask's lowest bit
    uint64_t state;
    uint32_t phase, came, vote;
};

struct warp {
    uint64_t state;
    uint32_t phase, came[2], vote[2];
    const void *site; // the __activemask() call at which lanes are collected
    uint32_t collected, reading;
    uint64_t slot[2][32], part_slot[32];
    part parts[32];
};

inline void drop_warps(block *at) { free(at->warps); }

struct lane_of_warp {
    thread *t;
    warp *w;
    int lane, first;
    uint32_t all; // the lanes of this warp that exist in the block
};

__attribute__((unused)) static lane_of_warp find_lane(const char *what)
{
    thread *t = now;
    block *at;
    unsigned left;

    if (!t)
        no_turns(what);
    at = t->at;
    if (!at->warps) {
        at->warps = static_cast<warp *>(calloc((at->n + 31) / 32, sizeof(warp)));
        if (!at->warps)
            fail(t->index, at->index, "no memory for the block's warps");
    }
    left = at->n - t->number / 32 * 32;
    return {t, at->warps + t->number / 32, int(t->number % 32), at->first + int(t->number / 32 * 32),
            left < 32 ? (1u << left) - 1 : ~0u};
}

struct exchange { // what the lanes have stored
    const uint64_t *slot;
    uint32_t came, vote;
    int lane;
};

// Lets the lanes of the mask meet, each with a value and a vote; calls f(exchange) when all have arrived.
template <class F> auto among(const char *what, uint32_t mask, uint64_t value, bool vote, F f)
{
    lane_of_warp l = find_lane(what);
    warp *w = l.w;
    uint32_t bit = 1u << l.lane;

    mask &= l.all;
    if (!(mask & bit))
        fail(l.t->index, l.t->at->index, "%s with the mask 0x%08x, in which the calling lane %d is not", what, mask, l.lane);
    if (mask == l.all) {
        uint32_t phase = w->phase, i = phase & 1;

        w->slot[i][l.lane] = value;
        w->came[i] |= bit;
        w->vote[i] |= vote ? bit : 0;
        host->barrier(&w->state, l.first, 32 - __builtin_clz(l.all));
        if (w->phase == phase) { // the first lane to continue
            w->phase = phase + 1;
            w->came[i ^ 1] = w->vote[i ^ 1] = 0;
        }
        resume(l.t);
        return f(exchange{w->slot[i], w->came[i], w->vote[i], l.lane});
    }
    part *p = &w->parts[__builtin_ctz(mask)];
    uint32_t phase = p->phase;

    w->part_slot[l.lane] = value;
    p->came |= bit;
    p->vote |= vote ? bit : 0;
    host->meet(&p->state, l.first, mask);
    auto r = f(exchange{w->part_slot, p->came, p->vote, l.lane});
    host->meet(&p->state, l.first, mask);
    if (p->phase == phase) {
        p->phase = phase + 1;
        p->came = p->vote = 0;
    }
    resume(l.t);
    return r;
}

template <class T> TD_CU_INLINE uint64_t to_bits(const T &v)
{
    uint64_t bits = 0;

    static_assert(sizeof(T) <= 8, "a value of at most 8 bytes");
    memcpy(&bits, &v, sizeof v);
    return bits;
}

template <class T> TD_CU_INLINE T from_bits(uint64_t bits)
{
    T v;

    memcpy(static_cast<void *>(&v), &bits, sizeof v);
    return v;
}

TD_CU_INLINE uint64_t take(const exchange &e, int from, int low, int high)
{
    bool there = from >= low && from < high && (e.came >> from & 1);

    return e.slot[there ? from : e.lane];
}

TD_CU_INLINE int section(int lane, int width) { return lane & ~(width - 1); }

template <class T> inline T shuffle(uint32_t mask, T v, int from, int width)
{
    return from_bits<T>(among("__shfl_sync()", mask, to_bits(v), false, [=](const exchange &e) {
        int low = section(e.lane, width);

        return take(e, low + (from & (width - 1)), low, 32);
    }));
}

template <class T> inline T shuffle_up(uint32_t mask, T v, unsigned by, int width)
{
    return from_bits<T>(among("__shfl_up_sync()", mask, to_bits(v), false, [=](const exchange &e) {
        return take(e, by < 32 ? e.lane - int(by) : -1, section(e.lane, width), 32);
    }));
}

template <class T> inline T shuffle_down(uint32_t mask, T v, unsigned by, int width)
{
    return from_bits<T>(among("__shfl_down_sync()", mask, to_bits(v), false, [=](const exchange &e) {
        return take(e, by < 32 ? e.lane + int(by) : 32, 0, section(e.lane, width) + width);
    }));
}

template <class T> inline T shuffle_xor(uint32_t mask, T v, int with, int width)
{
    return from_bits<T>(among("__shfl_xor_sync()", mask, to_bits(v), false, [=](const exchange &e) {
        return take(e, e.lane ^ with, 0, section(e.lane, width) + width);
    }));
}

template <class T, class F> inline T reduce(const char *what, uint32_t mask, T v, F f)
{
    return from_bits<T>(among(what, mask, to_bits(v), false, [=](const exchange &e) {
        uint32_t left = e.came;
        T r = from_bits<T>(e.slot[__builtin_ctz(left)]);

        while (left &= left - 1)
            r = f(r, from_bits<T>(e.slot[__builtin_ctz(left)]));
        return to_bits(r);
    }));
}

template <class T> inline uint32_t match(uint32_t mask, T v, uint32_t *came)
{
    uint64_t bits = to_bits(v);

    return among("__match_any_sync()", mask, bits, false, [=](const exchange &e) {
        uint32_t same = 0;

        for (uint32_t left = e.came; left; left &= left - 1)
            same |= e.slot[__builtin_ctz(left)] == bits ? left & -left : 0;
        *came = e.came;
        return same;
    });
}

inline uint32_t vote(const char *what, uint32_t mask, bool p, uint32_t *came)
{
    return among(what, mask, 0, p, [=](const exchange &e) {
        *came = e.came;
        return e.vote;
    });
}

// The lanes that reach `site` while each thread of the warp runs once.  Lanes join until the first one runs again; then
// all read the set.
__attribute__((noinline, unused)) static uint32_t active_lanes(const void *site)
{
    lane_of_warp l = find_lane("__activemask()");
    warp *w = l.w;
    uint32_t bit = 1u << l.lane, mask;

    while (w->reading || (w->collected && w->site != site))
        host->yield();
    w->site = site;
    w->collected |= bit;
    host->yield();
    if (!w->reading)
        w->reading = w->collected;
    mask = w->collected;
    if (!(w->reading &= ~bit))
        w->collected = 0;
    resume(l.t);
    return mask;
}

} // namespace td_cu

template <class T> inline T __shfl_sync(unsigned mask, T v, int from, int width = 32) { return td_cu::shuffle(mask, v, from, width); }
template <class T> inline T __shfl_up_sync(unsigned mask, T v, unsigned by, int width = 32) { return td_cu::shuffle_up(mask, v, by, width); }
template <class T> inline T __shfl_down_sync(unsigned mask, T v, unsigned by, int width = 32) { return td_cu::shuffle_down(mask, v, by, width); }
template <class T> inline T __shfl_xor_sync(unsigned mask, T v, int with, int width = 32) { return td_cu::shuffle_xor(mask, v, with, width); }

inline unsigned __ballot_sync(unsigned mask, int p)
{
    uint32_t came;

    return td_cu::vote("__ballot_sync()", mask, p != 0, &came);
}
inline int __any_sync(unsigned mask, int p)
{
    uint32_t came;

    return td_cu::vote("__any_sync()", mask, p != 0, &came) != 0;
}
inline int __all_sync(unsigned mask, int p)
{
    uint32_t came, yes = td_cu::vote("__all_sync()", mask, p != 0, &came);

    return yes == came;
}
inline int __uni_sync(unsigned mask, int p)
{
    uint32_t came, yes = td_cu::vote("__uni_sync()", mask, p != 0, &came);

    return yes == came || yes == 0;
}
template <class T> inline unsigned __match_any_sync(unsigned mask, T v)
{
    uint32_t came;

    return td_cu::match(mask, v, &came);
}
template <class T> inline unsigned __match_all_sync(unsigned mask, T v, int *all)
{
    uint32_t came, same = td_cu::match(mask, v, &came);

    *all = same == came;
    return *all ? same : 0;
}

#define TD_CU_REDUCE(name, T, expression)                                                                              \
    inline T name(unsigned mask, T v)                                                                                  \
    {                                                                                                                  \
        return td_cu::reduce(#name "()", mask, v, [](T a, T b) { return T(expression); });                             \
    }
TD_CU_REDUCE(__reduce_add_sync, unsigned, a + b)
TD_CU_REDUCE(__reduce_add_sync, int, unsigned(a) + unsigned(b))
TD_CU_REDUCE(__reduce_min_sync, unsigned, a < b ? a : b)
TD_CU_REDUCE(__reduce_min_sync, int, a < b ? a : b)
TD_CU_REDUCE(__reduce_max_sync, unsigned, a > b ? a : b)
TD_CU_REDUCE(__reduce_max_sync, int, a > b ? a : b)
TD_CU_REDUCE(__reduce_and_sync, unsigned, a &b)
TD_CU_REDUCE(__reduce_or_sync, unsigned, a | b)
TD_CU_REDUCE(__reduce_xor_sync, unsigned, a ^ b)
#undef TD_CU_REDUCE

inline void __syncwarp(unsigned mask = 0xffffffff)
{
    uint32_t came;

    (void)td_cu::vote("__syncwarp()", mask, false, &came);
}

__attribute__((noinline, unused)) static unsigned __activemask() { return td_cu::active_lanes(__builtin_return_address(0)); }

namespace td_cu {
inline int lane_id() { return now ? int(now->number % 32) : int((threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % 32); }
} // namespace td_cu

#endif
