"""NumPy's own functions, called with treadle's arrays: every ufunc with all its methods and keywords, and every function
that NumPy lets others override, against the same call of NumPy's arrays."""

import re

import numpy as np
import numpy_cases
import pytest
from numpy.testing.overrides import get_overridable_numpy_array_functions, get_overridable_numpy_ufuncs

import treadle as td

pytestmark = pytest.mark.filterwarnings("ignore")

UFUNCS = sorted({u.__name__: u for u in vars(np).values() if isinstance(u, np.ufunc)}.values(), key=lambda u: u.__name__)
DTYPES = ["float64", "int32", "bool", "complex64"]


def down(x):
    """What is treadle's as NumPy's, in tuples and lists too."""
    if isinstance(x, td._core.ndarray):
        return x.get()
    return type(x)(map(down, x)) if type(x) in (tuple, list) else x


def is_ours(x):
    return all(map(is_ours, x)) if isinstance(x, (tuple, list)) else isinstance(x, td._core.ndarray)


def values(dtype, shape=(3, 4), seed=0):
    x = np.random.default_rng(seed).integers(1, 4, shape)
    return (x / 4 if np.dtype(dtype).kind in "fc" else x).astype(dtype)


def same(ours, theirs, text=""):
    ours = down(ours)
    if isinstance(theirs, (tuple, list)):
        assert len(ours) == len(theirs), text
        for a, b in zip(ours, theirs, strict=True):
            same(a, b, text)
        return
    if not isinstance(theirs, (np.ndarray, np.generic)):
        assert ours == theirs or isinstance(theirs, (bool, int, float, complex, str, type(None))) and np.allclose(ours, theirs), text
        return
    assert np.asarray(ours).dtype == theirs.dtype and np.shape(ours) == np.shape(theirs), f"{text}: {ours!r} {theirs!r}"
    if theirs.dtype.kind in "OSUV":
        assert np.asarray(ours).tolist() == theirs.tolist(), text
    else:
        exact = theirs.dtype.kind in "biu"
        near = 2e-3 if theirs.dtype == "f2" else 1e-5
        np.testing.assert_allclose(ours, theirs, rtol=0 if exact else near, atol=0 if exact else 1e-6, err_msg=text)


def both(call, text=""):
    """call(as array) with treadle's and with NumPy's: the same values, or exceptions of one kind."""
    try:
        theirs = call(np.array)
    except Exception as error:
        kinds = [k for k in type(error).__mro__ if k not in (Exception, BaseException, object)]
        with pytest.raises(tuple(kinds)):
            call(td.array)
        return None
    ours = call(td.array)
    same(ours, theirs, text)
    return ours


def operands(u, dtype, a):
    shapes = {"matmul": [(3, 4), (4, 3)], "matvec": [(3, 4), (4,)], "vecmat": [(4,), (4, 3)], "vecdot": [(3, 4), (4,)]}
    found = [a(values(dtype, shape, k)) for k, shape in enumerate(shapes.get(u.__name__, [(3, 4), (4,)])[: u.nin])]
    if u.__name__ == "ldexp":
        found[1] = a(values("int32", (4,)))
    return found


@pytest.mark.parametrize("u", UFUNCS, ids=lambda u: u.__name__)
def test_call(u):
    for dtype in DTYPES:
        r = both(lambda a: u(*operands(u, dtype, a)), f"{u.__name__} of {dtype}")  # noqa: B023
        assert r is None or is_ours(r)
        if u.nin == 2:  # NumPy's array first, and a number
            both(lambda a: u(values(dtype), operands(u, dtype, a)[1]))  # noqa: B023
            both(lambda a: u(operands(u, dtype, a)[0], 2))  # noqa: B023


def natural(u):
    """(dtype of operands, results of a call) of the first dtype that the ufunc takes."""
    for dtype in DTYPES:
        try:
            r = u(*operands(u, dtype, np.array))
        except TypeError:
            continue
        return dtype, r if isinstance(r, tuple) else (r,)
    return None, ()


@pytest.mark.parametrize("u", UFUNCS, ids=lambda u: u.__name__)
def test_keywords(u):
    dtype, results = natural(u)
    if dtype is None:
        pytest.skip("takes no numbers: NumPy refuses them")

    def called(how, **kw):
        def call(a):
            outs = tuple(how(np.full_like(r, 1)) for r in results)
            got = u(*operands(u, dtype, a), out=outs, **kw)
            assert all(g is o for g, o in zip(got if isinstance(got, tuple) else (got,), outs, strict=True))
            return got

        return call

    mask = np.array([True, False, True, True])[: results[0].shape[-1] if results[0].ndim else 1]
    masked = {} if u.signature else {"where": mask}
    for kw in ({}, masked, {"casting": "unsafe"}):
        same(called(td.array, **kw)(td.array), called(np.array, **kw)(np.array), f"{kw}")
        same(called(np.array, **kw)(td.array), called(np.array, **kw)(np.array), f"{kw}")
    if u.nout == 1:
        both(lambda a: u(*operands(u, dtype, a), a(np.ones_like(results[0]))))
    else:
        both(lambda a: u(*operands(u, dtype, a), out=(None, a(np.ones_like(results[1])))))
    for kw in ({"dtype": "float32"}, {"dtype": "int8", "casting": "same_kind"}, {"casting": "no"}, {"subok": True, "order": "F"}, {"signature": u.types[-1]},
               {"dtype": "complex128"}, {"sig": u.types[0]}, {"axis": 0}):  # fmt: skip
        both(lambda a: u(*operands(u, dtype, a), **kw), f"{kw}")  # noqa: B023
    with pytest.raises(TypeError):
        u(*operands(u, dtype, td.array), nothing=1)
    narrow = tuple(td.zeros(r.shape, dtype="bool") for r in results)
    if results[0].dtype != bool:
        with pytest.raises(TypeError, match="cast"):
            u(*operands(u, dtype, td.array), out=narrow)


METHODS = {
    "reduce": ["", "axis=1", "axis=(0, 1), keepdims=True", "axis=None, initial=2", "where=mask, initial=1", "dtype='float64'", "axis=9"],
    "accumulate": ["", "axis=1", "axis=-1, dtype='float64'", "axis=7"],
    "reduceat": ["[0, 2]", "[0, 2, 1], axis=1", "at", "[9]"],
    "outer": ["v", "2", "v, dtype='float64'"],
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("u", UFUNCS, ids=lambda u: u.__name__)
def test_methods(u, method):
    def call(text, dtype, outs=None):
        def made(a):
            space = {"x": a(values(dtype)), "v": a(values(dtype, (2,), 1)), "at": a(np.array([0, 1])), "mask": a(values("bool") & (values("int32") > 1))}
            return eval(f"f(x, {text})", {"f": getattr(u, method), **space})

        return made

    for dtype in ("float64", "int32", "bool"):
        for text in METHODS[method]:
            if ("9" in text or "=7" in text) and u is not np.add:
                continue  # which of two mistakes is told first
            if u.__name__ in ("power", "arctan2") and "axis=1" in text:
                continue  # NumPy 2.4 does not fold these one by one along a contiguous axis
            r = both(call(text, dtype), f"np.{u.__name__}.{method}(x, {text}) of {dtype}")
            assert r is None or is_ours(r)
    if u.nin == 2 and u.nout == 1 and u.signature is None:
        dtype, _ = natural(u)
        rest = {"reduceat": ([0, 2],), "outer": (values(dtype, (2,), 1),)}.get(method, ())
        try:
            want = getattr(u, method)(values(dtype), *rest)
        except TypeError:
            return
        for how in (td.array, np.array):
            out = how(np.zeros_like(want))
            assert getattr(u, method)(td.array(values(dtype)), *rest, out=out) is out
            same(out, want)


@pytest.mark.parametrize("u", UFUNCS, ids=lambda u: u.__name__)
def test_at(u):
    def call(a, target=None):
        x = (target or a)(values(dtype))
        u.at(x, a(np.array([0, 2, 0])), *([a(values(dtype, (3, 4), 2))] if u.nin == 2 else []))
        return x

    for dtype in ("float64",) if u is np.reciprocal else ("float64", "int32"):  # 1 // 0 is whatever the machine says
        both(call, f"np.{u.__name__}.at of {dtype}")
        both(lambda a: call(a, np.array))


def test_no_ufunc_is_left_out():
    """Those that NumPy lets others override, besides the ones of strings and clip, which is a function too."""
    numbers = {u.__name__ for u in get_overridable_numpy_ufuncs() if not u.__name__.startswith("_") and any(set(t) & set("dl?") for t in u.types)}
    assert numbers - {u.__name__ for u in UFUNCS} <= {"clip", "str_len", "count", "find", "index", "rfind", "rindex", "startswith", "endswith"} | {
        n for n in numbers if n.startswith("is")
    }


def test_on_all_devices(dev):
    x, n = td.asarray([0.5, 2.0, 1.0]), np.array([0.5, 2.0, 1.0])
    out, host = td.zeros(3), np.zeros(3)
    for r, want in ((np.sin(x), np.sin(n)), (np.add(n, x), n + n), (np.multiply(x, 2, dtype="f4"), n.astype("f4") * 2), (np.add.reduce(x), n.sum()),
                    (np.maximum.accumulate(x), np.maximum.accumulate(n)), (np.subtract.outer(x, n), n[:, None] - n), (np.add(x, 1, out=out, where=x > 0.7), [0, 3, 2]),
                    (np.concatenate([x, n]), [*n, *n]), (np.zeros(2, like=x), [0, 0]), (np.sort(x), np.sort(n)), (np.linalg.norm(x), np.linalg.norm(n))):  # fmt: skip
        assert r.device == dev
        np.testing.assert_allclose(r.get(), want, rtol=1e-6)
    assert np.exp(x, out=host) is host and np.allclose(host, np.exp(n)) and np.sum(x, out=host[:1].reshape(())) == 3.5
    np.add.at(x, [0, 0], 1)
    np.add.at(host, td.asarray([0]), td.asarray([1.0]))
    np.copyto(n, x)
    assert x.tolist() == n.tolist() == [2.5, 2, 1] and host[0] == 4.5


def test_what_the_host_computes_is_noted(dev):
    td.fallbacks(clear=True)
    with pytest.warns(td.PerformanceWarning, match="wrightomega"):
        r = scipy_ufunc()(td.asarray([0.5, 1.0]))
    assert r.device == dev and len(td.fallbacks(clear=True)) == 1


def scipy_ufunc():
    from scipy import special

    return special.wrightomega


def test_ufuncs_of_others():
    """scipy.special's are treadle's own; of all others, whatever they are called, the host computes."""
    from scipy import special

    td.fallbacks(clear=True)
    x = td.asarray([0.5, 1.5])
    same(special.erf(x), special.erf(x.get()))
    assert not td.fallbacks() and is_ours(special.erf(x))
    sin = np.frompyfunc(lambda v: v + 1, 1, 1)
    assert sin(x).tolist() == [1.5, 2.5] and len(td.fallbacks()) == 1
    same(np.add(x, np.array([1, 2], "longdouble")), np.add(x.get(), np.array([1, 2], "longdouble")))
    assert np.add(np.array(["a", "b"], object), td.asarray([1, 2]).astype("int64").tolist()[0:0] or np.array(["c", "d"], object)).tolist() == ["ac", "bd"]
    td.fallbacks(clear=True)


def test_masks_are_kept(dev):
    """Beside a masked array of NumPy's the result is NumPy's, since arrays here have no masks."""
    t, m = td.asarray([1.0, 2.0, 3.0]), np.ma.array([1.0, 5.0, 2.0], mask=[False, True, False])
    for r in (np.add(t, m), np.add(m, t), t + m, m + t, np.add.outer(t, m)[0] + [0, 0, 2]):
        assert isinstance(r, np.ma.MaskedArray) and r.tolist() == [2.0, None, 5.0]
    assert isinstance(np.concatenate([t, m]), np.ndarray)


def test_others_with_a_protocol_are_asked():
    class Other:
        def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
            return "ufunc"

        def __array_function__(self, func, types, args, kwargs):
            return "function"

    t = td.arange(3)
    td.fallbacks(clear=True)
    with pytest.raises(TypeError, match="datetime64"):
        np.isnat(t)
    assert not td.fallbacks()
    assert np.add(t, Other()) == np.add(Other(), t) == "ufunc" and np.concatenate([t, Other()]) == "function"


# ---- functions ----

FUNCTIONS = {f"{f.__module__}.{f.__name__}": f for f in get_overridable_numpy_array_functions()}
ELSEWHERE = {  # name: texts; the rest is in numpy_cases.ROWS
    "isneginf isposinf": "np.{}(s)",
    "busday_count busday_offset is_busday datetime_as_string": None,  # of dates, which treadle has no dtype for
    "min_scalar_type": "np.min_scalar_type(x)",
    "can_cast result_type": "np.result_type(x, np.float32) | np.can_cast(x.dtype, 'float32')",
    "cond": "np.linalg.cond(d)",
    "fft ifft rfft irfft hfft ihfft fft2 ifft2 rfft2 irfft2 fftn ifftn rfftn irfftn fftshift ifftshift": "np.fft.{}(x)",
    "polyval2d polygrid2d": "np.polynomial.polynomial.{}(s, s, d)",
    "cholesky": "np.linalg.cholesky(np.matmul(d, d.T))",
    "cross": "np.linalg.cross(d, d[::-1])",
    "det eigvals inv matrix_rank norm pinv slogdet svdvals matrix_norm vector_norm qr matrix_transpose diagonal trace": "np.linalg.{}(d)",
    "eigvalsh": "np.linalg.eigvalsh(d + d.T)",
    "eig eigh svd": "np.linalg.{}(d + d.T)[0]",
    "lstsq": "np.linalg.lstsq(d, s[:3], rcond=None)[0]",
    "solve": "np.linalg.solve(d, s[:3])",
    "matmul outer tensordot vecdot multi_dot": "np.linalg.matmul(d, d) | np.linalg.outer(s, s) | np.linalg.tensordot(d, d) | np.linalg.vecdot(d, d) | np.linalg.multi_dot([d, d, d])",
    "matrix_power": "np.linalg.matrix_power(d, 3)",
    "tensorinv": "np.linalg.tensorinv(d.reshape(3, 3), 1)",
    "tensorsolve": "np.linalg.tensorsolve(d, s[:3])",
    "sliding_window_view": "np.lib.stride_tricks.sliding_window_view(x, 2, axis=1)",
    "arccos arcsin arctanh log log10 log2 sqrt": "np.emath.{}(d)",
    "logn": "np.emath.logn(2, d)",
    "power": "np.emath.power(-d, 0.5)",
    "isin": "np.isin(x, y)",
}


def texts(key, func):
    """Calls of a function: of the cases of the main namespace the first two; None where there are none to make."""
    module, _, name = key.rpartition(".")
    if module in ("numpy.lib.recfunctions", "numpy.char", "numpy.strings"):  # of dtypes that treadle has not
        return None
    for table in (ELSEWHERE, numpy_cases.ROWS if module == "numpy" else {}):
        for names, row in table.items():
            if name in names.split() and (table is not ELSEWHERE or row is None or module != "numpy" or f"np.{name}(" in row or "np.{}(" in row):
                if row is None:
                    return None
                found = [t.strip() for t in row.split(" | ")][:3]
                known = [t.replace("{}", name) for t in found]
                return [t if "{}" in f or re.search(rf"\b{name}\b", t) else f"np.{name}({t})" for f, t in zip(found, known, strict=True)]
    raise LookupError(f"{key} has no case")


def space(a, tmp):
    rng = np.random.default_rng(3)
    at = {"x": rng.integers(-8, 9, (3, 4)) / 4, "y": rng.integers(-8, 9, (3, 4)) / 4, "v": rng.integers(0, 5, 4), "m": rng.integers(0, 5, (3, 3)) / 2,
          "k": rng.integers(0, 5, (4, 3)) / 2, "i": np.array([2, 0, 1]), "b": rng.integers(0, 2, (3, 4)) > 0, "q": np.array([True, False, True, True]),
          "s": np.array([0.5, 1.0, 2.25, 4.0]), "d": rng.integers(-3, 3, (3, 3)) / 4 + 3 * np.eye(3)}  # fmt: skip
    return {"np": np, "path": str(tmp / "file"), **{k: a(v) for k, v in at.items()}}


@pytest.mark.parametrize("key", sorted(FUNCTIONS))
def test_function(key, tmp_path):
    found = texts(key, FUNCTIONS[key])
    for text in found or ():
        try:
            theirs = eval(text, space(np.array, tmp_path))
        except Exception:
            continue  # what NumPy refuses is looked at with the names themselves
        same(eval(text, space(td.array, tmp_path)), theirs, text)
