"""``torch.utils.dlpack``: tensors that share memory with other libraries."""

from ... import torch
from .. import _modules

__all__ = ["from_dlpack", "to_dlpack"]

from_dlpack, to_dlpack = torch.from_dlpack, torch.to_dlpack


__getattr__, __dir__ = _modules.refusing("torch.utils.dlpack")
