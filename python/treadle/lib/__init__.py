"""numpy.lib, whose module stride_tricks is treadle's."""

from . import stride_tricks


def __getattr__(name):
    import numpy

    return getattr(numpy.lib, name)


def __dir__():
    import numpy

    return sorted({*dir(numpy.lib), *globals()})
