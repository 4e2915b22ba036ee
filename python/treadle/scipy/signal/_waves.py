"""Waveforms, chirp z-transforms, extrema and wavelets, as expressions of arrays."""

import cmath
import math

import numpy

import treadle

from ... import _core, fft
from .._arguments import host
from ._convolve import convolve
from ._support import cut, fast_length


def _times(t):
    t = _core.asarray(t)
    return t if t.dtype.kind == "f" else t.astype("float64")


def _turns(t, share):
    """(t modulo 2 pi, share, a mask of where share is outside 0 to 1), all broadcast."""
    t = _times(t).astype("float64")
    share = share if isinstance(share, _core.ndarray) else _core.asarray(share, device=t.device)
    t, w = treadle.broadcast_arrays(t, share)
    return treadle.remainder(t, 2 * math.pi), w, (w > 1) | (w < 0)


def sawtooth(t, width=1):
    """A sawtooth of period 2 pi: it rises from -1 to 1 over the fraction width of a period, and falls over the rest."""
    t, w, bad = _turns(t, width)
    rising = t < w * (2 * math.pi)
    up = t / (math.pi * treadle.where(w == 0, 1, w)) - 1
    down = (math.pi * (w + 1) - t) / (math.pi * treadle.where(w == 1, 1, 1 - w))
    return treadle.where(bad, math.nan, treadle.where(rising, up, down))


def square(t, duty=0.5):
    """A square wave of period 2 pi: 1 over the fraction duty of a period, -1 over the rest."""
    t, w, bad = _turns(t, duty)
    return treadle.where(bad, math.nan, treadle.where(t < w * (2 * math.pi), 1.0, -1.0))


def gausspulse(t, fc=1000, bw=0.5, bwr=-6, tpr=-60, retquad=False, retenv=False):
    """A Gaussian-modulated sinusoid of frequency fc. retquad adds the quadrature (sine), retenv the envelope."""
    if fc < 0:
        raise ValueError(f"Center frequency (fc={fc:.2f}) must be >=0.")
    if bw <= 0:
        raise ValueError(f"Fractional bandwidth (bw={bw:.2f}) must be > 0.")
    if bwr >= 0:
        raise ValueError(f"Reference level for bandwidth (bwr={bwr:.2f}) must be < 0 dB")
    a = -((math.pi * fc * bw) ** 2) / (4.0 * math.log(10.0 ** (bwr / 20.0)))
    if isinstance(t, str):
        if t != "cutoff":
            raise ValueError("If `t` is a string, it must be 'cutoff'")
        if tpr >= 0:
            raise ValueError("Reference level for time cutoff must be < 0 dB")
        return math.sqrt(-math.log(10.0 ** (tpr / 20.0)) / a)
    t = _times(t)
    envelope = treadle.exp(-a * t * t)
    wave, quad = envelope * treadle.cos(2 * math.pi * fc * t), envelope * treadle.sin(2 * math.pi * fc * t)
    r = (wave, *((quad,) if retquad else ()), *((envelope,) if retenv else ()))
    return r if len(r) > 1 else wave


def _chirp_phase(t, f0, t1, f1, method, vertex_zero):
    f0, t1, f1, turn = float(f0), float(t1), float(f1), 2 * math.pi
    if method in ("linear", "lin", "li"):
        return turn * (f0 * t + 0.5 * ((f1 - f0) / t1) * t * t)
    if method in ("quadratic", "quad", "q"):
        beta = (f1 - f0) / t1**2
        if vertex_zero:
            return turn * (f0 * t + beta * t**3 / 3)
        return turn * (f1 * t + beta * ((t1 - t) ** 3 - t1**3) / 3)
    if method in ("logarithmic", "log", "lo"):
        if f0 * f1 <= 0.0:
            raise ValueError("For a logarithmic chirp, f0 and f1 must be nonzero and have the same sign.")
        if f0 == f1:
            return turn * f0 * t
        return turn * (t1 / math.log(f1 / f0)) * f0 * (treadle.power(f1 / f0, t / t1) - 1.0)
    if method in ("hyperbolic", "hyp"):
        if f0 == 0 or f1 == 0:
            raise ValueError("For a hyperbolic chirp, f0 and f1 must be nonzero.")
        if f0 == f1:
            return turn * f0 * t
        singular = -f1 * t1 / (f0 - f1)
        return turn * (-singular * f0) * treadle.log(abs(1 - t / singular))
    raise ValueError(
        f"method must be 'linear', 'quadratic', 'logarithmic', or 'hyperbolic', but a value of {method!r} was given."
    )


def chirp(t, f0, t1, f1, method="linear", phi=0, vertex_zero=True, *, complex=False):
    """A cosine whose frequency goes from f0 at time 0 to f1 at t1. phi: the phase in degrees."""
    phase = _chirp_phase(_times(t), f0, t1, f1, method, vertex_zero) + math.radians(phi)
    return treadle.exp(1j * phase) if complex else treadle.cos(phase)


def sweep_poly(t, poly, phi=0):
    """A cosine whose frequency is a polynomial of t: a poly1d, or coefficients with the highest power first."""
    t = _times(t)
    c = numpy.asarray(getattr(poly, "coeffs", None) if hasattr(poly, "coeffs") else host(poly), float)
    integral = numpy.concatenate([c / numpy.arange(len(c), 0, -1), [0.0]])
    return treadle.cos(2 * math.pi * treadle.polyval(_core.asarray(integral, device=t.device), t) + phi * math.pi / 180)


def unit_impulse(shape, idx=None, dtype=float):
    """Zeros with a 1 at idx: an index, one number for all axes, 'mid' for the centre, or None for the first element."""
    shape = tuple(numpy.atleast_1d(host(shape)).tolist())
    if idx is None:
        idx = (0,) * len(shape)
    elif isinstance(idx, str):
        if idx != "mid":
            raise IndexError(f"idx is a place, 'mid' or None, not {idx!r}")
        idx = tuple(n // 2 for n in shape)
    elif not hasattr(idx, "__iter__"):
        idx = (idx,) * len(shape)
    out = treadle.zeros(shape, dtype=dtype)
    out[tuple(idx)] = 1
    return out


# ---- chirp z-transforms ----


def _check_sizes(*sizes):
    for size in sizes:
        if size < 1 or int(size) != size:
            raise ValueError(f"Invalid number of CZT points ({size}): a positive integer")


class CZT:
    """The chirp z-transform of signals of n elements, at m points a w^-k, by Bluestein's algorithm. Call it with x."""

    def __init__(self, n, m=None, w=None, a=1 + 0j):
        m = n if m is None else m
        _check_sizes(n, m)
        self.n, self.m, self.a = int(n), int(m), 1.0 * a
        k = numpy.arange(max(self.m, self.n))
        if w is None:
            self.w = cmath.exp(-2j * math.pi / self.m)
            chirps = numpy.exp(-1j * math.pi * ((k**2) % (2 * self.m)) / self.m)
        else:
            self.w = w
            chirps = w ** (k**2 / 2.0)
        self._prepare(self.a ** -k[: self.n].astype(float), chirps)

    def _prepare(self, powers, chirps):
        n, m = self.n, self.m
        self._size = fast_length(n + m - 1)
        self._before = powers * chirps[:n]
        self._filter = numpy.fft.fft(1 / numpy.hstack((chirps[n - 1 : 0 : -1], chirps[:m])), self._size)
        self._after = chirps[:m]

    def __call__(self, x, *, axis=-1):
        """The transform of x along axis."""
        x = _core.asarray(x)
        if x.shape[axis] != self.n:
            raise ValueError(f"CZT defined for length {self.n}, not {x.shape[axis]}")
        x = treadle.moveaxis(x, axis, -1)
        before, middle, after = (_core.asarray(v, device=x.device) for v in (self._before, self._filter, self._after))
        y = fft.ifft(middle * fft.fft(x * before, self._size))
        return treadle.moveaxis(y[..., self.n - 1 : self.n + self.m - 1] * after, -1, axis)

    def points(self):
        """The points of the z-plane."""
        return czt_points(self.m, self.w, self.a)


class ZoomFFT(CZT):
    """The Fourier transform of signals of n elements at m frequencies from fn[0] to fn[1]. One number means (0, fn)."""

    def __init__(self, n, fn, m=None, *, fs=2, endpoint=False):
        fn = numpy.atleast_1d(host(fn)).tolist()
        if len(fn) not in (1, 2):
            raise ValueError("fn must be a scalar or 2-length sequence")
        f1, f2 = fn if len(fn) == 2 else (0.0, fn[0])
        m = n if m is None else m
        _check_sizes(n, m)
        self.f1, self.f2, self.fs, self.n, self.m = f1, f2, fs, int(n), int(m)
        scale = (f2 - f1) * m / (fs * (m - 1)) if endpoint else (f2 - f1) / fs
        self.w, self.a = cmath.exp(-2j * math.pi / m * scale), cmath.exp(2j * math.pi * f1 / fs)
        k = numpy.arange(max(self.m, self.n))
        chirps = numpy.exp(-1j * math.pi * scale * k**2 / m)
        self._prepare(numpy.exp(-2j * math.pi * f1 / fs * k[: self.n]), chirps)


def czt(x, m=None, w=None, a=1 + 0j, *, axis=-1):
    """The chirp z-transform of x along axis, at m points a w^-k."""
    x = _core.asarray(x)
    return CZT(x.shape[axis], m, w, a)(x, axis=axis)


def zoom_fft(x, fn, m=None, *, fs=2, endpoint=False, axis=-1):
    """The Fourier transform of x along axis at m frequencies between the two in fn."""
    x = _core.asarray(x)
    return ZoomFFT(x.shape[axis], fn, m, fs=fs, endpoint=endpoint)(x, axis=axis)


def czt_points(m, w=None, a=1 + 0j):
    """The points a w^-k at which a chirp z-transform is computed."""
    _check_sizes(m)
    k = treadle.arange(m, dtype="float64")
    if w is None:
        return 1.0 * a * treadle.exp(k * (2j * math.pi / m))
    return _core.asarray(1.0 * a * numpy.asarray(w) ** -numpy.arange(m, dtype=float))


# ---- extrema ----


def argrelextrema(data, comparator, axis=0, order=1, mode="clip"):
    """The indices, as a tuple of arrays, of elements for which comparator holds with every neighbour up to order away.

    axis: the axis of the comparison; mode: 'clip' or 'wrap', the neighbours beyond the ends."""
    if int(order) != order or order < 1:
        raise ValueError("Order must be an int >= 1")
    if mode not in ("clip", "wrap"):
        raise ValueError("mode is 'clip' or 'wrap'")
    x = _core.asarray(data)
    names = {"greater": treadle.greater, "less": treadle.less, "greater_equal": treadle.greater_equal,
             "less_equal": treadle.less_equal}  # fmt: skip
    compare = names.get(getattr(comparator, "__name__", ""), comparator)
    n, width, hit = x.shape[axis], [(0, 0)] * x.ndim, None
    width[axis] = (order, order)
    wide = treadle.pad(x, width, "edge" if mode == "clip" else "wrap")
    for shift in range(1, order + 1):
        for other in (order + shift, order - shift):
            r = compare(x, cut(wide, axis, other, other + n))
            hit = r if hit is None else hit & r
    return treadle.nonzero(hit)


def argrelmax(data, axis=0, order=1, mode="clip"):
    """The indices of relative maxima, as argrelextrema."""
    return argrelextrema(data, treadle.greater, axis, order, mode)


def argrelmin(data, axis=0, order=1, mode="clip"):
    """The indices of relative minima, as argrelextrema."""
    return argrelextrema(data, treadle.less, axis, order, mode)


# ---- wavelets that SciPy has removed ----


def morlet(M, w=5.0, s=1.0, complete=True):
    """A complex Morlet wavelet of M points from -2 pi s to 2 pi s. complete subtracts the mean."""
    x = treadle.linspace(-s * 2 * math.pi, s * 2 * math.pi, M)
    wave = treadle.exp(1j * w * x)
    wave = wave - math.exp(-0.5 * w**2) if complete else wave
    return wave * treadle.exp(-0.5 * x**2) * math.pi**-0.25


def morlet2(M, s, w=5):
    """A complex Morlet wavelet of width s for cwt."""
    x = (treadle.arange(M) - (M - 1.0) / 2) / s
    return treadle.exp(1j * w * x) * treadle.exp(-0.5 * x**2) * (math.pi**-0.25 * math.sqrt(1 / s))


def ricker(points, a):
    """The Ricker wavelet of width a: the negative second derivative of a Gaussian."""
    x = treadle.arange(points) - (points - 1.0) / 2
    scale = 2 / (math.sqrt(3 * a) * math.pi**0.25)
    return scale * (1 - x**2 / a**2) * treadle.exp(-(x**2) / (2 * a**2))


def qmf(hk):
    """The quadrature mirror (high-pass) filter of a low-pass filter hk."""
    hk = _core.asarray(hk)
    signs = numpy.where(numpy.arange(hk.shape[0]) % 2 == 0, 1, -1)
    return hk[::-1] * _core.asarray(signs, device=hk.device)


def cwt(data, wavelet, widths, dtype=None, **kwargs):
    """The continuous wavelet transform. Row i is data convolved with wavelet(length, widths[i], **kwargs)."""
    data = _core.asarray(data)
    rows = []
    for width in host(widths).tolist():
        with treadle.device(data.device):
            wave = _core.asarray(wavelet(min(10 * width, data.shape[0]), width, **kwargs)).conj()[::-1]
        rows.append(convolve(data, wave, "same"))
    r = treadle.stack(rows)
    return r if dtype is None else r.astype(dtype)
