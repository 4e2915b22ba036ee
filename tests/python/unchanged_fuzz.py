"""Random operations on arrays that share memory, beside NumPy: run by `python -m treadle`.

What NumPy is asked for while treadle is busy is NumPy's own, so it is the judge in the same process. Each step does the same to NumPy's arrays and to the program's; then all arrays, dtypes, flags of memory shared and
errors' texts must agree. Arguments: first seed, number of seeds, steps of each.
"""

import contextlib
import operator
import random
import sys

import numpy as np

from treadle import _core

real = sys.modules["numpy"]
assert real is not np

DTYPES = ["int64", "float64", "int32", "bool", "float32", "uint8", "complex128"]


@contextlib.contextmanager
def numpys():
    """Everything inside is NumPy's own."""
    _core._unchanged_busy(True)
    try:
        yield
    finally:
        _core._unchanged_busy(False)


def draw_index(r, shape):
    """A basic subscript."""
    key = []
    for n in shape:
        kind = r.randrange(6)
        if kind == 0 and n:
            key.append(r.randrange(-n, n))
        elif kind == 1:
            key.append(slice(r.randrange(0, n + 1), r.randrange(0, n + 2)))
        elif kind == 2:
            key.append(slice(None, None, r.choice([-1, 2, -2])))
        elif kind == 3 and r.randrange(3) == 0:
            key += [None, slice(None)]
        elif kind == 4 and r.randrange(8) == 0:
            key.append(n + r.randrange(2))  # out of bounds
        else:
            key.append(slice(None))
    while key and r.randrange(3) == 0:
        key.pop()
    if r.randrange(8) == 0 and Ellipsis not in key:
        key.append(Ellipsis)
    return tuple(key) if len(key) != 1 or r.randrange(2) else key[0]


def draw_shape(r):
    return tuple(r.choice([1, 2, 3, 4, 5]) for _ in range(r.choice([1, 1, 2, 2, 3])))


def step_create(r, state):
    shape, dtype = draw_shape(r), r.choice(DTYPES)
    values = [r.randrange(-4 if dtype[0] in "ifc" else 0, 5) for _ in range(real.prod(shape))]
    return lambda m, a: m.array(values, dtype=dtype).reshape(shape)


def step_made(r, state):
    shape, dtype = draw_shape(r), r.choice(DTYPES)
    name = r.choice(["zeros", "ones", "full", "arange"])
    if name == "full":
        return lambda m, a: m.full(shape, 3, dtype=dtype)
    if name == "arange":
        n = r.randrange(1, 9)
        return lambda m, a: m.arange(n)
    return lambda m, a: getattr(m, name)(shape, dtype=dtype)


def step_view(r, state):
    i = r.randrange(len(state))
    kind = r.randrange(9)
    if kind < 4:
        key = draw_index(r, state[i].shape)
        return lambda m, a: a[i][key]
    if kind == 4:
        return lambda m, a: a[i].T
    if kind == 5:
        return lambda m, a: a[i].reshape(-1)
    if kind == 6:
        return lambda m, a: m.atleast_2d(a[i])
    if kind == 7:
        return lambda m, a: a[i].real
    return lambda m, a: m.expand_dims(a[i], 0)


def step_binary(r, state):
    i, j = r.randrange(len(state)), r.randrange(len(state))
    op = getattr(operator, r.choice(["add", "sub", "mul", "lt", "eq", "and_", "truediv", "mod"]))
    if r.randrange(3) == 0:
        number = r.choice([2, 1.5, True, 3, -1, 300, 2j])
        return (lambda m, a: op(a[i], number)) if r.randrange(2) else (lambda m, a: op(number, a[i]))
    return lambda m, a: op(a[i], a[j])


def step_ufunc(r, state):
    i, j = r.randrange(len(state)), r.randrange(len(state))
    name = r.choice(["add", "multiply", "maximum", "subtract", "minimum", "logical_and", "greater"])
    if r.randrange(4) == 0:
        k = r.randrange(len(state))
        return lambda m, a: getattr(m, name)(a[i], a[j], out=a[k])
    return lambda m, a: getattr(m, name)(a[i], a[j])


def step_unary(r, state):
    i = r.randrange(len(state))
    name = r.choice(["negative", "absolute", "square", "sign", "copy", "conj", "invert", "isfinite", "real", "ravel"])
    return lambda m, a: getattr(m, name)(a[i])


def step_inplace(r, state):
    i, j = r.randrange(len(state)), r.randrange(len(state))
    op = getattr(operator, r.choice(["iadd", "isub", "imul", "iand"]))
    if r.randrange(2):
        number = r.choice([1, 2, 0.5, True])
        return lambda m, a: op(a[i], number)
    return lambda m, a: op(a[i], a[j])


def step_write(r, state):
    i, j = r.randrange(len(state)), r.randrange(len(state))
    key = draw_index(r, state[i].shape)
    number = r.choice([1, 2.5, True, -1, 200])

    def write(m, a):
        a[i][key] = number if j % 2 else a[j]

    return write


def step_mask(r, state):
    i = r.randrange(len(state))
    bound = r.choice([0, 1, 2])

    def write(m, a):
        a[i][a[i] != bound] = bound

    return (lambda m, a: a[i][a[i] != bound]) if r.randrange(2) else write


def step_fancy(r, state):
    i = r.randrange(len(state))
    n = state[i].shape[0] if state[i].ndim else 1
    index = [r.randrange(-n, n + (r.randrange(9) == 0)) if n else 0 for _ in range(r.randrange(1, 5))]
    kind = r.randrange(3)

    def write(m, a):
        a[i][m.array(index)] = 7 % (n + 1)

    if kind == 0:
        return write
    return (lambda m, a: a[i][index]) if kind == 1 else (lambda m, a: a[i][m.array(index)])


def step_method(r, state):
    i = r.randrange(len(state))
    axis = r.choice([None, 0, -1, 1])
    name = r.choice(["sum", "max", "min", "any", "all", "argmax", "cumsum", "prod", "argsort", "tolist", "item"])
    if name in ("tolist", "item"):
        return lambda m, a: getattr(a[i], name)()
    if name == "argsort":
        return lambda m, a: a[i].argsort(axis=axis, kind="stable")
    if r.randrange(4) == 0 and name in ("sum", "max", "min"):
        return lambda m, a: getattr(m, name)(a[i], axis=axis, keepdims=True)
    return lambda m, a: getattr(a[i], name)(axis=axis)


def step_mutate(r, state):
    i = r.randrange(len(state))
    kind = r.randrange(7)
    if kind == 0:
        return lambda m, a: a[i].sort()
    if kind == 1:
        return lambda m, a: a[i].fill(3)
    if kind == 2:
        return lambda m, a: m.copyto(a[i], 2, where=a[i] == 1)
    if kind == 3:
        return lambda m, a: m.put(a[i], [0, 1], [4, 5])
    if kind == 4:
        return lambda m, a: m.add.at(a[i], [0, 0], 1)
    if kind == 5:
        return lambda m, a: m.fill_diagonal(a[i], 9)
    return lambda m, a: m.putmask(a[i], a[i] == 0, 1)


def step_function(r, state):
    i, j = r.randrange(len(state)), r.randrange(len(state))
    kind = r.randrange(12)
    f = [
        lambda m, a: m.concatenate([a[i], a[j]]),
        lambda m, a: m.stack((a[i], a[i])),
        lambda m, a: m.where(a[i] == 1, a[i], a[j]),
        lambda m, a: m.unique(a[i]),
        lambda m, a: m.sort(a[i], axis=None),
        lambda m, a: m.dot(a[i], a[j]),
        lambda m, a: m.outer(a[i], a[j]),
        lambda m, a: m.nonzero(a[i]),
        lambda m, a: m.clip(a[i], 0, 2),
        lambda m, a: m.roll(a[i], 1),
        lambda m, a: m.diff(a[i]),
        lambda m, a: m.swapaxes(a[i], 0, -1),
    ]
    return f[kind]


def step_along(r, state):
    """A ufunc's methods, and what is computed along an axis."""
    i, j = r.randrange(len(state)), r.randrange(len(state))
    axis = r.choice([0, -1, 1])
    name = r.choice(["add", "maximum", "subtract", "multiply", "logical_or"])
    at = [r.randrange(3) for _ in range(3)]
    f = [
        lambda m, a: getattr(m, name).accumulate(a[i], axis),
        lambda m, a: getattr(m, name).reduceat(a[i], at, axis),
        lambda m, a: getattr(m, name).outer(a[i], a[j]) if a[i].size * a[j].size < 200 else None,
        lambda m, a: m.sort(a[i], axis=axis),
        lambda m, a: m.partition(a[i], 0, axis=axis),
        lambda m, a: m.nan_to_num(a[i]),
    ]
    return r.choice(f)


def step_passed(r, state):
    """What NumPy's functions hand on: views of their arguments, or these themselves."""
    i = r.randrange(len(state))
    name = r.choice(["trim_zeros", "real_if_close", "asarray_chkfinite", "asarray", "squeeze", "require"])
    return lambda m, a: getattr(m, name)(a[i])


def step_refused(r, state):
    """Masks that are none, rules of casting, keywords that are unknown, writes of an array into itself."""
    i, j, k = (r.randrange(len(state)) for _ in range(3))
    rule = r.choice(["no", "equiv", "safe", "same_kind", "unsafe"])
    dtype = r.choice(DTYPES)
    f = [
        lambda m, a: m.copyto(a[i], 2, where=a[j]),
        lambda m, a: m.add(a[i], a[j], out=a[k], casting=rule),
        lambda m, a: m.greater(a[i], 1, out=a[k], casting=rule),
        lambda m, a: m.nextafter(a[i], 1.0, dtype=dtype, casting=rule),
        lambda m, a: m.sort(a[i], out=a[j]),
        lambda m, a: m.place(a[i], a[j] > 0, a[k]) if a[i] is not a[k] else m.place(a[i], a[i], a[i]),
        lambda m, a: m.add.at(a[i], [0], None),
        lambda m, a: operator.imatmul(a[i], a[j]),
        lambda m, a: m.divide(a[i], None, out=a[k]),
    ]
    return r.choice(f)


STEPS = [
    step_along, step_passed, step_refused,
    step_create, step_made, step_view, step_view, step_binary, step_binary, step_ufunc, step_unary, step_inplace,
    step_write, step_write, step_mask, step_fancy, step_method, step_mutate, step_function,
]  # fmt: skip


def outcome(f, m, arrays):
    try:
        with numpys() if m is real else contextlib.nullcontext():
            return None, f(m, arrays)
    except Exception as e:
        return f"{type(e).__name__}: {e}", None


def same(x, y):
    with numpys():
        return agree(x, y)


def agree(x, y):
    """NumPy's x and the program's y."""
    if isinstance(x, (tuple, list)):
        return type(x) is type(y) and len(x) == len(y) and all(map(agree, x, y))
    if isinstance(x, real.ndarray):
        return (
            isinstance(y, np.ndarray)
            and x.dtype == y.dtype
            and x.shape == y.shape
            and equal(x, real.asarray(y))
        )
    return type(x) is type(y) and bool(equal(real.asarray(x), real.asarray(y)))


def equal(x, y):
    """To the last places of floats, whose sums and products are made in another order."""
    if x.dtype.kind in "fc":
        return real.allclose(x, y, rtol=1e-5 if x.dtype.itemsize == 4 else 1e-13, atol=1e-30, equal_nan=True)
    return real.array_equal(x, y)


def run(seed, steps):
    r = random.Random(seed)
    theirs, ours = [], []
    for m, arrays in ((real, theirs), (np, ours)):
        arrays.append(outcome(lambda m, a: m.arange(12).reshape(3, 4), m, arrays)[1])
    log = []
    for number in range(steps):
        make = r.choice(STEPS)
        f = make(r, theirs)
        keep = r.random()
        place = r.randrange(len(theirs))
        e1, r1 = outcome(f, real, theirs)
        e2, r2 = outcome(f, np, ours)
        log.append(f"{number} {make.__name__} {e1}")
        if e1 != e2 or not same(r1, r2):
            raise AssertionError(f"seed {seed}, step {number}, {make.__name__}: NumPy {e1 or repr(r1)}, here {e2 or repr(r2)}")
        if isinstance(r1, real.ndarray) and r1.size < 200 and keep < 0.7:
            if len(theirs) < 6:
                theirs.append(r1)
                ours.append(r2)
            else:
                theirs[place], ours[place] = r1, r2
        for k, (x, y) in enumerate(zip(theirs, ours)):
            if not same(x, y):
                raise AssertionError(f"seed {seed}, step {number}, {make.__name__}: array {k} is {y!r}, NumPy's {x!r}")
        if r.randrange(10) == 0 and len(theirs) > 1:
            a, b = r.sample(range(len(theirs)), 2)
            if real.shares_memory(theirs[a], theirs[b]) != np.shares_memory(ours[a], ours[b]):
                raise AssertionError(f"seed {seed}, step {number}: arrays {a} and {b} share memory on one side")


def main():
    first, count, steps = map(int, sys.argv[1:4])
    real.seterr(all="ignore")
    failed = 0
    for seed in range(first, first + count):
        try:
            run(seed, steps)
        except AssertionError as e:
            print(e)
            failed += 1
            if failed > 8:
                break
    print(f"{count} seeds, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
