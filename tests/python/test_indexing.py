"""Subscripts, read and written, against NumPy's on the same text or key."""

import collections

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hn
from numpy_side import check, outcome

import treadle as td

X = np.arange(4 * 3 * 5, dtype="float32").reshape(4, 3, 5)
IDX, ROWS, MASK = np.array([[0, -1], [2, 1]]), np.array([3, 0, 3]), X[:, :, 0] % 2 == 0

KEYS = """
0; -1; 3; 1:3; ::-1; ::2; 3:0:-2; 10:; :0; ...; None; (); 0, 1; 0, 1, 2; -1, ::2; ..., 0; ..., None; None, 0; 1, ..., 2
:, 1; :, :, 1:4:2; :, None, 1; ::-1, ::-1, ::-1; 1:3, 1:2, -3:-1; 2, 1, 4; (slice(None),) * 3; np.int64(2); np.int32(-1), 1
ROWS; IDX; [0, 2]; [[0, 1], [2, 3]]; ROWS, 1; 1, IDX % 3; ROWS, ROWS % 3; ROWS, :, 1; ROWS, ::2, ROWS; :, IDX % 3; :, ROWS % 3, 0
..., ROWS; ROWS, ...; IDX[:, :, None], [0, 1, 2]; ROWS, None, :; None, ROWS; :, [0, 2], [1, 3]; 0, :, [1, 3]; [], ; [[], []]
X > 30; X[:, 0, 0] > 20; MASK; :, X[0, :, 0] >= 5; MASK, 1; MASK, [0] * int(MASK.sum()); [True, False, True, False]; X < -1
np.array(True); True; False; :, X[0] > 7; 1, X[1] > 20; ROWS, X[0, :, 0] > -3, 0; np.array(2); [1], [2], [3]
:, -1, ..., [0, 1, 2]; [0, 1], ..., [0, 1], [2, 3]; 0, ..., MASK[0], [1]; :, ROWS % 3, ROWS, ...; ..., ROWS, :, ROWS; :, ..., ROWS % 3, ROWS
True, ..., 0; :, [0, 2], ..., 1; np.array(1), :, [0, 2], ...; np.array(1), ...; 1, ..., True, 2; np.array(1), np.array(2), np.array(3)
"""
BAD = """
4; -5; 0, 3; 0, 0, 0, 0; "x"; 1.5; ROWS + 4; [0, 1, 4]; -ROWS - 3; X[:2] > 0; [True, False]; ..., ...; ROWS, [0, 1]; IDX / 2; :, 5; [1.0]
slice("a", None); {}; [0, 1, 2, 3], [0, 1, 2, 3]
"""


def keys(text):
    return [k.strip() for line in text.strip().splitlines() for k in line.split(";") if k.strip()]


def key_of(text):
    class Take:
        def __getitem__(self, key):
            return key

    return eval(f"take[{text}]", {"np": np, "X": X, "ROWS": ROWS, "IDX": IDX, "MASK": MASK, "take": Take()})


def ours_of(key):
    """The same key with treadle's arrays for NumPy's."""
    if isinstance(key, tuple):
        return tuple(map(ours_of, key))
    return td.asarray(key) if isinstance(key, np.ndarray) else key


@pytest.mark.parametrize("text", keys(KEYS))
def test_read(text, dev):
    key = key_of(text)
    turned = td.asarray(np.ascontiguousarray(X.T)).T
    for k in (key, ours_of(key)):
        check(td.asarray(X)[k], X[key], 0, text)
        check(turned[k], X[key], 0, text + ", transposed")


@pytest.mark.parametrize("text", keys(KEYS))
@pytest.mark.parametrize("value", ["number", "row", "whole"])
def test_write(text, value, dev):
    key = key_of(text)
    shape = X[key].shape
    v = {"number": -7, "row": np.arange(shape[-1], dtype="f4") if shape else 3.5, "whole": -X[key]}[value]
    x, t = X.copy(), td.asarray(X)
    before = t + 1
    x[key] = v
    t[ours_of(key)] = td.asarray(v) if isinstance(v, np.ndarray) else v
    check(t, x, 0, text)
    check(before, X + 1, 0, "recorded before the write")
    t = td.asarray(X)
    t[key] = v
    check(t, x, 0, text + ", NumPy's key and value")


@pytest.mark.parametrize("text", keys(KEYS)[::3])
def test_write_through_a_view(text):
    key = key_of(text)
    x, t = np.zeros((8, 3, 10), "f4"), td.zeros((8, 3, 10), "f4")
    vx, vt = x[::2, ::-1, 1::2], t[::2, ::-1, 1::2]
    vx[key], vt[key] = 5, 5
    vx[key] += 2
    vt[key] += 2
    check(t, x, 0, text)


@pytest.mark.parametrize("text", keys(BAD))
def test_refused(text):
    key = key_of(text)
    t = td.asarray(X)
    _, theirs = outcome(lambda: X[key])
    for k in (key, ours_of(key)):
        _, ours = outcome(lambda k=k: t[k])
        assert type(ours) is type(theirs), f"{text}: {ours!r}, NumPy {theirs!r}"
        _, ours = outcome(lambda k=k: t.__setitem__(k, 1))
        assert isinstance(ours, type(theirs)), f"{text} = 1: {ours!r}, NumPy {theirs!r}"
    check(t, X)


@pytest.mark.parametrize("key,value", [((0,), np.ones(4)), ((slice(None), 0), np.ones(3)), ((X > 3,), np.ones(5)), ((ROWS,), np.ones((2, 3, 5)))])
def test_values_that_do_not_fit(key, value):
    t = td.asarray(X)
    with pytest.raises(ValueError):
        X.copy()[key] = value
    with pytest.raises(ValueError):
        t[key] = td.asarray(value)
    check(t, X)


def test_index_errors_say_where():
    t = td.asarray(X)
    with pytest.raises(IndexError, match="index 4 is out of bounds for axis 0 with size 4"):
        t[4]
    with pytest.raises(IndexError, match="index 7 is out of bounds for axis 1 with size 3"):
        t[:, 7]
    with pytest.raises(IndexError, match="index 9 is out of bounds for axis 0 with size 4"):
        t[td.asarray([0, 9])]
    with pytest.raises(IndexError, match="too many indices"):
        t[0, 0, 0, 0]
    with pytest.raises(IndexError, match="boolean index did not match"):
        t[td.asarray([True, False])]


SMALL = hn.array_shapes(min_dims=1, max_dims=4, max_side=4)


@given(st.data())
def test_basic_subscripts(data):
    shape = data.draw(SMALL)
    key = data.draw(hn.basic_indices(shape, allow_newaxis=True, allow_ellipsis=True))
    x = np.arange(int(np.prod(shape)), dtype="int32").reshape(shape)
    t = td.asarray(x)
    check(t[key], x[key], 0, repr(key))
    y = x.copy()
    y[key] = -1
    t[key] = -1
    check(t, y, 0, repr(key))


@given(st.data())
def test_integer_subscripts(data):
    shape = data.draw(SMALL)
    key = data.draw(hn.integer_array_indices(shape))
    x = np.arange(int(np.prod(shape)), dtype="int32").reshape(shape)
    check(td.asarray(x)[ours_of(key)], x[key], 0, repr(key))


@given(st.data())
def test_mixed_subscripts(data):
    shape = data.draw(hn.array_shapes(min_dims=2, max_dims=4, max_side=4))
    x = np.arange(int(np.prod(shape)), dtype="int32").reshape(shape)
    result = data.draw(hn.array_shapes(min_dims=1, max_dims=2, max_side=3))
    parts = []
    for n in shape[: data.draw(st.integers(1, len(shape)))]:
        parts.append(
            data.draw(
                st.one_of(
                    st.integers(-n, n - 1),
                    st.slices(n),
                    hn.arrays("int64", hn.broadcastable_shapes(result, max_dims=2, max_side=3), elements=st.integers(-n, n - 1)),
                    st.none(),
                )
            )
        )
    if data.draw(st.booleans()):
        parts.insert(data.draw(st.integers(0, len(parts))), Ellipsis)
    key = tuple(parts)
    theirs, error = outcome(lambda: x[key])
    if error:
        with pytest.raises(type(error)):
            td.asarray(x)[ours_of(key)]
    else:
        check(td.asarray(x)[ours_of(key)], theirs, 0, repr(key))
        y, t = x.copy(), td.asarray(x)
        y[key], t[ours_of(key)] = -1, -1
        check(t, y, 0, f"{key!r} = -1")


@given(st.data())
def test_masks(data):
    shape = data.draw(SMALL)
    x = np.arange(int(np.prod(shape)), dtype="int32").reshape(shape)
    mask = data.draw(hn.arrays(bool, shape[: data.draw(st.integers(1, len(shape)))]))
    check(td.asarray(x)[td.asarray(mask)], x[mask], 0)
    y, t = x.copy(), td.asarray(x)
    value = data.draw(st.sampled_from(["number", "taken"]))
    y[mask] = -1 if value == "number" else -x[mask]
    t[td.asarray(mask)] = -1 if value == "number" else td.asarray(-x[mask])
    check(t, y, 0)


def test_scalars_taken_are_copies():
    x, t = np.arange(5.0), td.arange(5.0)
    a, b = x[2], t[2]
    x[2] = t[2] = 99
    assert float(a) == float(b) == 2
    view = t[2, ...]
    t[2] = 7
    assert float(view) == 7


@pytest.mark.parametrize("text", ["1", "1, ...", "..., 1", "1, :2", "1, None", "1, 1, ...", ":, 1, 1"])
def test_arrays_of_one_integer_name_copies_and_integers_views(text, dev):
    for i in (1, np.int64(1), np.array(1), np.array(1, "u1")):
        x = np.arange(24).reshape(2, 3, 4)
        t, view = td.asarray(x), np.array(x)
        key = eval(f"np.s_[{text}]".replace("1", "i"), {"np": np, "i": i})
        part = view[key]
        part[...] = -1
        for k in (key, ours_of(key)):
            t = td.asarray(x)
            part = t[k]
            part[...] = -1
            check(t, view, 0, f"{text} with {i!r}")
        t, view = td.asarray(x), np.array(x)
        t[ours_of(key)], view[key] = -1, -1
        check(t, view, 0, f"{text} = -1 with {i!r}")
        td.add.at(t, ours_of(key), 5)
        np.add.at(view, key, 5)
        check(t, view, 0, f"add.at {text} with {i!r}")


COMPUTED = ["lib.asarray([0, 1])[1]", "lib.asarray([0, 5]).argmax()", "next(iter(lib.asarray([1])))", "lib.asarray([1]).sum()", "lib.asarray(1) + 0"]
MADE = ["lib.asarray(1)", "lib.array(1)", "lib.ones((), int)", "lib.full((), 1)", "np.array(1)"]


@pytest.mark.parametrize("text", COMPUTED + MADE)
def test_what_numpy_computes_as_a_number_names_a_view(text, dev):
    """An element, a sum, argmax have no axes here where NumPy has a number; made arrays have none there either."""
    sums = []
    for lib in (np, td):
        x = lib.zeros((2, 3))
        row = x[eval(text, {"lib": lib, "np": np})]
        row[...] = 5
        sums.append(float(x.sum()))
    assert sums[0] == sums[1] == (15 if text in COMPUTED else 0)


def test_iteration_sees_writes():
    x, t = np.ones(6), td.ones(6)
    for y in (x, t):
        for k, v in enumerate(y):
            if k + 1 < 6:
                y[k + 1] += v
    check(t, x)


def test_overlapping_assignment():
    x, t = np.arange(10.0), td.arange(10.0)
    for y in (x, t):
        y[1:] = y[:-1]
        y[::2] = y[4::-1]
        y[2:6] += y[4:8]
        y[:] = y[::-1]
    check(t, x)


def test_swaps():
    x, t = np.arange(6.0).reshape(2, 3), td.arange(6.0).reshape(2, 3)
    for y in (x, t):
        y[0], y[1] = y[1].copy(), y[0].copy()
        y[[0, 1]] = y[[1, 0]]
        y[:, 0], y[:, 1] = y[:, 1].copy(), y[:, 0].copy()
    check(t, x)


def test_writes_cast():
    t, x = td.zeros(3, "int32"), np.zeros(3, "int32")
    for y in (t, x):
        y[0] = 2.9
        y[1:] = y[0] + 0.6
    check(t, x)
    with pytest.raises(OverflowError):
        t[0] = 2**40
    with pytest.raises((TypeError, ValueError)):
        t[0] = "text"
    with pytest.raises(ValueError, match="delete"):
        del t[0]


class _Few:
    """A sequence that is no list."""

    def __init__(self, *items):
        self.items = items

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]

    def __repr__(self):
        return f"_Few{self.items}"


SEQUENCES = [
    range(3), (range(3), [0, 1, 2]), (slice(None), range(0, 4, 2)), range(0), collections.deque([1, 0]),
    (range(2), range(2)), _Few(0, 1), _Few(True, False, True), [range(2), range(1, 3)], "x", b"x", "", (0, "a"), {1}, {1: 2},
]  # fmt: skip


@pytest.mark.parametrize("key", SEQUENCES, ids=repr)
def test_sequences(key):
    """Any sequence is an index array, as NumPy has it; text and sets are none."""
    mine, theirs = td.arange(12.0).reshape(3, 4), np.arange(12.0).reshape(3, 4)
    try:
        want = theirs[key]
    except IndexError:
        for use in (lambda: mine[key], lambda: mine.__setitem__(key, 7)):
            with pytest.raises(IndexError):
                use()
        return
    np.testing.assert_array_equal(mine[key].get(), want)
    mine[key] = theirs[key] = 7
    np.testing.assert_array_equal(mine.get(), theirs)
