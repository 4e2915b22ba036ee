"""From a Python function to a launch: sources, arguments, limits, constants, reports, signatures."""

import enum
import gc
import linecache
import pickle
import subprocess
import sys
import textwrap
import threading
import time
import warnings
import weakref

import numpy as np
import pytest

import treadle as td
from treadle import cuda, jit


@cuda.jit
def add(a, b, c):
    i = cuda.grid(1)
    if i < c.shape[0]:
        c[i] = a[i] + b[i]


@cuda.jit
def store(out, x):
    out[cuda.grid(1)] = x


# ---- where source comes from ----

SCALE = 3
pair = (lambda x: x + 1, lambda x: x + 2)
same_names = {"f": lambda x, y: (x - y), "g": lambda x, y: (y - x)}


def decorated(fn):
    return fn


@decorated
@jit
def with_decorators(x):
    """Text with a line at the margin:
at the margin
    """
    return x * 2


@jit
def with_multiline(
    x,
    y=(
        1
    ),
):
    # a comment deeper than nothing
    if x:
        return (
            x
            + y
        )
# a comment at the margin, inside the function
    return 0


def test_sources_of_functions():
    assert with_decorators(4) == 8
    assert with_multiline(2) == 3 and with_multiline(2, y=5) == 7 and with_multiline(0) == 0


@pytest.mark.parametrize("fn, args, want", [(pair[0], (1,), 2), (pair[1], (1,), 3), (same_names["f"], (5, 2), 3),
                                            (same_names["g"], (5, 2), -3)])  # fmt: skip
def test_lambdas_on_one_line(fn, args, want):
    assert jit(fn)(*args) == want


def test_nested_functions_and_lambdas_in_calls():
    def make(k):
        def inner(x):
            return x * k

        return jit(inner)

    assert [make(k)(10) for k in (1, 2, 3)] == [10, 20, 30]
    f = jit(
        lambda x,
        y: x
        + y
    )
    assert f(1, 2) == 3
    nested = lambda: (lambda x: x + 40)  # noqa: E731
    assert jit(nested())(2) == 42


def exec_function(name, source, file):
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    space = {"cuda": cuda, "np": np}
    exec(compile(source, file, "exec"), space)
    return space[name]


def test_source_made_by_exec():
    f = exec_function("f", "x = 1\ndef f(a):\n  return a + x\n", "<made by hand>")
    assert jit(f)(1) == 2


def test_source_of_a_notebook_cell():
    """Cells are files that only linecache knows; running a cell again gives a new one."""
    for n in range(3):
        f = exec_function("cell", f"def cell(a):\n    return a * {n}\n", f"/tmp/ipykernel_1/{n}.py")
        assert jit(f)(7) == 7 * n


def test_source_that_nobody_knows():
    space = {}
    exec("def f(a):\n    return a\n", space)
    with pytest.raises(OSError, match="f: its source is not known: '<string>'"):
        jit(space["f"])(1)


def test_source_that_has_changed(tmp_path):
    path = tmp_path / "module_of_old.py"
    path.write_text("def f(a):\n    return a\n")
    space = {}
    exec(compile(path.read_text(), str(path), "exec"), space)
    path.write_text("x = 1\n")
    with pytest.raises(OSError, match="does not hold it at line 1"):
        jit(space["f"])(1)


def test_columns_count_characters():
    f = exec_function("f", "def f(a):\n    é = 'ääää'; return a.nothing\n", "<umlauts>")
    with pytest.raises(ValueError) as e:
        jit(f)(1)
    line, caret = str(e.value).splitlines()[-2:]
    assert line.index("a.nothing") == caret.index("^")


def test_source_found_in_a_program_without_positions(tmp_path):
    path = tmp_path / "prog.py"
    path.write_text("from treadle import jit\nf, g = jit(lambda x: x + 1), jit(lambda x: x * 5)\nprint(f(3), g(3))\n")
    run = subprocess.run([sys.executable, "-X", "no_debug_ranges", path], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["4", "15"]


# ---- arguments ----

VALUES = [True, 3, -4, 2.5, 1 + 2j, np.int8(-3), np.uint64(2**63), np.float16(1.5), np.float32(0.1), np.complex64(2 - 1j),
          np.bool_(True)]  # fmt: skip


@pytest.mark.parametrize("x", VALUES, ids=repr)
def test_numbers_arrive(dev, x):
    out = td.zeros(4, dtype=np.asarray(x).dtype)
    store[1, 4](out, x)
    assert out.get().tolist() == [np.asarray(x).item()] * 4


def test_arrays_of_every_layout(dev, rng):
    host = rng.standard_normal((6, 8))
    a = td.asarray(host)

    @cuda.jit
    def copy(src, dst):
        i, j = cuda.grid(2)
        if i < src.shape[0] and j < src.shape[1]:
            dst[i, j] = src[i, j]

    for view in (lambda x: x, lambda x: x.T, lambda x: x[::2, ::3], lambda x: x[::-1, 1:], lambda x: x[2:2]):
        want = view(host)
        out = td.zeros(want.shape)
        copy[(3, 3), (4, 4)](view(a), out)
        np.testing.assert_array_equal(out.get(), want)
        target = td.zeros(host.shape)
        copy[(3, 3), (4, 4)](view(a), view(target))
        np.testing.assert_array_equal(view(target.get()), want)
    assert len({t[0].layout for t in copy.signatures}) == 3


def test_every_dtype_of_arrays(dev):
    for dtype in "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128".split():
        a = td.zeros(5, dtype=dtype)
        store[1, 5](a, np.dtype(dtype).type(1))
        assert a.get().tolist() == [1] * 5, dtype


def test_tuples_none_and_defaults(dev):
    @cuda.jit
    def k(out, pair, extra=None, add=10):
        a, (b, c) = pair
        if extra is None:
            out[0] = a[0] + b * c + add
        else:
            out[0] = extra

    out = td.zeros(1)
    k[1, 1](out, (td.ones(3), (2, 3.0)))
    assert out[0] == 17
    k[1, 1](out, (td.ones(3), (2, 3.0)), None, 20)
    assert out[0] == 27
    k[1, 1](out, (td.ones(3), (2, 3.0)), add=-1)
    assert out[0] == 6
    k[1, 1](out, (td.ones(3), (2, 3.0)), 4.5)
    assert out[0] == 4.5


class Color(enum.Enum):
    RED = 7


def test_enums_and_constants_as_arguments(dev):
    @cuda.jit
    def k(out, x):
        out[0] = x

    @cuda.jit
    def apply(out, f, x):
        out[0] = f(x)

    out = td.zeros(1)
    k[1, 1](out, Color.RED)
    assert out[0] == 7
    apply[1, 1](out, pair[0], 3)
    assert out[0] == 4
    apply[1, 1](out, pair[1], 3)
    assert out[0] == 5


def test_numpy_arrays_on_the_cpu_are_shared():
    with td.device("cpu"), warnings.catch_warnings():
        warnings.simplefilter("error")
        a, c = np.arange(10.0), np.zeros(20)
        add[1, 16](a, a[::-1], c[::2])
    np.testing.assert_array_equal(c[::2], [9.0] * 10)
    np.testing.assert_array_equal(c[1::2], 0)


def test_numpy_arrays_are_copied_to_a_device_and_back():
    with td.device("null"):
        a, c = np.arange(10.0), np.zeros(20)
        with pytest.warns(td.PerformanceWarning, match="add: argument 'c' is host memory: it is copied to null"):
            add[1, 16](a, td.asarray(a), c[::2])
        np.testing.assert_array_equal(c[::2], 2 * a)
        np.testing.assert_array_equal(c[1::2], 0)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            out = np.full(10, -1.0)
            add[1, 16](cuda.In(a), cuda.InOut(a), cuda.Out(out))
            np.testing.assert_array_equal(out, 2 * a)
            store[1, 5](cuda.In(out), 100)
            assert 100 not in out


def test_one_warning_a_call_site():
    with td.device("null"), warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("default")
        for _ in range(3):
            store[1, 2](np.zeros(2), 1)
    assert len(seen) == 1


def test_foreign_arrays():
    class Foreign:
        def __init__(self, a):
            self.a = a

        def __dlpack__(self, **kw):
            return self.a.__dlpack__(**kw)

        def __dlpack_device__(self):
            return self.a.__dlpack_device__()

    class OnlyInterface:
        def __init__(self, a):
            self.__array_interface__ = a.__array_interface__
            self.a = a

    a = np.zeros(4)
    with td.device("cpu"):
        store[1, 4](Foreign(a), 2)
        assert a.tolist() == [2] * 4
        store[1, 4](OnlyInterface(a), 3)
        assert a.tolist() == [3] * 4


def test_records(dev):
    t = np.dtype([("x", "f4"), ("n", "i8"), ("v", "f8", (2,))], align=True)
    a = np.zeros(3, t)
    a["n"] = [1, 2, 3]

    @cuda.jit
    def k(r, scale):
        i = cuda.grid(1)
        if i < r.shape[0]:
            r[i].x = r[i].n * scale
            r[i]["v"][1] = i

    k[1, 4](cuda.InOut(a), 0.5)
    assert a["x"].tolist() == [0.5, 1, 1.5] and a["v"][:, 1].tolist() == [0, 1, 2]

    @cuda.jit
    def one(out, r):
        out[0] = r.x + r.n

    out = td.zeros(1)
    one[1, 1](out, a[2])
    assert out[0] == 4.5


uv = np.dtype([("u", "f4"), ("v", "i4")])
nested = np.dtype([("x", "f8"), ("n", "i4"), ("s", uv), ("w", "f4", (3,))])


def use_records(a, out):
    """A record that is named is a view, here as in NumPy; assigned to an element or a field it is copied."""
    r = a[0]
    r.x = 5
    r.s.u = 9
    r.w[1] = 3
    q = a[1]
    a[2] = q
    q.n = 77
    t = a[3]
    a[3] = a[4]
    a[4] = t
    p = a[5]
    if out[2] > 0:
        p = a[6]
    p.n = 123
    z = a[7].s
    z.v = 4
    for i in range(8, 10):
        p = a[i]
        p.x = i
    a[8].s = z
    z.u = 2
    a[9]["s"] = r.s
    a[9].w = r.w
    r.w[0] = 8
    out[0] = r.x
    out[1] = a[2].n + a[8].s.u


@pytest.mark.parametrize("which", [0, 1])
def test_records_are_views_and_stored_as_copies(dev, which):
    def made():
        a = np.zeros(10, nested)
        a["n"] = a["x"] = np.arange(10)
        return a, np.array([0, 0, which], float)

    want, told = made()
    use_records(want.view(np.recarray), told)
    a, out = made()
    cuda.jit(use_records)[1, 1](cuda.InOut(a), cuda.InOut(out))
    assert np.array_equal(a, want) and np.array_equal(out, told)
    a, out = made()
    td.jit(use_records)(a, out)
    assert np.array_equal(a, want) and np.array_equal(out, told)


def test_a_record_of_another_type_is_not_stored(dev):
    @cuda.jit
    def k(a):
        a[0].s = a[0]

    with pytest.raises(TypeError, match="cannot be stored"):
        k[1, 1](cuda.InOut(np.zeros(1, nested)))


BAD = [({1: 2}, TypeError, "dict"), (object(), TypeError, "object"), (2**70, OverflowError, "argument 'x': an int beyond 64 bits"),
       (np.array(["a"]), TypeError, "argument 'x'"), (np.arange(3, dtype=">i4"), TypeError, "byte order"),
       (np.datetime64("2020-01-01"), TypeError, "argument 'x'"), (np.zeros((1,) * 9), ValueError, "9 dimensions")]  # fmt: skip


@pytest.mark.parametrize("x, error, text", BAD, ids=lambda x: repr(x)[:20])
def test_values_that_kernels_cannot_take(dev, x, error, text):
    with pytest.raises(error, match=text):
        store[1, 1](td.zeros(1), x)


def test_wrong_counts_and_keywords(dev):
    a = td.zeros(3)
    with pytest.raises(TypeError, match=r"add takes 3 arguments \(a, b, c\), not 2"):
        add[1, 1](a, a)
    with pytest.raises(TypeError, match="not 4"):
        add[1, 1](a, a, a, a)
    with pytest.raises(TypeError, match="unexpected keyword argument 'd'"):
        add[1, 1](a, a, d=a)
    with pytest.raises(TypeError, match="multiple values for argument 'b'"):
        add[1, 1](a, a, b=a)
    add[1, 3](a, c=a, b=a)


def test_kernels_are_launched_and_functions_called():
    with pytest.raises(TypeError, match=r"launch it as add\[grid, block\]"):
        add(1, 2, 3)
    with pytest.raises(TypeError, match="is no kernel"):
        with_decorators[1, 1]
    helper = cuda.jit(pair[0], device=True)
    with pytest.raises(TypeError, match="device function"):
        helper(1)


def test_arrays_of_two_devices():
    with td.device("null"):
        a = td.zeros(3)
    with td.device("cpu"):
        b = td.zeros(3)
    with pytest.raises(ValueError, match="live on null and on cpu"):
        add[1, 3](a, a, b)


# ---- what a launch does to arrays ----


def test_lazy_arguments_and_pending_readers(dev):
    a = td.arange(8.0)
    later = a * 10  # reads a as it is now
    copy = a.copy()
    view = a[2:6]
    store[1, 4](view, -1)
    assert later.get().tolist() == [10 * i for i in range(8)]
    assert copy.get().tolist() == list(range(8))
    assert a.get().tolist() == [0, 1, -1, -1, -1, -1, 6, 7]
    store[1, 8](a + 1, 5)  # a temporary
    assert a[0] == 0


def test_the_same_array_twice(dev):
    a = td.arange(4.0)
    add[1, 4](a, a, a)
    assert a.get().tolist() == [0, 2, 4, 6]


def test_arrays_that_share_their_value(dev):
    a = td.arange(4.0)
    a.get()
    b = a.copy()
    store[1, 4](b, 9)
    add[1, 4](a, b, a)
    assert a.get().tolist() == [9, 10, 11, 12] and b.get().tolist() == [9] * 4


def test_read_only_arrays():
    host = np.zeros(3)
    host.flags.writeable = False
    with td.device("cpu"):
        with pytest.raises((ValueError, TypeError), match="read-only"):
            store[1, 3](host, 1)
        with pytest.raises((ValueError, TypeError), match="read-only"):
            store[1, 3](td.broadcast_to(td.zeros(1), (3,)), 1)
        add[1, 3](host, host, td.zeros(3))


def test_streams(dev):
    s, t = td.Stream(), cuda.stream()
    a, b, c = td.arange(100.0), td.ones(100), td.zeros(100)
    for stream in (s, t, 0, None, cuda.default_stream()):
        add[1, 128, stream](a, b, c)
        if hasattr(stream, "synchronize"):
            stream.synchronize()
        np.testing.assert_array_equal(c.get(), np.arange(100.0) + 1)
        c[:] = 0
    with pytest.raises(TypeError, match="stream"):
        add[1, 1, "x"]


def test_memory_freed_after_a_launch_on_a_stream(dev):
    s = td.Stream()
    for _ in range(20):
        a = td.ones(1000)
        out = td.zeros(1000)
        add[8, 128, s](a, a, out)
        del a
        td.full(1000, 7.0).get()
        s.synchronize()
        assert out.get().tolist() == [2.0] * 1000


def test_graphs_replay_kernels():
    with td.device("null"):
        out = td.zeros(4)

        @td.graph
        def step(x):
            add[1, 4](x, out, out)
            return out + 0

        for n in range(1, 4):
            assert step(td.ones(4)).get().tolist() == [n] * 4


# ---- limits ----

LIMITS = [((1, 2000), "the block's x is 2000, .* allows 1024"), ((1, (32, 64)), "number of threads is 2048, .* allows 1024"),
          ((1, (1, 1, 65)), "the block's z is 65, .* allows 64"), (((1, 70000), 1), "the grid's y is 70000, .* allows 65535"),
          ((1, 1, 0, 1 << 20), "shared memory in bytes is 1048576, .* allows"), ((0, 1), "the grid .* not 0"),
          ((1, (4, 0)), "the block .* not 0"), ((-1, 1), "not -1"), ((1, 1, 0, -5), "not -5"),
          (((1, 1, 1, 1), 1), "1 to 3 extents, not 4"), ((1, ()), "not 0"), ((1,), "given"), ((1, 1, 0, 0, 0), "given")]  # fmt: skip


@pytest.mark.parametrize("config, text", LIMITS)
def test_launches_beyond_limits(dev, config, text):
    with pytest.raises(ValueError, match=text):
        store[config](td.zeros(1), 1)


def test_launch_bounds(dev):
    @cuda.jit(launch_bounds=64)
    def k(a):
        a[cuda.grid(1)] = 1

    a = td.zeros(128)
    k[2, 64](a)
    with pytest.raises(ValueError, match="launch bounds.* is 128, .* allows 64"):
        k[1, 128](a)


def test_configurations_of_other_types(dev):
    a = td.zeros(8)
    for config in ((np.int32(2), np.int64(4)), ([2], [4]), ((2, 1), (4, 1, 1))):
        a[:] = 0
        store[config](a, 1)
        assert a.get().tolist() == [1] * 8
    with pytest.raises(TypeError, match="grid"):
        store[1.5, 2]
    assert store[1, 2] is store[1, 2]


# ---- constants and what becomes of them ----

offset = 1
settings = type("Settings", (), {"step": 2})


@cuda.jit
def use_constants(a):
    a[0] = offset
    a[1] = settings.step


def test_changed_globals_and_attributes(dev):
    global offset
    a = td.zeros(2)
    for offset, settings.step in ((1, 2), (5, 2), (5, 8), (1, 2), (1.5, 2)):  # noqa: B007
        use_constants[1, 1](a)
        assert a.get().tolist() == [offset, settings.step]
    before = len(use_constants.overloads), td._core.jit_stats()
    use_constants[1, 1](a)
    assert len(use_constants.overloads) == before[0]


def test_many_changes_keep_few_compilations(dev):
    global offset
    a = td.zeros(2)
    for offset in range(40):  # noqa: B007
        use_constants[1, 1](a)
        assert a[0] == offset
    assert len(use_constants._specs()) < 30


def test_cells(dev):
    def make():
        k = 1

        @cuda.jit
        def f(a):
            a[0] = k

        def change(x):
            nonlocal k
            k = x

        return f, change

    f, change = make()
    a = td.zeros(1)
    for x in (1, 2, 1, 3):
        change(x)
        f[1, 1](a)
        assert a[0] == x


def helper_one(x):
    return x + 1


def helper_two(x):
    return x + 2


helper = helper_one


@cuda.jit(device=True)
def device_helper(x):
    return helper(x) * SCALE


@cuda.jit
def use_helper(a):
    a[0] = device_helper(1)


def test_functions_called_by_kernels_and_their_globals(dev):
    global helper, SCALE
    a = td.zeros(1)
    for helper, SCALE in ((helper_one, 3), (helper_two, 3), (helper_two, 4), (helper_one, 3)):  # noqa: B007
        use_helper[1, 1](a)
        assert a[0] == helper(1) * SCALE


table = np.arange(5.0)


def test_arrays_from_outside(dev):
    own = td.arange(5.0) * 3

    @cuda.jit
    def k(a):
        i = cuda.grid(1)
        a[i] = table[i] + own[i]

    a = td.zeros(5)
    k[1, 5](a)
    assert a.get().tolist() == [4 * i for i in range(5)]


def test_dispatchers_let_go_of_what_they_use():
    class Token:
        n = 3

    def make():
        t = Token()

        @cuda.jit
        def k(a):
            a[0] = t.n

        with td.device("cpu"):
            k[1, 1](td.zeros(1))
        return weakref.ref(t), weakref.ref(k), weakref.ref(k.py_func.__code__)

    refs = make()
    gc.collect()
    assert refs[0]() is None and refs[1]() is None


# ---- reports ----


def test_exceptions_of_kernels(dev):
    class Mine(ArithmeticError):
        pass

    @cuda.jit
    def k(a, n):
        i = cuda.grid(1)
        if i == n:
            raise Mine("too far")
        a[i] = 1

    a = td.zeros(8)
    with pytest.raises(Mine, match=r"too far \[kernel k, block \(1, 0, 0\), thread \(2, 0, 0\), .*test_kernels_launch.py:\d+\]"):
        k[2, 4](a, 6)
        td.synchronize()
    assert a.get().tolist() == [1] * 6 + [0, 1]
    td.synchronize()  # it has been told
    k[2, 4](a, 9)
    td.synchronize()


def test_assertions_and_waits_by_copies(dev):
    @cuda.jit
    def k(a, n):
        assert n > 0, "n must be positive"
        a[cuda.grid(1)] = n

    a = td.zeros(2)
    for wait in (a.get, lambda: float(a[0]), td.synchronize):
        with pytest.raises(AssertionError, match="n must be positive"):
            k[1, 2](a, -1)
            wait()
    k[1, 2](a, 1)
    assert a.get().tolist() == [1, 1]


def test_index_errors_in_debug_kernels(dev):
    @cuda.jit(debug=True)
    def k(a, i):
        a[1, i] = 5

    with pytest.raises(IndexError, match=r"index 7 is out of bounds for axis 1 of 'a' with shape \(2, 3\)"):
        k[1, 1](td.zeros((2, 3)), 7)
        td.synchronize()


def test_prints(dev, capsys):
    @cuda.jit
    def k(a, x):
        i = cuda.grid(1)
        print("row", i, a[i], x, None, True)

    a = td.asarray(np.array([0.1, 1e20], dtype="f4"))
    k[1, 2](a, 1 - 2j)
    td.synchronize()
    assert sorted(capsys.readouterr().out.splitlines()) == ["row 0 0.1 (1-2j) None True", "row 1 1e+20 (1-2j) None True"]
    for _ in range(3):
        k[1, 2](a, 2.5)
        td.synchronize()
    assert len(capsys.readouterr().out.splitlines()) == 6


def test_failures_met_by_streams_and_events(dev):
    @cuda.jit
    def k(a, n):
        if n < 0:
            raise ValueError("negative")
        a[0] = n

    s, e, a = td.Stream(), td.Event(), td.zeros(1)
    for wait in (s.synchronize, e.synchronize):
        with pytest.raises(ValueError, match="negative"):
            k[1, 1, s](a, -1)
            e.record(s)
            wait()
    k[1, 1, s](a, 4)
    s.synchronize()
    assert a[0] == 4


def test_kernels_that_go_before_they_have_told(dev):
    def once(n):
        @cuda.jit
        def k(a):
            assert a[0] == 0, "not zero"
            a[0] = n
            print("told", n)

        k[1, 1](td.zeros(1))

    for n in range(5):
        once(n)
        gc.collect()
    td.synchronize()


def test_prints_beyond_the_buffer(dev, capsys):
    @cuda.jit
    def k(n):
        for i in range(n):
            print(i)

    k[1, 1](100_000)
    td.synchronize()
    lines = capsys.readouterr().out.split()
    assert lines == [str(i) for i in range(len(lines))] and len(lines) > 50_000
    k[1, 1](3)
    td.synchronize()
    assert capsys.readouterr().out.split() == ["0", "1", "2"]


# ---- functions ----


def test_results_of_functions():
    @jit
    def f(x, y):
        return x, (y * 2, None), x > 1

    assert f(1, 2.5) == (1, (5.0, None), False)
    g = jit(pair[0])
    assert type(g(1)) is int and type(g(1.0)) is float and g(1j) == 1 + 1j and g(np.float32(0.5)) == 1.5
    assert jit(lambda x: None)(1) is None


def test_functions_run_where_their_arrays_are(dev):
    @jit
    def axpy(a, x, y):
        for i in range(y.shape[0]):
            y[i] += a * x[i]

    @jit
    def both(x, y):
        for i in range(x.shape[0]):
            y[i] = x[i] * 2
        return x[0], y.shape[0]

    x, y = td.arange(1000.0), td.ones(1000)
    axpy(3, x, y)
    np.testing.assert_array_equal(y.get(), 3 * np.arange(1000.0) + 1)
    assert both(x, y) == (0.0, 1000)
    assert float(y[999]) == 1998
    assert axpy._specs()[0]["device"] == dev


def test_loops_over_arrays_that_overlap():
    """Turn i reads what turn i - 1 wrote only when the caller gives views that overlap."""

    @jit
    def shift(src, dst):
        for i in range(src.shape[0]):
            dst[i] = src[i] + 1

    for make in (np.zeros, td.zeros):
        with td.device("cpu"):
            a, b = make(10_001), make(10_000)
            shift(a[:-1], b)
            assert float(b.max()) == 1
            shift(a[:-1], a[1:])
            assert [float(a[i]) for i in (0, 1, 5000, 10_000)] == [0, 1, 5000, 10_000]
    assert len(shift._specs()) == 2  # one of them for arrays that overlap
    notes = [note.partition(">: line ")[2].partition(": ")[2] for note in shift.explain().splitlines()]
    assert sorted(notes) == ["the loop runs in order: its arrays overlap, or parallel=False asks so",
                             "the loop runs in parallel"]  # fmt: skip


def test_exceptions_of_functions():
    @jit
    def f(a, i):
        if i < 0:
            raise KeyError("negative")
        return 1 / i

    assert f(0.0, 4) == 0.25
    with pytest.raises(KeyError) as e:
        f(0.0, -1)
    assert e.value.args == ("negative",) and "in f," in e.value.__notes__[0]
    with pytest.raises(ZeroDivisionError, match="division by zero"):
        f(0.0, 0)
    assert np.isinf(jit(error_model="numpy")(lambda x: 1.0 / x)(0.0))


def test_functions_give_the_gil_up():
    @jit(nogil=True)
    def spin(a, at, limit):
        n = 0
        while a[0] == 0 and n < limit:
            n += 1
            a[at] = n  # perhaps a[0]: memory is looked at in every turn
        return n

    a = np.zeros(2, dtype=np.int64)
    limit = 1 << 33
    assert spin(a, 1, 5) == a[1] == 5  # compiled
    seen = []
    t = threading.Thread(target=lambda: seen.append(spin(a, 1, limit)))
    a[1] = 0
    t.start()
    while a[1] == 0:  # it has not begun
        time.sleep(0.001)
    a[0] = 1
    t.join()
    assert 0 < seen[0] < limit


# ---- signatures and attributes ----


def test_signatures():
    @cuda.jit("void(float32[::1], float32)")
    def k(a, x):
        a[cuda.grid(1)] = x

    with td.device("cpu"):
        a = td.zeros(3, dtype="f4")
        for x in (2, 2.5, np.float64(1.5), np.int8(3), True):
            k[1, 3](a, x)
            assert a[2] == x
        assert len(k.signatures) == 1
        with pytest.raises(TypeError, match="none of its 1 signatures takes"):
            k[1, 3](td.zeros(3), 1)
    f = jit(["int64(int64)", "float64(float64)"])(pair[0])
    assert f(2) == 3 and type(f(2)) is int and f(2.5) == 3.5 and len(f.signatures) == 2


def test_what_dispatchers_tell(dev):
    k = cuda.jit(add.py_func)
    a = td.zeros(3)
    k[1, 3](a, a, a)
    assert k.py_func is add.py_func and k.__name__ == "add" and k.__wrapped__ is k.py_func
    (args,) = k.signatures
    assert [t.layout for t in args] == ["C"] * 3 and k.overloads[args].device == dev
    assert ".visible .entry" in k.inspect_asm(args) and "define" in k.inspect_llvm()[args]
    assert k.get_shared_mem_per_block(args) == 0 and k.get_max_threads_per_block(args) >= 64
    assert k.get_regs_per_thread(args) >= 0 and k.max_cooperative_grid_blocks(32, signature=args) >= 1
    one = k.specialize(a, a, a)
    one[1, 3](a, a, a)
    with pytest.raises(TypeError, match="none of its"):
        one[1, 3](a, a, 3)
    k.forall(3)(a, a, a)
    k.forall(0)(a, a, a)
    assert pickle.loads(pickle.dumps(add)) is add


def test_inspect_types(capsys):
    with td.device("cpu"):
        k = cuda.jit(add.py_func)
        k[1, 1](td.zeros(1), td.zeros(1), td.zeros(1))
    k.inspect_types()
    assert "c[i] = a[i] + b[i]" in capsys.readouterr().out


def test_compile_without_a_device():
    ptx, result = cuda.compile_ptx(add.py_func, "void(float32[::1], float32[::1], float32[::1])", cc=(9, 0))
    assert ".target sm_90" in ptx and "add.rn.f32" in ptx and result == cuda.void
    ptx, result = cuda.compile(pair[0], "float64(float64)")
    assert result == cuda.float64
    with pytest.raises(NotImplementedError, match="write the function in Python"):
        cuda.declare_device("f", "int32(int32)")
    with pytest.raises(NotImplementedError, match="link="):
        cuda.jit(link=["x.cu"])
    with pytest.raises(TypeError, match="nonsense is not an option"):
        cuda.jit(nonsense=1)


def test_errors_leave_the_dispatcher_usable(dev):
    @cuda.jit
    def k(a, x):
        a[0] = x.nothing if x is not None else 1

    a = td.zeros(1)
    for _ in range(2):
        with pytest.raises(ValueError, match="int has no attribute nothing"):
            k[1, 1](a, 3)
    k[1, 1](a, None)
    assert a[0] == 1


def test_launches_from_threads(dev):
    a = [td.zeros(64) for _ in range(4)]

    def work(x, n):
        for _ in range(20):
            store[1, 64](x, n)

    threads = [threading.Thread(target=work, args=(x, n)) for n, x in enumerate(a)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert [x.get().tolist() for x in a] == [[n] * 64 for n in range(4)]


def test_kernels_of_a_fresh_process_need_no_numpy_array(tmp_path):
    path = tmp_path / "prog.py"
    path.write_text(
        textwrap.dedent("""
        import treadle as td
        from treadle import cuda

        @cuda.jit
        def k(a):
            i = cuda.grid(1)
            if i < a.size:
                a[i] = i

        a = td.zeros(100)
        k.forall(a.size)(a)
        print(float(a.sum()))
        """)
    )
    run = subprocess.run([sys.executable, path], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "4950.0"
