"""Optimizers whose steps are scaled by the gradients' own size."""

import math

from ... import torch
from .optimizer import Optimizer, check_betas, check_positive, count, number


def _zeros(state, p, *names):
    if names[0] not in state:
        for name in names:
            state[name] = torch.zeros_like(p)


def _decayed(group, p, grad):
    """The gradient with the weight decay's part."""
    decay = group["weight_decay"]
    return grad + p * decay if decay else grad


class Adam(Optimizer):
    """Steps by the mean gradient over the root of the mean squared gradient, moving means corrected for their start."""

    _recordable = True
    _decoupled = False  # weight decay: of the gradient (False) or of the parameter

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
        check_positive(lr=lr, eps=eps, weight_decay=weight_decay)
        check_betas(betas)
        super().__init__(
            params,
            {
                "lr": lr,
                "betas": betas,
                "eps": eps,
                "weight_decay": weight_decay,
                "amsgrad": amsgrad,
                "foreach": foreach,
                "maximize": maximize,
                "capturable": capturable,
                "differentiable": differentiable,
                "fused": fused,
                "decoupled_weight_decay": decoupled_weight_decay or self._decoupled,
            },
        )

    def _begin(self, group, p, state):
        names = ("exp_avg", "exp_avg_sq", "max_exp_avg_sq") if group["amsgrad"] else ("exp_avg", "exp_avg_sq")
        _zeros(state, p, *names)
        return names, count(state, group["capturable"])

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
    """Adam whose weight decay acts on the parameters, not on the gradients."""

    _decoupled = True

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2, amsgrad=False, **options):
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, **options)


class NAdam(Optimizer):
    """Adam with Nesterov's momentum."""

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
        check_positive(lr=lr, eps=eps, weight_decay=weight_decay, momentum_decay=momentum_decay)
        check_betas(betas)
        super().__init__(
            params,
            {
                "lr": lr,
                "betas": betas,
                "eps": eps,
                "weight_decay": weight_decay,
                "momentum_decay": momentum_decay,
                "decoupled_weight_decay": decoupled_weight_decay,
                "maximize": maximize,
                "foreach": foreach,
                "capturable": capturable,
                "differentiable": differentiable,
            },
        )

    def _update(self, group, p, grad, state):
        _zeros(state, p, "exp_avg", "exp_avg_sq")
        t, lr, (b1, b2) = count(state), number(group["lr"]), map(number, group["betas"])
        start = p
        if group["weight_decay"]:
            if group["decoupled_weight_decay"]:
                start = p * (1 - lr * group["weight_decay"])
            else:
                grad = _decayed(group, p, grad)
        now, then = (b1 * (1 - 0.5 * 0.96 ** (k * group["momentum_decay"])) for k in (t, t + 1))
        product = state["mu_product"] = number(state.get("mu_product", 1.0)) * now
        m = state["exp_avg"] = state["exp_avg"] * b1 + grad * (1 - b1)
        v = state["exp_avg_sq"] = state["exp_avg_sq"] * b2 + grad * grad * (1 - b2)
        move = grad * (lr * (1 - now) / (1 - product)) + m * (lr * then / (1 - product * then))
        p.copy_(start - move / ((v * (1 / (1 - b2**t))).sqrt() + group["eps"]))


class RAdam(Optimizer):
    """Adam that begins as SGD with momentum until its second moment's variance is known."""

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
        check_positive(lr=lr, eps=eps, weight_decay=weight_decay)
        check_betas(betas)
        super().__init__(
            params,
            {
                "lr": lr,
                "betas": betas,
                "eps": eps,
                "weight_decay": weight_decay,
                "maximize": maximize,
                "foreach": foreach,
                "capturable": capturable,
                "decoupled_weight_decay": decoupled_weight_decay,
                "differentiable": differentiable,
            },
        )

    def _update(self, group, p, grad, state):
        _zeros(state, p, "exp_avg", "exp_avg_sq")
        t, lr, (b1, b2) = count(state), number(group["lr"]), map(number, group["betas"])
        start = p
        if group["weight_decay"]:
            if group["decoupled_weight_decay"]:
                start = p * (1 - lr * group["weight_decay"])
            else:
                grad = _decayed(group, p, grad)
        m = state["exp_avg"] = state["exp_avg"] * b1 + grad * (1 - b1)
        v = state["exp_avg_sq"] = state["exp_avg_sq"] * b2 + grad * grad * (1 - b2)
        longest = 2 / (1 - b2) - 1
        length = longest - 2 * t * b2**t / (1 - b2**t)
        move = m * (lr / (1 - b1**t))
        if length > 5:
            rect = math.sqrt((length - 4) * (length - 2) * longest / ((longest - 4) * (longest - 2) * length))
            move = move * (rect * math.sqrt(1 - b2**t)) / (v.sqrt() + group["eps"])
        p.copy_(start - move)


class Adamax(Optimizer):
    """Adam by the largest gradient instead of the mean square."""

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
        check_positive(lr=lr, eps=eps, weight_decay=weight_decay)
        check_betas(betas)
        super().__init__(
            params,
            {
                "lr": lr,
                "betas": betas,
                "eps": eps,
                "weight_decay": weight_decay,
                "foreach": foreach,
                "maximize": maximize,
                "differentiable": differentiable,
                "capturable": capturable,
            },
        )

    def _update(self, group, p, grad, state):
        _zeros(state, p, "exp_avg", "exp_inf")
        t, lr, (b1, b2) = count(state), number(group["lr"]), map(number, group["betas"])
        grad = _decayed(group, p, grad)
        m = state["exp_avg"] = state["exp_avg"] * b1 + grad * (1 - b1)
        u = state["exp_inf"] = torch.maximum(state["exp_inf"] * b2, grad.abs() + group["eps"])
        p.copy_(p - m * (lr / (1 - b1**t)) / u)


class Adagrad(Optimizer):
    """Steps by the gradient over the root of the sum of all squared gradients."""

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
        check_positive(lr=lr, lr_decay=lr_decay, weight_decay=weight_decay, eps=eps)
        check_positive(initial_accumulator_value=initial_accumulator_value)
        super().__init__(
            params,
            {
                "lr": lr,
                "lr_decay": lr_decay,
                "eps": eps,
                "weight_decay": weight_decay,
                "foreach": foreach,
                "initial_accumulator_value": initial_accumulator_value,
                "maximize": maximize,
                "differentiable": differentiable,
                "fused": fused,
            },
        )

    def _update(self, group, p, grad, state):
        if "sum" not in state:
            state["sum"] = torch.full_like(p, group["initial_accumulator_value"])
        t = count(state)
        grad = _decayed(group, p, grad)
        total = state["sum"] = state["sum"] + grad * grad
        p.copy_(p - grad * (number(group["lr"]) / (1 + (t - 1) * group["lr_decay"])) / (total.sqrt() + group["eps"]))


class Adadelta(Optimizer):
    """Steps of the size of recent steps, by the recent squared gradients."""

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
        check_positive(lr=lr, eps=eps, weight_decay=weight_decay)
        if not 0 <= rho <= 1:
            raise ValueError(f"Invalid rho value: {rho}")
        super().__init__(
            params,
            {
                "lr": lr,
                "rho": rho,
                "eps": eps,
                "weight_decay": weight_decay,
                "maximize": maximize,
                "capturable": capturable,
                "foreach": foreach,
                "differentiable": differentiable,
            },
        )

    def _update(self, group, p, grad, state):
        _zeros(state, p, "square_avg", "acc_delta")
        count(state)
        rho, eps, grad = group["rho"], group["eps"], _decayed(group, p, grad)
        v = state["square_avg"] = state["square_avg"] * rho + grad * grad * (1 - rho)
        delta = (state["acc_delta"] + eps).sqrt() / (v + eps).sqrt() * grad
        state["acc_delta"] = state["acc_delta"] * rho + delta * delta * (1 - rho)
        p.copy_(p - delta * number(group["lr"]))


class RMSprop(Optimizer):
    """Steps by the gradient over the root of the mean squared gradient; centered: of its variance."""

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
        check_positive(lr=lr, eps=eps, momentum=momentum, weight_decay=weight_decay, alpha=alpha)
        super().__init__(
            params,
            {
                "lr": lr,
                "momentum": momentum,
                "alpha": alpha,
                "eps": eps,
                "centered": centered,
                "weight_decay": weight_decay,
                "capturable": capturable,
                "foreach": foreach,
                "maximize": maximize,
                "differentiable": differentiable,
            },
        )

    def _update(self, group, p, grad, state):
        names = [
            "square_avg",
            *(["momentum_buffer"] if group["momentum"] else []),
            *(["grad_avg"] if group["centered"] else []),
        ]
        _zeros(state, p, *names)
        count(state)
        lr, a, grad = number(group["lr"]), group["alpha"], _decayed(group, p, grad)
        v = state["square_avg"] = state["square_avg"] * a + grad * grad * (1 - a)
        if group["centered"]:
            mean = state["grad_avg"] = state["grad_avg"] * a + grad * (1 - a)
            v = v - mean * mean
        move = grad / (v.sqrt() + group["eps"])
        if group["momentum"]:
            move = state["momentum_buffer"] = state["momentum_buffer"] * group["momentum"] + move
        p.copy_(p - move * lr)
