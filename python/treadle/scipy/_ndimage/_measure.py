"""Objects in images: connected components, and statistics of the elements with each label."""

import math

import numpy

import treadle

from ... import _core, cuda
from .._arguments import host
from ._morphology import _structure
from ._support import places

# ---- labels ----


@cuda.jit
def _join(parent, image, shape, offsets):
    """Union-find over the true elements. Each tree is part of a component, and its root is its first element. A thread
    that finds two trees links the later root to the earlier by an atomic minimum. If another thread changed that root
    meanwhile, it goes on with the old value."""
    i = cuda.grid(1)
    if i < image.size and image[i]:
        for m in range(offsets.shape[0]):
            rest = i
            stride = 1
            other = 0
            inside = True
            for e in range(shape.shape[0]):
                d = shape.shape[0] - 1 - e
                c = rest % shape[d] + offsets[m, d]
                rest //= shape[d]
                if c < 0 or c >= shape[d]:
                    inside = False
                other += c * stride
                stride *= shape[d]
            if inside and image[other]:
                a = i
                b = other
                while True:
                    while parent[a] != a:
                        a = parent[a]
                    while parent[b] != b:
                        b = parent[b]
                    if a == b:
                        break
                    if a > b:
                        a, b = b, a
                    old = cuda.atomic.min(parent, b, a)
                    if old == b:
                        break
                    b = old


@cuda.jit
def _root(parent, image):
    i = cuda.grid(1)
    if i < image.size and image[i]:
        a = parent[i]
        while parent[a] != a:
            a = parent[a]
        parent[i] = a


def label(input, structure=None, output=None):
    """Label the connected components of the nonzero elements from 1, in the order of their first elements.

    Returns (labels, count), or count alone where output is an array. structure: which neighbours are connected."""
    x = _core.asarray(input)
    if x.dtype.kind == "c":
        raise TypeError("Complex type not supported")
    s = _structure(x.ndim, 1) if structure is None else host(structure).astype(bool)
    if s.ndim != x.ndim:
        raise RuntimeError("structure and input must have equal rank")
    if any(n != 3 for n in s.shape):
        raise ValueError("structure dimensions must be equal to 3")
    if not (s == s[(slice(None, None, -1),) * s.ndim]).all():
        raise ValueError("Input structuring element is not symmetric")
    r, n = _parts(x, s)
    if isinstance(output, (_core.ndarray, numpy.ndarray)):
        if output.shape != x.shape:
            raise ValueError("output shape not correct")
        output[...] = r if isinstance(output, _core.ndarray) else r.get()
        return n
    d = numpy.dtype(output or ("int32" if x.size < 2**31 - 2 else "int64"))
    if d.kind in "iu" and n > numpy.iinfo(d).max:
        raise RuntimeError("insufficient bit-depth in requested output type")
    return r.astype(d), n


def _parts(x, structure):
    image = (x != 0).reshape((-1,))
    if not x.ndim or not x.size:
        r = (x != 0).astype("int64")
        return r, int(r.sum()) if x.size else 0
    offsets = numpy.argwhere(structure) - 1
    offsets = offsets[: len(offsets) // 2]  # those before the centre
    flat = treadle.arange(x.size, device=x.device) if offsets.size else None
    if flat is None:
        roots = image
    else:
        parent = treadle.copy(flat)
        shape, offsets = (_core.asarray(numpy.array(v, numpy.int64), device=x.device) for v in (x.shape, offsets))
        _join.forall(x.size)(parent, image, shape, offsets)
        _root.forall(x.size)(parent, image)
        roots = image & (parent == flat)
    numbers = treadle.cumsum(roots.astype("int64"))
    r = treadle.where(image, numbers if flat is None else numbers[parent], 0)
    return r.reshape(x.shape), int(numbers[-1])


def find_objects(input, max_label=0):
    """The bounding box, as slices, of each label from 1 to max_label (0: the largest label). None for absent labels."""
    x = _core.asarray(input)
    if x.dtype.kind == "c":
        raise TypeError("Complex type not supported")
    if max_label < 1:
        max_label = int(x.max()) if x.size else 0
    n = max_label + 1
    if n <= 1:
        return []
    labels = x.reshape((-1,)).astype("int64")
    slot = treadle.where((labels > 0) & (labels < n), labels, 0)
    boxes = []
    for d, grid in enumerate(places(x)):
        c = grid.reshape((-1,))
        low = treadle.full((n,), x.shape[d], dtype="int64", device=x.device)
        high = treadle.full((n,), -1, dtype="int64", device=x.device)
        treadle.minimum.at(low, slot, c)
        treadle.maximum.at(high, slot, c)
        boxes.append((low.get().tolist(), high.get().tolist()))
    return [
        tuple(slice(low[k], high[k] + 1) for low, high in boxes) if boxes[0][1][k] >= 0 else None for k in range(1, n)
    ]


# ---- groups ----


class _Groups:
    """The elements of input, grouped by labels and index.

    slots: the group's number of each element, n for an element of no group. A single group has no slots; mask selects
    its elements, None all of them."""

    def __init__(self, input, labels, index):
        x = _core.asarray(input)
        self.shape, self.mask, self.slots, self.back = x.shape, None, None, None
        self.scalar = index is None or numpy.isscalar(index) or getattr(index, "shape", None) == ()
        if labels is None:
            if index is not None:
                raise ValueError("index without defined labels")
            self.x, self.n = x, 1
            return
        self.x, labels = treadle.broadcast_arrays(x, _core.asarray(labels, device=x.device))
        self.shape = self.x.shape
        if self.scalar:
            self.mask = labels > 0 if index is None else labels == host(index).item()
            self.n = 1
            return
        wanted, self.back = numpy.unique(host(index), return_inverse=True)
        self.n = len(wanted)
        known = _core.asarray(wanted, device=x.device)
        at = treadle.minimum(treadle.searchsorted(known, labels.reshape((-1,))), self.n - 1)
        self.slots = treadle.where(known[at] == labels.reshape((-1,)), at, self.n)

    def flat(self):
        return self.x.reshape((-1,))

    def out(self, r):
        """The results r, one for each group, in the order and shape of index."""
        if self.back is None:
            return r
        return r[_core.asarray(self.back.reshape(-1), device=r.device)].reshape(self.back.shape)

    def count(self):
        if self.slots is not None:
            return self.out(treadle.bincount(self.slots, minlength=self.n + 1)[: self.n])
        if self.mask is None:
            return self.x.size
        return self.mask.sum()

    def sum(self, x=None):
        """The sum of input, or of x, over each group: in float64 for several groups, otherwise in the dtype of
        x.sum()."""
        x = self.flat() if x is None else x.reshape((-1,))
        if self.slots is None:
            return x.sum() if self.mask is None else treadle.where(self.mask.reshape((-1,)), x, x.dtype.type(0)).sum()
        if x.dtype.kind == "c":
            return self.sum(x.real) + self.sum(x.imag) * 1j
        weights = x.astype("float64")
        return self.out(treadle.bincount(self.slots, weights=weights, minlength=self.n + 1)[: self.n])

    def each(self, group_values):
        """Each element's value in group_values, by its group."""
        if self.slots is None:
            return group_values
        none = treadle.zeros((1,), dtype=group_values.dtype, device=group_values.device)
        return treadle.concatenate([group_values, none])[self.slots]

    def sorted_back(self):
        """A copy whose results are in the order of slots, without the order and repetitions of index."""
        other = object.__new__(_Groups)
        other.__dict__.update(self.__dict__, back=None)
        return other

    def extreme(self, least):
        """The minimum or maximum of each slot. Empty groups have 0."""
        x = self.flat()
        x = x.astype("uint8") if x.dtype.kind == "b" else x
        if self.slots is None:
            if self.mask is not None:
                x = x[self.mask.reshape((-1,))]
            return x.min() if least else x.max()
        worst = _worst(x.dtype, least)
        r = treadle.full((self.n + 1,), worst, dtype=x.dtype, device=x.device)
        (treadle.minimum if least else treadle.maximum).at(r, self.slots, x)
        some = treadle.bincount(self.slots, minlength=self.n + 1) > 0
        return treadle.where(some, r, x.dtype.type(0))[: self.n]

    def place(self, values):
        """The flat index, for each slot, of the first element that equals its value."""
        x, n = self.flat(), self.x.size
        flat = treadle.arange(n, device=self.x.device)
        if self.slots is None:
            hit = x == values
            hit = hit if self.mask is None else hit & self.mask.reshape((-1,))
            return treadle.where(hit, flat, n).min()
        hit = x == self.each(values)
        r = treadle.full((self.n + 1,), n, dtype="int64", device=x.device)
        treadle.minimum.at(r, self.slots, treadle.where(hit, flat, n))
        return treadle.where(r < n, r, 0)[: self.n]


def _worst(dtype, least):
    if dtype.kind == "f":
        return math.inf if least else -math.inf
    info = numpy.iinfo(dtype)
    return info.max if least else info.min


def sum_labels(input, labels=None, index=None):
    """The sum over the elements of each label in index."""
    return _Groups(input, labels, index).sum()


def sum(input, labels=None, index=None):
    """sum_labels by its older name."""
    return sum_labels(input, labels, index)


def _double(x):
    return x.astype("float64") if x.dtype.kind == "f" else x


def mean(input, labels=None, index=None):
    """The mean over the elements of each label in index."""
    g = _Groups(input, labels, index)
    return _double(g.sum()) / g.count()


def variance(input, labels=None, index=None):
    """The variance over the elements of each label in index."""
    g = _Groups(input, labels, index)
    own = g.sorted_back()
    count = own.count()
    off = g.flat() - own.each(own.sum() / count)
    square = off * off.conj() if off.dtype.kind == "c" else off * off
    return g.out(_double(own.sum(square)) / count)


def standard_deviation(input, labels=None, index=None):
    """The standard deviation over the elements of each label in index."""
    return treadle.sqrt(variance(input, labels, index))


def minimum(input, labels=None, index=None):
    """The minimum over the elements of each label in index."""
    g = _Groups(input, labels, index)
    return g.out(g.extreme(True))


def maximum(input, labels=None, index=None):
    """The maximum over the elements of each label in index."""
    g = _Groups(input, labels, index)
    return g.out(g.extreme(False))


def median(input, labels=None, index=None):
    """The median over the elements of each label in index. NaN for labels without elements."""
    g = _Groups(input, labels, index)
    x = g.flat()
    if g.slots is None:
        return treadle.median(x if g.mask is None else x[g.mask.reshape((-1,))])
    order = treadle.lexsort((x, g.slots))
    counts = treadle.bincount(g.slots, minlength=g.n + 1)[: g.n]
    first = treadle.cumsum(counts) - counts
    x = x[order]
    x = x.astype("float64") if x.dtype.kind in "biu" else x
    last = x.size - 1
    low = treadle.minimum(first + treadle.maximum(counts - 1, 0) // 2, last)
    high = treadle.minimum(first + counts // 2, last)
    middle = (x[low] + x[high]) / 2
    return g.out(treadle.where(counts > 0, middle, numpy.nan))


def _unravelled(g, flat):
    """Flat indices as tuples of ints: one tuple, or a list with one for each label in index."""
    at = numpy.stack(numpy.unravel_index(g.out(flat).get(), g.shape), -1)
    return tuple(at.tolist()) if g.back is None else list(map(tuple, at.reshape(-1, len(g.shape)).tolist()))


def minimum_position(input, labels=None, index=None):
    """The position of the first minimum over the elements of each label in index, as tuples of ints."""
    g = _Groups(input, labels, index)
    return _unravelled(g, g.place(g.extreme(True)))


def maximum_position(input, labels=None, index=None):
    """The position of the first maximum over the elements of each label in index, as tuples of ints."""
    g = _Groups(input, labels, index)
    return _unravelled(g, g.place(g.extreme(False)))


def extrema(input, labels=None, index=None):
    """(minimum, maximum, minimum_position, maximum_position) over the elements of each label in index."""
    g = _Groups(input, labels, index)
    low, high = g.extreme(True), g.extreme(False)
    return g.out(low), g.out(high), _unravelled(g, g.place(low)), _unravelled(g, g.place(high))


def center_of_mass(input, labels=None, index=None):
    """The centre of mass of the elements of each label in index, as tuples of floats. The elements are the masses."""
    g = _Groups(input, labels, index)
    total = g.sum()
    x = g.flat()
    means = [g.sum(x * c.reshape((-1,)).astype("float64")) / total for c in places(g.x)]
    at = treadle.stack(means, -1).get()
    return tuple(at.tolist()) if g.back is None else list(map(tuple, at.tolist()))


def histogram(input, min, max, bins, labels=None, index=None):
    """The histogram of the elements of each label in index, over equal bins from min to max. Several labels give a
    list."""
    g = _Groups(input, labels, index)
    edges = numpy.linspace(min, max, bins + 1)
    if g.slots is None:
        x = g.flat() if g.mask is None else g.flat()[g.mask.reshape((-1,))]
        return treadle.histogram(x, bins, (min, max))[0]
    x = g.flat()
    at = treadle.searchsorted(_core.asarray(edges, device=x.device), x.astype("float64"), side="right") - 1
    at = treadle.where(x == edges[-1], bins - 1, at)
    inside = (at >= 0) & (at < bins)
    slot = treadle.where(inside, g.slots * bins + at, (g.n + 1) * bins)
    counts = treadle.bincount(slot, minlength=(g.n + 1) * bins + 1)[: g.n * bins].reshape((g.n, bins))
    return [counts[k] for k in g.back.reshape(-1).tolist()]


def labeled_comprehension(input, labels, index, func, out_dtype, default, pass_positions=False):
    """func(elements) for each label in index, default for absent ones. pass_positions adds the elements' flat
    indices."""
    x = _core.asarray(input)
    flat = treadle.arange(x.size, device=x.device).reshape(x.shape)
    if labels is None:
        if index is not None:
            raise ValueError("index without defined labels")
        return func(*((x.reshape((-1,)), flat.reshape((-1,))) if pass_positions else (x.reshape((-1,)),)))
    x, labels, flat = treadle.broadcast_arrays(x, _core.asarray(labels, device=x.device), flat)

    def of(mask):
        return func(*((x[mask], flat[mask]) if pass_positions else (x[mask],)))

    if index is None:
        return of(labels > 0)
    wanted = numpy.atleast_1d(host(index))
    values = []
    for k in wanted.reshape(-1).tolist():
        mask = labels == k
        value = of(mask) if bool(mask.any()) else default
        values.append(value.get() if isinstance(value, _core.ndarray) else value)
    r = numpy.array(values, out_dtype).reshape(wanted.shape)
    return _core.asarray(r[0] if numpy.isscalar(index) else r, device=x.device)


