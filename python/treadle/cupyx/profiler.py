"""cupyx.profiler's names: benchmark, whose result has times of the host and of devices, and ranges for NVIDIA's
profilers. treadle.profile() tells where the time goes.
"""

import contextlib
import functools
import math
import time

import numpy

import treadle

from .. import cuda
from .._public import dir_of as _dir_of

__all__ = ["benchmark", "profile", "time_range"]


class PerfCaseResult:
    """What benchmark gives. name; cpu_times: seconds of the host, shape (n_repeat,); gpu_times: seconds between events
    on the devices, shape (devices, n_repeat). Its text has means, deviations and extremes in microseconds."""

    def __init__(self, name, ts, devices):
        self.name, self._ts, self._devices = name, ts, devices

    cpu_times = property(lambda self: self._ts[0])
    gpu_times = property(lambda self: self._ts[1:])

    @staticmethod
    def _row(label, seconds):
        us = seconds * 1e6
        spread = f"   +/- {us.std():6.03f} (min: {us.min():9.03f} / max: {us.max():9.03f}) us" if us.size > 1 else ""
        return f"    {label}: {us.mean():9.03f} us{spread}"

    def to_str(self, show_gpu=False):
        """The text, with the devices' times only if show_gpu."""
        rows = [self._row("CPU", self._ts[0])]
        if show_gpu:
            rows += [self._row(f"GPU-{d}", t) for d, t in zip(self._devices, self._ts[1:], strict=True)]
        return f"{self.name:<20s}:{' '.join(rows)}"

    def __str__(self):
        return self.to_str(show_gpu=True)

    __repr__ = __str__


def _checked(**given):
    kinds = {"args": tuple, "kwargs": dict, "n_repeat": int, "name": str, "n_warmup": int, "devices": tuple}
    for name, value in given.items():
        if not isinstance(value, kinds[name]):
            raise ValueError(f"benchmark: {name} is {value!r}, no {kinds[name].__name__}")
    if given["n_repeat"] < 1:
        raise ValueError(f"benchmark: n_repeat is {given['n_repeat']}; one time at least")


def benchmark(
    func, args=(), kwargs=None, n_repeat=10000, *, name=None, n_warmup=10, max_duration=math.inf, devices=None
):
    """Calls func(*args, **kwargs) n_warmup times, then n_repeat times or until max_duration seconds have passed, and
    times each. What func returns is evaluated within its time. devices: a tuple of numbers; None: the current one's.

    Returns a PerfCaseResult. ValueError: a parameter of another kind."""
    if not callable(func):
        raise ValueError(f"benchmark: {func!r} cannot be called")
    kwargs = {} if kwargs is None else kwargs
    name = getattr(func, "__name__", type(func).__name__) if name is None else name
    devices = (cuda.runtime.getDevice(),) if devices is None else devices
    _checked(args=args, kwargs=kwargs, n_repeat=n_repeat, name=name, n_warmup=n_warmup, devices=devices)
    for _ in range(n_warmup):
        _run(func, args, kwargs)
    _recorded(devices)
    rows, begin = [], time.perf_counter()
    while len(rows) < n_repeat:
        rows.append(_timed(func, args, kwargs, devices))
        if time.perf_counter() - begin > max_duration:
            break
    return PerfCaseResult(name, numpy.array(rows, float).T.copy(), devices)


def _run(func, args, kwargs):
    made = func(*args, **kwargs)
    parts = made if isinstance(made, (tuple, list)) else (made,)
    treadle.evaluate(*(p for p in parts if isinstance(p, treadle._core.ndarray)))


def _recorded(devices):
    """An event of each device, recorded and completed."""
    events = []
    for number in devices:
        with cuda.Device(number):
            events.append(cuda.Event())
            events[-1].record()
    return events


def _timed(func, args, kwargs, devices):
    """The seconds of one call: the host's, then each device's."""
    first = _recorded(devices)
    begin = time.perf_counter()
    _run(func, args, kwargs)
    seconds = time.perf_counter() - begin
    last = _recorded(devices)
    for event in last:
        event.synchronize()
    return [seconds, *(cuda.get_elapsed_time(a, b) * 1e-3 for a, b in zip(first, last, strict=True))]


class time_range:
    """A range that profilers show: a block (``with time_range("load"):``) or each call of a function
    (``@time_range()``, which takes the function's name).

    color_id: the number of a colour; argb_color: 0xAARRGGBB; not both (ValueError). sync: what runs on the device is
    waited for at both ends. Without NVTX (cuda.nvtx.available) nothing is shown."""

    def __init__(self, message=None, color_id=None, argb_color=None, sync=False):
        if color_id is not None and argb_color is not None:
            raise ValueError("time_range: color_id and argb_color are both given; one says the colour")
        self.message, self.color_id, self.argb_color, self.sync = message, color_id, argb_color, sync

    def __enter__(self):
        if self.message is None:
            raise ValueError("time_range: a block has no name of its own; time_range('name')")
        if self.sync:
            treadle.synchronize()
        if self.argb_color is None:
            cuda.nvtx.RangePush(self.message, -1 if self.color_id is None else self.color_id)
        else:
            cuda.nvtx.RangePushC(self.message, self.argb_color)
        return self

    def __exit__(self, *error):
        if self.sync:
            treadle.synchronize()
        cuda.nvtx.RangePop()

    def __call__(self, func):
        name = func.__name__ if self.message is None else self.message

        @functools.wraps(func)
        def ranged(*args, **kwargs):
            with time_range(name, self.color_id, self.argb_color, self.sync):
                return func(*args, **kwargs)

        return ranged


@contextlib.contextmanager
def profile():
    """A block that outside profilers collect, where they were told to wait for the program's word."""
    cuda.runtime.profilerStart()
    try:
        yield
    finally:
        cuda.runtime.profilerStop()


__dir__ = _dir_of(__name__)
