"""How each library of the CPU is asked for a row: ours, NumPy, numexpr, Numba, PyTorch.

A Library makes its arrays from the host's, turns a row's expression into a call without
arguments, and can wait for what it has in flight. Importing this file imports none of them.
"""

import functools
import importlib
import os

import kernels
import numpy


def function(text, names, module, **scope):
    """A Python function of the named arrays whose body is the expression, `m` being the module."""
    scope.update(m=module, functools=functools)
    exec(f"def expression({', '.join(names)}):\n    return {text}\n", scope)
    return scope["expression"]


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
        """A call of a program in programs/, `grid` or `loops` in the text, compiled by the library.

        It writes into the array `o`, which the call returns."""
        used = [name for name in ("grid", "loops") if f"{name}." in text]
        scope = {name: kernels.load(name, self.compiler) for name in used}
        return self.writing(function(text, list(arrays), self.m, **scope), arrays)

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

    def evaluated(self, f):
        """f with its result computed, or put in flight."""
        evaluate, array = self.m.evaluate, self.m.ndarray

        def run(*arrays):
            result = f(*arrays)
            if isinstance(result, array):  # not what has been brought to the host
                evaluate(result)
            return result

        return run

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


CPU = {"treadle": Ours, "numpy": Library, "numexpr": Numexpr, "numba": Numba, "torch": Torch,
       "torch.compile": TorchCompile, "numba.simulator": NumbaSimulator}


def environment(threads=None):
    """Settings of the children: every library may use all cores."""
    count = str(threads or len(os.sched_getaffinity(0)))
    names = ("OMP_NUM_THREADS", "NUMEXPR_MAX_THREADS", "NUMEXPR_NUM_THREADS", "NUMBA_NUM_THREADS")
    return {**dict.fromkeys(names, count), "XLA_PYTHON_CLIENT_PREALLOCATE": "false"}
