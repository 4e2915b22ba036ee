"""torch.save and torch.load: round trips, safetensors, files of PyTorch's, files that are none."""

import base64
import collections
import io
import json
import os
import pickle
import pickletools
import zipfile
import zlib

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

# torch.save({"x": x, "t": x.t(), "h": torch.tensor([1.5, -2], dtype=torch.bfloat16), "p": nn.Parameter(ones of float64), "n": [1, "x"]},
# …, _use_new_zipfile_serialization=False) of x = torch.arange(6.).reshape(2, 3), and torch.save of a sparse tensor, of PyTorch 2.15.
OLD = zlib.decompress(base64.b85decode(
    r"c-nQ5%Wl*#6owNgGXsW}a;IF&J>@bg(@YDisZiC8RW4zZO%<gXs|hl3j&o80Ql;5+X!{IZu;elNI_%gYvA{{D6(bE+?8wLV|NXx`AO}?ZIb8ca"
    r"_wmQO+4g{}|FrbD1BT<z7>1E4i87KR*ybuvWD2I<;7{olkst~l@U)+VDUdy%>LPy0c#tPwc@EYN*pA=O#XOb@p}~l6=~<E@G@0$&rG`wmpvCN>"
    r"IA)r<`Weg!rHbNqP+%f*8YsS5B%&W6Pjjh)?G6RvIDV@X*E_>44px1Ht_d09hq_3?_NVopS8lhv;4Ut^i=CzA4m2tsQC4Ul%{K_G_sn2~SwlF*"
    r"EM^Yj^nRox3m&0PoYS|e&lT^lCJ|Dg^B$Z*IP1YwWfoyN)?Q*Op2#{E*NmBxVKFj<^UN$!7xv>)>LS7=4=z_yF<hyoMp0f@Szauiq`5jq=q$J;"
    r";hH88O_;4x?80?s?!t{){U*XK4{lfL8Ql5Lt!AMLKXK%W!rYjFRatBbeuBR{9?*T+bzQhO!rvd^AC&lqHU1I8V-K9YYBK)~o_O%I@{+={4S4P_"
    r"Gd6ko^c&^VPsnCYx>7R9hQ-^&sM}G`IBFXIwn0x1EBe!Yp!@d~GPeG!cl`egQJKgB"
))
SPARSE = zlib.decompress(base64.b85decode(
    r"c-o~^J#W)M7(UyLle!^IOKE8-?HVLVW2Z@+B4}m6i;+lEfg%_z*D;AzH}2V&qIRl;QmHEgBmV&w1{VGR13McNVqjrl<StH9`$|$MCtD|3@AGkf"
    r"-^Z?K+!z3f1UR$OU>X>n*|hhqmAZk9?B0%}Dk<<ZvW{32xwtB;w~_7mg6>({ZQH5q{+{9amX55J?|K3Ry)xhOY{Rh+4P?75L2p<{cZ>tKjReTl"
    r"(pa`v7NAYng=`0MRXCOzq7w+{`;q`-nM^H?DSTXMG%Uym5aFTQYHS711Q@R|xFiP?H4g9QUK@^UJc7ce1~gXVj^TvHY0NQ9o|vZVIF?C_`obfx"
    r"Zh2PyzHMTsmu^&H3c<-LOgFJ;voEANu7L(hQ(YwyPB+Ij4#CSrf$P8-jp@KECrv^!i{M-pUhToR>_ZHj4{R)S;I%4TJVEgKF<h#`<!nWZC!Xxa"
    r"p6y^-a#x17ZVorE-@5E`*V{FazHfOxK8dO%BOMe8>-!&HUJ|e59?rS|N~f&7cdX-HHd?z@3#m$;8jZhN#Z_Wp{RRBSVhMJnfhn*)FtB}qESK~|"
    r"Rc>EIx4#@4A;%&fI(NR#^H_x+=^+K~MpChoQ<b&<FhKJ&Lw2^e6Q@5PthI7vh|h646Ll)8N*bKiKU&Ad8~EBF+;3l}-X-ya<Vfzx&?pQB>q7m{"
    r"3q<wvo5thw`@aOF(*f)rDe^VZ?YgRD|ItLQP!z?ST#)ibv0N<W3Q~DhEEHt9ke4O7T#_VtHDAh?iOc2hzdmKKk4)Dk(``xLXE>PYGtTMnD2)yW"
    r"a4v%Uz<^;<rb)sfT8IXR1tXG6^Mr#i72$am;u!>xhKHv!6@kxkfXWVy4NqSb`;o?qG&Vd#lM(FV7@((>28Ua_6g_hY{O6&oXgq(jKcd{N0Wv}D"
    r"6TJ+}v3`_!^0xx_;-^usXfZy(B)auM?QaghsHp"
))


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


def test_devices_are_pytorchs():
    """A file that holds a device names torch.device, which PyTorch has too."""
    file = io.BytesIO()
    torch.save({"cpu": torch.device("cpu"), "gpu": torch.device("cuda:1"), "dtype": torch.bfloat16}, file)
    with zipfile.ZipFile(file) as archive:
        names = [v for op, v, _ in pickletools.genops(archive.read("archive/data.pkl")) if op.name == "GLOBAL"]
    assert names == ["torch device", "torch device", "torch bfloat16"]
    found = torch.load(file)
    assert found == {"cpu": torch.device("cpu"), "gpu": torch.device("cuda:1"), "dtype": torch.bfloat16}


def test_tensors_may_share_and_move():
    t = torch.arange(4.0)
    found = through([t, t], map_location="null")
    assert found[0].device == found[1].device != t.device and found[0].cpu().tolist() == t.tolist()


def test_file_of_pytorch():
    found = torch.load(io.BytesIO(THEIRS))
    np.testing.assert_array_equal(found["w"].numpy(), np.arange(6, dtype="f4").reshape(2, 3).T)
    assert found["n"] == [1, "x"] and isinstance(found["p"], nn.Parameter) and found["p"].dtype == torch.float64


def test_file_before_1_6():
    found = torch.load(io.BytesIO(OLD))
    assert list(found) == ["x", "t", "h", "p", "n"] and found["n"] == [1, "x"] and found["h"].tolist() == [1.5, -2]
    assert isinstance(found["p"], nn.Parameter) and found["p"].dtype == torch.float64 and found["p"].tolist() == [1, 1]
    np.testing.assert_array_equal(found["t"].numpy(), np.arange(6, dtype="f4").reshape(2, 3).T)
    found["x"][0, 1] = 9  # storages are shared
    assert found["t"][1, 0] == 9
    with pytest.raises(RuntimeError, match="elements where 6 were expected"):
        at = OLD.index((6).to_bytes(8, "little") + np.arange(2, dtype="f4").tobytes())
        torch.load(io.BytesIO(OLD[:at] + (5).to_bytes(8, "little") + OLD[at + 8 :]))


def test_sparse_tensors():
    found = torch.load(io.BytesIO(SPARSE))
    assert found.to_dense().tolist() == [[0, 3, 0], [0, 0, 3]] and found._nnz() == 3 and not found.is_coalesced()
    again = through({"s": found.coalesce(), "size": torch.Size([2, 3]), "layout": torch.sparse_coo})
    assert again["s"].to_dense().tolist() == [[0, 3, 0], [0, 0, 3]] and again["s"].is_coalesced()
    assert again["size"] == (2, 3) and again["layout"] is torch.sparse_coo


def test_environment_decides(monkeypatch):
    net = nn.Linear(1, 1)
    file = io.BytesIO()
    torch.save(net, file)

    def load(**options):
        file.seek(0)
        return torch.load(file, **options)

    monkeypatch.setenv("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD", "1")
    same(load().state_dict(), net.state_dict())
    with pytest.raises(pickle.UnpicklingError):
        load(weights_only=True)
    monkeypatch.setenv("TORCH_FORCE_WEIGHTS_ONLY_LOAD", "1")
    with pytest.raises(pickle.UnpicklingError):
        load(weights_only=False)


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
    ({"shape": [3]}, r"shape \[3\] of F32 takes 12 bytes, its data_offsets hold 8"), ({"shape": [1 << 62, 4]}, r"\[4611686018427387904, 4\] of F32 is too big"),
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
