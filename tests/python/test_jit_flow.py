"""Random control flow in compiled functions beside CPython: loops over everything that iterates, generators, try, early
returns, functions inside functions. Compared are results, exceptions, and the array that the function writes.

``python tests/python/test_jit_flow.py 3000 [seed]`` runs that many."""

import linecache
import random
import sys

import numpy
import pytest

from treadle import njit

NAMES = ("a", "b", "c")
HEAD = '''
@jit
def count(n, step):
    k = 0
    while k < n:
        yield k * step
        k += 1
        if k == 5:
            return


@jit
def near(xs, top):
    for i in range(xs.size):
        if xs[i] <= top:
            yield i, xs[i]
        else:
            yield i, top


@jit
def helper(x, y):
    for t in (x, 3, y):
        if t > 2:
            return t
    return x - y
'''


class Program:
    def __init__(self, seed):
        self.draw = random.Random(seed)
        self.names = 0
        self.inside = 0  # of generators: what iterates over one may not call itself

    def new(self, letter):
        self.names += 1
        return f"{letter}{self.names}"

    def value(self, depth=2):
        d = self.draw
        kind = d.randrange(7 if depth else 2)
        if kind == 0:
            return str(d.randrange(-3, 9))
        if kind <= 2:
            return d.choice(self.known)
        if kind == 3:
            return f"helper({self.value(depth - 1)}, {self.value(0)})"
        if kind == 4:
            return f"out[{self.value(0)} % 6]"
        return f"({self.value(depth - 1)} {d.choice('+-*')} {self.value(depth - 1)}) % 1009"

    def test(self):
        return f"{self.value(1)} {self.draw.choice(('<', '>', '==', '!=', '<='))} {self.value(0)}"

    def items(self):
        """(targets, iterable)"""
        d, x = self.draw, self.new("x")
        kind = d.randrange(9)
        if kind == 0:
            return [x], f"range({self.value(0)} % 5)"
        if kind == 1:
            return [x], "({}, {}, {})".format(*(self.value(1) for _ in range(3)))
        if kind == 2:
            return [x], "xs"
        if kind == 3:
            return [x], f"[{self.value(0)}, {self.value(0)}]"
        if kind == 4:
            return [x, x + "i"], f"enumerate({d.choice(('xs', '(1, 5, 2)', 'range(4)'))})"
        if kind == 5:
            return [x, x + "i"], "zip(xs, range(3))"
        if kind == 6:
            return [x], f"count({self.value(0)} % 7, {self.value(0)})"
        if kind == 7:
            return [x, x + "i"], f"near(xs, {self.value(0)})"
        return [x], f"list(count({self.value(0)} % 7, 2))"

    def loop(self, depth):
        targets, what = self.items()
        before = self.known
        self.known = [*before, *targets]
        lines = [f"for {', '.join(targets)} in {what}:", *self.block(depth - 1, True)]
        self.known = before
        return lines + (["else:", *self.block(depth - 1, False)] if self.draw.random() < 0.2 else [])

    def while_loop(self, depth):
        k = self.new("k")
        body = self.block(depth - 1, True)
        return [f"{k} = 0", f"while {k} < {self.draw.randrange(1, 5)}:", f"    {k} += 1", *body]

    def branch(self, depth, loop):
        lines = [f"if {self.test()}:", *self.block(depth - 1, loop)]
        return lines + (["else:", *self.block(depth - 1, loop)] if self.draw.random() < 0.5 else [])

    def attempt(self, depth, loop):
        kind = self.draw.randrange(3)
        lines = ["try:", *self.block(depth - 1, loop)]
        if kind != 1:
            lines += ["except Exception:", *self.block(depth - 1, loop)]
        if kind:
            lines += ["finally:", "    " + self.change()]
        return lines

    def change(self):
        """Numbers stay far below 2**63: what is added is small, so no loop doubles a number sixty times."""
        d = self.draw
        if d.random() < 0.3:
            return f"out[{self.value(0)} % 6] += {self.value(1)} % 1009"
        if d.random() < 1 / 3:
            return f"{d.choice(NAMES)} += {self.value()} % 1009"
        return f"{d.choice(NAMES)} = {self.value()}"

    def statement(self, depth, loop):
        d = self.draw
        kind = d.randrange(14 if depth else 5)
        if kind <= 2:
            return [self.change()]
        if kind == 3:
            last = d.choice(("break", "continue")) if loop else f"return {self.value(1)}, {self.value(0)}"
            return [f"if {self.test()}: {last}"]
        if kind == 4:
            what = d.choice((f"raise ValueError({self.value(0)})", f"return {self.value(0)}, {self.value(0)}"))
            return [f"if {self.test()}: {what}"]
        if kind <= 8:
            return self.loop(depth)
        if kind == 9:
            return self.while_loop(depth)
        if kind <= 11:
            return self.branch(depth, loop)
        return self.attempt(depth, loop)

    def block(self, depth, loop):
        lines = [line for _ in range(self.draw.randrange(1, 4)) for line in self.statement(depth, loop)]
        return ["    " + line for line in lines]

    def text(self):
        self.known = [*NAMES, "n"]
        body = [line for _ in range(4) for line in self.statement(3, False)]
        lines = ["@jit", "def f(xs, n, out):", "    a, b, c = 0, 1, n"]
        return HEAD + "\n\n" + "\n".join([*lines, *("    " + line for line in body), "    return a + b, c", ""])


def outcome(f, n):
    out = numpy.arange(6)
    try:
        r = tuple(int(x) for x in f(numpy.array([3, 1, 4, 1, 5]), n, out))
    except Exception as e:
        r = type(e).__name__, str(e)
    return r, out.tolist()


def made(text, name, jit):
    space = {"jit": jit}
    exec(compile(text, name, "exec"), space)
    return space["f"]


def run(seed):
    text = Program(seed).text()
    name = f"<flow {seed}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    python, compiled = made(text, name, lambda f: f), made(text, name, njit)
    for n in (0, 3, -2, 7):
        wanted, got = outcome(python, n), outcome(compiled, n)
        assert got == wanted, f"seed {seed}, n={n}\n{text}\nwanted {wanted}\ngot    {got}"


@pytest.mark.parametrize("part", range(8))
def test_random_control_flow_is_that_of_python(part):
    first = random.randrange(10**9)
    print("seeds from", first)
    for seed in range(first, first + 5):
        run(seed)


if __name__ == "__main__":
    first = int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(10**9)
    print("seeds from", first)
    failed = 0
    for seed in range(first, first + int(sys.argv[1])):
        try:
            run(seed)
        except AssertionError as e:
            failed += 1
            print(str(e)[:6000] if failed <= 3 else f"seed {seed}")
    print(failed, "failed")
