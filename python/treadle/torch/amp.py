"""torch.amp: mixed precision. Inside of autocast, the operations that PyTorch lists take half types or float32."""

import functools
import warnings

from .._public import dir_of as _dir_of
from . import _autocast, _device
from ._autocast import state
from ._prim import Tensor
from ._scaler import GradScaler

__path__ = []  # PyTorch's is a package
__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd", "is_autocast_available"]


def _allowed(kind, dtype, enabled):
    """Whether autocast can be used on that device. If not, a warning says why."""
    if not enabled:
        return False
    if kind == "cuda" and not _device.gpu_count():
        warnings.warn(
            "User provided device_type of 'cuda', but CUDA is not available. Disabling", UserWarning, stacklevel=4
        )
        return False
    if dtype._name not in ("float16", "bfloat16"):
        label = "CPU" if kind == "cpu" else "CUDA"
        warnings.warn(
            f"In {label} autocast, but the target dtype is not supported. Disabling autocast.\n{label} Autocast only "
            "supports dtype of torch.bfloat16, torch.float16 currently.",
            UserWarning,
            stacklevel=4,
        )
        return False
    return True


class autocast:
    """A mode of the thread, as a context manager and as a decorator. Matrix products, convolutions and similar
    operations convert their operands to dtype; sums and losses convert them to float32. PyTorch's lists for the kind of
    device say which do.

    device_type: "cuda" or "cpu". dtype: float16 or bfloat16; None means float16 on GPUs and bfloat16 on CPUs.
    cache_enabled: a parameter that is used several times is converted once. Raises RuntimeError for another kind of
    device.
    """

    def __init__(self, device_type, dtype=None, enabled=True, cache_enabled=None):
        if not isinstance(device_type, str):
            raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
        if device_type not in _autocast.TABLE:
            raise RuntimeError(f"User specified an unsupported autocast device_type '{device_type}'")
        self.device = device_type
        self.fast_dtype = _autocast.half_of(device_type) if dtype is None else dtype
        self._enabled = _allowed(device_type, self.fast_dtype, enabled)
        self._cache_enabled = state.caching if cache_enabled is None else cache_enabled
        self._before = []

    def __enter__(self):
        if self._enabled:
            _autocast.install()
        self._before.append((state.on, state.asked, state.chosen, state.caching))
        state.on = state.asked = _with(state.asked, self.device, self.fast_dtype if self._enabled else None)
        state.chosen = _with(state.chosen, self.device, self.fast_dtype)
        state.caching = self._cache_enabled
        state.nesting += 1
        return self

    def __exit__(self, *_):
        state.on, state.asked, state.chosen, state.caching = self._before.pop()
        state.nesting -= 1
        if not state.nesting:
            state.cache.clear()
        return False

    def __call__(self, f):
        @functools.wraps(f)
        def within(*args, **kwargs):
            with self:
                return f(*args, **kwargs)

        return within


def _with(modes, kind, dtype):
    modes = {k: v for k, v in modes.items() if k != kind}
    return modes if dtype is None else {**modes, kind: dtype}


def is_autocast_available(device_type):
    """Is there an autocast for this kind of device?"""
    return device_type in _autocast.TABLE


def custom_fwd(fwd=None, *, device_type, cast_inputs=None):
    """A decorator for forward of an autograd.Function. With cast_inputs, forward runs without autocast on floats
    converted to that dtype. Without, it runs in its caller's mode. custom_bwd restores the mode for backward."""
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @functools.wraps(fwd)
    def forward(ctx, *args, **kwargs):
        on = device_type in state.asked
        ctx._dtype = _autocast.half_of(device_type)
        if cast_inputs is None or not on:
            ctx._fwd_used_autocast = on
            return fwd(ctx, *args, **kwargs)
        ctx._fwd_used_autocast = False
        with autocast(device_type, enabled=False):
            return fwd(ctx, *_cast(args, device_type, cast_inputs), **_cast(kwargs, device_type, cast_inputs))

    return forward


def _cast(o, kind, dtype):
    if isinstance(o, Tensor):
        there = o.is_floating_point() and o.device.type == kind and o.dtype._name != "float64"
        return o.to(dtype) if there else o
    if isinstance(o, dict):
        return {k: _cast(v, kind, dtype) for k, v in o.items()}
    return type(o)(_cast(v, kind, dtype) for v in o) if type(o) in (list, tuple) else o


def custom_bwd(bwd=None, *, device_type):
    """A decorator for backward of an autograd.Function whose forward has custom_fwd. backward runs in forward's mode.
    """
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)

    @functools.wraps(bwd)
    def backward(ctx, *args, **kwargs):
        with autocast(device_type, ctx._dtype, ctx._fwd_used_autocast):
            return bwd(ctx, *args, **kwargs)

    return backward


# ---- the mode by PyTorch's other names ----


def is_autocast_enabled(device_type="cuda"):
    """Is the thread inside of an autocast for this kind of device?"""
    return device_type in state.asked


def get_autocast_dtype(device_type):
    """The dtype that autocast uses on that kind of device when the program names none."""
    return _autocast.half_of(device_type)


def is_autocast_cpu_enabled():
    """is_autocast_enabled("cpu")."""
    return is_autocast_enabled("cpu")


def get_autocast_cpu_dtype():
    """get_autocast_dtype("cpu")."""
    return get_autocast_dtype("cpu")


def get_autocast_gpu_dtype():
    """get_autocast_dtype("cuda")."""
    return get_autocast_dtype("cuda")


def set_autocast_dtype(device_type, dtype):
    """Set the dtype that autocast uses on that kind of device, in this thread, when the program names none."""
    state.chosen = _with(state.chosen, device_type, dtype)


def set_autocast_enabled(device_type, enabled=None):
    """Switch autocast on or off in this thread, for one kind of device. A single argument means GPUs."""
    kind, enabled = ("cuda", device_type) if enabled is None else (device_type, enabled)
    if enabled:
        _autocast.install()
    state.on = state.asked = _with(state.asked, kind, _autocast.half_of(kind) if enabled else None)


def is_autocast_cache_enabled():
    """Whether autocast converts a parameter only once."""
    return state.caching


def set_autocast_cache_enabled(enabled):
    """Set whether autocast converts a parameter only once."""
    state.caching = enabled


def clear_autocast_cache():
    """Forget the converted parameters."""
    state.cache.clear()


__dir__ = _dir_of(__name__)
