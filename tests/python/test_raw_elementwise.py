"""ElementwiseKernel against NumPy, on every device."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import treadle as td

SQUARED = td.ElementwiseKernel("T x, T y", "T z", "z = (x - y) * (x - y)", "squared")


def squared(x, y):
    return (x - y) * (x - y)


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int32", "int64", "float32", "float64", "complex64", "complex128"])
def test_dtypes(dev, rng, dtype):
    a, b = (rng.integers(0, 9, 1003).astype(dtype) for _ in "ab")
    z = SQUARED(td.asarray(a), td.asarray(b))
    assert z.dtype == dtype
    np.testing.assert_array_equal(z.get(), squared(a, b))


def _lay(a, how):
    """a with other steps, and an array of the device that has them."""
    x = td.asarray(a)
    for step in how:
        if step == "T":
            a, x = a.T, x.T
        elif step == "half":
            a, x = a[..., ::2], x[..., ::2]
        elif step == "back":
            a, x = a[::-1], x[::-1]
        elif step == "row":
            a, x = a[:1], x[:1]
        elif step == "col":
            a, x = a[..., :1], x[..., :1]
    return a, x


LAYS = [(), ("T",), ("half",), ("back",), ("row",), ("col",), ("T", "half")]


@settings(max_examples=25)
@given(
    st.sampled_from(LAYS),
    st.sampled_from(LAYS),
    st.integers(1, 40),
    st.integers(1, 40),
    st.sampled_from(["cpu", "null"]),
)
def test_layouts(first, second, rows, columns, where):
    with td.device(where):
        n = max(rows, columns) if "T" in first + second else None
        shape = (n, n) if n else (rows, columns)
        base = np.arange(shape[0] * shape[1], dtype="f4").reshape(shape)
        a, x = _lay(base, first)
        b, y = _lay(base * 3 + 1, second)
        try:
            want = squared(a, b)
        except ValueError:
            with pytest.raises(ValueError):
                SQUARED(x, y)
            return
        np.testing.assert_array_equal(SQUARED(x, y).get(), want)


@pytest.mark.parametrize(
    "shapes", [((3, 1, 5), (4, 1)), ((2, 3, 4, 5), (4, 1)), ((), (7,)), ((6, 1), (1, 9)), ((1,), ())], ids=str
)
def test_broadcasting(dev, rng, shapes):
    a, b = (rng.random(s) for s in shapes)
    z = SQUARED(td.asarray(a), td.asarray(b))
    np.testing.assert_allclose(z.get(), squared(a, b))
    assert z.shape == squared(a, b).shape


def test_many_elements(dev, rng):
    """More than one piece of a CPU's thread; sizes around a GPU's vectors; addresses that are not a vector's."""
    for n in (1, 3, 4, 5, 255, 256, 257, 100_003):
        a = rng.random(n + 1).astype("f4")
        x = td.asarray(a)
        np.testing.assert_allclose(SQUARED(x[1:], x[:-1]).get(), squared(a[1:], a[:-1]), rtol=1e-6)
        np.testing.assert_allclose(SQUARED(x, 2).get(), squared(a, np.float32(2)), rtol=1e-6)


def test_numbers(dev):
    x = td.arange(5, dtype=td.float32)
    for value in (2, 2.0, np.float64(2), np.int8(2), True + 1):
        z = SQUARED(x, value)
        assert z.dtype == np.float32
        np.testing.assert_array_equal(z.get(), squared(np.arange(5, dtype="f4"), 2))
    with pytest.raises(TypeError):
        SQUARED(1.0, 2.0)
    with pytest.raises(TypeError):
        SQUARED(x, x.astype("float64"))
    with pytest.raises(TypeError, match="asarray"):
        SQUARED(x, np.ones(5, "f4"))
    with pytest.raises(TypeError):
        SQUARED(x)
    with pytest.raises(TypeError):
        SQUARED(x, "2")


def test_typed_parameters(dev):
    k = td.ElementwiseKernel("float32 x, float64 s", "float64 y, bool odd", "y = x + s; odd = ((int)x) & 1", "typed")
    y, odd = k(td.arange(4, dtype=td.float32), 0.5)
    assert y.dtype == np.float64 and odd.dtype == bool
    np.testing.assert_array_equal(y.get(), np.arange(4) + 0.5)
    np.testing.assert_array_equal(odd.get(), [False, True, False, True])
    with pytest.raises(TypeError, match="float32"):
        k(td.arange(4), 0.5)


def test_results_that_are_there(dev):
    x = td.arange(6, dtype=td.float32).reshape(2, 3)
    out = td.zeros((2, 6), dtype=td.float32)
    assert SQUARED(x, 1, out[:, ::2]).shape == (2, 3)
    want = np.zeros((2, 6), "f4")
    want[:, ::2] = (x.get() - 1) ** 2
    np.testing.assert_array_equal(out.get(), want)
    SQUARED(x, 1, x)
    np.testing.assert_array_equal(x.get(), want[:, ::2])
    with pytest.raises(ValueError):
        SQUARED(x, 1, td.zeros((3, 3), dtype=td.float32))
    wide = td.zeros((2, 2, 3), dtype=td.float32)
    assert (SQUARED(x, 1, wide).get() == (x.get() - 1) ** 2).all()
    with pytest.raises(ValueError):
        SQUARED(x, 1, td.zeros((1, 3), dtype=td.float32))
    with pytest.raises(TypeError):
        SQUARED(x, 1, td.zeros((2, 3)))
    with pytest.raises(TypeError):
        SQUARED(x, 1, 2.0)
    with pytest.raises(ValueError):
        SQUARED(x, 1, td.broadcast_to(td.zeros(3, dtype=td.float32), (2, 3)))


def test_raw(dev, rng):
    a, b = rng.random((2, 100)).astype("f4")
    back = td.ElementwiseKernel("T x, raw T y", "T z", "z = x + y[n - i - 1]", "back")
    np.testing.assert_allclose(back(td.asarray(a), td.asarray(b)).get(), a + b[::-1])
    np.testing.assert_allclose(back(td.asarray(a), td.asarray(b)[::-1]).get(), a + b)
    many = td.ElementwiseKernel(
        "raw T x", "raw T y, int64 q", "y[{i, 0}] = x[{i, 1}] + x.shape()[1]; q = x.size() + x.strides()[0]", "many"
    )
    x, y, q = td.asarray(a[:24].reshape(6, 4)), td.zeros((6, 2), dtype=td.float32), td.zeros(6, dtype=td.int64)
    many(x, y, q)
    np.testing.assert_allclose(y.get()[:, 0], x.get()[:, 1] + 4)
    assert (q.get() == 24 + 16).all() and not y.get()[:, 1].any()
    iota = td.ElementwiseKernel("", "raw float64 y", "y[i] = i * n", "iota")
    y = td.zeros(5)
    iota(y, size=5)
    np.testing.assert_array_equal(y.get(), np.arange(5) * 5)
    for args, more in [((y,), {}), ((), {"size": None})]:
        with pytest.raises(ValueError):
            iota(*args, **more)
    with pytest.raises(ValueError, match="size"):
        SQUARED(y, 1, size=3)


def test_indexer(dev):
    place = td.ElementwiseKernel(
        "T x", "int64 r", "r = _ind.get()[0] * 100 + _ind.get()[1] + _ind.size() * 0 + x", "place", False
    )
    want = np.arange(3)[:, None] * 100 + np.arange(4)
    np.testing.assert_array_equal(place(td.zeros((3, 4), dtype=td.int64)).get(), want)
    np.testing.assert_array_equal(place(td.zeros((4, 3), dtype=td.int64).T).get(), want)


def test_preamble_loop_prep_and_options(dev):
    k = td.ElementwiseKernel(
        "T x", "T y", "y = half_of(x) + begun + N", "prepared", preamble="template <typename U> __device__ U half_of(U v) { return v / 2; }",
        options=("-DN=3",), loop_prep="int begun = 10", after_loop="begun = 0",
    )  # fmt: skip
    np.testing.assert_array_equal(k(td.arange(4.0)).get(), np.arange(4) / 2 + 13)


def test_continue_and_inner_loops(dev):
    k = td.ElementwiseKernel(
        "int32 x", "int32 y", "y = 0; if (x & 1) continue; for (int j = 0; j < x; ++j) y += j;", "inner"
    )
    want = [0 if x & 1 else x * (x - 1) // 2 for x in range(50)]
    np.testing.assert_array_equal(k(td.arange(50, dtype=td.int32)).get(), want)


def test_what_is_returned(dev):
    x = td.ones(3)
    one = td.ElementwiseKernel("T x", "T y", "y = x", "one", return_tuple=True)
    assert type(one(x)) is tuple
    none = td.ElementwiseKernel("T x", "T y", "y = x + 1", "none", no_return=True)
    y = td.zeros(3)
    assert none(x, y) is None and (y.get() == 2).all()
    assert SQUARED(td.zeros((0, 3)), 1).shape == (0, 3)


def test_compile_error(dev):
    with pytest.raises(td.CompileError, match="absent"):
        td.ElementwiseKernel("T x", "T y", "y = absent(x)", "wrong")(td.ones(3))


@pytest.mark.parametrize(
    "params", [("x", "T y"), ("T i", "T y"), ("T n", "T y"), ("T _x", "T y"), ("float33 x", "T y"), ("T x, T x", "T y"),
               ("loud T x", "T y"), ("T x", "T x"), ("f4 x", "T y")], ids=str
)  # fmt: skip
def test_parameters_that_are_none(params):
    with pytest.raises(ValueError):
        td.ElementwiseKernel(*params, "y = x")


def test_no_type_for_a_result(dev):
    with pytest.raises(TypeError, match="S"):
        td.ElementwiseKernel("T x", "S y", "y = x", "untyped")(td.ones(3))


def test_pickle_and_attributes(dev):
    k = pickle.loads(pickle.dumps(SQUARED))
    assert (k(td.ones(3), 3).get() == 4).all()
    assert k.nin == 2 and k.nout == 1 and k.nargs == 3 and k.name == "squared" and not k.in_params[0].raw
    assert [p.name for p in k.params] == ["x", "y", "z"] and k.operation == SQUARED.operation


def test_streams(dev):
    from treadle import cuda

    stream = cuda.Stream(non_blocking=True)
    x = td.arange(1000, dtype=td.float32)
    with stream:
        y = SQUARED(x, 1)
    z = SQUARED(y, 0, stream=stream)
    stream.synchronize()
    np.testing.assert_allclose(z.get(), ((np.arange(1000, dtype="f4") - 1) ** 2) ** 2)


def test_arrays_of_two_devices():
    with pytest.raises(ValueError, match="null"):
        SQUARED(td.ones(3, device="cpu"), td.ones(3, device="null"))
