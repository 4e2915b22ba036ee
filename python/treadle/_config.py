"""treadle.config: what was read from the environment, and what can be set while the program runs."""

from types import SimpleNamespace

from . import _core
from ._exchange import _host, _implicit
from ._words import near


class Config(SimpleNamespace):
    """Settings of treadle: those that a program may change, and those read from the environment at the start.

    Attributes
    ----------
    check_bounds : bool, default True
        Whether integer arrays used as indices are checked. IndexError names one out of range. With False, reading at
        an index out of range is undefined.
    eager : int
        Operations on a CPU with at most this many elements run at once, as in NumPy. Larger ones are recorded and
        fused. The elements count times the instructions that each takes. 0 records every operation.
    implicit_host : {"allow", "warn", "error"}
        What happens where an array on a GPU becomes a NumPy array without .get(), as in numpy.asarray(a). "warn"
        gives one RuntimeWarning for each line of the program, "error" raises TypeError. implicit_host_sites() lists
        the lines.
    fallback : {"warn", "allow", "error"}
        What a function does that only NumPy computes (treadle.fallbacks() lists them). "warn" gives one
        PerformanceWarning for each line of the program, "error" raises NotImplementedError.
    crossover : int or None
        Arrays of at least this many elements are treadle's in a program that runs unchanged; NumPy computes smaller
        ones on the host. treadle.install() sets it from TREADLE_CROSSOVER, or measures it once for each machine and
        device.
    device, cpu, dump, cache_dir, profile, cache_size, threads, kernels_kept, sync : str, int, bool or None
        What the environment's variables TREADLE_DEVICE, TREADLE_CPU and so on said at the start.

    Raises
    ------
    AttributeError
        There is no setting of that name.
    ValueError
        The setting does not take the value.

    Examples
    --------
    >>> np.config.check_bounds
    True
    >>> np.config.implicit_host in ("allow", "warn", "error")
    True
    """

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
