"""Elements, sums and what is computed from them: arrays without axes here, scalars in NumPy.  They behave as its scalars
where these and its arrays without axes part."""

import collections
import datetime
import decimal
import fractions
import functools
import json
import math
import numbers as numbers_of_python
import operator
import pickle
import random
import sqlite3
import statistics

import numpy as np
import pytest

import treadle as td


def numbers(n, dtype):
    """What is a scalar in NumPy."""
    a = td.asarray(np.arange(1, n + 1), dtype=dtype)
    sums = [a.sum(), a.max(), a @ a, td.mean(a)]
    return [a[1], next(iter(a)), a[0] + a[1], td.multiply(a[1], a[2]), a[2].copy(), a[2].astype("f4"), *sums]


def arrays():
    """What is an array without axes in NumPy."""
    a = td.arange(6.0)
    made = [td.asarray(2.0), td.zeros(()), td.full((), 3.0), td.asarray(5.0).copy(), td.asarray(5.0).astype("f4")]
    return [*made, a[1, ...], a[2:3].reshape(())]


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8"])
@pytest.mark.parametrize("n", [5, 100_000])
def test_written_in_place_number_is_a_new_one(n, dtype):
    for change in ("+= 1", "-= 2", "*= 3", "/= 4", "//= 2", "%= 2", "**= 2"):
        for ours in numbers(n, dtype):
            got, want = {"x": ours}, {"x": ours.get()[()]}
            exec(f"y = x; x {change}", got)
            exec(f"y = x; x {change}", want)
            np.testing.assert_allclose(got["x"].get(), want["x"], rtol=1e-6)
            np.testing.assert_allclose(got["y"].get(), want["y"], rtol=1e-6)
            assert got["x"].dtype == want["x"].dtype and got["y"].dtype == want["y"].dtype


def test_written_in_place_array_is_the_same_one():
    for x in arrays():
        y = x
        x += 1
        assert x is y


def test_sums_kept_in_a_list():
    a, total, kept = td.asarray([1.0, 8.0, 2.0]), 0, []
    for i in range(3):
        total += a[i]
        kept.append(total)
    assert [float(t) for t in kept] == [1, 9, 11]
    count = (a > 1).sum()
    count /= 2  # NumPy's integer becomes a float
    assert count.dtype == np.float64 and count == 1
    one = a[0]
    one += a  # and an array where the other operand is one
    assert one.tolist() == [2, 9, 3] and a[0] == 1


def test_number_is_a_key():
    a = td.asarray([3, 1, 3])
    assert len({a[0], a[1], a[2]}) == 2
    assert {3: "x"}[a[0]] == "x" and {a[1]: "y"}[1] == "y"
    assert hash(td.asarray([0.5])[0]) == hash(0.5)
    nan = td.asarray([np.nan])[0]
    assert hash(nan) == hash(nan)
    for x in [*arrays(), td.ones(3)]:
        with pytest.raises(TypeError, match="unhashable type"):
            hash(x)


def test_number_is_rounded():
    for dtype in ("f8", "f4", "i8"):
        ours, theirs = td.asarray([12.345, 2.5], dtype=dtype), np.asarray([12.345, 2.5], dtype=dtype)
        for k in range(2):
            assert round(ours[k]) == round(theirs[k]) and type(round(ours[k])) is int
            assert round(ours[k], None) == round(theirs[k], None)
            assert round(ours[k], 1).get() == round(theirs[k], 1) and round(ours[k], 1).dtype == dtype
    with pytest.raises(ValueError, match="NaN"):
        round(td.asarray([np.nan])[0])
    for x in [*arrays(), td.ones(3)]:
        with pytest.raises(TypeError, match="doesn't define __round__"):
            round(x)


@pytest.mark.parametrize("dtype", ["c8", "c16"])
def test_complex_numbers(dtype):
    """int and float of a complex scalar take its real part, with a warning; of an array without axes, and round, fail."""
    ours, theirs = td.asarray([3.5 + 2j], dtype=dtype), np.asarray([3.5 + 2j], dtype=dtype)
    for how in (int, float):
        with pytest.warns(np.exceptions.ComplexWarning):
            want = how(theirs[0])
        for x in (ours[0], ours.sum(), ours[0] + 0):
            with pytest.warns(np.exceptions.ComplexWarning):
                got = how(x)
            assert got == want and type(got) is how
        for x in (theirs.reshape(()), td.asarray(theirs.reshape(())), ours):
            with pytest.raises(TypeError):
                how(x)
    for x in (theirs[0], ours[0], theirs.any(), ours.any()):
        for digits in ((), (1,)):
            with pytest.raises(TypeError, match="doesn't define __round__"):
                round(x, *digits)


def test_number_repeats_a_sequence():
    n = td.asarray([2, 3])[0]
    assert [1] * n == [1, 1] and n * (1, 2) == (1, 2, 1, 2) and "ab" * n == "abab"
    with pytest.raises(TypeError, match="integer"):
        [1] * td.asarray([2.0])[0]
    assert ([1, 2] * td.asarray(2)).tolist() == [2, 4]  # an array: NumPy's product, too


def test_isscalar():
    assert all(td.isscalar(x) for x in numbers(5, "f8")) and td.isscalar(3)
    assert not any(td.isscalar(x) for x in [*arrays(), td.ones(1), [1]])


BESIDE = [
    "v * datetime.timedelta(seconds=1)", "datetime.timedelta(seconds=9) * v", "datetime.timedelta(seconds=9) / v",
    "datetime.timedelta(seconds=9) // v", "v + fractions.Fraction(1, 2)", "fractions.Fraction(1, 3) * v",
    "fractions.Fraction(7, 2) % v", "decimal.Decimal(2) * v", "v - decimal.Decimal(1)",
]  # fmt: skip


@pytest.mark.parametrize("dtype", ["f8", "i8"])
@pytest.mark.parametrize("expression", BESIDE)
def test_beside_pythons_other_numbers_they_are_numpys_scalars(expression, dtype):
    scope = {"datetime": datetime, "fractions": fractions, "decimal": decimal}

    def answer(v):
        try:
            r = eval(expression, scope, {"v": v})
        except TypeError:
            return TypeError
        return (r.dtype, float(r)) if isinstance(r, (np.number, td.ndarray)) else (type(r), r)

    a = np.arange(5).astype(dtype)
    assert answer(td.asarray(a).sum()) == answer(a.sum())


def test_arrays_beside_pythons_other_numbers_are_arrays_of_objects():
    for other in (datetime.timedelta(seconds=1), decimal.Decimal(2), fractions.Fraction(1, 2)):
        ours, theirs = td.arange(3) * other, np.arange(3) * other
        assert ours.dtype == theirs.dtype == object and ours.tolist() == theirs.tolist() == (other * td.arange(3)).tolist()
    for a in (td.arange(3), td.arange(3).sum()):
        with pytest.raises(TypeError):
            a + object()


def test_refused_minus_of_bools_in_numpys_words():
    for f in (lambda a: -a, lambda a: a - a):
        told = []
        for a in (np.array([True]), td.asarray([True])):
            with pytest.raises(TypeError) as e:
                f(a)
            told.append(str(e.value))
        assert told[0] == told[1]


OF_NUMBERS = [
    "v.is_integer()", "v.bit_count()", "v.as_integer_ratio()", "v.hex()", "fractions.Fraction(v)",
    "v.numerator", "v.denominator", "math.trunc(v)", "f'{v}'", "format(v)", "f'{v:.3f}'", "str(v)",
]  # fmt: skip


@pytest.mark.parametrize("dtype", ["f8", "f4", "f2", "i8", "u1", "?", "c16"])
@pytest.mark.parametrize("expression", OF_NUMBERS)
def test_numbers_have_what_numpys_scalars_have(expression, dtype):

    def answer(v):
        try:
            r = eval(expression, {"math": math, "fractions": fractions}, {"v": v})
        except (AttributeError, TypeError) as e:
            return type(e)
        return type(r), r

    for n in (1 / 3, 7):
        theirs = np.asarray([n, 0]).astype(dtype)
        want, got = answer(theirs.max()), answer(td.asarray(theirs).max())
        if expression != "math.trunc(v)" or want is not TypeError:  # Python's numbers have it, NumPy's integers lack it
            assert got == want
        of_array, ours = theirs.reshape(1, 2)[0, :1].reshape(()), td.asarray(theirs)[:1].reshape(())
        if "." in expression and "'" not in expression:
            assert answer(ours) == answer(of_array)
    assert f"{td.ones(2)}" == f"{np.ones(2)}" and f"{td.asarray(0.1, dtype='f4')}" == f"{np.asarray(0.1, dtype='f4')}"


def test_statistics_of_numbers():
    theirs = np.asarray([1.5, 2.25, 4.0])
    for name in ("stdev", "pstdev", "fmean", "median", "mean", "harmonic_mean", "variance"):
        got = getattr(statistics, name)(list(td.asarray(theirs)))
        assert got == getattr(statistics, name)(list(theirs)) and td.isscalar(got)


CLASSES = [
    bool, int, float, complex, numbers_of_python.Number, numbers_of_python.Complex, numbers_of_python.Real,
    numbers_of_python.Rational, numbers_of_python.Integral, np.generic, np.number, np.integer, np.signedinteger,
    np.unsignedinteger, np.inexact, np.floating, np.complexfloating, np.bool_, np.float64, np.float32, np.int64,
    collections.abc.Hashable, collections.abc.Iterable, collections.abc.Sized, collections.abc.Container,
    collections.abc.Sequence,
]  # fmt: skip
TYPES = [*(np.dtype(c).type for c in "?bBhHiIlLefdFD"), int, float, complex, str]


@pytest.mark.parametrize("dtype", ["f8", "f4", "f2", "i8", "u1", "?", "c16", "c8"])
def test_numbers_are_instances_of_what_numpys_scalars_are(dtype):
    theirs = np.asarray([1, 0]).astype(dtype)
    ours = td.asarray(theirs)
    for want, got in ((theirs[0], ours[0]), (theirs.max(), ours.max()), (theirs[0] + theirs[1], ours[0] + ours[1])):
        assert [isinstance(got, c) for c in CLASSES] == [isinstance(want, c) for c in CLASSES]
        assert got.__class__ is type(want) and not isinstance(got, td.ndarray)
    for array in (ours, ours[:1].reshape(()), td.asarray(theirs[0])):
        assert [isinstance(array, c) for c in CLASSES] == [isinstance(theirs, c) for c in CLASSES]
        assert array.__class__ is td.ndarray and not isinstance(array, type(ours[0]))


@pytest.mark.parametrize("dtype", ["?", "i1", "u8", "i8", "f2", "f4", "f8", "c8", "c16"])
def test_types_of_numbers_stand_for_numpys(dtype):
    theirs = np.asarray([1, 0]).astype(dtype)
    ours = td.asarray(theirs)
    for want, got in ((theirs[0], ours[0]), (theirs.sum(), ours.sum()), (np.dot(theirs, theirs), td.dot(ours, ours))):
        want, number, got = type(want), got, type(got)
        assert [got == t for t in TYPES] == [want == t for t in TYPES] == [t == got for t in TYPES]
        assert (got in (float, np.float64)) == (want in (float, np.float64)) and got.__name__ == want.__name__
        assert type(got(1)) is want and got(1) == want(1) and isinstance(want(1), got) and issubclass(want, got)
        assert np.dtype(got) == np.dtype(want) == td.zeros(2, got).dtype == ours.astype(got).dtype
        assert td.issubdtype(got, np.inexact) == np.issubdtype(want, np.inexact)
        assert pickle.loads(pickle.dumps(got)) is got
        again = pickle.loads(pickle.dumps(number))
        assert type(again) is got and again == number and hash(again) == hash(number)
        assert [hasattr(number, n) for n in ("__len__", "__iter__", "__contains__", "__getitem__")] == [0, 0, 0, 1]


def test_tables_of_types_keep_numbers_and_numpys_scalars_apart():
    """Libraries keep serializers and the like so, for the values of the one or of the other."""
    for number in numbers(3, "f8"):
        assert type(number) not in {np.float64: 1, np.float32: 2} and np.float64 not in {type(number): 1}


def test_numbers_beside_pythons_other_numbers():
    for theirs in (np.array([3, 1]), np.array([2.5, 0.5]), np.array([2.5, 0.5], "f4")):
        ours = td.asarray(theirs)
        for other in (decimal.Decimal(2), fractions.Fraction(1, 2), decimal.Decimal("2.5")):
            for op in (operator.lt, operator.le, operator.eq, operator.ne, operator.gt, operator.ge):
                for got, want in ((ours[0], theirs[0]), (ours.max(), theirs.max())):
                    assert bool(op(got, other)) == bool(op(want, other))
                    if want.dtype.kind != "i":  # Decimal refuses NumPy's integers
                        assert bool(op(other, got)) == bool(op(other, want))
                assert np.asarray(op(ours, other)).tolist() == op(theirs, other).tolist()


def test_single_dispatch_takes_numbers_for_numbers():
    @functools.singledispatch
    def kind(x):
        return "other"

    kind.register(float, lambda x: "float")
    kind.register(np.ndarray, lambda x: "array")
    kind.register(numbers_of_python.Integral, lambda x: "integer")
    assert [kind(x) for x in (td.ones(2).sum(), td.arange(3)[1], td.ones(2))] == ["float", "integer", "other"]


@pytest.mark.parametrize("encoder", [json.JSONEncoder, type("Own", (json.JSONEncoder,), {})])
def test_json_writes_what_it_writes_of_numpy(encoder):
    for dtype in ("f8", "f4", "i8", "?"):
        for f in (lambda a: a[0], lambda a: {"x": [a.max()]}, lambda a: a, lambda a: a.reshape(())):
            told = []
            for a in (np.asarray([1]).astype(dtype), td.asarray(np.asarray([1]).astype(dtype))):
                try:
                    told.append(json.dumps(f(a), cls=encoder, indent=1))
                except TypeError as e:
                    told.append(str(e))
            assert told[0] == told[1]


def test_seeds_of_pythons_generator():
    a = np.asarray([2.5, 7.0])
    assert random.Random(td.asarray(a)[0]).random() == random.Random(a[0]).random()


def test_squares_of_bools():
    """Of a scalar int64, of an array int8."""
    ours, theirs = td.asarray([True, False]), np.asarray([True, False])
    for f in (
        lambda a: a[0] ** 2,
        lambda a: a.any() ** 2,
        lambda a: a**2,
        lambda a: a[:1].reshape(()) ** 2,
        lambda a: a**3,
    ):
        assert f(ours).dtype == f(theirs).dtype and (f(ours).get() == f(theirs)).all()


def test_sqlite_stores_numbers():
    table = sqlite3.connect(":memory:")
    for dtype in ("f8", "f4", "i8", "u1"):
        a = td.asarray([3, 4], dtype=dtype)
        stored = table.execute("select ?, ?, ?", (a.sum(), a.mean(), a)).fetchone()
        assert stored == (7, 3.5, a.get().tobytes())
        assert type(stored[0]) is type(a.sum().item())


AS_ARGUMENTS = [
    "np.r_[v, 1, 2]", "np.r_[v, np.ones(2, v.dtype)]", "np.mgrid[0:v]", "np.ogrid[0:v, 0:3]", "np.linspace(0, v, 3)",
    "np.full(2, v)", "np.zeros((v, 2))", "np.arange(v)", "np.ones(6).reshape(v, 3)", "np.expand_dims(np.ones((2, 2, 2)), v)",
    "np.roll(np.arange(5), v)", "np.repeat(np.arange(2), v)", "np.tile(np.arange(2), v)", "np.split(np.arange(6), v)",
    "np.unravel_index(v, (3, 3))", "np.eye(v)", "np.pad(np.ones(2), 1, constant_values=v)", "np.insert(np.arange(3), 1, v)",
    "np.random.permutation(v).shape", "np.random.choice(v, 2).shape", "np.random.rand(v).shape", "np.diff(np.arange(5) ** 2, v)",
    "np.gradient(np.arange(4.0), v)", "np.std(np.arange(5.0), ddof=v, where=np.arange(5) > 0)", "np.quantile(np.arange(5.0), v / 4)",
    "np.linalg.matrix_power(np.ones((2, 2)), v)", "np.linalg.norm(np.arange(3.0), v)", "np.tensordot(np.ones((2, 2)), np.ones((2, 2)), v)",
    "np.interp(v, [0, 5], [0, 5])", "np.polyval([1, 2], v)", "np.sum(np.ones((2, 2, 3)), axis=v)", "np.arange(9)[v:]",
]  # fmt: skip


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8"])
@pytest.mark.parametrize("expression", AS_ARGUMENTS)
def test_numbers_as_arguments_are_taken_as_numpys_scalars(expression, dtype):
    theirs = np.asarray([2, 1]).astype(dtype)

    def answer(module, v):
        try:
            r = eval(expression, {"np": module, "v": v})
        except Exception as e:
            return "raised", isinstance(e, (TypeError, IndexError, ValueError))
        return [(np.asarray(x).dtype, np.asarray(x).tolist()) for x in (r if isinstance(r, (list, tuple)) else [r])]

    assert answer(td, td.asarray(theirs).max()) == answer(np, theirs.max())
