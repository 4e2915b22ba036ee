// line.h - integers that change evenly along a row of threads, and what comparisons of them say of the whole row.
//
// The rewriter evaluates a kernel's test of its indices once for a row: threadIdx.x is a line from 0 to blockDim.x - 1,
// and whatever is made of it with + - * and uniform values is a line again, known by its values at both ends. No
// operation may have wrapped at an end; then none wraps between them, and what holds at both ends holds in the row.
#ifndef TD_CU_LINE_H
#define TD_CU_LINE_H

namespace td_cu {

template <class T> struct line {
    T a, b;  // at the first thread and at the last
    bool ok; // no operation wrapped
};

// What is known of a condition: it holds for all threads of the row, or for none. Neither: it may differ.
struct truth {
    bool always, never;
};

template <class T> constexpr bool is_row = false;
template <class T> constexpr bool is_row<line<T>> = true;
template <> inline constexpr bool is_row<truth> = true;

template <class T> struct kind_of { enum { number = __is_enum(T), whole = false }; };
#define TD_CU_KIND(T, is_integer) template <> struct kind_of<T> { enum { number = true, whole = is_integer }; };
TD_CU_KIND(bool, false)
TD_CU_KIND(char, true)
TD_CU_KIND(signed char, true)
TD_CU_KIND(unsigned char, true)
TD_CU_KIND(short, true)
TD_CU_KIND(unsigned short, true)
TD_CU_KIND(int, true)
TD_CU_KIND(unsigned, true)
TD_CU_KIND(long, true)
TD_CU_KIND(unsigned long, true)
TD_CU_KIND(long long, true)
TD_CU_KIND(unsigned long long, true)
TD_CU_KIND(float, false)
TD_CU_KIND(double, false)
#undef TD_CU_KIND

template <class T> struct without_const { using type = T; };
template <class T> struct without_const<const T> { using type = T; };
template <bool> struct when_true {};
template <> struct when_true<true> { using type = int; };
template <class A, class B> using either = typename when_true<is_row<A> || is_row<B>>::type;

TD_CU_INLINE line<int> nothing_known() { return {0, 0, false}; }

template <class T> TD_CU_INLINE line<T> to_line(line<T> x) { return x; }
TD_CU_INLINE line<int> to_line(truth) { return nothing_known(); }
template <class T> TD_CU_INLINE auto to_line(const T &x)
{
    if constexpr (kind_of<T>::number)
        return line<decltype(+x)>{+x, +x, true};
    else
        return nothing_known();
}

TD_CU_INLINE truth to_truth(truth x) { return x; }
template <class T> TD_CU_INLINE truth to_truth(const T &x)
{
    if constexpr (is_row<T>)
        return !(x == 0);
    else
        return {bool(x), !x};
}

// The line with values of type C, which the language converts operands to.
template <class C, class T> TD_CU_INLINE line<C> converted(line<T> x)
{
    line<C> r = {};

    if constexpr (kind_of<C>::whole && kind_of<T>::whole)
        r.ok = x.ok & !__builtin_add_overflow(x.a, T(0), &r.a) & !__builtin_add_overflow(x.b, T(0), &r.b);
    return r;
}

// even: the result changes evenly where no end has wrapped
#define TD_CU_OPERATOR(op, wraps, even)                                                                                \
    template <class A, class B, class = either<A, B>> TD_CU_INLINE auto operator op(const A &a, const B &b)            \
    {                                                                                                                  \
        auto x = to_line(a);                                                                                           \
        auto y = to_line(b);                                                                                           \
        line<decltype(x.a op y.a)> r = {};                                                                             \
        if constexpr (kind_of<decltype(r.a)>::whole)                                                                   \
            r.ok = x.ok & y.ok & (even) & !wraps(x.a, y.a, &r.a) & !wraps(x.b, y.b, &r.b);                             \
        return r;                                                                                                      \
    }
TD_CU_OPERATOR(+, __builtin_add_overflow, true)
TD_CU_OPERATOR(-, __builtin_sub_overflow, true)
TD_CU_OPERATOR(*, __builtin_mul_overflow, x.a == x.b || y.a == y.b)
#undef TD_CU_OPERATOR

template <class A, class = either<A, A>> TD_CU_INLINE auto operator-(const A &a) { return 0 - a; }
template <class A, class = either<A, A>> TD_CU_INLINE auto operator+(const A &a) { return 0 + a; }

template <class A, class B, class = either<A, B>> TD_CU_INLINE truth operator<(const A &a, const B &b)
{
    auto x = to_line(a);
    auto y = to_line(b);
    using common = decltype(x.a + y.a);
    auto l = converted<common>(x), r = converted<common>(y);

    if (!l.ok || !r.ok)
        return {false, false};
    return {l.a < r.a && l.b < r.b, l.a >= r.a && l.b >= r.b};
}

template <class A, class B, class = either<A, B>> TD_CU_INLINE truth operator==(const A &a, const B &b)
{
    truth less = a < b, more = b < a;

    return {less.never && more.never, less.always || more.always};
}

template <class A, class = either<A, A>> TD_CU_INLINE truth operator!(const A &a)
{
    truth t = to_truth(a);

    return {t.never, t.always};
}

template <class A, class B, class = either<A, B>> TD_CU_INLINE truth operator>(const A &a, const B &b) { return b < a; }
template <class A, class B, class = either<A, B>> TD_CU_INLINE truth operator<=(const A &a, const B &b) { return !(b < a); }
template <class A, class B, class = either<A, B>> TD_CU_INLINE truth operator>=(const A &a, const B &b) { return !(a < b); }
template <class A, class B, class = either<A, B>> TD_CU_INLINE truth operator!=(const A &a, const B &b) { return !(a == b); }

template <class A, class B, class = either<A, B>> TD_CU_INLINE truth operator&&(const A &a, const B &b)
{
    truth x = to_truth(a), y = to_truth(b);

    return {x.always && y.always, x.never || y.never};
}

template <class A, class B, class = either<A, B>> TD_CU_INLINE truth operator||(const A &a, const B &b)
{
    return !(!a && !b);
}

// The initial value of a variable of type T.
template <class T, class X> TD_CU_INLINE auto as(const X &x)
{
    using plain = typename without_const<T>::type;

    if constexpr (!is_row<X>)
        return plain(x);
    else if constexpr (kind_of<plain>::whole)
        return converted<plain>(to_line(x));
    else if constexpr (kind_of<plain>::number && plain(2) == plain(1)) // bool
        return to_truth(x);
    else
        return nothing_known();
}

// threadIdx of a whole row.
struct row_index {
    line<unsigned> x;
    unsigned y, z;
};

} // namespace td_cu

#endif
