import operator

import numpy as np
from numba import literal_unroll, literally, njit, types

FIELDS = ("x", "y")
points = np.array([(1.0, 2.0), (3.0, 5.0)], dtype=[("x", "f8"), ("y", "f8")])


@njit
def sums(points):
    out = np.zeros(2)
    k = 0
    for f in literal_unroll(FIELDS):
        for i in range(points.size):
            out[k] += points[i][f]
        k += 1
    return out


@njit
def kinds():
    n = 0
    for t in literal_unroll((1, 2.5, "three", np.ones(4))):
        if isinstance(t, str):
            n += 1000
        elif isinstance(t, int):
            n += 100
        elif isinstance(t, float):
            n += 10
        else:
            n += 1
    return n


@njit
def middle(a, s):
    return a[s].sum(), s.start, s.stop


@njit
def command(op, x, y):
    match op:
        case "add":
            return operator.add(x, y)
        case "sub" | "minus":
            return x - y
        case _ if y == 0:
            return 0.0
    return x / y


@njit
def is_int(x):
    return isinstance(x, int), isinstance(x, (np.int8, types.float32))


@njit
def scaled(x):
    return literally(3) * x


print(sums(points), kinds(), scaled(2))
for s in slice(1, 3), slice(0, 9), slice(-2, 4):
    print(middle(np.arange(6.0), s))
print([command(op, 6.0, y) for op in ("add", "sub", "minus", "div") for y in (3.0, 0.0)])
print([is_int(x) for x in (1, 1.5, True, np.int8(1), np.uint64(1), np.float32(1))])
