"""out= and where= that are NumPy's arrays: treadle writes the host's memory, as NumPy does, and counts the trip."""

import numpy as np
import pytest
from numpy_side import outcome

import treadle as td

pytestmark = pytest.mark.filterwarnings("ignore")

# f: a call of either library over its array x, (3, 4) float64; out= is made like the result, in the dtypes below.
CALLS = """
np.add(x, 1, out=o)
np.add(x, x, o)
np.add(x, x, out=(o,))
np.add(x, x, dtype="f4", out=o)
np.add(x, x, out=o, where=m)
np.add(x, x, out=o, where=[[True], [False], [True]])
np.sqrt(x, out=o, where=x > 3)
np.negative(x, out=o, where=False)
np.add(x, x[0], out=o, casting="unsafe")
np.less(x, 3, out=o)
np.float_power(x, 2, out=o, where=m)
np.clip(x, 2, 5, out=o)
np.clip(x, 2, 5, out=o, where=m)
x.clip(2, 5, o)
np.round(x, 1, out=o)
np.trunc(x, out=o)
np.sum(x, 0, out=o)
x.sum(1, None, o)
np.sum(x, out=o)
np.sum(x, 0, keepdims=True, out=o)
np.sum(x, 1, out=o, where=m)
np.sum(x, 1, out=o, initial=5)
np.prod(x, 0, out=o)
np.mean(x, 0, out=o)
np.mean(x, 0, out=o, where=m)
np.var(x, 1, out=o)
np.max(x, 0, out=o)
x.min(0, o)
np.min(x, out=o, where=m, initial=9)
np.any(x, 0, out=o)
np.all(x, out=o)
np.ptp(x, 1, out=o)
np.cumsum(x, 1, out=o)
x.cumprod(0, None, o)
np.cumsum(x, out=o)
np.nansum(x, 0, out=o)
np.nanmax(x, out=o)
np.nancumsum(x, 1, out=o)
np.median(x, 0, out=o)
np.nanmedian(x, out=o)
np.trace(x, out=o)
np.take(x, [2, 0], 1, out=o)
np.compress([True, False, True], x, 0, out=o)
np.choose([0, 1, 0, 1], x[:2], out=o)
np.concatenate((x, x), out=o)
np.stack((x, x), 1, out=o)
np.einsum("ij,ij->j", x, x, out=o)
np.outer(x[0], x[1], out=o)
np.matmul(x, x.T, out=o)
np.matvec(x, x[0], out=o)
np.vecdot(x, x, out=o)
np.add.reduce(x, out=o)
np.subtract.reduce(x, 1, out=o)
np.maximum.reduce(x, 1, out=(o,))
np.add.accumulate(x, out=o)
np.multiply.reduceat(x, [0, 2], out=o)
np.add.outer(x[0], x[1], out=o)
""".strip().split("\n")

# Where out= has to be of the result's dtype.
EXACT = """
np.dot(x, x.T, out=o)
np.argmax(x, 1, out=o)
np.nanargmin(x, 0, out=o)
np.linalg.multi_dot((x, x.T, x), out=o)
np.quantile(x, 0.3, 0, out=o)
np.percentile(x, [20, 70], out=o)
np.nanquantile(x, 0.3, out=o)
np.nanmean(x, 1, out=o)
np.nanvar(x, 1, out=o)
np.fft.fft(x, out=o)
np.fft.irfft(x[:, :3] + 0j, out=o)
np.take(x, [2, 0], out=o)
""".strip().split("\n")

M = np.arange(12).reshape(3, 4) % 3 != 0


def values():
    return (np.arange(12.0).reshape(3, 4) * 5 % 7) + 0.25


def called(text, library, x, o, m=M):
    return eval(text, {"np": library, "x": x, "o": o, "m": m})


def result_of(text):
    """What NumPy's call without out= is like."""
    head = text.replace(", out=o", "").replace(", out=(o,)", "").replace(", o)", ")")
    return called(head, np, values(), None)


@pytest.mark.parametrize("text", CALLS + EXACT)
def test_out_is_numpys(text, dev):
    """The same elements are written, the others stay; the array itself comes back, and the trip is listed."""
    like = np.asarray(result_of(text))
    for dtype in ("float64", "float32", "int32", "complex64") if text in CALLS else (like.dtype,):
        theirs = np.full(like.shape, 7, dtype)
        mine = np.full((*like.shape, 2), 7, dtype)[..., 0]  # whose elements lie apart
        if text in EXACT:
            mine = mine.copy()
        wanted, refused = outcome(called, text, np, values(), theirs)
        td.fallbacks(clear=True)
        got, error = outcome(called, text, td, td.asarray(values()), mine)
        if refused is not None:
            assert isinstance(error, TypeError) == isinstance(refused, TypeError) and error is not None, (text, dtype)
            continue
        assert error is None and wanted is theirs, (text, dtype, error)
        assert got is mine and len(td.fallbacks()) >= 1, (text, dtype, td.fallbacks())
        np.testing.assert_allclose(mine, theirs, 1e-6, err_msg=f"{text} {dtype}")


@pytest.mark.parametrize("text", [t for t in CALLS if "where=m" in t])
def test_where_is_numpys(text, dev):
    """Beside an out= of treadle's."""
    theirs = np.full(np.asarray(result_of(text)).shape, 7.0)
    ours = td.asarray(theirs.copy())
    called(text, np, values(), theirs)
    assert called(text, td, td.asarray(values()), ours) is ours
    np.testing.assert_allclose(ours.get(), theirs, 1e-12)
    assert called(text, td, td.asarray(values()), ours, td.asarray(M)) is ours


def test_two_results(dev):
    x = values()
    for name in ("modf", "frexp", "divmod"):
        more = (2,) if name == "divmod" else ()
        theirs = [np.zeros_like(r) for r in getattr(np, name)(x, *more)]
        mine = [np.zeros_like(r) for r in theirs]
        getattr(np, name)(x, *more, out=tuple(theirs))
        r = getattr(td, name)(td.asarray(x), *more, out=tuple(mine))
        assert r[0] is mine[0] and r[1] is mine[1]
        np.testing.assert_array_equal(mine, theirs)
        r = getattr(td, name)(td.asarray(x), *more, out=(None, mine[1]))
        assert isinstance(r[0], td._core.ndarray) and r[1] is mine[1]


def test_draws(dev):
    for name, more in {"random": (), "standard_normal": (), "standard_exponential": (), "standard_gamma": (2.0,)}.items():
        host = np.zeros((3, 5))
        assert getattr(td.random.default_rng(3), name)(*more, out=host) is host
        np.testing.assert_array_equal(host, getattr(td.random.default_rng(3), name)(*more, size=(3, 5)).get())
        with pytest.raises(TypeError):
            getattr(td.random.default_rng(3), name)(*more, out=np.zeros(3, "f4"))
    host = np.zeros(9)
    assert td.random.default_rng(3).permuted(td.arange(9.0), out=host) is host and sorted(host) == list(range(9))


def test_what_cannot_be_written(dev):
    """Nothing is, and the words say why."""
    x = td.asarray(values())
    fixed = np.zeros((3, 4))
    fixed.setflags(write=False)
    for call in (lambda o: td.add(x, x, out=o), lambda o: td.cumsum(x, 0, out=o), lambda o: td.round(x, out=o)):
        with pytest.raises(ValueError, match="read-only"):
            call(fixed)
        for other in ([0.0] * 4, 5, "text", memoryview(b"abc")):
            with pytest.raises(TypeError, match="treadle array, or NumPy's"):
                call(other)
        with pytest.raises(ValueError):
            call(np.zeros((4, 3)))
    with pytest.raises(TypeError, match="Cannot cast"):
        td.add(x, x, out=np.zeros((3, 4), int))
    with td.device(x.device), pytest.raises(NotImplementedError, match="out= is NumPy's array"):
        td.config.fallback = "error"
        try:
            td.add(x, x, out=np.zeros((3, 4)))
        finally:
            td.config.fallback = "warn"
