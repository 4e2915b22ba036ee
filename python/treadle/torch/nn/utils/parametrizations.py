"""``torch.nn.utils.parametrizations``: norms of weights."""

from ... import _modules
from ._weights import _SpectralNorm, _WeightNorm
from .parametrize import register_parametrization

__all__ = ["spectral_norm", "weight_norm"]


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


__getattr__, __dir__ = _modules.refusing("torch.nn.utils.parametrizations")
