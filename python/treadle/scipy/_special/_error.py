"""The error function and its relatives: scaled, inverse, and the cdf of the normal distribution."""

import math

import numpy as np

from . import _coefficients as table
from ._kernel import chebyshev, kernel


def erfcx_of(x):
    """exp(x^2) erfc(x), with the last bits of the square."""
    if x < -26.7:
        return math.inf
    t = abs(x)
    near = chebyshev((t - 4.0) / (t + 4.0), table.ERFCX) / (1.0 + 2.0 * t) if t < 1e15 else 0.5641895835477563 / t
    if x >= 0.0 or x != x:
        return near
    high = np.rint(t * 64.0) / 64.0  # high * high is exact
    return 2.0 * math.exp(high * high) * math.exp((t - high) * (t + high)) - near


@kernel(2e-15)
def erfcx(x):
    """exp(x^2) erfc(x)."""
    return erfcx_of(x)


def _tail(s):
    """erfcinv(exp(-s^2)) for s >= 0.8."""
    if s < 2.0:
        return s * chebyshev((s - 1.4) / 0.6, table.ERFCINV0)
    if s < 5.0:
        return s * chebyshev((s - 3.5) / 1.5, table.ERFCINV1)
    if s < 11.0:
        return s * chebyshev((s - 8.0) / 3.0, table.ERFCINV2)
    return s * chebyshev((s - 19.5) / 8.5, table.ERFCINV3)


def _centre(x):
    return x * chebyshev(8.0 * x * x - 1.0, table.ERFINV)


def erfcinv_of(y):
    if not 0.0 <= y <= 2.0:
        return math.nan
    if 0.5 <= y <= 1.5:
        return _centre(1.0 - y)
    p = min(y, 2.0 - y)
    if p == 0.0:
        return math.inf if y < 1.0 else -math.inf
    r = _tail(math.sqrt(-math.log(p)))
    return r if y < 1.0 else -r


@kernel(4e-15)
def erfinv(x):
    """The inverse of erf."""
    a = abs(x)
    if not a <= 1.0:
        return math.nan
    if a <= 0.5:
        return _centre(x)
    if a == 1.0:
        return math.copysign(math.inf, x)
    return math.copysign(_tail(math.sqrt(-math.log(1.0 - a))), x)


@kernel(4e-15)
def erfcinv(y):
    """The inverse of erfc."""
    return erfcinv_of(y)


def ndtri_of(p):
    return -1.4142135623730951 * erfcinv_of(2.0 * p)


@kernel(4e-15)
def ndtri(p):
    """The inverse of ndtr."""
    return ndtri_of(p)


@kernel(4e-15)
def ndtri_exp(y):
    """The inverse of log_ndtr: ndtri(exp(y))."""
    if y > -0.6:
        return 1.4142135623730951 * erfcinv_of(-2.0 * math.expm1(y))
    if y == -math.inf:
        return y
    if y > -1.5:  # erfcinv's argument is above 0.4
        return ndtri_of(math.exp(y))
    s = math.sqrt(-(y + 0.6931471805599453))
    if s < 27.5:
        return -1.4142135623730951 * _tail(s)
    u = s  # Newton's method for log(erfc(u)) = -s^2
    for _ in range(4):
        e = erfcx_of(u)
        u += (math.log(e) - u * u + s * s) * e * 0.886226925452758
    return -1.4142135623730951 * u


@kernel(4e-15)
def log_ndtr(x):
    """The logarithm of ndtr."""
    u = x * 0.7071067811865476
    if x < -1.0:
        return math.log(0.5 * erfcx_of(-u)) - u * u
    return math.log1p(-0.5 * math.erfc(u))


@kernel(2e-14)
def ndtr(x):
    """The cdf of the normal distribution."""
    u = x * 0.7071067811865476
    return 0.5 + 0.5 * math.erf(u) if abs(u) < 0.5 else 0.5 * math.erfc(-u)
