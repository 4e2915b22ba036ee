"""Ranks and modes, by sorting."""

import collections

import numpy

import treadle as td

from ..._core import arange, asarray
from ._axes import along, asked, has_nan

ModeResult = collections.namedtuple("ModeResult", "mode count")
METHODS = ("average", "min", "max", "dense", "ordinal")


class _Runs:
    """Runs of equal elements in the rows of a sorted array of two axes: the run of each element, and where runs begin
    and end."""

    def __init__(self, y):
        rows, n = y.shape
        first = td.concatenate([td.ones((rows, 1), dtype=bool, device=y.device), y[:, 1:] != y[:, :-1]], axis=1)
        if y.dtype.kind == "f":
            first[:, 1:] = first[:, 1:] & ~(td.isnan(y[:, 1:]) & td.isnan(y[:, :-1]))
        first = first.reshape(-1)
        self.run = td.cumsum(first.astype("int64")) - 1
        self.starts = td.flatnonzero(first)
        self.ends = td.concatenate([self.starts[1:], td.asarray([rows * n], device=y.device)])
        self.row = arange(rows, dtype="int64", device=y.device)[:, None] * n
        self.shape = y.shape

    def of_each(self, values):
        """Values of runs, repeated for each of their elements."""
        return td.take(values, self.run).reshape(self.shape)


def _ranks(x, method):
    """The ranks in the rows of x, which has two axes."""
    rows, n = x.shape
    order = td.argsort(x, axis=1, kind="stable")
    place = td.broadcast_to(arange(n, dtype="int64", device=x.device), x.shape)
    if method == "ordinal":
        ranked = place + 1
    else:
        runs = _Runs(td.take_along_axis(x, order, 1))
        low, high = runs.of_each(runs.starts) - runs.row + 1, runs.of_each(runs.ends) - runs.row
        if method == "dense":
            run = runs.run.reshape(x.shape)
            ranked = run - run[:, :1] + 1
        else:
            ranked = low if method == "min" else high if method == "max" else (low + high) / 2
    out = td.empty(x.shape, dtype=ranked.dtype, device=x.device)
    td.put_along_axis(out, order, ranked, 1)
    return out


def rankdata(a, method="average", *, axis=None, nan_policy="propagate"):
    """The ranks along axis (None: of the flattened array), from 1 on. method: the rank of equal elements. "average",
    "min" and "max" are of their positions, "dense" leaves no gaps, "ordinal" counts them in order. A slice with NaN
    gives NaN."""
    if method not in METHODS:
        raise ValueError(f'unknown method "{method}"')
    x = asarray(a)
    done = asked("rankdata", nan_policy, [x], (x, method), {"axis": axis, "nan_policy": nan_policy})
    if done is not None:
        return done
    x = x.reshape(-1) if axis is None or x.ndim == 0 else x
    axis = -1 if axis is None else axis
    if not x.size:
        return td.zeros(x.shape, dtype="float64" if method == "average" else "int64", device=x.device)
    last = td.moveaxis(x, axis, -1)
    r = _ranks(last.reshape(-1, last.shape[-1]), method).reshape(last.shape)
    if has_nan(x):
        r = td.where(td.isnan(last).any(-1, keepdims=True), numpy.nan, r)
    return td.moveaxis(r, -1, axis)


def tiecorrect(rankvals):
    """1 minus the sum of t**3 - t over groups of t equal ranks, divided by n**3 - n."""
    y = td.sort(asarray(rankvals).reshape(1, -1))
    n = float(y.size)
    if n < 2:
        return 1.0
    runs = _Runs(y)
    count = (runs.ends - runs.starts).astype("float64")
    return 1.0 - (count**3 - count).sum() / (n**3 - n)


@along()
def mode(a):
    """The most frequent element along axis, or the smallest of several, and how often it occurs."""
    if a.dtype.kind not in "biufc":
        raise TypeError("Argument `a` is not recognized as numeric.")
    if not a.shape[-1]:
        nan = td.full(a.shape[:-1], numpy.nan, device=a.device)
        return ModeResult(nan, td.zeros(a.shape[:-1], device=a.device))
    y = td.sort(a, axis=-1).reshape(-1, a.shape[-1])
    runs = _Runs(y)
    count = runs.of_each(runs.ends - runs.starts)
    best = count.argmax(1)[:, None]
    rest = a.shape[:-1]
    return ModeResult(*(td.take_along_axis(x, best, 1).reshape(rest) for x in (y, count)))
