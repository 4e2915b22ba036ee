"""treadle.jit on plain functions: which loops run in parallel, and that it gives what running in order gives."""

import cmath
import linecache
import math
import shutil

import numpy as np
import pytest
from conftest import DEVICES
from hypothesis import given, settings
from hypothesis import strategies as st

import treadle as td
from treadle import jit, njit, prange

# ---- loops that are proven ----


@jit
def add(a, b, c):
    for i in range(a.shape[0]):
        c[i] = a[i] + b[i]


@jit
def stencil(a, out):
    for i in range(1, a.shape[0] - 1):
        for j in range(1, a.shape[1] - 1):
            out[i, j] = 0.25 * (a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1])


@jit
def mandelbrot(img, left, right, low, high, most):
    height, width = img.shape
    dx, dy = (right - left) / width, (high - low) / height
    for y in range(height):
        for x in range(width):
            cr, ci = left + x * dx, low + y * dy
            zr = zi = 0.0
            n = 0
            while n < most and zr * zr + zi * zi < 4.0:
                t = zr * zr - zi * zi + cr
                zi = 2.0 * zr * zi + ci
                zr = t
                n += 1
            img[y, x] = n


@jit
def row_sums(a, out):
    for i in range(a.shape[0]):
        s = 0.0
        for j in range(a.shape[1]):
            s += a[i, j]
        out[i] = s


@jit
def normal(x):
    return 0.5 * (1.0 + math.erf(x / math.sqrt(2.0)))


@jit
def black_scholes(price, strike, years, call, put, rate, vol):
    for i in range(price.shape[0]):
        root = vol * math.sqrt(years[i])
        d1 = (math.log(price[i] / strike[i]) + (rate + 0.5 * vol * vol) * years[i]) / root
        d2 = d1 - root
        paid = strike[i] * math.exp(-rate * years[i])
        call[i] = price[i] * normal(d1) - paid * normal(d2)
        put[i] = paid * normal(-d2) - price[i] * normal(-d1)


@jit
def product(a, b, c):
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            s = 0.0
            for k in range(a.shape[1]):
                s += a[i, k] * b[k, j]
            c[i, j] = s


@jit
def reversing(a, out):
    for i in range(a.size - 1, -1, -1):
        out[i] = a[i] * 2


@jit
def enumerating(a, out):
    for i, x in enumerate(a):
        out[i] = x + i


@jit
def rows_of(a, out):
    for row, to in zip(a, out):
        to[0] = row[0] + row[1]


@jit
def through_function(a, out):
    for i in range(a.size):
        double_into(a, out, i)


def double_into(a, out, i):
    out[i] = a[i] * 2


@jit
def through_ravel(a, out):
    flat, to = a.ravel(), out.reshape(-1)
    for i in range(flat.size):
        to[i] = flat[i] + 1


@jit
def through_transpose(a, out):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            out.T[i, j] = a[i, j]


@jit
def whole_rows(a, out):
    for i in range(a.shape[0]):
        out[i] = a[i] * 2 + 1


@jit
def with_room(a, out):
    for i in range(a.shape[0]):
        room = np.zeros(3)
        for k in range(3):
            room[k] = a[i] * k
        out[i] = room.sum()


@jit
def conditional(a, out):
    for i in range(a.size):
        if a[i] < 0.3:
            continue
        x = a[i]
        if x > 0.6:
            x = 0.6
        out[i] = x


@jit
def in_tuple(pair, out):
    for i in range(out.size):
        out[i] = pair[0][i] + pair[1][i]


R = np.random.default_rng(7)


def arrays(*shapes):
    return tuple(R.random(s) for s in shapes)


PROVEN = {
    add: lambda: arrays(5000, 5000, 5000),
    stencil: lambda: arrays((40, 50), (40, 50)),
    mandelbrot: lambda: (np.zeros((40, 50), np.int32), -2.0, 0.5, -1.25, 1.25, 60),
    row_sums: lambda: arrays((40, 50), 40),
    black_scholes: lambda: (*arrays(600, 600), R.random(600) + 0.5, *arrays(600, 600), 0.02, 0.3),
    product: lambda: arrays((9, 20), (20, 40), (9, 40)),
    reversing: lambda: arrays(70, 70),
    enumerating: lambda: arrays(70, 70),
    rows_of: lambda: arrays((40, 2), (40, 2)),
    through_function: lambda: arrays(70, 70),
    through_ravel: lambda: arrays((8, 9), (8, 9)),
    through_transpose: lambda: arrays((8, 9), (9, 8)),
    whole_rows: lambda: arrays((8, 9), (8, 9)),
    conditional: lambda: arrays(70, 70),
    with_room: lambda: arrays(70, 70),
    in_tuple: lambda: (arrays(70, 70), *arrays(70)),
}


def copies(args):
    return tuple(copies(a) if isinstance(a, tuple) else a.copy() if hasattr(a, "copy") else a for a in args)


def flat(args):
    for a in args:
        if isinstance(a, tuple):
            yield from flat(a)
        elif isinstance(a, np.ndarray):
            yield a


def check_same(f, args, exact=True):
    """f compiled and f in Python, on the same arguments."""
    mine, python = copies(args), copies(args)
    got, want = f(*mine), f.py_func(*python)
    assert got is None and want is None or np.allclose(got, want)
    for x, y in zip(flat(mine), flat(python), strict=True):
        np.testing.assert_allclose(x, y, rtol=0 if exact else 1e-12)


@pytest.mark.parametrize("f", PROVEN, ids=lambda f: f.__name__)
def test_proven_loops_run_in_parallel(f):
    check_same(f, PROVEN[f](), exact=f is not black_scholes)
    assert "in parallel" in f.explain() and "in order" not in f.explain()


# ---- loops that are refused, with the line that stands in the way ----


def prefix(a):
    for i in range(1, a.size):
        a[i] = a[i] + a[i - 1]  # why: cannot be shown


def histogram(a, counts):
    for i in range(a.size):
        counts[int(a[i] * 10)] += 1  # why: cannot be shown


def total(a):
    s = 0.0
    for i in range(a.size):
        s += a[i]  # why: s holds what an earlier iteration left
    return s


def conditional_carry(a):
    last = 0.0
    for i in range(a.size):
        if a[i] > 0.5:
            last = a[i]
        a[i] = last  # why: last holds what an earlier iteration left
    a[0] = 1


def scattered(a, b):
    for i in range(a.size):
        a[int(b[i] * 8)] = b[i]  # why: cannot be shown


def used_after(a):
    x = 0.0
    for i in range(a.size):
        x = a[i]
        a[i] = x + 1
    return x  # why: x is used after the loop


def counter_after(a):
    for i in range(a.size):
        a[i] = 1
    return i  # why: i is used after the loop


def broken(a):
    for i in range(a.size):
        if a[i] > 0.9:
            break  # why: left by break
        a[i] = 1


def returned(a):
    for i in range(a.size):
        if a[i] > 0.9:
            return i  # why: the function returns inside the loop
        a[i] = 1
    return -1


def wrapping(a):
    for i in range(a.size + 1):
        a[i - 1] = i  # why: may be negative


def from_the_end(a):
    for i in range(-a.size, a.size):
        a[i] = i  # why: may be negative


def offset(a, k):
    for i in range(a.size):
        a[i + k] = i  # why: may be negative


def every_other(a):
    for i in range(a.size // 2):
        a[2 * i] = a[i]  # why: cannot be shown


def one_place(a):
    for i in range(a.size):
        a[3] = i  # why: cannot be shown


def both_ways(a):
    for i in range(a.shape[0]):
        for j in range(a.shape[0]):
            a[i, j] = a.T[i, j] + 1  # why: cannot be shown


def flat_and_not(a):
    f = a.ravel()
    for i in range(a.shape[0]):
        a[i, 0] = f[i] + 1  # why: cannot be shown


def moving_view(a):
    for i in range(a.shape[0]):
        f = a.reshape(-1)
        f[i] = f[i] + a[i, 0]  # why: cannot be shown


def sliced(a):
    b = a[1:]
    for i in range(b.size):
        b[i] = a[i] + 1  # why: cannot be shown


def overlapping_slices(a):
    for i in range(a.size - 3):
        a[i : i + 3] += 1  # why: cannot be shown


def backwards(a):
    for i, x in enumerate(reversed(a)):
        a[i] = x  # why: cannot be shown


def narrow(a):
    for i in range(a.size):
        a[np.uint8(i % 256)] = i  # why: cannot be shown


def aliased(a):
    pair = (a, a.T)
    for i in range(a.shape[0]):
        for j in range(a.shape[0]):
            pair[0][i, j] = pair[1][i, j] + 1  # why: cannot be shown


def shift(a, i):
    a[i] = a[i + 1]  # why: cannot be shown


def writes_in_calls(a):
    for i in range(a.size - 1):
        shift(a, i)


def printing(a):
    for i in range(3):
        a[i] = i
        print(a[i])  # why: in their order


def swapped(a, b):
    if a[0] > 2:
        a, b = b, a
    for i in range(1, a.size):
        a[i] = b[i - 1]  # why: cannot be shown


def diagonal(a):
    for i in range(1, a.shape[0]):
        for j in range(1, a.shape[1]):
            a[i, j] = a[i - 1, j - 1] + 1  # why: cannot be shown


REFUSED = {
    prefix: lambda: arrays(90), histogram: lambda: (R.random(90), np.zeros(10, int)), total: lambda: arrays(90),
    conditional_carry: lambda: arrays(90), scattered: lambda: arrays(90, 90), used_after: lambda: arrays(90),
    counter_after: lambda: arrays(90), broken: lambda: arrays(90), returned: lambda: arrays(90),
    wrapping: lambda: arrays(90), from_the_end: lambda: arrays(90), offset: lambda: (R.random(90), -40),
    every_other: lambda: arrays(90), one_place: lambda: arrays(90), both_ways: lambda: arrays((30, 30)),
    flat_and_not: lambda: arrays((30, 30)), moving_view: lambda: arrays((30, 30)), sliced: lambda: arrays(90),
    overlapping_slices: lambda: arrays(90), backwards: lambda: arrays(90), narrow: lambda: arrays(300),
    aliased: lambda: arrays((30, 30)), writes_in_calls: lambda: arrays(90), printing: lambda: arrays(90),
    swapped: lambda: arrays(90, 90), diagonal: lambda: arrays((30, 30)),
}  # fmt: skip


def reason(fn):
    """Line and words of the comment that tells why."""
    for f in (fn, shift):
        lines, first = linecache.getlines(__file__), f.__code__.co_firstlineno
        for number in range(first, first + 12):
            if "# why: " in lines[number - 1]:
                return number, lines[number - 1].split("# why: ")[1].strip()
    raise AssertionError(fn)


@pytest.mark.parametrize("fn", REFUSED, ids=lambda f: f.__name__)
def test_refused_loops_run_in_order(fn):
    f = jit(fn)
    check_same(f, REFUSED[fn]())
    first = f.explain().splitlines()[0]
    line, why = reason(fn) if fn is not writes_in_calls else reason(shift)
    assert "in order" in first and f"line {line}: " in first and why in first, f.explain()


def test_options():
    a = np.arange(9.0)
    f = njit(parallel=False)(add.py_func)
    f(a, a, a.copy())
    assert "in parallel" not in f.explain()

    def summed(a):
        s = 0.0
        for i in prange(a.size):
            s += a[i]
        return s

    assert jit(summed)(a) == 36 and njit(parallel=True)(summed)(a) == 36
    f, g = jit(summed), njit(parallel=True)(summed)
    f(a), g(a)
    assert "in order" in f.explain() and "as prange asks" in g.explain()


# ---- arguments that share memory ----


@jit
def shifted(a, b):
    for i in range(b.size):
        b[i] = a[i] + 1


@pytest.mark.parametrize("views", [
    lambda x: (x[:-1], x[1:]), lambda x: (x[1:], x[:-1]), lambda x: (x, x), lambda x: (x[::-1], x),
    lambda x: (x[::2], x[1::2]), lambda x: (x[:40], x[40:80])])  # fmt: skip
def test_overlapping_arguments(views):
    mine, python = np.arange(5000.0), np.arange(5000.0)
    shifted(*views(mine))
    shifted.py_func(*views(python))
    np.testing.assert_array_equal(mine, python)


def test_an_array_that_overlaps_itself():
    def fill(a, b):
        for i in range(a.shape[0]):
            for j in range(a.shape[1]):
                a[i, j] += b[i] + j

    mine, python = np.zeros(40), np.zeros(40)
    window = np.lib.stride_tricks.sliding_window_view
    jit(fill)(window(mine, 5, writeable=True), np.arange(36.0))
    fill(window(python, 5, writeable=True), np.arange(36.0))
    np.testing.assert_array_equal(mine, python)


# ---- random loops ----

INDEX = st.tuples(st.sampled_from("ij"), st.sampled_from([-1, 1, 2]), st.integers(-6, 6))


def spell(index):
    name, mul, add = index
    return f"{mul} * {name} + {add}" if mul > 0 else f"{add} - {name}"


@st.composite
def places(draw, writes):
    kind = draw(st.sampled_from(["a", "a", "b", "a.T", "v", "m", "m", "m.T", "r"]))
    first, second = draw(INDEX), draw(INDEX)
    if kind in ("m", "m.T"):
        if draw(st.booleans()):
            first, second = ("i", 1, draw(st.integers(0, 2))), ("j", 1, draw(st.integers(0, 2)))
        return f"{kind}[{spell(first)}, {spell(second)}]"
    if kind == "v":
        return f"v[{draw(st.integers(0, 3))} : ][{spell(('i', 1, draw(st.integers(0, 3))))}]"
    if kind == "r":
        return f"m.ravel()[{spell(first)}]"
    if draw(st.booleans()):
        first = ("i", 1, draw(st.integers(0, 2)))
    return f"{kind}[{spell(first)}]"


@st.composite
def statements(draw):
    to, left, right = draw(places(True)), draw(places(False)), draw(places(False))
    form = draw(st.sampled_from(["{to} = {left} + 1", "{to} = {left} - {right}", "{to} += {left}",
                                 "if {left} > 3:\n{pad}    {to} = {right} * 2",
                                 "x = {left}\n{pad}{to} = x + {right}",
                                 "if {right} > 0:\n{pad}    x = {left}\n{pad}{to} = x"]))  # fmt: skip
    return form, to, left, right


@st.composite
def programs(draw):
    outer = draw(st.sampled_from(["range(8)", "range(1, 8)", "range(7, -1, -1)", "range(0, 8, 3)"]))
    inner = draw(st.sampled_from([None, "range(8)", "range(i)", "range(2, 8)"]))
    lines, pad = ["def f(a, b, m):", "    x = 0.0", "    j = 2", "    v = a"], "        "
    lines.append(f"    for i in {outer}:")
    if inner:
        lines.append(f"        for j in {inner}:")
        pad += "    "
    for _ in range(draw(st.integers(1, 2))):
        form, to, left, right = draw(statements())
        lines.append(pad + form.format(to=to, left=left, right=right, pad=pad))
    if draw(st.integers(0, 5)) == 0:
        lines.append("    return x")
    return "\n".join(lines) + "\n"


numbers = 0


def from_text(source):
    global numbers
    numbers += 1
    file = f"<test_jit {numbers}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    space = {}
    exec(compile(source, file, "exec"), space)
    return space["f"]


@settings(max_examples=150, deadline=None, derandomize=True)
@given(programs(), st.booleans())
def test_random_loops_give_what_running_in_order_gives(source, overlap):
    fn = from_text(source)
    base = np.arange(48.0) % 7
    for g in (jit(fn), njit(parallel=False)(fn)):
        mine, python = (
            (x[:24], x[3:27] if overlap else x[24:], np.arange(676.0).reshape(26, 26) % 5)
            for x in (base.copy(), base.copy())
        )
        assert g(*mine) == fn(*python)
        for x, y in zip(mine, python, strict=True):
            np.testing.assert_array_equal(x, y, err_msg=source + g.explain())


# ---- on a GPU ----


GPUS = DEVICES[1:]  # the null one plays a GPU


def on(device, *args):
    return [td.asarray(a, device=device) if isinstance(a, np.ndarray) else a for a in args]


@pytest.mark.parametrize("gpu", GPUS)
@pytest.mark.parametrize("f", [add, stencil, mandelbrot, row_sums, product, reversing, enumerating, conditional,
                               through_ravel], ids=lambda f: f.__name__)  # fmt: skip
def test_functions_run_where_their_arrays_are(f, gpu):
    args = PROVEN[f]()
    there, python = on(gpu, *args), copies(args)
    f(*there)
    f.py_func(*python)
    for x, y in zip(there, python, strict=True):
        if isinstance(y, np.ndarray):
            assert x.device == td.device(gpu)
            np.testing.assert_allclose(np.asarray(x.get()), y, rtol=1e-12)


@pytest.mark.parametrize("gpu", GPUS)
def test_loops_one_after_the_other_on_a_gpu(gpu):
    @jit
    def two(a, b):
        for i in range(a.size):
            a[i] = a[i] * 2
        for i in range(1, a.size):
            b[i] = a[i - 1] + a[i]
        return a[0]

    a, b = np.arange(600.0), np.zeros(600)
    there = on(gpu, a, b)
    assert two(*there) == two.py_func(a, b)
    np.testing.assert_array_equal(there[1].get(), b)


def test_stores_outside_of_independent_loops_are_refused_on_a_gpu():
    def mixed(a, b):
        for i in range(a.size):
            b[i] = a[i] * 2
        for i in range(1, a.size):
            b[i] += b[i - 1]

    def alone(a, b):
        b[0] = 1
        for i in range(a.size):
            a[i] = b[i]

    for fn, line in ((mixed, 4), (alone, 1)):
        with pytest.raises(TypeError, match="only loops whose iterations are independent may store") as e:
            jit(fn)(*on("null", np.zeros(9), np.zeros(9)))
        assert f"line {fn.__code__.co_firstlineno + line}" in str(e.value)


def test_functions_in_order_on_a_gpu():
    f = njit(parallel=False)(prefix)
    (a,) = on("null", np.arange(50.0))
    f(a)
    np.testing.assert_array_equal(a.get(), np.cumsum(np.arange(50.0)))


@pytest.mark.parametrize("gpu", GPUS)
def test_what_fails_in_a_turn_on_a_gpu_reaches_the_caller(gpu):
    @jit
    def checked(a, out):
        for i in range(a.size):
            assert a[i] >= 0, "negative"
            out[i] = 1 / (a[i] + 1)
        for i in range(a.size):
            a[i] = out[i]

    a, out = on(gpu, np.arange(900.0), np.zeros(900))
    checked(a, out)
    a[7] = -1.0
    with pytest.raises(AssertionError, match="negative"):
        checked(a, out)
        out.get()


@pytest.mark.skipif(not shutil.which("ptxas"), reason="ptxas of the CUDA toolkit is not here")
@pytest.mark.parametrize("f", [add, stencil, mandelbrot, row_sums, product, black_scholes], ids=lambda f: f.__name__)
def test_ptx_of_functions_assembles(f, tmp_path):
    args = PROVEN[f]()
    f(*args)
    td.build(f, f.signatures[0], tmp_path / "f.cubin", arch="sm_90")


# ---- calls, texts ----


@jit
def scaled(x, by=2.0, *, plus=0.0):
    return x * by + plus


@jit
def calling(a, out):
    for i in range(a.size):
        out[i] = scaled(a[i], plus=1.0) + scaled(a[i], by=3.0)


def apply(f, x):
    return f(x) + 1


def test_calls_between_functions():
    a, out = np.arange(9.0), np.zeros(9)
    calling(a, out)
    np.testing.assert_array_equal(out, a * 5 + 1)
    assert jit(apply)(scaled, 4.0) == 9 and jit(apply)(normal, 0.0) == 1.5
    assert scaled(x=3.0, by=4.0) == 12 and scaled(3.0) == 6


def test_lambdas_return_arrays():
    np.testing.assert_array_equal(jit(lambda n: np.zeros(n) + 2)(3), np.full(3, 2.0))
    np.testing.assert_array_equal(jit(lambda a: a * 2)(np.arange(3)), [0, 2, 4])


def test_texts(capsys):
    f = jit(add.py_func)
    a = np.zeros(3)
    f(a, a.copy(), a.copy())
    assert f.signatures == [s.args for s in f.nopython_signatures]
    (sig,) = f.signatures
    assert "define" in f.inspect_llvm(sig) and list(f.inspect_llvm()) == [sig]
    assert ".text" in f.inspect_asm(sig)
    f.inspect_types()
    assert "kernel add" in capsys.readouterr().out
    assert str(f.nopython_signatures[0].return_type) == "none"


def test_kept_options():
    f = njit(cache=True, nogil=True, fastmath=True, nopython=True)(add.py_func)
    a, c = np.ones(100), np.zeros(100)
    f(a, a, c)
    assert (c == 2).all() and f.targetoptions["cache"]
    with pytest.raises(TypeError, match="no_such"):
        njit(no_such=1)


# ---- shapes that are known when the function runs ----


@pytest.mark.parametrize("size", [24, 1, 0])
@pytest.mark.parametrize("shape", [(-1,), (-5,), (24,), (0,), (-1, 4), (4, -1), (-3, 6), (2, -1, 3), (-1, -1), (-2, -3), (0, -1),
                                   (5, -1), (1, -7), (2, 3, 4), (-1, 1, -1)], ids=repr)  # fmt: skip
def test_reshape_is_numpys(shape, size):
    """One extent may be negative, also where only the run tells; what does not fit is refused, as by NumPy."""
    names = [f"n{k}" for k in range(len(shape))]
    for fixed in range(2 ** len(shape)):  # which extents stand in the text
        text = [str(x) if fixed >> k & 1 else n for k, (x, n) in enumerate(zip(shape, names, strict=True))]
        space = {}
        last = f", b[{', '.join(['-1'] * len(shape))}]" if size else ""
        source = f"def f(a, {', '.join(names)}):\n    b = a.reshape({', '.join(text)})\n    return b.shape{last}\n"
        linecache.cache["<reshape>"] = (len(source), None, source.splitlines(keepends=True), "<reshape>")
        exec(compile(source, "<reshape>", "exec"), space)
        a = np.arange(float(size))
        try:
            want = space["f"](a, *shape)
        except ValueError:
            want = None
        if want is None and size == 0 and 0 in shape:
            continue  # NumPy alone refuses (0, -1) of nothing
        if want is None:
            with pytest.raises(ValueError, match="reshape"):
                jit(space["f"])(a, *shape)
        else:
            assert jit(space["f"])(a, *shape) == want


@pytest.mark.parametrize("device", DEVICES)
def test_reshape_in_kernels(device):
    from treadle import cuda

    @cuda.jit
    def kernel(a, n, m, out):
        b = a.reshape(n, m)
        out[0], out[1] = b.shape[0], b.shape[1]
        out[2] = b[1, 2]

    with td.device(device):
        for n, m in ((4, 6), (-1, 6), (4, -1), (-9, 8)):
            out = td.zeros(3, "int64")
            kernel[1, 1](td.arange(24), n, m, out)
            want = np.arange(24).reshape(n, m)
            assert out.get().tolist() == [*want.shape, want[1, 2]]


# ---- numbers at the edges ----

EDGES = [0.0, -0.0, 1.0, -1.5, math.inf, -math.inf, math.nan, 12345.678, 1e308, -1.7e308, 5e-324]


def edge(run):
    """The parts of a number with their signs; an exception's class."""
    try:
        z = complex(run())
    except (ValueError, OverflowError) as error:
        return type(error)
    return [part for x in (z.real, z.imag) for part in (math.copysign(1, x) if x == x else 0, x)]


@pytest.mark.parametrize("x", EDGES)
def test_numbers_at_the_edges_are_pythons(x):
    exp, rect, rounded = jit(lambda z: cmath.exp(z)), jit(lambda r, p: cmath.rect(r, p)), jit(lambda x, n: round(x, n))
    for n in (0, 1, 2, 22, 23, 300, 308, 400, -2, -300, -400):
        want = edge(lambda n=n: round(x, n))
        if want is not OverflowError:
            assert edge(lambda n=n: rounded(x, n)) == pytest.approx(want, rel=1e-15, abs=0, nan_ok=True)
    for y in EDGES:
        for run, want in ((lambda y=y: exp(complex(x, y)), edge(lambda y=y: cmath.exp(complex(x, y)))),
                          (lambda y=y: rect(x, y), edge(lambda y=y: cmath.rect(x, y)))):  # fmt: skip
            if type(want) is list:
                assert edge(run) == pytest.approx(want, rel=1e-9, abs=0, nan_ok=True)
