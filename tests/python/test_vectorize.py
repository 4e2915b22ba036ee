"""vectorize, guvectorize, stencil and cuda.reduce beside NumPy, on NumPy's arrays and on devices."""

import functools
import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import treadle as td
from treadle import cuda, guvectorize, njit, stencil, vectorize
from treadle.types import float32, float64, int32

WHERE = [None, "cpu", "null"]  # NumPy's arrays, arrays of devices


def put(x, where):
    return x if where is None else td.asarray(x, device=where)


def got(x, where):
    if where is None:
        assert isinstance(x, np.ndarray | np.generic)
        return x
    assert isinstance(x, td._core.ndarray) and x.device == td.device(where)
    return x.get()


@vectorize
def mixed(a, b):
    return a * 2 + b


@vectorize([int32(int32, int32), float32(float32, float32), float64(float64, float64)])
def plus(a, b):
    return a + b


@vectorize(["float64(float64, float64)"], identity=1)
def times(a, b):
    return a * b


@vectorize
def minus(a, b):
    return a - b


# ---- vectorize ----

SHAPES = st.sampled_from([(), (7,), (1,), (3, 7), (3, 1), (2, 3, 7), (2, 1, 1), (0,), (3, 0)])


@given(SHAPES, SHAPES, st.booleans(), st.sampled_from(["f4", "f8", "i4", "i8"]), st.sampled_from(WHERE))
def test_operands_broadcast(one, two, turned, dtype, where):
    try:
        np.broadcast_shapes(one, two[::-1] if turned else two)
    except ValueError:
        with pytest.raises(ValueError):
            mixed(np.zeros(one), np.zeros(two[::-1] if turned else two))
        return
    a = (np.arange(math.prod(one)) % 5).astype(dtype).reshape(one)
    b = np.ascontiguousarray((np.arange(math.prod(two)) % 7).astype(dtype).reshape(two).T if turned else
                             (np.arange(math.prod(two)) % 7).astype(dtype).reshape(two))  # fmt: skip
    if where is not None and not (a.ndim and b.ndim):
        return
    r = got(mixed(put(a, where), put(b, where)), where)
    np.testing.assert_array_equal(r, a * 2 + b)
    assert r.dtype == (a * 2 + b).dtype


def test_layouts():
    x = np.arange(24.0).reshape(4, 6)
    for view in (x.T, x[::2], x[:, ::-1], np.asfortranarray(x)):
        np.testing.assert_array_equal(mixed(view, view), view * 3)


def test_signatures_choose():
    i, f, d = np.arange(3, dtype="i4"), np.arange(3, dtype="f4"), np.arange(3.0)
    assert [plus(*x).dtype.char for x in ((i, i), (f, f), (d, d), (i, f), (f, 1.5), (i, 2), (f, d))] == list("ifddfid")
    assert plus(np.int16(3), 4) == 7 and plus.types == ["ii->i", "ff->f", "dd->d"] and plus.ntypes == 3
    with pytest.raises(TypeError, match="'plus' not supported for the input types complex128"):
        plus(d + 1j, d)
    assert (plus.nin, plus.nout, plus.nargs, plus.identity, times.identity) == (2, 1, 3, None, 1)


def test_scalars_give_scalars():
    r = mixed(2, 3)
    assert r == 7 and isinstance(r, np.generic)
    assert mixed(np.float32(1), 2.5).dtype == np.float32


def test_out():
    x, out = np.arange(6.0), np.zeros(6)
    assert mixed(x, 1, out=out) is out and (out == x * 2 + 1).all()
    assert mixed(x, 1, out) is out
    small = np.zeros(6, "f4")
    mixed(x, 1, out=(small,))
    np.testing.assert_array_equal(small, out)
    mixed(x[:-1], x[1:], out=x[1:])  # what is read is what was there before
    np.testing.assert_array_equal(x, [0, 1, 4, 7, 10, 13])
    with pytest.raises(TypeError, match="cannot cast"):
        mixed(x, 1, out=np.zeros(6, int))
    with pytest.raises(ValueError, match="shape"):
        mixed(x, 1, out=np.zeros(5))


@pytest.mark.parametrize("where", WHERE)
@pytest.mark.parametrize("axis", [0, 1, -1, None])
@pytest.mark.parametrize("keep", [False, True])
def test_reduce(where, axis, keep):
    x = np.random.default_rng(1).random((5, 600))
    if axis is None and keep:
        return
    kw = {"keepdims": True} if keep else {}
    r = plus.reduce(put(x, where), axis=axis, **kw)
    np.testing.assert_allclose(got(r, where), np.add.reduce(x, axis=axis, **kw))
    r = times.reduce(put(x, where), axis=axis, initial=3.0, **kw)
    np.testing.assert_allclose(got(r, where), np.multiply.reduce(x, axis=axis, initial=3.0, **kw))


def test_reduce_goes_in_order():
    x = np.random.default_rng(1).random((4, 9))
    np.testing.assert_array_equal(minus.reduce(x, axis=1), np.subtract.reduce(x, axis=1))
    with pytest.raises(ValueError, match="no identity"):
        minus.reduce(np.zeros(0))
    assert times.reduce(np.zeros(0)) == 1
    with pytest.raises(ValueError, match="out of bounds"):
        plus.reduce(x, axis=2)


@pytest.mark.parametrize("where", WHERE)
@pytest.mark.parametrize("axis", [0, 1])
def test_accumulate(where, axis):
    x = np.random.default_rng(1).random((5, 6))
    r = plus.accumulate(put(x, where), axis=axis)
    np.testing.assert_allclose(got(r, where), np.add.accumulate(x, axis=axis))


def test_outer_and_at():
    np.testing.assert_array_equal(minus.outer([1, 2], [[3, 4, 5]]), np.subtract.outer([1, 2], [[3, 4, 5]]))
    x, y = np.zeros(4), np.zeros(4)
    plus.at(x, [0, 1, 1, 3], [1.0, 2.0, 3.0, 4.0])
    np.add.at(y, [0, 1, 1, 3], [1.0, 2.0, 3.0, 4.0])
    np.testing.assert_array_equal(x, y)


def test_targets():
    with td.device("null"):
        f = cuda.vectorize(["float32(float32)"])(lambda x: x + 1)
        r = f(np.zeros(300, "f4"))
        assert isinstance(r, np.ndarray) and (r == 1).all()
        d = f(td.zeros(3, dtype="f4"))
        assert isinstance(d, td._core.ndarray)
    assert (vectorize(["float64(float64)"], target="parallel", nopython=True)(lambda x: -x)(np.ones(3)) == -1).all()
    with pytest.raises(ValueError, match="target is"):
        vectorize(target="fpga")(lambda x: x)
    with pytest.raises(TypeError, match="not an option"):
        vectorize(nonexistent=2)(lambda x: x)


class Doubling:
    def __call__(self, x):
        return 2 * x

    def method(self, x):
        return 2 * x


# What numpy.vectorize takes and a ufunc's function cannot be, with calls of it: functions that are not Python's own,
# parameters that may be left out, names for operands, texts, several results.
ELEMENTWISE = [
    (len, (["a", "bcd"],), {}),
    (math.gcd, ([12, 18, 35], 6), {}),
    (math.floor, ([1.5, -2.5],), {}),
    (str, ([1, 2],), {}),
    (float, (["1", "2.5"],), {}),
    ({1: 10, 2: 20}.get, ([1, 2],), {}),
    (str.upper, (["a", "b"],), {}),
    (functools.partial(pow, 2), ([0, 1, 5],), {}),
    (Doubling(), ([1, 2],), {}),
    (Doubling().method, ([1, 2],), {}),
    (lambda x, y=3: x + y, ([1, 2],), {}),
    (lambda x, y=3: x + y, ([1, 2], 5), {}),
    (lambda x, y=3: x + y, ([1, 2],), {"y": 5}),
    (lambda x, y: x - y, ([1, 2],), {"y": 5}),
    (lambda x, y: x - y, (), {"y": 5, "x": [1, 2]}),
    (lambda x, *, k=1: x + k, ([1, 2],), {}),
    (lambda *a: sum(a), ([1, 2], 3), {}),
    (lambda x: (x, x + 1), ([1, 2],), {}),
    (lambda s: len(s), (["a", "bcd"],), {}),  # noqa: PLW0108 - a Python function
    (lambda s: s + "x", (np.array(["a", "bcd"]),), {}),
]


@pytest.mark.parametrize("made", [False, True], ids=["lists", "arrays"])
@pytest.mark.parametrize("case", range(len(ELEMENTWISE)))
@pytest.mark.filterwarnings("ignore:numpy.vectorize is computed by NumPy")
def test_every_callable(case, made):
    f, args, named = ELEMENTWISE[case]
    want = np.vectorize(f)(*args, **named)

    def put(v):
        return td.asarray(v, device="cpu") if made and isinstance(v, list) and not isinstance(v[0], str) else v

    got = td.vectorize(f)(*map(put, args), **{k: put(v) for k, v in named.items()})
    several = isinstance(want, tuple)
    for g, w in zip(got if several else [got], want if several else [want], strict=True):
        g = g.get() if isinstance(g, td._core.ndarray) else np.asarray(g)
        assert g.dtype == w.dtype
        np.testing.assert_array_equal(g, w)


def test_names_of_operands_that_are_none():
    with pytest.raises(TypeError, match="unexpected keyword argument 'c'"):
        minus(td.ones(3), b=1, c=2)
    assert minus.pyfunc(5, 3) == 2


def test_wrong_calls():
    with pytest.raises(TypeError, match="positional"):
        mixed(1)
    with pytest.raises(TypeError, match="takes 2 numbers"):
        vectorize(["float64(float64)"])(lambda a, b: a)
    with pytest.raises(AttributeError, match="no attribute 'no_such'"):  # not compiled: Python's answer
        vectorize(lambda a: a.no_such)(np.ones(2))


@pytest.mark.parametrize(
    "text",
    "{} | [v] | str(v) | None | f'{v:.2f}' | 10**30 | v * 10**20 | 2**64 - 1 | 2**63 | -2**63 | 1 << 70 | 3 * 2**62 | "
    "2**62 + 2**62 | hex(int(v)) | {1: 'a', 2: 'b'}[int(v)]".split(" | "),
)
def test_what_is_not_compiled_is_computed_by_numpy(text):
    for values in (2.0, [1.0, 2.0], np.array([1.0, 2.0]), td.asarray([1.0, 2.0])):
        host = values.get() if isinstance(values, td.ndarray) else values
        theirs, ours = eval(f"lambda v: {text}"), eval(f"lambda v: {text}")
        try:
            want = np.vectorize(theirs)(host)
        except ValueError:
            with pytest.raises(ValueError, match="sequence"):
                vectorize(ours)(values)
            continue
        assert np.asarray(vectorize(ours)(values)).tolist() == want.tolist()


# ---- guvectorize ----


@guvectorize(["void(float64[:], float64, float64[:])", "void(int64[:], int64, int64[:])"], "(n),()->(n)")
def shifted(x, by, out):
    for i in range(x.shape[0]):
        out[i] = x[i] + by


@guvectorize("(m,n),(n,p)->(m,p)")
def product(a, b, c):
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            s = 0.0
            for k in range(a.shape[1]):
                s += a[i, k] * b[k, j]
            c[i, j] = s


@guvectorize(["void(float64[:], float64[:], float64[:])"], "(n)->(),()")
def extremes(x, low, high):
    low[0] = high[0] = x[0]
    for v in x:
        low[0] = min(low[0], v)
        high[0] = max(high[0], v)


@guvectorize(["void(float64[:], float64[:], float64[:])"], "(n),()->()")
def boxed(x, by, out):
    out[0] = x[0] * by[0]


@pytest.mark.parametrize("where", WHERE)
def test_generalized(where):
    rng = np.random.default_rng(2)
    x, by = rng.random((4, 5)), rng.random((3, 1))
    np.testing.assert_array_equal(got(shifted(put(x, where), put(by, where)), where), x + by[..., None])
    np.testing.assert_array_equal(got(shifted(put(x[0], where), 2.0), where), x[0] + 2)
    a, b = rng.random((6, 3, 4)), rng.random((4, 2))
    np.testing.assert_allclose(got(product(put(a, where), put(b, where)), where), a @ b)
    low, high = (got(r, where) for r in extremes(put(x, where)))
    np.testing.assert_array_equal(low, x.min(-1))
    np.testing.assert_array_equal(high, x.max(-1))
    np.testing.assert_array_equal(got(boxed(put(x, where), put(by[0], where)), where), x[:, 0] * by[0])


def test_generalized_results_and_types():
    x = np.arange(6).reshape(2, 3)
    assert shifted(x, 1).dtype == np.int64 and shifted.types == ["dd->d", "ll->l"]
    out = np.zeros((2, 3))
    assert shifted(x * 1.0, 1.0, out) is out and (out == x + 1).all()
    assert shifted(x * 1.0, 1.0, out=out) is out
    assert extremes(np.array([3.0, 1.0])) == (1, 3)
    for args, why in (((x[0], x, x), "out= has the shape"), ((1.0, 1.0), "asks for 1")):
        with pytest.raises((ValueError, TypeError), match=why):
            shifted(*args)
    with pytest.raises(ValueError, match="axis n of operand 1"):
        product(np.zeros((2, 3)), np.zeros((2, 3)))
    with pytest.raises(ValueError, match="not a layout"):
        guvectorize([], "(n)>(n)")(lambda a, b: None)
    with pytest.raises(ValueError, match="no axis of the operands"):
        guvectorize([], "(n)->(m)")(lambda a, b: None)


# ---- stencil ----


@stencil
def cross(a):
    return 0.25 * (a[0, 1] + a[1, 0] + a[0, -1] + a[-1, 0])


@stencil(neighborhood=((-2, 0),), cval=-1.0)
def mean3(a):
    s = 0.0
    for i in range(-2, 1):
        s += a[i]
    return s / 3


@stencil(standard_indexing=("w",))
def weighted(out, w, scale):
    return scale * (w[0] * out[-1] + w[1] * out[0] + w[2] * out[1])


@pytest.mark.parametrize("where", WHERE)
def test_stencils(where):
    x = np.random.default_rng(3).random((9, 11))
    want = np.zeros_like(x)
    want[1:-1, 1:-1] = 0.25 * (x[1:-1, 2:] + x[2:, 1:-1] + x[1:-1, :-2] + x[:-2, 1:-1])
    np.testing.assert_allclose(got(cross(put(x, where)), where), want)
    v, w = x[0], np.array([1.0, 2.0, 3.0])
    want = np.r_[-1, -1, (v[:-2] + v[1:-1] + v[2:]) / 3]
    np.testing.assert_allclose(got(mean3(put(v, where)), where), want)
    want = np.r_[0, 2 * (v[:-2] + 2 * v[1:-1] + 3 * v[2:]), 0]
    np.testing.assert_allclose(got(weighted(put(v, where), put(w, where), 2.0), where), want)


@pytest.mark.parametrize("cval", [0, 1, 2.7, -1])
def test_a_stencils_border_is_cut_to_its_dtype(cval):
    @stencil(cval=cval)
    def rises(a):
        return a[-1] < a[1]

    @stencil(cval=cval)
    def sums(a):
        return a[-1] + a[1]

    x = np.array([1, 3, 2, 5])
    edge = np.array(cval).astype(np.bool_), np.array(cval).astype(np.int64)
    assert rises(x).tolist() == [edge[0], True, True, edge[0]]
    assert sums(x).tolist() == [edge[1], 3, 8, edge[1]]

    @stencil(cval=1j)
    def refused(a):
        return a[-1] + a[1]

    with pytest.raises(ValueError, match="does not go into"):
        refused(x)


def written_by(stencilled):
    """A compiled function that calls a stencil with out=."""

    def within(x, out):
        stencilled(x, out=out)

    return njit(within)


def test_stencil_out_and_errors():
    x = np.arange(20.0).reshape(4, 5)
    out = np.full((4, 5), 7.0)
    assert cross(x, out=out) is out and (out[0] == 7).all() and (out[1:-1, 1:-1] == x[1:-1, 1:-1]).all()
    for cval, filled in ((None, 7), (0, 0), (2.0, 2), (np.nan, np.nan)):
        shifted = stencil(lambda a: a[-1, 2], **({} if cval is None else {"cval": cval}))
        for call in (lambda x, o, s=shifted: s(x, out=o), written_by(shifted)):
            for dtype in (np.float64, np.int64) if cval is not np.nan else (np.float64,):
                out, wanted = np.full((4, 5), 7, dtype), np.full((4, 5), filled, dtype)
                wanted[1:, :-2] = x[:-1, 2:]
                call(x.astype(dtype), out)
                np.testing.assert_array_equal(out, wanted)
    with pytest.raises(ValueError, match="give the neighborhood"):
        stencil(mean3.py_func)(np.zeros(5))
    with pytest.raises(ValueError, match="dims"):
        cross(np.zeros(5))
    with pytest.raises(ValueError, match="mode"):
        stencil("wrap")(lambda a: a[0])
    with pytest.raises(TypeError, match="takes 1"):
        cross(x, x)


STEP, STRIDE = 1, 2
NEIGHBOURS = [  # the stencil, and what it gives at a place of the inside, by absolute indices
    (lambda a: a[1 + 1, -STEP] + a[0, 2 * 1 - 1], lambda a, i, j: a[i + 2, j - 1] + a[i, j + 1], ((0, 2), (-1, 1))),
    (lambda a: np.sum(a[-1:2, 0:STRIDE]), lambda a, i, j: a[i - 1 : i + 2, j : j + 2].sum(), ((-1, 1), (0, 1))),
    (lambda a: np.median(a[-2:1, -1:2]), lambda a, i, j: np.median(a[i - 2 : i + 1, j - 1 : j + 2]), ((-2, 0), (-1, 1))),
    (lambda a: a[-1:2, 0].max() - a[0, 0], lambda a, i, j: a[i - 1 : i + 2, j].max() - a[i, j], ((-1, 1), (0, 0))),
    (lambda a: a[-1:2:2, 1].sum(), lambda a, i, j: a[i - 1, j + 1] + a[i + 1, j + 1], ((-1, 1), (0, 1))),
]  # fmt: skip


@pytest.mark.parametrize("case", range(len(NEIGHBOURS)))
@pytest.mark.parametrize("compiled", [False, True])
def test_stencil_offsets_are_constants_and_slices(case, compiled):
    body, place, ((up, down), (left, right)) = NEIGHBOURS[case]
    f = stencil(body)
    x = np.random.default_rng(case).integers(0, 99, (6, 7)).astype(float)
    want = np.zeros_like(x)
    for i in range(-up, 6 - down):
        for j in range(-left, 7 - right):
            want[i, j] = place(x, i, j)
    np.testing.assert_allclose((njit(lambda a: f(a)) if compiled else f)(x), want)


def test_stencil_offsets_follow_the_names_they_come_from():
    global STEP

    @stencil
    def shifted(a):
        t = 2
        return a[STEP] + 0 * a[-t]

    x = np.arange(6.0)
    try:
        for STEP in (1, 2, -3):
            low, high = max(2, -STEP), max(STEP, 0)
            want = np.zeros(6)
            want[low : 6 - high] = x[low + STEP : 6 - high + STEP]
            np.testing.assert_array_equal(shifted(x), want)
    finally:
        STEP = 1


def test_stencils_stay_inside_of_their_arrays():
    add = stencil(lambda a, b: a[0, 1] + b[0, -2])
    for f in (add, njit(lambda a, b: add(a, b))):
        for shape in ((1, 1), (3, 3), (4,)):
            with pytest.raises((ValueError, TypeError)):
                f(np.ones((3, 4)), np.ones(shape))
        assert f(np.ones((3, 4)), np.ones((3, 5))).sum() == 6
    within = written_by(stencil(lambda a: a[1]))
    with pytest.raises(ValueError, match="another shape"):
        within(np.ones(4), np.ones(9))
    with pytest.raises(ValueError, match="neighborhood"):
        stencil(lambda a: a[5], neighborhood=((-1, 1),))(np.ones(9))
    with pytest.raises(ValueError, match="a beginning and an end"):
        stencil(lambda a: a[-1:].sum())(np.ones(9))

    @stencil
    def writes(a):
        a[0] = 3
        return a[1]

    with pytest.raises(ValueError, match="is assigned"):
        writes(np.ones(3))


# ---- cuda.reduce ----


@pytest.mark.parametrize("n", [0, 1, 2, 255, 256, 257, 5000])
def test_reduce_on_devices(dev, n):
    total = cuda.reduce(lambda a, b: a + b)
    largest = cuda.Reduce(lambda a, b: max(a, b))
    x = np.random.default_rng(4).integers(-1000, 1000, n)
    assert total(x) == x.sum() and total(td.asarray(x), init=10) == x.sum() + 10
    assert largest(x, init=-5000) == (x.max() if n else -5000)
    if n:
        res = td.zeros(1, dtype="i8")
        assert total(td.asarray(x), size=n - 1, res=res) is None and res.get()[0] == x[:-1].sum()
    with pytest.raises(ValueError, match="one axis"):
        total(np.zeros((2, 2)))


def test_guvectorize_takes_nothing_in_silence():
    def f(a, out):
        out[0] = a[0]

    for options in ({"nopyhton": True}, {"forceobj": True}, {"cache": True, "strange": 1}):
        with pytest.raises(TypeError, match="guvectorize: .*(nopyhton|forceobj|strange) is not an option"):
            guvectorize(["void(float64[:], float64[:])"], "(n)->(n)", **options)(f)
        with pytest.raises(TypeError, match="(nopyhton|forceobj|strange) is not an option"):
            vectorize(["float64(float64)"], **options)(lambda a: a)
    for made, asked in ((guvectorize, (["void(float64[:], float64[:])"], "(n)->(n)")), (vectorize, (["float64(float64)"],))):
        of = f if made is guvectorize else lambda a: a
        with pytest.warns(RuntimeWarning, match="nopython is redundant"):
            made(*asked, target="cuda", nopython=True)(of)
        with pytest.raises(TypeError, match="nopython=False"):
            made(*asked, target="cuda", nopython=False)(of)
        made(*asked, nopython=True)(of)
    with pytest.raises(TypeError, match="returns float64: results go to the last arguments"):
        guvectorize(["float64(float64[:], float64[:])"], "(n)->(n)")(f)
    g = guvectorize(["void(float64[:], float64[:])"], "(n)->(n)")(f)
    a = np.ones(3)
    with pytest.raises(TypeError, match="given as arguments and as out="):
        g(a, np.zeros(3), out=np.zeros(3))
    with pytest.raises(ValueError):
        g(a, out=(np.zeros(3), np.zeros(3)))


def test_shapes_are_integers():
    for shape in ((1.1,), 1.1, (2, 1.0), "2", (None,)):
        with pytest.raises(TypeError, match="a shape is an integer or a tuple of integers"):
            cuda.device_array(shape)
    for shape in (3, (3,), [3, 2], np.int32(3), (np.int64(2), 2), np.array([2, 3])):
        assert cuda.device_array(shape).shape == np.empty(shape).shape


def test_writable_args():
    """What the function writes into a copy of an operand that is named there goes back to the operand."""

    def fill(x, out):
        x[0] = 6.5
        out[0] = 4.2

    for named, dtype in itertools.product(((), ("x",), (0,), ("out",)), (np.float64, np.float32)):
        g = guvectorize(["void(float64[:], float64[:])"], "()->()", writable_args=named)(fill)
        x = np.zeros((3, 2), dtype)
        assert (g(x) == 4.2).all()
        assert (x == (6.5 if named in (("x",), (0,)) or dtype is np.float64 else 0)).all()
    with pytest.raises(ValueError, match="'y' is no parameter"):
        guvectorize(["void(float64[:], float64[:])"], "()->()", writable_args=("y",))(fill)
