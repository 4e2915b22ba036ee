"""Helpers that make functions from text around a user's function, and decide where the operands must lie.

``vectorize``, ``guvectorize``, ``stencil`` and ``cuda.reduce`` compile a Python loop that calls the function. The
compiler finds that its iterations are independent, and runs them on all cores or over a whole GPU.
"""

import linecache

import numpy

from .. import _core

_INDICES = "ijklmnop"


def define(source, name, **space):
    """Execute the text and return its function `name`; space is its globals.

    The text goes into linecache, where the compiler looks for the source."""
    file = f"<treadle {name} {hash(source) & 0xFFFFFFFFFFFF:x}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    exec(compile(source, file, "exec"), space)
    return space[name]


def nest(ranges, body):
    """Lines of nested loops over i, j, … with the given ranges, and body inside."""
    pairs = zip(_INDICES, ranges, strict=False)
    lines = [f"{'    ' * (k + 1)}for {i} in range({r}):" for k, (i, r) in enumerate(pairs)]
    return lines + ["    " * (len(ranges) + 1) + line for line in body]


def index(n):
    """The subscript for n axes: 'i, j' for two."""
    return ", ".join(_INDICES[:n])


def is_array(x):
    """Whether x is an array of at least one axis."""
    return getattr(x, "ndim", 0) > 0


class Home:
    """Where a call computes: in NumPy's memory or on a device. It brings operands there and results back.

    given are all operands. device is the target's, for calls with NumPy's arrays alone; None: they are used where they
    are."""

    def __init__(self, given, device=None):
        own = [a for a in given if isinstance(a, _core.ndarray)]
        self.device = own[0].device if own else device
        self.answers_numpy = not own

    def bring(self, x, dtype, shape=None):
        """x as an array of dtype in the place where the call computes, broadcast to shape."""
        if self.device is None:
            a = numpy.asarray(x, dtype)
            return a if shape is None or a.shape == shape else numpy.broadcast_to(a, shape)
        from .. import asarray, broadcast_to

        if not isinstance(x, _core.ndarray):
            x = asarray(numpy.asarray(x), device=self.device)
        if x.dtype != dtype:
            x = x.astype(dtype)
        return x if shape is None or x.shape == shape else broadcast_to(x, shape)

    def empty(self, shape, dtype):
        return numpy.empty(shape, dtype) if self.device is None else _core.empty(shape, dtype, device=self.device)

    def full(self, shape, value, dtype):
        if self.device is None:
            return numpy.full(shape, value, dtype)
        return _core.full(shape, value, dtype, device=self.device)

    def takes(self, out, shape, dtype, operands):
        """Whether results can be written to `out` directly: it lies in the right place, has the shape and dtype, and
        overlaps no operand."""
        if not isinstance(out, numpy.ndarray if self.device is None else _core.ndarray):
            return False
        if out.shape != shape or out.dtype != dtype or (self.device is not None and out.device != self.device):
            return False
        return self.device is not None or not any(
            isinstance(a, numpy.ndarray) and numpy.may_share_memory(a, out) for a in operands
        )

    def give(self, result, out=None):
        """The result for the caller: NumPy's if all operands are. With out, write it there."""
        if out is not None:
            if out is not result:
                if not numpy.can_cast(result.dtype, out.dtype, "same_kind"):
                    raise TypeError(f"cannot cast the result from {result.dtype} to {out.dtype}, the dtype of out=")
                if out.shape != result.shape:
                    raise ValueError(f"out= has the shape {out.shape}, not {result.shape}")
                moved = result.get() if isinstance(out, numpy.ndarray) and self.device is not None else result
                out[...] = moved
            return out
        return result.get() if self.answers_numpy and self.device is not None else result


def scalar(x):
    """A 0-d result as a NumPy scalar."""
    return x[()] if isinstance(x, numpy.ndarray) and x.ndim == 0 else x


def device_of(target):
    """The device that a target means for NumPy's arrays. None means that they are used where they are."""
    if target not in ("cpu", "parallel", "cuda"):
        raise ValueError(f"target is 'cpu', 'parallel' or 'cuda', not {target!r}")
    if target != "cuda":
        return None
    current = _core.device()
    return None if current.host else current
