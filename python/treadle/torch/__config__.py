"""torch.__config__: how the library was built, for programs that print or search it."""

from .._public import dir_of as _dir_of

__all__ = ["parallel_info", "show"]


def show():
    """A text: version and what computes."""
    from . import version

    return f"treadle.torch {version.__version__}\n  - CUDA: {version.cuda or 'none'}\n  - no MKL, no oneDNN\n"


def parallel_info():
    """A text: the number of threads."""
    from . import get_num_threads

    return f"threads: {get_num_threads()}\n"


__dir__ = _dir_of(__name__)
