"""Functions made from text round a user's function, and where their operands are.

What ``vectorize``, ``guvectorize``, ``stencil`` and ``cuda.reduce`` compile is a loop in Python that calls the
function: the compiler finds that its turns are independent, and runs them on all cores or all over a GPU.
"""

import linecache

import numpy

from .. import _core

_INDICES = "ijklmnop"


def define(source, name, **space):
    """The function `name` of the text; space: its globals. The text is known to linecache, for the compiler."""
    file = f"<treadle {name} {hash(source) & 0xFFFFFFFFFFFF:x}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    exec(compile(source, file, "exec"), space)
    return space[name]


def nest(ranges, body):
    """Lines of loops over i, j, …, one for each of the texts, round the lines of body."""
    pairs = zip(_INDICES, ranges, strict=False)
    lines = [f"{'    ' * (k + 1)}for {i} in range({r}):" for k, (i, r) in enumerate(pairs)]
    return lines + ["    " * (len(ranges) + 1) + line for line in body]


def index(n):
    """'i, j' for two axes."""
    return ", ".join(_INDICES[:n])


def is_array(x):
    """Does x have axes? Numbers and arrays of no dims do not."""
    return getattr(x, "ndim", 0) > 0


class Home:
    """Where a call's arrays live: NumPy's memory, or a device. Operands are brought there, results come from there.

    given: all operands; device: None, or that of the target, for calls of NumPy's arrays alone."""

    def __init__(self, given, device=None):
        own = [a for a in given if isinstance(a, _core.ndarray)]
        self.device = own[0].device if own else device
        self.answers_numpy = not own

    def bring(self, x, dtype, shape=None):
        """x as an array of dtype there, broadcast to shape."""
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
        """Can `out` be written to at once: is it there, as it should be, and apart from the operands?"""
        if not isinstance(out, numpy.ndarray if self.device is None else _core.ndarray):
            return False
        if out.shape != shape or out.dtype != dtype or (self.device is not None and out.device != self.device):
            return False
        return self.device is not None or not any(
            isinstance(a, numpy.ndarray) and numpy.may_share_memory(a, out) for a in operands
        )

    def give(self, result, out=None):
        """The result as the caller wants it; out: where it shall go, NumPy's array or treadle's."""
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
    """The device of a target's name for calls of NumPy's arrays: None for those that use them where they are."""
    if target not in ("cpu", "parallel", "cuda"):
        raise ValueError(f"target is 'cpu', 'parallel' or 'cuda', not {target!r}")
    if target != "cuda":
        return None
    current = _core.device()
    return None if current.host else current
