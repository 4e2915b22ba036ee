"""Functions that yield, in compiled functions, beside CPython; and what unrolled loops and try do to control flow."""

import math

import numpy as np
import pytest

import treadle as td
from treadle import njit, prange

ARRAY = np.array([3.0, 1.0, 2.0, 5.0, 0.5])


@njit
def count(n):
    i = 0
    while i < n:
        yield i
        i += 1


@njit
def fibonacci(n):
    a, b = 0, 1
    while a < n:
        yield a
        a, b = b, a + b


@njit
def inversions(a):
    for i in range(a.size):
        for j in range(i + 1, a.size):
            if a[i] > a[j]:
                yield i, j, a[i] - a[j]


@njit
def several(x):
    yield x
    if x > 2:
        yield x * 2
        return
    yield x * 3


@njit
def parts(a, k):
    i = 0
    while i < a.size:
        yield a[i : i + k]
        i += k


@njit
def all_of(n):
    yield from count(n)
    yield -1
    yield from (n, n + 1)


@njit
def fails(n):
    for i in range(n):
        if i > 3:
            raise ValueError("of the generator")
        yield i


def squares(n):
    s = 0
    for x in count(n):
        s += x * x
    return s


def left_early(n):
    s, k = 0.0, 0
    for v in fibonacci(n):
        if v % 2:
            continue
        if v > 1000:
            break
        s += v
        k = k + 1
    else:
        s += 0.5
    return s, k


def unpacked(a):
    best, where = -1.0, (0, 0)
    for i, j, d in inversions(a):
        if d > best:
            best, where = d, (i, j)
    return best, where


def returned_from(n):
    for x in fibonacci(1000000):
        if x > n:
            return x
    return -1


def listed(n):
    items = list(count(n))
    items.extend(several(n))
    return len(items), items[-1], sum([x + 1 for x in several(n)]), len({x % 3 for x in count(n)})


def nested_loops(n):
    s = 0
    for i in range(n):
        for x in count(i):
            for y in count(x):
                s += i * x - y
    return s


def of_a_closure(n):
    base = 3

    def scaled(m):
        for i in range(m):
            yield i * base

    s = 0
    for v in scaled(n):
        base += 1
        s += v
    return s


def arrays(a):
    last, total = a[:1] * 0, 0.0
    for p in parts(a, 2):
        d = p * 2.0
        total += d.sum() + last.sum()
        last = d + 1
    return total, last


def in_parallel(n):
    out = np.zeros(n)
    for i in prange(n):
        for x in several(i):
            out[i] += x
    return out


def passed_on(n):
    s = 0
    for x in all_of(n):
        s = s * 3 + x
    return s


def within_a_try(n):
    s = 0
    try:
        for i in fails(n):
            s += i
            if s > 100:
                raise ValueError("of the loop")
    except Exception:
        return -s
    return s


@pytest.mark.parametrize("f, args", [(squares, (10,)), (left_early, (3000,)), (left_early, (100,)), (unpacked, (ARRAY,)),
    (returned_from, (500,)), (listed, (5,)), (listed, (1,)), (nested_loops, (8,)), (of_a_closure, (6,)), (arrays, (ARRAY,)),
    (in_parallel, (9,)), (passed_on, (4,)), (within_a_try, (3,)), (within_a_try, (9,))])  # fmt: skip
@pytest.mark.filterwarnings("ignore:.*yields")
def test_loops_over_generators(f, args):
    np.testing.assert_array_equal(_flat(njit(f)(*args)), _flat(f(*args)))


def _flat(x):
    return np.concatenate([np.ravel(p) for p in x]) if isinstance(x, tuple) else np.asarray(x)


def test_python_runs_a_generator_that_it_calls():
    @njit
    def roots(n):
        for x in several(n):
            yield math.sqrt(x)

    with pytest.warns(td.PerformanceWarning, match="yields: Python runs it"):
        assert list(roots(4)) == [2.0, math.sqrt(8)]


def kept(n):
    g = count(n)
    return g


def counted(n):
    s = 0
    for i, x in enumerate(count(n)):
        s += i * x
    return s


def sent(n):
    s = 0
    for x in echo(n):
        s += x
    return s


def echo(n):
    x = yield n
    yield x


def tried(n):
    s = 0
    for x in guarded(n):
        s += x
    return s


def guarded(n):
    try:
        yield n
    finally:
        n += 1


@njit
def itself(n):
    if n:
        yield from itself(n - 1)
    yield n


def recursive(n):
    s = 0
    for x in itself(n):
        s += x
    return s


@pytest.mark.parametrize("f, why", [(kept, "iterated over where it is called"), (counted, "iterated over where it is called"),
    (sent, "nothing is sent to a generator"), (tried, "a try cannot contain a yield"), (recursive, "iterates over itself")])  # fmt: skip
def test_what_generators_cannot_do_is_refused(f, why):
    with pytest.raises(TypeError, match=why):
        njit(f)(3)


# ---- loops over tuples, whose bodies are compiled for each item ----


def returns_an_item(n):
    for x in (1, 2.5, n):
        if x > 2:
            return x
    return -1


def raises_for_an_item(n):
    s = 0
    try:
        for x in (1, 2.5, n):
            s += x
            if s > 3:
                raise ValueError("enough")
    except Exception:
        return -s
    return s


@pytest.mark.parametrize("f", [returns_an_item, raises_for_an_item])
@pytest.mark.parametrize("n", [0, 1, 7])
def test_loops_over_tuples_are_left(f, n):
    assert njit(f)(n) == f(n)


def test_a_mapped_loop_over_a_tuple_is_left():
    items = list(range(10)) * 50
    with td.executor.DeviceExecutor() as ex:
        assert list(ex.map(returns_an_item, items)) == [returns_an_item(n) for n in items]


# ---- iterations that fail inside of a try ----


def sums_until_it_fails(a):
    s = 0.0
    try:
        for i in range(a.size):
            if a[i] < 0:
                raise ValueError("negative")
            s += a[i]
    except Exception:
        return -s
    return s


def writes_until_it_fails(a):
    out = np.zeros(a.size)
    try:
        for i in range(a.size):
            if a[i] < 0:
                raise ValueError("negative")
            out[i] = 1 + a[i]
    except Exception:
        pass
    return out.sum()


def writes_then_cleans(a):
    b = 1
    try:
        b = a.size
        for i in range(a.size):
            if a[i] < -100:
                raise ValueError("negative")
    finally:
        b += 7
    return b


@pytest.mark.parametrize("f", [sums_until_it_fails, writes_until_it_fails, writes_then_cleans])
@pytest.mark.parametrize("at", [None, 77])
def test_a_loop_in_a_try_stops_where_it_fails(f, at):
    a = np.arange(20000.0)
    if at:
        a[at] = -1
    assert njit(f)(a) == f(a)


def test_a_prange_in_a_try_tells_that_it_failed():
    @njit(parallel=True)
    def f(a):
        s = 0.0
        try:
            for i in prange(a.size):
                s += a[i]
                if a[i] < -5:
                    raise ValueError("negative")
        except Exception:
            return -1.0
        return s

    a = np.arange(20000.0)
    assert f(a) == a.sum()
    a[3] = -7
    assert f(a) == -1


def nothing(x):
    return x - 2


MAPPED = {
    "map": lambda xs: list(map(lambda x: x * 2, xs)),  # noqa: C416, C417
    "map of two": lambda xs: list(map(lambda x, y: x * y, xs, range(3))),  # noqa: C416, C417
    "map of a function": lambda xs: [x for x in map(abs, xs)],  # noqa: C416, C417
    "filter": lambda xs: list(filter(lambda x: x > 1, xs)),  # noqa: C416, C417
    "filter of truth": lambda xs: list(filter(None, [x - 2 for x in xs])),  # noqa: C416, C417
    "filter within": lambda xs: [x for x in filter(lambda y: y % 2 == 1, xs)],  # noqa: C416, C417
    "lambda that reads": lambda xs: [(lambda y: y + x)(1) for x in xs],
    "lambda that hides": lambda xs: [sum(list(map(lambda y: y * x, xs))) for x in xs],  # noqa: C416, C417
    "folded": lambda xs: (sum(map(nothing, xs)), max(map(nothing, xs)), sorted(map(nothing, xs))),  # noqa: C416, C417
}


@pytest.mark.parametrize("xs", [(1, 2, 3, 4), np.arange(5)], ids=["tuple", "array"])
@pytest.mark.parametrize("name", MAPPED)
def test_map_and_filter(name, xs):
    assert njit(MAPPED[name])(xs) == MAPPED[name](xs)


def test_map_in_a_loop():
    def f(n):
        total = 0
        for a, b in zip(map(nothing, range(n)), filter(lambda x: x % 3 > 0, range(n))):
            total = total * 3 + a * b
        return total

    assert njit(f)(9) == f(9)
