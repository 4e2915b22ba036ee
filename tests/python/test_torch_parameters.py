"""Functions of torch and methods of tensors take PyTorch's parameters, by their names and in their order."""

import inspect
import pathlib
import re

import numpy as np
import pytest

import treadle.torch as torch
from treadle.torch.nn import functional as F

FORMS = [
    line.split()
    for line in (pathlib.Path(__file__).parent / "torch_parameters.txt").read_text().splitlines()
    if not line.startswith("#")
]
# Calls with these arguments do something, whatever they are.
EFFECTS = {"set_printoptions"}


def _made(cls):
    """An instance of a class of modules, of the fewest and smallest numbers that do."""
    for count in range(5):
        try:
            return cls(*[2] * count)
        except (TypeError, ValueError, AttributeError):
            pass


def _function(name):
    owner, _, name = name.rpartition(".")
    if name == "forward":
        owner = _made(getattr(torch.nn, owner.removeprefix("nn."), None))
    else:
        owner = {"Tensor": torch.ones(2, 3), "torch": torch, "nn.functional": F}[owner]
    return getattr(owner, name, None)


def test_parameters_by_name():
    """Each form of each function takes each of its names: what it says about the arguments is not that it does not."""
    wrong = []
    for name, *parameters in FORMS:
        f = _function(name)
        if f is None or name.rpartition(".")[2] in EFFECTS:
            continue
        at = parameters.index("*") if "*" in parameters else len(parameters)
        for more in ((), *((p,) for p in parameters[at + 1 :])):
            try:
                f(**dict.fromkeys((*parameters[:at], *more), Unusable()))
            except TypeError as error:
                if re.search("unexpected keyword|no keyword|multiple values|required positional", str(error)):
                    wrong.append(f"{name}: {error}")
            except Exception:  # about their values
                pass
    assert not wrong


class Unusable:
    """An argument that no function has a use for."""

    __hash__ = None


def _places(f):
    """The names of f's parameters by position; None: it takes any number."""
    kinds = [p.kind for p in inspect.signature(f).parameters.values()]
    if inspect.Parameter.VAR_POSITIONAL in kinds:
        return None
    return [n for n, p in inspect.signature(f).parameters.items() if p.kind != p.KEYWORD_ONLY]


def test_parameters_by_position():
    """No function has two of PyTorch's parameters in another order."""
    wrong = []
    for name, *parameters in FORMS:
        f = _function(name)
        try:
            own = _places(f)
        except (TypeError, ValueError):  # built in, without a signature
            continue
        theirs = parameters[: parameters.index("*")] if "*" in parameters else parameters
        if own and [p for p in own if p in theirs] != [p for p in theirs if p in own]:
            wrong.append(f"{name}: {own}, not {theirs}")
    assert not wrong


@pytest.fixture
def draw():
    rng = np.random.default_rng(0)
    return lambda *shape: torch.from_numpy(rng.standard_normal(shape))


def test_normalizations_by_position(draw):
    x, (w, b, mean), var = draw(2, 3, 4), (draw(3) for _ in range(3)), draw(3).abs()
    for training in (False, True):
        stats = mean.clone(), var.clone()
        got = torch.batch_norm(x, w, b, *stats, training, 0.1, 1e-5, True)
        own = mean.clone(), var.clone()
        assert torch.equal(got, F.batch_norm(x, *own, w, b, training, 0.1, 1e-5)) and torch.equal(stats[1], own[1])
        got = torch.instance_norm(x, w, b, *stats, training, 0.1, 1e-5, True)
        assert torch.equal(got, F.instance_norm(x, *own, w, b, training, 0.1, 1e-5)) and torch.equal(stats[0], own[0])
    assert torch.equal(torch.group_norm(x, 3, w, b, 1e-5, True), F.group_norm(x, 3, w, b, 1e-5))
    assert torch.equal(torch.layer_norm(x, (4,), None, None, 1e-5, True), F.layer_norm(x, (4,)))


def test_losses_by_position(draw):
    x, y, z = draw(4, 3), draw(4, 3), draw(4, 3)
    sign = y.sign()
    for number, reduction in enumerate(("none", "mean", "sum")):
        kind = {"reduction": reduction}
        for got, want in (
            (torch.hinge_embedding_loss(x, sign, 0.5, number), F.hinge_embedding_loss(x, sign, 0.5, **kind)),
            (torch.triplet_margin_loss(x, y, z, 1.0, 2, 1e-6, False, number), F.triplet_margin_loss(x, y, z, **kind)),
            (torch.margin_ranking_loss(x, y, sign, 0.1, number), F.margin_ranking_loss(x, y, sign, 0.1, **kind)),
            (
                torch.binary_cross_entropy_with_logits(x, y.sigmoid(), None, z.abs(), number),
                F.binary_cross_entropy_with_logits(x, y.sigmoid(), None, pos_weight=z.abs(), **kind),
            ),
            (
                torch.poisson_nll_loss(x, y.abs(), True, True, 1e-8, number),
                F.poisson_nll_loss(x, y.abs(), full=True, **kind),
            ),
            (torch.kl_div(x, y, number, log_target=True), F.kl_div(x, y, reduction=reduction, log_target=True)),
        ):
            assert torch.equal(got, want)
    with pytest.raises(TypeError, match="multiple values for argument 'input'"):
        torch.kl_div(x, y, input=x)


def test_embedding_and_dropout_by_position(draw):
    table, rows = draw(5, 2), torch.tensor([[0, 4], [4, 1]])
    assert torch.equal(torch.embedding(table, rows), table[rows])
    table.requires_grad_()
    for padding, want in ((-1, [1, 1, 0, 0, 2]), (4, [1, 1, 0, 0, 0])):
        (g,) = torch.autograd.grad(torch.embedding(table, rows, padding).sum(), table)
        assert g[:, 0].tolist() == want
    assert torch.equal(torch.dropout(table, p=0.5, train=False), table)


def test_shapes_by_name():
    x = torch.arange(6.0).reshape(shape=(2, 3))
    assert x.permute(dims=(1, 0)).shape == (3, 2) and x.repeat(repeats=(1, 2)).shape == x.tile(dims=(2,)).shape == (
        2,
        6,
    )
    assert x[:, :1].expand(size=(2, 4)).shape == (2, 4) and x.sum_to_size(size=(1, 3)).tolist() == [[3, 5, 7]]
    assert x.clone().resize_(size=(1, 2)).tolist() == [[0, 1]] and x.new(size=(2, 1)).shape == (2, 1)
    assert [p.tolist() for p in x.split(split_size=2, dim=1)] == [[[0, 1], [3, 4]], [[2], [5]]]
    assert len(torch.tensor_split(x, sections=3, dim=1)) == len(x.hsplit(indices=[1, 2])) == 3
    assert x.swapaxes(axis0=0, axis1=1).shape == (3, 2) and x.matmul(other=x.T).shape == (2, 2)
    assert x.pow(exponent=2).tolist() == torch.pow(input=x, exponent=2).tolist() == [[0, 1, 4], [9, 16, 25]]
    for call in (lambda: x.reshape(6, shape=(6,)), lambda: x.reshape(size=(6,)), lambda: x.expand((2, 3), size=(2, 3))):
        with pytest.raises(TypeError):
            call()


def test_other_names():
    assert torch.isin(element=1, test_elements=torch.tensor([1, 2])) and torch.randint(high=3, size=(2,)).max() < 3
    assert torch.searchsorted(sorted_sequence=torch.tensor([0.0, 1.0]), input=torch.tensor([0.5])).tolist() == [1]
    assert torch.repeat_interleave(repeats=torch.tensor([1, 2])).tolist() == [0, 1, 1]
    assert torch.result_type(tensor=torch.ones(1), other=1) is torch.float32
    x = torch.tensor([-1.0, 4.0])
    assert torch.clamp_(input=x, min=0) is x and torch.sqrt_(input=x).tolist() == [0, 2]
    assert torch.pow(self=2, exponent=x).tolist() == [1, 4] and x.add(x2=x).tolist() == [0, 4]


def test_rounding_modes_are_texts():
    with pytest.raises(TypeError, match="argument 'rounding_mode' must be str, not <class 'int'>"):
        torch.ones(2).div(2, rounding_mode=1)


def test_losses_take_their_operands_by_name(draw):
    x, y = draw(4, 3), draw(4, 3)
    for loss in (torch.nn.MSELoss(), torch.nn.L1Loss(reduction="sum"), torch.nn.CrossEntropyLoss()):
        assert torch.equal(loss(input=x, target=y.softmax(1)), loss(x, y.softmax(1)))
    loss = torch.nn.PoissonNLLLoss(log_input=False)
    assert torch.equal(loss(log_input=x.exp(), target=y.exp()), loss(x.exp(), y.exp()))
    assert torch.equal(torch.nn.CosineSimilarity()(x1=x, x2=y), F.cosine_similarity(x, y))


def test_weights_of_losses(draw):
    x, y, w = draw(4, 3), draw(4, 3), draw(4, 3).exp()
    assert torch.allclose(F.l1_loss(x, y, weight=w), ((x - y).abs() * w).sum() / w.sum())
    assert torch.allclose(F.l1_loss(x, y, reduction="sum", weight=w), ((x - y).abs() * w).sum())
    for loss in (F.l1_loss, F.mse_loss, F.huber_loss):
        with pytest.raises(ValueError, match="Weights and input must have the same size"):
            loss(x, y, weight=w[0])


def test_older_grad_scalers_have_no_device():
    assert torch.cuda.amp.GradScaler(8.0, enabled=False).get_scale() == 1.0
    assert torch.amp.GradScaler("cpu", 8.0).get_scale() == 8.0


def test_set_takes_a_part_of_the_memory():
    x, held = torch.zeros(1), torch.arange(10.0)
    assert x.set_(held, 2, (2, 3)).tolist() == [[2, 3, 4], [5, 6, 7]]
    assert x.set_(source=held.untyped_storage(), storage_offset=1, size=(2,), stride=(4,)).tolist() == [1, 5]
    x[0] = -1
    assert held[1] == -1 and x.set_(held.storage()).shape == (10,) and x.set_().shape == (0,)
