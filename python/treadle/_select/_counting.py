"""Counting: bincount and histograms, on the arrays' device."""

import operator
import warnings

import numpy

from .. import _core
from .._core import arange, asarray, asnumpy, evaluate, ndarray, zeros
from .._exchange import _host
from .._exchange._host import few
from .._exchange._place import on
from .._exchange._place import own as _own
from .._numpy._folds import fold_runs
from ._estimators import ESTIMATORS, difference, extent
from ._pick import gather
from ._searching import searchsorted
from ._sorting import _on_device
from ._writing import add_at

_UFUNC = _core.ufuncs()
_select = _UFUNC["select"]


@few(numpy.bincount, 4)
def bincount(x, /, weights=None, minlength=0):
    """How often each of the numbers 0, 1, 2, … occurs.

    Weights are added up in float64 in the order of x; on a GPU piece by piece where bins hold many.

    Parameters
    ----------
    x : array_like of int, shape (M,)
        Numbers from 0 on.
    weights : array_like, shape (M,), optional
        Added up in place of counts.
    minlength : int, default 0
        Least length of the result.

    Returns
    -------
    ndarray, shape (N,)
        int64, or float64 with weights; N is evaluated at once.

    Raises
    ------
    ValueError
        x has other than one axis, a number is negative, or weights are not as many.
    TypeError
        x holds no integers.

    Examples
    --------
    >>> np.bincount([0, 1, 1, 3])
    array([1, 2, 0, 1])
    """
    listed = not isinstance(x, (ndarray, numpy.ndarray))
    x = _own(x, weights)
    if x.ndim != 1:
        raise ValueError(f"bincount: expected an array of one axis, not of {x.ndim}")
    if x.dtype.kind not in "iub" and (x.size or not listed):
        raise TypeError(f"bincount: the array holds {x.dtype}, not integers")
    if minlength < 0:
        raise ValueError("'minlength' must not be negative")
    if x.dtype.kind not in "iu":
        x = x.astype("int64")
    top = int(x.astype("uint64").max()) if x.size else -1  # as unsigned, a negative number is large
    if top >= 1 << 63:
        raise ValueError("'list' argument must have no negative elements")
    n = max(top + 1, operator.index(minlength))
    if weights is None or not x.size:  # NumPy does not check the weights of an empty array
        return _core._count(x, n)
    weights = on(x.device, weights)
    if weights.dtype.kind == "c":
        raise TypeError(f"Cannot cast array data from {weights.dtype} to float64 according to the rule 'safe'")
    if weights.shape != x.shape:
        raise ValueError("The weights and list don't have the same length.")
    return _weighed(x, weights.astype("float64"), n)


LONG, PIECES = 1 << 10, 1 << 12  # elements per bin above which a GPU adds up each bin in pieces; pieces of a bin


def _weighed(bins, weights, n):
    """The sums of weights in each bin. Bin -1 is left out."""
    if _core._on_host(bins) or _core._on_host(weights):
        r = _weighed_in_chunks(bins, weights, n)
        if r is not None:
            return r
    if not bins.device.host and n and bins.size > max(LONG * n, PIECES):
        r = _weighed_long(bins, weights, n)
        if r is not None:
            return r
    r = zeros(n, weights.dtype, device=bins.device)
    if bins.size and n:
        evaluate(bins)  # compute the bins in parallel before the sums, which run in order
        inside = bins >= 0
        add_at(r, _select(inside, bins, 0), _select(inside, weights, weights.dtype.type(0)))
    return r


def _weighed_in_chunks(bins, weights, n):
    """The same, chunk by chunk; None where the device holds all of it."""
    step = 1 << 21
    while step > 1 << 12 and not (_core._streams(bins, 16 * step) or _core._streams(weights, 16 * step)):
        step //= 2
    if step == 1 << 12:
        return None
    r = zeros(n, weights.dtype, device=bins.device)
    for k in range(0, bins.size, step):
        r = r + _weighed(bins[k : k + step], weights[k : k + step], n)
        evaluate(r)
    return r


def _weighed_long(bins, weights, n):
    """Sort by bin and cut each bin's weights into pieces; one thread adds up each piece.

    None where the device cannot sort."""
    bins = bins.astype("int16" if n < 1 << 15 else "int64")
    done = _on_device(bins, 0, False, True)
    if done is None:
        return None
    counts = _core._count(bins, n)
    ends = _core._cumsum(counts, 0, None) + (bins.size - counts.sum())
    cuts = [ends[:, None] - counts[:, None] + counts[:, None] * k // PIECES for k in _steps(bins.device)]
    start, stop = (x.ravel() for x in cuts)
    parts = fold_runs(
        "add", gather(weights, done[1]), start, stop, zeros(n * PIECES, weights.dtype, device=bins.device)
    )
    return parts.reshape((n, PIECES)).sum(1)


def _steps(device):
    first = arange(PIECES, device=device)[None, :]
    return first, first + 1


# ---- edges ----


def _ends(a):
    """The least and the greatest element, as NumPy's scalars.

    They are the only values that the host needs. One pass finds both, except for 64-bit integers, which a float does
    not hold."""
    if a.dtype.kind not in "iuf" or a.dtype in ("int64", "uint64"):
        return asnumpy(a.min())[()], asnumpy(a.max())[()]
    both = asnumpy(_core._ends(a))
    return both.real.astype(a.dtype)[()], both.imag.astype(a.dtype)[()]


def _outer(a, span):
    """The outer edges of bins for a, by NumPy's rules."""
    if span is not None:
        first, last = (asnumpy(v)[()] if isinstance(v, ndarray) else v for v in span)
        if first > last:
            raise ValueError("max must be larger than min in range parameter.")
    elif a.size:
        first, last = _ends(a)
    else:
        first, last = 0, 1
    if not (numpy.isfinite(first) and numpy.isfinite(last)):
        raise ValueError(f"{'autodetected' if span is None else 'supplied'} range of [{first}, {last}] is not finite")
    return (first - 0.5, last + 0.5) if first == last else (first, last)


def _number(a, name, span, weights):
    """The number of bins that the named estimator chooses, and their outer edges."""
    if name not in _WIDTHS:
        raise ValueError(f"{name!r} is not a valid estimator for `bins`")
    if weights is not None:
        raise TypeError("Automated estimation of the number of bins is not supported for weighted data")
    ends = _outer(a, span)
    if span is not None:
        keep = (a >= ends[0]) & (a <= ends[1])
        if not bool(keep.all()):
            a = a[keep]
    width = _WIDTHS[name](a, ends) if a.size else 0
    if width and a.dtype.kind in "iu" and width < 1:
        width = 1
    return ends, int(numpy.ceil(difference(ends[1], ends[0]) / width)) if width else 1


def _given(shown, bins, a):
    """Edges that the caller gave, as _edges returns them. They may turn out to be equally spaced."""
    host = asnumpy(bins)
    if (host[:-1] > host[1:]).any():
        raise ValueError("`bins` must increase monotonically, when an array")
    dt = numpy.result_type(a.dtype, host.dtype, "float32") if a.dtype.kind in "iuf" else host.dtype
    even = a.dtype.kind in "iuf" and host.dtype.kind in "iuf" and dt in ("float32", "float64") and len(host) > 1
    if not even or host.dtype.itemsize * (host.dtype.kind != "f") == 8 and abs(host).max() > 2**53:
        return shown, None
    wide = host.astype(dt)
    if not (numpy.isfinite(wide).all() and (wide[:-1] < wide[1:]).all()):
        return shown, None
    same = numpy.array_equal(wide, numpy.linspace(host[0], host[-1], len(host), dtype=dt))
    return shown, (float(wide[0]), float(wide[-1]), dt) if same else None


def _edges(a, bins, span, weights):
    """(NumPy's edges on a's device, the spacing).

    The spacing is (first edge, last edge, dtype in which NumPy compares) for equally spaced bins, else None."""
    if isinstance(bins, str):
        ends, n = _number(a, bins, span, weights)
    elif isinstance(bins, ndarray) and bins.ndim or numpy.ndim(bins):
        shown = on(a.device, bins)
        if shown.ndim != 1:
            raise ValueError("`bins` must be 1d, when an array")
        return _given(shown, bins, a)
    else:
        try:
            n = operator.index(bins)
        except TypeError:
            raise TypeError("`bins` must be an integer, a string, or an array") from None
        if n < 1:
            raise ValueError("`bins` must be positive, when an integer")
        ends = _outer(a, span)
    dt = numpy.result_type(*ends, a.dtype)
    dt = numpy.result_type(dt, float) if dt.kind in "iu" else dt
    edges = numpy.linspace(*ends, n + 1, dtype=dt)
    if (edges[:-1] >= edges[1:]).any():
        raise ValueError(f"Too many bins for data range. Cannot create {n} finite-sized bins.")
    return on(a.device, edges), (float(edges[0]), float(edges[-1]), dt)


def _data(a, weights):
    """Both flattened. Bools become uint8, as in NumPy."""
    a = _own(a, weights)
    if a.dtype.kind == "b":
        warnings.warn(
            "Converting input from bool to <class 'numpy.uint8'> for compatibility.", RuntimeWarning, stacklevel=3
        )
        a = a.astype("uint8")
    if weights is not None:
        weights = on(a.device, weights)
        if weights.shape != a.shape:
            raise ValueError("weights should have the same shape as a.")
        weights = weights.ravel()
    return a.ravel(), weights


def histogram_bin_edges(a, bins=10, range=None, weights=None):
    """The edges of the bins that histogram would use.

    Parameters
    ----------
    a : array_like
        Real numbers.
    bins : int, array_like or str, default 10
        How many equal bins, rising edges, or "auto", "doane", "fd", "rice", "scott", "sqrt", "stone" or "sturges".
    range : pair of floats, optional
        Ends of equal bins; None means the least and the greatest element.
    weights : array_like of a's shape, optional
        Accepted with a number of bins and with edges.

    Returns
    -------
    ndarray, shape (N + 1,)
        Rising edges.

    Raises
    ------
    ValueError
        As histogram's.

    Examples
    --------
    >>> np.histogram_bin_edges([0, 1, 4], 2)
    array([0., 2., 4.])
    """
    a, weights = _data(a, weights)
    return _edges(a, bins, range, weights)[0]


# ---- histograms ----


def _bins(x, edges, ends=None):
    """The bin of each element, -1 outside of all. The last bin includes its right edge. ends: the spacing that _edges
    returns."""
    n = edges.shape[0] - 1
    if ends and ends[2] in ("float32", "float64") and _doubt(n, *ends) < 0.25:
        return _even_bins(x.astype(ends[2], copy=False), edges.astype(ends[2], copy=False), *ends[:2])
    at = searchsorted(edges, x, "right") - 1
    at = _select(x == edges[-1], n - 1, at)
    return _select(at < n, at, -1)


def _doubt(n, first, last, dt):
    """A bound on the error, in bins, of a number's computed position among n equal bins: its rounding and that of the
    edges."""
    scale = n / (last - first)
    if not scale < float(numpy.finfo(dt).max):
        return numpy.inf
    return 8 * float(numpy.finfo(dt).eps) * (n + max(abs(first), abs(last)) * scale)


def _even_bins(x, edges, first, last):
    """The bin of each element among equal bins.

    A multiplication gives the bin, perhaps off by one; comparing with both of its edges corrects that."""
    n = edges.shape[0] - 1
    inside = (x >= edges[0]) & (x <= edges[-1])
    place = _select(inside, (x - edges[0]) * (n / (last - first)), x.dtype.type(0))
    at = _UFUNC["minimum"](_UFUNC["maximum"](place, 0), n - 1).astype("int64")
    at = at - (x < gather(edges, at)) * (at > 0)
    at = at + ((x >= gather(edges, at + 1)) & (at < n - 1))
    return _select(inside, at, -1)


def _counted(x, shown, ends, weights):
    n = shown.shape[0] - 1
    if n < 1:
        return zeros(0, "int64" if weights is None else weights.dtype, device=x.device)
    if weights is None and ends and ends[2] in ("float32", "float64") and n < 1 << 20 and _doubt(n, *ends) < numpy.inf:
        first, last, dt = ends
        return _core._histogram(x.astype(dt, copy=False), shown.astype(dt, copy=False), first, last)
    at = _bins(x, shown, ends)
    if weights is None:
        return _core._count(at, n)
    if weights.dtype.kind == "c":
        parts = (_weighed(at, _UFUNC[part](weights).astype("float64"), n) for part in ("real", "imag"))
        re, im = parts
        return (re + im * 1j).astype(weights.dtype)
    return _weighed(at, weights.astype("float64"), n).astype(weights.dtype)


def histogram(a, bins=10, range=None, density=None, weights=None):
    """How many elements fall into each bin.

    Parameters
    ----------
    a : array_like
        Real numbers; they are flattened.
    bins : int, array_like or str, default 10
        How many equal bins, rising edges, or an estimator of histogram_bin_edges.
    range : pair of floats, optional
        Ends of equal bins; None means the least and the greatest element.
    density : bool, optional
        Divide by the sum and by the bins' widths.
    weights : array_like of a's shape, optional
        Added up in place of counts.

    Returns
    -------
    tuple of ndarrays: counts (N,), edges (N + 1,)
        Counts are int64, or of the weights' dtype.

    Raises
    ------
    ValueError
        The edges fall, range is not finite, or there are no bins.

    Examples
    --------
    >>> np.histogram([1, 2, 2, 9], 2)
    (array([3, 1]), array([1., 5., 9.]))
    """
    if isinstance(a, ndarray) and a.dtype.kind == "c":
        return _host.fallback("numpy.histogram", numpy.histogram, (a, bins, range, density, weights), {})
    a, weights = _data(a, weights)
    shown, ends = _edges(a, bins, range, weights)
    counts = _counted(a, shown, ends, weights)
    if density:
        counts = counts / (shown[1:] - shown[:-1]).astype("float64") / counts.sum()
    return counts, shown


def _stone(x, ends):
    """The width of the bins whose histogram has the least expected error, among those of up to so many bins."""
    n, whole = x.size, extent(x)
    if n <= 1 or whole == 0:
        return 0

    def error(bins):
        p = asnumpy(histogram(x, bins, ends)[0]) / n
        return (2 - (n + 1) * p.dot(p)) / (whole / bins)

    most = max(100, int(numpy.sqrt(n)))
    best = min(range(1, most + 1), key=error)
    if best == most:
        warnings.warn("The number of bins estimated may be suboptimal.", RuntimeWarning, stacklevel=4)
    return whole / best


_WIDTHS = {**ESTIMATORS, "stone": _stone}


def _columns(sample):
    """The coordinates of the points: the columns of a matrix, or a sequence of vectors."""
    if isinstance(sample, (ndarray, numpy.ndarray)) and sample.ndim == 2:
        sample = _own(sample)
        return [sample[:, k] for k in _range(sample.shape[1])]
    if isinstance(sample, (ndarray, numpy.ndarray)):
        if sample.ndim > 2:
            raise ValueError(f"histogramdd: the sample has {sample.ndim} axes, not 1 or 2")
        return [_own(sample).ravel()]
    columns = list(_core._beside("histogramdd", *sample)) if len(sample) > 1 else [_own(sample[0])]
    if columns[0].ndim == 0:
        columns = [asarray(sample)]
    dt = numpy.result_type(*(c.dtype for c in columns))
    return [c.astype(dt, copy=False) for c in columns]


_range = range


def _edges_along(k, column, bins, span):
    if not (isinstance(bins, ndarray) and bins.ndim) and numpy.ndim(bins) == 0:
        if bins < 1:
            raise ValueError(f"`bins[{k}]` must be positive, when an integer")
        ends = _outer(column, span)
        try:
            n = operator.index(bins)
        except TypeError:
            raise TypeError(f"`bins[{k}]` must be an integer, when a scalar") from None
        edges = numpy.linspace(*ends, n + 1)
        dt = numpy.result_type(column.dtype, "float64") if column.dtype.kind in "iuf" else None
        even = dt == "float64" and column.dtype not in ("int64", "uint64") and edges[0] < edges[-1]
        return on(column.device, edges), (float(edges[0]), float(edges[-1]), dt) if even else None
    edges = on(column.device, bins)
    if edges.ndim != 1:
        raise ValueError(f"`bins[{k}]` must be a scalar or 1d array")
    if bool((edges[:-1] > edges[1:]).any()):
        raise ValueError(f"`bins[{k}]` must be monotonically increasing, when an array")
    return edges, None


def histogramdd(sample, bins=10, range=None, density=None, weights=None):
    """How many points of a space of D axes fall into each box.

    Parameters
    ----------
    sample : array_like, shape (M, D), or sequence of D vectors
        Coordinates.
    bins : int, sequence of int or sequence of array_like, default 10
        A number of equal bins for all axes, or for each axis a number or rising edges.
    range : sequence of pairs of floats, optional
        Ends of equal bins for each axis; None means the least and the greatest coordinate.
    density : bool, optional
        Divide by the sum and by the boxes' volumes.
    weights : array_like, shape (M,), optional
        Added up in place of counts.

    Returns
    -------
    ndarray, shape (N0, N1, ...), and list of ndarrays
        Counts in float64, and the edges along each axis.

    Raises
    ------
    ValueError
        bins or range have not D entries.

    Examples
    --------
    >>> np.histogramdd([[0, 0], [1, 1], [1, 1]], 2)[0]
    array([[[0., 0.],
            [0., 0.]],
    <BLANKLINE>
           [[0., 0.],
            [0., 2.]]])
    """
    columns = _columns(sample)
    d = len(columns)
    if not d:
        raise ValueError("histogramdd: the points have no coordinates")
    if isinstance(bins, (ndarray, numpy.ndarray, list, tuple)):
        if len(bins) != d:
            raise ValueError("The dimension of bins must be equal to the dimension of the sample x.")
    else:
        bins = [bins] * d
    if range is None:
        range = [None] * d
    elif len(range) != d:
        raise ValueError("range argument must have one entry per dimension")
    made = [_edges_along(k, *row) for k, row in enumerate(zip(columns, bins, range, strict=True))]
    edges = [e for e, _ in made]
    shape = [e.shape[0] - 1 for e in edges]
    total, inside = 0, True
    for x, (e, ends), n in zip(columns, made, shape, strict=True):
        at = _bins(x, e, ends)
        total, inside = total * n + at, (at >= 0) & inside
    total, n = _select(inside, total, -1), int(numpy.prod(shape, dtype=object))
    if weights is None:
        counts = _core._count(total, n).astype("float64")
    else:
        weights = on(columns[0].device, weights)
        if weights.shape != total.shape:
            raise ValueError("The weights and list don't have the same length.")
        counts = _weighed(total, weights.astype("float64"), n)
    counts = counts.reshape(shape)
    if density:
        whole = counts.sum()
        for k, e in enumerate(edges):
            counts = counts / (e[1:] - e[:-1]).reshape([-1 if j == k else 1 for j in _range(d)])
        counts = counts / whole
    return counts, edges


def histogram2d(x, y, bins=10, range=None, density=None, weights=None):
    """How many points of a plane fall into each box.

    Parameters
    ----------
    x, y : array_like, shape (M,)
        Coordinates.
    bins : int, array_like or pair of them, default 10
        A number of equal bins or rising edges for both axes, or a pair for each.
    range : pair of pairs of floats, optional
        Ends of equal bins; None means the least and the greatest coordinate.
    density : bool, optional
        Divide by the sum and by the boxes' areas.
    weights : array_like, shape (M,), optional
        Added up in place of counts.

    Returns
    -------
    tuple of ndarrays: counts (Nx, Ny), edges along x, edges along y
        Counts are float64.

    Raises
    ------
    ValueError
        x and y differ in length, or have several axes.

    Examples
    --------
    >>> np.histogram2d([0, 1, 1], [0, 1, 1], 2)[0]
    array([[1., 0.],
           [0., 2.]])
    """
    if len(x) != len(y):
        raise ValueError("x and y must have the same length.")
    if numpy.ndim(x) != 1 or numpy.ndim(y) != 1:
        raise ValueError(f"histogram2d: x and y must have one axis, not {numpy.ndim(x)} and {numpy.ndim(y)}")
    if isinstance(bins, (ndarray, numpy.ndarray, list, tuple)) and len(bins) not in (1, 2):
        bins = [bins, bins]
    counts, edges = histogramdd([x, y], bins, range, density, weights)
    return counts, edges[0], edges[1]
