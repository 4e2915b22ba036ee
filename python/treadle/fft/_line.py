"""Transforms along one axis."""

from ._arguments import _axis, _count, _factor, _other_way
from ._dispatch import _into, _library
from ._plan import _c2r, _complex, _conj, _fit, _full, _narrow, _r2c, _real


@_library
def fft(a, n=None, axis=-1, norm=None, out=None):
    """The Fourier transform along an axis.

    Parameters
    ----------
    a : array_like, shape (..., N, ...)
        Real or complex numbers.
    n : int, optional
        How many elements to take: they are cut, or filled up with zeros. None means N.
    axis : int, default -1
        Axis to work along; negative numbers count from the last.
    norm : {"backward", "ortho", "forward"}, optional
        Which direction is divided by the number of elements: the inverse, both by its root, or the forward one.
    out : ndarray, optional
        Takes the result and is returned: an array of treadle's or NumPy's with the result's shape.

    Returns
    -------
    ndarray, shape (..., n, ...)
        complex64 for float16 and float32, else complex128.

    Raises
    ------
    ValueError
        n is less than 1.

    Examples
    --------
    >>> np.fft.fft([1.0, 0.0, 0.0, 0.0])
    array([1.+0.j, 1.+0.j, 1.+0.j, 1.+0.j])
    """
    axis = _axis(a, axis)
    n = _count(a.shape[axis] if n is None else n)
    factor = _factor(a, (n,), norm, False)
    return _into(out, _full(_fit(a, {axis: n}), [axis], False, factor))


@_library
def ifft(a, n=None, axis=-1, norm=None, out=None):
    """The inverse of fft.

    Parameters
    ----------
    a : array_like, shape (..., N, ...)
        Real or complex numbers.
    n : int, optional
        How many elements to take: they are cut, or filled up with zeros. None means N.
    axis : int, default -1
        Axis to work along; negative numbers count from the last.
    norm : {"backward", "ortho", "forward"}, optional
        Which direction is divided by the number of elements: the inverse, both by its root, or the forward one.
    out : ndarray, optional
        Takes the result and is returned: an array of treadle's or NumPy's with the result's shape.

    Returns
    -------
    ndarray, shape (..., n, ...)
        Complex.

    Raises
    ------
    ValueError
        n is less than 1.

    Examples
    --------
    >>> np.fft.ifft([4.0, 0.0, 0.0, 0.0])
    array([1.+0.j, 1.+0.j, 1.+0.j, 1.+0.j])
    """
    axis = _axis(a, axis)
    n = _count(a.shape[axis] if n is None else n)
    factor = _factor(a, (n,), norm, True)
    return _into(out, _full(_fit(a, {axis: n}), [axis], True, factor))


@_library
def rfft(a, n=None, axis=-1, norm=None, out=None):
    """The Fourier transform of real numbers: the first n // 2 + 1 results, whose conjugates are the others.

    Parameters
    ----------
    a : array_like, shape (..., N, ...)
        Real numbers.
    n : int, optional
        How many elements to take: they are cut, or filled up with zeros. None means N.
    axis : int, default -1
        Axis to work along; negative numbers count from the last.
    norm : {"backward", "ortho", "forward"}, optional
        Which direction is divided by the number of elements: the inverse, both by its root, or the forward one.
    out : ndarray, optional
        Takes the result and is returned: an array of treadle's or NumPy's with the result's shape.

    Returns
    -------
    ndarray, shape (..., n // 2 + 1, ...)
        Complex.

    Raises
    ------
    TypeError
        a is complex.

    Examples
    --------
    >>> np.fft.rfft([1.0, 0.0, 0.0, 0.0])
    array([1.+0.j, 1.+0.j, 1.+0.j])
    """
    axis = _axis(a, axis)
    n = _count(a.shape[axis] if n is None else n)
    factor = _factor(a, (n,), norm, False)
    return _into(out, _r2c(_fit(_real(a), {axis: n}), [axis], factor))


@_library
def irfft(a, n=None, axis=-1, norm=None, out=None):
    """The inverse of rfft.

    Parameters
    ----------
    a : array_like, shape (..., M, ...)
        The first half of a transform.
    n : int, optional
        How many real numbers; None means 2 (M - 1).
    axis : int, default -1
        Axis to work along; negative numbers count from the last.
    norm : {"backward", "ortho", "forward"}, optional
        Which direction is divided by the number of elements: the inverse, both by its root, or the forward one.
    out : ndarray, optional
        Takes the result and is returned: an array of treadle's or NumPy's with the result's shape.

    Returns
    -------
    ndarray, shape (..., n, ...)
        Real.

    Raises
    ------
    ValueError
        n is less than 1.

    Examples
    --------
    >>> np.fft.irfft([4.0, 0.0, 0.0])
    array([1., 1., 1., 1.])
    """
    z, axis = _complex(a), _axis(a, axis)
    n = _count(2 * (a.shape[axis] - 1) if n is None else n)
    factor = _factor(a, (n,), norm, True)
    return _into(out, _narrow(a, _c2r(_fit(z, {axis: n // 2 + 1}), [axis], n, factor)))


@_library
def hfft(a, n=None, axis=-1, norm=None, out=None):
    """The transform, which is real, of numbers whose second half are the first one's conjugates.

    Parameters
    ----------
    a : array_like, shape (..., M, ...)
        The first half.
    n : int, optional
        How many results; None means 2 (M - 1).
    axis : int, default -1
        Axis to work along; negative numbers count from the last.
    norm : {"backward", "ortho", "forward"}, optional
        Which direction is divided by the number of elements: the inverse, both by its root, or the forward one.
    out : ndarray, optional
        Takes the result and is returned: an array of treadle's or NumPy's with the result's shape.

    Returns
    -------
    ndarray, shape (..., n, ...)
        Real.

    Raises
    ------
    ValueError
        n is less than 1.

    Examples
    --------
    >>> np.fft.hfft([1.0, 0.0, 0.0])
    array([1., 1., 1., 1.])
    """
    axis = _axis(a, axis)
    n = _count(2 * (a.shape[axis] - 1) if n is None else n)
    return irfft(_conj(a), n, axis, _other_way(norm), out)


@_library
def ihfft(a, n=None, axis=-1, norm=None, out=None):
    """The inverse of hfft.

    Parameters
    ----------
    a : array_like, shape (..., N, ...)
        Real numbers.
    n : int, optional
        How many elements to take: they are cut, or filled up with zeros. None means N.
    axis : int, default -1
        Axis to work along; negative numbers count from the last.
    norm : {"backward", "ortho", "forward"}, optional
        Which direction is divided by the number of elements: the inverse, both by its root, or the forward one.
    out : ndarray, optional
        Takes the result and is returned: an array of treadle's or NumPy's with the result's shape.

    Returns
    -------
    ndarray, shape (..., n // 2 + 1, ...)
        Complex.

    Raises
    ------
    TypeError
        a is complex.

    Examples
    --------
    >>> np.fft.ihfft([4.0, 0.0, 0.0, 0.0])
    array([1.-0.j, 1.-0.j, 1.-0.j])
    """
    return _into(out, _conj(rfft(a, n, axis, _other_way(norm))))
