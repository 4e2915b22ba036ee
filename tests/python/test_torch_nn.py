"""treadle.torch.nn: PyTorch's values for the table of torch_nn_cases.py, NumPy's formulas, finite differences, modules.

torch_nn_values.txt holds what PyTorch gave; where TREADLE_TEST_TORCH names a Python that has PyTorch, it is asked again.
"""

import copy
import itertools
import json
import os
import pathlib
import pickle
import subprocess

import numpy as np
import pytest
import torch_nn_cases
import torch_nn_side
from hypothesis import given, settings
from hypothesis import strategies as st

import treadle.torch as torch
from treadle.torch import nn
from treadle.torch.nn import functional as F

HERE = pathlib.Path(__file__).parent
OTHER = os.environ.get("TREADLE_TEST_TORCH")


def groups():
    """The table's expressions by the name that they begin with."""
    found = {}
    for expression in torch_nn_cases.cases():
        found.setdefault(expression.split("(")[0] + "(" + expression.split("(")[1][:12] * (expression[0] in "me"), []).append(expression)
    return found


GROUPS = groups()


@pytest.fixture(scope="module")
def theirs(tmp_path_factory):
    path = HERE / "torch_nn_values.txt"
    if OTHER:
        path = tmp_path_factory.mktemp("torch") / "values.txt"
        subprocess.run([OTHER, HERE / "torch_nn_side.py", path], check=True)
    return dict(map(json.loads, path.read_text(encoding="utf-8").splitlines()))


@pytest.mark.parametrize("name", GROUPS)
def test_agrees_with_pytorch(name, theirs):
    for expression in GROUPS[name]:
        ours = json.loads(json.dumps(torch_nn_side.outcome(torch, expression)))
        assert torch_nn_side.near(ours, theirs[expression]), f"{expression}: {ours}\nPyTorch: {theirs[expression]}"


def test_values_are_those_of_the_cases(theirs):
    assert sorted(theirs) == sorted(torch_nn_cases.cases()), "run torch_nn_side.py torch_nn_values.txt with PyTorch"


# ---- NumPy's formulas ----


def direct_conv(x, w, stride, padding, dilation, groups):
    """A convolution by its definition, output by output."""
    x = np.pad(x, ((0, 0), (0, 0), (padding, padding), (padding, padding)))
    (n, c, h, wide), (o, _, kh, kw) = x.shape, w.shape
    oh, ow = (h - dilation * (kh - 1) - 1) // stride + 1, (wide - dilation * (kw - 1) - 1) // stride + 1
    out = np.zeros((n, o, oh, ow))
    for k, i, j in itertools.product(range(o), range(oh), range(ow)):
        g = k // (o // groups)
        part = x[:, g * (c // groups) : (g + 1) * (c // groups), i * stride : i * stride + dilation * (kh - 1) + 1 : dilation,
                 j * stride : j * stride + dilation * (kw - 1) + 1 : dilation]
        out[:, k, i, j] = (part * w[k]).sum((1, 2, 3))
    return out


@settings(max_examples=12)
@given(st.integers(1, 2), st.integers(0, 2), st.integers(1, 2), st.sampled_from([1, 2]), st.integers(1, 3), st.integers(1, 3))
def test_convolution_by_its_definition(stride, padding, dilation, groups, kh, kw):
    rng = np.random.default_rng(3)
    x, w = rng.standard_normal((2, 4, 6, 7)), rng.standard_normal((2 * groups, 4 // groups, kh, kw))
    a, b = (torch.from_numpy(v).requires_grad_() for v in (x, w))
    got = F.conv2d(a, b, None, stride, padding, dilation, groups)
    want = direct_conv(x, w, stride, padding, dilation, groups)
    np.testing.assert_allclose(got.detach().numpy(), want, atol=1e-12)
    # The gradients are the adjoints: <conv(dx, w), g> = <dx, grad x>, and alike for w.
    g, dx, dw = rng.standard_normal(want.shape), rng.standard_normal(x.shape), rng.standard_normal(w.shape)
    got.backward(torch.from_numpy(g))
    assert (direct_conv(dx, w, stride, padding, dilation, groups) * g).sum() == pytest.approx((a.grad.numpy() * dx).sum())
    assert (direct_conv(x, dw, stride, padding, dilation, groups) * g).sum() == pytest.approx((b.grad.numpy() * dw).sum())


def test_linear_and_cross_entropy_by_numpy(rng):
    x, w, b, y = rng.standard_normal((5, 4)), rng.standard_normal((3, 4)), rng.standard_normal(3), rng.integers(0, 3, 5)
    logits = x @ w.T + b
    p = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    tensors = [torch.from_numpy(v).requires_grad_() for v in (x, w, b)]
    loss = F.cross_entropy(F.linear(*tensors), torch.from_numpy(y))
    loss.backward()
    assert loss.item() == pytest.approx(-np.log(p[np.arange(5), y]).mean())
    g = (p - np.eye(3)[y]) / 5
    for t, want in zip(tensors, (g @ w, g.T @ x, g.sum(0)), strict=True):
        np.testing.assert_allclose(t.grad.numpy(), want, atol=1e-12)


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("shape", [(6, 5), (4, 3, 2, 2)])
def test_cross_entropy_of_classes_is_nll_of_log_softmax(shape, reduction, rng):
    x = torch.from_numpy(rng.standard_normal(shape)).requires_grad_()
    y = torch.from_numpy(rng.integers(0, shape[1], (shape[0], *shape[2:])))
    y[0], given = 1, {"ignore_index": 1, "reduction": reduction}
    losses = F.cross_entropy(x, y, **given), F.nll_loss(torch.log_softmax(x, 1), y, **given)
    assert torch.allclose(*losses)
    for _ in range(2):  # and second derivatives
        grads = [torch.autograd.grad((v * v).sum(), x, create_graph=True)[0] for v in losses]
        assert torch.allclose(*grads)
        losses = grads
    for wrong in (-1, shape[1]):
        y[-1] = wrong
        with pytest.raises(IndexError, match=f"Target {wrong} is out of bounds"):
            F.cross_entropy(x, y, **given)
        there = F.cross_entropy(x.detach().to("null"), y.to("null"), **given)
        assert there.isnan().any().item()  # nothing waits


def test_lstm_cell_by_numpy(rng):
    cell = nn.LSTMCell(3, 2).double()
    x, h, c = rng.standard_normal((4, 3)), rng.standard_normal((4, 2)), rng.standard_normal((4, 2))
    w = {k: v.detach().numpy() for k, v in cell.named_parameters()}
    i, f, g, o = np.split(x @ w["weight_ih"].T + w["bias_ih"] + h @ w["weight_hh"].T + w["bias_hh"], 4, 1)

    def sigmoid(v):
        return 1 / (1 + np.exp(-v))

    want = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
    got_h, got_c = cell(*(torch.from_numpy(v) for v in (x,)), (torch.from_numpy(h), torch.from_numpy(c)))
    np.testing.assert_allclose(got_c.detach().numpy(), want, atol=1e-12)
    np.testing.assert_allclose(got_h.detach().numpy(), sigmoid(o) * np.tanh(want), atol=1e-12)


DIFFERENCES = {
    "conv2d": (lambda x, w: F.conv2d(x, w, stride=2, padding=1), (1, 2, 5, 4), (3, 2, 3, 3)),
    "conv_transpose2d": (lambda x, w: F.conv_transpose2d(x, w, stride=2), (1, 2, 3, 2), (2, 3, 2, 2)),
    "max_pool2d": (lambda x: F.max_pool2d(x, 3, 2, 1), (1, 2, 5, 5)),
    "layer_norm": (lambda x, w: F.layer_norm(x, (4,), w), (3, 4), (4,)),
    "batch_norm": (lambda x: F.batch_norm(x, None, None, training=True), (4, 3)),
    "attention": (F.scaled_dot_product_attention, (2, 3, 4), (2, 3, 4), (2, 3, 4)),
    "embedding": (lambda w: F.embedding(torch.tensor([[1, 0], [1, 2]]), w), (3, 2)),
    "gelu": (F.gelu, (7,)),
    "interpolate": (lambda x: F.interpolate(x, scale_factor=2, mode="bilinear"), (1, 1, 3, 3)),
}


@pytest.mark.parametrize("name", DIFFERENCES)
def test_gradients_by_finite_differences(name, rng):
    function, *shapes = DIFFERENCES[name]
    values = [rng.standard_normal(s) for s in shapes]
    leaves = [torch.from_numpy(v).requires_grad_() for v in values]
    out = function(*leaves)
    weights = rng.standard_normal(tuple(out.shape))
    (out * torch.from_numpy(weights)).sum().backward()
    for i, leaf in enumerate(leaves):
        direction = rng.standard_normal(shapes[i])

        def at(step, i=i, direction=direction):
            moved = [torch.from_numpy(v + step * direction if k == i else v) for k, v in enumerate(values)]
            return (function(*moved).numpy() * weights).sum()

        assert (at(1e-6) - at(-1e-6)) / 2e-6 == pytest.approx((leaf.grad.numpy() * direction).sum(), rel=1e-5, abs=1e-8)


# ---- what is drawn ----


def test_dropout_keeps_the_mean_and_masks_the_gradient():
    torch.manual_seed(1)
    x = torch.ones(4000, requires_grad=True)
    y = F.dropout(x, 0.25)
    y.sum().backward()
    values = y.detach().numpy()
    assert set(np.unique(values).tolist()) == {0.0, np.float32(1 / 0.75)}
    assert abs((values == 0).mean() - 0.25) < 0.03
    np.testing.assert_array_equal(x.grad.numpy(), values)  # one mask, forward and backward
    channels = F.dropout2d(torch.ones(20, 30, 2, 2), 0.5).numpy()
    assert (channels == channels[:, :, :1, :1]).all() and 0.3 < (channels == 0).mean() < 0.7


@pytest.mark.parametrize(("name", "deviation"), [("xavier_uniform_", (2 / 300) ** 0.5), ("xavier_normal_", (2 / 300) ** 0.5),
                                                  ("kaiming_normal_", (2 / 200) ** 0.5), ("trunc_normal_", 0.88)])
def test_initial_values(name, deviation):
    torch.manual_seed(0)
    t = getattr(nn.init, name)(torch.empty(100, 200)).numpy()
    assert abs(t.mean()) < 0.03 * deviation + 1e-3 and t.std() == pytest.approx(deviation, rel=0.03)


def test_orthogonal_and_sparse_initial_values():
    torch.manual_seed(0)
    q = nn.init.orthogonal_(torch.empty(4, 7), 2.0).numpy()
    np.testing.assert_allclose(q @ q.T, 4 * np.eye(4), atol=1e-5)
    assert ((nn.init.sparse_(torch.empty(10, 6), 0.3).numpy() == 0).sum(0) == 3).all()
    np.testing.assert_array_equal(nn.init.eye_(torch.empty(2, 3)).numpy(), np.eye(2, 3))


# ---- modules ----


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(3, 4)
        self.norm = nn.BatchNorm1d(4)
        self.scale = nn.Parameter(torch.ones(2))
        self.register_buffer("seen", torch.zeros(1), persistent=False)
        self.layers = nn.ModuleList([nn.Linear(4, 2), self.first])

    def forward(self, x):
        return self.layers[0](torch.relu(self.norm(self.first(x)))) * self.scale


def test_names_and_sharing():
    net = Net()
    assert [n for n, _ in net.named_parameters()] == ["scale", "first.weight", "first.bias", "norm.weight", "norm.bias",
                                                      "layers.0.weight", "layers.0.bias"]
    assert len(list(net.named_parameters(remove_duplicate=False))) == 9
    assert "seen" in dict(net.named_buffers()) and "seen" not in net.state_dict()
    assert [n for n, _ in net.named_children()] == ["first", "norm", "layers"]
    assert net.get_submodule("layers.0") is net.layers[0] and net.get_parameter("first.weight") is net.first.weight
    net.first.weight = None
    assert net.first.weight is None and "first.weight" not in net.state_dict()
    del net.norm
    with pytest.raises(AttributeError, match="no attribute 'norm'"):
        _ = net.norm


def test_state_dict_round_trip_and_copies(tmp_path):
    torch.manual_seed(0)
    net, other = Net(), Net()
    x = torch.randn(5, 3)
    net(x)
    torch.save(net.state_dict(), tmp_path / "net.pt")
    keys = other.load_state_dict(torch.load(tmp_path / "net.pt"))
    assert str(keys) == "<All keys matched successfully>"
    twin, thawed = copy.deepcopy(net), pickle.loads(pickle.dumps(net))
    for module in (net, other, twin, thawed):
        module.eval()
    want = net(x).detach().numpy()
    for module in (other, twin, thawed):
        np.testing.assert_array_equal(module(x).detach().numpy(), want)
        assert module.layers[1] is module.first and isinstance(module.scale, nn.Parameter)
    with torch.no_grad():
        net.scale.add_(1)
    np.testing.assert_array_equal(twin.scale.detach().numpy(), 1)
    net.load_state_dict(other.state_dict(), assign=True)
    assert net.scale.data._array is not None and isinstance(net.scale, nn.Parameter)


def test_conversions_and_modes():
    net = Net()
    assert net.double() is net and {p.dtype for p in net.parameters()} == {torch.float64}
    assert net.norm.num_batches_tracked.dtype == torch.int64
    net.to(torch.float32).to("cpu")
    assert net.first.weight.dtype == torch.float32 and net.first.weight.is_leaf and net.first.weight.requires_grad
    assert not net.eval().norm.training and net.train().norm.training
    net.requires_grad_(False)
    assert not any(p.requires_grad for p in net.parameters())
    net.apply(lambda m: nn.init.constant_(m.weight, 2.0) if isinstance(m, nn.Linear) else None)
    assert (net.first.weight.numpy() == 2).all()
    with pytest.raises(TypeError, match="floating point"):
        net.to(torch.int32)


def test_gradients_are_cleared():
    net = Net()
    net(torch.randn(4, 3)).sum().backward()
    assert all(p.grad is not None for p in net.parameters())
    net.zero_grad(set_to_none=False)
    assert all((p.grad.numpy() == 0).all() for p in net.parameters())
    net.zero_grad()
    assert all(p.grad is None for p in net.parameters())


def test_hooks():
    seen, net = [], nn.Linear(2, 2)
    net.register_forward_pre_hook(lambda m, args: (args[0] * 2,))
    handle = net.register_forward_hook(lambda m, args, out: seen.append(args[0].detach().numpy()))
    net.register_full_backward_hook(lambda m, gi, go: seen.append((gi[0].shape, go[0].numpy())))
    x = torch.ones(3, 2, requires_grad=True)
    net(x).sum().backward()
    assert (seen[0] == 2).all() and seen[1][0] == (3, 2) and (seen[1][1] == 1).all()
    np.testing.assert_allclose(x.grad.numpy(), 2 * net.weight.detach().numpy().sum(0) * np.ones((3, 1)), rtol=1e-6)
    handle.remove()
    with nn.modules.module.register_module_forward_hook(lambda m, args, out: out * 0):
        assert (net(x).detach().numpy() == 0).all()
    net(x)
    assert len(seen) == 2

    def change(m, state, prefix, *rest):
        state[prefix + "weight"] = state.pop(prefix + "kernel")

    net.register_load_state_dict_pre_hook(change)
    net.load_state_dict({"kernel": torch.zeros(2, 2), "bias": torch.zeros(2)})
    assert (net.weight.detach().numpy() == 0).all()


def test_subclass_must_begin_with_init():
    class Bare(nn.Module):
        def __init__(self):
            self.weight = nn.Parameter(torch.zeros(1))

    with pytest.raises(AttributeError, match=r"cannot assign parameters before Module.__init__\(\) call"):
        Bare()


def test_a_module_that_is_replaced_keeps_its_place():
    net = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 4))
    net[0] = nn.Identity()
    assert [type(m) for m in net] == [nn.Identity, nn.ReLU, nn.Linear]
    net = nn.Linear(2, 3)
    net.weight = nn.Parameter(torch.zeros(3, 2))
    assert [n for n, _ in net.named_parameters()] == ["weight", "bias"]


def test_lists_and_dicts():
    layers = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
    assert len(layers[1:]) == 2 and isinstance(layers[-1], nn.Linear) and list(layers[1:].state_dict()) == ["2.weight", "2.bias"]
    layers.append(nn.Tanh()).insert(1, nn.Identity())
    assert [type(m).__name__ for m in layers] == ["Linear", "Identity", "ReLU", "Linear", "Tanh"]
    del layers[1]
    assert len(layers) == 4
    named = nn.ModuleDict({"a": nn.Linear(1, 1)})
    named["b"] = nn.ReLU()
    assert list(named.keys()) == ["a", "b"] and named.pop("a") is not None and "a" not in named
    held = nn.ParameterList([torch.zeros(2), torch.ones(3)])
    assert len(list(held.parameters())) == 2 and held[1].requires_grad


def test_embedding_and_padding():
    table = nn.Embedding(4, 3, padding_idx=0)
    assert (table.weight.detach().numpy()[0] == 0).all()
    table(torch.tensor([[0, 1], [1, 3]])).sum().backward()
    np.testing.assert_array_equal(table.weight.grad.numpy()[:, 0], [0, 2, 0, 1])
    frozen = nn.Embedding.from_pretrained(torch.eye(3))
    assert not frozen.weight.requires_grad and (frozen(torch.tensor([2])).numpy() == [[0, 0, 1]]).all()
    bounded = nn.Embedding(3, 2, max_norm=1.0)
    with torch.no_grad():
        bounded.weight.copy_(torch.full((3, 2), 5.0))
    assert np.linalg.norm(bounded(torch.tensor([1])).detach().numpy()) == pytest.approx(1, rel=1e-5)
    assert (bounded.weight.detach().numpy()[0] == 5).all()


def test_clipping():
    p = nn.Parameter(torch.zeros(4))
    p.grad = torch.tensor([3.0, 4.0, 0.0, 0.0])
    assert nn.utils.clip_grad_norm_([p], 1.0).item() == pytest.approx(5)
    np.testing.assert_allclose(p.grad.numpy(), [0.6, 0.8, 0, 0], rtol=1e-5)
    nn.utils.clip_grad_value_([p], 0.5)
    assert p.grad.numpy().max() == 0.5
    p.grad = torch.full((4,), float("nan"))
    with pytest.raises(RuntimeError, match="non-finite"):
        nn.utils.clip_grad_norm_([p], 1.0, error_if_nonfinite=True)
    vector = nn.utils.parameters_to_vector([p, p])
    assert tuple(vector.shape) == (8,)
    nn.utils.vector_to_parameters(torch.arange(4.0), [p])
    assert p.detach().tolist() == [0, 1, 2, 3]


def test_sequences_of_different_lengths():
    padded = nn.utils.rnn.pad_sequence([torch.ones(2), torch.ones(3)], batch_first=True, padding_value=-1.0)
    assert padded.tolist() == [[1, 1, -1], [1, 1, 1]]
    assert [len(t) for t in nn.utils.rnn.unpad_sequence(padded, [2, 3], True)] == [2, 3]


def test_training_on_the_null_device():
    """The kernels that a GPU would run, interpreted: one step of a small net of every kind of layer."""
    def step(device):
        torch.manual_seed(0)
        net = nn.Sequential(nn.Conv2d(1, 2, 3, padding=1, bias=False), nn.BatchNorm2d(2), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
                            nn.Linear(8, 3)).to(device)
        x = torch.linspace(-1, 1, 2 * 16).reshape(2, 1, 4, 4).to(device)
        optimizer = torch.optim.Adam(net.parameters(), lr=0.1)
        loss = F.cross_entropy(net(x), torch.tensor([0, 2]).to(device))
        loss.backward()
        optimizer.step()
        return [loss.item(), *(p.detach().cpu().numpy() for p in net.parameters())]

    for ours, want in zip(step("null"), step("cpu"), strict=True):
        np.testing.assert_allclose(ours, want, rtol=2e-4, atol=2e-5)


# ---- parametrizations ----


class Doubled(nn.Module):
    def forward(self, x):
        return 2 * x

    def right_inverse(self, y):
        return y / 2


class Symmetric(nn.Module):
    def forward(self, x):
        return x.triu() + x.triu(1).t()


def test_parametrizations_are_computed_when_they_are_read():
    parametrize = nn.utils.parametrize
    layer = nn.Linear(3, 3)
    before = layer.weight.detach().clone()
    assert parametrize.register_parametrization(layer, "weight", Doubled()) is layer
    assert torch.equal(layer.weight, before) and torch.equal(layer.parametrizations.weight.original, before / 2)
    assert isinstance(layer, nn.Linear) and parametrize.type_before_parametrizations(layer) is nn.Linear
    assert parametrize.is_parametrized(layer, "weight") and not parametrize.is_parametrized(layer, "bias")
    parametrize.register_parametrization(layer, "weight", Symmetric())
    assert torch.equal(layer.weight, layer.weight.t())
    layer(torch.ones(2, 3)).sum().backward()
    assert layer.parametrizations.weight.original.grad.tolist() == [[4, 8, 8], [0, 4, 8], [0, 0, 4]]
    with parametrize.cached():
        assert layer.weight is layer.weight
    assert layer.weight is not layer.weight
    with pytest.raises(RuntimeError, match="Symmetric does not implement right_inverse"):
        layer.weight = torch.eye(3)
    now = layer.weight.detach()
    parametrize.remove_parametrizations(layer, "weight")
    assert type(layer) is nn.Linear and list(dict(layer.named_parameters())) == ["bias", "weight"]
    assert torch.equal(layer.weight, now) and isinstance(layer.weight, nn.Parameter)


def test_assigning_sets_the_original_and_what_does_not_fit_is_refused():
    parametrize = nn.utils.parametrize
    layer = parametrize.register_parametrization(nn.Linear(2, 2), "weight", Doubled())
    layer.weight = torch.eye(2)
    assert layer.weight.tolist() == [[1, 0], [0, 1]] and layer.parametrizations.weight.original[0, 0].item() == 0.5
    assert copy.deepcopy(layer).weight.tolist() == [[1, 0], [0, 1]]
    with pytest.raises(ValueError, match="may not change the shape"):
        parametrize.register_parametrization(nn.Linear(2, 2), "weight", nn.Flatten(0))
    with pytest.raises(ValueError, match="with name 'width'"):
        parametrize.register_parametrization(nn.Linear(2, 2), "width", Doubled())
    with pytest.raises(ValueError, match="does not have a parametrization on bias"):
        parametrize.remove_parametrizations(layer, "bias")
    other = parametrize.transfer_parametrizations_and_params(layer, nn.Linear(2, 2))
    assert other.weight.tolist() == [[1, 0], [0, 1]] and other.parametrizations.weight.original is not layer.parametrizations.weight.original


@pytest.mark.parametrize("made", [nn.utils.spectral_norm, nn.utils.parametrizations.spectral_norm])
@pytest.mark.parametrize("layer", [lambda: nn.Linear(5, 4), lambda: nn.ConvTranspose1d(3, 4, 2)])
def test_spectral_norms_are_one_after_enough_iterations(made, layer):
    torch.manual_seed(0)
    layer = made(layer(), n_power_iterations=100)
    x = torch.rand(2, 5) if isinstance(layer, nn.Linear) else torch.rand(1, 3, 5)
    layer(x)
    rows = layer.weight.detach()
    rows = rows if rows.dim() == 2 else rows.transpose(0, 1).reshape(4, -1)
    assert torch.linalg.svdvals(rows)[0].item() == pytest.approx(1, abs=1e-5)
    before = {k: v.clone() for k, v in layer.named_buffers()}
    layer.eval()(x).sum().backward()
    assert all(torch.equal(v, before[k]) for k, v in layer.named_buffers())
    assert all(p.grad is not None for p in layer.parameters())


def test_norms_before_the_call_can_be_removed():
    layer = nn.utils.weight_norm(nn.Linear(3, 2))
    weight = layer.weight.detach().clone()
    with pytest.raises(RuntimeError, match="Cannot register two weight_norm hooks on the same parameter weight"):
        nn.utils.weight_norm(layer)
    nn.utils.remove_weight_norm(layer)
    assert torch.allclose(layer.weight, weight) and list(dict(layer.named_parameters())) == ["bias", "weight"]
    layer = nn.utils.spectral_norm(layer)
    for _ in range(20):  # power iterations
        layer(torch.ones(1, 3))
    layer = nn.utils.remove_spectral_norm(layer)
    assert torch.linalg.svdvals(layer.weight.detach())[0].item() == pytest.approx(1, abs=0.05)
    assert not list(layer.named_buffers()) and layer(torch.ones(1, 3)).shape == (1, 2)


def test_an_encoder_in_evaluation_is_zero_at_padding():
    layer = nn.TransformerEncoderLayer(8, 2, 16, 0.0, batch_first=True)
    encoder = nn.TransformerEncoder(layer, 2).eval()
    x, padding = torch.randn(2, 4, 8), torch.tensor([[False, False, True, True], [False] * 4])
    with torch.no_grad():
        y = encoder(x, src_key_padding_mask=padding)
        whole = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        whole.load_state_dict(encoder.state_dict())
        full = whole.eval()(x, src_key_padding_mask=padding)
        holes = encoder(x, src_key_padding_mask=padding.flip(1))
    assert not y[0, 2:].any() and full[0, 2:].all()
    assert torch.allclose(y[~padding], full[~padding], atol=1e-6)
    assert holes.all()  # padding in front is computed, and so is everything in training or with gradients
    assert encoder(x, src_key_padding_mask=padding).all()


def test_a_transformer_takes_hints_that_masks_are_causal():
    model = nn.Transformer(8, 2, 1, 1, 16, 0.0, batch_first=True)
    x, mask = torch.randn(2, 3, 8), nn.Transformer.generate_square_subsequent_mask(3)
    kwargs = {"src_mask": mask, "tgt_mask": mask, "memory_mask": mask}
    hinted = model(x, x, **kwargs, src_is_causal=True, tgt_is_causal=True, memory_is_causal=True)
    assert torch.equal(hinted, model(x, x, **kwargs))
