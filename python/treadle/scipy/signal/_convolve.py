"""Convolution and correlation: direct sums where one array is short, Fourier transforms otherwise."""

import functools
import math
import operator

import numpy

import treadle

from ... import _core, fft
from ..._compile._generate import _INDICES, define, index, nest
from ..._compile._jit import jit
from .._ndimage import _filters as filters
from ._support import fast_length

_MODES = ("full", "same", "valid")


@functools.lru_cache(maxsize=64)
def _kernel(ndim, dtype):
    """Compile a kernel that computes out[i], the sum over a of h[a] x[i + start - a], over the indices that exist."""
    letters, inner = list(_INDICES[:ndim]), [f"a{d}" for d in range(ndim)]
    body = ["total = _zero"]
    for d, c in enumerate(letters):
        body.append(f"low{d} = max(0, {c} + s{d} - x.shape[{d}] + 1)")
        body.append(f"high{d} = min(h.shape[{d}], {c} + s{d} + 1)")
    indent = ""
    for d, a in enumerate(inner):
        body.append(f"{indent}for {a} in range(low{d}, high{d}):")
        indent += "    "
    at = ", ".join(f"{c} + s{d} - {a}" for d, (c, a) in enumerate(zip(letters, inner, strict=True)))
    body.append(f"{indent}total += h[{', '.join(inner)}] * x[{at}]")
    body.append(f"out[{index(ndim)}] = total")
    head = f"def convolved(x, h, {', '.join(f's{d}' for d in range(ndim))}, out):"
    lines = [head, *nest([f"out.shape[{d}]" for d in range(ndim)], body), ""]
    return jit(define("\n".join(lines), "convolved", _zero=numpy.dtype(dtype).type(0)))


def _part(n, k, mode):
    """(first index, length) of the part of the full convolution of n and k elements that mode keeps."""
    if mode == "full":
        return 0, n + k - 1
    return ((k - 1) // 2, n) if mode == "same" else (k - 1, n - k + 1)


def _direct(x, h, mode):
    d = numpy.result_type(x.dtype, h.dtype)
    work = numpy.dtype("int64") if d.kind == "b" else d
    x, h = x.astype(work), h.astype(work)
    parts = [_part(n, k, mode) for n, k in zip(x.shape, h.shape, strict=True)]
    out = _core.empty([n for _, n in parts], work, device=x.device)
    if out.size:
        _kernel(x.ndim, str(work))(x, h, *[s for s, _ in parts], out)
    return out != 0 if d.kind == "b" else out


def _checked(in1, in2, mode, name):
    """Both operands as arrays. Mode valid puts the larger one first."""
    x = _core.asarray(in1)
    h = _core.asarray(in2, device=x.device) if not isinstance(in2, _core.ndarray) else in2
    x = _core.asarray(in1, device=h.device) if not isinstance(in1, _core.ndarray) else x
    if x.ndim != h.ndim:
        raise ValueError(f"{name}: both arrays have the same number of dims, not {x.ndim} and {h.ndim}")
    if mode not in _MODES:
        raise ValueError("Acceptable mode flags are 'valid', 'same', or 'full'.")
    if mode == "valid" and x.ndim:
        if all(a <= b for a, b in zip(x.shape, h.shape, strict=True)):
            return h, x
        if not all(a >= b for a, b in zip(x.shape, h.shape, strict=True)):
            raise ValueError("For 'valid' mode, one must be at least as large as the other in every dimension")
    return x, h


def _turned(h):
    h = h[(slice(None, None, -1),) * h.ndim]
    return h.conj() if h.dtype.kind == "c" else h


def choose_conv_method(in1, in2, mode="full", measure=False):
    """'direct' or 'fft', whichever is less work here. Integers too large for float64 get 'direct'."""
    x, h = _checked(in1, in2, mode, "choose_conv_method")
    method = "fft" if _by_transform(x, h) else "direct"
    if not measure:
        return method
    import timeit

    times = {
        m: min(timeit.repeat(lambda m=m: convolve(x, h, mode, m).get(), number=1, repeat=3)) for m in ("fft", "direct")
    }
    return min(times, key=times.get), times


def _by_transform(x, h):
    if x.dtype.kind == "b" and h.dtype.kind == "b" or not x.size or not h.size:
        return False
    if x.dtype.kind in "iub" and h.dtype.kind in "iub":
        small = min(x.size, h.size)
        if small < 256 or int(abs(x).max()) * int(abs(h).max()) * small >= 2**52:
            return False
    full = math.prod(n + k - 1 for n, k in zip(x.shape, h.shape, strict=True))
    return full * min(x.size, h.size) > 60 * full * math.log2(full + 1) + 100_000


def convolve(in1, in2, mode="full", method="auto"):
    """The convolution of two arrays. method: 'direct', 'fft', or 'auto' for the cheaper one."""
    x, h = _checked(in1, in2, mode, "convolve")
    if not x.ndim:
        return x * h
    if method not in ("auto", "fft", "direct"):
        raise ValueError("Acceptable method flags are 'auto', 'direct', or 'fft'.")
    if method == "direct" or method == "auto" and not _by_transform(x, h):
        return _direct(x, h, mode)
    r, d = fftconvolve(x, h, mode), numpy.result_type(x.dtype, h.dtype)
    return (treadle.rint(r) if d.kind in "iu" else r).astype(d)


def correlate(in1, in2, mode="full", method="auto"):
    """The cross-correlation of two arrays: convolve with the second one reversed and conjugated."""
    x, h = _core.asarray(in1), _core.asarray(in2)
    return convolve(x, _turned(h), mode, method)


def correlation_lags(in1_len, in2_len, mode="full"):
    """The lags of the elements of correlate's result along one axis."""
    if mode not in _MODES:
        raise ValueError(f"Mode {mode} is invalid")
    if mode == "full":
        return treadle.arange(-in2_len + 1, in1_len)
    if mode == "same":
        lags = numpy.arange(-in2_len + 1, in1_len)
        mid, bound = lags.size // 2, in1_len // 2
        return _core.asarray(lags[mid - bound : mid + bound + in1_len % 2])
    return treadle.arange(min(0, in1_len - in2_len), max(0, in1_len - in2_len) + 1)


def _transform_axes(x, h, axes, name):
    given = axes is not None
    axes = range(x.ndim) if not given else ([axes] if numpy.isscalar(axes) else axes)
    axes = [operator.index(a) for a in axes]
    if given and not axes:
        raise ValueError("when provided, axes cannot be empty")
    if any(not -x.ndim <= a < x.ndim for a in axes):
        raise ValueError("axes exceeds dimensionality of input")
    axes = sorted({a % x.ndim for a in axes})
    for d, (n, k) in enumerate(zip(x.shape, h.shape, strict=True)):
        if d not in axes and n != k and 1 not in (n, k):
            raise ValueError(f"incompatible shapes for in1 and in2: {x.shape} and {h.shape}")
    return [a for a in axes if x.shape[a] != 1 and h.shape[a] != 1]


def fftconvolve(in1, in2, mode="full", axes=None):
    """The convolution of two arrays over axes (None: all) by Fourier transforms."""
    x, h = _checked(in1, in2, mode, "fftconvolve")
    if not x.ndim:
        return x * h
    if not x.size or not h.size:
        return treadle.zeros((0,), device=x.device)
    work = _transform_axes(x, h, axes, "fftconvolve")
    is_complex = x.dtype.kind == "c" or h.dtype.kind == "c"
    first_shape = x.shape
    shape = [n + k - 1 if d in work else max(n, k) for d, (n, k) in enumerate(zip(x.shape, h.shape, strict=True))]
    if not work:
        full = x * h
        full = full if full.dtype.kind in "fc" else full.astype("float64")
    else:
        x, h = (a if a.dtype.kind in "fc" else a.astype("float64") for a in (x, h))
        fast = [fast_length(shape[a]) for a in work]
        forth, back = (fft.fftn, fft.ifftn) if is_complex else (fft.rfftn, fft.irfftn)
        full = back(forth(x, fast, axes=work) * forth(h, fast, axes=work), fast, axes=work)
        full = full[tuple(slice(n) for n in shape)]
    if mode == "full":
        return full
    cuts = []
    for d, (n, k) in enumerate(zip(first_shape, h.shape, strict=True)):
        wanted = n if mode == "same" else n - k + 1 if d in work else shape[d]
        start = (shape[d] - wanted) // 2
        cuts.append(slice(start, start + wanted))
    return full[tuple(cuts)]


def oaconvolve(in1, in2, mode="full", axes=None):
    """The convolution of two arrays along axes by Fourier transforms of blocks (overlap-add).

    The longer array is cut into blocks, whose length makes the transforms cheapest. Several axes are left to
    fftconvolve."""
    x, h = _checked(in1, in2, mode, "oaconvolve")
    if not x.ndim or not x.size or not h.size:
        return fftconvolve(x, h, mode, axes)
    work = _transform_axes(x, h, axes, "oaconvolve")
    if len(work) != 1 or x.shape != h.shape and max(x.shape[work[0]], h.shape[work[0]]) < 8192:
        return fftconvolve(x, h, mode, axes)
    axis, first = work[0], x.shape
    if x.shape[axis] < h.shape[axis]:
        x, h = h, x
    n, k = x.shape[axis], h.shape[axis]
    if n < 8 * k:
        return fftconvolve(in1, in2, mode, axes)
    full = _by_pieces(x, h, axis)
    if mode == "full":
        return full
    size = first[axis] if mode == "same" else n - k + 1
    start = (n + k - 1 - size) // 2
    return full[(slice(None),) * axis + (slice(start, start + size),)]


def _by_pieces(x, h, axis):
    """The full convolution along axis: blocks of x as rows, all transformed at once, with overlapping ends added."""
    x, h = (a if a.dtype.kind in "fc" else a.astype("float64") for a in (x, h))
    x, h = treadle.moveaxis(x, axis, -1), treadle.moveaxis(h, axis, -1)
    n, k = x.shape[-1], h.shape[-1]
    length = fast_length(8 * k)
    step = length - k + 1
    count = -(-n // step)
    rows = treadle.pad(x, [(0, 0)] * (x.ndim - 1) + [(0, count * step - n)]).reshape((*x.shape[:-1], count, step))
    is_complex = x.dtype.kind == "c" or h.dtype.kind == "c"
    forth, back = (fft.fft, fft.ifft) if is_complex else (fft.rfft, fft.irfft)
    y = back(forth(rows, length) * forth(h, length)[..., None, :], length)
    body = treadle.pad(y[..., :step], [(0, 0)] * (y.ndim - 2) + [(0, 1), (0, 0)])
    ends = treadle.pad(y[..., step:], [(0, 0)] * (y.ndim - 2) + [(1, 0), (0, step - k + 1)])
    full = (body + ends).reshape((*y.shape[:-2], (count + 1) * step))[..., : n + k - 1]
    return treadle.moveaxis(full, -1, axis)


_BOUNDARIES = {"fill": "constant", "pad": "constant", "wrap": "wrap", "circular": "wrap", "symm": "symmetric",
               "symmetric": "symmetric"}  # fmt: skip


def convolve2d(in1, in2, mode="full", boundary="fill", fillvalue=0):
    """The convolution of two images; boundary: 'fill' with fillvalue, 'wrap' or 'symm'."""
    if boundary not in _BOUNDARIES:
        raise ValueError("Acceptable boundary flags are 'fill', 'circular' (or 'wrap'), and 'symmetric' (or 'symm').")
    x, h = _checked(in1, in2, mode, "convolve2d")
    if not x.ndim == h.ndim == 2:
        raise ValueError("convolve2d inputs must both be 2-D arrays")
    how = _BOUNDARIES[boundary]
    if mode == "valid" or how == "constant" and not fillvalue:
        return _direct(x, h, mode)
    d = numpy.result_type(x.dtype, h.dtype)
    width = [(k - 1, k - 1) for k in h.shape]
    padded = treadle.pad(x.astype(d), width, how, **({"constant_values": fillvalue} if how == "constant" else {}))
    full = _direct(padded, h.astype(d), "valid")
    parts = [_part(n, k, mode) for n, k in zip(x.shape, h.shape, strict=True)]
    return full[tuple(slice(s, s + n) for s, n in parts)]


def correlate2d(in1, in2, mode="full", boundary="fill", fillvalue=0):
    """The cross-correlation of two images. Arguments are those of convolve2d."""
    x, h = _core.asarray(in1), _core.asarray(in2)
    if mode == "same":  # For even lengths the centre of the full correlation lies one later than that of convolve.
        full = convolve2d(x, _turned(h), "full", boundary, fillvalue)
        starts = [k // 2 for k in h.shape]
        return full[tuple(slice(s, s + n) for s, n in zip(starts, x.shape, strict=True))]
    return convolve2d(x, _turned(h), mode, boundary, fillvalue)


# ---- ordering and smoothing ----


def order_filter(a, domain, rank):
    """The element of the given rank in the neighbourhood of each point. domain is a footprint of odd sizes; outside the
    array are zeros."""
    x = _core.asarray(a)
    domain = numpy.asarray(domain.get() if isinstance(domain, _core.ndarray) else domain)
    if any(n % 2 != 1 for n in domain.shape):
        raise ValueError("Each dimension of domain argument should have an odd number of elements.")
    if x.dtype.kind not in "iuf" or x.dtype.itemsize == 2 and x.dtype.kind == "f":
        raise ValueError(f"dtype={x.dtype} is not supported by order_filter")
    return filters.rank_filter(x, rank, footprint=domain, mode="constant")


def medfilt(volume, kernel_size=None):
    """The median of a box of odd sizes around each point. Outside the array are zeros."""
    x = treadle.atleast_1d(_core.asarray(volume))
    if x.dtype.kind not in "iuf" or x.dtype.itemsize == 2 and x.dtype.kind == "f":
        raise ValueError(f"dtype={x.dtype} is not supported by medfilt")
    sizes = 3 if kernel_size is None else kernel_size
    sizes = [int(sizes)] * x.ndim if numpy.ndim(sizes) == 0 else [int(s) for s in sizes]
    if any(s % 2 != 1 for s in sizes):
        raise ValueError("Each element of kernel_size should be odd.")
    if any(k > s for k, s in zip(sizes, x.shape, strict=True)):
        import warnings

        warnings.warn("kernel_size exceeds volume extent: the volume will be zero-padded.", stacklevel=2)
    return filters.rank_filter(x, math.prod(sizes) // 2, size=sizes, mode="constant")


def medfilt2d(input, kernel_size=3):
    """The median filter of an image, as medfilt."""
    return medfilt(input, 3 if kernel_size is None else kernel_size)


def wiener(im, mysize=None, noise=None):
    """The Wiener filter, by local means and variances over a box. noise: its power (None: the mean of the
    variances)."""
    x = _core.asarray(im)
    sizes = [3] * x.ndim if mysize is None else [int(mysize)] * x.ndim if numpy.ndim(mysize) == 0 else list(mysize)
    box, size = treadle.ones(sizes, device=x.device), float(math.prod(sizes))
    mean = correlate(x, box, "same") / size
    variance = correlate(x**2, box, "same") / size - mean**2
    noise = variance.mean() if noise is None else noise
    return treadle.where(variance < noise, mean, (x - mean) * (1 - noise / variance) + mean)


def sepfir2d(input, hrow, hcol):
    """Filter an image along rows and then columns by filters of odd lengths, with mirrored borders."""
    x = _core.asarray(input)
    for h in (hrow, hcol):
        if numpy.shape(h)[0] % 2 != 1:
            raise ValueError("hrow and hcol must be odd length")
    r = filters.convolve1d(x if x.dtype.kind in "fc" else x.astype("float64"), hrow, 1, mode="reflect")
    return filters.convolve1d(r, hcol, 0, mode="reflect")
