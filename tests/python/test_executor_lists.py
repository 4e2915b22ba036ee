"""Lists in functions that an executor maps: compiled with a heap for each item, and Python's where that does not do."""

import math
import shutil
import subprocess
import warnings

import numpy as np
import pytest
from conftest import DEVICES

import treadle as td
from treadle.executor import DeviceExecutor
from treadle.executor._columns import columns
from treadle.executor._exact import exact
from treadle.executor._mapper import Mapper


def digits(n):
    found = []
    while n:
        found.append(n % 10)
        n //= 10
    weighed = 0
    for i, d in enumerate(found):
        weighed += d * (i + 1)
    return found, len(found), sum(found), weighed


def factors(n):
    found, d = [], 2
    while d * d <= n:
        while n % d == 0:
            found.append(d)
            n //= d
        d += 1
    if n > 1:
        found.append(n)
    return found


def sieve(n):
    flags, primes = [True] * (n + 1), 0
    for i in range(2, n + 1):
        if flags[i]:
            primes += 1
            for j in range(i * i, n + 1, i):
                flags[j] = False
    return primes


def pascal(n):
    """The row of one iteration is read while the next iteration's is made."""
    row = [1]
    for _ in range(n):
        new = [1]
        for j in range(len(row) - 1):
            new.append(row[j] + row[j + 1])
        new.append(1)
        row = new
    return row


def leaves(n):
    todo, found = [n], 0
    while todo:
        x = todo.pop()
        if x < 2:
            found += 1
        else:
            todo.append(x - 1)
            todo.append(x - 2)
    return found


def halves(n):
    todo, total = [(0, n)], 0
    while todo:
        lo, hi = todo.pop()
        total += hi - lo
        if hi - lo > 1:
            m = (lo + hi) // 2
            todo.append((lo, m))
            todo.append((m, hi))
    return total


def two_names(x):
    a = [x * 0.5, 1, 2.5]
    b = a
    b[0] = 7
    a.append(x)
    return sum(a), a[-1], b[3], a[1], len(b)


def put(a, n):
    a.append(n)
    return a


def by_functions(n):
    a = []
    b = put(put(a, n), n + 1)
    return sum(a), len(b), b


def grows_in_its_loop(n):
    queue = [n]
    for x in queue:
        if x > 1:
            queue.append(x // 2)
    return queue


def shrinks_in_its_loop(n):
    a, seen = list(range(n)), 0
    for x in a:
        seen += x
        a.pop()
    return seen, a


def changes(n):
    a = list(range(n))
    for i in range(n // 2):
        a[i], a[n - 1 - i] = a[n - 1 - i], a[i]
    a[2] += 5
    b = a.copy()
    first, last, second = a.pop(0), a.pop(), a.pop(-2)
    a.clear()
    return first, last, second, b + b * 2, len(a), a or [n]


def either(n):
    a = [1] if n % 2 else [2, 3]
    if n > 2:
        a = [n]
    a.append(n)
    return a


def change(n):
    best = [0] + [10**6] * n
    for i in range(1, n + 1):
        best[i] = min([best[i - c] + 1 for c in (1, 3, 4) if c <= i])
    return best[n]


def comprehensions(x):
    return [x / k for k in (1, 2.5)], sorted([(x * k) % 1.7 for k in range(9)]), [k * j for k in range(3) for j in range(k) if j]


def powers(x):
    return [x**k for k in range(6)]


def extremes(x):
    a = [(x * k) % 1.7 for k in range(9)]
    return min(a), max(a), min(a[0], a[1]), max([x, 1]), min([]) if x > 2 else 0


def long(n):
    a = []
    for i in range(n):
        a.append(i)
    return len(a)


MAPS = {
    "digits": (digits, [0, 5, 123, 98765, 10**30]),
    "factors": (factors, range(1, 60)),
    "sieve": (sieve, [2, 10, 100, 30]),
    "rows": (pascal, range(9)),
    "stack": (leaves, range(9)),
    "stack of pairs": (halves, range(1, 12)),
    "kinds, two names": (two_names, [1, 2.5]),
    "functions": (by_functions, range(3)),
    "grows in its loop": (grows_in_its_loop, [1, 5, 100]),
    "shrinks in its loop": (shrinks_in_its_loop, range(7)),
    "changes": (changes, [5, 6, 9]),
    "branches": (either, range(5)),
    "table": (change, range(1, 12)),
    "comprehensions": (comprehensions, [1.5, 2.25]),
    "items of kinds": (lambda x: ([x, x > 0, x / 2, None], [x]), [1, 2.5, -3, True]),
    "beyond int64": (powers, [2, 10, 10**4]),
    "index": (lambda n: [1, 2, 3][n], [0, 2, -1, -3]),
    "no such index": (lambda n: [1, 2, 3][n], [0, 1, 3]),
    "nothing left": (lambda n: [k + 1 for k in range(n)].pop(), [2, 1, 0]),
    "heap's end": (long, [3, 100, 5000, 10]),
    "long result": (lambda n: [k * 2 for k in range(n)], [3, 64, 65, 200]),
    "in": (lambda x: (x in [1, 2.5, 3], x not in [x + 1], 7 in [2 * k - 1 for k in range(9)]), [1, 2.5, 4, math.nan]),
    "least": (extremes, [0.5, 1.25, 3]),
    "not": (lambda n: not [k + 1 for k in range(n)], range(3)),
}


def outcome(results):
    values = []
    try:
        for v in results:
            values.append(repr(v))
    except Exception as error:
        return values, type(error), str(error)
    return values, None, ""


@pytest.fixture(scope="module")
def ex():
    with DeviceExecutor("cpu", max_workers=2) as made:
        yield made


@pytest.mark.parametrize("name", MAPS)
def test_lists_are_pythons(name, ex):
    f, items = MAPS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("error", td.PerformanceWarning)  # all of them compile
        assert outcome(ex.map(f, items)) == outcome(map(f, items))


@pytest.mark.parametrize("device", DEVICES[1:])
@pytest.mark.parametrize("name", ["factors", "rows", "changes", "kinds, two names", "no such index", "heap's end"])
def test_lists_on_devices(name, device):
    f, items = MAPS[name]
    with DeviceExecutor(device) as ex:
        assert outcome(ex.map(f, items)) == outcome(map(f, items))


def test_many_items(ex):
    """In lanes and on all cores: an item's lists are its own."""
    xs = np.random.default_rng(5).integers(0, 10**6, 3000).tolist()
    assert list(ex.map(factors, xs)) == [factors(x) for x in xs]
    assert list(ex.map(digits, xs)) == [digits(x) for x in xs]


def test_what_is_too_much_is_run_again():
    for f, items, again in ((long, [10, 300, 3000], 1), (MAPS["long result"][0], [64, 65], 1), (factors, range(1, 99), 0)):
        found, n = columns([items])
        mapper = Mapper(f, found, n, td.device("cpu"), False)
        values, error = mapper.run(0, n)
        assert error is None and values == [f(x) for x in items] and mapper.again == again


def by_itself(n, seen):
    seen.append(n)
    return by_itself(n - 1, seen) if n else len(seen)


REFUSED = {
    "a list in a function that calls itself": lambda n: by_itself(n, []),
    "a list's reverse is Python's": lambda n: [n].reverse(),
    "other things than real numbers": lambda n: [(n, 1)],
    "meet": lambda n: [n] if n else n,
}


@pytest.mark.parametrize("why", REFUSED)
def test_what_is_not_compiled(why, ex):
    f = REFUSED[why]
    with pytest.warns(td.PerformanceWarning, match=why):
        assert list(ex.map(f, [0, 1, 2])) == [f(x) for x in (0, 1, 2)]


def test_constant_lists(ex):
    def horner(x):
        r, q, c = 0.0, 0, [1, 2.5, -3]
        for k in [1, 2.5, -3]:
            r = r * x + k
        for i in range(len(c)):
            q = q * x + c[i]
        return r, q, math.fsum((r, q))

    with warnings.catch_warnings():
        warnings.simplefilter("error", td.PerformanceWarning)
        assert list(ex.map(horner, [1.5, 2])) == [horner(1.5), horner(2)]


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


@pytest.mark.skipif(not shutil.which("ptxas"), reason="ptxas of the CUDA toolkit is not here")
@pytest.mark.parametrize("f", [factors, fib, math.gamma], ids=["lists", "recursion", "gamma"])
def test_ptx_assembles(f, tmp_path):
    def kernel(x, bad, out):
        i = td.cuda.grid(1)
        if i < bad.shape[0]:
            v, b = exact(f, x[i])
            bad[i] = b
            if f is not factors:
                out[i] = v
            elif not b:
                for k in range(len(v)):
                    out[i] += v[k]

    number = td.types.float64 if f is math.gamma else td.types.int64
    ptx, _ = td.cuda.compile_ptx(kernel, (number[::1], td.types.boolean[::1], number[::1]), cc=(9, 0))
    (tmp_path / "f.ptx").write_text(ptx)
    subprocess.run(["ptxas", "-arch=sm_90", tmp_path / "f.ptx", "-o", tmp_path / "f.cubin"], check=True)
