"""Functions of cupyx.signal for radar, radio and acoustics, as expressions of arrays."""

import math

import numpy

import treadle

from .. import _core, fft
from .._public import dir_of as _dir_of
from ..scipy import signal as _signal
from ..scipy.signal import get_window

__all__ = [
    "ca_cfar", "cfar_alpha", "channelize_poly", "complex_cepstrum", "convolve1d2o", "convolve1d3o", "firfilter",
    "firfilter2", "firfilter_zi", "freq_shift", "inverse_complex_cepstrum", "minimum_phase", "mvdr",
    "pulse_compression", "pulse_doppler", "real_cepstrum",
]  # fmt: skip


def _values(window, n, device):
    """A window of n points, from a callable of frequencies, an array, or a name for get_window."""
    if callable(window):
        with treadle.device(device):
            return _core.asarray(window(fft.fftfreq(n)))
    if isinstance(window, (_core.ndarray, numpy.ndarray)):
        if window.shape != (n,):
            raise ValueError("window must have the same length as data")
        return _core.asarray(window, device=device)
    return get_window(window, n, False, device=device)


def cfar_alpha(pfa, N):
    """The factor over the mean of N cells that noise exceeds with the probability pfa."""
    return N * (pfa ** (-1.0 / N) - 1)


def freq_shift(x, freq, fs):
    """x at the rate fs with all frequencies freq lower: times exp(-2 pi i freq n / fs)."""
    x = _core.asarray(x)
    n = treadle.arange(x.size, device=x.device).reshape(x.shape)
    return x * treadle.exp(n * (-2j * math.pi * freq / fs))


def pulse_compression(x, template, normalize=False, window=None, nfft=None):
    """Each row of x correlated with the pulse that was sent, by Fourier transforms of nfft places."""
    x, template = _core.asarray(x), _core.asarray(template)
    nfft = x.shape[1] if nfft is None else nfft
    if window is not None:
        template = template * _values(window, template.shape[0], x.device)
    if normalize:
        template = template / treadle.sqrt((abs(template) ** 2).sum())
    return fft.ifft(fft.fft(x, nfft) * fft.fft(template, nfft).conj(), nfft)


def pulse_doppler(x, window=None, nfft=None):
    """The Fourier transform across pulses, the rows of x."""
    x = _core.asarray(x)
    if window is not None:
        x = x * _values(window, x.shape[0], x.device)[:, None]
    return fft.fft(x, x.shape[0] if nfft is None else nfft, axis=0)


def ca_cfar(array, guard_cells, reference_cells, pfa=1e-3):
    """Detection with a constant rate pfa of false alarms: (the threshold at each cell, is the cell above it?).

    array: (N,), with numbers of guard and reference cells to each side, or (N, M), with pairs of them. The threshold is
    cfar_alpha's multiple of the mean of the reference cells; where they do not fit it is 0, and nothing is detected.
    TypeError: more axes, or cells that do not fit the axes; ValueError: the array is too small."""
    array = _core.asarray(array)
    guard = (guard_cells,) if array.ndim == 1 else tuple(guard_cells)
    reference = (reference_cells,) if array.ndim == 1 else tuple(reference_cells)
    if array.ndim not in (1, 2) or len(guard) != array.ndim or len(reference) != array.ndim:
        raise TypeError("ca_cfar: an array of one or two axes, and as many numbers of guard and reference cells")
    far = [g + r for g, r in zip(guard, reference, strict=True)]
    if any(n <= 2 * f for n, f in zip(array.shape, far, strict=True)):
        raise ValueError(f"ca_cfar: {array.shape} is too small for {guard} guard and {reference} reference cells")
    count = math.prod(2 * f + 1 for f in far) - math.prod(2 * g + 1 for g in guard)
    outer, inner = _boxes(array, far, far), _boxes(array, guard, far)
    threshold = treadle.zeros(array.shape, "float32", device=array.device)
    inside = tuple(slice(f, n - f) for f, n in zip(far, array.shape, strict=True))
    threshold[inside] = (outer - inner) * (cfar_alpha(pfa, count) / count)
    return threshold, (array - threshold > 0) & (threshold != 0)


def _boxes(array, reach, border):
    """Sums over the cells at most `reach` away from each cell that is at least `border` away from the edges."""
    sums = array.astype("float64")
    for axis, (r, b) in enumerate(zip(reach, border, strict=True)):
        n = array.shape[axis]
        sums = treadle.concatenate([treadle.zeros_like(sums.take([0], axis)), sums.cumsum(axis)], axis)
        above = sums.take(treadle.arange(b + r + 1, n - b + r + 1, device=array.device), axis)
        sums = above - sums.take(treadle.arange(b - r, n - b - r, device=array.device), axis)
    return sums


def mvdr(x, sv, calc_cov=True):
    """Weights of the minimum variance beamformer for the steering vector sv, (sensors,): x is (sensors, samples), or
    with calc_cov=False the sensors' covariance. ValueError: more sensors than samples, or another number than sv's."""
    x, sv = _core.asarray(x), _core.asarray(sv)
    if x.shape[0] > x.shape[1]:
        raise ValueError(f"mvdr: {x.shape[0]} sensors and {x.shape[1]} samples; x is (sensors, samples)")
    if x.shape[0] != sv.shape[0]:
        raise ValueError(f"mvdr: {x.shape[0]} sensors, and a steering vector of {sv.shape[0]}")
    weights = treadle.linalg.solve(treadle.cov(x) if calc_cov else x, sv)
    return weights / treadle.dot(sv.conj(), weights)


# ---- filters ----


def firfilter(b, x, axis=-1, zi=None):
    """scipy.signal.lfilter of a filter that has only b: y, or with zi (y, zf)."""
    return _signal.lfilter(b, treadle.ones(1), x, axis, zi)


def firfilter_zi(b):
    """The state in which a filter of b has settled on ones: scipy.signal.lfilter_zi."""
    b = _core.asarray(b)
    return treadle.cumsum(b[:0:-1])[::-1]


def firfilter2(b, x, axis=-1, padtype="odd", padlen=None, method="pad", irlen=None):
    """scipy.signal.filtfilt of a filter that has only b. NotImplementedError: method "gust"."""
    if method == "gust":
        raise NotImplementedError("firfilter2: method 'gust' is not there; 'pad' is")
    if method != "pad":
        raise ValueError(f"firfilter2: method {method!r} is neither 'pad' nor 'gust'")
    return _signal.filtfilt(b, treadle.ones(1), x, axis=axis, padtype=padtype, padlen=padlen, method=method)


def channelize_poly(x, h, n_chans):
    """x split into n_chans bands by the filter h, which is cut into n_chans parts: (n_chans, len(x) // n_chans) complex
    values. NotImplementedError: other dtypes than floats of 32 and 64 bits and complex numbers."""
    dtype = numpy.promote_types(x.dtype, h.dtype)
    if dtype.char not in "fdFD":
        raise NotImplementedError(f"channelize_poly: {dtype} is no float or complex dtype of 32 or 64 bits a number")
    taps, points = len(h) // n_chans, len(x) // n_chans
    rows = _core.asarray(x, dtype=dtype)[: points * n_chans].reshape(points, n_chans)[:, ::-1].conj()
    h = _core.asarray(h, dtype=dtype)[: taps * n_chans].reshape(taps, n_chans).conj()
    y = treadle.zeros((points, n_chans), dtype, device=rows.device)
    for t in range(min(taps, points)):
        y[t:] += h[t] * rows[: points - t]
    return fft.fft(y.astype(numpy.result_type(dtype, numpy.complex64))).conj().T


def _volterra(name, in1, in2, mode, method):
    """Sums over products of elements of in1, as many as in2 has axes, weighted by in2."""
    if mode != "valid" or method != "direct":
        raise ValueError(f"{name}: mode {mode!r} and method {method!r}; there are 'valid' and 'direct'")
    in1, in2 = _core.asarray(in1), _core.asarray(in2)
    n = in1.shape[0] - max(in2.shape) + 1
    if n < 1:
        raise ValueError(f"{name}: {in1.shape[0]} elements are fewer than the filter's {max(in2.shape)}")
    letters = "abc"[: in2.ndim]
    at = treadle.arange(n, device=in1.device)[:, None]
    parts = [in1[at + treadle.arange(w - 1, -1, -1, device=in1.device)] for w in in2.shape]
    return treadle.einsum(f"{','.join('n' + c for c in letters)},{letters}->n", *parts, in2)


def convolve1d2o(in1, in2, mode="valid", method="direct"):
    """The quadratic filter in2, (W, H), along in1: sums of in1[n + W - 1 - a] in1[n + H - 1 - b] in2[a, b]."""
    return _volterra("convolve1d2o", in1, in2, mode, method)


def convolve1d3o(in1, in2, mode="valid", method="direct"):
    """The cubic filter in2, of three axes, along in1: as convolve1d2o."""
    return _volterra("convolve1d3o", in1, in2, mode, method)


# ---- cepstra ----


def real_cepstrum(x, n=None, axis=-1):
    """The inverse transform of the logarithm of the spectrum's magnitude."""
    return fft.ifft(treadle.log(abs(fft.fft(_core.asarray(x), n=n, axis=axis))), n=n, axis=axis).real


def complex_cepstrum(x, n=None, axis=-1):
    """(the inverse transform of the spectrum's complex logarithm, the samples of delay that were taken out)."""
    spectrum = treadle.moveaxis(fft.fft(_core.asarray(x), n=n, axis=axis), axis, -1)
    phase = treadle.unwrap(treadle.angle(spectrum))
    count = spectrum.shape[-1]
    center = (count + 1) // 2 if count > 1 else 0
    delay = treadle.around(phase[..., center] / math.pi)
    if center:
        ramp = treadle.arange(count, device=phase.device) / center
        phase = phase - math.pi * delay[..., None] * ramp
    found = fft.ifft(treadle.log(abs(spectrum)) + 1j * phase).real
    return treadle.moveaxis(found, -1, axis), delay


def inverse_complex_cepstrum(ceps, ndelay):
    """The signal whose complex cepstrum along the last axis is ceps, with its delay."""
    logarithm = fft.fft(_core.asarray(ceps))
    count = logarithm.shape[-1]
    center = (count + 1) // 2 if count > 1 else 1
    ramp = treadle.arange(count, device=logarithm.device) / center
    phase = logarithm.imag + math.pi * _core.asarray(ndelay, device=logarithm.device)[..., None] * ramp
    return fft.ifft(treadle.exp(logarithm.real + 1j * phase)).real


def minimum_phase(x, n=None):
    """The signal of minimum phase whose spectrum has x's magnitudes; n: places of the transform."""
    ceps = real_cepstrum(x, n=len(x) if n is None else n)
    count = ceps.shape[-1]
    at = treadle.arange(count, device=ceps.device)
    twice, once = (at > 0) & (2 * at < count), (at == 0) | (2 * at == count)
    return fft.ifft(treadle.exp(fft.fft(ceps * (2.0 * twice + 1.0 * once)))).real


__dir__ = _dir_of(__name__)
