"""Numbers between two ends, at equal steps or equal ratios."""

from operator import index

import numpy

from ... import _core
from ..._core import arange, asarray, ndarray
from .._math._values import where
from .._shape import expand_dims, moveaxis


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
    num = index(num)
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
    if numpy.ndim(base):  # several bases: their axes stand beside those of the ends
        start, stop, base = _core._beside("logspace", start, stop, base)
        rank = max(x.ndim for x in (start, stop, base))
        start, stop, base = (x.reshape((1,) * (rank - x.ndim) + x.shape) for x in (start, stop, base))
        base = expand_dims(base, axis)
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
    num = y.shape[0]
    i = arange(num, device=y.device).reshape((-1,) + (1,) * (y.ndim - 1))
    y = where(i == 0, first, y)  # the ends are exact
    if endpoint and num > 1:
        y = where(i == num - 1, last, y)
    y = y * sign
    if axis not in (0, -y.ndim):
        y = moveaxis(y, 0, axis)
    return y.astype(dt if dtype is None else dtype, copy=False)
