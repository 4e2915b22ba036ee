"""Arrays and numbers in calls of pandas, which takes NumPy's only: it asks for numpy.ndarray by its class, and takes
other sequences for labels, positions and objects.

Public functions and methods of pandas get NumPy's arrays and scalars in place of treadle's. Programs that run unchanged
have no arrays of treadle's, and pandas stays as it is.
"""

import functools
import operator
import sys
import types

import numpy

from .. import _core

_SPECIAL = {"__init__", "__new__", "__getitem__", "__setitem__"}
_FRAMES = {"query", "eval"}  # they read the caller's variables, so many calls above them
_FUNCTIONS = (_core.ufunc, _core.door)


def register(pandas):
    """Wrap what programs call of pandas. Called once pandas has been imported."""
    if "treadle.unchanged._imports" in sys.modules:
        return
    from pandas._libs import lib
    from pandas.core import arraylike, base, generic, indexing
    from pandas.core.groupby import DataFrameGroupBy, GroupBy, SeriesGroupBy

    indexers = (c for c in vars(indexing).values() if isinstance(c, type) and "Indexer" in c.__name__)
    frames = (pandas.Series, pandas.DataFrame, generic.NDFrame, base.IndexOpsMixin)
    indices = (pandas.Index, pandas.MultiIndex, pandas.IntervalIndex, pandas.Categorical)
    for cls in {*frames, *indices, *indexers, arraylike.OpsMixin, GroupBy, SeriesGroupBy, DataFrameGroupBy}:
        for name, f in list(vars(cls).items()):
            if name in _FRAMES or (name[0] == "_" and name not in _SPECIAL and cls is not arraylike.OpsMixin):
                continue
            if isinstance(f, types.FunctionType):
                setattr(cls, name, _taking(f))
            elif isinstance(f, (staticmethod, classmethod)):
                setattr(cls, name, type(f)(_taking(f.__func__)))
    for name, f in list(vars(pandas).items()):
        if isinstance(f, types.FunctionType) and name[0] != "_" and name not in _FRAMES:
            setattr(pandas, name, _taking(f))
    for name in ("map_infer", "map_infer_mask"):
        setattr(lib, name, _mapping(getattr(lib, name)))
    lib.maybe_convert_objects = _converting(lib.maybe_convert_objects)


def _holds(v):
    """Whether v is treadle's or begins or ends with such an element, as lists of numbers and of rows do."""
    if isinstance(v, (_core.ndarray, *_FUNCTIONS)):
        return True
    if type(v) in (list, tuple):
        return bool(v) and (_holds(v[0]) or _holds(v[-1]))
    return type(v) is dict and any(map(_holds, v.values()))


def _plain(v):
    """v with NumPy's arrays, scalars and functions in place of treadle's."""
    if isinstance(v, _core.ndarray):
        return v.get()[()] if v._is_number() else v.get()
    if isinstance(v, _FUNCTIONS):
        try:
            return operator.attrgetter(v.__name__)(numpy)
        except AttributeError:
            return v
    if type(v) in (list, tuple):
        return type(v)(map(_plain, v))
    return {k: _plain(e) for k, e in v.items()} if type(v) is dict else v


def _taking(f):
    @functools.wraps(f)
    def fn(*args, **kwargs):
        if any(map(_holds, args)):
            args = map(_plain, args)
        if kwargs and any(map(_holds, kwargs.values())):
            kwargs = {k: _plain(v) for k, v in kwargs.items()}
        return f(*args, **kwargs)

    return fn


def _mapping(infer):
    """pandas' loop over elements. What the program's function returns are elements of an array of objects."""

    @functools.wraps(infer)
    def fn(arr, f, *args, **kwargs):
        return infer(arr, lambda v: _plain(f(v)), *args, **kwargs)

    return fn


def _converting(convert):
    @functools.wraps(convert)
    def fn(objects, *args, **kwargs):
        if len(objects) and isinstance(objects[0], _core.ndarray):
            given, objects = objects, numpy.empty(len(objects), object)
            objects[:] = [_plain(v) for v in given]
        return convert(objects, *args, **kwargs)

    return fn
