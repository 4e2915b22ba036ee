"""Floating-point errors in values: errstate and its kin, compared with what NumPy tells of the same operations."""

import gc
import threading
import warnings

import numpy as np
import pytest

import treadle as td

X = np.array([1.0, 0.0, -1.0, 1e308, 1e-307, np.inf, np.nan, 3.0])
CASES = {
    "add": lambda x, np: x + x[::-1],
    "subtract": lambda x, np: x[5:6] - x[5:6],
    "multiply": lambda x, np: x * x,
    "divide": lambda x, np: x / x[1],
    "floor": lambda x, np: x[:4] // x[1],
    "remainder": lambda x, np: np.remainder(x[:3], x[1]),
    "log": lambda x, np: np.log(x),
    "log1p": lambda x, np: np.log1p(x[2:3]),
    "sqrt": lambda x, np: np.sqrt(x),
    "exp": lambda x, np: np.exp(x[3:4]),
    "power": lambda x, np: np.power(x[2:4], 2.5),
    "reciprocal": lambda x, np: np.reciprocal(x[1:2]),
    "arccos": lambda x, np: np.arccos(x[7:]),
    "arctanh": lambda x, np: np.arctanh(x[:1]),
    "fine": lambda x, np: np.sin(x[:5]) + 1,
    "nan in": lambda x, np: x[6:7] * 2 + np.sqrt(x[6:7]),
    "float32": lambda x, np: x[:5].astype("float32"),
    "int": lambda x, np: x[5:].astype("int64"),
    "int32": lambda x, np: x[3:4].astype("int32"),
    "ints": lambda x, np: x[:3].astype("int64") // x[1:2].astype("int64"),
    "sum": lambda x, np: np.sum(np.stack([x[3:4], x[3:4]])),
    "sum of infinities": lambda x, np: (x[5:6] * np.sign(x[[0, 2]])).sum(),
    "mean": lambda x, np: x[:3].mean(),
}
KINDS = ("divide", "over", "under", "invalid")


def told(errstate, x, module, case, kinds=("divide", "over", "invalid")):
    """The texts of the warnings, of the kinds that NumPy tells reliably of: its SIMD loops forget underflows."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        with errstate(**dict.fromkeys(KINDS, "ignore")), errstate(**dict.fromkeys(kinds, "warn")):
            CASES[case](x, module)
    assert module is np or all(w.filename == __file__ for w in seen)
    return {str(w.message).replace("scalar ", "") for w in seen}


@pytest.mark.parametrize("case", CASES)
def test_as_numpy(dev, case):
    assert told(td.errstate, td.asarray(X), td, case) == told(np.errstate, X, np, case)


@pytest.mark.parametrize(
    "f", [lambda x: x[4:5] * 1e-10, lambda x: td.exp(-x[3:4]), lambda x: x[4:5] / 1e10, lambda x: x[4:5] ** 2]
)
def test_underflow(dev, f):
    x = td.asarray(X)
    with td.errstate(under="raise"), pytest.raises(FloatingPointError, match="underflow encountered in "):
        f(x)
    with td.errstate(under="raise"):
        td.evaluate(x[:1] * 0.5, x[1:2] * x[1:2], td.exp(-x[5:6]), x[1:2] ** 2)


def test_nothing_is_asked_at_first(dev):
    assert td.geterr() == dict.fromkeys(KINDS, "ignore")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        x = td.asarray(X)
        td.evaluate(1 / x, td.log(x))


def test_raise_names_the_line_and_leaves_all_as_it_was(dev):
    x, y = td.asarray([4.0, 0.0]), td.asarray([1.0, 2.0])
    used = td.memory.stats(dev)["used"]
    with td.errstate(all="raise"):
        for _ in range(3):
            with pytest.raises(FloatingPointError, match="^divide by zero encountered in divide$"):
                y /= x
        assert td.asnumpy(y).tolist() == [1, 2] and td.asnumpy(x).tolist() == [4, 0]
        assert td.asnumpy(y / (x + 1)).tolist() == [0.2, 2]
    assert td.memory.stats(dev)["used"] == used
    y /= x
    assert td.asnumpy(y).tolist() == [0.25, np.inf]


def test_matrix_products_and_sums(dev):
    a = td.asarray([[1e308, 1e308], [0.0, 1.0]])
    with td.errstate(over="raise"):
        with pytest.raises(FloatingPointError, match="overflow encountered in matmul"):
            td.evaluate(a @ a)
        with pytest.raises(FloatingPointError, match="overflow encountered in accumulate"):
            td.cumsum(a, axis=1)
        with pytest.raises(FloatingPointError, match="overflow encountered in reduce"):
            a.sum(axis=1)
        assert td.asnumpy(a.sum(axis=0)).tolist() == [1e308, 1e308]
        assert td.asnumpy((a / 1e200) @ (a / 1e200)).max() < np.inf


def test_functions_and_objects(capfd):
    seen = []

    class Log:
        def write(self, text):
            seen.append(text)

    x = td.asarray([0.0], device="cpu")
    assert td.seterrcall(lambda *what: seen.append(what)) is None
    before = td.seterr(divide="call", invalid="print")
    try:
        td.log(x)
        x / x
        assert td.seterrcall(Log()) is not None
        td.seterr(divide="log")
        1 / x
    finally:
        td.seterr(**before)
        td.seterrcall(None)
    assert seen == [("divide by zero", 1), "Warning: divide by zero encountered in divide\n"]
    assert capfd.readouterr().err == "Warning: invalid value encountered in divide\n"
    assert td.geterrcall() is None
    with td.errstate(divide="call"), pytest.raises(NameError):
        1 / x
    with pytest.raises(ValueError, match="divide='explode'; there are 'ignore'"):
        td.errstate(all="explode")
    with pytest.raises(ValueError, match="callable"), td.errstate(call=3):
        pass
    assert td.geterr() == dict.fromkeys(KINDS, "ignore")


def test_decorator_and_nesting():
    @td.errstate(divide="raise")
    def f(x):
        return 1 / x

    for _ in range(2):
        with pytest.raises(FloatingPointError):
            f(td.asarray([0.0], device="cpu"))
    with td.errstate(all="raise"), td.errstate(divide="ignore"):
        assert td.geterr() == {"divide": "ignore", "over": "raise", "under": "raise", "invalid": "raise"}
    once = td.errstate(all="raise")
    with once, pytest.raises(TypeError, match="twice"), once:
        pass
    assert td.geterr() == dict.fromkeys(KINDS, "ignore")


def test_warnings_become_errors(dev):
    with warnings.catch_warnings(), td.errstate(all="warn"):
        warnings.simplefilter("error")
        with pytest.raises(RuntimeWarning, match="invalid value encountered in sqrt"):
            td.sqrt(td.asarray([-1.0]))
    assert np.isnan(td.asnumpy(td.sqrt(td.asarray([-1.0]))))


def test_each_thread_has_its_own():
    seen = []

    def other():
        seen.append(td.geterr()["divide"])
        seen.append(td.asnumpy(1 / td.asarray([0.0], device="cpu")).tolist())

    with td.errstate(all="raise"):
        t = threading.Thread(target=other)
        t.start()
        t.join()
    assert seen == ["ignore", [np.inf]]


def test_over_sources_when_they_are_read(dev):
    source = np.array([1.0, 0.0, 2.0])
    with td.errstate(divide="raise"):
        r = 1 / td.from_host(source)
    with pytest.raises(FloatingPointError, match="divide by zero encountered in divide"):
        td.asnumpy(r)
    source[1] = 4
    with td.errstate(divide="raise"):
        assert td.asnumpy(1 / td.from_host(source)).tolist() == [1, 0.25, 0.5]


def test_in_one_chunk_of_many(dev):
    """The source is read in parts; one element, far in, has no logarithm."""
    source = np.ones(3 << 20, "float32")
    source[2 << 20] = -1
    gc.collect()  # what other tests left must not leave memory meanwhile
    td.synchronize(dev)
    td.memory.trim(dev)
    before = td.memory.stats(dev)["used"]
    td.memory.limit(before + (6 << 20), dev)
    try:
        with td.errstate(invalid="raise"):
            total = td.log(td.from_host(source)).sum()
            with pytest.raises(FloatingPointError, match="invalid value encountered in log"):
                float(total)
        del total
        td.memory.trim(dev)
        assert td.memory.stats(dev)["used"] == before
        assert source.min() == -1 and source[: 2 << 20].min() == 1
        source[2 << 20] = np.e
        with td.errstate(invalid="raise"):
            assert abs(float(td.log(td.from_host(source)).sum()) - 1) < 1e-6
    finally:
        td.memory.limit(None, dev)
