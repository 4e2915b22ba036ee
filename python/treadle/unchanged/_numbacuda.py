"""The module that unchanged programs get as numba.cuda: treadle.cuda, with the number types of Numba."""

import functools

from treadle import cuda

__all__ = ["jit"]


_td_home = "treadle.cuda"  # the package that has the submodules


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(f"module 'numba.cuda' has no attribute {name!r}")
    if name == "CudaSupportError":
        from . import _numbaparts

        return _numbaparts.cuda_errors.CudaSupportError
    return getattr(cuda, name)


def __dir__():
    return dir(cuda)


@functools.wraps(cuda.jit)
def jit(func_or_sig=None, device=False, **options):
    return cuda.jit(func_or_sig, device, **options, _numba=True)
