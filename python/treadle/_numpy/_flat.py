"""a.flat: the elements of an array in C order, to read, write and iterate over."""

import numpy

from .._exchange._place import elements
from ._repeat import resize


class flatiter:
    """Elements of base in C order: x.flat[key] reads and writes the array and begins anew, next(x.flat) goes on by
    one."""

    __hash__ = None

    def __init__(self, base):
        self.base, self.index, self._host = base, 0, None

    @property
    def coords(self):
        """The index of the next element."""
        return tuple(int(i) for i in numpy.unravel_index(self.index, self.base.shape)) if self.base.ndim else ()

    def copy(self):
        """A copy of the elements, one axis."""
        return self.base.flatten()

    def __array__(self, dtype=None, copy=None):
        return numpy.asarray(self.base.reshape(-1), dtype=dtype)

    def __len__(self):
        return self.base.size

    def __iter__(self):
        return self

    def __next__(self):
        if self.index >= self.base.size:
            raise StopIteration
        self.index += 1
        return self.base.reshape(-1)[self.index - 1]

    @staticmethod
    def _key(key):
        if isinstance(key, tuple):
            if len(key) != 1:
                raise IndexError("unsupported iterator index")
            key = key[0]
        return int(key) if isinstance(key, float) else key

    def __getitem__(self, key):
        self.index = 0
        r = self.base.reshape(-1)[self._key(key)]
        return r.copy() if r.ndim else r

    def __setitem__(self, key, value):
        key, base, self.index = self._key(key), self.base, 0
        if not base.flags.writeable:
            raise ValueError("underlying array is read-only")
        view = base.flags.c_contiguous
        flat = base.reshape(-1) if view else base.flatten()
        flat[key] = self._repeated(value, flat[key])
        if not view:
            base[...] = flat.reshape(base.shape)

    @staticmethod
    def _repeated(value, place):
        """The values, repeated until they fill place."""
        if not place.ndim:
            try:
                one = place.copy()
                one.fill(value)
            except (OverflowError, TypeError, ValueError) as e:
                raise ValueError(f"Error setting single item of array. {e}") from None
            return one
        value = elements("flat", value, place.dtype, place.device).reshape(-1)
        if value.size == 0:
            return place  # no values change nothing
        return value[0] if value.size == 1 else resize(value, place.shape)

    def __repr__(self):
        return f"<treadle.flatiter of {self.base.size} elements>"


def _comparison(name):
    def fn(self, other):
        other = other.base.reshape(-1) if isinstance(other, flatiter) else other
        return getattr(self.base.reshape(-1), name)(other)

    fn.__name__ = fn.__qualname__ = name
    return fn


for _name in "eq ne lt le gt ge".split():
    setattr(flatiter, f"__{_name}__", _comparison(f"__{_name}__"))


def flat(a):
    """The value of ndarray.flat."""
    return flatiter(a)


def set_flat(a, values):
    """a.flat = values."""
    flatiter(a)[:] = values
