"""``torch.nn``: modules, their parameters, and what they are made of."""

from . import functional, init, modules, parallel, utils
from .modules import *  # noqa: F403
from .modules import __all__ as _modules
from .modules import module
from .parallel import DataParallel
from .parameter import Buffer, Parameter

__all__ = [*_modules, "Buffer", "DataParallel", "Parameter", "functional", "init", "modules", "parallel", "utils"]
