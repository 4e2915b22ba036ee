"""Sets that are joined, in lists of parents and sizes."""

import numpy as np
from numba import njit


@njit
def find(parent, i):
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


@njit
def components(n, pairs):
    parent = [i for i in range(n)]
    size = [1] * n
    for k in range(pairs.shape[0]):
        a, b = find(parent, pairs[k, 0]), find(parent, pairs[k, 1])
        if a == b:
            continue
        if size[a] < size[b]:
            a, b = b, a
        parent[b] = a
        size[a] += size[b]
    roots = set()
    for i in range(n):
        roots.add(find(parent, i))
    return len(roots)


print(components(10, np.array([[0, 1], [1, 2], [5, 6], [8, 9], [2, 0]])))
