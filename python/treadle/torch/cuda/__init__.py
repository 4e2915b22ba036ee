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
    """Does nothing: what is needed is opened when it is first used."""


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
    """Makes a GPU the one that "cuda" means in this thread."""
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
    """Waits for all work on the GPU; without one for nothing."""
    if is_available():
        _gpu(device).synchronize()


def get_device_name(device=None):
    """What the maker calls the GPU."""
    return _gpu(device).model


def get_device_capability(device=None):
    """(major, minor) of its architecture."""
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
    """The architectures that kernels are compiled for: those of the GPUs that are there."""
    return [d.arch for d in _core.devices() if d.kind == "cuda"]


def can_device_access_peer(device, peer_device):
    """Can one GPU read the other's memory? Copies go directly where it can."""
    return device_count() > max(_number(device), _number(peer_device))


def is_bf16_supported(including_emulation=True):
    """Yes: bfloat16 is computed in float32 and rounded."""
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
    """The most bytes that arrays and the cache are known to have held."""
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
    """Does nothing: the peak is that of the process."""


reset_max_memory_allocated = reset_accumulated_memory_stats = reset_peak_memory_stats


def set_per_process_memory_fraction(fraction, device=None):
    """The share of the GPU's memory that arrays and cache may hold together."""
    _memory.limit(int(_gpu(device).memory * fraction), _gpu(device))


def ipc_collect():
    """Does nothing: memory is not shared between processes."""


# ---- streams and events ----


def _stream_on(device, **kwargs):
    with _core.device(f"cuda:{_number(device)}"):
        return _core.Stream(**kwargs)


class Stream:
    """A queue of work on a GPU; without one it does nothing."""

    def __init__(self, device=None, priority=0, **kwargs):
        self._stream = _stream_on(device) if is_available() else None
        self.device = _device.device("cuda", _number(device))

    def synchronize(self):
        """Waits for its work."""
        if self._stream is not None:
            self._stream.synchronize()

    def query(self):
        """Is its work done?"""
        self.synchronize()
        return True

    def wait_stream(self, stream):
        """What comes next waits for the other stream's work."""
        stream.synchronize()

    def wait_event(self, event):
        """What comes next waits for the event."""
        event.synchronize()

    def record_event(self, event=None):
        """An event at this point of its work."""
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
    """A point in a stream's work: record, wait, and times between two of them; without a GPU the host's clock."""

    def __init__(self, enable_timing=False, blocking=False, interprocess=False, **kwargs):
        self._event, self._time = (_core.Event() if is_available() else None), None

    def record(self, stream=None):
        """Marks where the stream is."""
        from time import perf_counter

        if self._event is None:
            self._time = perf_counter()
        elif stream is None or stream._stream is None:
            self._event.record()
        else:
            self._event.record(stream._stream)

    def synchronize(self):
        """Waits until the work before it is done."""
        if self._event is not None:
            self._event.synchronize()

    def wait(self, stream=None):
        """What comes next waits for it."""
        self.synchronize()

    def query(self):
        """Is the work before it done?"""
        self.synchronize()
        return True

    def elapsed_time(self, end_event):
        """Milliseconds to a later event."""
        if self._event is None:
            return (end_event._time - self._time) * 1000
        return self._event.elapsed_time(end_event._event)


def current_stream(device=None):
    """The stream that work is given to."""
    s = Stream.__new__(Stream)
    s._stream = _core._current_stream() if is_available() else None
    s.device = _device.device("cuda", _number(device))
    return s


default_stream = current_stream


def stream(stream):
    """with torch.cuda.stream(s): work is given to s."""
    return StreamContext(stream)


class StreamContext:
    """What stream() gives; None: no other stream."""

    def __init__(self, stream):
        self.stream = stream

    def __enter__(self):
        if self.stream is not None:
            self.stream.__enter__()

    def __exit__(self, *exc):
        if self.stream is not None:
            self.stream.__exit__(*exc)


def set_stream(stream):
    """Work is given to the stream from now on."""
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
    """The generator's state once for each GPU."""
    return [default_generator.get_state() for _ in range(device_count())]


def set_rng_state_all(new_states):
    """Goes on where get_rng_state_all was called."""
    for state in new_states[:1]:
        default_generator.set_state(state)


def is_tf32_supported():
    """No: products of float32 are computed in float32."""
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
