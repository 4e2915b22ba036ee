"""The CUDA driver's interface by PyCUDA's names, on a GPU, or on the CPU where there is none.

Names of compiled code (Module, Function, module_from_file, module_from_buffer) come from ``_module``.
"""

from .. import _core
from .._core import DeviceAllocation
from .._public import dir_of as _dir_of
from .._words import near_in as _near_in
from ._driver import _blocks, _enums, _errors, _host, _memory
from ._driver._contexts import Context, Device, init
from ._driver._errors import CompileError, Error, LaunchError, LogicError, MemoryError, RuntimeError, refusal
from ._driver._events import Event, Stream
from ._driver._memory import PointerHolderBase, mem_alloc

_INTERNAL = {"as_array", "enum_of", "made", "shape_of"}


def _own(module):
    """The public names that a module of this package defines."""
    for name, value in vars(module).items():
        home = getattr(value, "__module__", module.__name__)
        if (
            not name.startswith("_")
            and name not in _INTERNAL
            and home == module.__name__
            and type(value).__name__ != "module"
        ):
            yield name, value


for _module_of in (_blocks, _enums, _host, _memory):
    globals().update(_own(_module_of))
del _module_of

CUDA_VERSION = (13, 0, 0)


def get_version():
    """The version of CUDA whose interface this is: (13, 0, 0)."""
    return CUDA_VERSION


def get_driver_version():
    """The NVIDIA driver's, 13000 for 13.0; the same number where there is none, and the CPU does what it would do."""
    return _core._raw_driver_version() or CUDA_VERSION[0] * 1000 + CUDA_VERSION[1] * 10


def start_profiler():
    """A profiler outside of the process collects from now on."""
    _core._profiler(_core._raw_current(), True)


def stop_profiler():
    """A profiler outside of the process collects no more."""
    _core._profiler(_core._raw_current(), False)


def initialize_profiler(config_file, output_file, output_mode):
    """LogicError: CUDA 13's driver has no such profiler; use Nsight, or treadle.profile()."""
    raise refusal(
        f"cuProfilerInitialize({config_file!r})",
        "the driver lost this profiler; use Nsight or treadle.profile()",
        "NOT_SUPPORTED",
    )


def mem_get_ipc_handle(devptr):
    """Bytes by which another process opens a DeviceAllocation's memory with IPCMemoryHandle. It stays until that
    process has let go of it. LogicError on the CPU."""
    if not isinstance(devptr, DeviceAllocation):
        raise TypeError(f"mem_get_ipc_handle takes a DeviceAllocation, not {type(devptr).__name__}")
    return devptr._send()


class IPCMemoryHandle(DeviceAllocation):
    """IPCMemoryHandle(handle, flags): memory of another process, by the bytes of mem_get_ipc_handle there."""

    __slots__ = ()

    def __new__(cls, handle, flags=1):
        del flags
        _core._raw_current()
        return _core._raw_receive(cls, bytes(handle))

    def __init__(self, handle, flags=1):
        pass

    def close(self):
        """Lets go of the memory."""
        self.free()


_CODE = ("Module", "Function", "module_from_file", "module_from_buffer")


def __getattr__(name):
    """Names of compiled code, at the first access: their module imports this one."""
    if name not in _CODE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}{_near_in(__name__, name)}", name=name)
    from ._driver import _module

    globals()[name] = found = getattr(_module, name)
    return found


__dir__ = _dir_of(__name__, _CODE)
