"""Bessel functions of orders 0 and 1 and of integer orders, and modified ones.

Near 0 they are Chebyshev series. Farther away, modulus and phase (DLMF 10.17.3) or an exponential are factored out.
"""

import math

import numpy as np

from . import _coefficients as table
from ._kernel import chebyshev, kernel

_TWO_OVER_PI = 0.6366197723675814
_ROOT_HALF = 0.7071067811865476


def _far(x, p, q, turned):
    """sqrt(pi x / 2) (J, Y) of x >= 8: cos and sin of x - pi/4, or of x - 3 pi/4."""
    z = 8.0 / x
    t = 2.0 * z * z - 1.0
    p = chebyshev(t, p)
    q = z * chebyshev(t, q)
    c = math.cos(x)
    s = math.sin(x)
    if turned:
        c, s = (s - c) * _ROOT_HALF, -(s + c) * _ROOT_HALF
    else:
        c, s = (c + s) * _ROOT_HALF, (s - c) * _ROOT_HALF
    return p * c - q * s, p * s + q * c


def j0_of(x):
    x = abs(x)
    if x < 8.0:
        return chebyshev(x * x / 32.0 - 1.0, table.J0)
    if x > 1e300:
        return math.nan if x != x else 0.0
    return _far(x, table.P0, table.Q0, False)[0] * math.sqrt(_TWO_OVER_PI / x)


def j1_of(x):
    a = abs(x)
    if a < 8.0:
        return x * chebyshev(x * x / 32.0 - 1.0, table.J1)
    if a > 1e300:
        return math.nan if x != x else 0.0
    return math.copysign(1.0, x) * _far(a, table.P1, table.Q1, True)[0] * math.sqrt(_TWO_OVER_PI / a)


def y0_of(x):
    if x <= 0.0 or x != x:
        return -math.inf if x == 0.0 else math.nan
    if x < 8.0:
        return chebyshev(x * x / 32.0 - 1.0, table.Y0) + _TWO_OVER_PI * math.log(x) * j0_of(x)
    if x > 1e300:
        return 0.0
    return _far(x, table.P0, table.Q0, False)[1] * math.sqrt(_TWO_OVER_PI / x)


def y1_of(x):
    if x <= 0.0 or x != x:
        return -math.inf if x == 0.0 else math.nan
    if x < 8.0:
        return x * chebyshev(x * x / 32.0 - 1.0, table.Y1) + _TWO_OVER_PI * (math.log(x) * j1_of(x) - 1.0 / x)
    if x > 1e300:
        return 0.0
    return _far(x, table.P1, table.Q1, True)[1] * math.sqrt(_TWO_OVER_PI / x)


@kernel(1e-14)
def j0(x):
    """The Bessel function J of order 0."""
    return j0_of(x)


@kernel(1e-14)
def j1(x):
    """The Bessel function J of order 1."""
    return j1_of(x)


@kernel(1e-14)
def y0(x):
    """The Bessel function Y of order 0."""
    return y0_of(x)


@kernel(1e-14)
def y1(x):
    """The Bessel function Y of order 1."""
    return y1_of(x)


@kernel(1e-13)
def yn(n, x):
    """The Bessel function Y of integer order, by recurrence upwards from orders 0 and 1 (DLMF 10.6.1). Negative orders:
    10.4.1."""
    if n != np.floor(n) or x != x:
        return math.nan
    sign = -1.0 if n < 0.0 and np.floor(0.5 * n) != 0.5 * n else 1.0
    n = abs(n)
    if x <= 0.0:
        return -sign * math.inf if x == 0.0 else math.nan
    a = y0_of(x)
    if n == 0.0:
        return a
    b = y1_of(x)
    k = 1.0
    while k < n and b > -math.inf:
        a, b = b, 2.0 * k / x * b - a
        k += 1.0
    return sign * b


# ---- modified ----


def _i(x, near, far):
    """exp(-|x|) I(x). The series near 0 is that of the quotient by x."""
    if x <= 8.0:
        return chebyshev(x / 4.0 - 1.0, near)
    return chebyshev(16.0 / x - 1.0, far) / math.sqrt(x)


def _i1e(x):
    a = abs(x)
    r = _i(a, table.I1, table.I1_FAR)
    return x * r if a <= 8.0 else math.copysign(r, x)


@kernel(2e-15)
def i0e(x):
    """exp(-|x|) I0(x)."""
    return _i(abs(x), table.I0, table.I0_FAR)


@kernel(2e-15)
def i1e(x):
    """exp(-|x|) I1(x)."""
    return _i1e(x)


def _twice(x, r):
    """exp(|x|) r, multiplied in two steps so that it overflows only if the result does."""
    e = math.exp(0.5 * abs(x))
    return e * r * e if r != 0.0 else abs(x) * math.inf


@kernel(4e-15)
def i0(x):
    """The modified Bessel function I of order 0."""
    r = _i(abs(x), table.I0, table.I0_FAR)
    return math.exp(abs(x)) * r if abs(x) < 700.0 else _twice(x, r)


@kernel(4e-15)
def i1(x):
    """The modified Bessel function I of order 1."""
    r = _i1e(x)
    if abs(x) < 700.0:
        return math.exp(abs(x)) * r
    return math.copysign(_twice(x, abs(r)), x) if x == x else x


def k0_of(x, scaled):
    if not x > 0.0:
        return math.inf if x == 0.0 else math.nan
    if x > 2.0:
        r = chebyshev(4.0 / x - 1.0, table.K0_FAR) / math.sqrt(x)
        return r if scaled else math.exp(-x) * r
    i = math.exp(x) * _i(x, table.I0, table.I0_FAR)
    r = chebyshev(0.5 * x * x - 1.0, table.K0) - math.log(0.5 * x) * i
    return math.exp(x) * r if scaled else r


def k1_of(x, scaled):
    if not x > 0.0:
        return math.inf if x == 0.0 else math.nan
    if x > 2.0:
        r = chebyshev(4.0 / x - 1.0, table.K1_FAR) / math.sqrt(x)
        return r if scaled else math.exp(-x) * r
    i = math.exp(x) * _i1e(x)
    r = chebyshev(0.5 * x * x - 1.0, table.K1) / x + math.log(0.5 * x) * i
    return math.exp(x) * r if scaled else r


@kernel(4e-15)
def k0(x):
    """The modified Bessel function K of order 0."""
    return k0_of(x, False)


@kernel(4e-15)
def k0e(x):
    """exp(x) K0(x)."""
    return k0_of(x, True)


@kernel(4e-15)
def k1(x):
    """The modified Bessel function K of order 1."""
    return k1_of(x, False)


@kernel(4e-15)
def k1e(x):
    """exp(x) K1(x)."""
    return k1_of(x, True)


# ---- spherical ----


def _spherical(n, x):
    """y_n(x) by recurrence upwards, DLMF 10.51.1 from 10.49.5."""
    if n < 0.0 or n != np.floor(n):
        return math.nan
    a = -math.cos(x) / x
    if n == 0.0:
        return a
    b = (a - math.sin(x)) / x
    k = 1.0
    while k < n and abs(b) < math.inf:
        a, b = b, (2.0 * k + 1.0) / x * b - a
        k += 1.0
    return b


def spherical_of(n, x):
    if x != x:
        return x
    if x < 0.0:  # DLMF 10.47.14
        r = spherical_of_positive(n, -x)
        return r if np.floor(0.5 * (n + 1.0)) == 0.5 * (n + 1.0) else -r
    return spherical_of_positive(n, x)


def spherical_of_positive(n, x):
    if x == 0.0:
        return -math.inf
    return 0.0 if x == math.inf else _spherical(n, x)


@kernel(1e-13)
def spherical_y(n, x):
    """The spherical Bessel function y of integer order."""
    return spherical_of(n, x)


@kernel(1e-13)
def spherical_y_prime(n, x):
    """Its derivative, DLMF 10.51.2."""
    if x == 0.0:
        return math.inf
    if n == 0.0:
        return -spherical_of(1.0, x)
    return spherical_of(n - 1.0, x) - (n + 1.0) / x * spherical_of(n, x)


def spherical_yn(n, z, derivative=False):
    """The spherical Bessel function of the second kind of integer order n, or its derivative. z is real."""
    return (spherical_y_prime if derivative else spherical_y)(n, z)
