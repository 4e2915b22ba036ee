"""The names of CuPy's that treadle refuses, with reasons. Each name stands under the module that has it in CuPy.

treadle's modules call `refusal` for a missing name. docs/cupy.md (tools/cupy_page.py) and the tests read the table too.
"""

from fnmatch import fnmatchcase

from .._words import near_in

_SPARE = "a handle of a library's for CuPy's own calls of it; treadle's libraries are its functions"
_GRAPHS = "stream.begin_capture() and end_capture() give a treadle.cuda.Graph, which has launch() and upload()"
_POOLS = "treadle.memory serves the device's pool"
_TEXTURES = "treadle.cuda.texture.CUDAarray is there, and copies"
_NCCL = "treadle.distributed calls NCCL between processes, one for each GPU"
_TEXTS = "a step of CuPy's own compilation; RawModule and RawKernel compile texts"

# {module or class of CuPy's: {names, where * matches the rest of a name: reason}}
REFUSED = {
    "cupy": {
        "make_aligned_dtype": "structured dtypes are none of treadle's arrays",
    },
    "cupy.ndarray": {
        "cstruct mdspan": "views for CuPy's own kernels; RawKernel takes the array itself",
        "reduced_view": "CuPy's own reductions ask for it; reshape gives fewer axes",
        "scatter_add scatter_max scatter_min": "treadle.cupyx.scatter_add and its fellows, or treadle.add.at",
    },
    "cupy.ElementwiseKernel": {
        "*": "CuPy's own record of what it compiles; in_params and the text are what the program gave",
    },
    "cupy.ReductionKernel": {
        "*": "CuPy's own record of what it compiles; in_params and the text are what the program gave",
    },
    "cupy.cuda": {
        "CFunctionAllocator PythonFunctionAllocator": "memory comes from treadle's pool",
        "Function Module function": "the driver's functions; RawModule(path=…) loads a module",
        "compiler nvrtc": _TEXTS,
        "cub jitify": "reductions and sorts have kernels of their own, and NVRTC compiles without more",
        "driver": "the driver's own calls: treadle.pycuda.driver has them by PyCUDA's names",
        "get_cublas_handle": _SPARE,
        "nccl": _NCCL,
    },
    "cupy.cuda.Device": {"cublas_handle cusolver_handle cusolver_sp_handle cusparse_handle cutensor_handle": _SPARE},
    "cupy.cuda.Graph": {"debug_dot_str": "CuPy's drawing of a graph, for GPUs alone"},
    "cupy.cuda.MemoryAsyncPool": {"memoryAsyncHasStat": "CuPy's own question to the driver's version"},
    "cupy.cuda.nccl": {"*": _NCCL},
    "cupy.cuda.runtime": {
        "graph*": _GRAPHS,
        "streamBeginCapture streamEndCapture": "stream.begin_capture() and stream.end_capture() are there",
        "memPool* mallocFromPoolAsync deviceGetDefaultMemPool deviceGetMemPool deviceSetMemPool": _POOLS,
        "ipc*": "arrays go to other processes by pickle; treadle.pycuda.driver has handles of memory and events",
        "mallocArray malloc3DArray freeArray memcpy2DFrom* memcpy2DTo* memcpy3D*": _TEXTURES,
        "createTextureObject": "treadle.cuda.texture.TextureObject is there",
        "createSurfaceObject": "treadle.cuda.texture.SurfaceObject is there",
    },
    "cupy.fft": {"config": "treadle keeps cuFFT's plans; callbacks are expressions beside the transform, which fuse"},
    "cupy.fft.config": {"*": "treadle keeps cuFFT's plans; callbacks are expressions beside the transform, which fuse"},
    "cupy.ufunc": {"routines": "the C++ texts of CuPy's kernels"},
    "cupyx": {
        "allow_synchronize DeviceSynchronized": "CuPy gives them up; treadle.config.implicit_host = 'error' finds "
        "copies to the host",
        "cusparse cusolver cutensor cudnn cusparselt lapack": "CuPy's calls of a library: treadle.linalg and "
        "treadle.scipy.sparse have what they do",
        "distributed": _NCCL,
        "tools": "CuPy's installer",
    },
    "cupyx.distributed": {"*": _NCCL},
    "cupyx.distributed.array": {"*": _NCCL},
    "cupyx.jit": {"cub thrust": "C++ libraries within Python kernels; a kernel's text in CUDA C++ includes them"},
    "cupyx.jit.cg": {
        "this_thread_block memcpy_async wait wait_prior": "the compiler knows groups of the whole grid only, and "
        "jit.syncthreads(); in CUDA C++ text the others are there",
    },
    "cupyx.linalg": {"sparse": "cuSOLVER's sparse Cholesky: treadle.scipy.sparse.linalg.spsolve solves such systems"},
    "cupyx.linalg.sparse": {"*": "cuSOLVER's sparse Cholesky: treadle.scipy.sparse.linalg.spsolve solves such systems"},
    "cupyx.profiler": {"load_ipython_extension": "%timeit of treadle.evaluate(f()) times in a notebook, or benchmark"},
    "cupyx.scipy.fft": {"get_fft_plan": "treadle keeps cuFFT's plans"},
}  # fmt: skip


def reason(module, name):
    """The reason for refusing a name of a module or class of CuPy's. None if there is no entry."""
    for patterns, why in REFUSED.get(module, {}).items():
        if any(fnmatchcase(name, p) for p in patterns.split()):
            return why
    return None


def refusal(module, name):
    """The text of the AttributeError for a missing name. module: CuPy's name for the module."""
    first, dot, rest = module.partition(".")
    ours = {"cupy": "treadle", "cupyx": "treadle.cupyx"}[first] + dot + rest
    why = reason(module, name) or "docs/cupy.md lists CuPy's names"
    return f"module '{ours}' has no attribute '{name}': {why}{near_in(ours, name)}"
