"""torch.cpu: the CPU by the names of torch.cuda. Its work has no streams."""

import contextlib

from .. import _modules
from . import amp as amp


class Stream:
    """A stream that does nothing: the CPU's work is waited for where a value is looked at."""

    def __init__(self, priority=-1):
        self.priority = priority

    def wait_stream(self, stream):
        """Nothing."""

    def record_event(self):
        """Nothing."""

    def wait_event(self, event):
        """Nothing."""


class Event:
    """A point in a stream, which is passed at once."""

    def query(self):
        """True."""
        return True

    def record(self, stream=None):
        """Nothing."""

    def synchronize(self):
        """Nothing."""

    def wait(self, stream=None):
        """Nothing."""


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
    """Nothing."""


def synchronize(device=None):
    """Nothing: a value that is looked at is there."""


__getattr__, __dir__ = _modules.refusing("torch.cpu")
