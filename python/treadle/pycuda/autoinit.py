"""Importing it makes a context on the default device, current in this thread and used by threads that make none.

context and device are what it made. The context is popped when the program ends.
"""

import atexit

from .._public import dir_of as _dir_of
from . import driver as cuda
from ._driver import _contexts
from .tools import make_default_context

cuda.init()
context = make_default_context()
device = context.get_device()
_contexts.adopt(context)


def _finish():
    """unless the program has popped it"""
    if _contexts._stack.contexts and _contexts._stack.contexts[-1] is context:
        context.pop()


atexit.register(_finish)

__dir__ = _dir_of(__name__)
