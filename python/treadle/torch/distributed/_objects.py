"""Objects that processes send each other as pickles.

A pickle can run any code. Peers that have proven that they belong to the job (by a job token, or under MPI) are
trusted. From other peers only plain values, tensors and NumPy arrays are accepted.
"""

import builtins
import importlib
import io
import math
import pickle

import numpy

from ..._exchange import _unpickle
from ...distributed import _process, _proof
from ..serialization._globals import _safe, get_safe_globals

_PLAIN = {
    "builtins": ("bytearray", "complex", "frozenset", "range", "set", "slice"),
    "collections": ("OrderedDict", "defaultdict", "deque"),
    "numpy": ("dtype", "ndarray"),
    "numpy._core.multiarray": ("_reconstruct", "scalar"),
    "numpy.core.multiarray": ("_reconstruct", "scalar"),
    "numpy._core.numeric": ("_frombuffer",),
    "numpy.core.numeric": ("_frombuffer",),
    "treadle._exchange._pickle": ("restore",),
    "treadle.torch._tensor._convert": ("_restored",),
    "treadle.torch._tensor._dtypes": ("_by_name",),
}


# ---- NumPy's arrays: NumPy's own functions would trust any bytes ----

_NDARRAY = object()  # stands for the class ndarray, which a pickle may name only as _reconstruct's argument
_UNITS = b"Y M W D h m s ms us ns ps fs as generic".split()
_ITEM = 1 << 20  # the most bytes of a text in an array


def _dtype(spelled, align=False, copy=False):
    """numpy.dtype, but only for dtypes without fields and without objects. An object's bytes are an address."""
    try:
        found = numpy.dtype(spelled)
    except SyntaxError as error:  # NumPy raises it for some texts with commas
        raise pickle.UnpicklingError(f"an object from another process has the dtype {spelled!r}") from error
    if found.hasobject or found.fields is not None or found.subdtype is not None or found.kind == "V":
        raise pickle.UnpicklingError(f"an object from another process has the dtype {found}")
    return numpy.dtype(spelled, False, True)  # a new object, whose state can be set


def _reconstruct(kind, shape, spelled):
    if kind is not _NDARRAY:
        raise pickle.UnpicklingError("an object from another process is an array of a class of its own")
    return numpy.ndarray((0,), "b")


def _scalar(dtype, data):
    if not isinstance(dtype, numpy.dtype) or not isinstance(data, bytes) or len(data) != dtype.itemsize:
        raise pickle.UnpicklingError(f"an object from another process is a scalar of {dtype!r} that it cannot be")
    return numpy.frombuffer(data, dtype)[0]


def _is_dtype_state(dtype, state):
    """Is it a state that NumPy's own pickles give such a dtype: (version, order, subdtype, names, fields, size,
    alignment, flags) and, for dates, their unit?"""
    if not isinstance(state, tuple) or len(state) != (9 if dtype.kind in "mM" else 8):
        return False
    sizes = (dtype.itemsize, 4 if dtype.kind == "U" else 1) if dtype.kind in "SU" else (-1, -1)
    if dtype.kind in "mM":
        unit = state[8][1] if isinstance(state[8], tuple) and len(state[8]) == 2 and not state[8][0] else ()
        if not isinstance(unit, tuple) or len(unit) != 4 or unit[0] not in _UNITS:
            return False
        if any(type(n) is not int or not 0 < n < 1 << 31 for n in unit[1:]):
            return False
    fixed = state[0] in (3, 4) and state[1] in ("<", ">", "|", "=") and state[2:5] == (None, None, None)
    # For a text, NumPy sets flag 8: its memory is cleared first. Other flags could turn bytes into objects.
    flags = (0, 8) if dtype.kind == "U" else (0,)
    return fixed and state[5:7] == sizes and state[7] in flags and dtype.itemsize <= _ITEM


def _is_array_state(array, state):
    """Is it (version, shape, dtype, order, bytes), with as many bytes as such an array has?"""
    if array.size or not isinstance(state, tuple) or len(state) != 5 or state[0] != 1:
        return False
    _, shape, dtype, order, data = state
    if not isinstance(dtype, numpy.dtype) or dtype.hasobject or type(order) is not bool or not isinstance(shape, tuple):
        return False
    if any(type(n) is not int or n < 0 for n in shape) or len(shape) > 32 or not isinstance(data, bytes):
        return False
    return math.prod(shape) * dtype.itemsize == len(data)


_NUMPY = {"dtype": _dtype, "ndarray": _NDARRAY, "_reconstruct": _reconstruct, "scalar": _scalar}


class _Plain(_unpickle.Unpickler):
    def stateful(self, thing, state):
        if isinstance(thing, numpy.dtype):
            return _is_dtype_state(thing, state)
        if type(thing) is numpy.ndarray:
            return _is_array_state(thing, state)
        return super().stateful(thing, state) or isinstance(thing, BaseException) or type(thing) in _made()

    def makes(self, kind):
        return super().makes(kind) or kind in _made() or (isinstance(kind, type) and issubclass(kind, BaseException))

    def find_class(self, module, name):
        if module.split(".")[0] == "numpy" and name in _PLAIN.get(module, ()) and name in _NUMPY:
            return _NUMPY[name]
        if (module, name) == ("builtins", "bytearray"):
            return _unpickle.some_bytes
        if name in _PLAIN.get(module, ()):
            return getattr(importlib.import_module(module), name)
        raised = getattr(builtins, name, None) if module == "builtins" else None
        if isinstance(raised, type) and issubclass(raised, BaseException):
            return raised
        found = _safe(module, name)
        if found is None:
            raise pickle.UnpicklingError(
                f"an object from another process wants {module}.{name}, which could run any code, and the processes "
                f"have not proven to belong to one job: set {_proof.TOKEN} (or {_proof.FILE}) to the same secret in "
                f"all of them, or allow this one: torch.serialization.add_safe_globals([{name}])"
            )
        return found


def _made():
    """The classes that a program has allowed."""
    return [g for g in get_safe_globals() if isinstance(g, type)]


def dumped(thing):
    """thing, pickled to bytes."""
    return pickle.dumps(thing)


def loaded(data):
    """The object in bytes from another process. Raises UnpicklingError for an object that an unproven peer may not
    send."""
    return pickle.loads(data) if _process.proven() else _Plain(io.BytesIO(data)).load()
