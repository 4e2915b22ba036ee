"""What the programs of `grid.py` and `loops.py` compute, in NumPy: by their names and arguments.

The arguments that a program uses for its own purposes (results, partial sums) are ignored.
"""

import numpy as np


def add(a, b, out):
    return a + b


def chain(a, b, c, d, out):
    return np.sqrt(a * a + b * b) * np.exp(-c) + d


def stencil(a, out):
    out = a.copy()
    out[1:-1, 1:-1] = (a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:]) / 4
    return out


def mandelbrot(out, limit):
    h, w = out.shape
    f = np.float32
    cr = f(-2.2) + f(3) * np.arange(w, dtype=f) / f(w)
    ci = (f(-1.5) + f(3) * np.arange(h, dtype=f) / f(h))[:, None]
    zr, zi = np.zeros((2, h, w), f)
    count = np.zeros((h, w), np.int64)
    for _ in range(limit):
        near = zr * zr + zi * zi < 4
        zr, zi = np.where(near, zr * zr - zi * zi + cr, zr), np.where(near, 2 * zr * zi + ci, zi)
        count += near
    return count


def matmul(a, b, c):
    return a @ b


def histogram(values, *room):
    return np.bincount(values, minlength=256)


def total(a, *room):
    return np.array([a.sum(dtype=None if a.dtype.kind == "i" else "f8")])


integer_total = shuffled = total


def nbody(x, y, z, m, out):
    delta = np.stack([p[None, :] - p[:, None] for p in (x, y, z)]).astype("f8")
    distance = np.sqrt((delta**2).sum(axis=0) + 1e-3)
    return (delta * (m / distance**3)).sum(axis=2)


def problem(found, wanted):
    """A sentence on how two results differ, "" where they agree.

    Up to a thousandth of the largest magnitude is rounding in sums of float32; counts of a loop
    that rounding ends earlier or later may differ at one place in fifty.
    """
    found, wanted = np.asarray(found), np.asarray(wanted)
    if found.shape != wanted.shape:
        return f"shape {found.shape}, NumPy's {wanted.shape}"
    far = ~(np.abs(found.astype("f8") - wanted) <= 1e-3 * np.abs(wanted).max())
    allowed = found.size // 50 if found.dtype.kind in "iu" and found.ndim == 2 else 0
    if np.count_nonzero(far) <= allowed:
        return ""
    place = tuple(int(i) for i in np.argwhere(far)[0])
    return f"{np.count_nonzero(far)} of {far.size} differ: {found[place]} at {place}, NumPy {wanted[place]}"
