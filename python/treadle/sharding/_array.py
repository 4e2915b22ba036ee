"""ShardedArray: an array whose elements lie on several devices.

It has a placement: sharded along one axis, or replicated. A sharded array is a list of *pieces*, (lo, hi, i, array):
rows lo to hi along the axis lie on the mesh's device i as an ordinary array, which is lazy like any other. Each device
holds the rows between two of the array's `cuts`, mostly in one piece; a second one appears where an operation needed
some rows of a neighbour (a halo), so that the rows that were there already are computed without being copied.

Operators on arrays with different cuts, such as slices of neighbours, are recorded here first (`_expression.py`): where
the result is written to tells how the rows are best divided, and each neighbour's row moves once for the whole
expression. Whatever asks for the pieces has them computed, and so does any write, since it may change what a recorded
expression reads.

A replicated array has one array that counts, on one device, and copies of it that other devices asked for. Writing to
the first one makes the copies stale.

Operators, methods and functions stand in the modules above: `_calls.py` finds the rule for a call.
"""
import numpy

from .. import _core
from .._vmap._array import function
from .._vmap._like import ArrayLike
from ._mesh import Mesh, Replicate, Shard, even, moved, moved_all

_MOST_PIECES = 8  # a device's pieces of an array; where there would be more they are joined


class ShardedArray(ArrayLike):
    """An array whose elements lie on the devices of a mesh. `shard` and ``asarray(x, device=mesh)`` make them.

    It has an ndarray's operators and methods, and NumPy's and treadle's functions take it.

    Attributes
    ----------
    shape, dtype, ndim, size, nbytes : as an ndarray's
        Those of the whole array.
    mesh, device : Mesh
        The devices.
    placement : Shard or Replicate
        How the elements lie on them.
    shards : list of ndarray
        A copy of each device's elements. A replicated array has one for each device.

    Examples
    --------
    >>> x = np.shard(np.arange(6.0), devices=["cpu", "cpu"])
    >>> float((x * x).sum()), [s.shape for s in x.shards]
    (55.0, [(3,), (3,)])
    """

    __slots__ = ("mesh", "shape", "axis", "cuts", "_dtype", "_pieces", "_terms", "_main", "_copies", "_writes",
                 "__weakref__")  # fmt: skip
    __treadle_ufunc__ = True  # ufuncs call __array_ufunc__ instead of converting it

    # ---- what it is ----

    @property
    def pieces(self):
        if self._pieces is None:
            self._compute()  # _expression.py
        return self._pieces

    @property
    def dtype(self):
        if self._dtype is None:
            self._dtype = self.pieces[0][3].dtype
        return self._dtype

    device = property(lambda self: self.mesh)
    placement = property(lambda self: Replicate() if self.axis is None else Shard(self.axis))

    @property
    def shards(self):
        return [self.local(i).copy() for i in range(len(self.mesh))]

    def __repr__(self):
        where = f"{self.placement} over {self.mesh.name}"
        if self.size > 1000:
            return f"ShardedArray(shape={self.shape}, dtype={self.dtype}, {where})"
        return f"Sharded{self.get()!r}"[:-1] + f", {where})"

    def __str__(self):
        return str(self.to_device(self.mesh[0]))

    def __format__(self, spec):
        return format(self.to_device(self.mesh[0]), spec)

    # ---- where it is ----

    def on(self, i):
        """The whole array on the mesh's device i."""
        if self.axis is not None:
            return joined(self.rows(0, self.shape[self.axis], i, "gather"), self.axis)
        if self._main[0] == i:
            return self._main[1]
        found = self._copies.get(i)
        if found is None or found[0] != self._writes[0]:
            found = self._copies[i] = self._writes[0], moved(self._main[1], self.mesh[i], "replicate")
        return found[1]

    def everywhere(self, numbers):
        """The whole array on each of these devices, as a list. What has to move does so at the same time."""
        if self.axis is None:
            return [self.on(i) for i in numbers]
        n, own = len(self.pieces), [p[3] for p in self.pieces]
        sent = moved_all(own * len(numbers), [self.mesh[i] for i in numbers for _ in own], "gather")
        return [joined(sent[k * n : (k + 1) * n], self.axis) for k in range(len(numbers))]

    def local(self, i):
        """The elements that the mesh's device i has, as one array."""
        if self.axis is None:
            return self.on(i)
        own = [p[3] for p in self.pieces if p[2] == i]
        return joined(own, self.axis) if own else self.pieces[0][3][rows_key(self.axis, 0, 0)].to_device(self.mesh[i])

    def rows(self, lo, hi, i, what):
        """Arrays on the mesh's device i that together are the rows lo to hi along the axis, in order."""
        found = []
        for start, stop, owner, a in self.pieces:
            if start < hi and lo < stop:
                first, last = lo if lo > start else start, hi if hi < stop else stop
                whole = first == start and last == stop
                part = a if whole else a[rows_key(self.axis, first - start, last - start)]
                found.append(part if owner == i else moved(part, self.mesh.devices[i], what))
        return found

    def to_device(self, device, stream=None):
        """The array on one device, or sharded anew over a mesh.

        Parameters
        ----------
        device : device, str or Mesh
            Where it goes.
        stream : optional
            Accepted for the array API, and not used.

        Returns
        -------
        ndarray or ShardedArray
            A copy, unless the array is there already as a whole.
        """
        if isinstance(device, Mesh):
            return self if device == self.mesh else over(device, self.on(0), self.axis)
        device = device if isinstance(device, _core.device) else _core.device(device)
        at = self.mesh.devices.index(device) if device in self.mesh.devices else 0
        return moved(self.on(at), device, "to_device")

    def reshard(self, axis):
        """The same elements, divided along another axis.

        Parameters
        ----------
        axis : int or None
            The axis; None: every device gets all of it.

        Returns
        -------
        ShardedArray
            A new one, or this one where it is so already.
        """
        if axis is not None:
            axis = axis + self.ndim if axis < 0 else axis
            if not 0 <= axis < self.ndim:
                raise ValueError(f"axis {axis} is out of bounds for array of dimension {self.ndim}")
        if axis == self.axis:
            return self
        return replicated(self.mesh, 0, self.on(0)) if axis is None else resharded(self, axis)

    def evaluate(self):
        """Have each device compute its shards. Does not wait for GPUs.

        Returns
        -------
        ShardedArray
            This array.
        """
        _core.evaluate(*([p[3] for p in self.pieces] if self.axis is not None else [self._main[1]]))
        return self

    # ---- what leaves the devices ----

    def get(self, out=None):
        """The elements in NumPy's memory.

        Parameters
        ----------
        out : numpy.ndarray, optional
            Takes them.

        Returns
        -------
        numpy.ndarray
            A new array, or out.
        """
        self.evaluate()
        if self.axis is None:
            found = self._main[1].get()
        elif out is None and self.dtype.kind != "V":
            found = out = numpy.empty(self.shape, self.dtype)
            for lo, hi, _, a in self.pieces:
                out[rows_key(self.axis, lo, hi)] = a.get()
        else:
            found = numpy.concatenate([p[3].get() for p in self.pieces], self.axis)
        if out is None or out is found:
            return found
        out[...] = found
        return out

    def __array__(self, dtype=None, copy=None):
        if copy is False:
            raise ValueError("the elements lie on several devices: they cannot become NumPy's without a copy")
        return self.get().astype(dtype or self.dtype, copy=False)

    def item(self, *index):
        """One element as a Python number. Takes an index where there are several."""
        if not index and self.size != 1:
            raise ValueError("can only convert an array of size 1 to a Python scalar")
        at = index[0] if len(index) == 1 and isinstance(index[0], tuple) else index
        if len(at) == 1 and self.ndim != 1:
            at = numpy.unravel_index(at[0], self.shape)
        a = self[tuple(int(k) for k in at)] if at else self
        return (a.on(a._main[0]) if a.axis is None else a.on(0)).item()

    def tolist(self):
        """The elements as nested lists of Python numbers."""
        return self.to_device(self.mesh[0]).tolist()

    def tobytes(self, order="C"):
        """The elements' bytes."""
        return self.get().tobytes(order)

    def _number(self):
        if self.size != 1:
            raise TypeError("only arrays of one element can be converted to Python scalars")
        return self.item(*(0,) * self.ndim)

    def __bool__(self):
        if self.size > 1:
            raise ValueError(
                "The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()"
            )
        return bool(self._number()) if self.size else False

    def __float__(self):
        return float(self._number())

    def __int__(self):
        return int(self._number())

    def __complex__(self):
        return complex(self._number())

    def __index__(self):
        return self._number().__index__()

    def __reduce__(self):
        return _restored, (self.get(), self.axis, [d.name for d in self.mesh])

    # ---- copies ----

    def copy(self, order="C"):
        return self._each(lambda a: a.copy())

    def astype(self, dtype, order="K", casting="unsafe", subok=True, copy=True, **kwargs):
        if not copy and self.dtype == numpy.dtype(dtype):
            return self
        return self._each(lambda a: a.astype(dtype, casting=casting))

    def _each(self, f):
        """f of each piece, where f gives an array of the same shape."""
        if self.axis is None:
            return replicated(self.mesh, self._main[0], f(self._main[1]))
        return sharded(self.mesh, self.axis, self.cuts, [(lo, hi, i, f(a)) for lo, hi, i, a in self.pieces])


# ---- making ----


def rows_key(axis, lo, hi):
    return (*(slice(None),) * axis, slice(lo, hi))


def joined(parts, axis):
    """One array of some that follow each other along an axis."""
    return parts[0] if len(parts) == 1 else function("concatenate")(parts, axis)


def sharded(mesh, axis, cuts, pieces):
    """A sharded array of pieces in order, each of which belongs to it alone or is a view of an array that it shows.

    Where no device has a row, the array is replicated instead."""
    first = pieces[0][3]
    n = cuts[-1]
    if not n:
        return replicated(mesh, pieces[0][2], first)
    x = ShardedArray.__new__(ShardedArray)
    shape = first.shape
    x.mesh, x.axis, x.cuts, x._dtype = mesh, axis, cuts, first.dtype
    x.shape = (n, *shape[1:]) if not axis else (*shape[:axis], n, *shape[axis + 1 :])
    if len(pieces) > len(mesh) * _MOST_PIECES:
        pieces = [(cuts[i], cuts[i + 1], i, joined([p[3] for p in pieces if p[2] == i], axis))
                  for i in range(len(mesh)) if cuts[i] < cuts[i + 1]]  # fmt: skip
    x._pieces = pieces
    x._terms = x._main = x._copies = x._writes = None
    return x


def replicated(mesh, i, array, writes=None):
    """A replicated array whose elements are `array`, on the mesh's device i. writes: the counter of writes of the array
    of which it is a view."""
    x = ShardedArray.__new__(ShardedArray)
    x.mesh, x.axis, x.cuts, x._pieces, x._terms = mesh, None, None, (), None
    x.shape, x._dtype = array.shape, array.dtype
    x._main, x._copies, x._writes = (i, array), {}, [0] if writes is None else writes
    return x


def gathered(mesh, axis, cuts, pieces, what, own=True):
    """A sharded array of pieces that lie anywhere, in order. own: rows that need not move are copied, since the result
    may be written."""
    source = ShardedArray.__new__(ShardedArray)
    source.mesh, source.axis, source._pieces = mesh, axis, pieces
    made = []
    for i in range(len(mesh)):
        lo, hi = cuts[i], cuts[i + 1]
        if lo < hi:
            parts = source.rows(lo, hi, i, what)
            part = joined(parts, axis)
            made.append((lo, hi, i, part.copy() if own and len(parts) == 1 and _borrowed(part, pieces) else part))
    return sharded(mesh, axis, cuts, made or [(0, 0, pieces[0][2], pieces[0][3])])


def _borrowed(part, pieces):
    return any(_core._same_storage(part, p[3]) for p in pieces if p[3].device == part.device)


def resharded(x, axis):
    """x divided along another axis: each device sends each other one a block. A replicated array is cut up."""
    cuts = even(x.shape[axis], len(x.mesh))
    if x.axis is None:
        made = [
            (lo, hi, i, x.on(i)[rows_key(axis, lo, hi)].copy())
            for i, (lo, hi) in enumerate(zip(cuts, cuts[1:], strict=False))
            if lo < hi
        ]
        return sharded(x.mesh, axis, cuts, made) if made else x
    made, owned = [], []
    for i, (lo, hi) in enumerate(zip(cuts, cuts[1:], strict=False)):
        if lo < hi:
            owned.append((lo, hi, i, [a[rows_key(axis, lo, hi)] for _, _, _, a in x.pieces]))
    sent = moved_all([b for *_, own in owned for b in own], [x.mesh[i] for *_, i, own in owned for _ in own], "reshard")
    for lo, hi, i, own in owned:
        blocks, sent = sent[: len(own)], sent[len(own) :]
        made.append((lo, hi, i, joined(blocks, x.axis) if len(blocks) > 1 else blocks[0].copy()))
    return sharded(x.mesh, axis, cuts, made)


def over(mesh, array, axis):
    """An array of treadle's on one device, replicated over a mesh or divided along an axis."""
    if array.device in mesh.devices:
        r = replicated(mesh, mesh.devices.index(array.device), array)
    else:
        r = replicated(mesh, 0, array.to_device(mesh[0]))
    return r if axis is None else resharded(r, axis)


def _restored(values, axis, names):
    mesh = Mesh(names)
    return over(mesh, function("asarray")(values, device=mesh[0]), axis)
