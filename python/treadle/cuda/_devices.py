"""Devices and contexts by numba.cuda's names.

A context stands for its device. There is one for each device, made at the first use. The current one is the thread's
default device of treadle (``treadle.use``, ``with treadle.device(…)``, TREADLE_DEVICE), so all ways of choosing agree.
"""

import contextlib
import threading
from collections import namedtuple

from .. import _core
from ._attributes import CPU, NUMBER, RUNTIME_NAMES

MemoryInfo = namedtuple("MemoryInfo", "free total")
MemoryInfo.__doc__ = "Bytes of a device's memory: free ones, and in all."

_local = threading.local()


class ComputeCapability(tuple):
    """(major, minor), which Numba's programs compare and unpack; as a text "90", which CuPy's expect: str, int, and
    comparison with a text or a number go by that."""

    def __str__(self):
        return f"{self[0]}{self[1]}"

    def __int__(self):
        return self[0] * 10 + self[1]

    def __float__(self):
        return float(int(self))

    def __format__(self, spec):
        return format(str(self), spec)

    def _other(self, other):
        if isinstance(other, (str, int, float)):
            return float(int(self)), float(other)
        return tuple(self), other

    def __eq__(self, other):
        return str(self) == other if isinstance(other, str) else tuple.__eq__(self, other)

    def __ne__(self, other):
        return not self == other

    __hash__ = tuple.__hash__

    def __lt__(self, other):
        mine, other = self._other(other)
        return mine < other

    def __le__(self, other):
        mine, other = self._other(other)
        return mine <= other

    def __gt__(self, other):
        mine, other = self._other(other)
        return mine > other

    def __ge__(self, other):
        mine, other = self._other(other)
        return mine >= other


def number(device):
    """The treadle.device that a number means: of GPUs; 0 is the null device or the CPU where the thread's current
    device is that. ValueError: there are not so many."""
    now, device = _core.device(), int(device)
    if now.kind != "cuda" and device == 0:
        return now
    found = [d for d in _core.devices() if d.kind == "cuda"] if now.kind != "null" else [now]
    if not 0 <= device < len(found):
        raise ValueError(f"there is no device {device}: the devices' numbers are below {max(len(found), 1)}")
    return found[device]


class Device:
    """Device(device=None): a device where kernels run, by its number, by name ("cpu", "cuda:1") or as a treadle.device;
    None: the current one. id: its number; name: the maker's; uuid; compute_capability: (major, minor), which as a
    text is "90".

    CUDA's attributes are attributes of the object, in capitals (MULTIPROCESSOR_COUNT); ``attributes`` is a dict of
    those that the device has, by these names and by CuPy's (MultiProcessorCount). ``with device:`` makes it the
    thread's current one, ``use()`` without an end. On the CPU compute_capability is that of a GPU with what its
    kernels can do, (9, 0), and uuid is None. Without a GPU device 0 is the CPU."""

    def __init__(self, device=None):
        if isinstance(device, Device):
            device = device._device
        named = device is None or isinstance(device, (str, _core.device))
        self._device = _core.device(device) if named else number(device)

    id = property(lambda self: self._device.index)
    name = property(lambda self: self._device.model)
    kind = property(lambda self: self._device.kind)
    host = property(lambda self: self._device.host)

    @property
    def compute_capability(self):
        return ComputeCapability((self.COMPUTE_CAPABILITY_MAJOR, self.COMPUTE_CAPABILITY_MINOR))

    def __int__(self):
        return self.id

    __index__ = __int__

    def use(self):
        """The thread's current device from now on."""
        _core.use(self._device)
        return self

    def synchronize(self):
        """Waits for all work on the device; errors of kernels are raised here at the latest."""
        _core.synchronize(self._device)

    @property
    def mem_info(self):
        """(free, total): bytes of the device's memory."""
        s = self._device.memory_stats()
        return s["free"], s["total"]

    @property
    def pci_bus_id(self):
        """ "0000:3B:00.0". DeviceError: the device has none."""
        where = [self._attribute(n) for n in ("PCI_DOMAIN_ID", "PCI_BUS_ID", "PCI_DEVICE_ID")]
        if None in where:
            raise _core.DeviceError(f"{self._device.name} is on no PCI bus")
        return "{:04X}:{:02X}:{:02X}.0".format(*where)

    @classmethod
    def from_pci_bus_id(cls, pci_bus_id):
        """The Device with that bus id. ValueError: there is none."""
        for d in gpus:
            with contextlib.suppress(_core.DeviceError):
                if d.pci_bus_id.lower() == str(pci_bus_id).lower():
                    return d
        raise ValueError(f"no device has the PCI bus id {pci_bus_id}")

    @property
    def uuid(self):
        raw = _core._device_uuid(self._device)
        if raw is None:
            return None
        h = raw.hex()
        return f"GPU-{h[:8]}-{h[8:12]}-{h[12:16]}-{h[16:20]}-{h[20:]}"

    @property
    def attributes(self):
        found = {name: self._attribute(name) for name in NUMBER}
        found = {name: value for name, value in found.items() if value is not None}
        return {**found, **{RUNTIME_NAMES[name]: value for name, value in found.items()}}

    supports_float16 = property(lambda self: self.compute_capability >= (5, 3))
    supports_bfloat16 = property(lambda self: self.compute_capability >= (8, 0))

    def _attribute(self, name):
        if self.host:
            return self._device.units if CPU[name] == "units" else CPU[name]
        return _core._device_attribute(self._device, NUMBER[name])

    def __getattr__(self, name):
        value = self._attribute(name) if name in NUMBER else None
        if value is None:
            raise AttributeError(f"device {self._device.name} has no attribute {name}")
        return value

    def get_primary_context(self):
        return Context(self)

    def release_primary_context(self):
        """Does nothing: the driver's context lives as long as the process, for other libraries have it too."""

    def reset(self):
        self.get_primary_context().reset()

    def __enter__(self):
        self.get_primary_context().push()
        return self

    def __exit__(self, *exc):
        self.get_primary_context().pop()

    def __eq__(self, other):
        return self._device == other._device if isinstance(other, Device) else NotImplemented

    def __hash__(self):
        return hash(self._device)

    def __repr__(self):
        return f"<CPU '{self.name}'>" if self.host else f"<CUDA device {self.id} '{self.name}'>"


class Context:
    """A device's memory, streams and events. device: the Device."""

    def __init__(self, device):
        self.device = device

    def __eq__(self, other):
        return self.device == other.device if isinstance(other, Context) else NotImplemented

    def __hash__(self):
        return hash(self.device)

    def __repr__(self):
        return f"<context of {self.device!r}>"

    def push(self):
        """Makes the device the thread's current one, until pop()."""
        _stack().append(_core.device())
        _core.use(self.device._device)

    def pop(self):
        """The device that was current before push() is so again."""
        stack = _stack()
        if not stack:
            raise RuntimeError("pop: there is no push() to match it in this thread")
        _core.use(stack.pop())

    def synchronize(self):
        """Waits for all work on the device."""
        _core.synchronize(self.device._device)

    def reset(self):
        """Waits for all work and gives the memory that no array has back to the driver. Arrays that live stay."""
        self.synchronize()
        self.device._device.memory_trim()

    def get_memory_info(self):
        """MemoryInfo(free, total)."""
        s = self.device._device.memory_stats()
        return MemoryInfo(s["free"], s["total"])

    def memalloc(self, bytesize):
        """MemoryPointer of bytesize uninitialised bytes on the device. OutOfMemoryError."""
        return _core.empty(bytesize, "uint8", device=self.device._device).gpu_data

    def memhostalloc(self, bytesize, mapped=False, portable=False, wc=False):
        """Pinned host memory of bytesize bytes, with the buffer protocol; mapped: kernels see it (device_ptr);
        wc: past the host's caches. It is portable in any case."""
        return _core.HostMemory(self.device._device, "mapped" if mapped else "pinned", bytesize, combined=wc)

    def memallocmanaged(self, bytesize, attach_global=True):
        """Memory of bytesize bytes that host and device both reach."""
        if not attach_global:
            raise ValueError("memallocmanaged: attach_global=False is not supported")
        return _core.HostMemory(self.device._device, "managed", bytesize)

    def mempin(self, owner, pointer=None, size=None, mapped=False):
        """Pins the memory of owner, which has the buffer protocol, until release() or its end."""
        return _core.HostMemory(self.device._device, "registered", owner)

    def create_stream(self):
        return _core.Stream(self.device._device)

    def create_event(self, timing=True):
        return _core.Event(self.device._device, timing=timing)

    def get_default_stream(self):
        return _core._stream_of(self.device._device, 0)

    get_legacy_default_stream = get_default_stream

    def get_per_thread_default_stream(self):
        return _core._stream_of(self.device._device, 2)

    def create_external_stream(self, ptr):
        return _core._stream_of(self.device._device, ptr)

    @contextlib.contextmanager
    def defer_cleanup(self):
        """Memory that is let go inside is given back at the end at the earliest. That holds everywhere: what arrays
        leave goes to a pool, without a call of the driver."""
        yield


def _stack():
    if not hasattr(_local, "stack"):
        _local.stack = []
    return _local.stack


class _Devices:
    """cuda.gpus: the devices, by number; empty where there is no GPU. current: the current Device."""

    def _all(self):
        now = _core.device()
        names = [d.name for d in _core.devices() if d.kind == "cuda"]
        return ["null"] if now.kind == "null" else names

    def __len__(self):
        return len(self._all())

    def __getitem__(self, i):
        found = self._all()
        try:
            return Device(found[i])
        except IndexError:
            raise IndexError(f"gpus[{i}]: there are {len(found)} GPUs; {_core.cuda_missing()}".rstrip("; ")) from None

    def __iter__(self):
        return iter([Device(n) for n in self._all()])

    lst = property(lambda self: list(self))
    current = property(lambda self: get_current_device())

    def __repr__(self):
        return f"<{', '.join(map(repr, self)) or 'no GPU'}>"


gpus = _Devices()


def list_devices():
    """cuda.gpus."""
    return gpus


def current_device_kind():
    """Where kernels run now: "cuda", "cpu" or "null" (GPU code, interpreted)."""
    return _core.device().kind


def is_available():
    """Is there a GPU? False where kernels run on the CPU: compiled they do so all the same, but a program that asks has
    other code for that case. True on the null device, which plays a GPU."""
    return len(gpus) > 0


def cuda_error():
    """Why there is no GPU; None where there is one."""
    return None if is_available() else _core.cuda_missing() or "the program runs on the CPU"


def is_supported_version():
    """Can the driver be used? Drivers that are too old count as missing: True."""
    return True


def get_current_device():
    """The Device where kernels run and arrays are made in this thread."""
    return Device(_core.device())


def select_device(device_id):
    """The thread's Device from now on, by number; without a GPU 0 is the CPU. Returns its Context."""
    if device_id == 0 and not len(gpus):
        return current_context()
    device = gpus[device_id]
    _core.use(device._device)
    return device.get_primary_context()


def current_context(devnum=None):
    """The Context of the current device, or of that number."""
    return (get_current_device() if devnum is None else gpus[devnum]).get_primary_context()


def close():
    """Waits for the current device, gives memory back that no array has, and goes back to the process's device."""
    current_context().reset()
    _core.use(None)


def synchronize():
    """Waits for all work on the current device; errors of kernels are raised here at the latest."""
    _core.synchronize()


def require_context(fn):
    """fn itself: a device's context is made when it is first used."""
    return fn


def detect():
    """Prints the GPUs and tells whether there is one."""
    found = list(gpus)
    print(f"Found {len(found)} CUDA devices" if found else f"Found no CUDA device: {cuda_error()}")
    for d in found:
        print(f"id {d.id}  {d.name:>24}  compute capability {d.compute_capability[0]}.{d.compute_capability[1]}"
              f"  {d.uuid}")  # fmt: skip
    return bool(found)


def is_float16_supported():
    """Do kernels on the current device compute with float16?"""
    return get_current_device().supports_float16


def is_bfloat16_supported():
    """Do kernels on the current device compute with bfloat16?"""
    return get_current_device().supports_bfloat16


def profile_start():
    """A profiler outside of the process, such as nsys, collects from now on."""
    _core._profiler(_core.device(), True)


def profile_stop():
    """A profiler outside of the process collects no more."""
    _core._profiler(_core.device(), False)


@contextlib.contextmanager
def profiling():
    """profile_start() and profile_stop() round a block."""
    profile_start()
    try:
        yield
    finally:
        profile_stop()


def defer_cleanup():
    """As Context.defer_cleanup, of the current device."""
    return current_context().defer_cleanup()
