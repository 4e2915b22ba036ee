"""numpy.testing with treadle's arrays: its assertions ask for numpy.ndarray by its class."""

import functools
import sys
import types

from .. import _core


def register(testing):
    """Let numpy.testing's assertions compare treadle's arrays as NumPy's. Called once it has been imported. Programs
    that run unchanged have no arrays of treadle's."""
    if "treadle.unchanged._imports" in sys.modules:
        return
    for name in testing.__all__:
        f = getattr(testing, name)
        if name.startswith("assert_") and isinstance(f, types.FunctionType):
            setattr(testing, name, _comparing(f))


def _holds(v):
    if type(v) in (list, tuple):
        return any(map(_holds, v))
    return any(map(_holds, v.values())) if type(v) is dict else isinstance(v, _core.ndarray)


def _comparing(f):
    @functools.wraps(f)
    def fn(*args, **kwargs):
        if any(map(_holds, args)) or any(map(_holds, kwargs.values())):
            from ..testing._arrays import hosted

            args, kwargs = [hosted(a) for a in args], {k: hosted(v) for k, v in kwargs.items()}
        return f(*args, **kwargs)

    return fn
