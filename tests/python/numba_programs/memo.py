"""Fibonacci numbers kept in a typed dict."""

from numba import njit, types
from numba.typed import Dict


@njit
def fib(n, memo):
    if n in memo:
        return memo[n]
    if n < 2:
        return n
    value = fib(n - 1, memo) + fib(n - 2, memo)
    memo[n] = value
    return value


memo = Dict.empty(types.int64, types.int64)
print(fib(80, memo), len(memo), memo[40])
