"""cupyx's names that are not kernels or SciPy's: writing by indices, radar."""

import re

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
    with pytest.raises(AttributeError, match="cupy.md"):
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


def test_benchmark(dev):
    calls = []

    def f(a, b=1):
        calls.append(b)
        return a * b

    from treadle.cupyx import profiler

    with td.device(str(dev)):
        x = td.ones(100)
        r = profiler.benchmark(f, (x,), {"b": 2}, n_repeat=5, n_warmup=3)
    assert calls == [2] * 8 and r.name == "f" and r.cpu_times.shape == (5,) and r.gpu_times.shape == (1, 5)
    assert (r.cpu_times > 0).all() and (r.gpu_times >= 0).all() and str(r) == repr(r) == r.to_str(show_gpu=True)
    assert re.fullmatch(r"f {19}:    CPU: +[\d.]+ us   \+/- +[\d.]+ \(min: +[\d.]+ / max: +[\d.]+\) us     GPU-\d: .* us", str(r))
    assert "GPU" not in r.to_str() and f"{r.cpu_times.mean() * 1e6:9.03f}" in r.to_str()
    assert profiler.benchmark(f, (x,), n_repeat=10**6, n_warmup=0, max_duration=0.0, name="g").cpu_times.size == 1
    for wrong in ({"args": [x]}, {"kwargs": [1]}, {"n_repeat": 1.5}, {"n_repeat": 0}, {"name": 3}, {"n_warmup": "1"}, {"devices": [0]}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            profiler.benchmark(f, **({"args": (x,)} | wrong))
    with pytest.raises(ValueError, match="called"):
        profiler.benchmark(3)
    with pytest.warns(DeprecationWarning):
        assert cupyx.time.repeat(f, (x,), n_repeat=2).cpu_times.size == 2


def test_ranges():
    from treadle.cupyx.profiler import profile, time_range

    @time_range()
    def f(x):
        return x + 1

    with profile(), time_range("block", color_id=1, sync=True), time_range("other", argb_color=0xFF00FF00):
        assert f(2) == 3 and f.__name__ == "f"
    with pytest.raises(ValueError, match="name"), time_range():
        pass
    with pytest.raises(ValueError, match="color"):
        time_range("x", color_id=1, argb_color=2)


@pytest.mark.parametrize("dtype", ["float32", "int8"])
def test_pinned(dtype):
    for shape in ((), 3, (2, 3)):
        for order in "CF":
            made, want = cupyx.zeros_pinned(shape, dtype, order), np.zeros(shape, dtype, order)
            assert isinstance(made, np.ndarray) and made.dtype == dtype and made.shape == want.shape and made.strides == want.strides
            assert made.tolist() == want.tolist() and cupyx.empty_pinned(shape, dtype, order).shape == want.shape
            like = cupyx.zeros_like_pinned(td.asarray(want + 1))
            assert like.tolist() == want.tolist() and like.dtype == (want + 1).dtype
    assert cupyx.empty_like_pinned(np.zeros((2, 3), order="F")).flags.f_contiguous
    assert cupyx.empty_like_pinned(np.zeros(3), dtype, shape=(4, 5)).shape == (4, 5)
    with pytest.raises(TypeError, match="subok"):
        cupyx.empty_like_pinned(np.zeros(3), subok=True)


def test_settings():
    before = cupyx.geterr()
    with cupyx.errstate(divide="raise", linalg="ignore"):
        assert cupyx.geterr() == {**before, "divide": "raise", "linalg": "ignore"}
        with pytest.raises(FloatingPointError):
            (td.ones(2) / td.zeros(2)).get()
    assert cupyx.geterr() == before and cupyx.seterr(over="warn") == before
    cupyx.seterr(over=before["over"])
    with pytest.raises(NotImplementedError, match="linalg"):
        cupyx.seterr(linalg="warn")
    info = cupyx.get_runtime_info()
    assert info.numpy_version == np.__version__ and info.cupy_version == td.__version__ and f": {np.__version__}" in str(info)
    with cupyx.optimizing.optimize(key="x", timeout=1):
        assert td.arange(4).sum().item() == 6
    with pytest.raises(TypeError, match="trials"), cupyx.optimizing.optimize(trials=3):
        pass


def test_gufunc(dev, rng):
    a, b = rng.standard_normal((4, 1, 2, 3)), rng.standard_normal((5, 3, 2))
    x, y = td.asarray(a, device=dev), td.asarray(b, device=dev)
    for batched in (True, False):
        product = cupyx.GeneralizedUFunc(td.matmul, "(m,n),(n,k)->(m,k)", supports_batched=batched)
        np.testing.assert_allclose(product(x, y).get(), a @ b)
        out = td.zeros((4, 5, 2, 2), device=dev)
        assert product(x, y, out=out) is out and np.allclose(out.get(), a @ b)
        np.testing.assert_allclose(product(x.mT, y, axes=[(-1, -2), (-2, -1), (0, 1)]).get(), np.moveaxis(a @ b, (-2, -1), (0, 1)))
        total = cupyx.GeneralizedUFunc(lambda v: v.sum(axis=-1), "(n)->()", supports_batched=batched)
        np.testing.assert_allclose(total(x).get(), a.sum(axis=-1))
        np.testing.assert_allclose(total(x, axis=0, keepdims=True).get(), a.sum(axis=0, keepdims=True))
        two = cupyx.GeneralizedUFunc(lambda v: (v.min(axis=-1), v.max(axis=-1)), "(n)->(),()", supports_batched=batched, name="ends")
        low, high = two(x)
        assert low.tolist() == a.min(axis=-1).tolist() and high.tolist() == a.max(axis=-1).tolist() and two.__name__ == "ends"
    for wrong in (lambda: product(x), lambda: product(x, x), lambda: product(td.ones(3), y), lambda: cupyx.GeneralizedUFunc(td.matmul, "m,n")):
        with pytest.raises(ValueError):
            wrong()


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_cholesky_systems(dtype, rng):
    from scipy import linalg

    a = rng.standard_normal((3, 4, 4)) + (1j * rng.standard_normal((3, 4, 4)) if dtype == "complex128" else 0)
    a, b = a @ a.conj().swapaxes(-1, -2) + np.eye(4), rng.standard_normal((3, 4, 2))
    np.testing.assert_allclose(cupyx.linalg.invh(td.asarray(a)).get(), np.linalg.inv(a), atol=1e-12)
    factor = np.linalg.cholesky(a)
    np.testing.assert_allclose(cupyx.linalg.cho_solve((td.asarray(factor), True), td.asarray(b)).get(), np.linalg.solve(a, b), atol=1e-12)
    upper = td.asarray(factor[0].conj().T)
    want = linalg.cho_solve((factor[0], True), b[0, :, 0])
    np.testing.assert_allclose(cupyx.linalg.cho_solve((upper, False), td.asarray(b[0, :, 0])).get(), want, atol=1e-12)
    with pytest.raises(ValueError, match="NaN"):
        cupyx.linalg.cho_solve((upper, False), td.asarray([1, np.nan, 0, 0]))
    with pytest.raises(np.linalg.LinAlgError):
        cupyx.linalg.invh(td.asarray(-a))


@pytest.mark.filterwarnings("ignore")
def test_filters(rng):
    from scipy import signal

    b, x = rng.standard_normal(5), rng.standard_normal((3, 40))
    ours = cupyx.signal
    np.testing.assert_allclose(ours.firfilter(td.asarray(b), td.asarray(x)).get(), signal.lfilter(b, 1, x), atol=1e-12)
    np.testing.assert_allclose(ours.firfilter_zi(td.asarray(b)).get(), signal.lfilter_zi(b, 1), atol=1e-12)
    y, zf = ours.firfilter(td.asarray(b), td.asarray(x), zi=td.zeros((3, 4)))
    np.testing.assert_allclose(zf.get(), signal.lfilter(b, 1, x, zi=np.zeros((3, 4)))[1], atol=1e-12)
    np.testing.assert_allclose(ours.firfilter2(td.asarray(b), td.asarray(x)).get(), signal.filtfilt(b, 1, x), atol=1e-11)
    with pytest.raises(NotImplementedError):
        ours.firfilter2(td.asarray(b), td.asarray(x), method="gust")
    for name, shape in (("convolve1d2o", (3, 4)), ("convolve1d3o", (3, 2, 4))):
        h = rng.standard_normal(shape)
        got = getattr(ours, name)(td.asarray(x[0]), td.asarray(h)).get()
        want = [sum(np.prod([x[0, n + w - 1 - k] for w, k in zip(shape, at, strict=True)]) * h[at] for at in np.ndindex(shape)) for n in range(40 - max(shape) + 1)]
        np.testing.assert_allclose(got, want, atol=1e-12)
        with pytest.raises(ValueError, match="fewer"):
            getattr(ours, name)(td.ones(2), td.asarray(h))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", ["float32", "complex128"])
def test_channels(dtype, rng):
    x, h = (rng.standard_normal(n).astype(dtype) + (1j * rng.standard_normal(n) if dtype == "complex128" else 0) for n in (43, 12))
    got = cupyx.signal.channelize_poly(td.asarray(x.astype(dtype)), td.asarray(h.astype(dtype)), 4).get()
    want = np.zeros((10, 4), complex)
    for p, c, t in np.ndindex(10, 4, 3):
        if p >= t:
            want[p, c] += np.conj(h[t * 4 + c]) * np.conj(x[(p - t) * 4 + 3 - c])
    want = np.fft.fft(want).conj().T
    assert got.dtype == np.result_type(dtype, "complex64")
    np.testing.assert_allclose(got, want, atol=1e-4 if dtype == "float32" else 1e-12)
    with pytest.raises(NotImplementedError, match="int64"):
        cupyx.signal.channelize_poly(td.arange(8), td.arange(4), 2)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("n", [32, 33])
def test_cepstra(n, rng):
    ours, x = cupyx.signal, np.convolve([1, 0.4], rng.standard_normal(n) * 0.1 + np.eye(1, n)[0] * 2, "same")
    spectrum = np.fft.fft(x)
    np.testing.assert_allclose(ours.real_cepstrum(td.asarray(x)).get(), np.fft.ifft(np.log(abs(spectrum))).real, atol=1e-12)
    ceps, delay = ours.complex_cepstrum(td.asarray(x))
    np.testing.assert_allclose(ours.inverse_complex_cepstrum(ceps, delay).get(), x, atol=1e-10)
    delayed, more = ours.complex_cepstrum(td.asarray(np.roll(x, 3)))
    phase, center = np.unwrap(np.angle(np.fft.fft(np.roll(x, 3)))), (n + 1) // 2
    want = np.round(phase[center] / np.pi)
    assert more.item() == want != delay.item()
    phase -= np.pi * want * np.arange(n) / center
    np.testing.assert_allclose(delayed.get(), np.fft.ifft(np.log(abs(spectrum)) + 1j * phase).real, atol=1e-10)
    if n % 2 == 0:  # else no whole number of samples stands for the phase in the middle
        np.testing.assert_allclose(ours.inverse_complex_cepstrum(delayed, more).get(), np.roll(x, 3), atol=1e-10)
    least = ours.minimum_phase(td.asarray(x)).get()
    np.testing.assert_allclose(abs(np.fft.fft(least)), abs(spectrum), rtol=1e-9)
    assert np.cumsum(least**2)[3] >= np.cumsum(np.roll(x, 3) ** 2)[3]


@pytest.mark.filterwarnings("ignore")
def test_detection(rng):
    ours = cupyx.signal
    for shape, guard, reference in (((50,), 2, 5), ((20, 30), (1, 2), (3, 2))):
        a = rng.exponential(size=shape).astype("f4")
        a[tuple(n // 2 for n in shape)] = 100
        threshold, found = ours.ca_cfar(td.asarray(a), guard, reference, 1e-3)
        g, r = np.atleast_1d(guard), np.atleast_1d(reference)
        want = np.zeros(shape)
        for at in np.ndindex(shape):
            outer = [slice(k - f, k + f + 1) for k, f in zip(at, g + r, strict=True)]
            if all(s.start >= 0 and s.stop <= n for s, n in zip(outer, shape, strict=True)):
                inner = a[tuple(slice(k - f, k + f + 1) for k, f in zip(at, g, strict=True))]
                count = np.prod(2 * (g + r) + 1) - inner.size
                want[at] = (a[tuple(outer)].sum() - inner.sum()) / count * ours.cfar_alpha(1e-3, count)
        np.testing.assert_allclose(threshold.get(), want, rtol=1e-4)
        assert found.get().tolist() == ((a > want) & (want > 0)).tolist() and found[tuple(n // 2 for n in shape)].item()
    with pytest.raises(ValueError, match="small"):
        ours.ca_cfar(td.ones(10), 2, 5)
    with pytest.raises(TypeError):
        ours.ca_cfar(td.ones((9, 9)), (1, 2, 3), (1, 1))
    x, sv = rng.standard_normal((3, 50)) + 1j * rng.standard_normal((3, 50)), np.exp(1j * np.arange(3))
    inverse = np.linalg.inv(np.cov(x))
    np.testing.assert_allclose(ours.mvdr(td.asarray(x), td.asarray(sv)).get(), inverse @ sv / (sv.conj() @ inverse @ sv), atol=1e-12)
    np.testing.assert_allclose(ours.mvdr(td.asarray(np.cov(x)), td.asarray(sv), False).get(), inverse @ sv / (sv.conj() @ inverse @ sv), atol=1e-12)
    for wrong in ((x.T, sv), (x, sv[:2])):
        with pytest.raises(ValueError, match="sensors"):
            ours.mvdr(*map(td.asarray, wrong))
