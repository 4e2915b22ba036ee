"""einsum: sums of products in Einstein's notation.

An expression is split into products of two operands. A pair with a summed label in common is a matrix product of the
transposed and reshaped operands. Other pairs are multiplied with broadcasting, and fuse with what follows.
"""

import operator
from functools import lru_cache
from math import prod
from string import ascii_letters

import numpy

from .. import _core
from .._core import asarray, ndarray
from .._exchange._host import check_out, store
from .._exchange._place import on
from ._diagonals import diagonal
from ._products import matmul


def _fail(text):
    raise ValueError("einsum: " + text)


# ---- the notation ----


def _text_of(sublist):
    """A list of numbers and Ellipsis as letters."""
    if any(k is not Ellipsis and not 0 <= int(k) < len(ascii_letters) for k in sublist):
        _fail(f"a subscript is not in the range [0, {len(ascii_letters)}): {sublist}")
    return "".join("..." if k is Ellipsis else ascii_letters[int(k)] for k in sublist)


def _given(args):
    """(subscripts, operands) for both forms of the call."""
    if len(args) == 0:
        _fail("no operands were given")
    if isinstance(args[0], str):
        return args[0].replace(" ", ""), list(args[1:])
    pairs = len(args) // 2
    text = ",".join(_text_of(args[2 * k + 1]) for k in range(pairs))
    if len(args) % 2:
        text += "->" + _text_of(args[-1])
    return text, [args[2 * k] for k in range(pairs)]


def _term(text, ndim, k):
    """The labels of one operand: letters, and for the axes of `...` numbers that count from the right."""
    before, dots, after = text.partition("...")
    for c in before + after:
        if c not in ascii_letters:
            _fail(f"invalid subscript '{c}' in '{text}'; subscripts are letters and one ellipsis an operand")
    hidden = ndim - len(before) - len(after)
    if hidden < 0 or (hidden and not dots):
        _fail(f"operand {k} has {ndim} dimensions, its subscripts '{text}' name {len(before) + len(after)}")
    return [*before, *range(hidden, 0, -1), *after]


def _parse(text, shapes):
    """([labels of each operand], labels of the result)."""
    left, arrow, right = text.partition("->")
    parts = left.split(",")
    if len(parts) != len(shapes):
        _fail(f"{len(parts)} terms in '{text}' for {len(shapes)} operands")
    terms = [_term(p, len(s), k) for k, (p, s) in enumerate(zip(parts, shapes, strict=True))]
    dots = max((c for t in terms for c in t if isinstance(c, int)), default=0)
    hidden = list(range(dots, 0, -1))
    if not arrow:
        letters = [c for t in terms for c in t if isinstance(c, str)]
        return terms, hidden + sorted(c for c in set(letters) if letters.count(c) == 1)
    before, shown, after = right.partition("...")
    result = [*before, *(hidden if shown else []), *after]
    for c in before + after:
        if c not in ascii_letters or all(c not in t for t in terms):
            _fail(f"the output subscript '{c}' of '{text}' is in no operand")
        if result.count(c) > 1:
            _fail(f"the output of '{text}' includes subscript '{c}' more than once")
    if hidden and not shown:
        _fail(f"'{text}': the output has no ellipsis for the dimensions that the operands broadcast")
    return terms, result


def _extents(terms, shapes):
    """The extent of every label. Extents of 1 broadcast."""
    n = {}
    for k, (t, shape) in enumerate(zip(terms, shapes, strict=True)):
        for c, extent in zip(t, shape, strict=True):
            if n.get(c, 1) != 1 and extent not in (1, n[c]):
                _fail(f"operand {k} has {extent} elements along '{c}', another one {n[c]}")
            n[c] = extent if n.get(c, 1) == 1 else n[c]
    return n


# ---- the computation ----


def _sum(a, axes):
    """The sum in a's own dtype, as in NumPy's einsum."""
    return a.any(axes) if a.dtype.kind == "b" else a.sum(axes, dtype=a.dtype)


def _spread(a, shape):
    return _core._broadcast_to(a, shape).copy()


class _Recipe:
    """What is to be done with operands of some shapes: steps on values, which are known by their numbers."""

    def __init__(self, shapes):
        self.shapes = list(shapes)
        self.steps = []  # (function, numbers of the values that it takes, its other arguments)

    def add(self, shape, function, values, *arguments):
        self.steps.append((function, values, arguments))
        self.shapes.append(tuple(shape))
        return len(self.shapes) - 1

    def sum(self, a, axes):
        axes = tuple(axes)
        return self.add((n for k, n in enumerate(self.shapes[a]) if k not in axes), _sum, (a,), axes) if axes else a

    def transpose(self, a, axes):
        axes = tuple(axes)
        if axes == tuple(range(len(axes))):
            return a
        return self.add((self.shapes[a][k] for k in axes), ndarray.transpose, (a,), axes)

    def reshape(self, a, shape):
        shape = tuple(shape)
        return a if shape == self.shapes[a] else self.add(shape, ndarray.reshape, (a,), shape)

    def run(self, values):
        for function, taken, arguments in self.steps:
            values.append(function(*[values[k] for k in taken], *arguments))
        return values[-1]


def _diagonals(recipe, a, t):
    """a with each label once. A label that occurs twice is replaced by the diagonal."""
    for c in dict.fromkeys(t):
        while t.count(c) > 1:
            one = t.index(c)
            two = t.index(c, one + 1)
            shape = recipe.shapes[a]
            if shape[one] != shape[two]:
                _fail(f"dimensions {shape[one]} and {shape[two]} of one operand are both '{c}'")
            left = [n for k, n in enumerate(shape) if k not in (one, two)]
            a = recipe.add((*left, shape[one]), diagonal, (a,), 0, one, two)
            t = [x for k, x in enumerate(t) if k not in (one, two)] + [c]
    return a, t


def _without(recipe, a, t, keep, n):
    """a summed over the labels that nothing else uses, without the axes along which it only broadcasts."""
    shape = recipe.shapes[a]
    drop = [k for k, c in enumerate(t) if shape[k] == 1 and n[c] != 1]
    if drop:
        a = recipe.reshape(a, [x for k, x in enumerate(shape) if k not in drop])
        t = [c for k, c in enumerate(t) if k not in drop]
    axes = [k for k, c in enumerate(t) if c not in keep]
    return recipe.sum(a, axes), [c for c in t if c in keep]


def _aligned(recipe, a, t, labels):
    """A view of a with one axis for each of labels, of extent 1 where a lacks the label."""
    a = recipe.transpose(a, [t.index(c) for c in labels if c in t])
    extents = iter(recipe.shapes[a])
    return recipe.reshape(a, [next(extents) if c in t else 1 for c in labels])


def _product(recipe, a, ta, b, tb, keep, result):
    """(the product of two operands summed over the labels that are not in keep, its labels). Those of the result stand
    in its order where that costs nothing."""
    place = {c: k for k, c in enumerate(result)}

    def first(t, other):
        return min((place.get(c, len(place)) for c in t if c not in other), default=-1)

    if first(tb, ta) < first(ta, tb):
        a, ta, b, tb = b, tb, a, ta
    batch = [c for c in ta if c in tb and c in keep]
    summed = [c for c in ta if c in tb and c not in keep]
    rows, columns = [c for c in ta if c not in tb], [c for c in tb if c not in ta]
    labels = batch + rows + columns
    if not summed or not (rows or columns):
        labels.sort(key=lambda c: place.get(c, len(place)))
        full = labels + summed
        a, b = _aligned(recipe, a, ta, full), _aligned(recipe, b, tb, full)
        shape = numpy.broadcast_shapes(recipe.shapes[a], recipe.shapes[b])
        return recipe.sum(recipe.add(shape, operator.mul, (a, b)), range(len(labels), len(full))), labels
    a = recipe.transpose(a, [ta.index(c) for c in batch + rows + summed])
    b = recipe.transpose(b, [tb.index(c) for c in batch + summed + columns])
    nb, nr, ns = len(batch), len(rows), len(summed)
    sa, sb = recipe.shapes[a], recipe.shapes[b]
    outer, m, k, n = sa[:nb], prod(sa[nb : nb + nr]), prod(sb[nb : nb + ns]), prod(sb[nb + ns :])
    a, b = recipe.reshape(a, (*outer, m, k)), recipe.reshape(b, (*sb[:nb], k, n))
    product = recipe.add((*outer, m, n), matmul, (a, b))
    return recipe.reshape(product, (*outer, *sa[nb : nb + nr], *sb[nb + ns :])), labels


def _path(terms, result, extents, optimize):
    """The pairs of operands to multiply, step by step."""
    n = len(terms)
    if optimize is False or optimize is None or n < 3:
        return [(0, -1 if k else 1) for k in range(n - 1)]
    letter = dict(zip(extents, ascii_letters, strict=False))
    text = ",".join("".join(letter[c] for c in t) for t in terms) + "->" + "".join(letter[c] for c in result)
    stand_in = [numpy.broadcast_to(numpy.int8(0), [extents[c] for c in t]) for t in terms]
    steps = numpy.einsum_path(text, *stand_in, optimize=optimize)[0][1:]
    return [pair for step in steps for pair in _pairs(step)]


def _pairs(step):
    """A step of several operands as steps of two.

    Positions count among the remaining operands, and each result is put last."""
    first, *rest = sorted(step, reverse=True)
    return [(position, -1 if k else first) for k, position in enumerate(rest)]


_LITTLE = 1 << 14  # product of the operands' sizes up to which NumPy's own loop takes less time


def _by_numpy(operands):
    """NumPy's einsum where that is little work on the CPU's own memory; NotImplemented elsewhere. One operand gives a
    view or a sum."""
    work = 1
    for a in operands[1:]:
        work *= getattr(a, "size", _LITTLE + 1)
    return NotImplemented if len(operands) < 3 or work > _LITTLE else _core._few(numpy.einsum, operands, {}, 16)


def einsum(*operands, out=None, optimize=False, dtype=None, order="K", casting="safe"):
    """Sums of products as subscripts say.

    Labels that are not in the output are summed over. A label that occurs twice in an operand takes its diagonal.
    ``...`` stands for axes that broadcast.

    Parameters
    ----------
    *operands : str and array_like
        ``"ij,jk->ik", a, b``, or ``a, [0, 1], b, [1, 2]``.
    out : ndarray, optional
        Takes the result and is returned: an array of treadle's or NumPy's with the result's shape.
    optimize : bool, str or list, default False
        The order for three operands and more. False: from left to right; True, "greedy", "optimal" or a path of
        einsum_path choose it.
    dtype : dtype, optional
        Dtype of the result.
    order : {'C', 'F', 'A', 'K'}, default 'K'
        Order of the elements in memory.
    casting : str, default 'safe'
        Which casts are allowed, by numpy.can_cast's names.

    Returns
    -------
    ndarray
        Its axes are the labels of the output.

    Raises
    ------
    ValueError
        The subscripts do not fit the operands.

    Examples
    --------
    >>> np.einsum("ij,j->i", [[1, 2], [3, 4]], [5, 6])
    array([17, 39])
    """
    if out is None and dtype is None and order == "K":
        r = _by_numpy(operands)
        if r is not NotImplemented:
            return r
    text, given = _given(operands)
    where = next((a.device for a in given if isinstance(a, ndarray)), None)
    arrays = [on(where, a) for a in given]
    dtypes = {a.dtype for a in arrays}
    if dtype is not None or len(dtypes) > 1:
        dt = numpy.result_type(*dtypes) if dtype is None else numpy.dtype(dtype)
        for own in dtypes:
            if not numpy.can_cast(own, dt, casting):
                raise TypeError(f"einsum: cannot cast {own} to {dt} according to the rule '{casting}'")
        arrays = [a.astype(dt, copy=False) for a in arrays]
    shapes = tuple(a.shape for a in arrays)
    how = optimize if optimize is None or isinstance(optimize, bool | str) else _Path(optimize)
    r = _recipe(text, shapes, how).run(arrays)
    if out is None:
        return r
    check_out("einsum", out)
    if out.shape != r.shape:
        _fail(f"out has shape {out.shape}, the result {r.shape}")
    return store("einsum", out, r, casting=casting)


class _Path(tuple):
    """A path of einsum_path that a cache can hold: its pairs as tuples."""

    def __new__(cls, path):
        return super().__new__(cls, (tuple(p) if isinstance(p, list) else p for p in path))


@lru_cache(maxsize=512)
def _recipe(text, shapes, optimize):
    """The steps that give the result of the subscripts for operands of these shapes."""
    terms, result = _parse(text, shapes)
    extents = _extents(terms, shapes)
    recipe = _Recipe(shapes)
    left = [_diagonals(recipe, k, t) for k, t in enumerate(terms)]
    for one, two in _path(
        [t for _, t in left], result, extents, list(optimize) if isinstance(optimize, _Path) else optimize
    ):
        b, a = left.pop(two), left.pop(one)
        keep = set(result).union(*(t for _, t in left))
        a = _without(recipe, *a, keep | set(b[1]), extents)
        b = _without(recipe, *b, keep | set(a[1]), extents)
        left.append(_product(recipe, *a, *b, keep, result))
    a, t = _without(recipe, *left[0], result, extents)
    a = _aligned(recipe, a, t, result)
    shape = tuple(extents[c] for c in result)
    if recipe.shapes[a] != shape:
        recipe.add(shape, _spread, (a,), shape)
    return recipe


def einsum_path(*operands, optimize="greedy", einsum_call=False):
    """The order in which einsum would take its operands, and a text about its cost.

    Parameters
    ----------
    *operands : str and array_like
        As einsum's.
    optimize : bool, str or tuple, default 'greedy'
        How the order is chosen, as in numpy.einsum_path.
    einsum_call : bool, default False
        Accepted for NumPy's signature; it changes nothing.

    Returns
    -------
    list, str
        The path and the text.

    Examples
    --------
    >>> np.einsum_path("ij,j->i", np.ones((2, 2)), np.ones(2))[0]
    ['einsum_path', (0, 1)]
    """
    text, given = _given(operands)
    shapes = [numpy.broadcast_to(numpy.int8(0), asarray(a).shape) for a in given]
    return numpy.einsum_path(text, *shapes, optimize=optimize)
