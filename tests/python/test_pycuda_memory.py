"""treadle.pycuda.driver: memory and copies, and what is refused with nothing overwritten."""


import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pycuda_side import TWICE, data

import treadle as td
import treadle.pycuda.driver as cuda
from treadle.pycuda.compiler import SourceModule

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
