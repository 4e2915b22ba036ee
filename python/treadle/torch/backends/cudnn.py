"""torch.backends.cudnn: settings of a library that treadle does not use. Programs may set them; they have no effect
here."""

import contextlib

from ..._public import dir_of as _dir_of

enabled, benchmark, deterministic, allow_tf32, benchmark_limit = True, False, False, False, 10


def is_available():
    """False: convolutions are matrix products here."""
    return False


def version():
    """None."""


def flags(**kwargs):
    """A with statement that changes nothing."""
    return contextlib.nullcontext()


__dir__ = _dir_of(__name__)
