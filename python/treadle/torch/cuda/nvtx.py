"""torch.cuda.nvtx: ranges for profilers. They are not kept here; those of torch.profiler.record_function are."""

import contextlib

from ..._public import dir_of as _dir_of


def range_push(msg):
    """0: nothing is kept."""
    return 0


def range_pop():
    """0."""
    return 0


def range_start(msg):
    """0, for range_end."""
    return 0


def range_end(range_id):
    """Does nothing."""


def mark(msg):
    """Does nothing."""


def range(msg, *args, **kwargs):
    """A with statement that does nothing."""
    return contextlib.nullcontext()


__dir__ = _dir_of(__name__)
