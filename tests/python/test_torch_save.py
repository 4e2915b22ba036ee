"""torch.save and torch.load: round trips, safetensors, files of PyTorch's, files that are none."""

import base64
import collections
import io
import json
import os
import pickle
import zipfile

import numpy as np
import pytest
import safetensors.numpy
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import treadle.torch as torch
from treadle.torch import nn

DTYPES = ["float32", "float64", "float16", "int64", "int32", "int16", "int8", "uint8", "bool", "complex64"]

# torch.save({"w": torch.arange(6.).reshape(2, 3).t(), "n": [1, "x"], "p": nn.Parameter(torch.tensor([2], dtype=torch.float64))})
# of PyTorch 2.15, without its padding.
THEIRS = base64.b64decode(
    "UEsDBBQAAAAIAAAAIQD8elYi6QAAADwBAAAQAAAAYXJjaGl2ZS9kYXRhLnBrbHWOO0/EMBCE4wRyYN7vdx+aE/AbTjQuEKFJg6KcY5FIJs44a6"
    "BBouHg/jWJT9DR7O6MZkffR/iOIMlYEASvYJKMldU4d1TrjudWTV2ty5xU0xmbv9xwhEmSjfpw1yeLJ4Vo8cJvtSnoYWFyLPnCKyxnUb9l6xCL"
    "mDC6F4GIRDjDimAimmF1LqXRWkmqTdPxO1sqq8pJLYmDX6ZYI6yn2PBtDTYfsZUI5tUbtpU/Wuz8Q90WtnhWpCzHbtVzV7+sE+OmWv3B7vmea+"
    "xXsWCEgwGSfeJwGEfzauA4JpykOP324uwL5yku3PgHUEsDBBQAAAAIAAAAIQC379yDAwAAAAEAAAAXAAAAYXJjaGl2ZS8uZm9ybWF0X3ZlcnNp"
    "b24zBABQSwMEFAAAAAgAAAAhAIU94xkIAAAABgAAABEAAABhcmNoaXZlL2J5dGVvcmRlcsvJLCnJSQUAUEsDBBQAAAAIAAAAIQAXkOeREQAAAB"
    "gAAAAOAAAAYXJjaGl2ZS9kYXRhLzBjYACBBnsg4QBEQNwAxAscAFBLAwQUAAAACAAAACEA+Z7+EwYAAAAIAAAADgAAAGFyY2hpdmUvZGF0YS8x"
    "Y2AAAwcAUEsDBBQAAAAIAAAAIQDRnmdVBAAAAAIAAAAPAAAAYXJjaGl2ZS92ZXJzaW9uM+YCAFBLAQIUAxQAAAAIAAAAIQD8elYi6QAAADwBAA"
    "AQAAAAAAAAAAAAAACAAQAAAABhcmNoaXZlL2RhdGEucGtsUEsBAhQDFAAAAAgAAAAhALfv3IMDAAAAAQAAABcAAAAAAAAAAAAAAIABFwEAAGFy"
    "Y2hpdmUvLmZvcm1hdF92ZXJzaW9uUEsBAhQDFAAAAAgAAAAhAIU94xkIAAAABgAAABEAAAAAAAAAAAAAAIABTwEAAGFyY2hpdmUvYnl0ZW9yZG"
    "VyUEsBAhQDFAAAAAgAAAAhABeQ55ERAAAAGAAAAA4AAAAAAAAAAAAAAIABhgEAAGFyY2hpdmUvZGF0YS8wUEsBAhQDFAAAAAgAAAAhAPme/hMG"
    "AAAACAAAAA4AAAAAAAAAAAAAAIABwwEAAGFyY2hpdmUvZGF0YS8xUEsBAhQDFAAAAAgAAAAhANGeZ1UEAAAAAgAAAA8AAAAAAAAAAAAAAIAB9Q"
    "EAAGFyY2hpdmUvdmVyc2lvblBLBQYAAAAABgAGAHcBAAAmAgAAAAA="
)


def same(a, b):
    if isinstance(a, torch.Tensor):
        assert a.dtype == b.dtype and a.shape == b.shape and type(a) is type(b) and a.requires_grad == b.requires_grad
        np.testing.assert_array_equal(*(t.detach().float().numpy() if t.dtype == torch.bfloat16 else t.detach().numpy()
                                        for t in (a, b)))
    elif isinstance(a, dict):
        assert list(a) == list(b)
        for k in a:
            same(a[k], b[k])
    elif isinstance(a, (list, tuple)):
        assert type(a) is type(b) and len(a) == len(b)
        for x, y in zip(a, b, strict=True):
            same(x, y)
    else:
        assert a == b


def through(obj, **options):
    file = io.BytesIO()
    torch.save(obj, file)
    file.seek(0)
    return torch.load(file, **options)


@given(hnp.arrays(st.sampled_from(DTYPES), hnp.array_shapes(min_dims=0, min_side=0, max_side=4)))
def test_round_trip(array):
    same(torch.from_numpy(array.copy()), through(torch.from_numpy(array.copy())))


def test_round_trip_of_what_programs_keep():
    obj = {
        "model": nn.Linear(2, 3).state_dict(), "bf16": torch.ones(3).to(torch.bfloat16), "across": torch.ones(2, 3).t(),
        "parameter": nn.Parameter(torch.zeros(2), requires_grad=False), "dtype": torch.float16, "epoch": 3,
        "nested": [1.5, None, (True, "text"), {2: b"bytes"}], "ordered": collections.OrderedDict(a=1),
        "wanted": torch.ones(1, requires_grad=True),
    }
    same(obj, through(obj))
    optimizer = torch.optim.Adam(nn.Linear(2, 3).parameters())
    assert through(optimizer.state_dict())["param_groups"] == optimizer.state_dict()["param_groups"]


def test_tensors_may_share_and_move():
    t = torch.arange(4.0)
    found = through([t, t], map_location="null")
    assert found[0].device == found[1].device != t.device and found[0].cpu().tolist() == t.tolist()


def test_file_of_pytorch():
    found = torch.load(io.BytesIO(THEIRS))
    np.testing.assert_array_equal(found["w"].numpy(), np.arange(6, dtype="f4").reshape(2, 3).T)
    assert found["n"] == [1, "x"] and isinstance(found["p"], nn.Parameter) and found["p"].dtype == torch.float64


def test_records_are_aligned(tmp_path):
    """So that PyTorch can map them."""
    path = tmp_path / "a.pt"
    torch.save({"a": torch.ones(3), "b": torch.ones(5)}, path)
    with zipfile.ZipFile(path) as archive:
        for info in archive.infolist():
            header = path.read_bytes()[info.header_offset : info.header_offset + 30]
            begin = info.header_offset + 30 + int.from_bytes(header[26:28], "little") + int.from_bytes(header[28:30], "little")
            assert begin % 64 == 0 and info.compress_type == zipfile.ZIP_STORED


class Runs:
    def __reduce__(self):
        return os.getenv, ("HOME",)


def test_code_is_refused():
    with pytest.raises(pickle.UnpicklingError, match="weights_only=False"):
        through({"x": Runs()})
    assert through({"x": Runs()}, weights_only=False) == {"x": os.getenv("HOME")}


def test_whole_modules(tmp_path):
    net = nn.Sequential(nn.Linear(2, 3), nn.ReLU())
    found = through(net, weights_only=False)
    same(net.state_dict(), found.state_dict())
    assert repr(found) == repr(net)


@pytest.mark.parametrize("content", [b"", b"text", b"PK\x03\x04 and no more"])
def test_other_files_are_refused(tmp_path, content):
    for name in ("a.pt", "a.safetensors"):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(RuntimeError, match=r"torch\.load"):
            torch.load(tmp_path / name)
    with zipfile.ZipFile(tmp_path / "b.pt", "w") as archive:
        archive.writestr("x", "y")
    with pytest.raises(RuntimeError, match=r"no data\.pkl"):
        torch.load(tmp_path / "b.pt")
    with pytest.raises(FileNotFoundError):
        torch.load(tmp_path / "none.pt")


@pytest.mark.parametrize("entry, words", [
    (1, "it is 1"), ({}, "no dtype and no shape and no data_offsets"), ({"dtype": "F32"}, "no shape"),
    ({"dtype": "F99"}, "'F99' is none of"), ({"dtype": ["F32"]}, "is none of"),
    ({"shape": [-1]}, r"shape is \[-1\]"), ({"shape": [2.0]}, "shape is"), ({"shape": 2}, "shape is 2"), ({"shape": [True, 2]}, "shape is"),
    ({"shape": [3]}, r"shape \[3\] of F32 takes 12 bytes, its data_offsets hold 8"), ({"shape": [1 << 62, 4]}, "takes"),
    ({"shape": [1 << 70]}, "shape is"), ({"data_offsets": [0]}, "1 numbers, not 2"), ({"data_offsets": [0, 4, 8]}, "3 numbers"),
    ({"data_offsets": [4, 12]}, "bytes 4 to 12 are not in the 8"), ({"data_offsets": [8, 0]}, "bytes 8 to 0"),
    ({"data_offsets": [-8, 0]}, "data_offsets is"), ({"data_offsets": None}, "data_offsets is None"),
])  # fmt: skip
def test_safetensors_entries_that_cannot_be(entry, words, tmp_path):
    whole = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}
    if isinstance(entry, dict) and len(entry) == 1 and words != "no shape":
        entry = {**whole, **entry}
    text = json.dumps({"good": whole, "bad one": entry}).encode()
    path = tmp_path / "a.safetensors"
    path.write_bytes(len(text).to_bytes(8, "little") + text + bytes(8))
    with pytest.raises(ValueError, match=words) as e:
        torch.load(path)
    assert str(path) in str(e.value) and "'bad one'" in str(e.value)


def test_safetensors(tmp_path):
    state = {"b": torch.ones(3, dtype=torch.bool), "w": torch.randn(2, 3), "e": torch.zeros(0, 2), "s": torch.tensor(2),
             "h": torch.ones(2).to(torch.bfloat16)}
    torch.save(state, tmp_path / "ours.safetensors")
    found = torch.load(tmp_path / "ours.safetensors")
    for k in state:
        same(state[k], found[k])
    del state["h"]  # NumPy has no bfloat16
    torch.save(state, tmp_path / "ours.safetensors")
    theirs = safetensors.numpy.load_file(tmp_path / "ours.safetensors")
    assert set(theirs) == set(state)
    for k in state:
        np.testing.assert_array_equal(theirs[k], state[k].numpy())
    safetensors.numpy.save_file(theirs, tmp_path / "theirs.safetensors", {"a": "b"})
    found = torch.load(tmp_path / "theirs.safetensors")
    for k in state:
        same(state[k], found[k])
    with pytest.raises(TypeError, match="'n' is a int"):
        torch.save({"n": 1}, tmp_path / "n.safetensors")
