"""Functions of several arrays compute on one device, that of their first array. These helpers bring operands there."""

import numpy

from .. import _core
from .._core import asarray, empty, ndarray


def on(device, x, dtype=None):
    """x as an array on the device, and of dtype if given. Raises ValueError where x lies on another device."""
    if isinstance(x, ndarray) and x.device != device:
        _core._beside("operands", empty(0, device=device), x)
    return asarray(x, dtype, device=device)


def own(a, *others):
    """a as an array of treadle's. What is none goes to the device of the first array of treadle's among the others."""
    if isinstance(a, ndarray):
        return a
    return asarray(a, device=next((x.device for x in others if isinstance(x, ndarray)), None))


RULES = ("no", "equiv", "safe", "same_kind", "unsafe")


def castable(source, target, rule):
    """Whether the casting rule allows the cast: numpy.can_cast, extended to bfloat16. Raises ValueError for an unknown
    rule."""
    if rule not in RULES:
        raise ValueError(f"casting must be one of {', '.join(map(repr, RULES))} (got {rule!r})")
    if "V" in source.kind + target.kind:
        return rule == "unsafe" or source == target or (rule == "same_kind" and source.kind in "biufV")
    return numpy.can_cast(source, target, rule)


def allow(what, source, target, rule):
    """Raise TypeError that names the function `what` unless the rule allows the cast."""
    if not castable(source, target, rule):
        raise TypeError(f"{what}: Cannot cast array data from {source!r} to {target!r} according to the rule {rule!r}")


def elements(what, x, dtype, device, rule="unsafe"):
    """x converted for being written to an array of dtype.

    Arrays are cast by the rule. Numbers and lists become numbers of dtype, and so do arrays that are numbers, where
    NumPy has scalars; a complex number for a real dtype raises TypeError.
    """
    if isinstance(x, ndarray) and x._is_number():
        return on(device, x).astype(dtype)
    if isinstance(x, (ndarray, numpy.ndarray)):
        allow(what, x.dtype, dtype, rule)
    elif dtype.kind != "V":
        try:
            return on(device, numpy.asarray(x, dtype))
        except TypeError as e:
            raise TypeError(f"{what}: {e}; the array is of {dtype}") from None
    return on(device, x).astype(dtype)
