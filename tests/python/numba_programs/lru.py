"""A cache of bounded size: a typed dict of tuples, whose order tells the oldest."""

from numba import njit, types
from numba.typed import Dict

key = types.UniTuple(types.int64, 2)


@njit
def visit(cache, x, y, most):
    k = (x, y)
    if k in cache:
        value = cache.pop(k)
        cache[k] = value
        return 1
    if len(cache) >= most:
        for old in cache:
            break
        del cache[old]
    cache[k] = x * 0.5 + y
    return 0


cache = Dict.empty(key_type=key, value_type=types.float64)
hits = sum(visit(cache, i % 4, i % 3, 6) for i in range(50))
print(hits, len(cache), list(cache.items())[-1])
