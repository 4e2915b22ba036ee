"""Records in kernels: as arguments that are written through, by number, as constants of the program."""

import numpy as np
import pytest

from treadle import cuda, jit

ALIGNED = np.dtype([("x", "f8"), ("n", "i4"), ("v", "f4", (3,)), ("in", [("p", "u1"), ("q", "c8")])], align=True)
PACKED = np.dtype([("b", "u1"), ("x", "f8"), ("n", "i4"), ("v", "f4", (3,)), ("in", [("p", "u1"), ("q", "c8")])])
dtypes = pytest.mark.parametrize("dtype", [ALIGNED, PACKED], ids=["aligned", "packed"])


def records(dtype, n=3):
    a = np.zeros(n, dtype)
    a["x"], a["n"], a["v"] = 1.5 + np.arange(n), np.arange(n), np.arange(3 * n).reshape(n, 3)
    a["in"]["p"], a["in"]["q"] = 7, 1 + 2j
    return a


@cuda.jit
def change(r, v):
    r.x = v
    r["n"] += 2
    r.v[1] = 4
    r["in"].p += 1
    r["in"]["q"] *= 2


def change_here(r, v):
    r["x"] = v
    r["n"] += 2
    r["v"][1] = 4
    r["in"]["p"] += 1
    r["in"]["q"] *= 2


ONES = {"element": lambda a: a[1], "of a recarray": lambda a: a.view(np.recarray)[1], "array of no axes": lambda a: a[1:2].reshape(()),
        "alone": lambda a: np.array(a[1])[()]}  # fmt: skip


@dtypes
@pytest.mark.parametrize("which", ONES)
def test_records_of_the_host_are_written_through(dtype, which, dev):
    a, want = records(dtype), records(dtype)
    mine, theirs = ONES[which](a), ONES[which](want)
    change[1, 1](mine, 9.5)
    cuda.synchronize()
    change_here(theirs, 9.5)
    assert mine == theirs
    np.testing.assert_array_equal(a, want)


@dtypes
def test_records_of_a_device_array_are_written_through(dtype, dev):
    want = records(dtype)
    d = cuda.to_device(want)
    change[1, 1](d[1], 9.5)
    change[1, 1](d[1:][1], 3.5)
    change_here(want[1], 9.5)
    change_here(want[2], 3.5)
    np.testing.assert_array_equal(d.copy_to_host(), want)
    r = d[2]
    assert (r["x"], r[r.dtype.names.index("n")], r.x, len(r)) == (3.5, 4, 3.5, len(dtype))
    assert r == want[2] and not r == want[1] and r == d[2] and list(r)[-1] == want[2].item()[-1]
    assert str(r.item()) == str(want[2].item()) and str(want[2]) in repr(r).replace("np.void(", "")
    r["x"], r[-1] = 8, (1, 2)
    want[2]["x"], want[2]["in"] = 8, (1, 2)
    np.testing.assert_array_equal(d.copy_to_host(), want)
    with pytest.raises(ValueError, match="no field of name y"):
        r["y"]
    with pytest.raises(AttributeError, match="has no y"):
        r.y  # noqa: B018


def test_records_that_are_read_only_stay_as_they_are(dev):
    a = records(ALIGNED)
    a.flags.writeable = False
    for r in (a[0], a[:1].reshape(())):
        with pytest.raises(ValueError, match="argument 'r', which is read-only"):
            change[1, 1](r, 2.0)
    out = np.zeros(1)
    cuda.jit(lambda r, out: store(out, r.x))[1, 1](a[1], out)
    assert out[0] == 2.5


@cuda.jit(device=True)
def store(out, x):
    out[0] = x


@dtypes
def test_fields_by_number(dtype, dev):
    a, k = records(dtype), len(dtype) - 4

    @cuda.jit
    def f(a, r, out):
        out[0], out[1], out[2], out[3] = r[k], r[k + 1], r[-2][2], a[2][k]
        r[k] = 7
        r[k + 1] += 1
        a[2][-1][0] = 9
        cuda.atomic.add(a[0], k + 1, 5)

    out = np.zeros(4)
    f[1, 1](a, a[1], out) if dtype is ALIGNED else cuda.jit(lambda a, r, out: store(out, r[k]))[1, 1](a, a[1], out)
    cuda.synchronize()
    assert out.tolist() == ([2.5, 1, 5, 3.5] if dtype is ALIGNED else [2.5, 0, 0, 0])
    if dtype is ALIGNED and cuda.current_device_kind() == "cpu":
        assert (a[1]["x"], a[1]["n"], a[2]["in"]["p"], a[0]["n"]) == (7, 2, 9, 5)
    assert jit(lambda r: r[k] + r[k + 1])(a[2]) == a[2][k] + a[2][k + 1]


def test_numbers_that_name_no_field(dev):
    for key, text in [(5, "has 4 fields, and none of number 5"), (-5, "none of number -5"), (1.5, "name or number")]:
        with pytest.raises(TypeError, match=text):
            jit(lambda r: r[key])(records(ALIGNED)[0])  # noqa: B023
    with pytest.raises(TypeError, match="known when compiling, not int"):
        jit(lambda r, i: r[i])(records(ALIGNED)[0], 1)


GLOBAL = records(PACKED)
ONE = records(ALIGNED)[2]
GRID = records(ALIGNED, 6).reshape(2, 3)[:, ::-1]


def test_records_of_the_program_are_constants(dev):
    @cuda.jit
    def f(out):
        c = cuda.const.array_like(GRID)
        i = cuda.grid(1)
        out[i] = c[i, 1].x + GLOBAL[i + 1].v[2] + ONE.n + ONE["in"].p + ONE[0] + c[i, 0][1]

    out = np.zeros(2)
    f[1, 2](out)
    cuda.synchronize()
    want = [GRID[i, 1]["x"] + GLOBAL[i + 1]["v"][2] + 2 + 7 + 3.5 + GRID[i, 0]["n"] for i in range(2)]
    assert out.tolist() == want


def _x(i):
    GLOBAL[i].x = 3


def _by_number(i):
    ONE[0] = 3


def _nested(i):
    GLOBAL[i]["in"]["p"] = 3


def _element(i):
    cuda.const.array_like(GRID)[0, i].v[i] = 3


def _whole(i):
    GLOBAL[i]["in"] = GLOBAL[0]["in"]


def _atomic(i):
    cuda.atomic.add(ONE, "n", 3)


@pytest.mark.parametrize("write", [_x, _by_number, _nested, _element, _whole, _atomic])
def test_constants_of_records_are_not_written_to(write, dev):
    with pytest.raises(TypeError, match="read-only|is constant"):
        cuda.jit(write)[1, 1](0)
