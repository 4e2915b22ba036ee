"""Polynomials by their coefficients, the highest power first.

The few coefficients of a poly1d are on the host. Values, matrices and fits are computed where their arrays are.
"""

import numpy

import treadle

from .. import _core, _old_numpy
from .._core import ndarray
from .._exchange import _host
from .._exchange._host import few
from .._exchange._place import on, own
from .._select._indexing import flatnonzero
from ..linalg._diagonals import diag
from ._calculus._powers import polyval as _values
from ._calculus._powers import vander
from ._calculus._sliding import convolve
from ._join import concatenate
from ._names import HOST

_UFUNC = _core.ufuncs()


def _vector(p, *others):
    """Coefficients as an array of one axis, beside others (own); of a poly1d its own."""
    p = own(p.coeffs if isinstance(p, (poly1d, numpy.poly1d)) else p, *others)
    return p.reshape(1) if p.ndim == 0 else p


def _as_given(result, *given):
    """The result as a poly1d if an argument was one."""
    return poly1d(result) if any(isinstance(p, (poly1d, numpy.poly1d)) for p in given) else result


def _sum(a1, a2, op):
    a, b = _core._beside("polyadd", _vector(a1, a2), _vector(a2, a1))
    short = abs(len(a) - len(b))
    if short:
        fill = _core.zeros(short, (a if len(a) < len(b) else b).dtype, device=a.device)
        a, b = (concatenate([fill, a]), b) if len(a) < len(b) else (a, concatenate([fill, b]))
    return _as_given(_UFUNC[op](a, b), a1, a2)


@few(numpy.polyadd)
def polyadd(a1, a2):
    """The sum of two polynomials.

    Parameters
    ----------
    a1, a2 : array_like or poly1d
        Coefficients, the highest power first.

    Returns
    -------
    ndarray or poly1d
        Coefficients.

    Examples
    --------
    >>> np.polyadd([1, 2], [1, 0, 0])
    array([1, 1, 2])
    """
    return _sum(a1, a2, "add")


@few(numpy.polysub)
def polysub(a1, a2):
    """The difference of two polynomials.

    Parameters
    ----------
    a1, a2 : array_like or poly1d
        Coefficients, the highest power first.

    Returns
    -------
    ndarray or poly1d
        Coefficients.

    Examples
    --------
    >>> np.polysub([1, 2], [1, 1])
    array([0, 1])
    """
    return _sum(a1, a2, "subtract")


@few(numpy.polymul)
def polymul(a1, a2):
    """The product of two polynomials.

    Parameters
    ----------
    a1, a2 : array_like or poly1d
        Coefficients, the highest power first.

    Returns
    -------
    ndarray or poly1d
        Coefficients.

    Examples
    --------
    >>> np.polymul([1, 2], [1, -2])
    array([ 1,  0, -4])
    """
    return _as_given(convolve(*_core._beside("polymul", _vector(a1, a2), _vector(a2, a1))), a1, a2)


def polydiv(u, v):
    """Quotient and remainder of two polynomials, computed on the host.

    Parameters
    ----------
    u, v : array_like or poly1d
        Coefficients, the highest power first.

    Returns
    -------
    tuple of ndarrays or poly1ds
        Quotient and remainder.

    Examples
    --------
    >>> np.polydiv([1.0, 0.0, -1.0], [1.0, 1.0])
    (array([ 1., -1.]), array([0.]))
    """
    given, (u, v) = (u, v), (_host_vector(p) for p in (u, v))
    q, r = _host.fallback("numpy.polydiv", numpy.polydiv, (u, v), {}, HOST["polydiv"])
    return _as_given(q, *given), _as_given(r, *given)


def _host_vector(p):
    return p._p.coeffs if isinstance(p, poly1d) else p.coeffs if isinstance(p, numpy.poly1d) else p


@few(numpy.polyder)
def polyder(p, m=1):
    """A derivative.

    Parameters
    ----------
    p : array_like or poly1d
        Coefficients, the highest power first.
    m : int, default 1
        Which one.

    Returns
    -------
    ndarray or poly1d
        Coefficients.

    Raises
    ------
    ValueError
        m is negative.

    Examples
    --------
    >>> np.polyder([1, 1, 1])
    array([2, 1])
    """
    m = int(m)
    if m < 0:
        raise ValueError("Order of derivative must be positive (see polyint)")
    y = _vector(p)
    for _ in range(m):
        n = len(y) - 1
        y = y[:-1] * _core.arange(n, 0, -1, device=y.device)
    return _as_given(y, p)


@few(numpy.polyint)
def polyint(p, m=1, k=None):
    """An integral.

    Parameters
    ----------
    p : array_like or poly1d
        Coefficients, the highest power first.
    m : int, default 1
        Which one.
    k : array_like, shape (m,) or (), optional
        The constants.

    Returns
    -------
    ndarray or poly1d
        Coefficients.

    Raises
    ------
    ValueError
        m is negative, or there are not m constants.

    Examples
    --------
    >>> np.polyint([2.0, 0.0])
    array([1., 0., 0.])
    """
    m = int(m)
    if m < 0:
        raise ValueError("Order of integral must be positive (see polyder)")
    y = _vector(p)
    k = _core.zeros(m, device=y.device) if k is None else on(y.device, k).reshape(-1)
    if len(k) == 1 and m > 1:
        k = k * _core.ones(m, device=y.device)
    if len(k) < m:
        raise ValueError("k must be a scalar or a rank-1 array of length 1 or >m.")
    for step in range(m):
        divisors = _core.arange(len(y), 0, -1, device=y.device)
        y = concatenate([y / divisors, k[step : step + 1]])
    return _as_given(y, p)


@few(numpy.poly)
def poly(seq_of_zeros):
    """The coefficients of the polynomial that has some roots.

    Parameters
    ----------
    seq_of_zeros : array_like, shape (N,) or (N, N)
        The roots, or a matrix whose eigenvalues they are.

    Returns
    -------
    ndarray, shape (N + 1,)
        The highest power first, with coefficient 1.

    Raises
    ------
    ValueError
        The argument has two axes and is not square.

    Examples
    --------
    >>> np.poly([1.0, 2.0])
    array([ 1., -3.,  2.])
    """
    if isinstance(seq_of_zeros, ndarray) and seq_of_zeros.ndim == 2:
        from ..linalg import eigvals

        if seq_of_zeros.shape[0] == seq_of_zeros.shape[1] > 0:
            seq_of_zeros = eigvals(seq_of_zeros)
    return _host.fallback("numpy.poly", numpy.poly, (seq_of_zeros,), {}, HOST["poly"])


@few(numpy.roots)
def roots(p):
    """The roots of a polynomial: the eigenvalues of its companion matrix.

    Parameters
    ----------
    p : array_like, shape (N + 1,)
        Coefficients, the highest power first.

    Returns
    -------
    ndarray, shape (N,)
        Complex where one of them is.

    Raises
    ------
    ValueError
        p has more than one axis.

    Examples
    --------
    >>> np.roots([1.0, -2.0])
    array([2.])
    """
    p = _vector(p)
    if p.ndim != 1:
        raise ValueError("Input must be a rank-1 array.")
    from ..linalg import eigvals
    from ..linalg._eigen import real_if_real

    used = flatnonzero(p)
    if len(used) == 0:
        return _core.empty(0, "float64", device=p.device)
    first, last = int(used[0]), int(used[-1])
    zeros = len(p) - last - 1
    p = p[first : last + 1]
    p = p if p.dtype.kind in "fc" else p.astype("float64")
    n = len(p)
    if n == 1:
        return _core.zeros(zeros, "float64" if zeros == 0 or p.dtype.kind != "c" else p.dtype, device=p.device)
    companion = diag(_core.ones(n - 2, p.dtype, device=p.device), -1)
    companion[0] = -p[1:] / p[0]
    r = eigvals(companion)
    if r.dtype.kind == "c" and not real_if_real() and not r.imag.any():
        r = r.real  # a NumPy whose eigenvalues are always complex still gives real roots
    return concatenate([r, _core.zeros(zeros, r.dtype, device=r.device)]) if zeros else r


def check_points(x, y):
    """Raise NumPy's errors for points to which a polynomial cannot be fitted."""
    if x.ndim != 1:
        raise TypeError("expected 1D vector for x")
    if x.size == 0:
        raise TypeError("expected non-empty vector for x")
    if y.ndim < 1 or y.ndim > 2:
        raise TypeError("expected 1D or 2D array for y")
    if x.shape[0] != y.shape[0]:
        raise TypeError("expected x and y to have same length")


@few(numpy.polyfit, 2)
def polyfit(x, y, deg, rcond=None, full=False, w=None, cov=False):
    """The polynomial that is nearest to points in the least squares' sense.

    Parameters
    ----------
    x : array_like, shape (M,)
        Places.
    y : array_like, shape (M,) or (M, K)
        Values; a column is a data set of its own.
    deg : int
        The degree.
    rcond : float, optional
        Singular values below rcond times the greatest count as zero; None means M times the dtype's epsilon.
    full : bool, default False
        Return residuals, rank, singular values and rcond too.
    w : array_like, shape (M,), optional
        Weights of the points.
    cov : bool or "unscaled", default False
        Return the covariance matrix too.

    Returns
    -------
    ndarray, shape (deg + 1,) or (deg + 1, K), or tuple
        Coefficients, the highest power first.

    Raises
    ------
    ValueError
        deg is negative.
    TypeError
        x and y differ in length, or x has other than one axis.

    Examples
    --------
    >>> np.round(np.polyfit([0.0, 1.0, 2.0], [1.0, 3.0, 5.0], 1), 6)
    array([2., 1.])
    """
    from ..linalg import inv, lstsq

    deg = int(deg)
    x, y = _core._beside("polyfit", x, y)
    if deg < 0:
        raise ValueError("expected deg >= 0")
    check_points(x, y)
    x = x + 0.0
    rcond = len(x) * numpy.finfo(x.dtype).eps if rcond is None else rcond
    lhs, rhs = vander(x, deg + 1), y + 0.0
    if w is not None:
        w = on(x.device, w) + 0.0
        if w.ndim != 1:
            raise TypeError("expected a 1-d array for weights")
        if w.shape[0] != y.shape[0]:
            raise TypeError("expected w and y to have the same length")
        lhs, rhs = lhs * w[:, None], rhs * (w[:, None] if rhs.ndim == 2 else w)
    scale = _UFUNC["sqrt"]((lhs * lhs).sum(0))
    c, residuals, rank, s = lstsq(lhs / scale, rhs, rcond)
    c = (c.T / scale).T
    if int(rank) != deg + 1 and not full:
        import warnings

        warnings.warn("Polyfit may be poorly conditioned", _old_numpy.exceptions.RankWarning, stacklevel=2)
    if full:
        return c, residuals, rank, s, rcond
    if not cov:
        return c
    scaled = lhs / scale
    base = inv(scaled.T @ scaled) / (scale[:, None] * scale)
    if cov == "unscaled":
        factor = 1
    else:
        if len(x) <= deg + 1:
            raise ValueError("the number of data points must exceed order to scale the covariance matrix")
        factor = residuals / (len(x) - deg - 1)
    return c, base * factor if y.ndim == 1 else base[:, :, None] * factor


@few(numpy.polyval, 2)
def polyval(p, x):
    """A polynomial at x.

    Parameters
    ----------
    p : array_like or poly1d, shape (N,)
        Coefficients, the highest power first.
    x : array_like or poly1d
        Where to evaluate.

    Returns
    -------
    ndarray or poly1d
        Of x's shape.

    Examples
    --------
    >>> np.polyval([1, 0, -1], [2, 3])
    array([3, 8])
    """
    if isinstance(x, (poly1d, numpy.poly1d)):
        y = poly1d([0])
        for c in poly1d(p)._p.coeffs:
            y = y * x + c
        return y
    return _values(_vector(p, x), x)


class poly1d:
    """A polynomial of one variable: p(x), p.r, p * q, p[power].

    Its few coefficients live on the host. p(x) is computed where x is, and attributes that are arrays are treadle's.

    Parameters
    ----------
    c_or_r : array_like or poly1d
        Coefficients, the highest power first.
    r : bool, default False
        They are the roots.
    variable : str, optional
        Its letter in text; None means "x".

    Examples
    --------
    >>> np.poly1d([1, 0, -1])(3)
    np.int64(8)
    """

    __hash__ = None
    __array_priority__ = 200

    def __init__(self, c_or_r, r=False, variable=None):
        if isinstance(c_or_r, poly1d):
            variable = c_or_r.variable if variable is None else variable
            c_or_r = c_or_r._p
        if r and isinstance(c_or_r, ndarray):
            c_or_r, r = poly(c_or_r), False

        def make(c):  # numpy.poly1d keeps a reference to its argument
            return numpy.poly1d(c if isinstance(c, numpy.poly1d) else numpy.array(c), r, variable)

        why = "a poly1d's coefficients are kept there"
        self._p = _host.library("numpy.poly1d", make, (c_or_r,), {}, why)

    @classmethod
    def _of(cls, theirs):
        return cls(theirs) if isinstance(theirs, numpy.poly1d) else theirs

    def __call__(self, val):
        return treadle.polyval(self, val)

    def __array__(self, dtype=None, copy=None):
        return self._p.__array__(dtype, copy)

    def __getitem__(self, power):
        return self._p[power]

    def __setitem__(self, power, value):
        self._p[power] = value

    def __eq__(self, other):
        return self._p == getattr(other, "_p", other)

    def __ne__(self, other):
        return self._p != getattr(other, "_p", other)

    def __truediv__(self, other):
        r = self._p / _plain(other)
        return tuple(map(self._of, r)) if isinstance(r, tuple) else self._of(r)

    def __rtruediv__(self, other):
        return tuple(map(self._of, _plain(other) / self._p))

    def __iter__(self):
        return iter(self._p)

    def __len__(self):
        return len(self._p)

    def __repr__(self):
        return repr(self._p)

    def __str__(self):
        return str(self._p)

    order = o = property(lambda self: self._p.order)
    variable = property(lambda self: self._p.variable)
    roots = r = property(lambda self: treadle.asarray(self._p.roots))
    coeffs = c = coef = coefficients = property(lambda self: treadle.asarray(self._p.coeffs))

    @coeffs.setter
    def coeffs(self, value):
        self._p.coeffs = value

    def deriv(self, m=1):
        """The m-th derivative."""
        return poly1d(self._p.deriv(m))

    def integ(self, m=1, k=0):
        """The m-th integral with the constants k."""
        return poly1d(self._p.integ(m, k))


def _plain(x):
    """An operand in the form in which numpy.poly1d's operators take it."""
    if isinstance(x, ndarray):
        return poly1d(x)._p if x.ndim else x.item()
    return getattr(x, "_p", x)


def _operator(name):
    theirs = getattr(numpy.poly1d, name)

    def fn(self, *other):
        return self._of(theirs(self._p, *map(_plain, other)))

    fn.__name__ = fn.__qualname__ = name
    return fn


for _name in "neg pos add radd sub rsub mul rmul pow".split():
    setattr(poly1d, f"__{_name}__", _operator(f"__{_name}__"))
