"""Signals, under scipy.signal's names."""

from .._table import Table
from . import windows  # noqa: F401 - SciPy's is there without being imported

NATIVE = {
    "signal._convolve": "convolve convolve2d correlate correlate2d medfilt medfilt2d order_filter sepfir2d",
    "signal._filter": "filtfilt lfilter sosfilt sosfiltfilt",
    "signal._resample": "upfirdn",
}
COMPOSED = {
    "signal._convolve": "choose_conv_method correlation_lags fftconvolve oaconvolve wiener",
    "signal._filter": "deconvolve lfilter_zi lfiltic sosfilt_zi",
    "signal._resample": "decimate detrend hilbert hilbert2 resample resample_poly savgol_coeffs savgol_filter",
    "signal._spectral": "coherence csd istft lombscargle periodogram spectrogram stft vectorstrength welch",
    "signal._waves": "CZT ZoomFFT argrelextrema argrelmax argrelmin chirp cwt czt czt_points gausspulse morlet morlet2 "
    "qmf ricker sawtooth square sweep_poly unit_impulse zoom_fft",
    "signal._windows": "get_window",
}
__getattr__, __dir__, __all__ = Table("signal", NATIVE, COMPOSED).attach()
