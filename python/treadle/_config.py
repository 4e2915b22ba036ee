"""treadle.config: what was read from the environment, and what can be set while the program runs."""

from types import SimpleNamespace

from . import _core
from ._exchange import _host, _implicit
from ._words import near


def _one_of(name, modes, value):
    if value not in modes:
        raise ValueError(f"{name} is one of {', '.join(map(repr, modes))}, not {value!r}")
    return value


def _set_check_bounds(value):
    _core._check_bounds(value)
    return value


def _set_eager(value):
    _core._set_eager(value)
    return value


def _set_implicit_host(value):
    _implicit.mode = _one_of("implicit_host", _implicit.MODES, value)
    return value


def _set_fallback(value):
    _host.mode = _one_of("fallback", _host.MODES, value)
    return value


def set_checks(value):
    """Kernels that are launched from now on check their indices ("bounds"), or do not ("none")."""
    _core._checks(_one_of("checks", ("none", "bounds"), value))
    return value


_SETTERS = {
    "check_bounds": _set_check_bounds,
    "checks": set_checks,
    "crossover": lambda value: value,
    "eager": _set_eager,
    "fallback": _set_fallback,
    "implicit_host": _set_implicit_host,
}

# What is read from the environment once: what a program does instead of setting it.
_BEFORE = "set the environment variable before treadle is imported"
_READ_ONCE = {
    "cache_dir": _BEFORE,
    "cache_size": _BEFORE,
    "cpu": _BEFORE,
    "device": "treadle.use({!r}) changes the default device",
    "dump": _BEFORE,
    "kernels_kept": _BEFORE,
    "profile": "treadle.profile() watches a part of a program; for the whole, " + _BEFORE,
    "sync": "treadle.synchronize() waits; for every launch, " + _BEFORE,
    "threads": _BEFORE,
}


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
    checks : {"none", "bounds"}
        With "bounds" kernels and compiled functions check each index before it is used. IndexError names the array,
        the index, the thread and the line; the access is left out. TREADLE_CHECKS sets it for a whole program.
    crossover : int or None
        Arrays of at least this many elements are treadle's in a program that runs unchanged; NumPy computes smaller
        ones on the host. treadle.install() sets it from TREADLE_CROSSOVER, or measures it once for each machine and
        device.
    deterministic : bool, default False
        Whether each operation gives the same bits in each run on a device, whatever the number of a CPU's threads. What
        cannot is refused with RuntimeError: kernels that add floats by atomic operations.
        torch.use_deterministic_algorithms sets it too.
    device, cpu, dump, cache_dir, profile, cache_size, threads, kernels_kept, sync : str, int, bool or None
        What the environment's variables TREADLE_DEVICE, TREADLE_CPU and so on said at the start. They cannot be set.

    Raises
    ------
    AttributeError
        There is no setting of that name, or the environment alone decides. The message says what to do.
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
        options["checks"] = _core._checks(None)  # a program may have set it before anybody looked
        vars(self).update(
            check_bounds=True,
            crossover=None,
            deterministic=False,
            fallback=_host.mode,
            implicit_host=_implicit.mode,
            **options,
        )

    @property
    def deterministic(self):
        """Whether results have the same bits each time; torch.use_deterministic_algorithms sets it too."""
        return _core._deterministic(None) > 0

    def __getattr__(self, name):
        raise AttributeError(f"treadle.config has no setting {name!r}{near(name, vars(self))}", name=name)

    def __setattr__(self, name, value):
        if name == "deterministic":
            _core._deterministic(2 if value else 0)
            return
        if name not in vars(self):
            raise AttributeError(f"treadle.config has no setting {name!r}{near(name, vars(self))}")
        if name in _READ_ONCE:
            raise AttributeError(
                f"treadle.config.{name} is what TREADLE_{name.upper()} said at the start and does not change: "
                f"{_READ_ONCE[name].format(value)}",
                name=name,
            )
        super().__setattr__(name, _SETTERS[name](value))
        if name == "crossover" and value is not None:
            from .unchanged import _start

            _start.apply()

    implicit_host_sites = staticmethod(_implicit.sites)
