"""Small work on a CPU runs at once: the same values as recorded, for every row of the tables, and NumPy's order of things."""

import gc
import pathlib
import re

import numpy as np
import pytest
from numpy_side import ULP, check, far_apart

import treadle as td
from treadle import _core

ROWS = _core.ufuncs()
REDUCTIONS = [n for n in _core.reductions() if n in vars(td)]
CHARS = "?bBhHiIlLefdFD"
# Begins of the names of rows that call functions of libm: those of real numbers; of complex ones most do.
LIBM = tuple("exp log sin cos tan arc hyp erf gamma lgamma sig soft silu gelu logit xlogy pow cbrt".split())


@pytest.fixture(autouse=True)
def cpu():
    with td.device("cpu"):
        yield


@pytest.fixture
def both(monkeypatch):
    """both(f, ...): its results at once and recorded, by NumPy; an exception counts by its type and text."""

    def outcome(f, args, more):
        try:
            r = f(*args, **more)
        except (TypeError, ValueError, IndexError, OverflowError) as e:
            return type(e), str(e)
        return r.get() if isinstance(r, td._core.ndarray) else r

    def run(f, *args, **more):
        monkeypatch.setattr(td.config, "eager", 2048)
        now = outcome(f, args, more)
        monkeypatch.setattr(td.config, "eager", 0)
        return now, outcome(f, args, more)

    return run


def special(dtype):
    """Every pair of these is met."""
    if dtype.kind == "b":
        return np.array([False, True])
    if dtype.kind in "iu":
        i = np.iinfo(dtype)
        return np.unique(np.array([i.min, i.max, 0, 1, 2, 3, 7, i.max // 2], dtype))
    x = np.array([0.0, -0.0, 1, -1, 0.5, 2.5, -3.25, 7, np.inf, -np.inf, np.nan, 1e-4, 6e4], "float64")
    with np.errstate(all="ignore"):
        return (x[:, None] + 1j * x[None, ::3]).ravel().astype(dtype) if dtype.kind == "c" else x.astype(dtype)


def same(pair, libm, context):
    now, recorded = pair
    if isinstance(now, tuple) or isinstance(recorded, tuple):
        assert now == recorded, context
        return
    assert now.dtype == recorded.dtype and now.shape == recorded.shape and now.strides == recorded.strides, context
    if now.dtype.kind == "c" or (libm and now.dtype.kind == "f"):
        with np.errstate(all="ignore"):
            far = far_apart(now, recorded, ULP[str(now.dtype)])
        assert not far.any(), (context, now[far], recorded[far])
    else:
        np.testing.assert_array_equal(now, recorded, err_msg=str(context))
        if now.dtype.kind == "f":
            fine = ~np.isnan(now)
            assert (np.signbit(now[fine]) == np.signbit(recorded[fine])).all(), context


@pytest.mark.parametrize("name", ROWS)
def test_rows(name, both):
    row, libm = ROWS[name], name.startswith(LIBM)
    for c in CHARS:
        x = special(np.dtype(c))
        args = [td.asarray(np.broadcast_to(x.reshape([-1 if i == k else 1 for i in range(row.nin)]), (len(x),) * row.nin))
                for k in range(row.nin)]  # fmt: skip
        if row.nin > 2:
            args = [a[:5, :5, :5] for a in args]
        if name == "select":
            args[0] = args[0] == 1
        td.evaluate(*args)
        with np.errstate(all="ignore"):
            libm |= c in "FD"
            same(both(row, *args), libm, (name, c))
            same(both(row, *(a.T[::2] for a in args)), libm, (name, c, "steps"))
            same(both(row, *(a.ravel()[-2] for a in args)), libm, (name, c, "numbers"))


@pytest.mark.parametrize("to", CHARS)
def test_casts(to, both):
    for c in CHARS:
        x = td.asarray(special(np.dtype(c)))
        x = x.real if c in "FD" and to not in "FD" else x
        td.evaluate(x)
        same(both(x.astype, to), False, (c, to))


@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions(name, both, rng):
    f = getattr(td, name)
    for c in CHARS:
        for shape in ((), (1,), (63,), (64,), (65,), (200,), (3, 4), (70, 5), (5, 70), (2, 3, 4), (4, 1, 6)):
            a = rng.integers(0, 3, shape).astype(c)
            if c in "efd" and a.size > 2 and rng.random() < 0.3:
                a.flat[1] = np.nan
            for x in (td.asarray(a), td.asarray(a).T, td.asarray(a)[..., ::-2] if a.ndim else td.asarray(a)):
                for axis in (None, 0, -1)[: 3 if a.ndim else 1]:
                    same(both(f, x, axis=axis), True, (name, c, shape, axis))


def test_reductions_of_nothing(both):
    for name in REDUCTIONS:
        now, recorded = both(getattr(td, name), td.zeros((0, 3)), axis=0)
        assert str(now) == str(recorded), name


def test_products_by_numpy(rng):
    for c in "ilILfdhFD":
        for m, k, n in ((1, 1, 1), (2, 3, 4), (7, 7, 7), (1, 60, 1), (20, 5, 3), (5, 0, 2), (40, 40, 40)):
            a, b = (rng.integers(0, 9, s).astype(c) for s in ((m, k), (k, n)))
            x, y = td.asarray(a), td.asarray(b)
            for p, q in ((x, y), (x[0], y), (x, y[:, 0]), (x[0], y[:, 0])):
                check(p @ q, p.get() @ q.get(), context=(c, m, k, n))
            check(y.T @ x.T, b.T @ a.T), check(td.dot(x[::-1], y), a[::-1] @ b)
    with pytest.raises(ValueError):
        td.ones(3) @ td.ones(4)


# ---- elements ----


def test_elements_are_numbers_of_their_own():
    a = np.arange(12.0).reshape(3, 4)
    x = td.asarray(a)
    e = x[1, 2]
    assert isinstance(e, td._core.ndarray) and e.shape == () and e.dtype == "float64" and float(e) == 6 and e.item() == 6
    x[1, 2] = -1
    assert float(e) == 6 and float(x[1, 2]) == -1
    f = e
    e += 1
    assert f is not e and float(f) == 6 and float(e) == 7  # as NumPy's scalars
    f = e
    e[...] = 3
    assert float(f) == 3 and e.tolist() == 3 and int(e) == 3 and bool(e) and f"{e:.1f}" == "3.0"
    view = e.reshape(1)
    view[0] = 9
    assert float(e) == 9, "a view writes through"
    assert e.nbytes == 8 and np.asarray(e) == 9 and e.get().shape == () and e.sum() == 9 and (e[None] == 9).all()
    assert (x[0, 1] + x[0, 2] * 2 - 1).tolist() == a[0, 1] + a[0, 2] * 2 - 1
    for key in ((3, 0), (0, -5), (0, 1, 2)):
        with pytest.raises(IndexError):
            x[key]
    assert x[-1, -4].tolist() == 8 and x[True].shape == (1, 3, 4) and x[()].shape == (3, 4)


@pytest.mark.parametrize("c", CHARS)
def test_elements_of_all_dtypes(c):
    a = special(np.dtype(c))
    x = td.asarray(a)
    for i in range(-len(a), len(a)):
        np.testing.assert_array_equal(x[i].get(), a[i])
        assert x[i].dtype == a.dtype
    y, b = td.zeros_like(x), np.zeros_like(a)
    for i in range(len(a)):
        y[i], b[i] = x[-1 - i], a[-1 - i]
    np.testing.assert_array_equal(y.get(), b)
    with pytest.raises((OverflowError, TypeError, ValueError)) if c in "bB" else np.errstate():
        y[0] = 300
        b[0] = 300


def test_numbers_promote_as_arrays_do():
    for c in CHARS:
        for d in CHARS:
            x, y = td.asarray(np.ones(2, c))[0], td.asarray(np.ones(2, d))[0]
            assert (x + y).dtype == np.promote_types(c, d) and (x < y).dtype == bool
        for number in (True, 1, 1.5, 1j):
            assert (x * number).dtype == (np.ones(2, c)[:1] * number).dtype, (c, number)
            assert (number * x).dtype == (number * np.ones(2, c)[:1]).dtype
    with pytest.raises(OverflowError):
        td.asarray(np.ones(2, "b"))[0] + 300


def test_a_recording_sees_numbers_change():
    x = td.asarray([1.0, 2.0])
    scale = x[1]

    @td.graph
    def f(a):
        return a * scale

    assert f(x).tolist() == [2, 4]
    scale[...] = 5
    assert f(x).tolist() == [5, 10]


# ---- places ----


def test_writing_in_the_order_of_the_program():
    a, x = np.arange(40.0), td.arange(40.0)
    td.evaluate(x)
    for lib, v in ((np, a), (td, x)):
        w = v[::-1]
        v[1:] = v[:-1]  # overlapping
        v[5:15] += w[3:13]
        u = v * 2
        v[:3] = lib.asarray([7.0, 8.0, 9.0])
        v[u > 40] = -1
        v[v == -1] = u[v == -1]
        v[lib.asarray([1, 1, -1])] = lib.asarray([5.0, 6.0, 4.0])
        v[2:4] = 0
        w[0] = v[4]
    np.testing.assert_array_equal(x.get(), a)


def test_picked_by_numpy(rng):
    for _ in range(60):
        a = rng.integers(0, 9, tuple(rng.integers(1, 7, rng.integers(1, 3)))).astype(rng.choice(list("bfdD?l")))
        x, mask = td.asarray(a), rng.random(a.shape) < 0.5
        k = rng.integers(-a.shape[0], a.shape[0], rng.integers(0, 9)).astype(rng.choice(list("bil")))
        check(x[td.asarray(mask)], a[mask]), check(x[td.asarray(k)], a[k]), check(x.T[..., td.asarray(k)], a.T[..., k])
        values = rng.integers(0, 9, (len(k), *a.shape[1:])).astype("f")
        b, y = a.copy(), td.asarray(a.copy())
        if a.dtype.kind != "D":
            b[k], y[td.asarray(k)] = values, td.asarray(values)
            b[mask], y[td.asarray(mask)] = 1, 1
        check(y, b)
    with pytest.raises(IndexError, match="4"):
        td.arange(4)[td.asarray([1, 4])]
    with pytest.raises(ValueError):
        td.zeros(3)[td.asarray([0, 1])] = td.ones(3)


def test_random_programs(both):
    """Programs of small arrays that read, write, share and slice: at once, recorded and by NumPy."""
    fresh = np.random.default_rng()
    for _ in range(150):
        seed, steps = int(fresh.integers(1 << 30)), []

        def program(lib, seed, steps):
            r = np.random.default_rng(seed)
            n = int(r.integers(1, 9))
            v = [lib.asarray(r.integers(-4, 5, (n, n)).astype(r.choice(list("fdli")))) for _ in range(3)]
            steps.clear()
            for _ in range(14):
                i, j, k = (int(t) for t in r.integers(0, 3, 3))
                p, q = (int(t) for t in r.integers(0, n, 2))
                op = int(r.integers(0, 10))
                steps.append((op, i, j, k, p, q))
                if op == 0:
                    v[i] = v[j] + v[k]
                elif op == 1:
                    v[i][p] = np.copy(v[j][q]) if lib is np else v[j][q]  # NumPy mixes up a row and a column that cross
                elif op == 2:
                    v[i][p, q] = v[j][q, p] * 2
                elif op == 3:
                    v[i] = v[j].T
                elif op == 4:
                    v[i][p:] = v[j].max()
                elif op == 5:
                    v[i][:, q] = v[j][p] - v[k][:, q]
                elif op == 6:
                    v[i] = lib.where(v[j] > v[k], v[j], v[k] - 1)
                elif op == 7:
                    v[i] = v[i] - (v[i] // 3)
                elif op == 8:
                    v[i] = v[j][::-1] * (v[k].sum(axis=0) % 7)
                else:
                    v[i] = v[i] % 100
            return lib.concatenate([x.astype("d").ravel() for x in v])

        with np.errstate(all="ignore"):
            wanted = program(np, seed, steps)
            for got in both(program, td, seed, steps):
                np.testing.assert_allclose(got, wanted, rtol=1e-6, err_msg=f"seed {seed}: {steps}")


def test_threads_write_their_own(monkeypatch):
    import threading

    monkeypatch.setattr(td.config, "eager", 2048)
    x, failed = td.zeros((8, 50)), []

    def work(t):
        try:
            for i in range(300):
                x[t] = x[t] + 1
                x[t, i % 50] -= 1
        except Exception as e:  # noqa: BLE001 - told below
            failed.append(e)

    threads = [threading.Thread(target=work, args=(t,)) for t in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not failed and (x == 300 - 6).all()


def test_memory_goes_back(grown, monkeypatch):
    monkeypatch.setattr(td.config, "eager", 2048)
    x = td.ones((10, 10))

    def body():
        for _ in range(20000):
            y = x + x[0, 0]
            y[1] = x.sum(axis=0)
            _ = y @ x[0]
        gc.collect()

    body()
    grown(body, 2 << 20)


def test_nothing_is_compiled(monkeypatch):
    monkeypatch.setattr(td.config, "eager", 2048)
    before = _core.jit_stats()
    x = td.ones((9, 9)) * 3 + 1
    x[2] = x.mean(axis=0) - x[:, 1] @ x
    x[x > 3] = td.sqrt(x[x > 3])
    assert x.argmax() >= 0
    assert all(_core.jit_stats()[k] == before[k] for k in ("compiled", "loaded", "launches"))


# Calls of functions that are composed of others, and that NumPy computes over few elements.
COMPOSED = {
    "append": "x, y", "argpartition": "x, 2", "argsort": "x", "argwhere": "x.reshape(2, 3) > -9", "bincount": "i", "block": "[[x, y], [y, x]]",
    "choose": "i % 2, [x, y]", "column_stack": "[x, y]", "compress": "x > 0, x", "concatenate": "[x, y]", "convolve": "x, y",
    "correlate": "x, y", "cross": "x[:3], y[:3]", "delete": "x, 2", "diff": "x", "digitize": "x, np.sort(y)", "dstack": "[x, y]",
    "ediff1d": "x", "einsum": "'i,j->ij', x, y", "extract": "x > 0, x", "flatnonzero": "x > 0", "gradient": "x",
    "hstack": "[x, y]", "inner": "x, y", "insert": "x, 2, y[:1]", "interp": "x, np.sort(y), x", "intersect1d": "i, i[2:]",
    "lexsort": "(x, i)", "median": "x", "nonzero": "x > 0", "pad": "x, 2", "partition": "x, 2", "percentile": "x, 30",
    "poly": "x", "polyadd": "x, y", "polyder": "x", "polyfit": "x, y, 2", "polyint": "x", "polymul": "x, y",
    "polysub": "x, y", "polyval": "x, y", "quantile": "x, 0.3", "repeat": "x, 3", "roll": "x, 2", "roots": "x",
    "searchsorted": "np.sort(x), y", "setdiff1d": "i, i[2:]", "setxor1d": "i, i[2:]", "sort": "x", "sort_complex": "x",
    "stack": "[x, y]", "take": "x, i % 3", "take_along_axis": "x, i % 3, 0", "tensordot": "x, y, 0", "tile": "x, 3",
    "trace": "x.reshape(2, 3)", "trapezoid": "x", "union1d": "i, i[2:]", "unique": "i", "vander": "x", "vstack": "[x, y]",
}  # fmt: skip


def test_every_composed_function_has_a_call():
    package = pathlib.Path(td.__file__).parent
    decorated = [re.findall(r"(?<!@_)few\(numpy\.(\w+)", f.read_text()) for f in package.rglob("*.py")]
    assert {name for names in decorated for name in names} == set(COMPOSED)


@pytest.mark.parametrize("name", COMPOSED)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_composed_functions(name, dtype, both):
    """What NumPy computes for treadle is what treadle computes itself: type, layout and values."""
    x, y = np.random.default_rng(len(name)).standard_normal((2, 6)).astype(dtype)
    i = np.array([3, 0, 1, 3, 5, 2])
    args = eval(f"({COMPOSED[name]},)", {"np": np, "x": x, "y": y, "i": i})
    ours = eval(f"({COMPOSED[name]},)", {"np": td, "x": td.asarray(x), "y": td.asarray(y), "i": td.asarray(i)})
    assert _core._few(getattr(np, name), ours, {}, 1) is not NotImplemented
    now, recorded = both(getattr(td, name), *ours)
    want = getattr(np, name)(*args)
    for got in (now, recorded):
        parts = zip(got, want, strict=True) if isinstance(want, tuple) else [(got, want)]
        for r, w in parts:
            r, w = (a.get() if isinstance(a, td._core.ndarray) else a for a in (r, np.asarray(w)))
            steps = [[s for s, n in zip(a.strides, a.shape, strict=True) if n > 1] for a in (r, w) if a.size]
            assert (r.dtype, r.shape, steps[:1]) == (w.dtype, w.shape, steps[1:])
            np.testing.assert_allclose(r, w, rtol=4e-5 if dtype == "float32" else 1e-12, atol=1e-12)


def test_composed_functions_at_the_border(monkeypatch):
    """Results that share memory, errors, out=, several devices and pending operands are treadle's own."""
    monkeypatch.setattr(td.config, "eager", 2048)
    x = td.arange(6.0)
    shown = td.einsum("ij->ji", x.reshape(2, 3))
    x[0] = 7.0
    assert shown[0, 0] == 7.0  # a view, as NumPy's
    out = td.empty(12)
    assert td.concatenate([x, x], out=out) is out
    with pytest.raises(ValueError, match=r"concatenate: arrays 0 and 1 of shapes \(6,\) and \(1, 6\) differ"):
        td.concatenate([x, x[None]])
    half = td.median(x, overwrite_input=True)
    assert float(half) == 3.5 and x.tolist() == [7.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    big = td.arange(100_000.0)
    assert _core._few(np.sort, (big,), {}, 16) is NotImplemented
    assert _core._few(np.sort, (big + 1,), {}, 10**6) is NotImplemented

    def interrupted(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        _core._few(interrupted, (x,), {}, 16)


@pytest.mark.parametrize("make", [
    lambda m, a: m.repeat(a, 20_000),
    lambda m, a: m.tile(a, (200, 100)),
    lambda m, a: m.pad(a, 50_000, mode="wrap"),
    lambda m, a: m.tensordot(a, m.repeat(a, 200), 0),
    lambda m, a: m.vander(m.repeat(a, 30)),
])  # fmt: skip
def test_many_elements_of_few(make):
    """NumPy's own memory becomes the result's: it can be written, read by kernels, kept and freed."""
    n = np.arange(1.0, 6.0)
    want = make(np, n)
    a = td.asarray(n, device="cpu")
    r = make(td, a)
    s = r * 2 + 1
    r[..., 0] = -1
    assert type(r) is td.ndarray and r.flags.writeable
    assert np.array_equal(s.get(), want * 2 + 1)
    want[..., 0] = -1
    del a
    assert np.array_equal(r.get(), want)
    view = r[..., 1:]
    del r
    gc.collect()
    assert np.array_equal(view.get(), want[..., 1:])
