"""numpy.random and random in compiled functions: after a seed, the numbers of NumPy's RandomState and of CPython."""

import math
import operator
import random
import threading

import numpy as np
import pytest
from small_kernels import made

import treadle as td
from treadle import cuda, jit, njit, prange, vectorize

SEEDS = (0, 1, 42, 2**32 - 1)
NUMPYS = {
    "random": lambda: (np.random.random(), np.random.random_sample(), np.random.rand(), np.random.ranf(), np.random.sample()),
    "uniform": lambda: (np.random.uniform(), np.random.uniform(-2.0, 3.5), np.random.uniform(1, 5)),
    "normal": lambda: (np.random.normal(), np.random.randn(), np.random.standard_normal(), np.random.normal(3.0, 0.5), np.random.normal(1, 2)),
    "lognormal": lambda: np.random.lognormal(0.5, 0.25),
    "randint": lambda: (np.random.randint(10), np.random.randint(-5, 7), np.random.randint(0, 2**40), np.random.randint(3, 4),
                        np.random.randint(0, 2**32), np.random.randint(0, 2**32 + 1), np.random.randint(high=9, low=2)),
    "exponential": lambda: (np.random.exponential(), np.random.exponential(2.0), np.random.standard_exponential()),
    "gamma": lambda: (np.random.gamma(2.5, 2.0), np.random.gamma(0.5), np.random.gamma(1.0, 3.0), np.random.standard_gamma(7.0)),
    "chisquare": lambda: np.random.chisquare(3),
    "laplace": lambda: (np.random.laplace(), np.random.laplace(1.0, 2.0)),
    "gumbel": lambda: np.random.gumbel(1.0, 2.0),
    "logistic": lambda: np.random.logistic(1.0, 2.0),
    "rayleigh": lambda: np.random.rayleigh(2.0),
    "weibull": lambda: np.random.weibull(1.5),
    "pareto": lambda: np.random.pareto(3.0),
    "cauchy": lambda: np.random.standard_cauchy(),
    "poisson": lambda: (np.random.poisson(), np.random.poisson(3.5), np.random.poisson(30.0), np.random.poisson(0.0)),
    "beta": lambda: (np.random.beta(2.0, 3.0), np.random.beta(0.5, 0.75), np.random.beta(0.5, 2), np.random.beta(0.0005, 0.0003)),
    "binomial": lambda: (np.random.binomial(10, 0.3), np.random.binomial(10, 0.8), np.random.binomial(1000, 0.4), np.random.binomial(0, 0.5),
                         np.random.binomial(400, 0.93), np.random.binomial(10**6, 0.5), np.random.binomial(5, 0), np.random.binomial(5, 1)),
    "f": lambda: np.random.f(2.0, 3.5),
    "geometric": lambda: (np.random.geometric(0.3), np.random.geometric(0.9), np.random.geometric(0.01), np.random.geometric(1)),
    "hypergeometric": lambda: (np.random.hypergeometric(5, 4, 3), np.random.hypergeometric(4, 5, 3), np.random.hypergeometric(20, 30, 12),
                               np.random.hypergeometric(300, 200, 450), np.random.hypergeometric(0, 9, 5)),
    "logseries": lambda: (np.random.logseries(0.5), np.random.logseries(0.95)),
    "negative_binomial": lambda: (np.random.negative_binomial(5, 0.5), np.random.negative_binomial(0.7, 0.1)),
    "power": lambda: np.random.power(2.5),
    "student": lambda: np.random.standard_t(2.5),
    "triangular": lambda: (np.random.triangular(0, 0.5, 1), np.random.triangular(-3.0, 2.0, 2.0)),
    "vonmises": lambda: (np.random.vonmises(0, 1), np.random.vonmises(1.0, 4.0), np.random.vonmises(0.5, 0), np.random.vonmises(2.0, 1e-6),
                         np.random.vonmises(3.0, 1e7)),
    "wald": lambda: np.random.wald(1.0, 2.0),
    "zipf": lambda: (np.random.zipf(3), np.random.zipf(1.3)),
    "multinomial": lambda: (np.random.multinomial(20, [0.2, 0.3, 0.5]), np.random.multinomial(9, np.array([0.5, 0.5]), 3),
                            np.random.multinomial(200, np.array([0.1, 0.2, 0.7]), (2, 2))),
    "dirichlet": lambda: (np.random.dirichlet(np.array([1.0, 2.0, 0.3])), np.random.dirichlet(np.array([4.0, 0.5]), 3)),
    "their arrays": lambda: (np.random.beta(2.0, 3.0, 4), np.random.binomial(9, 0.4, (2, 2)), np.random.geometric(0.2, size=3)),
    "choice": lambda: (np.random.choice(7), np.random.choice(np.arange(5) * 1.5)),
    "arrays": lambda: (np.random.rand(3), np.random.rand(2, 3), np.random.randn(4), np.random.random(5), np.random.random((2, 2)),
                       np.random.uniform(0.0, 2.0, 3), np.random.normal(0.0, 1.0, (2, 2)), np.random.randint(0, 9, 6),
                       np.random.randint(0, 9, size=(2, 2)), np.random.exponential(1.0, size=3), np.random.poisson(4.0, 3)),
    "permutation": lambda: (np.random.permutation(9), np.random.permutation(np.arange(4.0)), np.random.permutation(np.arange(12).reshape(4, 3))),
    "choices": lambda: (np.random.choice(9, 5), np.random.choice(np.arange(6), 4, False), np.random.choice(np.arange(6), (2, 3))),
}  # fmt: skip
PYTHONS = {
    "random": lambda: (random.random(), random.random()),
    "uniform": lambda: (random.uniform(1.0, 2.5), random.uniform(-3, 4)),
    "randint": lambda: (random.randint(0, 9), random.randint(-5, 5), random.randint(1, 1), random.randint(0, 2**40)),
    "randrange": lambda: (random.randrange(10), random.randrange(2, 9), random.randrange(0, 100, 7), random.randrange(9, -9, -4)),
    "getrandbits": lambda: (random.getrandbits(1), random.getrandbits(8), random.getrandbits(32), random.getrandbits(33), random.getrandbits(63)),
    "choice": lambda: random.choice(np.arange(9)),
    "gauss": lambda: (random.gauss(0.0, 1.0), random.gauss(5.0, 2.0), random.gauss(1.0, 0.5)),
    "normalvariate": lambda: (random.normalvariate(0.0, 1.0), random.lognormvariate(0.0, 0.5)),
    "expovariate": lambda: random.expovariate(1.5),
    "gammavariate": lambda: (random.gammavariate(2.0, 3.0), random.gammavariate(0.6, 1.0), random.gammavariate(1.0, 2.0)),
    "betavariate": lambda: random.betavariate(2.0, 0.5),
    "vonmisesvariate": lambda: (random.vonmisesvariate(1.0, 2.0), random.vonmisesvariate(1.0, 0.0)),
    "triangular": lambda: (random.triangular(), random.triangular(1.0, 5.0, 2.0)),
    "paretovariate": lambda: (random.paretovariate(3.0), random.weibullvariate(1.0, 1.5)),
}  # fmt: skip


def drawn(draw, module, times=50):
    """(seeding and drawing once, drawing again) compiled."""
    seed = njit(lambda n: np.random.seed(n)) if module is np.random else njit(lambda n: random.seed(n))
    again = njit(draw)

    def run(n):
        seed(n)
        return [again() for _ in range(times)]

    return run


def same(got, want):
    for g, w in zip(got, want):
        for a, b in zip(*((x if isinstance(x, tuple) else (x,)) for x in (g, w))):
            np.testing.assert_array_equal(a, b)
            assert np.shape(a) == np.shape(b)


@pytest.mark.parametrize("name", NUMPYS)
def test_numpys_numbers(name):
    run = drawn(NUMPYS[name], np.random)
    for n in SEEDS:
        got = run(n)
        np.random.seed(n)
        same(got, [NUMPYS[name]() for _ in range(50)])


@pytest.mark.parametrize("name", PYTHONS)
def test_pythons_numbers(name):
    run = drawn(PYTHONS[name], random)
    for n in (*SEEDS, -7, 2**40 + 3):
        got = run(n)
        random.seed(n)
        same(got, [PYTHONS[name]() for _ in range(50)])


def test_plain_draws_are_the_same_bits():
    @njit
    def f(a):
        np.random.seed(7)
        random.seed(7)
        for i in range(a.shape[1]):
            a[0, i] = np.random.random()
            a[1, i] = random.random()

    a = np.zeros((2, 5000))
    f(a)
    assert a[0].tolist() == np.random.RandomState(7).random_sample(5000).tolist()
    r = random.Random(7)
    assert a[1].tolist() == [r.random() for _ in range(5000)]


def test_shuffles():
    @njit
    def f(a, b, c):
        np.random.seed(3)
        random.seed(3)
        np.random.shuffle(a)
        np.random.shuffle(b)
        random.shuffle(c)

    a, b, c = np.arange(50), np.arange(24.0).reshape(6, 4), np.arange(30)
    f(a, b, c)
    r, want = np.random.RandomState(3), [np.arange(50), np.arange(24.0).reshape(6, 4), np.arange(30)]
    r.shuffle(want[0]), r.shuffle(want[1]), random.Random(3).shuffle(want[2])
    for got, w in zip((a, b, c), want):
        np.testing.assert_array_equal(got, w)


def test_the_programs_own_generators_are_left_alone():
    f = njit(lambda: np.random.random() + random.random())
    np.random.seed(1), random.seed(1)
    f()
    got = np.random.random(), random.random()
    np.random.seed(1), random.seed(1)
    assert got == (np.random.random(), random.random())


def test_threads_have_generators_of_their_own():
    seed, draw = njit(lambda n: np.random.seed(n)), njit(lambda: np.random.random())
    seed(5)
    first, seen = draw(), []

    def other():
        seen.append(draw())
        seed(5)
        seen.append(draw())

    t = threading.Thread(target=other)
    t.start(), t.join()
    want = np.random.RandomState(5).random_sample(2)
    assert [first, draw()] == want.tolist() and seen[1] == want[0] and seen[0] not in want


def test_without_a_seed_numbers_differ():
    f = njit(lambda: (np.random.random(), random.random()))
    assert len({x for _ in range(20) for x in f()}) == 40


def test_in_order_where_turns_draw():
    @njit
    def f(a):
        np.random.seed(9)
        for i in range(a.size):
            a[i] = np.random.normal()

    a = np.zeros(20000)
    f(a)
    np.testing.assert_array_equal(a, np.random.RandomState(9).normal(size=20000))


@njit(parallel=True)
def walkers(out, seed):
    np.random.seed(seed)
    for i in prange(out.size):
        x = 0.0
        for _ in range(100):
            x += np.random.normal()
        out[i] = x


@njit(parallel=True)
def quarter(n, seed):
    np.random.seed(seed)
    hits = 0
    for _ in prange(n):
        if np.random.random() ** 2 + np.random.random() ** 2 < 1.0:
            hits += 1
    return 4.0 * hits / n


def test_prange_gives_the_same_numbers_each_time():
    a, b, c = np.zeros(3000), np.zeros(3000), np.zeros(3000)
    walkers(a, 1), walkers(b, 1), walkers(c, 2)
    assert a.tolist() == b.tolist() and len(set(a.tolist())) == 3000 and not set(a.tolist()) & set(c.tolist())
    assert abs(a.mean()) < 1 and 9 < a.std() < 11
    assert quarter(400000, 1) == quarter(400000, 1) != quarter(400000, 2)
    assert abs(quarter(400000, 1) - math.pi) < 0.02


def test_two_loops_and_a_seed_of_python():
    @njit(parallel=True)
    def f(a, b):
        random.seed(4)
        for i in prange(a.size):
            a[i] = random.random()
        for i in prange(b.size):
            b[i] = random.random()

    a, b = np.zeros(9000), np.zeros(9000)
    f(a, b)
    assert len({*a, *b}) == 18000


@pytest.mark.parametrize("wrong", (lambda: np.random.randint(3, 3), lambda: np.random.normal(0.0, -1.0), lambda: np.random.seed(-1),
                                   lambda: np.random.seed(2**32), lambda: np.random.choice(3, 5, False), lambda: random.randrange(4, 2)))
def test_errors(wrong):
    with pytest.raises(ValueError):
        wrong()
    with pytest.raises(ValueError):
        njit(wrong)()


def test_in_ufuncs():
    @vectorize
    def u(x):
        return x + np.random.random()

    seed = njit(lambda n: np.random.seed(n))
    seed(6)
    assert u(np.zeros(20000)).tolist() == np.random.RandomState(6).random_sample(20000).tolist()


def test_operators_functions_do_not_change_arrays_in_silence():
    """operator.iadd(x, y) changes an array x; compiled it would only give the sum."""
    for name in ("iadd", "isub", "imul", "itruediv", "ior"):
        f = getattr(operator, name)
        with pytest.raises(TypeError, match="write the statement"):
            td.njit(lambda x, y: f(x, y))(np.arange(3), np.ones(3, int))  # noqa: B023
        assert td.njit(lambda x, y: f(x, y))(6, 3) == f(6, 3)  # noqa: B023


def test_refused_by_name():
    @cuda.jit
    def k(a):
        a[0] = np.random.random()

    @jit
    def g(a):
        for i in range(a.size):
            a[i] = np.random.random()

    with pytest.raises(TypeError, match=r"drawn from in a kernel: .*cuda\.random"):
        k[1, 1](np.zeros(1))
    with pytest.raises(TypeError, match="drawn from in what runs on a GPU"):
        g(td.zeros(3, device="null"))
    with pytest.raises(TypeError, match="default_rng"):
        njit(lambda: np.random.default_rng(3).random())()


LIMITS = """np.random.beta(0.0, 1.0)|np.random.beta(1.0, -1.0)|np.random.binomial(-1, 0.5)|np.random.binomial(3, 1.5)
np.random.binomial(3, -0.5)|np.random.chisquare(0.0)|np.random.chisquare(-1.0)|np.random.exponential(-1.0)
np.random.f(0.0, 1.0)|np.random.f(1.0, 0.0)|np.random.gamma(-1.0, 1.0)|np.random.gamma(1.0, -1.0)|np.random.gamma(0.0)
np.random.geometric(0.0)|np.random.geometric(1.5)|np.random.gumbel(0.0, -1.0)|np.random.hypergeometric(-1, 2, 1)
np.random.hypergeometric(1, -2, 1)|np.random.hypergeometric(1, 2, 5)|np.random.laplace(0.0, -1.0)
np.random.logistic(0.0, -1.0)|np.random.lognormal(0.0, -1.0)|np.random.logseries(0.0)|np.random.logseries(1.0)
np.random.logseries(-0.5)|np.random.negative_binomial(0, 0.5)|np.random.negative_binomial(1, 1.5)
np.random.negative_binomial(-1, 0.5)|np.random.normal(0.0, -1.0)|np.random.pareto(0.0)|np.random.pareto(-1.0)
np.random.poisson(-1.0)|np.random.power(0.0)|np.random.power(-1.0)|np.random.rayleigh(-1.0)
np.random.standard_gamma(-1.0)|np.random.standard_t(0.0)|np.random.standard_t(-1.0)
np.random.triangular(1.0, 0.0, 2.0)|np.random.triangular(0.0, 3.0, 2.0)|np.random.triangular(1.0, 1.0, 1.0)
np.random.vonmises(0.0, -1.0)|np.random.wald(0.0, 1.0)|np.random.wald(1.0, 0.0)|np.random.weibull(-1.0)
np.random.zipf(1.0)|np.random.zipf(0.5)|np.random.randint(0)|np.random.randint(5, 5)|np.random.randint(5, 2)
np.random.choice(0)|np.random.choice(np.zeros(0))|np.random.choice(3, 5, False)|np.random.uniform(0.0, np.inf)
np.random.dirichlet(np.array([0.0, 1.0]))|np.random.dirichlet(np.array([-1.0, 1.0]))
np.random.multinomial(3, np.array([0.9, 0.9]))|np.random.multinomial(-3, np.array([0.5, 0.5]))
np.random.multinomial(3, np.array([-0.5, 1.5]))|np.random.permutation(-1)|np.random.poisson(1e30)
np.random.gamma(np.nan)|np.random.normal(0.0, np.nan)|np.random.binomial(3, np.nan)|np.random.poisson(np.nan)
np.random.geometric(np.nan)|random.randint(5, 2)|random.randrange(0)|random.randrange(5, 5)|random.randrange(1, 9, 0)
random.randrange(9, 1, 2)|random.betavariate(0.0, 1.0)|random.betavariate(-1.0, 1.0)|random.gammavariate(0.0, 1.0)
random.gammavariate(1.0, 0.0)|random.gammavariate(-1.0, 1.0)|random.expovariate(0.0)|random.expovariate(-1.0)
random.gauss(0.0, -1.0)|random.normalvariate(0.0, -1.0)|random.lognormvariate(0.0, -1.0)
random.triangular(1.0, 1.0, 1.0)|random.triangular(2.0, 1.0, 0.0)|random.paretovariate(0.0)|random.paretovariate(-1.0)
random.vonmisesvariate(0.0, -1.0)|random.weibullvariate(1.0, 0.0)|random.weibullvariate(-1.0, 1.0)
random.getrandbits(0)|random.getrandbits(-1)|random.choice([1][:0])""".replace("\n", "|")


@pytest.mark.parametrize("expression", LIMITS.split("|"))
def test_parameters_at_their_limits(expression):
    """The error that NumPy and CPython raise, or their number after the same seed."""
    f = made(f"def f():\n    np.random.seed(3)\n    random.seed(3)\n    return {expression}\n", np=np, random=random)
    results = []
    for g in (njit(f), f):
        try:
            results.append(g())
        except Exception as e:
            results.append(type(e))
    got, want = results
    if isinstance(want, type):
        assert got is want
    else:
        np.testing.assert_allclose(got, want, rtol=1e-14)
