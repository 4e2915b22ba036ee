"""``torch.multiprocessing``: the standard library's multiprocessing, and spawn(). Tensors that are sent share their
memory if they can."""

from multiprocessing import *  # noqa: F403  (the module is Python's but for a few names)
from multiprocessing import get_context as get_context

from .._public import dir_of as _dir_of
from ..distributed._spawn import start
from ._tensor import _shared

_shared._register()
__path__ = []  # PyTorch's is a package


def spawn(fn, args=(), nprocs=1, join=True, daemon=False, start_method="spawn"):
    """Run fn(rank, *args) in nprocs new processes. If one raises, its exception is raised here and the others are
    ended.

    join=False returns a context at once, whose join() waits.
    """
    context = start(fn, nprocs, args, None, ranks=True, daemon=daemon)
    if not join:
        return context
    context.join()
    return None


def start_processes(fn, args=(), nprocs=1, join=True, daemon=False, start_method="spawn"):
    """spawn() under another name."""
    return spawn(fn, args, nprocs, join, daemon)


def get_all_sharing_strategies():
    return {"file_descriptor"}


def get_sharing_strategy():
    return "file_descriptor"


def set_sharing_strategy(new_strategy):
    if new_strategy not in get_all_sharing_strategies():
        raise ValueError(f"set_sharing_strategy: {new_strategy!r} is not file_descriptor")


__dir__ = _dir_of(__name__)
