"""The Mersenne twister of numpy.random's and random's functions in compiled code, written in Python.

A state is an array of words, which base/draws.h names.
"""

import math

import numpy as np


def draws(which):
    """In compiled code: the state of numpy.random's generator (which = 0) or of random's (1), as an array of words."""
    raise TypeError("draws stands in compiled functions only")


draws._td_name = "treadle.draws"


def _twist(s):
    for k in range(624):
        y = (s[k] & 0x80000000) | (s[(k + 1) % 624] & 0x7FFFFFFF)
        s[k] = s[(k + 397) % 624] ^ (y >> 1) ^ ((y & 1) * 0x9908B0DF)


def word(s):
    """The next 32 bits, a uint32."""
    at = int(s[624])
    if at >= 624:
        _twist(s)
        at = 0
    s[624] = at + 1
    y = s[at]
    y ^= y >> 11
    y ^= (y << 7) & 0x9D2C5680
    y ^= (y << 15) & 0xEFC60000
    return y ^ (y >> 18)


def double(s):
    """A float in [0, 1) made of 53 random bits."""
    a = int(word(s) >> 5)
    b = int(word(s) >> 6)
    return (a * 67108864.0 + b) / 9007199254740992.0


def fill_key(s, n):
    """Make the key of a seed, a uint32."""
    x = np.uint32(n)
    for i in range(624):
        s[i] = x
        x = np.uint32(1812433253) * (x ^ (x >> 30)) + np.uint32(i + 1)
    s[624] = 624
    s[625] = 0


def upto(s, most):
    """An int in [0, most], by drawing as many bits as most has until they fit."""
    mask = most | (most >> 1)
    mask |= mask >> 2
    mask |= mask >> 4
    mask |= mask >> 8
    mask |= mask >> 16
    mask |= mask >> 32
    v = 0
    if most > 0:
        while True:
            if most > 0xFFFFFFFF:
                high = int(word(s))
                v = ((high << 32) | int(word(s))) & mask
            else:
                v = int(word(s)) & mask
            if v <= most:
                break
    return v


def keep(s, x):
    """Keep a float64 in the state."""
    bits = np.float64(x).view(np.uint64)
    s[625] = 1
    s[626] = np.uint32(bits & np.uint64(0xFFFFFFFF))
    s[627] = np.uint32(bits >> np.uint64(32))


def kept(s):
    """The number that was kept, which is kept no longer."""
    s[625] = 0
    return float(((np.uint64(s[627]) << np.uint64(32)) | np.uint64(s[626])).view(np.float64))


def gauss(s):
    """A normal number by Marsaglia's polar method, which makes two. The second is kept in the state."""
    if s[625] != 0:
        return kept(s)
    while True:
        x = 2.0 * double(s) - 1.0
        y = 2.0 * double(s) - 1.0
        r = x * x + y * y
        if r < 1.0 and r != 0.0:
            break
    f = math.sqrt(-2.0 * math.log(r) / r)
    keep(s, f * x)
    return f * y
