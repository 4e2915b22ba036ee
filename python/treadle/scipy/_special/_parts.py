"""Functions of numbers that several special functions' kernels call."""

import math

import numpy as np

from . import _coefficients as table
from ._kernel import chebyshev

LOG_ROOT_2PI = 0.9189385332046727
# B_2k / (2k (2k - 1)), DLMF 5.11.1, highest first.
_STIRLING = (
    -3617 / 122400, 1 / 156, -691 / 360360, 1 / 1188, -1 / 1680, 1 / 1260, -1 / 360, 1 / 12,
)  # fmt: skip


def sin_pi(x):
    """sin(pi x), 0 at whole numbers."""
    r = x - 2.0 * np.rint(0.5 * x)
    if r > 0.5:
        r = 1.0 - r
    elif r < -0.5:
        r = -1.0 - r
    return math.sin(math.pi * r)


def is_whole(x):
    return np.floor(x) == x


def stirling(x):
    """lgamma(x) - ((x - 1/2) log x - x + log(2 pi) / 2) for x >= 10, DLMF 5.11.1."""
    s = 1.0 / (x * x)
    r = 0.0
    for c in _STIRLING:
        r = r * s + c
    return r / x


def log_less(m, r):
    """log(r) - m where r is 1 + m: for small m by log(1 + m) = 2 artanh(m / (2 + m)), whose series is DLMF 4.38.5."""
    if abs(m) > 0.4:
        return math.log(r) - m
    t = m / (2.0 + m)
    s = t * t
    a = 0.0
    for k in range(12, 0, -1):
        a = a * s + 1.0 / (2.0 * k + 1.0)
    return 2.0 * t * s * a - t * m


def log_beta(p, q):
    """log B(p, q) of positive p and q: of large ones by what Stirling's formula leaves, DLMF 5.12.1 with 5.11.1."""
    a = min(p, q)
    b = max(p, q)
    if b < 10.0:
        if a < 1e-100:
            return -math.log(a)
        return math.log(math.gamma(a) * (math.gamma(b) / math.gamma(a + b)))
    if a < 10.0:
        d = stirling(b) - stirling(a + b)
        return math.lgamma(a) - (b - 0.5) * math.log1p(a / b) + (a - a * math.log(a + b)) + d
    d = stirling(a) + (stirling(b) - stirling(a + b))
    return LOG_ROOT_2PI - 0.5 * math.log(b) + (a - 0.5) * math.log(a / (a + b)) - b * math.log1p(a / b) + d


def beta_of(a, b):
    """B(a, b) of positive numbers."""
    if max(a, b) < 10.0 and min(a, b) > 1e-100:
        return math.gamma(a) * (math.gamma(b) / math.gamma(a + b))
    return math.exp(log_beta(a, b))


def sign_of_gamma(x):
    """The sign of gamma(x) for x that is no pole."""
    if x > 0.0:
        return 1.0
    h = 0.5 * np.floor(x)
    return 1.0 if np.floor(h) == h else -1.0


def lgamma1p(a):
    """log gamma(1 + a), relatively exact at small a of [0, 1]."""
    if a <= 1.0:
        return a * chebyshev(2.0 * a - 1.0, table.LGAMMA1P)
    return math.lgamma(1.0 + a)


def power_of_gamma(a, x):
    """x^a exp(-x) / gamma(a + 1)."""
    if a < 10.0:
        return math.exp(a * math.log(x) - x) / math.gamma(a + 1.0)
    m = (x - a) / a
    return math.exp(a * log_less(m, x / a) - stirling(a)) / math.sqrt(2.0 * math.pi * a)


def power_of_beta(a, b, x, y):
    """x^a y^b / B(a, b), where y is 1 - x."""
    if min(a, b) < 10.0:
        lx = math.log(x) if x < 0.5 else math.log1p(-y)
        ly = math.log(y) if y < 0.5 else math.log1p(-x)
        return math.exp(a * lx + b * ly - log_beta(a, b))
    n = a + b
    e = (x * b - y * a) / n
    d = stirling(n) - stirling(a) - stirling(b)
    g = a * log_less(e * n / a, x * (n / a)) + b * log_less(-e * n / b, y * (n / b))
    return math.exp(g + d) * math.sqrt(a * (b / n) / (2.0 * math.pi))
