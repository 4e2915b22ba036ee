"""GradScaler: scales losses up so that gradients in half types do not vanish, and skips the steps in which they
overflow."""

import warnings

import numpy

from .. import _core
from . import _device
from ._prim import Tensor
from .autograd.grad_mode import no_grad

_READY, _UNSCALED, _STEPPED = "ready", "unscaled", "stepped"


class GradScaler:
    """Scales losses: scale(loss).backward(), step(optimizer), update().

    The scale grows by growth_factor after growth_interval steps without infinities or NaNs in gradients. A step that
    has them is skipped, and the scale shrinks by backoff_factor. The scale is a number on the host, so step() waits for
    the check of the gradients, as PyTorch's does.
    """

    def __init__(
        self,
        device="cuda",
        init_scale=2.0**16,
        growth_factor=2.0,
        backoff_factor=0.5,
        growth_interval=2000,
        enabled=True,
    ):
        if enabled and device == "cuda" and not _device.gpu_count():
            warnings.warn(
                "torch.cuda.amp.GradScaler is enabled, but CUDA is not available.  Disabling.",
                UserWarning,
                stacklevel=2,
            )
            enabled = False
        if enabled and growth_factor <= 1.0:
            raise AssertionError("The growth factor must be > 1.0.")
        if enabled and backoff_factor >= 1.0:
            raise AssertionError("The backoff factor must be < 1.0.")
        self._enabled, self._scale = enabled, float(init_scale)
        self._growth_factor, self._backoff_factor = growth_factor, backoff_factor
        self._growth_interval, self._growth_tracker = growth_interval, 0
        self._optimizers = {}  # by id: [stage, the optimizer, whether a gradient is infinite]

    def scale(self, outputs):
        """outputs, a tensor or several, times the scale."""
        if not self._enabled:
            return outputs
        if isinstance(outputs, Tensor):
            return outputs * self._scale
        if isinstance(outputs, (list, tuple)):
            return type(outputs)(map(self.scale, outputs))
        raise ValueError("outputs must be a Tensor or an iterable of Tensors")

    def _of(self, optimizer):
        return self._optimizers.setdefault(id(optimizer), [_READY, optimizer, None])

    def unscale_(self, optimizer):
        """Divide the gradients of optimizer's parameters by the scale, in place, so that they can be clipped before
        step().

        Raises RuntimeError if they were divided since the last update(), ValueError if they are float16.
        """
        if not self._enabled:
            return
        entry = self._of(optimizer)
        if entry[0] == _UNSCALED:
            raise RuntimeError("unscale_() has already been called on this optimizer since the last update().")
        if entry[0] == _STEPPED:
            raise RuntimeError("unscale_() is being called after step().")
        grads = [p.grad for g in optimizer.param_groups for p in g["params"] if p.grad is not None]
        if any(g.dtype._name == "float16" for g in grads):
            raise ValueError("Attempting to unscale FP16 gradients.")
        with no_grad():
            for g in grads:
                g.mul_(float(numpy.float32(1.0 / self._scale)))  # PyTorch keeps it as float32
            entry[2] = [~g.isfinite().all() for g in grads]
        entry[0] = _UNSCALED

    def _overflowed(self, entry):
        """Whether a gradient is infinite or NaN. The first call for an optimizer waits for the check."""
        if isinstance(entry[2], list):
            _core.evaluate(*(t._array for t in entry[2]))
            entry[2] = any(bool(t) for t in entry[2])
        return entry[2]

    def step(self, optimizer, *args, **kwargs):
        """Call optimizer.step() if all gradients are finite. This divides them by the scale unless unscale_ did.

        Raises RuntimeError for a closure, or if step() was called since the last update().
        """
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        entry = self._of(optimizer)
        if entry[0] == _STEPPED:
            raise RuntimeError("step() has already been called since the last update().")
        if entry[0] == _READY:
            self.unscale_(optimizer)
        if not entry[2] and entry[2] is not False:
            raise AssertionError("No inf checks were recorded for this optimizer.")
        r = None if self._overflowed(entry) else optimizer.step(*args, **kwargs)
        entry[0] = _STEPPED
        return r

    def update(self, new_scale=None):
        """Set the next scale: new_scale, or what follows from the overflows since the last update()."""
        if not self._enabled:
            return
        entries = [e for e in self._optimizers.values() if e[2] is not None]
        if new_scale is not None:
            self._scale = float(new_scale.item() if isinstance(new_scale, Tensor) else new_scale)
        elif not entries:
            raise AssertionError("No inf checks were recorded prior to update.")
        elif any(self._overflowed(e) for e in entries):
            self._scale, self._growth_tracker = self._scale * self._backoff_factor, 0
        else:
            self._growth_tracker += 1
            if self._growth_tracker == self._growth_interval:
                self._scale, self._growth_tracker = self._grown(), 0
        self._optimizers.clear()

    def _grown(self):
        more = self._scale * self._growth_factor
        return more if more <= 3.4028234663852886e38 else self._scale  # the largest float32

    def get_scale(self):
        """The scale; 1 if not enabled."""
        return self._scale if self._enabled else 1.0

    def get_growth_factor(self):
        """What the scale grows by."""
        return self._growth_factor

    def set_growth_factor(self, new_factor):
        """Sets that."""
        self._growth_factor = new_factor

    def get_backoff_factor(self):
        """What the scale is multiplied by after an overflow."""
        return self._backoff_factor

    def set_backoff_factor(self, new_factor):
        """Sets that."""
        self._backoff_factor = new_factor

    def get_growth_interval(self):
        """After how many steps the scale grows."""
        return self._growth_interval

    def set_growth_interval(self, new_interval):
        """Sets that."""
        self._growth_interval = new_interval

    def is_enabled(self):
        """Does it scale at all?"""
        return self._enabled

    def state_dict(self):
        """What load_state_dict takes; empty if not enabled."""
        if not self._enabled:
            return {}
        return {
            "scale": self._scale,
            "growth_factor": self._growth_factor,
            "backoff_factor": self._backoff_factor,
            "growth_interval": self._growth_interval,
            "_growth_tracker": self._growth_tracker,
        }

    def load_state_dict(self, state_dict):
        """Goes on from a state_dict. RuntimeError: it is empty."""
        if not self._enabled:
            return
        if not state_dict:
            raise RuntimeError(
                "The source state dict is empty, possibly because it was saved from a disabled instance of GradScaler."
            )
        self._scale, self._growth_tracker = float(state_dict["scale"]), int(state_dict["_growth_tracker"])
        self._growth_factor, self._backoff_factor = state_dict["growth_factor"], state_dict["backoff_factor"]
        self._growth_interval = state_dict["growth_interval"]
