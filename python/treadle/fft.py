"""Fourier transforms: NumPy's, on the array's memory on the CPU; a GPU's array goes by way of the host."""

import numpy

from ._core import asarray, ndarray
from ._sorting import _on_host

_NAMES = (
    "fft fft2 fftfreq fftn fftshift hfft ifft ifft2 ifftn ifftshift ihfft irfft irfft2 irfftn rfft rfft2 rfftfreq rfftn"
)
__all__ = [*_NAMES.split()]


def _numpys(name):
    def fn(a, *args, **kwargs):
        if name.endswith("freq"):
            return asarray(getattr(numpy.fft, name)(a, *args, **kwargs))
        a = a if isinstance(a, ndarray) else asarray(a)
        return _on_host(getattr(numpy.fft, name), a, *args, **kwargs)

    fn.__name__ = fn.__qualname__ = name
    fn.__doc__ = f"numpy.fft.{name}, with its parameters, on the host."
    return fn


globals().update({name: _numpys(name) for name in __all__})
