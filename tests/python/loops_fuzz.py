"""Random loops over arrays and numbers, handed over to compiled code as soon as they have begun, beside plain Python.

Variables (values and types), arrays and exceptions must agree. Arguments: a seed, a number of programs. Prints how many
of them were run by compiled code.
"""

import random
import signal
import sys
import warnings

import numpy as np

from treadle.unchanged import _loops

_loops.COMPILING = _loops.ENTERING = 0
_loops._COPY = 1e99
_loops.watch()

ARRAYS = ["a", "b", "c", "d", "e", "m"]
ODD = ["f32", "u8", "i32", "flags"]
HEADS = ["for i in range(n):", "for i in range(n):", "for i in range(1, n):", "for i in range(n - 1, -1, -1):",
         "for i in range(0, n, 2):", "for x in a:", "while i < n:", "for i in range(-n, n):"]  # fmt: skip
INNER = ["range(5)", "range(n // 3)", "range({0} % 4)", "range(4, 0, -1)", "range(1, 9, 2)"]
STARTS = ["0", "1", "0.0", "2.5", "np.float64(1.5)", "np.int64(3)", "a[0]", "True", "np.float32(0.5)", "10**6"]


class Program:
    """The text of a function with a loop. calm: few of its operations raise."""

    def __init__(self, r):
        self.r, self.calm = r, r.random() < 0.75

    def index(self, names):
        v = self.r.choice(names)
        calm = [v, v, v, f"{v} - 1", f"({v} * 3 + 1) % 7", f"{v} % n", "0", "-1"]
        return self.r.choice(calm if self.calm else [*calm, f"-{v}", f"n - 1 - {v}", "k"])

    def element(self, names):
        odd = self.r.choice([[], [], [self.r.choice(ODD)]]) if self.calm else ODD
        name = self.r.choice(ARRAYS + odd)
        column = f", {self.r.choice(names)} % 5" if name == "m" else ""
        return f"{name}[{self.index(names)}{column}]"

    def value(self, names, depth=0):
        r, x = self.r, self.r.random()
        if depth > 2 or x < 0.25:
            plain = [r.choice("stkw"), r.choice(names), r.choice(["1", "2", "0.5", "-3", "1.0", "7", "n"])]
            return r.choice([self.element(names), self.element(names), *plain])
        one, two = (self.value(names, depth + 1) for _ in range(2))
        if x < 0.8:
            op = r.choice(["+", "-", "*", "/"] if self.calm or r.random() < 0.7 else ["//", "%", "**", "<<", "&"])
            if self.calm and op == "/":
                two = r.choice(["2", "3.0", "n", "(1 + abs(a[0]))"])
            two = r.choice(["2", "3", "0.5", "-1"]) if op == "**" else r.choice("123") if op == "<<" else two
            return f"({one} {op} {two})"
        if x < 0.86:
            calm = ["abs", "float", "np.abs", "bool"]
            calm += ["np.exp", "np.sin", "np.arctan"] if r.random() < 0.5 else []
            wild = [
                "np.log",
                "np.sign",
                "np.isnan",
                "int",
                "math.sqrt",
                "math.floor",
                "np.sqrt",
                "np.floor",
                "math.exp",
                "round",
            ]
            return f"{r.choice(calm if self.calm else calm + wild)}({one})"
        if x < 0.9:
            return f"{r.choice(['min', 'max', 'np.maximum', 'np.arctan2', 'np.hypot'])}({one}, {two})"
        if x < 0.93:
            return f"-{one}"
        if x < 0.96:
            return f"({one} if {self.condition(names, depth + 1)} else {two})"
        return f"square({one})"

    def condition(self, names, depth=0):
        r = self.r
        one, two = (self.value(names, depth + 1) for _ in range(2))
        text = f"{one} {r.choice(['<', '>', '<=', '>=', '==', '!='])} {two}"
        if r.random() < 0.15:
            text = f"{text} {r.choice(['and', 'or'])} {self.value(names, 2)} < {one}"
        return f"not ({text})" if r.random() < 0.1 else text

    def statement(self, names, indent, depth):
        r, x, pad = self.r, self.r.random(), "    " * indent
        if x < 0.3:
            return [f"{pad}{self.element(names)} {r.choice(['=', '=', '+=', '-=', '*='])} {self.value(names)}"]
        if x < 0.6:
            name = r.choice("stkwz")
            return [f"{pad}{name} {'=' if name == 'z' else r.choice(['=', '+=', '-='])} {self.value(names)}"]
        if x < 0.75:
            out = [f"{pad}if {self.condition(names)}:", *self.block(names, indent + 1, depth + 1)]
            return [*out, f"{pad}else:", *self.block(names, indent + 1, depth + 1)] if r.random() < 0.4 else out
        if x < 0.85 and depth < 2:
            name = "jq"[len(names) > 1]
            head = f"{pad}for {name} in {r.choice(INNER).format(names[0])}:"
            return [head, *self.block([*names, name], indent + 1, depth + 1)]
        if x < 0.88:
            leaves = r.choice(["break", "continue", "return s, t", "raise ValueError(s)", "break"])
            return [f"{pad}if {self.element(names)} > {r.choice(['3', '9.9', '1e12'])}: {leaves}"]
        if x < 0.93:
            return [f"{pad}s, t = t, {self.value(names)}"]
        if x < 0.96:
            return [f"{pad}row = m[{r.choice(names)} % 12]", f"{pad}s = row[{names[0]} % 5]"]
        return [f"{pad}{r.choice('zw')} = {self.condition(names)}"]

    def block(self, names, indent, depth):
        return [line for _ in range(self.r.randint(1, 3)) for line in self.statement(names, indent, depth)]

    def text(self):
        r = self.r
        head = r.choice(HEADS)
        lines = ["import math", "import numpy as np", "def square(x):", "    return x * x + 1"]
        lines += ["def f(a, b, c, d, e, f32, u8, i32, flags, m, n):", "    i = 0"]
        lines += [f"    {v} = {r.choice(STARTS if v != 'k' else STARTS[:2])}" for v in "stkw"]
        lines += [f"    {head}"] + (["        i += 1"] if head[0] == "w" else [])
        lines += self.block(["i"], 2, 0) + self.block(["i"], 2, 0)
        lines += ["    else:", "        s = s, 'else'"] if r.random() < 0.2 and head[0] != "w" else []
        lines += ["    out = {}"]
        for v in "stkwzijqx":
            lines += ["    try:", f"        out['{v}'] = {v}", "    except NameError:", "        pass"]
        return "\n".join([*lines, "    return out", ""])


def arguments(r):
    n, rs = 60, np.random.RandomState(r.randrange(2**31))
    found = {"a": rs.randn(n), "b": rs.rand(n) * 10, "c": rs.randint(-5, 6, n), "d": np.zeros(n)}
    found |= {"e": rs.randint(0, 2**40, n), "f32": rs.randn(n).astype("f4"), "u8": rs.randint(0, 256, n).astype("u1")}
    found |= {"i32": rs.randint(-1000, 1000, n).astype("i4"), "flags": rs.rand(n) > 0.5, "m": rs.randn(n, 5)}
    return found, n


def outcome(code, arrays, n):
    """(what the function returns or raises, the arrays afterwards)"""
    space, own = {"__name__": "program"}, {k: v.copy() for k, v in arrays.items()}
    exec(code, space)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return space["f"](**own, n=n), own
    except Exception as e:
        return (type(e), str(e)), own


def same(x, y):
    if type(x) is not type(y):
        return False
    if isinstance(x, tuple):
        return len(x) == len(y) and all(map(same, x, y))
    if isinstance(x, dict):
        return x.keys() == y.keys() and all(same(x[k], y[k]) for k in x)
    if isinstance(x, np.ndarray):
        signs = x.dtype.kind != "f" or ((np.signbit(x) == np.signbit(y)) | np.isnan(x)).all()
        return x.dtype == y.dtype and signs and np.array_equal(x, y, equal_nan=x.dtype.kind == "f")
    return repr(x) == repr(y)


class Endless(BaseException):
    """Python's integers have grown until nobody can wait for them."""


def give_up(number, frame):
    raise Endless


def in_python(text, file, arrays, n):
    """What Python makes of the program; None: its numbers grow without end."""
    signal.setitimer(signal.ITIMER_REAL, 2)
    try:
        return outcome(compile(text, file, "exec"), arrays, n)
    except Endless:
        return None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def main(seed, count):
    master, compiled, wrong = random.Random(seed), 0, 0
    signal.signal(signal.SIGALRM, give_up)
    for k in range(count):
        r = random.Random(master.randrange(2**40))
        text, (arrays, n), file = Program(r).text(), arguments(r), f"program{k}.py"
        watched = _loops.compiled(text, file)
        for again in range(3):  # compiled code is there later, and may take the loops over before their first iteration
            if again == 2:  # of other arguments
                arrays, n = arguments(r)
            if again != 1:
                want = in_python(text, file, arrays, n)
            if want is None:
                break
            got = outcome(watched, arrays, n)
            if not same(want, got):
                break
        if want is None:
            continue
        compiled += any(key.startswith(f"{file}:") for key in _loops.ran)
        if not same(want, got):
            wrong += 1
            arrays = [a for a in arrays if not same(want[1][a], got[1][a])]
            print(text, "Python:", want[0], "treadle:", got[0], "arrays that differ:", arrays, sep="\n")
    print(f"seed {seed}: {compiled} of {count} programs ran compiled, {wrong} differ")
    return wrong or (count >= 40 and compiled < count / 5)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2])))
