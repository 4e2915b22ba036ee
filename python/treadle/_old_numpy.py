"""What NumPy has in other places, has not, or does otherwise, from one of its versions to the next."""

from types import SimpleNamespace

import numpy


def _exception(name):
    """In numpy.exceptions since 1.25, RankWarning since 2.0; before that in numpy."""
    return getattr(getattr(numpy, "exceptions", None), name, None) or getattr(numpy, name)


_EXCEPTIONS = "AxisError ComplexWarning ModuleDeprecationWarning RankWarning TooHardError VisibleDeprecationWarning"
exceptions = SimpleNamespace(**{name: _exception(name) for name in _EXCEPTIONS.split()})
linalg = getattr(numpy.linalg, "_linalg", None) or numpy.linalg.linalg  # where the named results are, since 1.25
array_utils = getattr(numpy.lib, "array_utils", None) or numpy.core.multiarray  # since 2.0


def _refuses_parts():
    """Does ``x.real = v`` refuse what ``x.real[...] = v`` does? Before NumPy 2.5 v became an array first."""
    try:
        numpy.zeros(1, "u1").real = 300
    except OverflowError:
        return True
    return False


parts_are_items = _refuses_parts()
