"""treadle.pycuda.driver: memory, copies, fills, streams, events, contexts, settings, and what is refused."""

import ctypes
import gc
import os
import pathlib
import threading

import numpy as np
import pytest
from conftest import DEVICES
from hypothesis import given
from hypothesis import strategies as st

import treadle as td
import treadle.pycuda.driver as cuda
from treadle.pycuda import tools
from treadle.pycuda.compiler import SourceModule, compile

TWICE = """
__constant__ float table[4];
__global__ void twice(float *x) { x[threadIdx.x] *= 2; }
__global__ void look(float *x) { x[threadIdx.x] = table[threadIdx.x]; }
"""


@pytest.fixture
def fault():
    """fault(call, n, code): the n-th call from now of the null device's driver function fails."""
    lib = ctypes.CDLL(str(pathlib.Path(td.__file__).parent / "libtreadle.so"))
    called = set()

    def fail(call, n, code):
        called.add(call)
        lib.td_null_fail(call.encode(), n, code)

    yield fail
    for call in called:
        lib.td_null_fail(call.encode(), 0, 0)


def data(n=100, dtype=np.float32):
    return np.arange(n).astype(dtype)


# ---- memory and copies ----


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.float32, np.complex128])
@pytest.mark.parametrize("n", [1, 7, 1000, 300_000])
def test_there_and_back(ctx, dtype, n):
    x, y = data(n, dtype), np.zeros(n, dtype)
    memory = cuda.mem_alloc(x.nbytes)
    assert (
        memory.nbytes == x.nbytes
        and int(memory) == memory.__index__()
        and memory.device == cuda.Context.get_device()._device
    )
    cuda.memcpy_htod(memory, x)
    cuda.memcpy_dtoh(y, memory)
    np.testing.assert_array_equal(x, y)
    y[:] = 0
    cuda.memcpy_dtoh(y, int(memory))  # addresses are numbers, too
    np.testing.assert_array_equal(x, y)
    memory.free()


def test_parts_by_offset(ctx):
    x = data(64)
    memory = cuda.to_device(x)
    cuda.memcpy_htod(int(memory) + 4 * 10, np.full(3, -1, np.float32))
    x[10:13] = -1
    np.testing.assert_array_equal(cuda.from_device(memory, (8, 8), np.float32).ravel(), x)
    np.testing.assert_array_equal(cuda.from_device(int(memory) + 4 * 60, 4, np.float32), x[60:])
    np.testing.assert_array_equal(cuda.from_device_like(memory, x.reshape(8, 8)), x.reshape(8, 8))


def test_order_f(ctx):
    x = np.asfortranarray(data(12).reshape(3, 4))
    memory = cuda.to_device(x)
    np.testing.assert_array_equal(cuda.from_device(memory, (3, 4), np.float32, order="F"), x)
    np.testing.assert_array_equal(cuda.from_device_like(memory, x), x)


def test_asynchronous_copies(ctx):
    stream = cuda.Stream()
    x = cuda.pagelocked_empty(1000, np.float32)
    y = cuda.pagelocked_zeros_like(x)
    x[:] = data(1000)
    memory, other = cuda.mem_alloc_like(x), cuda.mem_alloc_like(x)
    cuda.memcpy_htod_async(memory, x, stream)
    cuda.memcpy_dtod_async(other, memory, x.nbytes, stream)
    cuda.memcpy_dtoh_async(y, other, stream)
    stream.synchronize()
    np.testing.assert_array_equal(x, y)
    plain = np.zeros(1000, np.float32)
    cuda.memcpy_dtoh_async(plain, other, stream)
    stream.synchronize()
    np.testing.assert_array_equal(x, plain)
    cuda.memcpy_peer(memory, other, 400)
    cuda.memcpy_peer_async(memory, other, 400, stream=stream)
    cuda.Context.synchronize()


def test_asynchronous_copies_keep_host_memory(ctx):
    """The pinned array may go before the copy has been done."""
    stream = cuda.Stream()
    memory = cuda.mem_alloc(4 << 20)
    for k in range(20):
        x = cuda.pagelocked_empty(1 << 20, np.float32)
        x.fill(k)
        cuda.memcpy_htod_async(memory, x, stream)
        del x
    stream.synchronize()
    np.testing.assert_array_equal(cuda.from_device(memory, 1 << 20, np.float32), np.full(1 << 20, 19, np.float32))


@pytest.mark.parametrize("bits", [8, 16, 32])
def test_fills(ctx, bits):
    dtype = np.dtype(f"uint{bits}")
    value = 0xF1E2D3C4 & (2**bits - 1)
    memory = cuda.mem_alloc(60 * dtype.itemsize)
    plain, later = getattr(cuda, f"memset_d{bits}"), getattr(cuda, f"memset_d{bits}_async")
    plain(memory, 0, 60)
    later(int(memory) + 10 * dtype.itemsize, value, 20, None)
    expected = np.zeros(60, dtype)
    expected[10:30] = value
    np.testing.assert_array_equal(cuda.from_device_like(memory, expected), expected)
    block, block_later = getattr(cuda, f"memset_d2d{bits}"), getattr(cuda, f"memset_d2d{bits}_async")
    stream = cuda.Stream()
    block(memory, 12 * dtype.itemsize, 3, 12, 5)
    stream.synchronize()
    block_later(int(memory) + 2 * dtype.itemsize, 12 * dtype.itemsize, value, 7, 4, stream)
    stream.synchronize()
    expected = np.full((5, 12), 3, dtype)
    expected[:4, 2:9] = value
    np.testing.assert_array_equal(cuda.from_device_like(memory, expected), expected)
    plain(memory, -1, 60)
    assert (cuda.from_device(memory, 60, dtype) == 2**bits - 1).all()
    with pytest.raises(OverflowError):
        plain(memory, 2**bits, 1)
    plain(memory, 0, 0)


def test_variables_of_modules(ctx):
    module = SourceModule(TWICE)
    at, nbytes = module.get_global("table")
    assert nbytes == 16
    cuda.memcpy_htod(at, data(4))
    out = cuda.mem_alloc(16)
    module.get_function("look")(out, block=(4, 1, 1))
    np.testing.assert_array_equal(cuda.from_device(out, 4, np.float32), data(4))
    cuda.memcpy_htod(at + 4, np.full(2, 9, np.float32))
    cuda.memset_d32(at, 0, 1)
    np.testing.assert_array_equal(cuda.from_device(at, 4, np.float32), [0, 9, 9, 3])
    for call in (
        lambda: cuda.memcpy_htod(at, data(5)),
        lambda: cuda.memcpy_htod(at + 4, data(4)),
        lambda: cuda.memcpy_dtoh(data(5), at),
        lambda: cuda.memset_d8(at, 0, 17),
    ):
        with pytest.raises(cuda.LogicError, match="ends after 1[26]"):
            call()
    np.testing.assert_array_equal(cuda.from_device(at, 4, np.float32), [0, 9, 9, 3])


def test_managed_arrays_are_arguments(ctx):
    module = SourceModule(TWICE)
    twice, look = module.get_function("twice"), module.get_function("look")
    x = cuda.managed_empty(8, np.float32)
    x[:] = data(8)
    twice(x, block=(4, 1, 1))
    twice(x[3:], block=(4, 1, 1))
    twice(x.reshape(2, 4)[1], block=(1, 1, 1))
    cuda.Context.synchronize()
    np.testing.assert_array_equal(x, [0, 2, 4, 12, 16, 10, 12, 7])
    frozen = x[:4]
    frozen.flags.writeable = False
    before = x.copy()
    wrong = cuda.managed_empty(4, np.float64)
    gone = cuda.managed_empty(4, np.float32)
    gone.base.free()
    for array, error in ((wrong, TypeError), (frozen, ValueError), (x[::2], ValueError), (gone, cuda.LogicError), (np.zeros(4, np.float32), TypeError)):
        for call in (twice, look, twice.prepare("P").prepared_call):
            with pytest.raises(error):
                call((1, 1), (4, 1, 1), array) if call not in (twice, look) else call(array, block=(4, 1, 1))
    cuda.Context.synchronize()
    np.testing.assert_array_equal(x, before)


@pytest.mark.parametrize("name", ["cpu", "null"])
def test_addresses_that_kernels_get(name):
    """A number that is no address of a live allocation would end the process where the host runs the kernel."""
    context = cuda.Device(name).make_context()
    try:
        twice = SourceModule(TWICE).get_function("twice")
        memory = cuda.to_device(data(8))
        twice(int(memory) + 16, block=(4, 1, 1))
        np.testing.assert_array_equal(cuda.from_device(memory, 8, np.float32), [0, 1, 2, 3, 8, 10, 12, 14])
        was = int(memory)
        memory.free()
        for address in (was, 12345, np.int64(12345), memory):
            for call in (twice, twice.prepare("P").prepared_call):
                with pytest.raises(cuda.LogicError, match="twice"):
                    call((1, 1), (4, 1, 1), address) if call is not twice else call(address, block=(4, 1, 1))
    finally:
        context.pop()
        td.use(None)


def test_memory_of_streams_that_do_not_wait(ctx):
    """Memory that arrays have freed while their work runs is not written by a stream that does not wait for it."""
    stream = cuda.Stream(cuda.stream_flags.NON_BLOCKING)
    for k in range(5):
        x = td.full(1 << 20, k, dtype="float32") + 1
        td.evaluate(x)
        total = x.sum()
        td.evaluate(total)
        del x
        memory = cuda.mem_alloc(4 << 20)
        cuda.memset_d32_async(memory, 0, 1 << 20, stream)
        assert total == (k + 1) * (1 << 20)
        stream.synchronize()
        assert not cuda.from_device(memory, 1 << 20, np.uint32).any()


def test_pitched_memory(ctx):
    memory, pitch = cuda.mem_alloc_pitch(100, 7, 4)
    assert pitch >= 100 and pitch % 128 == 0 and memory.nbytes >= pitch * 7
    with pytest.raises(cuda.LogicError):
        cuda.mem_alloc_pitch(100, 7, 3)


def test_pointer_holders(ctx):
    class Holder(cuda.PointerHolderBase):
        def __init__(self):
            super().__init__()
            self.memory = cuda.to_device(data(10))

        def get_pointer(self):
            return int(self.memory)

    holder = Holder()
    np.testing.assert_array_equal(cuda.from_device(holder, 10, np.float32), data(10))
    assert int(holder) == int(holder.memory)
    with pytest.raises(NotImplementedError):
        cuda.memcpy_htod(cuda.PointerHolderBase(), data())
    for wrong in ("x", 1.5, data(3), object()):
        with pytest.raises((TypeError, ValueError)):
            cuda.memcpy_htod(wrong, data())


def test_arrays_of_treadle_are_device_memory(ctx):
    x = td.asarray(data(10), device=cuda.Context.get_device()._device)
    cuda.memcpy_htod(x, np.full(10, 7, np.float32))
    np.testing.assert_array_equal(x.get(), np.full(10, 7))


def test_as_buffer(ctx):
    memory = cuda.to_device(np.arange(16, dtype=np.uint8))
    if cuda.Context.get_device()._device.kind == "cuda":
        with pytest.raises(TypeError, match="managed"):
            memory.as_buffer(16)
        return
    view = memory.as_buffer(4, 8)
    assert bytes(view) == bytes(range(8, 12))
    view[0] = 99
    assert cuda.from_device(memory, 16, np.uint8)[8] == 99
    for size, offset in ((17, 0), (1, 16), (-1, 0), (1, -1)):
        with pytest.raises(cuda.LogicError):
            memory.as_buffer(size, offset)


def test_arguments_of_kernels(ctx):
    x = data(8)
    for kind, before, after in ((cuda.In, True, False), (cuda.Out, False, True), (cuda.InOut, True, True)):
        for stream in (None, cuda.Stream()):
            mine = x.copy()
            argument = kind(mine)
            memory = argument.get_device_alloc()
            assert argument.get_device_alloc() is memory and memory.nbytes == x.nbytes
            cuda.memset_d32(memory, 0, 8)
            argument.pre_call(stream)
            cuda.Context.synchronize()
            assert (cuda.from_device_like(memory, x) == (x if before else 0)).all()
            cuda.memset_d32(memory, 0, 8)
            argument.post_call(stream)
            cuda.Context.synchronize()
            np.testing.assert_array_equal(mine, 0 * x if after else x)
    with pytest.raises(TypeError, match="In, Out and InOut"):
        cuda.In(3).get_device_alloc()


# ---- what is refused, with nothing overwritten ----


def test_sizes_and_addresses_are_checked(ctx):
    x = data(16)
    memory, beside = cuda.to_device(x), cuda.to_device(x)
    freed = cuda.mem_alloc(64)
    was = int(freed)
    freed.free()
    big, small = np.full(17, -1, np.float32), np.zeros(3, np.float32)
    refused = [
        lambda: cuda.memcpy_htod(memory, big),
        lambda: cuda.memcpy_htod(int(memory), big),
        lambda: cuda.memcpy_htod(int(memory) + 4, np.full(16, -1, np.float32)),
        lambda: cuda.memcpy_dtoh(big, memory),
        lambda: cuda.memcpy_htod_async(memory, big, cuda.Stream()),
        lambda: cuda.memcpy_dtoh_async(big, memory, cuda.Stream()),
        lambda: cuda.memcpy_dtod(memory, beside, 65),
        lambda: cuda.memcpy_dtod(int(memory) + 60, beside, 5),
        lambda: cuda.memcpy_dtod(memory, int(memory) + 8, 32),  # they overlap
        lambda: cuda.memcpy_dtod(memory, beside, -1),
        lambda: cuda.memset_d32(memory, 0, 17),
        lambda: cuda.memset_d32(memory, 0, -1),
        lambda: cuda.memset_d32(int(memory) + 2, 0, 1),  # not aligned
        lambda: cuda.memset_d2d8(memory, 8, 0, 9, 2),  # rows are longer than the pitch
        lambda: cuda.memset_d2d8(memory, 2**62, 0, 8, 2**62),
        lambda: cuda.mem_alloc(0),
        lambda: cuda.mem_alloc(-5),
        lambda: cuda.memcpy_htod(freed, small),
        lambda: cuda.memcpy_htod(was, small),
        lambda: cuda.memcpy_dtoh(small, was),
        lambda: int(freed),
        lambda: freed.nbytes,
        lambda: freed.free(),
        lambda: cuda.memcpy_htod(0, small),
        lambda: cuda.memcpy_htod(12345, small),
        lambda: cuda.memcpy_htod(2**63, small),
    ]
    for call in refused:
        with pytest.raises(cuda.LogicError, match=r"CUDA_ERROR_INVALID_VALUE"):
            call()
    for call in (lambda: cuda.memcpy_htod(2**64, small), lambda: cuda.memcpy_htod(-4, small)):
        with pytest.raises((cuda.LogicError, OverflowError)):
            call()
    np.testing.assert_array_equal(cuda.from_device_like(memory, x), x)
    np.testing.assert_array_equal(cuda.from_device_like(beside, x), x)
    assert (big == -1).all() and (small == 0).all()


def test_the_text_names_call_and_arguments(ctx):
    memory = cuda.mem_alloc(64)
    with pytest.raises(
        cuda.LogicError, match=rf"cuMemcpyHtoD\({int(memory):#x}, 400 bytes\).*allocation ends after 64"
    ):
        cuda.memcpy_htod(memory, data(100))
    with pytest.raises(cuda.MemoryError, match=r"cuMemAlloc\(35184372088832\)"):
        cuda.mem_alloc(1 << 45)


def test_host_arrays_are_checked(ctx):
    memory = cuda.mem_alloc(64)
    frozen = np.zeros(4, np.float32)
    frozen.flags.writeable = False
    cuda.memcpy_htod(memory, frozen)
    for call in (
        lambda: cuda.memcpy_dtoh(frozen, memory),
        lambda: cuda.memcpy_htod(memory, data(16)[::2]),
        lambda: cuda.memcpy_dtoh(np.zeros((4, 4), np.float32)[:, :2], memory),
        lambda: cuda.to_device(data(16)[::2]),
    ):
        with pytest.raises((ValueError, BufferError)):
            call()
    for call in (
        lambda: cuda.memcpy_htod(memory, 3),
        lambda: cuda.memcpy_dtoh("abc", memory),
        lambda: cuda.mem_alloc("many"),
    ):
        with pytest.raises((TypeError, BufferError)):
            call()
    cuda.memcpy_htod(memory, np.zeros(0, np.float32))


def test_memory_that_is_out_is_a_memory_error(ctx):
    with pytest.raises(cuda.MemoryError) as e:
        cuda.mem_alloc(1 << 45)
    assert (
        isinstance(e.value, MemoryError)
        and isinstance(e.value, cuda.Error)
        and isinstance(e.value, td.OutOfMemoryError)
    )


def test_classes_of_errors():
    assert issubclass(cuda.LogicError, cuda.Error) and issubclass(cuda.LaunchError, cuda.Error)
    assert issubclass(cuda.RuntimeError, (cuda.Error)) and issubclass(cuda.RuntimeError, RuntimeError)
    assert issubclass(cuda.MemoryError, cuda.Error) and issubclass(cuda.MemoryError, MemoryError)
    assert issubclass(cuda.CompileError, cuda.Error)
    assert td.Error is cuda.Error and td.LogicError is cuda.LogicError and td.LaunchError is cuda.LaunchError
    error = cuda.CompileError("no such thing")
    assert error.msg == error.stderr == "no such thing" and error.stdout == "" and error.command_line == ()


@given(st.lists(st.tuples(st.integers(0, 80), st.integers(0, 80), st.integers(0, 40)), max_size=20))
def test_copies_within_the_device_are_as_in_numpy(copies):
    """What is refused changes nothing; what is not does what NumPy's slices do."""
    for name in ("cpu", "null"):
        context = cuda.Device(name).make_context()
        try:
            x, y = np.arange(64, dtype=np.uint8), np.arange(64, 128, dtype=np.uint8)
            a, b = cuda.to_device(x), cuda.to_device(y)
            for to, start, n in copies:
                if to + n > 64 or start + n > 64:
                    with pytest.raises(cuda.LogicError):
                        cuda.memcpy_dtod(int(a) + to, int(b) + start, n)
                else:
                    cuda.memcpy_dtod(int(a) + to, int(b) + start, n)
                    x[to : to + n] = y[start : start + n]
            np.testing.assert_array_equal(cuda.from_device_like(a, x), x)
            np.testing.assert_array_equal(cuda.from_device_like(b, y), y)
        finally:
            context.pop()
            td.use(None)


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
    lib = ctypes.CDLL(str(pathlib.Path(td.__file__).parent / "libtreadle.so"))
    context = cuda.Device("null").make_context()
    try:
        for seed in range(1, 40):
            lib.td_null_delay(ctypes.c_uint64(seed))
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
        lib.td_null_delay(ctypes.c_uint64(0))
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
        used = context._device.memory_stats()["used"]
        grown(lambda: run(rounds), 4 << 20 if name in ("cpu", "null") else 32 << 20)  # the driver keeps some
        stats = context._device.memory_stats()
        assert stats["used"] == used and stats["cached"] < 64 << 20
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
