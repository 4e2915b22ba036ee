"""Variables that have no value on some path: compiled functions raise UnboundLocalError where CPython does."""

import random

import numpy as np
import pytest
from small_kernels import made

import treadle as td
from treadle import cuda, guvectorize, jit, njit, prange, vectorize


def under_if(n, a):
    if n > 1:
        x = a[n]
    return x


def in_for(n, a):
    for i in range(n):
        x = a[i] + i
    return x


def loop_variable(n, a):
    for i in range(n):
        a[i] += 1
    return i


def in_while(n, a):
    while n > 3:
        n -= 1
        x = a[n % 4]
    return x


def over_array(n, a):
    for v in a[n:]:  # noqa: B007
        pass
    return v


def one_of_two(n, a):
    if n > 2:
        x = 1
    elif n < 1:
        x = 2.5
    return x


def by_break(n, a):
    for i in range(4):
        if i == n:
            found = a[i]
            break
    return found


def by_else(n, a):
    for i in range(4):
        if i == n:
            break
        x = i
    else:
        y = 10
    return x + y


def by_continue(n, a):
    for i in range(4):
        if i < n:
            continue
        x = i
    return x


def turn_to_turn(n, a):
    s = 0.0
    for i in range(4):
        if i >= n:
            x = a[i]
        s += x
    return s


def changed(n, a):
    if n > 2:
        s = 0
    s += n
    return s


def an_array(n, a):
    if n > 2:
        b = a + 1
    return b[0] + b.size


def stored(n, a):
    if n > 2:
        b = a
    b[1] = 5
    return a[1]


def a_tuple(n, a):
    if n > 2:
        p, q = n, a[0]
    return p + q


def only_if_asked(n, a):
    if n > 2:
        x = a[0]
    return x if n > 1 else -1.0


def asked_by_and(n, a):
    if n > 2:
        x = a[0]
    return n > 1 and x > 0


def inner(n, a):
    for i in range(3):
        for j in range(n):
            x = i * j
        a[i] = x
    return a[2]


def forever(n, a):
    while True:
        n -= 1
        if n > 5:
            x = n
        if n < 0:
            break
    return x


def left_in_the_first_turn(n, a):
    if n > 1:
        for i in range(n):
            x = i
            if 14 & 1 != 1:
                return 5
    return under_if(n, a)


def by_inner_loop(n, a):
    r = 1
    while True:
        n -= 1
        if n < 0:
            break
        for _i in range(n):
            r = 7
    if n < -5:
        y = 2
    return r if a[0] < 1 else y


def named_in_and(n, a):
    if n > 1 and (y := n * 2) > 4:
        pass
    return y


def named_in_choice(n, a):
    z = 5 if n > 2 else (q := n)
    return z + q


def named_in_or(n, a):
    if n > 1 or (y := n) == 0:
        return y
    return 7


def named_in_while(n, a):
    while n > 2 and (y := n * 3) > 0:
        n -= 1
    return y


def named_by_while(n, a):
    while (y := n * 3) > 4:
        n -= 1
        z = y
    return y + z


def always(n, a):
    for i in range(1, 4):
        x = i
    while True:
        y = n
        if y < 100:
            break
    for k in (1, 2):
        if k == n:
            break
        z = k
    else:
        z = 9
    return x + y + z if n != 1 else x


def called(n, a):
    return under_if(n, a) + (in_for(n, a) if n > 3 else 0)


FUNCTIONS = (under_if, in_for, loop_variable, in_while, over_array, one_of_two, by_break, by_else, by_continue, turn_to_turn,
             changed, an_array, stored, a_tuple, only_if_asked, asked_by_and, inner, forever, left_in_the_first_turn, by_inner_loop, named_in_and, named_in_choice,
             named_in_or, named_in_while, named_by_while, always, called)


def outcome(f, *args):
    try:
        return f(*args)
    except UnboundLocalError as e:
        return str(e)


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("parallel", (None, False))
def test_as_cpython(f, parallel):
    compiled = njit(f, parallel=parallel)
    wants = set()
    for n in range(5):
        a, b = np.arange(4.0), np.arange(4.0)
        try:
            want = outcome(f, n, b)
        except IndexError:
            continue
        assert outcome(compiled, n, a) == want, n
        np.testing.assert_array_equal(a, b)
        wants.add(type(want) is str)
    assert True in wants or f in (always, by_inner_loop)


def test_tells_name_and_line():
    with pytest.raises(UnboundLocalError, match="local variable 'x'") as e:
        njit(under_if)(0, np.zeros(4))
    line = under_if.__code__.co_firstlineno + 3
    assert any(f"test_unbound.py:{line}" in note and "under_if" in note for note in e.value.__notes__)


def test_costs_nothing_where_it_is_known():
    def known(n, a):
        for i in range(1, 4):
            x = i
        while True:
            n, y = n - 1, n
            if y < 100:
                break
        for k in (1, 2):
            z = k
        if n > 2:
            v = a[0]
        else:
            v = 2.0
        return x + y + z + v

    f, g = njit(known), njit(in_for)
    f(3, np.zeros(4)), g(3, np.zeros(4))
    assert "cmpxchg" not in f.inspect_llvm()[f.signatures[0]]  # which a report begins with
    assert "cmpxchg" in g.inspect_llvm()[g.signatures[0]]


def test_in_prange():
    @njit(parallel=True)
    def rows(a, out, m):
        for i in prange(a.shape[0]):
            for j in range(m):
                x = a[i, j]
            out[i] = x

    a, out = np.arange(12.0).reshape(3, 4), np.zeros(3)
    rows(a, out, 4)
    assert out.tolist() == [3, 7, 11]
    with pytest.raises(UnboundLocalError, match="'x'"):
        rows(a, out, 0)

    @njit(parallel=True)
    def total(a, n):
        if n > 0:
            s = 0.0
        for i in prange(a.size):
            s += a[i]
        return s

    assert total(np.ones(100), 1) == 100
    with pytest.raises(UnboundLocalError, match="'s'"):
        total(np.ones(100), 0)


def test_in_ufuncs():
    @vectorize
    def f(x):
        if x > 0:
            y = x * 2
        return y

    @guvectorize("(n)->()")
    def last(a, out):
        for i in range(a.shape[0] - 1):
            x = a[i]
        out[0] = x

    assert f(np.array([1.0, 2.0])).tolist() == [2, 4]
    with pytest.raises(UnboundLocalError):
        f(np.array([1.0, -2.0]))
    assert last(np.array([[1.0, 2.0]])).tolist() == [1]
    with pytest.raises(UnboundLocalError):
        last(np.array([[1.0]]))


def test_in_recursion():
    @njit
    def down(n):
        if n > 2:
            x = n
        if n > 5:
            return down(n - 1)
        return x

    assert down(9) == 5
    with pytest.raises(UnboundLocalError):
        down(1)


def test_on_a_gpu():
    @njit
    def f(a, n):
        for _i in range(n):
            x = 2.0
        for i in range(a.size):
            a[i] = x

    a = td.ones(5, device="null")
    f(a, 1)
    assert a.get().tolist() == [2] * 5
    with pytest.raises(UnboundLocalError, match="'x'"):
        f(a, 0)
        a.get()


def test_kernels_tell_under_debug():
    @cuda.jit(debug=True, opt=False)
    def k(a):
        i = cuda.grid(1)
        if i > 0:
            x = 3
        a[i] = x

    with pytest.raises(UnboundLocalError, match=r"'x'.*thread \(0, 0, 0\)"):
        k[1, 2](np.zeros(2))
        cuda.synchronize()


# ---- random functions ----

NAMES = "pqrst"


def block(rng, depth, loop):
    lines = []
    for _ in range(rng.randint(1, 3)):
        kind = rng.randint(0, 8 if depth else 2)
        x, y = rng.choice(NAMES), rng.choice(NAMES)
        cond = f"n & {rng.randint(1, 31)} {rng.choice(('!=', '=='))} 0" if rng.random() < 0.8 else f"k > {rng.randint(0, 9)}"
        body = ["    " + s for s in block(rng, depth - 1, loop or 5 <= kind <= 8)] if kind > 2 else []
        if kind <= 1:
            lines.append(f"{x} = {rng.randint(0, 9)}")
        elif kind == 2:
            lines.append(rng.choice((f"k += {y}", f"{x} = {y} + 1", f"{x} += 1", f"if {cond}: k = k + {y}",
                                     f"if {cond} and ({x} := {rng.randint(0, 9)}) > 4: k += {x}", f"k += 1 if {cond} else ({x} := k)",
                                     f"if {cond} or ({x} := n) > 7: k += 1")))
        elif kind == 3:
            lines += [f"if {cond}:", *body]
        elif kind == 4:
            lines += [f"if {cond}:", *body, "else:", *("    " + s for s in block(rng, depth - 1, loop))]
        elif kind in (5, 6):
            end = rng.choice(("n % 3", "2", "n & 1", "0 * n", "n >> 3"))
            lines += [f"for {rng.choice((x, 'j'))} in range({end}):", *body]
        elif kind == 7:
            counter = f"c{depth}"
            lines += [f"{counter} = n % 4", f"while {counter} > 0:", f"    {counter} -= 1", *body]
        else:
            counter = f"c{depth}"
            lines += [f"{counter} = n % 4", "while True:", f"    {counter} -= 1", f"    if {counter} < 0: break", *body]
        if kind >= 5 and rng.random() < 0.3:
            lines += ["else:", *("    " + s for s in block(rng, 0, loop))]
        if loop and rng.random() < 0.2:
            lines.append(f"if {cond}: {rng.choice(('break', 'continue'))}")
    return lines


@pytest.mark.parametrize("seed", range(40))
def test_random_functions(seed):
    rng = random.Random(seed)
    text = "\n    ".join(["def f(n):", "k = 0", "if n > 99: p = q = r = s = t = j = 1", *block(rng, 3, False), f"return k + {rng.choice(NAMES)}"]) + "\n"
    f = made(text)
    compiled = jit(f)
    assert [outcome(compiled, n) for n in range(32)] == [outcome(f, n) for n in range(32)], text
