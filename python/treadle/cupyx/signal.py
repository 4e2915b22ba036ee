"""Functions of cupyx.signal for radar and radio, as expressions of arrays."""

import math

import numpy

import treadle

from .. import _core, fft
from ..scipy.signal import get_window

__all__ = ["cfar_alpha", "freq_shift", "pulse_compression", "pulse_doppler"]


def _values(window, n, device):
    """A window of n places from a callable (of frequencies), an array, or get_window's names."""
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
