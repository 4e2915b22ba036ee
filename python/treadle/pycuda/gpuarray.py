"""PyCUDA's arrays, over treadle's: ``a = gpuarray.to_gpu(x); (2 * a + 1).get()``.

Functions and methods have PyCUDA's parameters; those that give one value give a GPUArray without axes.
"""

from ._arrayfunctions import (
    all,
    any,
    concatenate,
    dot,
    if_positive,
    logical_and,
    logical_not,
    logical_or,
    max,
    maximum,
    min,
    minimum,
    multi_put,
    multi_take,
    multi_take_put,
    reshape,
    stack,
    subset_dot,
    subset_max,
    subset_min,
    subset_sum,
    sum,
    take,
    transpose,
    where,
)
from ._arraymake import (
    arange,
    empty,
    empty_like,
    full,
    full_like,
    ones,
    ones_like,
    to_gpu,
    to_gpu_async,
    zeros,
    zeros_like,
)
from ._gpuarray import GPUArray, splay
from ._vec import vec

__all__ = [name for name in dir() if not name.startswith("_")]
