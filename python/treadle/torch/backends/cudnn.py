"""torch.backends.cudnn: switches of a library that is not used; they may be set and change nothing."""

import contextlib

from ..._public import dir_of as _dir_of

enabled, benchmark, deterministic, allow_tf32, benchmark_limit = True, False, False, False, 10


def is_available():
    """No: convolutions are matrix products."""
    return False


def version():
    """None."""


def flags(**kwargs):
    """A with statement that changes nothing."""
    return contextlib.nullcontext()


__dir__ = _dir_of(__name__)
