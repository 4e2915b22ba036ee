"""Discrete Fourier transforms under NumPy's names: NumPy's on the array's memory on the CPU, cuFFT's on a GPU.

float32 stays single precision, integers and bool become float64. The scale of a normalised transform is recorded like
any other product, so that it fuses with what is done next. On a GPU the axes are read where they lie, in any order
that cuFFT takes, and copied where not.
"""

import os
from concurrent.futures import ThreadPoolExecutor
from functools import wraps
from math import prod, sqrt

import numpy

from . import _core, _old_numpy
from ._core import arange, asarray, empty, zeros
from ._cupy import _names
from ._exchange import _host
from ._numpy._join import concatenate, roll
from ._numpy._math import where
from ._numpy._shape import moveaxis
from ._public import dir_of as _dir_of

_conj = _core.ufuncs()["conjugate"]

__all__ = ["fft", "fft2", "fftfreq", "fftn", "fftshift", "hfft", "ifft", "ifft2", "ifftn", "ifftshift", "ihfft",
           "irfft", "irfft2", "irfftn", "rfft", "rfft2", "rfftfreq", "rfftn"]  # fmt: skip

_C2C, _R2C, _C2R = range(3)
_RANK = 3  # axes that the library transforms at once
_PARAMETERS = {}  # of each function behind its array

# ---- who computes ----


def _missing(device):
    """Why the device's library does not serve; "" where it does, None on the CPU."""
    if device.host:
        return None
    try:
        _core._fourier_can(device)
    except _core.MissingLibraryError as e:
        return str(e)
    return ""


def _library(f):
    """Makes a function that the device's library serves NumPy's where it does not."""
    name = f.__name__
    parameters = _PARAMETERS[name] = f.__code__.co_varnames[1 : f.__code__.co_argcount]

    @wraps(f)
    def fn(a, *args, **kwargs):
        a = asarray(a)
        why = _missing(a.device)
        if why == "":
            return f(a, *args, **kwargs)
        given = dict(zip(parameters, args, strict=False), **kwargs)
        out = given.pop("out", None)
        if why is None and a.dtype in _NUMPYS:
            return _into(out, _numpys(name, a, given))
        r = _host.library(f"numpy.fft.{name}", getattr(numpy.fft, name), (a,), given, why)
        if a.dtype.itemsize == 4 * (1 + (a.dtype.kind == "c")) and a.dtype.kind in "fc":
            r = r.astype("complex64" if r.dtype.kind == "c" else "float32", copy=False)  # NumPy 1 has double only
        return _into(out, r)

    return fn


# dtypes that NumPy transforms in their own precision, into memory that it is given: since NumPy 2
_NUMPYS = ("f4", "f8", "c8", "c16") if numpy.lib.NumpyVersion(numpy.__version__) >= "2.0.0" else ()
_THREADS_FROM = 1 << 18  # elements from which several threads are quicker: starting one takes about 50 us


def _result_of(name, a, given):
    """(axes that are transformed, shape, dtype) of NumPy's result."""
    inverse_real = name in ("irfft", "hfft", "irfftn")
    if "axis" in _PARAMETERS[name]:
        axes = [_axis(a, given.get("axis", -1))]
        n, there = given.get("n"), a.shape[axes[0]]
        sizes = [_count((2 * (there - 1) if inverse_real else there) if n is None else n)]
    else:
        axes, sizes = _axes(a, given.get("s"), given.get("axes"), inverse_real)
    shape, order = list(a.shape), list(zip(axes, sizes, strict=True))
    if name in ("rfft", "ihfft", "rfftn"):
        order[-1] = axes[-1], sizes[-1] // 2 + 1
    for k, n in order if name == "irfftn" else reversed(order):  # NumPy's order, for an axis that is named twice
        shape[k] = n
    single = a.dtype.itemsize == (8 if a.dtype.kind == "c" else 4)
    real = "float32" if single else "float64"
    return axes, shape, real if inverse_real else "complex64" if single else "complex128"


def _numpys(name, a, given):
    """NumPy's transform on the CPU, straight into the result's memory; of large arrays of several rows by threads."""
    theirs = getattr(numpy.fft, name)
    axes, shape, dtype = _result_of(name, a, given)
    r = empty(shape, dtype, device=a.device)
    source, target = _core._host_view(a), _core._host_view(r)
    free = [k for k in range(a.ndim) if k not in axes and shape[k] > 1]
    count = min(len(os.sched_getaffinity(0)), max((shape[k] for k in free), default=1))

    def run(cut):
        if name in ("fft", "ifft", "rfft", "irfft"):  # the other functions make intermediate arrays
            theirs(source[cut], **given, out=target[cut])
        else:
            target[cut] = theirs(source[cut], **given)

    if count < 2 or r.size < _THREADS_FROM:
        run(...)
        return r
    along = max(free, key=lambda k: shape[k])
    edges = [shape[along] * i // count for i in range(count + 1)]
    cuts = [(*[slice(None)] * along, slice(i, j)) for i, j in zip(edges, edges[1:], strict=False)]
    with ThreadPoolExecutor(count) as pool:
        list(pool.map(run, cuts))
    return r


def _into(out, r):
    if out is None:
        return r
    _host.check_out("fft", out)
    if out.shape != r.shape:
        raise ValueError(f"output array has wrong shape: {out.shape}, the transform has {r.shape}")
    return _host.store("fft", out, r, casting="same_kind")


def _complex(a):
    """a in the complex dtype of its transform."""
    if a.dtype.kind == "c":
        return a
    return a.astype("complex64" if a.dtype.kind in "fV" and a.dtype.itemsize <= 4 else "complex128")


def _real(a):
    if a.dtype.kind == "c":
        raise TypeError(f"a transform of real numbers takes no {a.dtype}; use fft, or the real part")
    single = a.dtype.kind in "fV" and a.dtype.itemsize <= 4
    return a.astype("float32" if single else "float64", copy=False)


def _scale(n, norm, inverse):
    """The factor of a transform over n elements."""
    if norm is None or norm == "backward":
        return 1 / n if inverse else 1
    if norm == "ortho":
        return 1 / sqrt(n)
    if norm == "forward":
        return 1 if inverse else 1 / n
    raise ValueError(f'Invalid norm value {norm}; should be "backward", "ortho" or "forward".')


def _narrow(a, r):
    """The real transform of float16 is float16."""
    return r.astype(a.dtype) if a.dtype == "float16" else r


def _scaled(a, factor):
    return a if factor == 1 else a * factor


def _execute(a, shape, dtype, kind, inverse, axes):
    """The transform of a along up to three axes, the halved one last, as an array of that shape and dtype."""
    r = empty(shape, dtype, device=a.device)
    if axes[0] == a.ndim - len(axes) and axes[-1] == a.ndim - 1 and _core._fourier(a, r, kind, inverse, len(axes)):
        return r
    last = tuple(range(-len(axes), 0))
    source = moveaxis(a, axes, last)
    if _core._fourier(source, moveaxis(r, axes, last), kind, inverse, len(axes)):
        return r
    order = [k for k in range(a.ndim) if k not in axes] + list(axes)  # axes that lie between them go last
    r = empty([shape[k] for k in order], dtype, device=a.device)
    _core._fourier(source, r, kind, inverse, len(axes))
    return moveaxis(r, last, axes)


def _fit(a, sizes):
    """a cut, or filled up with zeros, to sizes[k] elements along each axis k."""
    shape = [sizes.get(k, n) for k, n in enumerate(a.shape)]
    if tuple(shape) == a.shape:
        return a
    kept = tuple(slice(min(n, m)) for n, m in zip(shape, a.shape, strict=True))
    if all(n <= m for n, m in zip(shape, a.shape, strict=True)):
        return a[kept]
    r = zeros(shape, a.dtype, device=a.device)
    r[kept] = a[kept]
    return r


def _c2c(a, axes, inverse):
    """Along distinct axes in any order; nothing is scaled."""
    for k in range(0, len(axes), _RANK):
        a = _execute(a, a.shape, a.dtype, _C2C, inverse, sorted(axes[k : k + _RANK]))
    return a


def _r2c(a, axes):
    """Along distinct axes, of which the last is halved."""
    now, rest = axes[-_RANK:], axes[:-_RANK]
    shape = list(a.shape)
    shape[axes[-1]] = shape[axes[-1]] // 2 + 1
    r = _execute(a, shape, _complex_of(a.dtype), _R2C, False, [*sorted(now[:-1]), now[-1]])
    return _c2c(r, rest, False)


def _c2r(a, axes, n):
    """Along distinct axes, of which the last has n // 2 + 1 numbers; the library uses its input up."""
    now = axes[-_RANK:]
    a = _c2c(a, axes[:-_RANK], True)
    a = _hermitian_alone(a, axes[-1], n) if len(now) == 1 else _hermitian(a.copy(), now, n)
    shape = list(a.shape)
    shape[now[-1]] = n
    return _execute(a, shape, _real_of(a.dtype), _C2R, True, [*sorted(now[:-1]), now[-1]])


def _hermitian_alone(a, axis, n):
    """A copy of a without the imaginary parts that have to be 0, at which NumPy does not look."""
    k = arange(n // 2 + 1, device=a.device)
    edge = ((k == 0) | (2 * k == n)).reshape([-1 if i == axis else 1 for i in range(a.ndim)])
    return where(edge, a.real, a)


def _hermitian(z, axes, n):
    """z, in which the numbers that stand for themselves and their conjugates along the other axes are so: as if NumPy,
    which goes one axis after the other, had dropped the imaginary parts before the last."""
    for edge in {0, n // 2} if n % 2 == 0 else {0}:
        plane = z[(*[slice(None)] * axes[-1], slice(edge, edge + 1))]
        mirrored = plane
        for k in axes[:-1]:
            mirrored = roll(mirrored[(*[slice(None)] * k, slice(None, None, -1))], 1, k)
        plane[...] = (plane + _conj(mirrored)) * 0.5
    return z


def _complex_of(dtype):
    return "complex64" if dtype.itemsize == 4 else "complex128"


def _real_of(dtype):
    return "float32" if dtype.itemsize == 8 else "float64"


# ---- arguments ----


def _count(n):
    if n < 1:
        raise ValueError(f"Invalid number of FFT data points ({n}) specified.")
    return n


def _axis(a, axis):
    if not -a.ndim <= axis < a.ndim:
        raise _old_numpy.exceptions.AxisError(axis, a.ndim)
    return axis % a.ndim


def _axes(a, s, axes, halved=False):
    """(axes from the front, sizes along them) as NumPy reads s and axes; halved: the result has more along the last."""
    if s is None:
        axes = range(a.ndim) if axes is None else axes
        axes = [_axis(a, k) for k in axes]
        s = [a.shape[k] for k in axes]
        if halved and s:
            s[-1] = 2 * (s[-1] - 1)
    else:
        axes = [_axis(a, k) for k in (range(-len(s), 0) if axes is None else axes)]
        if len(s) != len(axes):
            raise ValueError("Shape and axes have different lengths.")
        s = [a.shape[k] if n == -1 else n for n, k in zip(s, axes, strict=True)]
    for n in s:
        _count(n)
    return axes, s


# ---- one axis ----


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
    factor = _scale(n, norm, False)
    return _into(out, _scaled(_c2c(_fit(_complex(a), {axis: n}), [axis], False), factor))


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
    factor = _scale(n, norm, True)
    return _into(out, _scaled(_c2c(_fit(_complex(a), {axis: n}), [axis], True), factor))


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
    a, axis = _real(a), _axis(a, axis)
    n = _count(a.shape[axis] if n is None else n)
    factor = _scale(n, norm, False)
    return _into(out, _scaled(_r2c(_fit(a, {axis: n}), [axis]), factor))


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
    factor = _scale(n, norm, True)
    return _into(out, _narrow(a, _scaled(_c2r(_fit(z, {axis: n // 2 + 1}), [axis], n), factor)))


_OTHER_WAY = {None: "forward", "backward": "forward", "ortho": "ortho", "forward": "backward"}


def _other_way(norm):
    _scale(1, norm, False)
    return _OTHER_WAY[norm]


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


# ---- several axes ----


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
    if _twice(axes):
        return _into(out, _in_turn(fft, a, axes, s, norm))
    factor = _scale(prod(s), norm, False)
    return _into(out, _scaled(_c2c(_fit(_complex(a), dict(zip(axes, s, strict=True))), axes, False), factor))


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
    if _twice(axes):
        return _into(out, _in_turn(ifft, a, axes, s, norm))
    factor = _scale(prod(s), norm, True)
    return _into(out, _scaled(_c2c(_fit(_complex(a), dict(zip(axes, s, strict=True))), axes, True), factor))


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
    a = _real(a)
    axes, s = _axes(a, s, axes)
    if _twice(axes):
        return _into(out, _in_turn(fft, rfft(a, s[-1], axes[-1], norm), axes[:-1], s[:-1], norm))
    factor = _scale(prod(s), norm, False)
    return _into(out, _scaled(_r2c(_fit(a, dict(zip(axes, s, strict=True))), axes), factor))


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
    factor = _scale(prod(s), norm, True)
    z = _fit(z, {**dict(zip(axes[:-1], s[:-1], strict=True)), axes[-1]: s[-1] // 2 + 1})
    r = _scaled(_c2r(z, axes, s[-1]), factor)
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


# ---- frequencies ----


def _whole(n):
    if not isinstance(n, (int, numpy.integer)):
        raise ValueError("n should be an integer")
    return int(n)


def fftfreq(n, d=1.0, dtype=None, device=None):
    """The frequencies of fft's results: from 0 up, then the negative ones.

    Parameters
    ----------
    n : int
        How many results.
    d : float, default 1.0
        The distance of samples.
    dtype : dtype, optional
        Dtype of the result; None means float64.
    device : device or str, optional
        Where the array lies, as ``"cpu"`` or ``"cuda:0"``; None means the current device.

    Returns
    -------
    ndarray, shape (n,)
        In cycles per unit of d.

    Examples
    --------
    >>> np.fft.fftfreq(4)
    array([ 0.  ,  0.25, -0.5 , -0.25])
    """
    n = _whole(n)
    k = concatenate([arange((n - 1) // 2 + 1, device=device), arange(-(n // 2), 0, device=device)])
    return (k * (1.0 / (n * d))).astype(dtype or "float64", copy=False)


def rfftfreq(n, d=1.0, dtype=None, device=None):
    """The frequencies of rfft's results.

    Parameters
    ----------
    n : int
        How many samples.
    d : float, default 1.0
        The distance of samples.
    dtype : dtype, optional
        Dtype of the result; None means float64.
    device : device or str, optional
        Where the array lies, as ``"cpu"`` or ``"cuda:0"``; None means the current device.

    Returns
    -------
    ndarray, shape (n // 2 + 1,)
        In cycles per unit of d.

    Examples
    --------
    >>> np.fft.rfftfreq(4)
    array([0.  , 0.25, 0.5 ])
    """
    n = _whole(n)
    return (arange(n // 2 + 1, device=device) * (1.0 / (n * d))).astype(dtype or "float64", copy=False)


def _shift(x, axes, places):
    x = asarray(x)
    if axes is None:
        axes = tuple(range(x.ndim))
    elif isinstance(axes, (int, numpy.integer)):
        return roll(x, places(x.shape[axes]), int(axes))
    return roll(x, tuple(places(x.shape[k]) for k in axes), tuple(axes))


def fftshift(x, axes=None):
    """Move the frequency 0 into the middle of each axis.

    Parameters
    ----------
    x : array_like
        A transform.
    axes : int or tuple of ints, optional
        The axes; None means all.

    Returns
    -------
    ndarray
        Of x's shape and dtype.

    Examples
    --------
    >>> np.fft.fftshift([0, 1, -2, -1])
    array([-2, -1,  0,  1])
    """
    return _shift(x, axes, lambda n: n // 2)


def ifftshift(x, axes=None):
    """The inverse of fftshift.

    Parameters
    ----------
    x : array_like
        What fftshift gave.
    axes : int or tuple of ints, optional
        The axes; None means all.

    Returns
    -------
    ndarray
        Of x's shape and dtype.

    Examples
    --------
    >>> np.fft.ifftshift([-2, -1, 0, 1])
    array([ 0,  1, -2, -1])
    """
    return _shift(x, axes, lambda n: -(n // 2))


def __getattr__(name):
    raise AttributeError(_names.refusal("cupy.fft", name), name=name)


__dir__ = _dir_of(__name__)
