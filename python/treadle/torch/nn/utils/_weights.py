"""Weight norm and spectral norm, as parametrizations and as hooks that run before a module's call."""

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


class _SpectralNorm(Module):
    """A weight divided by its largest singular value. In training, power iterations follow that value."""

    def __init__(self, weight, n_power_iterations=1, dim=0, eps=1e-12, older=False):
        """older: as in nn.utils.spectral_norm. Iterations start with v, and there is none before the first call."""
        super().__init__()
        if n_power_iterations <= 0:
            raise ValueError(
                f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}"
            )
        if not -weight.dim() <= dim < weight.dim():
            raise IndexError(
                f"Dimension out of range (expected to be in range of [-{weight.dim()}, {weight.dim() - 1}] but got "
                f"{dim})"
            )
        self.dim = dim if dim >= 0 else dim + weight.dim()
        self.n_power_iterations, self.eps, self.older = n_power_iterations, eps, older
        if weight.dim() > 1:
            rows = self._matrix(weight)
            for name, n in zip(("_u", "_v"), rows.shape, strict=True):
                self.register_buffer(name, F.normalize(init.normal_(rows.detach().new_empty(n)), dim=0, eps=eps))
            self._iterate(rows, 0 if older else 15)

    def _matrix(self, weight):
        return weight.transpose(0, self.dim).reshape(weight.size(self.dim), -1)

    def _iterate(self, rows, times):
        with torch.no_grad():
            u, v = self._u, self._v
            for _ in range(times):
                if self.older:
                    v = F.normalize(rows.t() @ u, dim=0, eps=self.eps)
                u = F.normalize(rows @ v, dim=0, eps=self.eps)
                if not self.older:
                    v = F.normalize(rows.t() @ u, dim=0, eps=self.eps)
            self._u.copy_(u)
            self._v.copy_(v)

    def forward(self, weight):
        if weight.dim() == 1:
            return F.normalize(weight, dim=0, eps=self.eps)
        rows = self._matrix(weight)
        if self.training:
            self._iterate(rows, self.n_power_iterations)
        u, v = self._u.clone(), self._v.clone()
        return weight / torch.dot(u, rows @ v)

    def right_inverse(self, value):
        return value


class _Hook:
    """Before each call of a module, computes its weight from parameters of other names."""

    def __init__(self, name, made):
        self.name, self.made = name, made

    def __call__(self, module, inputs):
        setattr(module, self.name, self.made(module))


def _exchange(module, name, parts, kind, made):
    """module, with `parts` in place of the parameter `name`, and with a hook that computes it."""
    for hook, _ in module._forward_pre_hooks.values():
        if isinstance(hook, kind) and hook.name == name:
            raise RuntimeError(f"Cannot register two {kind.word} hooks on the same parameter {name}")
    weight = module._parameters.pop(name)
    for part, value in parts(weight).items():
        module.register_parameter(part, Parameter(value.detach()))
    hook = kind(name, made)
    setattr(module, name, made(module))
    hook.handle = module.register_forward_pre_hook(hook)
    return module


def _removed(module, name, kind, parts):
    """module, with the present value of `name` as a parameter again. Raises ValueError if there is no such hook."""
    for hook, _ in list(module._forward_pre_hooks.values()):
        if isinstance(hook, kind) and hook.name == name:
            with torch.no_grad():
                weight = hook.made(module).detach().clone()
            hook.handle.remove()
            module.__dict__.pop(name, None)
            for part in parts:
                delattr(module, name + part)
            module.register_parameter(name, Parameter(weight))
            return module
    raise ValueError(f"{kind.word} of '{name}' not found in {module}")


class _WeightNormHook(_Hook):
    word = "weight_norm"


class _SpectralNormHook(_Hook):
    word = "spectral_norm"


def weight_norm(module, name="weight", dim=0):
    """module, whose parameter `name` is computed before each call from name_g, its length along dim (None: of the
    whole), and name_v, its direction."""
    norm = _WeightNorm(dim)

    def parts(weight):
        return dict(zip((name + "_g", name + "_v"), norm.right_inverse(weight.detach()), strict=True))

    return _exchange(
        module, name, parts, _WeightNormHook, lambda m: norm(getattr(m, name + "_g"), getattr(m, name + "_v"))
    )


def remove_weight_norm(module, name="weight"):
    """module, with `name` as a parameter again. Raises ValueError if it has no weight norm."""
    return _removed(module, name, _WeightNormHook, ("_g", "_v"))


def spectral_norm(module, name="weight", n_power_iterations=1, eps=1e-12, dim=None):
    """module, whose parameter `name` is name_orig divided by its largest singular value, computed before each call.
    name_u and name_v hold the singular vectors. dim: that of the outputs (None: 1 for transposed convolutions, else 0).
    """
    dim = (1 if "ConvTranspose" in type(module).__name__ else 0) if dim is None else dim
    norm = _SpectralNorm(getattr(module, name), n_power_iterations, dim, eps, older=True)

    def made(m):
        norm.train(m.training)
        for part in ("_u", "_v") if "_u" in norm._buffers else ():
            norm._buffers[part] = getattr(m, name + part)
        return norm(getattr(m, name + "_orig"))

    for part in ("_u", "_v") if "_u" in norm._buffers else ():
        module.register_buffer(name + part, norm._buffers[part])
    return _exchange(module, name, lambda weight: {name + "_orig": weight}, _SpectralNormHook, made)


def remove_spectral_norm(module, name="weight"):
    """module, with `name` as a parameter again. Raises ValueError if it has no spectral norm."""
    return _removed(module, name, _SpectralNormHook, ("_orig", "_u", "_v"))
