"""numpy.random.Generator as an argument of compiled functions.

A generator becomes an instance of a jitclass whose fields are arrays over the state that NumPy's bit generator keeps.
So compiled functions and Python draw from one stream, and each draw is the one that NumPy would have made. The methods
follow NumPy's distributions step by step.
"""

import ctypes
import functools
import math

import numpy as np

from ... import experimental, types
from . import _distributions, _shared, _twister
from ._shared import many, many_ints
from ._ziggurat import EXPONENTIAL_TAIL, NORMAL_TAIL, tables

_NORMAL_WIDTH, _NORMAL_SURE, _NORMAL_TOP = tables("standard_normal")
_NORMAL_WIDTH32, _NORMAL_SURE32, _NORMAL_TOP32 = tables("standard_normal", np.float32)
_EXPONENTIAL_WIDTH, _EXPONENTIAL_SURE, _EXPONENTIAL_TOP = tables("standard_exponential")
_EXPONENTIAL_WIDTH32, _EXPONENTIAL_SURE32, _EXPONENTIAL_TOP32 = tables("standard_exponential", np.float32)
_LOW, _U32, _ONE = np.uint64(0xFFFFFFFF), np.uint64(32), np.uint64(1)


def libm():
    """In compiled code: compute the math functions of the whole function as the C library does."""


libm._td_name = "treadle.libm"


def _high(a, b):
    """The upper 64 bits of the product of two uint64."""
    a0, a1, b0, b1 = a & _LOW, a >> _U32, b & _LOW, b >> _U32
    middle = a1 * b0 + ((a0 * b0) >> _U32)
    other = a0 * b1 + (middle & _LOW)
    return a1 * b1 + (middle >> _U32) + (other >> _U32)


# ---- bit generators: the next 64 bits; words: the state, half: whether 32 bits are kept, and which ----


def _pcg64(words):
    low, high = words[0], words[1]
    m0, m1 = np.uint64(0x4385DF649FCCF645), np.uint64(0x2360ED051FC65DA4)
    top = _high(low, m0) + high * m0 + low * m1
    words[0] = low * m0 + words[2]
    carry = _ONE if words[0] < words[2] else np.uint64(0)
    words[1] = top + words[3] + carry
    turn = words[1] >> np.uint64(58)
    x = words[1] ^ words[0]
    return (x >> turn) | (x << ((np.uint64(64) - turn) & np.uint64(63)))


def _sfc64(words):
    x = words[0] + words[1] + words[3]
    words[3] += _ONE
    words[0] = words[1] ^ (words[1] >> np.uint64(11))
    words[1] = words[2] + (words[2] << np.uint64(3))
    words[2] = ((words[2] << np.uint64(24)) | (words[2] >> np.uint64(40))) + x
    return x


def _buffered(g):
    """The next 32 bits: the lower half of a word, then its upper half."""
    if g.half[0] != 0:
        g.half[0] = np.uint32(0)
        return g.half[1]
    x = g._next()
    g.half[0] = np.uint32(1)
    g.half[1] = np.uint32(x >> _U32)
    return np.uint32(x & _LOW)


# ---- distributions of one number each ----


def _gauss(g):
    while True:
        r = g._next()
        k = int(r & np.uint64(0xFF))
        bits = int((r >> np.uint64(9)) & np.uint64(0xFFFFFFFFFFFFF))
        x = bits * _NORMAL_WIDTH[k]
        if (r >> np.uint64(8)) & _ONE:
            x = -x
        if bits < _NORMAL_SURE[k]:
            return x
        if k == 0:
            while True:
                a = -(1.0 / NORMAL_TAIL) * math.log1p(-g._double())
                b = -math.log1p(-g._double())
                if b + b > a * a:
                    return -(NORMAL_TAIL + a) if (bits >> 8) & 1 else NORMAL_TAIL + a
        elif (_NORMAL_TOP[k - 1] - _NORMAL_TOP[k]) * g._double() + _NORMAL_TOP[k] < math.exp(-0.5 * x * x):
            return x


def _decay(g):
    while True:
        r = g._next() >> np.uint64(3)
        k = int(r & np.uint64(0xFF))
        bits = int(r >> np.uint64(8))
        x = bits * _EXPONENTIAL_WIDTH[k]
        if bits < _EXPONENTIAL_SURE[k]:
            return x
        if k == 0:
            return EXPONENTIAL_TAIL - math.log1p(-g._double())
        if (_EXPONENTIAL_TOP[k - 1] - _EXPONENTIAL_TOP[k]) * g._double() + _EXPONENTIAL_TOP[k] < math.exp(-x):
            return x


def _uniform32(g):
    return np.float32(g._half() >> np.uint32(8)) * np.float32(1.0 / 16777216.0)


def _gauss32(g):
    while True:
        r = int(g._half())
        k = r & 0xFF
        bits = r >> 9
        x = np.float32(bits) * _NORMAL_WIDTH32[k]
        if (r >> 8) & 1:
            x = -x
        if bits < _NORMAL_SURE32[k]:
            return x
        if k == 0:
            while True:
                a = np.float32(-1.0 / NORMAL_TAIL) * math.log1p(-_uniform32(g))
                b = -math.log1p(-_uniform32(g))
                if b + b > a * a:
                    tail = np.float32(NORMAL_TAIL) + a
                    return -tail if (bits >> 8) & 1 else tail
        elif _between32(_NORMAL_TOP32[k], _NORMAL_TOP32[k - 1], g) < math.exp(-0.5 * np.float64(x) * np.float64(x)):
            return x


def _decay32(g):
    while True:
        r = int(g._half()) >> 1
        k = r & 0xFF
        bits = r >> 8
        x = np.float32(bits) * _EXPONENTIAL_WIDTH32[k]
        if bits < _EXPONENTIAL_SURE32[k]:
            return x
        if k == 0:
            return np.float32(EXPONENTIAL_TAIL) - math.log1p(-_uniform32(g))
        if _between32(_EXPONENTIAL_TOP32[k], _EXPONENTIAL_TOP32[k - 1], g) < math.exp(-x):
            return x


def _between32(below, top, g):
    """A float32 between two others."""
    return (top - below) * _uniform32(g) + below


def _beta(g, a, b):
    if a < 3e-103 and b < 3e-103:  # where NumPy takes an end rather than many rejections
        return 1.0 if (a + b) * g._double() < a else 0.0
    if a > 1.0 or b > 1.0:
        return _shared.beta(g, a, b)
    while True:
        u, v = g._double(), g._double()
        x, y = math.pow(u, 1.0 / a), math.pow(v, 1.0 / b)
        if x + y <= 1.0 and u + v > 0.0:
            break
    if x > 0.0 and y > 0.0:
        return x / (x + y)
    apart = math.log(u) / a - math.log(v) / b  # a power is too small for a float
    return math.exp(-math.log1p(math.exp(-apart))) if apart > 0.0 else math.exp(apart - math.log1p(math.exp(apart)))


def _pareto(g, a, b):
    return math.expm1(_decay(g) / a)


def _power(g, a, b):
    return math.pow(-math.expm1(-_decay(g)), 1.0 / a)


def _rayleigh(g, scale, b):
    return scale * math.sqrt(2.0 * _decay(g))


def _geometric(g, p, b):
    if p < 0.333333333333333333333333:
        return math.ceil(-_decay(g) / math.log1p(-p))
    return _shared.searched_geometric(g, p)


def _noncentral_chisquare(g, df, nonc):
    if nonc == 0.0:
        return _shared.chisquare(g, df, 0.0)
    if df > 1.0:
        x = _shared.chisquare(g, df - 1.0, 0.0)
        n = _gauss(g) + math.sqrt(nonc)
        return x + n * n
    return _shared.chisquare(g, df + 2 * _shared.poisson(g, nonc / 2.0, 0.0), 0.0)


def _noncentral_f(g, top, rest):
    bottom, nonc = rest
    x = _noncentral_chisquare(g, top, nonc) * bottom
    return x / (_shared.chisquare(g, bottom, 0.0) * top)


def _wald(g, mean, scale):
    y = _gauss(g)
    y = mean * y * y
    d = 1.0 + math.sqrt(1.0 + 4.0 * scale / y)
    x = mean * (1.0 - 2.0 / d)
    return x if g._double() <= mean / (mean + x) else mean * mean / x


def _zipf(g, a, b):
    if a >= 1025.0:
        return 1
    less = a - 1.0
    b = math.pow(2.0, less)
    least = math.pow(9223372036854775807.0, -less)
    while True:
        u = g._double()
        u = u * least + (1.0 - u)
        v = g._double()
        x = math.floor(math.pow(u, -1.0 / less))
        if x > 9223372036854774784 or x < 1:
            continue
        t = math.pow(1.0 + 1.0 / x, less)
        if v * x * (t - 1.0) / (b - 1.0) <= t / b:
            return x


def _logseries(g, p, b):
    r = math.log1p(-p)
    while True:
        v = g._double()
        if v >= p:
            return 1
        q = -math.expm1(r * g._double())
        if v > q * q:
            return 1 if v >= q else 2
        if v != 0.0:
            k = math.floor(1.0 + math.log(v) / math.log(q))
            if k >= 1:
                return k


def _upto(g, most):
    """A uint64 in [0, most], by Lemire's method."""
    if most == np.uint64(0):
        return most
    if most == _LOW:
        return np.uint64(g._half())
    if most == np.uint64(0xFFFFFFFFFFFFFFFF):
        return g._next()
    n = most + _ONE
    if most < _LOW:
        m = np.uint64(g._half()) * n
        if (m & _LOW) < n:
            least = (_LOW - most) % n
            while (m & _LOW) < least:
                m = np.uint64(g._half()) * n
        return m >> _U32
    x = g._next()
    if x * n < n:
        least = (np.uint64(0xFFFFFFFFFFFFFFFF) - most) % n
        while x * n < least:
            x = g._next()
    return _high(x, n)


def _masked(g, most):
    """An int in [0, most], by drawing as many bits as most has until they fit, as shuffle does."""
    mask = most | (most >> 1)
    for k in (2, 4, 8, 16, 32):
        mask |= mask >> k
    while True:
        v = int(g._half()) & mask if most <= 0xFFFFFFFF else int(g._next() & np.uint64(mask))
        if v <= most:
            return v


def _integer(g, low, most):
    return np.int64(np.uint64(low) + _upto(g, most))


# ---- one, or an array ----


def _many(g, size, one, a, b):
    libm()
    return many(g, size, one, a, b)


def _many_ints(g, size, one, a, b):
    libm()
    return many_ints(g, size, one, a, b)


def _many_floats(g, size, dtype, narrow, wide):
    """Draws of no parameters: narrow(g) is a float32, wide(g) a float64."""
    libm()
    if dtype == np.float32:
        return narrow(g) if size is None else _drawn(g, np.empty(size, np.float32), narrow)
    if dtype != np.float64:
        raise TypeError("random numbers are of float32 or float64")
    return wide(g) if size is None else _drawn(g, np.empty(size), wide)


def _drawn(g, out, one):
    flat = out.reshape(-1)
    for i in range(flat.size):
        flat[i] = one(g)
    return out


def _narrow_integers(g, begin, last, size, dtype):
    """Integers of another dtype than int64. Those of 8 and 16 bits are cut out of words of 32."""
    if begin < np.iinfo(dtype).min or last > np.iinfo(dtype).max:
        raise ValueError("low or high is out of bounds for the dtype")
    most = last - begin
    if dtype == np.int8 or dtype == np.uint8 or dtype == np.int16 or dtype == np.uint16:
        out = np.empty(1 if size is None else size, dtype)
        _fill_by_parts(g, out.reshape(-1), begin, most, 8 if dtype == np.int8 or dtype == np.uint8 else 16)
        return out[0] if size is None else out
    if size is None:
        return dtype(_integer(g, begin, np.uint64(most)))
    return _shared.filled(g, np.empty(size, dtype), _integer, begin, np.uint64(most))


def _unsigned_integers(g, low, high, size, endpoint):
    if low < 0:
        raise ValueError("low is out of bounds for uint64")
    if high < 0:
        raise ValueError("high is out of bounds for uint64")
    begin, end = np.uint64(low), np.uint64(high)
    if begin > end or (begin == end and not endpoint):
        raise ValueError("low > high" if endpoint else "low >= high")
    most = end - begin if endpoint else end - begin - np.uint64(1)
    if size is None:
        return np.uint64(_integer(g, int(begin), most))
    return _shared.filled(g, np.empty(size, np.uint64), _integer, int(begin), most)


def _fill_by_parts(g, flat, low, most, bits):
    whole = (1 << bits) - 1
    least = (whole - most) % (most + 1)
    word, left = 0, 0
    for i in range(flat.size):
        while most > 0:
            if left == 0:
                word, left = int(g._half()), 32 // bits
            m = (word & whole) * (most + 1)
            word >>= bits
            left -= 1
            if (m & whole) >= least:
                flat[i] = low + (m >> bits)
                break
        if most == 0:
            flat[i] = low


def _positive(x, name):
    if not x > 0:
        raise ValueError(name + " <= 0")


def _not_negative(x, name):
    if not x >= 0:
        raise ValueError(name + " < 0")


class Distributions:
    """The methods of numpy.random.Generator, for classes with the methods _next (64 bits), _half (32) and _double."""

    def _gauss(self):
        return _gauss(self)

    def _decay(self):
        return _decay(self)

    def random(self, size=None, dtype=np.float64):
        return _many_floats(self, size, dtype, _uniform32, _shared.double)

    def uniform(self, low=0.0, high=1.0, size=None):
        return _many(self, size, _shared.uniform, float(low), float(high - low))

    def standard_normal(self, size=None, dtype=np.float64):
        return _many_floats(self, size, dtype, _gauss32, _gauss)

    def normal(self, loc=0.0, scale=1.0, size=None):
        _not_negative(scale, "scale")
        return _many(self, size, _shared.normal, float(loc), float(scale))

    def lognormal(self, mean=0.0, sigma=1.0, size=None):
        _not_negative(sigma, "sigma")
        return _many(self, size, _shared.lognormal, float(mean), float(sigma))

    def standard_exponential(self, size=None, dtype=np.float64):
        return _many_floats(self, size, dtype, _decay32, _decay)

    def exponential(self, scale=1.0, size=None):
        _not_negative(scale, "scale")
        return _many(self, size, _shared.exponential, float(scale), 0.0)

    def standard_gamma(self, shape, size=None):
        _not_negative(shape, "shape")
        return _many(self, size, _shared.standard_gamma, float(shape), 0.0)

    def gamma(self, shape, scale=1.0, size=None):
        _not_negative(shape, "shape")
        _not_negative(scale, "scale")
        return _many(self, size, _shared.gamma, float(shape), float(scale))

    def chisquare(self, df, size=None):
        _positive(df, "df")
        return _many(self, size, _shared.chisquare, float(df), 0.0)

    def beta(self, a, b, size=None):
        _positive(a, "a")
        _positive(b, "b")
        return _many(self, size, _beta, float(a), float(b))

    def f(self, dfnum, dfden, size=None):
        _positive(dfnum, "dfnum")
        _positive(dfden, "dfden")
        return _many(self, size, _shared.f, float(dfnum), float(dfden))

    def standard_t(self, df, size=None):
        _positive(df, "df")
        return _many(self, size, _shared.student, float(df), 0.0)

    def standard_cauchy(self, size=None):
        return _many(self, size, _shared.cauchy, 0.0, 0.0)

    def pareto(self, a, size=None):
        _positive(a, "a")
        return _many(self, size, _pareto, float(a), 0.0)

    def weibull(self, a, size=None):
        _not_negative(a, "a")
        return _many(self, size, _shared.weibull, float(a), 0.0)

    def power(self, a, size=None):
        _positive(a, "a")
        return _many(self, size, _power, float(a), 0.0)

    def rayleigh(self, scale=1.0, size=None):
        _not_negative(scale, "scale")
        return _many(self, size, _rayleigh, float(scale), 0.0)

    def gumbel(self, loc=0.0, scale=1.0, size=None):
        _not_negative(scale, "scale")
        return _many(self, size, _shared.gumbel, float(loc), float(scale))

    def laplace(self, loc=0.0, scale=1.0, size=None):
        _not_negative(scale, "scale")
        return _many(self, size, _shared.laplace, float(loc), float(scale))

    def logistic(self, loc=0.0, scale=1.0, size=None):
        _not_negative(scale, "scale")
        return _many(self, size, _shared.logistic, float(loc), float(scale))

    def triangular(self, left, mode, right, size=None):
        if not left <= mode <= right or left == right:
            raise ValueError("triangular takes left <= mode <= right, not all equal")
        return _many(self, size, _shared.triangular, float(left), (float(mode), float(right)))

    def poisson(self, lam=1.0, size=None):
        _not_negative(lam, "lam")
        return _many_ints(self, size, _shared.poisson, float(lam), 0.0)

    def geometric(self, p, size=None):
        if not 0 < p <= 1:
            raise ValueError("p <= 0, p > 1 or p contains NaNs")
        return _many_ints(self, size, _geometric, float(p), 0.0)

    def negative_binomial(self, n, p, size=None):
        _positive(n, "n")
        if not 0 < p <= 1:
            raise ValueError("p <= 0, p > 1 or p contains NaNs")
        return _many_ints(self, size, _shared.negative_binomial, float(n), float(p))

    def noncentral_chisquare(self, df, nonc, size=None):
        _positive(df, "df")
        _not_negative(nonc, "nonc")
        return _many(self, size, _noncentral_chisquare, float(df), float(nonc))

    def noncentral_f(self, dfnum, dfden, nonc, size=None):
        _positive(dfnum, "dfnum")
        _positive(dfden, "dfden")
        _not_negative(nonc, "nonc")
        return _many(self, size, _noncentral_f, float(dfnum), (float(dfden), float(nonc)))

    def wald(self, mean, scale, size=None):
        _positive(mean, "mean")
        _positive(scale, "scale")
        return _many(self, size, _wald, float(mean), float(scale))

    def binomial(self, n, p, size=None):
        _not_negative(n, "n")
        if not 0 <= p <= 1:
            raise ValueError("p < 0, p > 1 or p is NaN")
        return _many_ints(self, size, _distributions._one_binomial, int(n), float(p))

    def zipf(self, a, size=None):
        if not a > 1:
            raise ValueError("a <= 1 or a is NaN")
        return _many_ints(self, size, _zipf, float(a), 0.0)

    def logseries(self, p, size=None):
        if not 0 <= p < 1:
            raise ValueError("p < 0, p >= 1 or p is NaN")
        return _many_ints(self, size, _logseries, float(p), 0.0)

    def integers(self, low, high=None, size=None, dtype=np.int64, endpoint=False):
        if dtype == np.uint64:
            if high is None:
                return _unsigned_integers(self, 0, low, size, endpoint)
            return _unsigned_integers(self, low, high, size, endpoint)
        begin, end = (0, int(low)) if high is None else (int(low), int(high))
        last = end if endpoint else end - 1
        if begin > last:
            raise ValueError("low > high" if endpoint else "low >= high")
        if dtype == np.int64:
            return _many_ints(self, size, _integer, begin, np.uint64(last) - np.uint64(begin))
        return _narrow_integers(self, begin, last, size, dtype)

    def choice(self, a, size=None):
        items = np.arange(a) if isinstance(a, int) else a
        return items[self.integers(0, items.shape[0], size)]

    def shuffle(self, x):
        _shared.shuffle(self, x, _masked)

    def permutation(self, x):
        out = np.arange(x) if isinstance(x, int) else x.copy()
        self.shuffle(out)
        return out


_WORDS = [("words", types.uint64[::1]), ("half", types.uint32[::1])]


@experimental.jitclass(_WORDS)
class PCG64(Distributions):
    def __init__(self, words, half):
        self.words, self.half = words, half

    def _next(self):
        return _pcg64(self.words)

    def _half(self):
        return _buffered(self)

    def _double(self):
        return float(_pcg64(self.words) >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@experimental.jitclass(_WORDS)
class SFC64(Distributions):
    def __init__(self, words, half):
        self.words, self.half = words, half

    def _next(self):
        return _sfc64(self.words)

    def _half(self):
        return _buffered(self)

    def _double(self):
        return float(_sfc64(self.words) >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@experimental.jitclass([("words", types.uint32[::1])])
class MT19937(Distributions):
    def __init__(self, words):
        self.words = words

    def _next(self):
        high = np.uint64(_twister.word(self.words))
        return (high << _U32) | np.uint64(_twister.word(self.words))

    def _half(self):
        return _twister.word(self.words)

    def _double(self):
        return _twister.double(self.words)


# ---- arguments ----


class _Words(np.ndarray):
    """Words of a generator's state, which keep the generator alive."""

    generator = None


def _view(generator, address, count, dtype):
    kind = ctypes.c_uint64 if dtype is np.uint64 else ctypes.c_uint32
    words = np.frombuffer((kind * count).from_address(address), dtype).view(_Words)
    words.generator = generator
    return words


@functools.lru_cache(maxsize=64)
def instance(generator):
    """The instance that compiled functions get for a numpy.random.Generator. It keeps the generator alive.

    Raises
    ------
    TypeError
        Its bit generator is none of PCG64, SFC64 and MT19937.
    """
    kind = type(generator.bit_generator).__name__
    at = generator.bit_generator.ctypes.state_address
    if kind == "MT19937":
        return MT19937(_view(generator, at, 625, np.uint32))
    if kind == "PCG64":
        words = int(_view(generator, at, 1, np.uint64)[0])
        return PCG64(_view(generator, words, 4, np.uint64), _view(generator, at + 8, 2, np.uint32))
    if kind == "SFC64":
        return SFC64(_view(generator, at, 4, np.uint64), _view(generator, at + 32, 2, np.uint32))
    raise TypeError(f"compiled functions draw from generators of PCG64, SFC64 and MT19937, not of {kind}")


def _generator_of(made):
    """The generator that an instance stands for. The instance holds the arrays that it was made of."""
    return next(a.generator for a in made.words.base.keeper.values() if isinstance(a, _Words))


PCG64._td_shown = SFC64._td_shown = MT19937._td_shown = _generator_of
