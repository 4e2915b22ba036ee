"""Loops over prange. An error in an iteration reaches the caller, and what follows the loop does not run. What
iterations combine is as in order, and what cannot be combined is refused.
"""

import itertools
import linecache
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import treadle as td
from treadle import njit, prange


@njit(parallel=True)
def inverses(a, out):
    for i in prange(out.size):
        out[i] = 1 / a[i]
    out[0] = 7


@njit(parallel=True)
def refusing(a, out):
    for i in prange(out.size):
        if a[i] < 0:
            raise ValueError("negative")
        out[i] = a[i] + 1
    out[0] = 7


@njit(parallel=True)
def asserting(a, out):
    largest = 0.0
    for i in prange(out.size):
        assert a[i] >= 0, "negative"
        largest = max(largest, a[i])
        out[i] = a[i] + 1
    return largest


def checked(a):
    assert a >= 0, "negative"
    return a + 1


@njit(parallel=True)
def calling(a, out):
    for i in prange(out.size):
        out[i] = checked(a[i])


SIZES = (1, 7, 10_000)  # one iteration, one piece, several


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize(("function", "bad", "error"), [
    (inverses, 0, ZeroDivisionError), (refusing, -1, ValueError), (asserting, -1, AssertionError),
    (calling, -1, AssertionError)])  # fmt: skip
def test_an_iteration_that_fails_raises(function, bad, error, n):
    a, out = np.full(n, 4.0), np.zeros(n)
    function(a, out)
    a[n // 2], out[:] = bad, 0
    with pytest.raises(error):
        function(a, out)
    assert out[n // 2] == 0, "the iteration goes on after it has failed"
    assert 7 not in out, "the function goes on after an iteration has failed"
    a[n // 2] = 4
    function(a, out)  # and works again


def test_values_without_failure():
    a, out = np.arange(10_000.0) + 1, np.zeros(10_000)
    inverses(a, out)
    assert out[0] == 7 and np.array_equal(out[1:], 1 / a[1:])
    assert asserting(a, out) == 10_000 and np.array_equal(out, a + 1)


def test_prange_is_range_on_the_host():
    assert list(prange(2, 9, 3)) == [2, 5, 8]


# ---- what iterations combine ----

FORMS = [
    "s += a[i]", "s -= a[i]", "s = s + a[i]", "s = a[i] + s", "s = a[i] + s - 0.25", "s = 1 + (s - a[i])",
    "s = s + a[i] if a[i] > 1 else s", "s = s if a[i] > 1 else a[i] + s",
    "if a[i] > 1: s = 2 * a[i] + s",
    "for j in range(i % 4): s = a[i] * j + s",
    "p *= a[i]", "p = a[i] * p", "p /= a[i]", "p = p / a[i] * 1.01", "p = a[i] * (p / 1.01)",
    "m = min(m, a[i])", "m = min(a[i], m, 1.2)", "m = np.minimum(a[i], m)",
    "if a[i] < m: m = a[i]", "if m > a[i]: m = a[i]", "if a[i] <= m: m = a[i]",
    "if a[i] > 0.7 and abs(a[i] - 1) < m: m = abs(a[i] - 1)",
    "m = a[i] if a[i] < m else m", "m = m if m < a[i] else a[i]",
    "m = max(m, a[i])", "if a[i] > m: m = a[i]", "if m < a[i]: m = a[i]", "m = a[i] if m < a[i] else m",
    "if a[i] > 1.4: f = True", "f = f or a[i] > 1.4", "f = a[i] > 1.4 or f", "f |= a[i] > 1.4", "f = (a[i] > 1.4) | f",
    "if a[i] > 1.4: g = False", "g = g and a[i] > 0.4", "g = a[i] > 0.6 and g", "g &= a[i] > 0.6",
    "n += 1", "n = n + 1 if a[i] > 1 else n", "n = 2 + n", "n |= i & 6", "n ^= i", "n = i ^ n", "n &= i | 1",
    "if a[i] > 1.4: n = 7", "if a[i] > 1.4: n = -7", "if a[i] > 9: n = 7",
    "x = a[i]; s += x * x",
    "x = 0.0\nfor j in range(3): x += a[i] * j\nout[i] = x",
    "h += a[i]", "h -= a[i]", "h[:] += a[i]", "h[0] += a[i]", "h[-1] -= a[i]; h[0] -= 1", "h[1:3] += i",
    "for j in range(4): h[j] += a[i] * j", "k *= a[i]", "k /= a[i]", "if a[i] > 1: k *= 1.001",
]  # fmt: skip
REFUSED = {
    "s -= a[i]\nif a[i] > 1: s *= 1.0": "s", "s += a[i] * s": "s", "s = a[i] - s": "s", "s = 1 / s": "s",
    "s += v; v = a[i]": "v", "s **= a[i]": "s", "n //= 2": "n", "if s < 3: s += a[i]": "s", "s += a[i]; out[i] = s": "s",
    "if a[i] < m: m = a[i]; n = i": "m", "if a[i] < m: m = a[i]\nelif a[i] > s: s = a[i]": "m",
    "if a[i] < m: m = 2 * a[i]": "m", "if i % 2 == 0: u = a[i]\ns += u": "u", "f = not f": "f", "s, m = m, s": "s|m",
    "if a[i] > 1: n = 7\nelse: n = 8": "n", "v = a[i]": "v", "if i == 3: v = a[i]": "v", "h[0] += a[i]; out[i] = h[0]": "h",
    "h += h[0]": "h", "h = h + a[i]": "h", "h[0] += a[i]; h[1] *= a[i]": "h",
}  # fmt: skip
numbers = itertools.count()


def loop(body, iterations="a.size"):
    """A function whose prange has this body, and the same for CPython."""
    lines = ["def f(a, out):", "    s = 0.5; p = 1.0; m = 1.25; f = False; g = True; n = 3; v = 0.25",
             "    h = np.ones(4); k = np.ones((2, 3))",
             f"    for i in prange({iterations}):", *("        " + line for line in body.split("\n")),
             "    return s, p, m, f, g, n, v, h, k"]  # fmt: skip
    name, text = f"<prange {next(numbers)}>", "\n".join(lines) + "\n"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    space = {"np": np, "prange": prange}
    exec(compile(text, name, "exec"), space)
    return space["f"]


def values(seed, n):
    print("seed", seed)
    return np.random.default_rng(seed).uniform(0.5, 1.5, n), np.zeros(n)


def same(f, seed, n, **how):
    got, wanted = values(seed, n), values(seed, n)
    for x, y in zip(njit(f, parallel=True, **how)(*got), f(*wanted), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-9)
    np.testing.assert_allclose(got[1], wanted[1], rtol=1e-9)


@pytest.mark.parametrize("n", (0, 1, 7, 1000, 30_000))
@pytest.mark.parametrize("body", FORMS)
def test_iterations_are_combined(body, n):
    same(loop(body), 11, min(n, 900) if body[0] in "pk" else n)  # products keep within range


@pytest.mark.parametrize("body", [b for b in FORMS if b[0] not in "hk" and "h[" not in b and "k *=" not in b])
def test_iterations_are_combined_on_a_gpu(body):
    f = loop(body)
    f = made_of_numbers(f)
    a, out = values(12, 500)
    with td.device("null"):
        got = njit(f, parallel=True)(td.asarray(a), td.asarray(out))
    for x, y in zip(got, f(a, out), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-9)


def made_of_numbers(f):
    """The same without arrays of its own, which a GPU's functions do not make."""
    text = "".join(linecache.getlines(f.__code__.co_filename))
    text = text.replace("    h = np.ones(4); k = np.ones((2, 3))\n", "").replace(", v, h, k", ", v")
    name = f"<prange {next(numbers)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    space = {"np": np, "prange": prange}
    exec(compile(text, name, "exec"), space)
    return space["f"]


@pytest.mark.parametrize("body", REFUSED)
def test_what_needs_the_iterations_in_order_is_refused_by_name(body):
    a, out = values(13, 100)
    with pytest.raises(TypeError, match=rf"^.*\b({REFUSED[body]})\b.* prange on line 4\b(.|\n)*line \d"):
        njit(loop(body), parallel=True)(a, out)


@settings(max_examples=60)
@given(st.lists(st.sampled_from(FORMS + list(REFUSED)), min_size=1, max_size=3), st.integers(0, 2**32))
def test_a_result_is_right_or_refused(bodies, seed):
    f = loop("\n".join(bodies))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            f(*values(seed, 300))
    except (RuntimeWarning, UnboundLocalError, OverflowError, ZeroDivisionError):
        return
    try:
        same(f, seed, 300)
    except TypeError as e:
        assert "prange on line 4" in str(e)


def test_the_loop_variable_behind_the_loop_is_refused():
    @njit(parallel=True)
    def f(a):
        for i in prange(a.size):
            a[i] = i
        return i

    with pytest.raises(TypeError, match="i is used after the prange"):
        f(np.zeros(9))


def test_what_a_loop_left_is_refused_an_iteration_of_an_outer_loop_later():
    @njit(parallel=True)
    def f(a):
        s = v = 0.0
        for _ in range(3):
            s += v
            for i in prange(a.size):
                v = a[i]
        return s

    with pytest.raises(TypeError, match="v is used after the prange"):
        f(np.ones(9))


def test_loops_that_break_run_in_order():
    @njit(parallel=True)
    def f(a, h):
        s = v = 0.0
        for i in prange(a.size):
            s += v
            v = a[i]
            h[0] += v
            h[1] = h[0]
            if i == 50:
                break
        return s, v, i

    a, out = values(14, 99)
    s, v, i = f(a, out)
    assert (v, i) == (a[50], 50) and s == pytest.approx(a[:50].sum()) and out[1] == pytest.approx(a[:51].sum())


def test_counters_of_inner_loops_are_an_iterations_own():
    @njit(parallel=True)
    def f(a, out):
        for _ in range(2):
            for i in prange(a.size):
                z = 0.0
                for k in range(20):  # noqa: B007
                    z += a[i]
                    if z > 5:
                        break
                out[i] += k

    a, out = values(15, 3000)
    f(a, out)
    wanted = np.zeros(3000)
    f.py_func(a, wanted)
    assert np.array_equal(out, wanted)


@pytest.mark.parametrize("dtype", (np.float32, np.float64, np.complex128, np.int32))
def test_arrays_are_summed_row_by_row(dtype):
    @njit(parallel=True)
    def f(a, h):
        for _ in range(3):
            for i in prange(a.shape[0]):
                h[1] += a[i]
        return h

    rng = np.random.default_rng(16)
    a = rng.integers(-9, 9, (5000, 6)).astype(dtype)
    h = rng.integers(-9, 9, (4, 12)).astype(dtype)[::2, ::-2]  # neither in C order nor whole
    wanted = h.copy()
    wanted[1] += 3 * a.sum(0)
    f(a, h)
    assert np.array_equal(h, wanted)


def test_an_argument_is_summed_in_its_place():
    @njit(parallel=True)
    def f(a, h):
        for i in prange(a.size):
            h += a[i]
        return h[0]

    a, _ = values(17, 200_000)
    h = np.zeros(4)
    assert f(a, h) == pytest.approx(a.sum()) and h == pytest.approx(np.full(4, a.sum()))
    assert "combined in a fixed order: h" in f.explain()


def test_an_array_that_is_summed_and_read_by_another_name_is_refused():
    @njit(parallel=True)
    def f(a):
        h = np.zeros(4)
        g = h[1:]
        s = 0.0
        for i in prange(a.size):
            h += a[i]
            s += g[0]
        return s

    with pytest.raises(TypeError, match="h is combined over the iterations of the prange .*another name"):
        f(np.ones(9))


def test_changing_one_element_on_a_gpu_is_refused():
    @njit(parallel=True)
    def f(a, h):
        for i in prange(a.size):
            h[0] += a[i]

    with td.device("null"), pytest.raises(TypeError, match="array h in its place"):
        f(td.ones(9), td.zeros(4))


def test_explain_tells_of_places_that_iterations_may_share():
    @njit(parallel=True)
    def f(b, h):
        for i in prange(b.size):
            h[b[i]] = 1.0

    f(np.arange(9), np.zeros(9))
    assert "whether another iteration touches the places of h" in f.explain()
