"""What goes wrong between processes."""

from .._core import DistributedError, PeerError

__all__ = ["DistributedError", "PeerError"]
