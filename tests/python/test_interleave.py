"""Random programs in which treadle and other libraries of one process pass arrays on without copies.

On the CPU NumPy, and PyTorch where it is installed; on a GPU PyTorch, CuPy and Numba, those that are
installed, on default streams and on streams of their own. Every array has a model in NumPy's memory.
"""

import importlib
import random
from types import SimpleNamespace

import numpy as np
import pytest

import treadle as td

STEPS = {"cpu": 1500, "cuda": 10_000}
SHAPES = [(64,), (33, 7), (512, 513), (1 << 20,), (3, 4, 5)]


class Cuda:
    """Shows the CUDA array interface alone."""

    def __init__(self, x):
        self.keep, self.__cuda_array_interface__ = x, x.__cuda_array_interface__


class Library:
    """How a library takes arrays over (by protocol), makes them, reads them; own: runs a function on a stream of its own."""

    exports = ("dlpack", "cai")
    own = None
    ordered = ("dlpack",)  # protocols that say which stream made the values

    def mix(self, a, b):
        return (a + b) * 0.5

    def bump(self, a):
        a += 1

    def stride(self, a):
        a[::3] *= 0.5


class NumPy(Library):
    exports = ("dlpack", "buffer", "interface")
    take = {"dlpack": np.from_dlpack, "buffer": lambda x: np.asarray(memoryview(x)), "interface": np.asarray}
    make = staticmethod(np.array)
    read = staticmethod(np.array)


class Treadle(Library):
    def __init__(self, where):
        share = {"copy": False, "device": where}
        self.take = {"dlpack": td.from_dlpack}
        for name, wrap in ("cai", Cuda), ("buffer", memoryview), ("interface", lambda x: x):
            self.take[name] = lambda x, wrap=wrap: td.asarray(wrap(x), **share)
        self.exports = ("dlpack", "cai") if where == "cuda" else ("dlpack", "buffer", "interface")
        self.make = lambda n: td.asarray(n, device=where) + 0  # pending
        self.read = lambda x: x.get()


class Torch(Library):
    def __init__(self, where):
        torch = importlib.import_module("torch")
        self.exports = ("dlpack", "cai") if where == "cuda" else ("dlpack",)
        self.take = {"dlpack": torch.from_dlpack, "cai": lambda x: torch.as_tensor(Cuda(x), device="cuda")}
        self.make = lambda n: torch.asarray(n.copy()).to(where)
        self.read = lambda x: x.cpu().numpy().copy()
        if where == "cuda":
            stream = torch.cuda.Stream()

            def own(f):
                with torch.cuda.stream(stream):
                    f()
                torch.cuda.default_stream().wait_stream(stream)

            self.own = own


class CuPy(Library):
    ordered = ("dlpack", "cai")

    def __init__(self, where):
        cupy = importlib.import_module("cupy")
        self.take = {"dlpack": cupy.from_dlpack, "cai": lambda x: cupy.asarray(Cuda(x))}
        self.make, self.read = cupy.asarray, cupy.asnumpy
        stream = cupy.cuda.Stream(non_blocking=True)

        def own(f):
            with stream:
                f()
            cupy.cuda.Stream.null.wait_event(stream.record())

        self.own = own


class Numba(Library):
    exports = ("cai",)

    def __init__(self, where):
        if not hasattr(np, "row_stack"):  # older numba-cuda looks it up in NumPy 2
            np.row_stack = np.vstack
        cuda = importlib.import_module("numba.cuda")
        self.cuda, self.take = cuda, {"cai": cuda.as_cuda_array}
        self.make, self.read = cuda.to_device, lambda x: x.copy_to_host()

        @cuda.jit
        def mix(a, b, out):
            i = cuda.grid(1)
            if i < out.size:
                out[i] = (a[i] + b[i]) * np.float32(0.5)

        @cuda.jit
        def change(a, step, times, plus):
            i = cuda.grid(1) * step
            if i < a.shape[0]:
                a[i] = a[i] * times + plus

        self._mix, self._change = mix, change

    def mix(self, a, b):
        out = self.cuda.device_array(a.shape, a.dtype)
        self._mix[(a.size + 255) // 256, 256](a.ravel(), b.ravel(), out.ravel())
        return out

    def bump(self, a):
        flat = a.ravel()
        self._change[(flat.size + 255) // 256, 256](flat, 1, np.float32(1), np.float32(1))

    def stride(self, a):
        for row in range(0, a.shape[0], 3) if a.ndim > 1 else [None]:
            part = a if row is None else a[row].ravel()
            self._change[(part.size + 255) // 256, 256](part, 3 if row is None else 1, np.float32(0.5), np.float32(0))


def libraries(where):
    found = [Treadle(where)] + ([NumPy()] if where == "cpu" else [])
    for make in (Torch, CuPy, Numba) if where == "cuda" else (Torch,):
        try:
            found.append(make(where))
        except ImportError:
            pass
    return found


class Program:
    """slots: arrays of one shape, each with its owner and model; kept: aliases that outlive what they were taken from."""

    def __init__(self, libs, shape, rng):
        self.libs, self.rng, self.shape, self.kept = libs, rng, shape, []
        self.slots = [self.fresh(rng.choice(libs)) for _ in range(6)]

    def fresh(self, lib):
        model = np.random.default_rng(self.rng.randrange(1 << 30)).integers(0, 64, self.shape).astype("float32")
        return SimpleNamespace(lib=lib, x=lib.make(model), model=model)

    def taken(self, slot, lib):
        """slot's memory as an array of lib; the memory itself where they have a protocol in common, else nothing."""
        common = [p for p in slot.lib.exports if p in lib.take]
        return lib.take[self.rng.choice(common)](slot.x) if common else None

    def mix(self, a, b, lib):
        x, y = self.taken(a, lib), self.taken(b, lib)
        if x is not None and y is not None:
            r = SimpleNamespace(lib=lib, x=lib.mix(x, y), model=(a.model + b.model) * np.float32(0.5))
            self.slots[self.rng.randrange(len(self.slots))] = r

    def write(self, a, lib):
        """Through an alias: its owner and all other aliases see it."""
        x, how = self.taken(a, lib), self.rng.choice(["bump", "stride"])
        if x is not None:
            getattr(lib, how)(x)
            getattr(Library, how)(lib, a.model)
            if self.rng.random() < 0.3:
                self.kept.append(SimpleNamespace(lib=lib, x=x, model=a.model))
                del self.kept[: len(self.kept) // 8]

    def own_stream(self, a, lib):
        """Work of lib on its stream, on memory of ours; what comes of it comes back while it may still run."""
        ours = self.libs[0]
        if lib.own is None or a.lib is not ours:
            return

        def work():
            x = lib.take["dlpack"](a.x)
            for _ in range(4):
                lib.bump(x)
            made = lib.mix(x, x)
            came.append(ours.take[self.rng.choice(lib.ordered)](made) + 1)

        came = []
        lib.own(work)
        for _ in range(4):  # one by one, as the sums are rounded
            a.model += 1
        self.slots[self.rng.randrange(len(self.slots))] = SimpleNamespace(lib=ours, x=came[0], model=a.model + 1)

    def check(self, slot):
        np.testing.assert_array_equal(slot.lib.read(slot.x), slot.model)

    def step(self):
        rng = self.rng
        a, b, lib = rng.choice(self.slots), rng.choice(self.slots), rng.choice(self.libs)
        what = rng.random()
        if what < 0.4:
            self.mix(a, b, lib)
        elif what < 0.75:
            self.write(a if what < 0.6 or not self.kept else rng.choice(self.kept), lib)
        elif what < 0.85:
            self.own_stream(a, lib)
        elif what < 0.95:
            self.check(a if what < 0.9 or not self.kept else rng.choice(self.kept))
        else:
            self.slots[rng.randrange(len(self.slots))] = self.fresh(lib)


@pytest.mark.parametrize("where", ["cpu", "cuda"])
def test_libraries_interleaved(where):
    if where == "cuda" and not any(d.kind == "cuda" for d in td.devices()):
        pytest.skip("there is no GPU")
    libs, rng = libraries(where), random.Random(11)
    if len(libs) < 2:
        pytest.skip("no other library is installed")
    print("libraries:", *(type(lib).__name__ for lib in libs))
    programs = [Program(libs, shape, rng) for shape in SHAPES]
    for _ in range(STEPS[where]):
        rng.choice(programs).step()
    for p in programs:
        for slot in p.slots + p.kept:
            p.check(slot)
