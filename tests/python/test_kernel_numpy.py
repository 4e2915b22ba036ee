"""What kernels take of NumPy and Python beside arithmetic: arrays for results, dtypes by their names, prints of tuples."""

import collections

import numpy as np
import pytest

from treadle import cuda, jit

X = np.arange(1.0, 13).reshape(3, 4)
N = np.array([-8, -7, 0, 1, 255, 2**40 - 1])

OUT = {
    "one": (lambda x, r: np.sin(x, r), X),
    "two": (lambda x, r: np.add(x, x, r), X),
    "keyword": (lambda x, r: np.multiply(x, 2, out=r), X),
    "tuple": (lambda x, r: np.sqrt(x, out=(r,)), X),
    "None": (lambda x, r: np.add(np.sqrt(x, out=None), 1, r), X),
    "compare": (lambda x, r: np.less(x, 5.0, r), X),
    "unary": (lambda x, r: np.negative(x, r), X),
    "divide": (lambda x, r: np.divide(x, 0 * x, r), X),
    "number": (lambda x, r: np.add(1, 2, r), X),
    "broadcast": (lambda x, r: np.maximum(x[0], 3, r), X),
    "clip": (lambda x, r: np.clip(x, 2, 5, out=r), X),
    "nested": (lambda x, r: np.exp(np.subtract(x, 3), r), X),
    "bits": (lambda x, r: np.bitwise_count(x, r), N),
}


@pytest.mark.parametrize("name", OUT)
def test_results_go_to_the_array_that_is_named(name, dev):
    f, x = OUT[name]
    want, r, given = np.zeros(x.shape), np.zeros(x.shape), np.zeros(x.shape)
    with np.errstate(all="ignore"):
        f(x, want)
    call = jit(f)

    @cuda.jit
    def k(x, r):
        call(x, r)

    k[1, 1](x, r)
    cuda.synchronize()
    np.testing.assert_allclose(r, want, rtol=1e-15)
    result = call(x, given)
    np.testing.assert_allclose(given, want, rtol=1e-15)
    np.testing.assert_array_equal(result, given)


def test_results_go_to_parts_and_to_operands(dev):
    def shift(x):
        np.add(x[1:], x[:-1], x[1:])

    def f(x):
        y = x[::2]
        np.multiply(y, 3, out=y)
        x[0] = np.add(x, 1, x)[1]

    for run, model in ((cuda.jit(f)[1, 1], f), (jit(f), f), (jit(shift), shift)):
        x, want = np.arange(7.0), np.arange(7.0)
        run(x)
        cuda.synchronize()
        model(want)
        np.testing.assert_array_equal(x, want)
    with pytest.raises(TypeError, match="reads the array that it is stored to"):
        cuda.jit(shift)[1, 1](np.arange(7.0))


@pytest.mark.parametrize("call, text", [
    (lambda x, r: np.add(x, x, out=r), "out= of int32 does not take float64"),
    (lambda x, r: np.add(x, x, 5), "out= is an array of numbers, not int"),
    (lambda x, r: np.add(x, x, x + 1), "out= is an array of numbers"),
    (lambda x, r: np.add(x, x, x, x), "takes 2 arguments, not 4"),
])  # fmt: skip
def test_arrays_that_take_no_result(call, text):
    with pytest.raises(TypeError, match=text):
        jit(call)(X, np.zeros(X.shape, np.int32))
    with pytest.raises(ValueError, match="do not fit"):
        jit(lambda x, r: np.add(x, x, r))(X[0], np.zeros(3))


@pytest.mark.parametrize("dtype", [int, np.int8, np.uint8, np.int32, np.uint64, bool])
def test_bits_are_counted(dtype, dev):
    values = [0, 1] if dtype is bool else [0, 1, 7, 100, np.iinfo(dtype).max, np.iinfo(dtype).min]
    a = np.array(values, dtype)
    r = np.zeros(a.size, np.int64)

    @cuda.jit
    def count(a, r):
        i = cuda.grid(1)
        r[i] = a[i].bit_count()

    if dtype is not bool:
        count[1, a.size](a, r)
        cuda.synchronize()
        assert r.tolist() == [int(v).bit_count() for v in a]
    got = jit(lambda a: np.bitwise_count(a))(a)
    assert got.dtype == np.uint8 and got.tolist() == np.bitwise_count(a).tolist()
    assert jit(lambda i: i.bit_count())(-255) == 8


NAMES = ["int8", "uint16", "int32", "i4", "<i4", "uint64", "float16", "f4", "<f8", "float64", "d", "f", "e", "?", "b1", "bool",
         "B", "h", "complex64", "c16", "D", "int", "intp", "float", "double", "single", "complex"]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_dtypes_by_their_names(name, dev):
    dtype = np.dtype(name)
    held = np.array([1], "complex128").astype(dtype)[0]

    @cuda.jit
    def f(r):
        a, b, c = cuda.local.array(4, dtype=name), cuda.shared.array(2, name), cuda.local.array(4, np.dtype(name))
        a[1] = b[0] = c[0] = 1
        r[0], r[1], r[2], r[3] = a.itemsize, b.itemsize, c.itemsize, a[1] == held

    r = np.zeros(4)
    f[1, 1](r)
    cuda.synchronize()
    assert r.tolist() == [dtype.itemsize] * 3 + [1]
    assert jit(lambda n: np.zeros(n, name))(3).dtype == dtype
    assert jit(lambda n: np.ones(n, np.dtype(name)))(3).dtype == dtype


@pytest.mark.parametrize("name", ["nonsense", "U3", "V2", "S4", "M8[s]", ""])
def test_names_that_are_no_dtype(name):
    with pytest.raises(TypeError, match="a dtype that is known when compiling is needed"):
        jit(lambda n: np.zeros(n, name))(3)


def test_tuples_are_printed_as_python_does(capsys, dev):
    def f(x):
        print((1, 2.5), (x[0],), ())
        print("nested", ((x[1], "text"), (True, None)), x.shape)

    cuda.jit(f)[1, 1](X[0].copy())
    cuda.synchronize()
    got = capsys.readouterr().out
    f(Plain((1.0, 2.0)))
    assert got == capsys.readouterr().out


class Plain(tuple):
    shape = (4,)


def test_places_are_printed(capsys, dev):
    @cuda.jit
    def f():
        if cuda.grid(1) == 5:
            print(cuda.threadIdx, cuda.blockIdx, cuda.blockDim, cuda.gridDim)

    f[3, 4]()
    cuda.synchronize()
    assert capsys.readouterr().out == "(1, 0, 0) (1, 0, 0) (4, 1, 1) (3, 1, 1)\n"


def test_what_is_not_printed():
    point = collections.namedtuple("point", "x y")
    for f in (lambda: print(point(1, 2)), lambda: print((1, np))):
        with pytest.raises(TypeError, match="a kernel prints numbers"):
            cuda.jit(f)[1, 1]()
