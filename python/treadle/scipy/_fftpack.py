"""scipy.fftpack's transforms: those of treadle.fft without normalization, and real ones in FFTPACK's order."""

from .. import fft as _fft
from .._core import arange, asarray, empty
from .._numpy._join import concatenate
from .._numpy._shape import moveaxis
from ..fft._arguments import _axis, _whole
from ..fft._plan import _complex_of, _fit, _real
from . import _cosine, _transforms
from ._transforms import _axes, _float

_SCALED = {None: None, "ortho": "ortho"}


class Plan:
    """The result of get_fft_plan: a context manager for programs that make plans themselves. It holds nothing, since
    the device keeps all plans."""

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return False


def get_fft_plan(a, shape=None, axes=None, value_type="C2C"):
    """A plan. Programs need not use it: transforms of one kind share a plan in any case."""
    if value_type not in ("C2C", "R2C", "C2R"):
        raise ValueError(f"value_type is one of C2C, R2C, C2R, not {value_type}")
    return Plan()


def fft(x, n=None, axis=-1, overwrite_x=False, plan=None):
    """The Fourier transform along axis, as numpy.fft.fft."""
    return _fft.fft(_float(x), n, axis)


def ifft(x, n=None, axis=-1, overwrite_x=False, plan=None):
    """The inverse of fft."""
    return _fft.ifft(_float(x), n, axis)


def _several(name, x, shape, axes):
    x = _float(x)
    shape, axes = _axes(x, shape, axes)
    return getattr(_fft, name)(x, shape, axes)


def fftn(x, shape=None, axes=None, overwrite_x=False, plan=None):
    """The Fourier transform along several axes, as numpy.fft.fftn."""
    return _several("fftn", x, shape, axes)


def ifftn(x, shape=None, axes=None, overwrite_x=False, plan=None):
    """The inverse of fftn."""
    return _several("ifftn", x, shape, axes)


def fft2(x, shape=None, axes=(-2, -1), overwrite_x=False, plan=None):
    """fftn along two axes."""
    return _several("fftn", x, shape, axes)


def ifft2(x, shape=None, axes=(-2, -1), overwrite_x=False, plan=None):
    """ifftn along two axes."""
    return _several("ifftn", x, shape, axes)


def rfft(x, n=None, axis=-1, overwrite_x=False, plan=None):
    """The transform of real numbers as n real ones: the first, then alternating real and imaginary parts."""
    x = moveaxis(_real(_float(x)), axis, -1)
    n = x.shape[-1] if n is None else n
    z = _fft.rfft(x, n)
    parts = z.view(x.dtype) if z.shape[-1] and z.strides[-1] == z.dtype.itemsize else z.copy().view(x.dtype)
    return moveaxis(concatenate([parts[..., :1], parts[..., 2 : n + 1]], -1), -1, axis)


def irfft(x, n=None, axis=-1, overwrite_x=False, plan=None):
    """The inverse of rfft."""
    x = moveaxis(_real(_float(x)), axis, -1)
    n = x.shape[-1] if n is None else n
    x = _fit(x, {x.ndim - 1: n})
    z = empty((*x.shape[:-1], 2 * (n // 2 + 1)), x.dtype, device=x.device)
    z[..., 0] = x[..., 0]
    z[..., 1] = 0
    z[..., 2 : n + 1] = x[..., 1:]
    if n % 2 == 0:
        z[..., n + 1 :] = 0
    return moveaxis(_fft.irfft(z.view(_complex_of(x.dtype)), n), -1, axis)


def rfftfreq(n, d=1.0):
    """The frequency of each of rfft's n numbers, for samples at distance d."""
    n = _whole(n)
    if n < 0:
        raise ValueError(f"n = {n} is not valid. n must be a nonnegative integer.")
    return (arange(1, n + 1) // 2) / float(n * d)


def next_fast_len(target):
    """The smallest size of at least target that is a product of 2, 3 and 5."""
    return _transforms.next_fast_len(target, real=True)


def _one(name):
    def fn(x, type=2, n=None, axis=-1, norm=None, overwrite_x=False):
        x = asarray(x)
        return _transform(name, x, type, None if n is None else [n], [_axis(x, axis)], norm)

    fn.__name__ = fn.__qualname__ = name
    fn.__doc__ = f"scipy.fft's {name}, not scaled but by norm='ortho'."
    return fn


def _many(name):
    def fn(x, type=2, shape=None, axes=None, norm=None, overwrite_x=False):
        x = asarray(x)
        shape, axes = _axes(x, shape, axes)
        return _transform(name[:-1], x, type, shape, axes, norm)

    fn.__name__ = fn.__qualname__ = name
    fn.__doc__ = f"scipy.fft's {name}, not scaled but by norm='ortho'."
    return fn


def _transform(name, x, type, sizes, axes, norm):
    """A transform in FFTPACK's sense: its inverse is the transform of the inverse type, unscaled."""
    if norm not in _SCALED:
        raise ValueError(f"norm is None or 'ortho', not {norm!r}")
    if name[0] == "i":
        name, type = name[1:], _cosine._INVERSE.get(type, type)
    return _cosine.transform(name, x, type, sizes, axes, norm)


globals().update({name: _one(name) for name in "dct idct dst idst".split()})
globals().update({name: _many(name) for name in "dctn idctn dstn idstn".split()})
