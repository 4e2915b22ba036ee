"""Optimizers that scale their steps by the size of the gradients."""

import math

from ... import torch
from ..._public import dir_of as _dir_of
from . import _counted
from .optimizer import Optimizer, count, kept, number, options


def _zeros(state, p, *names):
    if names[0] not in state:
        for name in names:
            state[name] = torch.zeros_like(p)


def _decayed(group, p, grad):
    """(the value from which a step starts, the gradient). A decoupled weight decay changes the first, another one the
    second."""
    decay = group["weight_decay"]
    if not decay:
        return p, grad
    if group.get("decoupled_weight_decay"):
        return p * (1 - number(group["lr"]) * decay), grad
    return p, grad + p * decay


def _mean(state, name, value, rate):
    """The moving mean of values. The state keeps it."""
    state[name] = state[name] * rate + value * (1 - rate)
    return state[name]


def _moments(state, p, grad, betas):
    """The moving means of gradients and of their squares."""
    _zeros(state, p, "exp_avg", "exp_avg_sq")
    return _mean(state, "exp_avg", grad, betas[0]), _mean(state, "exp_avg_sq", grad * grad, betas[1])


class Adam(Optimizer):
    """Steps along the mean gradient, divided by the root of the mean squared gradient. Both are moving means, corrected
    for their start at 0."""

    _counts = True
    _recordable = True
    _decoupled = False  # does the weight decay act on the parameter (True) or the gradient?

    def __init__(
        self,
        params,
        lr=1e-3,
        betas=(0.9, 0.999),
        eps=1e-8,
        weight_decay=0,
        amsgrad=False,
        *,
        foreach=None,
        maximize=False,
        capturable=False,
        differentiable=False,
        fused=None,
        decoupled_weight_decay=False,
    ):
        decoupled_weight_decay = decoupled_weight_decay or self._decoupled
        super().__init__(params, options(locals()))

    def _begin(self, group, p, state):
        names = ("exp_avg", "exp_avg_sq", "max_exp_avg_sq") if group["amsgrad"] else ("exp_avg", "exp_avg_sq")
        step = count(state, group["capturable"])
        _zeros(state, p, *names)
        return names, step

    def _numbers(self, group, t):
        lr, (b1, b2), decay = number(group["lr"]), map(number, group["betas"]), group["weight_decay"]
        decay = 1 - lr * decay if group["decoupled_weight_decay"] else decay
        return b1, 1 - b1, b2, 1 - b2, lr / (1 - b1**t), (1 - b2**t) ** -0.5, group["eps"], decay

    def _rule(self, group, names):
        kind = "decoupled" if group["decoupled_weight_decay"] else "coupled"
        decay, most, minus = kind if group["weight_decay"] else None, group["amsgrad"], group["maximize"]

        def adam(p, grad, m, v, *rest):
            *top, b1, c1, b2, c2, size, scale, eps, shrink = rest
            grad = -grad if minus else grad
            start = p * shrink if decay == "decoupled" else p
            grad = grad + p * shrink if decay == "coupled" else grad
            m = m * b1 + grad * c1
            v = v * b2 + grad * grad * c2
            top = [torch.maximum(top[0], v)] if most else []
            return (start - m * size / ((top[0] if most else v).sqrt() * scale + eps), m, v, *top)

        return ("adam", decay, most, minus), adam


class AdamW(Adam):
    """Adam with a weight decay that acts on the parameters instead of the gradients."""

    _decoupled = True

    def __init__(
        self,
        params,
        lr=1e-3,
        betas=(0.9, 0.999),
        eps=1e-8,
        weight_decay=1e-2,
        amsgrad=False,
        *,
        maximize=False,
        foreach=None,
        capturable=False,
        differentiable=False,
        fused=None,
    ):
        super().__init__(
            params,
            lr,
            betas,
            eps,
            weight_decay,
            amsgrad,
            foreach=foreach,
            maximize=maximize,
            capturable=capturable,
            differentiable=differentiable,
            fused=fused,
        )


class NAdam(Optimizer):
    """Adam with Nesterov's momentum."""

    _counts = True

    def __init__(
        self,
        params,
        lr=2e-3,
        betas=(0.9, 0.999),
        eps=1e-8,
        weight_decay=0,
        momentum_decay=4e-3,
        decoupled_weight_decay=False,
        *,
        foreach=None,
        maximize=False,
        capturable=False,
        differentiable=False,
    ):
        super().__init__(params, options(locals()))

    def _update(self, group, p, grad, state):
        t, lr, (b1, b2) = count(state), number(group["lr"]), map(number, group["betas"])
        start, grad = _decayed(group, p, grad)
        now, then = (b1 * (1 - 0.5 * 0.96 ** (k * group["momentum_decay"])) for k in (t, t + 1))
        product = kept(number(dict.get(state, "mu_product", 1.0)) * kept(now))
        _counted.put(state, "mu_product", product)
        m, v = _moments(state, p, grad, (b1, b2))
        move = grad * (lr * (1 - now) / (1 - product)) + m * (lr * then / (1 - product * then))
        p.copy_(start - move / ((v * (1 / (1 - b2**t))).sqrt() + group["eps"]))


class RAdam(Optimizer):
    """Adam that starts as SGD with momentum, until the variance of its second moment is known well enough."""

    _counts = True

    def __init__(
        self,
        params,
        lr=1e-3,
        betas=(0.9, 0.999),
        eps=1e-8,
        weight_decay=0,
        decoupled_weight_decay=False,
        *,
        foreach=None,
        maximize=False,
        capturable=False,
        differentiable=False,
    ):
        super().__init__(params, options(locals()))

    def _update(self, group, p, grad, state):
        t, lr, (b1, b2) = count(state), number(group["lr"]), map(number, group["betas"])
        start, grad = _decayed(group, p, grad)
        m, v = _moments(state, p, grad, (b1, b2))
        longest = 2 / (1 - b2) - 1
        length = longest - 2 * t * b2**t / (1 - b2**t)
        move = m * (lr / (1 - b1**t))
        if length > 5:
            rect = math.sqrt((length - 4) * (length - 2) * longest / ((longest - 4) * (longest - 2) * length))
            move = move * (rect * math.sqrt(1 - b2**t)) / (v.sqrt() + group["eps"])
        p.copy_(start - move)


class Adamax(Optimizer):
    """Adam with the largest gradient in place of the mean square."""

    _counts = True

    def __init__(
        self,
        params,
        lr=2e-3,
        betas=(0.9, 0.999),
        eps=1e-8,
        weight_decay=0,
        foreach=None,
        *,
        maximize=False,
        differentiable=False,
        capturable=False,
    ):
        super().__init__(params, options(locals()))

    def _update(self, group, p, grad, state):
        t, lr, (b1, b2) = count(state), number(group["lr"]), map(number, group["betas"])
        _zeros(state, p, "exp_avg", "exp_inf")
        _, grad = _decayed(group, p, grad)
        m = _mean(state, "exp_avg", grad, b1)
        u = state["exp_inf"] = torch.maximum(state["exp_inf"] * b2, grad.abs() + group["eps"])
        p.copy_(p - m * (lr / (1 - b1**t)) / u)


class Adagrad(Optimizer):
    """Steps along the gradient, divided by the root of the sum of all squared gradients."""

    _counts = True

    def __init__(
        self,
        params,
        lr=1e-2,
        lr_decay=0,
        weight_decay=0,
        initial_accumulator_value=0,
        eps=1e-10,
        foreach=None,
        *,
        maximize=False,
        differentiable=False,
        fused=None,
    ):
        super().__init__(params, options(locals()))
        for group in self.param_groups:  # PyTorch's has its state before the first step, too
            for p in group["params"]:
                self._begun(group, p, self.state[p])

    @staticmethod
    def _begun(group, p, state):
        if "sum" not in state:
            first = group["initial_accumulator_value"]
            _counted.put(state, "step", number(dict.get(state, "step", 0)))
            state["sum"] = torch.full_like(p.detach(), complex(first, first) if p.is_complex() else first)

    def share_memory(self):
        """Move the sums to memory that other processes see."""
        for state in self.state.values():
            state["sum"].share_memory_()

    def _update(self, group, p, grad, state):
        self._begun(group, p, state)
        t = count(state)
        _, grad = _decayed(group, p, grad)
        total = state["sum"] = state["sum"] + grad * grad
        p.copy_(p - grad * (number(group["lr"]) / (1 + (t - 1) * group["lr_decay"])) / (total.sqrt() + group["eps"]))


class Adadelta(Optimizer):
    """Steps whose size follows that of recent steps and recent squared gradients."""

    _counts = True

    def __init__(
        self,
        params,
        lr=1.0,
        rho=0.9,
        eps=1e-6,
        weight_decay=0,
        foreach=None,
        *,
        capturable=False,
        maximize=False,
        differentiable=False,
    ):
        if not 0 <= rho <= 1:
            raise ValueError(f"Invalid rho value: {rho}")
        super().__init__(params, options(locals()))

    def _update(self, group, p, grad, state):
        count(state)
        _zeros(state, p, "square_avg", "acc_delta")
        rho, eps, (_, grad) = group["rho"], group["eps"], _decayed(group, p, grad)
        v = _mean(state, "square_avg", grad * grad, rho)
        delta = (state["acc_delta"] + eps).sqrt() / (v + eps).sqrt() * grad
        _mean(state, "acc_delta", delta * delta, rho)
        p.copy_(p - delta * number(group["lr"]))


class RMSprop(Optimizer):
    """Steps along the gradient, divided by the root of the mean squared gradient. centered: by its standard deviation.
    """

    _counts = True

    def __init__(
        self,
        params,
        lr=1e-2,
        alpha=0.99,
        eps=1e-8,
        weight_decay=0,
        momentum=0,
        centered=False,
        capturable=False,
        foreach=None,
        maximize=False,
        differentiable=False,
    ):
        super().__init__(params, options(locals()))

    def _update(self, group, p, grad, state):
        names = [
            "square_avg",
            *(["momentum_buffer"] if group["momentum"] else []),
            *(["grad_avg"] if group["centered"] else []),
        ]
        count(state)
        _zeros(state, p, *names)
        lr, a, (_, grad) = number(group["lr"]), group["alpha"], _decayed(group, p, grad)
        v = _mean(state, "square_avg", grad * grad, a)
        if group["centered"]:
            mean = _mean(state, "grad_avg", grad, a)
            v = v - mean * mean
        move = grad / (v.sqrt() + group["eps"])
        if group["momentum"]:
            move = state["momentum_buffer"] = state["momentum_buffer"] * group["momentum"] + move
        p.copy_(p - move * lr)


__dir__ = _dir_of(__name__)
