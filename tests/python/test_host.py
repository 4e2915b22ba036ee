"""Trips to the host (treadle._exchange._host): what is counted, told and refused, and what comes back."""

import threading
import warnings
from typing import NamedTuple

import numpy as np
import pytest

import treadle as td
from treadle._exchange import _host


@pytest.fixture(autouse=True)
def afresh(monkeypatch):
    monkeypatch.setattr(td.config, "fallback", "allow")
    td.fallbacks(clear=True)
    yield
    td.fallbacks(clear=True)


def double(*args, **kwargs):
    return [np.multiply(a, 2) for a in args] if len(args) > 1 else np.multiply(args[0], 2, **kwargs)


def here(*args, **kwargs):
    return _host.fallback("test.double", double, args, kwargs, "it is a test")


# ---- counting and telling ----


def test_modes(dev):
    x = td.arange(3.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        here(x)  # allowed: no word
    td.config.fallback = "warn"
    td.fallbacks(clear=True)
    with pytest.warns(td.PerformanceWarning, match="test.double is computed by NumPy on the host: it is a test") as told:
        for _ in range(3):
            here(x)
    assert len(told) == 1 and told[0].filename == __file__
    (name, place, calls, nbytes), = td.fallbacks()
    assert (name, calls, nbytes) == ("test.double", 3, 72) and place.startswith(__file__)
    td.config.fallback = "error"
    with pytest.raises(NotImplementedError, match=r"test.double .* it is a test \(24 bytes\)"):
        here(x)
    with pytest.raises(ValueError, match="fallback is one of"):
        td.config.fallback = "sometimes"
    assert td.fallbacks(clear=True)[0][2] == 3 and td.fallbacks() == []


def test_every_line_is_told_once():
    td.config.fallback = "warn"
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        td.polydiv([1.0], [2.0]), td.polydiv([1.0], [2.0])
        td.polydiv([1.0], [2.0])
    assert len(told) == 2 and told[0].lineno + 1 == told[1].lineno
    assert sorted(calls for _, _, calls, _ in td.fallbacks()) == [1, 2]


def test_library_is_a_fallback_from_devices_only(dev):
    td.config.fallback = "error"
    x = td.arange(3.0)
    if dev != "cpu":
        with pytest.raises(NotImplementedError):
            _host.library("test.double", double, (x,), {})
    else:
        assert _host.library("test.double", double, (x,), {}).get().tolist() == [0, 2, 4] and td.fallbacks() == []
    assert _host.library("test.double", double, ([1, 2],), {}).get().tolist() == [2, 4]  # no array has moved


def test_threads_are_counted_one_by_one():
    x = td.ones(1)

    def work():
        for _ in range(200):
            here(x)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert td.fallbacks() == [("test.double", td.fallbacks()[0][1], 1600, 12800)]


# ---- what goes there and comes back ----


def test_arguments_at_any_depth(dev):
    x = td.arange(2.0)
    seen = []
    _host.fallback("f", lambda *a, **k: seen.append((a, k)), ([x, (x, 1)], {"k": [x]}), {"w": {"x": x}, "s": "text"})
    ((one, (two, number)), table), keywords = seen[0]
    for a in (one, two, table["k"][0], keywords["w"]["x"]):
        assert type(a) is np.ndarray and a.tolist() == [0, 1]
    assert number == 1 and keywords["s"] == "text" and td.fallbacks()[0][3] == 4 * 16


class Pair(NamedTuple):
    first: object
    second: object


class Result(dict):
    """As SciPy's results."""


def test_results(dev):
    x = td.arange(3.0)

    def back(value):
        return _host.fallback("f", lambda a: value, (x,), {})

    for value, kind in ((np.ones(2), td.ndarray), (np.float32(2), type(x.astype("f4").sum())), (np.array(["a"]), np.ndarray), (2.5, float),
                        (np.array([1, None]), np.ndarray), (np.ma.masked_array([1, 2], [0, 1]), np.ma.MaskedArray), (None, type(None)),
                        (np.zeros(2, "i4,f8"), np.ndarray), (np.longdouble(1), np.longdouble), (np.datetime64(1, "s"), np.datetime64)):  # fmt: skip
        assert type(back(value)) is kind, value
    assert back(np.ones(2)).device == dev and back(np.float32(2)).dtype == "float32"
    one, [two] = back((np.ones(2), [np.zeros(1)]))
    assert isinstance(one, td._core.ndarray) and isinstance(two, td._core.ndarray)
    pair = back(Pair(np.ones(2), "x"))
    assert type(pair) is Pair and isinstance(pair.first, td._core.ndarray) and pair.second == "x"
    given = Result(x=np.ones(2), nit=3)
    result = back(given)
    assert type(result) is Result and isinstance(result["x"], td._core.ndarray) and result["nit"] == 3
    assert type(given["x"]) is np.ndarray


def test_results_are_not_the_arguments(dev):
    x = td.arange(4.0)
    r = _host.fallback("f", lambda a: a[::2], (x,), {})
    r[0] = 100
    assert x.get().tolist() == [0, 1, 2, 3]


def test_out(dev):
    x, out = td.arange(3.0), td.zeros(3)
    kept = out.copy()
    assert here(x, out=out) is out and out.get().tolist() == [0, 2, 4] and kept.get().tolist() == [0, 0, 0]
    part = td.zeros((3, 2), "float32")
    r = here(x, out=part[:, 1], casting="unsafe")
    assert r.get().tolist() == [0, 2, 4] and part.get()[:, 1].tolist() == [0, 2, 4] and not part.get()[:, 0].any()
    whole, rest = td.zeros(3), td.zeros(3)
    r = _host.fallback("modf", np.modf, (x + 0.5,), {"out": (rest, whole)})
    assert r[0] is rest and r[1] is whole and rest.get().tolist() == [0.5] * 3
    with pytest.raises(ValueError, match="read-only"):
        here(x, out=td.broadcast_to(td.zeros(1), (3,)))


def test_bfloat16_goes_as_float32(dev):
    x = td.arange(3).astype("bfloat16")
    r = here(x)
    assert r.dtype == "float32" and r.get().tolist() == [0, 2, 4]
    out = td.zeros(3, "bfloat16")
    assert here(x, out=out) is out and out.astype("float32").get().tolist() == [0, 2, 4]


def test_one_device():
    with pytest.raises(ValueError, match="cpu.*null|null.*cpu"):
        here(td.ones(2, device="cpu"), td.ones(2, device="null"))


def test_errors_are_numpys(dev):
    with pytest.raises(ZeroDivisionError):
        _host.fallback("f", lambda a: 1 // 0, (td.ones(2),), {})
    assert td.fallbacks()[0][2] == 1
