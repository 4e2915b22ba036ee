"""The rows of CUDA C++ text and of the driver's copies: programs/raw.cu and programs/add.cu.

On a GPU they stand beside CuPy, PyCUDA and the driver itself; on a CPU beside the same algorithms in
C++ with OpenMP (programs/raw.cpp).
"""

from row import CPU, GPU, Input, Row, Target, matrices, vectors

NO_TEXT = "takes no CUDA C++"
NO_DRIVER = "has no such copies"
OTHERS = {CPU: ("numpy", "numexpr", "numba", "torch", "torch.compile", "numba.simulator"),
          GPU: ("cupy", "cupy.fuse", "torch", "torch.compile", "numba.cuda", "jax")}
BARRIERS = "with barriers"


def row(name, kind, device, inputs, text, why=NO_TEXT, **more):
    return Row(name, "raw kernels", device, kind, inputs, {"": None, **text},
               dict.fromkeys((*OTHERS[device], "pycuda", "driver"), why), **more)


def cpu_rows():
    """At most 1.5 times C++ where a kernel has no barrier; what barriers cost is written down."""
    n, side = 1 << 24, 2048
    free, limit = [], Target(of_best=1.5)

    def program(label, inputs, call, target=limit, floor=False, peers=("g++", "clang++")):
        free.append(row(f"{label} in CUDA C++", "kernel", CPU, inputs,
                        dict.fromkeys(("treadle", *peers), f"raw.{call}"), out=(), floor=floor, target=target))

    parts = Input("p", "f4", (1024,)), Input("o", "f4", (1,))
    program("chain", vectors("abcdo", "f4", n), "chain(a, b, c, d, o)", floor=True)
    program("Mandelbrot", matrices("o", "i4", side), "mandelbrot(o, 256)")
    program("stencil", matrices("ao", "f4", 2 * side - 3), "stencil(a, o)", floor=True)
    program("tiled matrix product", matrices("abo", "f4", side // 2), "matmul(a, b, o)", target=None)
    program("block reduction", (Input("a", "f4", (n,)), *parts), "total(a, p, o)", target=None, floor=True)
    program("block reduction by shuffles", (Input("a", "f4", (n,)), *parts), "shuffled(a, p, o)", target=None,
            floor=True, peers=())
    return free


def launches():
    three = vectors("abo", "f4", 1024)
    raw = "add((4,), (256,), (a, b, o, 1024))"
    prepared = "prepared((4, 1), (256, 1, 1), {0}, {1}, {2}, 1024)"
    return [
        row("launch of a RawKernel", "launch", GPU, three,
            {"treadle": raw, "cupy": raw, "driver": "(packed beforehand)"}, target=Target(seconds=3.6e-6)),
        row("launch of a prepared function", "launch", GPU, three,
            {"treadle": prepared.format("a", "b", "o"), "driver": "(packed beforehand)",
             "pycuda": prepared.format("a.gpudata", "b.gpudata", "o.gpudata")},
            target=Target(seconds=3.6e-6)),
    ]


def modules():
    """Compiling and loading one small kernel; `driver` is NVRTC itself, opened before, and the driver."""
    every = {"treadle": "source", "pycuda": "source", "cupy": "source", "driver": "source"}
    return [row("SourceModule of one kernel", "first", GPU, (), every, alike=False),
            row("SourceModule from the disk cache", "first", GPU, (),
                {key: f"{form} cached" for key, form in every.items() if key != "driver"}, alike=False,
                target=Target(seconds=1e-3))]


def copies():
    """1 GiB of pageable memory by the driver's names."""
    nbytes = 1 << 30
    host, device = Input("h", "f4", (nbytes // 4,), place="host"), Input("a", "f4", (nbytes // 4,))

    def copy(name, text, speed):
        return row(name, "transfer", GPU, (host, device), {"treadle": text, "pycuda": text}, NO_DRIVER,
                   target=Target(seconds=nbytes / speed))

    return [copy("memcpy_htod of 1 GiB", "(drv.memcpy_htod(at(a), h), a)[1]", 45e9),
            copy("memcpy_dtoh of 1 GiB to used memory", "(drv.memcpy_dtoh(h, at(a)), h)[1]", 45e9),
            copy("from_device of 1 GiB to new memory", "drv.from_device(at(a), a.shape, a.dtype)", 22e9)]


def rows(device):
    return cpu_rows() if device == CPU else [*launches(), *modules(), *copies()]
