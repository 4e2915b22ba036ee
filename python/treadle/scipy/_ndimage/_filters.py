"""Linear and rank filters of scipy.ndimage. They sum in float64. Results have the dtype of input or of output."""

import numbers

import numpy

import treadle

from ... import _core
from .._arguments import axis_of, host
from . import _kernels as kernels
from ._support import (
    axes_of,
    check_origin,
    deliver,
    each,
    expand,
    filter_mode,
    footprint_of,
    offsets_of,
    output_dtype,
    real_array,
    spread,
    to_dtype,
)

# ---- along one axis ----


def _by_parts(f, x, weights, cval):
    """Apply f, for real arrays, to the real and imaginary parts of x and weights. Weights are conjugated, as in
    SciPy."""
    x = _core.asarray(x)
    re, im = (x.real, x.imag) if x.dtype.kind == "c" else (x, None)
    w = host(weights)
    cval = complex(cval)
    rr = f(re, w.real, cval.real)
    ii = f(im, w.imag, cval.imag) if im is not None and w.dtype.kind == "c" else None
    ri = f(re, w.imag, cval.real) if w.dtype.kind == "c" else None
    ir = f(im, w.real, cval.imag) if im is not None else None
    real = rr if ii is None else rr + ii
    imag = ir if ri is None else -ri if ir is None else ir - ri
    return real + imag * 1j


def _is_complex(*xs):
    return any(numpy.dtype(getattr(x, "dtype", numpy.asarray(x).dtype)).kind == "c" for x in xs)


def correlate1d(input, weights, axis=-1, output=None, mode="reflect", cval=0.0, origin=0):
    """The correlation with weights along axis. Complex weights are conjugated."""
    x = _core.asarray(input)
    axis = axis_of(axis, x.ndim)
    weights = host(weights)
    if weights.ndim != 1 or weights.size < 1:
        raise RuntimeError("no filter weights given")
    check_origin(len(weights), origin)
    code = filter_mode(mode)
    low = len(weights) // 2 + origin
    if _is_complex(x, weights):
        d = output_dtype(output, x, to_complex=True)

        def one(a, w, c):
            return kernels.along_axis(kernels.SUM, a, axis, w, low, code, c, "float64")

        return deliver(to_dtype(_by_parts(one, x, weights, cval), d), output)
    d = output_dtype(output, x)
    return deliver(kernels.along_axis(kernels.SUM, x, axis, weights, low, code, cval, d), output)


def convolve1d(input, weights, axis=-1, output=None, mode="reflect", cval=0.0, origin=0):
    """The convolution with weights along axis: correlate1d with reversed weights."""
    weights = host(weights)[::-1]
    if weights.dtype.kind == "c":
        weights = weights.conj()
    return correlate1d(input, weights, axis, output, mode, cval, -origin - (len(weights) % 2 == 0))


def _gaussian_weights(sigma, order, radius):
    """A sampled Gaussian (normalized to sum 1) or its derivative: Hermite polynomials times it (DLMF 18.5.13)."""
    if order < 0:
        raise ValueError("order must be non-negative")
    x = numpy.arange(-radius, radius + 1)
    g = numpy.exp(-0.5 * (x / sigma) ** 2)
    g /= g.sum()
    before, p = numpy.zeros(len(x)), numpy.ones(len(x))
    for k in range(order):  # p_k+1 = -(x p_k + k p_k-1) / sigma^2
        before, p = p, -(x * p + k * before) / sigma**2
    return p * g


def _radius(sigma, truncate, radius):
    if radius is None:
        radius = int(truncate * float(sigma) + 0.5)
    if not isinstance(radius, numbers.Integral) or radius < 0:
        raise ValueError("Radius must be a nonnegative integer.")
    return int(radius)


def gaussian_filter1d(
    input, sigma, axis=-1, order=0, output=None, mode="reflect", cval=0.0, truncate=4.0, *, radius=None
):
    """Convolve with a Gaussian, or its derivative, along axis. It ends at truncate sigmas, or at radius."""
    weights = _gaussian_weights(float(sigma), order, _radius(sigma, truncate, radius))[::-1]
    return correlate1d(input, weights, axis, output, mode, cval, 0)


def _in_turn(x, output, steps):
    """Apply steps to x, one after another. Each step stores the output's dtype, as in SciPy."""
    x = _core.asarray(x)
    d = output_dtype(output, x, x.dtype.kind == "c")
    for step in steps:
        x = step(x, d)
    return deliver(to_dtype(x, d) if steps else x.astype(d), output)


def gaussian_filter(
    input, sigma, order=0, output=None, mode="reflect", cval=0.0, truncate=4.0, *, radius=None, axes=None
):
    """gaussian_filter1d along each axis. sigma, order, mode and radius may have one value for each axis."""
    axes = axes_of(axes, _core.asarray(input).ndim)
    n = len(axes)
    rows = zip(axes, each(sigma, n), each(order, n), each(mode, n), each(radius, n), strict=True)
    steps = [
        lambda x, d, a=a, s=s, o=o, m=m, r=r: gaussian_filter1d(x, s, a, o, d, m, cval, truncate, radius=r)
        for a, s, o, m, r in rows
        if s > 1e-15
    ]
    return _in_turn(input, output, steps)


def uniform_filter1d(input, size, axis=-1, output=None, mode="reflect", cval=0.0, origin=0):
    """The mean of size elements along axis."""
    x = _core.asarray(input)
    axis = axis_of(axis, x.ndim)
    if size < 1:
        raise RuntimeError("incorrect filter size")
    check_origin(size, origin)
    w, low, code = numpy.ones(size), size // 2 + origin, filter_mode(mode)
    if x.dtype.kind == "c":
        d = output_dtype(output, x, to_complex=True)
        r = _by_parts(lambda a, _, c: kernels.along_axis(kernels.MEAN, a, axis, w, low, code, c, "float64"), x, w, cval)
        return deliver(to_dtype(r, d), output)
    d = output_dtype(output, x)
    return deliver(kernels.along_axis(kernels.MEAN, x, axis, w, low, code, cval, d), output)


def uniform_filter(input, size=3, output=None, mode="reflect", cval=0.0, origin=0, *, axes=None):
    """uniform_filter1d along each of the axes."""
    axes = axes_of(axes, _core.asarray(input).ndim)
    n = len(axes)
    rows = zip(axes, each(size, n), each(mode, n), each(origin, n), strict=True)
    steps = [
        lambda x, d, a=a, s=s, m=m, o=o: uniform_filter1d(x, int(s), a, d, m, cval, o) for a, s, m, o in rows if s > 1
    ]
    return _in_turn(input, output, steps)


def _extreme1d(what, input, size, axis, output, mode, cval, origin):
    x = real_array(input)
    axis = axis_of(axis, x.ndim)
    if size < 1:
        raise RuntimeError("incorrect filter size")
    check_origin(size, origin)
    d = output_dtype(output, x)
    r = kernels.along_axis(what, x, axis, numpy.ones(size), size // 2 + origin, filter_mode(mode), cval, d)
    return deliver(r, output)


def minimum_filter1d(input, size, axis=-1, output=None, mode="reflect", cval=0.0, origin=0):
    """The minimum of size elements along axis."""
    return _extreme1d(kernels.LEAST, input, size, axis, output, mode, cval, origin)


def maximum_filter1d(input, size, axis=-1, output=None, mode="reflect", cval=0.0, origin=0):
    """The maximum of size elements along axis."""
    return _extreme1d(kernels.MOST, input, size, axis, output, mode, cval, origin)


# ---- derivatives ----


def _derivative(input, axis, smooth, output, mode, cval):
    x = _core.asarray(input)
    axis = axis_of(axis, x.ndim)
    modes = each(mode, x.ndim)
    steps = [lambda a, d: correlate1d(a, [-1, 0, 1], axis, d, modes[axis], cval, 0)]
    steps += [
        lambda a, d, k=k: correlate1d(a, smooth, k, d, modes[k], cval, 0) for k in range(x.ndim) if k != axis
    ]
    return _in_turn(x, output, steps)


def prewitt(input, axis=-1, output=None, mode="reflect", cval=0.0):
    """The Prewitt filter: the difference along axis, summed over three elements along the other axes."""
    return _derivative(input, axis, [1, 1, 1], output, mode, cval)


def sobel(input, axis=-1, output=None, mode="reflect", cval=0.0):
    """The Sobel filter: the difference along axis, summed with weights 1, 2, 1 along the other axes."""
    return _derivative(input, axis, [1, 2, 1], output, mode, cval)


def _over_axes(input, f, output, mode, cval, given, axes, term, whole):
    """whole(the sum over axes of term(f(input, axis, …))). Without axes the result is the input."""
    x = _core.asarray(input)
    axes = axes_of(axes, x.ndim)
    d = output_dtype(output, x, x.dtype.kind == "c")
    total = None
    for axis, m in zip(axes, each(mode, len(axes)), strict=True):
        r = term(_core.asarray(f(x, axis, d, m, cval, *given[0], **given[1])))
        total = r if total is None else to_dtype(total + r, d)
    return deliver(to_dtype(x if total is None else whole(total), d), output)


def generic_laplace(
    input, derivative2, output=None, mode="reflect", cval=0.0, extra_arguments=(), extra_keywords=None, *, axes=None
):
    """The sum over axes of derivative2(input, axis, output, mode, cval, *extra_arguments, **extra_keywords)."""
    given = extra_arguments, extra_keywords or {}
    return _over_axes(input, derivative2, output, mode, cval, given, axes, lambda r: r, lambda total: total)


def laplace(input, output=None, mode="reflect", cval=0.0, *, axes=None):
    """The Laplacian: the sum of the second differences along the axes."""

    def second(x, axis, output, mode, cval):
        return correlate1d(x, [1, -2, 1], axis, output, mode, cval, 0)

    return generic_laplace(input, second, output, mode, cval, axes=axes)


def gaussian_laplace(input, sigma, output=None, mode="reflect", cval=0.0, *, axes=None, **kwargs):
    """The Laplacian of the image smoothed by a Gaussian."""
    x = _core.asarray(input)
    axes = axes_of(axes, x.ndim)

    def second(x, axis, output, mode, cval):
        return gaussian_filter(x, sigma, [2 * (a == axis) for a in axes], output, mode, cval, axes=axes, **kwargs)

    return generic_laplace(x, second, output, mode, cval, axes=axes)


def generic_gradient_magnitude(
    input, derivative, output=None, mode="reflect", cval=0.0, extra_arguments=(), extra_keywords=None, *, axes=None
):
    """The root of the sum over axes of derivative(input, axis, output, mode, cval, …) squared."""
    given = extra_arguments, extra_keywords or {}
    return _over_axes(input, derivative, output, mode, cval, given, axes, lambda r: r * r, treadle.sqrt)


def gaussian_gradient_magnitude(input, sigma, output=None, mode="reflect", cval=0.0, *, axes=None, **kwargs):
    """The magnitude of the gradient of the image smoothed by a Gaussian."""
    x = _core.asarray(input)
    axes = axes_of(axes, x.ndim)

    def first(x, axis, output, mode, cval):
        return gaussian_filter(x, sigma, [int(a == axis) for a in axes], output, mode, cval, axes=axes, **kwargs)

    return generic_gradient_magnitude(x, first, output, mode, cval, axes=axes)


# ---- over footprints ----


def _correlated(input, weights, output, mode, cval, origin, axes, turned):
    x = _core.asarray(input)
    axes = axes_of(axes, x.ndim)
    w = host(weights)
    if w.ndim != len(axes):
        raise RuntimeError(f"weights.ndim ({w.ndim}) must match len(axes) ({len(axes)})")
    origins = spread(each(origin, len(axes)), axes, x.ndim, 0)
    w = expand(w, axes, x.ndim)
    if turned:
        w = w[(slice(None, None, -1),) * w.ndim]
        origins = [-o - (s % 2 == 0) for o, s in zip(origins, w.shape, strict=True)]
        if w.dtype.kind == "c":
            w = w.conj()
    if not w.size:
        return deliver(treadle.zeros(x.shape, output_dtype(output, x), device=x.device), output)
    for s, o in zip(w.shape, origins, strict=True):
        check_origin(s, o)
    modes = spread([filter_mode(m) for m in each(mode, len(axes))], axes, x.ndim, 0)
    places = numpy.abs(w) > 0 if (numpy.abs(w) > 0).any() else numpy.ones(w.shape, bool)
    offsets, values = offsets_of(places, origins), w[places]
    if _is_complex(x, w):
        d = output_dtype(output, x, to_complex=True)
        r = _by_parts(
            lambda a, v, c: kernels.over_footprint(kernels.SUM, a, offsets, v, modes, c, "float64"), x, values, cval
        )
        return deliver(to_dtype(r, d), output)
    d = output_dtype(output, x)
    return deliver(kernels.over_footprint(kernels.SUM, x, offsets, values, modes, cval, d), output)


def correlate(input, weights, output=None, mode="reflect", cval=0.0, origin=0, *, axes=None):
    """The correlation with weights. Complex weights are conjugated."""
    return _correlated(input, weights, output, mode, cval, origin, axes, False)


def convolve(input, weights, output=None, mode="reflect", cval=0.0, origin=0, *, axes=None):
    """The convolution with weights: correlate with reversed weights."""
    return _correlated(input, weights, output, mode, cval, origin, axes, True)


def extreme(least, input, size, footprint, structure, output, mode, cval, origin, axes):
    """The minimum or maximum over a footprint. A structure is subtracted for the minimum, added for the maximum."""
    x = real_array(input)
    axes = axes_of(axes, x.ndim)
    n = len(axes)
    if structure is None and (footprint is None or host(footprint).all()):
        if footprint is None and size is None:
            raise RuntimeError("no footprint provided")
        sizes = each(size, n) if footprint is None else host(footprint).shape
        if len(sizes) != n:
            raise RuntimeError(f"footprint.ndim ({len(sizes)}) must match len(axes) ({n})")
        rows = zip(axes, sizes, each(mode, n), each(origin, n), strict=True)
        what = kernels.LEAST if least else kernels.MOST
        steps = [
            lambda a, d, k=k, s=s, m=m, o=o: _extreme1d(what, a, int(s), k, d, m, cval, o)
            for k, s, m, o in rows
            if s > 1
        ]
        return _in_turn(x, output, steps)
    if not isinstance(mode, str):
        raise RuntimeError("A sequence of modes is not supported for non-separable footprints")
    if structure is not None:
        structure = host(structure, float)
        footprint = numpy.ones(structure.shape, bool) if footprint is None else footprint
    f = footprint_of(None, footprint, x.ndim, axes)
    offsets = offsets_of(f, spread(each(origin, n), axes, x.ndim, 0))
    modes, d = [filter_mode(mode)] * x.ndim, output_dtype(output, x)
    if structure is None:
        what, weights = (kernels.LEAST if least else kernels.MOST), numpy.ones(len(offsets))
    else:
        what, weights = (kernels.LEAST_LESS if least else kernels.MOST_MORE), expand(structure, axes, x.ndim)[f]
    return deliver(kernels.over_footprint(what, x, offsets, weights, modes, cval, d), output)


def minimum_filter(input, size=None, footprint=None, output=None, mode="reflect", cval=0.0, origin=0, *, axes=None):
    """The minimum over a box or a footprint around each element."""
    return extreme(True, input, size, footprint, None, output, mode, cval, origin, axes)


def maximum_filter(input, size=None, footprint=None, output=None, mode="reflect", cval=0.0, origin=0, *, axes=None):
    """The maximum over a box or a footprint around each element."""
    return extreme(False, input, size, footprint, None, output, mode, cval, origin, axes)


def _ranked(input, rank_among, size, footprint, output, mode, cval, origin, axes):
    x = real_array(input)
    axes = axes_of(axes, x.ndim)
    f = footprint_of(size, footprint, x.ndim, axes, "no footprint or filter size provided")
    origins = spread(each(origin, len(axes)), axes, x.ndim, 0)
    offsets = offsets_of(f, origins)
    rank = rank_among(len(offsets))
    rank += len(offsets) if rank < 0 else 0
    if not 0 <= rank < len(offsets):
        raise RuntimeError("rank not within filter footprint size")
    if rank in (0, len(offsets) - 1):
        return extreme(rank == 0, x, None, f, None, output, mode, cval, origins, None)
    modes = spread([filter_mode(m) for m in each(mode, len(axes))], axes, x.ndim, 0)
    d = output_dtype(output, x)
    return deliver(to_dtype(kernels.rank_of(x, offsets, rank, modes, cval), d), output)


def rank_filter(input, rank, size=None, footprint=None, output=None, mode="reflect", cval=0.0, origin=0, *, axes=None):
    """The element of the given rank in a box or a footprint. A negative rank counts from the largest."""
    return _ranked(input, lambda n: int(rank), size, footprint, output, mode, cval, origin, axes)


def median_filter(input, size=None, footprint=None, output=None, mode="reflect", cval=0.0, origin=0, *, axes=None):
    """The median over a box or a footprint around each element. For an even count it is the upper of the middle two."""
    return _ranked(input, lambda n: n // 2, size, footprint, output, mode, cval, origin, axes)


def percentile_filter(
    input, percentile, size=None, footprint=None, output=None, mode="reflect", cval=0.0, origin=0, *, axes=None
):
    """The given percentile over a box or a footprint around each element."""
    p = percentile + 100.0 if percentile < 0 else percentile
    if not 0 <= p <= 100:
        raise RuntimeError("invalid percentile")
    return _ranked(
        input, lambda n: n - 1 if p == 100 else int(n * p / 100.0), size, footprint, output, mode, cval, origin, axes
    )
