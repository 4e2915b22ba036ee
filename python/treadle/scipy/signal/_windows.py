"""Window functions: cosine sums, piecewise polynomials, Bessel functions, as expressions of the point's number."""

import math
import numbers
import warnings

import numpy

import treadle

from ... import _core, fft
from .. import special


def _window(M, sym, formula, device=None):
    """formula(n, M) for points n of 0 to M - 1. sym=False computes M + 1 points and drops the last. M = 1 gives 1."""
    if int(M) != M or M < 0:
        raise ValueError("Window length M must be a non-negative integer")
    M = int(M)
    if M <= 1:
        return treadle.ones((M,), device=device)
    size = M if sym else M + 1
    return formula(treadle.arange(size, dtype="float64", device=device), size)[:M]


def _cosines(a, n, M):
    """The sum of a[k] cos(k t) for t from -pi to pi."""
    t = n * (2 * math.pi / (M - 1)) - math.pi
    return builtin_sum(c if k == 0 else treadle.cos(k * t) * c for k, c in enumerate(a)) + 0.0 * n


builtin_sum = sum


def general_cosine(M, a, sym=True):
    """A window that is a sum of cosines a[k] cos(k t)."""
    a = numpy.asarray(a.get() if isinstance(a, _core.ndarray) else a, float).tolist()
    return _window(M, sym, lambda n, m: _cosines(a, n, m))


def boxcar(M, sym=True, *, xp=None, device=None):
    """A rectangular window, all ones."""
    return _window(M, sym, lambda n, m: treadle.ones_like(n), device)


def triang(M, sym=True, *, xp=None, device=None):
    """A triangular window that is not 0 at its ends."""
    return _window(M, sym, lambda n, m: 1 - abs((n - (m - 1) / 2) / ((m + m % 2) / 2)), device)


def _parzen(n, M):
    u = abs(n - (M - 1) / 2)
    v = u / (M / 2)
    return treadle.where(u <= (M - 1) / 4, 1 - 6 * v**2 + 6 * v**3, 2 * (1 - v) ** 3)


def parzen(M, sym=True, *, xp=None, device=None):
    """A Parzen window, piecewise cubic."""
    return _window(M, sym, _parzen, device)


def _bohman(n, M):
    u = abs(2 * n / (M - 1) - 1)
    inside = (n > 0) & (n < M - 1)
    return treadle.where(inside, (1 - u) * treadle.cos(math.pi * u) + treadle.sin(math.pi * u) / math.pi, 0.0)


def bohman(M, sym=True, *, xp=None, device=None):
    """A Bohman window, the autocorrelation of half a cosine wave."""
    return _window(M, sym, _bohman, device)


def _of_cosines(name, *a):
    def window(M, sym=True, *, xp=None, device=None):
        return _window(M, sym, lambda n, m: _cosines(a, n, m), device)

    window.__name__ = window.__qualname__ = name
    window.__doc__ = f"A sum of cosines with the weights {', '.join(map(str, a))}."
    return window


blackman = _of_cosines("blackman", 0.42, 0.50, 0.08)
nuttall = _of_cosines("nuttall", 0.3635819, 0.4891775, 0.1365995, 0.0106411)
blackmanharris = _of_cosines("blackmanharris", 0.35875, 0.48829, 0.14128, 0.01168)
flattop = _of_cosines("flattop", 0.21557895, 0.41663158, 0.277263158, 0.083578947, 0.006947368)
hann = _of_cosines("hann", 0.5, 0.5)
hamming = _of_cosines("hamming", 0.54, 1 - 0.54)


def general_hamming(M, alpha, sym=True, *, xp=None, device=None):
    """A general Hamming window: alpha - (1 - alpha) cos(2 pi n / (M - 1))."""
    return _window(M, sym, lambda n, m: _cosines((alpha, 1.0 - alpha), n, m), device)


def bartlett(M, sym=True, *, xp=None, device=None):
    """A Bartlett window: a triangle that is 0 at its ends."""
    return _window(
        M, sym, lambda n, m: treadle.where(n <= (m - 1) / 2, 2 * n / (m - 1), 2 - 2 * n / (m - 1)), device
    )


def tukey(M, alpha=0.5, sym=True, *, xp=None, device=None):
    """A Tukey (tapered cosine) window: ones, with halves of a Hann window at the ends over the fraction alpha."""
    if alpha <= 0:
        return boxcar(M, sym, device=device)
    if alpha >= 1:
        return hann(M, sym, device=device)

    def formula(n, m):
        width = math.floor(alpha * (m - 1) / 2.0)
        up = 0.5 * (1 + treadle.cos(math.pi * (-1 + 2.0 * n / alpha / (m - 1))))
        down = 0.5 * (1 + treadle.cos(math.pi * (-2.0 / alpha + 1 + 2.0 * n / alpha / (m - 1))))
        return treadle.where(n <= width, up, treadle.where(n >= m - width - 1, down, 1.0))

    return _window(M, sym, formula, device)


def _barthann(n, M):
    u = abs(n / (M - 1.0) - 0.5)
    return 0.62 - 0.48 * u + 0.38 * treadle.cos(2 * math.pi * u)


def barthann(M, sym=True, *, xp=None, device=None):
    """A Bartlett-Hann window, their weighted sum."""
    return _window(M, sym, _barthann, device)


def kaiser(M, beta, sym=True, *, xp=None, device=None):
    """A Kaiser window of parameter beta: a ratio of Bessel functions I0."""

    def formula(n, m):
        u = 2 * n / (m - 1) - 1
        return special.i0(beta * treadle.sqrt(treadle.maximum(1 - u * u, 0.0))) / special.i0(float(beta))

    return _window(M, sym, formula, device)


def kaiser_bessel_derived(M, beta, *, sym=True, xp=None, device=None):
    """A Kaiser-Bessel derived window, for even M: square roots of cumulative sums of a Kaiser window."""
    if not sym:
        raise ValueError("Kaiser-Bessel Derived windows are only defined for symmetric shapes")
    if M < 1:
        return treadle.zeros((0,), device=device)
    if M % 2:
        raise ValueError("Kaiser-Bessel Derived windows are only defined for even number of points")
    sums = treadle.cumsum(kaiser(M // 2 + 1, beta, device=device))
    half = treadle.sqrt(sums[:-1] / sums[-1])
    return treadle.concatenate([half, half[::-1]])


def gaussian(M, std, sym=True, *, xp=None, device=None):
    """A Gaussian window of standard deviation std."""
    return _window(M, sym, lambda n, m: treadle.exp(-((n - (m - 1.0) / 2.0) ** 2) / (2 * std * std)), device)


def general_gaussian(M, p, sig, sym=True, *, xp=None, device=None):
    """A generalized Gaussian window: exp(-|t / sig|^(2 p) / 2)."""
    return _window(M, sym, lambda n, m: treadle.exp(-0.5 * abs((n - (m - 1.0) / 2.0) / sig) ** (2 * p)), device)


def cosine(M, sym=True, *, xp=None, device=None):
    """A window that is half a period of a sine."""
    return _window(M, sym, lambda n, m: treadle.sin(math.pi / m * (n + 0.5)), device)


def exponential(M, center=None, tau=1.0, sym=True, *, xp=None, device=None):
    """An exponential (Poisson) window: exp(-|n - center| / tau)."""
    if sym and center is not None:
        raise ValueError("If sym==True, center must be None.")
    return _window(
        M, sym, lambda n, m: treadle.exp(-abs(n - ((m - 1) / 2 if center is None else center)) / tau), device
    )


def lanczos(M, *, sym=True, xp=None, device=None):
    """A Lanczos window: sinc from -1 to 1."""
    return _window(M, sym, lambda n, m: treadle.sinc(2 * n / (m - 1) - 1), device)


def chebwin(M, at, sym=True, *, xp=None, device=None):
    """A Dolph-Chebyshev window with side lobes at decibels down: the transform of a Chebyshev polynomial."""
    if abs(at) < 45:
        warnings.warn(
            "This window is not suitable for spectral analysis for attenuation values lower than about 45dB because "
            "the equivalent noise bandwidth of a Chebyshev window does not grow monotonically with increasing "
            "sidelobe attenuation when the attenuation is smaller than about 45 dB.",
            stacklevel=2,
        )

    def formula(n, m):
        order = m - 1.0
        x = math.cosh(math.acosh(10 ** (abs(at) / 20.0)) / order) * treadle.cos(math.pi / m * n)
        big = treadle.cosh(order * treadle.arccosh(treadle.maximum(abs(x), 1.0)))
        p = treadle.cos(order * treadle.arccos(treadle.clip(x, -1.0, 1.0)))
        p = treadle.where(x > 1, big, treadle.where(x < -1, (2 * (m % 2) - 1) * big, p))
        if m % 2:
            w = fft.fft(p).real[: (m + 1) // 2]
            w = treadle.concatenate([w[:0:-1], w])
        else:
            w = fft.fft(p * treadle.exp(n * (1j * math.pi / m))).real[: m // 2 + 1]
            w = treadle.concatenate([w[:0:-1], w[1:]])
        return w / w.max()

    return _window(M, sym, formula, device)


def taylor(M, nbar=4, sll=30, norm=True, sym=True, *, xp=None, device=None):
    """A Taylor window with nbar nearly equal side lobes, sll decibels down."""
    m = numpy.arange(1, nbar)
    a = math.acosh(10 ** (sll / 20)) / math.pi
    s2 = nbar**2 / (a**2 + (nbar - 0.5) ** 2)
    f = []
    for k in m:
        above = (-1.0) ** (k + 1) * numpy.prod(1 - k**2 / s2 / (a**2 + (m - 0.5) ** 2))
        others = m[m != k]
        f.append(float(above / (2 * numpy.prod(1 - k**2 / others**2))))

    def formula(n, size):
        def at(n, cos):
            waves = (c * cos(2 * math.pi * k * (n - size / 2.0 + 0.5) / size) for k, c in enumerate(f, 1))
            return 1 + 2 * builtin_sum(waves)

        w = at(n, treadle.cos) + 0.0 * n
        return w / at((size - 1) / 2, math.cos) if norm else w

    return _window(M, sym, formula, device)


# Names that get_window knows, and whether their windows take no arguments, some, or optional ones.
_NAMES = {
    "barthann brthan bth": (barthann, 0), "bartlett bart brt": (bartlett, 0), "blackman black blk": (blackman, 0),
    "blackmanharris blackharr bkh": (blackmanharris, 0), "bohman bman bmn": (bohman, 0),
    "boxcar box ones rect rectangular": (boxcar, 0), "chebwin cheb": (chebwin, 1), "cosine halfcosine": (cosine, 0),
    "exponential poisson": (exponential, 2), "flattop flat flt": (flattop, 0), "gaussian gauss gss": (gaussian, 1),
    "general_cosine": (general_cosine, 1), "general_gaussian general_gauss ggs": (general_gaussian, 1),
    "general_hamming": (general_hamming, 1), "hamming hamm ham": (hamming, 0), "hann han": (hann, 0),
    "kaiser ksr": (kaiser, 1), "kaiser_bessel_derived kbd": (kaiser_bessel_derived, 1), "lanczos sinc": (lanczos, 0),
    "nuttall nutl nut": (nuttall, 0), "parzen parz par": (parzen, 0), "taylor taylorwin": (taylor, 2),
    "triangle triang tri": (triang, 0), "tukey tuk": (tukey, 2), "dpss": (None, 1),
}  # fmt: skip
_BY_NAME = {name: row for names, row in _NAMES.items() for name in names.split()}


def get_window(window, Nx, fftbins=True, *, xp=None, device=None):
    """The window of Nx points by a name, a tuple of a name and arguments, or a number, Kaiser's beta. fftbins makes it
    periodic."""
    if not (isinstance(Nx, numbers.Integral) and Nx > 0):
        raise ValueError(f"Parameter Nx={Nx} is not a positive integer")
    if not isinstance(fftbins, bool):
        raise ValueError(f"Parameter fftbins={fftbins} is not of type bool!")
    if not isinstance(window, (str, tuple)):
        try:
            beta = float(window)
        except Exception as e:
            raise ValueError(f"Parameter window={window} must be a tuple, a string or a float!") from e
        return kaiser(Nx, beta, not fftbins, device=device)
    name, *args = (window,) if isinstance(window, str) else window
    if not isinstance(name, str):
        raise ValueError(f"First tuple entry of parameter window={window} is not a str!")
    sym = not fftbins
    for ending, value in (("_symmetric", True), ("_periodic", False)):
        if name.endswith(ending):
            sym, name = value, name.removesuffix(ending)
    name = name.replace(" ", "_")
    if name not in _BY_NAME:
        raise ValueError(f"Invalid window name '{name}' in parameter window={window}!")
    f, takes = _BY_NAME[name]
    if args and not takes:
        raise ValueError(f"'{name}' does not allow parameters, but window={window}!")
    if not args and takes == 1:
        raise ValueError(f"'{name}' must have parameters, but window={window}!")
    if f is None:  # SciPy computes these, which need eigenvectors
        from . import windows

        return windows.dpss(Nx, *args, sym=sym)
    more = {} if f is general_cosine else {"device": device}
    return f(Nx, *args, sym=sym, **more)
