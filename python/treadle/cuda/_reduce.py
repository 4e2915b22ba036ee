"""``cuda.reduce``: combines all elements of an array by a function of two numbers."""

import functools

import numpy

from .. import _core, types
from .._compile._function import Function
from .._compile._generate import define
from ._kernel import jit

_BLOCK = 256
_MOST = 512  # blocks of the first launch, at most

_SOURCE = f"""
def part(a, n, out, init, has):
    s = cuda.shared.array({_BLOCK}, dtype)
    t = cuda.threadIdx.x
    i = cuda.blockIdx.x * {_BLOCK} + t
    step = cuda.gridDim.x * {_BLOCK}
    first = cuda.blockIdx.x * {_BLOCK}
    if i < n:
        x = a[i]
        i += step
        while i < n:
            x = _f(x, a[i])
            i += step
        s[t] = x
    cuda.syncthreads()
    live = min({_BLOCK}, n - first)
    while live > 1:
        half = (live + 1) // 2
        if t < live - half:
            s[t] = _f(s[t], s[t + half])
        cuda.syncthreads()
        live = half
    if t == 0 and live > 0:
        out[cuda.blockIdx.x] = _f(init, s[0]) if has else s[0]
"""


class Reduce:
    """Called with an array of one axis, gives the elements combined by a binary function.

    functor: of two numbers, associative and commutative."""

    def __init__(self, functor):
        self._functor = functor.py_func if isinstance(functor, Function) else functor
        functools.update_wrapper(self, self._functor)

    @functools.lru_cache(maxsize=64)  # noqa: B019 - reducers live as long as their module
    def _kernel(self, dtype):
        from treadle import cuda

        return jit(define(_SOURCE, "part", _f=self._functor, cuda=cuda, dtype=types.from_dtype(dtype)))

    def __call__(self, arr, size=None, res=None, init=0, stream=0):
        """The elements of arr (its first `size`) and init, combined; a NumPy scalar.

        res: a device array, whose first element takes the result, which then stays on the device: None is returned.
        ValueError: arr has more axes than one."""
        if arr.ndim != 1:
            raise ValueError(f"reduce takes an array of one axis, not of {arr.ndim}")
        own = isinstance(arr, _core.ndarray)
        a = arr if own or not hasattr(arr, "__array_interface__") else _core.asarray(arr)
        n = len(arr) if size is None else size
        if not 0 <= n <= len(arr):
            raise ValueError(f"size is {n} for an array of {len(arr)} elements")
        dtype = numpy.dtype(a.dtype)
        if n == 0:
            if res is not None:
                res[0] = init
                return None
            return dtype.type(init)
        kernel, start = self._kernel(dtype), dtype.type(init)
        blocks = min(_MOST, -(-n // _BLOCK))
        parts = _core.empty((blocks,), dtype, device=a.device)
        out = res if res is not None else _core.empty((1,), dtype, device=a.device)
        kernel[blocks, _BLOCK, stream](a, n, parts, start, False)
        kernel[1, _BLOCK, stream](parts, blocks, out, start, True)
        return None if res is not None else out.get()[0]


reduce = Reduce
