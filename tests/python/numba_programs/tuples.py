"""Tuples with an index that only the running function knows: numbers, arrays, strings, and no such place."""

import numpy as np
from numba import njit

DAYS = ("mon", "tues", "wednes")


@njit
def roman(n):
    values = (1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1)
    signs = ("M", "CM", "D", "CD", "C", "XC", "L", "XL", "X", "IX", "V", "IV", "I")
    out = ""
    for i in range(len(values)):
        while n >= values[i]:
            out += signs[i]
            n -= values[i]
    return out


@njit
def day(i):
    return DAYS[i] + "day", len(DAYS[i]), DAYS[i] == "tues"


@njit
def number(t, i):
    return t[i]


@njit
def total(t, i):
    return t[i].sum()


print(roman(1994), roman(3888), day(1), day(-1), number(("x", "yy"), 1))
for f, t, places in (number, (1, 2, 3), (2, -3, 3, -4)), (total, (np.ones(2), np.zeros(3)), (0, -2, 2, -3)), (number, DAYS, (0, 3)):
    for i in places:
        try:
            print(f(t, i))
        except IndexError as e:
            print("IndexError", e)
