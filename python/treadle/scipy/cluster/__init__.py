"""scipy.cluster: vq and hierarchy, on the host."""

from ..._public import dir_of as _dir_of
from . import hierarchy, vq

__all__ = ["hierarchy", "vq"]

__dir__ = _dir_of(__name__)
