"""torch.cpu: the CPU by the names of torch.cuda. Its work runs in no streams."""

import contextlib

from .. import _modules
from . import amp as amp


class Stream:
    """A stream without effect: reading a value waits for the CPU's work."""

    def __init__(self, priority=-1):
        self.priority = priority

    def wait_stream(self, stream):
        """Does nothing."""

    def record_event(self):
        """Does nothing."""

    def wait_event(self, event):
        """Does nothing."""


class Event:
    """A point in a stream. It has always passed."""

    def query(self):
        """True."""
        return True

    def record(self, stream=None):
        """Does nothing."""

    def synchronize(self):
        """Does nothing."""

    def wait(self, stream=None):
        """Does nothing."""


_stream = Stream()


def current_stream(device=None):
    """The one stream."""
    return _stream


class StreamContext(contextlib.nullcontext):
    """A with statement that changes nothing."""


def stream(stream):
    """A with statement that changes nothing."""
    return StreamContext(stream)


def is_available():
    """True."""
    return True


def is_initialized():
    """True."""
    return True


def device_count():
    """1."""
    return 1


def current_device():
    """ "cpu"."""
    return "cpu"


def set_device(device):
    """Does nothing."""


def synchronize(device=None):
    """Does nothing: reading a value waits for it."""


__getattr__, __dir__ = _modules.refusing("torch.cpu")
