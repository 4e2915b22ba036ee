"""``torch.optim.lr_scheduler``: learning rates as functions of the step."""

import math
import types
import warnings
from bisect import bisect_right
from collections import Counter

from ..._public import dir_of as _dir_of
from .optimizer import Optimizer


class LRScheduler:
    """The base. ``step()`` sets the groups' "lr", and ``get_last_lr()`` returns them. The state is everything but the
    optimizer."""

    def __init__(self, optimizer, last_epoch=-1):
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        self.optimizer = optimizer
        for i, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group["initial_lr"] = group.get("initial_lr", group["lr"])
            elif "initial_lr" not in group:
                raise KeyError(
                    f"param 'initial_lr' is not specified in param_groups[{i}] when resuming scheduler with last_epoch "
                    ">= 0.\nThis typically happens when:\n1. You're trying to resume training from a checkpoint but "
                    "haven't properly loaded the optimizer state\n2. You're using last_epoch >= 0 for a fresh training "
                    "run (not recommended)"
                )
        self.base_lrs = [group["initial_lr"] for group in optimizer.param_groups]
        self.last_epoch = last_epoch
        self.step()

    def _lrs(self):
        return [group["lr"] for group in self.optimizer.param_groups]

    def get_lr(self):
        raise NotImplementedError  # each scheduler has its own

    def get_last_lr(self):
        return self._last_lr

    def _set(self, lrs):
        for group, lr in zip(self.optimizer.param_groups, lrs):
            group["lr"] = lr
        self._last_lr = list(lrs)

    def step(self, epoch=None):
        """Go on to the next epoch, or to a given one. If the schedule has a formula for that, the rates of a given
        epoch follow from the first ones."""
        self._counted()
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        self._set(self.get_lr() if epoch is None or self._factor is None else self._get_closed_form_lr())

    _step_count = 0

    def _counted(self):
        """Count a step. The first one sets the first rates, the second one follows a step of the optimizer."""
        if self._step_count == 1 and not self.optimizer._opt_called:
            warnings.warn(
                "Detected call of `lr_scheduler.step()` before `optimizer.step()`. Call them in the opposite order: "
                "else the first learning rate of the schedule is never used.",
                UserWarning,
                stacklevel=3,
            )
        self._step_count += 1

    _factor = None  # the factor of the base rate at last_epoch

    def _get_closed_form_lr(self):
        return [base * self._factor() for base in self.base_lrs]

    def state_dict(self):
        return {k: v for k, v in self.__dict__.items() if k != "optimizer"}

    def load_state_dict(self, state_dict):
        self.__dict__.update(state_dict)


_LRScheduler = LRScheduler


def _functions(lambdas, optimizer):
    groups = len(optimizer.param_groups)
    lambdas = list(lambdas) if isinstance(lambdas, (list, tuple)) else [lambdas] * groups
    if len(lambdas) != groups:
        raise ValueError(f"Expected {groups} lr_lambdas, but got {len(lambdas)}")
    return lambdas


class LambdaLR(LRScheduler):
    """Multiplies the first rate by a function of the epoch."""

    def __init__(self, optimizer, lr_lambda, last_epoch=-1):
        self.lr_lambdas = _functions(lr_lambda, optimizer)
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        return [base * f(self.last_epoch) for base, f in zip(self.base_lrs, self.lr_lambdas)]

    def state_dict(self):
        """Functions are left out. Objects that are called are saved as their attributes."""
        kept = [None if isinstance(f, types.FunctionType) else dict(vars(f)) for f in self.lr_lambdas]
        return {**super().state_dict(), "lr_lambdas": kept}

    def load_state_dict(self, state_dict):
        state = dict(state_dict)
        for f, saved in zip(self.lr_lambdas, state.pop("lr_lambdas", ())):
            if saved is not None:
                vars(f).update(saved)
        super().load_state_dict(state)


class MultiplicativeLR(LambdaLR):
    """Multiplies the last rate by a function of the epoch."""

    def get_lr(self):
        if self.last_epoch == 0:
            return self._lrs()
        return [lr * f(self.last_epoch) for lr, f in zip(self._lrs(), self.lr_lambdas)]


class StepLR(LRScheduler):
    """Multiplies the rate by gamma every step_size epochs."""

    def __init__(self, optimizer, step_size, gamma=0.1, last_epoch=-1):
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        turn = self.last_epoch and self.last_epoch % self.step_size == 0
        return [lr * self.gamma if turn else lr for lr in self._lrs()]

    def _factor(self):
        return self.gamma ** (self.last_epoch // self.step_size)


class MultiStepLR(LRScheduler):
    """Multiplies the rate by gamma at each milestone."""

    def __init__(self, optimizer, milestones, gamma=0.1, last_epoch=-1):
        self.milestones, self.gamma = Counter(milestones), gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        return [lr * self.gamma ** self.milestones[self.last_epoch] for lr in self._lrs()]

    def _factor(self):
        return self.gamma ** sum(n for at, n in self.milestones.items() if at <= self.last_epoch)


class ConstantLR(LRScheduler):
    """Multiplies the rate by factor for total_iters epochs. After that it is the first rate."""

    def __init__(self, optimizer, factor=1.0 / 3, total_iters=5, last_epoch=-1):
        if not 0 <= factor <= 1:
            raise ValueError("Constant multiplicative factor expected to be between 0 and 1.")
        self.factor, self.total_iters = factor, total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        by = self.factor if self.last_epoch == 0 else 1 / self.factor if self.last_epoch == self.total_iters else 1
        return [lr * by for lr in self._lrs()]

    def _factor(self):
        return 1.0 if self.last_epoch >= self.total_iters else self.factor


class LinearLR(LRScheduler):
    """Multiplies the rate by a factor that goes from start_factor to end_factor in total_iters epochs."""

    def __init__(self, optimizer, start_factor=1.0 / 3, end_factor=1.0, total_iters=5, last_epoch=-1):
        if not 0 < start_factor <= 1:
            raise ValueError("Starting multiplicative factor expected to be greater than 0 and less or equal to 1.")
        if not 0 <= end_factor <= 1:
            raise ValueError("Ending multiplicative factor expected to be between 0 and 1.")
        self.start_factor, self.end_factor, self.total_iters = start_factor, end_factor, total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        t, n, a, d = self.last_epoch, self.total_iters, self.start_factor, self.end_factor - self.start_factor
        if t == 0:
            return [lr * a for lr in self._lrs()]
        return [lr if t > n else lr * (1 + d / (n * a + (t - 1) * d)) for lr in self._lrs()]

    def _factor(self):
        done = min(self.total_iters, self.last_epoch) / self.total_iters
        return self.start_factor + (self.end_factor - self.start_factor) * done


class ExponentialLR(LRScheduler):
    """Multiplies the rate by gamma every epoch."""

    def __init__(self, optimizer, gamma, last_epoch=-1):
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        return [lr * self.gamma if self.last_epoch else lr for lr in self._lrs()]

    def _factor(self):
        return self.gamma**self.last_epoch


class PolynomialLR(LRScheduler):
    """Lowers the rate to 0 in total_iters epochs, as a power of the remaining share."""

    def __init__(self, optimizer, total_iters=5, power=1.0, last_epoch=-1):
        self.total_iters, self.power = total_iters, power
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        t, n = self.last_epoch, self.total_iters
        if t == 0 or t > n:
            return self._lrs()
        return [lr * ((1 - t / n) / (1 - (t - 1) / n)) ** self.power for lr in self._lrs()]

    def _factor(self):
        return (1 - min(self.total_iters, self.last_epoch) / self.total_iters) ** self.power


class CosineAnnealingLR(LRScheduler):
    """Lowers the rate to eta_min along half a cosine of T_max epochs, and raises it again."""

    def __init__(self, optimizer, T_max, eta_min=0.0, last_epoch=-1):
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        t, n, low = self.last_epoch, self.T_max, self.eta_min
        if t == 0:
            return self._lrs()
        if (t - 1 - n) % (2 * n) == 0:
            return [lr + (base - low) * (1 - math.cos(math.pi / n)) / 2 for base, lr in zip(self.base_lrs, self._lrs())]
        by = (1 + math.cos(math.pi * t / n)) / (1 + math.cos(math.pi * (t - 1) / n))
        return [by * (lr - low) + low for lr in self._lrs()]

    def _factor(self):
        return (1 + math.cos(math.pi * self.last_epoch / self.T_max)) / 2

    def _get_closed_form_lr(self):
        return [self.eta_min + (base - self.eta_min) * self._factor() for base in self.base_lrs]


class CosineAnnealingWarmRestarts(LRScheduler):
    """Lowers the rate to eta_min along half a cosine, then restarts. Each period is T_mult times as long as the last.
    """

    def __init__(self, optimizer, T_0, T_mult=1, eta_min=0.0, last_epoch=-1):
        if T_0 <= 0 or not isinstance(T_0, int):
            raise ValueError(f"Expected positive integer T_0, but got {T_0}")
        if T_mult < 1 or not isinstance(T_mult, int):
            raise ValueError(f"Expected integer T_mult >= 1, but got {T_mult}")
        self.T_0, self.T_i, self.T_mult, self.eta_min, self.T_cur = T_0, T_0, T_mult, eta_min, last_epoch
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        part = (1 + math.cos(math.pi * self.T_cur / self.T_i)) / 2
        return [self.eta_min + (base - self.eta_min) * part for base in self.base_lrs]

    def step(self, epoch=None):
        t = self.last_epoch + 1 if epoch is None else epoch
        if t < 0:
            raise ValueError(f"Expected non-negative epoch, but got {t}")
        period, start = self.T_0, 0
        while t >= start + period:
            start, period = start + period, period * self.T_mult
        self.T_cur, self.T_i, self.last_epoch = t - start, period, math.floor(t)
        self._set(self.get_lr())


class OneCycleLR(LRScheduler):
    """Raises the rate to max_lr and lowers it far below the start, in total_steps. The momentum goes the other way."""

    def __init__(
        self,
        optimizer,
        max_lr,
        total_steps=None,
        epochs=None,
        steps_per_epoch=None,
        pct_start=0.3,
        anneal_strategy="cos",
        cycle_momentum=True,
        base_momentum=0.85,
        max_momentum=0.95,
        div_factor=25.0,
        final_div_factor=1e4,
        three_phase=False,
        last_epoch=-1,
    ):
        if total_steps is None and (epochs is None or steps_per_epoch is None):
            raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        counts = {"total_steps": total_steps} if total_steps is not None else {}
        counts = counts or {"epochs": epochs, "steps_per_epoch": steps_per_epoch}
        for name, count in counts.items():
            if not isinstance(count, int) or count <= 0:
                raise ValueError(f"Expected positive integer {name}, but got {count}")
        if not isinstance(pct_start, float) or not 0 <= pct_start <= 1:
            raise ValueError(f"Expected float between 0 and 1 pct_start, but got {pct_start}")
        self.total_steps = total_steps or epochs * steps_per_epoch
        n, up = self.total_steps, float(pct_start * self.total_steps) - 1
        names = ("initial_lr", "max_lr", "min_lr")
        momenta = ("max_momentum", "base_momentum")
        if three_phase:
            self._phases = [
                (up, names[0], names[1], *momenta),
                (2 * up, names[1], names[0], *momenta[::-1]),
                (n - 1, names[0], names[2], momenta[0], momenta[0]),
            ]
        else:
            self._phases = [(up, names[0], names[1], *momenta), (n - 1, names[1], names[2], *momenta[::-1])]
        self._linear, self.cycle_momentum = anneal_strategy == "linear", cycle_momentum
        self.use_beta1 = cycle_momentum and "betas" in optimizer.defaults
        groups = optimizer.param_groups
        highest = max_lr if isinstance(max_lr, (list, tuple)) else [max_lr] * len(groups)
        if last_epoch == -1:
            for group, high in zip(groups, highest):
                group.update(initial_lr=high / div_factor, max_lr=high, min_lr=high / div_factor / final_div_factor)
                if cycle_momentum:
                    if "momentum" not in group and "betas" not in group:
                        raise ValueError(
                            "optimizer must support momentum or beta1 with `cycle_momentum` option enabled"
                        )
                    group.update(max_momentum=max_momentum, base_momentum=base_momentum)
        super().__init__(optimizer, last_epoch)

    @staticmethod
    def _annealing_cos(start, end, pct):
        return end + (start - end) / 2 * (1 + math.cos(math.pi * pct))

    @staticmethod
    def _annealing_linear(start, end, pct):
        return start + (end - start) * pct

    def _between(self, a, b, part):
        return (self._annealing_linear if self._linear else self._annealing_cos)(a, b, part)

    def get_lr(self):
        t = self.last_epoch
        if t > self.total_steps:
            raise ValueError(f"Tried to step {t} times. The specified number of total steps is {self.total_steps}")
        i = next((i for i, phase in enumerate(self._phases) if t <= phase[0]), len(self._phases) - 1)
        start = self._phases[i - 1][0] if i else 0.0
        end, *names = self._phases[i]
        part, lrs = (t - start) / (end - start), []
        for group in self.optimizer.param_groups:
            lrs.append(self._between(group[names[0]], group[names[1]], part))
            if self.cycle_momentum:
                momentum = self._between(group[names[2]], group[names[3]], part)
                if "betas" in group:
                    group["betas"] = (momentum, *group["betas"][1:])
                else:
                    group["momentum"] = momentum
        return lrs


class CyclicLR(LRScheduler):
    """Moves the rate between base_lr and max_lr: up in step_size_up steps, down in step_size_down."""

    def __init__(
        self,
        optimizer,
        base_lr,
        max_lr,
        step_size_up=2000,
        step_size_down=None,
        mode="triangular",
        gamma=1.0,
        scale_fn=None,
        scale_mode="cycle",
        cycle_momentum=True,
        base_momentum=0.8,
        max_momentum=0.9,
        last_epoch=-1,
    ):
        if mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None:
            raise ValueError("mode is invalid and scale_fn is None")
        groups = optimizer.param_groups

        def each(value):
            return list(value) if isinstance(value, (list, tuple)) else [value] * len(groups)

        if last_epoch == -1:
            for group, low in zip(groups, each(base_lr)):
                group["lr"] = group["initial_lr"] = low
        self.max_lrs = each(max_lr)
        self.total_size = step_size_up + (step_size_up if step_size_down is None else step_size_down)
        self.step_ratio = step_size_up / self.total_size
        self.mode, self.gamma, self.scale_fn = mode, gamma, scale_fn
        self.scale_mode = scale_mode if scale_fn else "iterations" if mode == "exp_range" else "cycle"
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            if "momentum" not in optimizer.defaults and "betas" not in optimizer.defaults:
                raise ValueError("optimizer must support momentum or beta1 with `cycle_momentum` option enabled")
            self.momenta = list(zip(each(base_momentum), each(max_momentum)))
        super().__init__(optimizer, last_epoch)

    def _scale(self, x):
        if self.scale_fn:
            return self.scale_fn(x)
        return {"triangular": 1.0, "triangular2": 1 / 2.0 ** (x - 1), "exp_range": self.gamma**x}[self.mode]

    def get_lr(self):
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        x = 1 + self.last_epoch / self.total_size - cycle
        part = x / self.step_ratio if x <= self.step_ratio else (x - 1) / (self.step_ratio - 1)
        scale = part * self._scale(cycle if self.scale_mode == "cycle" else self.last_epoch)
        if self.cycle_momentum:
            for group, (low, high) in zip(self.optimizer.param_groups, self.momenta):
                if "betas" in group:
                    group["betas"] = (high - (high - low) * scale, *group["betas"][1:])
                else:
                    group["momentum"] = high - (high - low) * scale
        return [base + (high - base) * scale for base, high in zip(self.base_lrs, self.max_lrs)]


class SequentialLR(LRScheduler):
    """Uses one schedule after another. They change at the milestones."""

    def __init__(self, optimizer, schedulers, milestones, last_epoch=-1):
        if not schedulers:
            raise ValueError("SequentialLR expects at least one scheduler, but got no scheduler.")
        if len(milestones) != len(schedulers) - 1:
            raise ValueError(
                f"Sequential Schedulers expects number of schedulers provided to be one more than the number of "
                f"milestone points, but got number of schedulers {len(schedulers)} and the number of "
                f"milestones to be equal to {len(milestones)}"
            )
        self._schedulers, self._milestones, self.optimizer = schedulers, milestones, optimizer
        self.last_epoch = last_epoch + 1
        for group in optimizer.param_groups:
            group["lr"] = group["initial_lr"]
        for scheduler in schedulers:
            scheduler.last_epoch -= 1
        schedulers[0]._step_count = 0
        schedulers[0].step()
        self._last_lr = schedulers[0].get_last_lr()

    def step(self):
        self.last_epoch += 1
        i = bisect_right(self._milestones, self.last_epoch)
        if i and self._milestones[i - 1] == self.last_epoch:
            self._schedulers[i].step(0)
        else:
            self._schedulers[i].step()
        self._last_lr = self._schedulers[i].get_last_lr()

    def state_dict(self):
        state = {k: v for k, v in super().state_dict().items() if k != "_schedulers"}
        return {**state, "_schedulers": [s.state_dict() for s in self._schedulers]}

    def load_state_dict(self, state_dict):
        state = dict(state_dict)
        for scheduler, own in zip(self._schedulers, state.pop("_schedulers")):
            scheduler.load_state_dict(own)
        self.__dict__.update(state)


class ChainedScheduler(SequentialLR):
    """Applies all schedules at each step."""

    def __init__(self, schedulers, optimizer=None):
        self._schedulers = list(schedulers)
        self.optimizer = optimizer or self._schedulers[0].optimizer
        self._last_lr = self._lrs()

    def step(self):
        for scheduler in self._schedulers:
            scheduler.step()
        self._last_lr = self._lrs()


class ReduceLROnPlateau(LRScheduler):
    """Multiplies the rate by factor when a metric has not improved for more than patience epochs. Call
    ``step(metric)``."""

    def __init__(
        self,
        optimizer,
        mode="min",
        factor=0.1,
        patience=10,
        threshold=1e-4,
        threshold_mode="rel",
        cooldown=0,
        min_lr=0,
        eps=1e-8,
    ):
        if factor >= 1.0:
            raise ValueError("Factor should be < 1.0.")
        if mode not in ("min", "max"):
            raise ValueError(f"mode {mode} is unknown!")
        if threshold_mode not in ("rel", "abs"):
            raise ValueError(f"threshold mode {threshold_mode} is unknown!")
        groups = len(optimizer.param_groups)
        self.min_lrs = list(min_lr) if isinstance(min_lr, (list, tuple)) else [min_lr] * groups
        self.optimizer, self.mode, self.factor, self.patience = optimizer, mode, factor, patience
        self.threshold, self.threshold_mode, self.cooldown, self.eps = threshold, threshold_mode, cooldown, eps
        self.last_epoch, self._last_lr = 0, self._lrs()
        self._reset()

    def _reset(self):
        self.best = math.inf if self.mode == "min" else -math.inf
        self.cooldown_counter = self.num_bad_epochs = 0

    def _is_better(self, a, best):
        sign = 1 if self.mode == "max" else -1
        if self.threshold_mode == "rel":
            return a > best * (1 + self.threshold) if sign > 0 else a < best * (1 - self.threshold)
        return a > best + self.threshold if sign > 0 else a < best - self.threshold

    is_better = _is_better

    def step(self, metrics, epoch=None):
        if epoch is not None:
            warnings.warn("The epoch parameter in `scheduler.step()` is deprecated.", UserWarning, stacklevel=2)
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        now = float(metrics)
        if self._is_better(now, self.best):
            self.best, self.num_bad_epochs = now, 0
        else:
            self.num_bad_epochs += 1
        if self.cooldown_counter > 0:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            self._reduce_lr(self.last_epoch)
            self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0
        self._last_lr = self._lrs()

    def _reduce_lr(self, epoch):
        lrs = [max(lr * self.factor, low) for lr, low in zip(self._lrs(), self.min_lrs)]
        self._set([new if old - new > self.eps else old for old, new in zip(self._lrs(), lrs)])


__dir__ = _dir_of(__name__)
