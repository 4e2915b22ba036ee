"""torch._inductor: what programs set of PyTorch's code generator, which changes nothing here."""

import types

from .. import _modules

config = types.SimpleNamespace(triton=types.SimpleNamespace(), cpp=types.SimpleNamespace())

__getattr__, __dir__ = _modules.refusing("torch._inductor")
