"""torch.types: what annotations name."""

import builtins

from .. import _core
from .._public import dir_of as _dir_of
from . import _device
from ._tensor import _dtypes, _size

Number = builtins.int | builtins.float | builtins.bool
Device = _device.device | str | builtins.int | None
Tensor, _dtype, Size = _core.Tensor, _dtypes.dtype, _size.Size
Storage = object

__dir__ = _dir_of(__name__)
