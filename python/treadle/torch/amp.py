"""torch.amp: mixed precision by PyTorch's names. Nothing changes its dtype: kernels fuse instead."""

import functools


class autocast:
    """A mode in which PyTorch picks half types; here dtypes stay as they are. For with and as a decorator."""

    def __init__(self, device_type="cuda", dtype=None, enabled=True, cache_enabled=None):
        self.device, self.fast_dtype, self._enabled = device_type, dtype, enabled

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return False

    def __call__(self, f):
        @functools.wraps(f)
        def within(*args, **kwargs):
            return f(*args, **kwargs)

        return within


class GradScaler:
    """Scaled losses for half types: as nothing is rounded to them here, the scale is 1 and never changes."""

    def __init__(
        self,
        device="cuda",
        init_scale=65536.0,
        growth_factor=2.0,
        backoff_factor=0.5,
        growth_interval=2000,
        enabled=True,
    ):
        self._enabled = enabled

    def scale(self, outputs):
        """outputs."""
        return outputs

    def unscale_(self, optimizer):
        """Nothing."""

    def step(self, optimizer, *args, **kwargs):
        """optimizer.step()."""
        return optimizer.step(*args, **kwargs)

    def update(self, new_scale=None):
        """Nothing."""

    def get_scale(self):
        """1."""
        return 1.0

    def is_enabled(self):
        """As it was made."""
        return self._enabled

    def state_dict(self):
        """What load_state_dict takes."""
        return {}

    def load_state_dict(self, state_dict):
        """Nothing."""


def custom_fwd(fwd=None, *, device_type="cuda", cast_inputs=None):
    """fwd itself."""
    return (lambda f: f) if fwd is None else fwd


def custom_bwd(bwd=None, *, device_type="cuda"):
    """bwd itself."""
    return (lambda f: f) if bwd is None else bwd


def is_autocast_available(device_type):
    """Yes: it changes nothing."""
    return True
