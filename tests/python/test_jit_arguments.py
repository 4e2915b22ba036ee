"""Keyword arguments, isinstance and arrays of no axes in compiled functions: NumPy's and CPython's answers, or a refusal."""

import warnings

import numpy as np
import pytest
from small_kernels import made

from treadle import njit, typed

A, B = np.array([1.5, np.nan, -np.inf, 2.5]), np.arange(6.0).reshape(2, 3)
KEYWORDS = """np.sin(a, where=a > 2)|np.round(a, decimals=1)|np.nan_to_num(a, copy=False)|np.nan_to_num(a, nan=7.0)|np.sum(b, axis=0, initial=3)
np.sum(b, keepdims=True)|np.mean(b, keepdims=True)|np.zeros_like(b, dtype=np.int32)|np.zeros((2, 2), order='F').strides|np.full(shape=3, fill_value=2.0)
b.reshape((3, 2), order='F')|np.reshape(b, (3, 2), order='F')|b.ravel(order='F')|b.flatten('F')|b.copy(order='F').strides|np.array(b, order='F').strides
np.clip(b, a_min=1, a_max=3)|np.linspace(0, 1, num=5, endpoint=False)|np.linspace(0, 1, 5, retstep=True)|np.arange(5, step=2)|np.isclose(1.0, 1.1, rtol=0.2)
np.cumsum(b[0], dtype=np.int64)|np.prod(b, where=b > 1)|np.std(b, ddof=1)|np.ptp(b, keepdims=True)|np.any(b, axis=0)|np.max(b, initial=100)
np.maximum(b, 2, dtype=np.float32)|np.eye(3, k=1)|round(2.567, ndigits=2)|int('12', base=8)|sorted([3, 1, 2], reverse=True)|sum([1, 2], start=3)
max([1, 2], default=3)|min(3, 1, key=abs)|list(enumerate([1, 2], start=3))|str(object=5)|complex(real=1, imag=2)|float(x=1.5)|b.astype(dtype=np.int32)
dict(a=1, b=2)|np.log(b + 1, dtype=np.float32)|np.outer(b[0], b[1])|np.transpose(b, axes=(1, 0)).shape|np.expand_dims(b, axis=0).shape""".replace("\n", "|")


def compared(expression, *args):
    """Compiled as in CPython, unless it is refused; the arguments are left alike, too."""
    f = made(f"def f(a, b):\n    return {expression}\n", np=np, typed=typed)
    with np.errstate(all="ignore"):
        try:
            wanted = f(*args)
        except (TypeError, ValueError):
            with pytest.raises((TypeError, ValueError)):
                njit(f)(*args)
            return False
    given = [a.copy() for a in args]
    try:
        got = njit(f)(*given)
    except (TypeError, ValueError):
        return False
    assert type(got) is type(wanted) or np.shape(got) == np.shape(wanted)
    if isinstance(wanted, (tuple, list, dict, str)):
        assert got == wanted
    else:
        np.testing.assert_array_equal(got, wanted)
    for a, b in zip(args, given):
        np.testing.assert_array_equal(a, b)
    return True


@pytest.mark.parametrize("expression", KEYWORDS.split("|"))
def test_no_keyword_is_passed_over(expression):
    compared(expression, A.copy(), B.copy())


def test_known_keywords_are_taken():
    for expression in ("np.std(b, ddof=1)", "np.any(b, axis=0)", "sorted([3, 1, 2], reverse=True)", "b.astype(dtype=np.int32)", "dict(a=1, b=2)"):
        assert compared(expression, A, B), expression


VALUES = ("'a'", "[1]", "(1,)", "{1: 2}", "{1}", "None", "b", "b[0, 0]", "1", "1.0", "1j", "True", "range(3)", "np.int32(1)", "np.uint8(1)",
          "typed.List([1])", "str(a.size)", "[a.size]")  # fmt: skip
CLASSES = ("str", "list", "tuple", "dict", "set", "range", "np.ndarray", "np.integer", "np.floating", "np.number", "np.generic", "np.unsignedinteger",
           "complex", "typed.List", "typed.Dict", "(float, str)", "np.int32")  # fmt: skip


@pytest.mark.parametrize("cls", CLASSES)
def test_isinstance(cls):
    assert [compared(f"isinstance({value}, {cls})", A, B) for value in VALUES] == [True] * len(VALUES)


def test_isinstance_refuses_what_it_does_not_know():
    import fractions

    with pytest.raises(TypeError, match="isinstance knows"):
        njit(made("def f(x):\n    return isinstance(x, F)\n", F=fractions.Fraction))(1)


ONE = """x.copy()|np.copy(x)|np.array(x)|np.asarray(x)|x.flatten()|x.ravel()|x.reshape(1)|x.reshape(())|-x|x + 1|np.sin(x)|x.sum()|np.zeros_like(x)
np.ones_like(x)|np.full_like(x, 3)|np.zeros(())|x[()]|x.T|x.real|x.imag|x.max()|x.mean()|x.std()|np.var(x)|np.prod(x)|x.any()|np.where(x > 0, x, -x)
np.zeros(()) + x|x.copy() * 2|np.minimum(x, 2)|x.size|np.median(x)|x.shape""".replace("\n", "|")


@pytest.mark.parametrize("expression", ONE.split("|"))
@pytest.mark.parametrize("dtype", ["f8", "f4", "i4", "c16"])
def test_arrays_of_no_axes(expression, dtype):
    f = made(f"def f(x):\n    return {expression}\n", np=np)
    x = np.array(-5.5 if dtype != "c16" else 1 - 2j).astype(dtype)
    try:
        got = njit(f)(x)
    except TypeError:
        return
    wanted = f(x)
    np.testing.assert_allclose(got, wanted, rtol=1e-6 if dtype == "f4" else 1e-14)
    assert np.shape(got) == np.shape(wanted)


def test_len_of_ranges():
    def f(n, m):
        return len(range(n)), len(range(n, m)), len(range(n, m, 2)), len(range(m, n, -3)), len(range(n, m, -1)), list(range(n))

    for pair in ((5, 2), (-5, 3), (0, -7), (3, 3)):
        assert njit(f)(*pair) == f(*pair)


def test_big_constants_compare():
    def f():
        a, b = 18446744073709551614, 18446744073709551615
        return max(a, b), min(a, b), a < b, a == b, a >= b, max(9007199254740993, 9007199254740992), a > -1

    assert njit(f)() == f()


@pytest.mark.parametrize("name", ["nanmin", "nanmax", "nansum", "nanprod", "nanmean"])
def test_of_nan_alone(name):
    f = made(f"def f(x):\n    return np.{name}(x)\n\ndef g(x):\n    return np.{name}(x, axis=1)\n", np=np)
    g = f.__globals__["g"]
    x = np.array([[np.nan, np.nan], [1, np.nan], [-np.inf, np.nan]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        np.testing.assert_array_equal(njit(f)(x[0]), f(x[0]))
        np.testing.assert_array_equal(njit(f)(x), f(x))
        np.testing.assert_array_equal(njit(g)(x), g(x))


def test_an_argument_that_is_returned_is_itself():
    @njit
    def f(a, b, c):
        a.append(4)
        return a, (b, c), b

    a, b, c = [1], {2}, typed.List([3])
    ra, (rb, rc), again = f(a, b, c)
    assert ra is a and rb is b and again is b and rc is c and a == [1, 4]


def test_unsigned_beside_signed():
    def f(u, s):
        return u > s, u < s, u == s, u != s, s < u, s >= u, u > -1, -1 >= u, max(u, -1) == u

    def g(u, s):
        return u > s, u == s, s < u, u > -1

    values = np.array([0, 5, 2**63, 2**64 - 1], np.uint64), np.array([-1, -(2**63), 0, 2**63 - 1], np.int64)
    for u in values[0]:
        for s in (*values[1], np.int8(-1), np.int32(5)):
            assert njit(f)(u, s) == f(u, s), (u, s)
    for got, wanted in zip(njit(g)(*values), g(*values)):
        np.testing.assert_array_equal(got, wanted)
