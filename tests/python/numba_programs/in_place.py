"""A function without results, which writes into its operands."""

import numpy as np
from numba import guvectorize


@guvectorize(["(f8[:], f8[:])"], "(n), (k)", nopython=True)
def pv(r, out):
    n = r.shape[0]
    r.sort()
    out[0] = r[0]
    for i in range(1, n):
        out[i] = r[i] - r[i - 1]
    out[n] = 1 - r[n - 1]


r = np.array([0.7, 0.2, 0.5])
o = np.empty(4)
print(pv(r, o), r, o)
r = np.array([[0.7, 0.2, 0.5], [0.9, 0.1, 0.3]])
o = np.empty((2, 4))
pv(r, o)
print(r, o)
