"""From a Python function to a kernel: limits, constants, reports, functions, signatures."""

import gc
import operator
import pickle
import subprocess
import sys
import textwrap
import threading
import time
import weakref

import numpy as np
import pytest
from conftest import DEVICES
from small_kernels import add, store

import treadle as td
from treadle import cuda, jit

SCALE = 3
pair = (lambda x: x + 1, lambda x: x + 2)


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
    with pytest.raises(Mine, match=r"too far \[kernel k, block \(1, 0, 0\), thread \(2, 0, 0\), .*test_kernels_compile.py:\d+\]"):
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
    """Iteration i reads what iteration i - 1 wrote only when the caller gives views that overlap."""

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


DIVISIONS = [lambda x, y: x / y, lambda x, y: x // y, lambda x, y: x % y, lambda x, y: divmod(x, y)[0],
             lambda x, y: operator.truediv(x, y), lambda x, y: y**-1 + y**int(-x)]  # fmt: skip
ZEROS = [(1, 0), (1.0, 0.0), (1, 0.0), (np.float32(1), np.float32(0)), (np.int8(3), np.int8(0)), (1j, 0j)]


@pytest.mark.parametrize("divide", DIVISIONS)
@pytest.mark.parametrize("x, y", ZEROS)
def test_dividing_by_zero_raises_as_in_python(divide, x, y):
    if isinstance(x, complex) and divide not in (DIVISIONS[0], DIVISIONS[4]):
        return
    with pytest.raises(ZeroDivisionError):
        jit(divide)(x, y)
    plain = jit(error_model="numpy")(divide)(x, y)
    assert plain == 0 or not np.isfinite(plain)


@pytest.mark.parametrize("divide", [*DIVISIONS[:5], np.divide, np.floor_divide, np.remainder])
@pytest.mark.parametrize("dtype", [np.int64, np.float64, np.float32, np.uint8])
def test_whole_arrays_divide_by_zero_as_in_numpy(divide, dtype):
    a, zero = np.arange(3).astype(dtype), np.array([0, 1, 0], dtype)
    compiled = jit(lambda a, b: divide(a, b)) if isinstance(divide, np.ufunc) else jit(divide)
    with np.errstate(all="ignore"):
        for other in (zero, dtype(0), 0):
            want = divide(a, other)
            got = compiled(a, other)
            assert got.dtype == want.dtype
            np.testing.assert_array_equal(got, want)


def test_numpys_functions_of_numbers_divide_by_zero():
    @jit
    def f(x, y):
        return np.divide(x, y), np.floor_divide(x, y), np.divmod(x, y)[1], np.power(y, -x), np.round(x, -400)

    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(f(1.0, 0.0), (np.inf, np.inf, np.nan, np.inf, np.nan))


@pytest.mark.parametrize("x", [1, 2.5, np.float32(3), np.int16(7), 1j])
@pytest.mark.parametrize("how", ["/", "//", "%", "/=", "**"])
def test_debug_kernels_raise_for_division_by_zero(x, how, dev):
    if how in ("//", "%", "**") and isinstance(x, complex):
        return

    def true(r, a, y):
        r[0] = a[0] / y

    def floor(r, a, y):
        r[0] = a[0] // y

    def mod(r, a, y):
        r[0] = a[0] % y

    def inplace(r, a, y):
        r[0] = a[0]
        r[0] /= y

    def power(r, a, y):
        r[0] = y ** int(-a[0])

    f = {"/": true, "//": floor, "%": mod, "/=": inplace, "**": power}[how]
    a, y = np.array([x]), np.array([x]).dtype.type(0)
    r = np.full(1, 5, a.dtype if how != "/=" or a.dtype.kind != "i" else np.float64)
    with pytest.raises(ZeroDivisionError, match=r"division by zero \[kernel"):
        cuda.jit(debug=True)(f)[1, 1](r, a, y)
        cuda.synchronize()
    cuda.jit(f)[1, 1](r, a, y)
    cuda.jit(boundscheck=True)(f)[1, 1](r, a, y)
    cuda.jit(debug=True)(f)[1, 1](r, a, a[0])
    cuda.synchronize()


def test_functions_give_the_gil_up():
    @jit(nogil=True)
    def spin(a, at, limit):
        n = 0
        while a[0] == 0 and n < limit:
            n += 1
            a[at] = n  # perhaps a[0]: memory is looked at in every iteration
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


# ---- declared device functions ----


def half_of(a, b):
    return a / 2 + b


SIGNATURES = ["int32(int32, int32)", "float32(float32, float64)", "(int32, int32)", "float64(int8, uint8)", "int64(float64, int64)",
              ["int32(int32, int32)"]]  # fmt: skip


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("signature", SIGNATURES, ids=str)
def test_declared_device_functions_cast(signature, device):
    """Arguments and result become what the signature says, as by NumPy's astype."""
    text = signature[0] if isinstance(signature, list) else signature
    result, takes = text.rstrip(")").split("(")
    takes = [np.dtype(t.strip()) for t in takes.split(",")]
    half = cuda.jit(signature, device=True)(half_of)

    @cuda.jit
    def kernel(a, b, out):
        i = cuda.grid(1)
        if i < a.shape[0]:
            out[i] = half(a[i], b=b[i])

    a, b = np.array([1.75, 2.5, 100.9, 7.0]), np.array([0.6, 1.0, 2.9, 3.0])
    want = half_of(*(x.astype(t) for x, t in zip((a, b), takes, strict=True)))
    want = want.astype(result) if result else want
    with td.device(device):
        out = td.zeros(4)
        kernel[1, 4](td.asarray(a), td.asarray(b), out)
    np.testing.assert_allclose(out.get(), want, rtol=1e-6)


def test_declared_device_functions_refuse():
    half = cuda.jit("int32(int32, int32)", device=True)(half_of)

    @cuda.jit
    def kernel(out):
        out[0] = half(1j, 2)

    with pytest.raises(TypeError, match="a is declared as int32"):
        kernel[1, 1](td.zeros(1))
    with pytest.raises(TypeError, match="half_of: it takes 2 arguments, and 1 are declared"):
        cuda.jit("int32(int32)", device=True)(half_of)
