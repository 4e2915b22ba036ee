"""topk: the largest or smallest elements, by selection or repeated argmax where that beats sorting."""

from typing import NamedTuple

import numpy

from .. import _core
from .._core import arange, empty, ndarray
from .._exchange import _host
from .._exchange._place import own as _own
from . import _selection
from ._sorting import _along_last, _axis, _on_device, _rows, _to_last, _wide

_UFUNC = _core.ufuncs()
_select = _UFUNC["select"]


class TopK(NamedTuple):
    """The result of topk: the elements and their indices."""

    values: ndarray
    indices: ndarray


def _topk(a, k, largest, ordered):
    """The indices of topk along the last axis, by NumPy."""
    n = a.shape[-1]
    if 0 < k < n:
        at = numpy.argpartition(a, n - k if largest else k - 1)[..., slice(n - k, None) if largest else slice(k)]
    else:
        at = numpy.broadcast_to(numpy.arange(n)[:k], (*a.shape[:-1], k)).copy()
    if not ordered:
        return at
    by = numpy.argsort(numpy.take_along_axis(a, at, -1))
    return numpy.take_along_axis(at, by[..., ::-1] if largest else by, -1)


FEW = 64  # topk selects, and does not sort, if a long vector has at least this many elements for each of k


def _few(x, k, largest):
    """(elements, indices) of topk for a long vector of floats on a GPU, by selection. None where sorting must do it."""
    if not _selection.serves(x):
        return None
    at = _selection.largest(x if largest else -x, k)
    if at is None:
        return None
    values = _along_last(x, at)
    by = _rows(values, False, True)[1]
    by = by[::-1] if largest else by
    return _along_last(values, by), _along_last(at, by)


TURNS = 8  # k up to which repeated argmax, a pass over the data for each element, beats sorting rows


def _by_turns(rows, k, largest):
    """(elements, indices) of topk for rows, by repeated argmax with the found elements masked out.

    None where the remaining elements are no better than the mask's value, so that sorting must do it."""
    if rows.dtype.kind not in "iuf" or rows.size == 0:
        return None
    limits = numpy.finfo(rows.dtype) if rows.dtype.kind == "f" else numpy.iinfo(rows.dtype)
    worst = limits.min if largest else limits.max
    if rows.dtype.kind == "f":
        worst = float("-inf") if largest else float("inf")
    out, places = rows.dtype.type(worst), []
    x = _select(_UFUNC["isnan"](rows), out, rows) if rows.dtype.kind == "f" and not largest else rows
    number, twice = arange(rows.shape[-1], device=rows.device), False
    for _ in range(k):
        left = x
        for p in places:
            left = _select(number == p[..., None], out, left)
        at = left.argmax(-1) if largest else left.argmin(-1)
        for p in places:
            twice = (at == p) | twice
        places.append(at)
    if places[1:] and bool(twice.any()):
        return None
    at = empty((*rows.shape[:-1], k), dtype="int64", device=rows.device)
    for j, p in enumerate(places):
        at[..., j] = p
    values = _along_last(rows, at)
    # rows with infinities may have NaN among the results, where the order would be wrong
    mixed = rows.dtype.kind == "f" and not largest and bool((~(values < out)).any())
    return None if mixed else (values, at)


def topk(a, k, axis=-1, largest=True, sorted=True):
    """The largest elements along an axis and their places.

    Parameters
    ----------
    a : array_like, shape (..., N, ...)
        Real numbers; NaN counts as larger than every number.
    k : int
        How many, from 0 to N.
    axis : int, default -1
        Axis to work along; negative numbers count from the last.
    largest : bool, default True
        False: the smallest.
    sorted : bool, default True
        The best comes first; False leaves the order open.

    Returns
    -------
    tuple of ndarrays: values and int64 places, shape (..., k, ...)
        Which of equal elements are taken is open.

    Raises
    ------
    ValueError
        k lies outside of 0 to N.

    Examples
    --------
    >>> np.topk(np.asarray([3.0, 1.0, 2.0]), 2)
    TopK(values=array([3., 2.]), indices=array([0, 2]))
    """
    a = _own(a)
    flat = a.ndim == 0
    a, axis = _axis("topk", a.reshape(1) if flat else a, axis)
    k, n = int(k), a.shape[axis]
    if not 0 <= k <= n:
        raise ValueError(f"topk: k is {k}, the axis has {n} elements")
    rows = _to_last(a, axis)
    if not rows.device.host and 0 < k <= n // FEW:
        few = _few(rows, k, largest) if rows.ndim == 1 else _by_turns(rows, k, largest) if k <= TURNS else None
        if few is not None:
            return TopK(*(_to_last(x, axis) for x in few))
    done = _on_device(rows, a.ndim - 1, False, True)
    if done is None:
        at = _host.library("treadle.topk", _topk, (_wide(rows), k, largest, sorted), {})
    else:
        at = done[1][..., n - k :][..., ::-1] if largest else done[1][..., :k]
    r = TopK(*(_to_last(x, axis) for x in (_along_last(rows, at), at)))
    return TopK(*(x.reshape(()) for x in r)) if flat and k == 1 else r
