"""ElementwiseKernel, ReductionKernel, scans and complex numbers in CUDA C++, beside NumPy; and their text for GPUs."""

import shutil

import numpy as np
import pytest

import treadle as td
from treadle import _core
from treadle._raw._kernel import _rawtext
from treadle.pycuda import driver, elementwise, gpuarray, reduction, scan, tools
from treadle.pycuda._driver import _launch
from treadle.pycuda.elementwise import ElementwiseKernel, ScalarArg, VectorArg
from treadle.pycuda.reduction import ReductionKernel
from treadle.pycuda.scan import ExclusiveScanKernel, InclusiveScanKernel

SIZES = [1, 2, 31, 1000, 16383, 70001]


@pytest.fixture
def size(dev):
    """A limit for the device whose GPU is played by the host."""
    return lambda n: n if dev != "null" else min(n, 20001)


# ---- elementwise ----


@pytest.mark.parametrize("n", SIZES)
def test_linear_combination(dev, rng, size, n):
    lin = ElementwiseKernel("float a, const float *x, float b, float *y, float *z", "z[i] = a*x[i] + b*y[i]", "lin")
    n = size(n)
    x, y = rng.standard_normal((2, n)).astype("float32")
    a, b = gpuarray.to_gpu(x), gpuarray.to_gpu(y)
    z = gpuarray.empty_like(a)
    assert lin(5, a, 6.5, b, z) is None
    np.testing.assert_allclose(z.get(), 5 * x + np.float32(6.5) * y, rtol=1e-6, atol=1e-5)
    lin(1, a, 0, b, a)  # in place
    assert np.array_equal(a.get(), x)


SLICES = [slice(5, 20000), slice(5, 20000, 17), slice(3000, 5, -1), slice(1000, -1), slice(None, None, -3), slice(10, 5), slice(7, 8, 100)]


@pytest.mark.parametrize("text", ["z[i] = 7", "z[i] = 7; (void)tid"], ids=["pieces", "threads"])
def test_slices_and_ranges(dev, text):
    seven = ElementwiseKernel("float *z", text, "seven")
    for slc in SLICES:
        a, x = gpuarray.zeros(20001, "float32"), np.zeros(20001, "float32")
        x[slc] = 7
        seven(a, slice=slc)
        assert np.array_equal(a.get(), x), slc
        a.fill(0)
        start, stop, step = slc.indices(x.size)
        seven(a, range=slice(start, stop, step))
        assert np.array_equal(a.get(), x), slc
    with pytest.raises(TypeError, match="both"):
        seven(a, slice=slc, range=slc)


def test_arguments_and_parts_of_the_text(dev, rng):
    x = rng.integers(0, 100, 5000).astype("int32")
    a, out = gpuarray.to_gpu(x), gpuarray.zeros(5000, "float64")
    k = ElementwiseKernel(
        [VectorArg(np.int32, "x"), ScalarArg(np.float64, "f"), VectorArg(np.float64, "out")],
        "out[i] = half(x[i]) * g + OFFSET",
        "parts",
        options=["-DOFFSET=3"],
        preamble="__device__ double half(int k) { return k / 2.0; }",
        loop_prep="double g = f + 1",
        after_loop="if (n == 0) out[0] = -1",
    )
    k(a, 1.5, out)
    assert np.array_equal(out.get(), x / 2 * 2.5 + 3)
    k(a.view("uint32"), 0, out)  # integers of one size are alike
    assert np.array_equal(out.get(), x / 2 + 3)


def test_statements_of_threads(dev):
    """What names the threads' variables means the same on a CPU: i moves on by total_threads."""
    four = ElementwiseKernel("int *z", "z[i] = 1; if ((i += total_threads) < n) z[i] = 2", "four")
    a = gpuarray.zeros(5001, "int32")
    four(a)
    assert set(a.get().tolist()) <= {1, 2} and a.get().min() == 1
    k = elementwise.get_elwise_kernel("int *z", "z[i] = i % 1000 + (int)n", "any_grid")
    for grid, block in (((1, 1), (1, 1, 1)), ((3, 1), (1, 1, 1)), ((7, 1), (32, 1, 1)), ((1, 1), (64, 1, 1))):
        a.fill(0)
        k.prepared_call(grid, block, a.gpudata, 5001)
        assert np.array_equal(a.get(), np.arange(5001) % 1000 + 5001)


def test_structures(dev):
    a, b = gpuarray.zeros(100, gpuarray.vec.float3), gpuarray.arange(100, dtype="float32")
    k = ElementwiseKernel("float3 *v, float3 w, const float *x", "v[i] = make_float3(x[i] + w.x, w.y, x[i] * w.z)", "three")
    k(a, gpuarray.vec.make_float3(1, 2, 3), b)
    got, x = a.get(), np.arange(100, dtype="float32")
    assert np.array_equal(got["x"], x + 1) and (got["y"] == 2).all() and np.array_equal(got["z"], x * 3)


def test_bad_calls(dev):
    k = ElementwiseKernel("float *x, int n_of, float *y", "y[i] = x[i] + n_of", "bad")
    a = gpuarray.zeros((4, 4), "float32")
    for args, error in [((a, 1), TypeError), ((a, 1, a, a), TypeError), ((a, 1, 5), TypeError), ((a, 1, np.zeros(4)), TypeError),
                        ((a, 1, gpuarray.zeros(16)), TypeError), ((a, 1, a[:, 1]), RuntimeError), ((a, 1.5, a), TypeError),
                        ((a, np.float32(1), a), TypeError), ((a, 2**31, a), OverflowError)]:  # fmt: skip
        with pytest.raises(error):
            k(*args)
    k(gpuarray.zeros(0, "float32"), 1, gpuarray.zeros(0, "float32"))
    with pytest.raises(TypeError, match="vector"):
        ElementwiseKernel("float a", "a", "none")
    with pytest.raises(driver.CompileError, match="no_such_name"):
        ElementwiseKernel("float *x", "x[i] = no_such_name", "wrong")(a)
    with pytest.raises(TypeError, match="no_such"):
        ElementwiseKernel("no_such *x", "x[i] = 1")


def test_kernels_by_name(dev, rng):
    x, y = rng.standard_normal((2, 3000)).astype("float32")
    a, b = gpuarray.to_gpu(x), gpuarray.to_gpu(y)
    out, f4 = gpuarray.empty_like(a), np.dtype("float32")

    def run(k, *args):
        k.prepared_async_call(a._grid, a._block, None, *[v.gpudata if isinstance(v, gpuarray.GPUArray) else v for v in args], a.mem_size)
        return out.get()

    e = elementwise
    assert np.array_equal(run(e.get_copy_kernel(f4, f4), out, a), x)
    assert np.array_equal(run(e.get_fill_kernel(f4), 3, out), np.full(3000, 3))
    assert np.array_equal(run(e.get_reverse_kernel(f4), a, out), x[::-1])
    assert np.array_equal(run(e.get_arange_kernel(f4), out, 1, 2), np.arange(1, 6001, 2))
    for want, k, args in [
        (2 * x + 3, e.get_axpbz_kernel(f4, f4), (2, a, 3, out)),
        (2 * x - 3 * y, e.get_axpbyz_kernel(f4, f4, f4), (2, a, -3, b, out)),
        (2 * x - 3 * y[0], e.get_axpbyz_kernel(f4, f4, f4, y_is_scalar=True), (2, a, -3, b, out)),
        (x * y, e.get_binary_op_kernel(f4, f4, f4, "*"), (a, b, out)),
        (x < y, e.get_binary_op_kernel(f4, f4, f4, "<"), (a, b, out)),
        (x - 5, e.get_scalar_op_kernel(f4, f4, f4, "-"), (a, 5, out)),
        (2 / x, e.get_rdivide_elwise_kernel(f4, f4), (a, 2, out)),
        (np.maximum(x, y), e.get_binary_minmax_kernel("max", f4, f4, f4, False), (a, b, out)),
        (np.minimum(x, 0), e.get_binary_minmax_kernel("min", f4, f4, f4, True), (a, 0, out)),
        (np.exp(x), e.get_unary_func_kernel("expf", f4), (a, out)),
        (np.fmod(x, y), e.get_fmod_kernel(), (a, b, out)),
        (np.abs(x) ** 2.5, e.get_pow_array_kernel(f4, f4, f4, True, False), (abs(a), 2.5, out)),
        (np.abs(x) ** 2.5, e.get_pow_kernel(f4), (2.5, abs(a), out)),
        (np.where(x > 0, y, x), e.get_if_positive_kernel(f4, f4), (a, b, a, out)),
        (x == 0, e.get_logical_not_kernel(f4, f4), (a, out)),
    ]:
        np.testing.assert_allclose(run(k, *args), want, rtol=2e-6, atol=1e-6)
    k, refs = e.get_linear_combination_kernel(((False, f4, f4), (True, f4, f4)), f4)
    np.testing.assert_allclose(run(k, 2, a, b[:1], b, out), 2 * x + y[0] * y, rtol=1e-5, atol=1e-5)
    assert refs == [] and e.get_fill_kernel(f4) is e.get_fill_kernel(f4)


# ---- complex numbers ----

# The C++ functions of complex.h and NumPy's, where they are alike: away from branch cuts, not huge.
COMPLEX = {
    "exp": np.exp, "log": np.log, "log10": np.log10, "sqrt": np.sqrt, "sin": np.sin, "cos": np.cos, "tan": np.tan,
    "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh, "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan,
    "asinh": np.arcsinh, "acosh": np.arccosh, "atanh": np.arctanh, "conj": np.conj,
}  # fmt: skip


@pytest.mark.parametrize("dtype,rtol", [("complex64", 3e-5), ("complex128", 1e-12)])
def test_complex_functions(dev, rng, dtype, rtol):
    x = (rng.standard_normal(400) + 1j * rng.standard_normal(400)).astype(dtype)
    y = (rng.standard_normal(400) + 1j * rng.standard_normal(400)).astype(dtype)
    a, b, c = gpuarray.to_gpu(x), gpuarray.to_gpu(y), tools.dtype_to_ctype(dtype)
    names = list(COMPLEX)
    out = gpuarray.zeros((len(names) + 6, 400), dtype)
    lines = [f"out[{k} * n + i] = pycuda::{name}(x[i])" for k, name in enumerate(names)]
    more = ["x[i] / y[i]", "x[i] * y[i] + 2", "pow(x[i], y[i])", "pow(x[i], -3)", "1 / x[i]", f"{c}(abs(x[i]), arg(x[i]) + real(y[i]) * imag(y[i]))"]
    lines += [f"out[{len(names) + k} * n + i] = {text}" for k, text in enumerate(more)]
    ElementwiseKernel(f"const {c} *x, const {c} *y, {c} *out", "; ".join(lines), "functions")(a, b, out)
    want = [COMPLEX[name](x) for name in names]
    want += [x / y, x * y + 2, x**y, x ** np.array(-3), 1 / x, np.abs(x) + 1j * (np.angle(x) + y.real * y.imag)]
    for name, got, expected in zip([*names, *more], out.get(), want, strict=True):
        error = np.abs(got - expected) / np.maximum(np.abs(expected), 0.1)
        assert error.max() < rtol, name


def test_complex_edges(dev):
    x = np.array([0, 1e200 + 1e200j, 1e-200, -4, 4j, 50 + 1j], "complex128")
    a = gpuarray.to_gpu(x)
    out = gpuarray.zeros((4, 6), "complex128")
    text = "out[i] = sqrt(z[i]); out[n + i] = tanh(z[i]); out[2 * n + i] = z[i] / z[i]; out[3 * n + i] = pow(z[i], 2.0)"
    ElementwiseKernel("const pycuda::complex<double> *z, pycuda::complex<double> *out", text, "edges")(a, out)
    got = out.get()
    np.testing.assert_allclose(got[0], np.sqrt(x), rtol=1e-15)
    np.testing.assert_allclose(got[1][2:], np.tanh(x[2:]), rtol=1e-14, atol=1e-15)
    assert np.isnan(got[2][0]) and np.allclose(got[2][1:], 1) and got[3][0] == 0


# ---- reductions ----


@pytest.mark.parametrize("n", [*SIZES, 1000003])
@pytest.mark.parametrize("dtype", ["int32", "int64", "float32", "float64", "uint8", "complex64"])
def test_sums(dev, rng, size, n, dtype):
    x = rng.integers(0, 100, size(n)).astype(dtype)
    a = gpuarray.to_gpu(x)
    got = reduction.get_sum_kernel(None, np.dtype(dtype))(a)
    assert got.shape == () and got.dtype == x.dtype
    np.testing.assert_allclose(got.get(), x.sum(dtype=dtype), rtol=1e-6)
    again = reduction.get_sum_kernel(None, np.dtype(dtype))(a)
    assert again.get() == got.get()  # the order of sums is fixed


@pytest.mark.parametrize("n", SIZES)
def test_other_reductions(dev, rng, size, n):
    x, y = rng.standard_normal((2, size(n))).astype("float32")
    k = rng.integers(-1000, 1000, x.size).astype("int32")
    a, b, i = gpuarray.to_gpu(x), gpuarray.to_gpu(y), gpuarray.to_gpu(k)
    f4, i4, r = np.dtype("float32"), np.dtype("int32"), reduction
    norm = ReductionKernel(f4, neutral="0", reduce_expr="a+b", map_expr="(x[i]-y[i])*(x[i]-y[i])*f", arguments="const float *x, float *y, float f")
    np.testing.assert_allclose(norm(a, b, 2).get(), 2 * ((x - y).astype(float) ** 2).sum(), rtol=1e-4)
    np.testing.assert_allclose(r.get_dot_kernel(f4, f4, f4)(a, b).get(), (x.astype(float) * y).sum(), rtol=1e-4, atol=1e-3)
    for what in ("min", "max"):
        assert r.get_minmax_kernel(what, f4)(a).get() == getattr(np, what)(x)
        for d in ("int32", "int64", "uint32", "uint64", "int8"):
            assert r.get_minmax_kernel(what, np.dtype(d))(i.astype(d)).get() == getattr(np, what)(k.astype(d))
    index = gpuarray.to_gpu(rng.integers(0, x.size, 500).astype("int32"))
    picked = x[index.get()]
    np.testing.assert_allclose(r.get_subset_sum_kernel(f4, i4, f4)(index, a).get(), picked.sum(), rtol=1e-4, atol=1e-3)
    np.testing.assert_allclose(r.get_subset_dot_kernel(f4, i4, f4)(index, a, a).get(), (picked * picked).sum(), rtol=1e-4)
    assert r.get_subset_minmax_kernel("max", f4, i4)(index, a).get() == picked.max()
    assert bool(r.get_any_kernel(bool, i4)(i).get()) == k.any() and bool(r.get_all_kernel(bool, i4)(i).get()) == k.all()


PREAMBLE = """
struct extent {
    float low, high;
    __device__ extent() {}
    __device__ extent(float l, float h) : low(l), high(h) {}
};
__device__ extent join(extent a, extent b) { return extent(fminf(a.low, b.low), fmaxf(a.high, b.high)); }
"""


def test_reduction_to_a_structure(dev, rng, size):
    extent = np.dtype([("low", "f4"), ("high", "f4")])
    tools.register_dtype(extent, "extent")
    red = ReductionKernel(extent, neutral="extent(1e30f, -1e30f)", reduce_expr="join(a, b)", map_expr="extent(x[i], x[i])",
                          arguments="float *x", preamble=PREAMBLE)  # fmt: skip
    for n in (1, 300, size(90000)):
        x = rng.standard_normal(n).astype("float32")
        got = red(gpuarray.to_gpu(x)).get()
        assert got["low"] == x.min() and got["high"] == x.max()


def test_where_results_go(dev, rng):
    a = gpuarray.to_gpu(rng.standard_normal((10, 200)).astype("float32"))
    red = ReductionKernel(np.float32, neutral="-1e30f", reduce_expr="max(a,b)", arguments="float *in")
    out = gpuarray.zeros(10, "float32")
    for k in range(10):
        assert isinstance(red(a[k], out=out[k], stream=driver.Stream()), gpuarray.GPUArray)
    driver.Context.synchronize()
    assert np.array_equal(out.get(), a.get().max(axis=1))
    assert red(gpuarray.zeros(0, "float32")).get() == np.float32(-1e30)
    wrapped = []
    assert red(a.ravel(), kernel_wrapper=lambda f: wrapped.append(f) or f).get() == a.get().max() and wrapped
    asked, pool = [], tools.DeviceMemoryPool()
    red(a, allocator=lambda n: asked.append(n) or pool.allocate(n))
    assert asked == [4]


def test_bad_reductions(dev):
    red = ReductionKernel(np.float32, "0", "a+b", "x[i]*f", "const float *x, float f")
    a = gpuarray.zeros((4, 4), "float32")
    for args, error in [((a,), TypeError), ((a, 1, 2), TypeError), ((1, a), TypeError), ((a.astype("float64"), 1), TypeError), ((a[:, 1], 1), RuntimeError)]:
        with pytest.raises(error):
            red(*args)
    for out in (gpuarray.zeros((), "float64"), gpuarray.zeros(0, "float32")):
        with pytest.raises(ValueError, match="out"):
            red(a, 1, out=out)
    with pytest.raises(TypeError, match="vector"):
        ReductionKernel(np.float32, "0", "a+b", "f", "float f")
    with pytest.raises(TypeError):
        reduction.get_minmax_kernel("min", np.dtype("complex64"))


# ---- scans ----


@pytest.mark.parametrize("cls", [InclusiveScanKernel, ExclusiveScanKernel])
@pytest.mark.parametrize("dtype", ["int32", "int64", "float64", "complex128"])
@pytest.mark.parametrize("n", [1, 2, 7, 2047, 2048, 2049, 16385, 100003, 1000003])
def test_scans(dev, rng, size, cls, dtype, n):
    x = rng.integers(0, 10, size(n)).astype(dtype)
    a, kernel = gpuarray.to_gpu(x), cls(dtype, "a+b", "0")
    want = np.cumsum(x, dtype=dtype) - (x if cls is ExclusiveScanKernel else 0)
    new = kernel(a, output_ary="new")
    assert new is not a and np.array_equal(new.get(), want) and np.array_equal(a.get(), x)
    assert kernel(a, stream=driver.Stream()) is a
    driver.Context.synchronize()
    assert np.array_equal(a.get(), want)


def test_scans_keep_the_order(dev, rng, size):
    """Products of 2×2 matrices: associative, not commutative."""
    matrix = np.dtype([("a", "u4"), ("b", "u4"), ("c", "u4"), ("d", "u4")])
    tools.register_dtype(matrix, "matrix")
    preamble = """
    struct matrix { unsigned a, b, c, d; };
    __device__ inline matrix times(matrix x, matrix y)
    {
        matrix r = {x.a * y.a + x.b * y.c, x.a * y.b + x.b * y.d, x.c * y.a + x.d * y.c, x.c * y.b + x.d * y.d};
        return r;
    }
    __device__ inline matrix one() { matrix r = {1, 0, 0, 1}; return r; }
    """
    n = size(5000)
    x = rng.integers(0, 2**32, (n, 4), dtype="uint32").view(matrix).reshape(n)
    want, m = np.empty((n, 2, 2), "uint32"), np.eye(2, dtype="uint32")
    for k, row in enumerate(x.view("uint32").reshape(n, 2, 2)):
        m = m @ row
        want[k] = m
    got = InclusiveScanKernel(matrix, "times(a, b)", "one()", preamble=preamble)(gpuarray.to_gpu(x)).get()
    assert got.tobytes() == want.tobytes()
    got = ExclusiveScanKernel(matrix, "times(a, b)", "one()", preamble=preamble)(gpuarray.to_gpu(x)).get()
    assert got[1:].tobytes() == want[:-1].tobytes()


def test_bad_scans(dev):
    with pytest.raises(ValueError, match="neutral"):
        ExclusiveScanKernel(np.int32, "a+b")
    k = InclusiveScanKernel(np.int32, "a+b")
    a = gpuarray.zeros(10, "int32")
    for args, error in [((gpuarray.zeros(3, "float32"),), TypeError), ((gpuarray.zeros((3, 3), "int32"),), ValueError),
                        ((a, gpuarray.zeros(9, "int32")), ValueError), ((a[::2],), RuntimeError), ((a, gpuarray.zeros(10)), TypeError)]:  # fmt: skip
        with pytest.raises(error):
            k(*args)
    assert k(gpuarray.zeros(0, "int32")).size == 0


# ---- the text for GPUs, which another machine runs ----


def gpu_texts():
    args = [*tools.parse_c_args("float a, const float *x, pycuda::complex<double> *z"), ScalarArg(np.uintp, "n")]
    span = [*args[:-1], *(ScalarArg(np.intp, end) for end in ("start", "stop", "step"))]
    yield elementwise._text(args, "z[i] = a * x[i] + log10(z[i])", "k", "", "", "", False, False)
    yield elementwise._text(span, "z[i] = x[i] + a", "k", "", "", "", True, False)
    for stage in (1, 2):
        yield reduction._text(stage, "double", "0", "a+b", "x[i]*f", ["const float *x", "float f"], "r", "", False)
        yield reduction._text(stage, "extent", "extent(0, 0)", "join(a, b)", "extent(x[i], x[i])", ["const float *x"], "r", PREAMBLE, False)
    for dtype in ("int8", "float64", "complex128"):
        yield scan._text(tools.dtype_to_ctype(dtype), "a+b", "0", "s", "", scan._each(np.dtype(dtype)), False)


def test_text_for_gpus_compiles():
    texts = list(gpu_texts())
    for text in texts:
        try:
            image = _core.program(text, device=False, arch="sm_90", options=["-I" + _rawtext.HEADERS], cache=False).image
        except td.MissingLibraryError as error:
            pytest.skip(str(error))
        assert image[:4] == b"\x7fELF" or shutil.which("nvcc") is None


@pytest.fixture
def as_gpu(monkeypatch):
    """The CPU takes the text and the launches that a GPU gets: blocks of many threads, with barriers."""
    for module in (elementwise, reduction, scan, _launch):
        monkeypatch.setattr(module, "runs_on_host", lambda device: False)
    monkeypatch.setattr(_rawtext, "is_host", lambda device: False)
    tools.clear_context_caches()
    with td.device("cpu"):
        yield
    tools.clear_context_caches()


@pytest.mark.parametrize("n", [1, 255, 2048, 2049, 30011, 200003])
def test_text_for_gpus_computes(as_gpu, rng, n):
    x = rng.integers(-20, 20, n)
    for dtype in ("int32", "float64"):
        a = gpuarray.to_gpu(x.astype(dtype))
        for cls in (InclusiveScanKernel, ExclusiveScanKernel):
            got = cls(dtype, "a+b", "0")(a, output_ary="new").get()
            assert np.array_equal(got, np.cumsum(x) - (x if cls is ExclusiveScanKernel else 0))
        assert reduction.get_sum_kernel(None, np.dtype(dtype))(a).get() == x.sum()
        assert reduction.get_minmax_kernel("min", np.dtype(dtype))(a).get() == x.min()
    z = gpuarray.zeros(n, "float64")
    k = ElementwiseKernel("const double *x, double *z", "z[i] = 2 * x[i] + i", "twice")
    k(a, z)
    assert np.array_equal(z.get(), 2 * x + np.arange(n))
    k(a, z, slice=slice(None, None, -2))
    assert gpuarray.splay(n)[1] == (128, 1, 1)
