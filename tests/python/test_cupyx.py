"""cupyx's names that are not kernels or SciPy's: writing by indices, radar."""

import numpy as np
import pytest

import treadle as td
from treadle import cupyx


def test_scatter(dev):
    at, values = np.array([1, 1, 3]), np.array([5.0, 7, -2])
    for name, f in (("scatter_add", np.add), ("scatter_max", np.maximum), ("scatter_min", np.minimum)):
        a, want = td.ones(5), np.ones(5)
        getattr(cupyx, name)(a, td.asarray(at), td.asarray(values))
        f.at(want, at, values)
        assert a.get().tolist() == want.tolist()
    assert cupyx.rsqrt(td.asarray([4.0])).get().tolist() == [0.5]
    with pytest.raises(AttributeError, match="guide-cupy"):
        _ = cupyx.nothing


@pytest.mark.filterwarnings("ignore")
def test_radar(rng):
    x, pulse = rng.standard_normal((4, 64)), rng.standard_normal(16)
    got = cupyx.signal.pulse_compression(td.asarray(x), td.asarray(pulse), nfft=128).get()[:, :49].real
    want = np.array([np.correlate(row, pulse, "valid") for row in x])
    np.testing.assert_allclose(got, want, atol=1e-12)
    plain = cupyx.signal.pulse_compression(td.asarray(x), td.asarray(pulse), True, "hann").get()
    w = np.hanning(16) * pulse
    np.testing.assert_allclose(plain, np.fft.ifft(np.fft.fft(x) * np.fft.fft(w / np.linalg.norm(w), 64).conj()), atol=1e-12)
    np.testing.assert_allclose(cupyx.signal.pulse_doppler(td.asarray(x)).get(), np.fft.fft(x, axis=0), atol=1e-12)
    got = cupyx.signal.pulse_doppler(td.asarray(x), window=td.ones(4) * 2, nfft=8).get()
    np.testing.assert_allclose(got, np.fft.fft(2 * x, 8, axis=0), atol=1e-12)
    n = np.arange(16)
    got = cupyx.signal.freq_shift(td.asarray(np.exp(2j * np.pi * 3 * n / 16)), 3, 16).get()
    np.testing.assert_allclose(got, np.ones(16), atol=1e-12)
    assert abs(cupyx.signal.cfar_alpha(1e-3, 1) - 999) < 1e-9
