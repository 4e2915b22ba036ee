"""Weight norm and spectral norm, as parametrizations and as hooks that run before a module's call."""

import warnings

from .... import torch
from .. import functional as F
from .. import init
from ..modules.module import Module
from ..parameter import Parameter


def norm_except_dim(v, pow=2, dim=0):
    """The norms of v's slices along dim, with v's rank. dim -1 gives one norm of all elements."""
    if dim == -1:
        return v.norm(pow)
    return (
        v.transpose(0, dim)
        .reshape(v.size(dim), -1)
        .norm(pow, 1)
        .reshape([-1 if d == dim else 1 for d in range(v.dim())])
    )


class _WeightNorm(Module):
    """original0 / ‖original1‖ * original1: a weight from its length and its direction, along dim (-1: of the whole)."""

    def __init__(self, dim=0):
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g, weight_v):
        return weight_v * (weight_g / norm_except_dim(weight_v, 2, self.dim))

    def right_inverse(self, weight):
        return norm_except_dim(weight, 2, self.dim), weight


def _matrix(weight, dim):
    """weight as a matrix whose rows lie along dim."""
    return weight.movedim(dim, 0).reshape(weight.size(dim), -1)


def _iterate(rows, u, v, times, eps, v_first):
    """Power iterations, which write the largest singular value's vectors into u and v."""
    with torch.no_grad():
        left, right = u, v
        for _ in range(times):
            if v_first:
                right = F.normalize(rows.t() @ left, dim=0, eps=eps)
            left = F.normalize(rows @ right, dim=0, eps=eps)
            if not v_first:
                right = F.normalize(rows.t() @ left, dim=0, eps=eps)
        u.copy_(left)
        v.copy_(right)


def _vectors(rows, eps):
    """Random vectors to begin iterations with."""
    return tuple(F.normalize(init.normal_(rows.detach().new_empty(n)), dim=0, eps=eps) for n in rows.shape)


def _want_iterations(n):
    if n <= 0:
        raise ValueError(f"Expected n_power_iterations to be positive, but got n_power_iterations={n}")


def _want_dim(weight, dim):
    if not -weight.dim() <= dim < weight.dim():
        raise IndexError(
            f"Dimension out of range (expected to be in range of [-{weight.dim()}, {weight.dim() - 1}] but got {dim})"
        )
    return dim % weight.dim()


class _SpectralNorm(Module):
    """A weight divided by its largest singular value. In training, power iterations follow that value."""

    def __init__(self, weight, n_power_iterations=1, dim=0, eps=1e-12):
        super().__init__()
        _want_iterations(n_power_iterations)
        self.dim, self.n_power_iterations, self.eps = _want_dim(weight, dim), n_power_iterations, eps
        if weight.dim() > 1:
            rows = _matrix(weight, self.dim)
            for name, vector in zip(("_u", "_v"), _vectors(rows, eps), strict=True):
                self.register_buffer(name, vector)
            _iterate(rows, self._u, self._v, 15, eps, v_first=False)

    def forward(self, weight):
        if weight.dim() == 1:
            return F.normalize(weight, dim=0, eps=self.eps)
        rows = _matrix(weight, self.dim)
        if self.training:
            _iterate(rows, self._u, self._v, self.n_power_iterations, self.eps, v_first=False)
        u, v = self._u.clone(), self._v.clone()
        return weight / torch.dot(u, rows @ v)

    def right_inverse(self, value):
        return value


# ---- hooks: PyTorch's classes, with the attributes that its files have ----


class _Hook:
    """Before each call of a module, computes its weight from parameters of other names."""

    def __call__(self, module, inputs):
        setattr(module, self.name, self.compute_weight(module))


class WeightNorm(_Hook):
    """A weight from its length along dim (-1: of the whole), name_g, and its direction, name_v."""

    word, parts = "weight_norm", ("_g", "_v")

    def __init__(self, name, dim):
        self.name, self.dim = name, -1 if dim is None else dim

    def compute_weight(self, module):
        g, v = (getattr(module, self.name + part) for part in self.parts)
        return v * (g / norm_except_dim(v, 2, self.dim))

    @staticmethod
    def apply(module, name, dim):
        hook = WeightNorm(name, dim)
        weight = _taken(module, hook)
        module.register_parameter(name + "_g", Parameter(norm_except_dim(weight, 2, hook.dim).detach()))
        module.register_parameter(name + "_v", Parameter(weight.detach()))
        return _hooked(module, hook)


class SpectralNorm(_Hook):
    """A weight, name_orig, divided by its largest singular value, of which name_u and name_v are the vectors. In
    training, power iterations follow that value; there is none before the first call."""

    word, parts = "spectral_norm", ("_orig", "_u", "_v")

    def __init__(self, name="weight", n_power_iterations=1, dim=0, eps=1e-12):
        _want_iterations(n_power_iterations)
        self.name, self.dim, self.n_power_iterations, self.eps = name, dim, n_power_iterations, eps

    def compute_weight(self, module, do_power_iteration=None):
        weight, u, v = (getattr(module, self.name + part) for part in self.parts)
        rows = _matrix(weight, self.dim)
        if module.training if do_power_iteration is None else do_power_iteration:
            _iterate(rows, u, v, self.n_power_iterations, self.eps, v_first=True)
            u, v = u.clone(), v.clone()
        return weight / torch.dot(u, rows @ v)

    @staticmethod
    def apply(module, name, n_power_iterations, dim, eps):
        hook = SpectralNorm(name, n_power_iterations, _want_dim(getattr(module, name), dim), eps)
        weight = _taken(module, hook)
        module.register_parameter(name + "_orig", weight)
        for part, vector in zip(("_u", "_v"), _vectors(_matrix(weight, hook.dim), eps), strict=True):
            module.register_buffer(name + part, vector)
        return _hooked(module, hook, weight.detach())


class SpectralNormStateDictHook:
    """Stands in PyTorch's files of whole modules. It notes a version there; names and values have not changed since."""

    def __call__(self, module, state_dict, prefix, local_metadata):
        return None


class SpectralNormLoadStateDictPreHook:
    """As SpectralNormStateDictHook, when a state is loaded."""

    def __call__(self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs):
        return None


def _found(module, kind, name):
    """(number, hook) of the module's hook of that kind for that parameter, or None."""
    hooks = module._forward_pre_hooks.items()
    return next(((k, hook) for k, (hook, *_) in hooks if isinstance(hook, kind) and hook.name == name), None)


def _taken(module, hook):
    """The parameter that a hook will compute, which the module has no longer. RuntimeError: a hook computes it."""
    if _found(module, type(hook), hook.name):
        raise RuntimeError(f"Cannot register two {hook.word} hooks on the same parameter {hook.name}")
    return module._parameters.pop(hook.name)


def _hooked(module, hook, value=None):
    setattr(module, hook.name, hook.compute_weight(module) if value is None else value)
    module.register_forward_pre_hook(hook)
    return module


def _removed(module, kind, name):
    """module, with the present value of `name` as a parameter again. Raises ValueError if there is no such hook."""
    found = _found(module, kind, name)
    if found is None:
        raise ValueError(f"{kind.word} of '{name}' not found in {module}")
    number, hook = found
    with torch.no_grad():
        weight = hook.compute_weight(module, *[False] * (kind is SpectralNorm)).detach().clone()
    del module._forward_pre_hooks[number]
    module.__dict__.pop(name, None)
    for part in kind.parts:
        delattr(module, name + part)
    module.register_parameter(name, Parameter(weight))
    return module


def weight_norm(module, name="weight", dim=0):
    """module, whose parameter `name` is computed before each call from name_g, its length along dim (None: of the
    whole), and name_v, its direction."""
    warnings.warn(
        "`torch.nn.utils.weight_norm` is deprecated in favor of `torch.nn.utils.parametrizations.weight_norm`.",
        FutureWarning,
        stacklevel=2,
    )
    return WeightNorm.apply(module, name, dim)


def remove_weight_norm(module, name="weight"):
    """module, with `name` as a parameter again. Raises ValueError if it has no weight norm."""
    return _removed(module, WeightNorm, name)


def spectral_norm(module, name="weight", n_power_iterations=1, eps=1e-12, dim=None):
    """module, whose parameter `name` is name_orig divided by its largest singular value, computed before each call.
    name_u and name_v hold the singular vectors. dim: that of the outputs (None: 1 for transposed convolutions, else 0).
    """
    dim = (1 if "ConvTranspose" in type(module).__name__ else 0) if dim is None else dim
    return SpectralNorm.apply(module, name, n_power_iterations, dim, eps)


def remove_spectral_norm(module, name="weight"):
    """module, with `name` as a parameter again. Raises ValueError if it has no spectral norm."""
    return _removed(module, SpectralNorm, name)
