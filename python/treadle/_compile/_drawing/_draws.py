"""numpy.random's and random's functions for compiled code, written in Python.

``DRAWS`` maps a function to the one that is compiled in its place. They use the Mersenne twister and the methods of
NumPy's legacy RandomState and of CPython's random.Random, so a seed gives the same numbers as there. Each thread of
the program has generators of its own, and only compiled functions seed them and draw from them.
"""

import math
import random

import numpy as np

from . import _shared
from ._shared import many, many_ints
from ._twister import double, draws, fill_key, keep, kept, upto, word

# ---- numpy.random: one number ----


def _one_rayleigh(s, scale, b):
    return scale * math.sqrt(-2.0 * math.log1p(-double(s)))


def _one_pareto(s, a, b):
    return math.exp(-math.log(1.0 - double(s)) / a) - 1.0


def _one_integer(s, low, high):
    return low + upto(s, high - 1 - low)


# ---- numpy.random: one, or an array ----


def _np_seed(seed):
    n = int(seed)
    if n < 0 or n > 0xFFFFFFFF:
        raise ValueError("Seed must be between 0 and 2**32 - 1")
    s = draws(0)
    fill_key(s, n)
    s[628] = 0


def _random(size=None):
    return many(draws(0), size, _shared.uniform, 0.0, 1.0)


def _rand(*shape):
    return many(draws(0), None if len(shape) == 0 else shape, _shared.uniform, 0.0, 1.0)


def _randn(*shape):
    return many(draws(0), None if len(shape) == 0 else shape, _shared.normal, 0.0, 1.0)


def _standard_normal(size=None):
    return many(draws(0), size, _shared.normal, 0.0, 1.0)


def _normal(loc=0.0, scale=1.0, size=None):
    if scale < 0:
        raise ValueError("scale < 0")
    return many(draws(0), size, _shared.normal, float(loc), float(scale))


def _uniform(low=0.0, high=1.0, size=None):
    extent = float(high) - float(low)
    if not abs(extent) < _INFINITY:
        raise OverflowError("Range exceeds valid bounds")
    return many(draws(0), size, _shared.uniform, float(low), extent)


def _lognormal(mean=0.0, sigma=1.0, size=None):
    if sigma < 0:
        raise ValueError("sigma < 0")
    return many(draws(0), size, _shared.lognormal, float(mean), float(sigma))


def _exponential(scale=1.0, size=None):
    if scale < 0:
        raise ValueError("scale < 0")
    return many(draws(0), size, _shared.exponential, float(scale), 0.0)


def _standard_exponential(size=None):
    return many(draws(0), size, _shared.exponential, 1.0, 0.0)


def _gamma(shape, scale=1.0, size=None):
    if shape < 0 or scale < 0:
        raise ValueError("shape < 0 or scale < 0")
    return many(draws(0), size, _shared.gamma, float(shape), float(scale))


def _standard_gamma(shape, size=None):
    if shape < 0:
        raise ValueError("shape < 0")
    return many(draws(0), size, _shared.standard_gamma, float(shape), 0.0)


def _chisquare(df, size=None):
    if df <= 0:
        raise ValueError("df <= 0")
    return many(draws(0), size, _shared.chisquare, float(df), 0.0)


def _laplace(loc=0.0, scale=1.0, size=None):
    if scale < 0:
        raise ValueError("scale < 0")
    return many(draws(0), size, _shared.laplace, float(loc), float(scale))


def _gumbel(loc=0.0, scale=1.0, size=None):
    if scale < 0:
        raise ValueError("scale < 0")
    return many(draws(0), size, _shared.gumbel, float(loc), float(scale))


def _logistic(loc=0.0, scale=1.0, size=None):
    if scale < 0:
        raise ValueError("scale < 0")
    return many(draws(0), size, _shared.logistic, float(loc), float(scale))


def _rayleigh(scale=1.0, size=None):
    if scale < 0:
        raise ValueError("scale < 0")
    return many(draws(0), size, _one_rayleigh, float(scale), 0.0)


def _weibull(a, size=None):
    if a < 0:
        raise ValueError("a < 0")
    return many(draws(0), size, _shared.weibull, float(a), 0.0)


def _pareto(a, size=None):
    if a <= 0:
        raise ValueError("a <= 0")
    return many(draws(0), size, _one_pareto, float(a), 0.0)


def _standard_cauchy(size=None):
    return many(draws(0), size, _shared.cauchy, 0.0, 0.0)


def _poisson(lam=1.0, size=None):
    if lam < 0 or lam != lam:
        raise ValueError("lam < 0 or lam is NaN")
    if lam > _POISSON_MOST:
        raise ValueError("lam value too large")
    return many_ints(draws(0), size, _shared.poisson, float(lam), 0.0)


def _randint(low, high=None, size=None):
    begin, end = (0, int(low)) if high is None else (int(low), int(high))
    if begin >= end:
        raise ValueError("low >= high")
    return many_ints(draws(0), size, _one_integer, begin, end)


def _shuffle(x):
    _shared.shuffle(draws(0), x, upto)


def _permutation(x):
    if isinstance(x, int):
        out = np.arange(x)
        _shuffle(out)
        return out
    out = x.copy()
    _shuffle(out)
    return out


def _choice(a, size=None, replace=True):
    return _chosen(np.arange(a) if isinstance(a, int) else a, size, replace)


def _chosen(a, size, replace):
    if size is None:
        return a[_randint(0, a.shape[0])]
    out = np.empty(size, a.dtype)
    flat = out.reshape(-1)
    if replace:
        for i in range(flat.size):
            flat[i] = a[_randint(0, a.shape[0])]
        return out
    if flat.size > a.shape[0]:
        raise ValueError("Cannot take a larger sample than population when replace is False")
    order = _permutation(a.shape[0])
    for i in range(flat.size):
        flat[i] = a[order[i]]
    return out


# ---- random ----


def _py_seed(a):
    n = abs(int(a))
    s = draws(1)
    low, high = np.uint32(n & 0xFFFFFFFF), np.uint32(n >> 32)
    length = 2 if high != 0 else 1
    fill_key(s, 19650218)
    i, j = 1, 0
    for _ in range(624):
        key = high if j == 1 else low
        s[i] = (s[i] ^ ((s[i - 1] ^ (s[i - 1] >> 30)) * np.uint32(1664525))) + key + np.uint32(j)
        i += 1
        j = (j + 1) % length
        if i >= 624:
            s[0] = s[623]
            i = 1
    for _ in range(623):
        s[i] = (s[i] ^ ((s[i - 1] ^ (s[i - 1] >> 30)) * np.uint32(1566083941))) - np.uint32(i)
        i += 1
        if i >= 624:
            s[0] = s[623]
            i = 1
    s[0] = 0x80000000


def _getrandbits(k):
    if k < 0 or k > 63:
        raise ValueError("getrandbits gives 0 to 63 bits in a compiled function")
    s = draws(1)
    if k == 0:
        return 0
    if k <= 32:
        return int(word(s)) >> (32 - k)
    low = int(word(s))
    return low | ((int(word(s)) >> (64 - k)) << 32)


def _below(n):
    k = n.bit_length()
    r = _getrandbits(k)
    while r >= n:
        r = _getrandbits(k)
    return r


def _py_random():
    return double(draws(1))


def _py_uniform(a, b):
    return a + (b - a) * double(draws(1))


def _py_randrange(start, stop=None, step=1):
    return _in_range(0, start, 1) if stop is None else _in_range(start, stop, step)


def _in_range(start, stop, step):
    if step == 0:
        raise ValueError("zero step for randrange()")
    width = stop - start
    n = (width + step - 1) // step if step > 0 else (width + step + 1) // step
    if n <= 0:
        raise ValueError("empty range for randrange()")
    return start + step * _below(n)


def _py_randint(a, b):
    return _in_range(a, b + 1, 1)


def _py_choice(seq):
    if len(seq) == 0:
        raise IndexError("Cannot choose from an empty sequence")
    return seq[_below(len(seq))]


def _py_shuffle(x):
    for i in range(len(x) - 1, 0, -1):
        j = _below(i + 1)
        x[i], x[j] = x[j], x[i]


def _py_gauss(mu=0.0, sigma=1.0):
    s = draws(1)
    if s[625] != 0:
        return mu + kept(s) * sigma
    x = double(s) * (2.0 * math.pi)
    r = math.sqrt(-2.0 * math.log(1.0 - double(s)))
    keep(s, math.sin(x) * r)
    return mu + math.cos(x) * r * sigma


_INFINITY = math.inf
_POISSON_MOST = 2.0**63 - math.sqrt(2.0**63) * 10
_MAGIC = 4 * math.exp(-0.5) / math.sqrt(2.0)


def _py_normalvariate(mu=0.0, sigma=1.0):
    s = draws(1)
    while True:
        u = double(s)
        v = 1.0 - double(s)
        z = _MAGIC * (u - 0.5) / v
        if z * z / 4.0 <= -math.log(v):
            break
    return mu + z * sigma


def _py_lognormvariate(mu=0.0, sigma=1.0):
    return math.exp(_py_normalvariate(mu, sigma))


def _py_expovariate(lambd=1.0):
    return -math.log(1.0 - double(draws(1))) / lambd


def _py_triangular(low=0.0, high=1.0, mode=None):
    u = double(draws(1))
    if high == low and mode is not None:
        return float(low)
    c = 0.5 if mode is None else (mode - low) / (high - low)
    if u > c:
        return high + (low - high) * math.sqrt((1.0 - u) * (1.0 - c))
    return low + (high - low) * math.sqrt(u * c)


def _py_paretovariate(alpha):
    return (1.0 - double(draws(1))) ** (-1.0 / alpha)


def _py_weibullvariate(alpha, beta):
    return alpha * (-math.log(1.0 - double(draws(1)))) ** (1.0 / beta)


_NUMPYS = {
    "seed": _np_seed, "random": _random, "random_sample": _random, "ranf": _random, "sample": _random, "rand": _rand,
    "randn": _randn, "standard_normal": _standard_normal, "normal": _normal, "uniform": _uniform,
    "lognormal": _lognormal, "exponential": _exponential, "standard_exponential": _standard_exponential,
    "gamma": _gamma, "standard_gamma": _standard_gamma, "chisquare": _chisquare, "laplace": _laplace,
    "gumbel": _gumbel, "logistic": _logistic, "rayleigh": _rayleigh, "weibull": _weibull, "pareto": _pareto,
    "standard_cauchy": _standard_cauchy, "poisson": _poisson, "randint": _randint, "shuffle": _shuffle,
    "permutation": _permutation, "choice": _choice,
}  # fmt: skip
_PYTHONS = {
    "seed": _py_seed, "random": _py_random, "uniform": _py_uniform, "randrange": _py_randrange,
    "randint": _py_randint, "getrandbits": _getrandbits, "choice": _py_choice, "shuffle": _py_shuffle,
    "gauss": _py_gauss, "normalvariate": _py_normalvariate, "lognormvariate": _py_lognormvariate,
    "expovariate": _py_expovariate, "triangular": _py_triangular, "paretovariate": _py_paretovariate,
    "weibullvariate": _py_weibullvariate,
}  # fmt: skip

DRAWS = {getattr(np.random, name): f for name, f in _NUMPYS.items()}
DRAWS.update((getattr(random, name), f) for name, f in _PYTHONS.items())
