"""Random functions and kernels of one thread, well typed, against CPython: on the interpreter and compiled.

Variables have a type each (i: int, x: float, b: bool), loops are bounded, integers are kept small, divisors away from 0.
"""

import warnings

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from small_kernels import made

import treadle as td
from treadle import _core, cuda

INTS = ("i0", "i1", "n", "int(c[i1 % 5])", "int(d[-1])", "len(a)")
FLOATS = ("x0", "x1", "a[0]", "a[i0 % 7]", "a[-1 - i1 % 3]", "z")
INT_OPS = ("({} + {})", "({} - {})", "({} * {}) % 1009", "({} // (1 + abs({})))", "({} % (1 + abs({})))", "({} & {})",
           "({} | {})", "({} ^ {})", "min({}, {})", "max({}, {})", "(abs({}) % 50 << abs({}) % 6)", "({} >> abs({}) % 7)")
FLOAT_OPS = ("({} + {})", "({} - {})", "({} * {} * 0.125)", "({} / (1.5 + abs({})))", "({} // (1.5 + abs({})))",
             "({} % (1.5 + abs({})))", "min({}, {})", "max({}, {})")
COMPARISONS = ("{} < {}", "{} <= {}", "{} > {}", "{} >= {}", "{} == {}", "{} != {}")


@st.composite
def an_int(draw, depth=2):
    kind = draw(st.integers(0, 5 if depth else 1))
    if kind == 0:
        return str(draw(st.integers(-20, 100)))
    if kind == 1:
        return draw(st.sampled_from(INTS))
    if kind == 5:
        return f"({draw(an_int(depth - 1))} if {draw(a_bool(depth - 1))} else {draw(an_int(depth - 1))})"
    return draw(st.sampled_from(INT_OPS)).format(draw(an_int(depth - 1)), draw(an_int(depth - 1)))


@st.composite
def a_float(draw, depth=2):
    kind = draw(st.integers(0, 6 if depth else 1))
    if kind == 0:
        return repr(draw(st.sampled_from((0.5, -1.25, 3.0, 100.75, 1e-3))))
    if kind == 1:
        return draw(st.sampled_from(FLOATS))
    if kind == 5:
        return f"({draw(a_float(depth - 1))} if {draw(a_bool(depth - 1))} else {draw(a_float(depth - 1))})"
    if kind == 6:
        return f"({draw(a_float(depth - 1))} + {draw(an_int(depth - 1))})"
    return draw(st.sampled_from(FLOAT_OPS)).format(draw(a_float(depth - 1)), draw(a_float(depth - 1)))


@st.composite
def a_bool(draw, depth=1):
    kind = draw(st.integers(0, 4 if depth else 1))
    if kind == 0:
        return "(" + draw(st.sampled_from(COMPARISONS)).format(draw(an_int(depth - 1 if depth else 0)), draw(an_int(0))) + ")"
    if kind == 1:
        return "(" + draw(st.sampled_from(COMPARISONS)).format(draw(a_float(0)), draw(a_float(0))) + ")"
    if kind == 2:
        return f"(not {draw(a_bool(depth - 1))})"
    word = draw(st.sampled_from(("and", "or")))
    return f"({draw(a_bool(depth - 1))} {word} {draw(a_bool(depth - 1))})"


def indented(lines):
    return ["    " + line for line in lines]


@st.composite
def statements(draw, depth, loop=False):
    lines = []
    for _ in range(draw(st.integers(1, 3))):
        kind = draw(st.integers(0, 9 if depth else 3))
        if kind == 0:
            lines.append(f"{draw(st.sampled_from(('i0', 'i1')))} = {draw(an_int())}")
        elif kind == 1:
            lines.append(f"{draw(st.sampled_from(('x0', 'x1')))} = {draw(a_float())}")
        elif kind == 2:
            lines.append(f"a[{draw(an_int(1))} % 7] = {draw(a_float())}")
        elif kind == 3:
            lines.append(draw(st.sampled_from(("i0 = (i0 + {0}) % 997", "i1 ^= {0} & 63", "i0, i1 = i1, i0 % 500",
                                               "c[{0} % 5] = {0} % 100"))).format(draw(an_int(1))))
        elif kind in (4, 5):
            lines.append(f"if {draw(a_bool())}:")
            lines += indented(draw(statements(depth - 1, loop)))
            if kind == 5:
                lines.append("else:")
                lines += indented(draw(statements(depth - 1, loop)))
        elif kind == 6:
            lines.append(f"for i1 in range({draw(st.integers(0, 5))}, {draw(st.integers(0, 9))}, {draw(st.sampled_from((1, 2, -1)))}):")
            lines += indented(draw(statements(depth - 1, True)))
        elif kind == 7:
            lines.append(f"for x1 in a[{draw(st.integers(0, 3))}:]:")
            lines += indented(draw(statements(depth - 1, True)))
        elif kind == 8:
            name = f"k{draw(st.integers(0, 9999))}"
            lines += [f"{name} = 0", f"while {name} < {draw(st.integers(1, 4))} and {draw(a_bool())}:", f"    {name} += 1"]
            lines += indented(draw(statements(depth - 1, True)))
        elif loop:
            lines.append(f"if {draw(a_bool())}: {draw(st.sampled_from(('break', 'continue')))}")
        else:
            lines.append(f"if {draw(a_bool())}: return x0, i0, x1")
    return lines


@st.composite
def functions(draw):
    body = draw(statements(3)) + draw(statements(2)) + ["return x0 + x1, i0 + i1, z"]
    return "\n".join(["def f(a, c, d, n, z):", "    i0 = n; i1 = 3; x0 = z; x1 = 0.5", *indented(body)]) + "\n"


def arguments():
    rng = np.random.default_rng(5)
    return (rng.uniform(-9, 9, 7), rng.integers(-50, 50, 5).astype(np.int32), np.array([3, 40], np.int16), 11, 2.25)


@settings(max_examples=60)
@given(functions())
def test_random_functions(text):
    f = made(text)
    wanted_args, got = arguments(), {}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            wanted = f(*wanted_args)
        except (RuntimeWarning, OverflowError):  # CPython's scalars do not fit: nothing to compare with
            return
    for device in ("cpu", "null"):
        args = arguments()
        with td.device(device):
            got[device] = _core.Dispatcher(f, mode=1, checked=True, fma=False)(*args)
        np.testing.assert_allclose(got[device], wanted, rtol=1e-9, err_msg=device)
        for a, b in zip(args[:2], wanted_args[:2]):
            np.testing.assert_allclose(a, b, rtol=1e-9, err_msg=device)


@st.composite
def kernels(draw):
    """The same statements, whose stores in ifs and loops come before reads that are alike in all threads."""
    body = draw(statements(3)) + ["out[0] = a[0]; out[1] = c[1]"] + draw(statements(2))
    body = [line.replace("return x0, i0, x1", "return") for line in body]
    body += ["out[2] = x0 + x1; out[3] = i0 + i1; out[4] = a[1] + c[0]"]
    return "\n".join(["def f(a, c, d, n, z, out):", "    i0 = n; i1 = 3; x0 = z; x1 = 0.5", *indented(body)]) + "\n"


@settings(max_examples=60)
@given(kernels())
def test_random_kernels_of_one_thread(text):
    f = made(text)
    wanted, args = (*arguments(), np.zeros(5)), (*arguments(), np.zeros(5))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            f(*wanted)
        except (RuntimeWarning, OverflowError):
            return
    with td.device("cpu"):
        cuda.jit(f, fastmath=False)[1, 1](*args)
    for a, b in zip((*args[:2], args[5]), (*wanted[:2], wanted[5])):
        np.testing.assert_allclose(a, b, rtol=1e-9)
