"""torch.signal: windows."""

from ..._public import dir_of as _dir_of
from . import windows as windows

__dir__ = _dir_of(__name__)
