"""Every distribution of numpy.random.Generator: against SciPy's distribution functions, NumPy's shapes, dtypes and refusals, and
equal on all devices. Names come from NumPy: one without a case fails."""

import copy
import inspect
import math
import pickle

import numpy as np
import pytest
from scipy import stats

import treadle as td

N = 20_000

# name: [(parameters, SciPy's distribution of them)]
REAL = {
    "beta": [((0.5, 2.0), stats.beta(0.5, 2)), ((0.2, 0.3), stats.beta(0.2, 0.3)), ((30, 50), stats.beta(30, 50))],
    "chisquare": [((3.0,), stats.chi2(3)), ((0.4,), stats.chi2(0.4))],
    "exponential": [((2.5,), stats.expon(scale=2.5))],
    "f": [((3, 8), stats.f(3, 8))],
    "gamma": [((0.3, 2), stats.gamma(0.3, scale=2)), ((7.5, 0.5), stats.gamma(7.5, scale=0.5))],
    "gumbel": [((1, 2), stats.gumbel_r(1, 2))],
    "laplace": [((1, 2), stats.laplace(1, 2))],
    "logistic": [((1, 2), stats.logistic(1, 2))],
    "lognormal": [((1, 0.5), stats.lognorm(0.5, scale=math.e))],
    "noncentral_chisquare": [((3, 2), stats.ncx2(3, 2)), ((0.7, 2), stats.ncx2(0.7, 2)), ((3, 0), stats.chi2(3))],
    "noncentral_f": [((3, 8, 2), stats.ncf(3, 8, 2))],
    "normal": [((3, 2), stats.norm(3, 2))],
    "pareto": [((3,), stats.lomax(3))],
    "power": [((3,), stats.powerlaw(3)), ((0.2,), stats.powerlaw(0.2))],
    "random": [((), stats.uniform())],
    "rayleigh": [((2,), stats.rayleigh(scale=2))],
    "standard_cauchy": [((), stats.cauchy())],
    "standard_exponential": [((), stats.expon())],
    "standard_gamma": [((1.0,), stats.gamma(1)), ((1e4,), stats.gamma(1e4))],
    "standard_normal": [((), stats.norm())],
    "standard_t": [((2.5,), stats.t(2.5))],
    "triangular": [((-1, 0, 3), stats.triang(0.25, -1, 4))],
    "uniform": [((-2, 5), stats.uniform(-2, 7))],
    "vonmises": [((0, 2), stats.vonmises(2)), ((0, 1e-9), stats.uniform(-math.pi, 2 * math.pi)),
                 ((0.2, 1e7), stats.norm(0.2, 1e7**-0.5)), ((-1, 5e-6), stats.uniform(-math.pi, 2 * math.pi))],
    "wald": [((1, 2), stats.invgauss(0.5, scale=2)), ((50, 0.3), stats.invgauss(50 / 0.3, scale=0.3))],
    "weibull": [((1.5,), stats.weibull_min(1.5))],
}  # fmt: skip
COUNTS = {
    "binomial": [((40, 0.6), stats.binom(40, 0.6)), ((10, 0.1), stats.binom(10, 0.1)), ((10**6, 0.3), stats.binom(10**6, 0.3)), ((60, 0.2), stats.binom(60, 0.2))],
    "geometric": [((0.2,), stats.geom(0.2)), ((1e-4,), stats.geom(1e-4))],
    "hypergeometric": [((15, 30, 8), stats.hypergeom(45, 15, 8)), ((40, 50, 30), stats.hypergeom(90, 40, 30)),
                       ((50, 40, 70), stats.hypergeom(90, 50, 70)), ((30000, 200, 5000), stats.hypergeom(30200, 30000, 5000))],
    "integers": [((-3, 17), stats.randint(-3, 17))],
    "logseries": [((0.6,), stats.logser(0.6)), ((0.99,), stats.logser(0.99))],
    "negative_binomial": [((3, 0.4), stats.nbinom(3, 0.4)), ((0.5, 0.05), stats.nbinom(0.5, 0.05))],
    "poisson": [((0.7,), stats.poisson(0.7)), ((9.9,), stats.poisson(9.9)), ((10,), stats.poisson(10)), ((3e5,), stats.poisson(3e5))],
    "zipf": [((2.5,), stats.zipf(2.5)), ((1.9,), stats.zipf(1.9))],
}  # fmt: skip
ELSEWHERE = {  # tested below, and in test_draws.py
    "bit_generator", "bytes", "choice", "dirichlet", "multinomial", "multivariate_hypergeometric", "multivariate_normal", "permutation",
    "permuted", "shuffle", "spawn",
}  # fmt: skip
PUBLIC = [name for name in dir(np.random.Generator) if not name.startswith("_")]


def test_every_name_has_a_case():
    assert set(PUBLIC) == set(REAL) | set(COUNTS) | ELSEWHERE
    assert all(hasattr(td.random.Generator, name) for name in PUBLIC)
    missing = [n for n in dir(np.random) if n[0] != "_" and n not in ("bit_generator", "mtrand", "test") and not hasattr(td.random, n)]
    assert not missing and not [n for n in dir(np.random.RandomState) if n[0] != "_" and not hasattr(td.random.RandomState, n)]
    assert not [n for n in td.random.__all__ if not hasattr(td.random, n)]


@pytest.mark.parametrize("name", REAL)
def test_kolmogorov_and_smirnov(name):
    for parameters, law in REAL[name]:
        x = getattr(td.random.default_rng(11), name)(*parameters, size=N).get()
        assert x.dtype == "f8" and np.isfinite(x).all()
        assert stats.kstest(x, law.cdf).pvalue > 1e-4, parameters


def chi_square(x, law):
    """The p value of counts in bins of at least 8 expected values each."""
    edges = np.unique(np.append(law.ppf(np.arange(1, 40) / 40), np.inf))
    chance = np.diff(np.concatenate([[0], law.cdf(edges[:-1]), [1]]))  # the last bin has no end
    counts = np.bincount(np.searchsorted(edges[:-1], x), minlength=len(chance))
    while len(chance) > 1 and chance[-1] * len(x) < 8:
        chance, counts = np.append(chance[:-2], chance[-2:].sum()), np.append(counts[:-2], counts[-2:].sum())
    keep = chance > 0
    assert not counts[~keep].any() and keep.sum() > 1
    return stats.chisquare(counts[keep], chance[keep] * len(x)).pvalue


@pytest.mark.parametrize("name", COUNTS)
def test_chi_square(name):
    for parameters, law in COUNTS[name]:
        x = getattr(td.random.default_rng(5), name)(*parameters, size=N).get()
        assert x.dtype == "i8"
        assert chi_square(x, law) > 1e-4, parameters


CASES = [(name, parameters) for table in (REAL, COUNTS) for name, cases in table.items() for parameters, _ in cases[:2]]


@pytest.mark.parametrize("name,parameters", CASES)
def test_equal_on_all_devices(name, parameters, dev):
    ours = getattr(td.random.default_rng(3, device=dev), name)(*parameters, size=(2, 5))
    cpu = getattr(td.random.default_rng(3, device="cpu"), name)(*parameters, size=(2, 5))
    assert ours.device == dev and ours.shape == (2, 5) and ours.dtype == cpu.dtype
    if name in COUNTS:
        assert ours.tolist() == cpu.tolist()
    else:
        np.testing.assert_allclose(ours.get(), cpu.get(), rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("name,parameters", [c for c in CASES if c[1]])
def test_parameters_broadcast(name, parameters):
    """Numbers, lists, NumPy's and treadle's arrays: the same values where every element has the same parameters."""
    def draw(*given, **kw):  # fmt: skip
        return getattr(td.random.default_rng(2), name)(*given, **kw)

    n = len(parameters)
    one = draw(*parameters, size=(3, 4)).get()
    columns = draw(np.full((3, 1), parameters[0]), *parameters[1:], size=(3, 4)).get()
    lists = draw(*parameters[:-1], [parameters[-1]] * 4, size=(3, 4)).get()
    arrays = draw(*(td.full((3, 4), p) for p in parameters)).get()
    for other in (columns, lists, arrays):
        np.testing.assert_allclose(other, one, rtol=1e-12)
    mixed = draw(*(np.full((4,) if k else (3, 1), p) for k, p in enumerate(parameters)))
    shape = np.broadcast_shapes((3, 1), *([(4,)] if n > 1 else []))
    assert mixed.shape == shape and draw(*parameters).shape == () and draw(*parameters, size=5).shape == (5,)
    assert draw(*(td.full((2, 0), p) for p in parameters)).shape == (2, 0) and draw(*parameters, size=(0,)).shape == (0,)
    for size in ((), (4,), (3, 2)):
        with pytest.raises(ValueError):
            draw(np.full((3, 4), parameters[0]), *parameters[1:], size=size)


FAR = [  # name, parameters, mean, variance: where float64 and int64 end
    ("poisson", (1e15,), 1e15, 1e15), ("poisson", (1e18,), 1e18, 1e18), ("binomial", (10**15, 0.3), 3e14, 2.1e14), ("binomial", (10**18, 1e-10), 1e8, 1e8),
    ("gamma", (1e15,), 1e15, 1e15), ("hypergeometric", (9 * 10**8, 9 * 10**8, 10**8), 5e7, 10**8 / 4 * 1.7 / 1.8), ("negative_binomial", (1e6, 0.5), 1e6, 2e6),
    ("geometric", (1e-10,), 1e10, 1e20), ("beta", (1e6, 2e6), 1 / 3, 2 / 27e6), ("vonmises", (0, 1e-4), 0, math.pi**2 / 3),
]  # fmt: skip


@pytest.mark.parametrize("name,parameters,mean,variance", FAR)
def test_far_parameters(name, parameters, mean, variance):
    x = getattr(td.random.default_rng(5), name)(*parameters, size=N).get().astype("f8")
    assert abs(x.mean() - mean) < 5 * (variance / N) ** 0.5 and 0.94 < x.var() / variance < 1.06


def test_edges():
    """Parameters at the ends of what is allowed, and beyond what has a density: as NumPy has it."""
    g, inf, nan = td.random.default_rng(5), math.inf, math.nan
    exact = """geometric(1e-300) | geometric(1.0) | poisson(0.0) | binomial(0, 0.5) | binomial(5, 0.0) | binomial(5, 1.0) | gamma(0.0) | gamma(nan) | weibull(0.0) | hypergeometric(0, 0, 0) | hypergeometric(5, 0, 3) |
               hypergeometric(0, 50, 30) | hypergeometric(50, 50, 100) | hypergeometric(50, 50, 0) | logseries(0.0) | zipf(2000.0) | chisquare(nan) | vonmises(nan, 1.0) | noncentral_chisquare(1, nan) | exponential(0) | negative_binomial(3, 1.0)"""
    for text in exact.split("|"):
        ours, theirs = (eval(f"r.{text.strip()}", {"r": r, "inf": inf, "nan": nan}) for r in (g, np.random.default_rng(1)))
        np.testing.assert_array_equal(ours.get(), theirs, err_msg=text)
    assert float(g.gamma(inf)) == inf and set(g.beta(1e-300, 1e-300, size=50).tolist()) == {0.0, 1.0}
    wrapped = g.vonmises(3.0, 4.0, size=2000).get()
    assert wrapped.min() >= -math.pi and wrapped.max() <= math.pi and (wrapped < 0).mean() > 0.2
    assert g.zipf(1.0001, size=500).get().min() >= 1 and g.logseries(1 - 1e-12, size=500).get().min() >= 1
    assert (g.wald(1e10, 1e-10, size=500).get() >= 0).all()


def test_elements_do_not_depend_on_the_launch():
    for name, parameters in (("gamma", (0.4,)), ("poisson", (30.0,)), ("zipf", (1.5,))):
        long, short = (getattr(td.random.default_rng(8), name)(*parameters, size=n).tolist() for n in (1000, 37))
        assert long[:37] == short


REFUSED = """
beta(0, 1) | beta(1, [1, -1]) | beta([1, 2], [1, 2, 3]) | binomial(-1, 0.5) | binomial(3, 1.5) | binomial(3, [0.5, float('nan')]) | chisquare(0)
exponential(-1) | exponential([1, -1]) | exponential('a') | exponential(1j) | f(0, 1) | f(1, 0) | gamma(-1) | gamma(1, -1) | geometric(0) | geometric([1.5])
gumbel(0, -1) | laplace(0, -1) | logistic(0, -1) | lognormal(0, -1) | normal(0, -1) | normal(0, [-1]) | rayleigh(-1) | weibull(-1) | pareto(0) | power(0)
hypergeometric(-1, 2, 1) | hypergeometric(1, 2, 9) | hypergeometric(10**9, 2, 9) | hypergeometric([3], [2], [-1]) | logseries(1) | logseries(-0.1)
negative_binomial(0, 0.5) | negative_binomial(float('nan'), 0.5) | negative_binomial(1, 0) | negative_binomial(1e10, 1e-12) | noncentral_chisquare(0, 1)
noncentral_chisquare(1, -1) | noncentral_f(0, 1, 1) | noncentral_f(1, 0, 1) | noncentral_f(1, 1, -1) | poisson(-1) | poisson(1e30) | poisson(float('nan'))
poisson([1, -1]) | standard_gamma(-1) | standard_t(0) | triangular(1, 1, 1) | triangular(2, 1, 3) | triangular(0, 2, 1) | uniform(3, 1)
uniform([3], 1) | uniform(-float('inf'), 1) | vonmises(0, -1) | wald(0, 1) | wald(1, 0) | zipf(1) | zipf([1.0]) | beta([1, 2], 2, size=()) | random(-1)
integers(5, 5) | integers(5, 4, endpoint=True) | integers(0, 300, dtype='uint8') | integers(-1, 3, dtype='uint8') | integers(0, 3, dtype=bool)
integers(0, 2**63, endpoint=True) | integers([0], [2**64 + 1], dtype='uint64') | integers([5], 5) | integers(3, dtype='float32') | standard_gamma(1, dtype='f2')
standard_exponential(3, dtype='i4') | dirichlet([-1, 2]) | multinomial(-1, [0.5, 0.5]) | multinomial(3, [0.9, 0.7, 0.1]) | multinomial(3, [0.5, -0.5])
multinomial([3, 4], [0.5, 0.5], size=3) | multivariate_normal([0, 0], [1]) | multivariate_normal([0, 0], [[1, 0], [0, 1]], method='x')
multivariate_normal([0, 0], [[1, 0], [0, 1]], check_valid='x') | multivariate_normal([[0, 0]], [[1, 0], [0, 1]]) | multivariate_normal([0], [[1, 0], [0, 1]])
multivariate_normal([0, 0], [[1, 2], [2, 1]], check_valid='raise') | multivariate_normal([0, 0], [[1, 2], [2, 1]], method='cholesky')
multivariate_hypergeometric([3, 4], 9) | multivariate_hypergeometric([3, -4], 9) | multivariate_hypergeometric([3, 4], 2, method='x')
choice(3, 5, replace=False) | choice(3.5) | choice(4, -1) | choice(0) | choice(2, p=[0.5, 0.4]) | choice(2, p=[0.5]) | permutation(3.5) | permuted([1, 2, 3], axis=3)
"""


@pytest.mark.parametrize("text", [t.strip() for t in REFUSED.replace("\n", "|").split("|") if t.strip()])
def test_refused_as_by_numpy(text):
    with pytest.raises(Exception) as theirs:
        eval(f"g.{text}", {"g": np.random.default_rng(0)})
    with pytest.raises(type(theirs.value)) as ours:
        eval(f"g.{text}", {"g": td.random.default_rng(0)})
    if isinstance(theirs.value, ValueError) and "broadcast" not in str(theirs.value) and "convert" not in str(theirs.value):
        assert str(ours.value).split(":")[0].rstrip(".") == str(theirs.value).split(":")[0].rstrip(".")


def test_refused_of_arrays_on_the_device():
    g = td.random.default_rng(0)
    for name, parameters in (("beta", (1, [1.0, -1])), ("poisson", ([-1.0, 2],)), ("binomial", ([3], [1.5])), ("uniform", ([3.0], [1.0])), ("normal", (0, [-1.0])),
                             ("hypergeometric", ([3], [2], [9])), ("triangular", ([1.0], [0.0], [3.0]))):  # fmt: skip
        with pytest.raises(ValueError):
            getattr(g, name)(*(td.asarray(p) for p in parameters))


def test_out_and_dtype():
    for name, parameters in (("random", ()), ("standard_normal", ()), ("standard_exponential", ()), ("standard_gamma", (0.7,))):
        for dtype in ("f4", "f8"):
            out = td.zeros((2, 3), dtype=dtype)
            r = getattr(td.random.default_rng(1), name)(*parameters, out=out, dtype=dtype)
            again = getattr(td.random.default_rng(1), name)(*parameters, size=(2, 3), dtype=dtype)
            assert r is out and again.dtype == dtype and out.tolist() == again.tolist() and float(abs(out).min()) > 0
        g = td.random.default_rng(1)
        for error, kw in ((ValueError, {"size": 3, "out": td.zeros(2)}), (TypeError, {"out": td.zeros(2, dtype="f4")})):
            with pytest.raises(error):
                getattr(g, name)(*parameters, **kw)


def test_integers(dev):
    g = td.random.default_rng(4)
    for dtype in ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "?"):
        least, most = (0, 1) if dtype == "?" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
        x = g.integers(least, most, 40, dtype=dtype, endpoint=True)
        assert x.dtype == dtype and len(set(x.tolist())) > 1
        y = g.integers(td.asarray([least] * 3, dtype=dtype), most, (9, 3), dtype=dtype, endpoint=True) if dtype != "?" else x
        assert y.dtype == dtype and len(set(y.ravel().tolist())) > 1
    assert g.integers(2**63, 2**64, 5, dtype="u8").get().min() >= 2**63 and g.integers([2**63], [2**63 + 2], (30, 1), dtype="u8").get().max() == 2**63 + 1
    assert set(g.integers([[1], [5]], [6, 9]).ravel().tolist()) <= set(range(1, 9)) and g.integers(2.7, size=9).get().max() <= 1
    assert g.integers(3, size=2, dtype=np.int16).dtype == "i2" and g.integers(np.int64(3), size=(2, 2)).shape == (2, 2)


def test_multinomial(dev):
    g = td.random.default_rng(6)
    p = np.array([0.2, 0.5, 0.3])
    x = g.multinomial(20, p, 8 if dev == "null" else 4000)
    assert x.device == dev and x.dtype == "i8" and (x.get().sum(1) == 20).all()
    assert g.multinomial([3, 9], p).get().sum(1).tolist() == [3, 9] and g.multinomial([[3], [4]], [[1, 0], [0, 1.0]], size=(2, 2)).shape == (2, 2, 2)
    assert g.multinomial(td.asarray([3, 4]), td.asarray(p)).get().sum(1).tolist() == [3, 4] and g.multinomial(5, [1.0]).tolist() == [5]
    if dev != "null":
        for k in range(3):
            assert chi_square(x.get()[:, k], stats.binom(20, p[k])) > 1e-4


def test_multivariate_hypergeometric(dev):
    g = td.random.default_rng(6)
    colors = [16, 8, 4]
    x = g.multivariate_hypergeometric(colors, 14, 8 if dev == "null" else 4000)
    assert (x.get().sum(1) == 14).all() and (x.get() <= colors).all() and g.multivariate_hypergeometric([3, 0], 3).tolist() == [3, 0]
    if dev != "null":
        for k, n in enumerate(colors):
            assert chi_square(x.get()[:, k], stats.hypergeom(28, n, 14)) > 1e-4


def test_dirichlet(dev):
    g = td.random.default_rng(6)
    x = g.dirichlet([0.5, 2, 3], 8 if dev == "null" else N)
    np.testing.assert_allclose(x.get().sum(1), 1)
    assert g.dirichlet([1, 2]).shape == (2,) and g.dirichlet(td.asarray([1.0, 2]), (2, 3)).shape == (2, 3, 2)
    tiny = g.dirichlet([1e-4] * 3, 5).get()
    assert np.isfinite(tiny).all() and np.allclose(tiny.sum(1), 1)
    if dev != "null":
        for k, a in enumerate((0.5, 2, 3)):
            assert stats.kstest(x.get()[:, k], stats.beta(a, 5.5 - a).cdf).pvalue > 1e-4


@pytest.mark.parametrize("method", ["svd", "eigh", "cholesky"])
def test_multivariate_normal(method):
    mean, cov = np.array([1.0, -2, 3]), np.array([[2, 0.5, 0], [0.5, 1, -0.3], [0, -0.3, 0.7]])
    g = td.random.default_rng(1)
    x = g.multivariate_normal(mean, cov, N, method=method).get()
    white = np.linalg.solve(np.linalg.cholesky(cov), (x - mean).T)
    for row in (*white, white.sum(0) / 3**0.5):
        assert stats.kstest(row, "norm").pvalue > 1e-4
    assert np.abs(np.cov(white) - np.eye(3)).max() < 0.04
    assert g.multivariate_normal(td.asarray(mean), td.asarray(cov), (2, 2), method=method).shape == (2, 2, 3)
    if method != "cholesky":
        with pytest.warns(RuntimeWarning, match="semidefinite"):
            g.multivariate_normal([0, 0], [[1, 2], [2, 1]], method=method)


def test_generators_and_seeds():
    rng = td.random.default_rng
    assert rng(5).random(3).tolist() == td.random.Generator(td.random.Philox(5)).random(3).tolist() == td.random.Generator(5).random(3).tolist()
    g = rng(td.random.SeedSequence(7))
    assert g.random(3).tolist() == rng(np.random.default_rng(7)).random(3).tolist() == rng(np.random.PCG64(7)).random(3).tolist()
    children = rng(7).spawn(3)
    assert len({tuple(c.random(2).tolist()) for c in (rng(7), *children)}) == 4
    assert [c.random(2).tolist() for c in rng(7).spawn(3)] == [c.random(2).tolist() for c in rng(7).bit_generator.spawn(3) for c in [rng(c)]]
    bits = td.random.Philox(3)
    one, two = td.random.Generator(bits), td.random.Generator(bits)
    assert one.random(4).tolist() != two.random(4).tolist() and one.bit_generator is bits and rng(bits).bit_generator is bits and rng(one) is one
    for keep in (copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))):
        other, raw = keep(one), keep(bits)
        assert other.random(3).tolist() == one.random(3).tolist() and raw.random_raw(2).dtype == "u8"
        one.random(3)
    saved = bits.state
    first = bits.random_raw(4).tolist()
    bits.state = saved
    assert bits.random_raw(4).tolist() == first and bits.jumped().random_raw(2).tolist() != bits.random_raw(2).tolist()
    assert td.random.Philox(3).advance(5).state["state"]["counter"] == 5 and isinstance(one.bytes(5), bytes) and len(one.bytes(5)) == 5
    assert str(one) == "Generator(Philox)" and rng(3, device="null").random(2).device == "null"
    for bad in (-1, [1, -2]):
        with pytest.raises(ValueError, match="non-negative"):
            rng(bad)
    with pytest.raises(TypeError):
        rng(2.5)


def test_legacy_functions():
    before = td.random.get_state()
    r = td.random.RandomState(5)
    td.random.seed(5)
    for name in ("rand", "randn"):
        assert getattr(r, name)(2, 3).tolist() == getattr(td.random, name)(2, 3).tolist()
    for name, parameters in (("beta", (2, 3)), ("poisson", (4,)), ("binomial", (9, 0.3)), ("dirichlet", ([1, 2],)), ("multinomial", (9, [0.5, 0.5])),
                             ("standard_gamma", (2,)), ("random_integers", (6,)), ("randint", (6,)), ("choice", ([5, 6, 7],)), ("permutation", (5,)), ("bytes", (4,))):  # fmt: skip
        x, y = (getattr(o, name)(*parameters) for o in (r, td.random))
        assert x == y if isinstance(x, bytes) else x.tolist() == y.tolist()
    for legacy in (True, False):
        state = td.random.get_state(legacy)
        x = td.random.random(3).tolist()
        td.random.set_state(state)
        assert td.random.random(3).tolist() == x
    bits = td.random.get_bit_generator()
    td.random.set_bit_generator(td.random.Philox(1))
    assert td.random.random(2).tolist() == td.random.default_rng(1).random(2).tolist()
    td.random.set_bit_generator(bits)
    td.random.set_state(before)
    assert r.tomaxint(3).get().min() >= 0 and sorted(td.random.permutation(["a", "b"]).tolist()) == ["a", "b"] and td.random.choice(["a"]) == "a"
    with pytest.raises(ValueError):
        td.random.set_state(("MT19937", 1, 2))


def test_a_state_that_was_in_a_file():
    """A file gives a list, and NumPy's numbers or arrays of no axes."""
    state = td.random.get_state()
    want = td.random.rand(3).tolist()
    for read in (list(state), [np.str_(state[0]), *map(np.asarray, state[1:])], (state[0], *map(np.uint64, state[1:]))):
        td.random.set_state(read)
        assert td.random.rand(3).tolist() == want


def test_signatures_are_numpys():
    """Or CuPy's: a dtype, which the distributions of cupy.random take."""
    for name in PUBLIC:
        ours, theirs = (getattr(m.random.Generator, name) for m in (td, np))
        if name in ("bit_generator", "standard_exponential") or not inspect.isfunction(inspect.unwrap(ours)):
            continue
        doc = theirs.__doc__.strip().split("--")[0].splitlines()[0]
        mine = [p for p in inspect.signature(ours).parameters if p not in ("g", "self", "dtype")]
        assert all(p in doc or p in theirs.__doc__ for p in mine), (name, mine, doc)


def test_replayed_graphs_draw_anew():
    g = td.random.default_rng(1)

    @td.graph
    def draw(scale):
        return g.gamma(2.0, 1.0, 50) * scale

    x, y = draw(td.asarray(1.0)).tolist(), draw(td.asarray(1.0)).tolist()
    again = td.random.default_rng(1)
    assert x == again.gamma(2.0, 1.0, 50).tolist() and y == again.gamma(2.0, 1.0, 50).tolist()


LEGACY = {
    "rand": (50,), "randn": (50,), "random": (), "random_sample": (), "ranf": (), "sample": (), "standard_normal": (), "normal": (2.0, 3.0),
    "uniform": (-1.0, 4.0), "beta": (2, 3), "chisquare": (3,), "exponential": (2.0,), "f": (3, 9), "gamma": (2, 3), "gumbel": (1, 2),
    "laplace": (1, 2), "logistic": (1, 2), "lognormal": (0, 1), "noncentral_chisquare": (3, 1), "noncentral_f": (3, 9, 1), "pareto": (3,),
    "power": (3,), "rayleigh": (2,), "standard_cauchy": (), "standard_exponential": (), "standard_gamma": (2,), "standard_t": (5,),
    "triangular": (0, 1, 3), "vonmises": (0, 1), "wald": (1, 2), "weibull": (2,), "dirichlet": ([1, 2, 3],), "multivariate_normal": ([0, 1], [[2, 1], [1, 2]]),
}  # fmt: skip
COUNTED = {
    "binomial": (9, 0.3), "geometric": (0.3,), "hypergeometric": (5, 6, 4), "logseries": (0.5,), "negative_binomial": (3, 0.4), "poisson": (4,),
    "zipf": (3,),
}  # fmt: skip


@pytest.mark.parametrize("name", [*LEGACY, *COUNTED])
def test_dtype_of_cupys_functions(name, dev):
    """The module's functions take dtype=: float32 numbers are the draws of that seed, near float64's distribution."""
    size = {} if name in ("rand", "randn") else {"size": 50}
    parameters = {**LEGACY, **COUNTED}[name]
    with td.device(str(dev)):
        draws = {}
        for dtype in (None, "float64", "float32", *(["int32", "int64"] if name in COUNTED else [])):
            td.random.seed(3)
            given = {} if dtype is None else {"dtype": dtype}
            draws[dtype] = getattr(td.random, name)(*parameters, **size, **given)
            assert draws[dtype].dtype == (dtype or ("int64" if name in COUNTED else "float64"))
    assert draws[None].tolist() == draws["float64"].tolist()
    if name in COUNTED:
        assert draws["int32"].tolist() == draws["float32"].tolist() == draws[None].tolist()
    native = ("normal", "uniform", "rand", "sample", "ranf", "standard_exponential", "standard_gamma")
    if not name.startswith("standard_normal") and not any(n in name for n in native):
        np.testing.assert_array_equal(draws["float32"].get(), draws[None].get().astype("float32"))
    assert np.isfinite(draws["float32"].get()).all() and len(set(np.ravel(draws["float32"].get()).tolist())) > 3


@pytest.mark.parametrize("name", LEGACY)
def test_dtypes_that_are_not_drawn(name):
    for dtype in ("float16", "complex64", "bool"):
        with pytest.raises(TypeError):
            getattr(td.random, name)(*LEGACY[name], dtype=dtype)


def test_cupys_bit_generators_and_states():
    for name in ("XORWOW", "MRG32k3a", "Philox4x3210"):
        kind = getattr(td.random, name)
        assert isinstance(kind(1), td.random.BitGenerator) and kind(1, size=100).state["bit_generator"] == name
        one, same, other = (td.random.Generator(kind(seed)).random(4).tolist() for seed in (1, 1, 2))
        assert one == same != other and kind.__doc__
        saved = kind(7)
        assert pickle.loads(pickle.dumps(saved)).random_raw(3).tolist() == saved.random_raw(3).tolist()
        with pytest.raises(TypeError):
            kind(1, size="many")
    before = td.random.get_random_state()
    assert isinstance(before, td.random.RandomState)
    try:
        mine = td.random.RandomState(8, method=100)
        td.random.set_random_state(mine)
        assert td.random.get_random_state() is mine
        first, second = td.random.rand(3).tolist(), mine.rand(3).tolist()
        again = td.random.RandomState(8)
        assert [first, second] == [again.rand(3).tolist(), again.rand(3).tolist()]
        td.random.reset_states()
        assert td.random.get_random_state() is not mine and td.random.rand(3).tolist() != td.random.RandomState(8).rand(3).tolist()
        with pytest.raises(TypeError, match="RandomState"):
            td.random.set_random_state(np.random.RandomState(1))
    finally:
        td.random.set_random_state(before)
