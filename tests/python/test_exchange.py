"""Arrays that pass between libraries: DLPack, array interfaces, buffers; who owns what, who waits for whom."""

import ctypes
import gc
import sys
import threading
import weakref

import numpy as np
import pytest

import treadle as td

DTYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32",
          "float64", "complex64", "complex128"]  # fmt: skip
VIEWS = ["x", "x[:, ::2]", "x[::-1]", "x[..., ::-3]", "x.T", "x[1]", "x[2:]", "x[:, None]", "x.transpose(1, 0, 2)"]

# ---- DLPack's structures, as a consumer sees them ----


class Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p), ("kind", ctypes.c_int32), ("index", ctypes.c_int32), ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]  # fmt: skip


class Managed(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("ctx", ctypes.c_void_p),
        ("deleter", ctypes.CFUNCTYPE(None, ctypes.c_void_p)), ("flags", ctypes.c_uint64), ("tensor", Tensor),
    ]  # fmt: skip


class Legacy(ctypes.Structure):
    _fields_ = [("tensor", Tensor), ("ctx", ctypes.c_void_p), ("deleter", ctypes.CFUNCTYPE(None, ctypes.c_void_p))]


VERSIONED, LEGACY = b"dltensor_versioned", b"dltensor"
_api = ctypes.pythonapi
_api.PyCapsule_New.restype = ctypes.py_object
_api.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_api.PyCapsule_GetPointer.restype = ctypes.c_void_p
_api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
_api.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]
_api.PyCapsule_GetName.restype = ctypes.c_char_p
_api.PyCapsule_GetName.argtypes = [ctypes.py_object]


def look(capsule):
    """The structure that a capsule leads to."""
    name = _api.PyCapsule_GetName(capsule)
    m = (Managed if name == VERSIONED else Legacy).from_address(_api.PyCapsule_GetPointer(capsule, name))
    m.capsule = capsule  # lives as long as what it leads to is looked at
    return m


class Producer:
    """Exports a NumPy array by hand, so that every field can be wrong or old."""

    def __init__(self, x, kind=1, legacy=False, **fields):
        self.x, self.kind, self.legacy, self.fields, self.asked, self.deleted = x, kind, legacy, fields, [], 0

    def __dlpack_device__(self):
        return (self.kind, 0)

    def _delete(self, _):
        self.deleted += 1

    def __dlpack__(self, **kw):
        self.asked.append(kw)
        if self.legacy and "max_version" in kw:
            raise TypeError("unexpected keyword argument 'max_version'")
        x, codes = self.x, {"b": 6, "i": 0, "u": 1, "f": 2, "c": 5}
        self.shape = (ctypes.c_int64 * max(x.ndim, 1))(*x.shape)
        self.strides = (ctypes.c_int64 * max(x.ndim, 1))(*(s // x.itemsize for s in x.strides))
        m = Legacy() if self.legacy else Managed(major=1, minor=0)
        m.tensor = Tensor(x.ctypes.data, self.kind, 0, x.ndim, codes[x.dtype.kind], 8 * x.itemsize, 1, self.shape, self.strides, 0)
        m.deleter = type(m.deleter)(self._delete)
        for name, value in self.fields.items():
            setattr(m.tensor if hasattr(m.tensor, name) else m, name, value)
        self.m = m
        return _api.PyCapsule_New(ctypes.addressof(m), LEGACY if self.legacy else VERSIONED, None)


# ---- DLPack ----


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_dlpack_both_ways(dtype, view):
    n = (np.arange(60).reshape(3, 4, 5) % 7).astype(dtype)
    t = td.asarray(n, device="cpu")
    want, ours = eval(view, {"x": n}), eval(view, {"x": t})
    out = np.from_dlpack(ours)
    assert out.dtype == want.dtype and out.shape == want.shape and out.tolist() == want.tolist()
    for source in (np.asarray(want), ours):
        back = td.from_dlpack(source)
        assert back.dtype == want.dtype and np.asarray(back).tolist() == want.tolist()
    if view != "x[2:]":
        out[...] = 1
        assert np.asarray(ours).tolist() == np.ones_like(want).tolist()


@pytest.mark.parametrize("shape", [(0,), (0, 3), (2, 0, 4), ()])
def test_dlpack_of_small_things(shape, dev):
    t = td.zeros(shape, "int32")
    m = look(t.__dlpack__(max_version=(1, 1)))
    assert list(m.tensor.shape[: len(shape)]) == list(shape) and (m.tensor.data is None) == (t.size == 0)
    assert td.from_dlpack(t).shape == shape
    if dev == "cpu":
        assert np.from_dlpack(t).shape == shape and td.from_dlpack(np.zeros(shape)).shape == shape


def test_bfloat16_travels_by_dlpack():
    t = td.asarray([1.5, -2.0]).astype("bfloat16")
    m = look(t.__dlpack__(max_version=(1, 0)))
    assert (m.tensor.code, m.tensor.bits, m.tensor.lanes) == (4, 16, 1)
    assert td.from_dlpack(t).astype("float32").tolist() == [1.5, -2.0]
    raw = Producer(np.array([0x3FC0, 0xC000], "uint16"), code=4)
    assert td.from_dlpack(raw).astype("float32").tolist() == [1.5, -2.0]


def test_versions_and_flags():
    t = td.arange(3)
    assert _api.PyCapsule_GetName(t.__dlpack__()) == LEGACY
    assert _api.PyCapsule_GetName(t.__dlpack__(max_version=(0, 8))) == LEGACY
    m = look(t.__dlpack__(max_version=(2, 0)))
    assert (m.major, m.flags) == (1, 0)
    assert look(t.__dlpack__(max_version=(1, 0), copy=True)).flags == 2
    fixed = td.broadcast_to(t, (2, 3))
    assert look(fixed.__dlpack__(max_version=(1, 0))).flags == 1
    with pytest.raises(BufferError, match="read-only"):
        fixed.__dlpack__()
    assert not np.from_dlpack(fixed).flags.writeable


def test_copies_on_request(dev):
    t = td.arange(4.0)
    td.from_dlpack(t)[0] = 5
    td.from_dlpack(t, copy=True)[1] = 6
    td.from_dlpack(t, device="cpu", copy=None if dev != "cpu" else True)[2] = 7
    assert t.tolist() == [5, 1, 2, 3]
    here, cpu = t.__dlpack_device__(), (1, 0)
    assert look(t.__dlpack__(dl_device=here, max_version=(1, 0), copy=False)).flags == 0
    if dev != "cpu":
        assert look(t.__dlpack__(dl_device=cpu, max_version=(1, 0))).tensor.kind == 1
        with pytest.raises(BufferError, match="copying"):
            t.__dlpack__(dl_device=cpu, copy=False)
        with pytest.raises(ValueError, match="copy=False"):
            td.from_dlpack(t, device="cpu", copy=False)
    with pytest.raises(BufferError, match="another kind"):
        t.__dlpack__(dl_device=(10, 0))
    with pytest.raises(AttributeError):
        td.from_dlpack([1, 2])


def test_streams_of_dlpack(dev):
    t = td.arange(4.0) + 1
    if dev == "cpu":
        t.__dlpack__(stream=None), t.__dlpack__(stream=-1)
        with pytest.raises(ValueError, match="stream"):
            t.__dlpack__(stream=2)
        return
    own = td.Stream()
    for stream in (None, -1, 1, 2, own.ptr):
        t.__dlpack__(stream=stream)
    for stream in (0, -2):
        with pytest.raises(ValueError, match="stream"):
            t.__dlpack__(stream=stream)
    with pytest.raises(TypeError):
        t.__dlpack__(stream="legacy")


def test_producers_are_asked_as_the_standard_says():
    p = Producer(np.arange(3.0))
    assert td.from_dlpack(p).tolist() == [0, 1, 2]
    assert p.asked == [{"max_version": (1, 1)}]
    old = Producer(np.arange(3.0), legacy=True)
    assert td.from_dlpack(old).tolist() == [0, 1, 2]
    assert old.asked == [{"max_version": (1, 1)}, {}]
    pinned = Producer(np.arange(3.0), kind=3)
    assert td.from_dlpack(pinned).device == "cpu"


@pytest.mark.parametrize("legacy", [False, True])
def test_deleters_are_called_once(legacy):
    p = Producer(np.arange(1000.0), legacy=legacy)
    t = td.from_dlpack(p)
    y, part = t + 1, t[3:5]
    del t
    td.ones(1)
    assert p.deleted == 0
    part[0] = -1
    assert p.x[3] == -1 and y[3] == 4
    del part
    td.synchronize()
    assert p.deleted == 1
    td.asarray(p)
    td.synchronize()
    assert p.deleted == 2
    td.from_dlpack(p, copy=True)
    td.synchronize()
    assert p.deleted == 3


@pytest.mark.parametrize("fields", [{"lanes": 4}, {"code": 3}, {"bits": 24}, {"ndim": 40}, {"kind": 10}], ids=str)
def test_what_cannot_be_imported_is_given_back(fields):
    p = Producer(np.arange(4.0))
    p.fields = fields
    with pytest.raises((BufferError, ValueError)):
        td.from_dlpack(p)
    assert p.deleted == 1


def test_newer_versions_are_refused_untouched():
    p = Producer(np.arange(4.0), major=2)
    with pytest.raises(BufferError, match="version 2"):
        td.from_dlpack(p)
    assert p.deleted == 0  # the capsule still owns it


def test_misaligned_memory_is_refused():
    raw = np.zeros(33, "uint8")[1:].view("float32")
    with pytest.raises(ValueError, match="aligned"):
        td.from_dlpack(Producer(raw))


def test_unknown_devices():
    p = Producer(np.arange(4.0), kind=10)
    with pytest.raises(BufferError, match="kind"):
        td.from_dlpack(p)
    p.fields["kind"] = 1  # what a producer gives that can bring it to the host
    assert td.from_dlpack(p, device="cpu").tolist() == [0, 1, 2, 3]
    assert p.asked[-1]["dl_device"] == (1, 0)


def test_read_only_imports():
    n = np.arange(3.0)
    n.flags.writeable = False
    t = td.from_dlpack(n)
    for write in (lambda: t.__setitem__(0, 1), lambda: t.fill(2), lambda: t.__iadd__(1), lambda: np.add(t, 1, out=t)):
        with pytest.raises(ValueError, match="read-only"):
            write()
    assert n.tolist() == [0, 1, 2] and not np.asarray(t).flags.writeable
    assert look(t.__dlpack__(max_version=(1, 0))).flags == 1


def test_capsules_that_nobody_takes(dev):
    """Their memory comes back."""
    t = td.zeros(1 << 16)
    td.evaluate(t)
    del t
    td.synchronize()
    before = td.memory.stats()["used"]
    for version in (None, (1, 1)):
        capsules = [(td.ones(1 << 16) + k).__dlpack__(max_version=version) for k in range(8)]
        assert td.memory.stats()["used"] >= before + 8 * (1 << 19)
        del capsules
        assert td.memory.stats()["used"] <= before


def test_deleters_run_anywhere(dev):
    """A consumer calls the deleter on a thread of its own, without the interpreter's lock."""
    before = td.memory.stats()["used"]
    c = (td.arange(1 << 16) * 2).__dlpack__(max_version=(1, 0))
    m = look(c)
    _api.PyCapsule_SetName(c, b"used_dltensor_versioned")
    release = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(ctypes.cast(m.deleter, ctypes.c_void_p).value)
    thread = threading.Thread(target=lambda: release(ctypes.addressof(m)))  # ctypes gives the lock up
    thread.start()
    thread.join()
    assert td.memory.stats()["used"] <= before


def test_exports_hold_no_python_object(dev):
    t = td.arange(100)
    alive = weakref.ref(t)
    c = t.__dlpack__()
    del t
    gc.collect()
    assert alive() is None
    m = look(c)
    assert m.tensor.shape[0] == 100


# ---- memory of others is never lazy ----

IMPORTS = {
    "asarray": lambda n: td.asarray(n, copy=False),
    "array": lambda n: td.array(n, copy=False),
    "from_dlpack": td.from_dlpack,
    "buffer": lambda n: td.asarray(memoryview(n), copy=False),
    "interface": lambda n: td.asarray(Interface(n), copy=False),
    "producer": lambda n: td.from_dlpack(Producer(n)),
}
EXPORTS = {
    "asarray": np.asarray,
    "from_dlpack": np.from_dlpack,
    "memoryview": lambda t: np.asarray(memoryview(t)),
    "frombuffer": lambda t: np.frombuffer(t, t.dtype),
    "interface": lambda t: np.asarray(Interface(t)),
}


class Interface:
    """Has the array interface and no other protocol."""

    def __init__(self, x):
        self.keep, self.__array_interface__ = x, x.__array_interface__


def both_see(n, t):
    y, lazy = t * 2, t + 1
    n[0] = 100
    assert y[0] == 0 and lazy[0] == 1
    assert (t + 0)[0] == 100
    t[1] = 200
    assert n[1] == 200
    t += 1
    assert n.tolist() == [101, 201, 3, 4]
    t[...] = td.arange(4.0) * 3
    assert n.tolist() == [0, 3, 6, 9]


@pytest.mark.parametrize("how", list(IMPORTS))
def test_imported_memory_is_never_lazy(how):
    n = np.arange(4.0)
    both_see(n, IMPORTS[how](n))


@pytest.mark.parametrize("how", list(EXPORTS))
@pytest.mark.parametrize("pending", [True, False])
def test_exported_memory_is_never_lazy(how, pending):
    t = td.arange(4.0) if pending else td.asarray(np.arange(4.0))
    reader = t * 1  # recorded before: keeps the old values
    n = EXPORTS[how](t)
    both_see(n, t)
    assert reader.tolist() == [0, 1, 2, 3]


def test_get_is_the_callers_own():
    f = (td.arange(5.0) * 2).get
    first = f()
    first[0] = 5
    assert f().tolist() == [0, 2, 4, 6, 8]
    f.__self__[1] = 7
    assert first.tolist() == [5, 2, 4, 6, 8] and f().tolist() == [0, 7, 4, 6, 8]


# ---- the CUDA array interface ----


class Cuda:
    """Shows memory of the null device as another library would show a GPU's."""

    def __init__(self, t, **more):
        self.keep = t.__dlpack__(max_version=(1, 0))
        m = look(self.keep).tensor
        self.__cuda_array_interface__ = {
            "shape": t.shape, "typestr": t.dtype.str, "data": (m.data or 0, False), "version": 3, "strides": None, **more
        }  # fmt: skip


@pytest.mark.parametrize("text, shares", [("td.asarray(c)", False), ("td.array(c)", False), ("td.asarray(c, copy=False)", True),
                                          ("c + td.zeros(4, device='null')", False), ("td.add(c, 0)", False),
                                          ("td.asarray(c, device='cpu')", False)])  # fmt: skip
def test_cuda_interface_import(text, shares):
    t = td.arange(4.0, device="null")
    got = eval(text, {"td": td, "c": Cuda(t)})
    assert got.device == ("cpu" if "cpu" in text else "null") and got.tolist() == [0, 1, 2, 3]
    t[0] = 9
    assert (float(got[0]) == 9) == shares
    with pytest.raises(ValueError, match="arrays on"):
        Cuda(t) + td.ones(4, device="cpu")


def test_cuda_interface_fields():
    t = td.arange(6.0, device="null").reshape(2, 3)
    share = lambda **more: td.asarray(Cuda(t, **more), copy=False)  # noqa: E731
    assert share(shape=(3, 2), strides=(8, 24)).tolist() == [[0, 3], [1, 4], [2, 5]]
    own = td.Stream(device="null")
    for stream in (None, 1, 2, own.ptr):
        assert share(stream=stream).tolist() == t.tolist()
    fixed = share(data=(Cuda(t).__cuda_array_interface__["data"][0], True))
    with pytest.raises(ValueError, match="read-only"):
        fixed[0] = 1
    assert share(shape=(0,), data=(0, False)).shape == (0,)
    bad = [({"stream": 0}, ValueError, "ambiguous"), ({"mask": t}, ValueError, "mask"), ({"strides": (8,)}, ValueError, "length"),
           ({"strides": (3, 1)}, ValueError, "whole"), ({"typestr": "<M8"}, TypeError, "M8"), ({"typestr": ">f8"}, TypeError, "f8"),
           ({"data": 5}, ValueError, "data"), ({"shape": (-1,)}, ValueError, "negative")]  # fmt: skip
    for more, error, words in bad:
        with pytest.raises(error, match=words):
            share(**more)


def test_owners_of_gpu_memory_are_released():
    t = td.arange(6.0, device="null")
    c = Cuda(t)
    alive = weakref.ref(c)
    x = td.asarray(c, copy=False)
    del c
    assert alive() is not None and x.tolist() == t.tolist()
    y = x * 2
    del x
    td.synchronize("null")
    assert alive() is None and y.tolist() == [0, 2, 4, 6, 8, 10]


def test_cuda_interface_is_cuda_only(dev):
    t = td.arange(3.0)
    assert hasattr(t, "__cuda_array_interface__") == (t.device.kind == "cuda")
    if t.device.kind == "cuda":
        d = t[::2].__cuda_array_interface__
        assert d["version"] == 3 and d["stream"] == 1 and d["strides"] == (16,) and d["shape"] == (2,)
        assert t.__cuda_array_interface__["strides"] is None


# ---- buffers and the array interface ----


@pytest.mark.parametrize("dtype", DTYPES)
def test_buffers(dtype):
    n = (np.arange(12).reshape(3, 4) % 5).astype(dtype)
    t = td.asarray(n, device="cpu")
    m, mine = memoryview(t), memoryview(n)
    assert (m.format, m.itemsize, m.shape, m.strides) == (mine.format, mine.itemsize, mine.shape, mine.strides)
    assert not m.readonly and bytes(t) == n.tobytes() and bytes(t.T) == n.T.tobytes()
    assert np.frombuffer(t, dtype).tolist() == n.ravel().tolist()
    assert np.asarray(m).dtype == n.dtype
    back = td.asarray(mine, copy=False)
    assert back.dtype == n.dtype and np.asarray(back).tolist() == n.tolist()


class Buffer(ctypes.Structure):
    """Python's Py_buffer."""

    _fields_ = [
        ("buf", ctypes.c_void_p), ("obj", ctypes.py_object), ("len", ctypes.c_ssize_t), ("itemsize", ctypes.c_ssize_t),
        ("readonly", ctypes.c_int), ("ndim", ctypes.c_int), ("format", ctypes.c_char_p), ("shape", ctypes.POINTER(ctypes.c_ssize_t)),
        ("strides", ctypes.POINTER(ctypes.c_ssize_t)), ("suboffsets", ctypes.c_void_p), ("internal", ctypes.c_void_p),
    ]  # fmt: skip


def buffer_told(a, flags):
    """What the buffer protocol says of an array; None: it refuses."""
    b = Buffer()
    try:
        ctypes.pythonapi.PyObject_GetBuffer(ctypes.py_object(a), ctypes.byref(b), flags)
    except (BufferError, ValueError):
        return None
    shape, strides = (v[: b.ndim] if v else None for v in (b.shape, b.strides))
    told = b.len, b.itemsize, b.readonly, b.ndim, b.format, shape, strides if b.len else None
    told += (ctypes.string_at(b.buf, b.len) if strides is None else None,)
    ctypes.pythonapi.PyBuffer_Release(ctypes.byref(b))
    return told


@pytest.mark.parametrize("flags", [0, 1, 4, 8, 0x10, 0x18, 0x38, 0x58, 0x98, 0x1C, 0x1D, 0x11C, 0x11D])
def test_buffer_for_every_request(flags):
    """A reader that asks for no extents is told of none: it would follow a null pointer."""
    for view in (lambda a: a, lambda a: a[0], lambda a: a[0, 0, ...], lambda a: a.T, lambda a: a[:, ::2], lambda a: a[::-1], lambda a: a[:0]):
        x = np.arange(24.0, dtype="f4").reshape(4, 6)
        n, t = view(x), view(td.asarray(x))
        assert buffer_told(t, flags) == buffer_told(n, flags), (flags, n.shape, n.strides)
        if sys.version_info >= (3, 12) and buffer_told(n, flags):
            assert bytes(t.__buffer__(flags)) == bytes(n.__buffer__(flags))


def test_buffers_keep_what_was_asked():
    t = td.arange(12.0).reshape(3, 4)
    with pytest.raises(BufferError):
        np.frombuffer(t.T, "float64")
    assert memoryview(t.T).f_contiguous and not memoryview(t[:, ::2]).contiguous
    with pytest.raises(BufferError):
        memoryview(t.astype("bfloat16"))
    assert memoryview(td.broadcast_to(t, (2, 3, 4))).readonly


def test_gpu_arrays_say_get(dev):
    t = td.arange(3.0)
    if dev == "cpu":
        assert t.__array_interface__["version"] == 3 and t.__array_interface__["data"][1] is False
        return
    for use in (memoryview, bytes, lambda t: np.frombuffer(t, "float64")):
        with pytest.raises(BufferError, match=r"\.get\(\)"):
            use(t)
    assert not hasattr(t, "__array_interface__")


# ---- asarray ----


def test_asarray_takes_all_protocols(dev):
    n = np.arange(4.0)
    for source in (n, memoryview(n), Producer(n), Interface(n), [0, 1.0, 2, 3], td.asarray(n)):
        t = td.asarray(source)
        assert t.device == dev and t.tolist() == n.tolist()
        narrow = td.asarray(source, "float32")
        assert narrow.dtype == np.float32 and narrow.tolist() == n.tolist()
    shared = td.asarray(Producer(n)), td.asarray(Interface(n)), td.asarray(n)
    n[:] = -1
    assert all(t.tolist() == [0, 1, 2, 3] for t in shared)
    assert (td.ones(4) + Producer(n)).tolist() == [0] * 4
    assert (Producer(n).x + td.ones(4)).tolist() == [0] * 4


@pytest.mark.parametrize("source, more, words", [
    ([1, 2], {}, "list.* has no memory"), (5, {}, "int.* has no memory"), ("ab", {}, "str.* has no memory"),
    (np.array(["a"]), {}, "has no memory of numbers"), (np.arange(3), {"dtype": "float32"}, "int64 and float32"),
    (np.arange(3), {"device": "null"}, "cpu and null"), (np.arange(6, dtype=">i4"), {}, "has no memory of numbers"),
])  # fmt: skip
def test_copy_false_says_why_not(source, more, words):
    for f in (td.asarray, td.array):
        with pytest.raises(ValueError, match=words):
            f(source, copy=False, **more)
    with pytest.raises(ValueError, match="int64 and int8"):
        td.asarray(td.arange(3), "int8", copy=False)
    with pytest.raises(ValueError, match="cpu and null"):
        td.asarray(td.arange(3), device="null", copy=False)


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "int8", "bool", "complex64", "float64"])
def test_lists_are_converted_on_the_host(dtype, dev):
    """A device is sent what it keeps: one buffer is made."""
    values = [[1.0, 2.5], [0.0, -3.0]]
    before = td.memory.stats()["allocs"]
    t = td.asarray(values, dtype)
    assert td.memory.stats()["allocs"] == before + 1
    if dtype == "bfloat16":
        assert t.astype("float32").tolist() == values
    else:
        assert t.get().tolist() == np.asarray(values, dtype).tolist()
    td.evaluate(t)
    assert td.memory.stats()["allocs"] == before + 1 or dtype == "bfloat16"  # which was cast to be looked at
    with pytest.raises(TypeError):
        td.asarray([1j], "float32")
    if dtype == "int8":
        with pytest.raises(OverflowError):
            td.asarray([300], "int8")


def wrong(**fields):
    """A tensor of four floats with wrong fields; a NULL is None."""
    types = dict(Tensor._fields_)
    made = {k: types[k]() if v is None and k != "data" else v for k, v in fields.items()}
    for k in ("shape", "strides"):
        if isinstance(made.get(k), tuple):
            made[k] = ctypes.cast((ctypes.c_int64 * len(made[k]))(*made[k]), types[k])
    return Producer(np.arange(4.0), **made)


@pytest.mark.parametrize("legacy", [False, True])
@pytest.mark.parametrize(
    "fields, words",
    [
        ({"shape": None}, "of 1 axes has no shape"),
        ({"shape": None, "ndim": 3}, "of 3 axes has no shape"),
        ({"ndim": -1}, "of -1 axes"),
        ({"data": None}, "of 4 elements has no data"),
        ({"strides": (1 << 62,)}, "axis 0 has 4 elements with a stride of 4611686018427387904"),
        ({"strides": (-(1 << 62),)}, "stride of -4611686018427387904"),
        ({"strides": (1 << 59,)}, "stride of 576460752303423488"),
        ({"shape": (2, 2), "ndim": 2, "strides": (1 << 57, 1 << 58)}, "leaves the memory"),
    ],
)
def test_tensors_that_cannot_be(fields, words, legacy):
    source = wrong(**fields)
    source.legacy = legacy
    with pytest.raises(BufferError, match=words):
        td.from_dlpack(source)


def test_tensors_without_data_or_shape_that_can_be():
    assert td.from_dlpack(wrong(shape=None, strides=None, ndim=0)).shape == ()
    assert td.from_dlpack(wrong(data=None, shape=(0,))).shape == (0,)
    assert td.from_dlpack(wrong(strides=None)).tolist() == [0, 1, 2, 3]
    assert td.from_dlpack(wrong(strides=(0,))).tolist() == [0] * 4
