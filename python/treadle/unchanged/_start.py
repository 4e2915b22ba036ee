"""What unchanged programs need before their first array: types looked up, the crossover known, the hook in place."""

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

NEVER = 2**62  # elements: no array is treadle's
_state = {"watch": None}


def set_watch(seen):
    """Set who is told of NumPy's work and of what treadle declines (_observe/_seen.py); None: nobody."""
    _far.explanation = seen
    _state["watch"] = seen.watch if seen else None
    apply()


def apply():
    """Tell the core the crossover and the function that watches."""
    _core._unchanged_set(config.crossover, _host.note, _state["watch"])


def _in_child():
    """In a forked process the GPU cannot be used: leave all work to NumPy."""
    if not _core.device().host:
        config.crossover = NEVER


def _watched(f):
    """Wrap f, which may install a signal handler in front of ours: ours is put first again afterwards."""

    @functools.wraps(f)
    def call(*args, **kwargs):
        r = f(*args, **kwargs)
        _core._unchanged_watch()
        return r

    return call


def _unblocked(f):
    """signal.pthread_sigmask that leaves page faults be: one that comes to a thread that blocks it ends the process."""

    @functools.wraps(f)
    def call(how, mask):
        return f(how, mask if how == signal.SIG_UNBLOCK else set(mask) - {signal.SIGSEGV})

    return call


def _one_thread_in_numexpr():
    """Its threads block all signals, so what they touch would have to be there; without them the caller works."""
    os.environ["NUMEXPR_NUM_THREADS"] = "1"
    if "numexpr" in sys.modules:
        sys.modules["numexpr"].set_num_threads(1)


def _help():
    """Make help() of a face show NumPy's function."""
    plain = getattr(builtins, "help", None)
    if plain is None:  # python -S
        return

    class Helper(type(plain)):
        def __call__(self, *args, **kwargs):
            faces = (_core.face, _core.uface)
            return super().__call__(*(x._target if isinstance(x, faces) else x for x in args), **kwargs)

    builtins.help = Helper()


def start():
    """Sets everything up and puts the hook in."""
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
