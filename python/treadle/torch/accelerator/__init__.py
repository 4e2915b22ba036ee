"""torch.accelerator: GPUs of any kind, which here are those of CUDA."""

from .. import _device, _modules, cuda

_KIND = _device.device("cuda")


def is_available():
    """Is there a GPU?"""
    return cuda.is_available()


def device_count():
    """The number of GPUs."""
    return cuda.device_count()


def current_accelerator(check_available=False):
    """torch.device("cuda"); None without a GPU."""
    return _KIND if is_available() else None


def _checked():
    if not is_available():
        raise RuntimeError("Cannot access accelerator device when none is available.")


def current_device_index():
    """The number of the GPU that "cuda" means. RuntimeError: there is none."""
    _checked()
    return cuda.current_device()


def set_device_index(device, /):
    """Set the GPU that "cuda" means in this thread. Raises RuntimeError if there is none."""
    _checked()
    cuda.set_device(device)


current_device_idx, set_device_idx = current_device_index, set_device_index


class device_index(cuda.device):
    """with torch.accelerator.device_index(1): "cuda" means that GPU. None changes nothing."""


def current_stream(device=None, /):
    """The stream that receives new work. Raises RuntimeError if there is no GPU."""
    _checked()
    return cuda.current_stream(device)


def set_stream(stream):
    """Set the stream that receives new work."""
    _checked()
    cuda.set_stream(stream)


def synchronize(device=None, /):
    """Wait for all work on the GPU. Raises RuntimeError if there is none."""
    _checked()
    cuda.synchronize(device)


def get_device_capability(device=None, /):
    """{"supported_dtypes": the dtypes that the GPU can compute in}."""
    from .._tensor import _dtypes

    _checked()
    return {"supported_dtypes": set(_dtypes.DTYPES.values())}


# ---- memory: torch.cuda's counters ----


def empty_cache():
    """Gives cached memory back to the driver."""
    cuda.empty_cache()


def memory_stats(device_index=None, /):
    """Counters by PyTorch's names; empty without a GPU."""
    return cuda.memory_stats(device_index) if is_available() else {}


def memory_allocated(device_index=None, /):
    """Bytes that tensors hold."""
    return cuda.memory_allocated(device_index)


def max_memory_allocated(device_index=None, /):
    """The most bytes that tensors have held."""
    return cuda.max_memory_allocated(device_index)


def memory_reserved(device_index=None, /):
    """Bytes that tensors and the cache hold."""
    return cuda.memory_reserved(device_index)


def max_memory_reserved(device_index=None, /):
    """The most bytes that tensors and the cache have held."""
    return cuda.max_memory_reserved(device_index)


def reset_accumulated_memory_stats(device_index=None, /):
    """Does nothing: the core's counters cover the whole process."""


def reset_peak_memory_stats(device_index=None, /):
    """Does nothing: the core's peak covers the whole process."""


def get_memory_info(device_index=None, /):
    """(free, total) bytes of the GPU. RuntimeError: there is none."""
    _checked()
    return cuda.mem_get_info(device_index)


__getattr__, __dir__ = _modules.refusing("torch.accelerator")
