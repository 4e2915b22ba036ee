"""What the interpolation modules share: access to SciPy on the host, and the axes of results."""

import treadle as td

from .. import _table


def take(a, at):
    """a[at] along the first axis."""
    return td.take(a, at, axis=0)


def scipys():
    """SciPy's module. Raises MissingLibraryError where SciPy is not installed."""
    try:
        import scipy.interpolate
    except ImportError:
        return _table._missing("scipy.interpolate")()
    return scipy.interpolate


def host(cls, name, x, args, kwargs):
    """Call a method of SciPy's object for x, on the host."""
    return _table.call(f"scipy.interpolate.{cls}.{name}", getattr(x._scipy_(), name), args, kwargs)


def axes_moved(r, x_ndim, axis):
    """Move the axes of points, which come first in r, to position axis among those of the values."""
    if axis == 0:
        return r
    order = list(range(r.ndim))
    return r.transpose(order[x_ndim : x_ndim + axis] + order[:x_ndim] + order[x_ndim + axis :])
