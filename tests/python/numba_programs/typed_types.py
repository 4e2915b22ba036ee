"""Types of typed lists and dicts as typeof tells them, overloads for containers, loops over named tuples."""

from collections import namedtuple

from numba import njit, typeof, types
from numba.extending import overload
from numba.typed import Dict, List

words = List(["a", "b"])
counts = Dict.empty(types.unicode_type, types.int64)
counts["k"] = 3
print(words, repr(words), counts, typeof(List([1.5])), typeof(List([(1, 2)])))
print(typeof(words) == types.ListType(types.unicode_type), isinstance(typeof(counts), types.DictType))


def kind(x):
    raise NotImplementedError


@overload(kind)
def _kind(x):
    if isinstance(x, types.UnicodeType):
        return lambda x: x + "!"
    if isinstance(x, types.ListType):
        return lambda x: x[0]
    if isinstance(x, types.DictType):
        return lambda x: len(x)
    if isinstance(x, types.List):
        return lambda x: x[-1]
    if isinstance(x, types.Set):
        return lambda x: -len(x)


@njit
def asked(x):
    return kind(x)


print(asked("s"), asked(words), asked(counts), asked([1, 2]), asked({1, 2}))

many = [namedtuple(f"Pair{k}", "x y") for k in range(30)]


@njit
def total(p):
    s = 0.0
    for v in p:
        s += v
    x, y = p
    return s + x * y, [v * 2 for v in p]


print(total(many[0](1.5, 2.5)), total(many[29](1.0, 2.0)))
