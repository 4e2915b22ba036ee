"""PyCUDA's interface with neither GPU nor compiler: the CPU plays the device, and refusals say what is missing."""

import shutil

import numpy as np

import treadle as td
import treadle.pycuda.autoinit  # noqa: F401
import treadle.pycuda.driver as cuda
from treadle.pycuda.compiler import SourceModule


def refusal(call, kind):
    try:
        call()
    except kind as e:
        return str(e)
    raise AssertionError(f"no {kind.__name__}")


assert not any(shutil.which(name) for name in ("cc", "gcc", "g++", "clang", "clang++", "nvcc"))
assert cuda.Device.count() == 1 and cuda.Context.get_device().name()
a = np.arange(16, dtype=np.float32)
memory = cuda.mem_alloc(a.nbytes)
cuda.memcpy_htod(memory, a)
back = np.empty_like(a)
cuda.memcpy_dtoh(back, memory)
assert (back == a).all()
assert "libcuda.so.1" in refusal(lambda: td.device("cuda:0"), td.DeviceError)
text = "__global__ void twice(float *a) { a[threadIdx.x] *= 2; }"
assert "needs a C++ compiler on PATH" in refusal(lambda: SourceModule(text), ImportError)
assert "CUDA_ERROR_INVALID_DEVICE" in refusal(lambda: cuda.Device(7), cuda.LogicError)
