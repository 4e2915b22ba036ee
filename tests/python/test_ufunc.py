"""ufunc objects as NumPy's: attributes, dtypes of results, keyword arguments, refusals; enumerated from the table."""

import itertools
import pickle

import numpy as np
import pytest
from numpy_side import check

import treadle as td
from treadle import _core

# Rows that are ufuncs of NumPy's by the same name.
UFUNCS = {n: vars(td)[n] for n in _core.ufuncs() if isinstance(getattr(np, n, None), np.ufunc) and n in vars(td)}
UFUNCS = {n: f for n, f in UFUNCS.items() if isinstance(f, td.ufunc)}
CHARS = "?bBhHiIlLefdFD"
ATTRIBUTES = "nin nout nargs identity signature __name__".split()


@pytest.mark.parametrize("name", UFUNCS)
def test_attributes(name):
    ours, theirs = UFUNCS[name], getattr(np, name)
    for attribute in ATTRIBUTES:
        assert getattr(ours, attribute) == getattr(theirs, attribute), attribute
        assert type(getattr(ours, attribute)) is type(getattr(theirs, attribute)), attribute
    loops = [t for t in theirs.types if set(t) <= set(CHARS + "->")]
    if name not in ("isnan", "isinf", "isfinite"):  # of integers they are computed as of floats
        assert sorted(ours.types) == sorted(set(loops))
    assert set(ours.types) <= set(loops) and ours.ntypes == len(ours.types)
    assert pickle.loads(pickle.dumps(ours)) is ours and repr(ours) == repr(theirs)
    assert name in ours.__doc__


def outcome(f, *args):
    """The dtype of a result, or the kind of refusal."""
    try:
        with np.errstate(all="ignore"):
            return f(*args).dtype
    except (TypeError, ValueError, OverflowError) as e:
        return next(t for t in (TypeError, OverflowError, ValueError) if isinstance(e, t))


@pytest.mark.parametrize("name", UFUNCS)
def test_dtypes_of_results(name):
    """For all dtypes of operands and beside Python numbers; nothing is computed here."""
    ours, theirs, ones = UFUNCS[name], getattr(np, name), {c: np.ones(1, c) for c in CHARS}
    twins = {c: td.asarray(x) for c, x in ones.items()}
    for chars in itertools.product(CHARS, repeat=ours.nin):
        wanted = outcome(theirs, *(ones[c] for c in chars))
        assert outcome(ours, *(twins[c] for c in chars)) == wanted, chars
    for c, number in itertools.product(CHARS, (True, 2, -1, 300, 2**40, 1.5, 2j) if ours.nin == 2 else ()):
        assert outcome(ours, twins[c], number) == outcome(theirs, ones[c], number), (c, number)
        if name != "power":  # which looks at the values of exponents
            assert outcome(ours, number, twins[c]) == outcome(theirs, number, ones[c]), (number, c)


# Loops that NumPy finds by going down a list, which has fewer than it could have.
LISTED = {"absolute", "ldexp", "float_power", "isnan", "isinf", "isfinite", "signbit"}


FLOATS = [0.0, -0.0, 0.5, -2.5, 3.0, 1e300, -1e-310, float("inf"), float("nan")]


@pytest.mark.parametrize("name", [n for n in UFUNCS if n not in ("power", "pow")])  # by 0.5 it is a root
@pytest.mark.filterwarnings("ignore")
def test_floats_are_as_arrays_of_one(name, dev):
    """Python's floats and numbers of arrays, which are computed at once, beside arrays: the same bits, dtype or refusal."""
    f, x = UFUNCS[name], td.asarray(FLOATS)

    def bits(*args):
        try:
            r = f(*args)
        except TypeError:
            return TypeError
        values = [np.array(a) for a in (r if isinstance(r, tuple) else (r,))]
        return [(v.dtype, np.where(v == v, v, np.array(np.nan).astype(v.dtype)).tobytes()) for v in values]

    for i in itertools.product(range(len(FLOATS)), repeat=f.nin):
        wanted = bits(*(x[k : k + 1] for k in i))
        assert bits(*(FLOATS[k] for k in i)) == wanted, [FLOATS[k] for k in i]
        assert bits(*(x[k] for k in i)) == wanted, [FLOATS[k] for k in i]
        assert bits(FLOATS[i[0]], *(x[k] for k in i[1:])) == wanted, [FLOATS[k] for k in i]


@pytest.mark.parametrize("name", [n for n in UFUNCS if UFUNCS[n].nin == 2 and n not in LISTED])
@pytest.mark.filterwarnings("ignore")
def test_python_numbers_beside_a_dtype(name):
    """dtype= says what a Python number becomes, whatever the dtype of the array beside it; alone, too."""
    ours, theirs = UFUNCS[name], getattr(np, name)
    for dtype in "?BhLefD":
        for number in (True, 2, -1, 300, 2**40, 1.5, 2j) + (2**63,) * (dtype != "?"):
            assert outcome(lambda: ours(number, 3, dtype=dtype)) == outcome(lambda: theirs(number, 3, dtype=dtype))  # noqa: B023
            for c in "?BlefD":
                x = np.ones(1, c)
                y = td.asarray(x)
                wanted = outcome(lambda: theirs(x, number, dtype=dtype))  # noqa: B023
                assert outcome(lambda: ours(y, number, dtype=dtype)) == wanted, (c, number, dtype)  # noqa: B023


# Calls of both libraries, over a = arange(4), f = linspace(0, 1, 4) and z = zeros.
CALLS = """
np.less(a, f, sig="dd->?")
np.add(a, a, sig="ff->f")
np.add(a, a, signature=("d", None, None))
np.add(a, a, sig=(None, None, "d"))
np.logical_and(a, f, sig="dd->?")
np.logical_and(a, a, dtype=bool)
np.greater(a, f, dtype=bool)
np.add(a == 1, a == 2, dtype=bool)
np.add(f, f, dtype=complex)
np.add(a, f, dtype="i4", casting="unsafe")
np.add(a, 1.7, dtype="i4", casting="unsafe")
np.add(f, f, dtype="f4")
np.add(a, np.float64(2), dtype="f4")
np.sqrt(a, dtype="f4")
np.absolute(a * 1j, dtype="f8")
np.conjugate(a, dtype=complex)
np.left_shift(a.astype("u1"), 1, dtype="u2")
np.add(a, a, out=z(4, "i2"))
np.add(a, f, out=z(4, "i2"), casting="unsafe")
np.add(a, a, out=z((2, 4)))
np.add(a, a, out=(z(4),), where=a > 1)
np.add(a, a, z(4))
np.add(a, a, None)
np.add(a, a, out=(None,), order="C", subok=False)
np.add(a, a, out=z((2, 4)), where=[[True], [False]])
np.multiply(a.astype("u1"), True, dtype="f8")
np.add(a.astype("u1"), 300, dtype="i8")
np.add(a.astype("u1"), 2**63, dtype="u8")
np.add(a.astype("u1"), 2**70, dtype="f8")
np.power(a.astype("u1") + 1, -1, dtype="f8")
np.less(a.astype("u1"), 300, dtype=bool)
np.less(a.astype("u1"), 300, signature="ll->?")
np.add(5, 5, dtype="u1")
np.add(3, 4.5, casting="no")
np.add(2**70, 1, dtype="f4")
np.add(True, 2, dtype="f4")
np.maximum(True, 3, dtype="f2")
np.add(a.astype("u1"), 300, dtype="i8", where=a > 1, out=z(4, "i8"))
np.add(z((0, 2), "u1"), 300, dtype="i8")
np.add(z((), "u1"), 300, dtype="i8")
np.negative(500, dtype="i1", casting="unsafe")
"""
REFUSALS = """
np.add(a, f, dtype="i4")
np.add(a, 1.5, dtype="i8")
np.add(f, f, dtype="f4", casting="safe")
np.add(a, f, casting="no")
np.add(a, f, casting="equiv")
np.sin(a, dtype=int)
np.less(a, f, dtype=float)
np.isnan(f, dtype=float)
np.logical_and(a, a, dtype=float)
np.power(a == 1, a == 2, dtype=bool)
np.divide(a, a, dtype="i8")
np.add(a, a, sig=("d", "d"))
np.add(a, a, sig="d")
np.add(a, a, sig=5)
np.add(a, a, dtype=float, sig="dd->d")
np.add(a, a, sig="dd->d", signature="dd->d")
np.add(a, a, casting="foo")
np.add(a, a, order="X")
np.add(a, f, out=z(4, "i2"))
np.add(a, a, out=z(4, "i2"), casting="safe")
np.add(a, a, out=z(()))
np.add(a, a, out=(1, 2))
np.add(a, a, out=())
np.add(a, a, where=a)
np.add(a, a, a, out=a)
np.add(a)
np.add(a, a, a, a)
np.add(a, a, axis=0)
np.add(a, a, foo=1)
np.add(a, True, dtype=float, casting="no")
np.add(1, 1, dtype=bool)
np.absolute(3, dtype="u1")
np.add(3.5, 4.5j, dtype="f8")
"""


def lines(text):
    return [line for line in text.split("\n") if line]


def call(text, np_, put):
    names = {"np": np_, "a": put(np.arange(4)), "f": put(np.linspace(0, 1, 4)), "z": lambda *args: put(np.zeros(*args))}
    return eval(text, names)


@pytest.mark.parametrize("text", lines(CALLS))
def test_calls(text, dev):
    check(call(text, td, td.asarray), call(text, np, np.asarray), 0, text)


@pytest.mark.parametrize("text", lines(REFUSALS))
def test_refusals(text):
    """The same kind of exception, with the same words."""
    with pytest.raises((TypeError, ValueError)) as theirs:
        call(text, np, np.asarray)
    with pytest.raises((TypeError, ValueError)) as ours:
        call(text, td, td.asarray)
    assert str(ours.value) == str(theirs.value)
    assert issubclass(ours.type, TypeError) == issubclass(theirs.type, TypeError)


@pytest.mark.parametrize("name", ["less", "less_equal", "greater", "greater_equal", "equal", "not_equal"])
@pytest.mark.parametrize("dtype", ["uint64", "int64", "int8"])
def test_integers_that_do_not_fit_are_compared_by_value(name, dtype, dev):
    limits = np.iinfo(dtype)
    x = np.array([limits.min, 0, 1, limits.max - 1, limits.max], dtype)
    for number in (-1, 2**63, 2**64 - 1, 2**70, -(2**70), -(2**63), 300, -300):
        check(UFUNCS[name](td.asarray(x), number), getattr(np, name)(x, number), 0, str(number))
        check(UFUNCS[name](number, td.asarray(x)), getattr(np, name)(number, x), 0, str(number))


@pytest.mark.parametrize("name", ["less", "less_equal", "greater", "greater_equal", "equal", "not_equal"])
@pytest.mark.parametrize("dtype", ["int64", "int8"])
def test_uint64_is_compared_with_signed_integers_by_value(name, dtype, dev):
    """No dtype of integers holds both; float64 would make neighbours equal."""
    limits = np.iinfo(dtype)
    u = np.array([0, 1, 5, 2**63 - 1, 2**63, 2**64 - 1], "uint64")
    s = np.array([limits.min, -1, 0, 5, limits.max - 1, limits.max], dtype)
    for x, y in ((np.repeat(u, 6), np.tile(s, 6)), (np.tile(s, 6), np.repeat(u, 6))):
        check(UFUNCS[name](td.asarray(x), td.asarray(y)), getattr(np, name)(x, y))
    for scalar in s:
        check(UFUNCS[name](td.asarray(u), scalar), getattr(np, name)(u, scalar), 0, str(scalar))
    for scalar in u:
        check(UFUNCS[name](scalar, td.asarray(s)), getattr(np, name)(scalar, s), 0, str(scalar))


FOLDED = "add multiply maximum minimum fmax fmin logical_and logical_or logical_xor bitwise_and bitwise_or bitwise_xor gcd lcm hypot logaddexp power"


@pytest.mark.parametrize("name", FOLDED.split())
@pytest.mark.filterwarnings("ignore")
def test_reduce_of_one_element_in_another_dtype_and_from_a_first_value(name, dev):
    """What the identity and one element give; dtype= beside initial= and where=; powers that integers have not."""
    ours, theirs = getattr(td, name), getattr(np, name)
    arrays = [np.array(v, c) for c in ("i4", "u1", "f8", "?") for v in ([-5 % 256 if c == "u1" else -5], [[-3 % 256 if c == "u1" else -3, 2]], [2, 3, 1], 4)]
    ways = [{}, {"initial": 3}, {"initial": 2.0}, {"axis": None}, {"axis": ()}, {"keepdims": True}, {"where": [True], "initial": 1}]
    for x, way, dtype in itertools.product(arrays, ways, (None, "u4", "f4", "i8", "?")):
        kw = way if dtype is None else {**way, "dtype": dtype}
        results = []
        for f, a in ((ours, td.asarray(x)), (theirs, x)):
            try:
                results.append(np.asarray(f.reduce(a, **kw)))
            except (TypeError, ValueError, OverflowError) as e:
                results.append(e)
        said = f"{name}.reduce({x!r}, {kw}): {results[0]!r}, NumPy {results[1]!r}"
        if isinstance(results[1], Exception):
            kinds = (TypeError, OverflowError, ValueError)
            assert isinstance(results[0], next(t for t in kinds if isinstance(results[1], t))), said
        else:
            assert not isinstance(results[0], Exception) and results[0].dtype == results[1].dtype, said
            if name != "power" or results[1].dtype.kind != "f":  # NumPy 2.4 takes the powers of few floats for others
                np.testing.assert_allclose(results[0], results[1], rtol=2e-3, err_msg=said)


@pytest.mark.parametrize("text", ["np.power.accumulate(x)", "np.power.reduceat(x, [0, 1])", "np.power.reduceat(x, [0])", "np.power.reduce(x)", "np.power.reduceat(x, [1])"])
def test_integers_have_no_negative_powers(text):
    for x in ([2, -1, 2], [-2, 3, 2], [-1], [2, 3, -1]):
        results = []
        for lib in (td, np):
            try:
                results.append(np.asarray(eval(text, {"np": lib, "x": lib.asarray(x)})).tolist())
            except (ValueError, IndexError) as e:
                results.append(type(e))
        assert results[0] == results[1], (text, x)


@pytest.mark.parametrize("name", ["add", "divide", "maximum", "arctan2", "greater", "logical_and"])
@pytest.mark.parametrize("other", [None, "a", {}, object(), slice(2)], ids=lambda o: type(o).__name__)
def test_what_is_no_operand(name, other, dev):
    """What NumPy gives or raises beside objects, whatever stands there; and in ufunc.at nothing is left out in silence."""
    f, theirs = getattr(td, name), getattr(np, name)
    for x in (np.arange(3), td.arange(3), np.arange(3.0), 2, np.float32(2)):
        plain = x.get() if isinstance(x, td.ndarray) else x
        for args, there in (((x, other), (plain, other)), ((other, x), (other, plain))):
            try:
                want = theirs(*there)
            except (TypeError, AttributeError) as error:
                with pytest.raises(type(error)):
                    f(*args)
            else:
                assert str(f(*args)) == str(want)
    x = td.arange(3)
    with pytest.raises((TypeError, ValueError, AttributeError)):
        f.at(x, [0, 1], other)
    assert x.tolist() == [0, 1, 2]


@pytest.mark.parametrize("pair", itertools.combinations_with_replacement("?bBhHiefd", 2), ids="".join)
def test_neighbours_of_integers_are_those_of_their_floats(pair, dev):
    x, y = np.array([1, 0, 1, 1]).astype(pair[0]), np.array([0, 1, 1, 2]).astype(pair[1])
    for a, b in ((x, y), (y, x), (x, 1), (2, y)):
        want = np.nextafter(a, b)
        got = td.nextafter(*(td.asarray(v) if isinstance(v, np.ndarray) else v for v in (a, b)))
        check(got, want, 0, f"{a!r} {b!r}")


@pytest.mark.parametrize("name", ["divide", "floor_divide", "remainder", "fmod"])
@pytest.mark.parametrize("dtype", ["i8", "u1", "i4", "f8", "f4", "c16"])
@pytest.mark.filterwarnings("ignore")
def test_folds_divide_by_zero_as_the_operation_does(name, dtype, dev):
    if dtype == "c16" and name != "divide":
        return
    for seed in range(5):
        rng = np.random.default_rng(seed)
        x = rng.choice(np.array([0, 1, 2, 3, 250], "f8"), (3, 5)).astype(dtype)
        x = -x if dtype[0] in "if" and seed % 2 else x
        t, ours, theirs = td.asarray(x), getattr(td, name), getattr(np, name)
        for f, g in (
            (ours.reduce(t, 1), theirs.reduce(x, 1)),
            (ours.accumulate(t, 0), theirs.accumulate(x, 0)),
            (ours.reduceat(t, [0, 2, 1], 1), theirs.reduceat(x, [0, 2, 1], 1)),
            (ours.reduce(t, 1, initial=0), theirs.reduce(x, 1, initial=0)),
        ):
            f, said = np.asarray(f), f"{name} seed {seed}: {x!r}"
            assert f.dtype == g.dtype, said
            np.testing.assert_allclose(f, g, rtol=1e-5, err_msg=said)


def test_squares_of_bools_are_int8():
    """By the operator and the number 2 alone."""
    x = np.array([True, False])
    for power in (2, 3, 1, 0, 2.0, np.int8(2), np.int64(2), True, -1.0):
        try:
            want = x**power
        except (TypeError, ValueError) as e:
            with pytest.raises(type(e)):
                td.asarray(x) ** power
            continue
        check(td.asarray(x) ** power, want, 0, repr(power))
    check(td.power(td.asarray(x), 2), np.power(x, 2))


@pytest.mark.parametrize("name", [n for n in dir(np) if isinstance(getattr(np, n), np.ufunc)])
def test_a_mask_of_none_is_false(name, dev):
    """As NumPy takes where=None: nothing is written."""
    f = getattr(td, name, None)
    if f is None or not hasattr(f, "nin") or f.signature:
        pytest.skip("not a function of elements here")
    x = np.arange(1, 5)
    for dtype in ("int32", "float32"):
        xs = [td.asarray(x.astype(dtype))] * f.nin
        try:
            outs = [td.full(r.shape, 7, dtype=r.dtype) for r in (f(*xs) if f.nout > 1 else (f(*xs),))]
        except TypeError:
            continue
        f(*xs, where=None, out=tuple(outs))
        assert all((r.get() == np.asarray(7).astype(r.dtype)).all() for r in outs)
