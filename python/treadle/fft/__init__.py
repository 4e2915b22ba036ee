"""Discrete Fourier transforms under NumPy's names: NumPy's on the array's memory on the CPU, cuFFT's on a GPU.

float32 stays single precision, integers and bool become float64. The scale of a normalised transform is recorded like
any other product, so that it fuses with what is done next. On a GPU the axes are read where they lie, in any order
that cuFFT takes, and copied where not.
"""

from .._cupy import _names
from .._public import dir_of as _dir_of
from .._public import set_doors as _set_doors
from ._frequencies import fftfreq, fftshift, ifftshift, rfftfreq
from ._line import fft, hfft, ifft, ihfft, irfft, rfft
from ._several import fft2, fftn, ifft2, ifftn, irfft2, irfftn, rfft2, rfftn

__all__ = ["fft", "fft2", "fftfreq", "fftn", "fftshift", "hfft", "ifft", "ifft2", "ifftn", "ifftshift", "ihfft",
           "irfft", "irfft2", "irfftn", "rfft", "rfft2", "rfftfreq", "rfftn"]  # fmt: skip


_set_doors(__name__, "fft")


def __getattr__(name):
    raise AttributeError(_names.refusal("cupy.fft", name), name=name)


__dir__ = _dir_of(__name__)
