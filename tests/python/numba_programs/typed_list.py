"""A typed list made outside, changed inside; a list of lists."""

import numpy as np
from numba import njit, types
from numba.typed import List

rows = List()
for k in range(3):
    rows.append(np.arange(k + 1.0))


@njit
def total(rows):
    s = 0.0
    for row in rows:
        s += row.sum()
    return s


@njit
def ragged(n):
    out = List()
    for i in range(n):
        inner = List.empty_list(types.int64)
        for j in range(i):
            inner.append(i * j)
        out.append(inner)
    return out


print(total(rows), [list(r) for r in ragged(4)], len(ragged(3)))
