"""``torch.nn.utils.parametrizations``: norms of weights, and weights with orthonormal columns."""

from .... import torch
from ... import _modules
from ..modules.module import Module
from ._weights import _SpectralNorm, _WeightNorm
from .parametrize import register_parametrization

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]


def weight_norm(module, name="weight", dim=0):
    """module, whose parameter `name` is computed from its length along dim (None: of the whole; original0) and its
    direction (original1)."""
    return register_parametrization(module, name, _WeightNorm(dim), unsafe=True)


def spectral_norm(module, name="weight", n_power_iterations=1, eps=1e-12, dim=None):
    """module, whose parameter `name` is divided by its largest singular value. dim: that of the outputs (None: 1 for
    transposed convolutions, else 0). Raises ValueError if there is no such parameter."""
    weight = getattr(module, name, None)
    if weight is None:
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    dim = (1 if "ConvTranspose" in type(module).__name__ else 0) if dim is None else dim
    return register_parametrization(module, name, _SpectralNorm(weight, n_power_iterations, dim, eps))


def _turned_up(Q, R):
    """Q, whose columns have the signs that make R's diagonal positive."""
    return Q * R.diagonal(dim1=-2, dim2=-1).sgn().unsqueeze(-2)


def _made_orthogonal(A):
    return _turned_up(*torch.linalg.qr(A))


def _is_orthogonal(Q):
    unit = torch.eye(Q.shape[-1], dtype=Q.dtype, device=Q.device)
    return torch.allclose(Q.mH @ Q, unit, atol=10 * Q.shape[-2] * torch.finfo(Q.dtype).eps)


class _Orthogonal(Module):
    """Orthonormal columns (rows, where there are fewer) of any matrix's triangle, by one of three maps. With a base
    they are the base's, turned."""

    def __init__(self, weight, orthogonal_map, use_trivialization):
        super().__init__()
        if weight.is_complex() and orthogonal_map == "householder":
            raise ValueError("The householder parametrization does not support complex tensors.")
        self.shape, self.orthogonal_map = weight.shape, orthogonal_map
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, X):
        wide = X.size(-2) < X.size(-1)
        X = X.mT if wide else X
        Q = self._reflected(X) if self.orthogonal_map == "householder" else self._skew(X)
        if hasattr(self, "base"):
            Q = self.base @ Q
        return Q.mT if wide else Q

    def _reflected(self, X):
        A = X.tril(diagonal=-1)
        tau = 2.0 / (1.0 + (A * A).sum(dim=-2))
        return torch.linalg.householder_product(A, tau) * X.diagonal(dim1=-2, dim2=-1).int().unsqueeze(-2)

    def _skew(self, X):
        n, k = X.size(-2), X.size(-1)
        X = X.tril()
        if n != k:
            X = torch.cat([X, X.new_zeros(*X.shape[:-1], n - k)], dim=-1)
        A = X - X.mH
        if self.orthogonal_map == "matrix_exp":
            return torch.matrix_exp(A)[..., :k]
        unit = torch.eye(n, dtype=A.dtype, device=A.device)
        return torch.linalg.solve(torch.add(unit, A, alpha=-0.5), torch.add(unit, A, alpha=0.5))[..., :k]

    @torch.no_grad()
    def right_inverse(self, Q):
        if Q.shape != self.shape:
            raise ValueError(
                f"Expected a matrix or batch of matrices of shape {self.shape}. Got a tensor of shape {Q.shape}."
            )
        given, wide = Q, Q.size(-2) < Q.size(-1)
        Q = Q.mT if wide else Q
        if hasattr(self, "base"):
            return self._based(given, Q)
        if self.orthogonal_map != "householder":
            raise NotImplementedError(
                "It is not possible to assign to the matrix exponential or the Cayley parametrizations when "
                "use_trivialization=False."
            )
        A, tau = torch.geqrf(Q)
        signs = A.diagonal(dim1=-2, dim2=-1).sign()
        unit = torch.eye(*A.shape[-2:], dtype=torch.bool, device=A.device)
        A = torch.where(unit, torch.where(tau == 0, -signs, signs).unsqueeze(-2), A)
        return A.mT if wide else A

    def _based(self, given, Q):
        n, k = Q.size(-2), Q.size(-1)
        if n == k:
            Q = Q.clone() if _is_orthogonal(Q) else _made_orthogonal(Q)
        else:
            Q = _made_orthogonal(torch.cat([Q, torch.randn(*Q.shape[:-1], n - k, dtype=Q.dtype, device=Q.device)], -1))
        self.base = Q
        negative = torch.zeros_like(given)
        negative.diagonal(dim1=-2, dim2=-1).fill_(-1.0)
        return negative


def orthogonal(module, name="weight", orthogonal_map=None, *, use_trivialization=True):
    """module, whose parameter `name` is a matrix (or a batch) with orthonormal columns, or rows where there are fewer.

    orthogonal_map: "matrix_exp", "cayley" or "householder"; None: the first for square and complex matrices, else the
    last. Raises ValueError where the parameter is missing or no matrix, or the map is another one."""
    weight = getattr(module, name, None)
    if not isinstance(weight, torch.Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    if weight.ndim < 2:
        raise ValueError(f"Expected a matrix or batch of matrices. Got a tensor of {weight.ndim} dimensions.")
    if orthogonal_map is None:
        orthogonal_map = "matrix_exp" if weight.size(-2) == weight.size(-1) or weight.is_complex() else "householder"
    if orthogonal_map not in ("matrix_exp", "cayley", "householder"):
        raise ValueError(
            f'orthogonal_map has to be one of "matrix_exp", "cayley", "householder". Got: {orthogonal_map}'
        )
    return register_parametrization(module, name, _Orthogonal(weight, orthogonal_map, use_trivialization), unsafe=True)


__getattr__, __dir__ = _modules.refusing("torch.nn.utils.parametrizations")
