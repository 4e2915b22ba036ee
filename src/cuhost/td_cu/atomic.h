// atomic.h - atomic operations and fences.
//
// Blocks run on several CPU threads, so operations on global memory use the CPU's atomic instructions.  Only one CPU
// thread accesses a block's shared memory, so plain instructions serve there.  An operation that may be waiting for
// another thread of its block (a compare-and-swap that failed, an exchange that changed nothing) lets the other threads
// run, so that locks are released in the end.
#ifndef TD_CU_ATOMIC_H
#define TD_CU_ATOMIC_H

namespace td_cu {

__attribute__((const, noinline, unused)) static size_t shared_nbytes() { return nstatic + block_now->nshared; }

TD_CU_INLINE bool of_block(const void *p)
{
    return size_t(static_cast<const char *>(p) - shared_base()) < shared_nbytes();
}

__attribute__((noinline, cold, unused)) static void others_turn()
{
    thread *t = now;

    if (t) {
        host->yield();
        resume(t);
    }
}

template <class T> TD_CU_INLINE T compare_swap(T *p, T expected, T v)
{
    T was = expected;

    if (of_block(p)) {
        was = *p;
        if (was == expected)
            *p = v;
    } else
        __atomic_compare_exchange_n(p, &was, v, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
    if (__builtin_expect(was != expected, 0))
        others_turn();
    return was;
}

template <class T> struct same_type { using type = T; };
template <class T> using same = typename same_type<T>::type;

template <int Nbytes> struct word;
template <> struct word<2> { using type = uint16_t; };
template <> struct word<4> { using type = uint32_t; };
template <> struct word<8> { using type = uint64_t; };

// *p = f(*p); returns the old value.
template <class T, class F> TD_CU_INLINE T update(T *p, F f)
{
    using bits = typename word<sizeof(T)>::type;
    bits *at = reinterpret_cast<bits *>(p), was, next;
    T old, fresh;

    if (of_block(p)) {
        old = *p;
        *p = f(old);
        return old;
    }
    was = __atomic_load_n(at, __ATOMIC_RELAXED);
    do {
        memcpy(static_cast<void *>(&old), &was, sizeof old);
        fresh = f(old);
        memcpy(&next, static_cast<const void *>(&fresh), sizeof next);
    } while (!__atomic_compare_exchange_n(at, &was, next, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    return old;
}

template <class T> TD_CU_INLINE T fetch_add(T *p, T v)
{
    T old;

    if (of_block(p)) {
        old = *p;
        *p = T(old + v);
    } else
        old = __atomic_fetch_add(p, v, __ATOMIC_RELAXED);
    if (__builtin_expect(v == 0, 0)) // the thread polls for a change
        others_turn();
    return old;
}

template <class T> TD_CU_INLINE T swap(T *p, T v)
{
    using bits = typename word<sizeof(T)>::type;
    T old;

    if (of_block(p)) {
        old = *p;
        *p = v;
    } else {
        bits was = __atomic_exchange_n(reinterpret_cast<bits *>(p), from_bits<bits>(to_bits(v)), __ATOMIC_SEQ_CST);

        old = from_bits<T>(was);
    }
    if (__builtin_expect(old == v, 0))
        others_turn();
    return old;
}

} // namespace td_cu

// The same function for the scopes of block, device and system.
#define TD_CU_ATOMIC(name, T, expression)                                                                              \
    TD_CU_INLINE T name(T *p, T v) { return expression; }                                                              \
    TD_CU_INLINE T name##_block(T *p, T v) { return expression; }                                                      \
    TD_CU_INLINE T name##_system(T *p, T v) { return expression; }

typedef unsigned int td_cu_uint;
typedef unsigned long long td_cu_ull;
typedef long long td_cu_ll;
typedef unsigned short td_cu_ushort;

#define TD_CU_UPDATE(T, expression) td_cu::update(p, [=](T old) -> T { return expression; })

TD_CU_ATOMIC(atomicAdd, int, int(td_cu::fetch_add(reinterpret_cast<unsigned *>(p), unsigned(v))))
TD_CU_ATOMIC(atomicAdd, td_cu_uint, td_cu::fetch_add(p, v))
TD_CU_ATOMIC(atomicAdd, td_cu_ull, td_cu::fetch_add(p, v))
TD_CU_ATOMIC(atomicAdd, float, TD_CU_UPDATE(float, old + v))
TD_CU_ATOMIC(atomicAdd, double, TD_CU_UPDATE(double, old + v))
TD_CU_ATOMIC(atomicSub, int, int(td_cu::fetch_add(reinterpret_cast<unsigned *>(p), 0u - unsigned(v))))
TD_CU_ATOMIC(atomicSub, td_cu_uint, td_cu::fetch_add(p, 0u - v))
TD_CU_ATOMIC(atomicExch, int, td_cu::swap(p, v))
TD_CU_ATOMIC(atomicExch, td_cu_uint, td_cu::swap(p, v))
TD_CU_ATOMIC(atomicExch, td_cu_ull, td_cu::swap(p, v))
TD_CU_ATOMIC(atomicExch, float, td_cu::swap(p, v))
TD_CU_ATOMIC(atomicMin, int, TD_CU_UPDATE(int, v < old ? v : old))
TD_CU_ATOMIC(atomicMin, td_cu_uint, TD_CU_UPDATE(td_cu_uint, v < old ? v : old))
TD_CU_ATOMIC(atomicMin, td_cu_ll, TD_CU_UPDATE(td_cu_ll, v < old ? v : old))
TD_CU_ATOMIC(atomicMin, td_cu_ull, TD_CU_UPDATE(td_cu_ull, v < old ? v : old))
TD_CU_ATOMIC(atomicMax, int, TD_CU_UPDATE(int, v > old ? v : old))
TD_CU_ATOMIC(atomicMax, td_cu_uint, TD_CU_UPDATE(td_cu_uint, v > old ? v : old))
TD_CU_ATOMIC(atomicMax, td_cu_ll, TD_CU_UPDATE(td_cu_ll, v > old ? v : old))
TD_CU_ATOMIC(atomicMax, td_cu_ull, TD_CU_UPDATE(td_cu_ull, v > old ? v : old))
TD_CU_ATOMIC(atomicInc, td_cu_uint, TD_CU_UPDATE(td_cu_uint, old >= v ? 0 : old + 1))
TD_CU_ATOMIC(atomicDec, td_cu_uint, TD_CU_UPDATE(td_cu_uint, old == 0 || old > v ? v : old - 1))
#define TD_CU_BITS(T)                                                                                                  \
    TD_CU_ATOMIC(atomicAnd, T, TD_CU_UPDATE(T, old &v))                                                                \
    TD_CU_ATOMIC(atomicOr, T, TD_CU_UPDATE(T, old | v))                                                                \
    TD_CU_ATOMIC(atomicXor, T, TD_CU_UPDATE(T, old ^ v))
TD_CU_BITS(int)
TD_CU_BITS(td_cu_uint)
TD_CU_BITS(td_cu_ull)
#undef TD_CU_BITS

#define TD_CU_CAS(T)                                                                                                   \
    TD_CU_INLINE T atomicCAS(T *p, T expected, T v) { return td_cu::compare_swap(p, expected, v); }                    \
    TD_CU_INLINE T atomicCAS_block(T *p, T expected, T v) { return td_cu::compare_swap(p, expected, v); }              \
    TD_CU_INLINE T atomicCAS_system(T *p, T expected, T v) { return td_cu::compare_swap(p, expected, v); }
TD_CU_CAS(int)
TD_CU_CAS(td_cu_uint)
TD_CU_CAS(td_cu_ull)
TD_CU_CAS(td_cu_ushort)
#undef TD_CU_CAS

TD_CU_INLINE void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
TD_CU_INLINE void __threadfence_block() { __atomic_signal_fence(__ATOMIC_SEQ_CST); }
TD_CU_INLINE void __threadfence_system() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
TD_CU_INLINE void __nanosleep(unsigned) { td_cu::others_turn(); }

#endif
