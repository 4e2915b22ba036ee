"""Notices when a program records warnings or turns them into errors; NumPy then does its work.

Treadle computes infinities and NaNs without warnings, and so do its `nan` functions. ``with
warnings.catch_warnings(record=True)``, ``pytest.warns`` and ``simplefilter("error")`` show that the program wants
NumPy's warnings: inside of such a block NumPy does the work of that thread. An error filter outside of any block holds
for the rest of the program. Then treadle checks its values for floating-point errors, as after ``np.seterr``.
"""

import functools
import sys
import threading
import warnings

import numpy

from treadle import _core
from treadle._numpy import _errstate

from . import _imports

# frames up the stack; a test runner that records every test's warnings is further away from the program's files
_NEAR = 6

_enter, _exit = warnings.catch_warnings.__enter__, warnings.catch_warnings.__exit__


class _Blocks(threading.local):
    def __init__(self):
        self.open = []  # [block, whether NumPy does the work] of each catch_warnings that the program has entered


_blocks = _Blocks()


def _asked():
    """Whether the program's own code made the call, directly or through contextlib, pytest.warns and the like."""
    frame = sys._getframe(2)
    for _ in range(_NEAR):
        if frame is None:
            return False
        if _imports.is_own(frame.f_globals):
            return True
        frame = frame.f_back
    return False


def _listen(entry):
    if not entry[1]:
        entry[1] = True
        _core._unchanged_busy(True)


@functools.wraps(_enter)
def _entered(self):
    r = _enter(self)
    if _asked():
        entry = [self, False]
        _blocks.open.append(entry)
        if self._record:
            _listen(entry)
    return r


@functools.wraps(_exit)
def _left(self, *exc):
    for i in range(len(_blocks.open) - 1, -1, -1):
        if _blocks.open[i][0] is self:
            if _blocks.open.pop(i)[1]:
                _core._unchanged_busy(False)
            break
    return _exit(self, *exc)


def _told(f):
    """Wrap a function of warnings that sets a filter: a filter of the program that raises errors counts as listening.
    """

    @functools.wraps(f)
    def call(action, *args, **kwargs):
        r = f(action, *args, **kwargs)
        if action == "error" and _asked():
            at = 0 if f.__name__ == "simplefilter" else 1
            category = kwargs.get("category", args[at] if len(args) > at else Warning)
            if _blocks.open:
                _listen(_blocks.open[-1])
            elif issubclass(RuntimeWarning, category):
                _errstate.seterr(**numpy.geterr())
        return r

    return call


def start():
    """From now on, notice when the program records warnings or turns them into errors."""
    if warnings.catch_warnings.__enter__ is _entered:
        return
    warnings.catch_warnings.__enter__, warnings.catch_warnings.__exit__ = _entered, _left
    warnings.simplefilter, warnings.filterwarnings = _told(warnings.simplefilter), _told(warnings.filterwarnings)
    if any(action == "error" and issubclass(RuntimeWarning, category) for action, _, category, *_ in warnings.filters):
        _errstate.seterr(**numpy.geterr())  # a filter that was set before, as by python -W error
