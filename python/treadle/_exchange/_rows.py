"""Functions whose rows do not depend on each other, of arrays that the device does not hold: they are recorded, and
computed chunk by chunk when their value is wanted.
"""

from math import prod

from .. import _core


def by_rows(f, a, axes, kept=True, lead=0):
    """f(a), where the results of f along the axes of `a` other than `axes` do not depend on each other.

    kept: the result has these axes too, of whatever extent. lead is how many axes it has before those of a. None where
    it is better computed as a whole: a fits the device, there are no other axes, or a row does not fit."""
    if not _core._on_host(a):
        return None
    free = [k for k, n in enumerate(a.shape) if k not in axes and n > 1]
    row = prod(a.shape[k] for k in axes) * a.dtype.itemsize
    if not free or not _core._streams(a, row):
        return None
    one = [1 if k in free else n for k, n in enumerate(a.shape)]
    like = f(_core.zeros(one, "bfloat16" if a.dtype.kind == "V" else a.dtype, device=a.device))
    came = [-1] * lead + [k if k in free else -1 for k in range(a.ndim) if kept or k not in axes]
    shape = tuple(n if k < 0 else a.shape[k] for n, k in zip(like.shape, came, strict=True))
    return _core._by_rows(f, a, tuple(came), shape, "bfloat16" if like.dtype.kind == "V" else like.dtype)
