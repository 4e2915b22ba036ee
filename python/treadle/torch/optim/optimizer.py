"""``Optimizer``: groups of parameters with their options, the state of each parameter, and the frame of a step.

A subclass defines a step in one of two ways. The first is a formula. ``_begin(group, p, state)`` creates the state's
tensors, and returns their names and what distinguishes one step from another. ``_numbers(group, step)`` returns the
step's numbers. ``_rule(group, names)`` returns a key and a function of parameter, gradient, state's tensors and
numbers, which gives the new parameter and state. The function is recorded once for each key. A step is then one call
for all parameters; each of them is one kernel that writes in place (``_each``). The second way is ``_update(group, p,
grad, state)``, which gives one parameter's new value and state. Its operations are recorded in every step.
"""

import copy
import functools
from collections import OrderedDict, defaultdict
from types import MappingProxyType

import numpy

from ... import _core, torch
from .. import _modules
from .._tensor._settle import settle
from ..nn.modules._hooks import Handle
from . import _counted, _recorded
from ._each import Each


class _Required:
    def __repr__(self):
        return "<required parameter>"


required = _Required()


def number(value):
    """A hyperparameter as a number; it may be a tensor. While a graph is recorded it stays a tensor, because a replay
    uses the value that it has then."""
    return value.item() if isinstance(value, torch.Tensor) and not _core._capturing() else value


def kept(value):
    """A number as PyTorch keeps it in a state: a tensor of the default dtype, to which it is rounded."""
    if isinstance(value, torch.Tensor) or torch.get_default_dtype() is torch.float64:
        return value
    return float(numpy.float32(value))


# The options that must not be negative, and the names that PyTorch's messages give them.
_POSITIVE = {
    "lr": "learning rate",
    "eps": "epsilon value",
    "weight_decay": "weight_decay value",
    "momentum": "momentum value",
    "alpha": "alpha value",
    "lr_decay": "lr_decay value",
    "momentum_decay": "momentum_decay",
    "initial_accumulator_value": "initial_accumulator_value",
}


def options(given, unchecked=()):
    """The options among the arguments of an optimizer's __init__, given as its locals().

    Raises ValueError with PyTorch's message if one is out of its range. The range of those in `unchecked` is not
    checked.
    """
    found = {k: v for k, v in given.items() if k not in ("self", "params", "__class__")}
    for name, word in _POSITIVE.items():
        if name in found and name not in unchecked and not number(found[name]) >= 0:
            raise ValueError(f"Invalid {word}: {found[name]}")
    if found.get("fused") and found.get("differentiable"):
        raise RuntimeError("`fused` does not support `differentiable`")
    if found.get("fused") and found.get("foreach"):
        raise RuntimeError("`fused` and `foreach` cannot be `True` together.")
    for i, beta in enumerate(found.get("betas", ())):
        if not 0 <= number(beta) < 1:
            raise ValueError(f"Invalid beta parameter at index {i}: {beta}")
    return found


def bound(function):
    """The step function of an optimizer, which also calls the hooks. A step that a subclass's step calls does not."""

    @functools.wraps(function)
    def step(self, *args, **kwargs):
        if self._stepping:
            return function(self, *args, **kwargs)
        self._opt_called = self._stepping = True
        try:
            return hooked(self, *args, **kwargs)
        finally:
            self._stepping = False

    def hooked(self, *args, **kwargs):
        for hook in list(self._optimizer_step_pre_hooks.values()):
            got = hook(self, args, kwargs)
            if got is not None:
                args, kwargs = got
        result = function(self, *args, **kwargs)
        for hook in list(self._optimizer_step_post_hooks.values()):
            hook(self, args, kwargs)
        return result

    return step


class Optimizer:
    """Updates parameters by their gradients: ``step()``, ``zero_grad()``, ``state_dict()``.

    params: tensors, or dicts {"params": tensors, option: value} with options that differ from the defaults.
    """

    _opt_called = _stepping = False  # has a step been called? Is one running?
    # Optimizers that hold another one, such as Lookahead, may never call __init__.
    _optimizer_step_pre_hooks = _optimizer_step_post_hooks = MappingProxyType({})
    _counts = False  # are the numbers in its state tensors in PyTorch's?

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        if "step" in cls.__dict__:
            cls.step = bound(cls.step)

    def __init__(self, params, defaults):
        if isinstance(params, torch.Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, but got "
                f"{torch.typename(params)}"
            )
        self.defaults = defaults
        self.state = self._no_state()
        self.param_groups = []
        self._optimizer_step_pre_hooks, self._optimizer_step_post_hooks = OrderedDict(), OrderedDict()
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        for group in groups if isinstance(groups[0], dict) else [{"params": groups}]:
            self.add_param_group(group)

    def _cuda_graph_capture_health_check(self):
        """Does nothing. Copies of PyTorch's optimizers call it in their steps."""

    _accelerator_graph_capture_health_check = _cuda_graph_capture_health_check

    def add_param_group(self, param_group):
        """Add a group of parameters with options of its own."""
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        params = param_group["params"]
        if isinstance(params, set):
            raise TypeError(
                "optimizer parameters need to be organized in ordered collections, but the ordering of tensors "
                "in sets will change between runs. Please use a list instead."
            )
        params = [params] if isinstance(params, torch.Tensor) else list(params)
        named = [p for p in params if isinstance(p, tuple)]
        if named:  # pairs of module.named_parameters()
            param_group = {**param_group, "param_names": [n for n, _ in named]}
            params = [p for _, p in named]
        for p in params:
            if not isinstance(p, torch.Tensor):
                raise TypeError(f"optimizer can only optimize Tensors, but one of the params is {torch.typename(p)}")
            if not (p.is_leaf or p.retains_grad):
                raise ValueError("can't optimize a non-leaf Tensor")
        seen = {id(p) for group in self.param_groups for p in group["params"]}
        if len({id(p) for p in params} - seen) < len(params):
            raise ValueError("some parameters appear in more than one parameter group")
        group = {**self.defaults, **param_group, "params": params}
        for name, value in group.items():
            if value is required:
                raise ValueError(f"parameter group didn't specify a value of required optimization parameter {name}")
        self.param_groups.append(group)

    def zero_grad(self, set_to_none=True):
        """Forget the gradients, or set them to zero with ``set_to_none=False``."""
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                if set_to_none:
                    p.grad = None
                else:
                    p.grad = p.grad.detach()
                    p.grad.zero_()

    # ---- a step ----

    _recordable = False  # can a graph record a step?
    _rule = None  # a method, in subclasses with a formula

    def _update(self, group, p, grad, state):
        raise NotImplementedError  # each optimizer has its own

    def _steps(self, group):
        """Prepare what the parameters of a group share. Called once for a group, before its parameters."""

    def _record(self, group, touched):
        """Record a step of the group's parameters as operations. touched: a list to which everything they write is
        added."""
        for p in group["params"]:
            grad = p.grad
            if grad is None:
                continue
            state = self.state[p]
            grad = -grad if group.get("maximize") else grad
            if p.is_complex():
                self._update_parts(group, p, grad, state)
            else:
                self._update(group, p, grad, state)
            touched.append(p)
            touched.extend(v for v in dict.values(state) if isinstance(v, torch.Tensor) and v.dim())

    def _update_parts(self, group, p, grad, state):
        """The real and imaginary parts of complex numbers are parameters of their own. The state keeps them as complex
        numbers."""
        p, grad = torch.view_as_real(p), torch.view_as_real(grad)
        parts = type(state)(
            (k, torch.view_as_real(v) if torch.is_tensor(v) and v.is_complex() else v) for k, v in dict.items(state)
        )
        self._update(group, p, grad, parts)
        for k, v in dict.items(parts):
            state[k] = torch.view_as_complex(v) if torch.is_tensor(v) and v.shape == p.shape else v

    def _apply(self, group, touched):
        """Step by the group's formula: all parameters of one dtype, device and step number at once."""
        rows, fresh = {}, []
        for p in group["params"]:
            grad = p.grad
            if grad is None:
                continue
            state = self.state[p]
            had = len(state)
            names, step = self._begin(group, p, state)
            if len(state) > had:
                fresh.append(state)
            row = (p, grad, *[state[n] for n in names])
            rows.setdefault((names, step, p.dtype, p.device), []).append(row)
        recording = _core._capturing()
        if recording and fresh:
            raise _recorded.begins(self)
        settle([v for state in fresh for v in dict.values(state) if isinstance(v, torch.Tensor)])
        for (names, step, kind, _), these in rows.items():
            if kind.is_complex:  # views: their parts are parameters of their own
                these = [tuple(map(torch.view_as_real, row)) for row in these]
            name, formula = self._rule(group, names)
            numbers = self._numbers(group, step)
            for row in Each.of(name, formula, these[0], numbers).run(numbers, these):
                new = formula(*row, *numbers)
                row[0].copy_(new[0])
                if recording or kind.is_complex:  # a replay has to find the state at the same place, as views do
                    for t, value in zip(row[2:], new[1:]):
                        t.copy_(value)
                    continue
                self.state[row[0]].update(zip(names, new[1:]))
                touched += [row[0], *new[1:]]

    @bound
    def step(self, closure=None):
        """Update every parameter that has a gradient. closure computes the loss again; its result is returned."""
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        touched, recording = [], _core._capturing()
        with torch.no_grad():
            for group in self.param_groups:
                self._steps(group)
                if recording:
                    _recorded.check(self, group)
                if self._recordable and group.get("capturable"):
                    _recorded.number_steps(self, group)
                (self._apply if self._rule else self._record)(group, touched)
            settle(touched)
        return loss

    def register_step_pre_hook(self, hook):
        return Handle(self._optimizer_step_pre_hooks, hook)

    def register_step_post_hook(self, hook):
        return Handle(self._optimizer_step_post_hooks, hook)

    # ---- state ----

    def state_dict(self):
        """{"state": {number of a parameter: its state}, "param_groups": options and numbers}."""
        numbers = {}
        groups = []
        for group in self.param_groups:
            for p in group["params"]:
                numbers.setdefault(id(p), len(numbers))
            groups.append(
                {
                    **{k: v for k, v in group.items() if k != "params"},
                    "params": [numbers[id(p)] for p in group["params"]],
                }
            )
        state = {numbers[id(p)]: {k: _counted.shown(v) for k, v in dict.items(s)} for p, s in self.state.items() if s}
        return {"state": state, "param_groups": groups}

    def _no_state(self):
        return defaultdict(_counted.Counted if self._counts else dict)

    def load_state_dict(self, state_dict):
        """Take over options and state. The values of the parameters are not part of these. Raises ValueError if the
        groups differ."""
        saved = state_dict["param_groups"]
        if len(saved) != len(self.param_groups):
            raise ValueError("loaded state dict has a different number of parameter groups")
        if any(len(a["params"]) != len(b["params"]) for a, b in zip(saved, self.param_groups)):
            raise ValueError(
                "loaded state dict contains a parameter group that doesn't match the size of optimizer's group"
            )
        params = {}
        for own, other in zip(self.param_groups, saved):
            params.update(zip(other["params"], own["params"]))
            own.update({k: copy.deepcopy(v) for k, v in other.items() if k != "params"})
        self.state = self._no_state()
        for key, values in state_dict["state"].items():
            if key in params:
                self.state[params[key]].update((k, _placed(v, params[key], k)) for k, v in values.items())
        self.__setstate__({"state": self.state, "param_groups": self.param_groups})

    def __setstate__(self, state):
        """Take over the attributes of a copy, or what load_state_dict has loaded. Subclasses add options that older
        files lack."""
        self.__dict__.update(state)
        if self._counts and type(self.state) is defaultdict and self.state.default_factory is dict:  # of a file
            states = self._no_state()
            for p, held in self.state.items():
                states[p].update(held)
            self.state = states

    def __repr__(self):
        text = type(self).__name__ + " ("
        for i, group in enumerate(self.param_groups):
            text += f"\nParameter Group {i}\n"
            text += "".join(f"    {k}: {v}\n" for k, v in sorted(group.items()) if k != "params")
        return text + ")"


def _placed(value, p, key):
    """A copy of a state's value on p's device. Floats get p's dtype."""
    if not isinstance(value, torch.Tensor):
        return copy.deepcopy(value)
    if key in _counted.COUNTS:
        return value.detach().clone() if key == "step" else value.item()
    dtype = p.dtype if value.is_floating_point() and p.is_floating_point() else value.dtype
    return value.detach().to(device=p.device, dtype=dtype).clone()


def count(state, tensor=False):
    """The number of this step, from 1. The state keeps it. tensor: the one that _recorded.number_steps created."""
    if tensor:
        return dict.__getitem__(state, "step")
    step = int(number(dict.get(state, "step", 0))) + 1
    _counted.put(state, "step", step)
    return step


__getattr__, __dir__ = _modules.refusing("torch.optim.optimizer")
