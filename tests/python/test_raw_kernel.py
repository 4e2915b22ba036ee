"""RawKernel and RawModule: CUDA C++ text by CuPy's names, on every device."""

import io
import pickle

import numpy as np
import pytest

import treadle as td
from treadle import cuda

ADD = r"""
__constant__ float scale[2];
extern "C" __global__ void add(const float *x, const float *y, float *z, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        z[i] = x[i] + y[i];
}
__global__ void scaled(float *z, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        z[i] = z[i] * scale[0] + scale[1];
}
"""

TEMPLATE = r"""
namespace own {
template <typename T, int N> __global__ void fill(T *x, T value)
{
    x[blockIdx.x * blockDim.x + threadIdx.x] = value + N;
}
}
"""


@pytest.fixture
def xyz():
    x = td.arange(100, dtype=td.float32)
    return x, td.ones(100, dtype=td.float32), td.zeros(100, dtype=td.float32)


@pytest.mark.parametrize("grid,block", [(4, 32), ((4,), (32,)), ((4, 1, 1), (32, 1)), (np.int64(4), [32])], ids=str)
def test_launch_dims(dev, xyz, grid, block):
    x, y, z = xyz
    k = td.RawKernel(ADD, "add")
    assert k(grid, block, (x, y, z, 100)) is None
    np.testing.assert_array_equal(z.get(), np.arange(100, dtype="f4") + 1)


def test_lazy_arguments_and_views(dev):
    k = td.RawKernel(ADD, "add")
    z = td.zeros(100, dtype=td.float32)
    old = z + 0
    k(1, 32, (td.arange(32, dtype=td.float32) * 2, td.ones(64, dtype=td.float32)[10:42], z[50:], 32))
    want = np.zeros(100, "f4")
    want[50:82] = np.arange(32) * 2 + 1
    np.testing.assert_array_equal(z.get(), want)
    assert not old.get().any(), "what was recorded before keeps its value"


def test_keywords_and_streams(dev, xyz):
    x, y, z = xyz
    k = td.RawKernel(ADD, "add", options=("-DN=3",), backend="nvcc")
    stream = cuda.Stream(non_blocking=True)
    k((4,), (32,), (x, y, z, 100), shared_mem=64, stream=stream)
    with stream:
        k((4,), (32,), (z, y, z, 100))
    stream.synchronize()
    np.testing.assert_array_equal(z.get(), np.arange(100, dtype="f4") + 2)


def test_arguments_are_checked(dev, xyz):
    x, y, z = xyz
    k = td.RawKernel(ADD, "add")
    for args, error in [
        ((x, y, z), TypeError),
        ((x, y, z, 100, 1), TypeError),
        ((x, y, z, np.int64(100)), TypeError),
        ((x, y, z, 2**40), OverflowError),
        ((x, y, z.astype("float64"), 100), TypeError),
        ((x, np.ones(100, "f4"), z, 100), TypeError),
        ((x, y, td.broadcast_to(z[:1], (100,)), 100), ValueError),
    ]:
        with pytest.raises(error):
            k(4, 32, args)
    assert not z.get().any()
    with pytest.raises(ValueError):
        k(0, 32, (x, y, z, 100))
    with pytest.raises((ValueError, td.Error)):
        k(1, 4096, (x, y, z, 100))


def test_compile_errors_name_the_line(dev):
    k = td.RawKernel('extern "C" __global__ void f(int *x)\n{\n    x[0] = missing;\n}\n', "f")
    with pytest.raises(td.CompileError, match=r"3.*missing"):
        k(1, 1, (td.zeros(1, dtype=td.int32),))
    with pytest.raises(td.CompileError):
        k.compile()
    with pytest.raises(ValueError, match="nothing"):
        td.RawKernel(ADD, "nothing").compile()


def test_attributes(dev):
    k = td.RawKernel(ADD, "add")
    assert set(k.attributes) >= {"num_regs", "local_size_bytes", "shared_size_bytes", "max_threads_per_block"}
    assert k.max_threads_per_block >= 256 and k.num_regs >= 0 and k.attributes["num_regs"] == k.num_regs
    k.max_dynamic_shared_size_bytes = 4096
    assert k.max_dynamic_shared_size_bytes >= 4096
    with pytest.raises(AttributeError):
        k.num_regs = 3
    assert (
        k.name == "add" and k.options == () and k.backend == "nvrtc" and k.code == ADD and repr(k) == "<RawKernel add>"
    )
    log = io.StringIO()
    k.compile(log_stream=log)


def test_equality_and_pickle(dev, xyz):
    x, y, z = xyz
    k = td.RawKernel(ADD, "add")
    same = pickle.loads(pickle.dumps(k))
    assert same == k and hash(same) == hash(k) and k != td.RawKernel(ADD, "scaled") and k != 3
    same(4, 32, (x, y, z, 100))
    assert z.get()[-1] == 100
    module = td.RawModule(code=ADD)
    f = pickle.loads(pickle.dumps(module.get_function("add")))
    f(4, 32, (x, x, z, 100))
    assert z.get()[-1] == 198 and f == module.get_function("add") and pickle.loads(pickle.dumps(module)) == module


def test_one_kernel_on_several_devices(xyz):
    k = td.RawKernel(ADD, "add")
    for where in ("cpu", "null", "cpu"):
        with td.device(where):
            x, z = td.ones(10, dtype=td.float32), td.zeros(10, dtype=td.float32)
            k(1, 32, (x, x, z, 10))
            assert z.get().sum() == 20
            other = "null" if where == "cpu" else "cpu"
            with pytest.raises(ValueError):
                k(1, 32, (x, x, td.zeros(10, dtype=td.float32, device=other), 10))


def test_template_by_its_name(dev):
    k = td.RawKernel(TEMPLATE, "own::fill<double, 3>")
    x = td.zeros(8)
    k(2, 4, (x, 1.5))
    assert (x.get() == 4.5).all()


def test_module(dev, xyz):
    x, y, z = xyz
    m = td.RawModule(code=ADD)
    m.get_function("add")(4, 32, (x, y, z, 100))
    scale = m.get_global("scale")
    assert scale.size == 8
    host = np.array([2, 0.5], "f4")
    scale.copy_from_host(host.ctypes.data, 8)
    back = np.zeros(2, "f4")
    scale.copy_to_host(back.ctypes.data, 8)
    np.testing.assert_array_equal(back, host)
    m.get_function("scaled")((4,), (32,), (z, 100))
    np.testing.assert_array_equal(z.get(), (np.arange(100, dtype="f4") + 1) * 2 + np.float32(0.5))
    with pytest.raises(ValueError, match="nothing"):
        m.get_function("nothing")
    with pytest.raises(ValueError, match="nothing"):
        m.get_global("nothing")
    with pytest.raises(ValueError):
        scale.copy_to_host(back.ctypes.data, 16)
    for both in (td.ndarray((2,), "f4", scale), td.ndarray(2, np.float32, memptr=scale)):
        both[...] = both * 2
    np.testing.assert_array_equal(td.ndarray((2,), "f4", scale).get(), host * 4)


def test_arrays_over_pointers(dev):
    """cupy.ndarray(shape, dtype, memptr, strides), beside NumPy's array over the same bytes."""
    memory = td.arange(24, dtype=td.int32)
    host = memory.get()
    pointer = td.cuda.MemoryPointer(memory)
    for shape, dtype, at, strides, order in [
        ((2, 3), "i4", 0, None, None),
        ((2, 3), "i4", 8, None, "F"),
        ((4, 2), "i2", 4, None, "C"),
        ((3,), "i8", 16, (24,), None),
        ((2, 2), "u1", 1, (3, 40), None),
        ((), "i4", 12, None, None),
    ]:
        want = np.ndarray(shape, dtype, host, at, strides, order)
        over = td.ndarray(shape, dtype, pointer + at, strides=strides, order=order)
        np.testing.assert_array_equal(over.get(), want)
        np.testing.assert_array_equal(td.ndarray(shape, dtype, pointer, at, strides, order).get(), want)
        if strides:
            np.testing.assert_array_equal(td.ndarray(shape, dtype, pointer + at, strides).get(), want)
        assert (over.dtype, over.shape, over.strides) == (want.dtype, want.shape, want.strides)
    td.ndarray((2,), "i4", pointer + 4)[...] = 7
    assert memory.tolist()[:4] == [0, 7, 7, 3]
    with pytest.raises(ValueError):
        td.ndarray((25,), "i4", pointer)


def test_data_is_a_pointer_on_a_gpu():
    x = td.arange(6.0, device="null")
    assert x.data.ptr == x._address() and x[2:].data.ptr == x.data.ptr + 16 and x.data.mem is x
    assert td.ndarray((6,), float, x.data).get().tolist() == x.tolist()
    y = td.arange(6.0, device="cpu")
    assert isinstance(y.data, memoryview) and y.data.tolist() == y.tolist()


def test_name_expressions(dev):
    names = ["own::fill<float, 1>", "own::fill<int, 2>"]
    m = td.RawModule(code=TEMPLATE, options=("-std=c++14",), name_expressions=names)
    for name, dtype, want in zip([*names, "own::fill<long long, 7>"], ("float32", "int32", "int64"), (6, 7, 12)):
        x = td.zeros(8, dtype=dtype)
        m.get_function(name)((2,), (4,), (x, 5))
        assert (x.get() == want).all(), name


def test_complex(dev, rng):
    a = (rng.normal(size=50) + 1j * rng.normal(size=50)).astype("c8")
    for code, more in (
        ("#include <cupy/complex.cuh>\nextern \"C\" __global__ void f(const complex<float> *x, complex<float> *y, complex<float> w)"
         "{ int i = threadIdx.x; y[i] = x[i] * conj(x[i]) + exp(w) / x[i]; }", {}),
        ('#include <cuComplex.h>\nextern "C" __global__ void f(const cuFloatComplex *x, cuFloatComplex *y, cuFloatComplex w)'
         "{ int i = threadIdx.x; y[i] = x[i] * conj(x[i]) + exp(w) / x[i]; }", {"translate_cucomplex": True}),
    ):  # fmt: skip
        y = td.zeros(50, dtype="complex64")
        td.RawKernel(code, "f", **more)(1, 50, (td.asarray(a), y, np.complex64(0.5 + 1j)))
        np.testing.assert_allclose(y.get(), a * a.conj() + np.exp(0.5 + 1j) / a, rtol=2e-5)


def test_wrong_ways():
    with pytest.raises(ValueError, match="jitify"):
        td.RawKernel(ADD, "add", jitify=True)
    with pytest.raises(ValueError, match="backend"):
        td.RawModule(code=ADD, backend="other")
    with pytest.raises(TypeError, match="tuple"):
        td.RawKernel(ADD, "add", options="-O2")
    with pytest.raises(TypeError, match="path"):
        td.RawModule()
    with pytest.raises(ValueError, match="name_expressions"):
        td.RawModule(path="x.cubin", name_expressions=["f<int>"])
    with pytest.raises(FileNotFoundError):
        td.RawModule(path="/nowhere/x.cubin").get_function("f")


def test_kernels_come_and_go(dev, xyz):
    """Objects that hold each other in a circle are collected."""
    import gc
    import weakref

    k = td.RawKernel(ADD, "add")
    k(4, 32, (*xyz, 100))
    gone = weakref.ref(k)
    del k
    gc.collect()
    assert gone() is None


def test_fuse(dev, rng):
    a, b = rng.random(100), rng.random(100)

    @td.fuse
    def squared(x, y):
        return (x - y) * (x - y)

    @td.fuse(kernel_name="normalised")
    def normalised(x, y):
        y += x
        return (x - td.mean(x)) / td.std(x), td.sqrt(y) if float(y[0]) > 0 else y

    x, y = td.asarray(a), td.asarray(b)
    np.testing.assert_allclose(squared(x, y).get(), (a - b) ** 2)
    np.testing.assert_allclose(squared(x, 2).get(), (a - 2) ** 2)
    np.testing.assert_allclose(squared(a, b), (a - b) ** 2)
    first, second = normalised(x, y)
    np.testing.assert_allclose(first.get(), (a - a.mean()) / a.std())
    np.testing.assert_allclose(second.get(), np.sqrt(a + b))
    np.testing.assert_allclose(y.get(), a + b)
    assert squared.__name__ == "squared" and normalised.kernel_name == "normalised"
    squared.clear_cache()
    with pytest.raises(TypeError):
        td.fuse(3)
    with pytest.raises(TypeError):
        td.fuse(name="x")
