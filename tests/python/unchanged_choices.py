"""Random programs of choices by masks, beside NumPy: run by `python -m treadle`, so numpy is treadle here.

A choice a[mask] holds no elements until somebody needs them, and looking needs them: so arrays are compared after
several steps, not after each. Arguments: first seed, number of seeds, steps of each, rows of the arrays.
"""

import operator
import random
import sys

import numpy as np
from unchanged_fuzz import outcome, real, same

DTYPES = ["int64", "float64", "int32", "float32"]
UFUNCS = ["add", "subtract", "multiply", "maximum", "minimum", "greater", "less_equal", "logical_and"]
UNARY = ["negative", "absolute", "square", "sign", "isfinite", "logical_not", "positive", "rint"]
OPERATORS = ["add", "sub", "mul", "lt", "ge", "eq", "ne", "and_", "floordiv"]
INPLACE = ["iadd", "isub", "imul", "iand", "ior"]
REDUCTIONS = ["sum", "min", "max", "any", "all", "mean", "argmax"]


class State:
    """What a program has: arrays of one shape and the same dtypes on both sides, places within them, masks, choices."""

    def __init__(self, m, n, dtypes):
        size = n * n
        self.arrays = [(m.arange(size) * 7 % (11 + k) - 3).astype(d).reshape(n, n) for k, d in enumerate(dtypes)]
        self.places = [m.arange(size).reshape(n, n) * 5 % n, m.arange(size).reshape(n, n) * 3 % n]
        self.masks = [m.arange(size).reshape(n, n) % 3 == 0, m.ones((n, n), dtype=bool)]
        self.choices = [self.arrays[0][self.masks[0]]]

    def groups(self):
        return [self.arrays, self.places, self.masks, self.choices]


def one(r, many):
    return r.randrange(len(many))


def number(r):
    return r.choice([2, -1, 3, 1.5, True])


def step_mask(r, s):
    i, j, k, bound = one(r, s.arrays), one(r, s.masks), one(r, s.masks), r.randrange(-2, 4)
    kind = r.randrange(6)

    def write(m, s):
        if kind == 0:
            s.masks[j] = s.arrays[i] > bound
        elif kind == 1:
            s.masks[j] = s.places[0] % 3 == bound % 3
        elif kind == 2:
            m.logical_not(s.masks[j], s.masks[j])
        elif kind == 3:
            s.masks[j] &= s.masks[k]
        elif kind == 4:
            s.masks[j] = ~s.masks[k]
        else:
            s.masks[j][s.masks[k]] = bool(bound % 2)

    return write


def step_choose(r, s):
    i, j, k, place = one(r, s.arrays), one(r, s.masks), r.randrange(3), one(r, s.choices)

    def write(m, s):
        source = s.places[k] if k < 2 else s.arrays[i]
        chosen = source[s.masks[j]]
        if len(s.choices) < 6:
            s.choices.append(chosen)
        else:
            s.choices[place] = chosen

    return write


def step_operate(r, s):
    """An operation on choices, whose result takes the place of one."""
    i, j, place, value = one(r, s.choices), one(r, s.choices), one(r, s.choices), number(r)
    kind, name, op, unary = r.randrange(5), r.choice(UFUNCS), r.choice(OPERATORS), r.choice(UNARY)

    def write(m, s):
        x, y = s.choices[i], s.choices[j]
        if kind == 0:
            s.choices[place] = getattr(operator, op)(x, value)
        elif kind == 1:
            s.choices[place] = getattr(operator, op)(x, y)
        elif kind == 2:
            s.choices[place] = getattr(m, name)(x, y)
        elif kind == 3:
            s.choices[place] = getattr(m, unary)(x)
        else:
            s.choices[place] = -abs(x) + value

    return write


def step_assign(r, s):
    i, j, k, c = one(r, s.arrays), one(r, s.arrays), one(r, s.masks), one(r, s.choices)
    value, kind = r.randrange(-3, 9), r.randrange(9)

    def write(m, s):
        a, mask = s.arrays[i], s.masks[k]
        p, q = s.places
        if kind == 0:
            a[mask] = value
        elif kind == 1:
            a[mask] = s.choices[c] if a.dtype.kind == "f" else value
        elif kind == 2:
            a[mask] = a[mask] + value
        elif kind == 3:
            a[p[mask], q[mask]] = value
        elif kind == 4:
            a[q[mask]] = value
        elif kind == 5:
            a[:, p[mask]] = value
        elif kind == 6:
            a[p[mask], 0] += value
        elif kind == 7:
            a[(p[mask],)] = s.arrays[j][0] if s.arrays[j].dtype.kind == a.dtype.kind else value
        else:
            a[list(p[mask][:3])] = value

    return write


def step_pick(r, s):
    """A choice as an index that reads."""
    i, k, c, kind = one(r, s.arrays), one(r, s.masks), one(r, s.choices), r.randrange(8)

    def read(m, s):
        a, mask, chosen = s.arrays[i], s.masks[k], s.choices[c]
        p, q = s.places
        return [
            lambda: a[p[mask], q[mask]],
            lambda: a[p[mask]][:2],
            lambda: a[..., q[mask]][0],
            lambda: chosen[chosen > 0],
            lambda: chosen[:3],
            lambda: chosen[-1],
            lambda: a.take(p[mask]),
            lambda: a[[p[mask][:2], q[mask][:2]][0]],
        ][kind]()

    return read


def step_inplace(r, s):
    i, j, k, value, op = one(r, s.choices), one(r, s.choices), one(r, s.arrays), number(r), r.choice(INPLACE)
    kind = r.randrange(4)

    def write(m, s):
        if kind == 0:
            s.choices[i] = getattr(operator, op)(s.choices[i], value)
        elif kind == 1:
            s.choices[i] = getattr(operator, op)(s.choices[i], s.choices[j])
        elif kind == 2:
            s.arrays[k] = getattr(operator, op)(s.arrays[k], value)
        else:
            s.arrays[k][...] = s.arrays[k] + value

    return write


def step_out(r, s):
    i, j, k, name, unary = one(r, s.choices), one(r, s.choices), one(r, s.choices), r.choice(UFUNCS), r.choice(UNARY)
    kind = r.randrange(4)
    return lambda m, s: [
        lambda: getattr(m, name)(s.choices[i], s.choices[j], out=s.choices[k]),
        lambda: getattr(m, name)(s.choices[i], 2, s.choices[k]),
        lambda: getattr(m, unary)(s.choices[i], out=s.choices[k]),
        lambda: m.take(s.choices[i], [0], out=s.choices[k][:1]),
    ][kind]()


def step_ask(r, s):
    i, kind, name = one(r, s.choices), r.randrange(16), r.choice(REDUCTIONS)

    def ask(m, s):
        c = s.choices[i]
        return [
            lambda: c.shape, lambda: c.size, lambda: c.dtype, lambda: len(c), lambda: c.T, lambda: c.ndim,
            lambda: list(c)[:3], lambda: [x for x, _ in zip(c, range(2))], lambda: c.size and c.strides, lambda: c.nbytes,
            lambda: getattr(c, name)(), lambda: getattr(m, name)(c), lambda: c.tolist()[:2], lambda: repr(c),
            lambda: 2 in c, lambda: c.flags.writeable,
        ][kind]()  # fmt: skip

    return ask


def step_set(r, s):
    """Attributes that are written; what is chosen is nobody else's."""
    i, kind = one(r, s.choices), r.randrange(4)

    def write(m, s):
        c = s.choices[i]
        if kind == 0:
            c.shape = (1, c.size)
            c.shape = c.size
        elif kind == 1:
            c.real = 3
        elif kind == 2:
            c.flat = 1
        elif c.dtype == "int64":
            c.dtype = "uint64"
            c.dtype = "int64"

    return write


def step_function(r, s):
    i, j, k, n = one(r, s.choices), one(r, s.choices), one(r, s.masks), one(r, s.arrays)
    kind = r.randrange(12)

    def call(m, s):
        c, d, a, at = s.choices[i], s.choices[j], s.arrays[n], s.places[0][s.masks[k]]
        return [
            lambda: m.concatenate([c, d]), lambda: m.sort(c), lambda: m.unique(c), lambda: m.bincount(at),
            lambda: m.add.at(a, at, 1), lambda: m.put(a, at, 2), lambda: m.take(a, at), lambda: m.where(c > 0, c, 2),
            lambda: c.sort(), lambda: m.copyto(c, 1), lambda: m.putmask(a, s.masks[k], 2), lambda: m.asarray(c).copy(),
        ][kind]()  # fmt: skip

    return call


STEPS = [
    step_mask, step_choose, step_choose, step_operate, step_operate, step_assign, step_assign, step_pick, step_inplace,
    step_out, step_ask, step_ask, step_set, step_function,
]  # fmt: skip


def compare(theirs, ours, where):
    for name, x, y in zip(("array", "places", "mask", "choice"), theirs.groups(), ours.groups()):
        for k, (one_, other) in enumerate(zip(x, y)):
            if not same(one_, other):
                raise AssertionError(f"{where}: {name} {k} is {other!r}, NumPy's {one_!r}")


def run(seed, steps, n):
    r = random.Random(seed)
    dtypes = [r.choice(DTYPES) for _ in range(3)]
    theirs, ours = State(real, n, dtypes), State(np, n, dtypes)
    log = []
    for k in range(steps):
        make = r.choice(STEPS)
        f = make(r, theirs)
        (e1, r1), (e2, r2) = outcome(f, real, theirs), outcome(f, np, ours)
        log.append(make.__name__)
        where = f"seed {seed}, step {k}, {' '.join(log[-8:])}"
        if e1 != e2 or not same(r1, r2):
            raise AssertionError(f"{where}: NumPy {e1 or repr(r1)}, here {e2 or repr(r2)}")
        if r.randrange(8) == 0 or k == steps - 1:
            compare(theirs, ours, where)


def main():
    first, count, steps, n = map(int, sys.argv[1:5])
    real.seterr(all="ignore")
    failed = 0
    for seed in range(first, first + count):
        print("seed", seed, flush=True)
        try:
            run(seed, steps, n)
        except AssertionError as e:
            print(e)
            failed += 1
            if failed > 4:
                break
    print(f"{count} seeds, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
