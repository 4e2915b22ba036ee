"""Associated Legendre functions of whole degree and order, and spherical harmonics."""

import math

import treadle

from .. import _table
from ._kernel import kernel
from ._parts import is_whole


def legendre(m, n, x):
    """P_n^m(x) of 0 <= m <= n and |x| <= 1 with the phase (-1)^m: upwards in n, DLMF 14.10.3 from 14.7.15."""
    s = math.sqrt((1.0 - x) * (1.0 + x))
    a = 1.0
    k = 1.0
    while k <= m:
        a *= -(2.0 * k - 1.0) * s
        k += 1.0
    if n == m:
        return a
    b = (2.0 * m + 1.0) * x * a
    k = m + 1.0
    while k < n:
        a, b = b, ((2.0 * k + 1.0) * x * b - (k + m) * a) / (k - m + 1.0)
        k += 1.0
    return b


@kernel(1e-12)
def whole_lpmv(m, v, x):
    """The associated Legendre function, NaN where m or v is not whole."""
    if m != m or v != v or x != x or not is_whole(m) or not is_whole(v):
        return math.nan
    if v < 0.0:
        v = -v - 1.0
    k = abs(m)
    if abs(x) > 1.0 and m != 0.0 or k > v and m < 0.0:
        return math.nan
    if k > v:
        return 0.0
    if abs(x) == 1.0:
        return 0.0 if m != 0.0 else 1.0 if x > 0.0 or is_whole(0.5 * v) else -1.0
    r = legendre(k, v, x)
    if m < 0.0:  # DLMF 14.9.3
        for j in range(int(v - k) + 1, int(v + k) + 1):
            r /= float(j)
        r = r if is_whole(0.5 * k) else -r
    return r


def _are_whole(a):
    return a.dtype.kind in "iub" or bool((treadle.floor(a) == a).all())


def lpmv(m, v, x, out=None):
    """The associated Legendre function of order m and degree v; degrees that are not whole are SciPy's on the host."""
    m, v = treadle.asarray(m), treadle.asarray(v)
    if _are_whole(v):
        single = all(a.dtype == "float32" for a in (m, v)) and getattr(x, "dtype", None) == "float32"
        m, v = (a if single else a.astype("float64") if a.dtype.kind in "iub" else a for a in (m, v))
        return whole_lpmv(m, v, x, out=out)
    from scipy.special import lpmv as there

    return _table.call("scipy.special.lpmv", there, (m, v, x), {} if out is None else {"out": out}, "v is not whole")


def _modulus(n, m, theta):
    """The normalized function of DLMF 14.30.1 without the angle phi: the factors come in as the recurrence goes."""
    k = abs(m)
    s = abs(math.sin(theta))
    x = math.cos(theta)
    a = 0.28209479177387814  # 1 / sqrt(4 pi)
    j = 1.0
    while j <= k:
        a *= -math.sqrt((2.0 * j + 1.0) / (2.0 * j)) * s
        j += 1.0
    if n == k:
        return a
    b = math.sqrt(2.0 * k + 3.0) * x * a
    j = k + 2.0
    while j <= n:
        g = math.sqrt((4.0 * j * j - 1.0) / ((j - k) * (j + k)))
        h = math.sqrt((j - 1.0 - k) * (j - 1.0 + k) / ((2.0 * j - 1.0) * (2.0 * j - 3.0)))
        a, b = b, g * (x * b - h * a)
        j += 1.0
    return b


@kernel(1e-12, nout=2)
def harmonic(n, m, theta, phi):
    """Real and imaginary part of Y."""
    if not (is_whole(n) and is_whole(m)) or n < 0.0:
        return math.nan, math.nan
    if abs(m) > n:
        return 0.0, 0.0
    r = _modulus(n, m, theta)
    if m < 0.0 and not is_whole(0.5 * m):
        r = -r
    return r * math.cos(m * phi), r * math.sin(m * phi)


def sph_harm_y(n, m, theta, phi, *, diff_n=0):
    """The spherical harmonic of degree n and order m at the polar angle theta and the azimuth phi, DLMF 14.30.1.

    diff_n > 0 is computed by SciPy on the host."""
    if diff_n:
        from scipy.special import sph_harm_y as there

        args = (n, m, theta, phi)
        return _table.call("scipy.special.sph_harm_y", there, args, {"diff_n": diff_n}, "derivatives")
    re, im = harmonic(n, m, theta, phi)
    return re + im * 1j


__all__ = ["lpmv", "sph_harm_y"]
