"""NumPy's functions of whole arrays for compiled code on a CPU, written in Python: sorting, choosing.

``ARRAYS`` maps a function to the one that is compiled in its place. ``METHODS`` does so for methods of arrays, and for
subscripts that are arrays. Unless a function says otherwise, its arrays have one axis.
"""

import numpy as np

from ._arrayjoins import _concatenate, _kept


def _truth(a):
    if a.size > 1:
        raise ValueError("The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()")
    if a.size == 0:
        raise ValueError("The truth value of an empty array is ambiguous. Use `array.size > 0` instead")
    return bool(a.flatten()[0])


# ---- order: NaN last, equal elements as they came ----


def _before(x, y):
    if isinstance(x, np.complexfloating):
        return _pair_before(x.real, x.imag, y.real, y.imag)
    return x < y or (y != y and x == x)


def _pair_before(a, b, c, d):
    """Is a + bj before c + dj? The real parts decide, then the imaginary ones. NaN comes last."""
    if a < c:
        return b == b or d != d
    if a > c:
        return b == b and d != d
    if a == c or (a != a and c != c):
        return b < d or (d != d and b == b)
    return c != c


def _sort_vector(a):
    n = a.size
    for low in range(0, n, 16):
        for i in range(low + 1, min(low + 16, n)):
            x = a[i]
            k = i
            while k > low and _before(x, a[k - 1]):
                a[k] = a[k - 1]
                k -= 1
            a[k] = x
    room = np.empty(n, a.dtype)
    width = 16
    while width < n:
        for low in range(0, n, 2 * width):
            middle, end = min(low + width, n), min(low + 2 * width, n)
            i, j = low, middle
            for k in range(low, end):
                if j >= end or (i < middle and not _before(a[j], a[i])):
                    room[k] = a[i]
                    i += 1
                else:
                    room[k] = a[j]
                    j += 1
        a[:] = room
        width *= 2


def _sort_in_place(a, axis=-1, kind=None):
    if a.ndim == 1:
        _sort_vector(a)
    elif axis == -1 or axis == a.ndim - 1:
        for at in np.ndindex(a.shape[:-1]):
            _sort_vector(a[at])
    elif a.ndim == 2 and (axis == 0 or axis == -2):
        for j in range(a.shape[1]):
            _sort_vector(a[:, j])
    else:
        raise ValueError("sort: of more than two axes here only the last one is sorted along")


def _sort(a, axis=-1, kind=None):
    x = np.array(a)
    _sort_in_place(x, axis)
    return x


def _argsort(a, axis=-1, kind="quicksort"):
    x = np.asarray(a)
    if x.ndim == 1:
        return _argsort_vector(x)
    out = np.empty(x.shape, np.int64)
    if axis == -1 or axis == x.ndim - 1:
        for at in np.ndindex(x.shape[:-1]):
            out[at] = _argsort_vector(x[at])
    elif x.ndim == 2 and (axis == 0 or axis == -2):
        for j in range(x.shape[1]):
            out[:, j] = _argsort_vector(x[:, j])
    else:
        raise ValueError("argsort: of more than two axes here only the last one is sorted along")
    return out


def _argsort_vector(x):
    n = x.size
    at, room = np.arange(n), np.empty(n, np.int64)
    width = 1
    while width < n:
        for low in range(0, n, 2 * width):
            middle, end = min(low + width, n), min(low + 2 * width, n)
            i, j = low, middle
            for k in range(low, end):
                if j >= end or (i < middle and not _before(x[at[j]], x[at[i]])):
                    room[k] = at[i]
                    i += 1
                else:
                    room[k] = at[j]
                    j += 1
        at[:] = room
        width *= 2
    return at


def _in_bounds(kth, n):
    """Refuse places that a partition of n elements does not have. NumPy asks nothing of no elements."""
    places = np.asarray(kth)
    if places.ndim > 1:
        raise ValueError("object too deep for desired array")
    if n == 0:
        return
    for k in places.flatten():
        if not -n <= k < n:
            raise ValueError(f"kth(={k}) out of bounds ({n})")


def _partition(a, kth):
    x = np.array(a)
    _partition_in_place(x, kth)
    return x


def _partition_in_place(a, kth, axis=-1):
    _in_bounds(kth, a.shape[axis])
    _sort_in_place(a, axis)


def _argpartition(a, kth):
    x = np.asarray(a)
    _in_bounds(kth, x.shape[-1])
    return _argsort(x)


def _unique(ar):
    x = np.array(ar).flatten()
    _sort_vector(x)
    keep = np.ones(x.size, np.bool_)
    for k in range(1, x.size):
        keep[k] = x[k] != x[k - 1] and not (x[k] != x[k] and x[k - 1] != x[k - 1])
    return _kept(x, keep)


def _place(a, v, right):
    low, high = 0, a.size
    while low < high:
        middle = (low + high) // 2
        if _before(a[middle], v) or (right and not _before(v, a[middle])):
            low = middle + 1
        else:
            high = middle
    return low


def _searchsorted(a, v, side="left"):
    if side != "left" and side != "right":
        raise ValueError("search side must be 'left' or 'right'")
    x = np.asarray(a)
    right = side == "right"
    if isinstance(v, (np.ndarray, list, tuple)):
        values = np.asarray(v)
        return _places(x, values.flatten(), right).reshape(values.shape)
    return _place(x, v, right)


def _places(a, keys, right):
    """_place for each key. Where the keys ascend, the search goes on from the place of the key before. NumPy does so,
    too, which tells in an array that is not in order."""
    out = np.empty(keys.size, np.int64)
    low, high = 0, a.size
    for k in range(keys.size):
        x = keys[k]
        if k > 0:
            ascends = not _before(x, keys[k - 1]) if right else _before(keys[k - 1], x)
            low, high = (low, a.size) if ascends else (0, min(low + 1, a.size))
        while low < high:
            middle = (low + high) // 2
            if _before(a[middle], x) or (right and not _before(x, a[middle])):
                low = middle + 1
            else:
                high = middle
        out[k] = low
    return out


def _has(ordered, x):
    at = _place(ordered, x, False)
    return at < ordered.size and ordered[at] == x


def _monotonic(a):
    """1 where a does not fall, -1 where it does not rise, 0 where it does both."""
    at = 1
    while at < a.size and a[at] == a[0]:
        at += 1
    if at >= a.size:
        return 1
    rises = a[0] < a[at]
    for k in range(at + 1, a.size):
        if (a[k - 1] > a[k]) if rises else (a[k - 1] < a[k]):
            return 0
    return 1 if rises else -1


def _digitize(x, bins, right=False):
    edges = np.asarray(bins)
    way = _monotonic(edges)
    if way == 0:
        raise ValueError("bins must be monotonically increasing or decreasing")
    if way < 0:
        up = edges[::-1].copy()
        return edges.size - (_searchsorted(up, x, "left") if right else _searchsorted(up, x, "right"))
    return _searchsorted(edges, x, "left") if right else _searchsorted(edges, x, "right")


def _elements(ar, assume_unique):
    return np.asarray(ar).flatten() if assume_unique else _unique(ar)


def _setxor1d(ar1, ar2, assume_unique=False):
    x, y = _elements(ar1, assume_unique), _elements(ar2, assume_unique)
    x.sort()
    y.sort()
    return _unique(_concatenate((_kept(x, _among(x, y, False)), _kept(y, _among(y, x, False)))))


def _union1d(ar1, ar2):
    return _unique(_concatenate((np.asarray(ar1).flatten(), np.asarray(ar2).flatten())))


def _among(x, others, wanted):
    keep = np.empty(x.size, np.bool_)
    for k in range(x.size):
        keep[k] = _has(others, x[k]) == wanted
    return keep


def _intersect1d(ar1, ar2, assume_unique=False):
    x, y = _elements(ar1, assume_unique), _elements(ar2, assume_unique)
    all = _concatenate((x, y))
    _sort_vector(all)
    keep = np.zeros(all.size, np.bool_)
    for k in range(all.size - 1):
        keep[k] = all[k] == all[k + 1]
    return _kept(all, keep)


def _setdiff1d(ar1, ar2, assume_unique=False):
    x = _elements(ar1, assume_unique)
    return _kept(x, _among(x, _unique(ar2), False))


def _isin(element, test_elements, assume_unique=False, invert=False):
    x = np.asarray(element)
    return _among(x.flatten(), _unique(np.asarray(test_elements)), not invert).reshape(x.shape)


def _median(a):
    x = np.array(a).flatten()
    _sort_vector(x)
    n = x.size
    if n == 0 or x[n - 1] != x[n - 1]:
        return np.nan
    return (x[(n - 1) // 2] + x[n // 2]) * 0.5 if n % 2 == 0 else x[n // 2] * 1.0


def _without_nan(a):
    x = np.asarray(a).flatten()
    return _kept(x, x == x)


def _nanmedian(a):
    return _median(_without_nan(a))


def _one_quantile(ordered, q):
    n = ordered.size
    if not 0 <= q <= 1:
        raise ValueError("Quantiles must be in the range [0, 1]")
    if n == 0 or ordered[n - 1] != ordered[n - 1]:
        return np.nan
    at = q * (n - 1)
    low = int(at)
    high, part = min(low + 1, n - 1), at - low
    x, y = ordered[low] * 1.0, ordered[high] * 1.0
    return y - (y - x) * (1 - part) if part >= 0.5 else x + (y - x) * part


def _quantile(a, q):
    x = np.array(a).flatten()
    _sort_vector(x)
    if isinstance(q, (np.ndarray, list, tuple)):
        all = np.asarray(q)
        out = np.empty(all.size, np.float64)
        for k in range(all.size):
            out[k] = _one_quantile(x, all[k])
        return out
    return _one_quantile(x, q)


def _percentile(a, q):
    if isinstance(q, (np.ndarray, list, tuple)):
        return _quantile(a, np.asarray(q) / 100)
    return _quantile(a, q / 100)


def _nanquantile(a, q):
    return _quantile(_without_nan(a), q)


def _nanpercentile(a, q):
    return _percentile(_without_nan(a), q)


# ---- choosing ----


def _flatnonzero(a):
    x = np.asarray(a).flatten()
    return _kept(np.arange(x.size), x)


def _nonzero(a):
    if a.ndim > 2:
        raise ValueError("nonzero: arrays have one axis or two here")
    at = _flatnonzero(a)
    if a.ndim == 1:
        return (at,)
    rows, columns = np.empty_like(at), np.empty_like(at)
    for k in range(at.size):
        rows[k] = at[k] // a.shape[1]
        columns[k] = at[k] % a.shape[1]
    return rows, columns


def _argwhere(a):
    at = _nonzero(a)
    out = np.empty((at[0].size, a.ndim), np.int64)
    j = 0
    for x in at:
        out[:, j] = x
        j += 1
    return out


def _select(condlist, choicelist, default=0):
    if len(condlist) != len(choicelist):
        raise ValueError("list of cases must be same length as list of conditions")
    out = np.where(condlist[0], choicelist[0], np.zeros(1, choicelist[0].dtype)[0] + default)
    chosen = condlist[0].copy()
    for k in range(1, len(condlist)):
        out[:] = np.where(condlist[k] & ~chosen, choicelist[k], out)
        chosen |= condlist[k]
    return out


def _extract(condition, arr):
    return _take(arr, _flatnonzero(condition))


def _take(a, indices):
    x = np.asarray(a).flatten()
    if isinstance(indices, (np.ndarray, list, tuple)):
        at = np.asarray(indices)
        flat = at.flatten()
        out = np.empty(flat.size, x.dtype)
        for k in range(flat.size):
            i = int(flat[k])
            if not -x.size <= i < x.size:
                raise IndexError("index is out of bounds for axis 0")
            out[k] = x[i]
        return out.reshape(at.shape)
    if not -x.size <= indices < x.size:
        raise IndexError("index is out of bounds for axis 0")
    return x[indices]


def _at_mask(a, mask):
    """a[mask]"""
    if mask.ndim != a.ndim and mask.ndim != 1:
        raise IndexError("too many indices for array")
    if mask.shape[0] != a.shape[0] or mask.size != (a.size if mask.ndim == a.ndim else a.shape[0]):
        raise IndexError("boolean index did not match indexed array")
    if mask.ndim == a.ndim:
        return _kept(a.flatten(), mask.flatten())
    return _at_places(a, _flatnonzero(mask))


def _at_places(a, at):
    """a[at] for an array of integers: elements of a vector, or parts along the first axis."""
    if a.ndim == 1:
        return _take(a, at)
    if at.ndim > 1 or a.ndim > 3:
        raise IndexError("an array of integers chooses rows of up to three axes here")
    out = np.empty((at.size, *a.shape[1:]), a.dtype)
    for k in range(at.size):
        out[k] = a[_in_range(at[k], a.shape[0], 0)]
    return out


def _at_columns(a, at):
    """a[:, at], along the second axis."""
    where = _as_places(at, a.shape[1])
    out = np.empty((a.shape[0], where.size, *a.shape[2:]), a.dtype)
    for k in range(where.size):
        out[:, k] = a[:, _in_range(where[k], a.shape[1], 1)]
    return out


def _at_points(a, rows, columns):
    """a[rows, columns] of a matrix: one element for each pair."""
    i, j = _pairs(a, rows, columns)
    out = np.empty(i.size, a.dtype)
    for k in range(i.size):
        out[k] = a[_in_range(i[k], a.shape[0], 0), _in_range(j[k], a.shape[1], 1)]
    return out


def _in_range(i, n, axis):
    at = int(i)
    if not -n <= at < n:
        raise IndexError("index is out of bounds for axis", axis)
    return at


def _as_places(at, n):
    """Indices along an axis of length n: those of the True values of a mask, or the given integers."""
    if at.ndim != 1:
        raise IndexError("an array of indices has one axis here")
    if at.dtype == np.bool_:
        if at.size != n:
            raise IndexError("boolean index did not match indexed array")
        return _flatnonzero(at)
    return at


def _pairs(a, rows, columns):
    i, j = _as_places(rows, a.shape[0]), _as_places(columns, a.shape[1])
    if i.size != j.size:
        raise IndexError("shape mismatch: indexing arrays could not be broadcast together")
    return i, j


def _set_places(a, at, x):
    """a[at] = x for an array of integers: elements of a vector, or parts along the first axis."""
    where, n = at.flatten(), a.shape[0]
    if a.ndim > 1 and at.ndim > 1:
        raise IndexError("an array of indices has one axis here")
    if not isinstance(x, np.ndarray):
        for k in range(where.size):
            a[_in_range(where[k], n, 0)] = x
    elif a.ndim == 1:
        values = np.broadcast_to(x, at.shape).flatten()
        for k in range(where.size):
            a[_in_range(where[k], n, 0)] = values[k]
    elif x.ndim < a.ndim or (x.shape[0] == 1 and where.size != 1):
        part = (x[0] if x.ndim == a.ndim else x).copy()  # x may share memory with a, here and below
        for k in range(where.size):
            a[_in_range(where[k], n, 0)] = part
    else:
        if x.shape[0] != where.size:
            raise ValueError("shape mismatch: value array could not be broadcast to indexing result")
        rows = x.copy()
        for k in range(where.size):
            a[_in_range(where[k], n, 0)] = rows[k]


def _set_mask(a, mask, x):
    """a[mask] = x, where x has as many elements as the mask has True values."""
    if mask.ndim == 1:
        _set_places(a, _as_places(mask, a.shape[0]), x)
    else:
        if mask.shape != a.shape:
            raise IndexError("boolean index did not match indexed array")
        values = np.asarray(x).flatten()
        if values.size != 1 and values.size != mask.sum():
            raise ValueError("cannot assign values to the places that the mask chooses: their numbers differ")
        n = 0
        for at in np.ndindex(mask.shape):
            if mask[at]:
                a[at] = values[n]
                n += values.size != 1


def _set_columns(a, at, x):
    """a[:, at] = x, along the second axis."""
    where = _as_places(at, a.shape[1])
    if isinstance(x, np.ndarray):
        values = np.broadcast_to(x, (a.shape[0], where.size, *a.shape[2:])).copy()
        for k in range(where.size):
            a[:, _in_range(where[k], a.shape[1], 1)] = values[:, k]
    else:
        for k in range(where.size):
            a[:, _in_range(where[k], a.shape[1], 1)] = x


def _set_points(a, rows, columns, x):
    """a[rows, columns] = x of a matrix: one element for each pair."""
    i, j = _pairs(a, rows, columns)
    if isinstance(x, np.ndarray):
        values = np.broadcast_to(x, i.shape).copy()
        for k in range(i.size):
            a[_in_range(i[k], a.shape[0], 0), _in_range(j[k], a.shape[1], 1)] = values[k]
    else:
        for k in range(i.size):
            a[_in_range(i[k], a.shape[0], 0), _in_range(j[k], a.shape[1], 1)] = x


_NUMPYS = {
    "sort": _sort, "argsort": _argsort, "partition": _partition, "argpartition": _argpartition, "unique":
    _unique, "searchsorted": _searchsorted, "union1d": _union1d, "intersect1d": _intersect1d, "setdiff1d":
    _setdiff1d, "isin": _isin, "median": _median, "nanmedian": _nanmedian, "quantile": _quantile, "percentile":
    _percentile, "nanquantile": _nanquantile, "nanpercentile": _nanpercentile,
    "flatnonzero": _flatnonzero, "nonzero": _nonzero,
    "argwhere": _argwhere, "extract": _extract, "take": _take, "digitize": _digitize, "setxor1d": _setxor1d,
    "select": _select,
}  # fmt: skip

ARRAYS = {getattr(np, name): f for name, f in _NUMPYS.items()}


def _array_of_rows(x):
    """The array of a list of arrays, lists or tuples of numbers."""
    if len(x) == 0:
        raise ValueError("array: an empty list of lists has no second axis")
    first = np.array(x[0])
    out = np.empty((len(x),) + first.shape, first.dtype)  # noqa: RUF005  (kernels have no *)
    for i in range(len(x)):
        row = np.array(x[i])
        if row.shape != first.shape:
            raise ValueError("array: the lists in a list have different lengths")
        out[i] = row
    return out


def _array_of_blocks(x):
    """The array of a list of lists or tuples of such."""
    return _array_of_rows([np.array(rows) for rows in x])


def _array_of_complex(x):
    out = np.empty(len(x), np.complex128)
    for i in range(len(x)):
        out[i] = x[i]
    return out


METHODS = {
    "array(rows)": _array_of_rows, "array(blocks)": _array_of_blocks, "array(complex)": _array_of_complex,
    "bool(array)": _truth,
    "sort": _sort_in_place, "argsort": _argsort, "nonzero": _nonzero, "take": _take,
    "searchsorted": _searchsorted, "partition": _partition_in_place, "a[mask]": _at_mask, "a[places]": _at_places,
    "a[:, places]": _at_columns, "a[rows, columns]": _at_points, "a[mask] = x": _set_mask, "a[places] = x": _set_places,
    "a[:, places] = x": _set_columns, "a[rows, columns] = x": _set_points,
}  # fmt: skip
