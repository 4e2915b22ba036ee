"""Memory of lists, dicts, sets, strings and arrays that loops of compiled functions make and leave: it is used again
while the call goes on, and what is still reached keeps its value."""

import ctypes
import random

import numpy as np
import pytest
from small_kernels import made

from treadle import njit
from treadle.typed import Dict, List

SEED = random.randrange(10**6)


def resident():
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * 4096


def groups(x, k):
    parts = [[0.0] for _ in range(k)]
    for v in x:
        parts[int(v) % k].append(v)
    return [sum(p) / len(p) for p in parts]


compiled_groups = njit(groups)


@njit
def lists(n):
    s = 0
    for i in range(n):
        rows = [[j] * 20 for j in range(20)]
        s += len(rows[i % 20])
    return s


@njit
def arrays_in_lists(n):
    s, kept = 0.0, [np.zeros(2000)]
    for i in range(n):
        rows = []
        for j in range(5):
            rows.append(np.full(2000, 1.0 * j))
        kept[0] = rows[i % 5] + np.ones(2000)
        s += kept[0][7]
    return s


@njit
def dicts(n):
    s = 0
    for i in range(n):
        d = {j: j * i for j in range(100)}
        seen = {(j, j) for j in range(10)}
        s += len(d) + len(seen)
    return s


@njit
def strings(n):
    s, i = "", 0
    while i < n:
        s = (str(i) + s)[:40]
        i += 1
    return s


@njit
def carried(n):
    c = [0]
    for i in range(n):
        c = list(c)
        c.append(i)
        if len(c) > 100:
            c = [0]
    return len(c)


@njit
def called(n):
    x, s = np.arange(200.0), 0.0
    for _ in range(n):
        s += compiled_groups(x, 7)[3]
    return s


@njit
def while_lists_are_arguments(n, numbers, table):
    for i in range(n):
        t = [k + i for k in range(100)]
        numbers[i % 3] = t[5]
        table[i % 5] = t[6] * 1.0
    return numbers[0]


@pytest.mark.parametrize(
    ("f", "n"), [(lists, 40000), (arrays_in_lists, 4000), (dicts, 20000), (strings, 600000), (carried, 400000), (called, 30000)]
)
def test_iterations_leave_no_memory(f, n):
    """Each of these takes 150 MB or more all in all."""
    f(3)
    before = resident()
    assert f(n) == f.py_func(n) if n < 10000 else f(n) is not None
    assert resident() - before < 60 << 20


def test_typed_lists_of_numbers_hold_nothing_back():
    numbers, table = List([1, 2, 3]), Dict()
    table[0] = 1.0
    while_lists_are_arguments(3, numbers, table)
    before = resident()
    assert while_lists_are_arguments(100000, numbers, table) == 99999 + 5
    assert resident() - before < 60 << 20 and table[99999 % 5] == 100005.0


def test_containers_that_live_longer_keep_what_iterations_put_in():
    @njit
    def fill(rows, n):
        for i in range(n):
            row = List([i])
            for k in range(200):
                row.append(k)
            rows[i % 4] = row
            t = [k + i for k in range(200)]
            rows[i % 4][1] = t[3]

    rows = List([List([0]) for _ in range(4)])
    fill(rows, 4000)
    assert [(len(r), r[0], r[1], r[200]) for r in rows] == [(201, 3996 + i, 3999 + i, 199) for i in range(4)]


# Statements of a loop's body over containers that were made before the loop or in it.  {i} is the loop's variable.
STATEMENTS = [
    "L.append([{i}, len(S)])",
    "L = L[-3:]",
    "L = [L[-1]] + [[x + 1 for x in r] for r in L[:2]]",
    "L[0].append({i} % 9)",
    "L[{i} % len(L)] = list(range({i} % 5 + 1))",
    "x = L[-1]; x.append({i}); L[0] = x[-4:]",
    "D[{i} % 7] = [float({i})] * ({i} % 3 + 1)",
    "D = {{k: [y + 1.0 for y in v[-2:]] for k, v in D.items() if k != {i} % 5}}; D[1] = [0.5]",
    "D[1].append(max(D.get({i} % 7, D[1])[-3:]))",
    "S = str({i}) + S[:6]",
    "S = ''.join([c for c in S if c != '3'])",
    "T.append(({i}, S + 'k', [{i}]))",
    "T = T[-4:]",
    "T[-1][2].append(len(T))",
    "A.append(np.full(40, {i} * 1.0))",
    "A = A[-3:]; A[0][{i} % 40] += 1.0",
    "a = A[-1][::-1]; A.append(a * 0.5 if {i} % 2 else a)",
    "K = (L[-1], S, A[0])",
    "K[0].append(7); n += len(K[0]) + len(K[1]) + int(K[2][3])",
    "M = {{(x, S) for x in L[0][:5]}}; n += len(M)",
    "L, U = U[-3:] + L[-1:], [r[-3:] for r in L[-2:]]",
    "L.append(firsts(L))",
    "n += len(nested_lists({i} % 4)[-1])",
]


def firsts(rows):
    out = []
    for r in rows:
        for v in r[:2]:
            out.append(v)
    return out[-6:]


def nested_lists(k):
    out = [[k]]
    for i in range(k):
        out.append([x + i for x in out[-1]] + [i])
    return out


def body(rng, depth, deep):
    i, pad = "ijk"[depth], "    " * (depth + 2)
    head = f"for {i} in range({rng.choice((9, 14) if depth == 2 else (15, 30))})" if rng.random() < 0.7 else None
    lines = [f"{head}:"] if head else [f"{i} = -1", f"while {i} < {rng.choice((9, 14) if depth == 2 else (15, 30))}:", f"    {i} += 1"]
    lines = ["    " * (depth + 1) + line for line in lines]
    for at in range(rng.randint(3, 7)):
        if depth + 1 < deep and (at == 1 or rng.random() < 0.2):
            lines += body(rng, depth + 1, deep)
            continue
        text = rng.choice(STATEMENTS).replace("{i}", i).replace("{{", "{").replace("}}", "}")
        if rng.random() < 0.2:
            lines += [pad + f"if {i} % {rng.randint(2, 5)} == 1:", pad + "    " + text]
        else:
            lines.append(pad + text)
    if rng.random() < 0.3:
        lines.append(pad + f"if {i} % 11 == {rng.randint(1, 10)}: continue")
        lines.append(pad + f"n += {i}")
    lines.append(pad + f"waste = [[{i}] * 900 for _ in range(5)]; n += len(waste[2])")
    lines.append(pad + "L, A, T, D[1] = L[-6:], A[-4:], T[-5:], D[1][-5:]")
    lines.append(pad + "L[0] = L[0][-9:]; T[0] = (T[0][0], S, T[0][2][-4:])")
    return lines


def program(seed):
    rng = random.Random(seed)
    text = """def f():
    L, U, D, S, n = [[1, 2]], [[3]], {1: [1.0]}, "s", 0
    T, A = [(0, "t", [1])], [np.zeros(40)]
    K = (L[0], "u", A[0])
"""
    for _ in range(rng.randint(1, 2)):
        text += "\n".join(body(rng, 0, 3)) + "\n"
    return text + "    return L, U, sorted([(k, v[-1], len(v)) for k, v in D.items()]), S, n, T, [v[5] for v in A] + [v[39] for v in A], K[0], K[1]\n"


def plain(x):
    if isinstance(x, (list, tuple)):
        return type(x)(plain(y) for y in x)
    return x.item() if isinstance(x, np.generic) else x


def outcome(f):
    try:
        return repr(plain(f()))
    except (IndexError, ValueError) as e:
        return type(e).__name__


@pytest.fixture
def freed_memory_is_overwritten():
    mallopt, perturb = ctypes.CDLL(None).mallopt, -6
    mallopt(perturb, 0xA5)
    yield
    mallopt(perturb, 0)


@pytest.mark.usefixtures("freed_memory_is_overwritten")
def test_random_programs_keep_what_they_reach():
    for seed in range(SEED, SEED + 5):
        text = program(seed)
        want = outcome(made(text, np=np, firsts=firsts, nested_lists=nested_lists))
        got = outcome(njit(made(text, np=np, firsts=njit(firsts), nested_lists=njit(nested_lists))))
        assert got == want, f"seed {seed}\n{text}"
