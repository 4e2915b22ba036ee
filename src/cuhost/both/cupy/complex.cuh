/* cupy/complex.cuh - complex<float> and complex<double> for CUDA C++ text, by the name that CuPy's programs include.
 *
 * For GPUs and for CPUs.  Two components side by side, as arrays of complex numbers have them.  Division is Smith's;
 * functions are spelled by real ones and promise the last few bits, not the signs of zeros on branch cuts.
 */
#ifndef TD_CU_COMPLEX_CUH
#define TD_CU_COMPLEX_CUH

template <typename T> struct alignas(2 * sizeof(T)) complex {
    typedef T value_type;
    T re, im;

    __host__ __device__ inline complex() : re(0), im(0) {}
    __host__ __device__ inline complex(T r) : re(r), im(0) {}
    __host__ __device__ inline complex(T r, T i) : re(r), im(i) {}
    template <typename U>
    __host__ __device__ inline complex(const complex<U> &z) : re((T)z.re), im((T)z.im) {}

    __host__ __device__ inline T real() const { return re; }
    __host__ __device__ inline T imag() const { return im; }
    __host__ __device__ inline void real(T r) { re = r; }
    __host__ __device__ inline void imag(T i) { im = i; }

    __host__ __device__ inline complex &operator+=(const complex &b) { re += b.re; im += b.im; return *this; }
    __host__ __device__ inline complex &operator-=(const complex &b) { re -= b.re; im -= b.im; return *this; }
    __host__ __device__ inline complex &operator*=(const complex &b)
    {
        T r = re * b.re - im * b.im;

        im = re * b.im + im * b.re;
        re = r;
        return *this;
    }
    __host__ __device__ inline complex &operator/=(const complex &b)
    {
        bool wide = (b.re < 0 ? -b.re : b.re) >= (b.im < 0 ? -b.im : b.im);
        T p = wide ? b.re : b.im, q = wide ? b.im : b.re, ratio = q / p, scale = 1 / (p + q * ratio);
        T r = wide ? re + im * ratio : re * ratio + im, i = wide ? im - re * ratio : im * ratio - re;

        re = r * scale;
        im = i * scale;
        return *this;
    }
};

/* Numbers of other types beside a complex one become its components' type. */
namespace td_cx {
template <typename T> struct same { typedef T type; };
template <typename T> using as = typename same<T>::type;

#define TD_CX_REAL(name)                                                                                     \
    __host__ __device__ inline float name(float x) { return ::name##f(x); }                                  \
    __host__ __device__ inline double name(double x) { return ::name(x); }
#define TD_CX_REAL2(name)                                                                                    \
    __host__ __device__ inline float name(float x, float y) { return ::name##f(x, y); }                      \
    __host__ __device__ inline double name(double x, double y) { return ::name(x, y); }
TD_CX_REAL(sqrt) TD_CX_REAL(exp) TD_CX_REAL(log) TD_CX_REAL(sin) TD_CX_REAL(cos) TD_CX_REAL(sinh) TD_CX_REAL(cosh)
TD_CX_REAL(log1p) TD_CX_REAL(fabs) TD_CX_REAL2(hypot) TD_CX_REAL2(atan2) TD_CX_REAL2(copysign)
#undef TD_CX_REAL
#undef TD_CX_REAL2
} // namespace td_cx

#define TD_CX_OPERATOR(op)                                                                                                  \
    template <typename T> __host__ __device__ inline complex<T> operator op(const complex<T> &a, const complex<T> &b)       \
    {                                                                                                                       \
        complex<T> r = a;                                                                                                   \
        r op##= b;                                                                                                          \
        return r;                                                                                                           \
    }                                                                                                                       \
    template <typename T> __host__ __device__ inline complex<T> operator op(const complex<T> &a, const td_cx::as<T> &b)     \
    {                                                                                                                       \
        return a op complex<T>(b);                                                                                          \
    }                                                                                                                       \
    template <typename T> __host__ __device__ inline complex<T> operator op(const td_cx::as<T> &a, const complex<T> &b)     \
    {                                                                                                                       \
        return complex<T>(a) op b;                                                                                          \
    }
TD_CX_OPERATOR(+) TD_CX_OPERATOR(-) TD_CX_OPERATOR(*) TD_CX_OPERATOR(/)
#undef TD_CX_OPERATOR

#define TD_CX_TEMPLATE template <typename T> __host__ __device__ inline
TD_CX_TEMPLATE complex<T> operator+(const complex<T> &a) { return a; }
TD_CX_TEMPLATE complex<T> operator-(const complex<T> &a) { return complex<T>(-a.re, -a.im); }
TD_CX_TEMPLATE bool operator==(const complex<T> &a, const complex<T> &b) { return a.re == b.re && a.im == b.im; }
TD_CX_TEMPLATE bool operator==(const complex<T> &a, const td_cx::as<T> &b) { return a.re == b && a.im == 0; }
TD_CX_TEMPLATE bool operator==(const td_cx::as<T> &a, const complex<T> &b) { return b == a; }
TD_CX_TEMPLATE bool operator!=(const complex<T> &a, const complex<T> &b) { return !(a == b); }
TD_CX_TEMPLATE bool operator!=(const complex<T> &a, const td_cx::as<T> &b) { return !(a == b); }
TD_CX_TEMPLATE bool operator!=(const td_cx::as<T> &a, const complex<T> &b) { return !(b == a); }

TD_CX_TEMPLATE T real(const complex<T> &z) { return z.re; }
TD_CX_TEMPLATE T imag(const complex<T> &z) { return z.im; }
TD_CX_TEMPLATE T abs(const complex<T> &z) { return td_cx::hypot(z.re, z.im); }
TD_CX_TEMPLATE T norm(const complex<T> &z) { return z.re * z.re + z.im * z.im; }
TD_CX_TEMPLATE T arg(const complex<T> &z) { return td_cx::atan2(z.im, z.re); }
TD_CX_TEMPLATE complex<T> conj(const complex<T> &z) { return complex<T>(z.re, -z.im); }
TD_CX_TEMPLATE complex<T> polar(const T &r, const T &angle = T(0))
{
    return complex<T>(r * td_cx::cos(angle), r * td_cx::sin(angle));
}
TD_CX_TEMPLATE complex<T> exp(const complex<T> &z) { return polar(td_cx::exp(z.re), z.im); }
TD_CX_TEMPLATE complex<T> log(const complex<T> &z) { return complex<T>(td_cx::log(abs(z)), arg(z)); }
TD_CX_TEMPLATE complex<T> log10(const complex<T> &z) { return log(z) / T(2.302585092994045684); }
TD_CX_TEMPLATE complex<T> sqrt(const complex<T> &z)
{
    T t = td_cx::sqrt((abs(z) + td_cx::fabs(z.re)) / 2);

    if (t == 0)
        return complex<T>(0, z.im);
    return z.re >= 0 ? complex<T>(t, z.im / (2 * t)) : complex<T>(td_cx::fabs(z.im) / (2 * t), td_cx::copysign(t, z.im));
}
TD_CX_TEMPLATE complex<T> pow(const complex<T> &a, const complex<T> &b)
{
    if (a.re == 0 && a.im == 0)
        return complex<T>(b.re == 0 && b.im == 0 ? 1 : 0);
    return exp(b * log(a));
}
TD_CX_TEMPLATE complex<T> pow(const complex<T> &a, const td_cx::as<T> &b) { return pow(a, complex<T>(b)); }
TD_CX_TEMPLATE complex<T> pow(const td_cx::as<T> &a, const complex<T> &b) { return pow(complex<T>(a), b); }
TD_CX_TEMPLATE complex<T> sinh(const complex<T> &z)
{
    return complex<T>(td_cx::sinh(z.re) * td_cx::cos(z.im), td_cx::cosh(z.re) * td_cx::sin(z.im));
}
TD_CX_TEMPLATE complex<T> cosh(const complex<T> &z)
{
    return complex<T>(td_cx::cosh(z.re) * td_cx::cos(z.im), td_cx::sinh(z.re) * td_cx::sin(z.im));
}
TD_CX_TEMPLATE complex<T> tanh(const complex<T> &z)
{
    if (td_cx::fabs(z.re) > 20) /* where cosh would overflow */
        return complex<T>(td_cx::copysign(T(1), z.re), 0);
    return sinh(z) / cosh(z);
}
/* i z and -i z: the circular functions are the hyperbolic ones, turned. */
TD_CX_TEMPLATE complex<T> td_cx_left(const complex<T> &z) { return complex<T>(-z.im, z.re); }
TD_CX_TEMPLATE complex<T> td_cx_right(const complex<T> &z) { return complex<T>(z.im, -z.re); }
TD_CX_TEMPLATE complex<T> sin(const complex<T> &z) { return td_cx_right(sinh(td_cx_left(z))); }
TD_CX_TEMPLATE complex<T> cos(const complex<T> &z) { return cosh(td_cx_left(z)); }
TD_CX_TEMPLATE complex<T> tan(const complex<T> &z) { return td_cx_right(tanh(td_cx_left(z))); }
TD_CX_TEMPLATE complex<T> acosh(const complex<T> &z) { return log(z + sqrt(z + T(1)) * sqrt(z - T(1))); }
TD_CX_TEMPLATE complex<T> asinh(const complex<T> &z)
{
    /* The half plane where nothing cancels, by oddness. */
    return z.re < 0 ? -log(-z + sqrt(z * z + T(1))) : log(z + sqrt(z * z + T(1)));
}
TD_CX_TEMPLATE complex<T> atanh(const complex<T> &z)
{
    T below = (1 - z.re) * (1 - z.re) + z.im * z.im;

    return complex<T>(td_cx::log1p(4 * z.re / below) / 4, td_cx::atan2(2 * z.im, (1 - z.re) * (1 + z.re) - z.im * z.im) / 2);
}
TD_CX_TEMPLATE complex<T> asin(const complex<T> &z) { return td_cx_right(asinh(td_cx_left(z))); }
TD_CX_TEMPLATE complex<T> acos(const complex<T> &z)
{
    complex<T> s = asin(z);

    return complex<T>(T(1.570796326794896619) - s.re, -s.im);
}
TD_CX_TEMPLATE complex<T> atan(const complex<T> &z) { return td_cx_right(atanh(td_cx_left(z))); }
#undef TD_CX_TEMPLATE

#endif
