"""Tells multiprocessing how to send arrays, when a program imports it: treadle does not do so itself."""

import sys

_NAME = "multiprocessing.reduction"
_WAIT = 5.0  # seconds that a process waits at its end for what it sent to be received


def _share(array):
    from ._pickle import share

    return share(array)


def _finish():
    """A process takes its memory along when it ends: what was sent gets a while to be received."""
    import time

    from . import _core

    until = time.monotonic() + _WAIT
    while _core._sent() and time.monotonic() < until:
        time.sleep(0.002)


def _at_end(_=None):
    from multiprocessing.util import Finalize

    Finalize(None, _finish, exitpriority=-100)  # behind the threads that empty queues


def _register(reduction):
    from multiprocessing.util import register_after_fork

    from ._core import ndarray

    reduction.ForkingPickler.register(ndarray, _share)
    _at_end()
    register_after_fork(sys.modules[__name__], _at_end)  # every new process forgets what its parent had


class _Finder:
    def find_spec(self, name, path=None, target=None):
        """Finds nothing itself; what the others find of that name registers arrays once it has run."""
        if name != _NAME:
            return None
        sys.meta_path.remove(self)
        from importlib.util import find_spec

        spec = find_spec(name)
        run = spec.loader.exec_module

        def exec_module(module):
            run(module)
            _register(module)

        spec.loader.exec_module = exec_module
        return spec


def watch():
    """Registers arrays now, or when multiprocessing is imported."""
    if _NAME in sys.modules:
        _register(sys.modules[_NAME])
    else:
        sys.meta_path.insert(0, _Finder())
