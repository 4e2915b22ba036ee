"""Resampling by transforms and by filters, decimation, detrending, analytic signals, Savitzky-Golay filters."""

import functools
import math
import operator

import numpy

import treadle

from ... import _core, fft
from ..._compile._jit import jit
from .._arguments import axis_of, host
from .._ndimage import _filters as filters
from ._filter import cut, filtfilt, lfilter, sosfilt, sosfiltfilt
from ._support import floating
from ._windows import get_window


def detrend(data, axis=-1, type="linear", bp=0, overwrite_data=False):
    """data minus its mean (constant) or its linear trend (linear) between break points bp, along axis."""
    if type not in ("linear", "l", "constant", "c"):
        raise ValueError("Trend type must be 'linear' or 'constant'.")
    x = floating(data)
    if type in ("constant", "c"):
        return x - x.mean(axis, keepdims=True)
    axis = axis_of(axis, x.ndim)
    n = x.shape[axis]
    bp = sorted({0, n, *numpy.atleast_1d(host(bp)).tolist()})
    if bp[-1] > n:
        raise ValueError("Breakpoints must be less than length of data along given axis.")
    pieces = []
    for low, high in zip(bp[:-1], bp[1:], strict=True):
        part = cut(x, axis, low, high)
        shape = [1] * x.ndim
        shape[axis] = high - low
        t = numpy.arange(high - low) - (high - low - 1) / 2
        norm = float((t * t).sum()) or 1.0
        t = _core.asarray(t.astype(x.real.dtype).reshape(shape), device=x.device)
        pieces.append(part - part.mean(axis, keepdims=True) - t * ((part * t).sum(axis, keepdims=True) / norm))
    return pieces[0] if len(pieces) == 1 else treadle.concatenate(pieces, axis)


# ---- analytic signals ----


def _one_sided(n, middle):
    """The factors that make a spectrum one-sided: 1 at frequency 0, 2 at positive frequencies, 0 at negative ones. With
    middle the Nyquist frequency of an even n gets 1 too."""
    h = numpy.zeros(n)
    h[0] = 1
    h[1 : (n + 1) // 2] = 2
    if middle and n % 2 == 0:
        h[n // 2] = 1
    return h


def _real(x, name):
    x = _core.asarray(x)
    if x.dtype.kind == "c":
        raise ValueError("x must be real.")
    return floating(x)


def hilbert(x, N=None, axis=-1):
    """The analytic signal of x along axis, which has no negative frequencies."""
    x = _real(x, "hilbert")
    n = x.shape[axis] if N is None else N
    if n <= 0:
        raise ValueError("N must be positive.")
    shape = [1] * x.ndim
    shape[axis] = n
    h = _core.asarray(_one_sided(n, True).astype(x.dtype).reshape(shape), device=x.device)
    return fft.ifft(fft.fft(x, n, axis=axis) * h, axis=axis)


def hilbert2(x, N=None, axes=(-2, -1)):
    """The analytic signal of x over two axes."""
    x = treadle.atleast_2d(_real(x, "hilbert2"))
    if len(axes) != 2:
        raise ValueError("axes must be a tuple of length 2")
    if axes[0] == axes[1]:
        raise ValueError("axes must contain 2 distinct axes")
    sizes = (x.shape[axes[0]], x.shape[axes[1]]) if N is None else (N, N) if isinstance(N, int) else tuple(N)
    if len(sizes) != 2 or min(sizes) <= 0:
        raise ValueError("N must be positive: one number or two")
    r = fft.fft2(x, sizes, axes=axes)
    for n, axis in zip(sizes, axes, strict=True):
        shape = [1] * x.ndim
        shape[axis] = n
        r = r * _core.asarray(_one_sided(n, False).astype(x.dtype).reshape(shape), device=x.device)
    return fft.ifft2(r, axes=axes)


# ---- by transforms ----


def resample(x, num, t=None, axis=0, window=None, domain="time"):
    """x resampled to num points along axis, by its Fourier series. With t the result is (samples, their times)."""
    if domain not in ("time", "freq"):
        raise ValueError(f"Parameter domain={domain!r} not in ('time', 'freq')!")
    x = floating(x)
    x = treadle.moveaxis(x, axis, -1) if x.ndim > 1 else x
    n = x.shape[-1]
    m = min(num, n)
    w = None
    if callable(window):
        w = _core.asarray(window(fft.fftfreq(n)), device=x.device)
    elif hasattr(window, "shape"):
        if window.shape != (n,):
            raise ValueError(f"window.shape={window.shape} != ({n},)")
        w = _core.asarray(window, device=x.device)
    elif window is not None:
        w = fft.fftshift(get_window(window, n, device=x.device))
    half = m // 2 + 1
    if domain == "time" and x.dtype.kind != "c":
        r = fft.rfft(x)
        if w is not None:
            k = r.shape[-1]
            w = treadle.concatenate([w[:1], (w[1:k] + w[::-1][: k - 1]) / 2]) if k > 1 else w[:1]
            r = r * w.astype(x.dtype)
        factor = numpy.full(half, num / n)
        if m % 2 == 0 and num != n:
            factor[m // 2] *= 2 if num < n else 0.5
        y = fft.irfft(r[..., :half] * _core.asarray(factor.astype(x.dtype), device=x.device), num)
    else:
        r = fft.fft(x) if domain == "time" else x
        r = r if w is None else r * w
        y = fft.ifft(_moved(r, num, n, m, half) * (num / n), num)
    y = treadle.moveaxis(y, -1, axis) if y.ndim > 1 else y
    if t is None:
        return y
    return y, t[0] + (t[1] - t[0]) * (n / num) * treadle.arange(num, device=x.device)


def _moved(r, num, n, m, half):
    """A two-sided spectrum of n points, cut or padded with zeros to num points."""
    low, high = r[..., :half], r[..., n - (m - half) :]
    if m % 2 == 0 and num != n:
        edge = r[..., m // 2 : m // 2 + 1]
        if num < n:
            edge = edge + r[..., n - m // 2 : n - m // 2 + 1]
        else:
            edge = edge * 0.5
            high = treadle.concatenate([edge, high], -1)
        low = treadle.concatenate([low[..., : m // 2], edge], -1)
    gap = num - low.shape[-1] - high.shape[-1]
    zeros = treadle.zeros((*r.shape[:-1], gap), dtype=r.dtype, device=r.device)
    return treadle.concatenate([low, zeros, high], -1)


# ---- by filters ----


@jit
def _rates(x, h, up, down, first, out):
    """out[m] += sum over k of h[m down - k up] x[k + first]. Lines are columns."""
    for m in range(out.shape[0]):
        for j in range(out.shape[1]):
            t = m * down
            high = min(t // up, x.shape[0] - 1 - first)
            low = max(-((h.shape[0] - 1 - t) // up), -first)
            total = out[m, j]
            for k in range(low, high + 1):
                total += h[t - k * up] * x[k + first, j]
            out[m, j] = total


_PAD_MODES = {"wrap": "wrap", "edge": "edge", "symmetric": "symmetric", "reflect": "reflect"}
_EXTENSIONS = ("constant", "symmetric", "reflect", "edge", "wrap", "smooth", "antisymmetric", "antireflect", "line")


def _extension(x, n, mode, cval):
    """x, whose lines are columns, extended by n elements at both ends."""
    width = [(n, n), (0, 0)]
    if mode == "constant":
        return treadle.pad(x, width, "constant", constant_values=cval)
    if mode in _PAD_MODES:
        return treadle.pad(x, width, _PAD_MODES[mode])
    if mode == "antireflect":
        return treadle.pad(x, width, "reflect", reflect_type="odd")
    if mode == "antisymmetric":
        size, k = x.shape[0], numpy.arange(-n, x.shape[0] + n)
        sign = numpy.where((k // size) % 2 == 0, 1, -1).astype(x.dtype)[:, None]
        return treadle.pad(x, width, "symmetric") * _core.asarray(sign, device=x.device)
    steps = _core.asarray(numpy.arange(1, n + 1, dtype=x.real.dtype)[:, None], device=x.device)
    if mode == "line":
        before = after = (x[-1:] - x[:1]) / max(x.shape[0] - 1, 1)
    else:
        before, after = x[1:2] - x[:1], x[-1:] - x[-2:-1]
    return treadle.concatenate([x[:1] - steps[::-1] * before, x, x[-1:] + steps * after], 0)


def upfirdn(h, x, up=1, down=1, axis=-1, mode="constant", cval=0):
    """Upsample x along axis by up (with zeros), filter by h, and keep every down-th element."""
    if mode not in _EXTENSIONS:
        raise ValueError(f"mode {mode!r} is none of {', '.join(_EXTENSIONS)}")
    up, down = operator.index(up), operator.index(down)
    if up < 1 or down < 1:
        raise ValueError("Both up and down must be >= 1")
    h, x = _core.asarray(h), _core.asarray(x)
    h = h if h.device == x.device else _core.asarray(h.get(), device=x.device)
    if h.ndim != 1 or not h.size:
        raise ValueError("h must be 1-D with non-zero length")
    d = numpy.result_type(h.dtype, x.dtype, numpy.float32)
    axis = axis_of(axis, x.ndim)
    lines = treadle.moveaxis(x, axis, 0)
    rest = lines.shape[1:]
    lines = lines.reshape((lines.shape[0], math.prod(rest))).astype(d)
    n, first = lines.shape[0], 0
    size = ((n - 1) * up + h.size - 1) // down + 1
    if mode != "constant" or cval:
        first = -(-h.size // up)
        lines = _extension(lines, first, mode, cval)
    out = treadle.copy(treadle.zeros((size, lines.shape[1]), dtype=d, device=x.device))
    if out.size:
        _rates(treadle.ascontiguousarray(lines), h.astype(d), up, down, first, out)
    return treadle.moveaxis(out.reshape((size, *rest)), 0, axis)


def _low_pass(taps, cutoff, window):
    """firwin's low-pass filter, of sum 1. cutoff is relative to the Nyquist frequency."""
    n = numpy.arange(taps) - (taps - 1) / 2
    h = cutoff * numpy.sinc(cutoff * n) * get_window(window, taps, fftbins=False).get()
    return h / h.sum()


_BACKGROUND = {"mean": treadle.mean, "minimum": treadle.min, "maximum": treadle.max}


def resample_poly(x, up, down, axis=0, window=("kaiser", 5.0), padtype="constant", cval=None):
    """x resampled along axis by up / down with a low-pass filter. window: the filter's window, or its coefficients."""
    x = _core.asarray(x)
    if up != int(up):
        raise ValueError("up must be an integer")
    if down != int(down):
        raise ValueError("down must be an integer")
    up, down = int(up), int(down)
    if up < 1 or down < 1:
        raise ValueError("up and down must be >= 1")
    if cval is not None and padtype != "constant":
        raise ValueError("cval has no effect when padtype is ", padtype)
    common = math.gcd(up, down)
    up, down = up // common, down // common
    if up == down == 1:
        return treadle.copy(x)
    n = x.shape[axis]
    size = -(-n * up // down)
    if isinstance(window, (list, numpy.ndarray, _core.ndarray)):
        h = host(window)
        if h.ndim > 1:
            raise ValueError("window must be 1-D")
        half = (h.size - 1) // 2
    else:
        half = 10 * max(up, down)
        h = _low_pass(2 * half + 1, 1.0 / max(up, down), window)
        h = h.astype(x.dtype) if x.dtype.kind in "fc" else h
    before = down - half % down
    skip = (half + before) // down
    after = 0
    while ((n - 1) * up + h.size + before + after - 1) // down + 1 < size + skip:
        after += 1
    h = numpy.concatenate([numpy.zeros(before, h.dtype), h * up, numpy.zeros(after, h.dtype)])
    background = None
    keywords = {"mode": "constant", "cval": 0}
    if padtype in _BACKGROUND or padtype == "median":
        f = treadle.median if padtype == "median" else _BACKGROUND[padtype]
        background = f(x, axis=axis, keepdims=True)
        x = x - background
    elif padtype in _EXTENSIONS:
        keywords = {"mode": padtype, "cval": (cval or 0) if padtype == "constant" else 0}
    else:
        raise ValueError(
            f"padtype must be one of: maximum, mean, median, minimum, {', '.join(_EXTENSIONS)}, not {padtype}"
        )
    y = cut(upfirdn(_core.asarray(h, device=x.device), x, up, down, axis, **keywords), axis, skip, skip + size)
    return y if background is None else y + background


def decimate(x, q, n=None, ftype="iir", axis=-1, zero_phase=True):
    """Every q-th element of x along axis after a low-pass filter: 'iir' (designed by SciPy), 'fir', or a dlti."""
    x, q = _core.asarray(x), operator.index(q)
    n = n if n is None else operator.index(n)
    d = x.dtype if x.dtype.kind in "fc" and x.dtype.itemsize > 2 else numpy.dtype("float64")
    if ftype == "fir":
        taps = (20 * q if n is None else n) + 1
        return _decimated_fir(x, _low_pass(taps, 1.0 / q, "hamming").astype(d), q, axis, zero_phase)
    if ftype == "iir":
        sos = _design(8 if n is None else n, q).astype(d)
        y = sosfiltfilt(sos, x, axis) if zero_phase else sosfilt(sos, x, axis)
        return cut(y, axis, None, None, q)
    if not hasattr(ftype, "to_tf"):
        raise ValueError("invalid ftype")
    system = ftype.to_tf()
    b, a = (host(v) for v in (system.num, system.den))
    if len(a) == 1:
        return _decimated_fir(x, b / a, q, axis, zero_phase)
    y = filtfilt(b, a, x, axis) if zero_phase else lfilter(b, a, x, axis)
    return cut(y, axis, None, None, q)


@functools.cache
def _design(n, q):
    """The coefficients of decimate's filter. They are host numbers, so no array is copied."""
    try:
        from scipy.signal import cheby1
    except ImportError as e:
        raise _core.MissingLibraryError("decimate's filter is designed by SciPy: pip install scipy") from e
    return cheby1(n, 0.05, 0.8 / q, output="sos")


def _decimated_fir(x, b, q, axis, zero_phase):
    if zero_phase:
        return resample_poly(x, 1, q, axis, window=b)
    return cut(upfirdn(b, x, 1, q, axis), axis, None, -(-x.shape[axis] // q))


# ---- Savitzky-Golay filters ----


def savgol_coeffs(window_length, polyorder, deriv=0, delta=1.0, pos=None, use="conv", *, xp=None, device=None):
    """The coefficients of a Savitzky-Golay filter: of a polynomial fit to window_length points, or its derivative."""
    return _core.asarray(_savgol(window_length, polyorder, deriv, delta, pos, use), device=device)


def _savgol(length, order, deriv, delta, pos=None, use="conv"):
    if order >= length:
        raise ValueError("polyorder must be less than window_length.")
    half, rest = divmod(length, 2)
    if pos is None:
        pos = half if rest else half - 0.5
    if not 0 <= pos < length:
        raise ValueError("pos must be nonnegative and less than window_length.")
    if use not in ("conv", "dot"):
        raise ValueError("`use` must be 'conv' or 'dot'")
    if deriv > order:
        return numpy.zeros(length)
    x = numpy.arange(-pos, length - pos, dtype=float)
    x = x[::-1] if use == "conv" else x
    powers = x ** numpy.arange(order + 1).reshape(-1, 1)
    y = numpy.zeros(order + 1)
    y[deriv] = math.factorial(deriv) / delta**deriv
    return numpy.linalg.lstsq(powers, y, rcond=None)[0]


def savgol_filter(x, window_length, polyorder, deriv=0, delta=1.0, axis=-1, mode="interp", cval=0.0):
    """x smoothed along axis by a Savitzky-Golay filter, or its derivative. mode: how x goes on beyond its ends."""
    if mode not in ("mirror", "constant", "nearest", "interp", "wrap"):
        raise ValueError("mode must be 'mirror', 'constant', 'nearest' 'wrap' or 'interp'.")
    x = _core.asarray(x)
    x = x if str(x.dtype) in ("float32", "float64") else x.astype("float64")
    weights = _savgol(window_length, polyorder, deriv, delta)
    if mode != "interp":
        return filters.convolve1d(x, weights, axis, mode=mode, cval=cval)
    axis = axis_of(axis, x.ndim)
    n, half = x.shape[axis], window_length // 2
    if window_length > n:
        raise ValueError("If mode is 'interp', window_length must be less than or equal to the size of x.")
    middle = filters.convolve1d(x, weights, axis, mode="constant")
    rows = [_savgol(window_length, polyorder, deriv, delta, p, "dot") for p in range(window_length)]
    first, last = numpy.array(rows[:half]), numpy.array(rows[window_length - half :])

    def fitted(matrix, part):
        part = treadle.moveaxis(part, axis, -1)
        r = (part[..., None, :] * _core.asarray(matrix.astype(x.dtype), device=x.device)).sum(-1)
        return treadle.moveaxis(r, -1, axis)

    if not half:
        return middle
    ends = fitted(first, cut(x, axis, 0, window_length)), fitted(last, cut(x, axis, n - window_length, n))
    return treadle.concatenate([ends[0], cut(middle, axis, half, n - half), ends[1]], axis)
