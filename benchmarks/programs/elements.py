"""elements.py NAME [--module numba] - a program that goes through arrays element by element, as they are written before
anybody has heard of arrays' operations; prints a line of JSON.

Its functions are plain Python; with --module numba they are compiled by numba.njit. "first" is the first call, "best"
the fastest of the later ones, in seconds; "sums" the sum of its result.
"""

import json
import math
import sys
import time

import numpy as np


def add(a, b, out):
    for i in range(len(a)):
        out[i] = a[i] + b[i]
    return out


def product(a, b, out):
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            s = 0.0
            for k in range(a.shape[1]):
                s += a[i, k] * b[k, j]
            out[i, j] = s
    return out


def smooth(x, weight, out):
    out[0] = x[0]
    for i in range(1, len(x)):
        out[i] = weight * x[i] + (1 - weight) * out[i - 1]
    return out


def mandelbrot(width, height, most, out):
    for y in range(height):
        for x in range(width):
            re, im, a, b, n = -2 + 3 * x / width, -1.5 + 3 * y / height, 0.0, 0.0, 0
            while a * a + b * b < 4 and n < most:
                a, b = a * a - b * b + re, 2 * a * b + im
                n += 1
            out[y, x] = n
    return out


def nearest(points, centres, out):
    for i in range(len(points)):
        best = math.inf
        for k in range(len(centres)):
            d = 0.0
            for j in range(points.shape[1]):
                d += (points[i, j] - centres[k, j]) ** 2
            if d < best:
                best = d
                out[i] = k
    return out


def life(cells, out):
    n, m = cells.shape
    for i in range(n):
        for j in range(m):
            up, down, right = i - 1, (i + 1) % n, (j + 1) % m
            near = cells[up, j - 1] + cells[up, j] + cells[up, right] + cells[i, j - 1]
            near += cells[i, right] + cells[down, j - 1] + cells[down, j] + cells[down, right]
            out[i, j] = 1 if near == 3 or (near == 2 and cells[i, j] == 1) else 0
    return out


def arguments(name):
    r = np.random.RandomState(1)
    return {
        "add": lambda: (r.rand(10**6), r.rand(10**6), np.zeros(10**6)),
        "product": lambda: (r.rand(120, 120), r.rand(120, 120), np.zeros((120, 120))),
        "smooth": lambda: (r.rand(10**6), 0.1, np.zeros(10**6)),
        "mandelbrot": lambda: (300, 300, 60, np.zeros((300, 300), np.int64)),
        "nearest": lambda: (r.rand(4000, 5), r.rand(12, 5), np.zeros(4000, np.int64)),
        "life": lambda: (r.randint(0, 2, (400, 400)), np.zeros((400, 400), np.int64)),
    }[name]()


def main():
    name, f = sys.argv[1], globals()[sys.argv[1]]
    if "--module" in sys.argv:
        import numba

        f = numba.njit(f)
    seconds, result = [], None
    for _ in range(4):
        given = arguments(name)
        begin = time.perf_counter()
        result = f(*given)
        seconds.append(time.perf_counter() - begin)
    told = {"name": name, "first": seconds[0], "best": min(seconds[1:]), "sums": [f"{float(result.sum()):.9g}"]}
    print(json.dumps(told))


if __name__ == "__main__":
    main()
