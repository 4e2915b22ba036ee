"""cupyx.linalg: systems with positive definite matrices, by Cholesky's factorisation."""

import numpy

import treadle

from .. import linalg
from .._public import dir_of as _dir_of

__all__ = ["cho_solve", "invh"]


def invh(a):
    """The inverse of Hermitian positive definite matrices, of shape (…, N, N) and a's dtype as a float. LinAlgError: a
    is not square, or not positive definite."""
    factor = linalg.inv(linalg.cholesky(treadle.asarray(a)))
    return factor.mT.conj() @ factor


def cho_solve(c_and_lower, b, overwrite_b=False, check_finite=True):
    """x of A x = b, from A's Cholesky factor (…, N, N) and whether it is the lower one; b: (N,), (N, K) or (…, N, K).

    ValueError with check_finite: a NaN or an infinity among the numbers of the factor's triangle or of b."""
    factor, lower = c_and_lower
    factor, b = treadle.asarray(factor), treadle.asarray(b)
    factor = treadle.tril(factor) if lower else treadle.triu(factor)
    if check_finite and not bool(treadle.isfinite(factor).all() & treadle.isfinite(b).all()):
        raise ValueError("cho_solve: the factor or b contains NaN or infinity")
    if factor.shape[-1] != factor.shape[-2]:
        raise numpy.linalg.LinAlgError(f"cho_solve: the factor's shape {factor.shape} is not square")
    factor = factor if lower else factor.mT.conj()
    vector = b.ndim == 1
    x = linalg.solve(factor.mT.conj(), linalg.solve(factor, b[:, None] if vector else b))
    return x[..., 0] if vector else x


__dir__ = _dir_of(__name__)
