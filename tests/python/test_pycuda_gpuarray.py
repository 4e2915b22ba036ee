"""treadle.pycuda.gpuarray and cumath beside NumPy: layouts, operators, functions, memory that others write."""

import ctypes
import operator
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import treadle as td
from treadle.pycuda import cumath, driver, gpuarray, tools

SHAPES = [(), (1,), (7,), (3, 4), (2, 3, 4), (0, 3), (5, 1, 2)]
NUMBERS = ["bool", "int8", "uint16", "int32", "int64", "uint64", "float16", "float32", "float64", "complex64", "complex128"]
PAIR = np.dtype([("key", "i4"), ("value", "f8")])


def values(rng, shape, dtype, order="C"):
    dtype = np.dtype(dtype)
    raw = rng.integers(0, 256, (*shape, dtype.itemsize), dtype=np.uint8)
    if dtype.fields:
        return raw.view(dtype).reshape(shape)
    if dtype.kind == "b":
        x = raw[..., 0] > 100
    elif dtype.kind in "iu":
        x = raw[..., 0].astype(dtype) % 42 - (dtype.kind == "i") * 20
    elif dtype.kind == "c":
        x = rng.standard_normal(shape) + 1j * rng.standard_normal(shape)
    else:
        x = rng.standard_normal(shape)
    return np.asarray(x, dtype=dtype, order=order)


def same(a, x):
    """Does the GPUArray have the elements, shape and dtype of x?"""
    got = a.get()
    assert isinstance(got, np.ndarray) and got.shape == x.shape == a.shape
    assert got.dtype == x.dtype == a.dtype
    assert got.tobytes() == np.ascontiguousarray(x).tobytes() or np.array_equal(got, x, equal_nan=x.dtype.kind in "fc")


# ---- to and from the device ----


@pytest.mark.parametrize("dtype", [*NUMBERS, PAIR, gpuarray.vec.float3, "longdouble", "S5"])
@pytest.mark.parametrize("shape", SHAPES)
def test_there_and_back(dev, rng, dtype, shape):
    x = values(rng, shape, dtype) if np.dtype(dtype).kind not in "S" else np.full(shape, b"abc", dtype)
    for y in (x, np.asfortranarray(x), x.T, x[..., ::2] if shape else x, x[::-1] if shape else x):
        a = gpuarray.to_gpu(y)
        same(a, y)
        if a.size and y.flags.c_contiguous:
            assert a.strides == y.strides or 1 in shape
        assert a.flags.forc or y.ndim > 2 or not y.size
        assert (a.size, a.ndim, a.nbytes, a.mem_size, a.itemsize) == (y.size, y.ndim, y.nbytes, y.size, y.itemsize)
        out = np.zeros_like(y)
        assert a.get(out) is out
        assert out.tobytes() == y.tobytes()
        b = gpuarray.empty_like(a)
        b.set(y)
        same(b, y)
        same(a.copy(), y)
        same(gpuarray.to_gpu_async(y), y)
        if y.size:
            same(pickle.loads(pickle.dumps(a)), y)


@pytest.mark.parametrize("pagelocked", [False, True])
def test_on_streams(dev, rng, pagelocked):
    x, stream = values(rng, (300, 40), "float32"), driver.Stream()
    a = gpuarray.to_gpu_async(x, stream=stream)
    b = (a + 1).mul_add(2, a, 3, stream=stream)
    got = b.get(pagelocked=pagelocked, stream=stream, async_=True)
    stream.synchronize()
    assert np.array_equal(got, 2 * (x + 1) + 3 * x)
    b.set_async(x, stream=stream)
    assert np.array_equal(b.get_async(stream=stream), x) or stream.synchronize()
    same(gpuarray.to_gpu(x).astype("float64", stream=stream), x.astype("float64"))


def test_set_and_get_refuse(dev):
    a = gpuarray.zeros((3, 4), "float32")
    with pytest.raises(ValueError, match="5 elements"):
        a.set(np.zeros(5, "float32"))
    with pytest.raises(ValueError, match="astype"):
        a.set(np.zeros((3, 4)))
    with pytest.raises(TypeError):
        a.set([1.0] * 12)
    with pytest.raises(TypeError):
        a.get(np.zeros((3, 4)))
    with pytest.raises(ValueError):
        a.get(np.zeros((4, 3), "float32"))
    with pytest.raises(TypeError, match="unexpected"):
        a.get(no_such=1)
    with pytest.warns(UserWarning, match="different shape"):
        a.set(np.arange(12, dtype="float32"))
    same(a, np.arange(12, dtype="float32").reshape(3, 4))


# ---- new arrays ----


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [*NUMBERS, PAIR])
def test_filled(dev, order, dtype):
    for make, like in ((gpuarray.zeros, np.zeros), (gpuarray.ones, np.ones)):
        a, x = make((3, 5), dtype, order=order), like((3, 5), dtype, order=order)
        same(a, x)
        assert a.strides == x.strides and a.flags.f_contiguous == x.flags.f_contiguous
    assert gpuarray.zeros(4).dtype == np.float64
    same(gpuarray.full((2, 2), 7, "int16"), np.full((2, 2), 7, "int16"))
    same(gpuarray.full(3, 2.5), np.full(3, 2.5))
    assert gpuarray.empty((2, 0), "float32").gpudata is None


@pytest.mark.parametrize("order", "ACFK")
@pytest.mark.parametrize("axes", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_like(dev, order, axes):
    x = np.zeros((3, 4, 5), "float32").transpose(axes)
    a = gpuarray.to_gpu(x)
    for make, like in ((gpuarray.empty_like, np.empty_like), (gpuarray.zeros_like, np.zeros_like), (gpuarray.ones_like, np.ones_like)):
        for dtype in (None, "complex64"):
            assert make(a, dtype, order).strides == like(x, dtype, order).strides
            assert make(a, dtype, order).dtype == like(x, dtype, order).dtype
    same(gpuarray.full_like(a, 3), np.full_like(x, 3))
    with pytest.raises(ValueError, match="order"):
        gpuarray.empty_like(a, order="X")


@pytest.mark.parametrize("args", [(5,), (2, 9), (2, 9, 3), (9, 2, -2), (0.5, 3), (3, 3), (5, 2)])
@pytest.mark.parametrize("dtype", ["int32", "float32", "float64"])
def test_arange(dev, args, dtype):
    if dtype == "int32" and 0.5 in args:
        args = (1, 3)
    same(gpuarray.arange(*args, dtype=dtype), np.arange(*args, dtype=dtype))
    same(gpuarray.arange(*args, np.dtype(dtype)), np.arange(*args, dtype=dtype))
    with pytest.raises(ValueError):
        gpuarray.arange(dtype=dtype)
    with pytest.raises(ValueError, match="by position and by keyword"):
        gpuarray.arange(3, stop=4)


def test_shapes_of_all_kinds(dev):
    for shape in (np.int32(5), (np.int64(5),), [5], np.array(5), np.array([5])):
        assert gpuarray.empty(shape, "float32").shape == (5,)
    with pytest.raises(ValueError):
        gpuarray.empty((-1,), "float32")
    with pytest.raises(ValueError, match="order"):
        gpuarray.empty(3, "float32", order="Q")
    with pytest.raises(ValueError, match="strides"):
        gpuarray.GPUArray((3, 4), "float32", strides=(4,))


# ---- views ----

VIEWS = {
    "row": lambda a: a[1],
    "element": lambda a: a[1, 2, ...],
    "negative": lambda a: a[-1, -2, ...],
    "part": lambda a: a[1:3, ::2],
    "backwards": lambda a: a[::-1, 3:0:-2],
    "dots": lambda a: a[..., 1],
    "newaxis": lambda a: a[:, None, 1:],
    "transposed": lambda a: a.T,
    "axes": lambda a: a.transpose((1, 0)),
    "squeezed": lambda a: a[1:2].squeeze(),
    "nothing": lambda a: a[2:1],
}


@pytest.mark.parametrize("dtype", ["float32", "int16", "complex64", PAIR])
@pytest.mark.parametrize("view", VIEWS)
def test_views_see_the_memory(dev, rng, view, dtype):
    x = values(rng, (4, 5), dtype)
    a = gpuarray.to_gpu(x)
    v, w = VIEWS[view](a), VIEWS[view](x)
    same(v, np.asarray(w))
    assert v.strides == w.strides or view == "newaxis" or not v.size or 1 in w.shape
    one = values(rng, (1,), dtype)[0]
    v.fill(one)
    w[...] = one
    same(a, x)


@pytest.mark.parametrize("order", ["C", "F"])
def test_reshape_keeps_the_memory(dev, order):
    x = np.arange(24, dtype="float32")
    a = gpuarray.to_gpu(x)
    b = a.reshape((2, -1, 4), order=order)
    same(b, x.reshape((2, 3, 4), order=order))
    b[0, 0, 0] = 99
    assert a[0].get() == 99
    c = b.reshape(24)  # memory as it lies, whatever its order was
    assert c.get()[0] == 99 and np.array_equal(c.get()[1:], x[1:])
    same(a.reshape(4, 6).ravel()[1:], x[1:])
    assert a.reshape(24) is a
    for bad in ((5, 5), (-1, -1), (7, -1)):
        with pytest.raises(ValueError):
            a.reshape(bad)
    with pytest.raises(RuntimeError, match="gaps"):
        a[::2].reshape(3, 4)


RETYPED = [("float32", "int32"), ("float32", "complex64"), ("float64", "float32"), ("int16", "uint8"), ("float32", gpuarray.vec.float3),
           (gpuarray.vec.float3, "float32"), (gpuarray.vec.int3, PAIR)]  # fmt: skip


@pytest.mark.parametrize("old,new", RETYPED)
def test_view_as_another_dtype(dev, rng, old, new):
    x = values(rng, (12, 6), old)
    a = gpuarray.to_gpu(x)
    assert a.view(new).get().tobytes() == x.view(new).tobytes() and a.view(new).shape == x.view(new).shape
    assert a.view().shape == a.shape
    f = gpuarray.to_gpu(np.asfortranarray(x))
    assert f.view(new).shape == x.T.copy().view(new).T.shape
    with pytest.raises(ValueError, match="whole"):
        gpuarray.zeros((2, 3), "float32").view("complex64")


def test_writing_parts(dev, rng):
    x, y = values(rng, (6, 7), "float32"), values(rng, (2, 7), "float32")
    a = gpuarray.to_gpu(x)
    a[1:3], x[1:3] = gpuarray.to_gpu(y), y
    a[4:6], x[4:6] = y * 2, y * 2
    a[0, ::2], x[0, ::2] = 5, 5
    a[5] += 1
    x[5] += 1
    same(a, x)
    for bad in (1.5, [0, 1], "x", np.array([1]), True):
        with pytest.raises(IndexError):
            a[bad]
    with pytest.raises(IndexError):
        a[9]
    with pytest.raises(ValueError):
        a[1:3] = np.zeros((3, 7), "float32")


# ---- operators ----

BINARY = {o.__name__: o for o in (operator.add, operator.sub, operator.mul, operator.truediv)}
KINDS = ["int32", "int64", "float32", "float64", "complex64", "complex128"]


@pytest.mark.parametrize("op", BINARY)
@pytest.mark.parametrize("left", KINDS)
@pytest.mark.parametrize("right", KINDS)
def test_operators(dev, rng, op, left, right):
    x, y = values(rng, (5, 6), left), values(rng, (5, 6), right)
    x[x == 0], y[y == 0] = 3, 3
    a, b = gpuarray.to_gpu(x), gpuarray.to_gpu(y)
    want = BINARY[op](x, y)
    if op == "truediv" and x.dtype.kind == y.dtype.kind == "i":
        want = np.trunc(want).astype(np.result_type(x, y))  # as in C
    got = BINARY[op](a, b).get()
    assert got.dtype == want.dtype
    np.testing.assert_allclose(got, want, rtol=1e-5 if want.dtype.itemsize < 16 or left != right else 1e-13)
    same(a[0] - b[0], x[0] - y[0])
    same(a + gpuarray.to_gpu(y[0, 0]), x + y[0, 0])  # an array without axes


SCALARS = [2, -3, 2.5, 1 + 2j, True, np.float32(3), np.float64(2), np.int8(3), np.int64(5), np.complex64(1j)]


@pytest.mark.parametrize("scalar", SCALARS, ids=lambda s: f"{type(s).__name__}-{s}")
@pytest.mark.parametrize("dtype", ["int32", "float32", "float64", "complex64"])
def test_numbers_beside_arrays(dev, rng, scalar, dtype):
    x = values(rng, (9,), dtype)
    x[x == 0] = 1
    a = gpuarray.to_gpu(x)
    for op in (operator.add, operator.sub, operator.mul):
        same(op(a, scalar), op(x, scalar))
        same(op(scalar, a), op(scalar, x))
    whole = np.result_type(x, scalar).kind == "i"
    for got, want in ((a / scalar, x / scalar), (scalar / a, scalar / x)):
        want = np.trunc(want) if whole else want
        assert got.dtype == np.result_type(x, scalar)
        np.testing.assert_allclose(got.get(), want, rtol=2e-6)


COMPARE = [operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge]


@pytest.mark.parametrize("op", COMPARE, ids=lambda o: o.__name__)
def test_comparisons_have_the_arrays_dtype(dev, rng, op):
    x, y = values(rng, (50,), "float32").round(), values(rng, (50,), "float64").round()
    a, b = gpuarray.to_gpu(x), gpuarray.to_gpu(y)
    same(op(a, b), op(x, y).astype("float64"))
    same(op(a, 1), op(x, 1).astype("float32"))
    assert op(a, a[3:4]).dtype == np.float32


def test_in_place(dev, rng):
    x, y = values(rng, (40,), "float32"), np.abs(values(rng, (40,), "float64")) + 1
    a, b = gpuarray.to_gpu(x), gpuarray.to_gpu(y)
    first = a
    for op, np_op in ((operator.iadd, np.add), (operator.isub, np.subtract), (operator.imul, np.multiply), (operator.itruediv, np.divide)):
        a = op(a, b)
        x = np_op(x, y).astype("float32")
        a = op(a, 3)
        x = np_op(x, 3).astype("float32")
    assert a is first
    np.testing.assert_allclose(a.get(), x, rtol=1e-5)
    c = gpuarray.to_gpu(np.abs(x))
    c **= 2
    np.testing.assert_allclose(c.get(), x * x, rtol=1e-5)
    whole = gpuarray.arange(5, dtype="int32")
    with pytest.raises(TypeError, match="in place"):
        whole += 1.5
    same(whole, np.arange(5, dtype="int32"))


def test_powers_signs_and_parts(dev, rng):
    x, z = np.abs(values(rng, (30,), "float32")) + 0.5, values(rng, (3, 10), "complex64")
    a, c = gpuarray.to_gpu(x), gpuarray.to_gpu(np.asfortranarray(z))
    np.testing.assert_allclose((a**a).get(), x**x, rtol=1e-5)
    np.testing.assert_allclose((2**a).get(), 2**x, rtol=1e-5)
    np.testing.assert_allclose((a**0.5).get(), x**0.5, rtol=1e-5)
    same(-a, -x)
    same(abs(-a), x)
    assert +a is a and a.real is a and a.conj() is a
    np.testing.assert_allclose(abs(c).get(), abs(z), rtol=1e-5)
    for name in ("real", "imag"):
        same(getattr(c, name), getattr(z, name))
        assert getattr(c, name).flags.f_contiguous and not getattr(c, name).flags.c_contiguous
    same(c.conj(), z.conj())
    assert c.conj().flags.f_contiguous
    out = gpuarray.empty_like(c)
    assert c.conj(out=out) is out
    same(out, z.conj())
    same(a.imag, np.zeros_like(x))
    same(a.reverse(), x[::-1])
    same(c.T.copy().reverse(), z.T[::-1, ::-1])


def test_what_is_no_operand(dev):
    a = gpuarray.zeros(3, "float32")
    for other in (np.zeros(3), "x", None, [1, 2, 3]):
        with pytest.raises(TypeError):
            a + other
        with pytest.raises(TypeError):
            other - a
    with pytest.raises(TypeError, match="arithmetic"):
        gpuarray.zeros(3, PAIR) + 1
    with pytest.raises(TypeError, match="hashable"):
        hash(a)


def test_as_python_sees_it(dev):
    x = np.arange(3, dtype="float32")
    a = gpuarray.to_gpu(x)
    assert str(a) == str(x) and repr(a) == repr(x) and len(a) == 3
    assert [float(e.get()) for e in a] == [0, 1, 2]
    assert bool(a[1]) and not a[0] and gpuarray.ones((1, 1), "float32")
    for many in (a, gpuarray.zeros(0, "float32")):
        with pytest.raises(ValueError, match="ambiguous"):
            bool(many)
    with pytest.raises(TypeError, match="unsized"):
        len(a[1])
    assert isinstance(np.float32(2) * a, gpuarray.GPUArray)


# ---- functions ----


@pytest.mark.parametrize("dtype", ["bool", "int32", "uint8", "float32", "float64", "complex64"])
@pytest.mark.parametrize("shape", [(1,), (1000,), (30, 40)])
def test_reductions(dev, rng, dtype, shape):
    x = values(rng, shape, dtype)
    a = gpuarray.to_gpu(x)
    total = gpuarray.sum(a)
    assert total.shape == () and total.dtype == x.dtype
    np.testing.assert_allclose(total.get(), x.sum(dtype=dtype), rtol=1e-4, atol=1e-3)
    np.testing.assert_allclose(gpuarray.dot(a, a).get(), (x * x).sum(dtype=dtype), rtol=1e-4)
    assert a.any().get() == x.any() and a.all().get() == x.all() and a.any().dtype == bool
    assert gpuarray.any(a).get() == x.any() and gpuarray.all(a).get() == x.all()
    if x.dtype.kind not in "bc":
        assert gpuarray.min(a).get() == x.min() and gpuarray.max(a).get() == x.max()
        assert gpuarray.sum(a, dtype="float64").dtype == np.float64
        subset = rng.integers(0, x.size, 50).astype("int32")
        index, flat = gpuarray.to_gpu(subset), x.reshape(-1)
        assert gpuarray.subset_min(index, a).get() == flat[subset].min()
        assert gpuarray.subset_max(index, a).get() == flat[subset].max()
        np.testing.assert_allclose(gpuarray.subset_sum(index, a).get(), flat[subset].sum(dtype=dtype), rtol=1e-4, atol=1e-4)
        np.testing.assert_allclose(gpuarray.subset_dot(index, a, a).get(), (flat * flat)[subset].sum(dtype=dtype), rtol=1e-4)


def test_nan_is_no_extremum(dev):
    a = gpuarray.to_gpu(np.array([np.nan, 3, 1, np.nan], "float32"))
    assert gpuarray.min(a).get() == 1 and gpuarray.max(a).get() == 3
    assert gpuarray.min(a[:1]).get() == np.inf and gpuarray.max(a[:1]).get() == -np.inf
    same(gpuarray.maximum(a, 2), np.array([2, 3, 2, 2], "float32"))
    same(gpuarray.minimum(2, a), np.array([2, 2, 1, 2], "float32"))
    with pytest.raises(ValueError, match="no elements"):
        gpuarray.min(gpuarray.zeros(0))


def test_choices(dev, rng):
    c, x, y = (values(rng, (6, 5), d) for d in ("int32", "float32", "float32"))
    a, b, k = (gpuarray.to_gpu(v) for v in (x, y, c))
    same(gpuarray.if_positive(k, a, b), np.where(c > 0, x, y))
    same(gpuarray.where(k, a, b), np.where(c != 0, x, y))
    out = gpuarray.empty_like(a)
    assert gpuarray.if_positive(k, a, b, out=out) is out
    same(out, np.where(c > 0, x, y))
    same(gpuarray.maximum(a, b), np.maximum(x, y))
    with pytest.raises(ValueError, match="shapes"):
        gpuarray.if_positive(k, a, b[:3])
    with pytest.raises(ValueError, match="dtypes"):
        gpuarray.where(k, a, b.astype("float64"))
    for op in ("logical_and", "logical_or"):
        same(getattr(gpuarray, op)(k, a), getattr(np, op)(c, x))
        same(getattr(gpuarray, op)(a, 0.0), getattr(np, op)(x, 0.0))
        same(getattr(gpuarray, op)(True, False), np.asarray(getattr(np, op)(True, False)))
    same(gpuarray.logical_not(k), np.logical_not(c))
    with pytest.raises(ValueError):
        gpuarray.logical_and(a, "x")


def test_taking(dev, rng):
    x, index = values(rng, (40,), "complex64"), rng.integers(0, 40, 25).astype("uint32")
    a, at = gpuarray.to_gpu(x), gpuarray.to_gpu(index)
    same(gpuarray.take(a, at), x[index])
    out = gpuarray.empty(25, "complex64")
    assert gpuarray.take(a, at, out=out) is out
    for got, want in zip(gpuarray.multi_take([a, a * 2], at), (x[index], (x * 2)[index]), strict=True):
        same(got, want)
    places = gpuarray.to_gpu(rng.permutation(40)[:25].astype("uint32"))
    [put] = gpuarray.multi_put([out], places, dest_shape=(40,))
    assert np.array_equal(put.get()[places.get()], out.get())
    same_offsets = gpuarray.multi_take_put([a, a], places, gpuarray.arange(25, dtype="uint32"), dest_shape=(40,), src_offsets=[0, 15])
    assert np.array_equal(same_offsets[1].get()[places.get()], x[15:])
    with pytest.raises(IndexError):
        gpuarray.take(a, gpuarray.to_gpu(np.array([40]))).get()
    with pytest.raises(TypeError, match="integers"):
        gpuarray.take(a, gpuarray.zeros(3))
    with pytest.raises(ValueError, match="axis"):
        gpuarray.take(a, gpuarray.zeros((3, 3), "int32"))
    assert gpuarray.multi_take([], at) == []


def test_arrays_together(dev, rng):
    x, y = values(rng, (3, 4), "float32"), values(rng, (2, 4), "int32")
    a, b = gpuarray.to_gpu(x), gpuarray.to_gpu(y)
    same(gpuarray.concatenate((a, b)), np.concatenate((x, y)))
    same(gpuarray.concatenate((a, a), axis=-1), np.concatenate((x, x), axis=-1))
    for axis in (0, 1, -1):
        same(gpuarray.stack((a, a), axis=axis), np.stack((x, x), axis=axis))
    same(gpuarray.transpose(a), x.T)
    same(gpuarray.reshape(a, 4, 3), x.reshape(4, 3))
    for bad in ([], [a, b[:, :2]]):
        with pytest.raises(ValueError):
            gpuarray.concatenate(bad)


UNARY = {"asin": "arcsin", "acos": "arccos", "atan": "arctan"}


@pytest.mark.parametrize("name", "fabs ceil floor exp log log10 sqrt sin cos tan asin acos atan sinh cosh tanh".split())
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64"])
def test_cumath(dev, rng, name, dtype):
    x = values(rng, (50,), "float64") * 0.3 if name in ("asin", "acos") else np.abs(values(rng, (50,), "float64")) + 0.1
    x = np.clip(x, -0.95, 0.95).astype(dtype)
    if dtype == "complex64":
        if name in ("fabs", "ceil", "floor"):
            pytest.skip("complex numbers have no such function")
        x += np.complex64(0.25j)
    a, want = gpuarray.to_gpu(x), getattr(np, UNARY.get(name, name))(x)
    fn = getattr(cumath, name)
    got = fn(a)
    assert got.dtype == x.dtype
    np.testing.assert_allclose(got.get(), want, rtol=1e-12 if dtype == "float64" else 2e-6)
    out = gpuarray.empty_like(a)
    assert fn(a, out=out, stream=driver.Stream()) is out
    np.testing.assert_array_equal(out.get(), got.get())
    with pytest.warns(DeprecationWarning):
        assert fn(a, out) is out
    with pytest.raises(ValueError, match="out is of"):
        fn(a, out=gpuarray.empty(3, dtype))


def test_cumath_of_two(dev, rng):
    x, y = values(rng, (100,), "float32") * 10, np.abs(values(rng, (100,), "float32")) + 0.1
    a, b = gpuarray.to_gpu(x), gpuarray.to_gpu(y)
    same(cumath.fmod(a, b), np.fmod(x, y))
    for got, want in zip(cumath.modf(a), np.modf(x), strict=True):
        same(got, want)
    got, want = cumath.frexp(a), np.frexp(x)
    same(got[0], want[0])
    same(got[1], want[1].astype("float32"))
    same(cumath.ldexp(got[0], got[1]), x)


# ---- memory ----


def peek(a, dtype, count):
    """What lies at the array's address, where the host reaches it."""
    return np.ctypeslib.as_array((ctypes.c_char * (np.dtype(dtype).itemsize * count)).from_address(a.ptr)).view(dtype)


def test_gpudata_is_the_memory(dev):
    a = gpuarray.arange(6, dtype="float32")
    later = a + 1  # recorded before the memory is given away
    p = a.gpudata
    driver.memcpy_htod(p, np.arange(10, 16, dtype="float32"))
    same(later, np.arange(1, 7, dtype="float32"))
    same(a, np.arange(10, 16, dtype="float32"))
    a += 1
    got = np.empty(6, "float32")
    driver.memcpy_dtoh(got, p)
    assert got.tolist() == [11, 12, 13, 14, 15, 16] and int(p) == a.ptr
    driver.memset_d32(a[2:4].gpudata, 0, 2)
    assert a.get().tolist() == [11, 12, 0, 0, 15, 16]
    assert a[2:].ptr == int(p) + 8 == p + 8 and p == a.gpudata


def test_memory_of_others(dev, rng):
    x = values(rng, (4, 6), "float32")
    for kind in (driver.to_device(x), gpuarray.to_gpu(x).gpudata):
        f = gpuarray.GPUArray((6, 4), "float32", gpudata=kind, order="F")
        same(f, x.T)
        f *= 2
        assert np.array_equal(driver.from_device(kind, (4, 6), "float32"), x * 2)
        assert f.gpudata is kind
        part = gpuarray.GPUArray((4,), "float32", base=f, gpudata=int(kind) + 4, strides=(24,))
        same(part, (x * 2)[:, 1])
    wide = gpuarray.GPUArray((3, 4), "float32", strides=(64, 4))
    wide.fill(3)
    same(wide, np.full((3, 4), 3, "float32"))
    assert wide.strides == (64, 4) and not wide.flags.forc


def test_allocators(dev):
    asked = []
    pool = tools.DeviceMemoryPool()

    def allocate(nbytes):
        asked.append(nbytes)
        return pool.allocate(nbytes)

    a = gpuarray.to_gpu(np.arange(100, dtype="float32"), allocator=allocate)
    assert asked == [400] and a.allocator is allocate
    same(a, np.arange(100, dtype="float32"))
    assert gpuarray.sum(a, allocator=allocate).get() == 4950 and asked == [400, 4]
    assert gpuarray.zeros(3).allocator is driver.mem_alloc
    same(gpuarray.zeros((2, 3), "int32", allocator=allocate), np.zeros((2, 3), "int32"))


def test_freed_memory_is_refused(dev):
    a = gpuarray.zeros(10, "float32")
    p = a.gpudata
    p.free()
    with pytest.raises(ValueError, match="freed"):
        a.get()
    with pytest.raises(ValueError, match="freed"):
        int(p)


def test_kernels_take_arrays_and_their_parts(dev):
    from treadle.pycuda.compiler import SourceModule

    twice = SourceModule("__global__ void twice(float *a) { a[threadIdx.x + blockIdx.x * blockDim.x] *= 2; }").get_function("twice")
    x = np.ones(1024, "float32")
    a = gpuarray.to_gpu(x)
    twice(a[256:-256], block=(128, 1, 1), grid=(4, 1))
    twice((a + 1)[:128], block=(128, 1, 1))  # recorded work runs before
    x[256:-256] = 2
    same(a, x)
    b = a * 10
    twice(b.gpudata, block=(256, 1, 1), grid=(4, 1))
    same(b, x * 20)
    v = gpuarray.zeros(8, gpuarray.vec.float3)
    three = SourceModule("__global__ void three(float3 *v) { v[threadIdx.x] = make_float3(1, 2, threadIdx.x); }").get_function("three")
    three(v, block=(8, 1, 1))
    assert v.get().tolist() == [(1, 2, k) for k in range(8)]


def test_exchange(dev):
    a = gpuarray.arange(6, dtype="float32").reshape(2, 3)
    assert np.array_equal(td.from_dlpack(a).get(), a.get())
    if dev.startswith("cuda"):
        d = a.__cuda_array_interface__
        assert d["shape"] == (2, 3) and d["strides"] == (12, 4) and d["data"] == (a.ptr, False) and d["typestr"] == "<f4"
    else:
        assert not hasattr(a, "__cuda_array_interface__")


def test_vector_types():
    v = gpuarray.vec
    assert v.float3.itemsize == 12 and v.double2.names == ("x", "y") and v.make_int4(1, 2, 3, 4).tolist() == (1, 2, 3, 4)
    assert v.make_float3(x=1, y=2, z=3).dtype == v.float3
    for bad in ((1, 2), (1, 2, 3, 4)):
        with pytest.raises(TypeError, match="make_float3"):
            v.make_float3(*bad)
    assert tools.dtype_to_ctype(v.float3) == "float3" and tools.parse_c_arg("const float3 *x").dtype == v.float3


def test_splay(dev):
    for n in (1, 31, 5000, 10**7):
        grid, block = gpuarray.splay(n)
        assert len(grid) == 2 and len(block) == 3 and grid[0] >= 1 and 1 <= block[0] <= 1024


def test_mul_add(dev, rng):
    x, y = values(rng, (10,), "float32"), values(rng, (10,), "float64")
    a, b, timed = gpuarray.to_gpu(x), gpuarray.to_gpu(y), []
    got = a.mul_add(2, b, 3, add_timer=lambda n, timer: timed.append((n, timer())))
    np.testing.assert_allclose(got.get(), 2 * x + 3 * y)
    assert got.dtype == np.float64 and timed[0][0] == 30 and timed[0][1] >= 0
    out = gpuarray.empty_like(a)
    assert a.mul_add(1, a, 1, out=out) is out
    same(out, x + x)


@given(st.data())
def test_slices_of_slices(data):
    x = np.arange(60).reshape(3, 4, 5)
    a = gpuarray.to_gpu(x)
    for _ in range(3):
        if not x.ndim:
            break
        key = tuple(
            data.draw(st.one_of(st.slices(n), st.just(Ellipsis), *([st.integers(-n, n - 1)] if n else []))) for n in x.shape
        )
        if key.count(Ellipsis) > 1:
            break
        x, a = np.asarray(x[key]), a[key]
        same(a, x)
        a += 1
        x = x + 1


@pytest.mark.parametrize("axes", [(0, 2), (-3, 0), (0, 0), (0,), (1, -2), (-1, 0)])
def test_transpose_takes_numpys_axes(ctx, axes):
    host = np.arange(6.0).reshape(2, 3)
    a = gpuarray.to_gpu(host)
    try:
        want = host.transpose(axes)
    except ValueError as error:
        with pytest.raises(type(error)):
            a.transpose(axes)
        with pytest.raises(type(error)):
            gpuarray.transpose(a, axes)
    else:
        np.testing.assert_array_equal(a.transpose(axes).get(), want)
