"""The frame of special functions: it turns a function of numbers, in the kernel language, into a function of arrays.

The text is compiled once for each combination of dtypes and numbers of dims, for every device. It computes in float64,
whatever the arrays' dtypes. As in SciPy, results are float32 if all arrays are float16, bfloat16 or float32.
"""

import functools
import math

import numpy

from ... import _core
from ..._compile._generate import define, index, nest
from ..._compile._jit import jit

KERNELS = {}  # name -> Kernel

_HALF = {"float16": "float32", "bfloat16": "float32"}


def chebyshev(t, c):
    """The sum of c[-1 - k] T_k(t), by Clenshaw's recurrence (DLMF 3.11.15)."""
    a = 0.0
    b = 0.0
    for v in c:
        a, b = v + 2.0 * t * a - b, a
    return a - t * b


class Kernel:
    """A function of arrays that broadcast. fn: the function of numbers; of_complex: the one for complex numbers, None
    where there is none; nout: how many numbers it returns; bound: the relative error that is tested."""

    def __init__(self, fn, bound, nout=1, of_complex=None):
        functools.update_wrapper(self, fn)
        self.fn, self.bound, self.nout, self.of_complex = fn, bound, nout, of_complex
        self.nin = fn.__code__.co_argcount
        self._loops = {}
        KERNELS[self.__name__] = self

    def __repr__(self):
        return f"<function of arrays '{self.__name__}'>"

    def __call__(self, *args, out=None, dtype=None):
        if len(args) > self.nin and out is None:
            args, out = args[: self.nin], args[self.nin :]
        if len(args) != self.nin:
            raise TypeError(f"{self.__name__}() takes {self.nin} arrays and out, not {len(args)} arguments")
        device = next((a.device for a in args if isinstance(a, _core.ndarray)), None)
        args = [a if isinstance(a, (_core.ndarray, int, float, complex)) else _core.asarray(a, device=device)
                for a in args]  # fmt: skip
        dtypes, returned = self._dtypes(args, dtype)
        shape = numpy.broadcast_shapes(*(getattr(a, "shape", ()) for a in args))
        args = [_typed(a, d) for a, d in zip(args, dtypes, strict=True)]
        return _given(self._run(args, shape, returned, device), out)

    def _dtypes(self, args, dtype):
        """The dtypes that the arguments are read as, and that of the results."""
        found = [str(a.dtype) if isinstance(a, _core.ndarray) else None for a in args]
        wide = {_HALF.get(d, d) for d in found if d is not None}
        single = bool(wide) and wide <= {"float32", "complex64"} or str(dtype) in ("float32", "complex64")
        is_complex = any(isinstance(a, complex) for a in args) or any(d.startswith("complex") for d in wide)
        if is_complex and self.of_complex is None:
            raise TypeError(f"{self.__name__} is not here for complex numbers")
        returned = ("complex64" if single else "complex128") if is_complex else "float32" if single else "float64"
        kinds = [None if d is None else d if d in ("float32", "float64", "complex64", "complex128") else
                 "float32" if d in _HALF else "float64" for d in found]  # fmt: skip
        return kinds, returned

    def _run(self, args, shape, dtype, device):
        size = math.prod(shape)
        flat = not shape or all(not isinstance(a, _core.ndarray) or a.shape == shape for a in args)
        args = [a.reshape(-1) if flat and isinstance(a, _core.ndarray) else _broadcast(a, shape) for a in args]
        results = [_core.empty((size,) if flat else shape, dtype, device=device) for _ in range(self.nout)]
        if size:
            loop = self._loop(tuple(isinstance(a, _core.ndarray) for a in args), results[0].ndim, dtype)
            loop(*args, *results)
        return [r.reshape(shape) for r in results]

    def _loop(self, arrays, ndim, dtype):
        key = arrays, ndim, dtype
        if key not in self._loops:
            self._loops[key] = self._make(arrays, ndim, numpy.dtype(dtype))
        return self._loops[key]

    def _make(self, arrays, ndim, dtype):
        inside = numpy.complex128 if dtype.kind == "c" else numpy.float64
        at = index(ndim)
        xs, outs = [f"x{k}" for k in range(self.nin)], [f"out{k}" for k in range(self.nout)]
        args = ", ".join(f"_inside({x}[{at}])" if a else x for x, a in zip(xs, arrays, strict=True))
        body = [f"{', '.join(f'r{k}' for k in range(self.nout))} = _f({args})"]
        body += [f"out{k}[{at}] = _result(r{k})" for k in range(self.nout)]
        head = f"def {self.__name__}({', '.join(xs + outs)}):"
        lines = [head, *nest([f"out0.shape[{k}]" for k in range(ndim)], body), ""]
        f = self.of_complex if dtype.kind == "c" else self.fn
        space = {"_f": f, "_inside": inside, "_result": dtype.type}
        return jit(define("\n".join(lines), self.__name__, **space), error_model="numpy")


def _typed(a, dtype):
    if dtype is None:
        return numpy.complex128(a) if isinstance(a, complex) else numpy.float64(a)
    return a if str(a.dtype) == dtype else a.astype(dtype)


def _broadcast(a, shape):
    from ... import broadcast_to

    return a if not isinstance(a, _core.ndarray) or a.shape == shape else broadcast_to(a, shape)


def _given(results, out):
    if out is None:
        return results[0] if len(results) == 1 else tuple(results)
    outs = out if isinstance(out, tuple) else (out,)
    for target, r in zip(outs, results, strict=True):
        target[...] = r.astype(target.dtype)
    return outs[0] if len(results) == 1 else tuple(outs)


def kernel(bound, nout=1, of_complex=None):
    """Decorates a function of numbers: see Kernel."""
    return lambda fn: Kernel(fn, bound, nout, of_complex)
