"""scipy.fft's Fourier transforms: those of treadle.fft, with SciPy's rules for axes.

workers and overwrite_x have no effect. plan may be the result of get_fft_plan, but plans are kept in any case.
"""

from .. import fft as _fft
from .._core import asarray
from ..fft import fftfreq, fftshift, ifftshift, rfftfreq
from ..fft._arguments import _other_way
from ..fft._plan import _complex, _conj

__all__ = ["fftfreq", "fftshift", "ifftshift", "rfftfreq"]


def _float(x):
    """x, with float16 converted to float32, as in SciPy."""
    x = asarray(x)
    return x.astype("float32") if x.dtype == "float16" else x


def _axes(x, s, axes):
    """(sizes, axes). Raises ValueError for an axis that is repeated or does not exist."""
    if axes is None:
        axes = range(x.ndim) if s is None else range(x.ndim - len(_tuple(s)), x.ndim)
    axes = [k + x.ndim if k < 0 else k for k in _tuple(axes)]
    if any(not 0 <= k < x.ndim for k in axes):
        raise ValueError("axes exceeds dimensionality of input")
    if len({*axes}) != len(axes):
        raise ValueError("all axes must be unique")
    if s is not None and len(_tuple(s)) != len(axes):
        raise ValueError("when given, axes and shape arguments have to be of the same length")
    return None if s is None else _tuple(s), axes


def _tuple(x):
    return tuple(x) if hasattr(x, "__iter__") else (x,)


def _one(name):
    theirs = getattr(_fft, name)

    def fn(x, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, *, plan=None):
        return theirs(_float(x), n, axis, norm)

    fn.__name__ = fn.__qualname__ = name
    fn.__doc__ = theirs.__doc__
    return fn


def _many(name, default):
    def fn(x, s=None, axes=default, norm=None, overwrite_x=False, workers=None, *, plan=None):
        x = _float(x)
        s, axes = _axes(x, s, axes)
        if not axes:
            return _of_none(name, x)
        if name.startswith("h"):
            return _fft.irfftn(_conj(x), s, axes, _other_way(norm))
        if name.startswith("ih"):
            return _conj(_fft.rfftn(x, s, axes, _other_way(norm)))
        return getattr(_fft, name.replace("2", "n"))(x, s, axes, norm)

    fn.__name__ = fn.__qualname__ = name
    fn.__doc__ = f"{name}(x, s, axes, norm): numpy.fft's {name.lstrip('h')} along axes, of s[i] elements along each."
    return fn


def _of_none(name, x):
    if name.replace("2", "n") in ("fftn", "ifftn"):
        return _complex(x)
    raise ValueError("at least 1 axis must be transformed")


globals().update({name: _one(name) for name in "fft ifft rfft irfft hfft ihfft".split()})
globals().update({name: _many(name, None) for name in "fftn ifftn rfftn irfftn hfftn ihfftn".split()})
globals().update({name: _many(name, (-2, -1)) for name in "fft2 ifft2 rfft2 irfft2 hfft2 ihfft2".split()})


def _smooth(n, factors):
    for p in factors:
        while n % p == 0:
            n //= p
    return n == 1


def _size(target, real, step):
    if target < 0 or step < 0 and target < 1:
        raise ValueError("Target must be positive")
    n, factors = target.__index__(), (2, 3, 5) if real else (2, 3, 5, 7, 11)
    while n > 0 and not _smooth(n, factors):
        n += step
    return n


def next_fast_len(target, real=False):
    """The smallest size of at least target that is a product of 2, 3, 5 and, for complex numbers, 7 and 11."""
    return _size(target, real, 1)


def prev_fast_len(target, real=False):
    """The largest such size of at most target."""
    return _size(target, real, -1)
