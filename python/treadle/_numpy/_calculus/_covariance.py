"""Covariances and correlations of variables."""

import numpy

from ... import _core
from ..._core import empty
from ..._exchange._place import on, own
from ...linalg._products import _conjugate, matmul
from .._join import concatenate
from .._math._averages import average
from .._math._values import clip
from .._shape import expand_dims

_UFUNC = _core.ufuncs()


def _real(a):
    return _UFUNC["real"](a) if a.dtype.kind == "c" else a


def _weights(w, x, name, whole):
    """The weights of cov, checked, on x's device and in float64."""
    w = on(x.device, w).astype("float64", copy=False)
    if whole and bool((w != _UFUNC["rint"](w)).any()):
        raise TypeError(f"{name} must be integer")
    if w.ndim > 1:
        raise RuntimeError(f"cannot handle multidimensional {name}")
    if w.ndim == 0 or w.shape[0] != x.shape[1]:
        raise RuntimeError(f"incompatible numbers of samples and {name}")
    if bool((w < 0).any()):
        raise ValueError(f"{name} cannot be negative")
    return w


def _observations(m, y, rowvar, dtype):
    """A matrix with one variable in each row."""
    m = own(m, y)
    given = [m] if y is None else [m, on(m.device, y)]
    for a, name in zip(given, "my", strict=False):
        if a.ndim > 2:
            raise ValueError(f"{name} has more than 2 dimensions")
    dt = dtype or numpy.result_type(*(a.dtype for a in given), "float64")
    rows = []
    for a in given:
        a = a.astype(dt, copy=False)
        two = a.reshape((1, -1)) if a.ndim < 2 else a
        turned = not rowvar and a.ndim == 2 and (a is given[0] or a.shape[0] != 1)
        rows.append(two.T if turned else two)
    return rows[0] if len(rows) == 1 else concatenate(rows, 0)


def cov(m, y=None, rowvar=True, bias=False, ddof=None, fweights=None, aweights=None, *, dtype=None):
    """The covariance matrix of variables.

    Parameters
    ----------
    m : array_like, shape (V, N) or (N,)
        Observations: a variable a row.
    y : array_like, shape (W, N) or (N,), optional
        More variables with the same observations.
    rowvar : bool, default True
        False: a variable a column.
    bias : bool, default False
        Divide by N in place of N - 1, unless ddof says more.
    ddof : int, optional
        Divide by N - ddof.
    fweights : array_like of int, shape (N,), optional
        How often each observation occurs.
    aweights : array_like, shape (N,), optional
        How much each observation weighs.
    dtype : dtype, optional
        Dtype of the result; None means at least float64.

    Returns
    -------
    ndarray, shape (V + W, V + W), or () for one variable
        Covariances.

    Raises
    ------
    ValueError
        ddof is no integer, or m has more than two axes.

    Examples
    --------
    >>> np.cov([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]])
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    if ddof is not None and ddof != int(ddof):
        raise ValueError("ddof must be integer")
    x = _observations(m, y, rowvar, dtype)
    if x.shape[0] == 0:
        return empty((0, 0), dtype="float64", device=x.device)
    n = x.shape[1]
    ddof = (0 if bias else 1) if ddof is None else ddof
    f = None if fweights is None else _weights(fweights, x, "fweights", True)
    each = None if aweights is None else _weights(aweights, x, "aweights", False)
    w = f if each is None else each if f is None else f * each
    total = n if w is None else float(w.sum())
    if w is None or ddof == 0 or each is None:
        left = total - (ddof if ddof else 0)
    else:
        left = total - ddof * float((w * each).sum()) / total
    left = max(float(left), 0.0)
    w = w if w is None else w.astype(x.dtype, copy=False)
    away = x - expand_dims(average(x, 1, w), 1)
    right = away if w is None else away * w
    c = matmul(away, _conjugate(right).T)
    return (c * (1.0 / left if left else float("inf"))).squeeze()


def corrcoef(x, y=None, rowvar=True, *, dtype=None):
    """The matrix of correlation coefficients of variables.

    Parameters
    ----------
    x : array_like, shape (V, N) or (N,)
        Observations: a variable a row.
    y : array_like, shape (W, N) or (N,), optional
        More variables with the same observations.
    rowvar : bool, default True
        False: a variable a column.
    dtype : dtype, optional
        Dtype of the result; None means at least float64.

    Returns
    -------
    ndarray, shape (V + W, V + W), or () for one variable
        Coefficients from -1 to 1.

    Examples
    --------
    >>> np.corrcoef([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]])
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    c = cov(x, y, rowvar, dtype=dtype)
    if c.ndim == 0:
        return c / c
    d = _UFUNC["sqrt"](_real(c.reshape(-1)[:: c.shape[0] + 1]))
    c = c / d[:, None] / d[None, :]
    if c.dtype.kind == "c":
        return (clip(_real(c), -1, 1) + clip(_UFUNC["imag"](c), -1, 1) * 1j).astype(c.dtype, copy=False)
    return clip(c, -1, 1)
