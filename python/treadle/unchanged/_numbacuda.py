"""numba.cuda for programs that import it: treadle.cuda, where kernels' numbers have the types that Numba gives them."""

import functools

from treadle import cuda

__all__ = ["jit"]


_td_home = "treadle.cuda"  # where its submodules are


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(f"module 'numba.cuda' has no attribute {name!r}")
    return getattr(cuda, name)


def __dir__():
    return dir(cuda)


@functools.wraps(cuda.jit)
def jit(func_or_sig=None, device=False, **options):
    return cuda.jit(func_or_sig, device, **options, _numba=True)
