// ducc.cc - Fourier transforms in host memory by ducc0, whose headers this file compiles with treadle's threads.
//
// meson.build compiles it once for each level of vector instructions, with a namespace (DUCC0_NAMESPACE) and an exported
// function (TD_DUCC_EXPORT) of its own.
#include <stdexcept>

// In place of the library's error_handling.h, whose messages pass through iostreams: these would be a third of the code.
#define DUCC0_ERROR_HANDLING_H
#define MR_fail(...) throw std::runtime_error("ducc0 cannot: " #__VA_ARGS__)
#define MR_assert(condition, ...) \
    do { \
        if (!(condition)) \
            throw std::runtime_error("ducc0 wants " #condition); \
    } while (0)

#include "ducc0/infra/useful_macros.h"

#include "ducc0/fft/fftnd_impl.h"

#include "ducc0/infra/mav.cc"

#include <cstdio>
#include <exception>
#include <new>
#include <numeric>

extern "C" {
#include "dev/lib/ducc.h"
}

// ---- the library's threads ----

namespace DUCC0_NAMESPACE {
namespace detail_threading {

// Of the job that this thread runs.
static thread_local decltype(td_ducc_job::parallel) parallel;

namespace {

// The part of a loop over `nwork` iterations that one of the threads has.
class Part : public Scheduler {
    size_t threads_, index_;
    Range range_;

public:
    Part(size_t nwork, size_t threads, size_t index)
        : threads_(threads), index_(index), range_(nwork * index / threads, nwork * (index + 1) / threads)
    {
    }
    size_t num_threads() const override { return threads_; }
    size_t thread_num() const override { return index_; }
    Range getNext() override { return std::exchange(range_, Range()); }
};

// Calls of one function on several threads, and the first exception of them.
struct Calls {
    const std::function<void(size_t)> &function;
    Mutex mutex{};
    std::exception_ptr thrown{};

    static void call(void *ctx, int64_t i)
    {
        Calls &c = *static_cast<Calls *>(ctx);
        try {
            c.function(size_t(i));
        } catch (...) {
            LockGuard lock(c.mutex);
            if (!c.thrown)
                c.thrown = std::current_exception();
        }
    }
};

void
run(size_t n, const std::function<void(size_t)> &function)
{
    Calls calls{function};
    if (n == 1)
        return function(0);
    parallel(int64_t(n), Calls::call, &calls);
    if (calls.thrown)
        std::rethrow_exception(calls.thrown);
}

} // namespace

size_t
adjust_nthreads(size_t nthreads)
{
    return nthreads;
}

void
execStatic(size_t nwork, size_t nthreads, size_t, std::function<void(Scheduler &)> func)
{
    run(nthreads, [&](size_t i) {
        Part part(nwork, nthreads, i);
        func(part);
    });
}

void
execParallel(size_t nthreads, std::function<void(Scheduler &)> func)
{
    execStatic(nthreads, nthreads, 0, std::move(func));
}

void
execParallel(size_t lo, size_t hi, size_t nthreads, std::function<void(size_t, size_t)> func)
{
    run(nthreads, [&](size_t i) {
        func(lo + (hi - lo) * i / nthreads, lo + (hi - lo) * (i + 1) / nthreads);
    });
}

} // namespace detail_threading

// ---- jobs ----

namespace {

using shape_t = fmav_info::shape_t;
using stride_t = fmav_info::stride_t;
template <typename T> using Complex = std::complex<T>;

shape_t
shape_of(const td_ducc_job &j, const td_ducc_side &s)
{
    return shape_t(s.shape, s.shape + j.ndim);
}

template <typename T>
vfmav<T>
array_of(const td_ducc_job &j, const td_ducc_side &s, const shape_t &shape)
{
    return vfmav<T>(static_cast<T *>(s.at), shape, stride_t(s.stride, s.stride + j.ndim));
}

// Makes rows that begin with the forward transforms of real numbers, up to half of the axis, whole transforms: the others
// are the conjugates in reverse, and those of the inverse all conjugates.  0 - x where NumPy's zeros have no sign.
template <typename T>
void
complete(const td_ducc_job &j, const shape_t &shape, size_t axis)
{
    const size_t n = shape[axis];
    const size_t rows = std::accumulate(shape.begin(), shape.end(), size_t(1), std::multiplies<>()) / n;
    const ptrdiff_t step = j.out.stride[axis];

    detail_threading::execParallel(0, rows, rows * n <= 32768 ? 1 : size_t(j.threads), [&](size_t lo, size_t hi) {
        for (size_t row = lo; row < hi; row++) {
            Complex<T> *p = static_cast<Complex<T> *>(j.out.at);
            size_t rest = row;
            for (size_t k = shape.size(); k-- > 0;) {
                if (k == axis)
                    continue;
                p += ptrdiff_t(rest % shape[k]) * j.out.stride[k];
                rest /= shape[k];
            }
            for (size_t i = 0; i <= n / 2; i++) {
                Complex<T> &x = p[ptrdiff_t(i) * step], other(x.real(), T(0) - x.imag());
                if (i && 2 * i != n)
                    p[ptrdiff_t(n - i) * step] = j.inverse ? x : other;
                if (j.inverse)
                    x = other;
            }
        }
    });
}

// The transform of real numbers in full: along the last axis, then along the others.
template <typename T>
void
real_to_full(const td_ducc_job &j, const shape_t &axes, bool forward)
{
    const shape_t shape = shape_of(j, j.out);
    const size_t axis = axes.back();
    shape_t half = shape;
    half[axis] = shape[axis] / 2 + 1;

    detail_fft::r2c(cfmav<T>(array_of<T>(j, j.in, shape)), array_of<Complex<T>>(j, j.out, half), axis, true,
                    T(j.factor), size_t(j.threads));
    complete<T>(j, shape, axis);
    if (axes.size() > 1) {
        auto out = array_of<Complex<T>>(j, j.out, shape);
        detail_fft::c2c(cfmav<Complex<T>>(out), out, shape_t(axes.begin(), axes.end() - 1), forward, T(1),
                        size_t(j.threads));
    }
}

template <typename T>
void
transform(const td_ducc_job &j)
{
    const shape_t axes(j.axes, j.axes + j.naxes), in = shape_of(j, j.in), out = shape_of(j, j.out);
    const bool forward = !j.inverse;
    const size_t threads = size_t(j.threads);

    switch (j.kind) {
    case TD_DUCC_C2C:
        detail_fft::c2c(cfmav<Complex<T>>(array_of<Complex<T>>(j, j.in, in)), array_of<Complex<T>>(j, j.out, out), axes,
                        forward, T(j.factor), threads);
        break;
    case TD_DUCC_R2C:
        detail_fft::r2c(cfmav<T>(array_of<T>(j, j.in, in)), array_of<Complex<T>>(j, j.out, out), axes, forward,
                        T(j.factor), threads);
        break;
    case TD_DUCC_C2R:
        detail_fft::c2r(cfmav<Complex<T>>(array_of<Complex<T>>(j, j.in, in)), array_of<T>(j, j.out, out), axes, forward,
                        T(j.factor), threads);
        break;
    case TD_DUCC_R2F: real_to_full<T>(j, axes, forward); break;
    }
}

} // namespace
} // namespace DUCC0_NAMESPACE

extern "C" __attribute__((visibility("default"))) td_ducc_fn TD_DUCC_EXPORT;

int
TD_DUCC_EXPORT(const td_ducc_job *j, char *why, size_t n)
{
    using namespace DUCC0_NAMESPACE;

    detail_threading::parallel = j->parallel;
    try {
        if (j->wide)
            transform<double>(*j);
        else
            transform<float>(*j);
    } catch (const std::bad_alloc &) {
        return 1;
    } catch (const std::exception &e) {
        snprintf(why, n, "%s", e.what());
        return 2;
    }
    return 0;
}
