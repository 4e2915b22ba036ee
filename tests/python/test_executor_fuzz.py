"""Random functions of numbers, in Python and through the executor's compiled map: the same values, of the same types,
and the same exceptions, to the last bit.

Nothing is kept from going wrong: sums overflow int64, divisors are 0, variables have no value, branches differ in
their types.
"""

import itertools
import linecache
import math
import os
import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treadle import _core
from treadle.executor._columns import columns
from treadle.executor._mapper import Mapper, Refused

NAMES = ("a", "b", "c", "t")
LITERALS = ("0", "1", "2", "-3", "7", "10", "1000003", "2**31", "2**62", "0.5", "-1.25", "3.0", "1e-3", "1e300", "True")
BINARY = ("+", "-", "*", "/", "//", "%", "+", "-", "*")
RARE = ("({} ** {})", "({} & {})", "({} | {})", "({} ^ {})", "({} << {})", "({} >> {})", "divmod({}, {})[0]", "pow({}, {})")
CALLS = ("abs({})", "int({})", "float({})", "bool({})", "round({})", "round({}, 2)", "(-{})", "(~{})", "(+{})", "(not {})",
         "math.sqrt({})", "math.floor({})", "math.ceil({})", "math.exp({})", "math.log({})", "math.sin({})", "math.isqrt({})",
         "math.atan2({}, {})", "math.pow({}, {})", "math.fmod({}, {})", "min({}, {})", "max({}, {}, 2.5)",
         "math.copysign({}, {})", "math.log({}, {})", "math.isinf({})", "math.gcd({}, {})", "math.trunc({})", "helper({}, {})",
         "helper(y={}, x={})", "(3, 2.5, 4)[{}]", "({}).real", "({}).imag", "complex({}, 1)", "math.tanh({})", "math.degrees({})", "math.remainder({}, {})")  # fmt: skip
COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")


@st.composite
def value(draw, depth=3):
    kind = draw(st.integers(0, 11 if depth else 1))
    if kind == 0:
        return draw(st.sampled_from(LITERALS))
    if kind in (1, 2):
        return draw(st.sampled_from(NAMES))
    if kind in (3, 4, 5, 6):
        return f"({draw(value(depth - 1))} {draw(st.sampled_from(BINARY))} {draw(value(depth - 1))})"
    if kind == 7:
        return draw(st.sampled_from(RARE)).format(draw(value(depth - 1)), draw(value(0)))
    if kind in (8, 9):
        text = draw(st.sampled_from(CALLS))
        return text.format(*[draw(value(depth - 1)) for _ in range(text.count("{}"))])
    if kind == 10:
        return f"({draw(value(depth - 1))} if {draw(condition(1))} else {draw(value(depth - 1))})"
    return f"({draw(value(depth - 1))} {draw(st.sampled_from(('and', 'or')))} {draw(value(depth - 1))})"


@st.composite
def condition(draw, depth=1):
    kind = draw(st.integers(0, 4 if depth else 1))
    if kind <= 1:
        return f"{draw(value(depth))} {draw(st.sampled_from(COMPARISONS))} {draw(value(0))}"
    if kind == 2:
        return f"0 <= {draw(value(1))} < {draw(value(0))}"
    if kind == 3:
        return draw(value(1))
    return f"({draw(condition(depth - 1))} {draw(st.sampled_from(('and', 'or')))} not {draw(condition(depth - 1))})"


@st.composite
def body(draw, depth, loop=False):
    lines = []
    for _ in range(draw(st.integers(1, 3))):
        kind = draw(st.integers(0, 10 if depth else 3))
        name = draw(st.sampled_from(("a", "b", "t", "u")))
        if kind <= 2:
            lines.append(f"{name} = {draw(value())}")
        elif kind == 3:
            lines.append(f"{draw(st.sampled_from(('a', 'b')))} {draw(st.sampled_from(('+', '-', '*', '//')))}= {draw(value(1))}")
        elif kind <= 5:
            lines += [f"if {draw(condition())}:", *indented(draw(body(depth - 1, loop)))]
            if kind == 5:
                lines += ["else:", *indented(draw(body(depth - 1, loop)))]
        elif kind == 6:
            lines += [f"for t in range({draw(st.integers(-2, 4))}, {draw(st.integers(0, 6))}):",
                      *indented(draw(body(depth - 1, True)))]
        elif kind == 7:
            k = f"k{draw(st.integers(0, 9999))}"
            lines += [f"{k} = 0", f"while {k} < {draw(st.integers(1, 5))} and {draw(condition(0))}:", f"    {k} += 1",
                      *indented(draw(body(depth - 1, True)))]
        elif kind == 8:
            lines.append(f"if {draw(condition())}: raise ValueError({draw(value(0))})")
        elif kind == 9:
            what = draw(st.sampled_from(("{}", "({}, {})", "None", "({}, ({}, 2))")))
            lines.append(f"if {draw(condition())}: return " + what.format(draw(value(1)), draw(value(1))))
        elif loop:
            lines.append(f"if {draw(condition())}: {draw(st.sampled_from(('break', 'continue')))}")
        else:
            lines.append(f"assert {draw(condition())}")
    return lines


def indented(lines):
    return ["    " + line for line in lines]


@st.composite
def functions(draw):
    lines = [*draw(body(2)), f"return {draw(value())}"]
    return "\n".join(["def f(a, b, c=K):", "    t = c", *indented(lines), ""])


numbers = itertools.count()


def helper(x, y):
    if x < y:
        return y - x
    return x * 0.5


def made(text):
    name = f"<executor fuzz {next(numbers)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    space = {"math": math, "K": 3, "helper": helper}
    exec(compile(text, name, "exec"), space)
    return space["f"]


INTS = st.one_of(st.integers(-9, 9), st.sampled_from((0, 1, -1, 2**31, 2**53 + 1, 2**62, 2**63 - 1, -(2**63), 123456789)))
FLOATS = st.one_of(st.floats(-50, 50), st.sampled_from((0.0, -0.0, 1e308, -1e-320, float("inf"), float("-inf"), float("nan"), 2.5)))
COMPLEX = st.sampled_from((0j, 1 + 2j, complex(0.0, -0.0), complex(-1.5, 0.25), complex(float("inf"), 1), 1e200 - 1e200j))
ITEMS = st.lists(st.one_of(INTS, FLOATS, INTS, FLOATS, COMPLEX, st.booleans()), min_size=4, max_size=9)


def outcome(f, *args):
    try:
        return repr(f(*args))
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def small(text):
    """Would Python be through in no time? Powers of powers are not."""
    return text.count("**") + text.count("pow(") + text.count("<<") <= 2


def check(f, xs, ys, device):
    """How many of the items were compiled; None: the function was refused."""
    wanted = [outcome(f, x, y) for x, y in zip(xs, ys)]
    found, n = columns([xs, ys])
    try:
        mapper = Mapper(f, found, n, _core.device(device), False)
    except Refused:
        return None
    good = [i for i, w in enumerate(wanted) if not w.split(":")[0].endswith("Error")]
    found, n = columns([[xs[i] for i in good], [ys[i] for i in good]])
    try:
        mapper = Mapper(f, found, n, _core.device(device), False) if n else mapper
    except Refused:  # the first of the good items is of another kind than the first item
        return None
    values, error = mapper.run(0, n) if n else ([], None)
    assert error is None
    assert [repr(v) for v in values] == [wanted[i] for i in good]
    bad = [i for i in range(len(xs)) if i not in good]
    if bad:
        cut = [*good, bad[0]]
        found, n = columns([[xs[i] for i in cut], [ys[i] for i in cut]])
        try:
            values, error = Mapper(f, found, n, _core.device(device), False).run(0, n)
        except Refused:
            return None
        assert len(values) == len(good)
        assert f"{type(error).__name__}: {error}" == wanted[bad[0]]
    return len(good) - mapper.again


refused = []


@pytest.mark.parametrize("device, examples", [("cpu", 1), ("null", 1)])
def test_random_functions(device, examples):
    examples *= int(os.environ.get("TREADLE_FUZZ", "25"))
    @settings(max_examples=examples)
    @given(functions(), ITEMS, ITEMS)
    def run(text, xs, ys):
        if not small(text):
            return
        f = made(text)
        ys = (ys * len(xs))[: len(xs)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            refused.append(check(f, xs, ys, device) is None)

    refused.clear()
    run()
    assert sum(refused) < len(refused) / 2  # else nothing would be tested
