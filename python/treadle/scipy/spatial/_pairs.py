"""Distances of all pairs of vectors, and the two forms of the result: a square matrix, and the condensed vector of its
upper triangle."""

import math
import warnings

import numpy

import treadle as td

from ..._core import arange, asarray, empty, ndarray, zeros
from ._metrics import METRICS, find, weights


def _matrix(X, name):
    X = asarray(X)
    if X.ndim != 2:
        raise ValueError(f"{name} must be a 2-dimensional array.")
    return X


_OWN = {"minkowski": {"p"}, "seuclidean": {"V"}, "mahalanobis": {"VI"}, "jensenshannon": {"base"}}


def _options(name, XA, XB, options):
    """The metric's own arguments as arrays. Missing ones are computed from the data."""
    options = {k: v for k, v in options.items() if v is not None}
    unknown = set(options) - {
        "minkowski": {"p"},
        "seuclidean": {"V"},
        "mahalanobis": {"VI"},
        "jensenshannon": {"base"},
    }.get(name, set())
    if unknown:
        raise TypeError(f"{name} got an unexpected keyword argument '{sorted(unknown)[0]}'")
    if name == "seuclidean":
        V = options.get("V")
        V = td.var(td.concatenate([XA, XB] if XB is not None else [XA]), axis=0, ddof=1) if V is None else asarray(V)
        if V.shape != (XA.shape[1],):
            raise ValueError(
                "Variance vector V must be of the same dimension as the vectors on which the distances are computed."
            )
        return {"V": V.astype("float64")}
    if name == "mahalanobis":
        VI = options.get("VI")
        if VI is None:
            both = td.concatenate([XA, XB]) if XB is not None else XA
            if both.shape[0] <= XA.shape[1]:
                raise ValueError(
                    f"The number of observations ({both.shape[0]}) is too small; the covariance matrix is singular."
                )
            VI = td.linalg.inv(td.atleast_2d(td.cov(both.T))).T
        return {"VI": asarray(VI).astype("float64")}
    return options


def _all(XA, XB, metric, w, own, same):
    """The distances of each row of XA and each of XB. same: they are one array, which counts once as data."""
    if callable(metric):
        known = [name for name in METRICS if getattr(metric, "__name__", "") == name]
        if not known:
            return _by_calls(XA, XB, metric, w, own)
        metric = known[0]
    if not isinstance(metric, str):
        raise TypeError("2nd argument metric must be a string identifier or a function.")
    name, m = find(metric)
    if m.bools:
        XA, XB = XA != 0, XB != 0
    XA, XB = (X if X.dtype == numpy.float64 else X.astype("float64") for X in (XA, XB))
    w = weights(w, XA.device)
    own = _options(name, XA, None if same else XB, own)
    if m.dots is not None:
        return m.dots(XA, XB, w)
    if not XA.shape[1] and name in ("chebyshev",):
        return zeros((XA.shape[0], XB.shape[0]), device=XA.device)
    return m.of(XA[:, None, :], XB[None, :, :], w, **own)


def _by_calls(XA, XB, metric, w, own):
    if w is not None:
        own = {**own, "w": w}
    values = [[float(metric(XA[i], XB[j], **own)) for j in range(XB.shape[0])] for i in range(XA.shape[0])]
    return asarray(numpy.array(values).reshape(XA.shape[0], XB.shape[0]), device=XA.device)


def _given(out, r):
    if out is None:
        return r
    if not isinstance(out, ndarray) or out.shape != r.shape or out.dtype != r.dtype:
        raise ValueError(f"Output array has incorrect shape or dtype; {r.shape} of {r.dtype} is needed.")
    out[...] = r
    return out


def cdist(XA, XB, metric="euclidean", *, out=None, w=None, p=None, V=None, VI=None, base=None, **more):
    """The distances of each row of XA and each row of XB, float64, of shape (len(XA), len(XB)).

    metric: a name, or a function of two vectors, which is called for each pair. w: weights of the elements. p belongs
    to minkowski, V to seuclidean, VI to mahalanobis (V and VI default to those of the data), base to jensenshannon.
    Raises ValueError where the rows differ in length, or for an unknown metric.
    """
    XA, XB = _matrix(XA, "XA"), _matrix(XB, "XB")
    if XA.shape[1] != XB.shape[1]:
        raise ValueError("XA and XB must have the same number of columns (i.e. feature dimension.)")
    own = {"p": p, "V": V, "VI": VI, "base": base, **more}
    return _given(out, _all(XA, XB, metric, w, {k: v for k, v in own.items() if v is not None}, False))


def _upper(n, device):
    """The row and column of each element of the upper triangle, row by row, computed from the element's number."""
    total = n * (n - 1) // 2
    k = arange(total, dtype="int64", device=device)
    starts = arange(n, dtype="int64", device=device)
    starts = starts * (n - 1) - starts * (starts - 1) // 2
    row = td.searchsorted(starts, k, "right") - 1
    row = td.minimum(row, n - 2)
    return row, k - td.take(starts, row) + row + 1 if total else k


def pdist(X, metric="euclidean", *, out=None, w=None, p=None, V=None, VI=None, base=None, **more):
    """The distances of all pairs of rows of X, as a vector: rows 0 and 1, 0 and 2, … The arguments are those of
    cdist."""
    X = asarray(X)
    if X.ndim != 2:
        raise ValueError(f"A 2-dimensional array must be passed. (Shape was {X.shape}).")
    own = {"p": p, "V": V, "VI": VI, "base": base, **more}
    square = _all(X, X, metric, w, {k: v for k, v in own.items() if v is not None}, True)
    return _given(out, _condensed(square))


def _condensed(square):
    n = square.shape[0]
    if n < 2:
        return empty(0, dtype=square.dtype, device=square.device)
    row, column = _upper(n, square.device)
    return td.take(td.ascontiguousarray(square).reshape(-1), row * n + column)


def squareform(X, force="no", checks=True):
    """Convert a condensed vector of distances to the square matrix, or a square matrix to the vector.

    force: "tovector" or "tomatrix" allows that conversion only. Raises ValueError where the length is not n (n - 1) /
    2, or, with checks, where the matrix is not symmetric with a zero diagonal.
    """
    X = asarray(X)
    if force.lower() == "tomatrix" and X.ndim != 1:
        raise ValueError("Forcing 'tomatrix' but input X is not a distance vector.")
    if force.lower() == "tovector" and X.ndim != 2:
        raise ValueError("Forcing 'tovector' but input X is not a distance matrix.")
    if X.ndim == 1:
        return _square(X)
    if X.ndim != 2:
        raise ValueError(
            f"The first argument must be one or two dimensional array. A {X.ndim}-dimensional array is not permitted"
        )
    if X.shape[0] != X.shape[1]:
        raise ValueError("The matrix argument must be square.")
    if checks:
        is_valid_dm(X, throw=True, name="X")
    return _condensed(X)


def _square(X):
    if not X.shape[0]:
        return zeros((1, 1), dtype=X.dtype, device=X.device)
    n = math.ceil(math.sqrt(X.shape[0] * 2))
    if n * (n - 1) != X.shape[0] * 2:
        raise ValueError(
            "Incompatible vector size. It must be a binomial coefficient n choose 2 for some integer n >= 2."
        )
    i = arange(n, dtype="int64", device=X.device)
    low, high = td.minimum(i[:, None], i[None, :]), td.maximum(i[:, None], i[None, :])
    place = low * n - low * (low + 1) // 2 + high - low - 1
    off = low != high
    return td.where(off, td.take(X, td.where(off, place, 0)), X.dtype.type(0))


# ---- checks and counts ----


def is_valid_dm(D, tol=0.0, throw=False, name="D", warning=False):
    """Whether D is a distance matrix: square, symmetric, with a zero diagonal (within tol)."""
    D, shown = asarray(D), f"'{name}'" if name else "D"
    why = None
    if D.ndim != 2:
        why = f"Distance matrix {shown} must have shape=2 (i.e. be two-dimensional)."
    elif D.shape[0] != D.shape[1]:
        why = f"Distance matrix {shown} must be square."
    elif not bool((abs(D - D.T) <= tol).all()):
        why = f"Distance matrix {shown} must be symmetric{f' within tolerance {tol:5.5f}' if tol else ''}."
    elif not bool((abs(td.diagonal(D)) <= tol).all()):
        need = f"close to zero within tolerance {tol:5.5f}" if tol else "zero"
        why = f"Distance matrix {shown} diagonal must be {need}."
    return _answer(why, throw, warning)


def is_valid_y(y, warning=False, throw=False, name=None):
    """Whether y is a condensed distance vector, of length n (n - 1) / 2."""
    y, shown, why = asarray(y), f"'{name}'" if name else "y", None
    if y.ndim != 1:
        why = f"Condensed distance matrix {shown} must have shape=1 (i.e. be one-dimensional)."
    else:
        n = math.ceil(math.sqrt(y.shape[0] * 2))
        if n * (n - 1) // 2 != y.shape[0]:
            why = f"Length n of condensed distance matrix {shown} must be a binomial coefficient."
    return _answer(why, throw, warning)


def _answer(why, throw, warning):
    if why and throw:
        raise ValueError(why)
    if why and warning:
        warnings.warn(why, stacklevel=3)
    return why is None


def num_obs_dm(d):
    """The number of vectors behind a distance matrix."""
    d = asarray(d)
    is_valid_dm(d, tol=math.inf, throw=True, name="d")
    return d.shape[0]


def num_obs_y(Y):
    """The number of vectors behind a condensed distance vector."""
    Y = asarray(Y)
    is_valid_y(Y, throw=True, name="Y")
    n = math.ceil(math.sqrt(Y.shape[0] * 2))
    if n * (n - 1) // 2 != Y.shape[0] or not Y.shape[0]:
        raise ValueError(
            "Invalid condensed distance matrix passed. Must be some k where k=(n choose 2) for some n >= 2."
        )
    return n


def directed_hausdorff(u, v, rng=0, *, seed=0):
    """(the largest distance from a row of u to the nearest row of v, the indices of both). rng has no effect."""
    u, v = _matrix(u, "u"), _matrix(v, "v")
    if u.shape[1] != v.shape[1]:
        raise ValueError("u and v need to have the same number of columns")
    d = cdist(u, v)
    nearest = d.min(1)
    i = int(nearest.argmax())
    return float(nearest[i]), i, int(d[i].argmin())
