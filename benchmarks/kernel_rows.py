"""The rows of kernels and loops written in Python: programs/grid.py and programs/loops.py.

On a GPU each kernel stands beside numba.cuda's of the same text. On a CPU each program has three
rows: as loops, as a kernel at the same size (beside Numba's loops), and as a kernel of a few
threads beside Numba's simulator, which takes milliseconds a thread.
"""

import dataclasses

from row import CPU, GPU, Input, Row, Target, matrices, vectors

# What a size means: elements, values to count, sides of pictures, plates and matrices, bodies.
SIZES = {
    GPU: {"n": 1 << 27, "counted": 1 << 26, "image": 4096, "plate": 8192, "product": 2048,
          "bodies": 65536},
    CPU: {"n": 1 << 24, "counted": 1 << 23, "image": 1024, "plate": 4096, "product": 512,
          "bodies": 4096},
    "tiny": {"n": 1 << 10, "counted": 1 << 10, "image": 32, "plate": 32, "product": 32,
             "bodies": 256},
}
PARTS = 1024  # blocks of the sums, each with a partial result
PIECES = 64  # rows of private counters in the histogram's loops
NO_KERNELS = "no kernels or loops in Python"
ELSEWHERE = "its loops stand in the rows before"


@dataclasses.dataclass(frozen=True)
class Program:
    """One program: its inputs, the call of it as a kernel and as loops.

    `loop` and `loop_inputs` say what differs there. `floor` as in Row."""

    label: str
    inputs: tuple
    call: str
    floor: bool = False
    loop: str = ""
    loop_inputs: tuple = ()

    def loops(self):
        """(call, inputs) of the loops, on the host's arrays."""
        inputs = tuple(dataclasses.replace(i, place="host") for i in self.loop_inputs or self.inputs)
        return f"loops.{self.loop or self.call}", inputs


def histogram(label, dtype, size):
    values, bins = Input("v", dtype, (size["counted"],), below=256), Input("o", "i4", (256,))
    return Program(label, (values, bins), "histogram(v, o)", True, "histogram(v, p, o)",
                   (values, Input("p", "i4", (PIECES, 256)), bins))


def total(label, name, dtype, n):
    a, out = Input("a", dtype, (n,)), Input("o", dtype, (1,))
    loop = "integer_total(a, o)" if dtype == "i4" else "total(a, o)"
    return Program(label, (a, Input("p", dtype, (min(PARTS, n // 256),)), out), f"{name}(a, p, o)", True,
                   loop, (a, out))


def matmul(label, dtype, side):
    return Program(label, matrices("abo", dtype, side), "matmul(a, b, o)")


def chain(label, dtype, n):
    return Program(label, vectors("abcdo", dtype, n), "chain(a, b, c, d, o)", True)


def stencil(label, dtype, side):
    return Program(label, matrices("ao", dtype, side), "stencil(a, o)", True)


def main_programs(size):
    """The programs that have figures, at the given sizes."""
    bodies = size["bodies"]
    return [
        chain("chain", "f4", size["n"]),
        matmul("tiled matrix product", "f4", size["product"]),
        histogram("histogram with atomics", "i4", size),
        total("block reduction", "total", "f4", size["n"]),
        Program("Mandelbrot", matrices("o", "i4", size["image"]), "mandelbrot(o, 256)"),
        Program("n-body", (*vectors("xyzm", "f4", bodies), Input("o", "f4", (3, bodies))),
                "nbody(x, y, z, m, o)"),
        stencil("stencil", "f4", size["plate"]),
    ]


def varied_programs(size):
    """Other dtypes and sizes, so that nothing is tuned to one case."""
    return [
        chain("chain float64", "f8", size["n"] // 2 - 3),
        matmul("tiled matrix product float64 of odd size", "f8", size["product"] // 2 - 3),
        histogram("histogram of bytes", "u1", size),
        total("block reduction int32", "total", "i4", size["n"]),
        stencil("stencil float64", "f8", size["plate"] // 2 + 5),
    ]


def cannot(device):
    """Why the other libraries have no cell; what has none in `numba`'s column has one above."""
    return {**dict.fromkeys(OTHERS[device], NO_KERNELS), "numba": ELSEWHERE, "numba.cuda": ELSEWHERE}


def row(program, name, device, text, inputs, target=None):
    others = {"": None, **text}
    return Row(name, "kernels", device, "kernel", inputs, others, cannot(device), out=(),
               floor=program.floor, target=target)


OTHERS = {CPU: ("numpy", "numexpr", "torch", "torch.compile"),
          GPU: ("cupy", "cupy.fuse", "torch", "torch.compile", "jax")}


def gpu_rows():
    size, rows = SIZES[GPU], []
    shuffled = total("block reduction by shuffles", "shuffled", "f4", size["n"])
    for program in (*main_programs(size), shuffled, *varied_programs(size)):
        call = f"grid.{program.call}"
        rows.append(row(program, f"{program.label} kernel", GPU, {"treadle": call, "numba.cuda": call},
                        program.inputs, Target(of_best=1.0)))
    return rows


def cpu_rows():
    size, rows = SIZES[CPU], []
    for program in (*main_programs(size), *varied_programs(size)):
        call, inputs = program.loops()
        rows.append(row(program, f"{program.label} @jit", CPU, {"treadle": call, "numba": call},
                        inputs, Target(of_best=1.0)))
    for program in main_programs(size):
        text = {"treadle": f"grid.{program.call}", "numba": program.loops()[0]}
        inputs = program.inputs + tuple(i for i in program.loop_inputs if i not in program.inputs)
        rows.append(row(program, f"{program.label} @cuda.jit", CPU, text, inputs, Target(of_best=1.0)))
    for program in main_programs(SIZES["tiny"]):
        call = f"grid.{program.call}"
        rows.append(row(program, f"{program.label} @cuda.jit of few threads", CPU,
                        {"treadle": call, "numba.simulator": call}, program.inputs,
                        Target(of_best=1e-3)))
    return rows


def launches():
    """What a launch costs that computes nearly nothing."""
    kernel = "grid.add_kernel[4, 256](a, b, o)"
    text = {"": None, "treadle": kernel, "numba.cuda": kernel, "driver": "(packed beforehand)",
            "cupy": "add((4,), (256,), (a, b, o, 1024))"}
    return Row("launch of a three-array kernel", "kernels", GPU, "launch", vectors("abo", "f4", 1024),
               text, cannot(GPU), target=Target(seconds=4.0e-6))


def first_calls(device):
    """A first call in a process that has made its arrays. The text is FORM, and "cached" for a
    disk cache that holds the kernel."""
    def row(name, seconds, **text):
        text = {key.replace("_", "."): value for key, value in text.items()}
        return Row(name, "first calls", device, "first", text={"": None, **text}, alike=False,
                   cannot=cannot(device),
                   target=Target(seconds=seconds) if seconds else None)

    if device == GPU:
        every = {"treadle": "kernel", "numba_cuda": "kernel", "cupy": "raw"}
        return [row("first call of a kernel", 40e-3, **every),
                row("first call of a kernel from the disk cache", 10e-3,
                    **{key: f"{form} cached" for key, form in every.items()})]
    return [row("first call of a loop", 20e-3, treadle="loop", numba="loop"),
            row("first call of a loop from the disk cache", None, treadle="loop cached",
                numba="loop cached"),
            row("first call of a kernel on the CPU", 20e-3, treadle="kernel")]


def functions():
    return Row("compiling a function of 60 lines", "first calls", CPU, "function",
               text={"": None, "treadle": "sixty", "numba": "sixty"}, alike=False,
               cannot=cannot(CPU), target=Target(of_best=0.1))


def rows(device):
    """All rows of this file for a device."""
    if device == GPU:
        return [*gpu_rows(), launches(), *first_calls(GPU)]
    return [*cpu_rows(), *first_calls(CPU), functions()]
