"""treadle.config: what was read from the environment, and what can be set while the program runs."""

from types import SimpleNamespace

from . import _core
from ._exchange import _host, _implicit
from ._words import near


class Config(SimpleNamespace):
    """check_bounds: integer arrays used as indices are checked, and IndexError tells of one out of range.
    When False they are trusted; what an index out of range then reads is undefined.

    eager: an operation on a CPU of at most so many elements (times the instructions that an element takes) runs where
    it stands, as in NumPy, instead of being recorded and fused; 0: every operation is recorded.

    implicit_host: what happens where an array on a GPU becomes a NumPy array without .get(), as in
    numpy.asarray(a): "allow", "warn" (RuntimeWarning, once for each line of the program) or "error" (TypeError).
    implicit_host_sites() tells where that happened.

    fallback: what a function that only NumPy computes does, see treadle.fallbacks(): "warn" (PerformanceWarning, once
    for each line of the program), "allow" or "error" (NotImplementedError).

    crossover: from how many elements on an array of a program that runs unchanged is treadle's; smaller work stays
    with NumPy on the host. None until treadle.install(), which asks TREADLE_CROSSOVER, else measures once a machine
    and device."""

    def __init__(self, **options):
        vars(self).update(
            check_bounds=True, implicit_host=_implicit.mode, fallback=_host.mode, crossover=None, **options
        )

    def __getattr__(self, name):
        raise AttributeError(f"treadle.config has no setting {name!r}{near(name, vars(self))}", name=name)

    def __setattr__(self, name, value):
        if name not in vars(self):
            raise AttributeError(f"treadle.config has no setting {name!r}{near(name, vars(self))}")
        if name == "check_bounds":
            _core._check_bounds(value)
        elif name == "eager":
            _core._set_eager(value)
        elif name == "implicit_host":
            if value not in _implicit.MODES:
                raise ValueError(f"implicit_host is one of {', '.join(map(repr, _implicit.MODES))}, not {value!r}")
            _implicit.mode = value
        elif name == "fallback":
            if value not in _host.MODES:
                raise ValueError(f"fallback is one of {', '.join(map(repr, _host.MODES))}, not {value!r}")
            _host.mode = value
        super().__setattr__(name, value)
        if name == "crossover" and value is not None:
            from .unchanged import _start

            _start.apply()

    implicit_host_sites = staticmethod(_implicit.sites)
