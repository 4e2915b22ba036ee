"""The clocks that the program's own files read: recorded work is computed before a clock is read.

A benchmark written for NumPy reads a clock, works, and reads it again; it expects the work to be done by then. After
the first reading treadle also computes results that the program drops without looking, as NumPy would have.
"""

import functools
import itertools
import time
import timeit
import types

from treadle import _core

_settle = _core._unchanged_settle

READS = set(
    "time time_ns perf_counter perf_counter_ns monotonic monotonic_ns process_time process_time_ns thread_time "
    "thread_time_ns".split()
)
_PLAIN = {name: getattr(time, name) for name in READS} | {n: getattr(timeit, n) for n in timeit.__all__}


class _Clock:
    """Reads a clock of Python's. As that does, it takes no self where it is an attribute of a class."""

    def __init__(self, name):
        self._space = vars(time)
        functools.update_wrapper(self, self._space[name])

    def __call__(self):
        _settle()
        return self._space[self.__name__]()  # looked up at each call: a test may have replaced the clock

    def __repr__(self):
        return f"<built-in function {self.__name__}>"


class Module(types.ModuleType):
    """A module of Python's with some of its names replaced."""

    def __init__(self, real, ours):
        super().__init__(real.__name__, real.__doc__)
        self.__dict__.update(_td_real=real, **ours)

    def __getattr__(self, name):
        return getattr(self.__dict__["_td_real"], name)

    def __setattr__(self, name, value):
        """Set a name in the real module, for all importers. Setting a replaced clock back restores Python's own."""
        setattr(self.__dict__["_td_real"], name, _PLAIN[name] if value is self.__dict__.get(name) else value)

    def __delattr__(self, name):
        delattr(self.__dict__["_td_real"], name)

    def __dir__(self):
        return dir(self.__dict__["_td_real"])

    def __repr__(self):
        return repr(self.__dict__["_td_real"])


_time = Module(time, {name: _Clock(name) for name in READS})


class Timer(timeit.Timer):
    __doc__ = timeit.Timer.__doc__

    def __init__(self, stmt="pass", setup="pass", timer=_time.perf_counter, globals=None):
        if globals is None:  # run as the program's own file, so that imports in setup mean treadle
            globals = {"__name__": "__main__", "itertools": itertools}
        super().__init__(stmt, setup, timer, globals)


@functools.wraps(timeit.timeit)
def _timeit(stmt="pass", setup="pass", timer=_time.perf_counter, number=timeit.default_number, globals=None):
    return Timer(stmt, setup, timer, globals).timeit(number)


@functools.wraps(timeit.repeat)
def _repeat(
    stmt="pass",
    setup="pass",
    timer=_time.perf_counter,
    repeat=timeit.default_repeat,
    number=timeit.default_number,
    globals=None,
):
    return Timer(stmt, setup, timer, globals).repeat(repeat, number)


FACES = {
    "time": _time,
    "timeit": Module(
        timeit, {"default_timer": _time.perf_counter, "Timer": Timer, "timeit": _timeit, "repeat": _repeat}
    ),
}
