"""Elliptic integrals by Carlson's forms and the arithmetic-geometric mean, and Jacobi's functions."""

import math

import numpy as np

from ._kernel import kernel


def k_of(p):
    """K of the complementary parameter p = 1 - m, DLMF 19.8.5."""
    if not p >= 0.0:
        return math.nan
    if p == 0.0 or p == math.inf:
        return math.inf if p == 0.0 else 0.0
    a = 1.0
    g = math.sqrt(p)
    j = 0
    while j < 40 and abs(a - g) > 1e-8 * a:
        a, g = 0.5 * (a + g), math.sqrt(a * g)
        j += 1
    return math.pi / (a + g)


@kernel(2e-15)
def ellipk(m):
    """The complete elliptic integral of the first kind of parameter m."""
    return k_of(1.0 - m)


@kernel(2e-15)
def ellipkm1(p):
    """ellipk(1 - p), exact near m = 1."""
    return k_of(p)


def rf(x, y, z):
    """Carlson's R_F by duplication, DLMF 19.36.1 and 19.26.18."""
    j = 0
    while j < 60:
        r = math.sqrt(x) * (math.sqrt(y) + math.sqrt(z)) + math.sqrt(y) * math.sqrt(z)
        x = 0.25 * (x + r)
        y = 0.25 * (y + r)
        z = 0.25 * (z + r)
        a = (x + y + z) / 3.0
        j += 1
        if max(abs(a - x), abs(a - y), abs(a - z)) < 2e-3 * a:
            break
    a = (x + y + z) / 3.0
    u = (a - x) / a
    v = (a - y) / a
    w = -u - v
    e = u * v - w * w
    f = u * v * w
    s = 1.0 - e / 10.0 + f / 14.0 + e * e / 24.0 - 3.0 * e * f / 44.0 - 5.0 * e * e * e / 208.0 + 3.0 * f * f / 104.0
    return (s + e * e * f / 16.0) / math.sqrt(a)


def rd(x, y, z):
    """Carlson's R_D by duplication, DLMF 19.36.2 and 19.26.20."""
    s = 0.0
    p = 1.0
    j = 0
    while j < 60:
        r = math.sqrt(x) * (math.sqrt(y) + math.sqrt(z)) + math.sqrt(y) * math.sqrt(z)
        s += p / (math.sqrt(z) * (z + r))
        p *= 0.25
        x = 0.25 * (x + r)
        y = 0.25 * (y + r)
        z = 0.25 * (z + r)
        a = (x + y + 3.0 * z) / 5.0
        j += 1
        if max(abs(a - x), abs(a - y), abs(a - z)) < 1e-3 * a:
            break
    a = (x + y + 3.0 * z) / 5.0
    u = (a - x) / a
    v = (a - y) / a
    w = -(u + v) / 3.0
    e2 = u * v - 6.0 * w * w
    e3 = (3.0 * u * v - 8.0 * w * w) * w
    e4 = 3.0 * (u * v - w * w) * w * w
    e5 = u * v * w * w * w
    t = 1.0 - 3.0 / 14.0 * e2 + e3 / 6.0 + 9.0 / 88.0 * e2 * e2 - 3.0 / 22.0 * e4 - 9.0 / 52.0 * e2 * e3
    t += 3.0 / 26.0 * e5 - e2 * e2 * e2 / 16.0 + 3.0 / 40.0 * e3 * e3 + 3.0 / 20.0 * e2 * e4
    return 3.0 * s + p * t / (a * math.sqrt(a))


@kernel(4e-15)
def elliprf(x, y, z):
    """Carlson's symmetric integral of the first kind, DLMF 19.16.1."""
    low = min(x, y, z)
    if not low >= 0.0 or max(x + y, y + z, x + z) == math.inf:
        return math.nan if not low >= 0.0 else 0.0
    return rf(x, y, z) if min(x + y, y + z, x + z) > 0.0 else math.inf


@kernel(4e-15)
def elliprd(x, y, z):
    """Carlson's symmetric integral of the second kind, DLMF 19.16.5."""
    if not (min(x, y) >= 0.0 and z >= 0.0):
        return math.nan
    if max(x, y, z) == math.inf:
        return 0.0
    return rd(x, y, z) if x + y > 0.0 and z > 0.0 else math.inf


@kernel(2e-15)
def ellipe(m):
    """The complete elliptic integral of the second kind, DLMF 19.25.1."""
    if not m <= 1.0:
        return math.nan
    if m == 1.0 or m == -math.inf:
        return 1.0 if m == 1.0 else math.inf
    p = 1.0 - m
    return rf(0.0, p, 1.0) - m / 3.0 * rd(0.0, p, 1.0)


@kernel(1e-14)
def ellipkinc(phi, m):
    """The incomplete elliptic integral of the first kind, DLMF 19.25.5. Quarter periods are added beyond pi/2."""
    if phi != phi or m != m or m > 1.0:
        return math.nan
    if abs(phi) == math.inf or m == -math.inf:
        return phi if m > -math.inf else 0.0
    n = np.rint(phi / math.pi)
    turns = 2.0 * n * k_of(1.0 - m) if n != 0.0 else 0.0
    r = phi - n * math.pi
    if r == 0.0:
        return turns
    s = math.sin(r)
    c = math.cos(r)
    return turns + s * rf(c * c, max(1.0 - m * s * s, 0.0), 1.0)


@kernel(1e-14)
def ellipeinc(phi, m):
    """The incomplete elliptic integral of the second kind, DLMF 19.25.9. Quarter periods are added beyond pi/2."""
    if phi != phi or m != m or m > 1.0:
        return math.nan
    if abs(phi) == math.inf or m == -math.inf:
        return phi if m > -math.inf else math.copysign(math.inf, phi)
    n = np.rint(phi / math.pi)
    r = phi - n * math.pi
    turns = 0.0
    if n != 0.0:
        p = 1.0 - m
        turns = 2.0 * n * (rf(0.0, p, 1.0) - m / 3.0 * rd(0.0, p, 1.0)) if p > 0.0 else 2.0 * n
    if r == 0.0:
        return turns
    s = math.sin(r)
    c = math.cos(r)
    d = max(1.0 - m * s * s, 0.0)
    return turns + s * (rf(c * c, d, 1.0) - m * s * s / 3.0 * rd(c * c, d, 1.0))


@kernel(2e-14, nout=4)
def ellipj(u, m):
    """Jacobi's sn, cn, dn and the amplitude: descending Landen's transformation, DLMF 22.20 (ii)."""
    if not 0.0 <= m <= 1.0 or u != u:
        return math.nan, math.nan, math.nan, math.nan
    if m > 0.9999999999:  # 22.10.7 to 22.10.9
        q = 0.25 * (1.0 - m)
        t = math.tanh(u)
        h = 1.0 / math.cosh(u)
        w = math.sinh(u) * math.cosh(u) if abs(u) < 300.0 else 0.0
        sn = t + q * (w - u) * h * h
        cn = h - q * (w - u) * t * h
        dn = h + q * (w + u) * t * h
        am = 2.0 * math.atan(math.exp(u)) - 0.5 * math.pi + q * (w - u) * h
        return sn, cn, dn, am
    # The means descend with sqrt(1 - m), and ascend again with the angle. Eight steps reach a relative error of 1e-16.
    a0 = 1.0
    b = math.sqrt(1.0 - m)
    c1 = 0.5 * (a0 - b)
    a1 = 0.5 * (a0 + b)
    b = math.sqrt(a0 * b)
    c2 = 0.5 * (a1 - b)
    a2 = 0.5 * (a1 + b)
    b = math.sqrt(a1 * b)
    c3 = 0.5 * (a2 - b)
    a3 = 0.5 * (a2 + b)
    b = math.sqrt(a2 * b)
    c4 = 0.5 * (a3 - b)
    a4 = 0.5 * (a3 + b)
    b = math.sqrt(a3 * b)
    c5 = 0.5 * (a4 - b)
    a5 = 0.5 * (a4 + b)
    b = math.sqrt(a4 * b)
    c6 = 0.5 * (a5 - b)
    a6 = 0.5 * (a5 + b)
    b = math.sqrt(a5 * b)
    c7 = 0.5 * (a6 - b)
    a7 = 0.5 * (a6 + b)
    angle = 128.0 * a7 * u
    angle = 0.5 * (angle + math.asin(c7 / a7 * math.sin(angle)))
    angle = 0.5 * (angle + math.asin(c6 / a6 * math.sin(angle)))
    angle = 0.5 * (angle + math.asin(c5 / a5 * math.sin(angle)))
    angle = 0.5 * (angle + math.asin(c4 / a4 * math.sin(angle)))
    angle = 0.5 * (angle + math.asin(c3 / a3 * math.sin(angle)))
    angle = 0.5 * (angle + math.asin(c2 / a2 * math.sin(angle)))
    angle = 0.5 * (angle + math.asin(c1 / a1 * math.sin(angle)))
    sn = math.sin(angle)
    cn = math.cos(angle)
    return sn, cn, math.sqrt((1.0 - m) + m * cn * cn), angle
