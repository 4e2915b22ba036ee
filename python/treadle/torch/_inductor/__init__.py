"""torch._inductor: settings of PyTorch's code generator. Programs may set them; they have no effect here."""

import types

from .. import _modules

config = types.SimpleNamespace(triton=types.SimpleNamespace(), cpp=types.SimpleNamespace())

__getattr__, __dir__ = _modules.refusing("torch._inductor")
