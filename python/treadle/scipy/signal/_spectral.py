"""Spectra and short-time transforms. Segments are rows of one array, so one call transforms them all."""

import math
import warnings

import numpy

import treadle

from ... import _core, fft
from .._arguments import axis_of
from ._filter import cut
from ._resample import detrend as _detrend
from ._support import extended
from ._windows import get_window


def _named(window):
    return isinstance(window, (str, tuple))


def _segments_window(window, nperseg, length, x):
    """(window as an array, nperseg). A named window is cut to the input's length, with a warning."""
    if _named(window):
        nperseg = 256 if nperseg is None else nperseg
        if nperseg > length:
            warnings.warn(
                f"nperseg = {nperseg} is greater than input length  = {length}, using nperseg = {length}", stacklevel=4
            )
            nperseg = length
        return get_window(window, nperseg, device=x.device), nperseg
    win = _core.asarray(window, device=x.device)
    if win.ndim != 1:
        raise ValueError("window must be 1-D")
    if length < win.shape[0]:
        raise ValueError("window is longer than input signal")
    if nperseg is not None and nperseg != win.shape[0]:
        raise ValueError("value specified for nperseg is different from length of window")
    return win, win.shape[0]


def _sizes(nperseg, noverlap, nfft):
    nfft = nperseg if nfft is None else int(nfft)
    if nfft < nperseg:
        raise ValueError("nfft must be greater than or equal to nperseg.")
    noverlap = nperseg // 2 if noverlap is None else int(noverlap)
    if noverlap >= nperseg:
        raise ValueError("noverlap must be less than nperseg.")
    return noverlap, nfft


def _complex_dtype(*xs):
    return numpy.result_type(*[x.dtype for x in xs], numpy.complex64)


def _real_dtype(dtype):
    return numpy.dtype("float32" if dtype == numpy.complex64 else "float64")


def _rows(x, nperseg, step):
    """The segments of the last axis, as rows."""
    n = (x.shape[-1] - nperseg) // step + 1
    if nperseg % step == 0 and n:  # nperseg is a multiple of step: join shifted rows of steps instead of a gather
        k = nperseg // step
        blocks = x[..., : (n + k - 1) * step].reshape((*x.shape[:-1], n + k - 1, step))
        return treadle.concatenate([blocks[..., d : d + n, :] for d in range(k)], -1) if k > 1 else blocks
    at = step * numpy.arange(n)[:, None] + numpy.arange(nperseg)
    return x[..., _core.asarray(at, device=x.device)]


def _transformed(x, win, detrend, nperseg, noverlap, nfft, onesided):
    r = _rows(x, nperseg, nperseg - noverlap)
    r = detrend(r) * win
    return fft.rfft(r, nfft) if onesided else fft.fft(r, nfft)


def _detrender(detrend, axis):
    if not detrend:
        return lambda d: d
    if not callable(detrend):
        return lambda d: _detrend(d, type=detrend, axis=-1)
    if axis == -1:
        return detrend
    return lambda d: treadle.moveaxis(detrend(treadle.moveaxis(d, -1, axis)), axis, -1)


def _scale(scaling, fs, win):
    if scaling == "density":
        return 1.0 / (fs * (win * win).sum())
    if scaling == "spectrum":
        return 1.0 / win.sum() ** 2
    raise ValueError(f"Unknown scaling: {scaling!r}")


def _doubled(p, nfft):
    """A one-sided power, with the power of the negative frequencies added."""
    factor = numpy.full(p.shape[-1], 2.0)
    factor[0] = 1.0
    if nfft % 2 == 0:
        factor[-1] = 1.0
    return p * _core.asarray(factor.astype(_real_dtype(p.dtype) if p.dtype.kind == "c" else p.dtype), device=p.device)


def _frequencies(nfft, fs, onesided, device):
    with treadle.device(device):
        return (fft.rfftfreq if onesided else fft.fftfreq)(nfft, 1 / fs)


def _aligned(x, y, axis):
    """x and y with axis last, the shorter one padded with zeros."""
    x = treadle.moveaxis(x, axis, -1) if x.ndim > 1 else x
    y = treadle.moveaxis(y, axis, -1) if y.ndim > 1 else y
    n = max(x.shape[-1], y.shape[-1])
    return [
        a if a.shape[-1] == n else treadle.pad(a, [(0, 0)] * (a.ndim - 1) + [(0, n - a.shape[-1])]) for a in (x, y)
    ]


def _inexact(x):
    x = _core.asarray(x)
    return x if x.dtype.kind in "fc" else x.astype("float64")


def _median_bias(n):
    k = 2 * numpy.arange(1.0, (n - 1) // 2 + 1)
    return 1 + numpy.sum(1.0 / (k + 1) - 1.0 / k)


def _cross(x, y, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, scaling, axis, average):
    """(frequencies, cross-spectral density averaged over segments). The frequencies lie along axis."""
    same, x, y = x is y, _inexact(x), _inexact(y)
    if not x.size or not y.size:
        return treadle.zeros(x.shape, device=x.device), treadle.zeros(x.shape, device=x.device)
    d, axis = _complex_dtype(x, y), int(axis)
    a, b = _aligned(x, y, axis)
    n = a.shape[-1]
    if _named(window):
        win, nperseg = _segments_window(window, nperseg, n, a)
    else:
        win = _core.asarray(window, device=a.device)
        if nperseg is not None and nperseg != win.shape[0]:
            raise ValueError(f"nperseg={nperseg} does not equal len(win)={win.shape[0]}")
        nperseg = win.shape[0]
    noverlap, nfft = _sizes(nperseg, noverlap, nfft)
    onesided = return_onesided and a.dtype.kind != "c" and b.dtype.kind != "c"
    if scaling not in ("density", "spectrum"):
        raise ValueError(f"Parameter scaling={scaling!r} not in ['spectrum', 'density']!")
    win = win.astype(_real_dtype(d)) if win.dtype.kind != "c" else win
    f = _detrender(detrend, axis)
    p = _transformed(a, win, f, nperseg, noverlap, nfft, onesided)
    q = p if same else _transformed(b, win, f, nperseg, noverlap, nfft, onesided)
    power = (p.real**2 + p.imag**2 if same else p.conj() * q) * _scale(scaling, fs, win)
    if onesided:
        power = _doubled(power, nfft)
    count = power.shape[-2]
    if average == "median" and count > 1:
        middle = treadle.median(power.real, -2)
        if power.dtype.kind == "c":
            middle = middle + treadle.median(power.imag, -2) * 1j
        power = middle / float(_median_bias(count))
    elif average in ("mean", "median"):
        power = power.mean(-2)
    else:
        raise ValueError(f"Parameter average={average!r} must be 'median' or 'mean'!")
    power = power.astype(_real_dtype(d) if same else d)
    return _frequencies(nfft, fs, onesided, a.device), treadle.moveaxis(power, -1, axis)


def csd(
    x, y, fs=1.0, window="hann_periodic", nperseg=None, noverlap=None, nfft=None, detrend="constant",
    return_onesided=True, scaling="density", axis=-1, average="mean",
):  # fmt: skip
    """(frequencies, cross power spectral density) of x and y by Welch's method."""
    return _cross(x, y, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, scaling, axis, average)


def welch(
    x, fs=1.0, window="hann_periodic", nperseg=None, noverlap=None, nfft=None, detrend="constant",
    return_onesided=True, scaling="density", axis=-1, average="mean",
):  # fmt: skip
    """(frequencies, power spectral density) of x by Welch's method: the mean or median over overlapping segments."""
    x = _core.asarray(x)
    return _cross(x, x, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, scaling, axis, average)


def periodogram(
    x, fs=1.0, window="boxcar", nfft=None, detrend="constant", return_onesided=True, scaling="density", axis=-1
):
    """(frequencies, power spectral density) of x from a single segment."""
    x = _core.asarray(x)
    if not x.size:
        return treadle.zeros(x.shape, device=x.device), treadle.zeros(x.shape, device=x.device)
    window, n = "boxcar" if window is None else window, x.shape[axis]
    if nfft is not None and nfft < n:
        x, n, nfft = cut(x, axis, 0, nfft), nfft, None
    if not _named(window) and window.shape[0] != n:
        raise ValueError("the size of the window must be the same size of the input on the specified axis")
    return welch(x, fs, window, n, 0, nfft, detrend, return_onesided, scaling, axis)


def coherence(
    x, y, fs=1.0, window="hann_periodic", nperseg=None, noverlap=None, nfft=None, detrend="constant", axis=-1
):
    """(frequencies, magnitude squared coherence): |Pxy|^2 / (Pxx Pyy)."""
    x, y = _core.asarray(x), _core.asarray(y)
    more = {"fs": fs, "window": window, "nperseg": nperseg, "noverlap": noverlap, "nfft": nfft, "detrend": detrend}
    f, px = welch(x, axis=axis, **more)
    _, py = welch(y, axis=axis, **more)
    _, pxy = csd(x, y, axis=axis, **more)
    return f, abs(pxy) ** 2 / px / py


def _short_time(
    x, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, scaling, axis, mode, boundary=None, padded=False
):
    """(frequencies, times, the spectrum of each segment: its power or its complex values)."""
    x, axis = _inexact(x), int(axis)
    if boundary not in ("even", "odd", "constant", "zeros", None):
        raise ValueError(
            f"Unknown boundary option '{boundary}', must be one of: ['even', 'odd', 'constant', 'zeros', None]"
        )
    if not x.size:
        return tuple(treadle.zeros(x.shape, device=x.device) for _ in range(3))
    d = _complex_dtype(x)
    x = treadle.moveaxis(x, axis, -1) if x.ndim > 1 else x
    if nperseg is not None and int(nperseg) < 1:
        raise ValueError("nperseg must be a positive integer")
    win, nperseg = _segments_window(window, None if nperseg is None else int(nperseg), x.shape[-1], x)
    noverlap, nfft = _sizes(nperseg, noverlap, nfft)
    step = nperseg - noverlap
    if boundary is not None:
        x = extended(x, nperseg // 2, -1, boundary)
    if padded:
        more = (-(x.shape[-1] - nperseg) % step) % nperseg
        x = treadle.pad(x, [(0, 0)] * (x.ndim - 1) + [(0, more)])
    onesided = return_onesided and x.dtype.kind != "c"
    if return_onesided and not onesided:
        warnings.warn("Input data is complex, switching to return_onesided=False", stacklevel=4)
    win = win.astype(_real_dtype(d)) if win.dtype.kind != "c" else win
    r = _transformed(x, win, _detrender(detrend, axis), nperseg, noverlap, nfft, onesided)
    scale = _scale(scaling, fs, win)
    if mode == "psd":
        r = (r.real**2 + r.imag**2) * scale
        r = (_doubled(r, nfft) if onesided else r).astype(_real_dtype(d))
    else:
        r = (r * treadle.sqrt(scale)).astype(d)
    times = treadle.arange(r.shape[-2], device=x.device) * (step / fs) + nperseg / 2 / fs
    if boundary is not None:
        times = times - nperseg / 2 / fs
    r = treadle.moveaxis(r, -1, axis - 1 if axis < 0 else axis)
    return _frequencies(nfft, fs, onesided, x.device), times, r


def spectrogram(
    x, fs=1.0, window=("tukey_periodic", 0.25), nperseg=None, noverlap=None, nfft=None, detrend="constant",
    return_onesided=True, scaling="density", axis=-1, mode="psd",
):  # fmt: skip
    """(frequencies, times, spectrogram). mode: psd, complex, magnitude, angle or phase."""
    if mode not in ("psd", "complex", "magnitude", "angle", "phase"):
        raise ValueError(f"unknown value for mode {mode}, must be one of psd, complex, magnitude, angle, phase")
    x = _core.asarray(x)
    if _named(window):
        nperseg = min(256 if nperseg is None else nperseg, x.shape[axis])
    else:
        nperseg = window.shape[0] if hasattr(window, "shape") else len(window)
    noverlap = nperseg // 8 if noverlap is None else noverlap
    how = "psd" if mode == "psd" else "stft"
    f, t, s = _short_time(x, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, scaling, axis, how)
    if mode == "magnitude":
        s = abs(s)
    elif mode in ("angle", "phase"):
        s = treadle.angle(s)
        if mode == "phase":
            s = _unwrapped(s, axis - 1 if axis < 0 else axis)
    return f, t, s


def _unwrapped(p, axis):
    """Phases along axis without jumps of more than pi."""
    p = treadle.moveaxis(p, axis, -1)
    step = p[..., 1:] - p[..., :-1]
    turns = -treadle.rint(step / (2 * math.pi))
    rest = treadle.pad(treadle.cumsum(turns, -1), [(0, 0)] * (p.ndim - 1) + [(1, 0)])
    return treadle.moveaxis(p + (2 * math.pi) * rest, -1, axis)


def stft(
    x, fs=1.0, window="hann_periodic", nperseg=256, noverlap=None, nfft=None, detrend=False, return_onesided=True,
    boundary="zeros", padded=True, axis=-1, scaling="spectrum",
):  # fmt: skip
    """(frequencies, times, short-time Fourier transform of x)."""
    if scaling not in ("psd", "spectrum"):
        raise ValueError(f"Parameter scaling={scaling!r} not in ['spectrum', 'psd']!")
    scaling = "density" if scaling == "psd" else scaling
    return _short_time(
        x, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, scaling, axis, "stft", boundary, padded
    )


def _overlapped(rows, step):
    """The overlap-add of rows, each shifted by step from the one before. Adds blocks of step elements."""
    n, size = rows.shape[-2:]
    k = -(-size // step)
    rows = treadle.pad(rows, [(0, 0)] * (rows.ndim - 1) + [(0, k * step - size)])
    total = None
    for d in range(k):
        block = rows[..., d * step : (d + 1) * step]
        block = treadle.pad(block, [(0, 0)] * (rows.ndim - 2) + [(d, k - 1 - d), (0, 0)])
        total = block if total is None else total + block
    return total.reshape((*rows.shape[:-2], (n + k - 1) * step))[..., : size + (n - 1) * step]


def istft(
    Zxx, fs=1.0, window="hann_periodic", nperseg=None, noverlap=None, nfft=None, input_onesided=True, boundary=True,
    time_axis=-1, freq_axis=-2, scaling="spectrum",
):  # fmt: skip
    """(times, signal) by the inverse short-time Fourier transform: a windowed overlap-add, normalized."""
    z = _core.asarray(Zxx) + 0j
    if z.ndim < 2:
        raise ValueError("Input stft must be at least 2d!")
    if freq_axis == time_axis:
        raise ValueError("Must specify differing time and frequency axes!")
    if scaling not in ("psd", "spectrum"):
        raise ValueError(f"Parameter scaling={scaling!r} not in ['spectrum', 'psd']!")
    time_axis, freq_axis = axis_of(int(time_axis), z.ndim), axis_of(int(freq_axis), z.ndim)
    default = 2 * (z.shape[freq_axis] - 1) if input_onesided else z.shape[freq_axis]
    nperseg = default if nperseg is None else int(nperseg)
    if nperseg < 1:
        raise ValueError("nperseg must be a positive integer")
    if nfft is None:
        nfft = nperseg if input_onesided and nperseg == default + 1 else default
    noverlap, nfft = _sizes(nperseg, noverlap, nfft)
    step = nperseg - noverlap
    z = treadle.moveaxis(z, (time_axis, freq_axis), (-2, -1))
    if _named(window):
        win = get_window(window, nperseg, device=z.device)
    else:
        win = _core.asarray(window, device=z.device)
        if win.ndim != 1:
            raise ValueError("window must be 1-D")
        if win.shape[0] != nperseg:
            raise ValueError(f"window must have length of {nperseg}")
    rows = (fft.irfft if input_onesided else fft.ifft)(z, nfft)[..., :nperseg]
    win = win.astype(_real_dtype(z.dtype))
    rows = rows * (win.sum() if scaling == "spectrum" else treadle.sqrt(fs * (win**2).sum()))
    count = z.shape[-2]
    x = _overlapped(rows * win, step)
    norm = _overlapped(treadle.broadcast_to(win**2, (count, nperseg)), step)
    if boundary:
        x, norm = (a[..., nperseg // 2 : a.shape[-1] - nperseg // 2] for a in (x, norm))
    if not bool((norm > 1e-10).all()):
        more = "" if boundary else " Possibly due to missing boundary"
        warnings.warn(f"NOLA condition failed, STFT may not be invertible.{more}", stacklevel=2)
    x = x / treadle.where(norm > 1e-10, norm, 1.0)
    x = x.real if input_onesided else x
    if x.ndim > 1:
        x = treadle.moveaxis(x, -1, time_axis - (freq_axis < time_axis))
    return treadle.arange(x.shape[0], device=x.device) / float(fs), x


def lombscargle(x, y, freqs, *, precenter=False, normalize=False, weights=None, floating_mean=False):
    """The Lomb-Scargle periodogram of values y at times x, at angular frequencies, by Press and Rybicki's formulas."""
    x, y, freqs = (_inexact(v) for v in (x, y, freqs))
    if x.ndim != 1 or y.ndim != 1 or freqs.ndim != 1:
        raise ValueError("x, y and freqs must be 1D arrays")
    if x.shape != y.shape:
        raise ValueError("Parameters x and y must have the same shape")
    if normalize not in (False, True, "power", "normalize", "amplitude"):
        raise ValueError(f"normalize is False, 'power', True, 'normalize' or 'amplitude', not {normalize!r}")
    w = treadle.ones_like(y) if weights is None else _inexact(weights)
    w = w / w.sum()
    if precenter:
        y = y - y.mean()
    wt = freqs[:, None] * x
    c, s = treadle.cos(wt), treadle.sin(wt)
    wy = w * y
    ybar = wy.sum()
    cbar, sbar = ((w * v).sum(1) for v in (c, s))
    yy, yc, ys = (wy * y).sum(), (wy * c).sum(1), (wy * s).sum(1)
    cc, cs = (w * c * c).sum(1), (w * c * s).sum(1)
    ss = 1.0 - cc
    if floating_mean:
        yc, ys, yy = yc - ybar * cbar, ys - ybar * sbar, yy - ybar * ybar
        cc, ss, cs = cc - cbar * cbar, ss - sbar * sbar, cs - cbar * sbar
    tau = 0.5 * treadle.arctan2(2.0 * cs, cc - ss)
    ct, st = treadle.cos(tau), treadle.sin(tau)
    yct, yst = yc * ct + ys * st, ys * ct - yc * st
    cct = ct * ct * cc + 2.0 * ct * st * cs + st * st * ss
    sst = ct * ct * ss - 2.0 * ct * st * cs + st * st * cc
    tiny = numpy.finfo(y.dtype).eps
    cct, sst = (treadle.where(abs(v) < tiny, tiny, v) for v in (cct, sst))
    a, b = yct / cct, yst / sst
    power = 2.0 * (a * yct + b * yst)
    if normalize in (True, "normalize"):
        return power * 0.5 / yy
    if normalize == "amplitude":
        return (a * treadle.cos(tau) - b * treadle.sin(tau)) + (a * treadle.sin(tau) + b * treadle.cos(tau)) * 1j
    return power * (y.shape[0] / 4.0)


def vectorstrength(events, period):
    """(strength, phase) of the synchronization of events with one period or several."""
    events = _core.asarray(events)
    period = _inexact(period if isinstance(period, _core.ndarray) else _core.asarray(period, device=events.device))
    if events.ndim > 1 or period.ndim > 1:
        raise ValueError("events and period cannot have dimensions more than 1")
    if bool((period <= 0).any()):
        raise ValueError("periods must be positive")
    mean = treadle.exp(events.reshape((-1,)) * (2j * math.pi / period.reshape((-1, 1)))).mean(1)
    strength, phase = abs(mean), treadle.angle(mean)
    return (strength[0], phase[0]) if not period.ndim else (strength, phase)
