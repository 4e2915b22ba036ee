"""Lists of the caller's that a function changes."""

from numba import njit


@njit
def compact(values, keep):
    i = 0
    while i < len(values):
        if values[i] < keep:
            del values[i]
        else:
            i += 1
    values.sort(reverse=True)


@njit
def partition(values):
    small, large = [], []
    pivot = values[len(values) // 2]
    for v in values:
        if v < pivot:
            small.append(v)
        elif v > pivot:
            large.append(v)
    return small, pivot, large


values = [5, 1, 4, 2, 3]
compact(values, 3)
print(values, partition([5, 1, 4, 2, 3]))
