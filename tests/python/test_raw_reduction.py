"""ReductionKernel against NumPy, on every device."""

import pickle

import numpy as np
import pytest

import treadle as td

NORM = td.ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "norm")
LARGEST = td.ReductionKernel(
    "T x, S w, float64 q", "T y, S z", "x * (T)w + (T)q", "a > b ? a : b", "y = a; z = 3", None, "largest"
)
SHAPES = [(10,), (5, 7), (3, 4, 5), (300, 33), (33, 300), (70000,), (3, 20000), (20000, 3), (2, 300, 3, 70)]


def _axes(ndim):
    return [None, *range(ndim), -1, tuple(range(ndim)), (0, ndim - 1) if ndim > 1 else (0,)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_axes(dev, rng, shape):
    a = rng.random(shape)
    for b, x in ((a, td.asarray(a)), (a.T, td.asarray(a).T), (a[..., ::2], td.asarray(a)[..., ::2])):
        for axis in _axes(a.ndim):
            for keepdims in (False, True):
                want = np.sqrt((b * b).sum(axis=axis, keepdims=keepdims))
                got = NORM(x, axis=axis, keepdims=keepdims)
                assert got.shape == want.shape and got.dtype == want.dtype
                np.testing.assert_allclose(got.get(), want, rtol=1e-10)


def test_several_operands_and_results(dev, rng):
    a, b = rng.random((40, 30)).astype("f4"), rng.integers(0, 9, 30).astype("i4")
    for axis in (None, 0, 1):
        y, z = LARGEST(td.asarray(a), td.asarray(b), 0.5, axis=axis)
        np.testing.assert_allclose(y.get(), (a * b + np.float32(0.5)).max(axis=axis), rtol=1e-6)
        assert z.dtype == np.int32 and (z.get() == 3).all()
    big = rng.random(300_000)
    y, _ = LARGEST(td.asarray(big), td.ones(1, dtype=td.int32), 0)
    assert y.item() == big.max()
    wide = rng.random((3, 100_000))
    np.testing.assert_array_equal(
        LARGEST(td.asarray(wide), td.ones(1, dtype=td.int32), 0, axis=1)[0].get(), wide.max(axis=1)
    )


def test_no_identity_needs_values(dev):
    with pytest.raises(ValueError, match="identity"):
        LARGEST(td.ones((0, 3)), td.ones(3, dtype=td.int32), 0, axis=0)
    assert LARGEST(td.ones((3, 0)), td.ones(1, dtype=td.int32), 0, axis=0)[0].shape == (0,)
    assert NORM(td.ones((0, 3)), axis=0).get().tolist() == [0, 0, 0]


def test_out(dev, rng):
    a = rng.random((3, 4, 5))
    x, whole = td.asarray(a), td.zeros((3, 8))
    for given in ({"out": whole[:, ::2]}, {}):
        args = (x,) if given else (x, whole[:, 1::2])
        NORM(*args, axis=2, **given)
    want = np.sqrt((a * a).sum(axis=2))
    np.testing.assert_allclose(whole.get(), np.repeat(want, 2, axis=1))
    with pytest.raises(ValueError):
        NORM(x, axis=2, out=td.zeros((3, 5)))
    with pytest.raises(ValueError):
        NORM(x, td.zeros((3, 4)), axis=2, out=td.zeros((3, 4)))
    with pytest.raises(TypeError):
        NORM(x, axis=2, out=td.zeros((3, 4), dtype=td.float32))


def test_reduce_type_of_the_preamble(dev):
    """A pair of value and place: the classic argmin."""
    k = td.ReductionKernel(
        "T x, int64 k", "int64 y", "least<T>(x, k)", "lower(a, b)", "y = a.at", "least<T>()", "place_of_least",
        reduce_type="least<T>",
        preamble="""
        template <typename U> struct least {
            U value; long long at;
            __device__ least() : value(0), at(-1) {}
            __device__ least(U v, long long k) : value(v), at(k) {}
        };
        template <typename U> __device__ least<U> lower(const least<U> &a, const least<U> &b)
        {
            if (a.at < 0 || b.at < 0)
                return a.at < 0 ? b : a;
            return a.value < b.value || (a.value == b.value && a.at < b.at) ? a : b;
        }""",
    )  # fmt: skip
    rng = np.random.default_rng(3)
    for shape in ((100,), (200_000,), (7, 300)):
        a = rng.integers(0, 1000, shape).astype("f4")
        got = k(td.asarray(a), td.arange(shape[-1]), axis=len(shape) - 1)
        np.testing.assert_array_equal(got.get(), a.argmin(axis=-1))


def test_reduce_type_by_name(dev):
    k = td.ReductionKernel("int8 x", "int64 y", "x", "a + b", "y = a", 0, "wide_sum", reduce_type="long long")
    assert k(td.full(100_000, 100, dtype=td.int8)).item() == 10_000_000
    k = td.ReductionKernel("float32 x", "float32 y", "x", "a + b", "y = a", 0, "double_sum", reduce_type="float64")
    assert k(td.full(1000, 0.1, dtype=td.float32)).item() == np.float32(1000 * np.float64(np.float32(0.1)))


def test_raw_and_preamble(dev, rng):
    a, w = rng.random((6, 5)), rng.random(2)
    k = td.ReductionKernel("T x, raw T w", "T y", "twice(x) * w[1]", "a + b", "y = a + w_of(0)", "0", "weighted",
                           preamble="#define w_of(k) 1.0\ntemplate <typename U> __device__ U twice(U x) { return x + x; }")  # fmt: skip
    np.testing.assert_allclose(k(td.asarray(a), td.asarray(w), axis=0).get(), (2 * a * w[1]).sum(axis=0) + 1)


@pytest.mark.parametrize("shape", [(3, 5), (4, 1000, 3), (300000,), (2, 70000), (70000, 2)], ids=str)
def test_counts(dev, rng, shape):
    """_in_ind.size() and _out_ind.size(), as in CuPy's own mean."""
    mean = td.ReductionKernel("T x", "T y", "x", "a + b", "y = a / (_in_ind.size() / _out_ind.size())", "0", "mean")
    shares = td.ReductionKernel("T x, T by", "T y", "x * by / _in_ind.size()", "a + b", "y = a * _out_ind.size()", "0")
    x = rng.random(shape)
    for axis in (None, *range(len(shape))):
        np.testing.assert_allclose(mean(td.asarray(x), axis=axis).get(), x.mean(axis=axis), rtol=1e-12)
        np.testing.assert_allclose(shares(td.asarray(x), 2.0, axis=axis).get(), 2 * x.mean(axis=axis), rtol=1e-12)
    again = pickle.loads(pickle.dumps(mean))
    np.testing.assert_allclose(again(td.asarray(x)).get(), x.mean(), rtol=1e-12)


def test_repeats_exactly(dev, rng):
    x = td.asarray(rng.random(300_000).astype("f4"))
    k = td.ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0", "plain_sum")
    assert len({k(x).item() for _ in range(5)}) == 1


def test_wrong_ways(dev):
    with pytest.raises(np.exceptions.AxisError):
        NORM(td.ones(3), axis=1)
    with pytest.raises(ValueError, match="twice"):
        NORM(td.ones((3, 3)), axis=(0, -2))
    with pytest.raises((TypeError, ValueError)):
        NORM(1.0)
    with pytest.raises(TypeError, match="asarray"):
        NORM(np.ones(3))
    with pytest.raises(TypeError):
        NORM()
    with pytest.raises(td.CompileError, match="absent"):
        td.ReductionKernel("T x", "T y", "absent(x)", "a + b", "y = a", "0", "wrong")(td.ones(3))
    with pytest.raises(td.CompileError, match="64 bytes"):
        td.ReductionKernel("T x", "T y", "x", "a", "y = 0", None, "large", reduce_type="large_one",
                           preamble="struct large_one { char c[65]; __device__ large_one(double x = 0) {} };")(td.ones(3))  # fmt: skip
    with pytest.raises(ValueError):
        td.ReductionKernel("T x", "raw T y", "x", "a + b", "y = a", "0")


def test_pickle():
    with td.device("cpu"):
        assert pickle.loads(pickle.dumps(NORM))(td.ones(4)).item() == 2
