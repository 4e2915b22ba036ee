"""Bits of integers: counted, packed into bytes and taken out of them."""

from .. import _core
from .._core import arange, asarray, ndarray, zeros
from ._join import concatenate
from ._shape import _axis
from ._spelled import spelled

_UFUNC = _core.ufuncs()


@spelled(1, dtypes=("uint8",), typed=0)
def bitwise_count(x, /):
    """How many bits of the magnitude of x are 1, as uint8."""
    x = x if isinstance(x, ndarray) else asarray(x)
    if x.dtype.kind not in "biu":
        raise TypeError(f"ufunc 'bitwise_count' not supported for the input types: {x.dtype}")
    if x.dtype.kind == "b":
        return x.astype("uint8")
    # The most negative integer is its own magnitude; read as unsigned it has one bit set.
    return _UFUNC["popcount"](_UFUNC["absolute"](x)).astype("uint8")


def _order(bitorder):
    if bitorder not in ("big", "little"):
        raise ValueError("'order' must be either 'little' or 'big'")
    return arange(7, -1, -1, dtype="uint8") if bitorder == "big" else arange(8, dtype="uint8")


def packbits(a, /, axis=None, bitorder="big"):
    """Bytes whose bits are the truth of eight elements each.

    Parameters
    ----------
    a : array_like of int or bool
        The elements; an axis is filled up with zeros to whole bytes.
    axis : int, optional
        Axis to work along; None works on the flattened array.
    bitorder : {"big", "little"}, default 'big'
        Whether the first element is a byte's highest or lowest bit.

    Returns
    -------
    ndarray of uint8
        The axis' extent is divided by 8, rounded up.

    Raises
    ------
    TypeError
        a holds other numbers.
    ValueError
        bitorder is neither of both.

    Examples
    --------
    >>> np.packbits([1, 0, 1])
    array([160], dtype=uint8)
    """
    a = asarray(a)
    if a.dtype.kind not in "biu":
        raise TypeError("Expected an input array of integer or boolean data type")
    if axis is None:
        a, axis = a.ravel(), 0
    if a.ndim == 0:
        a = a.reshape(1)
    axis = _axis(axis, a.ndim, "packbits")
    bits = (a != 0).swapaxes(axis, -1)
    n = bits.shape[-1]
    if n % 8:
        bits = concatenate([bits, zeros((*bits.shape[:-1], -n % 8), "bool", device=a.device)], -1)
    places = _order(bitorder).to_device(a.device)
    bits = bits.reshape((*bits.shape[:-1], -(-n // 8), 8)).astype("uint8") << places
    return bits.sum(-1, dtype="uint8").swapaxes(axis, -1)


def unpackbits(a, /, axis=None, count=None, bitorder="big"):
    """The bits of bytes as elements 0 and 1.

    Parameters
    ----------
    a : array_like of uint8
        The bytes.
    axis : int, optional
        Axis to work along; None works on the flattened array.
    count : int, optional
        How many bits: zeros follow the last; a negative count leaves that many out at the end. None means all.
    bitorder : {"big", "little"}, default 'big'
        Whether the first element is a byte's highest or lowest bit.

    Returns
    -------
    ndarray of uint8
        The axis' extent is 8 times as long, or count.

    Raises
    ------
    TypeError
        a is not uint8.
    ValueError
        bitorder is neither of both.

    Examples
    --------
    >>> np.unpackbits(np.asarray([5], np.uint8))
    array([0, 0, 0, 0, 0, 1, 0, 1], dtype=uint8)
    """
    a = asarray(a)
    if a.dtype != "uint8":
        raise TypeError("Expected an input array of unsigned byte data type")
    if axis is None:
        a, axis = a.ravel(), 0
    if a.ndim == 0:
        a = a.reshape(1)
    axis = _axis(axis, a.ndim, "unpackbits")
    a = a.swapaxes(axis, -1)
    n = a.shape[-1] * 8
    bits = ((a[..., None] >> _order(bitorder).to_device(a.device)) & 1).reshape((*a.shape[:-1], n))
    if count is not None:
        count = int(count)
        if count < -n:
            raise ValueError(f"-ve count with absolute value greater than the array size: {count} of {n} bits")
        if count > n:
            bits = concatenate([bits, zeros((*bits.shape[:-1], count - n), "uint8", device=a.device)], -1)
        bits = bits[..., :count]
    return bits.swapaxes(axis, -1)
