"""Cosine and sine transforms of types 1 to 4, by Fourier transforms of real numbers. On the CPU SciPy computes them if
it is installed.

Type 2 is one transform of the same length of the elements with even indices, then those with odd ones reversed
(Makhoul). Type 3 inverts these steps. A sine transform is a cosine transform of the reversed elements.
"""

import importlib
import importlib.util
from functools import lru_cache
from math import pi, sqrt

from .. import _core
from .. import fft as _fft
from .._core import arange, asarray
from .._exchange import _host
from .._numpy._join import concatenate
from .._numpy._math._values import where
from .._numpy._shape import moveaxis
from .._select._indexing import take
from ..fft._arguments import _axis, _scale
from ..fft._plan import _fit, _scaled
from ._transforms import _axes, _float

_exp = _core.ufuncs()["exp"]
_INVERSE = {1: 1, 2: 3, 3: 2, 4: 4}


def _turns(x, count, step, first=0.0):
    """exp(i pi (first + k step)) for k from 0 to count - 1, complex in the precision of x."""
    k = arange(count, device=x.device)
    return _exp((k * step + first) * (1j * pi)).astype("complex64" if x.dtype == "float32" else "complex128")


def _spread(x):
    """Alternating 1 and -1 along the last axis."""
    return (1 - 2 * (arange(x.shape[-1], device=x.device) % 2)).astype(x.dtype)


def _cosine1(x):
    if x.shape[-1] < 2:
        raise ValueError("a cosine transform of type 1 takes two numbers or more")
    return _fft.rfft(concatenate([x, x[..., -2:0:-1]], -1)).real


def _cosine2(x):
    n = x.shape[-1]
    t = _fft.rfft(concatenate([x[..., ::2], x[..., 1::2][..., ::-1]], -1))
    t = t * _turns(x, n // 2 + 1, -0.5 / n)
    return 2 * concatenate([t.real, -t.imag[..., (n - 1) // 2 : 0 : -1]], -1)


def _cosine3(x):
    n = x.shape[-1]
    half = n // 2 + 1
    k = arange(half, device=x.device)
    back = where(k == 0, 0, take(x, where(k == 0, 0, n - k), axis=x.ndim - 1)).astype(x.dtype)
    v = _fft.irfft((x[..., :half] - back * 1j) * _turns(x, half, 0.5 / n), n, norm="forward")
    j = arange(n, device=x.device)
    return take(v, where(j % 2 == 0, j // 2, n - 1 - j // 2), axis=x.ndim - 1)


def _cosine4(x):
    n = x.shape[-1]
    t = _fft.fft(x * _turns(x, n, -0.5 / n), 2 * n)[..., :n]
    return 2 * (t * _turns(x, n, -0.5 / n, -0.25 / n)).real


def _sine1(x):
    zero = x[..., :1] * 0
    return -_fft.rfft(concatenate([zero, x, zero, -x[..., ::-1]], -1)).imag[..., 1:-1]


def _sine2(x):
    return _cosine2(x * _spread(x))[..., ::-1]


def _sine3(x):
    return _cosine3(x[..., ::-1]) * _spread(x)


def _sine4(x):
    return _cosine4(x[..., ::-1]) * _spread(x)


_TRANSFORMS = {
    "c": {1: _cosine1, 2: _cosine2, 3: _cosine3, 4: _cosine4},
    "s": {1: _sine1, 2: _sine2, 3: _sine3, 4: _sine4},
}
# The elements that an orthogonal transform scales by sqrt(2) before it, and by 1 / sqrt(2) after it.
_ENDS = {
    ("c", 1): ((0, -1), (0, -1)),
    ("c", 2): ((), (0,)),
    ("c", 3): ((0,), ()),
    ("s", 2): ((), (-1,)),
    ("s", 3): ((-1,), ()),
}


def _weighted(x, ends, weight):
    if not ends:
        return x
    k = arange(x.shape[-1], device=x.device)
    edge = k == ends[0] % x.shape[-1]
    for e in ends[1:]:
        edge = edge | (k == e % x.shape[-1])
    return x * where(edge, weight, 1.0).astype(x.dtype)


def _along(x, kind, type, norm, inverse, orthogonalize):
    """Transform real numbers along the last axis."""
    n = x.shape[-1]
    before, behind = _ENDS.get((kind, type), ((), ())) if orthogonalize else ((), ())
    y = _weighted(_TRANSFORMS[kind][type](_weighted(x, before, sqrt(2))), behind, 1 / sqrt(2))
    whole = 2 * (n + {"c": -1, "s": 1}[kind] if type == 1 else n)
    return _scaled(y, _scale(whole, norm, inverse))


@lru_cache(None)
def _has_scipy():
    return importlib.util.find_spec("scipy") is not None


def transform(name, x, type, sizes, axes, norm, orthogonalize=None):
    """dct, idct, dst or idst along axes, of length sizes[i] (None: the array's)."""
    if type not in _INVERSE:
        raise ValueError(f"a transform of type {type}: there are 1, 2, 3 and 4")
    x = _float(x)
    if x.dtype.kind == "c":
        return transform(name, x.real, type, sizes, axes, norm, orthogonalize) + 1j * transform(
            name, x.imag, type, sizes, axes, norm, orthogonalize
        )
    x = x.astype("float32" if x.dtype.kind in "fV" and x.dtype.itemsize <= 4 else "float64", copy=False)
    if x.device.host and _has_scipy():
        theirs = getattr(importlib.import_module("scipy.fft"), name + "n")
        kwargs = {"s": sizes, "axes": axes, "norm": norm, "orthogonalize": orthogonalize}
        return _host.library(f"scipy.fft.{name}n", theirs, (x, type), kwargs)
    sizes = [-1] * len(axes) if sizes is None else sizes
    sizes = [x.shape[k] if n == -1 else n for n, k in zip(sizes, axes, strict=True)]
    if any(n < 1 for n in sizes):
        raise ValueError(f"invalid number of data points ({sizes}) specified")
    x = _fit(x, dict(zip(axes, sizes, strict=True)))
    inverse, orthogonalize = name[0] == "i", norm == "ortho" if orthogonalize is None else orthogonalize
    kind = name[-2]
    for k in axes:
        y = _along(moveaxis(x, k, -1), kind, _INVERSE[type] if inverse else type, norm, inverse, orthogonalize)
        x = moveaxis(y, -1, k)
    return x


def _one(name, meaning):
    def fn(x, type=2, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, orthogonalize=None):
        x = asarray(x)
        return transform(name, x, type, None if n is None else [n], [_axis(x, axis)], norm, orthogonalize)

    fn.__name__ = fn.__qualname__ = name
    fn.__doc__ = f"The {meaning} of type 1, 2, 3 or 4 along an axis, of n elements; norm as fft's."
    return fn


def _many(name, meaning):
    def fn(x, type=2, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, orthogonalize=None):
        x = asarray(x)
        s, axes = _axes(x, s, axes)
        return transform(name[:-1], x, type, s, axes, norm, orthogonalize) if axes else x

    fn.__name__ = fn.__qualname__ = name
    fn.__doc__ = f"The {meaning} of type 1, 2, 3 or 4 along axes, of s[i] elements along each; norm as fft's."
    return fn


for _name, _meaning in (("dct", "cosine transform"), ("dst", "sine transform")):
    globals().update({_name: _one(_name, _meaning), _name + "n": _many(_name + "n", _meaning)})
    globals()["i" + _name] = _one("i" + _name, f"inverse {_meaning}")
    globals()[f"i{_name}n"] = _many(f"i{_name}n", f"inverse {_meaning}")
