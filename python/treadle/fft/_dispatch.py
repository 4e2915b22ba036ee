"""Who computes a transform: the function of this package where the device has a library, else NumPy's on the host.

On the CPU SciPy transforms large arrays where it is installed: its library is NumPy's in another build, which takes
several rows at once in vectors and several threads. Else NumPy does, in the array's memory; there large arrays of
several rows are shared among threads.
"""

import functools
import importlib
import os
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy

from .. import _core
from .._core import asarray, empty
from .._exchange import _host
from .._exchange._rows import by_rows
from ._arguments import _axes, _axis, _count

_PARAMETERS = {}  # of each function behind its array

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

    return _host.few(getattr(numpy.fft, name), 2)(fn)


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


_SCIPY_FROM = 1 << 15  # elements from which SciPy's transform and the copy of its result are quicker
_IMPORT_FROM = 1 << 18  # the same where SciPy's module must be imported first


@functools.cache
def _scipys():
    """SciPy's module of transforms; None without SciPy."""
    try:
        return importlib.import_module("scipy.fft")
    except ImportError:
        return None


def _by_scipy(name, source, target, axes, given):
    """Did SciPy write the transform of the memory `source` into `target`?"""
    size = max(source.size, target.size)
    if size < (_SCIPY_FROM if "scipy.fft" in sys.modules else _IMPORT_FROM) or len(set(axes)) < len(axes):
        return False
    module = _scipys()
    if module is None:
        return False
    workers = len(os.sched_getaffinity(0)) if size >= _THREADS_FROM else 1
    target[...] = getattr(module, name)(source, **given, workers=workers)
    return True


def _numpys(name, a, given):
    """The transform on the CPU, by SciPy or by NumPy; the latter straight into the result's memory."""
    theirs = getattr(numpy.fft, name)
    axes, shape, dtype = _result_of(name, a, given)
    r = empty(shape, dtype, device=a.device)
    source, target = _core._host_view(a), _core._host_view(r)
    if _by_scipy(name, source, target, axes, given):
        return r
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
