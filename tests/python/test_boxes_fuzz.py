"""Random programs over lists, dicts, sets and strings beside CPython: results, exceptions, the caller's list.

``python tests/python/test_boxes_fuzz.py 3000 [seed]`` runs that many."""

import linecache
import random
import sys

import box_generator
import pytest

import treadle as td
from treadle import njit

ARGS = [([1, 2, 3], 2), ([5, 4, 3, 2, 1, 0], -1), ([7], 0)]


def outcome(f, a, n):
    a = list(a)
    try:
        r = f(a, n)
        items = [list(x.items()) if isinstance(x, dict) else x for x in r]
        return items, a
    except Exception as e:
        return type(e).__name__, str(e) if isinstance(e, KeyError) else "", a


def run(seed):
    text = box_generator.Program(random.Random(seed)).text()
    name = f"<boxes {seed}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    space = {}
    exec(compile(text, name, "exec"), space)
    f = space["f"]
    compiled = njit(f)
    for a, n in ARGS:
        wanted, got = outcome(f, a, n), outcome(compiled, a, n)
        assert got == wanted, f"seed {seed}, a={a}, n={n}\n{text}\nwanted {wanted}\ngot    {got}"
        if seed % 7 == 0:
            with td.debug():
                assert outcome(njit(f), a, n) == wanted, f"seed {seed}, interpreted\n{text}"


@pytest.mark.parametrize("part", range(4))
def test_random_programs(part):
    first = random.SystemRandom().randrange(1 << 30)
    print("seeds from", first)
    for k in range(8):
        run(first + k)


if __name__ == "__main__":
    first = int(sys.argv[2]) if len(sys.argv) > 2 else random.SystemRandom().randrange(1 << 30)
    bad = 0
    for k in range(int(sys.argv[1])):
        try:
            run(first + k)
        except Exception as e:
            bad += 1
            print("=" * 20, first + k, type(e).__name__, str(e)[-2500:])
            if bad > 3:
                break
    print("seeds", first, "to", first + k, "failures", bad)
