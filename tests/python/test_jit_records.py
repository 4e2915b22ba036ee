"""Records in functions of treadle.jit beside NumPy: results, new arrays, fields of all records, packed and aligned."""

import itertools

import numpy as np
import pytest

from treadle import njit, prange

FIELDS = [("k", "i1"), ("x", "f8"), ("n", "i4"), ("z", "c16"), ("pos", "f8", (3,)), ("m", "i2", (2, 2)), ("ok", "?"),
          ("u", "U4"), ("s", "S3"), ("at", "M8[D]"), ("in", [("a", "f4"), ("b", "f8")])]  # fmt: skip
LAYOUTS = {"packed": np.dtype(FIELDS), "aligned": np.dtype(FIELDS, align=True)}


def records(dtype, n=5):
    rng = np.random.default_rng(3)

    def numbers(*shape):
        return rng.integers(0, 64, (n, *shape)) / 8  # sums of these are exact

    a = np.zeros(n, dtype)
    a["k"], a["x"], a["n"], a["z"] = range(n), numbers(), rng.integers(0, 99, n), numbers() + 1j
    a["pos"], a["m"], a["ok"] = numbers(3), rng.integers(0, 99, (n, 2, 2)), rng.random(n) < 0.5
    a["u"], a["s"] = ["", "ab", "abcd", "é", "a\0b"][:n], [b"", b"a", b"abc", b"x", b"yz"][:n]
    a["at"], a["in"]["a"], a["in"]["b"] = range(n), numbers(), numbers()
    return a


def same(got, want):
    if isinstance(want, tuple):
        assert len(got) == len(want)
        for g, w in zip(got, want):
            same(g, w)
    elif isinstance(want, (np.ndarray, np.void)):
        assert got.dtype.fields == want.dtype.fields if want.dtype.names else got.dtype == want.dtype
        np.testing.assert_array_equal(got, want)
    else:
        assert got == want, (got, want)


def returned(a):
    return a, a[1:], a[::-2], a[1], (a[2], 3)


def copied(a):
    b = a.copy()
    b[0].x = 9.0
    return b, a


def made(a):
    b, c, d = np.zeros(3, a.dtype), np.zeros_like(a), np.empty((2, 2), a.dtype)
    for i in range(3):
        b[i] = a[i]
        c[i].pos[1] = i
    for i in range(2):
        for j in range(2):
            d[i, j] = a[i + j]
    return b, c, d


def columns(a):
    return (a["x"].sum(), a.n.max(), a["z"][1], a.pos.sum(), a["pos"][1, 2], a["m"][2].sum(), a["ok"].sum(), a.x[-1],
            np.sort(a["x"]), np.argsort(a["n"]), a["x"] * 2 + a["n"], a["in"]["b"].sum(), a["in"]["a"][1], a.k[::2],
            a["pos"][:, 1], a["m"].shape, a["x"].copy(), len(a["n"]), (a["x"] > 0.5).sum())  # fmt: skip


def chosen(a):
    return a[a["x"] > 0.4], a[np.array([2, 0])], a["n"][a["ok"]]


def stored(a):
    for i in range(a.size):
        a["x"][i] = i * 0.5
        a.n[i] += 7
        a["pos"][i, 1] = -1.0
        a[i]["in"].b = 4.0
        a["in"]["a"][i] = 2.5
        a[i].z *= 2
    a["k"][1] = 9
    a["x"][1:3] = a["n"][:2] * 0.5
    a["n"][::2] = a["n"][::-2]
    a.z[:] = 3.0 + a.z
    a["in"]["b"][2:] = 1.0
    a[3] = a[0]
    a[0].pos = np.array([7.0, 8.0, 9.0])
    a[1]["m"][:] = 5
    return a


def looped(a):
    total, names = 0.0, 0
    for r in a:
        total += r.x * r["n"] + r.pos[0] + r["in"].b
        if r.u == "ab":
            names += 10
        names += len(r.u) + (r.u + "!" == "abcd!")
    return total, names, a[1].u + a[2]["u"], a[4].u


def passed(a):
    return mean(a["x"]), mean(a.pos)


def mean(x):
    return x.sum() / x.size


@pytest.mark.parametrize(
    "f", [returned, copied, made, columns, chosen, stored, looped, passed], ids=lambda f: f.__name__
)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("view", ["whole", "every other"])
def test_as_numpy(f, layout, view):
    a = records(LAYOUTS[layout])
    mine, theirs = (a.copy() if view == "whole" else np.repeat(a, 2)[::2] for _ in range(2))
    same(njit(f)(mine.view(np.recarray)), f(theirs.view(np.recarray)))
    np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_two_axes(layout):
    def f(a):
        a["x"][0, 1] = 9.0
        a["pos"][1, 2, 0] = 8.0
        return a[1], a["x"].sum(), a.pos[:, 1, 2], a[0, 1], a["n"][1, ::2], a.T[2].x

    a = np.stack([records(LAYOUTS[layout]), records(LAYOUTS[layout])[::-1]])
    mine, theirs = a.copy().view(np.recarray), a.copy().view(np.recarray)
    same(njit(f)(mine), f(theirs))
    np.testing.assert_array_equal(mine, theirs)


def test_a_returned_record_is_a_copy_and_an_array_a_view():
    a = records(LAYOUTS["packed"])
    r, b = njit(lambda a: (a[1], a[1:]))(a)
    r["n"], b["n"][1] = 1000, 2000
    assert a["n"][1] != 1000 and a["n"][2] == 2000 and isinstance(r, np.record) and r.n == 1000


def test_fields_that_kernels_do_not_read():
    a = records(LAYOUTS["packed"])
    s, at, column = njit(lambda a: (a[1].s, a[2]["at"], a["s"]))(a)
    assert s == b"a" and at == np.datetime64("1970-01-03")
    np.testing.assert_array_equal(column, a["s"])
    with pytest.raises(TypeError, match="take elements that are numbers"):
        njit(lambda a: a[0].x)(np.zeros(2, [("x", "f8"), ("o", "O")]))


def test_records_of_every_alignment():
    """A field's elements lie at whole strides, or its records are looked through."""
    kinds = ["i1", "i2", "i4", "f8"]
    for first, second, align in itertools.product(kinds, kinds, (False, True)):
        dtype = np.dtype([("a", first), ("b", second)], align=align)
        outer = np.dtype([("c", "i1"), ("in", dtype), ("d", "f4")], align=align)
        x = np.zeros(4, outer)
        x["in"]["a"], x["in"]["b"], x["d"] = [1, 2, 3, 4], [5, 6, 7, 8], [0.5, 1, 1.5, 2]
        f = njit(lambda x: (x["in"]["a"].sum(), x["in"]["b"][2], x.d.sum(), x["in"]["b"][::-1].copy()))
        same(f(x), (10, 7, 5.0, x["in"]["b"][::-1]))
        inner = x["in"]
        if inner.strides[0] % inner.itemsize:
            with pytest.raises(ValueError, match="whole records"):
                njit(lambda x: x["b"].sum())(inner)
            inner = inner.copy()
        assert njit(lambda x: (x["b"].sum(), x[1].a))(inner) == (26, 2)


def test_a_name_for_a_field_of_packed_records():
    """It would be a copy where NumPy has a view."""
    packed, aligned = (records(LAYOUTS[k]) for k in ("packed", "aligned"))

    def named(a):
        x = a["x"]
        x[0] = 5.0
        return a[0].x

    assert njit(named)(aligned) == 5
    with pytest.raises(TypeError, match=r"x would be a copy .* a\[name\].copy\(\)"):
        njit(named)(packed)

    @njit
    def write(x):
        x[0] = 5.0

    assert njit(lambda a: write(a["x"]))(aligned) is None and aligned["x"][0] == 5
    with pytest.raises((TypeError, ValueError), match="read-only"):
        njit(lambda a: write(a["x"]))(packed)
    with pytest.raises(TypeError, match="is not stored to|one record at a time"):
        njit(lambda a: store_all(a))(packed)


def store_all(a):
    a["pos"][:] = 1.0


def test_in_parallel():
    @njit(parallel=True)
    def f(a):
        for i in prange(a.size):
            a[i].x = a[i].n * 2.0
            a["pos"][i, 0] = i
        return a["x"].sum()

    for layout in LAYOUTS.values():
        a = records(layout)
        assert f(a) == (a["n"] * 2.0).sum() and a["pos"][:, 0].tolist() == [0, 1, 2, 3, 4]
