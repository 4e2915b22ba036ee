"""What libraries of others ask of torch besides its documented functions; values are PyTorch's."""

import pickle
import re

import numpy as np
import pytest

from treadle import torch

F = torch.nn.functional


# ---- factors among the operands, as in PyTorch 0.4 ----

x, m, v, b = torch.ones(2, 2), torch.eye(2), torch.ones(2), torch.ones(1, 2, 2)
OLDER = {
    "x.clone().add_(2, x)": [[3, 3], [3, 3]],
    "torch.add(x, 2, x)": [[3, 3], [3, 3]],
    "x.add(2, x)": [[3, 3], [3, 3]],
    "x.clone().sub_(2, x)": [[-1, -1], [-1, -1]],
    "torch.addcmul(x, 2, x, x)": [[3, 3], [3, 3]],
    "x.clone().addcdiv_(2, x, x)": [[3, 3], [3, 3]],
    "torch.addmm(2, x, 3, m, m)": [[5, 2], [2, 5]],
    "x.addmm(2, m, m)": [[3, 2], [2, 3]],
    "x.clone().addmm_(2, 3, m, m)": [[5, 2], [2, 5]],
    "torch.addmv(2, v, 3, m, v)": [5, 5],
    "x.addr(2, v, v)": [[3, 3], [3, 3]],
    "torch.baddbmm(2, b, 3, b, b)": [[[8, 8], [8, 8]]],
    "x.clone().addbmm_(2, 3, b, b)": [[8, 8], [8, 8]],
}


@pytest.mark.parametrize("call", OLDER)
def test_factors_first(call):
    assert eval(call).tolist() == OLDER[call]


@pytest.mark.parametrize("call", ["torch.add(x, 2, 3)", "torch.addmm(1, 2, 3, m, m)", "torch.addcmul(x, 2, 3, x, x)"])
def test_wrong_factors(call):
    with pytest.raises(TypeError):
        eval(call)


# ---- writes through data ----


def test_data_has_versions_of_its_own():
    """What is written through .data does not spoil a backward pass that kept another part of the memory."""
    w = torch.ones(3, requires_grad=True)
    kept = torch.zeros(2, 3)
    kept.data[0] = torch.tensor([1.0, 2, 3])
    product = (kept[0] * w).sum()
    before = kept._version
    kept.data[1] = 7
    kept.data.mul_(1)
    kept.data.view(-1)[3:].add_(1)
    assert kept._version == before and kept[1].tolist() == [8, 8, 8]
    product.backward()
    assert w.grad.tolist() == [1, 2, 3]


def test_other_writes_are_seen():
    for write in (lambda t: t.add_(1), lambda t: t.detach().add_(1), lambda t: t[0].mul_(2)):
        w, kept = torch.ones(3, requires_grad=True), torch.ones(3)
        r = (kept * w).sum()
        write(kept)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            r.backward()


def test_data_with_a_history_of_its_own():
    """A tensor that is another's data keeps count of its own writes."""
    w, own = torch.ones(3, requires_grad=True), torch.ones(3).data
    r = (own * w).sum()
    own.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        r.backward()


# ---- out= ----

A = torch.eye(3) * 2 + 0.1
OUT = {
    "torch.linalg.cholesky(A)": 1,
    "torch.linalg.inv(A)": 1,
    "torch.linalg.norm(A)": 1,
    "torch.linalg.matrix_power(A, 2)": 1,
    "torch.linalg.solve(A, torch.ones(3))": 1,
    "torch.linalg.eigh(A)": 2,
    "torch.linalg.slogdet(A)": 2,
    "torch.linalg.multi_dot([A, A])": 1,
    "torch.fft.rfft(A)": "complex64",
    "torch.fft.irfft(A + 0j)": 1,
    "torch.special.erf(A)": 1,
    "torch.special.entr(A)": 1,
    "torch.special.logsumexp(A, 0)": 1,
    "torch.special.polygamma(1, A)": 1,
}


@pytest.mark.parametrize("call", OUT)
def test_out(call):
    count = OUT[call]
    dtype = getattr(torch, count) if isinstance(count, str) else None
    outs = [torch.empty(0, dtype=dtype) for _ in range(count if isinstance(count, int) else 1)]
    out = outs[0] if len(outs) == 1 else tuple(outs)
    want = eval(call)
    got = eval(call[:-1] + ", out=out)")
    assert got is out or len(outs) > 1
    for own, w in zip(outs, [want] if len(outs) == 1 else want, strict=True):
        np.testing.assert_array_equal(own.numpy(), w.numpy())


# ---- shapes that change in place, and numbers where tensors are usual ----


def test_a_computed_tensor_changes_its_shape():
    w = torch.arange(6.0).reshape(2, 3).requires_grad_()
    r = w * 2
    assert r.unsqueeze_(0) is r and r.shape == (1, 2, 3) and r.grad_fn is not None
    r.squeeze_(0).transpose_(0, 1).t_().swapaxes_(0, 1)
    assert r.shape == (3, 2) and r.stride() == (1, 3)
    r.mul_(2)
    (r * torch.arange(6.0).reshape(3, 2)).sum().backward()
    assert w.grad.tolist() == [[0, 8, 16], [4, 12, 20]]
    with pytest.raises(RuntimeError, match="leaf Variable"):
        w.unsqueeze_(0)


def test_a_view_changes_its_shape():
    """It goes on to share memory."""
    b = torch.zeros(2, 3)
    row = b[0]
    assert row.unsqueeze_(-1).shape == (3, 1)
    row.add_(1)
    assert b.tolist() == [[1, 1, 1], [0, 0, 0]]
    w = torch.ones(2, 3, requires_grad=True)
    r = w * 1
    first, kept = r[0], r[1]
    first.unsqueeze_(0).mul_(3)
    (r.sum() + first.sum() + kept.sum()).backward()
    assert w.grad.tolist() == [[6, 6, 6], [2, 2, 2]]


NUMBERS = {
    "torch.div(5, 2)": 2.5,
    "torch.div(5, 2, rounding_mode='trunc')": 2,
    "torch.add(1, 2)": 3,
    "torch.mul(2, 3)": 6,
    "torch.sub(5, 2)": 3,
    "torch.floor_divide(5, 2)": 2,
    "torch.true_divide(1, 4)": 0.25,
    "torch.eye(n).sum()": 3,
    "torch.randperm(n).sum()": 3,
    "torch.ones(6).as_strided((n, 2), (2, torch.tensor(1))).sum()": 6,
    "F.interpolate(torch.ones(1, 1, 2), n).sum()": 3,
}


@pytest.mark.parametrize("call", NUMBERS)
def test_numbers_and_tensors(call):
    r = eval(call, {"torch": torch, "F": F, "n": torch.tensor(3)})
    assert isinstance(r, torch.Tensor) and r.item() == NUMBERS[call]
    assert r.is_floating_point() == isinstance(NUMBERS[call], float) or ".sum()" in call


@pytest.mark.parametrize("call", ["torch.maximum(1, 2)", "torch.remainder(5, 3)", "torch.add('1', 2)"])
def test_numbers_that_are_no_tensors(call):
    with pytest.raises(TypeError):
        eval(call)


# ---- operations by PyTorch's own names ----


def test_aten():
    aten = torch.ops.aten
    assert aten.add.Tensor is aten.add.Tensor and aten.add.Tensor is not aten.add.Scalar
    assert {aten.clone.default: 1}[torch.ops.aten.clone.default] == 1
    assert aten.add.Tensor(x, x).tolist() == [[2, 2], [2, 2]] and aten.sym_size.int(x, 1) == 2
    assert aten.select.int(m, 0, 1).tolist() == [0, 1] and aten.relu.default(-x).tolist() == [[0, 0], [0, 0]]
    assert str(aten.add.Tensor) == "<OpOverload(op='aten.add', overload='Tensor')>"
    assert aten.add.Tensor.name() == "aten::add.Tensor" and aten.clone.default.overloadpacket is aten.clone
    with pytest.raises(NotImplementedError, match="no_such_thing"):
        aten.no_such_thing.default(x)


# ---- trees ----


def test_paths():
    from treadle.torch.utils import _pytree as tree

    t = {"a": [1, (2, 3)], "b": 4}
    assert [(tree.keystr(k), leaf) for k, leaf in tree.tree_leaves_with_path(t)] == [
        ("['a'][0]", 1), ("['a'][1][0]", 2), ("['a'][1][1]", 3), ("['b']", 4),
    ]  # fmt: skip
    assert tree.tree_map_with_path(lambda k, leaf: (len(k), leaf), t)["a"][1] == ((3, 2), (3, 3))
    assert all(tree.key_get(t, k) == leaf for k, leaf in tree.tree_flatten_with_path(t)[0])


# ---- types that no tensor has ----


def test_types_by_name():
    f8 = torch.float8_e4m3fn
    assert f8 in {torch.float8_e4m3fn: 1} and f8 != torch.float8_e5m2 and f8.itemsize == 1 and f8.is_floating_point
    assert torch.finfo(f8).max == 448 and torch.finfo(torch.float8_e5m2).tiny == 2.0**-14
    assert pickle.loads(pickle.dumps(f8)) is f8 and torch.chalf is torch.complex32
    with pytest.raises(TypeError, match="float8_e4m3fn"):
        torch.zeros(2, dtype=f8)
    with pytest.raises(TypeError, match="float8_e4m3fn"):
        torch.zeros(2).to(f8)


# ---- distributions of others ----


def test_constraints_of_others():
    from treadle.torch.distributions import biject_to, constraints

    class Mine(type(constraints.lower_cholesky)):
        pass

    assert Mine().check(torch.eye(2)) and repr(constraints.real) == "Real()" and repr(Mine()) == "Mine()"
    assert constraints.greater_than(lower_bound=1) == constraints.greater_than(1)
    assert biject_to(constraints.simplex)(torch.zeros(2)).sum() == 1
    with pytest.raises(NotImplementedError):
        biject_to(Mine())
    for wrong in ({}, {"upper_bound": 1}, {"lower_bound": 1, "more": 2}):
        with pytest.raises(TypeError, match="lower_bound"):
            constraints.greater_than(**wrong)


def test_a_distribution_with_a_metaclass():
    """Libraries derive distributions from PyTorch's and classes of their own; parameters are looked at all the same."""

    class Meta(type):
        pass

    class Other(metaclass=Meta):
        pass

    class Mine(torch.distributions.Normal, Other):
        pass

    assert Mine(0.0, 1.0).log_prob(torch.tensor(0.0)) < 0
    for make in (lambda: Mine(0.0, -1.0), lambda: torch.distributions.Normal(0.0, -1.0, validate_args=True)):
        with pytest.raises(ValueError, match="scale"):
            make()
    assert torch.distributions.Normal(0.0, -1.0, validate_args=False).scale == -1
    with pytest.raises(ValueError, match="Exactly one"):
        torch.distributions.MultivariateNormal(torch.zeros(2), torch.eye(2), scale_tril=torch.eye(2))


def test_a_normal_whose_factor_comes_late():
    class Late(torch.distributions.MultivariateNormal):
        def __init__(self, loc, whole):
            self.loc, self._whole = loc, whole
            torch.distributions.Distribution.__init__(self, (), loc.shape, validate_args=False)

        @property
        def _unbroadcasted_scale_tril(self):
            return torch.linalg.cholesky(self._whole)

    whole = torch.tensor([[2.0, 0.5], [0.5, 1.0]])
    late, plain = Late(torch.zeros(2), whole), torch.distributions.MultivariateNormal(torch.zeros(2), whole)
    at = torch.tensor([0.3, -0.2])
    assert torch.allclose(late.log_prob(at), plain.log_prob(at)) and torch.allclose(late.variance, plain.variance)


# ---- quasi-random numbers ----


def test_sobol():
    pytest.importorskip("scipy")
    e = torch.quasirandom.SobolEngine(3)
    assert e.draw(3).tolist() == [[0, 0, 0], [0.5, 0.5, 0.5], [0.75, 0.25, 0.25]] and e.num_generated == 3
    assert e.draw(1, dtype=torch.float64).tolist() == [[0.25, 0.75, 0.75]]
    e.fast_forward(1)
    assert e.draw().tolist() == [[0.875, 0.875, 0.125]] and e.reset().draw_base2(1).tolist()[1] == [0.5] * 3
    with pytest.raises(ValueError, match=re.escape("n=2+2**2=6")):
        e.draw_base2(2)
    with pytest.raises(ValueError, match="21201"):
        torch.quasirandom.SobolEngine(0)


# ---- attention ----


def test_attention_tells_more():
    from treadle.torch.nn.attention.flex_attention import AuxRequest, flex_attention

    q = torch.arange(12.0).reshape(1, 1, 3, 4) / 10
    out, aux = flex_attention(q, q, q, return_aux=AuxRequest(lse=True))
    scores = q @ q.mT / 2
    assert torch.allclose(aux.lse, scores.logsumexp(-1)) and aux.max_scores is None
    assert torch.allclose(out, flex_attention(q, q, q))
    assert torch.equal(flex_attention(q, q, q, return_aux=AuxRequest(False, True))[1].max_scores, scores.amax(-1))
    with pytest.raises(TypeError):
        flex_attention(q, q, q, no_such_option=1)


# ---- names that PyTorch has for itself ----


def test_private_names():
    from treadle.torch import _private

    for module, names in _private.OF.items():
        home = __import__(f"treadle.{module}", fromlist=["_"])
        for name in names.split():
            assert getattr(home, name) is not None
    y = torch.softmax(torch.tensor([1.0, 2.0, 3.0], requires_grad=True), -1)
    g = torch.tensor([1.0, -1.0, 0.5])
    want = y.detach() * (g - (y.detach() * g).sum())
    assert torch.allclose(torch._softmax_backward_data(g, y.detach(), -1, torch.float32), want)
    with pytest.raises(RuntimeError, match="no"):
        torch._assert_async(torch.tensor(0), "no")
    assert torch.LongTensor | None and isinstance(torch.tensor([1]), torch.LongTensor)


def test_loaders_of_others():
    class Mine(torch.utils.data.DataLoader):
        def _get_iterator(self):
            return (batch + 1 for batch in super()._get_iterator())

    assert [batch.tolist() for batch in Mine(torch.arange(4), batch_size=2)] == [[1, 2], [3, 4]]


def test_pipes():
    from treadle.torch.utils.data import IterDataPipe, functional_datapipe

    @functional_datapipe("twice")
    class Twice(IterDataPipe):
        def __init__(self, source):
            self.source = source

        def __iter__(self):
            return (2 * x for x in self.source)

    class Count(IterDataPipe):
        def __iter__(self):
            return iter(range(3))

    assert list(Count().twice().twice()) == [0, 4, 8]


def test_median_of_several():
    """Each of the elements that are the median has an equal share."""
    x = torch.tensor([1.0, 2, 2, 5, float("inf")], requires_grad=True)
    x.median().backward()
    assert x.grad.tolist() == [0, 0.5, 0.5, 0, 0]
