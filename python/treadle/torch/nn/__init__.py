"""``torch.nn``: modules, their parameters, and the functions that modules call."""

from .. import _modules as _absent
from . import attention, functional, init, modules, parallel, utils
from .modules import *  # noqa: F403  (what its __all__ lists)
from .modules import __all__ as _modules
from .modules import module
from .parallel import DataParallel
from .parameter import Buffer, Parameter, UninitializedBuffer, UninitializedParameter

__all__ = [
    *_modules,
    "Buffer",
    "DataParallel",
    "Parameter",
    "UninitializedBuffer",
    "UninitializedParameter",
    "attention",
    "functional",
    "init",
    "modules",
    "parallel",
    "utils",
]

__getattr__, __dir__ = _absent.refusing("torch.nn")
