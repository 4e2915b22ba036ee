"""Powers of numbers: Vandermonde matrices, and values of polynomials."""

from operator import index

import numpy

from ..._core import arange, ndarray, zeros
from ..._exchange._host import few
from ..._exchange._place import on
from ..._exchange._place import own as _own


@few(numpy.vander)
def vander(x, N=None, increasing=False):
    """The matrix of the powers of x: one power a column, the highest first.

    Parameters
    ----------
    x : array_like, shape (M,)
        The numbers.
    N : int, optional
        How many powers; None means M.
    increasing : bool, default False
        The power 0 first.

    Returns
    -------
    ndarray, shape (M, N)
        Of x's dtype, int64 at least.

    Raises
    ------
    ValueError
        x has other than one axis.

    Examples
    --------
    >>> np.vander([2, 3], 3)
    array([[4, 2, 1],
           [9, 3, 1]])
    """
    x = _own(x)
    if x.ndim != 1:
        raise ValueError("x must be a one-dimensional array or sequence.")
    n = x.shape[0] if N is None else index(N)
    if n < 0:
        raise ValueError("negative dimensions are not allowed")
    powers = arange(n, device=x.device)
    one = numpy.result_type(x.dtype, int)
    return x.astype(one)[:, None] ** (powers if increasing else powers[::-1])[None, :]


def polyval(p, x):
    """The polynomial with the coefficients p, the highest first, at x."""
    where = next((a.device for a in (x, p) if isinstance(a, ndarray)), None)
    p, x = on(where, p), on(where, x)
    y = zeros(x.shape, x.dtype, device=x.device)
    for k in range(p.shape[0]):
        y = y * x + p[k]
    return y
