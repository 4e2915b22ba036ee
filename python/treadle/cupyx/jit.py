"""Kernels written in Python by cupyx.jit's names. They are treadle.cuda's: the same compiler, on GPUs and on the CPU.

Inside kernels: threadIdx, blockIdx, blockDim, gridDim, warpsize, laneid(), grid(ndim), gridsize(ndim), range,
syncthreads(), syncwarp(mask), shared_memory(dtype, size), atomic_add … atomic_xor(array, index, value), shfl_sync …
(of whole warps), cg.this_grid() and cg.sync(grid). Numbers convert by NumPy's rules.
"""

import builtins
import functools
import types as _python

from .. import cuda
from .._cupy import _names
from .._public import dir_of as _dir_of

__all__ = [
    "atomic_add", "atomic_and", "atomic_cas", "atomic_dec", "atomic_exch", "atomic_inc", "atomic_max",
    "atomic_min", "atomic_or", "atomic_sub", "atomic_xor", "blockDim", "blockIdx", "cg", "grid", "gridDim",
    "gridsize", "laneid", "range", "rawkernel", "shared_memory", "shfl_down_sync", "shfl_sync",
    "shfl_up_sync", "shfl_xor_sync", "syncthreads", "syncwarp", "threadIdx", "warpsize",
]  # fmt: skip

threadIdx, blockIdx, blockDim, gridDim = cuda.threadIdx, cuda.blockIdx, cuda.blockDim, cuda.gridDim
grid, gridsize, warpsize = cuda.grid, cuda.gridsize, cuda.warpsize
syncthreads, syncwarp = cuda.syncthreads, cuda.syncwarp
shfl_sync, shfl_up_sync, shfl_down_sync = cuda.shfl_sync, cuda.shfl_up_sync, cuda.shfl_down_sync
shfl_xor_sync = cuda.shfl_xor_sync


range = builtins.range
atomic_add, atomic_sub, atomic_exch = cuda.atomic.add, cuda.atomic.sub, cuda.atomic.exch
atomic_min, atomic_max, atomic_inc, atomic_dec = cuda.atomic.min, cuda.atomic.max, cuda.atomic.inc, cuda.atomic.dec
atomic_cas, atomic_and, atomic_or, atomic_xor = cuda.atomic.cas, cuda.atomic.and_, cuda.atomic.or_, cuda.atomic.xor


@cuda.jit(device=True)
def laneid():
    """In a kernel: the thread's number in its warp."""
    return cuda.laneid


@cuda.jit(device=True)
def shared_memory(dtype, size):
    """An array of size elements that the block's threads share; size 0 stands for what shared_mem= gives, in bytes."""
    return cuda.shared.array(size, dtype)


@cuda.jit(device=True)
def _sync(group):
    group.sync()


class _Groups(_python.SimpleNamespace):
    """cupyx.jit.cg: this_grid(), and sync(group) of what it gives."""

    def __getattr__(self, name):
        raise AttributeError(_names.refusal("cupyx.jit.cg", name), name=name)


cg = _Groups(this_grid=cuda.cg.this_grid, sync=_sync)


class RawKernel:
    """What rawkernel() gives: k(grid, block, args, shared_mem=0, stream=None), or k[grid, block](*args)."""

    def __init__(self, fn):
        functools.update_wrapper(self, fn)
        self._kernel = cuda.jit(fn)

    def __call__(self, grid, block, args, shared_mem=0, stream=None):
        self._kernel[grid, block, 0 if stream is None else stream, shared_mem](*args)

    def __getitem__(self, dims):
        grid, block = dims
        return self._kernel[grid, block]


def rawkernel(*, mode="cuda", device=False):
    """@rawkernel(): a function as a kernel of treadle.cuda; with device=True one that kernels call. mode is accepted:
    integers convert by NumPy's rules."""
    if mode not in ("cuda", "numpy"):
        raise ValueError(f"rawkernel: mode {mode!r} is neither 'cuda' nor 'numpy'")
    if device:
        return cuda.jit(device=True)
    return RawKernel


def __getattr__(name):
    raise AttributeError(_names.refusal("cupyx.jit", name), name=name)


__dir__ = _dir_of(__name__)
