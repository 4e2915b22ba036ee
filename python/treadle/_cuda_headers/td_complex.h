// td_complex.h - complex numbers for kernels, on GPUs and CPUs: pycuda::complex and CuPy's complex are these.
//
// Laid out as two numbers side by side, aligned to both, as the arrays' elements are.  Arithmetic and functions follow
// C99 for finite numbers; a product or quotient of infinities may be NaN, as with CUDA's own types.
#ifndef TD_COMPLEX_H
#define TD_COMPLEX_H

namespace td_num {

template <class T> struct same { typedef T type; }; // keeps a parameter out of deduction

template <class T> struct alignas(2 * sizeof(T)) complex {
    typedef T value_type;

    T re, im;

    __host__ __device__ complex() : re(), im() {}
    __host__ __device__ complex(T r, T i = T()) : re(r), im(i) {}
    template <class U> __host__ __device__ complex(const complex<U> &z) : re(T(z.re)), im(T(z.im)) {}

    __host__ __device__ T real() const { return re; }
    __host__ __device__ T imag() const { return im; }
    __host__ __device__ void real(T r) { re = r; }
    __host__ __device__ void imag(T i) { im = i; }

    template <class U> __host__ __device__ complex &operator=(const complex<U> &z) { re = T(z.re); im = T(z.im); return *this; }
    __host__ __device__ complex &operator=(T r) { re = r; im = T(); return *this; }
    __host__ __device__ complex &operator+=(const complex &z) { re += z.re; im += z.im; return *this; }
    __host__ __device__ complex &operator-=(const complex &z) { re -= z.re; im -= z.im; return *this; }
    __host__ __device__ complex &operator*=(const complex &z) { return *this = *this * z; }
    __host__ __device__ complex &operator/=(const complex &z) { return *this = *this / z; }
    __host__ __device__ complex &operator+=(T r) { re += r; return *this; }
    __host__ __device__ complex &operator-=(T r) { re -= r; return *this; }
    __host__ __device__ complex &operator*=(T r) { re *= r; im *= r; return *this; }
    __host__ __device__ complex &operator/=(T r) { re /= r; im /= r; return *this; }
};

#define TD_FN(...) template <class T> __host__ __device__ inline __VA_ARGS__
#define TD_REAL const typename same<T>::type &

// ---- parts ----

TD_FN(T) real(const complex<T> &z) { return z.re; }
TD_FN(T) imag(const complex<T> &z) { return z.im; }
TD_FN(complex<T>) conj(const complex<T> &z) { return complex<T>(z.re, -z.im); }
TD_FN(T) norm(const complex<T> &z) { return z.re * z.re + z.im * z.im; }
__host__ __device__ inline float  abs(const complex<float> &z) { return ::hypotf(z.re, z.im); }
__host__ __device__ inline double abs(const complex<double> &z) { return ::hypot(z.re, z.im); }
__host__ __device__ inline float  arg(const complex<float> &z) { return ::atan2f(z.im, z.re); }
__host__ __device__ inline double arg(const complex<double> &z) { return ::atan2(z.im, z.re); }
__host__ __device__ inline float  real(float x) { return x; }
__host__ __device__ inline double real(double x) { return x; }
__host__ __device__ inline float  imag(float) { return 0; }
__host__ __device__ inline double imag(double) { return 0; }
__host__ __device__ inline float  conj(float x) { return x; }
__host__ __device__ inline double conj(double x) { return x; }

// ---- arithmetic ----

TD_FN(complex<T>) operator+(const complex<T> &a) { return a; }
TD_FN(complex<T>) operator-(const complex<T> &a) { return complex<T>(-a.re, -a.im); }
TD_FN(complex<T>) operator+(const complex<T> &a, const complex<T> &b) { return complex<T>(a.re + b.re, a.im + b.im); }
TD_FN(complex<T>) operator-(const complex<T> &a, const complex<T> &b) { return complex<T>(a.re - b.re, a.im - b.im); }
TD_FN(complex<T>) operator*(const complex<T> &a, const complex<T> &b)
{
    return complex<T>(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re);
}
TD_FN(complex<T>) operator/(const complex<T> &a, const complex<T> &b)
{ // Smith's: divides by the greater part, so that no square overflows
    const bool wide = (b.re < 0 ? -b.re : b.re) >= (b.im < 0 ? -b.im : b.im);
    if (wide && b.re == 0 && b.im == 0)
        return complex<T>(a.re / b.re, a.im / b.re);
    const T r = wide ? b.im / b.re : b.re / b.im, d = wide ? b.re + b.im * r : b.im + b.re * r;
    return wide ? complex<T>((a.re + a.im * r) / d, (a.im - a.re * r) / d)
                : complex<T>((a.re * r + a.im) / d, (a.im * r - a.re) / d);
}
TD_FN(complex<T>) operator+(const complex<T> &a, TD_REAL b) { return complex<T>(a.re + b, a.im); }
TD_FN(complex<T>) operator-(const complex<T> &a, TD_REAL b) { return complex<T>(a.re - b, a.im); }
TD_FN(complex<T>) operator*(const complex<T> &a, TD_REAL b) { return complex<T>(a.re * b, a.im * b); }
TD_FN(complex<T>) operator/(const complex<T> &a, TD_REAL b) { return complex<T>(a.re / b, a.im / b); }
TD_FN(complex<T>) operator+(TD_REAL a, const complex<T> &b) { return complex<T>(a + b.re, b.im); }
TD_FN(complex<T>) operator-(TD_REAL a, const complex<T> &b) { return complex<T>(a - b.re, -b.im); }
TD_FN(complex<T>) operator*(TD_REAL a, const complex<T> &b) { return complex<T>(a * b.re, a * b.im); }
TD_FN(complex<T>) operator/(TD_REAL a, const complex<T> &b) { return complex<T>(a) / b; }

// Both precisions together: the wider one.
#define TD_MIXED(op)                                                                                                     \
    __host__ __device__ inline complex<double> operator op(const complex<float> &a, const complex<double> &b)            \
    {                                                                                                                    \
        return complex<double>(a) op b;                                                                                  \
    }                                                                                                                    \
    __host__ __device__ inline complex<double> operator op(const complex<double> &a, const complex<float> &b)            \
    {                                                                                                                    \
        return a op complex<double>(b);                                                                                  \
    }
TD_MIXED(+)
TD_MIXED(-)
TD_MIXED(*)
TD_MIXED(/)
#undef TD_MIXED

TD_FN(bool) operator==(const complex<T> &a, const complex<T> &b) { return a.re == b.re && a.im == b.im; }
TD_FN(bool) operator!=(const complex<T> &a, const complex<T> &b) { return !(a == b); }
TD_FN(bool) operator==(const complex<T> &a, TD_REAL b) { return a.re == b && a.im == 0; }
TD_FN(bool) operator!=(const complex<T> &a, TD_REAL b) { return !(a == b); }
TD_FN(bool) operator==(TD_REAL a, const complex<T> &b) { return b == a; }
TD_FN(bool) operator!=(TD_REAL a, const complex<T> &b) { return !(b == a); }

// ---- functions ----

template <class T> struct real_of;
template <> struct real_of<float> {
    static __host__ __device__ float exp(float x) { return ::expf(x); }
    static __host__ __device__ float log(float x) { return ::logf(x); }
    static __host__ __device__ float sin(float x) { return ::sinf(x); }
    static __host__ __device__ float cos(float x) { return ::cosf(x); }
    static __host__ __device__ float sinh(float x) { return ::sinhf(x); }
    static __host__ __device__ float cosh(float x) { return ::coshf(x); }
    static __host__ __device__ float sqrt(float x) { return ::sqrtf(x); }
    static __host__ __device__ float log1p(float x) { return ::log1pf(x); }
    static __host__ __device__ float asinh(float x) { return ::asinhf(x); }
    static __host__ __device__ float atan2(float y, float x) { return ::atan2f(y, x); }
    static __host__ __device__ float copysign(float x, float y) { return ::copysignf(x, y); }
};
template <> struct real_of<double> {
    static __host__ __device__ double exp(double x) { return ::exp(x); }
    static __host__ __device__ double log(double x) { return ::log(x); }
    static __host__ __device__ double sin(double x) { return ::sin(x); }
    static __host__ __device__ double cos(double x) { return ::cos(x); }
    static __host__ __device__ double sinh(double x) { return ::sinh(x); }
    static __host__ __device__ double cosh(double x) { return ::cosh(x); }
    static __host__ __device__ double sqrt(double x) { return ::sqrt(x); }
    static __host__ __device__ double log1p(double x) { return ::log1p(x); }
    static __host__ __device__ double asinh(double x) { return ::asinh(x); }
    static __host__ __device__ double atan2(double y, double x) { return ::atan2(y, x); }
    static __host__ __device__ double copysign(double x, double y) { return ::copysign(x, y); }
};

TD_FN(complex<T>) polar(const T &r, TD_REAL theta = T())
{
    return complex<T>(r * real_of<T>::cos(theta), r * real_of<T>::sin(theta));
}
TD_FN(complex<T>) exp(const complex<T> &z) { return polar(real_of<T>::exp(z.re), z.im); }
TD_FN(complex<T>) log(const complex<T> &z) { return complex<T>(real_of<T>::log(abs(z)), arg(z)); }
TD_FN(complex<T>) log10(const complex<T> &z) { return log(z) * T(0.43429448190325182765); }
TD_FN(complex<T>) sqrt(const complex<T> &z)
{ // the greater part first: the other one by division, so that nothing cancels
    const T a = z.re < 0 ? -z.re : z.re;
    if (a == 0 && z.im == 0)
        return complex<T>(T(), z.im);
    const T s = real_of<T>::sqrt((a + abs(z)) * T(0.5)), t = (z.im < 0 ? -z.im : z.im) / (2 * s);
    return z.re >= 0 ? complex<T>(s, real_of<T>::copysign(t, z.im)) : complex<T>(t, real_of<T>::copysign(s, z.im));
}
TD_FN(complex<T>) pow(const complex<T> &z, const complex<T> &w)
{
    if (z.re == 0 && z.im == 0)
        return w.re == 0 && w.im == 0 ? complex<T>(1) : complex<T>();
    return exp(w * log(z));
}
TD_FN(complex<T>) pow(const complex<T> &z, TD_REAL x)
{
    if (z.re == 0 && z.im == 0)
        return x == 0 ? complex<T>(1) : complex<T>();
    return exp(log(z) * x);
}
TD_FN(complex<T>) pow(TD_REAL x, const complex<T> &w) { return pow(complex<T>(x), w); }
TD_FN(complex<T>) pow(const complex<T> &z, int n)
{
    complex<T> power(1), base = z;
    for (unsigned k = n < 0 ? 0u - (unsigned)n : (unsigned)n; k; k >>= 1, base = base * base)
        if (k & 1)
            power = power * base;
    return n < 0 ? T(1) / power : power;
}
TD_FN(complex<T>) sinh(const complex<T> &z)
{
    return complex<T>(real_of<T>::sinh(z.re) * real_of<T>::cos(z.im), real_of<T>::cosh(z.re) * real_of<T>::sin(z.im));
}
TD_FN(complex<T>) cosh(const complex<T> &z)
{
    return complex<T>(real_of<T>::cosh(z.re) * real_of<T>::cos(z.im), real_of<T>::sinh(z.re) * real_of<T>::sin(z.im));
}
TD_FN(complex<T>) tanh(const complex<T> &z)
{ // of great arguments the quotient below would be infinities
    const T far = sizeof(T) == 4 ? T(20) : T(40), s = z.re < 0 ? T(-1) : T(1);
    if (z.re * s > far)
        return complex<T>(s, T());
    const T d = real_of<T>::cosh(2 * z.re) + real_of<T>::cos(2 * z.im);
    return complex<T>(real_of<T>::sinh(2 * z.re) / d, real_of<T>::sin(2 * z.im) / d);
}
TD_FN(complex<T>) turned(const complex<T> &z) { return complex<T>(-z.im, z.re); } // by i
TD_FN(complex<T>) back(const complex<T> &z) { return complex<T>(z.im, -z.re); }
TD_FN(complex<T>) sin(const complex<T> &z) { return back(sinh(turned(z))); }
TD_FN(complex<T>) cos(const complex<T> &z) { return cosh(turned(z)); }
TD_FN(complex<T>) tan(const complex<T> &z) { return back(tanh(turned(z))); }
TD_FN(complex<T>) asinh(const complex<T> &z)
{ // Kahan's
    const complex<T> a = sqrt(complex<T>(1 + z.im, -z.re)), b = sqrt(complex<T>(1 - z.im, z.re));
    return complex<T>(real_of<T>::asinh(a.re * b.im - a.im * b.re),
                      real_of<T>::atan2(z.im, a.re * b.re - a.im * b.im));
}
TD_FN(complex<T>) acos(const complex<T> &z)
{
    const complex<T> a = sqrt(complex<T>(1 - z.re, -z.im)), b = sqrt(complex<T>(1 + z.re, z.im));
    return complex<T>(2 * real_of<T>::atan2(a.re, b.re), real_of<T>::asinh(b.re * a.im - b.im * a.re));
}
TD_FN(complex<T>) acosh(const complex<T> &z)
{
    const complex<T> a = sqrt(complex<T>(z.re - 1, z.im)), b = sqrt(complex<T>(z.re + 1, z.im));
    return complex<T>(real_of<T>::asinh(a.re * b.re + a.im * b.im), 2 * real_of<T>::atan2(a.im, b.re));
}
TD_FN(complex<T>) atanh(const complex<T> &z)
{
    const T far = (1 - z.re) * (1 - z.re) + z.im * z.im;
    return complex<T>(real_of<T>::log1p(4 * z.re / far) * T(0.25),
                      real_of<T>::atan2(2 * z.im, (1 - z.re) * (1 + z.re) - z.im * z.im) * T(0.5));
}
TD_FN(complex<T>) asin(const complex<T> &z) { return back(asinh(turned(z))); }
TD_FN(complex<T>) atan(const complex<T> &z) { return back(atanh(turned(z))); }

#undef TD_FN
#undef TD_REAL

} // namespace td_num
#endif
