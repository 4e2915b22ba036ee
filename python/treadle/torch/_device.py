"""torch.device: PyTorch's names for places of tensors, on top of the array layer's devices.

A program that asks for a GPU on a machine without one gets the CPU, and one warning.
"""

import threading
import warnings
from importlib import import_module

from .. import _core
from .._callers import outside


class device:
    """A device by name ("cpu", "cuda", "cuda:1"), by kind and number, or a GPU by number alone; `with device(...)`
    makes new tensors there. RuntimeError: no such kind."""

    __slots__ = ("type", "index", "_entered", "_theirs")

    def __init__(self, type, index=None):
        if isinstance(type, device):
            type, index = type.type, type.index if index is None else index
        elif isinstance(type, int):
            type, index = "cuda", type
        elif ":" in type:
            type, _, number = type.partition(":")
            if not number.isdecimal() or index is not None:
                raise RuntimeError(f"Invalid device string: '{type}:{number}'")
            index = int(number)
        if type not in KINDS and type != "meta":
            raise RuntimeError(f"Expected one of {', '.join(KINDS)} device type at start of device string: {type}")
        self.type, self.index, self._entered = type, index, []
        if type == "meta":
            _need_meta()
        self._theirs = None  # the array layer's device, kept once it is known and cannot change

    def __repr__(self):
        return f"device(type={self.type!r}{'' if self.index is None else f', index={self.index}'})"

    def __str__(self):
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __eq__(self, other):
        return isinstance(other, device) and (self.type, self.index) == (other.type, other.index)

    def __hash__(self):
        return hash((self.type, self.index))

    def __reduce__(self):
        return device, (self.type, *(() if self.index is None else (self.index,)))

    def __enter__(self):
        self._entered.append(_asked())
        _chosen.device = self
        return self

    def __exit__(self, *_):
        _chosen.device = self._entered.pop()


# Functions of torch that make tensors, on the device "meta" too.
MAKERS = (
    "arange as_tensor asarray bartlett_window blackman_window empty empty_like empty_strided eye full "
    "full_like hamming_window hann_window linspace logspace ones ones_like rand rand_like randint randint_like randn "
    "randn_like randperm scalar_tensor tensor tril_indices triu_indices zeros zeros_like"
).split()


class NoValues(NotImplementedError):
    """A function that does not know the device "meta" was asked for a tensor there."""


def _need_meta():
    """Let torch's functions know the device without values. Programs that never name it do not pay for it."""
    if "meta" not in _told:
        _told.add("meta")
        import_module(f"{__package__}._meta")


KINDS = ("cpu", "cuda", "null")
_chosen = threading.local()
_told = set()
_known = {}
_CPU = device("cpu")


def gpu_count():
    """The number of GPUs that the driver shows."""
    return sum(d.kind == "cuda" for d in _core.devices())


def theirs(where):
    """The array layer's device for a device, a name or a number. None means the default device."""
    if where is None:
        where = get_default_device()
    elif not isinstance(where, device):
        where = device(where)
    if where._theirs is not None:
        return where._theirs
    if where.type == "meta":
        raise NoValues(
            "torch.device('meta'): only torch's functions that make tensors, Tensor.to and modules know this device"
        )
    if where.type == "cuda" and gpu_count() == 0:
        without_gpu()
        where = _CPU
    if where.index is None and where.type == "cuda":
        return _core.device(f"cuda:{current()}")
    where._theirs = _core.device("cpu" if where.type == "cpu" else f"{where.type}:{where.index or 0}")
    return where._theirs


def once(text, kind=UserWarning):
    """Warn, once in a process, where the program calls the package."""
    if text not in _told:
        _told.add(text)
        warnings.warn(text, kind, stacklevel=outside()[1])


def without_gpu():
    """Warn, once in a process, that the CPU takes the place of a GPU."""
    once(f"no GPU is there: tensors stay on the CPU ({_core.cuda_missing()})", _core.PerformanceWarning)


def ours(d):
    """The torch.device of an array layer's device. Each has only one."""
    found = _known.get(d)
    if found is None:
        found = _known[d] = _CPU if d.host else device(d.kind, d.index)
    return found


def chosen():
    """The number of the GPU that choose() set for this thread, or None."""
    return getattr(_chosen, "gpu", None)


def current():
    """The number of the GPU that "cuda" means in this thread: the one set by choose(), else the arrays' default device,
    else the first."""
    number = chosen()
    if number is None:
        default = _core.device()
        number = default.index if default.kind == "cuda" else 0
    return number


def of_recordings():
    """The array layer's device whose work torch.cuda.graph records."""
    default = _core.device()
    if gpu_count() and (chosen() is not None or default.host):
        return _core.device(f"cuda:{current()}")
    return default


def choose(number):
    """Set the GPU that "cuda" means in this thread. None goes back to the default."""
    _chosen.gpu = number


_Device = device


def set_default_device(device):
    """Set the device on which this thread makes new tensors. None means the CPU."""
    _chosen.device = None if device is None else _Device(device)


def get_default_device():
    """The device on which this thread makes new tensors."""
    return _asked() or _CPU


def _asked():
    return getattr(_chosen, "device", None)
