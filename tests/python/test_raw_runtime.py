"""treadle.cuda by CuPy's names: runtime, streams, events, devices, pools, memory, graphs, textures."""

import ctypes
import io
import pickle
import threading

import numpy as np
import pytest

import treadle as td
from treadle import cuda
from treadle.cuda import runtime as rt

TWICE = (
    "__global__ void twice(float *x, int n) { int i = threadIdx.x + blockIdx.x * blockDim.x; if (i < n) x[i] *= 2; }"
)


@pytest.fixture
def host(rng):
    return rng.random(256).astype("f4")


# ---- runtime ----


def test_memory_by_address(dev, host):
    back = np.zeros_like(host)
    p, q = rt.malloc(1024), rt.malloc(1024)
    rt.memcpy(p, host.ctypes.data, 1024, rt.memcpyHostToDevice)
    td.RawKernel(TWICE, "twice")(2, 128, (p, 256))
    rt.memcpy(back.ctypes.data, p, 1024, rt.memcpyDeviceToHost)
    np.testing.assert_array_equal(back, host * 2)
    rt.memset(q, 0, 1024)
    rt.memcpy(q, p, 512, rt.memcpyDeviceToDevice)
    rt.memcpy(back.ctypes.data, q, 1024, rt.memcpyDefault)
    np.testing.assert_array_equal(back, np.concatenate([host[:128] * 2, np.zeros(128, "f4")]))
    stream = rt.streamCreateWithFlags(rt.streamNonBlocking)
    rt.memsetAsync(q, 255, 1024, stream)
    rt.memcpyAsync(q + 4, p, 4, rt.memcpyDeviceToDevice, stream)
    rt.memcpyAsync(back.ctypes.data, q, 8, rt.memcpyDeviceToHost, stream)
    rt.streamSynchronize(stream)
    assert back[:1].view("u4") == 0xFFFFFFFF and back[1] == host[0] * 2
    rt.streamDestroy(stream)
    rt.memcpy2D(q, 16, p, 32, 8, 4, rt.memcpyDeviceToDevice)
    rt.memcpy2D(back.ctypes.data, 8, q, 16, 8, 4, rt.memcpyDeviceToHost)
    np.testing.assert_array_equal(back[:8].reshape(4, 2), (host * 2).reshape(-1, 8)[:4, :2])
    rt.free(p)
    rt.freeAsync(q, 0)
    assert rt.malloc(0) == 0
    rt.free(0)


def test_memory_that_is_not_there(dev, host):
    p = rt.malloc(1024)
    for bad in (
        lambda: rt.memcpy(p, host.ctypes.data, 4096, rt.memcpyHostToDevice),
        lambda: rt.memcpy(p, p + 100, 512, rt.memcpyDeviceToDevice),
        lambda: rt.memset(p + 1000, 0, 100),
        lambda: rt.free(p + 8),
        lambda: rt.streamDestroy(0x123450),
        lambda: rt.eventRecord(0x123450, 0),
        lambda: rt.deviceGetAttribute(99999, 0),
    ):
        with pytest.raises(rt.CUDARuntimeError):
            bad()
    rt.free(p)
    with pytest.raises(rt.CUDARuntimeError):
        rt.free(p)
    with pytest.raises(ValueError):
        rt.memcpy(p, p, 1, 9)
    with pytest.raises(ValueError):
        rt.setDevice(77)


def test_host_memory(dev, host):
    p = rt.hostAlloc(1024, rt.hostAllocDefault)
    ctypes.memmove(p, host.ctypes.data, 1024)
    x = td.zeros(256, dtype=td.float32)
    rt.memcpy(x._address(), p, 1024, rt.memcpyHostToDevice)
    np.testing.assert_array_equal(x.get(), host)
    rt.freeHost(p)
    rt.hostRegister(host.ctypes.data, 1024, rt.hostRegisterDefault)
    rt.hostUnregister(host.ctypes.data)
    m = rt.mallocManaged(1024)
    ctypes.memset(m, 0, 1024)
    rt.free(m)


def test_what_is_told(dev):
    assert rt.getDeviceCount() >= 1 and rt.getDevice() == 0 and rt.runtimeGetVersion() >= 11000
    assert cuda.get_local_runtime_version() == rt.runtimeGetVersion()
    free, total = rt.memGetInfo()
    assert 0 < free <= total
    assert rt.deviceGetAttribute(rt.cudaDevAttrWarpSize, 0) == 32
    assert rt.deviceGetAttribute(rt.cudaDevAttrMaxThreadsPerBlock, 0) == 1024
    p = rt.getDeviceProperties(0)
    assert (
        p["warpSize"] == 32 and p["maxThreadsDim"][2] == 64 and isinstance(p["name"], bytes) and p["totalGlobalMem"] > 0
    )
    assert rt.deviceCanAccessPeer(0, 0) == 0
    rt.setDevice(rt.getDevice())
    rt.deviceSynchronize()
    rt.profilerStart()
    rt.profilerStop()
    x = td.ones(4)
    a = rt.pointerGetAttributes(x._address())
    assert a.device == 0 and a.devicePointer == x._address()
    least, greatest = rt.deviceGetStreamPriorityRange()
    assert greatest <= least
    rt.deviceSetLimit(rt.cudaLimitStackSize, 2048)
    assert rt.deviceGetLimit(rt.cudaLimitStackSize) >= 2048


def test_streams_and_events_by_number(dev):
    s = rt.streamCreate()
    first, last = rt.eventCreate(), rt.eventCreateWithFlags(rt.eventBlockingSync)
    called = threading.Event()
    rt.eventRecord(first, s)
    rt.streamWaitEvent(s, first)
    rt.launchHostFunc(s, lambda given: given.set(), called)
    rt.eventRecord(last, s)
    rt.eventSynchronize(last)
    assert rt.eventElapsedTime(first, last) >= 0 and rt.eventQuery(last) == 0 and rt.streamQuery(s) == 0
    assert called.wait(60)
    rt.eventDestroy(first)
    with pytest.raises(rt.CUDARuntimeError):
        rt.eventDestroy(first)
    rt.eventDestroy(last)
    rt.streamDestroy(s)


# ---- devices ----


def test_device(dev):
    d = cuda.Device()
    assert d == cuda.Device(0) == cuda.Device(td.device()) == cuda.Device(d) and int(d) == d.id == 0
    cc = d.compute_capability
    assert cc == str(cc) and str(cc) == f"{cc[0]}{cc[1]}" == f"{cc}" and int(cc) == cc[0] * 10 + cc[1]
    assert cc >= "50" and cc >= (5, 0) and cc >= 50 and not cc < "50" and cc != "1" and cc == tuple(cc) and cc > "9.5"
    major, minor = cc
    assert (major, minor) == cc and hash(cc) == hash(tuple(cc))
    assert d.attributes["MultiProcessorCount"] == d.attributes["MULTIPROCESSOR_COUNT"] == d.MULTIPROCESSOR_COUNT
    free, total = d.mem_info
    assert 0 < free <= total
    with d as inside:
        assert inside is d and cuda.Device() == d
    d.use()
    d.synchronize()
    with pytest.raises(ValueError):
        cuda.Device(99)
    with pytest.raises(ValueError):
        cuda.Device.from_pci_bus_id("ffff:ff:ff.0")


# ---- streams ----


def test_current_stream(dev):
    null = cuda.Stream.null
    assert cuda.get_current_stream() == null and hash(null) == hash(cuda.get_current_stream())
    a, b = cuda.Stream(), cuda.Stream(non_blocking=True, priority=-1)
    with a:
        assert cuda.get_current_stream() == a
        with b as inside:
            assert inside is b and cuda.get_current_stream() == b
            with a:
                assert cuda.get_current_stream() == a
        assert cuda.get_current_stream() == a
        seen = []
        t = threading.Thread(target=lambda: seen.append(cuda.get_current_stream()))
        with td.device(dev):
            t.start()
        t.join()
        assert seen != [a], "another thread has its own"
    assert cuda.get_current_stream() == null
    a.use()
    assert cuda.get_current_stream() == a
    null.use()
    assert cuda.get_current_stream() == null == cuda.Stream(null=True) == cuda.Stream(True) and null != 3
    if dev != "cpu":
        assert a != b and cuda.ExternalStream(a.ptr) == a


def test_order_of_streams(dev):
    """Kernels on streams and what arrays compute see each other's results."""
    k = td.RawKernel(TWICE, "twice")
    stream = cuda.Stream(non_blocking=True)
    x = td.ones(1 << 16, dtype=td.float32)
    for _ in range(4):
        with stream:
            k(256, 256, (x, 1 << 16))
        x += 1
    stream.synchronize()
    want = 1
    for _ in range(4):
        want = want * 2 + 1
    assert (x.get() == want).all()


def test_events(dev):
    start, stop = cuda.Event(), cuda.Event(block=True, disable_timing=False)
    stream = cuda.Stream()
    start.record(stream)
    with stream:
        td.RawKernel(TWICE, "twice")(1, 32, (td.ones(32, dtype=td.float32), 32))
        stop.record()
    stop.synchronize()
    assert stop.done and cuda.get_elapsed_time(start, stop) >= 0 and stream.done
    stream.wait_event(stop)
    assert stream.record().done in (True, False) and stream.record(stop) is stop
    with pytest.raises(ValueError, match="timing"):
        cuda.get_elapsed_time(cuda.Event(disable_timing=True).record(), stop)


def test_host_functions(dev):
    done, order = threading.Event(), []
    stream = cuda.Stream()
    stream.launch_host_func(order.append, 1)
    stream.add_callback(lambda s, status, arg: (order.append((status, arg)), done.set()), 2)
    stream.synchronize()
    assert done.wait(60) and order == [1, (0, 2)]


# ---- graphs ----


def test_capture(dev):
    k = td.RawKernel(TWICE, "twice")
    x, out = td.ones(256, dtype=td.float32), td.zeros(256, dtype=td.float32)
    stream = cuda.Stream(non_blocking=True)
    with stream:
        stream.begin_capture()
        assert stream.is_capturing()
        k(2, 128, (x, 256))
        out[...] = x + 1
        k(2, 128, (x, 256), stream=stream)
        graph = stream.end_capture()
        assert not stream.is_capturing() and isinstance(graph, cuda.Graph)
        assert x.get()[0] == 1 and out.get()[0] == 0, "nothing has run yet"
        graph.upload()
        for value in (1, 4, 16):
            graph.launch()
            assert (out.get() == 2 * value + 1).all() and (x.get() == 4 * value).all()
    graph.launch(stream=stream)
    assert x.get()[0] == 256
    with pytest.raises(RuntimeError):
        stream.end_capture()
    stream.begin_capture()
    with pytest.raises(RuntimeError):
        stream.begin_capture()
    stream.end_capture()


def test_capture_refuses_values(dev):
    stream = cuda.Stream()
    stream.begin_capture()
    with pytest.raises(ValueError):
        float((td.ones(3) + 1).sum())
    stream.end_capture()
    assert not stream.is_capturing()
    assert float((td.ones(3) + 1).sum()) == 6


# ---- pools and memory ----


def test_default_pool(dev):
    pool = td.get_default_memory_pool()
    assert pool is cuda.get_default_memory_pool()
    before = pool.used_bytes()
    x = td.ones(1 << 18)
    td.evaluate(x)
    assert pool.used_bytes() >= before + (1 << 21) and pool.total_bytes() == pool.used_bytes() + pool.free_bytes()
    del x
    td.synchronize()
    pool.free_all_blocks()
    assert pool.used_bytes() <= before and pool.n_free_blocks() in (0, 1)
    pool.set_limit(size=1 << 30)
    assert pool.get_limit() == 1 << 30
    pool.set_limit(fraction=0.5)
    assert pool.get_limit() == int(td.device().memory * 0.5)
    pool.set_limit(size=0)
    assert pool.get_limit() == 0
    for bad in ({"size": 1, "fraction": 0.1}, {"fraction": 2}, {"size": -1}):
        with pytest.raises(ValueError):
            pool.set_limit(**bad)


def test_pointers(dev):
    p = cuda.alloc(64)
    assert (
        p.size == 64 and int(p) == p.ptr == p.device_pointer and p.device == cuda.Device() and (p + 8).ptr == p.ptr + 8
    )
    p.memset(7, 64)
    (p + 8).memset_async(9, 8)
    out = np.zeros(64, "u1")
    p.copy_to_host(out.ctypes.data, 64)
    assert (out == np.r_[[7] * 8, [9] * 8, [7] * 48]).all()
    q = cuda.malloc_managed(64)
    q.copy_from(p, 64)
    q.copy_from_host(ctypes.c_void_p(np.arange(16, dtype="u1").ctypes.data), 16)
    q.copy_to_host_async(out.ctypes.data, 64, cuda.Stream())
    td.synchronize()
    assert out[20] == 7
    u = cuda.UnownedMemory(p.ptr, 64, p)
    cuda.MemoryPointer(u, 0).memset(1, 4)
    p.copy_to_host(out.ctypes.data, 64)
    assert out[:5].tolist() == [1, 1, 1, 1, 7] and u.device_id == 0
    for bad in (lambda: p.memset(0, 65), lambda: (p + 60).copy_from(p, 8), lambda: p.copy_to_host(out.ctypes.data, 65)):
        with pytest.raises(ValueError):
            bad()


def test_allocators(dev):
    pool = cuda.MemoryPool()
    with cuda.using_allocator(pool.malloc):
        p = cuda.alloc(100)
        assert cuda.get_allocator() == pool.malloc and pool.used_bytes() == 100
        with pytest.raises(ValueError):
            cuda.set_allocator()
    assert cuda.get_allocator() == cuda.get_default_memory_pool().malloc
    del p
    assert pool.used_bytes() == 0
    with pytest.warns(RuntimeWarning, match="arrays"):
        cuda.set_allocator(cuda.malloc_managed)
    try:
        assert cuda.alloc(10).size == 10
    finally:
        cuda.set_allocator()
    assert cuda.MemoryPool(cuda.malloc_managed).malloc(5).size == 5


def test_pinned_memory(dev):
    m = cuda.alloc_pinned_memory(1024)
    a = np.frombuffer(m, "f4", 100)
    a[:] = 3
    assert m.ptr == a.ctypes.data and m.size() >= 1024
    x = td.zeros(100, dtype=td.float32)
    td.copyto(x, a, stream=cuda.Stream())
    assert (x.get() == 3).all()
    cuda.get_default_pinned_memory_pool().free_all_blocks()
    assert td.get_default_pinned_memory_pool().n_free_blocks() == 0
    seen = []
    cuda.set_pinned_memory_allocator(lambda size: seen.append(size) or cuda.PinnedMemoryPool().malloc(size))
    try:
        cuda.alloc_pinned_memory(10)
    finally:
        cuda.set_pinned_memory_allocator()
    assert seen == [10]
    mem = cuda.PinnedMemory(64)
    assert mem.size == 64 and cuda.PinnedMemoryPointer(mem, 0).ptr == mem.ptr


def test_shared_bytes(dev):
    x = td.zeros((4, 6))
    y, z = x + 1, x[:, ::2]
    for a, b, want in (
        (x, x, True),
        (x, x[1:], True),
        (x[:2], x[2:], False),
        (z, x[:, 1::2], False),
        (x, y, False),
        (x[:0], x, False),
    ):
        assert td.shares_memory(a, b) is want, (a.shape, b.shape)
    assert td.may_share_memory(z, x[:, 1::2]) and not td.may_share_memory(x[:2], x[2:])
    assert not td.shares_memory(x, td.zeros(3, device="null" if dev != "null" else "cpu"))
    if dev == "cpu":
        host = np.zeros(4)
        assert td.shares_memory(td.asarray(host, copy=False), host) and not td.shares_memory(td.asarray(host), host)


def test_memory_hooks(dev):
    from treadle.cuda import memory_hooks

    lines, prints = memory_hooks.LineProfileHook(), io.StringIO()
    with lines:
        x = td.ones(1 << 16) + 1
        td.evaluate(x)
    report = io.StringIO()
    lines.print_report(report)
    assert "test_raw_runtime.py" in report.getvalue() and "512.0KB" in report.getvalue()
    with memory_hooks.DebugPrintHook(prints):
        td.evaluate(td.ones(1 << 16) + 2)
    assert "mem_size" in prints.getvalue()


def test_nvtx_and_profiler(dev):
    from treadle.cuda import nvtx, profiler

    nvtx.Mark("here", 3)
    nvtx.RangePush("range")
    nvtx.RangePushC("inner", 0xFF00FF00)
    nvtx.RangePop()
    nvtx.RangePop()
    nvtx.MarkC("there")
    assert nvtx.available in (True, False)
    profiler.start()
    profiler.stop()
    with cuda.profile():
        pass


# ---- textures ----

READ = """
extern "C" __global__ void read(float *out, cudaTextureObject_t t, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height)
        out[y * width + x] = tex2D<float>(t, x + 0.5f, y + 0.5f);
}
"""


def _texture(data, mode=rt.cudaAddressModeClamp, filter=rt.cudaFilterModePoint):
    from treadle.cuda import texture

    height, width = data.shape
    array = texture.CUDAarray(
        texture.ChannelFormatDescriptor(32, 0, 0, 0, rt.cudaChannelFormatKindFloat), width, height
    )
    array.copy_from(data)
    return array, texture.TextureObject(
        texture.ResourceDescriptor(rt.cudaResourceTypeArray, cuArr=array),
        texture.TextureDescriptor((mode, mode), filter, rt.cudaReadModeElementType),
    )


def test_texture(dev, rng):
    data = rng.random((16, 8)).astype("f4")
    array, texture = _texture(data)
    back = np.zeros_like(data)
    array.copy_to(back)
    np.testing.assert_array_equal(back, data)
    array.copy_from(td.asarray(data) * 2)
    y = td.zeros((16, 8), dtype=td.float32)
    array.copy_to(y)
    np.testing.assert_array_equal(y.get(), data * 2)
    td.RawKernel(READ, "read")((1, 1), (8, 16), (y, texture, 8, 16))
    np.testing.assert_array_equal(y.get(), data * 2)
    for bad in (data[:3], data.astype("f8"), np.asfortranarray(data)):
        with pytest.raises(ValueError):
            array.copy_from(bad)


def test_textures_of_memory_and_surfaces(dev, rng):
    from treadle.cuda import texture as tx

    one = tx.ChannelFormatDescriptor(32, 0, 0, 0, rt.cudaChannelFormatKindFloat)
    how = tx.TextureDescriptor((rt.cudaAddressModeClamp,) * 2, rt.cudaFilterModePoint, rt.cudaReadModeElementType)
    a = rng.random((4, 128)).astype("f4")
    x, y = td.asarray(a), td.zeros((4, 128), dtype=td.float32)
    line = td.RawKernel(
        'extern "C" __global__ void f(float *y, cudaTextureObject_t t, int n)'
        "{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = tex1Dfetch<float>(t, n - 1 - i); }", "f"
    )  # fmt: skip
    shown = tx.TextureObject(
        tx.ResourceDescriptor(rt.cudaResourceTypeLinear, arr=x, chDesc=one, sizeInBytes=x.nbytes), how
    )
    line(4, 128, (y, shown, 512))
    np.testing.assert_array_equal(y.get().ravel(), a.ravel()[::-1])
    pitch = tx.ResourceDescriptor(rt.cudaResourceTypePitch2D, arr=x, chDesc=one, width=128, height=4, pitchInBytes=512)
    td.RawKernel(READ, "read")((16, 1), (8, 4), (y, tx.TextureObject(pitch, how), 128, 4))
    np.testing.assert_array_equal(y.get(), a)
    array = tx.CUDAarray(one, 128, 4, flags=rt.cudaArraySurfaceLoadStore)
    surface = tx.SurfaceObject(tx.ResourceDescriptor(rt.cudaResourceTypeArray, cuArr=array))
    td.RawKernel(
        'extern "C" __global__ void g(cudaSurfaceObject_t s, const float *x)'
        "{ int i = threadIdx.x, j = blockIdx.x; surf2Dwrite<float>(x[j * 128 + i] * 2, s, i * 4, j); }", "g"
    )(4, 128, (surface, x))  # fmt: skip
    array.copy_to(y)
    np.testing.assert_array_equal(y.get(), a * 2)


def test_texture_wrong_ways(dev):
    from treadle.cuda import texture as tx

    for bits in ((0, 0, 0, 0), (32, 32, 32, 0), (8, 16, 0, 0), (32, 0, 8, 0)):
        with pytest.raises(ValueError):
            tx.ChannelFormatDescriptor(*bits, rt.cudaChannelFormatKindFloat)
    one = tx.ChannelFormatDescriptor(8, 8, 8, 8, rt.cudaChannelFormatKindUnsigned)
    assert one.get_channel_format() == {"x": 8, "y": 8, "z": 8, "w": 8, "f": 1}
    with pytest.raises(ValueError):
        tx.CUDAarray(one, 0)
    with pytest.raises(ValueError):
        tx.ResourceDescriptor(rt.cudaResourceTypeArray)
    with pytest.raises(ValueError):
        tx.TextureDescriptor(borderColors=(1, 2, 3, 4))
    with pytest.raises(ValueError):
        tx.SurfaceObject(tx.ResourceDescriptor(rt.cudaResourceTypeLinear, arr=td.zeros(4), chDesc=one))


def test_errors_are_treadles():
    assert issubclass(td.DeviceError, rt.CUDARuntimeError) and rt.CUDARuntimeError is td.Error
    assert cuda.OutOfMemoryError is td.OutOfMemoryError
    with pytest.raises(AttributeError, match="begin_capture"):
        getattr(rt, "graphLaunch")  # noqa: B009
    with pytest.raises(AttributeError, match="one for each GPU"):
        getattr(cuda, "nccl")  # noqa: B009
    assert pickle.loads(pickle.dumps(cuda.runtime.memcpyDefault)) == 4


def test_arrays_over_pointers(dev):
    """CuPy's ndarray(shape, dtype, memptr, strides, order)."""
    with td.device(dev):
        p = cuda.alloc(96)
        a = td.ndarray((12,), "f8", p)
        a[...] = td.arange(12.0)
        td.ndarray((3, 4), np.float64, memptr=p)[0, 0] = 7
        assert td.ndarray((2, 2), "f8", p + 16).get().tolist() == [[2, 3], [4, 5]]
        assert td.ndarray((3, 2), "f8", p, (32, 8)).get().tolist() == [[7, 1], [4, 5], [8, 9]]
        assert td.ndarray((3, 4), "f8", p, order="F").get()[1].tolist() == [1, 4, 7, 10]
        with pytest.raises(ValueError, match="104 bytes"):
            td.ndarray((13,), "f8", p)
        with pytest.raises(ValueError, match="12 bytes"):
            td.ndarray((3,), "f8", p, (12,))
