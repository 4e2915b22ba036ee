"""The rows of the benchmark: what is computed, on what, and what is to be reached.

Everything that is true of a row stands here once; `libraries.py` and `gpu_libraries.py` know how a
library is called and no row. An expression is written in NumPy's terms with `m` for the module,
and in a library's own terms where those differ.
"""

import dataclasses
import math

import numpy

CPU, GPU = "cpu", "cuda"
DEVICES = (CPU, GPU)
BIG = {CPU: 1 << 24, GPU: 1 << 27}  # elements of the rows that have a target


@dataclasses.dataclass(frozen=True)
class Input:
    """An array of random values: `layout` is "C", "T" (transposed) or "step2" (every second of
    a vector)."""

    name: str
    dtype: str
    shape: tuple
    layout: str = "C"

    @property
    def nbytes(self):
        return math.prod(self.shape) * numpy.dtype(self.dtype).itemsize

    def base(self):
        """The C-contiguous host array that the library copies, before view().

        A block of random values is repeated: no library can tell, and 2^27 are made quickly.
        """
        shape = self.shape
        if self.layout == "T":
            shape = shape[::-1]
        elif self.layout == "step2":
            shape = (2 * shape[0],)
        rng = numpy.random.default_rng(sum(map(ord, self.name)))
        count = min(math.prod(shape), (1 << 22) + 1)
        if numpy.dtype(self.dtype).kind == "i":
            block = rng.integers(-1000, 1000, count).astype(self.dtype)
        else:
            block = rng.random(count).astype(self.dtype) + numpy.dtype(self.dtype).type(0.01)
        return numpy.resize(block, shape)

    def view(self, base):
        """The operand: a view of the base, by the slicing of the library it belongs to."""
        if self.layout == "T":
            return base.T
        return base[::2] if self.layout == "step2" else base


@dataclasses.dataclass(frozen=True)
class Target:
    """What is to be reached: seconds, or a share of the best peer's or of NumPy's time."""

    seconds: float | None = None
    of_best: float | None = None
    of_numpy: float | None = None

    def limit(self, best, numpy_seconds):
        """The largest time that reaches it; None where the peer in question has none."""
        limits = [self.seconds]
        if self.of_best is not None:
            limits.append(None if best is None else self.of_best * best)
        if self.of_numpy is not None:
            limits.append(None if numpy_seconds is None else self.of_numpy * numpy_seconds)
        known = [limit for limit in limits if limit is not None]
        return min(known) if known else None


@dataclasses.dataclass(frozen=True)
class Row:
    """One line of the table on one device.

    kind     "throughput": time of a call, many in flight; "latency": host time of a small call;
             "record": the same without evaluation; "compile": a new kernel; "startup", "import":
             whole processes
    text     the expression by library; "" is every library's that has no entry of its own, None
             says that the library cannot, for the reason in `cannot`
    out      shape of the result, "inputs" for that of the first input
    """

    name: str
    group: str
    device: str
    kind: str = "throughput"
    inputs: tuple = ()
    text: dict = dataclasses.field(default_factory=dict)
    cannot: dict = dataclasses.field(default_factory=dict)
    out: tuple | str = "inputs"
    flops: float = 0.0
    target: Target | None = None

    def expression(self, library):
        """(text, None), or (None, why the library has none)."""
        own = self.text.get(library, self.text.get("", None))
        return (own, None) if own else (None, self.cannot.get(library, "no such operation"))

    @property
    def moved(self):
        """Bytes that any implementation must read and write; 0 where that says nothing."""
        if self.kind != "throughput" or self.flops:
            return 0
        out = self.inputs[0].shape if self.out == "inputs" else self.out
        written = math.prod(out) * numpy.dtype(self.inputs[0].dtype).itemsize if out else 0
        return sum(i.nbytes for i in self.inputs) + written


CHAIN = {
    "": "m.sqrt(a*a + b*b) * m.exp(-c) + d",
    "numexpr": "sqrt(a*a + b*b) * exp(-c) + d",
}
INTEGER_CHAIN = {"": "a*b + c - d"}
SQUARES = {"": "((a - b)**2).sum()", "numexpr": "sum((a - b)**2)"}
VARIANCE = {
    "": "a.var()",
    "torch": "a.var(correction=0)",
    "torch.compile": "a.var(correction=0)",
    "numexpr": None,
}
SUM = {"": "a.sum()", "numexpr": "sum(a)"}
PRODUCT = {"": "a @ b", "numexpr": None, "numba": "m.dot(a, b)", "numba.cuda": None,
           "cupy.fuse": None}
SOFTMAX = {
    "": "(lambda e: e / e.sum(axis=1, keepdims=True))(m.exp(a - a.max(axis=1, keepdims=True)))",
    "torch": "m.softmax(a, 1)",
    "torch.compile": "m.softmax(a, 1)",
    "numexpr": None,
    "numba": None,
    "numba.cuda": None,
    "cupy.fuse": None,
}

# numba.cuda and cupy.fuse make elementwise kernels; a reduction is written another way there.
ONE_KERNEL = {
    "numba.cuda": "its kernels are elementwise; reductions are written by hand",
    "cupy.fuse": "fuses one elementwise chain with at most one reduction",
    "numexpr": "no such operation",
    "numba": "keepdims is not supported",
}


def vectors(names, dtype, n, layouts=()):
    """One-dimensional inputs, C-contiguous but for the layouts given in order."""
    padded = (*layouts, *["C"] * len(names))
    return tuple(Input(x, dtype, (n,), lay) for x, lay in zip(names, padded, strict=False))


def matrices(names, dtype, side, layouts=()):
    padded = (*layouts, *["C"] * len(names))
    return tuple(Input(x, dtype, (side, side), lay) for x, lay in zip(names, padded, strict=False))


def with_targets(device):
    """The expressions that the project has set itself figures for."""
    n = BIG[device]
    fused = Target(seconds=0.65e-3) if device == GPU else Target(of_best=1.0, of_numpy=0.2)

    def target(seconds):
        return Target(seconds=seconds) if device == GPU else Target(of_best=1.0)

    return [
        Row("chain", "big", device, inputs=vectors("abcd", "f4", n), text=CHAIN, target=fused),
        Row("squared difference", "big", device, inputs=vectors("ab", "f4", n),
            text={**SQUARES, "numba.cuda": None}, cannot=ONE_KERNEL, out=(),
            target=target(0.27e-3)),
        Row("variance", "big", device, inputs=vectors("a", "f4", n),
            text={**VARIANCE, "numba.cuda": None, "cupy.fuse": None}, cannot=ONE_KERNEL, out=(),
            target=target(0.165e-3)),
        Row("sum", "big", device, inputs=vectors("a", "f4", n),
            text={**SUM, "numba.cuda": "reduce"}, out=(), target=target(0.135e-3)),
    ]


def varied(device):
    """Other sizes, dtypes and layouts, so that nothing is tuned to one case."""
    n = BIG[device]
    side = 1 << (n.bit_length() // 2)  # 4096 on the CPU, 16384 on the GPU
    rows = []
    for power in (12, 16, 20) if device == CPU else (16, 20, 24):
        rows.append(Row(f"chain 2^{power}", "sizes", device,
                        inputs=vectors("abcd", "f4", 1 << power), text=CHAIN))
    rows += [
        Row("chain odd length", "sizes", device, inputs=vectors("abcd", "f4", n // 3), text=CHAIN),
        Row("chain float64", "dtypes", device, inputs=vectors("abcd", "f8", n // 2), text=CHAIN),
        Row("chain int32", "dtypes", device, inputs=vectors("abcd", "i4", n),
            text=INTEGER_CHAIN),
        Row("sum float64", "dtypes", device, inputs=vectors("a", "f8", n // 2),
            text={**SUM, "numba.cuda": "reduce"}, out=()),
        Row("sum int32", "dtypes", device, inputs=vectors("a", "i4", n),
            text={**SUM, "numba.cuda": None}, cannot=ONE_KERNEL, out=()),
        Row("chain with a strided operand", "layouts", device,
            inputs=vectors("abcd", "f4", n // 2, ["step2"]), text=CHAIN),
        Row("a + b with a transposed", "layouts", device,
            inputs=matrices("ab", "f4", side, ["T"]), text={"": "a + b"}),
        Row("centre and scale columns", "layouts", device,
            inputs=(*matrices("a", "f4", side), Input("b", "f4", (side,)),
                    Input("c", "f4", (side,))),
            text={"": "(a - b) * c", "numba.cuda": None}, cannot=ONE_KERNEL),
        Row("sum of columns", "layouts", device, inputs=matrices("a", "f4", side),
            text={"": "a.sum(axis=0)", "numexpr": "sum(a, axis=0)", "numba.cuda": None,
                  "cupy.fuse": None},
            cannot=ONE_KERNEL, out=(side,)),
        Row("sum of rows", "layouts", device, inputs=matrices("a", "f4", side),
            text={"": "a.sum(axis=1)", "numexpr": "sum(a, axis=1)", "numba.cuda": None,
                  "cupy.fuse": None},
            cannot=ONE_KERNEL, out=(side,)),
        Row("softmax of rows", "layouts", device, inputs=matrices("a", "f4", side), text=SOFTMAX,
            cannot=ONE_KERNEL),
    ]
    return rows


def products(device):
    """Matrix products, which go to the library that the machine has."""
    rows = []
    side = {CPU: 2000, GPU: 8192}[device]
    for dtype, label in (("f4", "float32"), ("f8", "float64")):
        rows.append(Row(f"matrix product {side} {label}", "matmul", device,
                        inputs=matrices("ab", dtype, side), text=PRODUCT, cannot=ONE_KERNEL,
                        flops=2.0 * side**3))
    return rows


def small(device):
    """What a call costs when there is nearly nothing to compute, and what a new one costs."""
    pair = vectors("ab", "f4", 1024)
    eager = dict.fromkeys(
        ("numpy", "numexpr", "numba", "torch", "torch.compile", "cupy", "cupy.fuse", "numba.cuda",
         "jax"), None)
    gpu = device == GPU
    return [
        Row("a + b of 1024 evaluated", "small", device, "latency", pair, {"": "a + b"},
            target=Target(seconds=5.0e-6) if gpu else None),
        Row("a + b of 1024 recorded", "small", device, "record", pair, {"": "a + b", **eager},
            dict.fromkeys(eager, "computes at once"),
            target=Target(seconds=0.4e-6) if gpu else None),
        Row("a new fused kernel", "compile", device, "compile", vectors("abc", "f4", 4096),
            {"": "(a new expression each time)",
             **dict.fromkeys(("numpy", "numexpr", "torch", "cupy"))},
            {**dict.fromkeys(("numpy", "torch", "cupy"), "compiles no fused kernel"),
             "numexpr": "interprets its program"},
            target=None if gpu else Target(seconds=15e-3)),
    ]


def processes(device):
    """Whole processes, timed from outside; `processes.py` holds the programs."""
    gpu = device == GPU
    rows = [Row("process start to first result", "startup", device, "startup",
                target=Target(seconds=0.480) if gpu else None)]
    if not gpu:
        rows.append(Row("import over `python -c pass`", "startup", device, "import",
                        target=Target(seconds=25e-3)))
    return rows


def rows(device):
    """All rows of a device, in the order of the table."""
    return [*with_targets(device), *varied(device), *products(device), *small(device),
            *processes(device)]
