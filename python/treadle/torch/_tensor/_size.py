"""torch.Size: the shape of a tensor, a tuple of ints whose slices and text are those of a Size."""

from math import prod
from operator import index


class Size(tuple):
    """The extents of a tensor, as in Size((2, 3)). Slices and sums of Sizes are Sizes."""

    __slots__ = ()

    def __new__(cls, extents=()):
        return super().__new__(cls, map(index, extents))

    def __repr__(self):
        return f"torch.Size([{', '.join(map(str, self))}])"

    def __getitem__(self, key):
        r = super().__getitem__(key)
        return Size(r) if isinstance(key, slice) else r

    def __add__(self, other):
        return Size(super().__add__(other)) if isinstance(other, tuple) else NotImplemented

    def __mul__(self, count):
        return Size(super().__mul__(count))

    __rmul__ = __mul__

    def __reduce__(self):
        return Size, (tuple(self),)

    def numel(self):
        """The number of elements."""
        return prod(self)
