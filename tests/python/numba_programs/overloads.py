"""Implementations chosen by the types of arguments."""

import numpy as np
from numba import njit, types
from numba.extending import overload, register_jitable


def clamp(x, lo, hi=1):
    raise NotImplementedError


@overload(clamp)
def _clamp(x, lo, hi=1):
    if isinstance(x, types.Array):

        def impl(x, lo, hi=1):
            r = np.empty_like(x)
            for i in range(x.size):
                r[i] = clamp(x[i], lo, hi)
            return r

        return impl
    if isinstance(x, (types.Integer, types.Float)):
        return lambda x, lo, hi=1: lo if x < lo else hi if x > hi else x


@register_jitable
def twice(x):
    return 2 * x


@njit
def f(a):
    return clamp(a, 0.25), clamp(a[0], 0.5), clamp(7, 0, hi=3), twice(a[1])


print(f(np.array([0.1, 0.7, 4.0])))


def length(x):
    return len(x)


@overload(length)
def _length(x):
    if isinstance(x, types.UniTuple):
        return lambda x: -1
    return lambda x: len(x)


@njit
def g(a, t):
    return length(a), length(t)


print(g(np.zeros(5), (1, 2)))
try:

    @njit
    def h(s):
        return clamp(s, 1)

    print(h((1, 2)))
except Exception as e:
    print("refused")
