"""Strings that are computed."""

from numba import njit


@njit
def caesar(text, by):
    out = ""
    for c in text:
        if c.isalpha():
            base = ord("a") if c.islower() else ord("A")
            out += chr((ord(c) - base + by) % 26 + base)
        else:
            out += c
    return out


@njit
def palindrome(s):
    s = s.replace(" ", "").lower()
    return s == s[::-1]


print(caesar("Hello, World!", 3), caesar(caesar("abc", 5), -5), palindrome("Never odd or even"), palindrome("no"))
