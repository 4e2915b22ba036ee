"""The programs of `grid.py` as loops for a CPU's cores, again one text for every library."""

import math

import numpy as np

from treadle import njit, prange

BINS = 256
ZERO, QUARTER, ONE, TWO, FOUR = (np.float32(x) for x in (0, 0.25, 1, 2, 4))
SOFTENING = np.float32(1e-3)
WIDE = np.float64(0)  # a sum of float32 that is kept in float64
LEFT, BOTTOM, SPAN = np.float32(-2.2), np.float32(-1.5), np.float32(3)


@njit(parallel=True)
def add(a, b, out):
    for i in prange(out.size):
        out[i] = a[i] + b[i]


@njit(parallel=True)
def chain(a, b, c, d, out):
    for i in prange(out.size):
        out[i] = math.sqrt(a[i] * a[i] + b[i] * b[i]) * math.exp(-c[i]) + d[i]


@njit(parallel=True)
def stencil(a, out):
    h, w = out.shape
    for i in prange(h):
        for j in range(w):
            if 0 < i < h - 1 and 0 < j < w - 1:
                out[i, j] = QUARTER * (a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1])
            else:
                out[i, j] = a[i, j]


@njit(parallel=True)
def mandelbrot(out, limit):
    h, w = out.shape
    for i in prange(h):
        for j in range(w):
            cr = LEFT + SPAN * np.float32(j) / np.float32(w)
            ci = BOTTOM + SPAN * np.float32(i) / np.float32(h)
            zr = ZERO
            zi = ZERO
            count = 0
            while count < limit and zr * zr + zi * zi < FOUR:
                zr, zi = zr * zr - zi * zi + cr, TWO * zr * zi + ci
                count += 1
            out[i, j] = count


@njit(parallel=True)
def matmul(a, b, c):
    h, w = c.shape
    for i in prange(h):
        for j in range(w):
            c[i, j] = 0
        for k in range(a.shape[1]):
            x = a[i, k]
            for j in range(w):
                c[i, j] += x * b[k, j]


@njit(parallel=True)
def histogram(values, parts, bins):
    """Each row of `parts` counts a piece of the values."""
    count = parts.shape[0]
    n = values.size
    for p in prange(count):
        for k in range(BINS):
            parts[p, k] = 0
        for i in range(n * p // count, n * (p + 1) // count):
            parts[p, values[i]] += 1
    for k in range(BINS):
        bins[k] = 0
        for p in range(count):
            bins[k] += parts[p, k]


@njit(parallel=True)
def total(a, out):
    s = WIDE
    for i in prange(a.size):
        s += a[i]
    out[0] = s


@njit(parallel=True)
def integer_total(a, out):
    s = 0
    for i in prange(a.size):
        s += a[i]
    out[0] = s


@njit(parallel=True)
def nbody(x, y, z, m, out):
    n = x.size
    for i in prange(n):
        ax, ay, az = ZERO, ZERO, ZERO
        for j in range(n):
            dx, dy, dz = x[j] - x[i], y[j] - y[i], z[j] - z[i]
            inverse = ONE / math.sqrt(dx * dx + dy * dy + dz * dz + SOFTENING)
            pull = m[j] * inverse * inverse * inverse
            ax += pull * dx
            ay += pull * dy
            az += pull * dz
        out[0, i], out[1, i], out[2, i] = ax, ay, az
