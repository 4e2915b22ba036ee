"""From a Python function to a launch: where its source comes from, its arguments, what happens to arrays."""

import enum
import linecache
import subprocess
import sys
import warnings

import numpy as np
import pytest
from small_kernels import add, store

import treadle as td
from treadle import cuda, jit

# ---- where source comes from ----

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
        out[0] = x.value

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
