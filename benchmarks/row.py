"""What a row of the benchmark is: an expression, its inputs, and what is to be reached.

An expression is written in NumPy's terms with `m` for the module (and `functools`), and in a
library's own terms where those differ. `rows.py` has the rows, `libraries.py` and
`gpu_libraries.py` know how a library is called and no row.
"""

import dataclasses
import math

import numpy

CPU, GPU = "cpu", "cuda"
DEVICES = (CPU, GPU)
# Peers of the rows of kernels alone, and why their other cells are empty.
KERNELS_ONLY = {"numba.simulator": "runs kernels only", "driver": "launches kernels only",
                "pycuda": "raw kernels and copies only", "g++": "the programs in C++ only",
                "clang++": "the programs in C++ only", "numpy.host": "unchanged programs only",
                "python": "functions of Python numbers only", "futures": "functions of Python numbers only"}


@dataclasses.dataclass(frozen=True)
class Input:
    """An array of random values: `layout` is "C", "T" (transposed) or "step2" (every second of
    a vector). Integers are in [-1000, 1000), or in [0, below). `dtype` is NumPy's, or "bf16", made
    of float32 by the library; `place` is "device", or "host" for a NumPy array as it is."""

    name: str
    dtype: str
    shape: tuple
    layout: str = "C"
    below: int = 0
    place: str = "device"

    @property
    def host_dtype(self):
        return numpy.dtype("f4" if self.dtype == "bf16" else self.dtype)

    @property
    def nbytes(self):
        return math.prod(self.shape) * (2 if self.dtype == "bf16" else self.host_dtype.itemsize)

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
        if self.host_dtype.kind == "i":
            low, high = (0, self.below) if self.below else (-1000, 1000)
            block = rng.integers(low, high, count).astype(self.dtype)
        else:
            block = rng.random(count).astype(self.host_dtype) + self.host_dtype.type(0.01)
        return numpy.resize(block, shape)

    def shrunk(self):
        """As itself, with few elements; lengths that were alike stay so, short ones stay."""
        few = 1000 if sum(d > 256 for d in self.shape) == 1 else 90
        return dataclasses.replace(self, shape=tuple(d if d <= 256 else few for d in self.shape))

    def view(self, base):
        """The operand: a view of the base, by the slicing of the library it belongs to."""
        if self.layout == "T":
            return base.T
        return base[::2] if self.layout == "step2" else base


@dataclasses.dataclass(frozen=True)
class Target:
    """What is to be reached: seconds, a share of the best peer's or of NumPy's time, or a share of the speed that
    the machine allows (the floor's seconds divided by it)."""

    seconds: float | None = None
    of_best: float | None = None
    of_numpy: float | None = None
    of_floor: float | None = None

    def limit(self, best, numpy_seconds, floor=None):
        """The largest time that reaches it; None where the peer in question has none."""
        limits = [self.seconds]
        if self.of_best is not None:
            limits.append(None if best is None else self.of_best * best)
        if self.of_numpy is not None:
            limits.append(None if numpy_seconds is None else self.of_numpy * numpy_seconds)
        if self.of_floor is not None:
            limits.append(None if floor is None else floor / self.of_floor)
        known = [limit for limit in limits if limit is not None]
        return min(known) if known else None


@dataclasses.dataclass(frozen=True)
class Row:
    """One line of the table on one device.

    kind     "throughput": time of a call, many in flight; "latency": host time of a small call;
             "record": the same without evaluation; "graph": as "latency", replayed from what the
             library recorded, where it can; "compile": a new kernel; "startup", "import": whole
             processes; "kernel": as "throughput", of a program in programs/, which is compared
             with NumPy first; "launch": as "latency", of such a program; "function": compiling
             programs/sixty.py; "first": a first call in a process of its own; "unchanged": a NumPy
             program in programs/ with its arguments, "mean": the geometric mean of these; "script": a
             program of this folder that measures what its arguments say and tells it
    text     the expression by library; "" is every library's that has no entry of its own, None
             says that the library cannot, for the reason in `cannot`
    out      shape of the result, "inputs" for that of the first input
    written  bytes of the result where its dtype is not the first input's
    floor    whether the bytes of inputs and result say what is the least time
    alike    whether all libraries compute the same values (random draws are not)
    """

    name: str
    group: str
    device: str
    kind: str = "throughput"
    inputs: tuple = ()
    text: dict = dataclasses.field(default_factory=dict)
    cannot: dict = dataclasses.field(default_factory=dict)
    out: tuple | str = "inputs"
    written: int | None = None
    floor: bool = True
    alike: bool = True
    target: Target | None = None

    def expression(self, library):
        """(text, None), or (None, why the library has none)."""
        if library in KERNELS_ONLY and library not in self.text:
            return None, KERNELS_ONLY[library]
        own = self.text.get(library, self.text.get("", None))
        return (own, None) if own else (None, self.cannot.get(library, "no such operation"))

    @property
    def moved(self):
        """Bytes that any implementation must read and write; 0 where that says nothing."""
        if self.kind not in ("throughput", "kernel") or not self.floor:
            return 0
        written = self.written
        if written is None:
            out = self.inputs[0].shape if self.out == "inputs" else self.out
            written = math.prod(out) * self.inputs[0].host_dtype.itemsize if out else 0
        return sum(i.nbytes for i in self.inputs) + written


def whole(text, **own):
    """The texts of an operation that is not elementwise: no kernel writer and no numexpr has it."""
    return {"": text, "numexpr": None, "numba.cuda": None, "cupy.fuse": None,
            **{name.replace("_", "."): value for name, value in own.items()}}


def vectors(names, dtype, n, layouts=()):
    """One-dimensional inputs, C-contiguous but for the layouts given in order."""
    padded = (*layouts, *["C"] * len(names))
    return tuple(Input(x, dtype, (n,), lay) for x, lay in zip(names, padded, strict=False))


def matrices(names, dtype, side, layouts=()):
    padded = (*layouts, *["C"] * len(names))
    return tuple(Input(x, dtype, (side, side), lay) for x, lay in zip(names, padded, strict=False))
