"""CuPy's own functions: modules of arrays, memos, copies to and from the host, and names that NumPy has given up."""

import numpy as np
import pytest

import treadle as td
from treadle import cuda
from treadle.scipy import sparse


def test_get_array_module(dev):
    x = td.ones(3, device=dev)
    assert (
        td.get_array_module(x) is td.get_array_module(np.ones(3), x) is td.get_array_module(1, td.poly1d([1, 2])) is td
    )
    assert td.get_array_module(sparse.csr_matrix(td.ones((2, 2)))) is td
    assert td.get_array_module() is td.get_array_module(np.ones(3), 2.0, [1]) is np
    assert td.scipy.get_array_module(x) is td.cupyx.scipy.get_array_module(x) is td.scipy
    assert td.is_available() is cuda.is_available()


def test_memoize():
    calls = []

    @td.memoize()
    def plain(a, b=0):
        """Its own text."""
        calls.append((a, b))
        return [a, b]

    @td.memoize(for_each_device=True)
    def each(a):
        calls.append(a)
        return a

    assert (
        plain.__doc__ == "Its own text."
        and plain(1) is plain(1)
        and plain(1, b=2) is plain(1, b=2) is not plain(1, b=3)
    )
    assert calls == [(1, 0), (1, 2), (1, 3)]
    with td.device("cpu"):
        each(5), each(5)
    with td.device("null"):
        each(5), each(5)
    assert calls[3:] == [5, 5]
    td.clear_memo()
    assert plain(1) == [1, 0] and len(calls) == 6
    with pytest.raises(TypeError, match="unhashable"):
        plain([])


@pytest.mark.parametrize("dtype", ["float32", "int8", "bool", "complex64"])
@pytest.mark.parametrize("shape", [(), (0,), (5,), (3, 4)])
def test_set_and_get(dev, dtype, shape):
    given = np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype)
    x = td.zeros(shape, dtype, device=dev)
    assert x.set(given) is None and x.get().tolist() == given.tolist()
    given[...] = 0
    assert x.get().tolist() == np.arange(given.size).reshape(shape).astype(dtype).tolist()
    for order in "CFA":
        host = x.get(order=order)
        assert host.flags[f"{'C' if order == 'A' else order}_CONTIGUOUS"] and host.tolist() == x.tolist()
    assert x.T.get(order="A").flags.f_contiguous or len(shape) < 2
    out = np.empty(shape, dtype, order="F")
    assert x.get(out=out) is out and out.tolist() == x.tolist()
    with cuda.Stream() as stream:
        x.set(out, stream)
        assert x.get(stream).tolist() == x.get(stream=stream, blocking=False).result().tolist() == out.tolist()
    assert td.fromDlpack(x.toDlpack()).tolist() == x.tolist()


def test_set_and_get_refuse(dev):
    x = td.zeros((2, 3), device=dev)
    for error, value in ((TypeError, [[1.0] * 3] * 2), (TypeError, np.zeros((2, 3), "f4")), (ValueError, np.zeros(3))):
        with pytest.raises(error, match="set"):
            x.set(value)
    for error, out in (
        (TypeError, [1]),
        (TypeError, np.zeros((2, 3), "f4")),
        (ValueError, np.zeros(6)),
        (ValueError, np.zeros((4, 6))[::2, ::2]),
    ):
        with pytest.raises(error, match="get"):
            x.get(out=out)
    with pytest.raises(ValueError, match="order"):
        x.get(order="Z")
    with pytest.raises(TypeError, match="blocking"):
        x.get(False)
    with pytest.raises(TypeError, match="capsule"):
        td.fromDlpack(3)
    capsule = td.ones(2, device="cpu").toDlpack()
    td.fromDlpack(capsule)
    with pytest.raises(TypeError, match="taken"):
        td.fromDlpack(capsule)


def test_byte_bounds():
    for host in (
        np.arange(12.0).reshape(3, 4),
        np.arange(12.0).reshape(3, 4)[::-1, 1::2],
        np.zeros(0),
        np.array(5, "i2"),
    ):
        x = td.asarray(host, copy=False, device="cpu")
        assert td.byte_bounds(x) == (np.lib.array_utils.byte_bounds(host) if host.size else (0, 0))


def test_who(capsys):
    x = td.ones((2, 3), "float32")
    td.who({"x": x, "y": x, "n": 3, "z": td.ones(4)})
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["Name", "Shape", "Bytes", "Type"] and lines[1].split() == [
        "x",
        "2",
        "x",
        "3",
        "24",
        "float32",
    ]
    assert lines[2].split()[0] == "y" and "x's" in lines[2] and lines[-1] == "56 bytes in 2 arrays"
    td.vmap(lambda a: a + 1)(x)  # from then on the package's functions are called through others
    td.who()
    assert "x" in capsys.readouterr().out.splitlines()[1]


def test_names_that_numpy_has_given_up(dev):
    x = td.asarray([[3, 1], [2, 4]], device=dev)
    assert td.msort(x).tolist() == np.sort(x.get(), axis=0).tolist() and td.trapz(x[0]).item() == 2.0
    assert td.in1d(x, [1, 9]).tolist() == [False, True, False, False] and td.in1d(x, [1], invert=True).tolist() == [
        True,
        False,
        True,
        True,
    ]
    assert (
        td.asfarray(x).dtype == td.asfarray(x, "int32").dtype == "float64"
        and td.asfarray([1], "complex64").dtype == "complex64"
    )
    assert (
        td.product(x).item() == 24
        and td.cumproduct(x).tolist() == [3, 3, 6, 24]
        and td.round_(td.asarray(1.26), 1).item() == 1.3
    )
    assert (
        bool(td.alltrue(x))
        and bool(td.sometrue(x))
        and td.Inf == td.infty == td.PINF == -td.NINF == np.inf
        and np.isnan(td.NaN)
    )
    assert td.float_ is np.float64 and td.complex_ is td.cfloat is np.complex128 and td.singlecomplex is np.complex64
    assert (
        td.AxisError is np.exceptions.AxisError
        and td.ComplexWarning is np.exceptions.ComplexWarning
        and np.signbit(td.NZERO)
    )
    assert td.issctype(np.float32) and td.issctype(np.dtype("i4")) and not td.issctype(float) and not td.issctype("f4")
    assert td.issubclass_(np.int8, np.integer) and not td.issubclass_("x", int) and td.issubsctype("i1", np.integer)
    assert td.obj2sctype(x) is np.int64 and td.obj2sctype("f4") is np.float32 and td.obj2sctype(object(), 5) == 5
    assert [td.sctype2char(t) for t in (np.float32, "i8", complex)] == ["f", "l", "D"]
    with pytest.raises(ValueError, match="scalar type"):
        td.sctype2char("nothing")


def test_cudas_other_names(tmp_path, monkeypatch):
    assert cuda.get_device_id() == cuda.runtime.getDevice() and cuda.get_rocm_path() is cuda.get_hipcc_path() is None
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "nvcc").touch()
    monkeypatch.setenv("CUDA_PATH", str(tmp_path))
    monkeypatch.delenv("NVCC", raising=False)
    assert cuda.get_cuda_path() == str(tmp_path) and cuda.get_nvcc_path() == str(tmp_path / "bin" / "nvcc")
    assert (
        cuda.memory.MemoryPool is cuda.MemoryPool
        and cuda.device.Device is cuda.Device
        and cuda.memory_hook.MemoryHook is cuda.MemoryHook
    )
    assert cuda.pinned_memory.PinnedMemoryPool is cuda.PinnedMemoryPool and cuda.graph.Graph is cuda.Graph
    assert cuda.stream.Stream is cuda.Stream is type(cuda.stream()) and cuda.stream.Event is cuda.Event
    assert cuda.stream.get_current_stream is cuda.get_current_stream and cuda.memory_hooks.line_profile.LineProfileHook
    one, other = cuda.Stream(non_blocking=True, priority=-1), cuda.Stream()
    assert (one.is_non_blocking, one.priority, other.is_non_blocking, other.priority) == (True, -1, False, 0)
    assert td.add.name == "add"


def test_using_allocator():
    pool = cuda.MemoryPool()
    with cuda.using_allocator(pool.malloc):
        memory = cuda.alloc(100)
        assert pool.used_bytes() == 100 and cuda.get_allocator() == pool.malloc
    assert cuda.get_allocator() != pool.malloc
    del memory
    assert pool.used_bytes() == 0


def test_launches_by_keywords():
    text = r"""
    typedef unsigned long long uint64_t;
    typedef   int int32_t;
    extern "C" __global__ void fill(uint64_t *x, int32_t n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n) x[i] = (uint64_t)i << 33;
    }"""
    kernel = td.RawKernel(text, "fill")
    want = (np.arange(6, dtype="u8") << np.uint64(33)).tolist()
    for call in (
        lambda x: kernel((2,), (4,), args=(x, 6)),
        lambda x: kernel((2,), block=(4,), args=(x, 6), shared_mem=0),
        lambda x: kernel(args=(x, 6), block=(4,), grid=(2,)),
    ):
        x = td.zeros(6, "uint64")
        call(x)
        assert x.tolist() == want
    with pytest.raises(TypeError):
        kernel((2,), args=(x, 6))


def test_structures_by_value(dev):
    """An array of one structure is the structure, for templates too, whose parameters' types are not read."""
    text = """
    template<typename T> struct Pair { T a[2]; };
    template<typename T> __global__ void add(Pair<T> p, T *x) { x[threadIdx.x] += p.a[0] * p.a[1]; }
    """
    module = td.RawModule(code=text, name_expressions=("add<float>", "add<double>"))
    for ctype, dtype in (("float", "float32"), ("double", "float64")):
        pair = np.array([3, 5], dtype).view(np.dtype([("a", dtype, 2)]))
        with td.device(str(dev)):
            x = td.ones(4, dtype)
            for given in (pair, pair[0]):
                module.get_function(f"add<{ctype}>")((1,), (4,), (given, x))
            assert x.tolist() == [31] * 4
            with pytest.raises(TypeError):
                module.get_function(f"add<{ctype}>")((1,), (4,), (np.zeros(3, pair.dtype), x))
