"""Compiled lambdas that share a line, in a file with loops."""

from numba import njit


@njit
def newton(f, df, x):
    for k in range(50):
        step = f(x) / df(x)
        x -= step
        if abs(step) < 1e-12:
            break
    return x, k


print(newton(njit(lambda x: x**3 - 2), njit(lambda x: 3 * x**2), 1.0))
