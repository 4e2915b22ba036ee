"""Methods of strings in compiled functions beside CPython's: values and exceptions, over a table of calls and texts."""

import pytest
from small_kernels import made

from treadle import njit

TEXTS = ["", "a", "abcabc", "a,b,,c", " two  words ", "One Two\nthree\r\nfour\n", "\ta\tbc\td", "x_1", "1x", "ABC", "Title Case", "tail ", ",", "aaaa"]
CALLS = """s.find("a", 1)|s.find("b", 1, 3)|s.find("", 9)|s.rfind("a", 0, 2)|s.count("a", 1)|s.count("a", 1, -1)|s.count("", 2)|s.startswith("b", 1)
s.startswith("", 1)|s.endswith("c", 1, 3)|s.endswith("", 7)|s.split(sep=",")|s.split(",", maxsplit=1)|s.split(maxsplit=1)|s.rsplit()|s.rsplit(",")|s.rsplit(",", 1)
s.rsplit(None, 1)|s.rsplit("aa")|s.rsplit("", 1)|s.splitlines()|s.splitlines(True)|s.splitlines(keepends=True)|s.partition(",")|s.rpartition(",")|s.partition("")
s.removeprefix("a")|s.removesuffix("bc")|s.removesuffix("")|s.title()|s.istitle()|s.isidentifier()|s.isascii()|s.isprintable()|s.expandtabs()|s.expandtabs(3)
s.expandtabs(0)|s.casefold()|s.isnumeric()|s.index("a", 1)|s.rindex("b", 0, 2)|s.replace("a", "xy", 1)""".replace("\n", "|")


@pytest.mark.parametrize("call", CALLS.split("|"))
def test_methods(call):
    f = made(f"def f(s):\n    return {call}\n")
    g = njit(f)
    for s in TEXTS:
        try:
            wanted = f(s)
        except Exception as e:
            with pytest.raises(type(e)):
                g(s)
        else:
            got = g(s)
            assert got == wanted and type(got) is type(wanted), (s, got, wanted)


def test_find_takes_keywords():  # as Numba's does, and CPython's from 3.13 on
    assert njit(lambda s: s.find("b", start=2))("abcb") == 3
    assert njit(lambda s: s.rfind("b", end=2))("abcb") == 1


def test_kinds_of_characters_beyond_ascii_are_refused():
    for call in ("s.title()", "s.isprintable()", "s.isidentifier()", "s.casefold()"):
        with pytest.raises(ValueError, match="ASCII"):
            njit(made(f"def f(s):\n    return {call}\n"))("\u00e9")


def test_strings_in_tuples_meet_constants():
    def f(n):
        best = (0, "none", ("", 1.5))
        for i in range(n):
            if i % 3 == 2:
                best = (i, str(i) + "!", ("b" * i, i * 0.5))
        return best

    for n in (0, 5, 7):
        assert njit(f)(n) == f(n)
