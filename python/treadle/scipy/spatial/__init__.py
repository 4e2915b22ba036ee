"""scipy.spatial's names. The device computes distances; SciPy computes trees and triangulations on the host."""

from .._table import Table
from . import distance, transform

__getattr__, __dir__, __all__ = Table(
    "spatial", composed={"spatial._minkowski": "distance_matrix minkowski_distance minkowski_distance_p"}
).attach()
