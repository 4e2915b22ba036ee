"""Window functions for spectra, and the Bessel function that Kaiser's window needs."""

from math import pi

from .. import _core
from .._core import arange, asarray, ndarray, ones
from ._math._values import where

_UFUNC = _core.ufuncs()
_cos, _exp, _sqrt, _abs, _maximum, _minimum = (
    _UFUNC[k] for k in ("cos", "exp", "sqrt", "absolute", "maximum", "minimum")
)

# exp(-x) I0(x) and exp(-x) sqrt(x) I0(x) as Chebyshev series in x/2 - 2, 0 <= x <= 8, and in 32/x - 2, 8 <= x:
# Clenshaw, Mathematical Tables 5 (National Physical Laboratory, 1962), with Cephes' digits.
_NEAR = (
    -4.41534164647933937950e-18, 3.33079451882223809783e-17, -2.43127984654795469359e-16, 1.71539128555513303061e-15,
    -1.16853328779934516808e-14, 7.67618549860493561688e-14, -4.85644678311192946090e-13, 2.95505266312963983461e-12,
    -1.72682629144155570723e-11, 9.67580903537323691224e-11, -5.18979560163526290666e-10, 2.65982372468238665035e-9,
    -1.30002500998624804212e-8, 6.04699502254191894932e-8, -2.67079385394061173391e-7, 1.11738753912010371815e-6,
    -4.41673835845875056359e-6, 1.64484480707288970893e-5, -5.75419501008210370398e-5, 1.88502885095841655729e-4,
    -5.76375574538582365885e-4, 1.63947561694133579842e-3, -4.32430999505057594430e-3, 1.05464603945949983183e-2,
    -2.37374148058994688156e-2, 4.93052842396707084878e-2, -9.49010970480476444210e-2, 1.71620901522208775349e-1,
    -3.04682672343198398683e-1, 6.76795274409476084995e-1,
)  # fmt: skip
_FAR = (
    -7.23318048787475395456e-18, -4.83050448594418207126e-18, 4.46562142029675999901e-17, 3.46122286769746109310e-17,
    -2.82762398051658348494e-16, -3.42548561967721913462e-16, 1.77256013305652638360e-15, 3.81168066935262242075e-15,
    -9.55484669882830764870e-15, -4.15056934728722208663e-14, 1.54008621752140982691e-14, 3.85277838274214270114e-13,
    7.18012445138366623367e-13, -1.79417853150680611778e-12, -1.32158118404477131188e-11, -3.14991652796324136454e-11,
    1.18891471078464383424e-11, 4.94060238822496958910e-10, 3.39623202570838634515e-9, 2.26666899049817806459e-8,
    2.04891858946906374183e-7, 2.89137052083475648297e-6, 6.88975834691682398426e-5, 3.36911647825569408990e-3,
    8.04490411014108831608e-1,
)  # fmt: skip


def _series(x, coefficients):
    """Half of the value of a Chebyshev series, by Clenshaw's recurrence."""
    b0, b1, b2 = coefficients[0], 0.0, 0.0
    for c in coefficients[1:]:
        b0, b1, b2 = x * b0 - b1 + c, b0, b1
    return 0.5 * (b0 - b2)


def i0(x):
    """The modified Bessel function of the first kind and order 0.

    Parameters
    ----------
    x : array_like
        Real numbers.

    Returns
    -------
    ndarray of float64
        Of x's shape.

    Raises
    ------
    TypeError
        x is complex.

    Examples
    --------
    >>> np.i0([0.0])
    array([1.])
    """
    x = x if isinstance(x, ndarray) else asarray(x)
    if x.dtype.kind == "c":
        raise TypeError("i0 not supported for complex values")
    x = _abs(x if x.dtype.kind in "fV" else x.astype("float64"))
    far = _maximum(x, 8.0)
    near = _series(_minimum(x, 8.0) / 2.0 - 2.0, _NEAR)
    return _exp(x) * where(x <= 8.0, near, _series(32.0 / far - 2.0, _FAR) / _sqrt(far))


def _window(M, shape):
    """shape(n, M) for the distances n = 1 - M, 3 - M, … M - 1 from the middle. Windows of 0 or 1 points are ones."""
    if M < 1:
        return ones(0, "float64")
    if M == 1:
        return ones(1, "float64")
    return shape(arange(1.0 - M, M, 2.0), M - 1.0)


def bartlett(M):
    """A window that rises from 0 to 1 and falls to 0 along straight lines.

    Parameters
    ----------
    M : int
        How many points.

    Returns
    -------
    ndarray of float64, shape (M,)
        Empty where M is less than 1.

    Examples
    --------
    >>> np.bartlett(5)
    array([0. , 0.5, 1. , 0.5, 0. ])
    """
    return _window(M, lambda n, last: where(n <= 0, 1 + n / last, 1 - n / last))


def hanning(M):
    """A raised cosine that ends at 0.

    Parameters
    ----------
    M : int
        How many points.

    Returns
    -------
    ndarray of float64, shape (M,)
        Empty where M is less than 1.

    Examples
    --------
    >>> np.hanning(3)
    array([0., 1., 0.])
    """
    return _window(M, lambda n, last: 0.5 + 0.5 * _cos(pi * n / last))


def hamming(M):
    """A raised cosine that ends at 0.08.

    Parameters
    ----------
    M : int
        How many points.

    Returns
    -------
    ndarray of float64, shape (M,)
        Empty where M is less than 1.

    Examples
    --------
    >>> np.hamming(3)
    array([0.08, 1.  , 0.08])
    """
    return _window(M, lambda n, last: 0.54 + 0.46 * _cos(pi * n / last))


def blackman(M):
    """A window of two cosines.

    Parameters
    ----------
    M : int
        How many points.

    Returns
    -------
    ndarray of float64, shape (M,)
        Empty where M is less than 1.

    Examples
    --------
    >>> np.round(np.blackman(5), 6)
    array([-0.  ,  0.34,  1.  ,  0.34, -0.  ])
    """
    return _window(M, lambda n, last: 0.42 + 0.5 * _cos(pi * n / last) + 0.08 * _cos(2.0 * pi * n / last))


def kaiser(M, beta):
    """Kaiser's window.

    Parameters
    ----------
    M : int
        How many points.
    beta : float
        How narrow it is; 0 gives ones.

    Returns
    -------
    ndarray of float64, shape (M,)
        Empty where M is less than 1.

    Examples
    --------
    >>> np.round(np.kaiser(3, 5.0), 6)
    array([0.036711, 1.      , 0.036711])
    """
    if M == 1:
        return ones(1, "float64")
    n = arange(max(0, M), dtype="float64")
    half = (M - 1) / 2.0
    return i0(beta * _sqrt(1 - ((n - half) / half) ** 2.0)) / i0(float(beta))
