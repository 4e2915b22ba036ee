"""Numba's names, for programs that import it: treadle's compilers and types."""

from treadle import (
    cuda,
    guvectorize,
    jit,
    njit,
    prange,
    stencil,
    types,
    vectorize,
)
from treadle.types import *  # noqa: F403

__all__ = ["cuda", "guvectorize", "jit", "njit", "prange", "stencil", "types", "vectorize"]
