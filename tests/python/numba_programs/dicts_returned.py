"""Dicts that compiled functions return go to other compiled functions, which change them in place."""

import numpy as np
from numba import njit


@njit
def counted(a):
    d = {}
    for x in a:
        if x in d:
            d[x] += 1
        else:
            d[x] = 1
    return d


@njit
def most(d):
    best = -1
    for k, v in d.items():
        if best < 0 or v > d[best]:
            best = k
    d[best] = 0
    return best


@njit
def tree(n):
    if n == 0:
        return {0: 0.5}
    d = tree(n - 1)
    d[n] = 2.0 * n
    return d


@njit
def joined(n):
    c = {7: 1}
    if n > 3:
        c = counted(np.arange(n))
    c[9] = 9
    return c, {i: np.arange(i) for i in range(2)}, {(0, 1): "a"}


d = counted(np.array([3, 1, 3, 2, 3, 1]))
print(d, type(d).__name__, most(d), most(d), d)
print(tree(3), dict(tree(1)) == {0: 0.5, 1: 2.0})
print(*(dict(x) for x in joined(2)), len(joined(5)[0]))
