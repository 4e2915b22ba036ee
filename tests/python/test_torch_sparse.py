"""torch.sparse beside dense tensors: products and their derivatives, and what is refused."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import treadle.torch as torch


def pair(seed, shape, n, dtype=torch.float64):
    """A sparse tensor of n values, places occurring several times, its values, and how to make the dense one of them."""
    rng = np.random.default_rng(seed)
    at = torch.from_numpy(np.stack([rng.integers(0, k, n) for k in shape]))
    values = torch.from_numpy(rng.standard_normal(n)).to(dtype).requires_grad_()
    return torch.sparse_coo_tensor(at, values, shape), values, lambda v: torch.zeros(shape, dtype=dtype).index_put(tuple(at), v, True)


@settings(max_examples=6)
@given(st.integers(0, 99), st.integers(1, 5), st.integers(1, 5), st.integers(0, 9), st.integers(1, 3))
def test_products_and_their_derivatives_are_those_of_dense_matrices(seed, m, k, n, columns):
    s, values, dense = pair(seed, (m, k), n)
    x = torch.linspace(-1, 1, k * columns, dtype=torch.float64).reshape(k, columns).requires_grad_()
    results = []
    for product in (lambda: torch.sparse.mm(s, x), lambda: dense(values) @ x):
        first = torch.autograd.grad((product() ** 3).sum(), (values, x), create_graph=True)
        second = torch.autograd.grad(sum((g * g).sum() for g in first), (values, x))
        results.append([t.detach() for t in (product(), *first, *second)])
    for ours, theirs in zip(*results, strict=True):
        torch.testing.assert_close(ours, theirs)
    torch.testing.assert_close(s.coalesce().to_dense(), dense(values))
    torch.testing.assert_close(torch.sparse.sum(s, 0).to_dense(), dense(values).sum(0))


@pytest.mark.parametrize("device", ["cpu", "null"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.complex64, torch.bfloat16])
def test_products_by_dtype_and_device(device, dtype):
    s, values, dense = pair(1, (6, 5), 12, dtype)
    x = torch.arange(10).reshape(5, 2).to(dtype)
    ours = (s.to(device) @ x.to(device)).cpu()
    assert ours.dtype is dtype
    torch.testing.assert_close(ours, dense(values) @ x, rtol=2e-2 if dtype is torch.bfloat16 else 1e-5, atol=1e-5)


def test_what_is_not_there_says_so():
    s, _, _ = pair(0, (3, 4), 4)
    for f in (lambda: s * s, lambda: s @ s.t(), lambda: s.softmax(0), lambda: s / torch.ones(3, 4)):
        with pytest.raises(NotImplementedError, match=r"sparse tensors: .*use to_dense\(\)"):
            f()
    with pytest.raises(TypeError, match=r"add\(sparse, dense\) is not supported"):
        s + torch.ones(3, 4)
    with pytest.raises(RuntimeError, match="for dim 1, size is 2 but found index 2"):
        torch.sparse_coo_tensor([[0, 1], [2, 0]], [3, 4], (2, 2))
    with pytest.raises(RuntimeError, match="found negative index -1"):
        torch.sparse_coo_tensor([[0, -1], [2, 0]], [3, 4], (2, 3))
    with pytest.raises(RuntimeError, match="number of dimensions must be sparse_dim"):
        torch.sparse_coo_tensor([[0, 1], [2, 0]], [3, 4], (2, 3, 1))
    with pytest.raises(RuntimeError, match="as many values as indices"):
        torch.sparse_coo_tensor([[0, 1], [2, 0]], [3, 4, 5], (2, 3))
    with pytest.raises(RuntimeError, match=r"cannot be multiplied \(3x4 and 3x1\)"):
        s @ torch.ones(3, 1, dtype=torch.float64)
    with pytest.raises(AttributeError, match="no attribute 'nowhere'"):
        s.nowhere()


def test_a_sparse_parameter_is_trained():
    s = torch.sparse_coo_tensor([[0, 1], [2, 0]], [3.0, 4.0], (2, 3), requires_grad=True)
    torch.sparse.mm(s, torch.eye(3)).pow(2).sum().backward()
    assert s.grad.to_dense().tolist() == [[0, 0, 6], [8, 0, 0]] and s.grad.is_sparse and s.is_leaf
