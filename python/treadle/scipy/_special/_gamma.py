"""The gamma function and its relatives: logarithm, derivatives, beta, binomials, zeta."""

import cmath
import math

import numpy as np

import treadle

from .. import _table
from . import _coefficients as table
from ._kernel import chebyshev, kernel
from ._parts import LOG_ROOT_2PI, beta_of, is_whole, log_beta, sign_of_gamma, sin_pi, stirling

# B_2k / (2k)!, highest order first. Then B_2k / 2k, DLMF 24.2 (iv).
_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798, -174611 / 330)
_MACLAURIN = tuple(b / math.factorial(2 * k + 2) for k, b in enumerate(_BERNOULLI))
_DIGAMMA = tuple(b / (2 * k + 2) for k, b in enumerate(_BERNOULLI))[::-1]
_STIRLING = tuple(b / ((2 * k + 2) * (2 * k + 1)) for k, b in enumerate(_BERNOULLI))[::-1]


# ---- complex numbers ----


def _expm1(z):
    """exp(z) - 1."""
    s = math.sin(0.5 * z.imag)
    e = math.expm1(z.real)
    return complex(e * math.cos(z.imag) - 2.0 * s * s, (e + 1.0) * math.sin(z.imag))


def _turn(z):
    """exp(2 pi i z) - 1, for z in the upper half plane."""
    return _expm1(complex(-2.0 * math.pi * z.imag, 2.0 * math.pi * (z.real - np.rint(z.real))))


def _series(z, c):
    s = 1.0 / (z * z)
    r = complex(0.0, 0.0)
    for v in c:
        r = r * s + v
    return r


def _loggamma_right(z):
    """For real parts of at least 1/2: upwards by DLMF 5.5.1, then the expansion 5.11.1."""
    logs = complex(0.0, 0.0)
    while z.real < 8.0 and abs(z.imag) < 12.0:
        logs += cmath.log(z)
        z += 1.0
    return (z - 0.5) * cmath.log(z) - z + LOG_ROOT_2PI + _series(z, _STIRLING) / z - logs


def _loggamma(z):
    """By the reflection 5.5.3, with log sin(pi z) = -i pi z + log(1 - exp(2 pi i z)) + log(i/2), which is analytic in
    the upper half plane."""
    if z.imag == 0.0 and z.real <= 0.0 and is_whole(z.real):
        return complex(math.nan, math.nan)
    below = math.copysign(1.0, z.imag) < 0.0
    if below:
        z = z.conjugate()
    if z.real >= 0.5:
        r = _loggamma_right(z)
    else:
        sine = cmath.log(-_turn(z)) + complex(math.pi * z.imag - math.log(2.0), math.pi * (0.5 - z.real))
        r = math.log(math.pi) - sine - _loggamma_right(1.0 - z)
    return r.conjugate() if below else r


def _gamma(z):
    return cmath.exp(_loggamma(z))


def _rgamma(z):
    if z.imag == 0.0 and z.real <= 0.0 and is_whole(z.real):
        return complex(0.0, 0.0)
    return cmath.exp(-_loggamma(z))


def _digamma(z):
    """DLMF 5.5.4, 5.5.2 and 5.11.2."""
    if z.imag == 0.0 and z.real <= 0.0 and is_whole(z.real):
        return complex(math.nan, math.nan)
    below = z.imag < 0.0
    if below:
        z = z.conjugate()
    r = complex(0.0, 0.0)
    if z.real < 0.5:
        r -= math.pi * (complex(0.0, 1.0) + complex(0.0, 2.0) / _turn(z))
        z = (1.0 - z).conjugate()
        r = r.conjugate()
        below = not below
    while z.real < 8.0 and abs(z.imag) < 12.0:
        r -= 1.0 / z
        z += 1.0
    r += cmath.log(z) - 0.5 / z - _series(z, _DIGAMMA) / (z * z)
    return r.conjugate() if below else r


# ---- gamma ----


@kernel(1e-15)
def gammasgn(x):
    """The sign of the gamma function. NaN at its poles other than 0."""
    if x != x:
        return x
    if x == 0.0:
        return math.copysign(1.0, x)
    return sign_of_gamma(x) if x > 0.0 or not is_whole(x) else math.nan


@kernel(4e-13, of_complex=_rgamma)
def rgamma(x):
    """1 / gamma(x)."""
    if x <= 0.0 and is_whole(x):
        return x if x == 0.0 else 0.0
    if abs(x) < 170.0:
        return 1.0 / math.gamma(x)
    return sign_of_gamma(x) * math.exp(-math.lgamma(x))


@kernel(1e-14, of_complex=_loggamma)
def loggamma(x):
    """The logarithm of the gamma function, analytic except for a cut along the negative real axis. NaN for real numbers
    there."""
    return math.lgamma(x) if x >= 0.0 else math.nan


@kernel(4e-15, of_complex=_gamma)
def complex_gamma(x):
    """The gamma function of complex numbers."""
    return math.gamma(x)


def gamma(x, out=None):
    """The gamma function, of complex numbers too."""
    x = x if isinstance(x, treadle._core.ndarray) else treadle.asarray(x)
    return complex_gamma(x, out=out) if x.dtype.kind == "c" else treadle.gamma(x, out=out)


def psi_of(x):
    if x == 0.0:
        return math.copysign(math.inf, -x)
    if x == -math.inf or x != x:
        return math.nan
    r = 0.0
    if x < 0.0:
        if is_whole(x):
            return math.nan
        r = -math.pi / math.tan(math.pi * (x - np.rint(x)))
        x = 1.0 - x
    if x < 10.0:
        if x < 1.0:
            r -= 1.0 / x
            x += 1.0
        while x > 2.0:
            x -= 1.0
            r += 1.0 / x
        high, low = table.PSI_ROOT
        return r + ((x - high) - low) * chebyshev(2.0 * x - 3.0, table.PSI)
    if x > 1e17:
        return r + math.log(x)
    s = 1.0 / (x * x)
    a = 0.0
    for c in _DIGAMMA:
        a = a * s + c
    return r + (math.log(x) - 0.5 / x - s * a)


@kernel(2e-14, of_complex=_digamma)
def digamma(x):
    """The logarithmic derivative of gamma: DLMF 5.5.4 below 0, 5.5.2 up to [1, 2], 5.11.2 from 10 on."""
    return psi_of(x)


psi = digamma


def hurwitz(x, q):
    """The sum of (k + q)^-x by Euler-Maclaurin summation, DLMF 25.11.28 and 2.10.1, for x > -0.5, x != 1 and q > 0."""
    s = 0.0
    k = 0
    while k < 9 or (q <= 9.0 and k < 1_000_000):
        s += math.pow(q, -x)
        q += 1.0
        k += 1
    p = math.pow(q, -x)
    if p == 0.0 or s == math.inf:
        return s
    s += p * q / (x - 1.0) + 0.5 * p
    f = x
    p /= q
    j = 0.0
    for c in _MACLAURIN:
        t = c * f * p
        s += t
        f *= (x + j + 1.0) * (x + j + 2.0)
        p /= q * q
        j += 2.0
    return s


@kernel(1e-14)
def hurwitz_zeta(x, q):
    """Hurwitz's zeta function for x > 1, DLMF 25.11.1."""
    if x == 1.0:
        return math.inf
    if not x > 1.0 or q != q:
        return math.nan
    if q <= 0.0:
        if is_whole(q):
            return math.inf
        if not is_whole(x):
            return math.nan
    if q > 1e8:
        return (1.0 / (x - 1.0) + 0.5 / q) * math.pow(q, 1.0 - x)
    return hurwitz(x, q)


def _reflected(x):
    """zeta(x) for x < 0, DLMF 25.4.1."""
    sine = sin_pi(0.5 * x)
    if sine == 0.0:
        return 0.0
    z = hurwitz(1.0 - x, 1.0)
    if x > -160.0:
        return 2.0 * math.pow(2.0 * math.pi, x - 1.0) * sine * math.gamma(1.0 - x) * z
    big = math.exp(math.lgamma(1.0 - x) + (x - 1.0) * math.log(2.0 * math.pi))
    return 2.0 * sine * z * big


@kernel(2e-14)
def riemann_zeta(x):
    """Riemann's zeta function."""
    if x != x or x == -math.inf:
        return math.nan
    if x == math.inf:
        return 1.0
    if x == 1.0:
        return math.inf
    return hurwitz(x, 1.0) if x > -0.2 else _reflected(x)


@kernel(2e-14)
def zetac(x):
    """Riemann's zeta function minus 1."""
    if x != x or x == -math.inf:
        return math.nan
    if x == math.inf:
        return 0.0
    if x == 1.0:
        return math.inf
    if x > 1.0:
        return hurwitz(x, 2.0)
    return hurwitz(x, 1.0) - 1.0 if x > -0.2 else _reflected(x) - 1.0


def zeta(x, q=None, out=None):
    """Riemann's zeta function of x. With q it is Hurwitz's."""
    return riemann_zeta(x, out=out) if q is None else hurwitz_zeta(x, q, out=out)


def polygamma(n, x):
    """The n-th derivative of digamma, DLMF 25.11.12."""
    n, x = treadle.asarray(n), treadle.asarray(x)
    if n.dtype.kind == "f" and x.dtype.kind != "f":
        x = x.astype("float64")
    n = n.astype("float64")
    factor = treadle.where(n % 2 == 0, -1.0, 1.0) * treadle.gamma(n + 1.0)
    return treadle.where(n == 0, digamma(x), factor * hurwitz_zeta(n + 1.0, x.astype("float64")))


# ---- beta and binomials ----


def _at_pole(a, b):
    """B(a, b) where a is a pole of gamma. It is finite only if b is an integer and 1 - a - b is positive."""
    if is_whole(b) and 1.0 - a - b > 0.0:
        sign = 1.0 if is_whole(0.5 * b) else -1.0
        return sign * beta_of(1.0 - a - b, b) if b > 0.0 else math.inf
    return math.inf


def any_beta(a, b):
    """B(a, b) for all numbers."""
    if a != a or b != b:
        return math.nan
    if a > 0.0 and b > 0.0:
        return beta_of(a, b) if max(a, b) < math.inf else 0.0
    if abs(a) == math.inf or abs(b) == math.inf:
        return math.nan
    if a <= 0.0 and is_whole(a):
        return _at_pole(a, b)
    if b <= 0.0 and is_whole(b):
        return _at_pole(b, a)
    c = a + b
    if c <= 0.0 and is_whole(c):
        return 0.0
    if max(abs(a), abs(b), abs(c)) < 160.0:
        g = math.gamma(a), math.gamma(b)
        big = max(abs(g[0]), abs(g[1]))
        return g[0] * (g[1] / math.gamma(c)) if big == abs(g[0]) else g[1] * (g[0] / math.gamma(c))
    sign = sign_of_gamma(a) * sign_of_gamma(b) * sign_of_gamma(c)
    return sign * math.exp(math.lgamma(a) + (math.lgamma(b) - math.lgamma(c)))


@kernel(2e-13)
def beta(a, b):
    """gamma(a) gamma(b) / gamma(a + b), DLMF 5.12.1."""
    return any_beta(a, b)


@kernel(1e-14)
def betaln(a, b):
    """log |beta(a, b)|."""
    if a > 0.0 and b > 0.0:
        return log_beta(a, b) if max(a, b) < math.inf else -math.inf
    return np.log(abs(any_beta(a, b)))


def _quotient(x, m):
    """gamma(x + m) / gamma(x), where neither argument is a pole."""
    y = x + m
    if x >= 10.0 and y >= 10.0:
        d = stirling(y) - stirling(x)
        return math.exp((x - 0.5) * math.log1p(m / x) + m * (math.log(y) - 1.0) + d)
    if abs(x) < 160.0 and abs(y) < 160.0:
        return math.gamma(y) / math.gamma(x)
    return sign_of_gamma(x) * sign_of_gamma(y) * math.exp(math.lgamma(y) - math.lgamma(x))


@kernel(4e-13)
def poch(x, m):
    """Pochhammer's symbol gamma(x + m) / gamma(x), DLMF 5.2.5."""
    if m == 0.0:
        return 1.0
    if x != x or m != m:
        return math.nan
    if is_whole(m) and abs(m) < 32.0:
        r = 1.0
        k = 0.0
        while k < m:
            r *= x + k
            k += 1.0
        while k > m:
            k -= 1.0
            r /= x + k
        return r if abs(r) < math.inf else math.inf
    y = x + m
    if y <= 0.0 and is_whole(y):
        if x > 0.0 or not is_whole(x):
            return math.inf
        sign = 1.0 if is_whole(0.5 * m) else -1.0
        return sign * _quotient(1.0 - y, m) if m < 0.0 else sign / _quotient(1.0 - x, -m)
    if x <= 0.0 and is_whole(x):
        return 0.0
    return _quotient(x, m)


def _binomial(n, k):
    whole = is_whole(k)
    if n < 0.0 and is_whole(n):
        return math.nan
    if whole and is_whole(n) and k > 0.5 * n and n > 0.0:
        k = n - k
    if whole and 0.0 <= k < 20.0 and (abs(n) > 1e-8 or n == 0.0):
        r = 1.0
        i = 1.0
        while i <= k:
            r *= (n + i - k) / i
            i += 1.0
        return r
    if n >= 1e10 * k and k > 0.0:
        return math.exp(-log_beta(1.0 + n - k, 1.0 + k) - math.log(n + 1.0))
    if k > 1e8 * abs(n):  # DLMF 5.5.3 and 5.11.12
        g = math.gamma(1.0 + n) / abs(k) + math.gamma(1.0 + n) * n / (2.0 * k * k)
        g /= math.pi * math.pow(abs(k), n)
        return g * sin_pi(k - n)
    return 1.0 / ((n + 1.0) * any_beta(1.0 + n - k, 1.0 + k))


@kernel(4e-13)
def binom(n, k):
    """The binomial coefficient of real numbers, DLMF 1.2.6: a product for small integers k, else from beta."""
    if n != n or k != k:
        return math.nan
    return _binomial(n, k)


def _exact(name, args, kwargs):
    """SciPy's exact result, in Python's integers."""
    import scipy.special

    return _table.call(f"scipy.special.{name}", getattr(scipy.special, name), args, kwargs, "exact")


def comb(N, k, *, exact=False, repetition=False):
    """The number of ways to choose k out of N, with repetition on request. exact: in Python's integers, on the host."""
    if exact:
        return _exact("comb", (N, k), {"exact": True, "repetition": repetition})
    n, k = treadle.asarray(N), treadle.asarray(k)
    if repetition:
        return comb(n + k - 1, k)
    return treadle.where((k <= n) & (n >= 0) & (k >= 0), binom(n, k), 0.0)


def perm(N, k, exact=False):
    """The number of ordered choices of k out of N. exact: in Python's integers, on the host."""
    if exact:
        return _exact("perm", (N, k), {"exact": True})
    n, k = treadle.asarray(N), treadle.asarray(k)
    return treadle.where((k <= n) & (n >= 0) & (k >= 0), poch(n - k + 1, k), 0.0)


def multigammaln(a, d):
    """The logarithm of the multivariate gamma function of dimension d (DLMF 35.3.4); a > (d - 1) / 2."""
    a = treadle.asarray(a)
    if d != int(d) or d < 1:
        raise ValueError(f"multigammaln: d is a positive whole number, not {d}")
    if bool((a <= 0.5 * (d - 1)).any()):
        raise ValueError(f"multigammaln: a must be above {0.5 * (d - 1)}")
    total = d * (d - 1) * 0.25 * math.log(math.pi)
    for j in range(1, int(d) + 1):
        total = total + treadle.lgamma(a - (j - 1) / 2)
    return total
