"""Optimizers that step along the gradient itself, its mean, or its sign."""

from ... import torch
from .. import _modules
from . import _counted
from .optimizer import Optimizer, count, kept, number, options


class SGD(Optimizer):
    """Steps against the gradient, with momentum."""

    _recordable = True

    def __init__(
        self,
        params,
        lr=1e-3,
        momentum=0,
        dampening=0,
        weight_decay=0,
        nesterov=False,
        *,
        maximize=False,
        foreach=None,
        differentiable=False,
        fused=None,
    ):
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        super().__init__(params, options(locals()))

    def _begin(self, group, p, state):
        if not group["momentum"]:
            return (), False
        first = state.get("momentum_buffer") is None
        if first:
            state["momentum_buffer"] = torch.zeros_like(p)
        return ("momentum_buffer",), first

    def _numbers(self, group, first):
        damped = 1.0 if first else 1 - group["dampening"]  # the first buffer is the gradient itself
        return number(group["lr"]), number(group["momentum"]), damped, group["weight_decay"]

    def _rule(self, group, names):
        decay, nesterov, minus = bool(group["weight_decay"]), group["nesterov"], group["maximize"]

        def sgd(p, grad, *rest):
            *held, lr, momentum, damped, shrink = rest
            grad = -grad if minus else grad
            grad = grad + p * shrink if decay else grad
            held = [held[0] * momentum + grad * damped] if held else []
            move = grad + held[0] * momentum if nesterov else held[0] if held else grad
            return (p - move * lr, *held)

        return ("sgd", decay, bool(names), nesterov, minus), sgd


class ASGD(Optimizer):
    """SGD that keeps the mean of the parameters as "ax" in its state."""

    _counts = True

    def __init__(
        self,
        params,
        lr=1e-2,
        lambd=1e-4,
        alpha=0.75,
        t0=1e6,
        weight_decay=0,
        foreach=None,
        maximize=False,
        differentiable=False,
        capturable=False,
    ):
        super().__init__(params, options(locals(), unchecked=("alpha",)))

    def _update(self, group, p, grad, state):
        if "ax" not in state:
            for name, value in (("step", 0), ("eta", kept(number(group["lr"]))), ("mu", 1)):
                _counted.put(state, name, value)
            state["ax"] = torch.zeros_like(p)
        t, lr = count(state), number(group["lr"])
        grad = grad + p * group["weight_decay"] if group["weight_decay"] else grad
        eta, mu = (number(dict.get(state, name)) for name in ("eta", "mu"))
        p.copy_(p * (1 - group["lambd"] * eta) - grad * eta)
        state["ax"] = state["ax"] + (p - state["ax"]) * mu if mu != 1 else p.clone()
        _counted.put(state, "eta", kept(lr / (1 + group["lambd"] * lr * t) ** group["alpha"]))
        _counted.put(state, "mu", kept(1 / max(1, t - group["t0"])))


class Rprop(Optimizer):
    """Steps along the gradient's sign. Their size grows as long as the sign stays, and shrinks when it changes."""

    _counts = True

    def __init__(
        self,
        params,
        lr=1e-2,
        etas=(0.5, 1.2),
        step_sizes=(1e-6, 50),
        *,
        capturable=False,
        foreach=None,
        maximize=False,
        differentiable=False,
    ):
        if not 0 < etas[0] < 1 < etas[1]:
            raise ValueError(f"Invalid eta values: {etas[0]}, {etas[1]}")
        super().__init__(params, options(locals()))

    def _update(self, group, p, grad, state):
        count(state)
        if "prev" not in state:
            state["prev"] = torch.zeros_like(p)
            state["step_size"] = torch.full_like(p, number(group["lr"]))
        (less, more), (low, high) = group["etas"], group["step_sizes"]
        turn = grad * state["prev"]
        size = state["step_size"]
        size = torch.where(turn > 0, size * more, torch.where(turn < 0, size * less, size)).clamp(low, high)
        state["step_size"] = size
        grad = torch.where(turn < 0, 0.0, grad)
        state["prev"] = grad
        p.copy_(p - torch.sign(grad) * size)


__getattr__, __dir__ = _modules.refusing("torch.optim.sgd")
