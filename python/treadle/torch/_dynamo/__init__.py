"""torch._dynamo: what programs set of PyTorch's compiler, which changes nothing here."""

import types

from .. import _modules
from ..compiler import disable as disable
from ..compiler import is_compiling as is_compiling
from ..compiler import reset as reset


class OptimizedModule:
    """What PyTorch's compile makes of a module. Here it gives the module itself, so nothing is one."""


config = types.SimpleNamespace()

__getattr__, __dir__ = _modules.refusing("torch._dynamo")
