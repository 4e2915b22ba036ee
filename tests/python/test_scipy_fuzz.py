"""treadle.scipy.ndimage and .signal beside SciPy for drawn shapes, modes, sizes, origins and dtypes."""

import numpy as np
import scipy.ndimage
import scipy.signal
from hypothesis import given, settings
from hypothesis import strategies as st

import treadle as td
from treadle.scipy import ndimage, signal

MODES = st.sampled_from(["reflect", "mirror", "nearest", "wrap", "constant"])
DTYPES = st.sampled_from(["f8", "f4", "i4", "u1"])
SHAPES = st.lists(st.integers(1, 7), min_size=1, max_size=3).map(tuple)
SEEDS = st.integers(0, 2**31)


def array(shape, dtype, seed):
    return (np.random.default_rng(seed).random(shape) * 100).astype(dtype)


def close(got, want):
    got = got.get()
    assert got.dtype == want.dtype and got.shape == want.shape
    if want.dtype.kind in "fc":
        single = want.dtype.itemsize == 4
        np.testing.assert_allclose(got, want, rtol=2e-5 if single else 1e-10, atol=1e-3 if single else 1e-9)
    else:  # a sum that is whole but for rounding may be cut either way
        assert abs(got.astype("i8") - want.astype("i8")).max(initial=0) <= 1


@settings(max_examples=30)
@given(SHAPES, DTYPES, MODES, SEEDS, st.data())
def test_filters(shape, dtype, mode, seed, data):
    a = array(shape, dtype, seed)
    size = tuple(data.draw(st.integers(1, 4)) for _ in shape)
    origin = tuple(data.draw(st.integers(-(n // 2), (n - 1) // 2)) for n in size)
    w = np.random.default_rng(seed).integers(-3, 4, size).astype(float)
    common = {"mode": mode, "cval": data.draw(st.sampled_from([0, 3, 2.5]))}
    for name in ("correlate", "convolve"):
        f, g = getattr(ndimage, name), getattr(scipy.ndimage, name)
        at = tuple(-o - (n % 2 == 0) for o, n in zip(origin, size)) if name == "convolve" else origin
        if dtype != "u1":
            close(f(td.asarray(a), w, origin=at, **common), g(a, w, origin=at, **common))
    for name in ("minimum_filter", "maximum_filter"):
        close(getattr(ndimage, name)(td.asarray(a), size, origin=origin, **common),
              getattr(scipy.ndimage, name)(a, size, origin=origin, **common))  # fmt: skip
    if len(shape) > 1:  # SciPy's median of one axis is another program, with its own borders
        rank = data.draw(st.integers(0, int(np.prod(size)) - 1))
        close(ndimage.rank_filter(td.asarray(a), rank, size, origin=origin, **common),
              scipy.ndimage.rank_filter(a, rank, size, origin=origin, **common))  # fmt: skip


@settings(max_examples=40)
@given(SHAPES, MODES, SEEDS, st.integers(0, 1), st.data())
def test_places(shape, mode, seed, order, data):
    a = array(shape, "f8", seed)
    at = np.random.default_rng(seed).uniform(-12, 12, (len(shape), 9))
    if order == 0:
        at = np.rint(at * 8) / 8 + 1 / 32  # away from halves, where neighbours are as near
    close(ndimage.map_coordinates(td.asarray(a), td.asarray(at), order=order, mode=mode),
          scipy.ndimage.map_coordinates(a, at, order=order, mode=mode))  # fmt: skip


@settings(max_examples=40)
@given(SHAPES, SEEDS, st.integers(1, 3))
def test_objects(shape, seed, connectivity):
    a = np.random.default_rng(seed).random(shape) > 0.5
    s = scipy.ndimage.generate_binary_structure(len(shape), min(connectivity, len(shape)))
    got, n = ndimage.label(td.asarray(a), s)
    want, m = scipy.ndimage.label(a, s)
    assert n == m and (got.get() == want).all()
    if n:
        x = array(shape, "f8", seed)
        for name in ("sum_labels", "mean", "variance", "minimum", "maximum", "median"):
            close(getattr(ndimage, name)(td.asarray(x), got, range(1, n + 1)),
                  getattr(scipy.ndimage, name)(x, want, range(1, n + 1)))  # fmt: skip
    if not a.all():
        close(ndimage.distance_transform_edt(td.asarray(a)), scipy.ndimage.distance_transform_edt(a))


@settings(max_examples=60)
@given(st.data(), SEEDS, st.sampled_from(["full", "same", "valid"]), st.booleans())
def test_convolutions(data, seed, mode, is_complex):
    ndim = data.draw(st.integers(1, 3))
    n = [data.draw(st.integers(1, 9)) for _ in range(ndim)]
    k = [data.draw(st.integers(1, m)) for m in n]
    a, h = array(n, "f8", seed), array(k, "f8", seed + 1)
    a = a + 1j * a[::-1] if is_complex else a
    for name in ("convolve", "correlate", "fftconvolve"):
        close(getattr(signal, name)(td.asarray(a), td.asarray(h), mode), getattr(scipy.signal, name)(a, h, mode))


@settings(max_examples=40)
@given(SEEDS, st.integers(1, 5), st.integers(1, 5), st.integers(1, 30), st.integers(0, 2))
def test_rates(seed, up, down, n, axis):
    rng = np.random.default_rng(seed)
    shape = [2, 3, 2]
    shape[axis] = n
    x, h = rng.standard_normal(shape), rng.standard_normal(rng.integers(1, 9))
    close(signal.upfirdn(h, td.asarray(x), up, down, axis), scipy.signal.upfirdn(h, x, up, down, axis))
    a = np.r_[1.0, 0.2 * rng.standard_normal(rng.integers(0, 4))]
    close(signal.lfilter(h, a, td.asarray(x), axis), scipy.signal.lfilter(h, a, x, axis))
    close(signal.resample(td.asarray(x), up * 3, axis=axis), scipy.signal.resample(x, up * 3, axis=axis))
