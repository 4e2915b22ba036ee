"""``concurrent.futures`` as unchanged programs see it: ProcessPoolExecutor's maps are treadle's, all else Python's."""

import concurrent.futures
from concurrent.futures import *  # noqa: F403 - a face of that module

import numpy

from treadle import _core
from treadle.executor import DeviceExecutor

__all__ = list(concurrent.futures.__all__)


class ProcessPoolExecutor(DeviceExecutor):
    """concurrent.futures.ProcessPoolExecutor, whose map compiles functions of numbers. Worker processes are spawned."""

    def __init__(self, max_workers=None, mp_context=None, initializer=None, initargs=(), *, max_tasks_per_child=None):
        super().__init__(
            None, max_workers, initializer=initializer, initargs=initargs, mp_context=mp_context,
            max_tasks_per_child=max_tasks_per_child,
        )  # fmt: skip
        self._is_free = False  # the program asked for processes: no item runs in this one

    def submit(self, fn, /, *args, **kwargs):
        """A Future of fn(*args, **kwargs), which a worker process runs."""
        return self.submit_to_processes(fn, *args, **kwargs)

    def map(self, fn, *iterables, timeout=None, chunksize=1, buffersize=None):
        """An iterator of the results, in order. Items of arrays stay NumPy's numbers, which Python runs."""
        items = [list(x) if isinstance(x, (numpy.ndarray, _core.ndarray)) else x for x in iterables]
        return super().map(fn, *items, timeout=timeout, chunksize=chunksize, buffersize=buffersize)


def __getattr__(name):
    return getattr(concurrent.futures, name)


def __dir__():
    return dir(concurrent.futures)
