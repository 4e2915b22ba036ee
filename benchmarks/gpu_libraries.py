"""How each library of the GPU is asked for a row: CuPy, PyTorch, Numba, JAX, PyCUDA. See libraries.py.

All of them work on the device's default stream.
"""

import importlib
import re

import kernels
import numpy
from driver import Driver
from libraries import Jax, Library, Ours, Torch, TorchCompile, function, sourced


class Cupy(Library):
    name = module = "cupy"

    def host(self, result):
        return self.m.asnumpy(result)

    def sync(self):
        self.m.cuda.Device().synchronize()

    def from_source(self):
        def call(a, b, out):
            add = self.m.RawModule(code=kernels.text("add.cu")).get_function("add")
            add.compile()
            return lambda: add((4,), (256,), (a, b, out, out.size))

        return call

    def loaded(self, name):
        if name == "add":
            return self.m.RawKernel(kernels.text("add.cu"), "add")
        return super().loaded(name)


class CupyFuse(Cupy):
    name = "cupy.fuse"

    def compiled(self, text, names):
        return self.m.fuse()(function(text, names, self.m))


class TorchCuda(Torch):
    device = "cuda"

    def graph(self, text, arrays):
        f, values = self.compiled(text, list(arrays)), list(arrays.values())
        side = self.m.cuda.Stream()  # as its manual says: warm up on a stream that is not the default
        with self.m.cuda.stream(side):
            f(*values)
        side.synchronize()
        graph = self.m.cuda.CUDAGraph()
        with self.m.cuda.graph(graph):
            result = f(*values)

        def run():
            graph.replay()
            return result

        return run

    def sync(self):
        self.m.cuda.synchronize()


class TorchCompileCuda(TorchCompile, TorchCuda):
    pass


class NumbaCuda(Library):
    """A kernel with one thread an element, for one- and two-dimensional arrays."""

    name = "numba.cuda"
    compiler = "numba"
    compile_repeats = 4
    THREADS = 256

    def __init__(self):
        if not hasattr(numpy, "row_stack"):  # older numba-cuda looks it up in NumPy 2
            numpy.row_stack = numpy.vstack
        self.m = importlib.import_module("numba.cuda")

    def version(self):
        return importlib.import_module("numba").__version__

    def array(self, host):
        return self.m.to_device(host)

    def host(self, result):
        return result.copy_to_host() if hasattr(result, "copy_to_host") else numpy.asarray(result)

    def sync(self):
        self.m.synchronize()

    def kernel(self, text, names, ndim):
        """The expression on scalars, surrounded by the index arithmetic of a kernel."""
        body = re.sub(r"\bm\.", "math.", text)
        index = ", ".join("ij"[:ndim])
        inside = " and ".join(f"{x} < out_.shape[{d}]" for d, x in enumerate("ij"[:ndim]))
        loads = "".join(f"        {x} = {x}_[{index}]\n" for x in names)
        # The fast thread index runs along the last axis.
        order = "i = cuda.grid(1)" if ndim == 1 else "j, i = cuda.grid(2)"
        scope = {"cuda": self.m, "math": importlib.import_module("math"), "abs": abs}
        exec(
            f"def kernel(out_, {', '.join(x + '_' for x in names)}):\n    {order}\n"
            f"    if {inside}:\n{loads}        out_[{index}] = {body.replace('math.abs', 'abs')}\n",
            scope,
        )
        return self.m.jit(scope["kernel"])

    def compiled(self, text, names):
        if text == "reduce":
            return self.m.reduce(lambda x, y: x + y)
        if "to_device" in text or "copy_to_host" in text:
            return function(text, names, self.m)
        kernels = {}

        def run(*arrays):
            shape = arrays[0].shape
            if len(shape) not in kernels:
                kernels[len(shape)] = self.kernel(text, names, len(shape))
            out = self.m.device_array(shape, arrays[0].dtype)
            block = (self.THREADS,) if len(shape) == 1 else (32, 8)
            grid = tuple(-(-n // b) for n, b in zip(shape[::-1], block, strict=True))
            kernels[len(shape)][grid, block](out, *arrays)
            return out

        return run


class JaxCuda(Jax):
    platform = "gpu"


class PyCuda(Library):
    """Raw kernels through nvcc, and the driver's copies."""

    name = module = "pycuda"

    def __init__(self):
        self.context = importlib.import_module("pycuda.autoinit").context
        self.driver = importlib.import_module("pycuda.driver")
        self.arrays = importlib.import_module("pycuda.gpuarray")
        super().__init__()

    def version(self):
        return self.m.VERSION_TEXT

    def array(self, host):
        return self.arrays.to_gpu(host)

    def host(self, result):
        return result.get() if isinstance(result, self.arrays.GPUArray) else numpy.asarray(result)

    def sync(self):
        self.context.synchronize()

    def scope(self, text):
        return {"drv": self.driver, "at": lambda a: a.gpudata}

    def from_source(self):
        return sourced(importlib.import_module("pycuda.compiler").SourceModule, lambda a: a.gpudata)

    def loaded(self, name):
        module = importlib.import_module("pycuda.compiler").SourceModule(kernels.text("add.cu"))
        return module.get_function("add").prepare("PPPq").prepared_call


GPU = {"treadle": Ours, "numpy.host": Library, "cupy": Cupy, "cupy.fuse": CupyFuse, "torch": TorchCuda,
       "torch.compile": TorchCompileCuda, "numba.cuda": NumbaCuda, "jax": JaxCuda,
       "pycuda": PyCuda, "driver": Driver}
