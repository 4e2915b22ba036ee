"""Expressions of sharded arrays that wait: operators on arrays with different cuts.

Where such an expression is written to tells how its rows are best divided, and each neighbour's row moves once for the
whole expression. Whatever asks for the pieces has them computed, and so does any write, since it may change what the
expression reads.
"""

import weakref
from operator import itemgetter

from ._array import ShardedArray, sharded
from ._operands import Spread

_MOST_TERMS = 64  # operations of an expression that waits
NUMBERS = (int, float, bool, complex)
waiting = {}  # id: weak reference, of arrays whose expressions are not computed


def settle(but=None):
    """Compute the expressions that wait, but one. Called before anything is written."""
    for key, ref in list(waiting.items()) if waiting else ():
        x = ref()
        if x is None or x._pieces is not None:
            waiting.pop(key, None)
        elif x is not but:
            x._compute()


def _term(x):
    """An array as a term of an expression: (f, {id of an operand: the operand}, number of operations), where f gives
    the term's value for a dict of the operands' rows by their ids."""
    return x._terms if x._pieces is None else (itemgetter(id(x)), {id(x): x}, 0)


def _deferred(f, x, y, turned):
    """f of x and y, arrays of one shape or one and a number, as an expression that waits."""
    a, leaves, count = _term(x)
    if type(y) is not ShardedArray:
        value = (lambda rows: f(y, a(rows))) if turned else (lambda rows: f(a(rows), y))
    else:
        b, more, others = _term(y)
        leaves, count = {**leaves, **more}, count + others
        value = lambda rows: f(a(rows), b(rows))  # noqa: E731
    r = ShardedArray.__new__(ShardedArray)
    r.mesh, r.axis, r.shape = x.mesh, x.axis, x.shape
    r.cuts = next(iter(leaves.values())).cuts
    r._dtype = r._pieces = r._main = r._copies = r._writes = None
    r._terms = value, leaves, count + 1
    if len(waiting) > 256:  # most are gone by now
        for key in [key for key, ref in list(waiting.items()) if ref() is None]:
            waiting.pop(key, None)
    waiting[id(r)] = weakref.ref(r)
    if count >= _MOST_TERMS:
        r._compute()
    return r


def piecewise(f, x, y, turned=False):
    """f of x and y where y is a number, or divided along the same axis; None where that is not so."""
    if x.axis is None:
        return None
    if type(y) in NUMBERS:
        if x._pieces is None:
            return _deferred(f, x, y, turned)
        made = [(p[0], p[1], p[2], f(y, p[3]) if turned else f(p[3], y)) for p in x._pieces]
    elif type(y) is ShardedArray and y.axis == x.axis and y.shape == x.shape and (y.mesh is x.mesh or y.mesh == x.mesh):
        if x._pieces is None or y._pieces is None or [p[:3] for p in x._pieces] != [p[:3] for p in y._pieces]:
            return _deferred(f, x, y, turned)
        made = [(p[0], p[1], p[2], f(p[3], q[3])) for p, q in zip(x._pieces, y._pieces, strict=True)]
    else:
        return None
    return sharded(x.mesh, x.axis, x.cuts, made)


def _compute(self):
    """Compute an expression that waits, divided as its first operand is."""
    value, leaves, _ = self._terms
    spread = Spread(list(leaves.values()), self.mesh, "halo", next(iter(leaves.values())))
    made = [(lo, hi, i, value(dict(zip(leaves, rows, strict=True)))) for lo, hi, i, rows in spread.ranges]
    done = sharded(self.mesh, self.axis, self.cuts, made)
    self._pieces, self._terms = done.pieces, None
    waiting.pop(id(self), None)


ShardedArray._compute = _compute
