"""Views by strides, as numpy.lib.stride_tricks."""

from treadle._core import asarray
from treadle._numpy._shape import _axes

from .._public import dir_of as _dir_of

__all__ = ["as_strided", "sliding_window_view"]


def as_strided(x, shape=None, strides=None, subok=False, writeable=True, *, check_bounds=None):
    """A view of x's memory with another shape and other strides, in bytes. It can be written where x can and no two
    subscripts name one element. ValueError: it leaves the memory, whatever check_bounds says, or strides are no
    multiples of the elements' size."""
    x = asarray(x)
    r = x._strided(x.shape if shape is None else shape, x.strides if strides is None else strides)
    if not writeable:
        r.setflags(write=False)
    return r


def sliding_window_view(x, window_shape, axis=None, *, subok=False, writeable=False):
    """Windows of x at every place, along new last axes: a view, which cannot be written."""
    x = asarray(x)
    window = tuple(window_shape) if hasattr(window_shape, "__iter__") else (window_shape,)
    if any(n < 0 for n in window):
        raise ValueError("`window_shape` cannot contain negative values")
    axes = list(range(x.ndim)) if axis is None else _axes(axis, x.ndim, "sliding_window_view", True)
    if len(window) != len(axes):
        raise ValueError(
            f"sliding_window_view: {len(window)} extents of windows, and {len(axes)} axes to slide along"
        )
    shape = list(x.shape)
    for k, n in zip(axes, window):
        if shape[k] < n:
            raise ValueError("window shape cannot be larger than input array shape")
        shape[k] -= n - 1
    return x._strided((*shape, *window), (*x.strides, *(x.strides[k] for k in axes)))


__dir__ = _dir_of(__name__)
