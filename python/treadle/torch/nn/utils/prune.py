"""``torch.nn.utils.prune``: masks that set parts of a module's weights to zero.

A pruned parameter ``name`` becomes the parameter ``name_orig`` and the buffer ``name_mask``. Before each forward pass
the attribute ``name`` is set to their product.
"""

import numbers
from collections.abc import Iterable

from .... import torch
from ...._public import dir_of as _dir_of


class BasePruningMethod:
    """A method that chooses which elements to prune. A subclass defines compute_mask(t, default_mask) and PRUNING_TYPE
    ("unstructured", "structured" or "global")."""

    PRUNING_TYPE = "unstructured"

    def __call__(self, module, inputs):
        setattr(module, self._tensor_name, self.apply_mask(module))

    def compute_mask(self, t, default_mask):
        """The new mask of a tensor, given its present one."""
        raise NotImplementedError  # each method of pruning has its own

    def apply_mask(self, module):
        """The parameter times its mask."""
        name = self._tensor_name
        original = getattr(module, name + "_orig")
        return getattr(module, name + "_mask").to(original.dtype) * original

    @classmethod
    def apply(cls, module, name, *args, importance_scores=None, **kwargs):
        """Prune module's parameter `name` by a new method of this class, and return the method."""
        method = old = _method_of(module, name)
        new = cls(*args, **kwargs)
        new._tensor_name = name
        if old is not None:
            method = PruningContainer(old) if not isinstance(old, PruningContainer) else old
            method.add_pruning_method(new)
            hooks = module._forward_pre_hooks
            for k in [k for k, (hook, _) in hooks.items() if hook is old]:
                del hooks[k]
        else:
            method = new
        original = getattr(module, name + "_orig") if old is not None else getattr(module, name)
        if importance_scores is None:
            importance_scores = original
        elif importance_scores.shape != original.shape:
            raise ValueError(
                f"importance_scores should have the same shape as parameter {name} of {module}: "
                f"{tuple(importance_scores.shape)} for {tuple(original.shape)}"
            )
        if old is None:
            before = torch.ones_like(importance_scores)
            module.register_parameter(name + "_orig", original)
            del module._parameters[name]
        else:
            before = getattr(module, name + "_mask").detach().clone()
        with torch.no_grad():
            mask = method.compute_mask(importance_scores.detach(), before).to(original.dtype)
        if old is None:
            module.register_buffer(name + "_mask", mask)
        else:
            setattr(module, name + "_mask", mask)
        setattr(module, name, method.apply_mask(module))
        module.register_forward_pre_hook(method)
        return method

    def prune(self, t, default_mask=None, importance_scores=None):
        """t times the mask that its importance leads to. Nothing is registered."""
        scores = t if importance_scores is None else importance_scores
        if scores.shape != t.shape:
            raise ValueError("importance_scores should have the same shape as tensor t")
        default_mask = torch.ones_like(t) if default_mask is None else default_mask
        return t * self.compute_mask(scores, default_mask=default_mask)

    def remove(self, module):
        """Make the pruned values the parameter again."""
        name = self._tensor_name
        if name + "_mask" not in module._buffers:
            raise ValueError(f"Module {module} has to be pruned before pruning can be removed")
        with torch.no_grad():
            values = self.apply_mask(module).detach()
        original = module._parameters.pop(name + "_orig")
        original.data = values
        del module._buffers[name + "_mask"]
        if name in module.__dict__:
            delattr(module, name)
        module.register_parameter(name, original)


def _method_of(module, name):
    """The method that prunes a parameter, or None."""
    for hook, _ in module._forward_pre_hooks.values():
        if isinstance(hook, BasePruningMethod) and hook._tensor_name == name:
            return hook
    return None


class PruningContainer(BasePruningMethod):
    """Several methods that are applied one after another. Each sees what those before it left."""

    def __init__(self, *args):
        self._methods = ()
        methods = args if len(args) != 1 or not isinstance(args[0], Iterable) else tuple(args[0])
        self._tensor_name = methods[0]._tensor_name if methods else None
        for method in methods:
            self.add_pruning_method(method)

    def add_pruning_method(self, method):
        """Append a method. Raises TypeError for another object, ValueError for a method of another parameter."""
        if not isinstance(method, BasePruningMethod) and method is not None:
            raise TypeError(f"{type(method)} is not a BasePruningMethod subclass")
        if method is not None and self._tensor_name != method._tensor_name:
            raise ValueError(
                "Can only add pruning methods acting on the parameter named "
                f"'{self._tensor_name}' to PruningContainer {self}. Found '{method._tensor_name}'"
            )
        self._methods += (method,)

    def __len__(self):
        return len(self._methods)

    def __iter__(self):
        return iter(self._methods)

    def __getitem__(self, index):
        return self._methods[index]

    def compute_mask(self, t, default_mask):
        """The mask of the last method, applied to what default_mask leaves."""
        method = self._methods[-1]
        left = default_mask != 0
        if method.PRUNING_TYPE == "structured":  # channels that are pruned as a whole do not count again
            dims = tuple(d for d in range(t.dim()) if d != method.dim % t.dim())
            keep = left.any(dims) if dims else left
            index = keep.nonzero().reshape(-1)
            part = method.compute_mask(t.index_select(method.dim, index), default_mask.index_select(method.dim, index))
            return default_mask.clone().index_copy(method.dim, index, part.to(default_mask.dtype))
        if method.PRUNING_TYPE not in ("unstructured", "global"):
            raise ValueError(f"Unrecognized PRUNING_TYPE {method.PRUNING_TYPE}")
        mask = default_mask.clone()
        mask[left] = method.compute_mask(t[left], default_mask[left]).to(mask.dtype)
        return mask


class Identity(BasePruningMethod):
    """Prunes nothing: the mask is ones."""

    def compute_mask(self, t, default_mask):
        """default_mask."""
        return default_mask


def _validate_pruning_amount_init(amount):
    if not isinstance(amount, numbers.Real):
        raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
    if (
        isinstance(amount, numbers.Integral)
        and amount < 0
        or not isinstance(amount, numbers.Integral)
        and not 0 <= amount <= 1
    ):
        raise ValueError(f"amount={amount} should either be a float in the range [0, 1] or a non-negative integer")


def _count(amount, size):
    """How many of `size` elements to prune. Raises ValueError for more than there are."""
    if isinstance(amount, numbers.Integral):
        if amount > size:
            raise ValueError(f"amount={amount} should be smaller than the number of parameters to prune={size}")
        return int(amount)
    return round(amount * size)


class RandomUnstructured(BasePruningMethod):
    """Prunes randomly drawn elements: a number or a share of them."""

    def __init__(self, amount):
        _validate_pruning_amount_init(amount)
        self.amount = amount

    def compute_mask(self, t, default_mask):
        """default_mask, with zeros at randomly drawn elements."""
        return _without(default_mask, torch.rand_like(t.float()), _count(self.amount, t.numel()))


class L1Unstructured(RandomUnstructured):
    """Prunes the elements with the least absolute values: a number or a share of them."""

    def compute_mask(self, t, default_mask):
        """default_mask, with zeros at the elements with the least absolute values."""
        return _without(default_mask, t.abs(), _count(self.amount, t.numel()))


def _without(mask, scores, count):
    """mask, with zeros at the `count` lowest scores."""
    mask = mask.clone()
    if count:
        least = torch.topk(scores.reshape(-1), k=count, largest=False).indices
        mask.view(-1)[least] = 0
    return mask


class RandomStructured(BasePruningMethod):
    """Prunes randomly drawn channels along dim: a number or a share of them."""

    PRUNING_TYPE = "structured"

    def __init__(self, amount, dim=-1):
        _validate_pruning_amount_init(amount)
        self.amount, self.dim = amount, dim

    def _scores(self, t):
        return torch.rand(t.shape[self.dim])

    def compute_mask(self, t, default_mask):
        """default_mask, with zeros in the pruned channels."""
        if t.dim() <= 1:
            raise ValueError(
                f"Structured pruning can only be applied to multidimensional tensors. Found tensor of shape {t.shape} "
                f"with {t.dim()} dims"
            )
        if not -t.dim() <= self.dim < t.dim():
            raise IndexError(f"Invalid index {self.dim} for tensor of size {t.shape}")
        count = _count(self.amount, t.shape[self.dim])
        keep = _without(torch.ones(t.shape[self.dim]), self._scores(t), count)
        shape = [1] * t.dim()
        shape[self.dim] = -1
        return default_mask * keep.to(default_mask.dtype).to(default_mask.device).reshape(shape)


class LnStructured(RandomStructured):
    """Prunes the channels along dim with the least Ln norm: a number or a share of them."""

    def __init__(self, amount, n, dim=-1):
        super().__init__(amount, dim)
        self.n = n

    def _scores(self, t):
        dims = tuple(d for d in range(t.dim()) if d != self.dim % t.dim())
        return torch.norm(t, p=self.n, dim=dims)


class CustomFromMask(BasePruningMethod):
    """Prunes the elements where a mask is zero."""

    PRUNING_TYPE = "global"

    def __init__(self, mask):
        self.mask = mask

    def compute_mask(self, t, default_mask):
        """default_mask times the mask."""
        return default_mask * self.mask.to(dtype=default_mask.dtype)


def identity(module, name):
    """Give module's parameter `name` a mask of ones. Returns the module."""
    Identity.apply(module, name)
    return module


def random_unstructured(module, name, amount):
    """Apply RandomUnstructured to module's parameter `name`. Returns the module."""
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(module, name, amount, importance_scores=None):
    """Apply L1Unstructured to module's parameter `name`. Returns the module."""
    L1Unstructured.apply(module, name, amount=amount, importance_scores=importance_scores)
    return module


def random_structured(module, name, amount, dim):
    """Apply RandomStructured to module's parameter `name`. Returns the module."""
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(module, name, amount, n, dim, importance_scores=None):
    """Apply LnStructured to module's parameter `name`. Returns the module."""
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def custom_from_mask(module, name, mask):
    """Apply CustomFromMask to module's parameter `name`. Returns the module."""
    CustomFromMask.apply(module, name, mask)
    return module


def global_unstructured(parameters, pruning_method, importance_scores=None, **kwargs):
    """Prune pairs (module, name) by a method of PRUNING_TYPE "unstructured", which sees all of them as one vector."""
    if not isinstance(parameters, Iterable):
        raise TypeError("global_unstructured(): parameters is not an Iterable")
    parameters, scores = list(parameters), importance_scores or {}
    weights = [getattr(m, n + "_orig") if n + "_orig" in m._parameters else getattr(m, n) for m, n in parameters]
    flat = torch.cat([scores.get(pair, w).detach().reshape(-1) for pair, w in zip(parameters, weights, strict=True)])
    before = torch.cat(
        [getattr(m, n + "_mask", torch.ones_like(w)).reshape(-1) for (m, n), w in zip(parameters, weights, strict=True)]
    )
    container = PruningContainer()
    container._tensor_name = "temp"
    method = pruning_method(**kwargs)
    method._tensor_name = "temp"
    container.add_pruning_method(method)
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError(
            f'Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. Found method {pruning_method} of '
            f"type {method.PRUNING_TYPE}"
        )
    mask, at = container.compute_mask(flat, before), 0
    for (module, name), w in zip(parameters, weights, strict=True):
        custom_from_mask(module, name, mask=mask[at : at + w.numel()].reshape(tuple(w.shape)))
        at += w.numel()


def remove(module, name):
    """Make the pruned values module's parameter `name` again. Returns the module. Raises ValueError if it is not
    pruned."""
    method = _method_of(module, name)
    if method is None:
        raise ValueError(f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed")
    hooks = module._forward_pre_hooks
    for k in [k for k, (hook, _) in hooks.items() if hook is method]:
        del hooks[k]
    method.remove(module)
    return module


def is_pruned(module):
    """Does the module, or a submodule, have a pruned parameter?"""
    return any(
        isinstance(hook, BasePruningMethod) for m in module.modules() for hook, _ in m._forward_pre_hooks.values()
    )


__dir__ = _dir_of(__name__)
