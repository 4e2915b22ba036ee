"""treadle.debug: kernels with all checks, in which breakpoint() stops."""

import ast
import os
import pdb
import sys
from bdb import BdbQuit

from .. import _core

_FIRST = (0, 0, 0)


class debug:
    """A context manager: kernels that this thread launches in it are compiled with checks.

    On every device an index out of bounds raises IndexError with the array's name and shape, the block, the thread and
    the line; the device stays usable. On the CPU and the null device kernels run in the interpreter, slowly. There
    ``breakpoint()`` in a kernel stops in pdb with the variables of one thread, and two more mistakes raise.
    RuntimeError: two threads use one byte, one of them writes, and nothing orders them; memory is read that nobody has
    written; a barrier is not reached by all threads of the block; a shuffle reads a lane that its mask does not name.
    OverflowError: an index left its dtype's range. What treadle.errstate asks for is looked for in kernels, too. A grid
    that seems too small for a vector is a RuntimeWarning.

    Contexts nest and can be entered again. TREADLE_DEBUG=1 debugs all launches of a program that are in no such
    context.

    Parameters
    ----------
    thread : int or pair (block, thread), optional
        Whose breakpoints stop; each part is an int or a tuple of up to 3. None means the first thread of the grid.
    on : bool, default True
        False: launches in it are not debugged, whatever TREADLE_DEBUG says.

    Examples
    --------
    >>> with np.debug(on=False):
    ...     x = np.ones(3) + 1
    """

    def __init__(self, thread=None, on=True):
        block, one = (_FIRST, _FIRST) if thread is None else thread
        self._said = (bool(on), _three("block", block), _three("thread", one))
        self._before = []

    def __enter__(self):
        self._before.append(_core._debug(*self._said))
        return self

    def __exit__(self, *exc):
        _core._debug(*self._before.pop())
        return False


def _three(what, x):
    x = (x,) if isinstance(x, int) else tuple(x)
    if len(x) > 3 or any(not isinstance(i, int) or i < 0 for i in x):
        raise ValueError(f"debug: the {what} is an int or a tuple of up to 3 that are not negative, not {x}")
    return x + (0,) * (3 - len(x))


class _Pdb(pdb.Pdb):
    """pdb at a line of a kernel. It cannot step, so every stepping command continues to the next breakpoint()."""

    def _go_on(self, arg):
        return self.do_continue(arg)

    do_n = do_next = do_s = do_step = do_r = do_return = do_unt = do_until = _go_on


def _line_of(file, line, function):
    """Code that calls _treadle_stop of its globals, and claims to come from that line of the file."""
    tree = ast.parse("_treadle_stop()", mode="eval")
    for node in ast.walk(tree):
        if hasattr(node, "lineno"):
            node.lineno = node.end_lineno = line
    return compile(tree, file, "eval").replace(co_name=function)


def stop(fn, function, file, line, variables, block, thread):
    """The launch calls this when a thread of a kernel reaches breakpoint()."""
    if os.environ.get("PYTHONBREAKPOINT") == "0":
        return
    fn = getattr(fn, "py_func", fn)
    quits = []

    def enter():
        p = _Pdb(nosigint=True)
        p.message(f"{function}: block {block}, thread {thread}")
        p.reset()
        p.interaction(sys._getframe(1), None)
        quits.append(p.quitting)

    space = {**fn.__globals__, **_closure(fn), "_treadle_stop": enter}
    eval(_line_of(file, line, function), space, variables)
    if quits[0]:
        raise BdbQuit


def _closure(fn):
    """The variables of the functions around fn, as far as they have values."""
    found = {}
    for name, cell in zip(fn.__code__.co_freevars, fn.__closure__ or ()):
        try:
            found[name] = cell.cell_contents
        except ValueError:
            continue
    return found
