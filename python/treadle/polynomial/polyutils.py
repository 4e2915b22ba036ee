"""numpy.polynomial.polyutils, whose functions are about coefficients and domains; mapdomain maps treadle's arrays."""

from numpy.polynomial.polyutils import *  # noqa: F403

from treadle._core import ndarray

from .._public import dir_of as _dir_of


def mapdomain(x, old, new):
    """x under the linear map that takes the domain old to new."""
    if not isinstance(x, ndarray):
        return _mapdomain(x, old, new)
    off, scale = mapparms(old, new)  # noqa: F405
    return off + scale * x


from numpy.polynomial.polyutils import mapdomain as _mapdomain  # noqa: E402

__dir__ = _dir_of(__name__)
