"""torch.cuda: GPUs by PyTorch's names. Without one, is_available() is False and tensors stay on the CPU."""

import contextlib

from ... import _core
from ... import memory as _memory
from .. import _device, _modules
from .._tensor._random import default_generator
from . import amp, nvtx
from .graphs import CUDAGraph as CUDAGraph
from .graphs import graph as graph
from .graphs import graph_pool_handle as graph_pool_handle
from .graphs import is_current_stream_capturing as is_current_stream_capturing

OutOfMemoryError = _core.OutOfMemoryError


def is_available():
    """Is there a GPU?"""
    return _device.gpu_count() > 0


def device_count():
    """The number of GPUs."""
    return _device.gpu_count()


def is_initialized():
    """Is there a GPU? Nothing has to be initialised."""
    return is_available()


def init():
    """Does nothing: devices are opened at their first use."""


def _number(device=None):
    if device is None:
        return _device.current()
    if isinstance(device, int):
        return device
    d = _device.device(device)
    if d.type != "cuda":
        raise ValueError(f"Expected a cuda device, but got: {d}")
    return _device.current() if d.index is None else d.index


def _gpu(device=None):
    """The array layer's device. RuntimeError: there is none."""
    if not is_available():
        raise RuntimeError(f"Found no NVIDIA driver or GPU: {_core.cuda_missing()}")
    return _core.device(f"cuda:{_number(device)}")


def current_device():
    """The number of the GPU that "cuda" means."""
    return _device.current()


def set_device(device):
    """Set the GPU that "cuda" means in this thread."""
    _device.choose(_number(device))


class device:
    """with torch.cuda.device(1): "cuda" means that GPU."""

    def __init__(self, device):
        self.idx = _number(device) if device is not None else -1

    def __enter__(self):
        self._before = _device.chosen()
        if self.idx >= 0:
            _device.choose(self.idx)

    def __exit__(self, *_):
        _device.choose(self._before)


class device_of(device):
    """with torch.cuda.device_of(tensor): "cuda" means the tensor's GPU."""

    def __init__(self, obj):
        super().__init__(obj.get_device() if obj.is_cuda else None)


def synchronize(device=None):
    """Wait for all work on the GPU. Without a GPU there is nothing to wait for."""
    if is_available():
        _gpu(device).synchronize()


def get_device_name(device=None):
    """The GPU's model name."""
    return _gpu(device).model


def get_device_capability(device=None):
    """(major, minor) of the GPU's compute capability."""
    n = int("".join(c for c in _gpu(device).arch if c.isdigit()))
    return divmod(n, 10)


class _Properties:
    """name, major, minor, total_memory, multi_processor_count."""

    def __init__(self, d, number):
        self.name, self.total_memory, self.multi_processor_count = d.model, d.memory, d.units
        self.major, self.minor = get_device_capability(number)

    def __repr__(self):
        return f"_CudaDeviceProperties({', '.join(f'{k}={v!r}' for k, v in vars(self).items())})"


def get_device_properties(device=None):
    """name, major, minor, total_memory, multi_processor_count of a GPU."""
    return _Properties(_gpu(device), _number(device))


def get_arch_list():
    """The compute capabilities of the GPUs in this machine, for which kernels are compiled."""
    return [d.arch for d in _core.devices() if d.kind == "cuda"]


def can_device_access_peer(device, peer_device):
    """Can one GPU read the other's memory? If so, copies between them are direct."""
    return device_count() > max(_number(device), _number(peer_device))


def is_bf16_supported(including_emulation=True):
    """True: bfloat16 is computed in float32 and rounded."""
    return is_available()


# ---- memory ----


def _stats(device):
    return _memory.stats(_gpu(device)) if is_available() else {"used": 0, "peak": 0, "cached": 0, "free": 0, "total": 0}


def memory_allocated(device=None):
    """Bytes that arrays hold; 0 without a GPU."""
    return _stats(device)["used"]


def max_memory_allocated(device=None):
    """The most bytes that arrays have held."""
    return _stats(device)["peak"]


def memory_reserved(device=None):
    """Bytes that arrays and the cache hold."""
    return _stats(device)["used"] + _stats(device)["cached"]


def max_memory_reserved(device=None):
    """The most bytes that arrays and the cache have held, as far as the core's counters tell."""
    return max(_stats(device)["peak"], memory_reserved(device))


def mem_get_info(device=None):
    """(free, total) bytes of the GPU."""
    s = _memory.stats(_gpu(device))
    return s["free"], s["total"]


def memory_stats(device=None):
    """Counters by PyTorch's names."""
    s = _stats(device)
    return {"allocated_bytes.all.current": s["used"], "allocated_bytes.all.peak": s["peak"],
            "reserved_bytes.all.current": s["used"] + s["cached"]}  # fmt: skip


def memory_summary(device=None, abbreviated=False):
    """The counters as text."""
    return "\n".join(f"{k}: {v}" for k, v in memory_stats(device).items())


def empty_cache():
    """Gives cached memory back to the driver."""
    if is_available():
        for d in _core.devices():
            if d.kind == "cuda":
                _memory.trim(d)


def reset_peak_memory_stats(device=None):
    """Does nothing: the core's peak covers the whole process."""


reset_max_memory_allocated = reset_accumulated_memory_stats = reset_peak_memory_stats


def set_per_process_memory_fraction(fraction, device=None):
    """Limit the share of the GPU's memory that arrays and the cache may hold together."""
    _memory.limit(int(_gpu(device).memory * fraction), _gpu(device))


def ipc_collect():
    """Does nothing: no memory is shared between processes."""


# ---- streams and events ----


def _stream_on(device, **kwargs):
    with _core.device(f"cuda:{_number(device)}"):
        return _core.Stream(**kwargs)


class Stream:
    """A queue of work on a GPU. Without a GPU it does nothing."""

    def __init__(self, device=None, priority=0, **kwargs):
        self._stream = _stream_on(device) if is_available() else None
        self.device = _device.device("cuda", _number(device))

    def synchronize(self):
        """Wait for the stream's work."""
        if self._stream is not None:
            self._stream.synchronize()

    def query(self):
        """Is the stream's work done?"""
        self.synchronize()
        return True

    def wait_stream(self, stream):
        """Let later work of this stream wait for the other stream's work."""
        stream.synchronize()

    def wait_event(self, event):
        """Let later work of this stream wait for the event."""
        event.synchronize()

    def record_event(self, event=None):
        """Record an event at this point of the stream's work, and return it."""
        event = Event() if event is None else event
        event.record(self)
        return event

    def __enter__(self):
        if self._stream is not None:
            self._stream.__enter__()
        return self

    def __exit__(self, *exc):
        if self._stream is not None:
            self._stream.__exit__(*exc)


class Event:
    """A point in a stream's work: it can be recorded and waited for, and two of them tell the time between. Without a
    GPU it reads the host's clock."""

    def __init__(self, enable_timing=False, blocking=False, interprocess=False, **kwargs):
        self._event, self._time = (_core.Event() if is_available() else None), None

    def record(self, stream=None):
        """Record the point that the stream has reached."""
        from time import perf_counter

        if self._event is None:
            self._time = perf_counter()
        elif stream is None or stream._stream is None:
            self._event.record()
        else:
            self._event.record(stream._stream)

    def synchronize(self):
        """Wait until the work before the event is done."""
        if self._event is not None:
            self._event.synchronize()

    def wait(self, stream=None):
        """Let later work of a stream wait for the event."""
        self.synchronize()

    def query(self):
        """Is the work before the event done?"""
        self.synchronize()
        return True

    def elapsed_time(self, end_event):
        """Milliseconds from this event to a later one."""
        if self._event is None:
            return (end_event._time - self._time) * 1000
        return self._event.elapsed_time(end_event._event)


def current_stream(device=None):
    """The stream that receives new work."""
    s = Stream.__new__(Stream)
    s._stream = _core._current_stream() if is_available() else None
    s.device = _device.device("cuda", _number(device))
    return s


default_stream = current_stream


def stream(stream):
    """with torch.cuda.stream(s): s receives new work."""
    return StreamContext(stream)


class StreamContext:
    """The context manager that stream() returns. None does not change the stream."""

    def __init__(self, stream):
        self.stream = stream

    def __enter__(self):
        if self.stream is not None:
            self.stream.__enter__()

    def __exit__(self, *exc):
        if self.stream is not None:
            self.stream.__exit__(*exc)


def set_stream(stream):
    """Set the stream that receives new work."""
    if stream._stream is not None:
        _core._use_stream(stream._stream)


# ---- random numbers ----


def manual_seed(seed):
    """torch.manual_seed: one generator serves all devices."""
    default_generator.manual_seed(seed)


manual_seed_all = manual_seed


def seed():
    """torch.seed."""
    default_generator.seed()


seed_all = seed


def initial_seed():
    """torch.initial_seed."""
    return default_generator.initial_seed()


def get_rng_state(device="cuda"):
    """torch.get_rng_state."""
    return default_generator.get_state()


def set_rng_state(new_state, device="cuda"):
    """torch.set_rng_state."""
    default_generator.set_state(new_state)


def get_rng_state_all():
    """The generator's state, repeated for each GPU."""
    return [default_generator.get_state() for _ in range(device_count())]


def set_rng_state_all(new_states):
    """Restore the state that get_rng_state_all returned."""
    for state in new_states[:1]:
        default_generator.set_state(state)


def is_tf32_supported():
    """False: products of float32 are computed in float32."""
    return False


def memory_cached(device=None):
    """memory_reserved."""
    return memory_reserved(device)


max_memory_cached = max_memory_reserved


def __getattr__(name):
    from .._tensor._convert import types

    made = types(True)
    if name in made:
        return made[name]
    return _absent(name)


_absent, __dir__ = _modules.refusing("torch.cuda")
