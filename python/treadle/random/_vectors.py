"""The distributions of a Generator whose draws are vectors."""

import warnings

import numpy

from .. import _core
from .._core import asarray, asnumpy, ndarray
from ._draws import _UFUNC, _bits, _number, _parameter, _sampled, _shape, sampler


def _draw_rows(g, name, shape, k, parameters, arrays):
    bits = _bits(g, shape)
    r = _core.empty((*shape, k), "int64", device=bits.device)
    if bits.size and k:
        rows = r.reshape((bits.size, k))
        sampler(name, arrays, True).forall(bits.size)(bits.reshape(-1), *parameters(bits.device), rows)
    return r


def multinomial(g, n, pvals, size=None):
    """How often each of K things occurs in n trials.

    Parameters
    ----------
    n : int or array_like of int
        How many trials, 0 or more.
    pvals : array_like, shape (..., K)
        Probabilities of the things.
    size : int or tuple of ints, optional
        Shape of the result; None means one number, or the parameters' broadcast shape.

    Returns
    -------
    ndarray of int64, shape (*size, K)
        Counts that sum to n.

    Raises
    ------
    ValueError
        pvals has no axis, or all but the last sum to more than 1.

    Examples
    --------
    >>> int(np.random.default_rng(7).multinomial(10, [0.5, 0.5]).sum())
    10
    """
    n, pvals = _parameter("n", n, "not negative", "int64"), _parameter("pvals", pvals, "0 to 1")
    if not pvals.ndim:
        raise ValueError("pvals must have at least 1 dimension")
    k = pvals.shape[-1]
    if k and bool((pvals[..., :-1].sum(-1) > 1 + 1e-12).any()):
        raise ValueError("sum(pvals[:-1]) > 1.0")
    shape = numpy.broadcast_shapes(n.shape, pvals.shape[:-1])
    if size is not None:
        size = _shape(size)
        if numpy.broadcast_shapes(size, shape) != size:
            raise ValueError(f"Output size {size} is not compatible with broadcast dimensions of inputs {shape}.")
        shape = size

    def parameters(device):
        p = asarray(pvals, device=device)
        many = asarray(n, device=device)
        return (
            _core._broadcast_to(many, shape).reshape(-1) if n.ndim else _number(n),
            _core._broadcast_to(p, (*shape, k)).reshape((-1, k)) if p.ndim > 1 else p,
        )

    return _draw_rows(g, "multinomial_row", shape, k, parameters, (n.ndim > 0, pvals.ndim > 1))


def multivariate_hypergeometric(g, colors, nsample, size=None, method="marginals"):
    """How many of each colour are among things that are taken from an urn.

    Parameters
    ----------
    colors : array_like of int, shape (K,)
        How many things have each colour.
    nsample : int
        How many are taken.
    size : int or tuple of ints, optional
        Shape of the result; None means one number, or the parameters' broadcast shape.
    method : {"marginals", "count"}, default 'marginals'
        Both draw colour by colour here.

    Returns
    -------
    ndarray of int64, shape (*size, K)
        Counts that sum to nsample.

    Raises
    ------
    ValueError
        nsample is negative or more than there are, or colors sum to 10**9 or more.

    Examples
    --------
    >>> int(np.random.default_rng(7).multivariate_hypergeometric([3, 4], 5).sum())
    5
    """
    if method not in ("count", "marginals"):
        raise ValueError('method must be "count" or "marginals".')
    colors = asnumpy(colors) if isinstance(colors, ndarray) else numpy.asarray(colors)
    if colors.ndim != 1 or colors.dtype.kind not in "iu" or (colors < 0).any():
        raise ValueError(
            "colors must be a one-dimensional sequence of nonnegative integers not exceeding 9223372036854775807."
        )
    if int(nsample) < 0:
        raise ValueError("nsample must be nonnegative")
    total = sum(map(int, colors))
    if total >= 10**9:
        raise ValueError('When method is "marginals", sum(colors) must be less than 1000000000.')
    if int(nsample) > total:
        raise ValueError("nsample > sum(colors)")
    shape = () if size is None else _shape(size)

    def parameters(device):
        return asarray(colors.astype("int64"), device=device), numpy.int64(nsample)

    return _draw_rows(g, "hypergeometric_row", shape, len(colors), parameters, (False, False))


def dirichlet(g, alpha, size=None):
    """Shares of a whole.

    Parameters
    ----------
    alpha : array_like, shape (K,)
        Parameters, 0 or more.
    size : int or tuple of ints, optional
        Shape of the result; None means one number, or the parameters' broadcast shape.

    Returns
    -------
    ndarray of float64, shape (*size, K)
        Numbers that sum to 1.

    Raises
    ------
    ValueError
        alpha has other than one axis, or one of its numbers is negative.

    Examples
    --------
    >>> round(float(np.random.default_rng(7).dirichlet([1.0, 2.0]).sum()), 6)
    1.0
    """
    alpha = _parameter("alpha", alpha)
    if alpha.ndim != 1:
        raise ValueError(f"alpha must be 1-dimensional, not {alpha.ndim}-dimensional")
    if bool((alpha < 0).any()):
        raise ValueError("alpha < 0")
    shape = () if size is None else _shape(size)
    logs = _sampled(g, "log_gamma", (*shape, alpha.shape[0]), alpha)
    if not logs.size:
        return logs
    parts = _UFUNC["exp"](logs - logs.max(axis=-1, keepdims=True))
    return parts / parts.sum(axis=-1, keepdims=True)


def _root(cov, method, check_valid, tol):
    """A matrix R with R^T R = cov."""
    from .. import linalg
    from ..linalg._products import matmul

    if method == "cholesky":
        return linalg.cholesky(cov).T
    if method == "svd":
        _, s, vh = linalg.svd(cov)
        valid = check_valid == "ignore" or _close(matmul(vh.T * s, vh), cov, tol)
    else:
        s, u = linalg.eigh(cov)
        vh = u.T
        valid = check_valid == "ignore" or not bool((s < -tol).any())
        s = abs(s)
    if not valid:
        text = "covariance is not symmetric positive-semidefinite."
        if check_valid == "raise":
            raise ValueError(text)
        warnings.warn(text, RuntimeWarning, stacklevel=4)
    return _UFUNC["sqrt"](s).reshape((-1, 1)) * vh


def _close(x, y, tol):
    return bool((abs(x - y) <= tol + tol * abs(y)).all())


def multivariate_normal(g, mean, cov, size=None, check_valid="warn", tol=1e-8, *, method="svd"):
    """Normal vectors of a mean and a covariance.

    Parameters
    ----------
    mean : array_like, shape (K,)
        The mean.
    cov : array_like, shape (K, K)
        The covariance: symmetric and positive semidefinite.
    size : int or tuple of ints, optional
        Shape of the result; None means one number, or the parameters' broadcast shape.
    check_valid : {"warn", "raise", "ignore"}, default 'warn'
        What a covariance that is neither does.
    tol : float, default 1e-08
        Tolerance of that check.
    method : {"svd", "eigh", "cholesky"}, default 'svd'
        How cov is factored.

    Returns
    -------
    ndarray of float64, shape (*size, K)
        The vectors.

    Raises
    ------
    ValueError
        The shapes do not fit, or a word is unknown.

    Examples
    --------
    >>> np.random.default_rng(7).multivariate_normal([0.0, 0.0], [[1.0, 0.0], [0.0, 1.0]], 3).shape
    (3, 2)
    """
    from ..linalg._products import matmul

    if method not in ("eigh", "svd", "cholesky"):
        raise ValueError("method must be one of {'eigh', 'svd', 'cholesky'}")
    if check_valid not in ("warn", "raise", "ignore"):
        raise ValueError("check_valid must equal 'warn', 'raise', or 'ignore'")
    mean, cov = _parameter("mean", mean), _parameter("cov", cov)
    if mean.ndim != 1:
        raise ValueError("mean must be 1 dimensional")
    if cov.ndim != 2 or cov.shape[0] != cov.shape[1]:
        raise ValueError("cov must be 2 dimensional and square")
    if mean.shape[0] != cov.shape[0]:
        raise ValueError("mean and cov must have same length")
    shape = () if size is None else _shape(size)
    z = g.standard_normal((*shape, mean.shape[0]))
    root = _root(asarray(cov, device=z.device), method, check_valid, tol)
    return matmul(z, root) + asarray(mean, device=z.device)


VECTORS = ["dirichlet", "multinomial", "multivariate_hypergeometric", "multivariate_normal"]
