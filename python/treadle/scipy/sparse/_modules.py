"""The modules of sparse, as names of its table."""

from . import csgraph, linalg

__all__ = ["csgraph", "linalg"]
