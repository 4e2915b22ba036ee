"""Optimizers that make use of a parameter's rows and columns: Adafactor, Muon, SparseAdam."""

import math

from ... import torch
from ..._public import dir_of as _dir_of
from .optimizer import Optimizer, count, number, options


class Adafactor(Optimizer):
    """Steps scaled by the mean squared gradient, of which the state keeps only the means of rows and columns.

    lr: the largest relative step. beta2_decay: the exponent with which the means' rate falls. eps: the least values of
    variances (None: the dtype's eps) and of parameters' sizes. d: the largest size of an update.
    """

    _counts = True

    def __init__(
        self, params, lr=1e-2, beta2_decay=-0.8, eps=(None, 1e-3), d=1.0, weight_decay=0.0, *, foreach=None,
        maximize=False,
    ):  # fmt: skip
        given = options(locals(), ("eps",))
        if beta2_decay > 0:
            raise ValueError(f"beta2_decay should be <= 0 but is: {beta2_decay}")
        if eps[0] is not None and not eps[0] >= 0:
            raise ValueError(f"epsilon1 should be >= 0 but is: {eps[0]}")
        if not eps[1] >= 0:
            raise ValueError(f"epsilon2 should be >= 0 but is: {eps[1]}")
        if not d >= 1:
            raise ValueError(f"Clipping threshold d should be >= 1 but is: {d}")
        super().__init__(params, given)

    def _variance(self, state, grad, rate, least):
        """The mean squared gradient, from what the state keeps of it."""
        if grad.dim() < 2:
            state["variance"] = torch.lerp(state.get("variance", torch.zeros_like(grad)), grad.square(), rate)
            return state["variance"]
        for name, dim in (("row_var", -1), ("col_var", -2)):
            mean = grad.square().mean(dim, keepdim=True)
            state[name] = torch.lerp(state.get(name, torch.zeros_like(mean)), mean, rate)
        rows = state["row_var"]
        return rows @ state["col_var"] / rows.mean(-2, keepdim=True).clamp(min=least)

    def _update_parts(self, group, p, grad, state):
        raise RuntimeError("Adafactor does not support complex parameters")

    def _update(self, group, p, grad, state):
        step, lr, (least, least_size) = count(state), number(group["lr"]), group["eps"]
        least = torch.finfo(p.dtype).eps if least is None else least
        root = math.sqrt(p.numel())
        size = (p.norm() / root).clamp(min=least_size) * min(lr, 1 / math.sqrt(step))
        variance = self._variance(state, grad, step ** group["beta2_decay"], least)
        update = variance.clamp(min=least * least).rsqrt() * grad
        update = update * (size / (update.norm() / (root * group["d"])).clamp(min=1.0))
        p.copy_(p * (1 - lr * group["weight_decay"]) - update)


class Muon(Optimizer):
    """Steps along the momentum, made orthogonal by Newton and Schulz's iteration. It is for parameters that are
    matrices.

    adjust_lr_fn: "original" (None) multiplies lr by sqrt(max(1, rows / columns)), "match_rms_adamw" by 0.2
    sqrt(max(rows, columns)). Raises ValueError for a parameter that is no matrix.
    """

    def __init__(
        self, params, lr=1e-3, weight_decay=0.1, momentum=0.95, nesterov=True,
        ns_coefficients=(3.4445, -4.7750, 2.0315), eps=1e-7, ns_steps=5, adjust_lr_fn=None,
    ):  # fmt: skip
        if adjust_lr_fn not in (None, "original", "match_rms_adamw"):
            raise ValueError(f"Adjust learning rate function {adjust_lr_fn} is not supported")
        if ns_steps >= 100:
            raise ValueError("Number of steps must be less than 100 for computational efficiency")
        if len(ns_coefficients) != 3:
            raise ValueError("Coefficients must be a tuple of exactly 3 values")
        super().__init__(params, options(locals()))
        for group in self.param_groups:
            for p in group["params"]:
                if p.dim() != 2:
                    raise ValueError(
                        f"Muon only supports 2D parameters whereas we found a parameter with size: {p.size()}"
                    )

    def _orthogonal(self, x, group):
        a, b, c = group["ns_coefficients"]
        tall = x.size(0) > x.size(1)
        x = x.bfloat16()
        x = x.t() if tall else x
        x = x / x.norm().clamp(min=group["eps"])
        for _ in range(group["ns_steps"]):  # fused: a sum of products is rounded only once
            x = x.float()
            gram = (x @ x.t()).bfloat16().float()
            gram = (b * gram + c * (gram @ gram)).bfloat16().float()
            x = (a * x + gram @ x).bfloat16()
        return x.t() if tall else x

    def _update(self, group, p, grad, state):
        rate, lr = group["momentum"], number(group["lr"])
        mean = state.get("momentum_buffer", torch.zeros_like(p))
        state["momentum_buffer"] = mean = torch.lerp(mean, grad, 1 - rate)
        update = self._orthogonal(torch.lerp(grad, mean, rate) if group["nesterov"] else mean, group).to(p.dtype)
        rows, columns = p.shape
        same = group["adjust_lr_fn"] == "match_rms_adamw"
        size = lr * (0.2 * math.sqrt(max(rows, columns)) if same else math.sqrt(max(1, rows / columns)))
        p.copy_(p * (1 - lr * group["weight_decay"]) - size * update)


class SparseAdam(Optimizer):
    """Adam that leaves rows without a gradient, and their means, unchanged. A row of a dense gradient that is all zeros
    counts as one without a gradient."""

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, maximize=False):
        if not lr > 0:
            raise ValueError(f"Invalid learning rate: {lr}")
        if not eps > 0:
            raise ValueError(f"Invalid epsilon value: {eps}")
        super().__init__(params, options(locals()))

    def _update(self, group, p, grad, state):
        grad = grad.to_dense() if not isinstance(grad, torch.Tensor) else grad
        step, (b1, b2) = count(state), map(number, group["betas"])
        touched = (grad != 0).reshape(grad.shape[0], -1).any(1).reshape(-1, *[1] * (grad.dim() - 1))
        for name, rate, value in (("exp_avg", b1, grad), ("exp_avg_sq", b2, grad * grad)):
            mean = state.get(name, torch.zeros_like(p))
            state[name] = torch.where(touched, mean * rate + value * (1 - rate), mean)
        size = number(group["lr"]) * math.sqrt(1 - b2**step) / (1 - b1**step)
        change = size * state["exp_avg"] / (state["exp_avg_sq"].sqrt() + group["eps"])
        p.copy_(torch.where(touched, p - change, p))


__dir__ = _dir_of(__name__)
