"""Products that slide along a vector: convolve and correlate. Long vectors go through Fourier transforms."""

import numpy

from ... import _core
from ..._core import arange, asarray
from ..._exchange._host import few, library
from ..._exchange._place import own as _own
from ..._select._pick import gather
from ...linalg._products import _conjugate
from .._math._values import clip

_UFUNC = _core.ufuncs()
_select = _UFUNC["select"]


def _part(mode, n, m):
    """Where a mode's part of the full product of n and m <= n elements begins, and its length."""
    return {"full": (0, n + m - 1), "same": ((m - 1) // 2, n), "valid": (m - 1, n - m + 1)}[mode]


def _slid(a, v, mode):
    """The sums over k of a[n + k] v[k], for the n that the mode includes. v is not longer than a."""
    n, m = a.shape[0], v.shape[0]
    first, count = _part(mode, n, m)
    at = arange(count, device=a.device)[:, None] + (arange(m, device=a.device) + (first - m + 1))[None, :]
    inside = (at >= 0) & (at < n)
    terms = _select(inside, gather(a, clip(at, 0, n - 1)) * v, asarray(0, a.dtype, device=a.device))
    return terms.any(-1) if terms.dtype.kind == "b" else terms.sum(-1, dtype=terms.dtype)


def _sliding(name, a, v, mode):
    a, v = _own(a, v), _own(v, a)
    if isinstance(mode, int) and 0 <= mode < 3:
        mode = ("valid", "same", "full")[mode]
    if mode not in ("valid", "same", "full"):
        raise ValueError(f"mode must be one of 'valid', 'same', or 'full' (case sensitive), got {mode!r}")
    if name == "convolve":
        a, v = (x.reshape(1) if x.ndim == 0 else x for x in (a, v))
    if a.ndim != 1 or v.ndim != 1:
        raise ValueError(f"{name}: one-dimensional arrays are wanted, not {a.ndim} and {v.ndim} dimensions")
    for x, which in ((a, "first"), (v, "second")):
        if x.shape[0] == 0:
            raise ValueError(f"{name}: the {which} array cannot be empty")
    return a, v, mode


SHORT = {"cpu": 1024, "cuda": 256, "null": 256}  # elements of the shorter vector from which transforms are faster
LONG = 1 << 22  # number of products from which transforms are faster


def _by_transforms(a, v, mode):
    """The convolution of floats by Fourier transforms in double precision. None where the vectors are short or not
    finite."""
    from ... import fft as transforms
    from ...fft._dispatch import _missing

    n, m = a.shape[0], v.shape[0]
    if a.dtype.kind not in "fc" or m < SHORT[a.device.kind] or n * m < LONG or _missing(a.device):
        return None
    if not bool(_UFUNC["isfinite"](a).all() & _UFUNC["isfinite"](v).all()):
        return None
    wide = "complex128" if a.dtype.kind == "c" else "float64"
    size, kind = 1 << (n + m - 2).bit_length(), "" if wide == "complex128" else "r"
    forward, back = getattr(transforms, kind + "fft"), getattr(transforms, f"i{kind}fft")
    product = back(forward(a.astype(wide), size) * forward(v.astype(wide), size), size)
    first, count = _part(mode, n, m)
    return product[first : first + count].astype(a.dtype)


def _products(name, a, v, mode):
    """The sums for convolve, or correlate with a conjugated v, of one dtype. v is not longer than a."""
    r = _by_transforms(a, v, mode)
    if r is not None:
        return r
    if a.device.host and a.dtype.kind != "V":
        backwards = v if name == "convolve" else v[::-1]
        if name == "correlate":
            return library("numpy.correlate", numpy.correlate, (a, _conjugate(backwards), mode), {})
        return library("numpy.convolve", numpy.convolve, (a, backwards, mode), {})
    return _slid(a, v[::-1], mode)


@few(numpy.convolve, 2)
def convolve(a, v, mode="full"):
    """The discrete convolution of two vectors.

    On the CPU's memory NumPy computes it; on a GPU one fused sum does, and Fourier transforms for long vectors of
    floats.

    Parameters
    ----------
    a : array_like, shape (N,)
        One vector.
    v : array_like, shape (M,)
        The other one.
    mode : {"full", "same", "valid"}, default 'full'
        "full": every overlap, "same": as many results as the longer vector has elements, "valid": whole overlaps.

    Returns
    -------
    ndarray, shape (N + M - 1,), (max(N, M),) or (max(N, M) - min(N, M) + 1,)
        By the mode; of the dtype that a and v promote to.

    Raises
    ------
    ValueError
        A vector is empty, or has more than one axis.

    Examples
    --------
    >>> np.convolve([1, 2, 3], [1, 1])
    array([1, 3, 5, 3])
    """
    a, v, mode = _sliding("convolve", a, v, mode)
    if v.shape[0] > a.shape[0]:
        a, v = v, a
    dt = numpy.result_type(a.dtype, v.dtype)
    return _products("convolve", a.astype(dt, copy=False), v.astype(dt, copy=False), mode)


@few(numpy.correlate, 2)
def correlate(a, v, mode="valid"):
    """The cross-correlation of two vectors, of which the second is conjugated.

    Parameters
    ----------
    a : array_like, shape (N,)
        One vector.
    v : array_like, shape (M,)
        The other one.
    mode : {"full", "same", "valid"}, default 'valid'
        As for convolve.

    Returns
    -------
    ndarray, shape (N + M - 1,), (max(N, M),) or (max(N, M) - min(N, M) + 1,)
        By the mode.

    Raises
    ------
    ValueError
        A vector is empty, or has more than one axis.

    Examples
    --------
    >>> np.correlate([1, 2, 3], [0, 1, 1], "full")
    array([1, 3, 5, 3, 0])
    """
    a, v, mode = _sliding("correlate", a, v, mode)
    dt = numpy.result_type(a.dtype, v.dtype)
    a, v = a.astype(dt, copy=False), _conjugate(v.astype(dt, copy=False))
    if v.shape[0] <= a.shape[0]:
        return _products("correlate", a, v[::-1], mode)
    return _products("correlate", v, a[::-1], mode)[::-1]
