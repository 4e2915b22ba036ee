"""More of numpy.random's and random's distributions for compiled code: those that need a search, a rejection or several
other draws for one number. ``_draws`` has the generators and the plain distributions, and says what they follow."""

import math
import random

import numpy as np

from . import _shared
from ._shared import double, gauss, many, many_ints
from ._twister import draws


def _one_beta(s, a, b):
    if a > 1.0 or b > 1.0:
        return _shared.beta(s, a, b)
    while True:
        u = double(s)
        v = double(s)
        x = math.pow(u, 1.0 / a)
        y = math.pow(v, 1.0 / b)
        if x + y <= 1.0 and u + v > 0.0:
            break
    if x + y > 0.0:
        return x / (x + y)
    p, q = math.log(u) / a, math.log(v) / b  # both powers are too small for a float
    most = max(p, q)
    p, q = p - most, q - most
    return math.exp(p - math.log(math.exp(p) + math.exp(q)))


def _one_geometric(s, p, b):
    if p < 0.333333333333333333333333:
        return math.ceil(math.log1p(-double(s)) / math.log(1.0 - p))
    return _shared.searched_geometric(s, p)


def _one_logseries(s, p, b):
    r = math.log(1.0 - p)
    while True:
        v = double(s)
        if v >= p:
            return 1
        q = 1.0 - math.exp(r * double(s))
        if v > q * q:
            return 1 if v >= q else 2
        if v != 0.0:
            k = math.floor(1.0 + math.log(v) / math.log(q))
            if k >= 1:
                return k


def _one_power(s, a, b):
    return math.pow(1.0 - math.exp(math.log(1.0 - double(s))), 1.0 / a)


def _one_wald(s, mean, scale):
    y = gauss(s)
    y = mean * y * y
    x = mean + mean / (2.0 * scale) * (y - math.sqrt(4.0 * scale * y + y * y))
    return x if double(s) <= mean / (mean + x) else mean * mean / x


def _one_zipf(s, a, b):
    less = a - 1.0
    b = math.pow(2.0, less)
    while True:
        u = 1.0 - double(s)
        v = double(s)
        x = math.floor(math.pow(u, -1.0 / less) + 0.0)
        if x < 1 or x > 9223372036854774784:
            continue
        t = math.pow(1.0 + 1.0 / x, less)
        if v * x * (t - 1.0) / (b - 1.0) <= t / b:
            return x


def _one_vonmises(s, mu, kappa):
    if kappa < 1e-8:
        return math.pi * (2.0 * double(s) - 1.0)
    if kappa < 1e-5:
        r = 1.0 / kappa + kappa
    else:
        r = 1.0 + math.sqrt(1.0 + 4.0 * kappa * kappa)
        rho = (r - math.sqrt(2.0 * r)) / (2.0 * kappa)
        r = (1.0 + rho * rho) / (2.0 * rho)
    while True:
        z = math.cos(math.pi * double(s))
        w = (1.0 + r * z) / (r + z)
        y = kappa * (r - w)
        v = double(s)
        if y * (2.0 - y) - v >= 0.0 or math.log(y / v) + 1.0 - y >= 0.0:
            break
    turn = math.acos(w)
    x = mu + (-turn if double(s) < 0.5 else turn)
    inside = math.fmod(abs(x) + math.pi, 2.0 * math.pi) - math.pi
    return -inside if x < 0.0 else inside


def _tail(x):
    """What Stirling's formula leaves of log(x!), to four terms."""
    y = x * x
    return (13680.0 - (462.0 - (132.0 - (99.0 - 140.0 / y) / y) / y) / y) / x / 166320.0


def _binomial_by_steps(s, n, p):
    """Sum the probabilities of 0, 1, … successes up to a random number, for p <= 0.5."""
    q = 1.0 - p
    first = math.exp(n * math.log(q))
    most = int(min(float(n), n * p + 10.0 * math.sqrt(n * p * q + 1.0)))
    k, part = 0, first
    u = double(s)
    while u > part:
        k += 1
        if k > most:
            k, part = 0, first
            u = double(s)
        else:
            u -= part
            part = ((n - k + 1) * p * part) / (k * q)
    return k


def _accepts(y, v, n, p, m):
    """Whether y successes pass at the height v: Kachitvichyanukul's and Schmeiser's BTPE, steps 5.0 to 5.3."""
    q = 1.0 - p
    spread = n * p * q
    k = abs(y - m)
    if k <= 20 or k >= spread / 2.0 - 1.0:
        odds = p / q
        a = odds * (n + 1)
        height = 1.0
        for i in range(m + 1, y + 1):
            height *= a / i - odds
        for i in range(y + 1, m + 1):
            height /= a / i - odds
        return v <= height
    rho = (k / spread) * ((k * (k / 3.0 + 0.625) + 0.16666666666666666) / spread + 0.5)
    t = -k * k / (2 * spread)
    a = math.log(v)
    if a < t - rho:
        return True
    if a > t + rho:
        return False
    x, f, z, w = y + 1.0, m + 1.0, n + 1.0 - m, n - y + 1.0
    bound = (m + 0.5) * math.log(f / x) + (n - m + 0.5) * math.log(z / w) + (y - m) * math.log(w * p / (x * q))
    return a <= bound + _tail(f) + _tail(z) + _tail(x) + _tail(w)


def _binomial_by_rejection(s, n, p):
    """BTPE: a triangle, two parallelograms and two exponential tails lie over the distribution, for p <= 0.5."""
    q = 1.0 - p
    centre = n * p + p
    m = math.floor(centre)
    half = math.floor(2.195 * math.sqrt(n * p * q) - 4.6 * q) + 0.5
    middle = m + 0.5
    left, right = middle - half, middle + half
    c = 0.134 + 20.5 / (15.3 + m)
    a = (centre - left) / (centre - left * p)
    fall = a * (1.0 + a / 2.0)
    a = (right - centre) / (right * q)
    rise = a * (1.0 + a / 2.0)
    beside = half * (1.0 + 2.0 * c)
    before = beside + c / fall
    after = before + c / rise
    while True:
        u = double(s) * after
        v = double(s)
        if u <= half:
            return math.floor(middle - half * v + u)
        if u <= beside:
            x = left + (u - half) / c
            v = v * c + 1.0 - abs(m - x + 0.5) / half
            if v > 1.0:
                continue
            y = math.floor(x)
        elif v == 0.0:
            continue
        elif u <= before:
            y = math.floor(left + math.log(v) / fall)
            v = v * (u - beside) * fall
        else:
            y = math.floor(right - math.log(v) / rise)
            v = v * (u - before) * rise
        if 0 <= y <= n and _accepts(y, v, n, p, m):
            return y


def _one_binomial(s, n, p):
    few = p if p <= 0.5 else 1.0 - p
    k = _binomial_by_steps(s, n, few) if few * n <= 30.0 else _binomial_by_rejection(s, n, few)
    return k if p <= 0.5 else n - k


def _drawn_few(s, good, bad, sample):
    """Draw one by one from the smaller kind."""
    left = min(good, bad)
    fewer = left
    rest = good + bad - sample
    k = sample
    while left > 0 and k > 0:
        left -= math.floor(double(s) + left / float(rest + k))
        k -= 1
    drawn = fewer - left
    return sample - drawn if good > bad else drawn


def _drawn_many(s, good, bad, sample):
    """Stadlober's HRUA, a ratio of uniform numbers."""
    fewer, more, total = min(good, bad), max(good, bad), good + bad
    m = min(sample, total - sample)
    share = fewer / float(total)
    middle = m * share + 0.5
    width = math.sqrt((total - m) * sample * share * (1.0 - share) / (total - 1) + 0.5)
    h = 1.7155277699214135 * width + 0.8989161620588988
    mode = float(math.floor(float(m + 1) * float(fewer + 1) / (total + 2)))
    top = math.lgamma(mode + 1.0) + math.lgamma(fewer - mode + 1.0) + math.lgamma(m - mode + 1.0)
    top += math.lgamma(more - m + mode + 1.0)
    end = min(min(m, fewer) + 1.0, float(math.floor(middle + 16.0 * width)))
    while True:
        x = double(s)
        y = double(s)
        w = middle + h * (y - 0.5) / x
        if w < 0.0 or w >= end:
            continue
        z = float(math.floor(w))
        t = math.lgamma(z + 1.0) + math.lgamma(fewer - z + 1.0) + math.lgamma(m - z + 1.0)
        t = top - (t + math.lgamma(more - m + z + 1.0))
        if x * (4.0 - x) - 3.0 <= t or (x * (x - t) < 1.0 and 2.0 * math.log(x) <= t):
            break
    k = int(z)
    if good > bad:
        k = m - k
    return good - k if m < sample else k


def _one_hypergeometric(s, good, rest):
    bad, sample = rest
    return _drawn_many(s, good, bad, sample) if sample > 10 else _drawn_few(s, good, bad, sample)


# ---- numpy.random: one, or an array ----


def _beta(a, b, size=None):
    if a <= 0 or b <= 0:
        raise ValueError("a <= 0 or b <= 0")
    return many(draws(0), size, _one_beta, float(a), float(b))


def _binomial(n, p, size=None):
    if n < 0 or p < 0 or p > 1 or p != p:
        raise ValueError("n < 0, p < 0, p > 1 or p contains NaNs")
    return many_ints(draws(0), size, _one_binomial, int(n), float(p))


def _f(dfnum, dfden, size=None):
    if dfnum <= 0 or dfden <= 0:
        raise ValueError("dfnum <= 0 or dfden <= 0")
    return many(draws(0), size, _shared.f, float(dfnum), float(dfden))


def _geometric(p, size=None):
    if p <= 0 or p > 1 or p != p:
        raise ValueError("p <= 0, p > 1 or p contains NaNs")
    return many_ints(draws(0), size, _one_geometric, float(p), 0.0)


def _hypergeometric(ngood, nbad, nsample, size=None):
    if ngood < 0 or nbad < 0 or nsample < 1 or nsample > ngood + nbad:
        raise ValueError("ngood < 0, nbad < 0, nsample < 1 or ngood + nbad < nsample")
    return many_ints(draws(0), size, _one_hypergeometric, int(ngood), (int(nbad), int(nsample)))


def _logseries(p, size=None):
    if p < 0 or p >= 1 or p != p:
        raise ValueError("p < 0, p >= 1 or p is NaN")
    return many_ints(draws(0), size, _one_logseries, float(p), 0.0)


def _negative_binomial(n, p, size=None):
    if n <= 0 or p <= 0 or p > 1 or p != p:
        raise ValueError("n <= 0, p <= 0, p > 1 or p is NaN")
    return many_ints(draws(0), size, _shared.negative_binomial, float(n), float(p))


def _power(a, size=None):
    if a <= 0:
        raise ValueError("a <= 0")
    return many(draws(0), size, _one_power, float(a), 0.0)


def _standard_t(df, size=None):
    if df <= 0:
        raise ValueError("df <= 0")
    return many(draws(0), size, _shared.student, float(df), 0.0)


def _triangular(left, mode, right, size=None):
    if left > mode or mode > right or left == right:
        raise ValueError("left > mode, mode > right or left == right")
    return many(draws(0), size, _shared.triangular, float(left), (float(mode), float(right)))


def _vonmises(mu, kappa, size=None):
    if kappa < 0:
        raise ValueError("kappa < 0")
    return many(draws(0), size, _one_vonmises, float(mu), float(kappa))


def _wald(mean, scale, size=None):
    if mean <= 0 or scale <= 0:
        raise ValueError("mean <= 0 or scale <= 0")
    return many(draws(0), size, _one_wald, float(mean), float(scale))


def _zipf(a, size=None):
    if a <= 1 or a != a:
        raise ValueError("a <= 1 or a is NaN")
    return many_ints(draws(0), size, _one_zipf, float(a), 0.0)


def _shape_of_rows(size, k):
    return (size, k) if isinstance(size, int) else (*size, k)


def _split(s, row, n, pvals):
    """Write to the zeros of row how often each of n draws fell where."""
    left, chance = n, 1.0
    last = len(row) - 1
    for j in range(last):
        row[j] = _one_binomial(s, left, pvals[j] / chance)
        left -= row[j]
        if left <= 0:
            break
        chance -= pvals[j]
    if left > 0:
        row[last] = left


def _multinomial(n, pvals, size=None):
    chances = np.array(pvals)
    k = len(chances)
    for p in chances:
        if not 0.0 <= p <= 1.0:
            raise ValueError("pvals < 0, pvals > 1 or pvals contains NaNs")
    if n < 0 or np.sum(chances[: k - 1]) > 1.0 + 1e-12:
        raise ValueError("n < 0 or sum(pvals[:-1]) > 1.0")
    s = draws(0)
    out = np.zeros(k if size is None else _shape_of_rows(size, k), np.int64)
    rows = out.reshape(-1, k)
    for i in range(rows.shape[0]):
        _split(s, rows[i], int(n), chances)
    return out


def _dirichlet(alpha, size=None):
    shapes = np.array(alpha)
    k = len(shapes)
    if np.any(shapes <= 0):
        raise ValueError("alpha <= 0")
    s = draws(0)
    out = np.empty(k if size is None else _shape_of_rows(size, k))
    rows = out.reshape(-1, k)
    for i in range(rows.shape[0]):
        total = 0.0
        for j in range(k):
            rows[i, j] = _shared.standard_gamma(s, float(shapes[j]), 0.0)
            total += rows[i, j]
        for j in range(k):
            rows[i, j] *= 1.0 / total
    return out


# ---- random ----


_LOG4 = math.log(4.0)
_CHENG = 1.0 + math.log(4.5)


def _py_gammavariate(alpha, beta):
    if alpha <= 0.0 or beta <= 0.0:
        raise ValueError("gammavariate: alpha and beta must be > 0.0")
    s = draws(1)
    if alpha == 1.0:
        return -math.log(1.0 - double(s)) * beta
    return (_cheng(s, alpha) if alpha > 1.0 else _ahrens(s, alpha)) * beta


def _cheng(s, alpha):
    root = math.sqrt(2.0 * alpha - 1.0)
    while True:
        u = double(s)
        if not 1e-7 < u < 0.9999999:
            continue
        other = 1.0 - double(s)
        v = math.log(u / (1.0 - u)) / root
        x = alpha * math.exp(v)
        z = u * u * other
        r = alpha - _LOG4 + (alpha + root) * v - x
        if r + _CHENG - 4.5 * z >= 0.0 or r >= math.log(z):
            return x


def _ahrens(s, alpha):
    b = (math.e + alpha) / math.e
    while True:
        p = b * double(s)
        x = math.pow(p, 1.0 / alpha) if p <= 1.0 else -math.log((b - p) / alpha)
        u = double(s)
        if u <= (math.pow(x, alpha - 1.0) if p > 1.0 else math.exp(-x)):
            return x


def _py_betavariate(alpha, beta):
    y = _py_gammavariate(alpha, 1.0)
    return y / (y + _py_gammavariate(beta, 1.0)) if y else 0.0


def _py_vonmisesvariate(mu, kappa):
    s = draws(1)
    if kappa <= 1e-6:
        return 2.0 * math.pi * double(s)
    r = 0.5 / kappa
    r = r + math.sqrt(1.0 + r * r)
    while True:
        z = math.cos(math.pi * double(s))
        d = z / (r + z)
        u = double(s)
        if u < 1.0 - d * d or u <= (1.0 - d) * math.exp(d):
            break
    f = (1.0 / r + z) / (1.0 + 1.0 / r * z)
    turn = math.acos(f)
    return (mu + turn if double(s) > 0.5 else mu - turn) % (2.0 * math.pi)


_NUMPYS = {
    "beta": _beta, "binomial": _binomial, "dirichlet": _dirichlet, "f": _f, "geometric": _geometric,
    "hypergeometric": _hypergeometric, "logseries": _logseries, "multinomial": _multinomial, "negative_binomial":
    _negative_binomial, "power": _power, "standard_t": _standard_t, "triangular": _triangular, "vonmises": _vonmises,
    "wald": _wald, "zipf": _zipf,
}  # fmt: skip
_PYTHONS = {"betavariate": _py_betavariate, "gammavariate": _py_gammavariate, "vonmisesvariate": _py_vonmisesvariate}

DRAWS = {getattr(np.random, name): f for name, f in _NUMPYS.items()}
DRAWS.update((getattr(random, name), f) for name, f in _PYTHONS.items())
