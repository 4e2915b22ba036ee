"""treadle.pycuda.compiler and driver.Module, Function: PyCUDA's programs on every device."""

import gc
import os
import shutil

import numpy as np
import pytest

import treadle as td
import treadle.pycuda.driver as drv
from treadle.pycuda import compiler, gpuarray
from treadle.pycuda.compiler import DynamicSourceModule, SourceModule

pytestmark = pytest.mark.skipif(
    not any(map(shutil.which, ("clang++", "g++", "c++"))) and "TREADLE_CXX" not in os.environ, reason="no C++ compiler on PATH"
)

TEXT = """
__constant__ float factors[4];
__device__ int calls;
__global__ void multiply_them(float *dest, const float *a, const float *b)
{
    const int i = threadIdx.x;
    dest[i] = a[i] * b[i];
}
template <class T, int N> __global__ void scale(T *a, T s) { a[threadIdx.x] *= s * N; }
extern "C" __global__ void weigh(float *a, int n)
{
    for (int i = 0; i < n; i++)
        a[i] *= factors[i];
    atomicAdd(&calls, 1);
}
__global__ void bytes(int *o) { extern __shared__ char s[]; s[threadIdx.x] = 1; *o = sizeof(factors); }
"""


@pytest.fixture
def module(dev):
    drv.init()
    return SourceModule(TEXT, names=["scale<float, 3>"])


def test_the_first_example(module, rng):
    f = module.get_function("multiply_them")
    a, b = rng.standard_normal((2, 400)).astype("float32")
    dest = np.zeros_like(a)
    assert f(drv.Out(dest), drv.In(a), drv.In(b), block=(400, 1, 1), grid=(1, 1)) is None
    np.testing.assert_array_equal(dest, a * b)
    seconds = f(drv.Out(dest), drv.In(a), drv.In(b), block=(400, 1, 1), time_kernel=True)
    assert 0 <= seconds < 10


def test_arguments(module, rng):
    host = rng.standard_normal(64).astype("float32")
    scale, a = module.get_function("scale<float, 3>"), gpuarray.to_gpu(host)
    scale(a, np.float32(2), block=(64, 1, 1))
    scale(a.gpudata, 0.5, block=(64, 1, 1))
    np.testing.assert_allclose(a.get(), 9 * host, rtol=1e-6)
    memory = drv.to_device(host)
    scale(memory, 1, block=(64, 1, 1))
    scale(int(memory), 1, block=(64, 1, 1))
    np.testing.assert_allclose(drv.from_device_like(memory, host), 9 * host, rtol=1e-6)
    with pytest.raises(TypeError, match=r"write numpy.float32\(x\)"):
        scale(a, np.float64(2), block=(64, 1, 1))
    with pytest.raises(TypeError, match="an array of float64"):
        scale(a.astype(np.float64), 1, block=(64, 1, 1))
    with pytest.raises(TypeError, match="host memory"):
        scale(host, 1, block=(64, 1, 1))
    memory.free()
    with pytest.raises(drv.LogicError, match="freed"):
        scale(memory, 1, block=(64, 1, 1))
    with pytest.raises(ValueError, match="block size"):
        scale(a, 1)


def test_globals_and_prepared_calls(module):
    at, nbytes = module.get_global("factors")
    assert nbytes == 16
    drv.memcpy_htod(at, np.arange(4, dtype="float32"))
    weigh = module.get_function("weigh")
    memory = drv.to_device(np.ones(4, "float32"))
    with pytest.raises(drv.LogicError, match="prepare"):
        weigh.prepared_call((1, 1), (1, 1, 1), memory, 4)
    assert weigh.prepare("Pi") is weigh
    weigh.prepared_call((1, 1), (1, 1, 1), memory, 4)
    weigh.prepared_call((1, 1), (1, 1, 1), memory, np.int32(4), shared_size=64)
    stream = drv.Stream()
    weigh.prepare(["P", np.int32]).prepared_async_call((1, 1), (1, 1, 1), stream, memory, 4)
    stream.synchronize()
    assert weigh.prepared_timed_call((1, 1), (1, 1, 1), memory, 4)() >= 0
    np.testing.assert_array_equal(drv.from_device(memory, (4,), np.float32), np.arange(4, dtype="float32") ** 4)
    calls = np.empty((), "int32")
    drv.memcpy_dtoh(calls, module.get_global("calls")[0])
    assert calls == 4
    for wrong in ("P", "Pf", [np.float64, np.int32]):
        with pytest.raises(TypeError, match="the format does not fit weigh"):
            weigh.prepare(wrong)


def test_missing_names(module):
    with pytest.raises(drv.LogicError, match="NOT_FOUND.*no kernel .nope. in kernel.cu; it has multiply_them"):
        module.get_function("nope")
    with pytest.raises(drv.LogicError, match="NOT_FOUND"):
        module.get_global("nope")
    with pytest.raises(drv.LogicError, match="NOT_FOUND"):
        module.get_texref("nope")


def test_attributes(module, dev):
    f = module.get_function("bytes")
    assert 0 < f.max_threads_per_block <= 1024 and f.shared_size_bytes == 0 and f.num_regs >= 0 and f.local_size_bytes >= 0
    assert f.get_attribute(drv.function_attribute.MAX_THREADS_PER_BLOCK) == f.max_threads_per_block
    f.set_attribute(drv.function_attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES, 64 << 10)
    f.set_cache_config(drv.func_cache.PREFER_SHARED)
    out = gpuarray.zeros(1, np.int32)
    f(out, block=(8, 1, 1), shared=60 << 10)
    assert out.get()[0] == 16
    with pytest.raises((drv.Error, ValueError)):
        f(out, block=(8, 1, 1), shared=1 << 30)
    assert f.name == "bytes" and "bytes(int *o)" in repr(f)


def test_a_function_keeps_its_module(dev):
    drv.init()
    f = SourceModule("__global__ void f(int *o) { *o = 7; }").get_function("f")
    gc.collect()
    out = gpuarray.zeros(1, np.int32)
    f(out, block=(1, 1, 1))
    assert out.get()[0] == 7


def test_compile_errors(dev):
    drv.init()
    with pytest.raises(drv.CompileError) as raised:
        SourceModule("\n\n__global__ void f() { missing(); }")
    error = raised.value
    assert "missing" in error.msg and ":3" in error.stderr.replace("(3)", ":3") and error.stdout == ""
    assert isinstance(error, drv.Error)


def test_compiled_bytes(dev, tmp_path):
    drv.init()
    image = compiler.compile("__global__ void f(int *o) { *o = N; }", options=["-DN=9"])
    if dev.startswith("cuda"):
        pytest.skip("without extern \"C\" the symbol in PTX is mangled")
    out = gpuarray.zeros(1, np.int32)
    drv.module_from_buffer(image).get_function("f")(out, block=(1, 1, 1))
    assert out.get()[0] == 9
    (tmp_path / "f.cubin").write_bytes(image)
    drv.module_from_file(tmp_path / "f.cubin").get_function("f")(out, block=(1, 1, 1))
    with pytest.raises(ValueError, match="target"):
        compiler.compile("", target="exe")


def test_settings(dev, tmp_path, capsys):
    drv.init()
    (tmp_path / "n.h").write_text("#define N 5\n")
    module = SourceModule('#include "n.h"\n__global__ void f(int *o) { *o = N; }', include_dirs=[str(tmp_path)], keep=True,
                          cache_dir=False, no_extern_c=True, nvcc="nvcc", arch=None, code=None)  # fmt: skip
    folder = capsys.readouterr().out.split()[-1]
    assert os.listdir(folder)
    shutil.rmtree(folder)
    out = gpuarray.zeros(1, np.int32)
    module.get_function("f")(out, block=(1, 1, 1))
    assert out.get()[0] == 5
    kept = tmp_path / "cache"
    SourceModule("__global__ void g() { }", cache_dir=str(kept))
    assert [f for f in kept.iterdir() if f.suffix == ".cu"]
    DynamicSourceModule("__global__ void f(int *o) { *o = 6; }").get_function("f")(out, block=(1, 1, 1))
    assert out.get()[0] == 6
    with pytest.raises(OSError, match="no-such-nvcc"):
        compiler.get_nvcc_version("no-such-nvcc")


def test_a_launch_failure_is_told():
    with td.device("cpu"):
        drv.init()
        f = SourceModule("__global__ void f() { __trap(); }").get_function("f")
        with pytest.raises(drv.LaunchError, match="trap"):
            f(block=(1, 1, 1))


def test_texture_references(dev):
    drv.init()
    text = """texture<float, 2, cudaReadModeElementType> tex;
    __global__ void f(float *o, int w) { o[threadIdx.y * w + threadIdx.x] = 2 * tex2D(tex, threadIdx.x + 0.5f, threadIdx.y + 0.5f); }"""
    module = SourceModule(text)
    tex = module.get_texref("tex")
    assert module.get_texref("tex") is tex
    host = np.arange(12, dtype="float32").reshape(3, 4)
    drv.matrix_to_texref(host, tex, order="C")
    out = gpuarray.zeros((3, 4), np.float32)
    module.get_function("f")(out, 4, block=(4, 3, 1), texrefs=[tex])
    np.testing.assert_array_equal(out.get(), 2 * host)
