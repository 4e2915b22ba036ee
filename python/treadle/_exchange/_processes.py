"""How multiprocessing sends arrays."""

import sys

_WAIT = 5.0  # seconds that a process waits at its end for what it sent to be received


def _share(array):
    from ._pickle import share

    return share(array)


def _finish():
    """A process takes its memory along when it ends: what was sent gets a while to be received."""
    import time

    from .. import _core

    until = time.monotonic() + _WAIT
    while _core._sent() and time.monotonic() < until:
        time.sleep(0.002)


def _at_end(_=None):
    from multiprocessing.util import Finalize

    Finalize(None, _finish, exitpriority=-100)  # runs after the threads that empty queues


def register(reduction):
    """Told of multiprocessing.reduction when it has been imported."""
    from multiprocessing.util import register_after_fork

    from .._core import ndarray

    reduction.ForkingPickler.register(ndarray, _share)
    _at_end()
    register_after_fork(sys.modules[__name__], _at_end)  # every new process forgets what its parent had
