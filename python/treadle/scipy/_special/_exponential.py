"""Exponential integrals, sine and cosine integrals, and Lambert's W."""

import cmath
import math

import numpy as np

import treadle

from . import _coefficients as table
from ._gamma import psi_of
from ._kernel import chebyshev, kernel
from ._parts import is_whole

_EULER = 0.5772156649015329


def _near(x):
    """Ein(x) = sum of (-1)^(k+1) x^k / (k k!), DLMF 6.6.4."""
    s = 0.0
    t = 1.0
    for k in range(1, 22):
        t *= -x / k
        s -= t / k
    return s


def e1_of(x):
    if not x > 0.0:
        return math.inf if x == 0.0 else math.nan
    if x <= 1.0:
        return _near(x) - _EULER - math.log(x)
    if x <= 4.0:
        return math.exp(-x) / x * chebyshev((2.0 * x - 5.0) / 3.0, table.E1_NEAR)
    return math.exp(-x) / x * chebyshev(8.0 / x - 1.0, table.E1_FAR)


def ei_of(x):
    """The principal value: DLMF 6.6.1 up to 40, 6.12.2 beyond."""
    if x <= 0.0:
        return -e1_of(-x)
    if x < 40.0:
        s = 0.0
        t = 1.0
        k = 1.0
        while t > 1e-18 * k * s:
            t *= x / k
            s += t / k
            k += 1.0
        return _EULER + math.log(x) + s
    s = 1.0
    t = 1.0
    k = 1.0
    while k < 40.0 and t > 1e-18:
        t *= k / x
        s += t
        k += 1.0
    e = math.exp(0.5 * x)
    return e * (s / x) * e if x < math.inf else x


def _complex_e1(z):
    """E1 of a complex number: the series 6.6.2 near 0, the continued fraction 6.9.1 elsewhere."""
    if z == 0.0:
        return complex(math.inf, 0.0)
    if abs(z) < 5.0 or (z.real < 0.0 and abs(z.imag) < 3.0 and abs(z) < 40.0):
        s = complex(0.0, 0.0)
        t = complex(1.0, 0.0)
        k = 1.0
        while k < 250.0 and abs(t) > 1e-18 * k * abs(s):
            t *= -z / k
            s -= t / k
            k += 1.0
        return s - _EULER - cmath.log(z)
    f = complex(0.0, 0.0)
    k = 120.0
    while k > 0.0:
        f = k / (1.0 + k / (z + f))
        k -= 1.0
    r = cmath.exp(-z) / (z + f)
    if z.real < 0.0 and z.imag == 0.0:
        r -= complex(0.0, math.copysign(math.pi, z.imag))
    return r


def _complex_ei(z):
    r = -_complex_e1(-z)
    if z.imag > 0.0:
        return r + complex(0.0, math.pi)
    if z.imag < 0.0:
        return r - complex(0.0, math.pi)
    return r + complex(0.0, math.pi) if z.real > 0.0 else r


@kernel(4e-15)
def exp1(x):
    """The exponential integral E1."""
    return e1_of(x)


@kernel(1e-14)
def expi(x):
    """The exponential integral Ei, a principal value for x > 0."""
    return ei_of(x)


@kernel(1e-13)
def expn(n, x):
    """The generalized exponential integral of integer order: DLMF 8.19.8 below 1, 8.19.17 above."""
    if not (x >= 0.0 and n >= 0.0 and is_whole(n)):
        return math.nan
    if x == math.inf:
        return 0.0
    if n == 0.0:
        return math.exp(-x) / abs(x)
    if x == 0.0:
        return 1.0 / (n - 1.0) if n > 1.0 else math.inf
    if n == 1.0:
        return e1_of(x)
    if x <= 1.0:
        s = -1.0 / (1.0 - n)
        t = 1.0
        k = 1.0
        while k < 40.0:
            t *= -x / k
            if k == n - 1.0:
                s += t * (psi_of(n) - math.log(x))
            else:
                s -= t / (k - n + 1.0)
            k += 1.0
            if abs(t) < 1e-18 * abs(s) and k > n:
                break
        return s
    b = x + n  # Lentz's algorithm for the fraction
    c = 1e300
    d = 1.0 / b
    h = d
    k = 1.0
    while k < 2000.0:
        a = -k * (n - 1.0 + k)
        b += 2.0
        d = 1.0 / (a * d + b)
        c = b + a / c
        h *= c * d
        k += 1.0
        if abs(c * d - 1.0) < 2e-16:
            break
    return h * math.exp(-x)


@kernel(1e-15)
def exprel(x):
    """(exp(x) - 1) / x."""
    if abs(x) < 1e-17:
        return 1.0
    return math.inf if x > 717.0 else math.expm1(x) / x


@kernel(2e-14, nout=2)
def sici(x):
    """The sine and cosine integrals. Near 0 by DLMF 6.6.5 and 6.6.6, from 4 on by the functions f and g of 6.2 (iii).
    """
    a = abs(x)
    if a == math.inf:
        return math.copysign(0.5 * math.pi, x), 0.0 if x > 0.0 else math.nan
    if a <= 4.0:
        t = a * a / 8.0 - 1.0
        s = x * chebyshev(t, table.SI)
        if a == 0.0:
            return s, -math.inf
        return s, (_EULER + np.log(a)) + a * a * chebyshev(t, table.CIN)
    t = 32.0 / (a * a) - 1.0
    f = chebyshev(t, table.SI_FAR) / a
    g = chebyshev(t, table.CI_FAR) / (a * a)
    c = math.cos(a)
    s = math.sin(a)
    return math.copysign(0.5 * math.pi - f * c - g * s, x), f * s - g * c


@kernel(1e-14, nout=2)
def shichi(x):
    """The hyperbolic sine and cosine integrals, DLMF 6.2.15 and 6.2.16: by their series up to 20, then from E1 and Ei.
    """
    a = abs(x)
    if a == 0.0:
        return x, -math.inf
    if a < 20.0:
        s = 0.0
        c = 0.0
        t = 1.0
        k = 1.0
        while t > 1e-18 * k * c or k < 4.0:
            t *= a / k
            s += t / k
            k += 1.0
            t *= a / k
            c += t / k
            k += 1.0
        return math.copysign(s, x), _EULER + math.log(a) + c
    ei = ei_of(a)
    e1 = e1_of(a)
    return math.copysign(0.5 * (ei + e1), x), 0.5 * (ei - e1)


# ---- Lambert's W ----


def _branch_point(z, k):
    """sqrt(2 (e z + 1)), with 1/e to twice the precision and the sign of the branch. 9 if branch k has no branch point
    there."""
    if k == 0.0 or (k == -1.0 and z.imag >= 0.0) or (k == 1.0 and z.imag < 0.0):
        p = cmath.sqrt(5.43656365691809 * ((z + 0.36787944117144233) - 1.2428753672788364e-17))
        return p if k == 0.0 else -p
    return complex(9.0, 0.0)


def _first_guess(z, k):
    """A first guess: DLMF 4.13.6 near the branch point, a rational function near 0 on the principal branch, else
    4.13.10."""
    p = _branch_point(z, k)
    if abs(p) < 2.0:
        return -1.0 + p - p * p / 3.0
    if k == 0.0 and abs(z) < 2.0 and z.real > 0.0:
        return z * (1.0 + 4.0 / 3.0 * z) / (1.0 + z * (7.0 / 3.0 + 5.0 / 6.0 * z))
    l1 = cmath.log(z) + complex(0.0, 2.0 * math.pi * k)
    return l1 - cmath.log(l1)


def _w(k, z):
    if z != z:
        return complex(math.nan, math.nan)
    k = k.real
    if z == 0.0:
        return z if k == 0.0 else complex(-math.inf, 0.0)
    if abs(z) == math.inf:
        return cmath.log(z) + complex(0.0, 2.0 * math.pi * k)
    p = _branch_point(z, k)
    if abs(p) < 1e-3:
        return -1.0 + p * (1.0 - p * (1.0 / 3.0 - p * (11.0 / 72.0 - p * (43.0 / 540.0 - p * (769.0 / 17280.0)))))
    w = _first_guess(z, k)
    j = 0
    while j < 60:  # Halley's method
        e = cmath.exp(-w)
        f = w - z * e
        step = f / (w + 1.0 - 0.5 * (w + 2.0) * f / (w + 1.0)) if w != -1.0 else f
        w -= step
        if abs(step) <= 1e-16 * abs(w) or j > 3 and abs(step) < 1e-14 * abs(w):
            break
        j += 1
    return w


@kernel(1e-13, of_complex=_w)
def lambert(k, z):
    """Lambert's W function of complex z. Callers convert real z first."""
    return z


def lambertw(z, k=0, tol=1e-8):
    """Lambert's W function on branch k, complex. It is computed to full precision, whatever tol is."""
    z = treadle.asarray(z)
    if z.dtype.kind != "c":
        z = z.astype("complex128")
    return lambert(k, z)
