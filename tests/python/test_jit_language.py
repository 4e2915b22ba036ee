"""Compiled functions beside CPython: functions inside functions, None, indices by arrays, finally, heaps, iteration."""

import collections
import functools
import heapq
import itertools
import math

import numpy as np
import pytest

import treadle as td
from treadle import njit, prange
from treadle._compile import _jit


def alike(f, *args, **kwargs):
    """Compiled and interpreted: the same results, the same changes of arguments, or the same exception."""
    mine, theirs = _copied(args), _copied(args)
    try:
        want = f(*theirs, **kwargs)
    except Exception as e:
        with pytest.raises(type(e)):
            njit(f)(*mine, **kwargs)
    else:
        _same(njit(f)(*mine, **kwargs), want)
    _same(mine, theirs)


def _copied(args):
    return tuple(_copied(a) if type(a) is tuple else a.copy() if isinstance(a, (np.ndarray, list)) else a for a in args)


def _same(got, want):
    if isinstance(want, (tuple, list)):
        assert len(got) == len(want)
        for g, w in zip(got, want, strict=True):
            _same(g, w)
    elif isinstance(want, np.ndarray):
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(got, want)
    else:
        assert (got is None) == (want is None) and (got == want or (got != got and want != want))


# ---- functions inside functions ----


def captures(x):
    k = x * 2

    def g(y, z=3):
        return y + k + z

    first = g(1)
    k = k + 100
    return first, g(1), g(1, z=k), (lambda a, b=k: a * b + k)(2)


def handed_on(x, n):
    def twice(f, y):
        return f(f(y))

    total = 0
    for i in range(n):

        def step(y):
            return y * 3 + i + x  # noqa: B023

        total += twice(step, i)
    return total


def in_branches(x):
    f = lambda y: y + 1  # noqa: E731
    s = 0
    for i in range(x):
        if i % 2:
            s += f(i)
        else:
            g = lambda y: y * 10  # noqa: E731
            s += g(i)
    return s


def maybe_unset(x, n):
    for i in range(n):
        last = i + x

    def g():
        return last

    return g()


def changes_a_list(n):
    out = [0]

    def add(x):
        out.append(x)
        return len(out)

    s = 0
    for i in range(n):
        s += add(i)
    return out, s


@pytest.mark.parametrize("f, args", [
    (captures, (4,)), (captures, (2.5,)), (handed_on, (2, 4)), (in_branches, (7,)), (maybe_unset, (1, 3)), (maybe_unset, (1, 0)),
    (changes_a_list, (4,)),
])  # fmt: skip
def test_functions_inside(f, args):
    alike(f, *args)


def calls_itself(n):
    def g(k):
        return 1 if k < 2 else k * g(k - 1)

    return g(n)


def chosen_at_run_time(x):
    f = (lambda y: y) if x > 0 else (lambda y: -y)
    return f(x)


@pytest.mark.parametrize("f, says", [(calls_itself, "calls itself"), (chosen_at_run_time, "on one path")])
def test_functions_inside_that_are_refused(f, says):
    with pytest.raises(TypeError, match=says):
        njit(f)(3)


# ---- None on a path ----


def first_above(a, least):
    found = None
    for x in a:
        if x > least:
            found = x
            break
    return found


def used(a, least):
    x = None
    for v in a:
        if v > least and (x is None or v < x):
            x = v
    if x is None:
        return -1.0
    return x * 2 + (x if x else 7) + (0 if not x else 1)


def asked(a, least):
    x, y = (a[0] if least < 1 else None), (a[1] if least < 2 else None)
    return x is None, x is not None, x == y, x != y, x == 3, (x or 5), (y and x), bool(x), x is None and y is None


def array_or_none(a, least):
    b = None
    if least > 0:
        b = a * 2
    s = 0.0
    for _ in range(2):
        if b is not None:
            s += b.sum()
            b = b[1:] if b.size > 3 else None
    return s, b


def through_a_call(a, least):
    def find(k):
        if k > least:
            return a[k], k
        return None

    n = 0
    for k in range(a.size):
        r = find(k)
        if r is not None:
            n += r[1]
    return n, find(0), find(a.size - 1)


def text_or_none(a, least):
    s = None
    if least > 1:
        s = "x" * int(least)
    return s, 0 if s is None else len(s), bool(s)


def one_text_or_another(a, least):
    s = None
    if least > 1:
        s = "many"
    elif a.size > 3:
        s = "few"
    if s == "many":
        return s
    if s is not None:
        return "some"


def is_a_bool(a, least):
    b = a.size > 3
    return b is True, b is False, b is not True, (least > 0) is b, a.size is True, least is not False


def from_a_dict(a, least):
    d = {1: 10.0, 2: 20.0}
    x = d.get(int(least))
    return x, d.get(2), (d.get(7) is None), x is not None and x > 5


def in_place_of_a_number(a, least):
    x = None
    if least > 1:
        x = 1
    return a[x] + x


OPTIONALS = [first_above, used, asked, array_or_none, through_a_call, text_or_none, one_text_or_another, is_a_bool, from_a_dict, in_place_of_a_number]


@pytest.mark.parametrize("least", [-1.0, 0.0, 1.0, 2.0, 9.0])
@pytest.mark.parametrize("f", OPTIONALS)
def test_none_on_a_path(f, least):
    if f is in_place_of_a_number and least <= 1:
        with pytest.raises(TypeError, match="expected int64, got None|expected int, got None"):
            njit(f)(np.arange(5.0), least)
    else:
        alike(f, np.arange(5.0), least)


# ---- variables of several types ----


def reused(a):
    x = (1, 2)
    s = x[0]
    for x in a:
        s += x
    for i in range(3):
        t = a if i > 5 else a * i
        s += t.sum()
    for t in range(2):
        s += t
    return s


def read_where_they_meet(a):
    x = (1, 2)
    for x in a:  # noqa: B007
        pass
    return x


def test_variables_of_several_types():
    alike(reused, np.arange(4.0))
    with pytest.raises(TypeError, match="one type where paths meet"):
        njit(read_where_they_meet)(np.arange(4.0))


# ---- indices ----


@njit
def take(a, i):
    return a[i]


@njit
def put(a, i, x):
    a[i] = x
    return a


@njit
def add(a, i, x):
    a[i] += x
    return a


KEYS = [
    np.array([0, 2, -1]), np.array([], int), np.array([1, 1]), np.array([True, False, True, False]), np.array([3], np.uint8),
    (np.array([0, 3]), np.array([1, 2])), (np.array([1, 2]), 1),
    (2, np.array([0, 2])), (np.array([True, False, True, False]), np.array([0, 2])), np.array([9]), np.array([-5]),
    (np.array([0]), np.array([3])), np.array([[0, 1], [2, 3]]), np.array([True, False]),
]  # fmt: skip


def outcome(f, *args):
    try:
        return f(*args)
    except (IndexError, ValueError) as e:
        return type(e)


@pytest.mark.parametrize("key", KEYS, ids=repr)
@pytest.mark.parametrize("shape", [(4,), (4, 3)])
def test_indices_by_arrays(shape, key):
    a = np.arange(float(math.prod(shape))).reshape(shape)
    if isinstance(key, tuple) and len(shape) == 1:
        pytest.skip("a tuple has more indices than the array has axes")
    whole = isinstance(key, np.ndarray) and key.ndim > 1 and len(shape) > 1
    want = outcome(lambda: a[key])
    if whole:  # a result of three axes
        with pytest.raises(IndexError):
            take(a, key)
        return
    _check(take(a, key) if not isinstance(want, type) else outcome(take, a, key), want)
    values = [5.0] + ([np.asarray(want) * 10 + 1, 2 * np.ones(np.shape(want)[-1:])] if not isinstance(want, type) else [])
    for x, (mine, theirs) in itertools.product(values, [(put, put.py_func), (add, add.py_func)]):
        _check(outcome(mine, a.copy(), key, x), outcome(theirs, a.copy(), key, x))


BESIDE_SLICES = [
    lambda a, i, m, x: a[i, :], lambda a, i, m, x: a[:, i], lambda a, i, m, x: a[1:3, m], lambda a, i, m, x: a[i, 0:2],
    lambda a, i, m, x: a[::-1, i],
]  # fmt: skip


@pytest.mark.parametrize("f", BESIDE_SLICES)
def test_indices_by_arrays_beside_slices(f):
    alike(f, np.arange(12.0).reshape(4, 3), np.array([2, 0]), np.array([True, False, True]), 5.0)


def stored_beside_slices(a, i, m, x):
    a[i, :] = x
    a[:, m] += 1
    a[1:3, i] = a[1:3, i] * 10
    a[i, 1:] = a[0][1:]
    return a.sum()


def test_stores_beside_slices():
    alike(stored_beside_slices, np.arange(12.0).reshape(4, 3), np.array([2, 0]), np.array([True, False, True]), 5.0)


def _check(got, want):
    if isinstance(want, type):
        assert got is want
    else:
        np.testing.assert_array_equal(got, want)


def indices(a):
    s = 0.0
    n = 0
    for at in np.ndindex(a.shape):
        s += a[at] * n
        n += 1
    for at, v in np.ndenumerate(a):
        s += v * at[0] - at[-1]
    return s, n


@pytest.mark.parametrize("shape", [(3,), (2, 3), (2, 0, 3), (2, 3, 2), (1, 1)])
def test_ndindex(shape):
    alike(indices, np.random.default_rng(1).standard_normal(shape))


def unpacked(p, rows):
    x, y, z = p
    s = 0.0
    for u, v in rows:
        s += u * v + x - y * z
    return s


def test_unpacking_arrays():
    rows = np.arange(6.0).reshape(3, 2)
    alike(unpacked, np.arange(3.0), rows)
    alike(unpacked, np.arange(4.0), rows)
    alike(unpacked, np.arange(3.0), rows.T.copy())


def of_several(arrays, i):
    s = 0.0
    for k in range(len(arrays)):
        s += arrays[k][0] * k
    b = arrays[i]
    b[0] = 7
    return s + arrays[i].sum()


def test_tuples_indexed_at_run_time():
    a, b = np.arange(3.0) + 1, np.arange(8.0)[::2] + 2
    for i in (0, 1, -1):
        alike(of_several, (a.copy(), b.copy()), i)
    with pytest.raises(TypeError, match="values of one type"):
        njit(of_several)((a, np.arange(3)), 1)


# ---- try, finally ----


def leaving(x, log):
    for i in range(4):
        try:
            try:
                if x == i:
                    break
                if x == i + 10:
                    continue
                if x == i + 20:
                    return i
                if x == i + 30:
                    raise ValueError("inner")
                log[0] += 1
            finally:
                log[1] += i
                for k in range(i):
                    log[2] += k
        except Exception:
            log[3] += 1
        finally:
            log[4] += 1
        log[5] += 1
    return -1


def answered_by_finally(x, log):
    try:
        return 1
    finally:
        if x % 2:
            return 2  # noqa: B012
        log[0] = x


@pytest.mark.parametrize("f", [leaving, answered_by_finally])
def test_leaving_a_try(f):
    for x in [*range(4), *range(10, 14), *range(20, 24), *range(30, 34)]:
        alike(f, x, np.zeros(6, int))


# ---- order ----


def heaps(xs):
    h = [xs[0]]
    for x in xs[1:]:
        heapq.heappush(h, x)
    order = []
    while len(h) > 0:
        order.append(heapq.heappop(h))
    g = xs.copy()
    heapq.heapify(g)
    return order, heapq.heapreplace(g, xs[1]), heapq.heappushpop(g, xs[2]), g, heapq.nsmallest(3, xs), heapq.nlargest(2, xs)


def test_heaps():
    seed = np.random.SeedSequence().entropy
    print("seed", seed)
    r = np.random.default_rng(seed)
    for _ in range(5):
        pairs = [(float(x), int(y)) for x, y in zip(r.integers(0, 4, 20), r.integers(0, 9, 20), strict=True)]
        alike(heaps, pairs)
        alike(heaps, [p[1] for p in pairs])


def ordered(a, b):
    return a < b, a <= b, a > b, a >= b, a == b, a != b


def test_tuples_in_order():
    def values():  # a NaN is equal to itself in Python's tuples
        return [(1, 2.5), (1,), (1, 3.0), (2, 1.0), (1, float("nan")), ()]

    for a, b in itertools.product(values(), values()):
        alike(ordered, a, b)


# ---- parameters ----


def keyword_only(a, *, b, c=3):
    return a * 100 + b * 10 + c


def test_keyword_only_parameters():
    f = njit(keyword_only)
    assert f(1, b=2) == 123 and f(1, c=5, b=4) == 145 and f(a=2, b=2.5) == 228.0
    for args, kwargs in (((1,), {}), ((1, 2), {}), ((1,), {"b": 2, "d": 3})):
        with pytest.raises(TypeError):
            f(*args, **kwargs)


def test_declared_variables():
    @njit(locals={"s": td.types.float32, "n": td.types.uint8})
    def f(a):
        s = 0
        n = 250
        for x in a:
            s += x
            n += 1
        return s, n

    s, n = f(np.full(10, 0.1))
    want = np.float32(0)
    for x in np.full(10, 0.1):
        want = np.float32(want + x)
    assert (s, n) == (float(want), 4)
    with pytest.raises(TypeError, match="locals"):
        njit(locals={"s": td.types.unicode_type})(lambda a: a)


# ---- calls of what this package makes of functions ----


@td.vectorize
def weighted(x, y):
    return x + 2 * y


@td.vectorize(["float32(float32, float32)", "float64(float64, float64)"])
def declared_types(x, y):
    return x / y


@td.stencil
def cross(a, k):
    return k * (a[0, 1] + a[1, 0] + a[0, -1] + a[-1, 0])


@td.guvectorize(["void(float64[:], float64[:], float64[:], float64[:])"], "(n),()->(n),()")
def moved(x, y, r, total):
    total[0] = 0
    for i in range(x.shape[0]):
        r[i] = x[i] + y[0]
        total[0] += r[i]


@pytest.mark.parametrize("f, shapes", [
    (weighted, [(3,), (3,)]), (weighted, [(2, 3), (3,)]), (weighted, [(2, 1), (3,)]), (weighted, [(2, 3), ()]), (weighted, [(), ()]),
    (declared_types, [(4,), ()]), (declared_types, [(2, 2), (2,)]), (cross, [(4, 5), ()]), (moved, [(4,), ()]), (moved, [(2, 4), (2,)]),
])  # fmt: skip
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_ufuncs_stencils_and_gufuncs_are_called(f, shapes, dtype):
    r = np.random.default_rng(2)
    args = [dtype(r.random()) if not s else r.random(s).astype(dtype) for s in shapes]
    got, want = njit(lambda x, y: f(x, y))(*args), f(*args)
    for g, w in zip(got if isinstance(want, tuple) else [got], want if isinstance(want, tuple) else [want], strict=True):
        np.testing.assert_allclose(g, w, rtol=1e-6)
        assert np.ndim(g) == 0 or g.dtype == w.dtype


def test_ufuncs_take_their_results():
    def into(x, y, out):
        weighted(x, y, out)
        return out

    a = np.arange(3.0)
    np.testing.assert_array_equal(njit(into)(a, a, np.zeros(3)), 3 * a)
    with pytest.raises(ValueError, match="fit"):
        njit(lambda x, y: weighted(x, y))(a, np.arange(4.0))


# ---- what dtypes hold ----


@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"])
def test_iinfo(dtype):
    a = np.zeros(1, dtype)
    assert njit(lambda a: (np.iinfo(a.dtype).min, np.iinfo(a.dtype).max, np.iinfo(a.dtype).bits))(a) == (
        np.iinfo(dtype).min, np.iinfo(dtype).max, np.iinfo(dtype).bits)  # fmt: skip


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_finfo(dtype):
    got = njit(lambda a: (np.finfo(a.dtype).eps, np.finfo(a.dtype).max, np.finfo(a.dtype).tiny))(np.zeros(1, dtype))
    assert got == (np.finfo(dtype).eps, np.finfo(dtype).max, np.finfo(dtype).tiny)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.int32, np.float32, np.complex64])
@pytest.mark.parametrize("of", [np.uint8, np.int32, np.float64])
def test_sums_have_the_dtype_that_is_asked_for(dtype, of):
    def along(y):
        return np.sum(y, axis=1, dtype=dtype), y.prod(axis=0, dtype=dtype)

    def whole(y):
        return np.sum(y, dtype=dtype), y.prod(dtype=dtype)

    y = (np.arange(12).reshape(3, 4) + 60).astype(of)
    _same(njit(along)(y), along(y))
    for got, wanted in zip(njit(whole)(y), whole(y), strict=True):
        assert got == wanted


# ---- dividing by zero: each function's own error_model ----


@td.vectorize
def ratio(x, y):
    return x / y


@td.guvectorize("(n),()->(n)")
def ratios(x, y, out):
    for i in range(x.shape[0]):
        out[i] = x[i] / y


@njit(error_model="numpy")
def open_ratio(x, y):
    return x / y


@njit
def strict_ratio(x, y):
    return x / y


def plain_ratio(x, y):
    return x / y


@pytest.mark.parametrize("model", ["python", "numpy"])
@pytest.mark.parametrize("f, raises", [(ratio, False), (open_ratio, False), (strict_ratio, True), (plain_ratio, None)])
def test_a_function_divides_by_its_own_error_model(model, f, raises):
    caller = njit(lambda x, y: f(x, y) + 0.0, error_model=model)
    after = njit(lambda x, y: (f(x, 1.0), x / y), error_model=model)
    assert caller(3.0, 2.0) == 1.5
    if model == "python" if raises is None else raises:
        with pytest.raises(ZeroDivisionError):
            caller(1.0, 0.0)
    else:
        assert caller(1.0, 0.0) == np.inf
    if model == "python":  # the call before it changes nothing for the caller
        with pytest.raises(ZeroDivisionError):
            after(1.0, 0.0)
    else:
        assert after(1.0, 0.0) == (1.0, np.inf)


def test_ufuncs_of_arrays_divide_by_their_own_error_model():
    a = np.array([1.0, 2.0])
    assert njit(lambda x: ratio(x, 0.0))(a).tolist() == [np.inf] * 2
    assert njit(lambda x: ratios(x, 0.0))(a).tolist() == [np.inf] * 2
    strict = td.vectorize(plain_ratio, error_model="python")
    with pytest.raises(ZeroDivisionError):
        njit(lambda x: strict(x, 0.0), error_model="numpy")(a)


# ---- iterations behind one that raises have not run ----


def raises_in_a_loop(a, out):
    for i in range(a.size):
        if a[i] < 0:
            raise ValueError("negative")
        out[i] = a[i]


def asserts_in_a_loop(a, out):
    for i in range(a.size):
        out[i] = 1
        assert a[i] >= 0
        out[i] = a[i] + 1


def raises_in_a_callee(a, out):
    def checked(x):
        if x < 0:
            raise ValueError("negative")
        return x

    for i in range(a.size):
        out[i] = checked(a[i])


@pytest.mark.parametrize("f", [raises_in_a_loop, asserts_in_a_loop, raises_in_a_callee])
def test_iterations_behind_one_that_raises_have_not_run(f):
    a = np.ones(5000)
    a[3000] = -1
    alike(f, a, np.zeros(5000))
    alike(f, np.ones(50), np.zeros(50))


def test_a_prange_that_raises_stays_parallel():
    @njit(parallel=True)
    def f(a, out):
        for i in td.prange(a.size):
            if a[i] < 0:
                raise ValueError("negative")
            out[i] = a[i]

    f(np.ones(50), np.zeros(50))
    assert "the loop runs in parallel" in f.explain()


# ---- what a loop leaves in a variable, read behind a try ----


def left_by_a_loop(n, fails):
    a = 0
    for _ in range(n):
        a = n
    try:
        if fails:
            raise ValueError(3)
    except Exception:
        a += 5
        return a, 1
    return a, 0


def left_by_a_loop_to_finally(n, fails):
    a = 0
    for _ in range(n):
        a = n
    try:
        try:
            if fails:
                raise ValueError(3)
        finally:
            a += 7
    except Exception:
        return a, 1
    return a, 0


@pytest.mark.parametrize("f", [left_by_a_loop, left_by_a_loop_to_finally])
@pytest.mark.parametrize("n", [0, 1, 3, 5000])
@pytest.mark.parametrize("fails", [True, False])
def test_what_a_loop_leaves_is_there_behind_a_try(f, n, fails):
    alike(f, n, fails)


LISTS_AND_TUPLES = [
    lambda x: ([x, 2] == (x, 2), (x, 2) == [x, 2], [x, 2] != (x, 2), [x, 2] == [x, 2], (x, 2) == (x, 2)),
    lambda x: ([x, 2] in [(x, 2)], (x, 2) in [(x, 2)], [x] in [[x], [2]], [[x]] == [(x,)], ([x],) == ((x,),)),
    lambda x: (tuple([x, 2]), list((x, 2)), tuple([x, 2]) == (x, 2), list((x, 2)) == [x, 2]),  # noqa: C409, C410
    lambda x: np.arange(9).reshape(3, 3)[tuple([x, 0])],  # noqa: C409
    lambda x: [k + 0 for k in range(x)] == (0,),
]


def starred(x):
    a, *rest = (x, 2, 3)
    *first, b = [x, 5]
    return a, rest, first, b, rest == [2, 3], rest == (2, 3)


@pytest.mark.parametrize("f", [*LISTS_AND_TUPLES, starred])
@pytest.mark.parametrize("x", [0, 1])
def test_lists_are_no_tuples(f, x):
    alike(f, x)


EXTREMES = [
    lambda x: (max([1, 2, 3], key=lambda v: -v), min([4, 5, 6], key=lambda v: v % 5), max((x, 7, 3), key=abs), min(x, -9, key=lambda v: -v)),
    lambda x: (max([(1, "a"), (x, "b"), (1, "c")]), min([(2, "a"), (x, "b")]), max([(1, "a"), (x, "b"), (1, "c")], key=lambda t: t[0])),
    lambda x: (max({1: 5, 2: x, 3: 5}, key=lambda k: -k), max(list(range(x)), default=9), min([[x], [1, 2]], key=len)),
    lambda x: (max(["b", "a"][:x], default="z"), min([0.5, x], default=3.0), max([2, 1], key=None), max(list(range(x)), key=lambda v: v)),
]


@pytest.mark.parametrize("f", EXTREMES)
@pytest.mark.parametrize("x", [0, 1, 5])
def test_extremes_by_a_key_and_of_nothing(f, x):
    alike(f, x)


def maybe(x, seen):
    seen[x % 3] += 1
    if x > 2:
        return x


def calls_maybe(x, seen):
    maybe(x, seen)
    {1: 2}.get(x)
    seen.fill(4) if x > 1 else maybe(x, seen)
    return seen


def catches_maybe(x, seen):
    try:
        maybe(x, seen)
    except Exception:
        return -1
    return x


def yields_maybe(x, seen):
    def each():
        yield maybe(x, seen)
        yield maybe(x + 2, seen)

    found = 0
    for y in each():
        found = found * 10 + (7 if y is None else y)
    return found


def caught_in_itself(x, seen):
    if x > 0:
        try:
            caught_in_itself(x - 1, seen)
        except Exception:
            seen[x % 3] += 1
            return 12
    if x == 1:
        raise ValueError("one")


@pytest.mark.parametrize("f", [calls_maybe, catches_maybe, yields_maybe, caught_in_itself])
@pytest.mark.parametrize("x", range(5))
def test_a_result_that_nobody_uses_may_be_none(f, x):
    alike(f, x, np.zeros(3))


def in_ranges(x, lo, hi, step):
    r = range(lo, hi, step)
    return x in r, x not in range(hi), x + 0.5 in r, x * 1.0 in r, r.start, r.stop, r.step


def nth_of_range(k, lo, hi, step):
    r = range(lo, hi, step)
    return r[k], len(r), r[-1]


@pytest.mark.parametrize("ends", [(0, 7, 1), (7, -5, -2), (-3, 3, 4), (2, 2, 1), (5, 0, 1), (0, 9, 3)])
def test_ranges_are_indexed(ends):
    for k in range(-8, 9):
        alike(nth_of_range, k, *ends)


def test_ranges_are_asked_for_members():
    for step in (1, 3, -2, 4):
        for lo, hi in ((0, 7), (7, -5), (-3, 3), (2, 2)):
            for x in range(-7, 9):
                assert compiled_in_ranges(x, lo, hi, step) == in_ranges(x, lo, hi, step)


compiled_in_ranges = njit(in_ranges)


LAMBDAS = [lambda x: [x, 2], lambda x: [(x, 1), (2, x)], lambda x: ([x], 1), lambda x: {1: x}.get(2), lambda x: None if x > 3 else x,
           lambda x: f"{x}!", lambda x: (lambda y: [y])(x), lambda x: {x: [x]}, lambda x: [[x], [x, x]]]  # fmt: skip


@pytest.mark.parametrize("f", LAMBDAS)
@pytest.mark.parametrize("x", [1, 5])
def test_a_lambda_gives_what_a_function_returns(f, x):
    alike(f, x)


def test_parallel_diagnostics_print_what_explain_tells(capsys):
    @njit
    def f(a):
        s = 0.0
        for i in range(a.size):
            s += a[i]
        return s

    f(np.ones(3))
    f(np.ones(3, np.float32))
    f.parallel_diagnostics(level=4)
    assert capsys.readouterr().out == f.explain() + "\n"
    f.parallel_diagnostics(next(s for s in f.signatures if "float32" in str(s)))
    told = capsys.readouterr().out
    assert told and "float32" in told and "float64" not in told


NUMBERS = (int, float, bool, complex, np.int8, np.int32, np.int64, np.uint8, np.uint64, np.float32, np.float64, np.complex64, np.complex128)
ANY_VALUES = (3, True, 2.5, 1j, "3", (3,), None, np.int8(3), np.int64(3), np.uint64(3), np.float32(3), np.float64(3), np.complex64(3), np.arange(3))


@pytest.mark.parametrize("cls", NUMBERS)
def test_isinstance_of_numbers(cls):
    """As in CPython; by Numba's rules Python's classes of numbers are NumPy's of their size."""
    f = lambda x: (isinstance(x, cls), isinstance(x, (cls, str)))  # noqa: E731
    numbas = _jit.decorator(_jit.CPUFunction, f, {"_numba": True})
    for x in ANY_VALUES:
        assert njit(f)(x) == f(x), x
        of_its_dtype = isinstance(x, (bool, int, float, complex, np.generic)) and np.asarray(x).dtype == np.dtype(cls)
        assert numbas(x) == (of_its_dtype, of_its_dtype or isinstance(x, str)), x
    elements = njit(lambda a: isinstance(a[0], cls))
    for x in (np.arange(3), np.arange(3.0), np.arange(3, dtype=np.int8)):
        assert elements(x) == isinstance(x[0], cls)


def repeated(x):
    t = (x, 2.5)
    return t * 2, 3 * (x,), (1,) * len(t), t * 0, t * -1, () * 3, (0,) * 2 + t, ((x,) * 2,) * 2


def test_tuples_are_repeated():
    alike(repeated, 4)
    assert type(njit(repeated)(4)[3]) is tuple
    with pytest.raises(TypeError, match="make an array"):
        njit(lambda: (1,) * 100000)()


def test_imports_inside_of_functions():
    def square_roots(a):
        from math import pi
        from math import sqrt as root

        import numpy

        s = 0.0
        for x in a:
            import math as m

            s += root(x) + m.floor(pi)
        return s, numpy.sum(a)

    alike(square_roots, np.arange(4.0))
    kernel_out = np.zeros(3)

    @td.cuda.jit
    def kernel(out):
        from math import floor

        i = td.cuda.grid(1)
        if i < out.size:
            out[i] = floor(i + 0.5)

    kernel[1, 4](kernel_out)
    assert kernel_out.tolist() == [0, 1, 2]

    def missing(x):
        import no_such_module

        return no_such_module.f(x)

    with pytest.raises(TypeError, match="import at the top"):
        njit(missing)(1)


Pair = collections.namedtuple("Pair", "x y")


def test_getattr_and_hasattr():
    alike(lambda p: (p.x, getattr(p, "y"), getattr(p, "z", 7), hasattr(p, "x"), hasattr(p, "z"), hasattr(p, "_asdict")), Pair(1, 2.5))  # noqa: B009
    alike(lambda a: (getattr(a, "shape"), getattr(math, "pi"), hasattr(math, "tau"), hasattr(math, "nothing")), np.zeros((2, 3)))  # noqa: B009

    def total(p):
        s = 0.0
        for name in ("x", "y"):
            s += getattr(p, name)
        return s

    alike(total, Pair(1, 2.5))
    with pytest.raises(TypeError, match="not asked here"):
        njit(lambda a: hasattr(a, "sum"))(np.zeros(3))


@pytest.mark.parametrize("x", [[1, 2, 3], (4, 5), np.arange(1, 6), np.array([2.5, 1.5, 3.0]), [2.5]])
def test_functools_reduce(x):
    alike(lambda x: functools.reduce(lambda a, b: a * b + 1, x), x)
    alike(lambda x: functools.reduce(max, x, 4), x)


def test_functools_reduce_of_nothing():
    alike(lambda x: functools.reduce(max, x), np.zeros(0))
    alike(lambda x: functools.reduce(max, x, 1.5), np.zeros(0))


RANGES = (
    lambda a, b, s: [i for i in range(a, b, s)],  # noqa: C416
    lambda a, b, s: len(range(a, b, s)),
    lambda a, b, s: list(range(a, b, s)),
    lambda a, b, s: sum(range(a, b, s)),
    lambda a, b, s: 3 in range(a, b, s),
)


@pytest.mark.parametrize("f", RANGES)
@pytest.mark.parametrize("step", [0, 1, -2, 3])
def test_ranges_refuse_a_step_of_zero(f, step):
    alike(f, 1, 7, step)
    alike(f, 7, 1, step)


def test_steps_that_may_be_zero_leave_loops_parallel():
    @njit(parallel=True)
    def count(out, step):
        for i in prange(out.size):
            for _ in range(0, 10, step):
                out[i] += 1

    out = np.zeros(1000)
    count(out, 3)
    assert (out == 4).all() and "the loop runs in parallel" in count.explain()
    with pytest.raises(ValueError, match="must not be zero"):
        count(out, 0)


TRUTHS = (
    lambda a: 1 if a else 2,
    lambda a: not a,
    lambda a: 1 if a > 1 else 2,
    lambda a: 1 if a[a > 1] else 2,
    lambda a: 1 if a + 1 else 2,
    lambda a: 1 if a[::-1].T else 2,
)


@pytest.mark.parametrize("f", TRUTHS)
@pytest.mark.parametrize("a", [np.zeros(1), np.array([2.0]), np.array([[3]]), np.zeros(3), np.array([1, 2]), np.array([[2.0, 0.5]])])
def test_arrays_of_one_element_have_a_truth_value(f, a):
    alike(f, a)


def test_the_truth_of_no_elements_is_refused():
    with pytest.raises(ValueError, match="empty array"):
        njit(lambda a: 1 if a else 2)(np.zeros(0))
