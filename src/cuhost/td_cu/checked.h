// checked.h - debug mode: checks each access through a name before it is made.
//
// The rewriter turns  x[i]  into  td_cu::at("f", "x", __FILE__, __LINE__, threadIdx, blockIdx, x, i)  and  *x  into
// *td_cu::one(…, x).  The bounds are an array's length, a device allocation's, or the launch's size of dynamic shared
// memory.  An address that lies in none of these is not checked.
#ifndef TD_CU_CHECKED_H
#define TD_CU_CHECKED_H

namespace td_cu {

template <class T> struct count_of { static constexpr size_t of = 0; };
template <class T, size_t N> struct count_of<T[N]> { static constexpr size_t of = N; };
template <class T> struct pointed { static constexpr size_t size = 0; };
template <class T> struct pointed<T *> { static constexpr size_t size = size_of<typename bare<T>::type>::is; };
template <class T> struct pointed<T *const> : pointed<T *> {};

// Bytes from p to the end of the memory it points into; *before: from its start to p.
__attribute__((unused)) static size_t extent(const void *p, size_t *before)
{
    const char *at = static_cast<const char *>(p), *shared = shared_now;
    size_t first = (nstatic + 63) / 64 * 64;

    *before = 0;
    if (shared && at >= shared + first && at <= shared + first + block_now->nshared) {
        *before = size_t(at - shared - first);
        return first + block_now->nshared - size_t(at - shared);
    }
    return host->extent(p, before);
}

[[noreturn]] __attribute__((noinline, cold, unused)) static void
beyond(const char *f, const char *name, const char *file, int line, thread_index t, block_index b, long long i, long long low, long long n)
{
    char what[300], text[1024];

    if (low)
        snprintf(what, sizeof what, "of '%.99s', which has the elements %lld to %lld", name, -low, n - 1);
    else
        snprintf(what, sizeof what, "for axis 0 of '%.99s' with shape (%lld,)", name, n);
    snprintf(text, sizeof text, "index %lld is out of bounds %s [kernel %.99s, block (%u, %u, %u), thread (%u, %u, %u), %.500s:%d]",
             i, what, f, b.x, b.y, b.z, t.x, t.y, t.z, file, line);
    host->beyond(text);
    longjmp(*end_now, 1);
}

template <class A, class I>
TD_CU_INLINE void check(const char *f, const char *name, const char *file, int line, thread_index t, block_index b, A &a, I i, bool end)
{
    if constexpr (count_of<A>::of != 0) {
        if ((long long)i < 0 || (unsigned long long)i >= count_of<A>::of + end)
            beyond(f, name, file, line, t, b, (long long)i, 0, count_of<A>::of);
    } else if constexpr (pointed<A>::size != 0) {
        size_t before, n = extent(a, &before);
        const long long most = (long long)(n / pointed<A>::size), low = (long long)(before / pointed<A>::size);

        if ((n || before) && ((long long)i < -low || (long long)i >= most + end))
            beyond(f, name, file, line, t, b, (long long)i, low, most);
    }
}

template <class A, class I>
TD_CU_INLINE decltype(auto) at(const char *f, const char *name, const char *file, int line, thread_index t, block_index b, A &a, I i)
{
    if constexpr (count_of<A>::of != 0 || pointed<A>::size != 0)
        check(f, name, file, line, t, b, a, i, false);
    return (a[i]);
}

// &x[i]: the address one past the end is allowed.
template <class A, class I>
TD_CU_INLINE decltype(auto) near(const char *f, const char *name, const char *file, int line, thread_index t, block_index b, A &a, I i)
{
    if constexpr (count_of<A>::of != 0 || pointed<A>::size != 0)
        check(f, name, file, line, t, b, a, i, true);
    return (a[i]);
}

template <class P>
TD_CU_INLINE P one(const char *f, const char *name, const char *file, int line, thread_index t, block_index b, P p)
{
    if constexpr (pointed<P>::size != 0)
        check(f, name, file, line, t, b, p, 0, false);
    return p;
}

} // namespace td_cu

#endif
