"""Transforms along several axes."""

from ._arguments import _axes, _factor
from ._dispatch import _into, _library
from ._line import fft, ifft, irfft, rfft
from ._plan import _c2r, _complex, _fit, _full, _narrow, _r2c, _real


def _in_turn(f, a, axes, s, norm):
    """Axis after axis from the last on: where one is named twice."""
    for k, n in zip(reversed(axes), reversed(s), strict=True):
        a = f(a, n, k, norm)
    return a


def _twice(axes):
    return len({*axes}) < len(axes)


@_library
def fftn(a, s=None, axes=None, norm=None, out=None):
    """The Fourier transform along several axes.

    Parameters
    ----------
    a : array_like
        Real or complex numbers.
    s : tuple of ints, optional
        How many elements to take along each axis; -1 means all there are.
    axes : tuple of ints, optional
        The axes; None means all, or with s the last ones.
    norm : {"backward", "ortho", "forward"}, optional
        Which direction is divided by the number of elements: the inverse, both by its root, or the forward one.
    out : ndarray, optional
        Takes the result and is returned: an array of treadle's or NumPy's with the result's shape.

    Returns
    -------
    ndarray
        Complex.

    Raises
    ------
    ValueError
        s and axes differ in length.

    Examples
    --------
    >>> np.fft.fftn([[1.0, 0.0], [0.0, 0.0]])
    array([[1.+0.j, 1.+0.j],
           [1.+0.j, 1.+0.j]])
    """
    axes, s = _axes(a, s, axes)
    if not axes:
        return _into(out, a)
    if _twice(axes):
        return _into(out, _in_turn(fft, a, axes, s, norm))
    factor = _factor(a, s[::-1], norm, False)
    return _into(out, _full(_fit(a, dict(zip(axes, s, strict=True))), axes, False, factor))


@_library
def ifftn(a, s=None, axes=None, norm=None, out=None):
    """The inverse of fftn.

    Parameters
    ----------
    a : array_like
        Real or complex numbers.
    s : tuple of ints, optional
        How many elements to take along each axis; -1 means all there are.
    axes : tuple of ints, optional
        The axes; None means all, or with s the last ones.
    norm : {"backward", "ortho", "forward"}, optional
        Which direction is divided by the number of elements: the inverse, both by its root, or the forward one.
    out : ndarray, optional
        Takes the result and is returned: an array of treadle's or NumPy's with the result's shape.

    Returns
    -------
    ndarray
        Complex.

    Raises
    ------
    ValueError
        s and axes differ in length.

    Examples
    --------
    >>> np.fft.ifftn([[4.0, 0.0], [0.0, 0.0]])
    array([[1.+0.j, 1.+0.j],
           [1.+0.j, 1.+0.j]])
    """
    axes, s = _axes(a, s, axes)
    if not axes:
        return _into(out, a)
    if _twice(axes):
        return _into(out, _in_turn(ifft, a, axes, s, norm))
    factor = _factor(a, s[::-1], norm, True)
    return _into(out, _full(_fit(a, dict(zip(axes, s, strict=True))), axes, True, factor))


@_library
def rfftn(a, s=None, axes=None, norm=None, out=None):
    """The Fourier transform of real numbers along axes, of which the last is halved as in rfft.

    Parameters
    ----------
    a : array_like
        Real numbers.
    s : tuple of ints, optional
        How many elements to take along each axis; -1 means all there are.
    axes : tuple of ints, optional
        The axes; None means all, or with s the last ones.
    norm : {"backward", "ortho", "forward"}, optional
        Which direction is divided by the number of elements: the inverse, both by its root, or the forward one.
    out : ndarray, optional
        Takes the result and is returned: an array of treadle's or NumPy's with the result's shape.

    Returns
    -------
    ndarray
        Complex.

    Raises
    ------
    TypeError
        a is complex.

    Examples
    --------
    >>> np.fft.rfftn([[1.0, 0.0], [0.0, 0.0]])
    array([[1.+0.j, 1.+0.j],
           [1.+0.j, 1.+0.j]])
    """
    axes, s = _axes(a, s, axes)
    a = _real(a)
    if _twice(axes):
        return _into(out, _in_turn(fft, rfft(a, s[-1], axes[-1], norm), axes[:-1], s[:-1], norm))
    factor = _factor(a, s[::-1], norm, False)
    return _into(out, _r2c(_fit(a, dict(zip(axes, s, strict=True))), axes, factor))


@_library
def irfftn(a, s=None, axes=None, norm=None, out=None):
    """The inverse of rfftn.

    Parameters
    ----------
    a : array_like
        A transform whose last axis is halved.
    s : tuple of ints, optional
        How many results along each axis; None means 2 (M - 1) along the last.
    axes : tuple of ints, optional
        The axes; None means all, or with s the last ones.
    norm : {"backward", "ortho", "forward"}, optional
        Which direction is divided by the number of elements: the inverse, both by its root, or the forward one.
    out : ndarray, optional
        Takes the result and is returned: an array of treadle's or NumPy's with the result's shape.

    Returns
    -------
    ndarray
        Real.

    Examples
    --------
    >>> np.fft.irfftn([[4.0, 0.0], [0.0, 0.0]])
    array([[1., 1.],
           [1., 1.]])
    """
    axes, s = _axes(a, s, axes, halved=True)
    if _twice(axes):
        for n, k in zip(s[:-1], axes[:-1], strict=True):
            a = ifft(a, n, k, norm)
        return irfft(a, s[-1], axes[-1], norm, out)
    z = _complex(a)
    factor = _factor(a, s, norm, True)
    z = _fit(z, {**dict(zip(axes[:-1], s[:-1], strict=True)), axes[-1]: s[-1] // 2 + 1})
    r = _c2r(z, axes, s[-1], factor)
    return _into(out, _narrow(z if axes[1:] else a, r))


def fft2(a, s=None, axes=(-2, -1), norm=None, out=None):
    """The Fourier transform along two axes.

    Parameters
    ----------
    a : array_like, shape (..., M, N)
        Real or complex numbers.
    s : pair of ints, optional
        How many elements to take along each axis; -1 means all there are.
    axes : pair of ints, default (-2, -1)
        The axes.
    norm : {"backward", "ortho", "forward"}, optional
        Which direction is divided by the number of elements: the inverse, both by its root, or the forward one.
    out : ndarray, optional
        Takes the result and is returned: an array of treadle's or NumPy's with the result's shape.

    Returns
    -------
    ndarray
        Complex.

    Examples
    --------
    >>> np.fft.fft2([[1.0, 0.0], [0.0, 0.0]])
    array([[1.+0.j, 1.+0.j],
           [1.+0.j, 1.+0.j]])
    """
    return fftn(a, s, axes, norm, out)


def ifft2(a, s=None, axes=(-2, -1), norm=None, out=None):
    """The inverse of fft2.

    Parameters
    ----------
    a : array_like, shape (..., M, N)
        Real or complex numbers.
    s : pair of ints, optional
        How many elements to take along each axis; -1 means all there are.
    axes : pair of ints, default (-2, -1)
        The axes.
    norm : {"backward", "ortho", "forward"}, optional
        Which direction is divided by the number of elements: the inverse, both by its root, or the forward one.
    out : ndarray, optional
        Takes the result and is returned: an array of treadle's or NumPy's with the result's shape.

    Returns
    -------
    ndarray
        Complex.

    Examples
    --------
    >>> np.fft.ifft2([[4.0, 0.0], [0.0, 0.0]])
    array([[1.+0.j, 1.+0.j],
           [1.+0.j, 1.+0.j]])
    """
    return ifftn(a, s, axes, norm, out)


def rfft2(a, s=None, axes=(-2, -1), norm=None, out=None):
    """The Fourier transform of real numbers along two axes, of which the last is halved as in rfft.

    Parameters
    ----------
    a : array_like, shape (..., M, N)
        Real numbers.
    s : pair of ints, optional
        How many elements to take along each axis; -1 means all there are.
    axes : pair of ints, default (-2, -1)
        The axes.
    norm : {"backward", "ortho", "forward"}, optional
        Which direction is divided by the number of elements: the inverse, both by its root, or the forward one.
    out : ndarray, optional
        Takes the result and is returned: an array of treadle's or NumPy's with the result's shape.

    Returns
    -------
    ndarray
        Complex.

    Examples
    --------
    >>> np.fft.rfft2([[1.0, 0.0], [0.0, 0.0]])
    array([[1.+0.j, 1.+0.j],
           [1.+0.j, 1.+0.j]])
    """
    return rfftn(a, s, axes, norm, out)


def irfft2(a, s=None, axes=(-2, -1), norm=None, out=None):
    """The inverse of rfft2.

    Parameters
    ----------
    a : array_like, shape (..., M, N)
        A transform whose last axis is halved.
    s : pair of ints, optional
        How many results along each axis; None means 2 (N - 1) along the last.
    axes : pair of ints, default (-2, -1)
        The axes.
    norm : {"backward", "ortho", "forward"}, optional
        Which direction is divided by the number of elements: the inverse, both by its root, or the forward one.
    out : ndarray, optional
        Takes the result and is returned: an array of treadle's or NumPy's with the result's shape.

    Returns
    -------
    ndarray
        Real.

    Examples
    --------
    >>> np.fft.irfft2([[4.0, 0.0], [0.0, 0.0]])
    array([[1., 1.],
           [1., 1.]])
    """
    return irfftn(a, s, axes, norm, out)
