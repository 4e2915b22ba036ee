"""Factorisations: Cholesky, QR, singular values."""

from .. import _core
from .._core import empty
from .._numpy._create._matrices import tril, triu
from .._numpy._math._values import where
from .._numpy._shape import matrix_transpose
from . import _solver
from ._dispatch import _INDEFINITE, _adjoint, _library, _result, _small_cholesky, _square, _stacked, _unit
from ._eigen import eigh

_abs = _core.ufuncs()["absolute"]


@_library("potrf", small=_small_cholesky)
def cholesky(a, /, *, upper=False):
    """The triangular factor of positive definite matrices: L of L L^H.

    Parameters
    ----------
    a : array_like, shape (..., N, N)
        Hermitian matrices, of which one triangle is read.
    upper : bool, default False
        Read the upper triangle and return U of U^H U.

    Returns
    -------
    ndarray, shape (..., N, N)
        float32, float64, complex64 or complex128.

    Raises
    ------
    LinAlgError
        A matrix is not positive definite, or not square.

    Examples
    --------
    >>> np.linalg.cholesky([[4.0, 2.0], [2.0, 5.0]])
    array([[2., 0.],
           [1., 2.]])
    """
    _square(a)
    c, info = _solver.cholesky(a, upper)
    _solver.check(info, _INDEFINITE)
    return triu(c) if upper else tril(c)


@_library("geqrf", "orgqr")
def qr(a, mode="reduced"):
    """Orthonormal columns and an upper triangle whose product is a.

    Parameters
    ----------
    a : array_like, shape (..., M, N)
        The matrices.
    mode : {"reduced", "complete", "r", "raw"}, default 'reduced'
        "reduced": K = min(M, N) columns, "complete": K = M, "r": R alone, "raw": LAPACK's reflectors, transposed, and
        their factors.

    Returns
    -------
    namedtuple of ndarrays: Q (..., M, K), R (..., K, N)
        float or complex.

    Raises
    ------
    ValueError
        The mode is none of these.

    Examples
    --------
    >>> np.linalg.qr([[2.0, 0.0], [0.0, 3.0]], "r").shape
    (2, 2)
    """
    if mode not in ("reduced", "complete", "r", "raw"):
        raise ValueError(f"Unrecognized mode '{mode}'")
    _stacked(a)
    m, n = a.shape[-2:]
    c, tau = _solver.reflectors(a)
    if mode == "raw":
        return c, tau
    count = m if mode == "complete" else min(m, n)
    r = triu(matrix_transpose(c)[..., :count, :])
    if mode == "r":
        return r
    _core.evaluate(r)  # evaluate R before Q overwrites the reflectors
    q = _solver.orthogonal(c, tau, count) if min(m, n) else _unit(m, a)[..., :count]
    return _result("qr", q, r)


def _hermitian_svd(a, compute_uv):
    w, v = eigh(a)
    order = _abs(w).argsort(-1)[..., ::-1]
    from .._select._writing import take_along_axis

    w = take_along_axis(w, order, -1)
    s = _abs(w)
    if not compute_uv:
        return s
    u = take_along_axis(v, order[..., None, :], -1)
    sign = where(w < 0, -1, 1).astype(s.dtype)
    return _result("svd", u, s, _adjoint(u * sign[..., None, :]))


@_library("gesvd")
def svd(a, full_matrices=True, compute_uv=True, hermitian=False):
    """The singular value decomposition, U S Vh.

    Parameters
    ----------
    a : array_like, shape (..., M, N)
        The matrices.
    full_matrices : bool, default True
        False leaves out the columns of U and the rows of Vh that S does not reach: K = min(M, N) stay.
    compute_uv : bool, default True
        False: S alone.
    hermitian : bool, default False
        a is Hermitian: eigenvalues are taken, which is quicker.

    Returns
    -------
    namedtuple of ndarrays: U (..., M, M), S (..., K), Vh (..., N, N)
        S falls, and is real.

    Raises
    ------
    LinAlgError
        a has fewer than two axes.

    Examples
    --------
    >>> np.linalg.svd([[3.0, 0.0], [0.0, 4.0]], compute_uv=False)
    array([4., 3.])
    """
    _stacked(a)
    if hermitian:
        return _hermitian_svd(a, compute_uv)
    m, n = a.shape[-2:]
    if min(m, n) == 0:
        s = empty((*a.shape[:-2], 0), _solver.real_of(a.dtype), device=a.device)
        count = (m, n) if full_matrices else (0, 0)
        ends = _unit(m, a)[..., : count[0]], s, _unit(n, a)[..., : count[1], :]
        return _result("svd", *ends) if compute_uv else s
    u, s, vh, info = _solver.svd(a, compute_uv, full_matrices)
    _solver.check(info, "SVD did not converge")
    return _result("svd", u, s, vh) if compute_uv else s


def svdvals(x, /):
    """The singular values, in falling order.

    Parameters
    ----------
    x : array_like, shape (..., M, N)
        The matrices.

    Returns
    -------
    ndarray, shape (..., min(M, N))
        Real.

    Raises
    ------
    LinAlgError
        x has fewer than two axes.

    Examples
    --------
    >>> np.linalg.svdvals([[3.0, 0.0], [0.0, 4.0]])
    array([4., 3.])
    """
    return svd(x, compute_uv=False)
