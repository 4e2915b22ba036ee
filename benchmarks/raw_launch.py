"""How long launches of CUDA C++ kernels take in their several forms, and compiling them: best of many, no targets.

Usage: raw_launch.py [DEVICE]. Beside them on a GPU: cuLaunchKernel by itself, through driver.py."""

import sys
import tempfile
import time

import numpy as np

import treadle as td
import treadle.pycuda.driver as drv
from treadle import _core, cuda
from treadle.pycuda.compiler import SourceModule

TEXT = "__global__ void touch(float *a, const float *b, int n) { if (n < 0) a[0] = b[0]; }"


def best(call, wait, n=2000, rounds=30):
    """Microseconds of one call."""
    least = float("inf")
    for _ in range(rounds):
        wait()
        begun = time.perf_counter()
        for _ in range(n):
            call()
        least = min(least, (time.perf_counter() - begun) / n)
    return least * 1e6


def launches(device):
    function = SourceModule(TEXT).get_function("touch")
    kernel, prepared = function._kernel, function._kernel.prepare("PPi")
    a, b, stream, n = td.ones(16, "float32"), td.ones(16, "float32"), drv.Stream(), np.int32(16)
    memory, grid, block = drv.mem_alloc(64), (1,), (1, 1, 1)
    td.evaluate(a, b)

    @cuda.jit
    def jitted(a, b, n):
        if n < 0:
            a[0] = b[0]

    launcher = jitted[1, 1]
    launcher(a, b, 16)
    forms = {
        "kernel(grid, block, (a, b, 16))": lambda: kernel(grid, block, (a, b, 16)),
        "kernel with a NumPy scalar": lambda: kernel(grid, block, (a, b, n)),
        "kernel on a stream": lambda: kernel(grid, block, (a, b, 16), stream=stream),
        "prepared, arrays": lambda: prepared(grid, block, a, b, 16),
        "prepared, allocations": lambda: prepared(grid, block, memory, memory, 16),
        "Function(..., block=, grid=)": lambda: function(memory, memory, n, block=block, grid=grid),
        "kernel in Python": lambda: launcher(a, b, 16),
    }
    for name, call in forms.items():
        print(f"{name:36} {best(call, device.synchronize):8.2f} us")


def milliseconds(call):
    begun = time.perf_counter()
    call()
    return (time.perf_counter() - begun) * 1e3


def compiling(name):
    with tempfile.TemporaryDirectory() as folder:
        cold = milliseconds(lambda: _core.program(TEXT, device=name, cache_dir=folder))
        text = TEXT.replace("touch", "other")
        second = milliseconds(lambda: _core.program(text, device=name, cache_dir=folder))
        warm = min(milliseconds(lambda: _core.program(text, device=name, cache_dir=folder)) for _ in range(20))
    print(f"{'compiled, first of the process':36} {cold:8.2f} ms")
    print(f"{'compiled':36} {second:8.2f} ms")
    print(f"{'from the disk':36} {warm:8.2f} ms")


def main(name=None):
    device = td.device(name) if name else td.device()
    with device:
        drv.init()
        print(device)
        compiling(str(device))
        launches(device)


if __name__ == "__main__":
    main(*sys.argv[1:])
