"""pad: arrays with borders, in all of NumPy's modes.

Axes are padded one after the other, as in NumPy, so borders of the second axis include those of the first. Modes that
repeat elements use an index; the others join border, array and border.
"""

import numpy

from .. import _core
from .._core import asarray, asnumpy, empty, full, ndarray
from .._exchange import _host
from .._exchange._host import few
from ._join import concatenate
from ._shape import _cut

# The keywords of each mode, with their defaults.
_KEYWORDS = {
    "constant": {"constant_values": 0},
    "edge": {},
    "empty": {},
    "linear_ramp": {"end_values": 0},
    "maximum": {"stat_length": None},
    "mean": {"stat_length": None},
    "median": {"stat_length": None},
    "minimum": {"stat_length": None},
    "reflect": {"reflect_type": "even"},
    "symmetric": {"reflect_type": "even"},
    "wrap": {},
}


def _pairs(x, ndim, what, integers=False):
    """(before, after) for each axis, from a number, a pair, or a pair for each axis."""
    x = asnumpy(x)
    try:
        pairs = numpy.broadcast_to(x, (ndim, 2)).tolist()
    except ValueError:
        raise ValueError(f"pad: {what} of shape {x.shape} does not broadcast to one pair for {ndim} axes") from None
    if integers:
        if x.dtype.kind not in "iu" and x.size:
            raise TypeError(f"`{what}` must be of integral type.")
        if (x < 0).any():
            raise ValueError(f"index can't contain negative values: {what} {x.tolist()}")
    return pairs


def _widths(pad_width, ndim):
    if isinstance(pad_width, dict):
        pairs = [(0, 0)] * ndim
        for axis, width in pad_width.items():
            pairs[axis] = width if isinstance(width, tuple) else (width, width)
        pad_width = pairs
    return _pairs(pad_width, ndim, "pad_width", integers=True)


def _piece(a, axis, start, stop):
    return a[_cut(a.ndim, axis, slice(start, stop))]


def _wide(edge, axis, n):
    """A border that repeats one element n times along axis."""
    shape = list(edge.shape)
    shape[axis] = n
    return _core._broadcast_to(edge, tuple(shape))


def _joined(a, axis, before, after):
    return concatenate([part for part in (before, a, after) if part is not None], axis, dtype=a.dtype)


def _repeated(a, axis, lo, hi, mode, options):
    if options.get("reflect_type") == "odd":
        return _odd(a, axis, lo, hi, mode)
    index = numpy.pad(numpy.arange(a.shape[axis]), (lo, hi), mode=mode)
    return _core._take(a, asarray(index, device=a.device), axis)


def _odd(a, axis, lo, hi, mode):
    """Borders of the mode's odd reflections: values mirrored about the edge's value.

    A border that is longer than the array takes several rounds."""
    n = a.shape[axis]
    if n == 1 and mode == "reflect":
        return _repeated(a, axis, lo, hi, "edge", {})
    shift = 1 if mode == "reflect" else 0
    while lo or hi:
        size = a.shape[axis]
        reach = (size - shift) if size == n else (size - shift) // (n - shift) * (n - shift)
        one, two = min(lo, reach), min(hi, reach)
        first, last = _piece(a, axis, 0, 1), _piece(a, axis, size - 1, size)
        before = _flip(_piece(a, axis, shift, shift + one), axis)
        after = _flip(_piece(a, axis, size - shift - two, size - shift), axis)
        a = _joined(a, axis, 2 * first - before if one else None, 2 * last - after if two else None)
        lo, hi = lo - one, hi - two
    return a


def _flip(a, axis):
    return a[_cut(a.ndim, axis, slice(None, None, -1))]


def _ramp(edge, axis, n, end, rising):
    """n values from end towards, but without, the edge. rising: the ramp comes before the array."""
    steps = asarray(numpy.arange(n) / n, device=edge.device)
    steps = (steps if rising else steps[::-1]).reshape([-1 if k == axis else 1 for k in range(edge.ndim)])
    # in floats, because unsigned differences would wrap
    start = edge.astype("float64") if edge.dtype.kind in "iu" else edge
    values = end + (start - end) * steps
    if edge.dtype.kind in "iu":
        values = _core.ufuncs()["floor"](values)
    return values.astype(edge.dtype)


def _statistic(a, axis, mode, length, end):
    """One statistic of the `length` elements next to an end."""
    n = a.shape[axis]
    length = n if length is None else min(int(length), n)
    if length < 1 and mode in ("maximum", "minimum"):
        raise ValueError("stat_length of 0 yields no value for padding")
    part = _piece(a, axis, 0, length) if end == 0 else _piece(a, axis, n - length, n)
    if mode == "median":
        from .._select._quantile import median

        r = median(part, axis, keepdims=True)
    else:
        r = getattr(part, {"maximum": "max", "minimum": "min", "mean": "mean"}[mode])(axis, keepdims=True)
    if a.dtype.kind in "iu" and r.dtype.kind == "f":
        r = _core.ufuncs()["rint"](r)
    return r.astype(a.dtype)


def _borders(a, axis, lo, hi, mode, option):
    """(border before a, border after a). None for a border of width 0."""
    n, widths = a.shape[axis], (lo, hi)
    r = [None, None]
    for end in (0, 1):
        if widths[end] == 0:
            continue
        shape = (*a.shape[:axis], widths[end], *a.shape[axis + 1 :])
        if mode == "constant":
            r[end] = full(shape, option[end], a.dtype, device=a.device)
        elif mode == "empty":
            r[end] = empty(shape, a.dtype, device=a.device)
        elif mode == "linear_ramp":
            edge = _piece(a, axis, 0, 1) if end == 0 else _piece(a, axis, n - 1, n)
            r[end] = _ramp(edge, axis, widths[end], option[end], end == 0)
        else:
            r[end] = _wide(_statistic(a, axis, mode, option[end], end), axis, widths[end])
    return r


# Where the elements of a border stand, counted from the edge: for a reflection the edge itself is left out.
_FRAMED = {"constant": None, "edge": None, "reflect": 1, "symmetric": 0, "wrap": 0}


def _frames(a, widths, mode, options):
    """Can the borders be copied from the array as it is, or filled? Longer ones would repeat others."""
    if mode not in _FRAMED or options.get("reflect_type", "even") != "even" or _core._on_host(a):
        return False
    least = _FRAMED[mode]
    return (
        a.size > 0
        and a.flags.c_contiguous
        and (least is None or all(max(pair) <= n - least for pair, n in zip(widths, a.shape, strict=True)))
    )


def _backwards(start, count):
    return slice(start, start - count if start >= count else None, -1)


def _sources(mode, n, lo, hi):
    """The slices of an axis that come before and after its n elements, which stand from lo on."""
    if mode == "edge":
        return slice(lo, lo + 1), slice(lo + n - 1, lo + n)
    if mode == "wrap":
        return slice(n, n + lo), slice(lo, lo + hi)
    skip = _FRAMED[mode]
    return _backwards(2 * lo + skip - 1, lo), _backwards(lo + n - 1 - skip, hi)


def _framed(a, widths, mode, fill):
    """A copy of the array, and its borders written round it, axis by axis: later ones hold the corners."""
    inner = [slice(lo, lo + n) for (lo, _), n in zip(widths, a.shape, strict=True)]
    r = empty(tuple(lo + n + hi for (lo, hi), n in zip(widths, a.shape, strict=True)), a.dtype, device=a.device)
    r[tuple(inner)] = a
    for axis, (lo, hi) in enumerate(widths):
        n = a.shape[axis]
        values = fill[axis] if mode == "constant" else _sources(mode, n, lo, hi)
        for width, border, value in zip((lo, hi), (slice(0, lo), slice(lo + n, None)), values, strict=True):
            if width:
                all_of = [*[slice(None)] * axis, border, *inner[axis + 1 :]]
                from_ = [*[slice(None)] * axis, value, *inner[axis + 1 :]]
                r[tuple(all_of)] = value if mode == "constant" else r[tuple(from_)]
    return r


def _by_function(a, widths, f, kwargs):
    """A mode that the caller defines: f(vector, (before, after), axis, kwargs) changes each vector of a host array in
    place."""
    return _host.fallback("numpy.pad", numpy.pad, (a, widths, f), kwargs, "its mode is a Python function")


@few(numpy.pad)
def pad(array, pad_width, mode="constant", **kwargs):
    """The array with borders.

    Parameters
    ----------
    array : array_like
        The array.
    pad_width : int, pair, sequence of pairs or dict
        Elements before and after: one number, (before, after), a pair for each axis, or a dict from axes to pairs.
    mode : str or callable, default 'constant'
        "constant", "edge", "empty", "linear_ramp", "maximum", "mean", "median", "minimum", "reflect", "symmetric",
        "wrap", or NumPy's function(vector, width, axis, kwargs), which runs on the host.
    **kwargs : any
        constant_values, end_values, stat_length or reflect_type, as the mode takes them.

    Returns
    -------
    ndarray
        Of array's dtype.

    Raises
    ------
    ValueError
        There is no such mode, or a keyword is not the mode's.
    TypeError
        pad_width holds no integers.

    Examples
    --------
    >>> np.pad([1, 2], (1, 2))
    array([0, 1, 2, 0, 0])
    """
    a = array if isinstance(array, ndarray) else asarray(array)
    widths = _widths(pad_width, a.ndim)
    if callable(mode):
        return _by_function(a, widths, mode, kwargs)
    if mode not in _KEYWORDS:
        raise ValueError(f"mode '{mode}' is not supported")
    strange = set(kwargs) - set(_KEYWORDS[mode])
    if strange:
        raise ValueError(f"unsupported keyword arguments for mode '{mode}': {strange}")
    options = {**_KEYWORDS[mode], **kwargs}
    if options.get("reflect_type", "even") not in ("even", "odd"):
        raise ValueError(f"pad: reflect_type is 'even' or 'odd', not {options['reflect_type']!r}")
    per_axis = [(None, None)] * a.ndim
    for name, value in options.items():
        if name != "reflect_type" and value is not None:
            per_axis = _pairs(value, a.ndim, name, integers=name == "stat_length")
    if _frames(a, widths, mode, options):
        return _framed(a, widths, mode, per_axis)
    start = a
    for axis, (lo, hi) in enumerate(widths):
        if lo == hi == 0:
            continue
        if a.shape[axis] == 0 and mode not in ("constant", "empty"):
            raise ValueError(f"can't extend empty axis {axis} using modes other than 'constant' or 'empty'")
        if mode in ("edge", "reflect", "symmetric", "wrap"):
            a = _repeated(a, axis, lo, hi, mode, options)
        else:
            a = _joined(a, axis, *_borders(a, axis, lo, hi, mode, per_axis[axis]))
    return a.copy() if a is start else a
