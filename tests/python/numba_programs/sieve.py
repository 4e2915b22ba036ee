"""Primes below n, in a list that grows."""

import numba


@numba.njit
def primes(n):
    composite = [False] * n
    found = []
    for i in range(2, n):
        if composite[i]:
            continue
        found.append(i)
        for j in range(i * i, n, i):
            composite[j] = True
    return found


print(primes(60), len(primes(100000)))
