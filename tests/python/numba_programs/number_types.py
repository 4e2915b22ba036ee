"""Types and values of operators on numbers of all dtypes."""

import math

import numpy as np
from numba import guvectorize, njit, stencil, vectorize

DTYPES = ["uint8", "int8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float32", "float64"]


@njit
def arithmetic(a, b):
    x, y = a[0], b[0]
    return x + y, x - y, x * y, x // y, x % y, x / y, x < y, max(x, y), min(x, y)


@njit
def bits(a, b):
    x, y = a[0], b[0]
    return x & y, x | y, x ^ y, x << y, x >> y


@njit
def literals(a):
    x = a[0]
    return x + 1, 1 - x, x * 2, x // 2, x % 3, x / 2, x + 0.5, x * x, x**2, x**3, -x, +x, abs(x)


@njit
def arrays(a, b):
    return a + b, a * b, a / b, a + 1, a * 0.5, a - b[0], a**2, np.where(a > b, a, 0), np.maximum(a, b), np.sqrt(a)


@njit
def sums(a):
    s, p, m, q = 0, 1, a[0], 0.0
    for x in a:
        s += x
        p *= x
        m = max(m, x)
        q += x * x
    return s, p, m, q, a.sum(), a.prod(), (a[0] + a[1]) // 2


@njit
def functions(a):
    x = a[0]
    return math.sqrt(x), np.sqrt(x), np.sin(x), math.floor(x), np.float32(x) * 3, np.add(x, a[1]), type(x)(2) * x


@vectorize
def halves(x, y):
    return (x + y) // 2 if x > 1 else x * y


@guvectorize("(n),()->(n)")
def scaled(a, k, out):
    for i in range(a.size):
        out[i] = a[i] * k


@stencil
def neighbours(a):
    return a[-1] + a[0] * 0.5 + a[1]


def value(x):
    return f"{x.dtype}{x.tolist()}" if isinstance(x, np.ndarray) else f"{x:.6g}" if isinstance(x, float) else str(x)


def show(name, f, *args):
    try:
        r = f(*args)
    except (ZeroDivisionError, ValueError) as e:
        r = (type(e).__name__,)
    dtypes = " ".join(str(a.dtype) for a in args)
    print(name, dtypes, *map(value, r if isinstance(r, tuple) else (r,)))


def sample(dtype, k):
    if dtype.startswith("float"):
        return np.array([2.5, 7, 1.25], dtype)[k:]
    most = min(np.iinfo(dtype).max, 2**20)  # where larger numbers round or wrap, Numba does so elsewhere
    return np.array([most // 2 + 3, 3, most // 3], dtype)[k:]


for one in DTYPES:
    x = sample(one, 0)
    for f in (literals, sums, functions):
        show(f.__name__, f, x)
    show("halves", halves, x, x[::-1].copy())
    show("scaled", scaled, x, x[1], np.zeros_like(x))
    show("neighbours", neighbours, x)
    for two in DTYPES:
        y = sample(two, 1)
        show("arithmetic", arithmetic, x, y)
        show("arrays", arrays, x[:2], y)
        if "float" not in one + two:
            show("bits", bits, x, y)
