"""numpy.random.Generator as an argument of compiled functions: NumPy's own numbers, from one stream with Python."""

import gc
import itertools
import linecache
import random

import numpy as np
import pytest

import treadle as td
from treadle import cuda, njit, prange
from treadle._compile._drawing import _ziggurat
from treadle.typed import List

KINDS = (np.random.PCG64, np.random.SFC64, np.random.MT19937)
CALLS = """
random() random(5) random((2,3)) random(size=4) uniform() uniform(2.0,5.0) uniform(-1,1,7) standard_normal()
standard_normal((3,2)) normal() normal(2.0,0.5) normal(0,1,size=(3,)) normal(loc=1.0,size=3) lognormal()
lognormal(0.5,0.25,4) standard_exponential() standard_exponential(7) exponential() exponential(2.5,6)
standard_gamma(0.5) standard_gamma(3.5,9) gamma(0.3,2.0,9) gamma(4.0) chisquare(3.0) chisquare(0.5,5) beta(0.5,0.6)
beta(2.0,3.0,4) beta(2,0.5) beta(1e-3,2e-4,9) beta(1e-5,1e-6) beta(1e-110,2e-110,9) f(3.0,4.0) f(2,5,3) standard_t(4.0) standard_t(3,5) standard_cauchy() pareto(2.0)
pareto(3,4) weibull(2.0) weibull(0.7,3) power(2.0) power(0.5,4) rayleigh() rayleigh(2.0,3) gumbel() gumbel(1.0,2.0,3)
laplace() laplace(1,2,3) logistic() logistic(0.5,1.5,3) triangular(0.0,1.0,3.0) triangular(-1,0,2,5) poisson()
poisson(3.0) poisson(25.0,9) poisson(2,(2,2)) poisson(0.0) geometric(0.1) geometric(0.6,5) negative_binomial(5,0.4)
negative_binomial(3.5,0.2,4) integers(10) integers(0,10) integers(5,6) integers(-100,100,9) integers(0,10,size=(2,3))
integers(0,2**40) integers(-2**62,2**62,7) integers(0,2**32,5) integers(0,2**32-1,5) integers(1,6,endpoint=True)
integers(0,9,4,endpoint=True) integers(low=3,high=8,size=3) choice(7) choice(10,4) permutation(9)
random(dtype=np.float32) random((2,3),np.float32) standard_normal(dtype=np.float32) standard_normal(9,np.float32)
standard_exponential(dtype=np.float32) standard_exponential(9,np.float32) integers(10,dtype=np.int32)
integers(0,2**32,5,np.uint32) integers(-9,9,7,np.int16) integers(0,200,9,dtype=np.uint8) integers(-128,128,9,np.int8)
integers(0,2**16,5,dtype=np.uint16) integers(5,6,3,np.int16) integers(7,dtype=np.uint8) integers(0,2**62,5,np.uint64)
integers(0,2**63-1,5,np.uint64,True) integers(3,5,4,np.uint64,endpoint=True) integers(9,9,2,np.uint64,True) integers(7,dtype=np.uint64)
integers(0,7,4,np.int64,True) integers(0,255,4,np.uint8,endpoint=True) binomial(10,0.3) binomial(400,0.9,5)
binomial(60,0.5) wald(1.0,2.0) wald(0.5,3,5) zipf(2.0) zipf(1.2,9) zipf(2000) logseries(0.3) logseries(0.99,9)
noncentral_chisquare(2.0,1.5) noncentral_chisquare(0.5,1,4) noncentral_chisquare(3,0) noncentral_f(2,3,1.5,3)
""".split()


def compiled(text, name):
    file = f"<generators {name}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    space = {"np": np}
    exec(compile(text, file, "exec"), space)
    return njit(space["f"])


@pytest.mark.parametrize("call", CALLS)
def test_the_numbers_are_numpys(call):
    f = compiled(f"def f(g):\n    x = g.{call}\n    return x, g.{call}, g.random(), g.integers(100)\n", call)
    seed = random.randrange(2**32)
    print("seed", seed)
    for kind in KINDS:
        for k in range(20):
            ours, theirs = (np.random.Generator(kind([seed, k])) for _ in range(2))
            for a, b in zip(f(ours), f.py_func(theirs), strict=True):
                np.testing.assert_array_equal(a, b, strict=isinstance(b, np.ndarray))


def test_many_draws_and_their_rare_branches():
    @njit
    def fill(g, a, b, c):
        for i in range(a.size):
            a[i], b[i], c[i] = g.standard_normal(), g.standard_exponential(), g.integers(3 * 2**60)

    for kind in KINDS:
        made = [(np.random.Generator(kind(8)), np.empty(30_000), np.empty(30_000), np.empty(30_000)) for _ in range(2)]
        fill(*made[0])
        fill.py_func(*made[1])
        for a, b in zip(made[0][1:], made[1][1:], strict=True):
            np.testing.assert_array_equal(a, b)
    narrow = njit(lambda g: (g.standard_normal(10**6, np.float32), g.standard_exponential(10**6, np.float32)))
    for kind, seed in itertools.product(KINDS, (3, 17)):
        ours, theirs = (np.random.Generator(kind(seed)) for _ in range(2))
        for a, b in zip(narrow(ours), narrow.py_func(theirs), strict=True):
            np.testing.assert_array_equal(a, b, strict=True)


def test_heights_and_bounds_of_the_ziggurat():
    """An area under each step is that of all others."""
    for method, tail in (
        ("standard_normal", _ziggurat.NORMAL_TAIL),
        ("standard_exponential", _ziggurat.EXPONENTIAL_TAIL),
    ):
        widths, sure, heights = _ziggurat.tables(method)
        edges = widths * 2.0 ** (52 if method == "standard_normal" else 53)
        assert edges[-1] == tail and sure[1] == 0 and heights[0] == 1
        areas = edges[1:] * -np.diff(heights)
        np.testing.assert_allclose(areas, areas[-1], rtol=1e-10)


def test_one_stream_with_python_and_with_other_functions():
    @njit
    def inner(g):
        return g.normal()

    @njit
    def outer(g, x):
        g.shuffle(x)
        return inner(g) + g.random()

    a, b = np.random.default_rng(5), np.random.default_rng(5)
    for shape in ((9,), (4, 3)):
        x, y = (np.arange(float(np.prod(shape))).reshape(shape) for _ in range(2))
        assert outer(a, x) == outer.py_func(b, y)
        np.testing.assert_array_equal(x, y)
        assert a.random() == b.random()
    a.bit_generator.state = b.bit_generator.state = np.random.default_rng(77).bit_generator.state
    assert inner(a) == b.normal()


@pytest.mark.parametrize("kind", KINDS)
def test_a_generator_comes_back_as_it_went(kind):
    made = [np.random.Generator(kind(k)) for k in range(150)]
    a, b = made[:2]
    assert njit(lambda g: g)(a) is a
    pair, number = njit(lambda g, h: ((h, g), h.random()))(a, b)
    assert pair[0] is b and pair[1] is a and number == np.random.Generator(kind(1)).random()
    pick = njit(lambda gs, i: gs[i])
    assert pick(made, 120) is made[120] and pick(List(made), 149) is made[149] and List(made)[3] is made[3]

    @njit
    def held(g, h, first):
        one = g if first else h
        for _ in range(3):
            other = one
            x = other.random()
        return x, one

    for first in (True, False):
        x, one = held(a, b, first)
        again = np.random.Generator(kind(0 if first else 1))
        assert one is (a if first else b)
        assert x == again.random(3 if first else 4)[-1]


def test_an_instance_outlives_the_programs_reference():
    kept = List([np.random.default_rng(9)])
    others = [np.random.default_rng(k) for k in range(200)]
    draw = njit(lambda g: g.random())
    for g in others:
        draw(g)
    del others
    gc.collect()
    assert draw(kept[0]) == np.random.default_rng(9).random()


def test_prange_draws_in_order():
    @njit(parallel=True)
    def f(g, n):
        out = np.empty(n)
        for i in prange(n):
            out[i] = g.random()
        return out

    np.testing.assert_array_equal(f(np.random.default_rng(4), 1000), np.random.default_rng(4).random(1000))


def test_integers_of_all_of_uint64():
    f = njit(lambda g, low, high, inclusive: g.integers(low, high, 9, np.uint64, inclusive))
    for low, high in ((0, 2**64 - 1), (2**63, 2**64 - 1), (2**63 - 5, 2**63 + 5), (2**64 - 1, 2**64 - 1)):
        for inclusive in (True, False)[: 1 + (low < high)]:
            got = f(np.random.default_rng(3), np.uint64(low), np.uint64(high), inclusive)
            np.testing.assert_array_equal(got, np.random.default_rng(3).integers(low, high, 9, np.uint64, inclusive), strict=True)


def test_refusals():
    g = np.random.default_rng(1)
    with pytest.raises(TypeError, match="PCG64, SFC64 and MT19937, not of Philox"):
        njit(lambda g: g.random())(np.random.Generator(np.random.Philox(1)))
    with pytest.raises(ValueError, match="scale < 0"):
        njit(lambda g: g.normal(0, -1))(g)
    with pytest.raises(ValueError, match="low >= high"):
        njit(lambda g: g.integers(5, 5))(g)
    with pytest.raises(TypeError, match="float32 or float64"):
        njit(lambda g: g.random(dtype=np.int32))(g)
    with pytest.raises(ValueError, match="out of bounds"):
        njit(lambda g: g.integers(0, 300, dtype=np.uint8))(g)
    for low, high, inclusive in ((-1, 5, True), (-2, -1, True), (5, 5, False), (0, 0, False), (7, 3, True)):
        with pytest.raises(ValueError, match="low|high"):
            np.random.default_rng(1).integers(low, high, 3, np.uint64, inclusive)
        with pytest.raises(ValueError, match="low|high"):
            njit(lambda g, a, b, c: g.integers(a, b, 3, np.uint64, c))(g, low, high, inclusive)
    with pytest.raises(TypeError, match="no argument dtype"):
        njit(lambda g: g.standard_gamma(2.0, dtype=np.float32))(g)
    with pytest.raises(TypeError, match="must be of one type"):
        njit(lambda g: g[0].random())([g, np.random.Generator(np.random.MT19937(1))])
    with pytest.raises(TypeError, match="on the CPU only"):
        cuda.jit(lambda g, a: None)[1, 1](g, np.zeros(1))
    with pytest.raises(TypeError, match="on the CPU only"):
        njit(lambda g, a: g.random())(g, td.zeros(3, device="null"))
