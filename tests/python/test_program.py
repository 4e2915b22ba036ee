"""CUDA C++ text: compiled for each device, its kernels' signatures, arguments, limits, variables, printing."""

import gc
import os
import shutil
import subprocess
import sys

import numpy as np
import pytest

import treadle as td
from treadle import _core

pytestmark = pytest.mark.skipif(
    not any(map(shutil.which, ("clang++", "g++", "c++"))) and "TREADLE_CXX" not in os.environ, reason="no C++ compiler on PATH"
)

TEXT = """
struct pair { int a; float b; };
__constant__ float weights[4];
namespace ns { __device__ int counter; __global__ void count(int n) { atomicAdd(&counter, n); } }
extern "C" __global__ void axpy(float *y, const float *x, int n, float s)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] += s * x[i];
}
__global__ void weigh(float *y) { y[threadIdx.x] *= weights[threadIdx.x % 4]; }
__global__ void reverse(float *a)
{
    __shared__ float t[64];
    t[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    a[threadIdx.x] = t[blockDim.x - 1 - threadIdx.x];
}
__global__ void turn(int *a)
{
    extern __shared__ int s[];
    s[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    a[threadIdx.x] = s[(threadIdx.x + 1) % blockDim.x];
}
__global__ void numbers(double *out, bool b, signed char c, unsigned short h, int i, unsigned u, long long l, float f, double d,
                        pair p, void *q)
{
    const double all[] = {(double)b, (double)c, (double)h, (double)i, (double)u, (double)l, f, d, (double)p.a, p.b, (double)(q != 0)};
    for (int k = 0; k < 11; k++)
        out[k] = all[k];
}
template <class T, int N> __global__ void scale(T *a, T s) { a[threadIdx.x] = a[threadIdx.x] * s * N; }
__global__ void where(int *out) { out[(blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x] = blockIdx.x + 10 * blockIdx.y + 100 * blockIdx.z; }
"""


@pytest.fixture
def program(dev):
    return _core.program(TEXT, device=dev, names=["scale<float, 3>"])


def test_kernels_and_signatures(program, dev):
    assert program.kernels == ("ns::count", "axpy", "weigh", "reverse", "turn", "numbers", "scale", "where")
    assert str(program.device) == dev and len(program.image) > 1000
    assert repr(program.kernel("axpy")) == "<kernel axpy(float *y, const float *x, int n, float s)>"
    assert [(name, kind, size) for _type, name, kind, size in program.kernel("axpy").params] == [
        ("y", "p", 8), ("x", "p", 8), ("n", "i", 4), ("s", "f", 4)]  # fmt: skip
    assert [row[2:] for row in program.kernel("scale<float, 3>").params] == [("p", 8), ("f", 4)]
    with pytest.raises(ValueError, match=r'no kernel "nope" in kernel.cu; it has ns::count, axpy, .*scale<'):
        program.kernel("nope")


def test_launches(program):
    x = td.arange(1000, dtype="float32")
    y = td.ones(1000, "float32")
    assert program.kernel("axpy")((4,), (256,), (y, x, 1000, 2)) is None
    np.testing.assert_array_equal(y.get(), 1 + 2 * np.arange(1000, dtype="float32"))
    assert float(y.sum()) == 1000 + 999 * 1000  # what is recorded later sees what was written
    z = y * 2
    program.kernel("axpy")(4, 256, [z, z, np.int32(1000), np.float32(1)])
    assert float(z[1]) == 12 and float(y[1]) == 3
    out = td.zeros(24, "int32")
    program.kernel("where")((2, 3, 4), (1,), (out,))
    np.testing.assert_array_equal(out.get().reshape(4, 3, 2), np.add.outer(100 * np.arange(4), np.add.outer(10 * np.arange(3), np.arange(2))))


def test_shared_memory(program):
    a = td.arange(64, dtype="float32")
    program.kernel("reverse")(1, 64, (a,))
    np.testing.assert_array_equal(a.get(), np.arange(64)[::-1])
    b = td.arange(50, dtype="int32")
    program.kernel("turn")(1, 50, (b,), shared=200)
    np.testing.assert_array_equal(b.get(), np.roll(np.arange(50), -1))


def test_variables(program, dev):
    at, nbytes = program.variable("weights")
    assert at and nbytes == 16
    assert program.variable("ns::counter")[1] == 4
    with pytest.raises(ValueError, match="nope"):
        program.variable("nope")
    if dev == "cpu":
        program.kernel("ns::count")(3, 5, (7,))
        assert np.ctypeslib.as_array((np.ctypeslib.ctypes.c_int * 1).from_address(program.variable("ns::counter")[0]))[0] == 105


NUMBERS = [True, -3, 65535, -(2**31), 2**32 - 1, -(2**63), 0.5, 0.1]


@pytest.mark.parametrize("numpys", [False, True])
def test_every_kind_of_number(program, numpys):
    pair = np.zeros((), np.dtype([("a", "i4"), ("b", "f4")], align=True))
    pair["a"], pair["b"] = 9, 1.25
    kinds = [np.bool_, np.int8, np.uint16, np.int32, np.uint32, np.int64, np.float32, np.float64]
    values = [kind(v) for kind, v in zip(kinds, NUMBERS)] if numpys else NUMBERS
    out = td.zeros(11, "float64")
    for structure in (pair, pair[()], pair.tobytes()):
        program.kernel("numbers")(1, 1, (out, *values, structure, None))
        np.testing.assert_array_equal(out.get(), [*map(float, NUMBERS), 9, 1.25, 0])
    program.kernel("numbers")(1, 1, (out, *values, pair, out))
    assert float(out[10]) == 1


@pytest.mark.parametrize(
    "place, value, error, text",
    [
        (2, np.int64(3), TypeError, r"argument 2 \('n', int\): a scalar of int64: write numpy.int32\(x\)"),
        (2, np.float32(3), TypeError, "a scalar of float32"),
        (2, 3.0, TypeError, "an integer is wanted"),
        (2, 2**31, OverflowError, "2147483648 does not fit its 4 bytes"),
        (2, -(2**80), OverflowError, "does not fit"),
        (2, np.uint32(2**32 - 1), OverflowError, "sign"),
        (2, None, TypeError, "a number is wanted"),
        (2, "3", TypeError, "a number is wanted"),
        (3, np.float64(1), TypeError, r"write numpy.float32\(x\)"),
        (3, 1j, TypeError, "complex"),
        (0, np.zeros(3, "f4"), TypeError, "host memory: copy it to the device"),
        (0, object(), TypeError, "a pointer takes an array of the device"),
        (0, 1.5, TypeError, "a pointer takes"),
    ],
)
def test_wrong_arguments(program, place, value, error, text):
    y = td.ones(8, "float32")
    args = [y, td.ones(8, "float32"), 8, 1.0]
    args[place] = value
    with pytest.raises(error, match=text):
        program.kernel("axpy")(1, 8, tuple(args))
    np.testing.assert_array_equal(y.get(), np.ones(8))


def test_wrong_arrays(program, dev):
    axpy, y = program.kernel("axpy"), td.ones(8, "float32")
    for dtype in ("float64", "int32", "float16"):
        with pytest.raises(TypeError, match=rf"an array of {dtype}: convert it with astype, or reinterpret"):
            axpy(1, 8, (y, td.ones(8, dtype), 8, 1))
    axpy(1, 8, (y, td.ones(8, "int32").view("float32"), 8, 1))
    axpy(1, 4, (y, td.ones(4, "complex64"), 8, 1))  # pairs of floats
    frozen = td.broadcast_to(td.ones(1, "float32"), (8,))
    axpy(1, 8, (y, frozen, 1, 1))
    with pytest.raises(ValueError, match="read-only"):
        axpy(1, 8, (frozen, y, 8, 1))
    other = "null" if dev == "cpu" else "cpu"
    with pytest.raises(ValueError, match=f"its memory lies on {other}, the kernel on {dev}"):
        axpy(1, 8, (y, td.ones(8, "float32", device=other), 8, 1))


@pytest.mark.parametrize("n", [0, 3, 5])
def test_wrong_counts(program, n):
    with pytest.raises(TypeError, match=rf"axpy\(float \*y, const float \*x, int n, float s\) takes 4 arguments: {n} given"):
        program.kernel("axpy")(1, 1, (1,) * n)


@pytest.mark.parametrize(
    "grid, block, text",
    [
        (1, 1025, "block's x is 1025, .* 1024"),
        (1, (1, 1, 65), "block's z is 65, .* 64"),
        (1, (32, 33), "number of threads is 1056, .* 1024"),
        ((1, 65536), 1, "grid's y is 65536, .* 65535"),
        (0, 1, "positive"),
        (1, (), "a number or a tuple of up to three"),
        ((1, 1, 1, 1), 1, "a number or a tuple of up to three"),
        (1.5, 1, "a number or a tuple"),
    ],
)
def test_wrong_extents(program, grid, block, text):
    with pytest.raises((ValueError, TypeError), match=text):
        program.kernel("weigh")(grid, block, (td.ones(4, "float32"),))


def test_wrong_calls(program):
    weigh = program.kernel("weigh")
    with pytest.raises(TypeError, match="a launch is kernel"):
        weigh(1)
    with pytest.raises(TypeError, match="no keyword 'blocks'"):
        weigh(1, 1, (None,), blocks=3)
    with pytest.raises(ValueError, match="number of bytes"):
        weigh(1, 1, (None,), shared=-1)
    with pytest.raises(TypeError):
        type(weigh)()
    for call in (lambda: _core.program(3), lambda: _core.program(TEXT, options="-DX"), lambda: program.kernel(None)):
        with pytest.raises(TypeError):
            call()


def test_packed_and_prepared(program):
    axpy, y, x = program.kernel("axpy"), td.ones(8, "float32"), td.ones(8, "float32")
    packed = np.zeros((), np.dtype([("y", "u8"), ("x", "u8"), ("n", "i4"), ("s", "f4")], align=True))
    packed["y"], packed["x"], packed["n"], packed["s"] = y._address(), x._address(), 8, 2
    axpy.packed(1, 8, packed)
    assert float(y[7]) == 3
    with pytest.raises(TypeError, match="3 bytes of packed arguments for 24"):
        axpy.packed(1, 8, b"abc")
    call = axpy.prepare("PPif")
    call(1, 8, y, x, 8, 1.0, shared_size=0)
    call((1, 1), (8, 1, 1), y._address(), x, np.int32(8), np.float32(1))
    assert float(y[7]) == 5
    with pytest.raises(TypeError, match="int64"):
        call(1, 8, y, x, np.int64(8), 1.0)
    for wrong in ("PPi", "PPff", "PPid", "PPifP"):
        with pytest.raises(TypeError, match="the format does not fit axpy"):
            axpy.prepare(wrong)
    with pytest.raises(ValueError, match="format 'z'"):
        axpy.prepare("zPif")


def test_instances(dev):
    program = _core.program("template <class T, int N> __global__ void scale(T *a, T s) { a[threadIdx.x] *= s * N; }", device=dev)
    a = td.arange(4, dtype="float64")
    program.kernel("scale<double, 2>")(1, 4, (a, 0.5))
    program.kernel("scale< double,2 >")(1, 4, (a, 3))
    np.testing.assert_array_equal(a.get(), 6 * np.arange(4))
    with pytest.raises(TypeError, match="float64"):
        program.kernel("scale<int, 2>")(1, 4, (a, 3))
    with pytest.raises(ValueError, match="no kernel"):
        program.kernel("scale")
    with pytest.raises(td.CompileError):
        program.kernel("scale<nothing, 2>")


def test_instances_beside_variables(dev):
    text = "__device__ int total; template <int N> __global__ void add() { total += N; } __global__ void read(int *o) { *o = total; }"
    program = _core.program(text, device=dev)
    program.kernel("add<3>")(1, 1)
    out = td.zeros(1, "int32")
    program.kernel("read")(1, 1, (out,))
    assert int(out[0]) == 3  # the same variable
    with pytest.raises(ValueError, match="has variables .total."):
        program.kernel("add<4>")


def test_loaded_images(program, dev):
    again = _core.load_program(program.image, device=dev)
    a = td.arange(64, dtype="float32")
    if dev in ("cpu", "null"):  # a GPU's symbol is mangled
        again.kernel("reverse")(1, 64, (a,))
        np.testing.assert_array_equal(a.get(), np.arange(64)[::-1])
    assert again.kernels == () and again.log == ""
    with pytest.raises(ValueError, match='no kernel "nope" in the module'):
        again.kernel("nope")
    with pytest.raises((td.DeviceError, ValueError)):
        _core.load_program(b"nothing that could be loaded", device=dev)


def test_compile_errors(dev):
    with pytest.raises(td.CompileError, match=r"mine.cu[:(]3.*\bmissing\b"):
        _core.program("\n\n__global__ void k() { missing(); }", device=dev, file="mine.cu")
    with pytest.raises(td.CompileError, match="comment|string|bracket|brace|ends"):
        _core.program("__global__ void k() { /* ", device=dev)
    with pytest.raises(td.CompileError):
        _core.program('#include "not_there.h"', device=dev)


def test_options_and_includes(dev, tmp_path):
    (tmp_path / "mine.h").write_text("#define FACTOR 3\n")
    text = '#include "mine.h"\n__global__ void k(int *o) { *o = FACTOR * N; }'
    out = td.zeros(1, "int32")

    def run(n):
        _core.program(text, device=dev, options=[f"-DN={n}", "-I", str(tmp_path), "-std=c++14", "-use_fast_math"]).kernel("k")(1, 1, (out,))
        return int(out[0])

    assert run(5) == 15 and run(7) == 21
    (tmp_path / "mine.h").write_text("#define FACTOR 4\n")
    assert run(5) == 20  # what is kept on disk knows the file


def test_keep(dev, tmp_path):
    folder = tmp_path / "kept"
    _core.program("__global__ void k() { }", device=dev, keep=str(folder))
    assert any(f.name.startswith("kernel.") for f in folder.iterdir())


def test_printing(dev, capfd):
    program = _core.program('__global__ void k(int x) { printf("%d of %d\\n", threadIdx.x, x); }', device=dev)
    program.kernel("k")(1, 3, (7,))
    _core.device(dev).synchronize()
    assert capfd.readouterr().out == "0 of 7\n1 of 7\n2 of 7\n"


def test_graphs(program, dev):
    axpy = program.kernel("axpy")

    @td.graph
    def f(x):
        y = x * 2
        axpy(1, 16, (y, x, 10, 0.5))
        return y + 1

    for v in (1, 2, 3):
        np.testing.assert_array_equal(f(td.full(10, v, "float32")).get(), np.full(10, 2.5 * v + 1, "float32"))
    axpy = None
    gc.collect()
    np.testing.assert_array_equal(f(td.full(10, 4, "float32")).get(), np.full(10, 11, "float32"))


def test_a_kernel_keeps_its_program(dev):
    k = _core.program("__global__ void k(int *o) { *o = 5; }", device=dev).kernel("k")
    gc.collect()
    out = td.zeros(1, "int32")
    k(1, 1, (out,))
    assert int(out[0]) == 5


def test_modules_go(dev):
    """Programs from the cache, made and dropped: descriptors and mappings stay as they were."""
    text = "__global__ void k(int *o) { *o = 5; }"
    _core.program(text, device=dev).kernel("k")

    def held():
        with open("/proc/self/maps") as maps:
            return len(os.listdir("/proc/self/fd")), sum(1 for _ in maps)

    for _ in range(20):
        _core.program(text, device=dev).kernel("k")
    before = held()
    for _ in range(300):
        _core.program(text, device=dev).kernel("k")
    after = held()
    assert after[0] <= before[0] and after[1] <= before[1] + 4


def test_processes_share_what_was_compiled(tmp_path):
    code = (
        "import treadle as td\nfrom treadle import _core\n"
        "p = _core.program('__global__ void k(int *o) { *o = 5; }', device='cpu')\n"
        "o = td.zeros(1, 'int32', device='cpu'); p.kernel('k')(1, 1, (o,)); assert int(o[0]) == 5\n"
    )
    env = {**os.environ, "TREADLE_CACHE_DIR": str(tmp_path)}
    subprocess.run([sys.executable, "-c", code], env=env, check=True)
    assert [f.suffix for f in tmp_path.iterdir() if f.suffix == ".cu"]
    subprocess.run([sys.executable, "-c", code], env={**env, "TMPDIR": str(tmp_path / "none")}, check=True)


def test_no_compiler(tmp_path):
    code = (
        "import treadle as td\nfrom treadle import _core\n"
        "try: _core.program('__global__ void k() {}', device='cpu')\n"
        "except td.MissingLibraryError as e: assert 'clang++' in str(e)\n"
        "else: raise SystemExit('it compiled')\n"
    )
    env = {**os.environ, "PATH": str(tmp_path), "TREADLE_CACHE_DIR": str(tmp_path)}
    env.pop("TREADLE_CXX", None)
    subprocess.run([sys.executable, "-c", code], env=env, check=True)
    env["TREADLE_CXX"] = "/nowhere/cc"
    subprocess.run([sys.executable, "-c", code.replace("'clang++'", "'TREADLE_CXX'")], env=env, check=True)


def test_a_forked_child_launches(program, dev):
    if dev.startswith("cuda") or dev == "null":
        pytest.skip("a driver does not survive a fork")
    axpy, y = program.kernel("axpy"), td.ones(8, "float32")
    y.get()
    pid = os.fork()
    if not pid:
        try:
            axpy(8, 8, (y, y, 8, 1))
            os._exit(0 if float(y[0]) == 2 else 1)
        finally:
            os._exit(2)
    assert os.waitpid(pid, 0)[1] == 0


def test_a_failing_kernel_is_an_error():
    program = _core.program("__global__ void k(int *o) { if (threadIdx.x == 1) __trap(); *o = 1; }", device="cpu")
    out = td.zeros(1, "int32", device="cpu")
    with pytest.raises(td.DeviceError, match=r"launch of k: grid \(1, 1, 1\), block \(2, 1, 1\), 0 bytes of shared memory: .*trap"):
        program.kernel("k")(1, 2, (out,))
    program.kernel("k")(1, 1, (out,))
    assert int(out[0]) == 1  # nothing is broken


def nvrtc():
    try:
        _core.program("__global__ void k() {}", device=False, arch="sm_90")
    except td.MissingLibraryError as error:
        return str(error)
    return ""


def test_compiled_for_a_gpu_without_one():
    reason = nvrtc()
    if reason:
        pytest.skip(reason)
    text = '#include <stdint.h>\nextern "C" __global__ void f(int32_t *o) { *o = 1; }\nnamespace n { template <class T> __global__ void g(T *o) { *o = 1; } }'
    program = _core.program(text, device=False, arch="sm_90", names=["n::g<float>"], options=["-DX=1", "--ptxas-options=-v", "-O3"])
    assert program.image[:4] == b"\x7fELF" and b"_ZN1n1gIfEEvPT_" in program.image and program.device is None
    assert b".entry f(" in _core.program(text, device=False, arch="compute_90").image
    assert b".entry f(" in _core.program(text, device=False, arch="sm_999").image  # too new for any compiler: PTX
    with pytest.raises(td.CompileError, match=r"kernel.cu\(2\): error: .*missing"):
        _core.program("\n__global__ void k() { missing(); }", device=False, arch="sm_90")
    with pytest.raises(ValueError, match="for no device"):
        program.kernel("f")


def test_debug_mode_checks_pointers():
    program = None
    with td.device("cpu"), td.debug():
        program = _core.program("__global__ void k(float *a, int at) { a[at] = 1; }")
        a = td.zeros(10, "float32")
        program.kernel("k")(1, 1, (a, 9))
        for at in (10, -1):
            with pytest.raises(IndexError, match=rf"index {at} is out of bounds for axis 0 of 'a' with shape \(10,\)"):
                program.kernel("k")(1, 1, (a, at))
        np.testing.assert_array_equal(a.get(), [0] * 9 + [1])


def test_cooperative_launches(dev):
    text = """#include <cooperative_groups.h>
    __global__ void k(int *a, int *b) {
        int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
        a[i] = i;
        cooperative_groups::this_grid().sync();
        b[i] = a[(i + 33) % n];
    }"""
    kernel = _core.program(text, device=dev).kernel("k")
    a, b = td.zeros(256, "int32"), td.zeros(256, "int32")
    kernel(4, 64, (a, b), cooperative=True)
    np.testing.assert_array_equal(b.get(), (np.arange(256) + 33) % 256)
