"""Who computes a transform: the function of this package where the device has a library, else NumPy's on the host."""

import functools

import numpy

from .. import _core
from .._core import asarray
from .._exchange import _host
from .._exchange._rows import by_rows
from ._arguments import _axes, _axis, _count

_PARAMETERS = {}  # of each function behind its array


def _missing(device):
    """Why the device's library does not serve; "" where it does."""
    if device.host:
        return ""
    try:
        _core._fourier_can(device)
    except _core.MissingLibraryError as e:
        return str(e)
    return ""


def _library(f):
    """Makes a function that the device's library serves NumPy's where it does not."""
    name = f.__name__
    parameters = _PARAMETERS[name] = f.__code__.co_varnames[1 : f.__code__.co_argcount]

    @functools.wraps(f)
    def fn(a, *args, **kwargs):
        a = asarray(a)
        if _core._on_host(a):
            rest = dict(zip(parameters, args, strict=False), **kwargs)
            out = rest.pop("out", None)
            r = by_rows(lambda x: fn(x, **rest), a, _result_of(name, a, rest)[0])
            if r is not None:
                return _into(out, r)
        why = _missing(a.device)
        if not why:
            return f(a, *args, **kwargs)
        given = dict(zip(parameters, args, strict=False), **kwargs)
        out = given.pop("out", None)
        r = _host.library(f"numpy.fft.{name}", getattr(numpy.fft, name), (a,), given, why)
        if a.dtype.itemsize == 4 * (1 + (a.dtype.kind == "c")) and a.dtype.kind in "fc":
            r = r.astype("complex64" if r.dtype.kind == "c" else "float32", copy=False)  # NumPy 1 has double only
        return _into(out, r)

    return fn


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


def _into(out, r):
    if out is None:
        return r
    _host.check_out("fft", out)
    if out.shape != r.shape:
        raise ValueError(f"output array has wrong shape: {out.shape}, the transform has {r.shape}")
    return _host.store("fft", out, r, casting="same_kind")
