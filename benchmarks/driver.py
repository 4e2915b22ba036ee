"""The driver's own launch and NVRTC's own compilation, called through ctypes: what they cost by themselves.

The kernel is `programs/add.ptx`, and its text `programs/add.cu`. Only what a few rows need is here.
"""

import ctypes
import functools
import importlib.util
import pathlib

import kernels
import numpy
from libraries import Library

_POINTER = ctypes.c_uint64


def opened(name):
    """A library of the loader's path or of CuPy's and PyTorch's wheels, or None."""
    try:
        return ctypes.CDLL(name)
    except OSError:
        found = importlib.util.find_spec("nvidia")
        places = found.submodule_search_locations if found else ()
        paths = [path for place in places for path in pathlib.Path(place).glob(f"*/lib/{name}")]
        return ctypes.CDLL(str(paths[0])) if paths else None


def asked(library, name, *arguments):
    status = getattr(library, name)(*arguments)
    if status:
        raise RuntimeError(f"{name}: error {status}")


class Memory:
    """A device array: its address, and what is needed to bring it back."""

    def __init__(self, pointer, host):
        self.pointer, self.shape, self.dtype = pointer, host.shape, host.dtype
        self.size, self.nbytes = host.size, host.nbytes


class Driver(Library):
    name = "driver"

    def __init__(self):
        self.cuda = ctypes.CDLL("libcuda.so.1")
        device, context, module = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_void_p()
        self.ask("cuInit", 0)
        self.ask("cuDeviceGet", ctypes.byref(device), 0)
        self.ask("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.ask("cuCtxSetCurrent", context)
        self.ask("cuModuleLoadData", ctypes.byref(module), (kernels.PROGRAMS / "add.ptx").read_bytes())
        self.function = ctypes.c_void_p()
        self.ask("cuModuleGetFunction", ctypes.byref(self.function), module, b"add")

    def ask(self, name, *arguments):
        status = getattr(self.cuda, name)(*arguments)
        if status:
            raise RuntimeError(f"{name}: CUDA error {status}")

    def version(self):
        found = ctypes.c_int()
        self.ask("cuDriverGetVersion", ctypes.byref(found))
        return f"{found.value // 1000}.{found.value % 1000 // 10}"

    def array(self, host):
        pointer = _POINTER()
        self.ask("cuMemAlloc_v2", ctypes.byref(pointer), ctypes.c_size_t(host.nbytes))
        self.ask("cuMemcpyHtoD_v2", pointer, ctypes.c_void_p(host.ctypes.data), ctypes.c_size_t(host.nbytes))
        return Memory(pointer, host)

    def host(self, result):
        out = numpy.empty(result.shape, result.dtype)
        self.ask("cuMemcpyDtoH_v2", ctypes.c_void_p(out.ctypes.data), result.pointer,
                 ctypes.c_size_t(out.nbytes))
        return out

    def sync(self):
        self.ask("cuCtxSynchronize")

    def launcher(self, grid, block, arrays):
        """A launch over 1-D arrays of one size, all packed beforehand."""
        values = [*(x.pointer for x in arrays), ctypes.c_uint64(arrays[0].size)]
        packed = (ctypes.c_void_p * len(values))(*(ctypes.addressof(v) for v in values))
        arguments = (self.function, grid, 1, 1, block, 1, 1, 0, None, packed, None)
        self.ask("cuLaunchKernel", *arguments)  # so that what fails is told
        launch = functools.partial(self.cuda.cuLaunchKernel, *arguments)
        launch.kept = values
        return launch

    def from_source(self):
        """What compiles programs/add.cu by NVRTC opened before, and returns a launch of it."""
        nvrtc = next(filter(None, map(opened, ("libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"))))
        architecture = ctypes.c_int(), ctypes.c_int()
        for number, value in zip((75, 76), architecture, strict=True):  # CU_DEVICE_ATTRIBUTE_COMPUTE_…
            self.ask("cuDeviceGetAttribute", ctypes.byref(value), number, 0)
        options = (ctypes.c_char_p * 1)(b"-arch=sm_%d%d" % tuple(v.value for v in architecture))

        def call(a, b, out):
            program, size = ctypes.c_void_p(), ctypes.c_size_t()
            asked(nvrtc, "nvrtcCreateProgram", ctypes.byref(program), kernels.text("add.cu").encode(),
                  None, 0, None, None)
            asked(nvrtc, "nvrtcCompileProgram", program, 1, options)
            asked(nvrtc, "nvrtcGetCUBINSize", program, ctypes.byref(size))
            cubin = ctypes.create_string_buffer(size.value)
            asked(nvrtc, "nvrtcGetCUBIN", program, cubin)
            module = ctypes.c_void_p()
            self.ask("cuModuleLoadData", ctypes.byref(module), cubin)
            self.ask("cuModuleGetFunction", ctypes.byref(self.function), module, b"add")
            return lambda: self.launcher(4, 256, [a, b, out])

        return call

    def program(self, text, arrays):
        launch = self.launcher(4, 256, list(arrays.values()))
        return self.writing(lambda *arrays: launch(), arrays)
