"""As autoinit, with the device's primary context, which it is in both: contexts here are primary ones."""

import atexit

from .._public import dir_of as _dir_of
from . import driver as cuda
from ._driver import _contexts
from .tools import make_default_context


def _retain(device):
    context = device.retain_primary_context()
    context.push()
    return context


cuda.init()
context = make_default_context(_retain)
device = context.get_device()
_contexts.adopt(context)


def _finish():
    """unless the program has popped it"""
    if _contexts._stack.contexts and _contexts._stack.contexts[-1] is context:
        context.pop()


atexit.register(_finish)

__dir__ = _dir_of(__name__)
