"""Functions of matrices for compiled code, written in Python like those of _arrays.py: plain loops, no LAPACK."""

import numpy as np


def _tri(N, M=None, k=0):
    columns = max(N if M is None else M, 0)
    out = np.zeros((max(N, 0), columns))
    for i in range(out.shape[0]):
        for j in range(max(0, min(i + k + 1, columns))):
            out[i, j] = 1
    return out


def _tril(m, k=0):
    if m.ndim != 2:
        raise ValueError("tril: arrays have two axes here")
    out = m.copy()
    for i in range(m.shape[0]):
        for j in range(m.shape[1]):
            if j > i + k:
                out[i, j] = 0
    return out


def _triu(m, k=0):
    if m.ndim != 2:
        raise ValueError("triu: arrays have two axes here")
    out = m.copy()
    for i in range(m.shape[0]):
        for j in range(m.shape[1]):
            if j < i + k:
                out[i, j] = 0
    return out


def _indices(n, m, k, upper):
    """Rows and columns of the elements below the k-th diagonal and on it, or, if upper, above it and on it."""
    count = 0
    for i in range(n):
        for j in range(m):
            count += (j >= i + k) if upper else (j <= i + k)
    rows, columns = np.empty(count, np.int64), np.empty(count, np.int64)
    count = 0
    for i in range(n):
        for j in range(m):
            if (j >= i + k) if upper else (j <= i + k):
                rows[count], columns[count] = i, j
                count += 1
    return rows, columns


def _tril_indices(n, k=0, m=None):
    return _indices(n, n if m is None else m, k, False)


def _triu_indices(n, k=0, m=None):
    return _indices(n, n if m is None else m, k, True)


def _tril_indices_from(arr, k=0):
    return _indices(arr.shape[0], arr.shape[1], k, False)


def _triu_indices_from(arr, k=0):
    return _indices(arr.shape[0], arr.shape[1], k, True)


def _vander(x, N=None, increasing=False):
    x = np.asarray(x)
    columns = x.size if N is None else N
    out = np.empty((x.size, columns), (np.zeros(1, x.dtype) * np.zeros(1, np.int64)).dtype)
    for i in range(x.size):
        power = out.dtype.type(1)
        for j in range(columns):
            out[i, j if increasing else columns - 1 - j] = power
            power *= x[i]
    return out


def _diag(v, k=0):
    if v.ndim == 1:
        n = v.size + abs(k)
        out = np.zeros((n, n), v.dtype)
        for i in range(v.size):
            out[i + max(0, -k), i + max(0, k)] = v[i]
        return out
    rows, columns = v.shape[0] - max(0, -k), v.shape[1] - max(0, k)
    line = np.empty(max(0, min(rows, columns)), v.dtype)
    for i in range(line.size):
        line[i] = v[i + max(0, -k), i + max(0, k)]
    return line


def _diagflat(v, k=0):
    return _diag(np.asarray(v).flatten(), k)


def _trace(a, offset=0):
    if a.ndim != 2:
        raise ValueError("diag requires an array of at least two dimensions")
    return _diag(a, offset).sum()


def _fill_diagonal(a, val, wrap=False):
    if a.ndim < 2:
        raise ValueError("array must be at least 2-d")
    if a.ndim > 3:
        raise ValueError("fill_diagonal: arrays have two axes or three here")
    values = np.asarray(val).flatten()
    if values.size == 0:
        return
    _must_fit(values, a.dtype)
    if a.ndim == 3:
        if a.shape[0] != a.shape[1] or a.shape[0] != a.shape[2]:
            raise ValueError("All dimensions of input must be of equal length")
        for i in range(a.shape[0]):
            a[i, i, i] = values[i % values.size]
    else:
        rows, columns = a.shape
        k = 0
        for i in range(rows):
            if i % (columns + 1) < columns and (wrap or i < columns):
                a[i, i % (columns + 1)] = values[k % values.size]
                k += 1


def _must_fit(values, dtype):
    """Refuse values that an integer dtype has no room for, as NumPy refuses such numbers, and Numba arrays of them."""
    if isinstance(dtype.type(0), np.integer):
        for x in values:
            if not np.iinfo(dtype).min <= x <= np.iinfo(dtype).max:
                raise ValueError("fill_diagonal: a value is no number of the array's dtype")


def _outer(a, b):
    x, y = np.asarray(a).flatten(), np.asarray(b).flatten()
    return x.reshape((x.size, 1)) * y.reshape((1, y.size))


def _kron(a, b):
    if a.ndim < 2 and b.ndim < 2:
        return _outer(a, b).flatten()
    return _kron_of_matrices(np.atleast_2d(a), np.atleast_2d(b))


def _kron_of_matrices(a, b):
    (m, n), (p, q) = a.shape, b.shape
    out = np.empty((m * p, n * q), (np.zeros(1, a.dtype) * np.zeros(1, b.dtype)).dtype)
    for i in range(m):
        for j in range(n):
            out[i * p : (i + 1) * p, j * q : (j + 1) * q] = a[i, j] * b
    return out


def _cross(a, b):
    x, y = np.asarray(a), np.asarray(b)
    if x.shape[-1] != 3 or y.shape[-1] != 3:
        raise ValueError("cross: vectors have three elements here")
    rows = _cross_of_rows(np.atleast_2d(x), np.atleast_2d(y))
    return rows[0] if x.ndim == 1 and y.ndim == 1 else rows


def _cross_of_rows(x, y):
    many = max(x.shape[0], y.shape[0])
    if min(x.shape[0], y.shape[0]) not in (1, many):
        raise ValueError("cross: as many vectors, or one")
    out = np.empty((many, 3), (np.zeros(1, x.dtype) * np.zeros(1, y.dtype)).dtype)
    for r in range(many):
        u, v = x[r if x.shape[0] > 1 else 0], y[r if y.shape[0] > 1 else 0]
        for k in range(3):
            i, j = (k + 1) % 3, (k + 2) % 3
            out[r, k] = u[i] * v[j] - u[j] * v[i]
    return out


def _square(a):
    if a.ndim != 2 or a.shape[0] != a.shape[1]:
        raise np.linalg.LinAlgError("Last 2 dimensions of the array must be square")


def _eliminated(a, rest):
    """Gaussian elimination in place: a becomes triangular, and rest gets the same row operations.

    Returns the sign of the row permutation, 0 where a is singular."""
    n, sign = a.shape[0], 1.0
    for k in range(n):
        best = k
        for i in range(k + 1, n):
            if abs(a[i, k]) > abs(a[best, k]):
                best = i
        if a[best, k] == 0:
            return 0.0
        if best != k:
            sign = -sign
            for j in range(n):
                a[k, j], a[best, j] = a[best, j], a[k, j]
            for j in range(rest.shape[1]):
                rest[k, j], rest[best, j] = rest[best, j], rest[k, j]
        for i in range(k + 1, n):
            factor = a[i, k] / a[k, k]
            for j in range(k, n):
                a[i, j] -= factor * a[k, j]
            for j in range(rest.shape[1]):
                rest[i, j] -= factor * rest[k, j]
    return sign


def _solved(a, b):
    """The solution of a x = b. Overwrites both."""
    n = a.shape[0]
    if _eliminated(a, b) == 0:
        raise np.linalg.LinAlgError("Singular matrix")
    for c in range(b.shape[1]):
        for i in range(n - 1, -1, -1):
            s = b[i, c]
            for j in range(i + 1, n):
                s -= a[i, j] * b[j, c]
            b[i, c] = s / a[i, i]
    return b


def _det(a):
    _square(a)
    x = a * 1.0
    d = _eliminated(x, np.zeros((x.shape[0], 0), x.dtype)) * x.dtype.type(1)
    for i in range(x.shape[0]):
        d *= x[i, i]
    return d


def _inv(a):
    _square(a)
    x = a * 1.0
    return _solved(x, np.eye(x.shape[0], dtype=x.dtype))


def _solve(a, b):
    _square(a)
    if b.shape[0] != a.shape[0]:
        raise ValueError("solve: the sizes of the matrix and of the right side differ")
    x = (a * 1.0) + np.zeros(1, b.dtype)[0]
    y = (b * 1.0) + np.zeros(1, a.dtype)[0]
    if b.ndim == 1:
        return _solved(x, y.reshape((b.size, 1))).flatten()
    return _solved(x, y)


def _matrix_power(a, n):
    _square(a)
    x = _inv(a) if n < 0 else a * 1.0
    out = np.eye(a.shape[0], dtype=x.dtype)
    k = abs(n)
    while k > 0:
        if k & 1:
            out = out @ x
        x = x @ x
        k >>= 1
    return out


_NUMPYS = {
    "tri": _tri, "tril": _tril, "triu": _triu, "diag": _diag, "diagflat": _diagflat, "trace": _trace,
    "fill_diagonal": _fill_diagonal,
    "outer": _outer, "kron": _kron, "cross": _cross, "tril_indices": _tril_indices, "triu_indices": _triu_indices,
    "tril_indices_from": _tril_indices_from, "triu_indices_from": _triu_indices_from, "vander": _vander,
}  # fmt: skip
ARRAYS = {getattr(np, name): f for name, f in _NUMPYS.items()}
ARRAYS[np.linalg.matrix_power] = _matrix_power

METHODS = {
    "trace": _trace,
}  # fmt: skip
