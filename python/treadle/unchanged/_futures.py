"""``concurrent.futures`` as an unchanged program sees it: treadle maps for ProcessPoolExecutor, Python does the rest.
"""

import concurrent.futures
from concurrent.futures import *  # noqa: F403 - a face of that module

import numpy

from treadle import _core
from treadle.executor import DeviceExecutor

__all__ = list(concurrent.futures.__all__)


class ProcessPoolExecutor(DeviceExecutor):
    """A ProcessPoolExecutor whose map compiles functions of numbers. It spawns its worker processes."""

    def __init__(self, max_workers=None, mp_context=None, initializer=None, initargs=(), *, max_tasks_per_child=None):
        super().__init__(
            None, max_workers, initializer=initializer, initargs=initargs, mp_context=mp_context,
            max_tasks_per_child=max_tasks_per_child,
        )  # fmt: skip
        self._is_free = False  # the program asked for processes, so none of its items runs in this one

    def submit(self, fn, /, *args, **kwargs):
        """Run fn(*args, **kwargs) in a worker process and return its Future."""
        return self.submit_to_processes(fn, *args, **kwargs)

    def map(self, fn, *iterables, timeout=None, chunksize=1, buffersize=None):
        """An iterator over the results, in order. Items of arrays stay NumPy scalars, and Python runs the function on
        them."""
        items = [list(x) if isinstance(x, (numpy.ndarray, _core.ndarray)) else x for x in iterables]
        return super().map(fn, *items, timeout=timeout, chunksize=chunksize, buffersize=buffersize)


def __getattr__(name):
    return getattr(concurrent.futures, name)


def __dir__():
    return dir(concurrent.futures)
