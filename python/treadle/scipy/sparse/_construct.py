"""Matrices that are made from shapes, diagonals, blocks and random numbers."""

import math

import numpy

import treadle as td

from ..._core import arange, asarray, ndarray, zeros
from . import _parts
from ._base import Sparse, shape_of, sparray
from ._host import from_scipy
from ._kinds import CLASSES, is_scipys

_UNSAID = object()


def _own(x):
    """x as a sparse matrix of treadle's. SciPy's and dense ones are converted."""
    if isinstance(x, Sparse):
        return x
    return from_scipy(x) if is_scipys(x) else CLASSES["coo", False](x)


def _any_array(items):
    return any(isinstance(x, sparray) or is_scipys(x) and not hasattr(x, "getH") for x in items)


# ---- unit matrices and diagonals ----


def _eye(m, n, k, dtype, format, is_array, device=None):
    m, n = int(m), int(m if n is None else n)
    idx = _parts.index_dtype(m, n)
    if m == n and k == 0 and format in ("csr", "csc"):
        at = arange(n + 1, dtype=idx, device=device)
        ones = td.ones(n, dtype=dtype, device=device)
        return CLASSES[format, is_array]._from(ones, at[:-1].copy(), at, (n, n), canonical=True)
    length = min(m + k, n) if k < 0 else n
    data = td.ones((1, max(0, length)), dtype=dtype, device=device)
    return CLASSES["dia", is_array]((data, numpy.array([k])), shape=(m, n)).asformat(format)


def eye(m, n=None, k=0, dtype=float, format=None):
    """An m by n matrix with ones on the k-th diagonal. n is m unless given."""
    return _eye(m, n, k, dtype, format, False)


def eye_array(m, n=None, *, k=0, dtype=float, format=None):
    """eye as an array."""
    return _eye(m, n, k, dtype, format, True)


def identity(n, dtype="d", format=None):
    """The unit matrix."""
    return _eye(n, n, 0, dtype, format, False)


def spdiags(data, diags, m=None, n=None, format=None):
    """An m by n matrix, or one of shape m, with the rows of data on the diagonals diags. Columns of data stay columns.
    """
    m, n = (len(data[0]),) * 2 if m is None and n is None else m if n is None else (m, n)
    return CLASSES["dia", False]((data, diags), shape=(m, n)).asformat(format)


def diags_array(diagonals, /, *, offsets=0, shape=None, format=None, dtype=_UNSAID, _is_array=True):
    """An array with diagonals at offsets. A diagonal is read from its first element; one with a single element is
    repeated.

    dtype: None means that of the diagonals. If dtype is not given, integers become float64, as in SciPy. Raises
    ValueError if the length of a diagonal does not fit its place.
    """
    if numpy.ndim(offsets) == 0:
        first = diagonals[0] if len(diagonals) else 0
        if len(diagonals) == 0 or numpy.ndim(first) == 0:
            diagonals = [diagonals]
        elif isinstance(diagonals, (ndarray, numpy.ndarray)) and diagonals.ndim == 1:
            diagonals = [diagonals]
        diagonals = [td.atleast_1d(asarray(diagonals[0]))]
    else:
        diagonals = [td.atleast_1d(asarray(d)) for d in diagonals]
    at = numpy.atleast_1d(td.asnumpy(offsets))
    if len(diagonals) != len(at):
        raise ValueError("Different number of diagonals and offsets.")
    if shape is None:
        n = len(diagonals[0]) + abs(int(at[0]))
        shape = (n, n)
    m, n = shape
    if dtype is None or dtype is _UNSAID:
        own = numpy.result_type(*(d.dtype for d in diagonals))
        dtype = numpy.dtype("float64") if dtype is _UNSAID and own.kind in "biu" else own
    width = max(0, max(min(m + int(k), n - int(k)) + max(0, int(k)) for k in at))
    data = zeros((len(diagonals), width), dtype=dtype, device=diagonals[0].device)
    for j, (d, k) in enumerate(zip(diagonals, at.tolist(), strict=True)):
        first, length = max(0, k), min(m + k, n - k, min(m, n))
        if length < 0:
            raise ValueError(f"Offset {k} (index {j}) out of bounds")
        if len(d) not in (1, length):
            if len(d) != 1:
                raise ValueError(
                    f"Diagonal length (index {j}: {len(d)} at offset {k}) does not agree with array size ({m}, {n})."
                )
        data[j, first : first + length] = d[: length if len(d) > 1 else 1].astype(dtype)
    return CLASSES["dia", _is_array]((data, at), shape=(m, n)).asformat(format)


def diags(diagonals, offsets=0, shape=None, format=None, dtype=_UNSAID):
    """diags_array as a matrix."""
    return diags_array(diagonals, offsets=offsets, shape=shape, format=format, dtype=dtype, _is_array=False)


def tril(A, k=0, format=None):
    """The elements on and below the k-th diagonal, a coo matrix."""
    return _triangle(A, lambda row, col: col - row <= k, format)


def triu(A, k=0, format=None):
    """The elements on and above the k-th diagonal, a coo matrix."""
    return _triangle(A, lambda row, col: col - row >= k, format)


def _triangle(a, keep, format):
    a = _own(a).tocoo()
    at = _parts.places(keep(a.row, a.col))
    coords = tuple(_parts.gather(c, at) for c in a.coords)
    return a._class("coo")._from(_parts.gather(a.data, at), coords, a.shape).asformat(format)


def find(A):
    """The rows, columns and values of the nonzero elements, after those at the same place are added up."""
    a = CLASSES["coo", False](_own(A), copy=True)
    a.sum_duplicates()
    at = _parts.places(a.data != 0)
    return tuple(_parts.gather(x, at) for x in (a.row, a.col, a.data))


# ---- products ----


def kron(A, B, format=None):
    """The Kronecker product. It is a coo matrix if format is None."""
    is_array = _any_array([A, B])
    a, b = (_own(x).tocoo() for x in (A, B))
    shape = a.shape[0] * b.shape[0], a.shape[1] * b.shape[1]
    idx, cls = _parts.index_dtype(*shape), CLASSES["coo", is_array]
    n, m = a.data.size, b.data.size
    each = arange(n * m, dtype="int64", device=a.device)
    left, right = (each // m, each % m) if m else (each, each)
    row, col = (
        (_parts.gather(x, left).astype("int64") * k + _parts.gather(y, right)).astype(idx)
        for x, y, k in ((a.row, b.row, b.shape[0]), (a.col, b.col, b.shape[1]))
    )
    data = _parts.gather(a.data, left) * _parts.gather(b.data, right)
    return cls._from(data, (row, col), shape).asformat(format)


def kronsum(A, B, format=None):
    """kron(I, A) + kron(B, I), for square matrices."""
    a, b = _own(A).tocoo(), _own(B).tocoo()
    for x in (a, b):
        if len(x.shape) != 2 or x.shape[0] != x.shape[1]:
            raise ValueError("A and B must be square")
    dtype, is_array = numpy.result_type(a.dtype, b.dtype), _any_array([A, B])
    units = [_eye(x.shape[0], None, 0, dtype, None, is_array, x.device) for x in (b, a)]
    return (kron(units[0], a, format="coo") + kron(b, units[1], format="coo")).asformat(format)


# ---- blocks ----


def bmat(blocks, format=None, dtype=None):
    """A matrix of blocks, given as rows of matrices and None. It is a coo matrix if format is None."""
    return _blocks(blocks, format, dtype, _any_array([x for row in blocks for x in row]))


def block_array(blocks, *, format=None, dtype=None):
    """bmat as an array."""
    return _blocks(blocks, format, dtype, True)


def _blocks(blocks, format, dtype, is_array):
    kinds = {getattr(x, "format", None) for row in blocks for x in row}
    format = kinds.pop() if format is None and kinds in ({"csr"}, {"csc"}) else format
    grid = [[None if x is None else _own(x).tocoo() for x in row] for row in blocks]
    if not grid or any(len(row) != len(grid[0]) for row in grid):
        raise ValueError("blocks must be 2-D")
    heights = [_extent(row, 0, f"blocks[{i},:]") for i, row in enumerate(grid)]
    widths = [_extent(list(line), 1, f"blocks[:,{j}]") for j, line in enumerate(zip(*grid, strict=True))]
    shape = sum(heights), sum(widths)
    idx, rows, cols, data = _parts.index_dtype(*shape), [], [], []
    for i, row in enumerate(grid):
        for j, x in enumerate(row):
            if x is not None:
                rows.append(x.row.astype(idx) + sum(heights[:i]))
                cols.append(x.col.astype(idx) + sum(widths[:j]))
                data.append(x.data)
    dtype = dtype or (numpy.result_type(*(d.dtype for d in data)) if data else None)
    cls = CLASSES["coo", is_array]
    if not data:
        return cls(shape, dtype=dtype).asformat(format)
    together = _parts.join(*(d.astype(dtype) for d in data))
    return cls._from(together, (_parts.join(*rows), _parts.join(*cols)), shape).asformat(format)


def _extent(line, axis, what):
    have = {x._shape2[axis] for x in line if x is not None}
    if not have:
        raise ValueError(f"{what} is all None")
    if len(have) > 1:
        name = ("row", "column")[axis]
        raise ValueError(f"{what} has incompatible {name} dimensions: {sorted(have)}")
    return have.pop()


def hstack(blocks, format=None, dtype=None):
    """Matrices side by side."""
    blocks = list(blocks)
    return _blocks([blocks], format, dtype, _any_array(blocks))


def vstack(blocks, format=None, dtype=None):
    """Matrices on top of each other."""
    blocks = list(blocks)
    return _blocks([[b] for b in blocks], format, dtype, _any_array(blocks))


def block_diag(mats, format=None, dtype=None):
    """Matrices along the diagonal. The result is a coo matrix if format is None."""
    mats = list(mats)
    own = [_own(x if isinstance(x, Sparse) or is_scipys(x) else td.atleast_2d(asarray(x))) for x in mats]
    n = len(own)
    is_array = _any_array(mats)
    own = [x.tocoo().reshape(x._shape2) for x in own]
    shape, row, col, parts = (sum(x.shape[0] for x in own), sum(x.shape[1] for x in own)), 0, 0, []
    idx = _parts.index_dtype(*shape)
    for x in own:
        parts.append((x.row.astype(idx) + row, x.col.astype(idx) + col, x.data))
        row, col = row + x.shape[0], col + x.shape[1]
    cls = CLASSES["coo", is_array]
    if not n:
        return cls(shape, dtype=dtype).asformat(format)
    rows, cols, data = (_parts.join(*x) if n > 1 else x[0] for x in zip(*parts, strict=True))
    return cls._from(data if dtype is None else data.astype(dtype), (rows, cols), shape).asformat(format)


# ---- random matrices ----


def _random(shape, density, format, dtype, rng, sampler, is_array):
    shape = shape_of(shape, (1, 2) if is_array else (2,))
    if not 0 <= density <= 1:
        raise ValueError("density expected to be 0 <= density <= 1")
    total = math.prod(shape)
    count = int(round(density * total))
    draws = rng if hasattr(rng, "choice") else numpy.random.default_rng(rng)
    flat = _distinct(draws, total, count)
    dtype = numpy.dtype(dtype or "float64")
    if sampler is not None:
        data = sampler(size=count)
    elif dtype.kind in "iu":
        data = numpy.random.default_rng(draws.integers(2**63)).integers(numpy.iinfo(dtype).max, size=count, dtype=dtype)
    elif dtype.kind == "c":
        data = draws.random(count) + 1j * draws.random(count)
    else:
        data = draws.random(count)
    places = numpy.unravel_index(flat, shape)
    cls = CLASSES["coo", is_array]
    return cls((asarray(data).astype(dtype), tuple(places)), shape=shape).asformat(format)


def _distinct(draws, total, count):
    """count different numbers below total, drawn on the host. From a large range it draws until there are enough."""
    if total < 4 * count or total < 1 << 16:
        return draws.choice(total, size=count, replace=False)
    have = numpy.zeros(0, numpy.int64)
    while have.size < count:
        have = numpy.unique(numpy.concatenate([have, draws.integers(total, size=count - have.size + 16)]))
    return draws.permutation(have)[:count]


def random_array(shape, *, density=0.01, format="coo", dtype=None, rng=None, data_sampler=None):
    """An array with about density of its elements drawn uniformly, integers from their whole range.
    data_sampler(size=n) may draw them instead. rng: a seed or a numpy.random.Generator, which draws the places on the
    host."""
    return _random(shape, density, format, dtype, rng, data_sampler, True)


def random(m, n, density=0.01, format="coo", dtype=None, rng=None, data_rvs=None, *, random_state=None):
    """random_array as an m by n matrix. data_rvs(n) may draw the elements instead."""
    sampler = None if data_rvs is None else lambda size: data_rvs(size)
    return _random((m, n), density, format, dtype, random_state if rng is None else rng, sampler, False)


def rand(m, n, density=0.01, format="coo", dtype=None, rng=None, *, random_state=None):
    """random with uniformly drawn elements."""
    return random(m, n, density, format, dtype, rng, random_state=random_state)


# ---- axes ----


def swapaxes(A, axis1, axis2):
    """A with two axes exchanged, a coo matrix."""
    order = list(range(A.ndim))
    order[axis1], order[axis2] = order[axis2], order[axis1]
    return permute_dims(A, order)


def permute_dims(A, axes=None, copy=False):
    """A with its axes in another order (None: reversed), a coo array."""
    a = A.tocoo(copy=copy)
    axes = range(a.ndim)[::-1] if axes is None else [k % a.ndim for k in axes]
    return a.transpose(axes=tuple(axes))


def matrix_transpose(A):
    """A with its two axes exchanged. ValueError: it has one axis."""
    if A.ndim != 2:
        raise ValueError("Input array must be at least 2-dimensional")
    return A.transpose()


def expand_dims(A, /, *, axis=0):
    """A with a new axis of extent 1 at axis, a coo array. ValueError: it would have more than two."""
    if not -A.ndim - 1 <= axis <= A.ndim:
        raise ValueError(f"Invalid axis {axis} for a new array of {A.ndim + 1} dims")
    axis %= A.ndim + 1
    return A.tocoo().reshape((*A.shape[:axis], 1, *A.shape[axis:]))
