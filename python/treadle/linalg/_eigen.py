"""Eigenvalues and eigenvectors."""

from functools import cache

import numpy
from numpy.linalg import LinAlgError

from .. import _core
from . import _solver
from ._dispatch import _library, _result, _square

_isfinite = _core.ufuncs()["isfinite"]


def _half(uplo):
    if not isinstance(uplo, str) or uplo.upper() not in ("L", "U"):
        raise ValueError("UPLO argument must be 'L' or 'U'")
    return uplo.upper() == "L"


@_library("syevd")
def eigh(a, UPLO="L"):
    """Eigenvalues and eigenvectors of Hermitian matrices.

    Parameters
    ----------
    a : array_like, shape (..., N, N)
        The matrices, of which one triangle is read.
    UPLO : {"L", "U"}, default 'L'
        Which triangle.

    Returns
    -------
    namedtuple of ndarrays: eigenvalues (..., N), eigenvectors (..., N, N)
        Rising real eigenvalues; the vectors are columns.

    Raises
    ------
    LinAlgError
        a is not square.
    ValueError
        UPLO is neither of both.

    Examples
    --------
    >>> np.linalg.eigh([[2.0, 0.0], [0.0, 1.0]]).eigenvalues
    array([1., 2.])
    """
    lower = _half(UPLO)
    _square(a)
    w, v, info = _solver.eigh(a, lower)
    _solver.check(info, "Eigenvalues did not converge")
    return _result("eigh", w, v)


@_library("syevd")
def eigvalsh(a, UPLO="L"):
    """The eigenvalues of Hermitian matrices, in rising order.

    Parameters
    ----------
    a : array_like, shape (..., N, N)
        The matrices, of which one triangle is read.
    UPLO : {"L", "U"}, default 'L'
        Which triangle.

    Returns
    -------
    ndarray, shape (..., N)
        Real.

    Raises
    ------
    LinAlgError
        a is not square.

    Examples
    --------
    >>> np.linalg.eigvalsh([[2.0, 0.0], [0.0, 1.0]])
    array([1., 2.])
    """
    lower = _half(UPLO)
    _square(a)
    w, _, info = _solver.eigh(a, lower, vectors=False)
    _solver.check(info, "Eigenvalues did not converge")
    return w


@cache
def real_if_real():
    """Whether NumPy returns real eigenvalues if all of them are real. It did so up to 2.4."""
    return numpy.linalg.eigvals(numpy.eye(1)).dtype.kind == "f"


def _eig(a, vectors):
    _square(a)
    if not bool(_isfinite(a).all()):
        raise LinAlgError("Array must not contain infs or NaNs")
    w, v, info = _solver.eig(a, vectors)
    _solver.check(info, "Eigenvalues did not converge")
    if a.dtype.kind == "f" and real_if_real() and bool((w.imag == 0).all()):
        w, v = w.real, v.real if vectors else None
    return w, v


@_library("geev")
def eig(a):
    """Eigenvalues and eigenvectors of square matrices.

    Parameters
    ----------
    a : array_like, shape (..., N, N)
        The matrices.

    Returns
    -------
    namedtuple of ndarrays: eigenvalues (..., N), eigenvectors (..., N, N)
        In no order; the vectors are columns. They are real where all of them are, unless the installed NumPy has them
        complex always.

    Raises
    ------
    LinAlgError
        a is not square, or holds NaN or infinities.

    Examples
    --------
    >>> np.linalg.eig([[2.0, 0.0], [0.0, 3.0]]).eigenvectors.real
    array([[1., 0.],
           [0., 1.]])
    """
    return _result("eig", *_eig(a, True))


@_library("geev")
def eigvals(a):
    """The eigenvalues of square matrices, in no order.

    Parameters
    ----------
    a : array_like, shape (..., N, N)
        The matrices.

    Returns
    -------
    ndarray, shape (..., N)
        Real where all of them are, unless the installed NumPy has them complex always.

    Raises
    ------
    LinAlgError
        a is not square.

    Examples
    --------
    >>> np.linalg.eigvals([[0.0, -1.0], [1.0, 0.0]])
    array([0.+1.j, 0.-1.j])
    """
    return _eig(a, False)[0]
