"""Arrays whose elements stay on the host until they are needed: in memory, in mapped files, or behind readers such as
Zarr's.
"""

import operator

import numpy as np

from .. import _core
from . import _async_reader


def from_host(source, device=None):
    """An array of elements on the host, which are read when they are needed and chunk by chunk where they do not fit.

    Parameters
    ----------
    source : numpy.ndarray, numpy.memmap, or object with shape, dtype and slices
        Numbers, or records of them, as a Zarr array or an HDF5 data set. It is neither copied nor written to; changes
        that are made meanwhile are read.
    device : device or str, optional
        Where it is computed with; None means the current device.

    Returns
    -------
    ndarray
        Of source's shape and dtype; slices read only what they hold. Of records (a structured dtype) an object whose
        fields are such arrays: x["price"].

    Raises
    ------
    TypeError
        The elements are not numbers. Evaluation raises it where a reader gives elements of another dtype.
    ValueError
        By evaluation: a reader gives more or fewer elements than it was asked for.

    Examples
    --------
    >>> np.from_host(numpy.arange(4)).sum()
    np.int64(6)
    """
    if isinstance(source, _core.ndarray):
        return source
    if isinstance(source, np.ndarray) and not source.dtype.names:
        found = _core._from_host(source, device)
        if found is not None:
            return found
    shape = getattr(source, "shape", None)
    dtype = getattr(source, "dtype", None)
    if shape is None or dtype is None or not (hasattr(source, "__getitem__") or _async_reader.awaited(source)):
        raise TypeError(f"from_host: expected an array or an object with shape, dtype and slices, not {type(source)}")
    if np.dtype(dtype).names:
        return Records(source, device)
    native = np.dtype(dtype).newbyteorder("=")
    shape = tuple(map(operator.index, shape))
    return _core._from_reader(_reader(source, native), shape, native, device, own_chunks(source))


def into(a, out, rows):
    """Compute a into out, NumPy's array or one that takes slices, in chunks of so many rows; 0: as many as do well."""
    if a.dtype.kind != "V" and not np.can_cast(a.dtype, np.dtype(out.dtype), "same_kind"):  # as NumPy's out= does
        raise TypeError(f"stream: a result of {a.dtype} is not cast to out=, of {out.dtype}; cast it in the function")
    if isinstance(out, _core.ndarray):
        out[...] = _core._stream(a, rows)
    elif not isinstance(out, np.ndarray) or _core._stream_into(a, rows, out) is None:
        dtype = np.dtype(out.dtype).newbyteorder("=")
        shape = tuple(map(operator.index, out.shape))
        _core._stream_through(a, rows, _writer(out, dtype), shape, dtype, own_chunks(out))


def own_chunks(x):
    """The extents of x's own chunks, as Zarr's and HDF5's arrays have them, or of the shards that hold them; None."""
    chunks = getattr(x, "shards", None) or getattr(x, "chunks", None)
    if not isinstance(chunks, tuple) or len(chunks) != len(x.shape):
        return None
    return chunks if all(isinstance(n, int) and n > 0 for n in chunks) else None


def _reader(source, dtype):
    get = _async_reader.awaited(source)

    def read(start, step, count, memory):
        box = tuple(slice(a, a + (n - 1) * s + 1, s) for a, s, n in zip(start, step, count, strict=True))
        to = np.frombuffer(memory, dtype).reshape(count)
        if get is None:
            to[...] = _checked(source[box] if box else source[()], dtype, count)
            return
        for rows, got in _async_reader.read(get, box):
            to[rows] = _checked(got, dtype, to[rows].shape)

    return read


def _checked(got, dtype, count):
    """What a reader gave for a box of shape count, as NumPy's array. Raises where it is not what the source's shape and
    dtype promise."""
    if isinstance(got, np.ma.MaskedArray) and got.mask is not np.ma.nomask and got.mask.any():
        raise ValueError("from_host: the reader gave masked elements, which arrays have not; fill them in __getitem__")
    values = got.get() if isinstance(got, _core.ndarray) else np.asanyarray(got)
    integers = values.dtype.kind in "iu" and dtype.kind in "iu"  # their range is looked at below
    if not integers and not np.can_cast(values.dtype, dtype, "same_kind"):
        what = f"{values.dtype} elements" if values.shape or hasattr(got, "dtype") else f"{type(got).__name__}"
        raise TypeError(f"from_host: the reader of a {dtype} source gave {what}; its dtype says what it gives")
    if values.shape != tuple(count):
        raise ValueError(f"from_host: the reader gave shape {values.shape} where {tuple(count)} was asked for")
    if integers and not np.can_cast(values.dtype, dtype) and values.size:
        lo, hi, info = values.min(), values.max(), np.iinfo(dtype)
        if lo < info.min or hi > info.max:
            raise OverflowError(f"from_host: the reader of a {dtype} source gave {lo if lo < info.min else hi}")
    return values


class Records:
    """A source of records: its fields are arrays, which from_host makes when they are asked for."""

    def __init__(self, source, device):
        self._source, self._device = source, device
        self.shape, self.dtype = tuple(map(operator.index, source.shape)), np.dtype(source.dtype)

    def __len__(self):
        return self.shape[0]

    def __repr__(self):
        return f"<records of shape {self.shape}, {self.dtype}>"

    def rows(self, lo, hi):
        """The records from lo to hi, in memory."""
        return Records(np.asarray(self._source[lo:hi]), self._device)

    def __getitem__(self, name):
        if not isinstance(name, str):
            raise TypeError(f"records: a field's name is expected, not {name!r}; its rows are records[name][...]")
        if name not in self.dtype.names:
            raise KeyError(f"records: no field {name!r} among {', '.join(self.dtype.names)}")
        if isinstance(self._source, np.ndarray):
            return from_host(self._source[name], self._device)
        return from_host(_Field(self._source, name), self._device)


class _Field:
    """One field of a source's records, as a reader."""

    def __init__(self, source, name):
        self._source, self._name = source, name
        inner = np.dtype(source.dtype)[name]
        self.shape, self.dtype, self._rank = (*source.shape, *inner.shape), inner.base, len(source.shape)

    def __getitem__(self, box):
        box = box if isinstance(box, tuple) else (box,)
        got = np.asarray(self._source[box[: self._rank]])[self._name]
        return got[(slice(None),) * self._rank + box[self._rank :]]


def _writer(out, dtype):
    def write(start, count, memory):
        box = tuple(slice(a, a + n) for a, n in zip(start, count, strict=True))
        out[box] = np.frombuffer(memory, dtype).reshape(count)

    return write
