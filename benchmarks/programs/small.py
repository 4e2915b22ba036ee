"""Prints a line of JSON: the seconds of 10^5 operations on arrays of ten elements, a simulation of few bodies."""

import json
import sys
import time

ARRAYS = sys.argv[sys.argv.index("--module") + 1] if "--module" in sys.argv else "numpy"
if ARRAYS == "cupy":
    import cupy as np
else:
    import numpy as np

ROUNDS = 5000  # of twenty operations


def step(x, v, m):
    """Twenty operations: arithmetic, functions, reductions, slices, in place and not."""
    d = x[1:] - x[:-1]
    r = np.sqrt(d * d + 0.01)
    f = m[1:] * d / r
    a = np.zeros(10)
    a[:-1] += f
    a[1:] -= f
    v = v + 0.001 * a
    v *= 0.999
    x = x + 0.001 * v
    return np.where(np.abs(x) > 100.0, 0.0, x), v, v.sum()


def run():
    x, v, m, total = np.linspace(0.0, 1.0, 10), np.zeros(10), np.ones(10), 0.0
    for _ in range(ROUNDS):
        x, v, s = step(x, v, m)
        total += s
    return float(total) + float(x[0])


def main():
    seconds, value = [], 0.0
    for _ in range(4):
        begin = time.perf_counter()
        value = run()
        seconds.append(time.perf_counter() - begin)
    print(json.dumps({"first": seconds[0], "best": min(seconds[1:]), "sums": [f"{value:.9g}"]}))


if __name__ == "__main__":
    main()
