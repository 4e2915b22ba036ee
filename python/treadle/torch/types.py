"""torch.types: names for annotations."""

import builtins

from .. import _core
from .._public import dir_of as _dir_of
from . import _device
from ._tensor import _dtypes
from ._tensor._size import Size as Size

Number = builtins.int | builtins.float | builtins.bool
Device = _device.device | str | builtins.int | None
Tensor, _dtype = _core.Tensor, _dtypes.dtype
Storage = object
_device, _int, _float, _bool = _device.device, builtins.int, builtins.float, builtins.bool
_size = Size | list[builtins.int] | tuple[builtins.int, ...]

__dir__ = _dir_of(__name__)
