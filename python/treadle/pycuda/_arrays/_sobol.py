"""Sobol sequences: direction vectors of up to 1111 dimensions, plain and scrambled.

Dimension d > 0 uses the d-th primitive polynomial over GF(2), ordered by degree and value. The first dimensions, where
it matters most, use the initial direction numbers of Joe and Kuo (2008). The others use odd numbers that were drawn
once. Any odd numbers make each dimension by itself a (0, 1)-sequence: each of 2^k equal intervals gets one of the
first 2^k points.
"""

import functools
import random

import numpy

LONGEST = 13  # degree of the last polynomials
_FIRST = [
    [1], [1, 3], [1, 3, 1], [1, 1, 1], [1, 1, 3, 3], [1, 3, 5, 13], [1, 1, 5, 5, 17], [1, 1, 5, 5, 5],
    [1, 1, 7, 11, 19], [1, 1, 5, 1, 1], [1, 1, 1, 3, 11], [1, 3, 5, 5, 31], [1, 3, 3, 9, 7, 49], [1, 1, 1, 15, 21, 21],
    [1, 3, 1, 13, 27, 49], [1, 1, 1, 15, 7, 5], [1, 3, 1, 15, 13, 25], [1, 1, 5, 5, 19, 61],
    [1, 3, 7, 11, 23, 15, 103], [1, 3, 7, 13, 13, 15, 69],
]  # fmt: skip


def _times(a, b, poly, degree):
    """a * b modulo poly, over GF(2)."""
    product = 0
    while b:
        if b & 1:
            product ^= a
        b >>= 1
        a <<= 1
        if a >> degree:
            a ^= poly
    return product


def _power(exponent, poly, degree):
    """x ** exponent modulo poly."""
    result, base = 1, 2 if degree > 1 else 2 ^ poly
    while exponent:
        if exponent & 1:
            result = _times(result, base, poly, degree)
        base = _times(base, base, poly, degree)
        exponent >>= 1
    return result


def _prime_factors(n):
    found, p = [], 2
    while p * p <= n:
        if n % p == 0:
            found.append(p)
            while n % p == 0:
                n //= p
        p += 1
    return found + ([n] if n > 1 else [])


@functools.cache
def primitive(degree):
    """The primitive polynomials of a degree over GF(2), as numbers whose bits are the coefficients, ascending."""
    order = 2**degree - 1
    parts = [order // p for p in _prime_factors(order)] if order > 1 else []
    return [
        poly
        for poly in range(2**degree + 1, 2 ** (degree + 1), 2)
        if _power(order, poly, degree) == 1 and all(_power(part, poly, degree) != 1 for part in parts)
    ]


def _polynomials(count):
    found = []
    for degree in range(1, LONGEST + 1):
        if len(found) < count:
            found += [(degree, poly) for poly in primitive(degree)]
    if len(found) < count:
        raise ValueError(f"Sobol sequences of {count + 1} dimensions: there are vectors for {len(found) + 1}")
    return found[:count]


def _numbers(dimension, degree, poly, bits):
    """The direction numbers m of one dimension: odd, and below 2, 4, 8, …."""
    if dimension <= len(_FIRST):
        m = list(_FIRST[dimension - 1])
    else:
        draw = random.Random(dimension)
        m = [2 * draw.randrange(2**k) + 1 for k in range(degree)]
    for k in range(degree, bits):
        value = m[k - degree] ^ (m[k - degree] << degree)
        for back in range(1, degree):
            if poly >> (degree - back) & 1:
                value ^= m[k - back] << back
        m.append(value)
    return m


@functools.lru_cache(maxsize=8)
def vectors(count, bits):
    """The direction vectors of `count` dimensions: an array of bits columns of uint32 or uint64."""
    table = numpy.empty((count, bits), f"uint{bits}")
    if count:
        table[0] = [1 << (bits - 1 - k) for k in range(bits)]
    for d, (degree, poly) in enumerate(_polynomials(max(0, count - 1)), 1):
        table[d] = [m << (bits - 1 - k) for k, m in enumerate(_numbers(d, degree, poly, bits))]
    table.setflags(write=False)
    return table


def _drawn(seed):
    return numpy.random.Generator(numpy.random.Philox(seed))


@functools.lru_cache(maxsize=8)
def scrambled(count, bits):
    """vectors() with the digits of each dimension multiplied by a fixed triangular matrix, which keeps them as evenly
    spread."""
    places = numpy.arange(bits, dtype=f"uint{bits}")[::-1]  # most significant bit first
    digits = (vectors(count, bits)[:, :, None] >> places & 1).astype(numpy.uint8)
    mixer = numpy.tril(_drawn(bits).integers(0, 2, (count, bits, bits), dtype=numpy.uint8), -1)
    mixer += numpy.eye(bits, dtype=numpy.uint8)
    mixed = (numpy.einsum("dij,dkj->dki", mixer, digits, dtype=numpy.int64) & 1).astype(f"uint{bits}")
    table = (mixed << places).sum(axis=2, dtype=f"uint{bits}")
    table.setflags(write=False)
    return table


def shifts(count, bits):
    """Fixed random numbers that are added, digit by digit, to the points of each dimension."""
    return _drawn(1000 + bits).integers(0, 2**bits, count, dtype=f"uint{bits}")
