"""einsum: sums of products in Einstein's notation.

An expression is split into products of two operands. A pair with a summed label in common is a matrix product of the
transposed and reshaped operands. Other pairs are multiplied with broadcasting, and fuse with what follows.
"""

from math import prod
from string import ascii_letters

import numpy

from .. import _core
from .._core import asarray, ndarray
from .._exchange._host import check_out, few, store
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


def _parse(text, operands):
    """([labels of each operand], labels of the result)."""
    left, arrow, right = text.partition("->")
    parts = left.split(",")
    if len(parts) != len(operands):
        _fail(f"{len(parts)} terms in '{text}' for {len(operands)} operands")
    terms = [_term(p, a.ndim, k) for k, (p, a) in enumerate(zip(parts, operands, strict=True))]
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


def _extents(terms, operands):
    """The extent of every label. Extents of 1 broadcast."""
    n = {}
    for k, (t, a) in enumerate(zip(terms, operands, strict=True)):
        for c, extent in zip(t, a.shape, strict=True):
            if n.get(c, 1) != 1 and extent not in (1, n[c]):
                _fail(f"operand {k} has {extent} elements along '{c}', another one {n[c]}")
            n[c] = extent if n.get(c, 1) == 1 else n[c]
    return n


# ---- the computation ----


def _sum(a, axes):
    """The sum in a's own dtype, as in NumPy's einsum."""
    if not axes:
        return a
    return a.any(tuple(axes)) if a.dtype.kind == "b" else a.sum(tuple(axes), dtype=a.dtype)


def _diagonals(a, t, n):
    """a with each label once. A label that occurs twice is replaced by the diagonal."""
    for c in dict.fromkeys(t):
        while t.count(c) > 1:
            one = t.index(c)
            two = t.index(c, one + 1)
            if a.shape[one] != a.shape[two]:
                _fail(f"dimensions {a.shape[one]} and {a.shape[two]} of one operand are both '{c}'")
            a = diagonal(a, 0, one, two)
            t = [x for k, x in enumerate(t) if k not in (one, two)] + [c]
    return a, t


def _without(a, t, keep, n):
    """a summed over the labels that nothing else uses, without the axes along which it only broadcasts."""
    drop = [k for k, c in enumerate(t) if a.shape[k] == 1 and n[c] != 1]
    if drop:
        a = a.reshape([x for k, x in enumerate(a.shape) if k not in drop])
        t = [c for k, c in enumerate(t) if k not in drop]
    axes = [k for k, c in enumerate(t) if c not in keep]
    return _sum(a, axes), [c for c in t if c in keep]


def _aligned(a, t, labels):
    """A view of a with one axis for each of labels, of extent 1 where a lacks the label."""
    a = a.transpose([t.index(c) for c in labels if c in t]) if t else a
    extents = iter(a.shape)
    return a.reshape([next(extents) if c in t else 1 for c in labels])


def _product(a, ta, b, tb, keep):
    """(the product of two operands summed over the labels that are not in keep, its labels)."""
    batch = [c for c in ta if c in tb and c in keep]
    summed = [c for c in ta if c in tb and c not in keep]
    rows, columns = [c for c in ta if c not in tb], [c for c in tb if c not in ta]
    labels = batch + rows + columns
    if not summed or not (rows or columns):
        full = labels + summed
        r = _aligned(a, ta, full) * _aligned(b, tb, full)
        return _sum(r, range(len(labels), len(full))), labels
    a = a.transpose([ta.index(c) for c in batch + rows + summed])
    b = b.transpose([tb.index(c) for c in batch + summed + columns])
    nb, nr, ns = len(batch), len(rows), len(summed)
    outer, k = a.shape[:nb], prod(b.shape[nb : nb + ns])
    shape = (*outer, *a.shape[nb : nb + nr], *b.shape[nb + ns :])
    m = matmul(a.reshape((*outer, prod(a.shape[nb : nb + nr]), k)), b.reshape((*outer, k, prod(b.shape[nb + ns :]))))
    return m.reshape(shape), labels


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


@few(numpy.einsum)
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
    text, given = _given(operands)
    where = next((a.device for a in given if isinstance(a, ndarray)), None)
    arrays = [on(where, a) for a in given]
    dt = numpy.result_type(*(a.dtype for a in arrays)) if dtype is None else numpy.dtype(dtype)
    for a in arrays:
        if not numpy.can_cast(a.dtype, dt, casting):
            raise TypeError(f"einsum: cannot cast {a.dtype} to {dt} according to the rule '{casting}'")
    terms, result = _parse(text, arrays)
    arrays = [a.astype(dt, copy=False) for a in arrays]
    extents = _extents(terms, arrays)
    r = _contract(arrays, terms, result, extents, optimize)
    if out is None:
        return r
    check_out("einsum", out)
    if out.shape != r.shape:
        _fail(f"out has shape {out.shape}, the result {r.shape}")
    return store("einsum", out, r, casting=casting)


def _contract(arrays, terms, result, extents, optimize):
    left = [_diagonals(a, t, extents) for a, t in zip(arrays, terms, strict=True)]
    for one, two in _path([t for _, t in left], result, extents, optimize):
        b, a = left.pop(two), left.pop(one)
        keep = set(result).union(*(t for _, t in left))
        a, b = _without(*a, keep | set(b[1]), extents), _without(*b, keep | set(a[1]), extents)
        left.append(_product(*a, *b, keep))
    a, t = _without(*left[0], result, extents)
    a = _aligned(a, t, result)
    shape = tuple(extents[c] for c in result)
    return a if a.shape == shape else _core._broadcast_to(a, shape).copy()


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
