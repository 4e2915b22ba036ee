"""What Dask looks up by the class of a chunk."""

import numpy

from ._core import empty, ndarray


def register(backends):
    """Told of dask.array.backends when it has been imported."""
    from dask.array.chunk_types import register_chunk_type

    register_chunk_type(ndarray)
    backends.percentile_lookup.register(ndarray, backends.percentile)
    backends.to_numpy_dispatch.register(ndarray, _to_numpy)
    backends.empty_lookup.register(ndarray, _empty)


def _to_numpy(chunk, **kwargs):
    return chunk.get()


def _empty(shape, dtype=float, order="C", **kwargs):
    return empty(shape, numpy.dtype(dtype))
