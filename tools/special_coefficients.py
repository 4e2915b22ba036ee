"""Computes the Chebyshev coefficients of special functions' smooth parts.

They stand in python/treadle/scipy/_special/_coefficients.py.

Needs mpmath, which nothing else here does. Each row below is a name, a function of t from -1 to 1 and what the row
stands for; the values at Chebyshev's nodes give the coefficients (DLMF 3.11.10), cut where they fall below 2^-56 of the
largest, highest first as `_special_kernel.chebyshev` takes them.
"""

import pathlib

from mpmath import mp, mpf

mp.dps = 40
FILE = pathlib.Path(__file__).resolve().parents[1] / "python" / "treadle" / "scipy" / "_special_coefficients.py"
NODES = 64
PSI_ROOT = mp.findroot(mp.digamma, 1.4616)


def coefficients(f):
    """Of f on [-1, 1], the lowest halved."""
    nodes = [mp.cos(mp.pi * (k + mpf(1) / 2) / NODES) for k in range(NODES)]
    values = [f(t) for t in nodes]
    c = [
        2 * sum(v * mp.cos(mp.pi * j * (k + mpf(1) / 2) / NODES) for k, v in enumerate(values)) / NODES
        for j in range(NODES)
    ]
    c[0] /= 2
    top = max(map(abs, c))
    while abs(c[-1]) < top * mpf(2) ** -56:
        c.pop()
    assert len(c) < NODES - 4, "too few nodes"
    return [float(v) for v in reversed(c)]


def _hankel(n, t):
    """P + iQ of DLMF 10.17.3 with x = 8 sqrt(2/(t+1)), at infinity the limit."""
    x = 8 * mp.sqrt(2 / (t + 1))
    angle = x - (mpf(n) / 2 + mpf(1) / 4) * mp.pi
    pq = (mp.besselj(n, x) + 1j * mp.bessely(n, x)) * mp.exp(-1j * angle) * mp.sqrt(mp.pi * x / 2)
    return pq.real, pq.imag * x / 8


def _erfcinv(s):
    """u with erfc(u) = exp(-s^2)."""
    return mp.findroot(lambda u: mp.log(mp.erfc(u)) + s * s, s - mp.log(s + 1) / (s + 1) / 2)


def _square(t, top):
    """sqrt of t's place in [0, top^2]."""
    return top * mp.sqrt((t + 1) / 2)


def _on(low, high, f):
    return lambda t: f(low + (high - low) * (t + 1) / 2)


def _auxiliary(t):
    """x = 4 sqrt(2/(t+1)) and exp(-ix) E1(-ix), whose parts are f and g of DLMF 6.2 (iii) but for their signs."""
    x = 4 * mp.sqrt(2 / (t + 1))
    return x, mp.e1(-1j * x) * mp.exp(-1j * x)


def _sine(t):
    x, e = _auxiliary(t)
    return x * abs(e.imag)


def _cosine(t):
    x, e = _auxiliary(t)
    return x * x * abs(e.real)


E = mp.euler
ROWS = {
    "PSI": (_on(1, 2, lambda x: mp.digamma(x) / (x - PSI_ROOT)), "digamma(x) / (x - root) on [1, 2]"),
    "LGAMMA1P": (_on(0, 1, lambda x: mp.loggamma(1 + x) / x), "lgamma(1 + x) / x on [0, 1]"),
    "ERFCX": (
        lambda t: (lambda x: (1 + 2 * x) * mp.exp(x * x) * mp.erfc(x))(4 * (1 + t) / (1 - t)),
        "(1 + 2x) exp(x^2) erfc(x), t = (x - 4) / (x + 4)",
    ),
    "ERFINV": (lambda t: (lambda x: mp.erfinv(x) / x)(_square(t, mpf(1) / 2)), "erfinv(x) / x, x^2 on [0, 1/4]"),
    **{
        f"ERFCINV{k}": (_on(a, b, lambda s: _erfcinv(s) / s), f"erfcinv(exp(-s^2)) / s, s on [{a}, {b}]")
        for k, (a, b) in enumerate([(mpf("0.8"), 2), (2, 5), (5, 11), (11, 28)])
    },
    "J0": (lambda t: mp.besselj(0, _square(t, 8)), "J0(x), x^2 on [0, 64]"),
    "J1": (lambda t: (lambda x: mp.besselj(1, x) / x)(_square(t, 8)), "J1(x) / x, x^2 on [0, 64]"),
    "Y0": (
        lambda t: (lambda x: mp.bessely(0, x) - 2 / mp.pi * mp.log(x) * mp.besselj(0, x))(_square(t, 8)),
        "Y0(x) - 2/pi log(x) J0(x), x^2 on [0, 64]",
    ),
    "Y1": (
        lambda t: (lambda x: (mp.bessely(1, x) - 2 / mp.pi * (mp.log(x) * mp.besselj(1, x) - 1 / x)) / x)(
            _square(t, 8)
        ),
        "(Y1(x) - 2/pi (log(x) J1(x) - 1/x)) / x, x^2 on [0, 64]",
    ),
    **{
        f"{name}{n}": (lambda t, n=n, part=part: _hankel(n, t)[part], f"{text} of DLMF 10.17.3, (8/x)^2 on [0, 1]")
        for n in (0, 1)
        for part, (name, text) in enumerate([("P", f"P{n}"), ("Q", f"Q{n} x/8")])
    },
    "I0": (_on(0, 8, lambda x: mp.exp(-x) * mp.besseli(0, x)), "exp(-x) I0(x) on [0, 8]"),
    "I1": (_on(0, 8, lambda x: mp.exp(-x) * mp.besseli(1, x) / x), "exp(-x) I1(x) / x on [0, 8]"),
    "I0_FAR": (
        lambda t: (lambda x: mp.exp(-x) * mp.sqrt(x) * mp.besseli(0, x))(16 / (t + 1)),
        "exp(-x) sqrt(x) I0(x), 8/x on [0, 1]",
    ),
    "I1_FAR": (
        lambda t: (lambda x: mp.exp(-x) * mp.sqrt(x) * mp.besseli(1, x))(16 / (t + 1)),
        "exp(-x) sqrt(x) I1(x), 8/x on [0, 1]",
    ),
    "K0": (
        lambda t: (lambda x: mp.besselk(0, x) + mp.log(x / 2) * mp.besseli(0, x))(_square(t, 2)),
        "K0(x) + log(x/2) I0(x), x^2 on [0, 4]",
    ),
    "K1": (
        lambda t: (lambda x: x * (mp.besselk(1, x) - mp.log(x / 2) * mp.besseli(1, x)))(_square(t, 2)),
        "x (K1(x) - log(x/2) I1(x)), x^2 on [0, 4]",
    ),
    "K0_FAR": (
        lambda t: (lambda x: mp.exp(x) * mp.sqrt(x) * mp.besselk(0, x))(4 / (t + 1)),
        "exp(x) sqrt(x) K0(x), 2/x on [0, 1]",
    ),
    "K1_FAR": (
        lambda t: (lambda x: mp.exp(x) * mp.sqrt(x) * mp.besselk(1, x))(4 / (t + 1)),
        "exp(x) sqrt(x) K1(x), 2/x on [0, 1]",
    ),
    "SI": (lambda t: (lambda x: mp.si(x) / x)(_square(t, 4)), "Si(x) / x, x^2 on [0, 16]"),
    "CIN": (
        lambda t: (lambda x: (mp.ci(x) - E - mp.log(x)) / x**2)(_square(t, 4)),
        "(Ci(x) - gamma - log(x)) / x^2, x^2 on [0, 16]",
    ),
    "SI_FAR": (_sine, "x f(x) of DLMF 6.2.17, (4/x)^2 on [0, 1]"),
    "CI_FAR": (_cosine, "x^2 g(x) of DLMF 6.2.18, (4/x)^2 on [0, 1]"),
    "E1_NEAR": (_on(1, 4, lambda x: x * mp.exp(x) * mp.e1(x)), "x exp(x) E1(x) on [1, 4]"),
    "E1_FAR": (
        lambda t: (lambda x: x * mp.exp(x) * mp.e1(x))(8 / (t + 1)),
        "x exp(x) E1(x), 4/x on [0, 1]",
    ),
}


def main():
    high = float(PSI_ROOT)
    lines = [
        '"""Chebyshev coefficients, highest first, written by tools/special_coefficients.py with mpmath."""',
        "",
        "# The positive zero of digamma, as a sum of two float64.",
        f"PSI_ROOT = ({high!r}, {float(PSI_ROOT - high)!r})",
    ]
    for name, (f, text) in ROWS.items():
        c = coefficients(f)
        print(name, len(c))
        lines += ["", f"# {text}", f"{name} = (", *[f"    {v!r}," for v in c], ")"]
    FILE.write_text("\n".join([*lines, ""]))


if __name__ == "__main__":
    main()
