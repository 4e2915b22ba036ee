"""Chooses how a function is mapped: compiled for numbers, batched for arrays, or run by Python."""

from ._mapper import Mapper, Refused


def chosen(fn, columns, n, devices, as_array):
    """A Mapper or a Batcher for each device that can run the function over these columns.

    Raises Refused, with the reason of the first device, where no device can."""
    found, refused = [], None
    for device in devices:
        try:
            found.append(_for_device(fn, columns, n, device, as_array))
        except Refused as why:
            refused = refused or why
        else:
            if not isinstance(found[-1], Mapper):  # a Batcher returns arrays, which should lie on one device
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
