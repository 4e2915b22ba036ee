"""What the functions of scipy.signal share: axes, slices, extensions, lengths of transforms."""


import treadle

from ... import _core
from .._arguments import axis_of


def cut(x, axis, *bounds):
    """x[…, slice(*bounds), …] along axis."""
    return x[(slice(None),) * axis_of(axis, x.ndim) + (slice(*bounds),)]


def along(values, axis, ndim):
    """A vector as an array of ndim axes whose elements lie along axis."""
    shape = [1] * ndim
    shape[axis] = -1
    return values.reshape(shape)


def floating(x):
    """x as an array of float32, float64 or complex numbers."""
    x = _core.asarray(x)
    if x.dtype.kind in "fc":
        return x if x.dtype.itemsize > 2 else x.astype("float32")
    return x.astype("float64")


def extended(x, n, axis, how):
    """x extended by n elements at both ends of axis. how: even, odd, constant or zeros."""
    if n < 1:
        return x
    width = [(0, 0)] * x.ndim
    width[axis_of(axis, x.ndim)] = (n, n)
    if how == "zeros":
        return treadle.pad(x, width)
    if how in ("even", "odd") and n > x.shape[axis] - 1:
        raise ValueError(
            f"The extension length n ({n}) is too big. It must not exceed x.shape[axis]-1, which is "
            f"{x.shape[axis] - 1}."
        )
    if how == "constant":
        return treadle.pad(x, width, "edge")
    return treadle.pad(x, width, "reflect", reflect_type=how)


def fast_length(n):
    """The smallest length of at least n that has no prime factors above 5."""
    if n <= 6:
        return n
    best = 1 << (n - 1).bit_length()
    five = 1
    while five < best:
        three = five
        while three < best:
            rest = -(-n // three)
            best = min(best, three << max(0, (rest - 1).bit_length()))
            three *= 3
        five *= 5
    return best
