"""One array over several devices: ``td.asarray(x, device=td.mesh("cuda:0", "cuda:1"))``.

A sharded array has an ndarray's operators and methods, and functions take it. Each device computes its part; what has
to move between devices moves unasked and is counted (`moves`). The words are those of JAX and of PyTorch's DTensor: a
mesh of devices, placements `Shard(axis)` and `Replicate()`.
"""

from .._exchange._moves import moves
from .._public import dir_of as _dir_of
from . import _creation, _methods, _random, _rules, _shapes  # noqa: F401  (the table of rules)
from ._array import ShardedArray
from ._make import mesh, shard
from ._mesh import Mesh, Replicate, Shard

__all__ = ["Mesh", "Replicate", "Shard", "ShardedArray", "mesh", "moves", "shard"]
__dir__ = _dir_of(__name__)
