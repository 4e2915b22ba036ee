"""Moves what Dask's own functions make of NumPy's arrays to the array library that a program chose.

Dask asks the library of `dask.config.set({"array.backend": "treadle"})` for ones, zeros, ranges and random numbers
alone. The functions below make NumPy's chunks whatever the library is, so their results are moved.
"""

import functools

NAMES = "array asanyarray asarray eye from_array from_npy_stack from_zarr linspace".split()


def register(names):
    """Wrap the functions of dask.array. Called once it has been imported; Dask's own calls do not go through them."""
    for name in NAMES:
        setattr(names, name, _moved(getattr(names, name)))


def _moved(make):
    @functools.wraps(make)
    def wrapper(*args, **kwargs):
        x = make(*args, **kwargs)
        from dask import config

        if config.get("array.backend", None) != "treadle" or kwargs.get("meta") is not None:
            return x
        return _ours(x)

    return wrapper


def _ours(x):
    import numpy

    from ._arrays import _chunk, _like

    try:
        meta = _like(x)
    except TypeError:  # text, objects, times: no array here has them
        return x
    return x.map_blocks(_chunk, dtype=x.dtype, meta=meta) if isinstance(x._meta, numpy.ndarray) else x
