"""bfloat16: computed in float32 and rounded once, with and without ml_dtypes at NumPy's side."""

import pickle
import subprocess
import sys

import numpy as np
import pytest
from numpy_side import REAL, values
from test_ops import DOMAIN, FUNCTIONS, INEXACT, ROWS

import treadle as td

ml_dtypes = pytest.importorskip("ml_dtypes")
BF16 = np.dtype(ml_dtypes.bfloat16)
# Rows, columns and lengths round those of the CPU's panels, blocks and tiles; batches.
PRODUCTS = [((), 4, 4, 1), ((), 5, 7, 3), ((), 12, 32, 384), ((), 13, 33, 385), ((), 3, 70, 20), ((), 121, 257, 31), ((), 240, 5, 770),
            ((3,), 9, 40, 17), ((2, 5), 30, 64, 51), ((2,), 130, 140, 390)]  # fmt: skip

# Rows of which NumPy has no function of that name, and those that are not made for floats.
ELEMENTWISE = [n for n, row in ROWS.items() if "f" in row[1] and isinstance(getattr(np, n, None), np.ufunc)]


def bfloat16(shape, rng, low=-4, high=5):
    return values(shape, "float32", rng, low, high).astype(BF16)


def agree(ours, theirs, ulp, context):
    """Numbers: ulp units in the last place of bfloat16, whose significands have 8 bits."""
    assert ours.dtype == (BF16 if theirs.dtype.kind == "f" else theirs.dtype), f"{context}: {ours.dtype}"
    got = ours.get()
    if theirs.dtype.kind != "f":
        np.testing.assert_array_equal(got, theirs, err_msg=context)
        return
    want = theirs.astype(BF16).astype("f8")
    np.testing.assert_allclose(got.astype("f8"), want, rtol=ulp * 2.0**-7, atol=0, err_msg=context)


@pytest.mark.parametrize("half", ["bfloat16", "float16"])
def test_products(half, dev, rng):
    """Sums in float32, rounded once: to the last place, where nothing cancels."""
    bits = 8 if half == "bfloat16" else 11
    for batch, m, n, k in PRODUCTS if dev == "cpu" else PRODUCTS[:2]:
        a, b = (td.asarray(rng.random((*batch, *s), "f4") + 0.1).astype(half) for s in ((m, k), (k, n)))
        want = np.matmul(a.astype("f8").get(), b.astype("f8").get())
        turned = [td.matrix_transpose(td.matrix_transpose(x).copy()) for x in (a, b)]
        for x in (a, turned[0]):
            for y in (b, turned[1]):
                got = x @ y
                assert got.dtype == a.dtype and got.shape == want.shape
                np.testing.assert_allclose(got.astype("f8").get(), want, rtol=2.0**-bits * 1.01, err_msg=str((batch, m, n, k)))


def test_products_of_special_values(dev):
    x = np.zeros((16, 40), "f4")
    x[0, 0], x[1, 1], x[2, 2], x[3, :] = np.inf, np.nan, -np.inf, 3e38
    y = np.ones((40, 20), "f4")
    y[0, 0], y[:, 5] = 0, -1
    got = (td.asarray(x).astype("bfloat16") @ td.asarray(y).astype("bfloat16")).astype("f4").get()
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(got, x @ y)


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_operations(name, dev, rng):
    low, high = DOMAIN.get(name, (-4, 5))
    args = [bfloat16((5, 9), rng, low, high) for _ in range(ROWS[name][0])]
    with np.errstate(all="ignore"):
        theirs = getattr(np, name)(*(a if name == "nextafter" else a.astype("f4") for a in args))
    agree(FUNCTIONS[name](*map(td.asarray, args)), theirs, name in INEXACT, name)


@pytest.mark.parametrize("name", ["sum", "prod", "mean", "var", "std", "min", "max", "any", "all", "argmin", "argmax", "count_nonzero"])
def test_reductions(name, dev, rng):
    x = bfloat16((30, 40), rng, 0.5, 1.5)
    for axis in (None, 0, 1):
        theirs = np.asarray(getattr(np, name)(x.astype("f8") if name != "prod" else x.astype("f4"), axis=axis))
        agree(getattr(td.asarray(x), name)(axis), theirs, 1, f"{name} {axis}")


def test_scans_and_products(dev, rng):
    x, y = bfloat16((20, 30), rng), bfloat16((30, 10), rng)
    agree(td.cumsum(td.asarray(abs(x)), 0), np.cumsum(abs(x).astype("f8"), 0), 1, "cumsum")
    agree(td.cumprod(td.asarray(y[:5]), 0), np.cumprod(y[:5].astype("f8"), 0), 1, "cumprod")
    agree(td.asarray(abs(x)) @ td.asarray(abs(y)), abs(x).astype("f8") @ abs(y).astype("f8"), 1, "matmul")
    agree(td.dot(td.asarray(x[0]), td.asarray(x[0])), np.asarray(x[0].astype("f8") @ x[0].astype("f8")), 1, "dot")


def test_promotion():
    x = td.ones(2, "bfloat16")
    for other, result in (("bool", BF16), ("int8", BF16), ("uint8", BF16), ("int16", "f4"), ("int32", "f8"), ("float16", "f4"),
                          ("float32", "f4"), ("float64", "f8"), ("complex64", "c8"), ("bfloat16", BF16)):  # fmt: skip
        for r in (x + td.ones(2, other), td.ones(2, other) * x):
            assert r.dtype == result, f"bfloat16 with {other}: {r.dtype}"
    for weak, result in ((True, BF16), (2, BF16), (2.5, BF16), (1j, "c8")):
        assert (x * weak).dtype == result and (weak * x).dtype == result


@pytest.mark.parametrize("other", [*REAL, "complex64"])
def test_casts(other, dev, rng):
    x = values((40,), other, rng, 0, 200)
    theirs = (x.real if other == "complex64" else x).astype("f4").astype(BF16)
    with pytest.warns(np.exceptions.ComplexWarning) if other == "complex64" else _nothing():
        np.testing.assert_array_equal(td.asarray(x).astype("bfloat16").get(), theirs)
    b = td.asarray(theirs)
    np.testing.assert_array_equal(b.astype(other).get(), theirs.astype("f4").astype(other))


def _nothing():
    from contextlib import nullcontext

    return nullcontext()


def test_halfway_cases_round_to_even_once():
    x = np.array([1 + 2.0**-8, 1 + 3 * 2.0**-8, 1 + 2.0**-8 + 2.0**-30, 3.4e38, -3.5e38, np.inf, np.nan, 1e-45, -0.0])
    for source in ("float64", "float32"):
        with np.errstate(all="ignore"):
            v = x.astype(source)
        want = [1, 1 + 2.0**-6, 1 + (2.0**-7 if source == "float64" else 0), np.inf, -np.inf, np.inf, np.nan, 0, -0.0]
        np.testing.assert_array_equal(td.asarray(v).astype("bfloat16").astype("float64").get(), want)


def test_numpy_and_python(dev):
    x = np.array([[1, -2.5], [3.296875, np.inf]], BF16)
    t = td.asarray(x)
    assert t.dtype == BF16 == td.bfloat16 and t.get().dtype == BF16 and (t.get() == x).all()
    assert t.tolist() == x.astype("f4").tolist() and t[0, 1].item() == -2.5 and float(t[1, 0]) == 3.296875
    assert str(t[0]) == "[ 1.  -2.5]" and repr(t[0]) == "array([ 1. , -2.5], dtype=bfloat16)"
    assert t.tobytes() == x.tobytes() and (np.asarray(t) == x).all() and np.asarray(t).dtype == BF16
    assert (t.view("uint16").get() == x.view("u2")).all() and (td.asarray(x.view("u2")).view("bfloat16").get() == x).all()
    assert (pickle.loads(pickle.dumps(t)).get() == x).all()
    assert (td.asarray(x, dtype="float32").get() == x.astype("f4")).all()
    assert ((t[0] + x[0]).get() == x[0] + x[0]).all()
    for made in (td.zeros(2, "bfloat16"), td.full(2, 1.5, dtype=td.bfloat16), td.arange(3, dtype=BF16), td.asarray([1, 2.5], dtype="bfloat16"), td.zeros(1, ml_dtypes.bfloat16)):
        assert made.dtype == BF16
    assert td.round(td.asarray([1.26, 2.0], dtype="bfloat16"), 0).tolist() == [1, 2]
    assert td.nan_to_num(td.asarray([np.nan, 1, -np.inf], dtype="bfloat16")).tolist()[0] == 0
    assert td.isclose(t[0], t[0]).all() and td.sort(t[0]).tolist() == [-2.5, 1]


WITHOUT = """
import sys
sys.modules["ml_dtypes"] = None
import numpy, pickle
import treadle as td
x = td.asarray([1, -2.5], dtype="bfloat16")
print(x, repr(x), x.tolist(), x[1].item(), x.view("uint16").get(), x.astype("float32").get())
print(pickle.loads(pickle.dumps(x * 2)), td.zeros(2, td.bfloat16) + x, x @ x)
try:
    x.get()
except TypeError as e:
    print(e)
"""


def test_without_ml_dtypes():
    run = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=True)
    first, second, third = run.stdout.splitlines()
    assert first == "[ 1.  -2.5] array([ 1. , -2.5], dtype=bfloat16) [1.0, -2.5] -2.5 [16256 49184] [ 1.  -2.5]"
    assert second == "[ 2. -5.] [ 1.  -2.5] 7.25"
    assert "astype('float32')" in third and ".view('uint16')" in third and "ml_dtypes" in third
