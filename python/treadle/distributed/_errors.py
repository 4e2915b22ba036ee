"""The exceptions of collectives and of lost processes."""

from .._core import DistributedError, PeerError

__all__ = ["DistributedError", "PeerError"]
