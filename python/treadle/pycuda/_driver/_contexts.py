"""PyCUDA's devices and contexts.

A context stands for its device. Below there is one for each device, the driver's primary context, which other
libraries use too. Each thread has a stack of contexts. A thread that never pushed one uses the process's.
"""

import threading

from ... import _core
from ...cuda._attributes import CPU, NUMBER
from ._enums import ctx_flags, device_attribute, enum_of, func_cache, shared_config
from ._errors import LogicError, RuntimeError, refusal

_FIRST_NAMES = {"cuda": "cuda:{}", "cpu": "cpu", "null": "null"}


class _Stack(threading.local):
    """The calling thread's stack of contexts."""

    def __init__(self):
        self.contexts = []


_stack = _Stack()


def _kind():
    """The kind of the devices that are counted: that of TREADLE_DEVICE, else GPUs if there are some, else the CPU."""
    named = (_core.options()["device"] or "").split(":")[0]
    if named in ("cpu", "null"):
        return named
    return "cpu" if _core.cuda_missing() else "cuda"


class Device:
    """Device(number) or Device(pci_bus_id): the GPU of that number. Where there is none, Device(0) is the CPU; with
    TREADLE_DEVICE=cpu it is the CPU also where there are GPUs. A treadle device or its name works as well."""

    def __init__(self, device_or_bus_id):
        which = device_or_bus_id
        if isinstance(which, str) and which.count(":") >= 1 and "." in which:
            which = self._of_bus(which)
        if not isinstance(which, (str, _core.device)):
            which = int(which)
            if not 0 <= which < Device.count():
                raise refusal(
                    f"cuDeviceGet({which})",
                    f"there {'is' if Device.count() == 1 else 'are'} {Device.count()}",
                    "INVALID_DEVICE",
                )
            which = _FIRST_NAMES[_kind()].format(which)
        self._device = _core.device(which)

    @staticmethod
    def _of_bus(bus_id):
        for number in range(Device.count()):
            if (_core._raw_bus(Device(number)._device) or "").lower() == bus_id.lower():
                return number
        raise refusal(f"cuDeviceGetByPCIBusId({bus_id!r})", "no device is there", "INVALID_DEVICE")

    @staticmethod
    def count():
        """How many devices there are: GPUs, or 1 where the CPU is the device."""
        return sum(d.kind == "cuda" for d in _core.devices()) if _kind() == "cuda" else 1

    def name(self):
        return self._device.model

    def pci_bus_id(self):
        """ "0000:3b:00.0"; LogicError on the CPU, which has none."""
        found = _core._raw_bus(self._device)
        if found is None:
            raise refusal("cuDeviceGetPCIBusId", "the CPU is on no bus", "NOT_SUPPORTED")
        return found

    def compute_capability(self):
        """(major, minor). The CPU's is that of a GPU with what its kernels can do: (9, 0)."""
        return self._attribute(75), self._attribute(76)

    def total_memory(self):
        """Bytes."""
        return self._device.memory

    def _attribute(self, number):
        if self._device.host:
            value = _CPU.get(number)
            return self._device.units if value == "units" else value
        return _core._device_attribute(self._device, number)

    def get_attribute(self, attr):
        """The value of a device_attribute, or of its number. LogicError: the device has none."""
        value = self._attribute(int(attr))
        if value is None:
            raise refusal(f"cuDeviceGetAttribute({attr})", f"{self._device.name} has no such attribute")
        return enum_of(int(attr), value)

    def get_attributes(self):
        """A dict of all attributes that the device has."""
        found = {a: self._attribute(int(a)) for a in device_attribute}
        return {a: enum_of(int(a), v) for a, v in found.items() if v is not None}

    def __getattr__(self, name):
        """device.max_threads_per_block, device.warp_size …: attributes by their names in small letters."""
        found = getattr(device_attribute, name.upper(), None) if not name.startswith("_") else None
        if found is None:
            raise AttributeError(f"'Device' object has no attribute '{name}'")
        return self.get_attribute(found)

    def make_context(self, flags=ctx_flags.SCHED_AUTO):
        """A context of the device, pushed: it is the calling thread's current one. flags change nothing: the context
        underneath is the primary one, which may be in use already."""
        del flags
        context = Context(self._device)
        context.push()
        return context

    def retain_primary_context(self):
        """The primary context, not pushed."""
        return Context(self._device)

    def can_access_peer(self, other):
        """Can this device reach the memory of the other one?"""
        return _core._raw_peer_access(self._device, other._device, 0)

    def __int__(self):
        return self._device.index

    def __eq__(self, other):
        return isinstance(other, Device) and self._device == other._device

    def __hash__(self):
        return hash(self._device)

    def __repr__(self):
        return f"<pycuda device {self._device.name}: {self._device.model}>"


# The CPU's values of CUDA's attributes, by number.
_CPU = {NUMBER[name]: value for name, value in CPU.items()}
# A CPU's memory can be used at any address and in rows of any length. Textures are sampled in software.
_CPU |= {14: 64, 30: 64, 32: 0, 33: 0, 34: 0, 35: 0, 50: 0, 21: 2**27, 22: 2**17, 23: 2**16, 24: 2**14, 25: 2**14,
         26: 2**14, 29: 2**11, 27: 2**15, 28: 2**15, 42: 2**15, 43: 2**11, 13: 0, 36: 0}  # fmt: skip


def _take(stack):
    """Make the device of the topmost context the calling thread's."""
    if stack:
        _core.use(stack[-1]._device)
    else:
        _core._raw_leave()


class Context:
    """A device as the current one of a thread; Device.make_context() and Device.retain_primary_context() give one.

    Several contexts of one device share its memory, modules and streams."""

    def __init__(self, device):
        self._device = device
        self._alive = True

    def _check(self, what):
        if not self._alive:
            raise refusal(f"{what}", "the context was detached", "INVALID_CONTEXT")

    def push(self):
        """Becomes the calling thread's current context. LogicError: it was detached."""
        self._check("cuCtxPushCurrent")
        _stack.contexts.append(self)
        _core.use(self._device)

    @staticmethod
    def pop():
        """The calling thread's current context is the one below, or none: then calls raise LogicError. Returns what was
        popped; LogicError: the thread has none."""
        if not _stack.contexts:
            _core._raw_current()  # raises: the thread has no context
            raise refusal("cuCtxPopCurrent", "no context is current that this thread has pushed", "INVALID_CONTEXT")
        gone = _stack.contexts.pop()
        _take(_stack.contexts)
        return gone

    def detach(self):
        """Ends the context, and pops it where it is the current one. Memory and streams go with the objects that
        hold them, not with it."""
        self._check("cuCtxDetach")
        self._alive = False
        if self in _stack.contexts:
            _stack.contexts[:] = [c for c in _stack.contexts if c is not self]
            _take(_stack.contexts)

    @staticmethod
    def get_device():
        """The Device of the current context."""
        return Device(_core._raw_current())

    @staticmethod
    def get_current():
        """The current context; None: there is none."""
        try:
            device = _core._raw_current()
        except LogicError:
            return None
        return _stack.contexts[-1] if _stack.contexts else Context(device)

    @staticmethod
    def synchronize():
        """Waits for all work on the current device."""
        _core.synchronize(_core._raw_current())

    def get_api_version(self):
        """The driver's version that the context was made with, 13000 for 13.0; 3020 on the CPU."""
        return self._device.driver or 3020

    @staticmethod
    def set_limit(limit, value):
        """Sets a limit. On the CPU it is kept and has no effect."""
        if value < 0:
            raise refusal(f"cuCtxSetLimit({limit}, {value})", "a negative size")
        _core._raw_limit(int(limit), int(value))

    @staticmethod
    def get_limit(limit):
        return _core._raw_limit(int(limit))

    @staticmethod
    def set_cache_config(config):
        """Which of cache and shared memory is to be large; a preference."""
        _core._raw_config(0, int(func_cache(config)))

    @staticmethod
    def get_cache_config():
        return _config_of(0)

    @staticmethod
    def set_shared_config(config):
        """How wide the banks of shared memory are; a preference."""
        _core._raw_config(1, int(shared_config(config)))

    @staticmethod
    def get_shared_config():
        return _config_of(1)

    @staticmethod
    def enable_peer_access(peer, flags=0):
        """The current device may reach memory of the peer context's."""
        del flags
        _core._raw_peer_access(_core._raw_current(), peer._device, 1)

    @staticmethod
    def disable_peer_access(peer, flags=0):
        del flags
        _core._raw_peer_access(_core._raw_current(), peer._device, 2)

    @property
    def handle(self):
        """A number that tells contexts apart: one for each device."""
        return id(self._device) if self._device.host else 1 + self._device.index

    def __eq__(self, other):
        return isinstance(other, Context) and self is other

    def __hash__(self):
        return id(self)

    def __repr__(self):
        return f"<pycuda context of {self._device.name}>"


def _config_of(which):
    return (func_cache, shared_config)[which](_core._raw_config(which))


def adopt(context):
    """context's device is what threads use that never pushed one."""
    _core._raw_choose(context._device)


def init(flags=0):
    """Nothing has to be made ready; flags is 0. RuntimeError: TREADLE_DEVICE asks for a GPU, and there is none."""
    del flags
    if (_core.options()["device"] or "").startswith("cuda") and _core.cuda_missing():
        raise RuntimeError(f"cuInit failed: {_core.cuda_missing()}")
