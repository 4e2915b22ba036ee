"""What treadle.scipy's kernels are made of: operands of all layouts, out=, dtypes; parallel loops; pieces of lines."""

import importlib

import numpy as np
import pytest
import scipy.ndimage
import scipy.signal
import scipy.special
from special_values import VALUES

import treadle as td
from treadle.scipy import ndimage, signal, special
from treadle.scipy._ndimage import _interpolation as _ndimage_interpolation
from treadle.scipy._ndimage import _morphology as _ndimage_morphology
from treadle.scipy._special._kernel import KERNELS
from treadle.scipy.signal import _filter, _resample

for file in special.NATIVE:
    importlib.import_module(f"treadle.scipy.{file}")  # its kernels are known now

X = np.linspace(0.2, 5, 24).reshape(4, 6)
LAYOUTS = {
    "plain": lambda a: a,
    "transposed": lambda a: a.T,
    "strided": lambda a: a[::2, 1::3],
    "reversed": lambda a: a[::-1],
    "no elements": lambda a: a[:0],
    "no dims": lambda a: a[2, 3],
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts(layout, dev):
    a = LAYOUTS[layout](X)
    got = special.gammainc(LAYOUTS[layout](td.asarray(X)), 1.5)
    np.testing.assert_allclose(got.get(), scipy.special.gammainc(a, 1.5), rtol=1e-13)
    got = special.beta(LAYOUTS[layout](td.asarray(X)), td.asarray(a))
    np.testing.assert_allclose(got.get(), scipy.special.beta(a, a), rtol=1e-13)


def test_broadcasting(dev):
    got = special.gammaincc(td.asarray(X[:, :1]), td.asarray(X[0]))
    np.testing.assert_allclose(got.get(), scipy.special.gammaincc(X[:, :1], X[0]), rtol=1e-13)
    assert special.gammainc(td.asarray(X), td.asarray(2.0)).shape == X.shape


@pytest.mark.parametrize(
    "dtype,result",
    [("float16", "float32"), ("float32", "float32"), ("float64", "float64"), ("int32", "float64"), ("bool", "float64")],
)
def test_dtypes(dtype, result):
    x = td.asarray(np.arange(1, 4)).astype(dtype)
    assert special.digamma(x).dtype == result and special.gammainc(x, 2.0).dtype == result
    assert special.digamma(td.asarray([1.5, 2.5]).astype(td.bfloat16)).dtype == "float32"


def test_numbers_and_numpys_arrays():
    assert isinstance(special.digamma(2.0), td._core.ndarray) and special.digamma(2.0).shape == ()
    assert isinstance(special.digamma(X), td._core.ndarray) and special.digamma([1, 2]).dtype == "float64"


def test_out(dev):
    out = td.zeros((4, 6), dtype="float32")
    assert special.digamma(td.asarray(X), out=out) is out and special.digamma(td.asarray(X), out) is out
    np.testing.assert_allclose(out.get(), scipy.special.digamma(X), rtol=2e-6, atol=1e-6)
    s, c = td.zeros((4, 6)), td.zeros((4, 6))
    assert special.sici(td.asarray(X), out=(s, c))[1] is c
    np.testing.assert_allclose(c.get(), scipy.special.sici(X)[1], rtol=1e-13, atol=1e-15)


def test_mistakes():
    with pytest.raises(TypeError, match="beta.. takes 2 arrays"):
        special.beta(1.0)
    with pytest.raises(TypeError, match="erfinv is not here for complex numbers"):
        special.erfinv(td.asarray([1j]))
    with pytest.raises(ValueError):
        special.beta(td.ones(3), td.ones(2))


@pytest.mark.parametrize("name", sorted(VALUES))
def test_accuracy(name, dev):
    """Against 17 digits of mpmath's: the bound that the kernel states."""
    kernel, rows = KERNELS[name], np.array(VALUES[name])
    got = kernel(*(td.asarray(c) for c in rows[:, : kernel.nin].T))
    for r, want in zip(got if kernel.nout > 1 else (got,), rows[:, kernel.nin :].T, strict=True):
        np.testing.assert_allclose(r.get(), want, rtol=kernel.bound, atol=0)


def test_every_kernel_states_its_bound():
    assert [k.__name__ for k in KERNELS.values() if not (0 < k.bound <= 1e-10 and k.__doc__)] == []


def test_loops_are_parallel():
    """A loop that is not would be refused on a GPU, and run on one core here."""
    x = td.asarray(X)
    signal.lfilter([1.0, 2.0], [1.0, 0.5], x)
    signal.upfirdn([1.0, 2.0], x)
    ndimage.zoom(x, 2.0)
    ndimage.distance_transform_edt(x > 1)
    for f in (_filter._run, _resample._rates, _ndimage_interpolation._spline_lines, _ndimage_morphology._envelope):
        assert f.explain() and all("runs in parallel" in line for line in f.explain().splitlines()), f.explain()


@pytest.mark.parametrize("n", [64, 500])
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_long_lines_in_pieces(n, dtype, rng, monkeypatch):
    """On a GPU few long lines are cut: the same values, the same states."""
    monkeypatch.setattr(_filter, "_LONG", 100)
    b, a = [0.2, 0.3, 0.1], [1.0, -0.9, 0.4]
    x = rng.standard_normal((n, 2)).astype(dtype)
    zi = rng.standard_normal((2, 2))
    want, end = scipy.signal.lfilter(b, a, x, axis=0, zi=zi)
    with td.device("null"):
        got, left = signal.lfilter(b, a, td.asarray(x), axis=0, zi=td.asarray(zi))
        np.testing.assert_allclose(got.get(), want, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(left.get(), end, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("size", [(3, 3), (2, 5), (9, 10)])
def test_ranks(size, rng):
    """Selection by a network, by counting beyond 81 values, for every rank."""
    a = rng.integers(0, 20, (11, 12)).astype("i4")
    n = size[0] * size[1]
    for rank in range(0, n, max(1, n // 7)):
        want = scipy.ndimage.rank_filter(a, rank, size)
        np.testing.assert_array_equal(ndimage.rank_filter(td.asarray(a), rank, size).get(), want)


def test_spline_of_short_axes():
    """The spline goes through its elements in every mode, also where the axis is shorter than the filter's reach."""
    x = np.array([3.0, -1, 4, 1, -5, 9])
    for order in (2, 3, 4, 5):
        for mode in ("mirror", "reflect", "grid-wrap"):
            for n in (2, 3, 6):
                got = ndimage.map_coordinates(td.asarray(x[:n]), np.arange(n)[None] * 1.0, order=order, mode=mode)
                np.testing.assert_allclose(got.get(), x[:n], atol=1e-12)


def test_label_of_a_spiral(dev):
    """Long parts whose trees are joined from both ends."""
    a = np.zeros((15, 15), int)
    for k in range(0, 7, 2):
        a[k, k : 15 - k] = a[14 - k, k : 15 - k] = a[k : 15 - k, k] = a[k : 15 - k, 14 - k] = 1
        a[k + 1, k], a[k + 2, k + 1] = 0, 1
    got, n = ndimage.label(td.asarray(a))
    want, m = scipy.ndimage.label(a)
    assert n == m
    np.testing.assert_array_equal(got.get(), want)


def test_output(dev):
    a = np.arange(20.0).reshape(4, 5)
    out = td.zeros((4, 5), dtype="float32")
    assert ndimage.gaussian_filter(td.asarray(a), 1, output=out) is out
    np.testing.assert_allclose(out.get(), scipy.ndimage.gaussian_filter(a, 1), rtol=1e-6)
    assert ndimage.sobel(td.asarray(a), output="float32").dtype == "float32"
    same = td.asarray(a)
    ndimage.uniform_filter(same, 3, output=same)
    np.testing.assert_allclose(same.get(), scipy.ndimage.uniform_filter(a, 3), rtol=1e-13)
    with pytest.raises(RuntimeError, match="output shape not correct"):
        ndimage.gaussian_filter(td.asarray(a), 1, output=td.zeros(3))
    with pytest.raises(RuntimeError, match="boundary mode"):
        ndimage.gaussian_filter(td.asarray(a), 1, mode="nothing")
