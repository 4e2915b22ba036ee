"""Numbers that are written into arrays: of every kind, by every way, into every dtype. NumPy says which are refused."""

import warnings

import numpy as np
import pytest

import treadle as td

DTYPES = "bool int8 uint8 int16 int32 int64 uint64 float16 float32 float64 complex64 complex128".split()

PYTHON = [
    1,
    -1,
    300,
    2**31,
    2**40,
    2**63 - 1,
    True,
    1.5,
    -1.0,
    300.7,
    1e10,
    1e30,
    1e300,
    np.inf,
    np.nan,
    1 + 2j,
    3 + 0j,
]
TYPED = {
    "int8": [1, -1], "uint8": [200], "int32": [2**31 - 1, -5], "int64": [2**31, -1, 2**40, 300], "uint64": [2**63, 5],
    "float16": [1.5, 300.0], "float32": [1e30, -1, np.nan, np.inf], "float64": [1.5, 1e10, 1e300, -1, np.nan, 300.7],
    "complex64": [1 + 2j, 3], "complex128": [1 + 2j, 1e300], "bool": [True],
}  # fmt: skip


def sources():
    """Names, and what makes the number: NumPy's module is given, or treadle."""
    for v in PYTHON:
        yield f"{v!r}", lambda m, v=v: v
        if not isinstance(v, complex):
            yield f"[{v!r}]", lambda m, v=v: [v]
    for dtype, values in TYPED.items():
        for v in values:
            one = np.asarray([v]).astype(dtype)
            yield f"scalar {one[0]!r}", lambda m, one=one: one[0]
            yield f"element {one[0]!r}", lambda m, one=one: m.asarray(one)[0]
            yield f"sum {one[0]!r}", lambda m, one=one: m.asarray(one).max()
            yield f"array {one.reshape(())!r}", lambda m, one=one: m.asarray(one.reshape(()))
            yield f"NumPy's array {one.reshape(())!r}", lambda m, one=one: one.reshape(())
            yield f"array {one!r}", lambda m, one=one: m.asarray(one)


def mask(m):
    return m.asarray([True, False, True])


def assign(m, x, key, v):
    x[key] = v


def assign_flat(m, x, key, v):
    x.flat[key] = v


def fill_diagonal(m, x, v):
    m.fill_diagonal(x.reshape(3, 1), v)


WAYS = {
    "x[0] = v": lambda m, x, v: assign(m, x, 0, v),
    "x[1:] = v": lambda m, x, v: assign(m, x, slice(1, None), v),
    "x[...] = v": lambda m, x, v: assign(m, x, ..., v),
    "x[mask] = v": lambda m, x, v: assign(m, x, mask(m), v),
    "x[array] = v": lambda m, x, v: assign(m, x, m.asarray([0, 2]), v),
    "x.flat[0] = v": lambda m, x, v: assign_flat(m, x, 0, v),
    "x.flat[:] = v": lambda m, x, v: assign_flat(m, x, slice(None), v),
    "fill": lambda m, x, v: x.fill(v),
    "put": lambda m, x, v: m.put(x, [0], v),
    "place": lambda m, x, v: m.place(x, mask(m), v),
    "putmask": lambda m, x, v: m.putmask(x, mask(m), v),
    "copyto": lambda m, x, v: m.copyto(x, v),
    "copyto unsafe": lambda m, x, v: m.copyto(x, v, casting="unsafe"),
    "fill_diagonal": fill_diagonal,
    "full": lambda m, x, v: assign(m, x, ..., m.full(3, v, dtype=x.dtype)),
    "full_like": lambda m, x, v: assign(m, x, ..., m.full_like(x, v)),
    "add": lambda m, x, v: assign(m, x, ..., m.add(x, v, out=x)),
    "x *= v": lambda m, x, v: x.__imul__(v),
    "where": lambda m, x, v: assign(m, x, ..., m.where(mask(m), x, v).astype(x.dtype)),
}


def answer(m, way, dtype, make):
    x = m.asarray(np.array([1, 0, 1]).astype(dtype))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            WAYS[way](m, x, make(m))
        except (TypeError, ValueError, OverflowError):
            return "refused"
    return np.asarray(x.get() if m is td else x)


# Python's bool() of a list and of an array of one element, which only an array of bools takes as an element.
TRUTHS = {"x[0] = v", "fill", "x.flat[0] = v"}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("way", WAYS)
def test_written_as_by_numpy(way, dtype):
    wrong = []
    for name, make in sources():
        want, got = answer(np, way, dtype, make), answer(td, way, dtype, make)
        if dtype == "bool" and way in TRUTHS and (name[0] == "[" or "array([" in name):
            continue
        if isinstance(want, str) or isinstance(got, str):
            if not (isinstance(want, str) and isinstance(got, str)):
                wrong.append((name, want, got))
        elif not np.array_equal(want, got, equal_nan=want.dtype.kind in "fc"):
            wrong.append((name, want, got))
    assert not wrong


@pytest.mark.parametrize("value", [2**31, -(2**31) - 1, 1e10, np.inf, np.nan])
def test_refused_in_numpys_words(value):
    for make in (lambda m: np.float64(value), lambda m: m.asarray([value, value]).max(), lambda m: value):
        told = []
        for m in (np, td):
            with pytest.raises((OverflowError, ValueError)) as e:
                assign(m, m.zeros(3, "int32"), 0, make(m))
            told.append((e.type, str(e.value)))
        assert told[0] == told[1]


def test_no_values_for_a_diagonal_or_for_elements():
    for m in (np, td):
        x = m.ones((2, 2))
        m.fill_diagonal(x, [])
        x.flat = []
        assert x.tolist() == [[1, 1], [1, 1]]


def test_recorded_numbers_are_not_looked_at():
    """Inside of a recorded function a number has no value yet."""

    def f(x):
        y = td.zeros(2, "int32")
        y[0] = x.sum()
        return y

    assert td.graph(f)(td.asarray([1.0, 2.0])).tolist() == [3, 0]
