"""Random numbers of sharded arrays: each device draws its own part of what one device would draw.

Draws are Philox's numbers of consecutive counters, so a device that sets the counter begins anywhere. A counter gives
four float32 numbers, or two of any other kind."""

import math

import numpy

from .. import random
from ._array import sharded
from ._calls import placed
from ._make import shard
from ._mesh import Mesh, even

# The draws that can begin anywhere, with their parameters in order.
_PARTS = {
    "random": ("size", "dtype", "out"), "standard_normal": ("size", "dtype", "out"),
    "uniform": ("low", "high", "size", "dtype"), "normal": ("loc", "scale", "size", "dtype"),
    "integers": ("low", "high", "size", "dtype", "endpoint"),
}  # fmt: skip


class Generator:
    """What ``random.default_rng(seed, device=mesh)`` gives: a Generator's methods, which return sharded arrays.

    The numbers are those that a Generator of the same seed draws on one device.

    Parameters
    ----------
    seed : as default_rng's
        The seed.
    device : Mesh
        Where arrays lie.

    Examples
    --------
    >>> m = np.mesh("cpu", "cpu")
    >>> bool((np.random.default_rng(7, device=m).random(5) == np.random.default_rng(7).random(5)).all())
    True
    """

    def __init__(self, seed, device):
        self._mesh = device
        self._first = random.default_rng(seed, device=device[0])
        bits = self._first.bit_generator
        self._each = [self._first, *(random.default_rng(bits, device=d) for d in device.devices[1:])]

    bit_generator = property(lambda self: self._first.bit_generator)

    def __repr__(self):
        return f"<Generator over {self._mesh.name}>"

    def __getattr__(self, name):
        draw = getattr(self._first, name)
        if not callable(draw):
            return draw

        def call(*args, **kwargs):
            found = self._parts(name, args, kwargs) if name in _PARTS else None
            if found is not None:
                return found
            r = draw(*placed(args, 0, self._mesh, name), **placed(kwargs, 0, self._mesh, name))
            return shard(r, 0, self._mesh) if getattr(r, "ndim", 0) else r

        call.__name__, call.__doc__ = name, draw.__doc__
        return call

    def _parts(self, name, args, kwargs):
        """A draw made part by part, or None where its parameters are arrays or there is nothing to divide."""
        given = dict(zip(_PARTS[name], args, strict=False)) | kwargs
        size = given.pop("size", None)
        if size is None or given.get("out") is not None or not all(_plain(v) for v in given.values()):
            return None
        shape = tuple(size) if isinstance(size, (tuple, list)) else (size,)
        total = math.prod(shape)
        if not total:
            return None
        each = 4 if name != "integers" and numpy.dtype(given.get("dtype") or "float64") == numpy.float32 else 2
        key, counter = self._first.state
        row, made = total // shape[0], []
        cuts = even(shape[0], len(self._mesh))
        for i, (lo, hi) in enumerate(zip(cuts, cuts[1:], strict=False)):
            if lo < hi:
                begin = lo * row // each * each
                self._each[i].state = key, counter + begin // each
                r = getattr(self._each[i], name)(size=hi * row - begin, **given)
                made.append((lo, hi, i, r[lo * row - begin :].reshape((hi - lo, *shape[1:]))))
        self._first.state = key, counter + total // each + 1
        return sharded(self._mesh, 0, cuts, made)


def _plain(v):
    return v is None or isinstance(v, (int, float, str, type, numpy.dtype))


# random.default_rng calls it, without this module
Mesh.generator = lambda mesh, seed: Generator(seed, mesh)
