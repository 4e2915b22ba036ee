"""Which way a function is mapped: compiled for numbers, batched for arrays, or neither."""

from ._mapper import Mapper, Refused


def chosen(fn, columns, n, devices, as_array):
    """A Mapper or Batcher of a function over columns for each device that can run it. Refused: none can; why."""
    found, refused = [], None
    for device in devices:
        try:
            found.append(_for_device(fn, columns, n, device, as_array))
        except Refused as why:
            refused = refused or why
        else:
            if not isinstance(found[-1], Mapper):  # its results are arrays, which should lie on one device
                break
    if not found:
        raise refused
    return found


def _for_device(fn, columns, n, device, as_array):
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
