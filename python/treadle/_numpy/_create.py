"""Arrays made of numbers, ranges, shapes of others and functions."""

import numpy

from .. import _core
from .._core import arange, asarray, ndarray
from ._join import stack
from ._math._values import where
from ._shape import moveaxis


def asanyarray(a, dtype=None, order=None, *, device=None, copy=None, like=None):
    """As asarray: treadle has no subclasses of its array.

    Parameters
    ----------
    a : array_like
        The numbers.
    dtype : dtype, optional
        Dtype of the result; None keeps a's.
    order : {'C', 'F', 'A', 'K'}, optional
        Order of the elements in memory.
    device : device or str, optional
        Where the array lies, as ``"cpu"`` or ``"cuda:0"``; None means the current device.
    copy : bool, optional
        True: always copy; False: never; None: where it is needed.
    like : object, optional
        Accepted for NumPy's signature; it changes nothing.

    Returns
    -------
    ndarray
        a itself where nothing changes.

    Raises
    ------
    ValueError
        copy=False and a copy is needed.

    Examples
    --------
    >>> np.asanyarray([1, 2])
    array([1, 2])
    """
    return asarray(a, dtype, order, device=device, copy=copy)


def ascontiguousarray(a, dtype=None, *, like=None):
    """The array itself where its elements lie in C order, else a copy.

    Parameters
    ----------
    a : array_like
        The numbers.
    dtype : dtype, optional
        Dtype of the result; None keeps a's.
    like : object, optional
        Accepted for NumPy's signature; it changes nothing.

    Returns
    -------
    ndarray
        Of one axis at least.

    Examples
    --------
    >>> np.ascontiguousarray(np.ones((2, 3)).T).flags.c_contiguous
    True
    """
    a = asarray(a, dtype)
    a = a.reshape(1) if a.ndim == 0 else a
    return a if a.flags.c_contiguous else a.copy()


def asfortranarray(a, dtype=None, *, like=None):
    """The array itself where its elements lie in Fortran's order, else a copy.

    Parameters
    ----------
    a : array_like
        The numbers.
    dtype : dtype, optional
        Dtype of the result; None keeps a's.
    like : object, optional
        Accepted for NumPy's signature; it changes nothing.

    Returns
    -------
    ndarray
        Of one axis at least.

    Examples
    --------
    >>> np.asfortranarray([[1, 2], [3, 4]]).flags.f_contiguous
    True
    """
    a = asarray(a, dtype)
    return asarray(a.reshape(1) if a.ndim == 0 else a, order="F")


def isfortran(a):
    """Whether the elements lie in Fortran's order, and not in C's as well.

    Parameters
    ----------
    a : ndarray
        The array.

    Returns
    -------
    bool
        False for vectors, which lie in both orders.

    Examples
    --------
    >>> np.isfortran(np.ones((2, 3)).T)
    True
    """
    flags = asarray(a).flags
    return flags.f_contiguous and not flags.c_contiguous


def asarray_chkfinite(a, dtype=None, order=None):
    """As asarray, after a check that all elements are finite; they are evaluated for it.

    Parameters
    ----------
    a : array_like
        The numbers.
    dtype : dtype, optional
        Dtype of the result; None keeps a's.
    order : {'C', 'F', 'A', 'K'}, optional
        Order of the elements in memory.

    Returns
    -------
    ndarray
        a itself where nothing changes.

    Raises
    ------
    ValueError
        An element is NaN or infinite.

    Examples
    --------
    >>> np.asarray_chkfinite([1.0, 2.0])
    array([1., 2.])
    """
    a = asarray(a, dtype, order)
    if a.dtype.kind in "fcV" and not bool(_core.ufuncs()["isfinite"](a).all()):
        raise ValueError("array must not contain infs or NaNs")
    return a


def require(a, dtype=None, requirements=None, *, like=None):
    """An array with the dtype and flags that are asked for.

    Parameters
    ----------
    a : array_like
        The numbers.
    dtype : dtype, optional
        Dtype of the result; None keeps a's.
    requirements : str or list of str, optional
        "C", "F", "A", "W", "O" or "E", by numpy.require's names.
    like : object, optional
        Accepted for NumPy's signature; it changes nothing.

    Returns
    -------
    ndarray
        a itself if it has them, else a copy.

    Raises
    ------
    ValueError
        "C" and "F" are both asked for.

    Examples
    --------
    >>> np.require([1, 2], dtype=float, requirements=["C"])
    array([1., 2.])
    """
    names = {"A": "aligned", "C": "c", "F": "f", "O": "owndata", "W": "writeable", "E": "e"}
    names |= {"C_CONTIGUOUS": "c", "F_CONTIGUOUS": "f", "CONTIGUOUS": "c", "FORTRAN": "f", "ENSUREARRAY": "e"}
    names |= {full: full.lower() for full in ("ALIGNED", "OWNDATA", "WRITEABLE")}
    wanted = {names[x.upper()] for x in requirements or ()}
    if wanted >= {"c", "f"}:
        raise ValueError('Cannot specify both "C" and "F" order')
    order = "F" if "f" in wanted else "C" if "c" in wanted else None
    a = asarray(a, dtype, order)
    missing = [x for x in wanted - {"c", "f", "e"} if not getattr(a.flags, x)]
    return a.copy(order or "K") if missing else a


def copy(a, order="K", subok=False):
    """A copy with memory of its own.

    Parameters
    ----------
    a : array_like
        The numbers.
    order : {'C', 'F', 'A', 'K'}, default 'K'
        Order of the elements in memory.
    subok : bool, default False
        Accepted for NumPy's signature; treadle has no subclasses of its array.

    Returns
    -------
    ndarray
        Of a's shape and dtype.

    Examples
    --------
    >>> np.copy([1, 2])
    array([1, 2])
    """
    return _core.array(a, order=order)


def _like(a, dtype, order, shape, device, value=None):
    a = a if isinstance(a, ndarray) else asarray(a, device=device)
    return _core._like(a, dtype, order, shape, device, value)


def empty_like(prototype, dtype=None, order="K", subok=True, shape=None, *, device=None):
    """An array of another one's shape and dtype, whose values are not set.

    Parameters
    ----------
    prototype : array_like
        Gives shape, dtype and device.
    dtype : dtype, optional
        Another dtype.
    order : {'C', 'F', 'A', 'K'}, default 'K'
        Order of the elements in memory.
    subok : bool, default True
        Accepted for NumPy's signature; treadle has no subclasses of its array.
    shape : int or tuple of ints, optional
        Another shape.
    device : device or str, optional
        Where the array lies; None means prototype's device.

    Returns
    -------
    ndarray
        The values are what the memory held.

    Examples
    --------
    >>> np.empty_like([1, 2]).shape
    (2,)
    """
    return _like(prototype, dtype, order, shape, device)


def zeros_like(a, dtype=None, order="K", subok=True, shape=None, *, device=None):
    """Zeros in another array's shape and dtype.

    Parameters
    ----------
    a : array_like
        Gives shape, dtype and device.
    dtype : dtype, optional
        Another dtype.
    order : {'C', 'F', 'A', 'K'}, default 'K'
        Order of the elements in memory.
    subok : bool, default True
        Accepted for NumPy's signature; treadle has no subclasses of its array.
    shape : int or tuple of ints, optional
        Another shape.
    device : device or str, optional
        Where the array lies; None means a's device.

    Returns
    -------
    ndarray
        All elements are 0.

    Examples
    --------
    >>> np.zeros_like([1, 2])
    array([0, 0])
    """
    return _like(a, dtype, order, shape, device, 0)


def ones_like(a, dtype=None, order="K", subok=True, shape=None, *, device=None):
    """Ones in another array's shape and dtype.

    Parameters
    ----------
    a : array_like
        Gives shape, dtype and device.
    dtype : dtype, optional
        Another dtype.
    order : {'C', 'F', 'A', 'K'}, default 'K'
        Order of the elements in memory.
    subok : bool, default True
        Accepted for NumPy's signature; treadle has no subclasses of its array.
    shape : int or tuple of ints, optional
        Another shape.
    device : device or str, optional
        Where the array lies; None means a's device.

    Returns
    -------
    ndarray
        All elements are 1.

    Examples
    --------
    >>> np.ones_like([1, 2])
    array([1, 1])
    """
    return _like(a, dtype, order, shape, device, 1)


def full_like(a, fill_value, dtype=None, order="K", subok=True, shape=None, *, device=None):
    """One value in another array's shape and dtype.

    Parameters
    ----------
    a : array_like
        Gives shape, dtype and device.
    fill_value : array_like
        The value; an array broadcasts to the shape.
    dtype : dtype, optional
        Another dtype.
    order : {'C', 'F', 'A', 'K'}, default 'K'
        Order of the elements in memory.
    subok : bool, default True
        Accepted for NumPy's signature; treadle has no subclasses of its array.
    shape : int or tuple of ints, optional
        Another shape.
    device : device or str, optional
        Where the array lies; None means a's device.

    Returns
    -------
    ndarray
        fill_value, cast to the dtype.

    Examples
    --------
    >>> np.full_like([1, 2], 7)
    array([7, 7])
    """
    r = _like(a, dtype, order, shape, device)
    _core._fill_cast(r, fill_value)
    return r


# ---- ranges ----


def linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0, *, device=None):
    """Numbers at equal steps.

    Parameters
    ----------
    start : array_like
        The first number.
    stop : array_like
        The last one; broadcasts with start.
    num : int, default 50
        How many.
    endpoint : bool, default True
        False leaves stop out; the step is smaller then.
    retstep : bool, default False
        Return the step too.
    dtype : dtype, optional
        Dtype of the result; None means what start and stop give, float64 at least.
    axis : int, default 0
        Where the axis of the numbers stands.
    device : device or str, optional
        Where the array lies, as ``"cpu"`` or ``"cuda:0"``; None means the current device.

    Returns
    -------
    ndarray, shape (num, ...)
        The numbers; with retstep a pair of them and the step.

    Raises
    ------
    ValueError
        num is negative.

    Examples
    --------
    >>> np.linspace(0, 1, 5)
    array([0.  , 0.25, 0.5 , 0.75, 1.  ])
    """
    num = int(num)
    if num < 0:
        raise ValueError(f"Number of samples, {num}, must be non-negative.")
    device = device or next((x.device for x in (start, stop) if isinstance(x, ndarray)), None)
    start, stop = (x if type(x) in (int, float, complex) else asarray(x, device=device) * 1.0 for x in (start, stop))
    natural = numpy.result_type(*(x.dtype if isinstance(x, ndarray) else x for x in (start, stop)), float(num))
    delta, gaps = stop - start, num - 1 if endpoint else num
    rank = max(getattr(start, "ndim", 0), getattr(stop, "ndim", 0))
    shape = [num] + [1] * rank
    i = arange(num, dtype=natural if natural.kind in "fc" else "float64", device=device).reshape(shape)
    step = delta / gaps if gaps > 0 else float("nan")
    if gaps <= 0:
        y = i * delta + start
    elif isinstance(step, ndarray):  # a step that underflowed to 0 needs another formula
        y = where(step == 0, i / gaps * delta, i * step) + start
    else:
        y = (i * step if step else i / gaps * delta) + start
    if endpoint and num > 1:
        y = where(arange(num, device=device).reshape(shape) == num - 1, stop, y)
    if dtype is not None and numpy.dtype(dtype).kind in "iu":
        y = _core.ufuncs()["floor"](y)
    y = y.astype(dtype or natural, copy=False)
    if axis not in (0, -y.ndim):
        y = moveaxis(y, 0, axis)
    return (y, step) if retstep else y


def logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0, *, device=None):
    """The base to the powers of linspace(start, stop, num).

    Parameters
    ----------
    start : array_like
        The first exponent.
    stop : array_like
        The last one; broadcasts with start.
    num : int, default 50
        How many.
    endpoint : bool, default True
        False leaves stop out.
    base : array_like, default 10.0
        What is raised.
    dtype : dtype, optional
        Dtype of the result; None means what the numbers give, float64 at least.
    axis : int, default 0
        Where the axis of the numbers stands.
    device : device or str, optional
        Where the array lies, as ``"cpu"`` or ``"cuda:0"``; None means the current device.

    Returns
    -------
    ndarray, shape (num, ...)
        The powers.

    Raises
    ------
    ValueError
        num is negative.

    Examples
    --------
    >>> np.logspace(0, 2, 3)
    array([  1.,  10., 100.])
    """
    y = _core.ufuncs()["power"](base, linspace(start, stop, num, endpoint, axis=axis, device=device))
    return y if dtype is None else y.astype(dtype)


def geomspace(start, stop, num=50, endpoint=True, dtype=None, axis=0, *, device=None):
    """Numbers at equal ratios.

    Parameters
    ----------
    start : array_like
        The first number.
    stop : array_like
        The last one; broadcasts with start.
    num : int, default 50
        How many.
    endpoint : bool, default True
        False leaves stop out; the ratio is smaller then.
    dtype : dtype, optional
        Dtype of the result; None means what start and stop give, float64 at least.
    axis : int, default 0
        Where the axis of the numbers stands.
    device : device or str, optional
        Where the array lies, as ``"cpu"`` or ``"cuda:0"``; None means the current device.

    Returns
    -------
    ndarray, shape (num, ...)
        start, start r, start r**2 and so on.

    Raises
    ------
    ValueError
        num is negative, or start or stop is 0.

    Examples
    --------
    >>> np.geomspace(1, 8, 4)
    array([1., 2., 4., 8.])
    """
    ufunc = _core.ufuncs()
    start, stop = _core._beside("geomspace", start, stop)
    if device is not None:
        start, stop = start.to_device(device), stop.to_device(device)
    if bool(((start == 0) | (stop == 0)).any()):
        raise ValueError("Geometric sequence cannot include zero")
    dt = numpy.result_type(start.dtype, stop.dtype, "float64", numpy.dtype(dtype))
    start, stop = start.astype(dt, copy=False), stop.astype(dt, copy=False)
    sign = ufunc["sign"](start)
    first, last = start / sign, stop / sign
    y = logspace(ufunc["log10"](first), ufunc["log10"](last), num, endpoint, dtype=dt)
    i = arange(y.shape[0], device=y.device).reshape((-1,) + (1,) * (y.ndim - 1))
    y = where(i == 0, first, y)  # the ends are exact
    if endpoint and num > 1:
        y = where(i == num - 1, last, y)
    y = y * sign
    if axis not in (0, -y.ndim):
        y = moveaxis(y, 0, axis)
    return y.astype(dt if dtype is None else dtype, copy=False)


# ---- matrices and grids ----


def eye(N, M=None, k=0, dtype=float, order="C", *, device=None, like=None):
    """A matrix with ones on a diagonal and zeros beside it.

    Parameters
    ----------
    N : int
        Rows.
    M : int, optional
        Columns; None means N.
    k : int, default 0
        The diagonal: above the main one where positive.
    dtype : dtype, default float
        Dtype of the result.
    order : {'C', 'F', 'A', 'K'}, default 'C'
        Order of the elements in memory.
    device : device or str, optional
        Where the array lies, as ``"cpu"`` or ``"cuda:0"``; None means the current device.
    like : object, optional
        Accepted for NumPy's signature; it changes nothing.

    Returns
    -------
    ndarray, shape (N, M)
        A new array.

    Examples
    --------
    >>> np.eye(2, dtype=int)
    array([[1, 0],
           [0, 1]])
    """
    i, j = arange(N, device=device), arange(N if M is None else M, device=device)
    return (j[None, :] - i[:, None] == k).astype(dtype, order)


def identity(n, dtype=float, *, device=None, like=None):
    """The unit matrix.

    Parameters
    ----------
    n : int
        Rows and columns.
    dtype : dtype, default float
        Dtype of the result.
    device : device or str, optional
        Where the array lies, as ``"cpu"`` or ``"cuda:0"``; None means the current device.
    like : object, optional
        Accepted for NumPy's signature; it changes nothing.

    Returns
    -------
    ndarray, shape (n, n)
        A new array.

    Examples
    --------
    >>> np.identity(2)
    array([[1., 0.],
           [0., 1.]])
    """
    return eye(n, dtype=dtype, device=device)


def tri(N, M=None, k=0, dtype=float, *, device=None, like=None):
    """Ones on and below a diagonal, zeros above it.

    Parameters
    ----------
    N : int
        Rows.
    M : int, optional
        Columns; None means N.
    k : int, default 0
        The diagonal: above the main one where positive.
    dtype : dtype, default float
        Dtype of the result.
    device : device or str, optional
        Where the array lies, as ``"cpu"`` or ``"cuda:0"``; None means the current device.
    like : object, optional
        Accepted for NumPy's signature; it changes nothing.

    Returns
    -------
    ndarray, shape (N, M)
        A new array.

    Examples
    --------
    >>> np.tri(2, 3, dtype=int)
    array([[1, 0, 0],
           [1, 1, 0]])
    """
    i, j = arange(N, device=device), arange(N if M is None else M, device=device)
    return (j[None, :] - i[:, None] <= k).astype(dtype)


def _triangle(m, k, keep):
    m = asarray(m)
    if m.ndim == 0:
        raise TypeError("tril, triu: an array of no axes has no triangle")
    i, j = arange(m.shape[-2 if m.ndim > 1 else -1], device=m.device), arange(m.shape[-1], device=m.device)
    return where(keep(j[None, :] - i[:, None], k), m, asarray(0, m.dtype, device=m.device))


def tril(m, k=0):
    """Zeros above a diagonal.

    Parameters
    ----------
    m : array_like, shape (..., M, N)
        One matrix or several.
    k : int, default 0
        The last diagonal that is kept.

    Returns
    -------
    ndarray
        Of m's shape and dtype.

    Examples
    --------
    >>> np.tril([[1, 2], [3, 4]])
    array([[1, 0],
           [3, 4]])
    """
    return _triangle(m, k, lambda d, k: d <= k)


def triu(m, k=0):
    """Zeros below a diagonal.

    Parameters
    ----------
    m : array_like, shape (..., M, N)
        One matrix or several.
    k : int, default 0
        The first diagonal that is kept.

    Returns
    -------
    ndarray
        Of m's shape and dtype.

    Examples
    --------
    >>> np.triu([[1, 2], [3, 4]])
    array([[1, 2],
           [0, 4]])
    """
    return _triangle(m, k, lambda d, k: d >= k)


def meshgrid(*xi, copy=True, sparse=False, indexing="xy"):
    """Coordinate arrays of a grid over axes.

    Parameters
    ----------
    *xi : array_like, shape (Nk,)
        Coordinates along each axis.
    copy : bool, default True
        False: read-only views in place of copies.
    sparse : bool, default False
        Leave extents of 1, which broadcast.
    indexing : {"xy", "ij"}, default 'xy'
        "xy" exchanges the first two axes.

    Returns
    -------
    tuple of ndarrays
        One for each of xi.

    Raises
    ------
    ValueError
        indexing is neither of both.

    Examples
    --------
    >>> np.meshgrid([1, 2], [3, 4])
    (array([[1, 2],
           [1, 2]]), array([[3, 3],
           [4, 4]]))
    """
    if indexing not in ("xy", "ij"):
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    n = len(xi)
    grids = [asarray(x).reshape([-1 if j == k else 1 for j in range(n)]) for k, x in enumerate(xi)]
    if indexing == "xy" and n > 1:
        grids = [g.swapaxes(0, 1) for g in grids]
    if not sparse:
        shape = numpy.broadcast_shapes(*(g.shape for g in grids))
        grids = [_core._broadcast_to(g, shape) for g in grids]
    return tuple(g.copy() for g in grids) if copy else tuple(grids)


def indices(dimensions, dtype=int, sparse=False, *, device=None):
    """The index of every element along each axis.

    Parameters
    ----------
    dimensions : sequence of ints
        Extents of a grid.
    dtype : dtype, default int
        Dtype of the result.
    sparse : bool, default False
        Return one array for each axis, with extent 1 along the others.
    device : device or str, optional
        Where the array lies, as ``"cpu"`` or ``"cuda:0"``; None means the current device.

    Returns
    -------
    ndarray, shape (len(dimensions), *dimensions), or tuple of ndarrays
        The indices.

    Examples
    --------
    >>> np.indices((2, 2))
    array([[[0, 0],
            [1, 1]],
    <BLANKLINE>
           [[0, 1],
            [0, 1]]])
    """
    n = len(dimensions)
    parts = tuple(
        arange(d, dtype=dtype, device=device).reshape([-1 if j == k else 1 for j in range(n)])
        for k, d in enumerate(dimensions)
    )
    if sparse:
        return parts
    return stack([_core._broadcast_to(p, tuple(dimensions)) for p in parts])


def fromfunction(function, shape, *, dtype=float, like=None, **kwargs):
    """What a function gives for the index arrays of all axes.

    Parameters
    ----------
    function : callable
        Called once, with one array of shape shape for each axis.
    shape : tuple of ints
        Shape of the index arrays.
    dtype : dtype, default float
        Dtype of the index arrays.
    like : object, optional
        Accepted for NumPy's signature; it changes nothing.
    **kwargs : any
        Passed on to the function.

    Returns
    -------
    any
        What the function returns.

    Examples
    --------
    >>> np.fromfunction(lambda i, j: i + j, (2, 2), dtype=int)
    array([[0, 1],
           [1, 2]])
    """
    return function(*indices(shape, dtype), **kwargs)
