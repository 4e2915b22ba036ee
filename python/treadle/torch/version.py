"""torch.version: what PyTorch programs ask for."""

from .. import _core
from .._public import dir_of as _dir_of

__version__ = "2.9.0+treadle"
cuda = next((f"{d.driver // 1000}.{d.driver % 1000 // 10}" for d in _core.devices() if d.kind == "cuda"), None)
hip = git_version = None
debug = False

__dir__ = _dir_of(__name__)
