"""Writes tests/python/special_values.py: values of special functions to 17 digits, computed by mpmath.

Needs mpmath, which nothing else here does. A row is a function of mpmath and its arguments' ranges; places are drawn
from them with a fixed seed, and are numbers that float64 has.
"""

import pathlib
import random

from mpmath import mp, mpf

mp.dps = 90
FILE = pathlib.Path(__file__).resolve().parents[1] / "tests" / "python" / "special_values.py"
COUNT = 24


def between(low, high):
    return lambda: random.uniform(low, high)


def scales(low, high):
    """Evenly distributed logarithms."""
    return lambda: float(mp.exp(random.uniform(float(mp.log(low)), float(mp.log(high)))))


def whole(low, high):
    return lambda: float(random.randint(low, high))


def ndtr(x):
    return mp.erfc(-x / mp.sqrt(2)) / 2


def ellipj(u, m):
    sn, cn, dn = (mp.ellipfun(name, u, m=m) for name in ("sn", "cn", "dn"))
    return sn, cn, dn, mp.asin(sn)  # below a quarter period


def spherical_y(n, x):
    return mp.sqrt(mp.pi / (2 * x)) * mp.bessely(n + mpf(1) / 2, x)


def betainc(a, b, x):
    return mp.betainc(a, b, 0, x, regularized=True)


ROWS = {
    "rgamma": (mp.rgamma, between(-20, 160)),
    "loggamma": (mp.loggamma, between(2.5, 100)),
    "complex_gamma": (mp.gamma, between(0.1, 100)),
    "digamma": (mp.digamma, between(0.01, 100)),
    "hurwitz_zeta": (mp.zeta, between(1.1, 30), between(0.1, 50)),
    "riemann_zeta": (mp.zeta, between(-10, 30)),
    "zetac": (lambda x: mp.zeta(x) - 1, between(1.1, 60)),
    "beta": (mp.beta, between(0.1, 90), between(0.1, 90)),
    "betaln": (lambda a, b: mp.log(mp.beta(a, b)), between(2, 1000), between(2, 1000)),
    "poch": (mp.rf, between(0.1, 50), between(0.1, 30)),
    "binom": (mp.binomial, between(1, 50), between(0.1, 50)),
    "erfcx": (lambda x: mp.exp(x * x) * mp.erfc(x), between(-20, 50)),
    "erfinv": (mp.erfinv, between(-1, 1)),
    "erfcinv": (lambda y: mp.erfinv(1 - y), scales(1e-30, 1.9)),
    "ndtri": (lambda p: mp.sqrt(2) * mp.erfinv(2 * p - 1), scales(1e-30, 0.4)),
    "log_ndtr": (lambda x: mp.log(ndtr(x)), between(-40, 5)),
    "ndtr": (ndtr, between(-10, 5)),
    "j0": (lambda x: mp.besselj(0, x), between(0, 60)),
    "j1": (lambda x: mp.besselj(1, x), between(0, 60)),
    "y0": (lambda x: mp.bessely(0, x), between(0.01, 60)),
    "y1": (lambda x: mp.bessely(1, x), between(0.01, 60)),
    "yn": (mp.bessely, whole(0, 20), between(0.5, 30)),
    "spherical_y": (spherical_y, whole(0, 9), between(0.5, 30)),
    "i0": (lambda x: mp.besseli(0, x), between(-30, 30)),
    "i1": (lambda x: mp.besseli(1, x), between(-30, 30)),
    "i0e": (lambda x: mp.exp(-x) * mp.besseli(0, x), scales(1e-3, 1e5)),
    "i1e": (lambda x: mp.exp(-x) * mp.besseli(1, x), scales(1e-3, 1e5)),
    "k0": (lambda x: mp.besselk(0, x), scales(1e-3, 100)),
    "k1": (lambda x: mp.besselk(1, x), scales(1e-3, 100)),
    "k0e": (lambda x: mp.exp(x) * mp.besselk(0, x), scales(1e-3, 1e3)),
    "k1e": (lambda x: mp.exp(x) * mp.besselk(1, x), scales(1e-3, 1e3)),
    "exp1": (mp.e1, scales(1e-3, 500)),
    "expi": (mp.ei, scales(0.5, 500)),
    "expn": (mp.expint, whole(1, 30), scales(1e-3, 100)),
    "exprel": (lambda x: mp.expm1(x) / x, between(-30, 30)),
    "sici": (lambda x: (mp.si(x), mp.ci(x)), scales(0.01, 100)),
    "shichi": (lambda x: (mp.shi(x), mp.chi(x)), scales(0.6, 100)),
    "ellipk": (mp.ellipk, between(-5, 1)),
    "ellipkm1": (lambda p: mp.ellipk(1 - p), scales(1e-30, 1)),
    "ellipe": (mp.ellipe, between(-5, 1)),
    "ellipkinc": (mp.ellipf, between(0, 7), between(-3, 0.99)),
    "ellipeinc": (mp.ellipe, between(0, 7), between(-3, 0.99)),
    "ellipj": (ellipj, between(0.2, 1.2), between(0, 0.99)),
    "gammainc": (lambda a, x: mp.gammainc(a, 0, x, regularized=True), scales(0.1, 300), scales(0.1, 300)),
    "gammaincc": (lambda a, x: mp.gammainc(a, x, regularized=True), scales(0.1, 300), scales(0.1, 300)),
    "betainc": (betainc, scales(0.1, 50), scales(0.1, 50), between(0, 1)),
}  # fmt: skip


def main():
    random.seed(1)
    lines = [
        '"""Values of special functions, written by tools/special_values.py with mpmath: arguments, then the value."""',
        "",
        "VALUES = {",
    ]
    for name, (f, *ranges) in ROWS.items():
        lines.append(f'    "{name}": [')
        for _ in range(COUNT):
            args = [draw() for draw in ranges]
            value = f(*map(mpf, args))
            values = [float(mp.re(v)) for v in (value if isinstance(value, tuple) else (value,))]
            if all(1e-290 < abs(v) < 1e290 for v in values):
                lines.append(f"        ({', '.join(map(repr, args + values))}),")
        lines.append("    ],")
    FILE.write_text("\n".join([*lines, "}", ""]))


if __name__ == "__main__":
    main()
