"""What programs written for PyTorch rely on: what shares memory, what a state dict holds, which mistakes are told and in
which words. PyTorch does the same in all of it."""

import copy
import warnings

import pytest

import treadle.torch as torch
from treadle.torch import nn
from treadle.torch.nn import functional as F

COUNTED = "Adadelta Adagrad Adam AdamW Adamax ASGD NAdam RAdam RMSprop Rprop Adafactor".split()


def test_a_shallow_copy_shares_memory():
    for t in (torch.zeros(3), torch.zeros(3, requires_grad=True), nn.Parameter(torch.zeros(3))):
        other = copy.copy(t)
        with torch.no_grad():
            other[0] = 5
        assert t.tolist() == [5, 0, 0] and type(other) is type(t)
        assert other.requires_grad is t.requires_grad and other.is_leaf and other is not t


def test_a_capsule_is_taken_once():
    t = torch.arange(4.0)
    capsule = torch.utils.dlpack.to_dlpack(t)
    other = torch.utils.dlpack.from_dlpack(capsule)
    other[1] = 9
    assert t.tolist() == [0, 9, 2, 3]
    with pytest.raises(RuntimeError, match="consumed only once"):
        torch.utils.dlpack.from_dlpack(capsule)


@pytest.mark.parametrize("name", COUNTED)
def test_counts_in_state_dicts_are_tensors_and_come_back(name):
    def trained(state, steps):
        w = nn.Parameter(torch.linspace(-1, 1, 12).reshape(3, 4))
        optimizer = getattr(torch.optim, name)([w], lr=0.01)
        if state is not None:
            w.data.copy_(state[0])
            optimizer.load_state_dict(state[1])
        for _ in range(steps):
            optimizer.zero_grad()
            (w.square().sum() + w.sum()).backward()
            optimizer.step()
        return w.detach().clone(), optimizer.state_dict()

    half = trained(None, 2)
    kept = half[1]["state"][0]
    assert all(isinstance(v, torch.Tensor) for v in kept.values())
    assert kept["step"].dtype is torch.float32 and kept["step"].item() == 2
    assert torch.equal(trained(half, 2)[0], trained(None, 4)[0])


def test_an_optimizer_without_state_saves_none():
    w = nn.Parameter(torch.ones(2))
    optimizer = torch.optim.SGD([w], lr=0.1)
    w.sum().backward()
    optimizer.step()
    assert optimizer.state_dict()["state"] == {}


def test_schedules_save_their_functions_attributes():
    class Slower:
        def __init__(self):
            self.factor = 0.5

        def __call__(self, epoch):
            return self.factor**epoch

    optimizer = torch.optim.SGD([nn.Parameter(torch.ones(1))], lr=1.0)
    saved = torch.optim.lr_scheduler.LambdaLR(optimizer, Slower()).state_dict()
    assert saved["lr_lambdas"] == [{"factor": 0.5}]
    saved["lr_lambdas"] = [{"factor": 0.25}]
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, Slower())
    schedule.load_state_dict(saved)
    assert schedule.lr_lambdas[0].factor == 0.25
    assert torch.optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: 1).state_dict()["lr_lambdas"] == [None]


@pytest.mark.parametrize(
    "mistake, kind, words",
    [
        (lambda: F.binary_cross_entropy(torch.tensor([2.0]), torch.ones(1)), RuntimeError, "between 0 and 1"),
        (lambda: F.binary_cross_entropy(torch.tensor([float("nan")]), torch.ones(1)), RuntimeError, "between 0 and 1"),
        (lambda: F.embedding(torch.tensor([-1]), torch.ones(3, 2)), IndexError, "index out of range in self"),
        (lambda: nn.Embedding(3, 2)(torch.tensor([3])), IndexError, "index out of range in self"),
        (lambda: torch.ones(2).backward(), RuntimeError, "element 0 of tensors does not require grad"),
        (lambda: torch.ones(2, requires_grad=True).exp().backward(), RuntimeError, "only for scalar outputs"),
        (lambda: torch.ones(3).view(2, 2), RuntimeError, r"shape '\[2, 2\]' is invalid for input of size 3"),
        (lambda: torch.ones(3).reshape(-1, 2), RuntimeError, r"shape '\[-1, 2\]' is invalid for input of size 3"),
        (lambda: torch.ones(2).expand(3, 3), RuntimeError, r"\(3\).*size \(2\).*dimension 1.*\[3, 3\].*\[2\]"),
        (lambda: torch.ones(3)[torch.tensor([5])], IndexError, "index 5 is out of bounds for dimension 0 with size 3"),
        (lambda: torch.zeros(2)[3], IndexError, "index 3 is out of bounds for dimension 0 with size 2"),
        (lambda: torch.tensor(1.0)[0], IndexError, "invalid index of a 0-dim tensor"),
        (lambda: torch.ones(2)[0, 0], IndexError, "too many indices for tensor of dimension 1"),
        (lambda: torch.ones(3)[torch.tensor([True, False])], IndexError, r"mask \[2\] at index 0.*tensor \[3\]"),
        (lambda: F.cross_entropy(torch.ones(1, 2), torch.tensor(0)), ValueError, r"batch_size \(1\).*\(0\)"),
        (lambda: setattr(torch.ones(2), "grad", torch.ones(3)), RuntimeError, r"size '\[3\]' to a tensor of size '\[2\]'"),
    ],
)
def test_mistakes_are_told_in_pytorchs_words(mistake, kind, words):
    with pytest.raises(kind, match=words):
        repr(mistake())


def test_a_class_of_operands_is_asked_where_a_function_refuses_them():
    sparse = torch.sparse_coo_tensor(torch.tensor([[0]]), torch.ones(1), (2,))
    with pytest.raises(NotImplementedError, match="sparse tensors: torch.stack is not there"):
        torch.stack([sparse, sparse])


def test_grids_tell_that_their_corners_have_moved():
    theta = torch.eye(2, 3)[None]
    for make in (lambda **k: F.affine_grid(theta, (1, 1, 3, 3), **k), lambda **k: F.grid_sample(torch.ones(1, 1, 2, 2), GRID, **k)):
        with pytest.warns(UserWarning, match="behavior has changed to align_corners=False"):
            told = make()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert torch.equal(told, make(align_corners=False))


GRID = torch.zeros(1, 2, 2, 2)
