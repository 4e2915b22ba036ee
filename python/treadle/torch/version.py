"""torch.version and torch.__config__: versions that PyTorch programs ask for."""

from .. import _core
from .._public import dir_of as _dir_of

__version__ = "2.9.0+treadle"
cuda = next((f"{d.driver // 1000}.{d.driver % 1000 // 10}" for d in _core.devices() if d.kind == "cuda"), None)
hip = git_version = None
debug = False


def show():
    """torch.__config__.show: the version, and what computes, as text."""
    return f"treadle.torch {__version__}\n  - CUDA: {cuda or 'none'}\n  - no MKL, no oneDNN\n"


def parallel_info():
    """torch.__config__.parallel_info: the number of threads, as text."""
    from .. import torch

    return f"threads: {torch.get_num_threads()}\n"


__dir__ = _dir_of(__name__)
