"""What all interpolation needs: SciPy's module and objects on the host, and axes of points among those of values."""

import treadle as td

from .. import _table


def take(a, at):
    """a[at] along the first axis."""
    return td.take(a, at, axis=0)


def scipys():
    """SciPy's module. MissingLibraryError: SciPy is not installed."""
    try:
        import scipy.interpolate
    except ImportError:
        return _table._missing("scipy.interpolate")()
    return scipy.interpolate


def host(cls, name, x, args, kwargs):
    """A method of SciPy's object for x, on the host."""
    return _table.call(f"scipy.interpolate.{cls}.{name}", getattr(x._scipy_(), name), args, kwargs)


def axes_moved(r, x_ndim, axis):
    """A result of shape (points, values) with the points' axes put in at axis of the values'."""
    if axis == 0:
        return r
    order = list(range(r.ndim))
    return r.transpose(order[x_ndim : x_ndim + axis] + order[:x_ndim] + order[x_ndim + axis :])
