"""torch.linalg of matrices that have no factors, and what einsum, median and their like make of unusual arguments."""

import math

import numpy as np
import pytest

import treadle.torch as torch

DEFINITE = [[4.0, 2.0], [2.0, 3.0]]
INDEFINITE = [[1.0, 2.0], [2.0, 1.0]]
SINGULAR = [[1.0, 2.0], [2.0, 4.0]]


def test_cholesky_ex_tells_the_minor_that_is_not_positive():
    L, info = torch.linalg.cholesky_ex(torch.tensor([DEFINITE, INDEFINITE, [[-1.0, 0.0], [0.0, 1.0]]]))
    assert info.tolist() == [0, 2, 1] and info.dtype is torch.int32
    np.testing.assert_allclose(L[0], [[2, 0], [1, math.sqrt(2)]], rtol=1e-6)
    with pytest.raises(torch.linalg.LinAlgError, match=r"\(Batch element 1\): .*leading minor of order 2 is not positive"):
        torch.linalg.cholesky_ex(torch.tensor([DEFINITE, INDEFINITE]), check_errors=True)
    upper = torch.linalg.cholesky_ex(torch.tensor(INDEFINITE, dtype=torch.complex128), upper=True)
    assert upper.info.item() == 2 and upper.L[1, 0] == 0


def test_a_program_adds_to_the_diagonal_until_there_is_a_factor():
    matrix, jitter = torch.tensor(SINGULAR, dtype=torch.float64) - 1e-3 * torch.eye(2), 1e-6
    L, info = torch.linalg.cholesky_ex(matrix)
    while info.any():
        jitter *= 10
        L, info = torch.linalg.cholesky_ex(matrix + jitter * torch.eye(2))
    np.testing.assert_allclose(L @ L.T, matrix + jitter * torch.eye(2), atol=1e-12)
    assert jitter == pytest.approx(1e-2)


def test_inv_ex_and_solve_ex_tell_the_pivot():
    both = torch.tensor([DEFINITE, SINGULAR])
    inverse, info = torch.linalg.inv_ex(both)
    assert info.tolist() == [0, 2]
    np.testing.assert_allclose(inverse[0] @ both[0], np.eye(2), atol=1e-6)
    x, info = torch.linalg.solve_ex(both, torch.ones(2, 2))
    assert info.tolist() == [0, 2] and x.shape == (2, 2)
    assert torch.linalg.inv_ex(torch.eye(3)).info.item() == 0


def test_the_errors_say_what_pytorch_says():
    for f, text in (
        (lambda: torch.linalg.cholesky(torch.tensor(INDEFINITE)), "linalg.cholesky: .* not positive-definite"),
        (lambda: torch.linalg.inv(torch.tensor(SINGULAR)), "linalg.inv: The diagonal element 2 is zero.*singular"),
        (lambda: torch.linalg.solve(torch.tensor(SINGULAR), torch.ones(2)), "linalg.solve: .* is singular"),
    ):
        with pytest.raises(torch.linalg.LinAlgError, match=text):
            f()


def test_a_covariance_that_is_not_definite_is_a_wrong_parameter():
    for kind in (lambda m: torch.distributions.MultivariateNormal(torch.zeros(2), m),
                 lambda m: torch.distributions.Wishart(torch.tensor(3.0), m)):  # fmt: skip
        with pytest.raises(ValueError, match="covariance_matrix .*PositiveDefinite"):
            kind(torch.tensor(INDEFINITE))


def test_einsum_of_lists_of_labels():
    a, b, v = torch.arange(6.0).reshape(2, 3), torch.arange(12.0).reshape(3, 4), torch.arange(2.0)
    assert torch.equal(torch.einsum(a, [0, 1], b, [1, 2], [0, 2]), a @ b)
    assert torch.equal(torch.einsum(v, [0], a, [0, 1]), v @ a)
    assert torch.equal(torch.einsum(a, [..., 7], [7, ...]), a.T)
    with pytest.raises(RuntimeError, match="invalid subscript given at index 1"):
        torch.einsum("i$", a)


def test_what_has_no_value():
    assert math.isnan(torch.tensor([]).median()) and math.isnan(torch.tensor([]).nanmedian())
    with pytest.raises(IndexError, match="non-zero size"):
        torch.ones(2, 0).median(1)
    with pytest.raises(RuntimeError, match=r"must be in the range \[0, 1\] but got 2"):
        torch.quantile(torch.ones(3), 2.0)
    for name in ("std", "var"):
        with pytest.raises(NotImplementedError, match="only support floating point"):
            getattr(torch.tensor([1, 2]), name)()


@pytest.mark.parametrize("unit", [False, True])
@pytest.mark.parametrize("upper", [False, True])
def test_large_triangles_are_solved_by_halves(upper, unit):
    rng = np.random.default_rng(0)
    a = rng.standard_normal((2, 150, 150)) / 150 + np.eye(150)
    b = rng.standard_normal((2, 150, 3))
    x = torch.linalg.solve_triangular(torch.tensor(a), torch.tensor(b), upper=upper, unitriangular=unit)
    half = np.triu(a) if upper else np.tril(a)
    if unit:
        half[..., np.arange(150), np.arange(150)] = 1
    np.testing.assert_allclose(half @ x.numpy(), b, atol=1e-12)
