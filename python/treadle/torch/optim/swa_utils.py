"""``torch.optim.swa_utils``: means of a model's weights over its training (SWA, EMA)."""

import copy
import itertools
import math

from ... import torch
from ..._public import dir_of as _dir_of
from ..nn.modules.module import Module
from ..nn.modules.norm import _BatchNorm
from .lr_scheduler import LRScheduler

__all__ = [
    "SWALR", "AveragedModel", "get_ema_avg_fn", "get_ema_multi_avg_fn", "get_swa_avg_fn", "get_swa_multi_avg_fn",
    "update_bn",
]  # fmt: skip


def _checked(decay):
    if not 0.0 <= decay <= 1.0:
        raise ValueError(f"Invalid decay value {decay} provided. Please provide a value in [0,1] range.")
    return decay


def get_ema_avg_fn(decay=0.999):
    """The exponential moving mean of a parameter, as a function f(mean, value, count)."""
    _checked(decay)

    @torch.no_grad()
    def ema_update(ema_param, current_param, num_averaged):
        return decay * ema_param + (1 - decay) * current_param

    return ema_update


def get_swa_avg_fn():
    """The mean of all values of a parameter, as a function f(mean, value, count)."""

    @torch.no_grad()
    def swa_update(averaged_param, current_param, num_averaged):
        return averaged_param + (current_param - averaged_param) / (num_averaged + 1)

    return swa_update


def _multi(one):
    """f for lists. It writes the means in place."""

    @torch.no_grad()
    def update(averaged_param_list, current_param_list, num_averaged):
        for mean, value in zip(averaged_param_list, current_param_list, strict=True):
            mean.copy_(one(mean, value, num_averaged) if mean.is_floating_point() or mean.is_complex() else value)

    return update


def get_ema_multi_avg_fn(decay=0.999):
    """The exponential moving means of lists of parameters, written into the first list."""
    return _multi(get_ema_avg_fn(decay))


def get_swa_multi_avg_fn():
    """The means of all values of lists of parameters, written into the first list."""
    return _multi(get_swa_avg_fn())


class AveragedModel(Module):
    """A copy of a model, whose parameters are means over the calls of update_parameters(). module is the copy.

    avg_fn(mean, value, count) or multi_avg_fn(means, values, count) computes the mean. use_buffers: means of buffers,
    too.
    """

    def __init__(self, model, device=None, avg_fn=None, multi_avg_fn=None, use_buffers=False):
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = copy.deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", torch.tensor(0, dtype=torch.long, device=device))
        self.avg_fn, self.multi_avg_fn, self.use_buffers = avg_fn, multi_avg_fn, use_buffers

    def forward(self, *args, **kwargs):
        return self.module(*args, **kwargs)

    def update_parameters(self, model):
        """Include model's values in the means."""

        def values(m):
            found = itertools.chain(m.parameters(), m.buffers()) if self.use_buffers else m.parameters()
            return [t.detach() for t in found]

        means, new = values(self.module), values(model)
        if self.n_averaged == 0:
            for mean, value in zip(means, new, strict=True):
                mean.copy_(value)
        elif self.multi_avg_fn is not None or self.avg_fn is None:
            (self.multi_avg_fn or get_swa_multi_avg_fn())(means, new, self.n_averaged)
        else:
            for mean, value in zip(means, new, strict=True):
                mean.copy_(self.avg_fn(mean, value, self.n_averaged))
        if not self.use_buffers:
            for mean, value in zip(self.module.buffers(), model.buffers(), strict=True):
                mean.detach().copy_(value.detach())
        self.n_averaged += 1


@torch.no_grad()
def update_bn(loader, model, device=None):
    """Set the running means and variances of the batch norms to those of loader's batches."""
    norms = {m: m.momentum for m in model.modules() if isinstance(m, _BatchNorm)}
    if not norms:
        return
    for m in norms:
        m.reset_running_stats()
        m.momentum = None
    was_training = model.training
    model.train()
    for batch in loader:
        x = batch[0] if isinstance(batch, (list, tuple)) else batch
        model(x if device is None else x.to(device))
    for m, momentum in norms.items():
        m.momentum = momentum
    model.train(was_training)


class SWALR(LRScheduler):
    """Moves each group's learning rate to swa_lr in anneal_epochs steps ("linear" or "cos"), and keeps it there."""

    def __init__(self, optimizer, swa_lr, anneal_epochs=10, anneal_strategy="cos", last_epoch=-1):
        rates = list(swa_lr) if isinstance(swa_lr, (list, tuple)) else [swa_lr] * len(optimizer.param_groups)
        if len(rates) != len(optimizer.param_groups):
            raise ValueError(f"swa_lr must have {len(optimizer.param_groups)} values; it has {len(rates)}")
        for group, rate in zip(optimizer.param_groups, rates, strict=True):
            group["swa_lr"] = rate
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must by one of 'cos' or 'linear', instead got {anneal_strategy}")
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        self.anneal_strategy, self.anneal_epochs = anneal_strategy, anneal_epochs
        super().__init__(optimizer, last_epoch)

    def _share(self, step):
        """The share of the way to swa_lr after a step."""
        t = max(0.0, min(1.0, step / max(1, self.anneal_epochs)))
        return t if self.anneal_strategy == "linear" else (1 - math.cos(math.pi * t)) / 2

    def get_lr(self):
        step = self.last_epoch
        if self.anneal_epochs == 0:
            step = max(1, step)
        before, now = self._share(max(0, step - 1)), self._share(step)
        rates = []
        for group in self.optimizer.param_groups:
            end, lr = group["swa_lr"], group["lr"]
            start = end if before == 1 else (lr - before * end) / (1 - before)
            rates.append(end * now + start * (1 - now))
        return rates


__dir__ = _dir_of(__name__)
