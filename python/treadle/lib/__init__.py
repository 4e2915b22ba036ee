"""numpy.lib, whose module stride_tricks is treadle's."""

from .. import _public
from . import stride_tricks


def __getattr__(name):
    import numpy

    return getattr(numpy.lib, name)


def __dir__():
    import numpy

    return _public.names(__name__, (n for n in dir(numpy.lib) if n[0] != "_"))
