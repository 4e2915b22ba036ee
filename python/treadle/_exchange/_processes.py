"""Registers arrays with multiprocessing, which sends them as handles."""

import sys

_WAIT = 5.0  # seconds that a process waits at its end for other processes to open the memory that it sent


def _share(array):
    from ._pickle import share

    return share(array)


def _finish():
    """Wait at the end of a process for what it sent to be received, because its memory ends with it."""
    import time

    from .. import _core

    until = time.monotonic() + _WAIT
    while _core._sent() and time.monotonic() < until:
        time.sleep(0.002)


def _at_end(_=None):
    from multiprocessing.util import Finalize

    Finalize(None, _finish, exitpriority=-100)  # after multiprocessing has ended the threads that empty its queues


def register(reduction):
    """Register arrays. Called once multiprocessing.reduction has been imported."""
    from multiprocessing.util import register_after_fork

    from .._core import ndarray_of_programs as ndarray  # numbers are sent by value

    reduction.ForkingPickler.register(ndarray, _share)
    _at_end()
    register_after_fork(sys.modules[__name__], _at_end)  # a forked process does not inherit finalizers
