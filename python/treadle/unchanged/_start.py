"""Sets up the process for an unchanged program, before its first array: faces, crossover, hooks."""

import atexit
import builtins
import faulthandler
import functools
import os
import signal
import sys
import warnings

from treadle import _core, config
from treadle._exchange import _host
from treadle._observe import _seen

from . import _crossover, _far, _imports, _listens

NEVER = 2**62  # more elements than any array has: treadle takes none
_state = {"watch": None}


def set_watch(seen):
    """Set the recorder of NumPy's work and of calls that treadle declined (_observe/_seen.py). None: nobody records."""
    _far.explanation = seen
    _state["watch"] = seen.watch if seen else None
    apply()


def apply():
    """Hand the crossover and the recorder's function to the core."""
    _core._unchanged_set(config.crossover, _host.note, _state["watch"])


def _in_child():
    """In a forked process: leave all work to NumPy, because a GPU cannot be used after fork()."""
    if not _core.device().host:
        config.crossover = NEVER


def _watched(f):
    """Wrap f, which may install a signal handler before ours. Afterwards ours is installed first again."""

    @functools.wraps(f)
    def call(*args, **kwargs):
        r = f(*args, **kwargs)
        _core._unchanged_watch()
        return r

    return call


def _unblocked(f):
    """Wrap signal.pthread_sigmask so that it never blocks SIGSEGV. A page fault in a thread that blocks it ends the
    process."""

    @functools.wraps(f)
    def call(how, mask):
        return f(how, mask if how == signal.SIG_UNBLOCK else set(mask) - {signal.SIGSEGV})

    return call


def _one_thread_in_numexpr():
    """Make numexpr compute in the calling thread.

    Its own threads block all signals, so the page faults by which treadle fills in pending values would end the
    process."""
    os.environ["NUMEXPR_NUM_THREADS"] = "1"
    if "numexpr" in sys.modules:
        sys.modules["numexpr"].set_num_threads(1)


def _help():
    """Make help() of a face show the help of NumPy's function."""
    plain = getattr(builtins, "help", None)
    if plain is None:  # absent under python -S
        return

    class Helper(type(plain)):
        def __call__(self, *args, **kwargs):
            faces = (_core.face, _core.uface)
            return super().__call__(*(x._target if isinstance(x, faces) else x for x in args), **kwargs)

    builtins.help = Helper()


def start():
    """Set up everything and install the import hook."""
    _core._unchanged_setup(_far)
    config.fallback = "allow"
    config.implicit_host = "allow"
    warnings.filterwarnings("ignore", category=_core.PerformanceWarning)
    if config.crossover is None:
        config.crossover = _crossover.elements()
    _seen.hook(set_watch)
    atexit.register(_core._unchanged_untimed)
    os.register_at_fork(before=_core._unchanged_fetch, after_in_child=_in_child)
    for module, name in ((faulthandler, "enable"), (signal, "signal")):
        setattr(module, name, _watched(getattr(module, name)))
    signal.pthread_sigmask = _unblocked(signal.pthread_sigmask)
    _one_thread_in_numexpr()
    _help()
    _listens.start()
    _imports.hook()
