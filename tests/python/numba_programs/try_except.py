"""Exceptions that are caught and that go on to the caller."""

from numba import njit


@njit
def inverse(x):
    if x == 0:
        raise ValueError("no inverse of", x)
    return 1.0 / x


@njit
def inverses(xs):
    out, failed = [], 0
    for x in xs:
        try:
            out.append(inverse(x))
        except Exception:
            failed += 1
    return out, failed


print(inverses([1, 2, 0, 4, 0]))
try:
    inverse(0)
except ValueError as e:
    print(e.args)
