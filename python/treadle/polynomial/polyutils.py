"""numpy.polynomial.polyutils: NumPy's functions of coefficients and domains. mapdomain takes treadle's arrays too."""

from numpy.polynomial.polyutils import *  # noqa: F403  (the module is NumPy's but for one function)

from treadle._core import ndarray as _ndarray

from .._public import dir_of as _dir_of


def mapdomain(x, old, new):
    """Map x by the linear function that maps the domain old to new."""
    if not isinstance(x, _ndarray):
        return _mapdomain(x, old, new)
    off, scale = mapparms(old, new)  # noqa: F405  (of NumPy's module)
    return off + scale * x


from numpy.polynomial.polyutils import mapdomain as _mapdomain  # noqa: E402

__dir__ = _dir_of(__name__)
