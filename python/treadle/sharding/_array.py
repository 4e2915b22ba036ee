"""ShardedArray: an array whose elements lie on several devices.

It has a placement: sharded along one axis, or replicated. A sharded array is a list of *pieces*, (lo, hi, i, array):
rows lo to hi along the axis lie on the mesh's device i as an ordinary array, which is lazy like any other. Each device
holds the rows between two of the array's `cuts`, mostly in one piece; a second one appears where an operation needed
some rows of a neighbour (a halo), so that the rows that were there already are computed without being copied.

Operators on arrays with different cuts, such as slices of neighbours, are recorded here first (`_deferred`): where
the result is written to tells how the rows are best divided, and each neighbour's row moves once for the whole
expression. Whatever asks for the pieces has them computed, and so does any write, since it may change what a recorded
expression reads.

A replicated array has one array that counts, on one device, and copies of it that other devices asked for. Writing to
the first one makes the copies stale.

Operations go through `call`, which asks the table of rules (`_rules.py`, `_index.py`). What has no rule runs on the
first device, and its result is replicated from there.
"""

import weakref

import numpy

from .. import ALIASES, _core
from .._core import ndarray
from .._vmap._array import ARITHMETIC, COMPARISONS, METHODS, UNARY, function, numpy_name
from ._mesh import Mesh, Replicate, Shard, even, moved

_MOST_PIECES = 8  # a device's pieces of an array; where there would be more they are joined
_MOST_TERMS = 32  # operands of an expression that waits


class ShardedArray:
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
    __array_priority__ = 1000.0
    __treadle_ufunc__ = True  # ufuncs call __array_ufunc__ instead of converting it
    __hash__ = None

    # ---- what it is ----

    @property
    def pieces(self):
        if self._pieces is None:
            self._compute()
        return self._pieces

    @property
    def dtype(self):
        if self._dtype is None:
            self._dtype = self.pieces[0][3].dtype
        return self._dtype

    ndim = property(lambda self: len(self.shape))
    device = property(lambda self: self.mesh)
    itemsize = property(lambda self: self.dtype.itemsize)
    nbytes = property(lambda self: self.size * self.dtype.itemsize)
    placement = property(lambda self: Replicate() if self.axis is None else Shard(self.axis))
    T = property(lambda self: apply("transpose", self))
    mT = property(lambda self: apply("matrix_transpose", self))
    real = property(lambda self: apply("real", self))
    imag = property(lambda self: apply("imag", self))

    @property
    def size(self):
        n = 1
        for extent in self.shape:
            n *= extent
        return n

    @property
    def shards(self):
        return [self.local(i).copy() for i in range(len(self.mesh))]

    def __len__(self):
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def __iter__(self):
        return (self[i] for i in range(len(self)))

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

    def _compute(self):
        """Compute an expression that waits, divided as its first operand is."""
        from ._operands import Spread

        leaves = list(self._terms[2].values())
        made = [(lo, hi, i, evaluated(self._terms, dict(zip(self._terms[2], parts, strict=True))))
                for lo, hi, i, parts in Spread(leaves, self.mesh, "halo", leaves[0]).ranges]  # fmt: skip
        done = sharded(self.mesh, self.axis, self.cuts, made)
        self._pieces, self._terms = done.pieces, None
        waiting.pop(id(self), None)

    def local(self, i):
        """The elements that the mesh's device i has, as one array."""
        if self.axis is None:
            return self.on(i)
        own = [p[3] for p in self.pieces if p[2] == i]
        return joined(own, self.axis) if own else self.pieces[0][3][_rows(self.axis, 0, 0)].to_device(self.mesh[i])

    def rows(self, lo, hi, i, what):
        """Arrays on the mesh's device i that together are the rows lo to hi along the axis, in order."""
        found = []
        for start, stop, owner, a in self.pieces:
            if start < hi and lo < stop:
                first, last = lo if lo > start else start, hi if hi < stop else stop
                whole = first == start and last == stop
                part = a if whole else a[_rows(self.axis, first - start, last - start)]
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
        from ._make import shard

        if isinstance(device, Mesh):
            return self if device == self.mesh else shard(self.on(0), self.axis, device)
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
                out[_rows(self.axis, lo, hi)] = a.get()
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

    def __contains__(self, x):
        return bool((self == x).any())

    def __reduce__(self):
        from ._make import shard

        return shard, (self.get(), self.axis, [d.name for d in self.mesh])

    # ---- what is called with it ----

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        ufunc = _core.ufuncs().get(ufunc.__name__, ufunc)
        if method == "__call__":
            # the core names where's row select; NumPy's select is another function
            name = "where" if ufunc.__name__ == "select" else ufunc.__name__
            return call(name, ufunc, inputs, kwargs)
        return call(f"ufunc.{method}", getattr(ufunc, method), inputs, kwargs)

    def __array_function__(self, func, types, args, kwargs):
        name = numpy_name(func)
        try:
            return call(name, function(name), args, kwargs)
        except AttributeError:
            return func(*(a.get() if type(a) is ShardedArray else a for a in args), **kwargs)

    def __getitem__(self, key):
        r = SUBSCRIPTS["slid"](self, key)
        return call("getitem", None, (self, key), {}) if r is None else r

    def __setitem__(self, key, value):
        if type(value) is ShardedArray and value._pieces is None:
            to = SUBSCRIPTS["slid"](self, key)
            if to is not None and value.shape == to.shape and value.axis == to.axis:
                settle(value)
                SUBSCRIPTS["assign_terms"](to, value)
                return
        call("setitem", None, (self, key, value), {})

    def reshape(self, *shape, order="C", copy=None):
        shape = shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape
        return apply("reshape", self, shape, order)

    def transpose(self, *axes):
        axes = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes
        return apply("transpose", self, axes or None)

    def flatten(self, order="C"):
        return apply("ravel", self, order).copy()

    def copy(self, order="C"):
        return self._each(lambda a: a.copy())

    __copy__ = copy

    def __deepcopy__(self, memo):
        return self.copy()

    def astype(self, dtype, order="K", casting="unsafe", subok=True, copy=True, **kwargs):
        if not copy and self.dtype == numpy.dtype(dtype):
            return self
        return self._each(lambda a: a.astype(dtype, casting=casting))

    def conj(self):
        return apply("conjugate", self)

    conjugate = conj

    def fill(self, value):
        self[...] = value

    def sort(self, axis=-1, **kwargs):
        self[...] = apply("sort", self, axis, **kwargs)

    def clip(self, min=None, max=None, **kwargs):
        return apply("clip", self, min, max, **kwargs)

    def __divmod__(self, other):
        return apply("divmod", self, other)

    def __rdivmod__(self, other):
        return apply("divmod", other, self)

    def __matmul__(self, other):
        return apply("matmul", self, other)

    def __rmatmul__(self, other):
        return apply("matmul", other, self)

    def _each(self, f):
        """f of each piece, where f gives an array of the same shape."""
        if self.axis is None:
            return replicated(self.mesh, self._main[0], f(self._main[1]))
        return sharded(self.mesh, self.axis, self.cuts, [(lo, hi, i, f(a)) for lo, hi, i, a in self.pieces])


def _method(name):
    def method(self, *args, **kwargs):
        return apply(name, self, *args, **kwargs)

    method.__name__ = name
    return method


_NUMBERS = (int, float, bool, complex)
waiting = weakref.WeakValueDictionary()  # arrays whose expressions are not computed, by their ids


def settle(but=None):
    """Compute the expressions that wait, but one. Called before anything is written."""
    for x in list(waiting.values()) if waiting else ():
        if x is not but and x._pieces is None:
            x._compute()


def _term(x):
    """x as a term of an expression: (function, terms, {id of an operand: the operand}), or a number."""
    if type(x) is not ShardedArray:
        return x
    return x._terms if x._pieces is None else (None, (id(x),), {id(x): x})


def evaluated(term, parts):
    """The value of a term, where parts has each operand's rows by its id."""
    if type(term) is not tuple:
        return term
    f, of, _ = term
    return parts[of[0]] if f is None else f(*(evaluated(t, parts) for t in of))


def _deferred(f, x, y, turned):
    """f of x and y, arrays of one shape or one and a number, as an expression that waits."""
    of = (_term(x), _term(y))
    leaves = {**of[0][2], **(of[1][2] if type(of[1]) is tuple else {})}
    r = ShardedArray.__new__(ShardedArray)
    lead = next(iter(leaves.values()))
    r.mesh, r.axis, r.shape, r.cuts = x.mesh, x.axis, x.shape, lead.cuts
    r._dtype = r._pieces = r._main = r._copies = r._writes = None
    r._terms = f, of[::-1] if turned else of, leaves
    waiting[id(r)] = r
    if len(leaves) > _MOST_TERMS:
        r._compute()
    return r


def _piecewise(f, x, y, turned=False):
    """f of x and y where y is a number, or divided along the same axis; None where that is not so."""
    if x.axis is None:
        return None
    if type(y) in _NUMBERS:
        if x._pieces is None:
            return _deferred(f, x, y, turned)
        made = [(p[0], p[1], p[2], f(y, p[3]) if turned else f(p[3], y)) for p in x._pieces]
    elif type(y) is ShardedArray and y.axis == x.axis and y.shape == x.shape and (y.mesh is x.mesh or y.mesh == x.mesh):
        if x._pieces is None or y._pieces is None or [p[:3] for p in x._pieces] != [p[:3] for p in y._pieces]:
            return _deferred(f, x, y, turned)
        made = [(p[0], p[1], p[2], f(p[3], q[3])) for p, q in zip(x._pieces, y._pieces, strict=True)]
    else:
        return None
    return sharded(x.mesh, x.axis, x.cuts, made)


def _operators(name, row):
    f = _core.ufuncs()[row]

    def forward(self, other):
        r = _piecewise(f, self, other)
        return apply(row, self, other) if r is None else r

    def reflected(self, other):
        r = _piecewise(f, self, other, True)
        return apply(row, other, self) if r is None else r

    def in_place(self, other):
        return apply(row, self, other, out=self)

    setattr(ShardedArray, f"__{name}__", forward)
    if name not in COMPARISONS:
        setattr(ShardedArray, f"__r{name}__", reflected)
        setattr(ShardedArray, f"__i{name}__", in_place)


for _name, _row in (COMPARISONS | ARITHMETIC).items():
    _operators(_name, _row)
for _name, _row in ({name: name for name in METHODS.split()} | {f"__{k}__": row for k, row in UNARY.items()}).items():
    setattr(ShardedArray, _name, _method(_row))


# ---- making ----


def _rows(axis, lo, hi):
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
            (lo, hi, i, x.on(i)[_rows(axis, lo, hi)].copy())
            for i, (lo, hi) in enumerate(zip(cuts, cuts[1:], strict=False))
            if lo < hi
        ]
        return sharded(x.mesh, axis, cuts, made) if made else x
    made = []
    for i, (lo, hi) in enumerate(zip(cuts, cuts[1:], strict=False)):
        if lo < hi:
            blocks = [moved(a[_rows(axis, lo, hi)], x.mesh[i], "reshard") for _, _, _, a in x.pieces]
            made.append((lo, hi, i, joined(blocks, x.axis) if len(blocks) > 1 else blocks[0].copy()))
    return sharded(x.mesh, axis, cuts, made)


# ---- calls ----

SUBSCRIPTS = {}  # the quick ways of _index.py
RULES = {}  # name: the function that is called for it, f(name, fn, *args, **kwargs); NotImplemented: there is no way


def rule(names):
    """Enter a function into the table under several names."""

    def put(f):
        RULES.update(dict.fromkeys(names.split(), f))
        return f

    return put


def apply(name, *args, **kwargs):
    """Call treadle's function of that name."""
    return call(name, function(name), args, kwargs)


def leaves(x, found=None):
    """The sharded arrays in arguments, also inside of tuples, lists and dicts."""
    found = [] if found is None else found
    if type(x) is ShardedArray:
        found.append(x)
    elif type(x) in (tuple, list):
        for item in x:
            leaves(item, found)
    elif type(x) is dict:
        for item in x.values():
            leaves(item, found)
    return found


def asked(args, kwargs):
    """Do arguments have a sharded array, or a mesh as their device?"""
    return bool(leaves(args) or leaves(kwargs)) or type(kwargs.get("device")) is Mesh


def one_mesh(arrays):
    """The mesh of sharded arrays. Raises ValueError where they lie on several."""
    mesh = arrays[0].mesh
    for a in arrays[1:]:
        if a.mesh is not mesh and a.mesh != mesh:
            raise ValueError(f"arrays lie on different meshes, {mesh!r} and {a.mesh!r}: move one of them by to_device()")
    return mesh


def call(name, fn, args, kwargs):
    """Call fn with sharded arrays among the arguments, by the rule of that name."""
    found = leaves((args, kwargs))
    mesh = one_mesh(found) if found else kwargs["device"]
    out = kwargs.pop("out", None)
    if out is not None and not (isinstance(out, tuple) and all(o is None for o in out)):
        return _into(fn, out, call(name, fn, args, kwargs))
    f = RULES.get(ALIASES.get(name, name))
    if all(x.axis is None for x in found) and name not in ANYWHERE and found:
        return together(mesh, found, name, fn, args, kwargs)
    if f is not None:
        r = f(name, fn, *args, **kwargs)
        if r is not NotImplemented:
            return r
    return whole(mesh, name, fn, args, kwargs)


ANYWHERE = set("getitem setitem asarray array asanyarray ascontiguousarray copy asnumpy evaluate zeros_like ones_like "
               "empty_like full_like shape ndim size".split())  # fmt: skip


def together(mesh, found, name, fn, args, kwargs):
    """Call fn with replicated arrays, on the device where the first one is. Views of them stay views."""
    i = found[0]._main[0]
    if name in WRITERS:
        settle()
        found[0]._writes[0] += 1
    r = fn(*placed(args, i, mesh, name), **placed(kwargs, i, mesh, name))
    shows = isinstance(r, ndarray) and _core._same_storage(r, found[0]._main[1])
    return replicated(mesh, i, r, found[0]._writes) if shows else results(mesh, r)


def whole(mesh, name, fn, args, kwargs):
    """Call fn on the first device, with arrays that are there as a whole. Its results are replicated from there."""
    written = args[0] if name in WRITERS else None
    if written is not None:
        settle()
    kwargs = {**kwargs, "device": mesh[0]} if type(kwargs.get("device")) is Mesh else kwargs
    args, kwargs = placed(args, 0, mesh, name), placed(kwargs, 0, mesh, name)
    r = fn(*args, **kwargs)
    if written is not None and args[0] is not written:
        written[...] = replicated(mesh, 0, args[0])
    return results(mesh, r)


WRITERS = set("copyto fill_diagonal place put put_along_axis putmask ufunc.at".split())


def placed(x, i, mesh, what):
    """Arguments with all arrays on the mesh's device i; what holds them is made anew."""
    if type(x) is ShardedArray:
        return x.on(i)
    if isinstance(x, ndarray):
        return moved(x, mesh[i], what)
    if type(x) in (tuple, list):
        return type(x)(placed(item, i, mesh, what) for item in x)
    return {k: placed(item, i, mesh, what) for k, item in x.items()} if type(x) is dict else x


def results(mesh, r):
    """What a function has returned, its arrays as replicated ones."""
    if isinstance(r, ndarray):
        return replicated(mesh, mesh.devices.index(r.device), r)
    if isinstance(r, tuple) and hasattr(r, "_fields"):
        return type(r)(*(results(mesh, item) for item in r))
    return type(r)(results(mesh, item) for item in r) if type(r) in (tuple, list) else r


def _into(fn, out, result):
    if isinstance(out, tuple):
        found = result if isinstance(result, tuple) else (result,)
        given = tuple(r if o is None else _into(fn, o, r) for o, r in zip(out, found, strict=True))
        return given if len(given) > 1 else given[0]
    if hasattr(fn, "nin") and not numpy.can_cast(result.dtype, out.dtype, "same_kind"):
        raise TypeError(
            f"{fn.__name__}: the result's dtype {result.dtype} cannot be cast to out's, {out.dtype}, by the rule "
            "'same_kind'"
        )
    if out.shape != result.shape:
        raise ValueError(f"{fn.__name__}: out has shape {out.shape}, and the result {result.shape}")
    out[...] = result if type(out) is ShardedArray else result.to_device(out.device) if isinstance(out, ndarray) else result.get()
    return out
