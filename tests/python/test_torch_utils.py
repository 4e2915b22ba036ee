"""torch.utils, hub, jit, compiler, futures, library, storages, accelerator and cpu: what they give and refuse."""

import collections
import copy
import os
import pickle
import struct
import sys
import threading
import zlib

import numpy as np
import pytest

import treadle.torch as torch
from treadle import _core
from treadle.torch.utils import _pytree as tree
from treadle.torch.utils import benchmark, tensorboard

GPU = torch.cuda.is_available()


# ---- devices ----


def test_accelerator():
    a = torch.accelerator
    assert a.is_available() == GPU and a.device_count() == torch.cuda.device_count()
    if GPU:
        assert (
            a.current_accelerator() == torch.device("cuda") and a.current_device_index() == torch.cuda.current_device()
        )
        with a.device_index(0):
            a.synchronize()
        assert a.memory_allocated() == torch.cuda.memory_allocated() and len(a.get_memory_info()) == 2
        return
    assert a.current_accelerator() is None and a.memory_stats() == {} and a.memory_allocated() == 0
    for f in (a.synchronize, a.current_device_index, a.current_stream, a.get_memory_info):
        with pytest.raises(RuntimeError, match="when none is available"):
            f()
    with a.device_index(None):
        assert torch.ones(1).device.type == "cpu"


def test_cpu_has_the_names_of_cuda():
    with torch.cpu.stream(torch.cpu.Stream()):
        torch.cpu.synchronize()
    assert torch.cpu.is_available() and torch.cpu.device_count() == 1 and torch.cpu.current_device() == "cpu"
    with torch.cpu.amp.autocast():
        assert (torch.ones(2, 2) @ torch.ones(2, 2)).dtype == torch.bfloat16
    assert not torch.xpu.is_available() and not torch.mps.is_available() and torch.mtia.device_count() == 0


# ---- trees ----

Pair = collections.namedtuple("Pair", "a b")


def test_trees_go_apart_and_together():
    value = {"x": [1, (2, Pair(3, None))], "y": collections.OrderedDict(z=4), "q": collections.deque([5], 3)}
    leaves, spec = tree.tree_flatten(value)
    assert leaves == [1, 2, 3, None, 4, 5] and spec.num_leaves == 6
    assert tree.tree_unflatten(leaves, spec) == value and tree.tree_structure(value) == spec
    doubled = tree.tree_map_only(int, lambda v: 2 * v, value)
    assert doubled["x"] == [2, (4, Pair(6, None))] and doubled["q"].maxlen == 3
    assert tree.tree_map(lambda a, b: a + b, [1, (2,)], [10, (20,)]) == [11, (22,)]
    assert tree.tree_all(lambda v: v != 7, value) and tree.tree_any_only(int, lambda v: v == 5, value)
    assert tree.tree_leaves([[1], 2], is_leaf=lambda v: isinstance(v, list) and len(v) == 1) == [[1], 2]
    with pytest.raises(ValueError, match="has length 2"):
        tree.tree_unflatten([1, 2], spec)
    with pytest.raises(ValueError, match="mismatch"):
        tree.tree_map(lambda a, b: a, [1, 2], (1, 2))


def test_classes_become_branches():
    class Point:
        def __init__(self, x):
            self.x = x

    tree.register_pytree_node(Point, lambda p: ([p.x], None), lambda values, _: Point(*values))
    assert tree.tree_map(lambda v: v + 1, [Point(3)])[0].x == 4
    with pytest.raises(ValueError, match="already registered"):
        tree.register_pytree_node(Point, None, None)


# ---- times ----


def test_timer_measures_and_compares():
    timer = benchmark.Timer(
        "f(x)", globals={"f": lambda x: x * 2, "x": 3}, label="doubling", description="now", num_threads=2
    )
    before = torch.get_num_threads()
    m, other = timer.blocked_autorange(min_run_time=0.01), timer.timeit(50)
    assert torch.get_num_threads() == before and other.number_per_run == 50 and len(other.times) == 1
    assert (
        0 < m.median < 1e-3
        and m.iqr >= 0
        and sum(m.raw_times) >= 0.01
        and "doubling" in repr(m)
        and "2 threads" in repr(m)
    )
    merged = benchmark.Measurement.merge([other, timer.timeit(50)])
    assert len(merged) == 1 and len(merged[0].times) == 2
    text = str(benchmark.Compare([m, other]))
    assert "[ doubling ]" in text and "now" in text and "2 threads:" in text and "f(x)" in text
    assert benchmark.select_unit(0.002) == ("ms", 1e-3) and benchmark.unit_to_english("us") == "microsecond"
    slow = benchmark.Timer("sleep(0.002)", "from time import sleep").timeit(3)
    assert slow.mean >= 0.002
    with pytest.raises(ValueError, match="Measurement"):
        benchmark.Compare([3])
    with pytest.raises(ValueError, match="Python's"):
        benchmark.Timer("1", language="c++")


# ---- event files: read back by the format's definition ----


def _crc(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82F63B78 if crc & 1 else 0)
    crc ^= 0xFFFFFFFF
    return (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF


def _fields(data):
    """{number: [values]} of a protocol buffer."""
    found, at = {}, 0

    def varint():
        nonlocal at
        n = shift = 0
        while True:
            byte = data[at]
            at += 1
            n |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return n

    while at < len(data):
        key = varint()
        kind = key & 7
        if kind == 0:
            value = varint()
        else:
            size = {1: 8, 5: 4}.get(kind) or varint()
            value = data[at : at + size]
            at += size
            value = struct.unpack("<d" if kind == 1 else "<f", value)[0] if kind in (1, 5) else value
        found.setdefault(key >> 3, []).append(value)
    return found


def _events(folder):
    """(step, tag, the value's fields) of the files of a folder."""
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        if not os.path.isfile(path):
            continue
        data, at = open(path, "rb").read(), 0
        while at < len(data):
            head, (n,) = data[at : at + 8], struct.unpack_from("<Q", data, at)
            body = data[at + 12 : at + 12 + n]
            assert struct.unpack_from("<I", data, at + 8)[0] == _crc(head)
            assert struct.unpack_from("<I", data, at + 12 + n)[0] == _crc(body)
            at += 16 + n
            event = _fields(body)
            for summary in event.get(5, ()):
                value = _fields(_fields(summary)[1][0])
                yield event.get(2, [0])[0], value[1][0].decode(), value


def test_event_files(tmp_path):
    assert _crc(b"123456789") == ((0xE3069283 >> 15 | 0xE3069283 << 17) + 0xA282EAD8) & 0xFFFFFFFF
    with tensorboard.SummaryWriter(tmp_path) as writer:
        writer.add_scalar("loss", torch.tensor(0.5), 3)
        writer.add_scalar("loss", 0.25, 400)
        writer.add_histogram("w", torch.arange(100.0), 1)
        writer.add_image("dot", torch.tensor([[[0.0, 1.0]], [[0.5, 0.0]], [[0.0, 0.0]]]), 2)
        writer.add_text("note", "héllo", 1)
        writer.add_scalars("both", {"a": 1.0, "b": 2.0}, 7)
        with pytest.raises(AssertionError, match="0D"):
            writer.add_scalar("many", torch.ones(2))
        with pytest.raises(NotImplementedError, match="print"):
            writer.add_graph(None)
    found = list(_events(tmp_path))
    assert [(s, t, v[2][0]) for s, t, v in found if t == "loss"] == [(3, "loss", 0.5), (400, "loss", 0.25)]
    histogram = _fields(next(v for _, t, v in found if t == "w")[5][0])
    assert [histogram[k][0] for k in range(1, 5)] == [0.0, 99.0, 100.0, 4950.0]
    assert sum(np.frombuffer(histogram[7][0], "<f8")) == 100 and len(histogram[6][0]) == len(histogram[7][0])
    image = _fields(next(v for _, t, v in found if t == "dot")[4][0])
    png = image[4][0]
    size = struct.unpack(">I", png[33:37])[0]
    assert (image[1][0], image[2][0], image[3][0]) == (1, 2, 3) and png[:8] == b"\x89PNG\r\n\x1a\n"
    assert list(zlib.decompress(png[41 : 41 + size])) == [0, 0, 127, 0, 255, 0, 0]
    text = next(v for _, t, v in found if t == "note/text_summary")
    assert "héllo".encode() in text[8][0] and b"text" in text[9][0]
    assert [v[2][0] for _, _, v in _events(tmp_path / "both_b")] == [2.0]


# ---- hub, jit ----


def test_hub_loads_local_folders(tmp_path, monkeypatch):
    (tmp_path / "hubconf.py").write_text(
        "import helper\ndependencies = ['numpy']\n\ndef net(n, k=1):\n    'A net.'\n    return helper.made(n, k)\n\ndef _hidden():\n"
        "    pass\n"
    )
    (tmp_path / "helper.py").write_text("def made(n, k):\n    return n, k\n")
    before = list(sys.path)
    assert torch.hub.load(str(tmp_path), "net", 3, k=4, source="local") == (3, 4)
    assert torch.hub.list(str(tmp_path)) == ["net"] and torch.hub.help(str(tmp_path), "net") == "A net."
    assert sys.path == before
    with pytest.raises(RuntimeError, match="Cannot find callable other"):
        torch.hub.load(str(tmp_path), "other", source="local")
    with pytest.raises(ValueError, match="Unknown source"):
        torch.hub.load(str(tmp_path), "net", source="web")
    monkeypatch.setenv("TORCH_HOME", str(tmp_path / "home"))
    with pytest.raises(FileNotFoundError, match="nothing is downloaded"):
        torch.hub.load("owner/name", "net")
    os.makedirs(tmp_path / "home" / "hub" / "checkpoints")
    torch.save({"w": torch.ones(2)}, tmp_path / "home" / "hub" / "checkpoints" / "net.pt")
    assert torch.hub.load_state_dict_from_url("https://nowhere/net.pt?x=1")["w"].tolist() == [1, 1]
    with pytest.raises(NotImplementedError, match=r"other\.pt"):
        torch.hub.load_state_dict_from_url("https://nowhere/other.pt")


class Doubling(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Linear(2, 2)

    def forward(self, x):
        return self.inner(x) * 2


class Own(torch.jit.ScriptModule):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Linear(1, 1)


def triple(x):
    return x * 3


def test_jit_saves_and_loads(tmp_path):
    net = Doubling()
    scripted = torch.jit.script(net)
    assert isinstance(scripted, torch.jit.ScriptModule) and isinstance(scripted, Doubling)
    assert (
        scripted.inner is net.inner
        and scripted.original_name == "Doubling"
        and list(scripted.state_dict()) == list(net.state_dict())
    )
    torch.jit.trace(net, torch.ones(1, 2)).save(tmp_path / "net.ts", _extra_files={"note": "hi"})
    extra = {"note": ""}
    again = torch.jit.load(tmp_path / "net.ts", _extra_files=extra)
    x = torch.randn(3, 2)
    assert torch.equal(again(x), net(x)) and extra["note"] == "hi" and again.training
    torch.jit.save(torch.jit.script(triple), tmp_path / "f.ts")
    assert torch.jit.load(tmp_path / "f.ts")(torch.ones(1)).item() == 3
    assert torch.equal(copy.deepcopy(again)(x), net(x))
    torch.jit.trace(net, example_kwarg_inputs={"x": x})
    with pytest.raises(TypeError):  # the example is tried
        torch.jit.trace(net, (x, x))
    assert Own().original_name == "Own" and pickle.loads(pickle.dumps(Own())).inner.weight.shape == (1, 1)
    with pytest.raises(TypeError, match="script or trace"):
        torch.jit.save(net, tmp_path / "no.ts")
    torch.save(net.state_dict(), tmp_path / "state.pt")
    with pytest.raises(RuntimeError, match="did not write"):
        torch.jit.load(tmp_path / "state.pt")


def test_jit_decorators_and_futures():
    @torch.jit.script
    def add(a, b: int = 2):
        return a + b

    assert add(1) == 3 and isinstance(add, torch.jit.ScriptFunction) and add.__name__ == "add"
    assert torch.jit.ignore(triple)(2) == 6 and torch.jit.ignore(drop=True)(triple)(2) == 6
    assert torch.jit.wait(torch.jit.fork(triple, 4)) == 12 and torch.jit.isinstance([1], list[int])
    with pytest.raises(ZeroDivisionError):
        torch.jit.fork(lambda: 1 / 0).wait()
    assert torch.jit.freeze(Doubling().eval()) is not None
    with pytest.raises(RuntimeError, match="eval"):
        torch.jit.freeze(Doubling())


def test_futures():
    f = torch.futures.Future()
    seen, later = [], f.then(lambda done: done.value() + 1)
    f.add_done_callback(lambda done: seen.append(done.wait()))
    with pytest.raises(RuntimeError, match="not completed"):
        f.value()
    threading.Timer(0.05, f.set_result, (4,)).start()
    assert f.wait() == 4 and later.wait() == 5 and seen == [4] and f.done()
    with pytest.raises(RuntimeError, match="complete again"):
        f.set_result(1)
    bad = torch.futures.Future()
    both = torch.futures.collect_all([f, bad])
    bad.set_exception(KeyError("x"))
    assert [x.done() for x in both.wait()] == [True, True]
    with pytest.raises(KeyError):
        torch.futures.wait_all([f, bad])


def test_compiler_leaves_functions_as_they_are():
    assert torch.compiler.disable(triple) is triple and torch.compiler.disable(recursive=False)(triple) is triple
    assert torch.compile(triple) is triple and not torch.compiler.is_compiling()
    with torch.compiler.set_stance("force_eager"):
        torch.compiler.reset()
    with pytest.raises(ValueError, match="inductor"):
        torch.compiler.set_default_backend("inductor")


def test_a_compiled_module_has_the_names_that_pytorch_gives_it():
    plain = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.Dropout(0.5))
    made = torch.compile(plain, mode="default")
    names = ["_orig_mod.0.weight", "_orig_mod.0.bias"]
    assert list(made.state_dict()) == names == [name for name, _ in made.named_parameters()]
    assert type(made).__name__ == "OptimizedModule" and made._orig_mod is plain and len(list(made.modules())) == 4
    assert repr(made).startswith("OptimizedModule(\n  (_orig_mod): Sequential(\n")
    made.eval()
    assert not plain.training and not made.training and not plain[1].training
    x = torch.ones(4, 3)
    assert torch.equal(made(x), plain(x))
    made.load_state_dict({name: value * 0 for name, value in made.state_dict().items()})
    assert made(x).sum() == 0
    made.note = 5
    assert plain.note == 5
    del made.note
    assert not hasattr(plain, "note")
    again = copy.deepcopy(made)
    assert again._orig_mod is not plain and torch.equal(again(x), plain(x)) and not again.training
    assert pickle.loads(pickle.dumps(made)).state_dict().keys() == made.state_dict().keys()
    made.half()
    assert plain.get_parameter("0.weight").dtype is torch.float16

    @torch.compile
    class Twice(torch.nn.Module):
        pass

    assert isinstance(Twice(), torch.nn.Module) and isinstance(torch.compile()(plain), torch._dynamo.OptimizedModule)


# ---- library ----


def test_operations_of_ones_own():
    calls = []

    @torch.library.custom_op("mine::scaled", mutates_args=())
    def scaled(x: torch.Tensor, k: float) -> torch.Tensor:
        calls.append(k)
        return x.detach() * k

    scaled.register_fake(lambda x, k: torch.empty_like(x))
    x = torch.ones(2, requires_grad=True)
    assert torch.ops.mine.scaled(x, 3.0).tolist() == [3, 3] and calls == [3.0]
    scaled.register_autograd(
        lambda ctx, g: (g * ctx.k, None), setup_context=lambda ctx, inputs, output: setattr(ctx, "k", inputs[1])
    )
    torch.ops.mine.scaled(x, k=4.0).sum().backward()
    assert x.grad.tolist() == [4, 4]
    lib = torch.library.Library("mine", "FRAGMENT")
    lib.define("add_one(Tensor x) -> Tensor")
    lib.impl("add_one", lambda x: x + 1, "CPU")
    assert torch.ops.mine.add_one.default(torch.zeros(1)).item() == 1
    assert torch.library.infer_schema(scaled._kernels[None], mutates_args=()) == "(Tensor x, float k) -> Tensor"
    with pytest.raises(AttributeError, match="no_such"):
        torch.ops.mine.no_such  # noqa: B018
    with pytest.raises(ValueError, match="namespace::name"):
        torch.library.define("nameless", "() -> ()")


# ---- storages ----


def test_storages_are_the_memory_of_tensors():
    x = torch.arange(6.0)
    view = x[2:].reshape(2, 2)
    storage = view.untyped_storage()
    assert storage.nbytes() == 24 and storage.data_ptr() == x.data_ptr() and storage == x.untyped_storage()
    assert view.storage().tolist() == [0, 1, 2, 3, 4, 5] and view.storage_offset() == 2 and len(view.storage()) == 6
    view.storage()[3] = 9.0
    assert x[3].item() == 9 and torch.ones(2).untyped_storage() != x.untyped_storage()
    assert x.untyped_storage()[4:8].tolist() == list(np.float32(1).tobytes())
    made = torch.UntypedStorage(3).fill_(7)
    assert made.tolist() == [7, 7, 7] and made.size() == 3 and torch.TypedStorage(2, dtype=torch.int64).nbytes() == 16
    with pytest.raises(RuntimeError, match="keeps its size"):
        made.resize_(5)


def test_swap_tensors():
    a, b = torch.ones(2), torch.zeros(3)
    a.note = "a"
    torch.utils.swap_tensors(a, b)
    assert a.tolist() == [0, 0, 0] and b.tolist() == [1, 1] and b.note == "a" and not hasattr(a, "note")


def test_reports_and_older_names(tmp_path):
    assert _core.device().name in torch.utils.collect_env.get_pretty_env_info()
    assert torch.utils.dlpack.from_dlpack(torch.ones(2)).tolist() == [1, 1]
    data = np.arange(4, dtype="f4")
    data.tofile(tmp_path / "values")
    shared = torch.from_file(str(tmp_path / "values"), shared=True, size=6)
    assert shared.tolist() == [0, 1, 2, 3, 0, 0]
    assert torch.cond(torch.tensor(True), lambda a: a + 1, lambda a: a, (torch.ones(1),)).item() == 2
    assert torch.while_loop(lambda i: i < 5, lambda i: i + 2, (torch.tensor(0),))[0].item() == 6
    x = torch.tensor([-1.0, 2.0])
    assert torch.selu_(x) is x and x[0].item() < -1
    assert copy.deepcopy(torch.nn.Linear(1, 1)).weight.shape == (1, 1)


def test_deterministic_algorithms_have_one_state():
    """What PyTorch answers after each of these calls: (enabled, warn_only, mode)."""

    def state():
        return (
            torch.are_deterministic_algorithms_enabled(),
            torch.is_deterministic_algorithms_warn_only_enabled(),
            torch.get_deterministic_debug_mode(),
        )

    try:
        torch.use_deterministic_algorithms(True, warn_only=True)
        assert state() == (True, True, 1)
        torch.use_deterministic_algorithms(True)
        assert state() == (True, False, 2)
        torch.set_deterministic_debug_mode("warn")
        assert state() == (True, True, 1)
        torch.use_deterministic_algorithms(False)
        assert state() == (False, False, 0)
        torch.set_deterministic_debug_mode(2)
        assert state() == (True, False, 2)
    finally:
        torch.set_deterministic_debug_mode("default")
    assert state() == (False, False, 0)
