"""torch.storage: the memory of tensors, as a sequence of bytes (UntypedStorage) or of elements (TypedStorage)."""

from ... import torch
from ..._public import dir_of as _dir_of

__all__ = ["TypedStorage", "UntypedStorage"]


class _Storage:
    """The elements of a tensor that starts its memory. Writing to them writes to the tensor."""

    def __init__(self, base):
        self._base = base if base.dim() == 1 else base.as_strided((base.numel(),), (1,), 0)

    dtype = property(lambda self: self._base.dtype)
    device = property(lambda self: self._base.device, doc="Where it lies.")
    is_cuda = property(lambda self: self._base.is_cuda, doc="Is it on a GPU?")

    def data_ptr(self):
        """Its address. All tensors on this memory have the same."""
        return self._base.data_ptr()

    def nbytes(self):
        """Its length in bytes."""
        return self._base.numel() * self._base.element_size()

    def tolist(self):
        """Its elements as a list."""
        return self._elements().tolist()

    def __len__(self):
        return self._elements().numel()

    size = __len__

    def __getitem__(self, index):
        found = self._elements()[index]
        return type(self)._of(found) if isinstance(index, slice) else found.item()

    def __setitem__(self, index, value):
        with torch.no_grad():
            self._elements()[index] = value

    def __iter__(self):
        return iter(self.tolist())

    def fill_(self, value):
        """Set all elements to value."""
        with torch.no_grad():
            self._elements().fill_(value)
        return self

    def copy_(self, source, non_blocking=None):
        """Copy another storage's elements."""
        with torch.no_grad():
            self._elements().copy_(source._elements())
        return self

    def clone(self):
        """A copy."""
        return type(self)._of(self._base.clone())

    def cpu(self):
        """The storage itself, or a copy on the CPU."""
        return type(self)._of(self._base.cpu())

    def cuda(self, device=None):
        """The storage itself, or a copy on a GPU."""
        return type(self)._of(self._base.cuda(device))

    @classmethod
    def _of(cls, base):
        made = object.__new__(cls)
        _Storage.__init__(made, base)
        return made

    def resize_(self, size):
        """Raise RuntimeError: memory of tensors cannot grow."""
        raise RuntimeError(f"{type(self).__name__}.resize_({size}): memory keeps its size: make another tensor")

    def share_memory_(self):
        """Raise RuntimeError: a storage cannot move to shared memory."""
        raise RuntimeError(
            f"{type(self).__name__}.share_memory_: send the tensor to the other process, which shares it"
        )

    def __eq__(self, other):
        return type(self) is type(other) and self.data_ptr() == other.data_ptr() and self.nbytes() == other.nbytes()

    __hash__ = None


class UntypedStorage(_Storage):
    """UntypedStorage(n) has n bytes. tensor.untyped_storage() has those of the tensor."""

    def __init__(self, size=0, *, device=None):
        super().__init__(torch.zeros(size, dtype=torch.uint8, device=device))

    @classmethod
    def from_file(cls, filename, shared=False, nbytes=0):
        """The first nbytes of a file. shared=True: writes go to the file."""
        made = cls.__new__(cls)
        _Storage.__init__(made, torch.from_file(filename, shared, nbytes, dtype=torch.uint8))
        return made

    def untyped(self):
        """The storage itself."""
        return self

    _untyped = untyped

    def _elements(self):
        return self._base.view(torch.uint8)

    dtype = property(lambda self: torch.uint8)

    def element_size(self):
        """1."""
        return 1

    def __repr__(self):
        return f"[torch.storage.UntypedStorage(device={self.device}) of size {self.size()}]"


class TypedStorage(_Storage):
    """TypedStorage(n, dtype=...) has n elements. tensor.storage() has those of the tensor."""

    def __init__(self, size=0, *, wrap_storage=None, dtype=None, device=None):
        if wrap_storage is not None:
            super().__init__(wrap_storage._base.view(dtype or torch.get_default_dtype()))
        else:
            super().__init__(torch.zeros(size, dtype=dtype or torch.get_default_dtype(), device=device))

    def _elements(self):
        return self._base

    def element_size(self):
        """Bytes of an element."""
        return self._base.element_size()

    def untyped(self):
        """The same memory, as bytes."""
        return UntypedStorage._of(self._base)

    def type(self, dtype=None):
        """The name of its class in PyTorch."""
        return "torch.storage.TypedStorage"

    def __repr__(self):
        return f"[torch.storage.TypedStorage(dtype={self.dtype}, device={self.device}) of size {self.size()}]"


def _base_of(tensor):
    """A tensor of the whole memory that this tensor lies in."""
    found = tensor.detach()
    base = tensor._base
    return found if base is None else base.detach()


def untyped_storage(tensor):
    """The bytes of the tensor's memory."""
    return UntypedStorage._of(_base_of(tensor))


def storage(tensor):
    """The elements of the tensor's memory."""
    return TypedStorage._of(_base_of(tensor))


def storage_type(tensor):
    """TypedStorage."""
    return TypedStorage


__dir__ = _dir_of(__name__)
