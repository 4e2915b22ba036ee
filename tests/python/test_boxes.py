"""Lists, dicts, sets, strings, try and treadle.typed in functions of treadle.jit, beside CPython."""

import gc
import heapq
import itertools
import random
import resource
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import treadle as td
from treadle import cuda, njit, types
from treadle.typed import Dict, List


def same(f, *args):
    """f's result or exception, compiled as in CPython."""
    try:
        wanted = f(*args)
    except Exception as e:
        with pytest.raises(type(e)) as error:
            njit(f)(*args)
        assert str(error.value) == str(e)
        return
    got = njit(f)(*args)
    assert got == wanted and repr(got) == repr(wanted)


def test_extremes_and_sums_of_what_can_be_iterated_over():
    nan = float("nan")

    def f(a, s, n):
        d, st = {3: 1.5, 1: 2.5}, {4, 2, 9}
        return (
            (max(a), min(a), max(d), min(st), max(s), min("hello"), max(range(n)), min(d.values())),
            (sum(range(n)), sum(d), sum(d.values()), sum(st, 10), sum(x * 0.5 for x in range(n))),
            (any(st), all(range(n)), any(s), all([i > 0 for i in range(1, n)]), len(max([s, "zz"]))),
        )

    for a in ([1.0, nan, 2.0], [nan, 1.0, 2.0], [2.0, 1.0, nan], [3.0], [-0.0, 0.0], [0.0, -0.0]):
        assert repr(njit(f)(a, "a word", 5)) == repr(f(a, "a word", 5))
    for empty in (lambda a: max(a[:0]), lambda a: min(a[:0]), lambda a: max({x for x in a if x > 9})):
        with pytest.raises(ValueError, match=r"max\(\)|min\(\)"):
            njit(empty)([1.0, 2.0])
    with pytest.raises(TypeError, match="not iterable"):
        njit(lambda n: max(n))(3)
    with pytest.raises(TypeError, match="of an array of 2 axes"):
        njit(lambda a: max(a))(np.ones((2, 2)))


def test_lists_that_called_functions_write_order_their_callers_loops():
    def put(x, i):
        x[i] = x[i - 1] + 1

    def put_and_return(x, i):
        before = x[i - 1]
        x[i] = before + 1
        return before

    def grow(x, i):
        x.append(x[-1] + i)

    def later(x, i):
        put(x, i)

    for write in (put, put_and_return, grow, later):

        def f(x, write=write):
            for i in range(1, len(x)):
                write(x, i)

        a = [(k * 7) % 13 for k in range(3000)]
        b = list(a)
        f(a)
        njit(f)(b)
        assert a == b
    assert "in order" in compiled_note(put)


def compiled_note(put):
    """What is said about the loop of a function that calls put for each place."""

    @njit
    def f(x):
        for i in range(1, len(x)):
            put(x, i)

    f([1, 2, 3])
    return f.explain()


@pytest.mark.parametrize("n", range(2, 40, 3))
def test_heapify_is_heapqs(n):
    f = njit(lambda x: heapq.heapify(x))
    for _ in range(20):
        a = [random.randrange(20) for _ in range(n)]
        b = list(a)
        heapq.heapify(a)
        f(b)
        assert a == b


def test_sizes_that_no_array_has():
    """The bytes of 2**62 elements, and a product of two negative extents, had passed for small numbers."""
    made = (
        lambda n: np.zeros(n),
        lambda n: np.full((n, 3), 1.0),
        lambda n: np.empty((n, n)),
        lambda n: np.repeat(np.ones(4), n),
    )
    for f, n in itertools.product(made, (2**61 + 1, 2**62, 2**63 - 1, -5)):
        with pytest.raises((ValueError, MemoryError), match="array is too big|negative|no memory"):
            njit(f)(n)


def test_strings_beyond_ascii_and_bounds():
    texts = ("", "a", "ab a", " \u2003a\u3000b\xa0", "a,b,,a", "éa\u2029")

    def find(s, t, i, j):
        return s.find(t, i, j), s.rfind(t, i, j), s.count(t, i, j), s.startswith(t, i, j), s.endswith(t, i, j)

    def parts(s, t):
        return s.split(), s.rsplit(None, 1), s.strip(), s.isspace(), s.startswith((t, "é")), s.endswith(("b", t), 1)

    def split(s, t):
        return s.split(t), s.split(t, 1)

    for s, t in itertools.product(texts, texts):
        same(parts, s, t)
        same(split, s, t)
        for i, j in itertools.product((0, 1, -1, -20, 20), (0, 2, -1, -20, 20)):
            same(find, s, t, i, j)
    same(lambda s: (s.find("a", None), s.find("a", 1, None), s.count("a", None, 3)), "banana")


def test_pop_with_none():
    def f(k):
        d = {1: 2.5, 3: 4.5}
        x = d.pop(k, None)
        return -1.0 if x is None else x, len(d), 3 in d

    for k in (1, 2, 3):
        same(f, k)


def test_a_dict_without_types_gets_them_from_setdefault():
    d = Dict()
    assert d.setdefault(1, 2.5) == 2.5 and d.setdefault(1, 3.5) == 2.5 and d.setdefault(4, 1.5) == 1.5
    assert dict(d) == {1: 2.5, 4: 1.5}


def test_elements_of_every_kind():
    def f(n):
        whole, real, flags, pairs, texts, deep = [], [1.5], [True], [(1, 2.5)], ["a"], [[1], [2, 3]]
        empty = [v for v in range(0)]
        for i in range(n):
            whole.append(i)
            real.append(i * 1.0)
            flags.append(i % 2 == 0)
            pairs.append((i, i * 0.5))
            texts.append(str(i) + "é")
            deep[i % 2].append(i)
            deep.append([i])
        return whole, real, flags, pairs, texts, deep, empty, [1j, 2j], (whole[0], [texts[-1]])

    same(f, 5)


@pytest.mark.parametrize(
    "body",
    [
        "[1, 2][k]",
        "[1, 2].index(k)",
        "{1: 2}[k]",
        "{(1, 'a'): 2}[(1, 'a')]",
        "[3 for _ in range(2)][k]",
        "list(range(3)).pop(k)",
        "{1, 2}.remove(k)",
        "'abc'[k]",
        "'abc'.index('z')",
        "[1][::k - 9]",
        "len([0] * k) + len('ab' * k)",
        "(10 in [1, k], 'b' in 'abc', k in {9: 1}, k not in {9})",
        "sorted([3, 1, 2], reverse=True)",
        "sorted(['b', 'a', 'ab'], key=len)",
        "[x for x in range(20) if x % 3 == 0 if x % 2 == 0]",
        "[x * y for x in range(3) for y in range(x)]",
        "{x % 3: x for x in range(9)}",
        "sum([x * 0.5 for x in range(9)])",
        "[(1, 2), (1, 3)] == [(1, 2), (1, 3)]",
        "[[1], [2]] == [[1], [3]]",
        "([1, 2] < [1, 3], [1] < [1, 0], [2] >= [1, 5])",
        "{1: [1]} == {1: [1]}",
        "({1, 2} <= {1, 2, 3}, {1} < {1}, {1, 2} & {2, 3} == {2})",
        "list('héllo')",
        "'a,b,,c'.split(',')",
        "' a  b '.split()",
        "'x'.join(['a', 'b', 'c'])",
        "'Hello'.upper() + 'Hello'.lower() + 'hello'.capitalize()",
        "(' ab '.strip(), 'xxabx'.strip('x'), 'aab'.replace('a', 'b', 1))",
        "('abcabc'.find('c'), 'abcabc'.rfind('c'), 'abc'.count(''), 'abc'.startswith('ab'))",
        "(int('12') + int(' -3 '), float('1.5e3'), ord('é'), chr(9731))",
        "f'{k}-{k * 0.5}-{k == 10}'",
        "(str(0.1), str(1e16), str(-0.0), str(1e-7), str(123456789012345678))",
        "('a' * 3, 3 * 'ab', 'abc'[::-1], 'abc'[-2:], 'a' < 'b')",
        "('7'.zfill(3), '-7'.zfill(4), 'ab'.rjust(5, '*'), 'ab'.center(5), '12'.isdigit(), 'aB'.isalpha())",
        "max([1, k, 3]) - min([4, k])",
        "list({1: 2, 3: 4}.items()), list({1: 2}.keys()), list({1: 2}.values())",
        "dict([(1, 2.5), (k, 3.5)])",
        "int('x')",
    ],
)
def test_expressions(body):
    space = {}
    import linecache

    text = f"def f(k):\n    return {body}\n"
    linecache.cache[body] = (len(text), None, text.splitlines(True), body)
    exec(compile(text, body, "exec"), space)
    if "int('x')" in body:
        with pytest.raises(ValueError):
            njit(space["f"])(10)
        return
    same(space["f"], 10)


def test_names_share_a_list():
    def f():
        a = [1]
        b = a
        b.append(2)
        c = (a, b)
        c[0].append(3)
        d = [a, a]
        d[1].append(4)
        return a, b, d

    same(f)


@njit
def _append(x, y):
    x.append(y)
    return x


def test_written_lists_that_functions_change():
    @njit
    def f(c):
        t = ([1], 2)
        t[0].append(3)
        x = [1, 2] if c else [3]
        x.append(9)
        m = [[1.0, 2.0], [3.0, 4.0]]
        s = 0.0
        for i in range(2):
            for j in range(2):
                s = s * 2 + m[i][j]
        return _append([1, 2], 5), _append([0], 1), t, x, s

    assert f(True) == ([1, 2, 5], [0, 1], ([1, 3], 2), [1, 2, 9], 26.0)
    assert f(False)[3] == [3, 9]


def test_what_the_caller_gave_changes():
    @njit
    def change(x, s, pairs, texts):
        x.append(len(x))
        x[0] = -1
        s.add(7)
        pairs.pop()
        texts.insert(0, "new" + texts[0])

    x, s, pairs, texts = [1, 2], {1}, [(1, 2.5), (2, 0.5)], ["a"]
    change(x, s, pairs, texts)
    assert (x, s, pairs, texts) == ([-1, 2, 2], {1, 7}, [(1, 2.5)], ["newa", "a"])

    @njit
    def half(x, n):
        x.append(n)
        if n > 1:
            raise ValueError("no", n, 1.5)

    with pytest.raises(ValueError) as error:
        half(x, 3)
    assert error.value.args == ("no", 3, 1.5) and x == [-1, 2, 2, 3]


def test_lists_of_arrays():
    @njit
    def f(xs):
        out = []
        for x in xs:
            out.append(x * 2)
        out[0][0] = 100
        return out, xs.pop()

    a, b = np.arange(3.0), np.ones(2)
    out, last = f([a, b])
    assert [o.tolist() for o in out] == [[100, 2, 4], [2, 2]] and last.tolist() == [1, 1]
    assert a.tolist() == [0, 1, 2]


def test_lists_where_arrays_are_taken():
    def f(n):
        x = [float(i) for i in range(n)]
        return np.array(x).sum(), np.sum(np.asarray(x)), sum(x), max(x), np.mean(np.array(x)), any([v > 2 for v in x])

    assert njit(f)(6) == f(6)


def test_try():
    @njit
    def inner(k):
        if k % 3 == 0:
            raise ValueError("three")
        return [1, 2][k]

    @njit
    def f(n):
        log = []
        for k in range(n):
            v = 0
            try:
                v = 5
                v = inner(k)
            except Exception:
                log.append(-v)
                continue
            else:
                log.append(v)
        state = 0
        try:
            try:
                state = 1
                inner(n * 3)
            finally:
                state += 10
        except:  # noqa: E722
            state += 100
        log.append(state)
        return log

    def model(n):
        return [-5 if k % 3 == 0 or k > 1 else [1, 2][k] for k in range(n)] + [111]

    assert f(6) == model(6)

    @njit
    def found(xs, x):
        for i in range(9):
            try:
                if xs[i] == x:
                    return i
            except Exception:
                return -1
        return -2

    assert [found([1, 2], x) for x in (1, 2, 3)] == [0, 1, -1]


def test_exceptions_of_functions_that_call_themselves():
    @njit
    def down(n):
        if n == 0:
            raise KeyError("bottom")
        if n < 0:
            return 0
        return down(n - 1) + 1

    @njit
    def f(n):
        try:
            return down(n)
        except Exception:
            return -n

    assert f(5) == -5
    with pytest.raises(KeyError):
        down(3)


def test_recursion_with_lists():
    def walk(tree, i, out):
        if i >= len(tree):
            return 0
        a = walk(tree, 2 * i + 1, out)
        out.append(tree[i])
        return a + 1 + walk(tree, 2 * i + 2, out)

    def wanted(tree, i, out):
        if i >= len(tree):
            return 0
        a = wanted(tree, 2 * i + 1, out)
        out.append(tree[i])
        return a + 1 + wanted(tree, 2 * i + 2, out)

    compiled, have, want = njit(walk), [0], [0]
    walk_globals = walk.__globals__
    walk_globals["walk"] = compiled
    try:
        assert compiled([4, 2, 6, 1, 3], 0, have) == wanted([4, 2, 6, 1, 3], 0, want)
    finally:
        del walk_globals["walk"]
    assert have == want


# ---- what is refused, and why ----


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("x = []\n    return x", "nothing is put"),
        ("x = [1]\n    x.append('a')\n    return x", "cannot hold str"),
        ("try:\n        k += 1\n    except ValueError:\n        k = 0\n    return k", "all exceptions"),
        ("try:\n        k += 1\n    except Exception as e:\n        k = 0\n    return k", "no name"),
        ("x = {[1]}\n    return len(x)", "no key"),
        ("x = [1j, 2j]\n    x.sort()\n    return x", "order"),
        ("return 'a' + k", "strings"),
    ],
)
def test_refused(body, says):
    import linecache

    text = f"def f(k):\n    {body}\n"
    linecache.cache[body] = (len(text), None, text.splitlines(True), body)
    space = {}
    exec(compile(text, body, "exec"), space)
    with pytest.raises((TypeError, ValueError), match=says) as error:
        njit(space["f"])(3)
    assert "line " in str(error.value)


def test_not_in_kernels_and_on_gpus():
    @cuda.jit
    def kernel(a):
        d = {1: 2}
        a[0] = d[1]

    with pytest.raises(TypeError, match="dict"):
        kernel[1, 1](td.zeros(1))

    @njit
    def f(a):
        x = [i for i in range(3)]
        a[0] = x[0]

    with td.device("null"), pytest.raises(TypeError, match="list"):
        f(td.zeros(3))
    with pytest.raises(TypeError, match="one type"):
        njit(lambda x: x)([1, 2.5])


def test_loops_over_lists_run_in_order():
    @njit(parallel=True)
    def f(n):
        x, total = [0], 0
        for i in td.prange(n):
            x.append(i)
            total += x[i]
        return x, total

    assert f(4) == ([0, 0, 1, 2, 3], 3)
    assert "it uses a list" in f.explain()


def test_changed_while_iterated():
    def f(n):
        d = {1: n}
        for k in d:
            d[k + 1] = n
        return d

    same(f, 3)

    def g(n):
        x = [1]
        for v in x:
            if v < n:
                x.append(v + 1)
        return x

    same(g, 7)


# ---- treadle.typed ----


def test_a_typed_list_keeps_its_length_while_iterated():
    """Numba's rule; a list of Python's may grow."""

    def append(x):
        for v in x:
            x.append(v + 10)

    def pop(x):
        for v in x:
            x.pop()

    def clear_at_the_last(x):
        k = 0
        for v in x:
            k += 1
            if k == 3:
                x.clear()

    def numbered(x):
        for i, v in enumerate(x):
            x.insert(0, v)

    def beside(x):
        for v, w in zip(range(9), x):
            del x[0]

    def yielded(x):
        return [v for v in x if x.pop() > 0]

    for f in (append, pop, clear_at_the_last, numbered, beside, yielded):
        with pytest.raises(RuntimeError, match="list was mutated during iteration"):
            njit(f)(List([1, 2, 3]))

    def grown(n):
        made, own = List(), [0, 1]
        made.append(0)
        for v in own:
            if len(own) < n:
                own.append(v + 2)
            made[0] = len(own)  # an element may change
        for v in made:
            made[0] = v
        return own, made[0], [x for x in made] + [y for y in reversed(made)]

    assert njit(grown)(9) == ([0, 1, 2, 3, 4, 5, 6, 7, 8], 9, [9, 9])
    from_python, seen = List([1, 2, 3]), 0
    for _ in from_python:
        from_python.append(4)
        seen += 1
    assert seen == 3 and len(from_python) == 6


def test_typed_from_python():
    x = List()
    x.append(1)
    x.extend([5, 3])
    assert list(x) == [1, 5, 3] and x[-1] == 3 and x[0:2] == [1, 5] and 5 in x and x.index(3) == 2
    x.sort()
    x.insert(1, 9)
    del x[0]
    assert x == [9, 3, 5] and x.pop() == 5 and len(x) == 2 and str(x) == "[9, 3]" and repr(x) == "ListType[int64]([9, 3])"
    with pytest.raises(IndexError):
        x[7]
    with pytest.raises(TypeError):
        x.append("a")
    d = Dict.empty(types.unicode_type, types.float64[:])
    d["a"] = np.arange(3.0)
    d["b"] = np.ones(2)
    d["a"][0] = 7
    assert d["a"].tolist() == [7, 1, 2] and list(d) == ["a", "b"] and "c" not in d and d.get("c", 4) == 4
    with pytest.raises(KeyError, match="zz"):
        d["zz"]
    assert d.pop("a").tolist() == [7, 1, 2] and len(d) == 1
    with pytest.raises(TypeError):
        d[3] = np.ones(1)
    with pytest.raises(TypeError, match="not known"):
        njit(lambda x: x)(List())
    assert types.ListType(types.int64) == types.ListType(types.int64) and str(types.DictType(types.int64, types.int64))


def test_typed_is_shared():
    @njit
    def grow(x, d, key):
        x.append(len(x) * 0.5)
        d[key] = x[0]
        d[key + "!"] = 2.0
        return x

    x, d = List.empty_list(types.float64), Dict.empty(types.unicode_type, types.float64)
    for i in range(6):
        assert grow(x, d, f"k{i}") == x
    assert len(x) == 6 and len(d) == 12 and d["k5!"] == 2 and x[5] == 2.5

    @njit
    def inside():
        x = List()
        for i in range(3):
            y = List.empty_list(types.int64)
            y.append(i)
            x.append(y)
        d = Dict()
        d[(1, 2)] = "one" + "two"
        return x, d

    x, d = inside()
    first = x[0]
    del x
    gc.collect()
    assert first == [0] and d[(1, 2)] == "onetwo" and type(first) is List


def test_typed_inside_typed_lives_on():
    outer = Dict.empty(types.unicode_type, types.ListType(types.int64))
    for i in range(3000):
        inner = List.empty_list(types.int64)
        inner.append(i)
        outer[str(i % 7)] = inner
        del inner
    gc.collect()

    @njit
    def total(d):
        s = 0
        for k, v in d.items():
            s += v[0]
        return s

    assert total(outer) == sum(range(2993, 3000))


def test_memory_stays_flat():
    @njit
    def f(x, d, k):
        y = [[i] for i in range(50)]
        s = {i for i in range(50)}
        t = "a" * 100
        x.append(1)
        x.clear()
        d[str(k % 10)] = t
        if k % 2:
            raise ValueError("odd", k)
        return y, s, t

    x, d = List.empty_list(types.int64), Dict.empty(types.unicode_type, types.unicode_type)

    def run(n):
        for k in range(n):
            try:
                f(x, d, k)
            except ValueError:
                pass
        gc.collect()

    run(3000)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    run(10000)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 4000


def test_growth():
    @njit
    def f(n):
        x, d, s = [], {}, set()
        for i in range(n):
            x.append(i)
            d[i * 7919] = i
            s.add(i % 1000)
        return len(x), x[n - 1], d[(n - 1) * 7919], len(d), len(s)

    n = 1_200_000
    assert f(n) == (n, n - 1, n - 1, n, 1000)


def test_no_memory():
    @njit
    def f(n):
        return len([0] * n)

    with pytest.raises(MemoryError):
        f(1 << 58)


def test_interpreted():
    def f(xs, n):
        d = {}
        for x in xs:
            d.setdefault(x % n, [0]).append(x)
        return d, sorted(d), f"{len(d)}"

    wanted = f([5, 1, 4, 2], 3)
    with td.debug():
        assert njit(f)([5, 1, 4, 2], 3) == wanted


def test_found_on_disk_by_another_process(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        textwrap.dedent("""
            from treadle import njit
            @njit
            def f(n):
                x = [i for i in range(n)]
                d = {str(v): v for v in x}
                return x, d
            print(f(3))
        """)
    )
    for _ in range(2):
        done = subprocess.run([sys.executable, program], capture_output=True, text=True, timeout=120)
        assert done.stdout == "([0, 1, 2], {'0': 0, '1': 1, '2': 2})\n", done.stderr


def test_build_declines(tmp_path):
    @njit
    def f(n):
        x = [i for i in range(n)]
        return len(x)

    with pytest.raises(TypeError, match="list"):
        td.build(f, "(int64,)", str(tmp_path / "f.so"))


def test_lists_of_reals_stay_in_their_memory():
    """Lists as long as the room that they get: what is written behind one breaks the allocator, or the next one."""

    @njit
    def f(a, b):
        return sum(a), sum(b), a[-1], b[0]

    for n in range(1, 80):
        a, b = [k * 0.5 for k in range(n)], [k + 0.25 for k in range(n)]
        assert f(a, b) == f.py_func(a, b)
        assert f(List(a), List(b)) == f.py_func(a, b)
