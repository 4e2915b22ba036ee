"""Readers of files, messages and memory that may be anyone's: drawn inputs (hostile_inputs.py), and what such inputs found."""

import collections
import ctypes
import io
import json
import os
import pickle
import struct
import subprocess
import sys
import tokenize
import zipfile

import hostile_inputs
import numpy as np
import pytest
import safetensors.numpy
from test_exchange import Cuda

import treadle as td
import treadle.torch as torch
from treadle import _core
from treadle.lib.stride_tricks import as_strided
from treadle.torch.distributed import _objects

_SECONDS = float(os.environ.get("TREADLE_HOSTILE_SECONDS", "8"))


def test_drawn_inputs():
    """In a process of its own: what crashes, hangs or fills the memory ends that one.

    The same inputs each time, unless TREADLE_HOSTILE_SECONDS asks for more: then the seed is new, and stands in what fails."""
    command = [sys.executable, hostile_inputs.__file__, "--seconds", str(_SECONDS)]
    command += [] if "TREADLE_HOSTILE_SECONDS" in os.environ else ["--seed", "1"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS + 120, check=False,
                         env={**os.environ, "TREADLE_DEVICE": "cpu"})  # fmt: skip
    assert run.returncode == 0, run.stdout[-3000:] + run.stderr[-3000:]
    lines = [line for line in run.stdout.splitlines() if line.split(":")[0] in map(str.lower, hostile_inputs._KINDS)]
    assert len(lines) == len(hostile_inputs._KINDS), run.stdout  # each kind was read


@pytest.mark.parametrize("name", ["Npy", "Npz", "Safetensors", "Objects"])
def test_good_inputs_are_read(name):
    kind = getattr(hostile_inputs, name)()
    for seed in kind.seeds:
        kind.read(seed)


# ---- torch.load ----


def archive(pickled, *records, order=b"little"):
    return io.BytesIO(hostile_inputs._zipped(pickled, {str(k): r for k, r in enumerate(records)}, order))


def stored(count=6, offset=0, size=(2, 3), stride=(3, 1), kind="FloatStorage"):
    """The pickle of one tensor of storage 0."""
    head = b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n((X\7\0\0\0storagectorch\n" + kind.encode() + b"\nX\1\0\0\0000X\3\0\0\0cpu"
    parts = b"".join(pickle.dumps(v, protocol=2)[2:-1] for v in (offset, size, stride))
    return head + pickle.dumps(count, protocol=2)[2:-1] + b"tQ" + parts + b"\x89}tR."


FLOATS = np.arange(6, dtype="<f4")


def test_names_that_are_none():
    with pytest.raises(pickle.UnpicklingError, match="which could run any code"):
        torch.load(archive(b"\x80\x02ctorch\nq\x00\n."))


@pytest.mark.parametrize("how", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA, zipfile.ZIP_DEFLATED])
def test_packed_archive_that_is_damaged(how):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", how) as made:
        made.writestr("archive/data.pkl", stored())
    data = bytearray(file.getvalue())
    at = data.index(b"data.pkl") + len(b"data.pkl")
    data[at + 2 : at + 30] = bytes(28)
    with pytest.raises(RuntimeError, match="the archive is damaged"):
        torch.load(io.BytesIO(data))


@pytest.mark.parametrize("header", [
    b" '<f4'), ('b', '|u1')], 'fortran_krder': Fa99999999999 'shape': (2,), }", b" '<f8', 'fortran_order': False, 'shape':\xff (2, 3), }",
    b"           {'descfortran_order': True, 'shape': (2, 3), }",
])  # fmt: skip
def test_headers_that_are_none(header):
    data = b"\x93NUMPY\x01\x00v\x00" + header.ljust(117) + b"\n" + bytes(64)
    with pytest.raises((ValueError, SyntaxError, TypeError, tokenize.TokenError)):
        td.load(io.BytesIO(data))


def test_shapes_without_elements_that_are_too_big(tmp_path):
    header = b'{"e": {"dtype": "F16", "shape": [1, 0, 4611686018427387904], "data_offsets": [0, 0]}}'
    (tmp_path / "x.safetensors").write_bytes(struct.pack("<Q", len(header)) + header)
    with pytest.raises(ValueError, match="too big"):
        torch.serialization.load_safetensors(tmp_path / "x.safetensors")


def test_good_archive():
    found = torch.load(archive(stored(), FLOATS.tobytes()))
    np.testing.assert_array_equal(found.numpy(), FLOATS.reshape(2, 3))


def test_archive_of_a_machine_of_the_other_byte_order():
    found = torch.load(archive(stored(), FLOATS.astype(">f4").tobytes(), order=b"big"))
    np.testing.assert_array_equal(found.numpy(), FLOATS.reshape(2, 3))
    with pytest.raises(RuntimeError, match="byte order is b'middle'"):
        torch.load(archive(stored(), FLOATS.tobytes(), order=b"middle"))


@pytest.mark.parametrize("wrong", [
    {"offset": -2}, {"offset": 1}, {"size": (2, -3)}, {"size": (1 << 40, 1 << 40)}, {"stride": (-1, 1)}, {"stride": (4, 1)},
    {"stride": (1,)}, {"offset": 1.5}, {"size": ("x", 1)}, {"offset": 1 << 70}, {"stride": (1 << 62, 1 << 62), "size": (1 << 62, 4)},
])  # fmt: skip
def test_tensors_outside_of_their_storage(wrong):
    with pytest.raises(RuntimeError, match="does not lie in its storage of 6 elements"):
        torch.load(archive(stored(**wrong), FLOATS.tobytes()))


@pytest.mark.parametrize("count, record", [(5, FLOATS.tobytes()), (7, FLOATS.tobytes()), (1 << 60, b""), (6, b"")])
def test_records_of_another_size(count, record):
    with pytest.raises(RuntimeError, match="bytes, and .* were expected"):
        torch.load(archive(stored(count), record))
    with pytest.raises(RuntimeError, match="no record archive/data/0"):
        torch.load(archive(stored(count)))


def test_a_record_is_not_unpacked_to_more_than_its_tensor():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as z:
        z.writestr("archive/data.pkl", stored())
        z.writestr("archive/data/0", bytes(1 << 26))
    with pytest.raises(RuntimeError, match="67108864 bytes, and 24 were expected"):
        torch.load(file)


def test_repeated_elements_take_no_memory():
    found = torch.load(archive(stored(size=(1 << 40, 3), stride=(0, 1)), FLOATS.tobytes()))
    assert found.shape == (1 << 40, 3) and found[1 << 39].tolist() == [0, 1, 2]


@pytest.mark.parametrize("pickled", [
    b"\x80\x05\x96\0\0\0\0\1\0\0\0.", b"\x80\x02cbuiltins\nbytearray\n(I1099511627776\ntR.", b"\x80\x02", b"", b"\x80\x02.", b"\x80\x02(lp0\ng1\n.", b"\xff",
])  # fmt: skip
def test_pickles_that_ask_for_memory_or_are_cut(pickled):
    with pytest.raises(pickle.UnpicklingError):
        torch.load(archive(pickled))


def test_memos_take_the_memory_of_what_they_hold():
    """The unpickler in C makes an array of 2**33 places of this one."""
    assert torch.load(archive(b"\x80\x02Nr\xff\xff\xff\xff.")) is None


def test_state_of_classes_is_not_set():
    """A file whose pickle gives torch.Tensor a method."""
    pickled = b"\x80\x02ctorch\nTensor\n(N}X\x08\0\0\0backwardctorch\nfloat32\nstb."
    before = torch.Tensor.backward
    with pytest.raises(pickle.UnpicklingError, match="sets the state of"):
        torch.load(archive(pickled))
    assert torch.Tensor.backward is before
    with pytest.raises(pickle.UnpicklingError, match="without calling it"):
        torch.load(archive(b"\x80\x02ctorch\nTensor\n)\x81."))


class Allowed:
    def __init__(self, x):
        self.x = x


def test_allowed_classes_take_state():
    file = io.BytesIO()
    state = collections.OrderedDict(a=torch.ones(1))
    state._metadata = {"version": 1}
    torch.save({"o": Allowed(3), "d": state}, file)
    with torch.serialization.safe_globals([Allowed]):
        found = torch.load(file)
    assert found["o"].x == 3 and found["d"]._metadata == {"version": 1}


# ---- safetensors ----


@pytest.mark.parametrize("change", [
    lambda h: h["a"].update(data_offsets=[4, 12]), lambda h: h["b"].update(data_offsets=[4, 12]), lambda h: h.pop("b"),
    lambda h: h.update(__metadata__={"x": 1}), lambda h: h.update(__metadata__=3),
])  # fmt: skip
def test_safetensors_judges_alike(tmp_path, change):
    header = {"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}, "b": {"dtype": "F32", "shape": [2], "data_offsets": [8, 16]}}
    path = tmp_path / "a.safetensors"

    def write():
        text = json.dumps(header).encode()
        path.write_bytes(len(text).to_bytes(8, "little") + text + bytes(16))

    write()
    assert torch.load(path).keys() == safetensors.numpy.load_file(path).keys()
    change(header)
    write()
    with pytest.raises(safetensors.SafetensorError):
        safetensors.numpy.load_file(path)
    with pytest.raises(ValueError, match=r"torch\.load"):
        torch.load(path)


# ---- objects of processes that have proven nothing ----


@pytest.mark.parametrize("thing", [np.arange(3), np.ones(2, "M8[s]"), np.array(["ab"]), np.float32(2), np.array(2, ">i4"), {1: (2, None)}])
def test_plain_objects_arrive(thing):
    for protocol in range(2, 6):
        found = _objects._Plain(io.BytesIO(pickle.dumps(thing, protocol=protocol))).load()
        assert type(found) is type(thing)
        np.testing.assert_array_equal(found, thing)


def array_pickle(dtype, state, data=b"x" * 8, shape=(1,)):
    class Dtype:
        def __reduce__(self):
            return np.dtype, (dtype, False, True), state

    class Array:
        def __reduce__(self):
            return np._core.multiarray._reconstruct, (np.ndarray, (0,), b"b"), (1, shape, Dtype(), False, data)

    return pickle.dumps(Array(), protocol=2)


@pytest.mark.parametrize("dtype, state, data, shape", [
    ("O8", (3, "|", None, None, None, -1, -1, 0), b"x" * 8, (1,)),  # bytes as addresses of objects
    ("O8", (3, "|", None, None, None, -1, -1, 63), [1], (1,)),
    ("f8", (3, "<", None, None, None, -1, -1, 63), b"x" * 8, (1,)), ("f8", (3, "<", None, None, None, 1 << 30, -1, 0), b"x" * 8, (1,)),
    ("f8", (3, "<", None, None, None, -1, -1, 0), b"x" * 8, (1 << 40,)), ("f8", (3, "<", None, None, None, -1, -1, 0), b"x" * 8, (-1,)),
    ("M8[s]", (4, "<", None, None, None, -1, -1, 0, ({}, (b"s", 0, 0, 0))), b"x" * 8, (1,)), ("V8", (3, "|", None, None, None, 8, 1, 0), b"x" * 8, (1,)),
])  # fmt: skip
def test_arrays_that_numpy_would_believe(dtype, state, data, shape):
    with pytest.raises(pickle.UnpicklingError):
        _objects._Plain(io.BytesIO(array_pickle(dtype, state, data, shape))).load()


# ---- memory ----


@pytest.mark.parametrize("changes, error", [
    ({"shape": (1 << 40, 2), "strides": (1 << 40, 8)}, BufferError), ({"shape": (1 << 62,)}, ValueError), ({"shape": (3,), "strides": (-(1 << 63),)}, BufferError),
    ({"shape": (1 << 32, 1 << 32)}, ValueError), ({"shape": (-1,)}, ValueError), ({"shape": (1.5,)}, TypeError), ({"shape": None}, TypeError),
    ({"strides": (3,)}, ValueError), ({"strides": (8, 8)}, ValueError), ({"typestr": 3}, ValueError), ({"typestr": ">f8"}, TypeError), ({"typestr": "|O"}, TypeError),
    ({"data": None}, ValueError), ({"data": (1,)}, ValueError), ({"data": (1 << 70, False)}, OverflowError), ({"mask": 1}, ValueError),
])  # fmt: skip
def test_interfaces_that_cannot_be(changes, error):
    with pytest.raises(error) as caught:
        td.asarray(Cuda(td.arange(8.0, device="null"), **changes), copy=False)
    assert str(caught.value)


def test_strides_that_overflow():
    """Extents that wrap around came out as if they lay in the memory."""
    for shape, strides in [((1 << 32, 2), (1 << 32 << 3, 8)), ((1 << 31, 3), (1 << 33, 1 << 62))]:
        with pytest.raises(ValueError, match="as_strided"):
            as_strided(td.arange(4.0), shape, strides)
        with pytest.raises(RuntimeError, match="as_strided"):
            torch.as_strided(torch.arange(4.0), shape, [s // 4 for s in strides])
    with pytest.raises((RuntimeError, ValueError), match="negative"):
        torch.as_strided(torch.arange(4.0), (-5,), (0,))


class Buffer(ctypes.Structure):
    _fields_ = [("buf", ctypes.c_void_p), ("obj", ctypes.py_object), ("len", ctypes.c_ssize_t), ("itemsize", ctypes.c_ssize_t),
                ("readonly", ctypes.c_int), ("ndim", ctypes.c_int), ("format", ctypes.c_char_p), ("shape", ctypes.c_void_p),
                ("strides", ctypes.c_void_p), ("suboffsets", ctypes.c_void_p), ("internal", ctypes.c_void_p)]  # fmt: skip


def test_buffers_of_pointers_to_rows():
    """A memoryview with suboffsets: its memory holds addresses."""
    rows = [np.arange(3.0), np.arange(3.0, 6.0)]
    table = (ctypes.c_void_p * 2)(*[r.ctypes.data for r in rows])
    numbers = [(ctypes.c_ssize_t * 2)(*n) for n in ((2, 3), (8, 8), (0, -1))]
    described = Buffer()
    ctypes.memset(ctypes.addressof(described), 0, ctypes.sizeof(described))
    described.buf, described.len, described.itemsize, described.ndim, described.format = ctypes.addressof(table), 48, 8, 2, b"d"
    described.shape, described.strides, described.suboffsets = map(ctypes.addressof, numbers)
    make = ctypes.pythonapi.PyMemoryView_FromBuffer
    make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p]
    view = make(ctypes.addressof(described))
    assert view.tolist() == [[0, 1, 2], [3, 4, 5]]
    try:
        found = td.asarray(view)
    except (BufferError, ValueError, TypeError):
        return
    assert found.tolist() == view.tolist()


def test_devices_of_dlpack_are_not_cut_to_32_bits():
    source = type("Source", (), {"__dlpack__": lambda self, **kw: None, "__dlpack_device__": lambda self: (1 << 32 | 1, 0)})()
    with pytest.raises(ValueError, match="a device is a tuple"):
        td.from_dlpack(source)


def test_handles_whose_device_is_no_text():
    handle, *rest = _core._send(td.arange(3.0))
    with pytest.raises(ValueError, match=r"\\xf5"):
        _core._receive(b"c\xf5u\0" + handle[4:24] + bytes(4) + handle[28:], *rest)


def test_modules_that_are_cut_off():
    """Their own tables tell of more bytes than there are."""
    head = b"\x7fELF\2\1\1" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 64, 1 << 20, 0, 64, 56, 4, 64, 3, 0)
    for code in (head, head[:20], head + bytes(100)):
        with pytest.raises((ValueError, RuntimeError), match="cut off or damaged"):
            _core.load_program(code, device="cpu")


def test_names_of_other_calls_need_be_no_text():
    """A peer's announcement is quoted in an error, whatever its bytes are."""
    from treadle.distributed._mesh import Mesh

    error = Mesh._mismatch(1, b"all_reduce", 8, b"\xff\xfe", 8)
    assert "all_reduce" in str(error) and "rank 1" in str(error)
