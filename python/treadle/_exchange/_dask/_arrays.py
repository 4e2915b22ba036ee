"""Registers treadle's arrays with Dask: as chunks, by class, and as an array library, by name."""

import numpy

from ..._core import empty, ndarray


def register(backends):
    """Register the class of arrays. Called once dask.array.backends has been imported."""
    from dask.array.chunk_types import register_chunk_type

    register_chunk_type(ndarray)
    backends.percentile_lookup.register(ndarray, backends.percentile)
    backends.to_numpy_dispatch.register(ndarray, _to_numpy)
    backends.empty_lookup.register(ndarray, _empty)
    backends.array_creation_dispatch.register_backend("treadle", _backend(backends.ArrayBackendEntrypoint))


def _to_numpy(chunk, **kwargs):
    return chunk.get()


def _empty(shape, dtype=float, order="C", **kwargs):
    return empty(shape, numpy.dtype(dtype))


def _chunk(block, **kwargs):
    """A chunk as treadle's array, on the default device of the process that computes it."""
    import treadle

    return block if isinstance(block, ndarray) else treadle.array(block)


def _backend(entrypoint):
    """The array library for `dask.config.set({"array.backend": "treadle"})`."""

    def made(name):
        def make(*args, meta=None, like=None, **kwargs):
            import dask.array
            from dask import config

            # Not empty(()): Dask takes an element of it, which is a scalar by its class, into NumPy's memory.
            meta = empty(0) if meta is None else meta
            with config.set({"array.backend": "numpy"}):
                keyword = {"like": meta} if name == "arange" else {"meta": meta}
                return getattr(dask.array, name)(*args, **keyword, **kwargs)

        return staticmethod(make)

    class Treadle(entrypoint):
        @classmethod
        def to_backend_dispatch(cls):
            return _chunk

        @classmethod
        def to_backend(cls, data, **kwargs):
            return data if isinstance(data._meta, ndarray) else data.map_blocks(_chunk, meta=_like(data), **kwargs)

        @property
        def RandomState(self):
            from ...random import RandomState

            return RandomState

        @property
        def default_bit_generator(self):
            from ...random import Philox

            return Philox

    for name in ("ones", "zeros", "empty", "full", "arange"):
        setattr(Treadle, name, made(name))
    return Treadle()


def _like(data):
    return empty((0,) * data.ndim, data.dtype)
