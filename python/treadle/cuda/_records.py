"""Arrays of structured elements on a device. Each is an ndarray of uint8 with one more axis for the element's bytes."""

import numpy

from .. import _core


def bytes_of(records):
    """The bytes of NumPy's record or array of records, in C order: uint8 with one more axis."""
    host = numpy.ascontiguousarray(records).tobytes()
    return numpy.frombuffer(host, numpy.uint8).reshape(*numpy.shape(records), records.dtype.itemsize)


class DeviceRecords:
    """An array of structured elements on a device. shape, dtype, ndim, size, nbytes, strides, device, flags.

    Kernels take it as it is. On the host: copies, fields (``a["x"]``, an ndarray that shares the memory), indices and
    slices along the first axis. Arithmetic is of fields."""

    def __init__(self, shape, dtype, data=None, order="C"):
        self.dtype, self._order = numpy.dtype(dtype), order
        self._shape = tuple(shape[::-1]) if order == "F" else tuple(shape)
        whole = (*self._shape, self.dtype.itemsize)
        self._data = _core.empty(whole, "uint8") if data is None else data.reshape(whole)

    shape = property(lambda self: self._shape[::-1] if self._order == "F" else self._shape)
    ndim = property(lambda self: len(self._shape))
    size = property(lambda self: self._data.size // self.dtype.itemsize)
    nbytes = property(lambda self: self._data.nbytes)
    itemsize = property(lambda self: self.dtype.itemsize)
    device = property(lambda self: self._data.device)
    gpu_data = property(lambda self: self._data.gpu_data)
    device_ctypes_pointer = property(lambda self: self._data.device_ctypes_pointer)
    alloc_size = property(lambda self: self._data.alloc_size)

    @property
    def T(self):
        return DeviceRecords(self.shape[::-1], self.dtype, self._data, "C" if self._order == "F" else "F")

    @property
    def strides(self):
        steps = self._data.strides[:-1]
        return steps[::-1] if self._order == "F" else steps

    @property
    def _td_records(self):
        """What the core asks for to pass it to a kernel: the bytes, in the last axis, and the elements' dtype."""
        n = self.ndim
        axes = (*range(n)[::-1], n) if self._order == "F" else range(n + 1)
        return self._data.transpose(*axes), self.dtype

    @property
    def flags(self):
        from .._exchange._interop import Flags

        packed = self._data.is_c_contiguous()
        c, f = packed and (self._order == "C" or self.ndim < 2), packed and (self._order == "F" or self.ndim < 2)
        return Flags(self._data, c, f, True, self._data.flags.writeable)

    def is_c_contiguous(self):
        return self.flags.c_contiguous

    def is_f_contiguous(self):
        return self.flags.f_contiguous

    @property
    def __cuda_array_interface__(self):
        own = {"shape": self.shape, "strides": self.strides, "typestr": self.dtype.str, "descr": self.dtype.descr}
        return {**self._data.__cuda_array_interface__, **own}

    def _host(self, ary):
        """The bytes of ary, in the shape of self's bytes."""
        plain = numpy.asarray(ary)
        if plain.shape != self.shape:
            raise ValueError(f"shapes differ: {self.shape} takes no {plain.shape}")
        if plain.dtype != self.dtype:
            raise TypeError(f"dtypes differ: {self.dtype} takes no {plain.dtype}")
        return numpy.ascontiguousarray(plain.T if self._order == "F" else plain).reshape(self._shape)

    def copy_to_host(self, ary=None, stream=0):
        """The elements as a NumPy array, or into ary, of the same shape and dtype; returns it."""
        host = self._data.copy_to_host(stream=stream).reshape(-1).view(self.dtype).reshape(self._shape)
        host = host.T if self._order == "F" else host
        if ary is None:
            return host
        self._host(ary)  # raises where ary does not fit
        ary[...] = host
        return ary

    get = copy_to_host

    def copy_to_device(self, ary, stream=0):
        """a[...] = ary, of the same shape and dtype."""
        if isinstance(ary, DeviceRecords):
            if (ary.shape, ary.dtype, ary._order) != (self.shape, self.dtype, self._order):
                raise ValueError(f"{self.shape} {self.dtype} in order {self._order} takes no {ary.shape} {ary.dtype}")
            self._data.copy_to_device(ary._data, stream=stream)
            return
        host = self._host(ary)
        whole = numpy.frombuffer(host.tobytes(), numpy.uint8).reshape(self._data.shape)
        self._data.copy_to_device(whole, stream=stream)

    def to_device(self, device):
        return DeviceRecords(self.shape, self.dtype, self._data.to_device(device), self._order)

    def bind(self, stream=0):
        return self

    def __len__(self):
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def __getitem__(self, key):
        if isinstance(key, str):
            part, at = self.dtype.fields[key][:2]
            field = self._data[..., at : at + part.itemsize]
            if part.names is not None or part.subdtype:
                raise TypeError(f"field {key!r} is not a number: copy_to_host() first")
            field = field.view(part)[..., 0]
            return field.T if self._order == "F" else field
        if self._order == "F" or isinstance(key, tuple):
            raise TypeError("arrays of records take fields, and an index or a slice along the first axis")
        data = self._data[key]
        return DeviceRecords(data.shape[:-1], self.dtype, data) if data.ndim > 1 else DeviceRecord(self.dtype, data)

    def __setitem__(self, key, value):
        if isinstance(key, str):
            self[key][...] = value
            return
        data = self._data[key]
        whole = numpy.broadcast_to(numpy.asarray(value, self.dtype), data.shape[:-1])
        data[...] = numpy.frombuffer(whole.tobytes(), numpy.uint8).reshape(data.shape)

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    def __repr__(self):
        return f"DeviceRecords({self.copy_to_host()!r})"


class DeviceRecord(DeviceRecords):
    """One structured element on a device: what a kernel writes to it is in the array that it is of.

    On the host ``r["x"]``, ``r[0]`` and ``r.x`` are copies; ``r["x"] = 1`` writes. It compares as its copy does.
    KeyError, IndexError: there is no such field."""

    def __init__(self, dtype, data):
        super().__init__((), dtype, data)

    def item(self):
        """The element as a tuple of Python's numbers, as NumPy's item()."""
        return self._copied().item()

    tolist = item

    def _copied(self):
        return self.copy_to_host()[()]

    def _name(self, key):
        return key if isinstance(key, str) else self.dtype.names[key]

    def __len__(self):
        return len(self.dtype.names)

    def __getitem__(self, key):
        return self._copied()[key]

    def __getattr__(self, name):
        if name in (self.__dict__["dtype"].names if "dtype" in self.__dict__ else ()):
            return self._copied()[name]
        raise AttributeError(f"a record of {', '.join(self.dtype.names)} has no {name}")

    def __setitem__(self, key, value):
        part, at = self.dtype.fields[self._name(key)][:2]
        whole = numpy.zeros((), numpy.dtype([("part", part)]))
        whole["part"] = value
        self._data[at : at + part.itemsize] = numpy.frombuffer(whole.tobytes(), numpy.uint8)

    def __eq__(self, other):
        return self._copied() == (other._copied() if isinstance(other, DeviceRecord) else other)

    __hash__ = None

    def __iter__(self):
        return iter(self._copied().item())

    def __repr__(self):
        return f"DeviceRecord({self._copied()!r})"
