"""treadle.vmap and treadle.map: against the loop over the items whose results are stacked."""

import collections
import inspect
import pickle
import subprocess
import sys
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import treadle as td
from treadle._vmap._array import Unbatched

Pair = collections.namedtuple("Pair", "first second")


@pytest.fixture(autouse=True)
def strict():
    """What runs item by item is an error unless a test says otherwise."""
    td.fallbacks(clear=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error", td.PerformanceWarning)
        yield


def random(*shape, seed=0):
    return td.array(np.random.default_rng(seed).standard_normal(shape))


X, Y, V, W = random(5, 3, 4), random(5, 4, 2, seed=1), random(5, 4, seed=2), random(4, 4, seed=3)


def looped(f, args, in_axes=0):
    axes = in_axes if isinstance(in_axes, tuple) else (in_axes,) * len(args)
    n = next(a.shape[k] for a, k in zip(args, axes) if k is not None)
    return [f(*(a if k is None else np.moveaxis(a, k, 0)[i] for a, k in zip(args, axes))) for i in range(n)]


def check(f, *args, in_axes=0):
    """vmap(f) and the loop: the same values, shapes and dtypes."""
    r, each = td.vmap(f, in_axes)(*args), looped(f, args, in_axes)
    several = isinstance(r, tuple)
    for k, one in enumerate(r if several else (r,)):
        theirs = np.stack([np.asarray(e[k] if several else e) for e in each])
        assert isinstance(one, td._core.ndarray) and one.shape == theirs.shape and one.dtype == theirs.dtype
        np.testing.assert_allclose(one.get(), theirs, rtol=1e-9, atol=1e-12)


def written(x):
    r = td.zeros((2, 3))
    r[0] = x[0, :3]
    r[1, ::2] += x[1, 1:3]
    r += 1
    return r


PROGRAMS = {
    "elements": lambda x, v, w: td.sin(x) * 2 + v / 3,
    "reductions": lambda x, v, w: x.sum() + x.mean(0) - v.max(),
    "softmax": lambda x, v, w: td.exp(x - x.max(-1, keepdims=True)) / td.exp(x - x.max(-1, keepdims=True)).sum(-1, keepdims=True),
    "products": lambda x, v, w: (x @ v, x @ w, w @ v, v @ w, v @ v, w @ x.T),
    "solve": lambda x, v, w: (td.linalg.solve(w, v), td.linalg.solve(w, x.T), td.linalg.inv(x @ x.T + td.eye(3))),
    "numpy's functions": lambda x, v, w: np.concatenate([np.cumsum(x, 0), v[None]]) + np.linalg.norm(v),
    "shapes": lambda x, v, w: td.stack([x.T.reshape(-1), td.tile(v, 3)]),
    "writing": lambda x, v, w: written(x),
    "iteration": lambda x, v, w: sum(row * row[0] for row in x),
    "where": lambda x, v, w: td.where(x > 0, x, v),
    "sorting": lambda x, v, w: (td.sort(x, 0), td.argsort(v), td.take_along_axis(x, td.argsort(x, 1), 1)),
    "einsum": lambda x, v, w: (td.einsum("ij,j", x, v), td.einsum("ij,kj->ik", x, x)),
    "constants": lambda x, v, w: (1.5, td.arange(3), x.shape[0]),
    "types": lambda x, v, w: (x.astype("float32") * 2, x > 0, td.asarray(v), isinstance(x, td._core.ndarray)),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name, dev):
    check(PROGRAMS[name], *(td.asarray(a.get()) for a in (X, V, W)), in_axes=(0, 0, None))


def test_another_device_than_the_default():
    a, w, i = (td.asarray(x.get(), device="null") for x in (X, W, td.array([2, 0, 1, 1, 2])))
    host = W.get()

    def f(x, k):
        return td.matmul(x, host) + td.sort(x, 0) @ w + td.concatenate([x[k][None], x[:2]]) - host[0, 1]

    r = td.vmap(f)(a, i)
    assert r.device == td.device("null")
    np.testing.assert_allclose(r.get(), np.stack([f(x, k).get() for x, k in zip(a, i)]), rtol=1e-9)


def test_axes():
    check(lambda x: x * 2, V, in_axes=1)
    check(lambda x, w: x @ w, V, W, in_axes=(0, None))
    check(lambda x, w: x @ w, X, random(4, 2, 5), in_axes=(0, 2))
    check(lambda x, w: x @ w.T, X, random(2, 5, 4), in_axes=(0, -2))
    out = td.vmap(lambda x, w: (x @ w, x[0]), (0, None), (1, -1))(X, W)
    assert out[0].shape == (3, 5, 4) and out[1].shape == (4, 5)
    np.testing.assert_allclose(out[0].get(), np.moveaxis((X @ W).get(), 0, 1))
    assert td.vmap(lambda x, w: (x, w.sum()), (0, None), (0, None))(X, W)[1].ndim == 0


def test_trees():
    f = td.vmap(lambda p, q: {"sum": p["a"] + p["b"][0], "pair": Pair(q * 2, None)}, in_axes=({"a": 0, "b": 1}, None))
    r = f({"a": V, "b": (V.T,)}, 3.0)
    np.testing.assert_allclose(r["sum"].get(), 2 * V.get())
    assert type(r["pair"]) is Pair and r["pair"].first.shape == (5,) and r["pair"].second is None
    np.testing.assert_allclose(td.vmap(lambda x, scale: x * scale, (0,))(V, scale=td.arange(5.0)).get(), V.get() * np.arange(5)[:, None])


def test_nested():
    check(lambda x: td.vmap(lambda row: row / row.sum())(x), X)
    check(lambda x, v: td.vmap(lambda row: row @ v + x.sum())(x), X, V)
    check(lambda x: td.vmap(lambda a: td.vmap(lambda b: a * b)(x[0]))(x[:, 0]), X)
    check(lambda x, v: td.vmap(lambda row, k: W[k] + row.mean(), (0, None))(x, 2), X, V)

    def inner(row):
        r = td.zeros(2)
        r[0], r[1] = row.sum(), row[0]
        return r

    check(lambda x: td.vmap(inner)(x), X)
    pairs = td.vmap(td.vmap(lambda a, b: (a - b) ** 2, (0, None)), (None, 0))(td.arange(3.0), td.arange(4.0))
    np.testing.assert_array_equal(pairs.get(), (np.arange(3.0)[None] - np.arange(4.0)[:, None]) ** 2)


def test_index_by_batched():
    i = td.array([2, 0, 1, 1, 2])
    for f in (
        lambda x, k: x[k], lambda x, k: x[:, k], lambda x, k: x[k, 1:3], lambda x, k: x[1:, None, k], lambda x, k: W[k],
        lambda x, k: W[1:, k], lambda x, k: x[k, :, None][..., 0], lambda x, k: td.take(W, k, 1), lambda x, k: x[[0, 1], k],
        lambda x, k: x[td.stack([k, k * 0])], lambda x, k: x[:, td.stack([k, k * 0])], lambda x, k: td.where(k > 1, x, 0),
    ):  # fmt: skip
        check(f, X, i)
    for f in (
        lambda x, k: x[:, -1, ..., k], lambda x, k: x[:, k, ..., k], lambda x, k: x[k, ..., 1], lambda x, k: x[0, ..., k],
    ):  # fmt: skip
        check(lambda x, k, f=f: f(td.stack([x, x + 1, -x]), td.stack([k, k * 0])), X, i)

    def write(x, k):
        r = x.copy()
        r[k] = 7
        r[:, k] += r[0, k]
        return r

    check(write, X, i)


ITEMS = st.sampled_from([0, -1, slice(None), slice(1, None), slice(None, None, -2), None, Ellipsis, [0, 2], [[1], [0]], np.array([2, 1])])


@settings(max_examples=60, deadline=None)
@given(st.lists(ITEMS, max_size=4), st.booleans())
def test_subscripts(items, write):
    key = tuple(items)
    host = np.random.default_rng(0).standard_normal((3, 3, 3, 3))
    try:
        theirs = np.stack([h[key] for h in host])
    except (IndexError, ValueError):
        with pytest.raises((IndexError, ValueError)):
            td.vmap(lambda x: x[key])(td.array(host))
        return
    a = td.array(host)
    if not write:
        np.testing.assert_array_equal(td.vmap(lambda x: x[key])(a).get(), theirs)
        return

    def f(x, value):
        r = x * 1
        r[key] = value
        return r

    values = np.arange(theirs.size, dtype=float).reshape(theirs.shape)
    expected = host * 1
    for h, value in zip(expected, values):
        h[key] = value
    if len({str(i) for i in items if isinstance(i, list)}) < 2:  # no place is written twice
        np.testing.assert_array_equal(td.vmap(f)(a, td.array(values)).get(), expected)


def test_inputs_are_views_as_in_a_loop():
    a = td.ones((2, 3))
    td.vmap(lambda x: x.__setitem__(0, 5.0) or x)(a)
    np.testing.assert_array_equal(a.get(), [[5, 1, 1], [5, 1, 1]])
    b = td.ones(3)

    def f(x):
        x += 1  # an item without axes is no view
        return x

    assert td.vmap(f)(b).tolist() == [2, 2, 2] and b.tolist() == [1, 1, 1]


def test_what_was_written_before_it_runs_item_by_item():
    """The function begins anew with the arguments as they were."""

    def f(x, y):
        x += 1
        y[0] *= 2
        return x if x.sum() > 5 else x * y

    a, b = td.ones((2, 3)), td.ones((3, 2))
    with pytest.warns(td.PerformanceWarning):
        r = td.vmap(f, (0, 1))(a, b)
    assert a.tolist() == [[2, 2, 2]] * 2 and b.tolist() == [[2, 2], [1, 1], [1, 1]] and r.tolist() == a.tolist()
    with pytest.raises(Unbatched):
        td._vmap._vmap.batched(f, (0, 1), loop=False)(a, b)
    assert a.tolist() == [[2, 2, 2]] * 2 and b.tolist() == [[2, 2], [1, 1], [1, 1]]
    c = td.ones((2, 2, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        td.vmap(td.vmap(lambda x: x.__iadd__(1) if x.sum() > 100 else x.__iadd__(2)))(c)
    assert (c == 3).all()


def test_errors():
    with pytest.raises(ValueError, match="different sizes: 5 .* 4"):
        td.vmap(lambda x, y: x)(V, W)
    with pytest.raises(ValueError, match="no argument is mapped"):
        td.vmap(lambda x: x, None)(V)
    with pytest.raises(ValueError, match="axis 2 for an argument of shape"):
        td.vmap(lambda x: x, 2)(V)
    with pytest.raises(ValueError, match="2 entries for 1"):
        td.vmap(lambda x: x, (0, 0))(V)
    with pytest.raises(ValueError, match="out_axes is None"):
        td.vmap(lambda x: x, 0, None)(V)
    with pytest.raises(TypeError, match="not a function"):
        td.vmap(3)
    with warnings.catch_warnings():  # an item says what is wrong, in its own shapes
        warnings.simplefilter("ignore")
        with pytest.raises(ValueError, match=r"\(3, 4\)|sizes 4 and 3"):
            td.vmap(lambda x: x @ td.ones((3, 3)))(X)
        with pytest.raises(ZeroDivisionError):
            td.vmap(lambda x: 1 // 0)(X)
        with pytest.raises(ValueError, match="shape"):
            td.vmap(lambda x: x[x > 0])(X)


def test_item_by_item():
    def branches(x):
        if x.sum() > 0:
            return x
        return -x

    with pytest.warns(td.PerformanceWarning, match=r"vmap of branches runs item by item: .*test_vmap.py:\d+: the truth value"):
        r = td.vmap(branches)(V)
    np.testing.assert_allclose(r.get(), np.stack([v if v.sum() > 0 else -v for v in V.get()]))
    (row,) = [row for row in td.fallbacks() if row[0] == "vmap of branches"]
    assert row[2] == 1 and row[3] == V.nbytes
    with pytest.raises(Unbatched, match="truth value"):
        td._vmap._vmap.batched(branches, loop=False)(V)

    class Error(Exception):
        pass

    def raises(x):
        if float(x) > 1:
            raise Error(float(x))
        return x

    with pytest.raises(Error, match="2.0"):
        td.vmap(raises)(td.arange(4.0))
    with pytest.warns(td.PerformanceWarning, match="vmap of histogram runs item by item"):
        r = td.vmap(lambda x: td.histogram(x, 3, (-1, 1))[0])(V)
    np.testing.assert_array_equal(r.get(), [np.histogram(v, 3, (-1, 1))[0] for v in V.get()])


def test_no_items():
    assert td.vmap(lambda x: x @ W)(td.zeros((0, 3, 4))).shape == (0, 3, 4)
    assert td.map(lambda x: x.sum(0), td.zeros((0, 3, 4))).shape == (0, 4)
    with pytest.raises(Unbatched):
        td.vmap(lambda x: x if x.sum() else -x)(td.zeros((0, 3)))


def test_randomness():
    def noisy(x, scale=1.0):
        return x + td.random.normal(0, scale, size=3)

    with pytest.raises(RuntimeError, match="randomness="):
        td.vmap(noisy)(td.zeros(4))
    different = td.vmap(noisy, randomness="different")(td.zeros(4)).get()
    assert different.shape == (4, 3) and len(np.unique(different)) == 12
    same = td.vmap(noisy, randomness="same")(td.zeros(4)).get()
    assert (same == same[0]).all() and len(np.unique(same)) == 3
    r = td.vmap(noisy, randomness="different")(td.zeros(4), scale=td.array([0.0, 0, 1, 1])).get()
    assert (r[:2] == 0).all() and (r[2:] != 0).all()
    nested = td.vmap(td.vmap(noisy, randomness="different"), randomness="different")(td.zeros((2, 4))).get()
    assert len(np.unique(nested)) == 24
    g = td.random.default_rng(1)
    each = td.vmap(lambda x: x + g.integers(0, 1000, 5), randomness="different")(td.zeros(3)).get()
    assert each.shape == (3, 5) and len(np.unique(each)) > 5
    with pytest.raises(ValueError, match="randomness is one of"):
        td.vmap(noisy, randomness="other")
    with pytest.raises(RuntimeError, match="item by item"):
        td.vmap(lambda x: x if td.random.random() + x > 0 else -x, randomness="same")(td.zeros(2))


IMPORTED_BEFORE = """
import sys, types, warnings
import treadle as td
from treadle import concatenate, sum, where, zeros
from treadle.fft import fft
from treadle.linalg import norm

helper = types.ModuleType("helper")
sys.modules["helper"] = helper
exec("from treadle import stack\\ndef twice(x): return stack([x, x])", vars(helper))

def inner():
    from treadle import mean
    return lambda x: mean(x) + x

class Kept:
    where = staticmethod(where)

warnings.simplefilter("error", td.PerformanceWarning)
x = td.arange(6.0).reshape(3, 2)
for f in (
    lambda x: where(x > 1, x, 0) + zeros(2),
    lambda x: sum(x) + norm(x) + fft(x).real,
    lambda x: concatenate([x, x]),
    helper.twice,
    inner(),
    eval("lambda x: total(x)", {"total": sum}),
    lambda x, where=where: where(x > 1, x, 0),
    lambda x: Kept.where(x > 1, x, 0),
):
    assert td.vmap(f)(x).tolist() == [f(row).tolist() for row in x]
"""


def test_names_imported_before():
    """Functions that were imported by name before the program's first vmap ask, too."""
    subprocess.run([sys.executable, "-c", IMPORTED_BEFORE], check=True)


# ---- map ----


def test_map_of_numbers():
    def escape(re, im):
        z, c = 0j, complex(re, im)
        for n in range(50):
            if abs(z) > 2:
                return n
            z = z * z + c
        return 50

    re, im = td.linspace(-2, 1, 20), td.linspace(-1, 1, 20)
    r = td.map(escape, re, im)
    assert r.dtype == "int64" and r.tolist() == [escape(a, b) for a, b in zip(re.tolist(), im.tolist())]
    assert td.map(lambda x: x * x, [1, 2, 3]).tolist() == [1, 4, 9]
    k = 2
    scaled = lambda x: x * k  # noqa: E731
    assert td.map(scaled, td.arange(3)).tolist() == [0, 2, 4]
    k = 5
    assert td.map(scaled, td.arange(3)).tolist() == [0, 5, 10]


def test_map_of_rows():
    np.testing.assert_allclose(td.map(lambda x, v: x @ v, X, V).get(), np.einsum("nij,nj->ni", X.get(), V.get()))
    assert td.map(lambda row: row.sum(), td.ones((3, 4))).tolist() == [4, 4, 4]
    r = td.map(lambda x: x if x > 0 else -x, V)  # a function of numbers, of every element
    np.testing.assert_array_equal(r.get(), np.abs(V.get()))
    with pytest.warns(td.PerformanceWarning, match="runs item by item"):
        r = td.map(lambda row: row * (2 if row.sum() > 0 else 3) + len(str(row.get())) * 0, V)
    assert r.shape == V.shape
    with pytest.raises(ValueError, match="first axes differ"):
        td.map(lambda a, b: a, td.ones(3), td.ones(4))
    with pytest.raises(TypeError, match="one array at least"):
        td.map(lambda: 1)


def test_functions_are_pickled_by_name():
    """The first vmap replaces them; a process that has not mapped yet gets its own."""
    td.vmap(lambda x: x + 1)(td.arange(3.0))
    for module in (td, td.linalg, td.fft):
        names = [n for n in dir(module) if n[0] != "_" and inspect.isroutine(getattr(module, n))]
        assert len(names) > 10
        lost = []
        for name in names:
            function = getattr(module, name)
            try:
                same = pickle.loads(pickle.dumps(function)) is function
            except pickle.PicklingError:
                same = False
            lost += [] if same else [name]
        assert lost == []


@pytest.mark.parametrize("call", [lambda f: f(td.dot), lambda f: f(td.inner), lambda f: f(td.linalg.vecdot)])
def test_a_function_of_the_package_that_was_mapped_itself_goes_on(call):
    a = td.asarray(np.arange(6.0).reshape(2, 3))
    td.vmap(lambda x: x + 1)(a)  # the first map replaces the package's functions
    assert call(td.vmap)(a, a).tolist() == [5, 50]
    assert call(lambda f: f)(a[0], a[0]).tolist() == 5
