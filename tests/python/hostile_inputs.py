"""Damaged and hostile files, messages and memory, for every reader of the Python package.

python hostile_inputs.py [--seconds 10] [--seed N] [--only kind,kind]: draws inputs of each kind by changing good ones, and
reads each. A reader raises one exception of its kind's list, or gives what NumPy and safetensors give for the same bytes; it
does not crash, take longer than _SLOW seconds, or ask for more memory than _MEMORY. The seed and the first input that fails
are printed; --replay FILE reads one again."""

import argparse
import ctypes
import faulthandler
import io
import json
import pathlib
import pickle
import random
import resource
import struct
import sys
import tempfile
import time
import tokenize
import warnings
import zipfile
import zlib

import numpy as np
import safetensors
import safetensors.numpy
import test_exchange
import test_torch_save

import treadle as td
import treadle.torch as torch
from treadle import _core

_SLOW = 20  # seconds that one input may take
_MEMORY = 6 << 30  # bytes of address space beyond what the program has after its imports
_WORDS = [b"\0", b"\xff", b"\x80", b"\xff" * 4, b"\xff" * 8, b"\x7f" + b"\xff" * 7, struct.pack("<Q", 1 << 40), b"-1", b"99999999999"]
_NUMBERS = [0, 1, -1, 2, 3, 7, 64, 65, 255, 1 << 31, -(1 << 31), 1 << 32, 1 << 40, 1 << 57, 1 << 62, (1 << 63) - 1, -(1 << 63), 1 << 63, 1 << 70]
_THINGS = [None, True, "", "x", b"x", 1.5, float("nan"), (), (1,), [2, 3], {}, object()]


def changed(data, rng):
    """The bytes with a few places changed, cut, doubled or exchanged."""
    data = bytearray(data)
    for _ in range(1 + rng.randrange(4)):
        at, n = rng.randrange(len(data) + 1), rng.randrange(1, 17)
        match rng.randrange(7):
            case 0:
                del data[at : at + n]
            case 1:
                data[at:at] = rng.choice(_WORDS)
            case 2:
                data[at : at + n] = rng.choice(_WORDS)
            case 3:
                del data[at:]
            case 4:
                data[at:at] = data[rng.randrange(len(data) + 1) :][:n]
            case 5 if at < len(data):
                data[at] ^= 1 << rng.randrange(8)
            case _ if at < len(data):
                data[at] = rng.randrange(256)
    return bytes(data)


def thing(rng, good=None):
    """A value of a wrong type, a number from the edge, or what is good."""
    pick = rng.randrange(6)
    if pick == 0:
        return rng.choice(_THINGS)
    if pick < 3:
        return rng.choice(_NUMBERS)
    if pick == 3:
        return tuple(rng.choice(_NUMBERS[:8] + [good]) if rng.random() < 0.9 else rng.choice(_THINGS) for _ in range(rng.randrange(4)))
    return good


def equal(ours, theirs):
    """The same arrays, bit for bit."""
    if isinstance(ours, td._core.ndarray):
        ours, theirs = ours.get(), theirs.astype(theirs.dtype.newbyteorder("="))
    assert ours.dtype == theirs.dtype and ours.shape == theirs.shape, (ours.dtype, ours.shape, theirs.dtype, theirs.shape)
    if ours.dtype.kind != "O":
        assert ours.tobytes() == np.ascontiguousarray(theirs).tobytes()


def quietly(call, *args):
    """(what the judge gives, None), or (None, its exception)."""
    try:
        return call(*args), None
    except Exception as error:
        return None, error


# ---- files of NumPy's ----


def _npy(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


class Npy:
    """Whatever NumPy makes of the bytes: its reader is the one that reads them."""

    allowed = (ValueError, EOFError, OSError, TypeError, SyntaxError, OverflowError, MemoryError, UnicodeDecodeError, IndexError,
               tokenize.TokenError)  # fmt: skip
    seeds = [_npy(a) for a in (np.arange(6.0).reshape(2, 3), np.array(3), np.zeros((0, 2), "f2"), np.array(["a"]), np.ones(3, ">i4"),
                               np.asfortranarray(np.ones((2, 3), "c8")), np.zeros(2, [("a", "f4"), ("b", "u1")]))]  # fmt: skip

    def draw(self, rng):
        return changed(rng.choice(self.seeds), rng)

    def read(self, data):
        theirs, error = quietly(np.load, io.BytesIO(data))
        if theirs is not None and theirs.nbytes > 1 << 28:
            return
        ours = td.load(io.BytesIO(data))
        assert error is None, f"NumPy raises {error!r}"
        equal(ours, theirs)


class Npz(Npy):
    """The same in archives."""

    allowed = (*Npy.allowed, zipfile.BadZipFile, KeyError, NotImplementedError, RuntimeError, zlib.error)

    def __init__(self):
        self.seeds = []
        for save in (np.savez, np.savez_compressed):
            file = io.BytesIO()
            save(file, a=np.arange(3), b=np.ones((2, 2), "f4"))
            self.seeds.append(file.getvalue())

    def read(self, data):
        with np.load(io.BytesIO(data)) as theirs, td.load(io.BytesIO(data)) as ours:
            assert list(ours) == list(theirs)
            for name in theirs:
                value, error = quietly(lambda n=name: theirs[n])
                mine = ours[name]
                assert error is None, f"NumPy raises {error!r}"
                equal(mine, value) if isinstance(value, np.ndarray) else None


# ---- safetensors ----


class Safetensors:
    """Whatever safetensors gives, and an exception wherever it raises one."""

    allowed = (ValueError, RuntimeError)
    seeds = [
        safetensors.numpy.save({"w": np.arange(6, dtype="f4").reshape(2, 3), "b": np.ones(2, "i8"), "e": np.zeros((0, 2), "f2")}),
        safetensors.numpy.save({"s": np.array(2.0), "t": np.zeros(3, "?")}, metadata={"format": "np"}),
    ]

    def draw(self, rng):
        data = rng.choice(self.seeds)
        if rng.random() < 0.4:
            return changed(data, rng)
        length = int.from_bytes(data[:8], "little")
        header, body = json.loads(data[8 : 8 + length]), data[8 + length :]
        entry = header[rng.choice(list(header))]
        key = rng.choice(list(entry))
        entry[key] = rng.choice([
            entry[key], rng.choice(_NUMBERS), "F64", [rng.choice(_NUMBERS) for _ in range(rng.randrange(4))], None, "I8", [0, 8], [1, 2],
        ])  # fmt: skip
        if rng.random() < 0.3:
            body += rng.choice(_WORDS)
        text = json.dumps(header).encode()
        return (len(text) + rng.choice([0, 0, 0, 0, 1, -1, 1 << 40])).to_bytes(8, "little") + text + body

    def read(self, data):
        theirs, error = quietly(safetensors.numpy.load, data)
        with tempfile.NamedTemporaryFile(suffix=".safetensors") as file:
            file.write(data)
            file.flush()
            ours = torch.load(file.name)
        assert error is None, f"safetensors raises {error!r}"
        assert ours.keys() == theirs.keys()
        for name in theirs:
            equal(ours[name].numpy(), theirs[name])


# ---- PyTorch's files ----


def _zipped(pickled, records, order=b"little"):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("archive/data.pkl", pickled)
        archive.writestr("archive/byteorder", order)
        for name, data in records.items():
            archive.writestr(f"archive/data/{name}", data)
    return file.getvalue()


class Torch:
    """Archives, their pickles, files before 1.6: an exception, or tensors whose elements can all be read."""

    allowed = (pickle.UnpicklingError, RuntimeError, ValueError)

    def __init__(self):
        self.archives = []
        for seed in (test_torch_save.THEIRS, test_torch_save.SPARSE):
            with zipfile.ZipFile(io.BytesIO(seed)) as archive:
                names = archive.namelist()
                pickled = archive.read(next(n for n in names if n.endswith("data.pkl")))
                records = {n.rsplit("/", 1)[1]: archive.read(n) for n in names if "/data/" in n}
            self.archives.append((pickled, records))

    def draw(self, rng):
        if rng.random() < 0.3:
            return changed(rng.choice([test_torch_save.OLD, test_torch_save.THEIRS]), rng)
        pickled, records = rng.choice(self.archives)
        if rng.random() < 0.2:
            records = {k: changed(v, rng) if rng.random() < 0.5 else v for k, v in records.items()}
        if rng.random() < 0.1:
            pickled = self._bomb(rng)
        elif rng.random() < 0.8:
            pickled = changed(pickled, rng)
        return _zipped(pickled, records, rng.choice([b"little", b"little", b"big", b"?"]))

    @staticmethod
    def _bomb(rng):
        n = rng.choice([1 << 31, 1 << 36, 1 << 40, (1 << 63) - 1])
        return b"\x80\x04" + rng.choice([
            b"Nr" + struct.pack("<I", 0xFFFFFFFF) + b".", b"\x8e" + struct.pack("<Q", n) + b"x.", b"\x95" + struct.pack("<Q", n) + b"N.",
            b"cbuiltins\nbytearray\n(I" + str(n).encode() + b"\ntR.", b"\x8b" + struct.pack("<i", (1 << 31) - 1) + b"1.",
            b"ctorch\nTensor\n)\x81.", b"ctorch\nTensor\n(N}X\3\0\0\0addctorch\nfloat32\nstb.", b"(" * 100000 + b".",
        ])  # fmt: skip

    def read(self, data):
        for found in self._tensors(torch.load(io.BytesIO(data))):
            if found.numel() < 1 << 20:
                found.detach().float().sum().item()

    def _tensors(self, value):
        if isinstance(value, torch.Tensor):
            yield value
        elif isinstance(value, dict):
            yield from self._tensors(list(value.values())[:100])
        elif isinstance(value, (list, tuple)) and not any(v is value for v in value):
            for v in value[:100]:
                yield from self._tensors(v)


# ---- objects of other processes ----


class Objects:
    """What all_gather_object and its like read of peers that have proven nothing."""

    allowed = (pickle.UnpicklingError, RuntimeError)  # the latter of a device that there is not

    def __init__(self):
        from treadle.torch.distributed import _objects

        self._objects = _objects
        things = [np.arange(3), np.ones(2, "M8[s]"), np.array(["ab"]), torch.ones(2), {"a": [1, 2.5, (None, "x")]}, td.arange(3)]
        self.seeds = [pickle.dumps(t, protocol=p) for t in things for p in (3, 4, 5)]
        self.seeds.append(b"\x80\x03cbuiltins\nValueError\nX\1\0\0\0x\x85R.")  # libraries pickle exceptions in ways of their own

    def draw(self, rng):
        return Torch._bomb(rng) if rng.random() < 0.02 else changed(rng.choice(self.seeds), rng)

    def read(self, data):
        found = self._objects._Plain(io.BytesIO(data)).load()
        if isinstance(found, np.ndarray) and found.nbytes < 1 << 20:
            found.tobytes()


class Handles:
    """What multiprocessing hands over for an array: its memory, dtype and view."""

    allowed = (ValueError, TypeError, OverflowError, td.DeviceError, KeyError)
    names = ["float32", "float64", "int8", "complex128", "bool", "", "O", "x"]

    def __init__(self):
        self._array = td.arange(12.0).reshape(3, 4)
        self._good = _core._send(self._array)

    def draw(self, rng):
        handle, dtype, shape, strides, offset, readonly = self._good
        if rng.random() < 0.3:
            handle = changed(handle, rng)
        shape = tuple(rng.choice(_NUMBERS[:-2]) if rng.random() < 0.3 else n for n in shape)
        strides = tuple(rng.choice(_NUMBERS[:-2]) if rng.random() < 0.3 else n for n in strides)
        return handle, rng.choice([dtype, *self.names]), shape, strides, rng.choice([0, 0, 0, *_NUMBERS]), readonly

    def read(self, args):
        found = _core._receive(*args)
        if found.size < 1 << 16:
            assert found.get().shape == found.shape


# ---- memory of other libraries ----


class Interface:
    """__array_interface__ and __cuda_array_interface__. The address is true; what is said of it is not. NumPy judges shapes and
    types of the first; elements are read only where they lie in the memory."""

    allowed = (ValueError, TypeError, BufferError, OverflowError, AttributeError, td.DeviceError, KeyError, IndexError)

    def __init__(self):
        self._memory = np.arange(64, dtype="f8")
        self._theirs = test_exchange.Cuda(td.arange(64.0, device="null"))  # a GPU's, played by the host

    def draw(self, rng):
        name = rng.choice(["__array_interface__", "__cuda_array_interface__"])
        at = self._theirs.__cuda_array_interface__["data"][0] if "cuda" in name else self._memory.ctypes.data
        good = {"shape": (4, 4), "typestr": "<f8", "data": (at, False), "strides": None, "version": 3}
        strings = ["<f8", ">f8", "<i4", "|b1", "|u1", "<c16", "<f2", "<U2", "|V4", "", "f", "<f99999999999", "<M8[s]", None, 3]
        changes = {
            "shape": lambda: thing(rng, (2, 3)),
            "typestr": lambda: rng.choice(strings),
            "data": lambda: rng.choice([None, 0, (), (1,), ("x", False), (good["data"][0] + rng.randrange(16), True), (-1, False), (1 << 70, False)]),
            "strides": lambda: thing(rng, (32, 8)),
            "version": lambda: thing(rng, 3),
            "mask": lambda: thing(rng),
            "stream": lambda: thing(rng),
            "descr": lambda: thing(rng, [("", "<f8")]),
            "offset": lambda: thing(rng, 8),
        }
        for key in rng.sample(list(changes), 1 + rng.randrange(3)):
            if rng.random() < 0.15:
                good.pop(key, None)
            else:
                good[key] = changes[key]()
        return name, rng.choice([good] * 8 + [None, 3, []])

    def read(self, drawn):
        name, described = drawn
        source = type("Source", (), {name: described})()
        theirs, error = (None, None) if "cuda" in name else quietly(np.asarray, source)
        if theirs is not None and not self._inside(*np.lib.array_utils.byte_bounds(theirs)):
            return
        found = td.asarray(source, **({"copy": False} if "cuda" in name else {}))
        assert error is None, f"NumPy raises {error!r}"
        if theirs is not None:
            equal(found, theirs)
        elif self._inside(*np.lib.array_utils.byte_bounds(_Placed(found, described["data"][0]))):
            found.get()

    def _inside(self, lo, hi):
        places = (self._memory.ctypes.data, self._theirs.__cuda_array_interface__["data"][0])
        return any(first <= lo <= hi <= first + self._memory.nbytes for first in places)


class _Placed:
    """An array's place, for NumPy's byte_bounds."""

    def __init__(self, array, address):
        self.__array_interface__ = {"data": (address, False), "strides": array.strides, "shape": array.shape}
        self.dtype, self.itemsize, self.size = array.dtype, array.dtype.itemsize, array.size


class _Device(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int32), ("index", ctypes.c_int32)]


class _Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device", _Device), ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
                ("lanes", ctypes.c_uint16), ("shape", ctypes.c_void_p), ("strides", ctypes.c_void_p), ("byte_offset", ctypes.c_uint64)]  # fmt: skip


class _Managed(ctypes.Structure):
    _fields_ = [("tensor", _Tensor), ("ctx", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


class Dlpack:
    """Capsules whose tensors are none. What is taken is not read where it leaves the memory."""

    allowed = (ValueError, TypeError, BufferError, OverflowError, AttributeError, td.DeviceError)
    _new = ctypes.pythonapi.PyCapsule_New
    _new.restype, _new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]

    def __init__(self):
        self._memory, self._kept = np.arange(64, dtype="f8"), []

    def draw(self, rng):
        some = [n for n in _NUMBERS if -(1 << 63) <= n < 1 << 63]
        axes = rng.randrange(4)
        return {
            "ndim": rng.choice([axes, axes, axes, -1, 65, 1 << 30]),
            "shape": rng.choice([None, *[[rng.choice(some) if rng.random() < 0.3 else 2 for _ in range(70)]] * 4]),
            "strides": rng.choice([None, *[[rng.choice(some) if rng.random() < 0.3 else 1 for _ in range(70)]] * 2]),
            "type": rng.choice([(2, 64, 1)] * 4 + [(rng.randrange(8), rng.choice([1, 8, 16, 32, 128, 255]), rng.randrange(3))]),
            "device": rng.choice([(1, 0)] * 4 + [(rng.randrange(20), rng.choice([0, -1, 1 << 30]))]),
            "told": rng.choice([(1, 0)] * 4 + [thing(rng), (thing(rng), thing(rng)), (1 << 32 | 1, 0)]),
            "data": rng.random() < 0.9,
            "offset": rng.choice([0, 0, 0, 8, 3, (1 << 64) - 8]),
            "capsule": rng.choice([True] * 8 + [None, 3, "x"]),
        }

    def read(self, d):
        shape = (ctypes.c_int64 * 70)(*d["shape"]) if d["shape"] else None
        strides = (ctypes.c_int64 * 70)(*d["strides"]) if d["strides"] else None
        code, bits, lanes = d["type"]
        tensor = _Tensor(self._memory.ctypes.data if d["data"] else None, _Device(*d["device"]), d["ndim"], code, bits, lanes,
                         ctypes.cast(shape, ctypes.c_void_p), ctypes.cast(strides, ctypes.c_void_p), d["offset"])  # fmt: skip
        managed = _Managed(tensor, None, None)
        self._kept = [*self._kept[-50:], (shape, strides, managed)]
        capsule = self._new(ctypes.addressof(managed), b"dltensor", None) if d["capsule"] is True else d["capsule"]
        methods = {"__dlpack__": lambda self, **kw: capsule, "__dlpack_device__": lambda self: d["told"]}
        found = td.from_dlpack(type("Source", (), methods)())
        inside = found.size <= 8 and found.dtype.itemsize == 8 and d["offset"] in (0, 8)
        if inside and all(0 <= s <= 8 for s in found.strides):
            found.get()


class Frames:
    """What a stranger sends to the store of a job: it answers the next guest as before."""

    allowed = ()

    def __init__(self):
        from treadle.distributed import _proof, _store

        self._store, self._proof = _store, _proof
        self._server = _store.Server("127.0.0.1", 0, size=4, token=b"")

    def draw(self, rng):
        hello = struct.pack("!I", 1) + b"1"
        heads = [self._store._HEAD.pack(rng.randrange(256) if rng.random() < 0.5 else rng.choice(b"SGWB"),
                                        rng.choice([0, 1, 5, 1 << 10, 1 << 11, 0xFFFFFFFF]), rng.choice([0, 1, 1 << 24, 1 << 25, 0xFFFFFFFF]))
                 for _ in range(3)]  # fmt: skip
        return changed(hello, rng) if rng.random() < 0.3 else hello, changed(b"".join(h + b"abc" for h in heads), rng)

    def read(self, drawn):
        import socket

        hello, frames = drawn
        with socket.create_connection(("127.0.0.1", self._server.port), timeout=5) as sock:
            self._proof.read(sock, len(self._store._HELLO))
            challenged = self._proof.read(sock, self._proof.SIZE)
            try:
                sock.sendall(hello)
                if hello == struct.pack("!I", 1) + b"1":
                    self._proof.prove(sock, challenged, b"store", b"1", b"")
                sock.sendall(frames)
            except OSError:  # sent away
                pass
        if random.random() < 0.1:
            guest = self._store.Client("127.0.0.1", [self._server.port], "2", 5, b"")
            guest.set("x", b"y")
            assert guest.get("x") == b"y"
            guest.farewell()
            guest.close()


_KINDS = {k.__name__.lower(): k for k in (Npy, Npz, Safetensors, Torch, Objects, Handles, Interface, Dlpack, Frames)}


def _limit_memory():
    held = int(pathlib.Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (held + _MEMORY, resource.RLIM_INFINITY))


def _peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


def one(kind, drawn):
    """The name of the exception, or "read". AssertionError: what must not be."""
    before = _peak()
    begun = time.monotonic()
    try:
        kind.read(drawn)
        how = "read"
    except AssertionError:
        raise
    except kind.allowed as error:
        how = type(error).__name__
        assert str(error), f"{how} without a word"
    except Exception as error:
        raise AssertionError(f"{type(error).__name__} is no exception of a reader's: {error}") from error
    assert time.monotonic() - begun < _SLOW, "it took too long"
    assert _peak() - before < 1 << 30, f"it took {_peak() - before} bytes"
    return how


def run(names, seconds, seed):
    """Reads inputs of the kinds in turn; what became of them, by kind."""
    kinds = {n: _KINDS[n]() for n in names}
    rng, counts, until = random.Random(seed), {n: {} for n in names}, time.monotonic() + seconds
    while time.monotonic() < until:
        for name, kind in kinds.items():
            state = rng.getrandbits(64)
            drawn = kind.draw(random.Random(state))
            faulthandler.dump_traceback_later(2 * _SLOW, exit=True)
            try:
                how = one(kind, drawn)
            except AssertionError as error:
                raise SystemExit(f"{name}, --draw {state}: {error}\n{drawn!r:.3000}") from error
            counts[name][how] = counts[name].get(how, 0) + 1
    faulthandler.cancel_dump_traceback_later()
    return counts


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--only", default=",".join(_KINDS))
    parser.add_argument("--draw", type=int, help="one input of the kind that --only names, by the number that a failure shows")
    how = parser.parse_args(argv)
    seed = random.SystemRandom().getrandbits(32) if how.seed is None else how.seed
    print(f"hostile inputs: seed {seed}", flush=True)
    faulthandler.enable()
    warnings.simplefilter("ignore")
    _limit_memory()
    if how.draw is not None:
        kind = _KINDS[how.only]()
        drawn = kind.draw(random.Random(how.draw))
        print(drawn)
        return print(one(kind, drawn))
    for name, counts in run(how.only.split(","), how.seconds, seed).items():
        print(f"{name}: {sum(counts.values())} inputs: " + ", ".join(f"{n} {k}" for k, n in sorted(counts.items())))
    return None


if __name__ == "__main__":
    sys.exit(main())
