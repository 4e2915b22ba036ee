"""Random and quasi-random numbers of many generators: random bits, and distributions made of them.

Element i of an array belongs to generator g = i % count. The bits are a function of g and of the generator's position,
which counts its elements. So a generator can be moved, and its only state is the position. Each distribution applies
its inverse to one number of 64 bits. That works for pseudo-random and for quasi-random numbers, and keeps the latter
evenly spread.
"""

import functools
import math

import numpy

from ... import jit

_MASK, _HALF = numpy.uint64(0xFFFFFFFF), numpy.uint64(32)
_MUL0, _MUL1 = numpy.uint64(0xD2511F53), numpy.uint64(0xCD9E8D57)  # constants of Philox4x32
_WEYL0, _WEYL1 = numpy.uint64(0x9E3779B9), numpy.uint64(0xBB67AE85)
_ONE, _NONE = numpy.uint64(1), numpy.uint64(0)
_SHIFT_F32, _SHIFT_F64, _SHIFT_OPEN = numpy.uint64(40), numpy.uint64(11), numpy.uint64(12)

# ---- bits ----


@jit
def philox(position, g, seeds, places):
    """Philox4x32-10. The key is the seed and the generator's number; the counter is the position and the sequence."""
    c0, c1 = position & _MASK, position >> _HALF
    c2, c3 = places[g] & _MASK, places[g] >> _HALF
    k0, k1 = seeds[g] & _MASK, ((seeds[g] >> _HALF) + numpy.uint64(g)) & _MASK
    for _ in range(10):
        p0, p1 = _MUL0 * c0, _MUL1 * c2
        c0, c1, c2, c3 = (p1 >> _HALF) ^ c1 ^ k0, p1 & _MASK, (p0 >> _HALF) ^ c3 ^ k1, p0 & _MASK
        k0, k1 = (k0 + _WEYL0) & _MASK, (k1 + _WEYL1) & _MASK
    return c0 << _HALF | c1


@jit
def sobol(position, g, table, shifts):
    """Point number `position` of dimension g, its most significant digit first. Points of 32-bit tables are extended
    to 64 bits."""
    gray = position ^ (position >> _ONE)
    point = shifts[g]
    for k in range(table.shape[1]):
        if gray & _ONE:
            point ^= table[g, k]
        gray = gray >> _ONE
    return point


# ---- distributions ----


@jit
def uniform_float(bits, par):
    """In (0, 1], 24 digits."""
    return numpy.float32((bits >> _SHIFT_F32) + _ONE) * numpy.float32(2.0**-24)


@jit
def uniform_double(bits, par):
    """In (0, 1], 53 digits."""
    return numpy.float64((bits >> _SHIFT_F64) + _ONE) * 2.0**-53


@jit
def word(bits, par):
    """32 bits."""
    return numpy.uint32(bits >> _HALF)


@jit
def long_word(bits, par):
    """64 bits."""
    return bits


@jit
def _open(bits):
    """A float in (0, 1), both ends excluded."""
    return (numpy.float64(bits >> _SHIFT_OPEN) + 0.5) * 2.0**-52


# Wichura, Algorithm AS 241: the inverse of the normal distribution to about 16 digits.
_A = (2509.0809287301226727, 33430.575583588128105, 67265.770927008700853, 45921.953931549871457, 13731.693765509461125,
      1971.5909503065514427, 133.14166789178437745, 3.387132872796366608)  # fmt: skip
_B = (5226.495278852854561, 28729.085735721942674, 39307.89580009271061, 21213.794301586595867, 5394.1960214247511077,
      687.1870074920579083, 42.313330701600911252, 1.0)  # fmt: skip
_C = (7.7454501427834140764e-4, 0.0227238449892691845833, 0.24178072517745061177, 1.27045825245236838258,
      3.64784832476320460504, 5.7694972214606914055, 4.6303378461565452959, 1.42343711074968357734)  # fmt: skip
_D = (1.05075007164441684324e-9, 5.475938084995344946e-4, 0.0151986665636164571966, 0.14810397642748007459,
      0.68976733498510000455, 1.6763848301838038494, 2.05319162663775882187, 1.0)  # fmt: skip
_E = (2.01033439929228813265e-7, 2.71155556874348757815e-5, 0.0012426609473880784386, 0.026532189526576123093,
      0.29656057182850489123, 1.7848265399172913358, 5.4637849111641143699, 6.6579046435011037772)  # fmt: skip
_F = (2.04426310338993978564e-15, 1.4215117583164458887e-7, 1.8463183175100546818e-5, 7.868691311456132591e-4,
      0.0148753612908506148525, 0.13692988092273580531, 0.59983220655588793769, 1.0)  # fmt: skip


@jit
def _quotient(x, p, q):
    over, under = p[0], q[0]
    for k in range(1, 8):
        over, under = over * x + p[k], under * x + q[k]
    return over / under


@jit
def inverse_normal(p):
    """The standard normal quantile of p in (0, 1)."""
    q = p - 0.5
    if abs(q) <= 0.425:
        return q * _quotient(0.180625 - q * q, _A, _B)
    r = math.sqrt(-math.log(p if q < 0.0 else 1.0 - p))
    value = _quotient(r - 1.6, _C, _D) if r <= 5.0 else _quotient(r - 5.0, _E, _F)
    return -value if q < 0.0 else value


@jit
def normal(bits, par):
    return inverse_normal(_open(bits))


@jit
def log_normal(bits, par):
    """par: mean and deviation of the logarithm."""
    return math.exp(par[0] + par[1] * inverse_normal(_open(bits)))


@jit
def poisson_of(bits, rate):
    """The least k whose distribution reaches a uniform number. From 700 on, where exp(-rate) has no digits left, the
    normal distribution with two terms of Cornish and Fisher, which is wrong by less than 1e-5 there."""
    u = _open(bits)
    if not rate > 0.0:
        return 0
    if rate > 700.0:
        z = inverse_normal(u)
        k = rate + math.sqrt(rate) * z + (z * z - 1.0) / 6.0 + (z - z * z * z) / (72.0 * math.sqrt(rate))
        return int(math.floor(max(k + 0.5, 0.0)))
    k, chance = 0, math.exp(-rate)
    reached = chance
    while u > reached and chance > 0.0:
        k += 1
        chance *= rate / k
        reached += chance
    return k


@jit
def poisson(bits, par):
    """par: the rate."""
    return poisson_of(bits, par[0])


# ---- loops ----


@functools.cache
def filler(source, distribution):
    """fill(out, par, positions, a, b): out[i] of one axis from its generator's bits; a, b are the source's arrays."""

    @jit
    def fill(out, par, positions, a, b):
        for i in range(out.shape[0]):
            g = i % positions.shape[0]
            position = positions[g] + numpy.uint64(i // positions.shape[0])
            out[i] = distribution(numpy.uint64(source(position, g, a, b)), par)

    return fill


@functools.cache
def replacer(source):
    """fill(out, positions, a, b): out[i] becomes a Poisson number of the rate that stands there."""

    @jit
    def fill(out, positions, a, b):
        for i in range(out.shape[0]):
            g = i % positions.shape[0]
            position = positions[g] + numpy.uint64(i // positions.shape[0])
            out[i] = poisson_of(numpy.uint64(source(position, g, a, b)), numpy.float64(out[i]))

    return fill
