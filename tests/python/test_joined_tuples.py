"""Tuples that differ from path to path in what they hold: None, numbers and strings meet inside of them, too."""

import random
import re

import pytest
from small_kernels import made

from treadle import njit

LEAVES = r"1|n \+ 0\.5|None|'a'|str\(n\)|n"


def nested(rng, depth):
    if depth and rng.random() < 0.6:
        return "(" + "".join(nested(rng, depth - 1) + ", " for _ in range(rng.randint(1, 3))) + ")"
    return rng.choice(["1", "n + 0.5", "None", "'a'", "str(n)", "n"])


def other(rng, value):
    """The same tuples, with None in some places."""
    return re.sub(LEAVES, lambda m: rng.choice([m[0], "None", m[0]]), value)


@pytest.mark.parametrize("seed", range(25))
def test_paths_meet_inside_of_tuples(seed):
    rng = random.Random(seed)
    for _ in range(4):
        first = nested(rng, 2)
        f = made(
            f"def f(n):\n    if n > 1:\n        x = {first}\n    elif n:\n        x = {other(rng, first)}\n"
            f"    else:\n        x = {other(rng, first)}\n    return x\n"
        )
        compiled = njit(f)
        for n in range(3):
            try:
                got = compiled(n)
            except TypeError:
                break
            assert got == f(n), (seed, first)


def grows(n):
    if n <= 0:
        return None
    return (n, grows(n - 1))


def test_a_type_that_grows_is_refused():
    with pytest.raises(TypeError, match="do not settle"):
        njit(grows)(5)
