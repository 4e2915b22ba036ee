"""Arrays whose elements stay on the host until they are needed: memory, mapped files, readers such as Zarr's."""

import operator

import numpy as np

from . import _core


def from_host(source, device=None):
    """An array of ``source``'s elements that are read when they are needed, chunk by chunk where they do not fit.

    ``source`` is a ``numpy.ndarray`` or ``numpy.memmap`` of numbers, or an object with ``shape``, ``dtype`` and slices
    (a Zarr array, an HDF5 data set). It is neither copied nor written to: who changes it meanwhile changes what is read.
    Slices of the array read only what they hold. TypeError: elements that are not numbers."""
    if isinstance(source, _core.ndarray):
        return source
    if isinstance(source, np.ndarray):
        found = _core._from_host(source, device)
        if found is not None:
            return found
    shape = getattr(source, "shape", None)
    dtype = getattr(source, "dtype", None)
    if shape is None or dtype is None or not hasattr(source, "__getitem__"):
        raise TypeError(f"from_host: expected an array of the host's, or an object with shape, dtype and slices, not {type(source)}")
    native = np.dtype(dtype).newbyteorder("=")
    return _core._from_reader(_reader(source, native), tuple(map(operator.index, shape)), native, device)


def _reader(source, dtype):
    def read(start, step, count, memory):
        out = np.frombuffer(memory, dtype).reshape(count)
        box = tuple(slice(a, a + (n - 1) * s + 1, s) for a, s, n in zip(start, step, count, strict=True))
        out[...] = source[box] if box else source[()]

    return read
