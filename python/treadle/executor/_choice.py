"""Which way a function is mapped: compiled for numbers, batched for arrays, or neither."""

from ._mapper import Mapper, Refused


def chosen(fn, columns, n, device, as_array):
    """The Mapper or Batcher of a function over columns. Refused: Python must run it; why."""
    try:
        return Mapper(fn, columns, n, device, as_array)
    except Refused as numbers:
        from .._vmap._array import Unbatched
        from ._batcher import Batcher

        try:
            return Batcher(fn, columns, n, device, as_array)
        except Unbatched as arrays:
            why = f"its items are arrays, and it does not run for many of them at once: {arrays}"
            raise (Refused(why) if numbers.arrays else numbers) from None
