"""Subscripts of sharded arrays that are written."""

import numpy

from .. import _core
from .._core import ndarray
from ._array import ShardedArray, replicated, rows_key
from ._calls import apply, one_mesh, rule
from ._expression import settle, waiting
from ._operands import Spread, as_sharded
from ._reading import Key, at_key, indices, is_mask, key_on, masked, number_of, own_list, owner, spread, view, view_rows


@rule("setitem")
def setitem(name, fn, x, key, value):
    settle(value)
    if type(x) is not ShardedArray:
        if isinstance(x, ndarray):
            x[key.get() if type(key) is ShardedArray else key] = (
                value.to_device(x.device) if type(value) is ShardedArray else value
            )
        else:
            x[key] = value.get() if type(value) is ShardedArray else value
        return None
    if x.axis is None:
        i, a = x._main
        a[key_on(key, i, x.mesh)] = as_sharded(value, x.mesh).on(i) if has_elements(value) else value
        x._writes[0] += 1
        return None
    k = Key(x, spread(x, key))
    if not k.lists:
        return _set_basic(x, k, value)
    if is_mask(k.own) and k.lists == [k.at]:
        return _set_mask(x, k, value)
    if own_list(x, k):
        return _set_rows(x, k, value)
    changed = x.on(0)
    changed[key_on(key, 0, x.mesh)] = as_sharded(value, x.mesh).on(0) if has_elements(value) else value
    return assign(x, replicated(x.mesh, 0, changed))


def _set_basic(x, k, value):
    if number_of(k.own) is not None:
        lo, i, a = owner(x, number_of(k.own))
        a[k.with_own(number_of(k.own) % x.shape[x.axis] - lo)] = (
            as_sharded(value, x.mesh).on(i) if has_elements(value) else value
        )
        return None
    start, step, count, back = view_rows(x, k)
    if back:  # write what is given in reverse order
        k.own = slice(start, start + (count - 1) * step + 1, step)
        k.rest[k.at] = k.own
        if has_elements(value):
            value = as_sharded(value, x.mesh)
            at = k.out - sum(isinstance(n, slice) or n is None for n in k.rest) + value.ndim
            value = apply("flip", value, at) if at >= 0 and value.shape[at] > 1 else value
    return assign(view(x, k), value)


def has_elements(value):
    return type(value) not in (int, float, complex, bool)


def assign(to, value):
    """Write value, which broadcasts to its shape, into the arrays that `to` shows."""
    if to.axis is None:
        i, a = to._main
        if a.size:
            a[...] = as_sharded(value, to.mesh).on(i) if has_elements(value) else value
            to._writes[0] += 1
        return
    if not has_elements(value):
        for _, _, _, a in to.pieces:
            a[...] = value
        return
    if type(value) is ShardedArray and value._pieces is None and value.axis == to.axis and value.shape == to.shape:
        return assign_terms(to, value)
    value = as_sharded(value, to.mesh)
    while value.ndim > to.ndim and value.shape[0] == 1:
        value = apply("squeeze", value, 0)
    ends = zip(value.shape[::-1], to.shape[::-1], strict=False)
    if value.ndim > to.ndim or any(n not in (1, m) for n, m in ends):
        raise ValueError(f"could not broadcast input array from shape {value.shape} into shape {to.shape}")
    if value is not to and _shows(value, to):
        value = value.copy()
    # the pieces of `to` are views of its array: none of them may move, so it leads
    if value.axis is not None and value.size > to.size:
        value = value.reshard(None)
    found = Spread([to, value], to.mesh, "setitem: halo", to)
    for _, _, _, (own, part) in found.ranges:
        own[...] = part


def assign_terms(to, value):
    """Compute an expression that waits, divided as `to` is, and write it there."""
    one_mesh([to, value])
    f, leaves, _ = value._terms
    found = Spread([to, *leaves.values()], to.mesh, "halo", to)
    made = [(lo, hi, i, f(dict(zip(leaves, rest, strict=True)))) for lo, hi, i, (_, *rest) in found.ranges]
    owns = [own for _, _, _, (own, *_) in found.ranges]
    if any(_shows(x, to) for x in leaves.values()):  # what is written changes the expression
        value._pieces, value.cuts, value._terms = list(made), to.cuts, None
        waiting.pop(id(value), None)
    for own in owns:
        own[...] = made.pop(0)[3]


def _shows(x, to):
    """May the two, of which `to` is divided, show the same elements?"""
    if x.axis is None:
        return any(_core._same_storage(x._main[1], p[3]) for p in to.pieces if p[2] == x._main[0])
    return any(_core._same_storage(p[3], q[3]) for p in x.pieces for q in to.pieces if p[2] == q[2])


def _set_mask(x, k, value):
    found = masked(x, k, k.own)
    if found is None:
        changed = x.on(0).copy()
        changed[k.with_own(k.own.on(0) if type(k.own) is ShardedArray else k.own)] = (
            as_sharded(value, x.mesh).on(0) if has_elements(value) else value
        )
        return assign(x, replicated(x.mesh, 0, changed))
    values = as_sharded(value, x.mesh) if has_elements(value) else None
    if values is None or values.ndim == 0 or (values.ndim == 1 and values.size == 1 and k.out == 0):
        for _, _, i, a, m in found:
            a[k.with_own(m)] = value if values is None else values.on(i)
        return None
    counts = [int(m.sum()) for *_, m in found]
    out = k.out + values.ndim - (x.ndim - k.own.ndim + 1)
    if out < 0 or values.shape[out] == 1:
        parts = [values.on(i) for _, _, i, _, _ in found]
    elif values.shape[out] != sum(counts):
        raise ValueError(
            f"NumPy boolean array indexing assignment cannot assign {values.shape[out]} input values to the "
            f"{sum(counts)} output values where the mask is true"
        )
    else:
        ends = numpy.cumsum([0, *counts])
        parts = [values.on(i)[rows_key(out, ends[n], ends[n + 1])] for n, (_, _, i, _, _) in enumerate(found)]
    for (_, _, _, a, m), part in zip(found, parts, strict=True):
        a[k.with_own(m)] = part
    return None


def _set_rows(x, k, value):
    at = indices(x, k)
    flat = at.reshape(-1)
    if has_elements(value):
        own = numpy.broadcast_to(numpy.empty(()), x.shape)[k.with_own(slice(None))].shape
        before, behind = own[: k.out], own[k.out + 1 :]
        value = apply("broadcast_to", as_sharded(value, x.mesh), (*before, *at.shape, *behind))
        value = apply("reshape", value, (*before, flat.size, *behind)) if at.ndim > 1 else value
    for lo, hi, i, a in x.pieces:
        mine = numpy.flatnonzero((lo <= flat) & (flat < hi))
        if mine.size:
            a[k.with_own(flat[mine] - lo)] = value.on(i)[at_key(k.out, mine)] if has_elements(value) else value
