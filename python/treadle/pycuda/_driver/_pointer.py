"""The memory of a GPUArray as a pointer, and the order between its operations and a stream."""

import contextlib

from ... import _core


class ArrayPointer:
    """The memory of a GPUArray, where a kernel or a copy wants a pointer: ``a.gpudata``.

    Its number, int(p), is the address. Asking for it evaluates the array, whose operations run at once from then on:
    others may write there. The memory lives as long as this object or an array on it."""

    __slots__ = ("__weakref__", "_array", "_owner")

    def __init__(self, array, owner):
        self._array, self._owner = array, owner

    def get_pointer(self):
        """The address."""
        if self._array is None:
            raise ValueError("the memory has been freed")
        return self._array._address()

    __int__ = __index__ = get_pointer

    def __eq__(self, other):
        return int(self) == int(other) if isinstance(other, (ArrayPointer, int)) else NotImplemented

    def __hash__(self):
        return hash(int(self))

    def __add__(self, nbytes):
        return int(self) + nbytes

    __radd__ = __add__

    def __sub__(self, other):
        return int(self) - int(other)

    def __repr__(self):
        return f"<memory at {int(self):#x}>" if self._array is not None else "<freed memory>"

    @property
    def device(self):
        """Where the memory lies."""
        return self._array.device

    def free(self):
        """Gives the array's memory back once nothing else uses it; the array cannot be used any more."""
        owner = self._owner()
        if owner is not None and owner._held is self._array:
            owner._held = None
        self._array = None


def queue_of(stream, device):
    """The core's stream for an argument stream=. None means the device's default stream."""
    if stream is None or isinstance(stream, int) and stream == 0:
        return None
    found = stream if isinstance(stream, _core.Stream) else _core._stream_of(device, stream)
    return found if not found.external or found.ptr else None


@contextlib.contextmanager
def ordered(stream, device):
    """A block whose recorded operations run after the stream's earlier work, and before its later work."""
    queue = queue_of(stream, device)
    if queue is None:
        yield
        return
    _core.Event(device, timing=False).record(queue).wait()
    yield
    _core.Event(device, timing=False).record().wait(queue)
