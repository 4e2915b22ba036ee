"""treadle.pycuda.driver: streams, events, contexts, settings, failures, and that what comes goes."""

import ctypes
import gc
import os
import threading

import numpy as np
import pytest
from conftest import DEVICES, LIB
from pycuda_side import TWICE, data

import treadle as td
import treadle.pycuda.driver as cuda
from treadle.pycuda import tools
from treadle.pycuda.compiler import SourceModule, compile

# ---- streams and events ----


def test_streams(ctx):
    for stream in (
        cuda.Stream(),
        cuda.Stream(0),
        cuda.Stream(cuda.stream_flags.NON_BLOCKING),
        cuda.Stream(priority=-1),
    ):
        stream.synchronize()
        assert stream.is_done() is True and isinstance(stream.handle, int)
        event = cuda.Event().record(stream)
        stream.wait_for_event(event)
        assert event.synchronize() is event and event.query() is True
    with pytest.raises(TypeError):
        stream.wait_for_event(3)
    for make in (cuda.Stream, cuda.Event):
        with pytest.raises(cuda.LogicError, match="flags"):
            make(1 << 7)


def test_events(ctx):
    start, end = cuda.Event(), cuda.Event()
    start.record()
    end.record()
    end.synchronize()
    ms = start.time_till(end)
    assert ms >= 0 and end.time_since(start) == ms and start.time_since(end) == -ms
    with pytest.raises(cuda.LogicError, match="recorded"):
        start.time_till(cuda.Event())
    with pytest.raises(cuda.LogicError, match="timing"):
        start.time_till(cuda.Event(cuda.event_flags.DISABLE_TIMING).record())
    with pytest.raises(cuda.LogicError, match="INTERPROCESS"):
        cuda.Event(cuda.event_flags.INTERPROCESS)
    cuda.Event(cuda.event_flags.BLOCKING_SYNC | cuda.event_flags.DISABLE_TIMING).record().synchronize()


def test_events_of_other_processes(ctx):
    event = cuda.Event(cuda.event_flags.INTERPROCESS | cuda.event_flags.DISABLE_TIMING)
    if cuda.Context.get_device()._device.kind == "cpu":
        with pytest.raises(cuda.LogicError, match="NOT_SUPPORTED"):
            event.ipc_handle()
    else:
        handle = event.ipc_handle()
        assert len(handle) == 64
    with pytest.raises(cuda.LogicError):  # not of this process, or nowhere
        cuda.Event.from_ipc_handle(bytes(64))
    with pytest.raises(ValueError):
        cuda.Event.from_ipc_handle(b"123")


def test_any_order_that_streams_and_events_allow():
    """Work done late, in an order drawn by chance: memory, host memory and events outlive what is given to streams."""
    context = cuda.Device("null").make_context()
    try:
        for seed in range(1, 40):
            LIB.td_null_delay(ctypes.c_uint64(seed))
            s, t = cuda.Stream(), cuda.Stream(cuda.stream_flags.NON_BLOCKING)
            x = cuda.pagelocked_empty(500, np.int32)
            x[:] = np.arange(500) * seed
            expected = x.copy()
            a, b = cuda.mem_alloc_like(x), cuda.mem_alloc_like(x)
            cuda.memcpy_htod_async(a, x, s)
            t.wait_for_event(cuda.Event().record(s))
            cuda.memcpy_dtod_async(b, a, x.nbytes, t)
            del a, x  # both may still be read
            gc.collect()
            for _ in range(4):
                cuda.memset_d32_async(cuda.mem_alloc(2000), 0xFFFFFFFF, 500, s)
                cuda.pagelocked_empty(500, np.int32)[:] = -1
            y = cuda.pagelocked_zeros(500, np.int32)
            cuda.memcpy_dtoh_async(y, b, t)
            done = cuda.Event().record(t)
            del t
            done.synchronize()
            np.testing.assert_array_equal(y, expected, err_msg=f"seed {seed}")
    finally:
        LIB.td_null_delay(ctypes.c_uint64(0))
        context.pop()
        td.use(None)


# ---- contexts ----


def test_stack_of_contexts():
    def body():
        one, two = cuda.Device("cpu").make_context(), cuda.Device("null").make_context()
        assert cuda.Context.get_current() is two and cuda.Context.get_device().name() == cuda.Device("null").name()
        memory = cuda.mem_alloc(16)
        assert memory.device.name == "null"
        assert cuda.Context.pop() is two and cuda.Context.get_current() is one
        assert cuda.mem_alloc(16).device.name == "cpu"
        cuda.memcpy_dtoh(np.empty(16, np.uint8), memory)  # an allocation knows where it is
        two.push()
        two.detach()
        assert cuda.Context.get_current() is one
        with pytest.raises(cuda.LogicError, match="detached"):
            two.push()
        with pytest.raises(cuda.LogicError, match="detached"):
            two.detach()
        one.pop()

    _in_thread(body)


def test_use_after_pop():
    memory = []

    def body():
        context = cuda.Device("cpu").make_context()
        memory.append(cuda.to_device(data(4)))
        twice = SourceModule(TWICE).get_function("twice")
        context.pop()
        for call in (
            lambda: cuda.mem_alloc(4),
            lambda: cuda.memcpy_htod(memory[0], data(4)),
            lambda: cuda.memcpy_htod_async(memory[0], data(4)),
            lambda: cuda.memcpy_dtoh(data(4), memory[0]),
            lambda: cuda.memcpy_dtod(memory[0], memory[0], 4),
            lambda: cuda.memset_d8(memory[0], 0, 4),
            lambda: cuda.Stream(),
            lambda: cuda.Event(),
            lambda: cuda.Context.synchronize(),
            lambda: cuda.Context.get_device(),
            lambda: cuda.Context.pop(),
            lambda: cuda.Context.get_limit(cuda.limit.STACK_SIZE),
            lambda: cuda.Context.get_cache_config(),
            lambda: cuda.mem_get_info(),
            lambda: cuda.pagelocked_empty(4, np.float32),
            lambda: cuda.managed_empty(4, np.float32),
            lambda: cuda.register_host_memory(data(4)),
            lambda: cuda.matrix_to_array(data(4).reshape(2, 2), "C"),
            lambda: cuda.start_profiler(),
            lambda: twice(memory[0], block=(4, 1, 1)),
            lambda: twice.prepare("P").prepared_call((1, 1), (4, 1, 1), memory[0]),
            lambda: SourceModule(TWICE),
            lambda: cuda.module_from_buffer(b""),
        ):
            with pytest.raises(cuda.LogicError, match="no context is current"):
                call()
        assert cuda.Context.get_current() is None
        assert td.add(1, 1) == 2  # arrays do not mind
        context.push()
        np.testing.assert_array_equal(cuda.from_device(memory[0], 4, np.float32), data(4))
        twice(memory[0], block=(4, 1, 1))
        np.testing.assert_array_equal(cuda.from_device(memory[0], 4, np.float32), 2 * data(4))
        context.detach()
        with pytest.raises(cuda.LogicError, match="no context is current"):
            cuda.mem_alloc(4)
        memory[0].free()

    _in_thread(body)


def _in_thread(body):
    """Calls body in a thread that has pushed nothing; what it raises is raised here."""
    failed = []

    def run():
        try:
            body()
        except BaseException as e:
            failed.append(e)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if failed:
        raise failed[0]


def test_a_thread_that_pushed_nothing_uses_the_process_s():
    def body():
        assert cuda.from_device(cuda.to_device(data(4)), 4, np.float32).sum() == 6
        assert cuda.Context.get_current() is not None
        with pytest.raises(cuda.LogicError, match="pushed"):
            cuda.Context.pop()
        cuda.mem_alloc(4)

    _in_thread(body)


def test_threads_have_stacks_of_their_own(ctx):
    def body():
        context = cuda.Device("cpu").make_context()
        context.pop()

    _in_thread(body)
    cuda.mem_alloc(4)


def test_primary_contexts(ctx):
    context = cuda.Context.get_device().retain_primary_context()
    assert context.get_api_version() >= 3020
    context.push()
    assert cuda.Context.get_current() is context
    context.detach()
    assert cuda.Context.get_current() is ctx


def test_settings(ctx):
    limits = {"STACK_SIZE": 2048, "PRINTF_FIFO_SIZE": 2 << 20, "MALLOC_HEAP_SIZE": 16 << 20}
    for name, value in limits.items():
        if name != "STACK_SIZE" and ctx.get_device()._device.kind == "cuda":
            continue  # the driver takes them until a kernel has used the like
        before = cuda.Context.get_limit(cuda.limit[name])
        ctx.set_limit(cuda.limit[name], value)
        assert cuda.Context.get_limit(cuda.limit[name]) >= value
        ctx.set_limit(cuda.limit[name], before)
    for number, value in ((99, 1), (cuda.limit.STACK_SIZE, -1)):
        with pytest.raises(cuda.LogicError):
            cuda.Context.set_limit(number, value)
    with pytest.raises(cuda.LogicError):
        cuda.Context.get_limit(99)
    cuda.Context.set_cache_config(cuda.func_cache.PREFER_L1)
    assert cuda.Context.get_cache_config() in (cuda.func_cache.PREFER_L1, cuda.func_cache.PREFER_NONE)
    cuda.Context.set_cache_config(cuda.func_cache.PREFER_NONE)
    cuda.Context.set_shared_config(cuda.shared_config.FOUR_BYTE_BANK_SIZE)
    assert isinstance(cuda.Context.get_shared_config(), cuda.shared_config)
    for wrong in (cuda.Context.set_cache_config, cuda.Context.set_shared_config):
        with pytest.raises(ValueError):
            wrong(77)


def test_peers(ctx):
    device = cuda.Context.get_device()
    assert device.can_access_peer(device) is False
    for call in (cuda.Context.enable_peer_access, cuda.Context.disable_peer_access):
        with pytest.raises(cuda.LogicError):
            call(ctx)


# ---- devices ----


def test_devices():
    assert cuda.init() is None and cuda.Device.count() == 1
    device = cuda.Device(0)
    assert device == cuda.Device("cpu") and hash(device) == hash(cuda.Device("cpu")) and device != cuda.Device("null")
    assert int(device) == 0 and device.name() and "cpu" in repr(device)
    for number in (-1, 1, 100):
        with pytest.raises(cuda.LogicError, match="CUDA_ERROR_INVALID_DEVICE"):
            cuda.Device(number)
    with pytest.raises(cuda.LogicError, match="NOT_SUPPORTED"):
        device.pci_bus_id()
    with pytest.raises(cuda.LogicError, match="no device is there"):
        cuda.Device("0000:99:00.0")


def test_facts_of_devices(ctx):
    device = cuda.Context.get_device()
    assert device.compute_capability() >= (2, 0) and device.total_memory() > 1 << 30
    attributes = device.get_attributes()
    assert len(attributes) > 30 and attributes[cuda.device_attribute.MAX_THREADS_PER_BLOCK] == 1024
    assert str(cuda.device_attribute.WARP_SIZE) == "WARP_SIZE" and str(cuda.ctx_flags.MAP_HOST) == "MAP_HOST"
    for attribute, value in attributes.items():
        assert device.get_attribute(attribute) == value
        if attribute.name != "PCI_BUS_ID":  # PyCUDA's method has that name
            assert getattr(device, attribute.name.lower()) == value
    assert attributes[cuda.device_attribute.COMPUTE_MODE] is cuda.compute_mode.DEFAULT
    with pytest.raises(cuda.LogicError, match="no such attribute"):
        device.get_attribute(9999)
    with pytest.raises(AttributeError):
        assert device.no_such_attribute
    free, total = cuda.mem_get_info()
    assert 0 < free <= total
    assert cuda.get_version() >= (12, 0) and cuda.get_driver_version() >= 12000
    cuda.start_profiler()
    cuda.stop_profiler()
    with pytest.raises(cuda.LogicError, match="profile"):
        cuda.initialize_profiler("a", "b", cuda.profiler_output_mode.CSV)


def test_memory_for_other_processes(ctx):
    memory = cuda.mem_alloc(1 << 20)
    if cuda.Context.get_device()._device.kind == "cpu":
        with pytest.raises(cuda.LogicError, match="cannot be opened"):
            cuda.mem_get_ipc_handle(memory)
        return
    cuda.memset_d8(memory, 7, 1 << 20)
    opened = cuda.IPCMemoryHandle(cuda.mem_get_ipc_handle(memory))
    assert isinstance(opened, cuda.DeviceAllocation) and (cuda.from_device(opened, 1 << 20, np.uint8) == 7).all()
    opened.close()
    with pytest.raises(cuda.LogicError, match="freed"):
        opened.close()
    with pytest.raises(ValueError, match="bytes"):
        cuda.IPCMemoryHandle(b"123")
    with pytest.raises(TypeError):
        cuda.mem_get_ipc_handle(int(memory))


# ---- failures of the driver ----


def _copies():
    return cuda.pagelocked_zeros(8, np.float32), cuda.mem_alloc(32)


def _block():
    copy = cuda.Memcpy2D()
    copy.set_src_host(np.zeros((2, 4), np.float32))
    copy.set_dst_device(cuda.mem_alloc(32))
    copy.width_in_bytes = copy.src_pitch = copy.dst_pitch = 16
    copy.height = 2
    copy()


def _surface():
    cuda.SurfaceReference().set_array(cuda.np_to_array(np.zeros((4, 4), np.float32), "C", allowSurfaceBind=True))


FAULTS = {
    "cuMemcpyHtoDAsync": lambda: cuda.memcpy_htod(cuda.mem_alloc(32), data(8)),
    "cuMemcpyDtoHAsync": lambda: cuda.memcpy_dtoh(data(8), cuda.mem_alloc(32)),
    "cuMemcpyDtoDAsync": lambda: cuda.memcpy_dtod(cuda.mem_alloc(32), cuda.mem_alloc(32), 32),
    "cuMemsetD8Async": lambda: cuda.memset_d8(cuda.mem_alloc(32), 1, 32),
    "cuMemsetD16Async": lambda: cuda.memset_d16(cuda.mem_alloc(32), 1, 16),
    "cuMemsetD32Async": lambda: cuda.memset_d32(cuda.mem_alloc(32), 1, 8),
    "cuMemsetD2D8Async": lambda: cuda.memset_d2d8(cuda.mem_alloc(32), 8, 1, 4, 4),
    "cuMemsetD2D16Async": lambda: cuda.memset_d2d16(cuda.mem_alloc(32), 8, 1, 2, 4),
    "cuMemsetD2D32Async": lambda: cuda.memset_d2d32(cuda.mem_alloc(32), 8, 1, 1, 4),
    "cuMemcpy3DAsync": _block,
    "cuMemHostAlloc": lambda: cuda.pagelocked_empty(8, np.float32),
    "cuMemAllocManaged": lambda: cuda.managed_empty(8, np.float32),
    "cuMemHostRegister": lambda: cuda.register_host_memory(data(8)),
    "cuStreamAttachMemAsync": lambda: cuda.managed_empty(8, np.float32).base.attach(cuda.mem_attach_flags.GLOBAL),
    "cuArray3DCreate": lambda: cuda.np_to_array(data(8), "C"),
    "cuTexObjectCreate": lambda: cuda.TextureReference().set_array(cuda.np_to_array(data(8), "C")),
    "cuSurfObjectCreate": _surface,
    "cuStreamCreate": lambda: cuda.Stream(),
    "cuStreamCreateWithPriority": lambda: cuda.Stream(cuda.stream_flags.NON_BLOCKING),
    "cuStreamQuery": lambda: cuda.Stream().is_done(),
    "cuStreamSynchronize": lambda: cuda.Stream().synchronize(),
    "cuStreamWaitEvent": lambda: cuda.Stream().wait_for_event(cuda.Event().record()),
    "cuEventCreate": lambda: cuda.Event(),
    "cuEventRecord": lambda: cuda.Event().record(),
    "cuEventSynchronize": lambda: cuda.Event().record().synchronize(),
    "cuEventQuery": lambda: cuda.Event().record().query(),
    "cuEventElapsedTime": lambda: cuda.Event().record().time_till(cuda.Event().record()),
    "cuIpcGetEventHandle": lambda: cuda.Event(cuda.event_flags(6)).ipc_handle(),
    "cuIpcOpenEventHandle": lambda: cuda.Event.from_ipc_handle(bytes(64)),
    "cuCtxGetLimit": lambda: cuda.Context.get_limit(cuda.limit.STACK_SIZE),
    "cuCtxSetLimit": lambda: cuda.Context.set_limit(cuda.limit.STACK_SIZE, 1024),
    "cuCtxGetCacheConfig": lambda: cuda.Context.get_cache_config(),
    "cuCtxSetCacheConfig": lambda: cuda.Context.set_cache_config(cuda.func_cache.PREFER_L1),
    "cuCtxGetSharedMemConfig": lambda: cuda.Context.get_shared_config(),
    "cuCtxSetSharedMemConfig": lambda: cuda.Context.set_shared_config(cuda.shared_config.DEFAULT_BANK_SIZE),
    "cuCtxSynchronize": lambda: cuda.Context.synchronize(),
    "cuDeviceGetPCIBusId": lambda: cuda.Context.get_device().pci_bus_id(),
    "cuDeviceGetAttribute": lambda: cuda.Context.get_device().warp_size,
    "cuMemGetInfo": lambda: cuda.mem_get_info(),
    "cuProfilerStart": lambda: cuda.start_profiler(),
    "cuProfilerStop": lambda: cuda.stop_profiler(),
}


@pytest.mark.parametrize("call", FAULTS)
def test_each_failure_of_the_driver_is_told(fault, call):
    """Nothing the driver says is ignored, and the same call works afterwards."""
    context = cuda.Device("null").make_context()
    try:
        cuda.start_profiler()
        if call != "cuIpcOpenEventHandle":  # nothing to open here
            FAULTS[call]()
        cuda.start_profiler()
        fault(call, 1, 400)
        with pytest.raises(cuda.LogicError, match=f"{call}.*CUDA_ERROR_INVALID_HANDLE"):
            FAULTS[call]()
        cuda.start_profiler()
        if call != "cuIpcOpenEventHandle":
            FAULTS[call]()
        gc.collect()
    finally:
        context.pop()
        td.use(None)


def test_codes_become_classes(fault):
    context = cuda.Device("null").make_context()
    try:
        for code, kind in (
            (2, cuda.MemoryError),
            (1, cuda.LogicError),
            (999, cuda.RuntimeError),
            (701, cuda.LaunchError),
            (201, cuda.LogicError),
        ):
            fault("cuEventCreate", 1, code)
            with pytest.raises(kind):
                cuda.Event()
    finally:
        context.pop()
        td.use(None)


# ---- what comes goes ----


def _all_kinds(k, image):
    stream, event = cuda.Stream(), cuda.Event()
    if k % 30 == 0:
        cuda.module_from_buffer(image).get_function("twice")
    memory, pooled = cuda.mem_alloc(4096), cuda.mem_alloc(64)
    event.record(stream)
    pooled.free()
    del stream, event, memory


@pytest.mark.parametrize("name", DEVICES)
def test_memory_stays_flat(name, grown):
    """Streams, events, allocations and modules that come and go leave nothing. TREADLE_TEST_ROUNDS=100000 takes longer."""
    rounds = int(os.environ.get("TREADLE_TEST_ROUNDS", "3000"))
    context = cuda.Device(name).make_context()
    try:
        image = compile(TWICE)

        def run(n):
            for k in range(n):
                _all_kinds(k, image)
            cuda.Context.synchronize()

        run(rounds // 3)
        gc.collect()
        before = context._device.memory_stats()
        grown(lambda: run(rounds), 4 << 20 if name in ("cpu", "null") else 32 << 20)  # the driver keeps some
        stats = context._device.memory_stats()
        assert stats["used"] == before["used"] and stats["cached"] - before["cached"] < 64 << 20
    finally:
        context.pop()
        td.use(None)


# ---- tools that need a context ----


def test_marked_tests_have_a_context():
    def body():
        @tools.mark_cuda_test
        def inner(x, y=1):
            assert cuda.mem_alloc(16).nbytes == 16
            return x + y

        assert inner(1, y=2) == 3
        with pytest.raises(cuda.LogicError):
            cuda.mem_alloc(4)

    _in_thread(body)


LAUNCHES = [{"block": (2048, 1, 1)}, {"block": (32, 64, 1)}, {"block": (1, 1, 65)}, {"block": (1, 1, 1), "grid": (1, 70000)},
            {"block": (0, 1, 1)}, {"block": (1, 1, 1), "grid": (0, 1)}, {"block": (1, 1, 1), "shared": 1 << 20}]  # fmt: skip


@pytest.mark.parametrize("how", LAUNCHES, ids=str)
def test_launches_beyond_limits_are_logic_errors(ctx, how):
    f = SourceModule("__global__ void f(float *a) { a[threadIdx.x] = 1; }").get_function("f")
    a = cuda.mem_alloc(64)
    with pytest.raises(cuda.LogicError):
        f(a, **how)
    if "shared" not in how:
        with pytest.raises(ValueError):
            f.prepare("P").prepared_call(how.get("grid", (1, 1)), how["block"], a)
    f(a, block=(16, 1, 1))
    assert (cuda.from_device(a, 16, np.float32) == 1).all()
