"""numpy.random's and random's functions for compiled code, written in Python.

``DRAWS`` maps a function to the one that is compiled in its place. They use the Mersenne twister and the methods of
NumPy's legacy RandomState and of CPython's random.Random, so a seed gives the same numbers as there. Each thread of
the program has generators of its own, and only compiled functions seed them and draw from them.
"""

import math
import random

import numpy as np


def draws(which):
    """In compiled code: the state of numpy.random's generator (which = 0) or of random's (1), as an array of words."""
    raise TypeError("draws stands in compiled functions only")


draws._td_name = "treadle.draws"

# ---- the Mersenne twister: words 0 to 623 are its key, 624 says which comes next ----


def _twist(s):
    for k in range(624):
        y = (s[k] & 0x80000000) | (s[(k + 1) % 624] & 0x7FFFFFFF)
        s[k] = s[(k + 397) % 624] ^ (y >> 1) ^ ((y & 1) * 0x9908B0DF)


def _word(s):
    """The next 32 bits, a uint32."""
    at = int(s[624])
    if at >= 624:
        _twist(s)
        at = 0
    s[624] = at + 1
    y = s[at]
    y ^= y >> 11
    y ^= (y << 7) & 0x9D2C5680
    y ^= (y << 15) & 0xEFC60000
    return y ^ (y >> 18)


def _double(s):
    """A float in [0, 1) made of 53 random bits."""
    a = int(_word(s) >> 5)
    b = int(_word(s) >> 6)
    return (a * 67108864.0 + b) / 9007199254740992.0


def _begin(s, n):
    x = np.uint32(n)
    for i in range(624):
        s[i] = x
        x = np.uint32(1812433253) * (x ^ (x >> 30)) + np.uint32(i + 1)
    s[624] = 624
    s[625] = 0


def _upto(s, most):
    """An int in [0, most], by drawing as many bits as most has until they fit."""
    mask = most | (most >> 1)
    mask |= mask >> 2
    mask |= mask >> 4
    mask |= mask >> 8
    mask |= mask >> 16
    mask |= mask >> 32
    v = 0
    if most > 0:
        while True:
            if most > 0xFFFFFFFF:
                high = int(_word(s))
                v = ((high << 32) | int(_word(s))) & mask
            else:
                v = int(_word(s)) & mask
            if v <= most:
                break
    return v


def _keep(s, x):
    bits = np.float64(x).view(np.uint64)
    s[625] = 1
    s[626] = np.uint32(bits & np.uint64(0xFFFFFFFF))
    s[627] = np.uint32(bits >> np.uint64(32))


def _kept(s):
    s[625] = 0
    return float(((np.uint64(s[627]) << np.uint64(32)) | np.uint64(s[626])).view(np.float64))


# ---- numpy.random: one number ----


def _gauss(s):
    """A normal number by Marsaglia's polar method, which makes two. The second is kept in the state."""
    if s[625] != 0:
        return _kept(s)
    while True:
        x = 2.0 * _double(s) - 1.0
        y = 2.0 * _double(s) - 1.0
        r = x * x + y * y
        if r < 1.0 and r != 0.0:
            break
    f = math.sqrt(-2.0 * math.log(r) / r)
    _keep(s, f * x)
    return f * y


def _one_random(s, a, b):
    return _double(s)


def _one_uniform(s, low, high):
    return low + (high - low) * _double(s)


def _one_normal(s, loc, scale):
    return loc + scale * _gauss(s)


def _one_lognormal(s, mean, sigma):
    return math.exp(mean + sigma * _gauss(s))


def _one_exponential(s, scale, b):
    return scale * -math.log(1.0 - _double(s))


def _one_gamma(s, shape, scale):
    if shape == 1.0:
        return scale * -math.log(1.0 - _double(s))
    if shape == 0.0:
        return 0.0
    if shape < 1.0:
        while True:
            u = _double(s)
            v = -math.log(1.0 - _double(s))
            if u <= 1.0 - shape:
                x = math.pow(u, 1.0 / shape)
                if x <= v:
                    break
            else:
                y = -math.log((1.0 - u) / shape)
                x = math.pow(1.0 - shape + shape * y, 1.0 / shape)
                if x <= v + y:
                    break
        return scale * x
    b = shape - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * b)
    while True:
        while True:
            x = _gauss(s)
            v = 1.0 + c * x
            if v > 0.0:
                break
        v = v * v * v
        u = _double(s)
        if u < 1.0 - 0.0331 * (x * x) * (x * x):
            break
        if math.log(u) < 0.5 * x * x + b * (1.0 - v + math.log(v)):
            break
    return scale * (b * v)


def _one_chisquare(s, df, b):
    return 2.0 * _one_gamma(s, df / 2.0, 1.0)


def _one_laplace(s, loc, scale):
    while True:
        u = _double(s)
        if u > 0.0:
            break
    if u >= 0.5:
        return loc - scale * math.log(2.0 - u - u)
    return loc + scale * math.log(u + u)


def _one_gumbel(s, loc, scale):
    while True:
        u = 1.0 - _double(s)
        if u < 1.0:
            break
    return loc - scale * math.log(-math.log(u))


def _one_logistic(s, loc, scale):
    while True:
        u = _double(s)
        if u > 0.0:
            break
    return loc + scale * math.log(u / (1.0 - u))


def _one_rayleigh(s, scale, b):
    return scale * math.sqrt(-2.0 * math.log1p(-_double(s)))


def _one_weibull(s, a, b):
    return 0.0 if a == 0.0 else math.pow(-math.log(1.0 - _double(s)), 1.0 / a)


def _one_pareto(s, a, b):
    return math.exp(-math.log(1.0 - _double(s)) / a) - 1.0


def _one_cauchy(s, a, b):
    x = _gauss(s)
    return x / _gauss(s)


def _one_poisson(s, lam, b):
    if lam == 0.0:
        return 0
    if lam < 10.0:
        k = 0
        least, product = math.exp(-lam), _double(s)
        while product > least:
            k += 1
            product *= _double(s)
        return k
    slam, loglam = math.sqrt(lam), math.log(lam)
    b = 0.931 + 2.53 * slam
    a = -0.059 + 0.02483 * b
    inverse = 1.1239 + 1.1328 / (b - 3.4)
    vr = 0.9277 - 3.6224 / (b - 2.0)
    while True:
        u = _double(s) - 0.5
        v = _double(s)
        us = 0.5 - abs(u)
        k = math.floor((2.0 * a / us + b) * u + lam + 0.43)
        if us >= 0.07 and v <= vr:
            break
        if k < 0 or (us < 0.013 and v > us):
            continue
        if math.log(v) + math.log(inverse) - math.log(a / (us * us) + b) <= -lam + k * loglam - math.lgamma(k + 1.0):
            break
    return k


def _one_integer(s, low, high):
    return low + _upto(s, high - 1 - low)


# ---- numpy.random: one, or an array ----


def _many(size, one, a, b):
    s = draws(0)
    if size is None:
        return one(s, a, b)
    out = np.empty(size)
    flat = out.reshape(-1)
    for i in range(flat.size):
        flat[i] = one(s, a, b)
    return out


def _many_ints(size, one, a, b):
    s = draws(0)
    if size is None:
        return one(s, a, b)
    out = np.empty(size, np.int64)
    flat = out.reshape(-1)
    for i in range(flat.size):
        flat[i] = one(s, a, b)
    return out


def _np_seed(seed):
    n = int(seed)
    if n < 0 or n > 0xFFFFFFFF:
        raise ValueError("Seed must be between 0 and 2**32 - 1")
    s = draws(0)
    _begin(s, n)
    s[628] = 0


def _random(size=None):
    return _many(size, _one_random, 0.0, 0.0)


def _rand(*shape):
    return _many(None if len(shape) == 0 else shape, _one_random, 0.0, 0.0)


def _randn(*shape):
    return _many(None if len(shape) == 0 else shape, _one_normal, 0.0, 1.0)


def _standard_normal(size=None):
    return _many(size, _one_normal, 0.0, 1.0)


def _normal(loc=0.0, scale=1.0, size=None):
    if scale < 0:
        raise ValueError("scale < 0")
    return _many(size, _one_normal, float(loc), float(scale))


def _uniform(low=0.0, high=1.0, size=None):
    return _many(size, _one_uniform, float(low), float(high))


def _lognormal(mean=0.0, sigma=1.0, size=None):
    if sigma < 0:
        raise ValueError("sigma < 0")
    return _many(size, _one_lognormal, float(mean), float(sigma))


def _exponential(scale=1.0, size=None):
    if scale < 0:
        raise ValueError("scale < 0")
    return _many(size, _one_exponential, float(scale), 0.0)


def _standard_exponential(size=None):
    return _many(size, _one_exponential, 1.0, 0.0)


def _gamma(shape, scale=1.0, size=None):
    if shape < 0 or scale < 0:
        raise ValueError("shape < 0 or scale < 0")
    return _many(size, _one_gamma, float(shape), float(scale))


def _standard_gamma(shape, size=None):
    if shape < 0:
        raise ValueError("shape < 0")
    return _many(size, _one_gamma, float(shape), 1.0)


def _chisquare(df, size=None):
    if df <= 0:
        raise ValueError("df <= 0")
    return _many(size, _one_chisquare, float(df), 0.0)


def _laplace(loc=0.0, scale=1.0, size=None):
    return _many(size, _one_laplace, float(loc), float(scale))


def _gumbel(loc=0.0, scale=1.0, size=None):
    return _many(size, _one_gumbel, float(loc), float(scale))


def _logistic(loc=0.0, scale=1.0, size=None):
    return _many(size, _one_logistic, float(loc), float(scale))


def _rayleigh(scale=1.0, size=None):
    return _many(size, _one_rayleigh, float(scale), 0.0)


def _weibull(a, size=None):
    return _many(size, _one_weibull, float(a), 0.0)


def _pareto(a, size=None):
    if a <= 0:
        raise ValueError("a <= 0")
    return _many(size, _one_pareto, float(a), 0.0)


def _standard_cauchy(size=None):
    return _many(size, _one_cauchy, 0.0, 0.0)


def _poisson(lam=1.0, size=None):
    if lam < 0:
        raise ValueError("lam < 0")
    return _many_ints(size, _one_poisson, float(lam), 0.0)


def _randint(low, high=None, size=None):
    begin, end = (0, int(low)) if high is None else (int(low), int(high))
    if begin >= end:
        raise ValueError("low >= high")
    return _many_ints(size, _one_integer, begin, end)


def _shuffle(x):
    s = draws(0)
    for i in range(x.shape[0] - 1, 0, -1):
        j = _upto(s, i)
        if x.ndim == 1:
            x[i], x[j] = x[j], x[i]
        else:
            row = x[i].copy()
            x[i] = x[j]
            x[j] = row


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
    _begin(s, 19650218)
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
        return int(_word(s)) >> (32 - k)
    low = int(_word(s))
    return low | ((int(_word(s)) >> (64 - k)) << 32)


def _below(n):
    k = n.bit_length()
    r = _getrandbits(k)
    while r >= n:
        r = _getrandbits(k)
    return r


def _py_random():
    return _double(draws(1))


def _py_uniform(a, b):
    return a + (b - a) * _double(draws(1))


def _py_randrange(start, stop=None, step=1):
    return _in_range(0, start, 1) if stop is None else _in_range(start, stop, step)


def _in_range(start, stop, step):
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
        return mu + _kept(s) * sigma
    x = _double(s) * (2.0 * math.pi)
    r = math.sqrt(-2.0 * math.log(1.0 - _double(s)))
    _keep(s, math.sin(x) * r)
    return mu + math.cos(x) * r * sigma


_MAGIC = 4 * math.exp(-0.5) / math.sqrt(2.0)


def _py_normalvariate(mu=0.0, sigma=1.0):
    s = draws(1)
    while True:
        u = _double(s)
        v = 1.0 - _double(s)
        z = _MAGIC * (u - 0.5) / v
        if z * z / 4.0 <= -math.log(v):
            break
    return mu + z * sigma


def _py_lognormvariate(mu=0.0, sigma=1.0):
    return math.exp(_py_normalvariate(mu, sigma))


def _py_expovariate(lambd=1.0):
    return -math.log(1.0 - _double(draws(1))) / lambd


def _py_triangular(low=0.0, high=1.0, mode=None):
    u = _double(draws(1))
    c = 0.5 if mode is None else (mode - low) / (high - low)
    if u > c:
        return high + (low - high) * math.sqrt((1.0 - u) * (1.0 - c))
    return low + (high - low) * math.sqrt(u * c)


def _py_paretovariate(alpha):
    return (1.0 - _double(draws(1))) ** (-1.0 / alpha)


def _py_weibullvariate(alpha, beta):
    return alpha * (-math.log(1.0 - _double(draws(1)))) ** (1.0 / beta)


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
