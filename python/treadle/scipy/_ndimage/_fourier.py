"""Fourier filters of scipy.ndimage, which multiply a transform: expressions of arrays."""

import math

import numpy

import treadle

from ... import _core
from .. import special
from .._arguments import axis_of, host
from ._support import deliver, each


def _output(x, output, kinds):
    """The dtype of a result. It must be one of kinds."""
    if output is None:
        return numpy.dtype(x.dtype if str(x.dtype) in kinds and str(x.dtype) != "float64" else kinds[-1])
    d = numpy.dtype(getattr(output, "dtype", output))
    if str(d) not in kinds:
        raise RuntimeError("output type not supported")
    return d


def _frequencies(x, n, axis):
    """The frequencies (cycles per element) along each axis, for broadcasting. n: the length of a real transform."""
    waves = []
    for d, size in enumerate(x.shape):
        k, length = numpy.arange(size), size
        if d == axis and n >= 0:
            length = n
        else:
            k = numpy.where(k < (size + 1) // 2, k, k - size)
        shape = [1] * x.ndim
        shape[d] = size
        waves.append(_core.asarray((k / length).reshape(shape), device=x.device))
    return waves


def _values(x, values):
    return [float(v) for v in each(host(values).tolist(), x.ndim)]


def _filtered(input, values, n, axis, output, factor):
    x = _core.asarray(input)
    d = _output(x, output, ("complex64", "complex128", "float32", "float64"))
    r = x
    for w, v in zip(_frequencies(x, n, axis_of(axis, x.ndim)), _values(x, values), strict=True):
        r = r * factor(w, v)
    if d.kind != "c" and r.dtype.kind == "c":
        r = r.real
    return deliver(r.astype(d), output)


def fourier_gaussian(input, sigma, n=-1, axis=-1, output=None):
    """Multiply a Fourier transform by that of a Gaussian."""
    return _filtered(input, sigma, n, axis, output, lambda w, s: treadle.exp(-2.0 * (math.pi * s) ** 2 * w * w))


def fourier_uniform(input, size, n=-1, axis=-1, output=None):
    """Multiply a Fourier transform by that of a box."""
    return _filtered(input, size, n, axis, output, lambda w, s: treadle.sinc(s * w))


def fourier_shift(input, shift, n=-1, axis=-1, output=None):
    """Multiply a Fourier transform by that of a shift."""
    x = _core.asarray(input)
    d = _output(x, output, ("complex64", "complex128"))
    r = x
    for w, s in zip(_frequencies(x, n, axis_of(axis, x.ndim)), _values(x, shift), strict=True):
        r = r * treadle.exp(w * (-2j * math.pi * s))
    return deliver(r.astype(d), output)


def fourier_ellipsoid(input, size, n=-1, axis=-1, output=None):
    """Multiply a Fourier transform of one to three axes by that of an ellipsoid. size: its extent along each axis."""
    x = _core.asarray(input)
    d = _output(x, output, ("complex64", "complex128", "float32", "float64"))
    if x.ndim > 3:
        raise NotImplementedError("Only 1d, 2d and 3d inputs are supported")
    if not x.size:
        return deliver(x.astype(d), output)
    waves = _frequencies(x, n, axis_of(axis, x.ndim))
    r = treadle.sqrt(sum((math.pi * s * w) ** 2 for w, s in zip(waves, _values(x, size), strict=True)))
    none = r == 0
    safe = treadle.where(none, 1.0, r)
    if x.ndim == 1:
        factor = treadle.sin(safe) / safe
    elif x.ndim == 2:
        factor = 2.0 * special.j1(safe) / safe
    else:
        factor = 3.0 * (treadle.sin(safe) - safe * treadle.cos(safe)) / safe**3
    y = x * treadle.where(none, 1.0, factor)
    return deliver((y.real if d.kind != "c" and y.dtype.kind == "c" else y).astype(d), output)
