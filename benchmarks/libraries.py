"""How each library of the CPU is asked for a row: ours, NumPy, numexpr, Numba, PyTorch, JAX, C++ with OpenMP.

A Library makes its arrays from the host's, turns a row's expression into a call without
arguments, and can wait for what it has in flight. Importing this file imports none of them.
"""

import ctypes
import functools
import importlib
import os
import pathlib
import re
import subprocess
import tempfile

import kernels
import numpy

PROGRAMS = ("grid", "loops", "raw", "add", "prepared")  # what texts call programs


def function(text, names, module, **scope):
    """A Python function of the named arrays whose body is the expression, `m` being the module."""
    scope.update(m=module, functools=functools)
    exec(f"def expression({', '.join(names)}):\n    return {text}\n", scope)
    return scope["expression"]


def sourced(compiled, pointer):
    """A function of three arrays that compiles add.cu by a SourceModule; it returns a call by PyCUDA's rules."""

    def call(a, b, out):
        add = compiled(kernels.text("add.cu")).get_function("add")
        return lambda: add(pointer(a), pointer(b), pointer(out), numpy.int64(out.size), block=(256, 1, 1),
                           grid=(4, 1))

    return call


class Library:
    """What they share: an eager NumPy-like module. `name` is the key in `Row.text`."""

    name = "numpy"
    module = "numpy"
    compile_repeats = 12
    compiler = None  # the module that programs/ import from, of a library that compiles them

    def __init__(self):
        self.m = importlib.import_module(self.module)

    def version(self):
        return getattr(self.m, "__version__", "")

    def array(self, host):
        """The library's own array on the row's device."""
        return self.m.asarray(host)

    def bfloat16(self, array):
        """The same numbers in bfloat16."""
        raise TypeError("no bfloat16")

    def host(self, result):
        """The result as a NumPy array or number."""
        return numpy.asarray(result)

    def sync(self):
        """Wait for everything in flight."""

    def compiled(self, text, names):
        """The function to be called with the arrays."""
        return function(text, names, self.m, **self.scope(text))

    def scope(self, text):
        """What the text names besides the module and its arrays."""
        return {"generator": self.m.random.default_rng(0)} if "generator." in text else {}

    def call(self, text, arrays):
        """A call without arguments that computes the expression (or puts it in flight)."""
        names, values = list(arrays), list(arrays.values())
        f = self.compiled(text, names)
        return lambda: f(*values)

    def program(self, text, arrays):
        """A call of a program in programs/, one of PROGRAMS in the text, compiled by the library.

        It writes into the array `o`, which the call returns."""
        used = [name for name in PROGRAMS if re.search(rf"\b{name}[.(]", text)]
        scope = {name: self.loaded(name) for name in used}
        return self.writing(function(text, list(arrays), self.m, **scope), arrays)

    def loaded(self, name):
        """What the text of a program calls `name`."""
        return kernels.load(name, self.compiler)

    def writing(self, f, arrays):
        """A call of f with the arrays that returns the array `o`."""
        values, out = list(arrays.values()), arrays["o"]

        def run():
            f(*values)
            return out

        return run

    def record(self, text, arrays):
        """As call(), where the library can put evaluation off."""
        return self.call(text, arrays)

    def graph(self, text, arrays):
        """As call(), replaying what the library recorded once, where it can."""
        return self.call(text, arrays)


class Ours(Library):
    """treadle: expressions are recorded, evaluate() starts them, synchronize() waits."""

    name = "treadle"

    def __init__(self, module="treadle"):
        self.module = self.compiler = module
        super().__init__()

    def host(self, result):
        if getattr(result, "dtype", numpy.dtype("f4")).kind == "V":  # bfloat16
            result = result.astype("float32")
        return numpy.asarray(self.m.asnumpy(result))

    def sync(self):
        self.m.synchronize()

    def bfloat16(self, array):
        return array.astype("bfloat16")

    def compiled(self, text, names):
        return self.evaluated(super().compiled(text, names))

    def scope(self, text):
        if "drv." not in text:
            return super().scope(text)
        return {"drv": self.part("pycuda.driver"), "at": lambda a: a.__cuda_array_interface__["data"][0]}

    def part(self, name):
        """A module of the package; those of PyCUDA's face with a context."""
        importlib.import_module(f"{self.module}.pycuda.autoinit")
        return importlib.import_module(f"{self.module}.{name}")

    def loaded(self, name):
        if name == "raw":
            raw = kernels.load("raw", self.compiler)
            return raw.Programs(self.m.RawModule(code=kernels.text("raw.cu")))
        if name == "add":
            return self.m.RawKernel(kernels.text("add.cu"), "add")
        if name == "prepared":
            module = self.part("pycuda.compiler").SourceModule(kernels.text("add.cu"))
            return module.get_function("add").prepare("PPPq").prepared_call
        return super().loaded(name)

    def evaluated(self, f):
        """f with its result computed, or put in flight."""
        evaluate, array = self.m.evaluate, self.m.ndarray

        def run(*arrays):
            result = f(*arrays)
            if isinstance(result, array):  # not what has been brought to the host
                evaluate(result)
            return result

        return run

    def from_source(self):
        """What compiles programs/add.cu, and returns a launch of it."""
        return sourced(self.part("pycuda.compiler").SourceModule, lambda a: a)

    def record(self, text, arrays):
        return Library.call(_Recording(self.m), text, arrays)

    def graph(self, text, arrays):
        f = self.evaluated(self.m.graph(super().compiled(text, list(arrays))))
        return lambda: f(*arrays.values())


class _Recording(Library):
    """treadle without evaluation."""

    def __init__(self, module):
        self.m = module


class Numexpr(Library):
    name = module = "numexpr"

    def array(self, host):
        return host

    def compiled(self, text, names):
        text = text.replace("m.", "")
        evaluate, out = self.m.evaluate, {}

        def run(*arrays):
            out.update(zip(names, arrays, strict=True))
            return evaluate(text, local_dict=out, global_dict={})

        return run


class Numba(Library):
    """An @njit(parallel=True) function of the array expression: its way to fuse and thread."""

    name = module = compiler = "numba"
    compile_repeats = 4

    def array(self, host):
        return host

    def compiled(self, text, names):
        return self.m.njit(parallel=True)(function(text, names, numpy))


class NumbaSimulator(Library):
    """Numba's CUDA kernels on a CPU: Python threads that interpret them."""

    name = "numba.simulator"
    compiler = "numba"

    def __init__(self):
        os.environ["NUMBA_ENABLE_CUDASIM"] = "1"  # read when numba is imported
        self.m = importlib.import_module("numba.cuda")

    def version(self):
        return importlib.import_module("numba").__version__

    def array(self, host):
        return self.m.to_device(host)

    def host(self, result):
        return result.copy_to_host() if hasattr(result, "copy_to_host") else numpy.asarray(result)


class Torch(Library):
    name = module = "torch"
    device = "cpu"

    def array(self, host):
        return self.m.from_numpy(host).to(self.device)

    def bfloat16(self, array):
        return array.bfloat16()

    def host(self, result):
        if not isinstance(result, self.m.Tensor):
            return numpy.asarray(result)
        if result.dtype == self.m.bfloat16:
            result = result.float()
        return result.cpu().numpy()


class TorchCompile(Torch):
    name = "torch.compile"
    compile_repeats = 3

    def compiled(self, text, names):
        self.m._dynamo.reset()  # else it stops compiling after a number of functions
        return self.m.compile(function(text, names, self.m), dynamic=False)


class Jax(Library):
    name = module = "jax"
    platform = "cpu"

    def __init__(self):
        super().__init__()
        self.m.config.update("jax_enable_x64", True)
        # Its default on this hardware is TF32, which no other library here computes in.
        self.m.config.update("jax_default_matmul_precision", "highest")
        self.numpy = importlib.import_module("jax.numpy")
        self.last = None

    def array(self, host):
        return self.m.device_put(host, self.m.devices(self.platform)[0])

    def bfloat16(self, array):
        return array.astype(self.numpy.bfloat16)

    def host(self, result):
        return numpy.asarray(result, dtype=None if result.dtype != self.numpy.bfloat16 else "f4")

    def sync(self):
        if self.last is not None:
            self.last.block_until_ready()

    def compiled(self, text, names):
        if "device_put" in text:
            f = self.m.device_put
        else:
            f = self.m.jit(function(text, names, self.numpy))

        def run(*arrays):
            self.last = f(*arrays)
            return self.last

        return run


class Gcc(Library):
    """programs/raw.cpp: what the kernels of raw.cu do, as loops for OpenMP."""

    name = compiler = "g++"
    flags = ("-O3", "-march=native", "-std=c++17", "-fopenmp", "-shared", "-fPIC", "-x", "c++")

    def __init__(self):
        self.m = self
        try:
            with tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder) / "raw.so"
                command = [self.compiler, *self.flags, "-o", str(path), str(kernels.PROGRAMS / "raw.cpp")]
                subprocess.run(command, check=True, capture_output=True, text=True)
                self.library = ctypes.CDLL(str(path))
        except FileNotFoundError:
            raise RuntimeError(f"no {self.compiler} on PATH") from None
        except subprocess.CalledProcessError as problem:
            raise RuntimeError(problem.stderr.strip().splitlines()[-1]) from None

    def version(self):
        asked = subprocess.run([self.compiler, "--version"], check=True, capture_output=True, text=True)
        return re.search(r"\d+(\.\d+)+", asked.stdout)[0]

    def array(self, host):
        return host.copy()

    def loaded(self, name):
        return kernels.load(name, "treadle").Programs(self)

    def get_function(self, name):
        """It has loops over blocks and threads of its own; `sums` is told how many blocks there are."""
        call = getattr(self.library, name)

        def run(grid, block, arguments):
            if name == "sums":
                arguments = (*arguments[:2], grid[0], arguments[2])
            call(*(ctypes.c_void_p(a.ctypes.data) if isinstance(a, numpy.ndarray) else ctypes.c_int(a)
                   for a in arguments))

        return run


class Clang(Gcc):
    name = compiler = "clang++"


CPU = {"treadle": Ours, "numpy": Library, "numexpr": Numexpr, "numba": Numba, "torch": Torch,
       "torch.compile": TorchCompile, "jax": Jax, "numba.simulator": NumbaSimulator,
       "g++": Gcc, "clang++": Clang}


def environment(threads=None):
    """Settings of the children: every library may use all cores."""
    count = str(threads or len(os.sched_getaffinity(0)))
    names = ("OMP_NUM_THREADS", "NUMEXPR_MAX_THREADS", "NUMEXPR_NUM_THREADS", "NUMBA_NUM_THREADS")
    return {**dict.fromkeys(names, count), "XLA_PYTHON_CLIENT_PREALLOCATE": "false"}
