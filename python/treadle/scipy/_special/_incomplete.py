"""Incomplete gamma and beta functions, their inverses, and the distribution functions that are made of them.

Both tails of a distribution are computed without subtracting a number close to 1 from 1: by a series on one side of the
mean, by a continued fraction (Lentz's algorithm) on the other.
"""

import math

import numpy as np

from ._error import ndtri_of
from ._kernel import kernel
from ._parts import lgamma1p, log_beta, power_of_beta, power_of_gamma

_TINY = 1e-300
_LAST = 1e-6  # Halley's method converges cubically: after a step this small, relative to x, the rest does not count
_MOST = 200_000  # terms; about 6 sqrt(a) are needed near the mean


# ---- gamma ----


def _gamma_series(a, x):
    """P(a, x), DLMF 8.11.4."""
    s = 1.0
    t = 1.0
    k = 1.0
    while t > 1e-17 * s and k < _MOST:
        t *= x / (a + k)
        s += t
        k += 1.0
    return power_of_gamma(a, x) * s


def _gamma_fraction(a, x):
    """Q(a, x), DLMF 8.9.2."""
    b = x + 1.0 - a
    c = 1.0 / _TINY
    d = 1.0 / b
    h = d
    k = 1.0
    while k < _MOST:
        n = -k * (k - a)
        b += 2.0
        d = n * d + b
        d = 1.0 / (d if abs(d) > _TINY else _TINY)
        c = b + n / c
        c = c if abs(c) > _TINY else _TINY
        h *= d * c
        k += 1.0
        if abs(d * c - 1.0) < 2e-16:
            break
    return power_of_gamma(a, x) * a * h


def _gamma_small(a, x):
    """Q(a, x) for x <= 1.1 and a <= 1, where P is close to 1: DLMF 8.7.1, with 1 separated from the sum."""
    u = a * math.log(x) - lgamma1p(a)
    s = 0.0
    t = 1.0
    k = 1.0
    while k < 25.0:
        t *= -x / k
        s += t / (a + k)
        k += 1.0
    return -math.expm1(u) - math.exp(u) * a * s


def gamma_sides(a, x):
    """P(a, x) and Q(a, x), for a > 0 and x > 0."""
    if x <= 1.1 and a <= 1.0:
        if x < 0.5 and a * math.log(x) < -0.7:
            p = _gamma_series(a, x)
            return p, 1.0 - p
        q = _gamma_small(a, x)
        return (1.0 - q, q) if q < 0.9 else (_gamma_series(a, x), q)
    if x < a + 1.0:
        p = _gamma_series(a, x)
        return p, 1.0 - p
    q = _gamma_fraction(a, x)
    return 1.0 - q, q


def gamma_p(a, x):
    """The regularized lower incomplete gamma function, including the ends of its domain."""
    if not (a >= 0.0 and x >= 0.0):
        return math.nan
    if a == 0.0:
        return 1.0 if x > 0.0 else math.nan
    if x == 0.0:
        return 0.0
    if a == math.inf:
        return math.nan if x == math.inf else 0.0
    return 1.0 if x == math.inf else gamma_sides(a, x)[0]


def gamma_q(a, x):
    if not (a >= 0.0 and x >= 0.0):
        return math.nan
    if a == 0.0:
        return 0.0 if x > 0.0 else math.nan
    if x == 0.0:
        return 1.0
    if a == math.inf:
        return math.nan if x == math.inf else 1.0
    return 0.0 if x == math.inf else gamma_sides(a, x)[1]


def _gamma_start(a, p, q):
    """A point near the root of P(a, x) = p: by the cube of Wilson and Hilferty (1931), or from the first term of the
    series."""
    low = math.exp((math.log(p) + math.lgamma(a + 1.0)) / a) if p > 0.0 else 0.0
    if a < 1.0 and low < 1.0 or low < 0.1 * a:
        return low * (1.0 + low / (a + 1.0)) if low < 0.1 else low
    if a < 1.0:
        return max(-math.log(q), 0.1)
    z = ndtri_of(p) if p < 0.5 else -ndtri_of(q)
    w = 1.0 - 1.0 / (9.0 * a) + z / (3.0 * math.sqrt(a))
    if w > 0.2:
        return a * w * w * w
    return low


def gamma_inverse(a, p, q):
    """The x with P(a, x) = p, where q is 1 - p. Halley's method runs on the smaller of both, between bounds."""
    low = 0.0
    high = math.inf
    x = _gamma_start(a, p, q)
    if x == 0.0:
        return x
    j = 0
    while j < 200:
        if not low < x < high:
            x = 2.0 * max(low, 0.5) if high == math.inf else 0.5 * (low + high) if low > 0.0 else 0.1 * high
        if x == 0.0:
            break
        sides = gamma_sides(a, x)
        f = sides[0] - p if p < q else q - sides[1]
        if f > 0.0:
            high = x
        elif f < 0.0:
            low = x
        else:
            break
        slope = power_of_gamma(a, x) * a / x
        step = f / slope if slope > 0.0 else math.nan
        h = 1.0 - 0.5 * step * ((a - 1.0) / x - 1.0)
        step = step / h if h > 0.5 else step
        new = x - step
        if abs(step) < _LAST * x:
            return new
        if j > 60:
            new = 0.5 * (low + high) if high < math.inf else 2.0 * x
        x = new
        j += 1
    return x


def _gamma_ends(a, p, far):
    """The inverse where it needs no search, because p is 0 or 1; else -1. far: the inverse of 1."""
    if not (a > 0.0 and 0.0 <= p <= 1.0):
        return math.nan
    if p == 0.0:
        return 0.0 if far else math.inf
    if p == 1.0:
        return math.inf if far else 0.0
    return -1.0 if a < math.inf else math.nan


@kernel(1e-13)
def gammainc(a, x):
    """The regularized lower incomplete gamma function P, DLMF 8.2.4."""
    return gamma_p(a, x)


@kernel(1e-13)
def gammaincc(a, x):
    """The regularized upper incomplete gamma function Q, DLMF 8.2.4."""
    return gamma_q(a, x)


def lower_inverse(a, p):
    r = _gamma_ends(a, p, True)
    return gamma_inverse(a, p, 1.0 - p) if r == -1.0 else r


def upper_inverse(a, q):
    r = _gamma_ends(a, q, False)
    return gamma_inverse(a, 1.0 - q, q) if r == -1.0 else r


@kernel(1e-11)
def gammaincinv(a, y):
    """The x with gammainc(a, x) = y."""
    return lower_inverse(a, y)


@kernel(1e-11)
def gammainccinv(a, y):
    """The x with gammaincc(a, x) = y."""
    return upper_inverse(a, y)


# ---- beta ----


def _beta_fraction(a, b, x):
    """The continued fraction of DLMF 8.17.22."""
    c = 1.0
    d = 1.0 - (a + b) * x / (a + 1.0)
    d = 1.0 / (d if abs(d) > _TINY else _TINY)
    h = d
    k = 1.0
    while k < _MOST:
        n = k * (b - k) * x / ((a + 2.0 * k - 1.0) * (a + 2.0 * k))
        d = 1.0 + n * d
        d = 1.0 / (d if abs(d) > _TINY else _TINY)
        c = 1.0 + n / c
        c = c if abs(c) > _TINY else _TINY
        h *= d * c
        n = -(a + k) * (a + b + k) * x / ((a + 2.0 * k) * (a + 2.0 * k + 1.0))
        d = 1.0 + n * d
        d = 1.0 / (d if abs(d) > _TINY else _TINY)
        c = 1.0 + n / c
        c = c if abs(c) > _TINY else _TINY
        h *= d * c
        k += 1.0
        if abs(d * c - 1.0) < 2e-16:
            break
    return h


def beta_sides(a, b, x, y):
    """I_x(a, b) and I_y(b, a), for positive a and b, and for x and y = 1 - x between 0 and 1."""
    if x * (a + b + 2.0) <= a + 1.0:
        p = power_of_beta(a, b, x, y) * _beta_fraction(a, b, x) / a
        return p, 1.0 - p
    q = power_of_beta(a, b, x, y) * _beta_fraction(b, a, y) / b
    return 1.0 - q, q


def beta_i(a, b, x, y, upper):
    """I_x(a, b), including the ends of its domain. With upper: 1 minus that."""
    if not (a >= 0.0 and b >= 0.0 and 0.0 <= x <= 1.0) or a == 0.0 and b == 0.0:
        return math.nan
    if a == math.inf and b == math.inf:
        return math.nan
    side = -1.0
    if x == 0.0 and a > 0.0 or b == 0.0 and x < 1.0 or a == math.inf:
        side = 0.0
    if x == 1.0 and b > 0.0 or a == 0.0 and x > 0.0 or b == math.inf:
        side = 1.0
    if a == 0.0 and x == 0.0 or b == 0.0 and x == 1.0:
        side = 0.0 if x == 0.0 else 1.0
    if side >= 0.0:
        return 1.0 - side if upper else side
    sides = beta_sides(a, b, x, y)
    return sides[1] if upper else sides[0]


def _beta_start(a, b, p, q):
    """A point near the root of I_x(a, b) = p: from the first term at either end, or the mean, shifted as for a normal
    distribution."""
    lb = log_beta(a, b)
    low = math.exp((math.log(p) + math.log(a) + lb) / a)
    if low < 0.1 * a / (a + b):
        return low
    high = math.exp((math.log(q) + math.log(b) + lb) / b)
    if high < 0.1 * b / (a + b):
        return 1.0 - high
    m = a / (a + b)
    z = ndtri_of(p) if p < 0.5 else -ndtri_of(q)
    x = m + z * math.sqrt(m * (1.0 - m) / (a + b + 1.0))
    return x if 0.0 < x < 1.0 else m


def beta_inverse(a, b, p, q):
    """The x with I_x(a, b) = p, where q is 1 - p. Halley's method runs on the smaller of both, between bounds."""
    low = 0.0
    high = 1.0
    x = _beta_start(a, b, p, q)
    if x == 0.0:
        return x
    j = 0
    while j < 200:
        if not low < x < high:
            x = 0.5 * (low + high) if low > 0.0 else 0.1 * high
        if x == 0.0 or x == 1.0:
            break
        y = 1.0 - x
        sides = beta_sides(a, b, x, y)
        f = sides[0] - p if p < q else q - sides[1]
        if f > 0.0:
            high = x
        elif f < 0.0:
            low = x
        else:
            break
        slope = power_of_beta(a, b, x, y) / (x * y)
        step = f / slope if slope > 0.0 else math.nan
        h = 1.0 - 0.5 * step * ((a - 1.0) / x - (b - 1.0) / y)
        step = step / h if h > 0.5 else step
        if abs(step) < _LAST * min(x, y):
            return x - step
        x = x - step if j < 60 else 0.5 * (low + high)
        j += 1
    return x


def beta_root(a, b, p):
    if not (a > 0.0 and b > 0.0 and 0.0 <= p <= 1.0):
        return math.nan
    return p if p == 0.0 or p == 1.0 else beta_inverse(a, b, p, 1.0 - p)


def beta_upper_root(a, b, q):
    if not (a > 0.0 and b > 0.0 and 0.0 <= q <= 1.0):
        return math.nan
    return 1.0 - q if q == 0.0 or q == 1.0 else beta_inverse(a, b, 1.0 - q, q)


@kernel(1e-13)
def betainc(a, b, x):
    """The regularized incomplete beta function I, DLMF 8.17.2."""
    return beta_i(a, b, x, 1.0 - x, False)


@kernel(1e-13)
def betaincc(a, b, x):
    """1 - betainc(a, b, x)."""
    return beta_i(a, b, x, 1.0 - x, True)


@kernel(1e-11)
def betaincinv(a, b, y):
    """The x with betainc(a, b, x) = y."""
    return beta_root(a, b, y)


@kernel(1e-11)
def betainccinv(a, b, y):
    """The x with betaincc(a, b, x) = y."""
    return beta_upper_root(a, b, y)


btdtr = betainc
btdtri = betaincinv


# ---- distributions ----


def _binomials(k, n, p, upper):
    k = np.floor(k)
    if not (0.0 <= p <= 1.0 and k >= 0.0 and n >= k) or n != np.floor(n):
        if k < 0.0 and n == np.floor(n) and 0.0 <= p <= 1.0 and upper:
            return 1.0
        return math.nan
    if k == n:
        return 0.0 if upper else 1.0
    return beta_i(k + 1.0, n - k, p, 1.0 - p, not upper)


@kernel(1e-12)
def bdtr(k, n, p):
    """The cdf of the binomial distribution."""
    return _binomials(k, n, p, False)


@kernel(1e-12)
def bdtrc(k, n, p):
    """1 - bdtr(k, n, p)."""
    return _binomials(k, n, p, True)


@kernel(1e-11)
def bdtri(k, n, y):
    """The p with bdtr(k, n, p) = y."""
    k = np.floor(k)
    if not (0.0 <= y <= 1.0 and k >= 0.0 and n > k) or n != np.floor(n):
        return math.nan
    return beta_upper_root(k + 1.0, n - k, y)


@kernel(1e-12)
def nbdtr(k, n, p):
    """The cdf of the negative binomial distribution."""
    return beta_i(n, k + 1.0, p, 1.0 - p, False) if k >= 0.0 and 0.0 <= p <= 1.0 else math.nan


@kernel(1e-12)
def nbdtrc(k, n, p):
    """1 - nbdtr(k, n, p)."""
    return beta_i(n, k + 1.0, p, 1.0 - p, True) if k >= 0.0 and 0.0 <= p <= 1.0 else math.nan


@kernel(1e-11)
def nbdtri(k, n, y):
    """The p with nbdtr(k, n, p) = y."""
    return beta_root(n, k + 1.0, y) if k >= 0.0 else math.nan


@kernel(1e-12)
def pdtr(k, m):
    """The cdf of the Poisson distribution."""
    if k < 0.0 or m < 0.0:
        return math.nan
    return 1.0 if m == 0.0 else gamma_q(np.floor(k) + 1.0, m)


@kernel(1e-12)
def pdtrc(k, m):
    """1 - pdtr(k, m)."""
    if k < 0.0 or m < 0.0:
        return math.nan
    return 0.0 if m == 0.0 else gamma_p(np.floor(k) + 1.0, m)


@kernel(1e-11)
def pdtri(k, y):
    """The m with pdtr(k, m) = y."""
    return upper_inverse(np.floor(k) + 1.0, y) if k >= 0.0 and 0.0 <= y < 1.0 else math.nan


@kernel(1e-12)
def chdtr(v, x):
    """The cdf of the chi-square distribution."""
    return gamma_p(0.5 * v, 0.5 * x)


@kernel(1e-12)
def chdtrc(v, x):
    """1 - chdtr(v, x)."""
    return 1.0 if x < 0.0 else gamma_q(0.5 * v, 0.5 * x)


@kernel(1e-11)
def chdtri(v, p):
    """The x with chdtrc(v, x) = p."""
    return 2.0 * upper_inverse(0.5 * v, p)


def _ratio(n, d, x, upper):
    if not (n > 0.0 and d > 0.0 and x >= 0.0):
        return math.nan
    w = n * x
    s = d + w
    return beta_i(0.5 * n, 0.5 * d, w / s if x < math.inf else 1.0, d / s, upper)


@kernel(1e-12)
def fdtr(dfn, dfd, x):
    """The cdf of the F distribution."""
    return _ratio(dfn, dfd, x, False)


@kernel(1e-12)
def fdtrc(dfn, dfd, x):
    """1 - fdtr(dfn, dfd, x)."""
    return _ratio(dfn, dfd, x, True)


@kernel(1e-11)
def fdtri(dfn, dfd, p):
    """The x with fdtr(dfn, dfd, x) = p, from the root of the incomplete beta function on the side where it is small."""
    if not (dfn > 0.0 and dfd > 0.0 and 0.0 < p <= 1.0):
        return math.nan
    if p == 1.0:
        return math.inf
    a = 0.5 * dfn
    b = 0.5 * dfd
    x = beta_inverse(a, b, p, 1.0 - p)
    if x < 0.5:
        return dfd * x / (dfn * (1.0 - x))
    y = beta_inverse(b, a, 1.0 - p, p)
    return dfd * (1.0 - y) / (dfn * y)


@kernel(1e-12)
def gdtr(a, b, x):
    """The cdf of the gamma distribution with rate a and shape b."""
    return gamma_p(b, a * x) if x >= 0.0 else math.nan


@kernel(1e-12)
def gdtrc(a, b, x):
    """1 - gdtr(a, b, x)."""
    return gamma_q(b, a * x) if x >= 0.0 else math.nan


@kernel(1e-12)
def stdtr(df, t):
    """The cdf of Student's t distribution."""
    if not df > 0.0 or t != t:
        return math.nan
    if t == 0.0:
        return 0.5
    if abs(t) == math.inf:
        return 0.0 if t < 0.0 else 1.0
    if df == math.inf:
        return 0.5 * math.erfc(-t * 0.7071067811865476)
    s = df + t * t
    half = 0.5 * beta_i(0.5 * df, 0.5, df / s, t * t / s, False)
    return half if t < 0.0 else 1.0 - half


@kernel(1e-10)
def stdtrit(df, p):
    """The t with stdtr(df, t) = p."""
    if not (df > 0.0 and 0.0 <= p <= 1.0):
        return math.nan
    if p == 0.0 or p == 1.0:
        return -math.inf if p == 0.0 else math.inf
    if p == 0.5:
        return 0.0
    q = 2.0 * min(p, 1.0 - p)
    sign = -1.0 if p < 0.5 else 1.0
    y = beta_inverse(0.5, 0.5 * df, 1.0 - q, q)
    if y < 0.5:
        return sign * math.sqrt(df * y / (1.0 - y))
    x = beta_inverse(0.5 * df, 0.5, q, 1.0 - q)
    return sign * math.sqrt(df * (1.0 - x) / x)
