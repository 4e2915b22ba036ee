"""Sizes, axes and norms as numpy.fft reads them. A wrong one raises NumPy's exception."""

from math import prod, sqrt

import numpy

from .. import _old_numpy


def _scale(n, norm, inverse):
    """The factor of a transform over n elements."""
    if norm is None or norm == "backward":
        return 1 / n if inverse else 1
    if norm == "ortho":
        return 1 / sqrt(n)
    if norm == "forward":
        return 1 if inverse else 1 / n
    raise ValueError(f'Invalid norm value {norm}; should be "backward", "ortho" or "forward".')


def _factor(a, sizes, norm, inverse):
    """The factor of a's transform over `sizes` elements along the axes, in the order in which NumPy goes.

    Since its version 2 NumPy rounds that of the first axis to float16 where a is float16.
    """
    factor = _scale(prod(sizes), norm, inverse)
    if a.dtype != "float16" or not sizes or numpy.lib.NumpyVersion(numpy.__version__) < "2.0.0":
        return factor
    first = _scale(sizes[0], norm, inverse)
    return factor / first * float(numpy.float16(first))


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


_OTHER_WAY = {None: "forward", "backward": "forward", "ortho": "ortho", "forward": "backward"}


def _other_way(norm):
    _scale(1, norm, False)
    return _OTHER_WAY[norm]


def _whole(n):
    if not isinstance(n, (int, numpy.integer)):
        raise ValueError("n should be an integer")
    return int(n)
