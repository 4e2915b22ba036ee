"""What programs ask of Numba besides its compilers, where Numba is not installed: warnings, errors, settings,
numbers of threads. Programs name these at their top, so an absent one would end them before they begin.
"""

import contextlib
import ctypes
import functools
import os
import types

import numpy

from treadle import _core, njit

__all__ = [
    "carray", "config", "errors", "farray", "get_parallel_chunksize", "objmode", "parallel_chunksize",
    "set_parallel_chunksize", "threading_layer",
]  # fmt: skip


def _made(name, doc, **members):
    module = types.ModuleType(name, doc)
    vars(module).update(members)
    return module


class NumbaWarning(Warning):
    """The base of Numba's warnings."""


def _warnings(names):
    return {name: type(name, (NumbaWarning,), {"__doc__": "A warning of Numba's."}) for name in names.split()}


# treadle refuses to compile with TypeError, so `except TypingError` has to mean that.
_REFUSALS = (
    "NumbaError TypingError UnsupportedError LoweringError ConstantInferenceError NumbaTypeError ByteCodeSupportError "
    "CompilerError DeprecationError ForbiddenConstruct ForceLiteralArg IRError InternalError "
    "InternalTargetMismatchError LiteralTypingError NonexistentTargetError NotDefinedError RedefinedError "
    "RequireLiteralValue UnsupportedBytecodeError UnsupportedParforsError UnsupportedRewriteError "
    "UntypedAttributeError VerificationError"
)
errors = _made(
    "numba.core.errors",
    "Numba's warnings, and its names for what treadle refuses.",
    NumbaWarning=NumbaWarning,
    NumbaValueError=ValueError,
    NumbaIndexError=IndexError,
    NumbaKeyError=KeyError,
    NumbaAssertionError=AssertionError,
    NumbaAttributeError=AttributeError,
    NumbaNotImplementedError=NotImplementedError,
    NumbaRuntimeError=RuntimeError,
    **dict.fromkeys(_REFUSALS.split(), TypeError),
    **_warnings(
        "NumbaPerformanceWarning NumbaDeprecationWarning NumbaPendingDeprecationWarning NumbaParallelSafetyWarning "
        "NumbaTypeSafetyWarning NumbaExperimentalFeatureWarning NumbaDebugInfoWarning NumbaSystemWarning "
        "NumbaIRAssumptionWarning NumbaInvalidConfigWarning NumbaPedanticWarning"
    ),
)

# treadle.cuda tells of what the driver refuses by DeviceError, whichever of these the program catches.
cuda_errors = _made(
    "numba.cuda.cudadrv.error",
    "The names of numba.cuda's errors.",
    NvvmWarning=NumbaWarning,
    **dict.fromkeys(
        "CudaDriverError CudaRuntimeError CudaSupportError NvrtcError NvrtcCompilationError NvrtcSupportError "
        "NvvmError NvvmSupportError".split(),
        _core.DeviceError,
    ),
)

_most = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
_threads, _chunk = _most, 0
config = _made(
    "numba.core.config",
    "Numba's settings: names that programs set. None changes what treadle does.",
    DISABLE_JIT=0,
    NUMBA_NUM_THREADS=_most,
    NUMBA_DEFAULT_NUM_THREADS=_most,
    THREADING_LAYER="default",
    THREADING_LAYER_PRIORITY=["tbb", "omp", "workqueue"],
    CUDA_LOW_OCCUPANCY_WARNINGS=1,
    CUDA_WARN_ON_IMPLICIT_COPY=1,
    ENABLE_CUDASIM=0,
    CACHE_DIR="",
    OPT=3,
    FULL_TRACEBACKS=0,
)


def get_num_threads():
    """The number that set_num_threads was given, at first that of the process's cores."""
    return _threads


def set_num_threads(n):
    """Keep the number for get_num_threads. treadle's pool has TREADLE_THREADS threads, and a loop's result does not
    depend on how many run it."""
    global _threads
    if not isinstance(n, (int, numpy.integer)):
        raise TypeError("The number of threads specified must be an integer")
    if not 1 <= n <= _most:
        raise ValueError(f"The number of threads must be between 1 and {_most}")
    _threads = int(n)


def get_thread_id():
    """0, and in compiled code too: a loop that asks for it runs in order."""
    return 0


get_thread_id._td_name = "treadle.thread_id"


def threading_layer():
    """The name of what runs parallel loops: Numba's name for a pool of its own."""
    return "workqueue"


def get_parallel_chunksize():
    """What set_parallel_chunksize was given, at first 0."""
    return _chunk


def set_parallel_chunksize(n):
    """Keep the size for get_parallel_chunksize, and return the one before. treadle cuts loops by itself."""
    global _chunk
    if n < 0:
        raise ValueError("chunksize must be greater than or equal to zero")
    before, _chunk = _chunk, n
    return before


@contextlib.contextmanager
def parallel_chunksize(n):
    """with parallel_chunksize(n): set_parallel_chunksize for a block."""
    before = set_parallel_chunksize(n)
    try:
        yield
    finally:
        set_parallel_chunksize(before)


def objmode(*args, **kwargs):
    """Raise NotImplementedError: Python's objects inside of compiled code need Numba's compiler."""
    raise NotImplementedError("numba.objmode needs Numba: call the Python code before or after the compiled function")


class CFunc:
    """What cfunc returns: the function with an address that C code may call, from threads that hold Python's lock."""

    def __init__(self, signature, fn):
        args, returns = signature
        functools.update_wrapper(self, fn)
        self._wrapped_cfunc = fn if any(t.kind == "pointer" for t in args) else njit(fn)
        self.native_name = fn.__name__
        self.ctypes = ctypes.CFUNCTYPE(_c_type(returns), *map(_c_type, args))(self._called)
        self._returns = None if returns is None else returns.dtype

    def _called(self, *args):
        result = self._wrapped_cfunc(*args)
        return None if self._returns is None else self._returns.type(result).item()

    @property
    def address(self):
        """The address as an int."""
        return ctypes.cast(self.ctypes, ctypes.c_void_p).value

    def __call__(self, *args):
        return self.__wrapped__(*args)


def _c_type(t):
    if t is None or t.kind == "none":
        return None
    if t.kind == "pointer":
        of = _c_type(t.items[0]) if t.items else None
        return ctypes.c_void_p if of is None else ctypes.POINTER(of)
    return numpy.ctypeslib.as_ctypes_type(t.dtype)


def carray(ptr, shape, dtype=None):
    """The memory at a pointer of ctypes' as an array in C order. dtype: None takes the pointer's."""
    shape = shape if isinstance(shape, tuple) else (shape,)
    count = int(numpy.prod(shape, dtype=numpy.int64))
    given = None if isinstance(ptr, (int, ctypes.c_void_p)) else numpy.dtype(ptr._type_)
    if given is None and dtype is None:
        raise TypeError("carray() of a void pointer needs a dtype")
    if given is not None and dtype is not None and given != numpy.dtype(dtype):
        raise TypeError(f"mismatching dtype '{numpy.dtype(dtype)}' for pointer to {given}")
    kind = numpy.dtype(dtype) if given is None else given
    address = ctypes.cast(ptr, ctypes.c_void_p).value
    return numpy.frombuffer((ctypes.c_byte * (count * kind.itemsize)).from_address(address), kind).reshape(shape)


def farray(ptr, shape, dtype=None):
    """carray in Fortran's order."""
    shape = shape if isinstance(shape, tuple) else (shape,)
    return carray(ptr, shape[::-1], dtype).T
