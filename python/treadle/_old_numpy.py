"""What the oldest NumPy that treadle runs with has in other places, or not at all."""

from types import SimpleNamespace

import numpy


def _exception(name):
    """In numpy.exceptions since 1.25, RankWarning since 2.0; before that in numpy."""
    return getattr(getattr(numpy, "exceptions", None), name, None) or getattr(numpy, name)


_EXCEPTIONS = "AxisError ComplexWarning ModuleDeprecationWarning RankWarning TooHardError VisibleDeprecationWarning"
exceptions = SimpleNamespace(**{name: _exception(name) for name in _EXCEPTIONS.split()})
linalg = getattr(numpy.linalg, "_linalg", None) or numpy.linalg.linalg  # where the named results are, since 1.25
array_utils = getattr(numpy.lib, "array_utils", None) or numpy.core.multiarray  # since 2.0
