"""Modules that PyTorch has saved whole work here, and functions are bound to instances where PyTorch binds them."""

import copy
import inspect
import json
import os
import pathlib
import pickle
import subprocess
import sys

import numpy as np
import pytest

import treadle
import treadle.torch as torch
from treadle.torch import nn
from treadle.torch.nn import functional as F

HERE = pathlib.Path(__file__).parent
THEIRS = json.loads((HERE / "torch_whole.json").read_text())


@pytest.fixture(scope="module")
def ours(tmp_path_factory):
    out = tmp_path_factory.mktemp("whole") / "ours.json"
    env = {**os.environ, "PYTHONPATH": str(pathlib.Path(treadle.__file__).parents[1])}
    command = [sys.executable, "-m", "treadle", HERE / "torch_whole.py", HERE / "torch_whole.json", out]
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(out.read_text())


@pytest.mark.parametrize("name", THEIRS["whole"])
def test_whole_modules_of_pytorchs_files(ours, name):
    np.testing.assert_allclose(ours["whole"][name], THEIRS["whole"][name][1], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("home", THEIRS["binding"])
def test_functions_are_bound_where_pytorch_binds_them(ours, home):
    theirs, own = THEIRS["binding"][home], ours["binding"][home]
    assert len(own) > 15 and {n: own[n] for n in own if n in theirs} == {n: theirs[n] for n in own if n in theirs}


def test_a_function_is_found_again_by_its_name():
    for f in (torch.relu, torch.absolute, F.gelu, F.relu, F.cross_entropy, torch.fft.fft, torch.linalg.svd, torch.einsum):
        assert pickle.loads(pickle.dumps(f)) is f and copy.deepcopy([f])[0] is f
    assert inspect.isbuiltin(torch.relu) and not inspect.isfunction(F.gelu) and inspect.isfunction(F.relu)
    assert list(inspect.signature(torch.add).parameters)[:2] == ["input", "other"]
    assert F.conv2d is torch.conv2d and "relu" in repr(torch.relu) and torch.relu.__name__ == "relu"


LATE = """
import treadle.torch as torch, treadle.torch.nn.functional as F
class Held:
    product, layer = torch.matmul, F.linear
    def __init__(self, by=torch.mm):
        self.all = [self.product, self.layer, by, [torch.bmm][0]]
held, x = Held(), torch.ones(2, 2)
with torch.autocast("cpu"):
    assert [f(x, x).dtype for f in held.all[:3]] == [torch.bfloat16] * 3, [f(x, x).dtype for f in held.all]
    assert held.all[3](x[None], x[None]).dtype is torch.bfloat16
assert torch.vmap(held.product)(torch.ones(3, 2, 2), torch.ones(3, 2, 2)).tolist() == [[[2, 2]] * 2] * 3
w = torch.ones(2, 2, requires_grad=True)
with torch.autograd.graph.saved_tensors_hooks(lambda t: t * 2, lambda t: t):
    loss = held.product(w, x).sum()
loss.backward()
assert w.grad.tolist() == [[4, 4]] * 2, w.grad
"""


def test_functions_that_a_program_has_kept_follow_the_mode():
    """Of autocast, of vmap and of hooks on saved tensors, wherever it keeps them and whenever it has got them."""
    done = subprocess.run([sys.executable, "-c", LATE], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_class_is_asked_about_the_function_that_programs_see():
    class Asked:
        seen = []

        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            cls.seen.append(func)
            return 7

    functions = [torch.add, torch.relu, F.linear, F.gelu, torch.linalg.det, torch.fft.fft]
    for f in functions:
        assert f(*[Asked()] * (1 + (f in (torch.add, F.linear)))) == 7
    assert Asked.seen == functions


class _Halved(nn.Conv2d):
    def _conv_forward(self, input, weight, bias):
        return super()._conv_forward(input, weight / 2, None)


class _Any(nn.BatchNorm1d):
    def _check_input_dim(self, input):
        if input.dim() != 4:
            raise ValueError("four dims")


class _Still(nn.TransformerEncoderLayer):
    def _sa_block(self, x, attn_mask, key_padding_mask, is_causal=False):
        return x * 0

    def _ff_block(self, x):
        return x * 2


class _Alone(nn.TransformerDecoderLayer):
    def _mha_block(self, x, mem, attn_mask, key_padding_mask, is_causal=False):
        return mem

    def _sa_block(self, x, attn_mask, key_padding_mask, is_causal=False):
        return x

    _ff_block = _Still._ff_block


def test_parts_of_modules_that_a_subclass_replaces_are_called():
    x = torch.randn(2, 3, 5, 5)
    plain, halved = nn.Conv2d(3, 2, 3, bias=False), _Halved(3, 2, 3)
    halved.load_state_dict(plain.state_dict(), strict=False)
    assert torch.allclose(halved(x), plain(x) / 2)
    assert _Any(3)(x).shape == x.shape
    with pytest.raises(ValueError, match="four dims"):
        _Any(3)(x[0])
    y = torch.randn(4, 2, 6)
    encoder, decoder = _Still(6, 2, 8, norm_first=True), _Alone(6, 2, 8, norm_first=True)
    for norm in ("norm1", "norm2", "norm3"):
        setattr(encoder, norm, nn.Identity())
        setattr(decoder, norm, nn.Identity())
    assert torch.allclose(encoder(y), 3 * y) and torch.allclose(decoder(y, y * 10), 3 * (2 * y + 10 * y))


def test_layers_of_a_stack_get_their_masks_by_name():
    class Encoder(nn.TransformerEncoderLayer):
        def forward(self, src, src_key_padding_mask=None, is_causal=None, src_mask=None):
            return src + src_mask

    class Decoder(nn.TransformerDecoderLayer):
        def forward(self, tgt, memory, **masks):
            assert list(masks.values()).count(None) == 3
            return tgt + masks["memory_mask"] + memory

    x, mask = torch.ones(3, 1, 4), torch.ones(3, 1, 4)
    assert nn.TransformerEncoder(Encoder(4, 2, 4), 2, enable_nested_tensor=False)(x, mask).unique().tolist() == [3]
    assert nn.TransformerDecoder(Decoder(4, 2, 4), 2)(x, x, memory_mask=mask).unique().tolist() == [5]


def test_an_expanded_distribution_of_a_subclass_has_what_the_subclass_put_there():
    class Shifted(torch.distributions.Normal):
        def __init__(self, loc, scale, by):
            self.by = by
            super().__init__(loc, scale)

        def expand(self, batch_shape, _instance=None):
            new = self._get_checked_instance(Shifted, _instance)
            new.by = self.by + 1
            return super().expand(batch_shape, _instance=new)

    made = Shifted(torch.zeros(2), torch.ones(2), 5).expand((3, 2))
    assert type(made) is Shifted and made.by == 6 and made.loc.shape == (3, 2) and made.batch_shape == (3, 2)

    class Other(torch.distributions.Normal):
        def __init__(self, x):
            super().__init__(x, x)

    with pytest.raises(NotImplementedError, match=r"must also define a custom \.expand"):
        Other(torch.ones(1))._get_checked_instance(torch.distributions.Normal)


def test_names_of_a_sequence_before_an_insertion_stay():
    net = nn.Sequential()
    net.add_module("first", nn.Identity())
    net.append(nn.ReLU())
    net.insert(1, nn.Tanh())
    assert list(dict(net.named_children())) == ["first", "1", "2"] and isinstance(net[1], nn.Tanh)


def test_old_flags_of_losses_are_their_reduction():
    with pytest.warns(UserWarning, match="reduction='none'"):
        loss = nn.CrossEntropyLoss(reduce=False)
    assert loss.reduction == "none" and not hasattr(loss, "reduce")
    with pytest.warns(UserWarning, match="reduction='sum'"):
        assert F.l1_loss(torch.ones(3), torch.zeros(3), size_average=False) == 3


WARNS = {
    "tensor of a tensor": ("torch.tensor(torch.ones(1))", "recommended to use sourceTensor"),
    "upsample": ("nn.functional.upsample(torch.ones(1, 1, 2), scale_factor=2)", "upsample` is deprecated"),
    "meshgrid": ("torch.meshgrid(torch.ones(1), torch.ones(1))", "required to pass the indexing"),
    "cross": ("torch.cross(torch.ones(3), torch.ones(3))", "without specifying the dim"),
    "read-only": ("torch.from_numpy(np.broadcast_to(np.ones(1), 2))", "not writable"),
}


@pytest.mark.parametrize("name", WARNS)
def test_warnings_that_pytorch_gives(name, monkeypatch):
    text, match = WARNS[name]
    monkeypatch.setattr(sys.modules["treadle.torch._device"], "_told", set())
    with pytest.warns(UserWarning, match=match):
        eval(text)


def test_a_type_that_is_the_class_of_tensors():
    assert torch.ones(2, dtype=torch.int64).type(torch.Tensor).dtype is torch.float32


@pytest.mark.parametrize(
    "name, args",
    [("Linear", (2, 2)), ("Bilinear", (2, 2, 2)), ("Conv2d", (1, 1, 1)), ("ConvTranspose1d", (1, 1, 1)), ("Embedding", (3, 2)),
     ("BatchNorm1d", (2,)), ("InstanceNorm1d", (2,)), ("LayerNorm", (2,)), ("GroupNorm", (1, 2)), ("RMSNorm", (2,)),
     ("LSTM", (2, 2)), ("GRUCell", (2, 2)), ("PReLU", ())],
)  # fmt: skip
def test_modules_get_their_first_values_from_a_subclass(name, args):
    base, calls = getattr(nn, name), []

    class Own(base):
        def reset_parameters(self):
            super().reset_parameters()
            calls.append(1)
            for p in self.parameters():
                nn.init.constant_(p, 7.0)

    made = Own(*args)
    assert calls == [1] and all(p.unique().tolist() == [7] for p in made.parameters())
    base.reset_parameters(made)
    plain = base(*args)
    if name.endswith("Norm") or name == "PReLU":
        assert all(torch.equal(a, b) for a, b in zip(made.parameters(), plain.parameters(), strict=True))


def test_modules_call_the_function_that_a_program_has_put_there(monkeypatch):
    monkeypatch.setattr(F, "relu", lambda x, inplace=False: x * 0 + 7)
    assert nn.ReLU()(torch.ones(2)).tolist() == [7, 7] and nn.ReLU(True)(torch.ones(2)).tolist() == [7, 7]


def test_attributes_of_parameters_are_saved(tmp_path):
    net = nn.Linear(2, 2)
    net.weight.rate, net.weight.mask = 2, torch.ones(2)
    torch.save(net, tmp_path / "net.pt")
    torch.save(net.weight, tmp_path / "weight.pt")
    for p in (torch.load(tmp_path / "net.pt", weights_only=False).weight, torch.load(tmp_path / "weight.pt")):
        assert type(p) is nn.Parameter and p.rate == 2 and torch.equal(p.mask, torch.ones(2)) and torch.equal(p, net.weight)
    net.weight.backward = 3  # an attribute that hides a method: only files that are trusted may have it
    torch.save(net.weight, tmp_path / "weight.pt")
    with pytest.raises(pickle.UnpicklingError, match="no attribute 'backward'"):
        torch.load(tmp_path / "weight.pt")
