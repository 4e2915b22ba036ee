"""treadle.pycuda: textures and surfaces by reference, pools of memory, tools."""

import ctypes
import gc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import treadle as td
import treadle.pycuda.driver as cuda
from treadle import _core
from treadle.pycuda import characterize, tools

# ---- references ----


def test_texture_references(ctx):
    texture = cuda.TextureReference()
    for call in (texture.get_array, texture.get_address, texture.get_format):
        with pytest.raises(cuda.LogicError):
            call()
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    cuda.matrix_to_texref(x, texture, "C")
    assert (
        texture.get_filter_mode() is cuda.filter_mode.POINT and texture.get_address_mode(0) is cuda.address_mode.CLAMP
    )
    assert texture.get_format() == (cuda.array_format.FLOAT, 1) and texture.get_array().get_descriptor().width == 4
    texture.set_filter_mode(cuda.filter_mode.LINEAR)
    texture.set_address_mode(1, cuda.address_mode.WRAP)
    texture.set_flags(cuda.TRSF_NORMALIZED_COORDINATES)
    assert (
        texture.get_flags() == cuda.TRSF_NORMALIZED_COORDINATES
        and texture.get_address_mode(1) is cuda.address_mode.WRAP
    )
    texture.set_flags(0)
    memory = cuda.to_device(x)
    texture.set_filter_mode(cuda.filter_mode.POINT)
    assert texture.set_address(memory, x.nbytes) == 0 and texture.get_address() == int(memory)
    texture.set_format(cuda.array_format.UNSIGNED_INT8, 4)
    assert texture.get_format() == (cuda.array_format.UNSIGNED_INT8, 4)
    rows, pitch = cuda.mem_alloc_pitch(16, 3, 4)
    descriptor = cuda.ArrayDescriptor()
    descriptor.width, descriptor.height = 4, 3
    texture.set_address_2d(rows, descriptor, pitch)
    assert texture.get_address() == int(rows)
    with pytest.raises(cuda.LogicError):
        texture.set_address(memory, x.nbytes + 1 << 20)
    with pytest.raises(cuda.LogicError):
        texture.set_address(memory, -4)
    with pytest.raises(cuda.LogicError, match="flags"):
        texture.set_flags(1 << 8)
    for wrong in (
        lambda: texture.set_array(memory),
        lambda: texture.set_filter_mode(9),
        lambda: texture.set_address_mode(0, 9),
    ):
        with pytest.raises((TypeError, ValueError)):
            wrong()


class _CpuTexture(ctypes.Structure):
    """td_cu_texture of cuhost/abi.h: what code on a CPU finds where the texture's number points to."""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("extent", ctypes.c_uint32 * 3),
        ("layered", ctypes.c_uint32),
        ("pitch", ctypes.c_size_t),
        ("slice", ctypes.c_size_t),
        ("channels", ctypes.c_uint8),
        ("kind", ctypes.c_char),
        ("size", ctypes.c_uint8),
        ("address", ctypes.c_uint8 * 3),
        ("linear", ctypes.c_uint8),
        ("normalized", ctypes.c_uint8),
        ("as_float", ctypes.c_uint8),
        ("border", ctypes.c_float * 4),
    ]


@pytest.mark.parametrize("name", ["cpu", "null"])
def test_what_code_on_a_cpu_finds(name):
    context = cuda.Device(name).make_context()
    try:
        x = np.arange(2 * 3 * 4, dtype=np.int16).reshape(2, 3, 4)
        array = cuda.np_to_array(x, "C")
        options = {"address": (0, 1, 2), "filter": 1, "flags": cuda.TRSF_NORMALIZED_COORDINATES | cuda.TRSF_READ_AS_INTEGER}
        texture = _core.Texture(array, **options)
        del array  # the texture keeps it
        gc.collect()
        seen = _CpuTexture.from_address(texture.handle)
        assert [*seen.extent] == [4, 3, 2] and (seen.channels, seen.kind, seen.size) == (1, b"i", 2)
        assert [*seen.address] == [0, 1, 2] and (seen.linear, seen.normalized, seen.as_float, seen.layered) == (1, 1, 0, 0)
        row = (ctypes.c_int16 * 4).from_address(seen.data + seen.slice + 2 * seen.pitch)
        assert [*row] == [*x[1, 2]]
        memory, pitch = cuda.mem_alloc_pitch(12, 5, 4)
        rows = _core.Texture(memory, width=3, height=5, pitch=pitch, format=0x20, channels=1)
        seen = _CpuTexture.from_address(rows.handle)
        assert (seen.data, [*seen.extent], seen.pitch, seen.kind, seen.as_float) == (int(memory), [3, 5, 0], pitch, b"f", 1)
        row = _core.Texture(memory, width=3, format=1, channels=4)
        seen = _CpuTexture.from_address(row.handle)
        assert ([*seen.extent], seen.kind, seen.channels) == ([3, 0, 0], b"u", 4)
    finally:
        context.pop()
        td.use(None)


def test_surface_references(ctx):
    surface = cuda.SurfaceReference()
    with pytest.raises(cuda.LogicError):
        surface.get_array()
    array = cuda.np_to_array(np.zeros((4, 4), np.float32), "C", allowSurfaceBind=True)
    surface.set_array(array)
    assert surface.get_array() is array
    with pytest.raises(cuda.LogicError, match="SURFACE_LDST"):
        surface.set_array(cuda.np_to_array(np.zeros((4, 4), np.float32), "C"))
    assert surface.get_array() is array
    with pytest.raises(TypeError):
        surface.set_array(3)


def test_arrays_and_textures_leave_nothing(ctx):
    for _ in range(50):
        texture = cuda.TextureReference()
        cuda.matrix_to_texref(np.zeros((64, 64), np.float32), texture, "C")
        texture.set_filter_mode(cuda.filter_mode.LINEAR)
        del texture
    cuda.Context.synchronize()
    gc.collect()
    assert cuda.Context.get_device()._device.memory_stats()["used"] < 1 << 30


# ---- pools ----


def test_device_memory_pool(ctx):
    pool = tools.DeviceMemoryPool()
    x = pool.allocate(1000)
    assert (pool.active_blocks, pool.held_blocks, pool.active_bytes) == (1, 0, 1000) and pool.managed_bytes >= 1000
    data = np.arange(250, dtype=np.float32)
    cuda.memcpy_htod(x, data)
    np.testing.assert_array_equal(cuda.from_device_like(x, data), data)
    was = int(x)
    del x
    assert (pool.active_blocks, pool.held_blocks, pool.active_bytes) == (0, 1, 0)
    y = pool.allocate(999)
    assert int(y) == was and isinstance(y, tools.PooledDeviceAllocation) and y.nbytes == 999
    y.free()
    for call in (y.free, lambda: int(y), lambda: cuda.memcpy_htod(y, data)):
        with pytest.raises(cuda.LogicError, match="freed"):
            call()
    pool.free_held()
    assert (pool.held_blocks, pool.managed_bytes) == (0, 0)
    z = pool.allocate(10)
    pool.stop_holding()
    del z
    assert (pool.active_blocks, pool.held_blocks, pool.managed_bytes) == (0, 0, 0)
    with pytest.raises(cuda.LogicError):
        pool.allocate(-1)
    with pytest.raises(cuda.MemoryError):
        pool.allocate(1 << 45)


def test_a_pool_gives_back_what_it_holds_before_memory_is_out():
    context = cuda.Device("null").make_context()
    try:
        pool = tools.DeviceMemoryPool()
        for exponent in range(28, 33):
            for _ in range(4):
                pool.allocate(1 << exponent)
        assert pool.active_blocks == 0 and pool.managed_bytes <= 8 << 30
        pool.stop_holding()
    finally:
        context.pop()
        td.use(None)


def test_page_locked_pool(ctx):
    pool = tools.PageLockedMemoryPool(tools.PageLockedAllocator(cuda.host_alloc_flags.PORTABLE))
    x = pool.allocate((3, 4), np.float32, order="F")
    assert x.shape == (3, 4) and x.flags.f_contiguous and isinstance(x.base, tools.PooledHostAllocation)
    x[:] = 2
    np.testing.assert_array_equal(cuda.from_device(x.base.get_device_pointer(), 12, np.float32), np.full(12, 2))
    view = x[1]
    del x
    assert (pool.active_blocks, pool.held_blocks) == (1, 0)
    del view
    assert (pool.active_blocks, pool.held_blocks) == (0, 1)
    y = pool.allocate(12, np.float32)
    y.base.free()
    with pytest.raises(cuda.LogicError, match="freed"):
        y.base.free()
    pool.free_held()
    del y
    pool.stop_holding()
    assert (pool.active_blocks, pool.held_blocks, pool.managed_bytes) == (0, 0, 0)


@given(st.integers(0, 2**40))
def test_bins(size):
    pool = tools.DeviceMemoryPool
    number = pool.bin_number(size)
    assert size <= pool.alloc_size(number) <= max(size * 1.25, 4)
    assert number == pool.bin_number(pool.alloc_size(number))


# ---- tools ----


def test_memoised_by_context():
    calls = []

    @tools.context_dependent_memoize
    def made(x, y=0):
        calls.append((x, y))
        return len(calls)

    try:
        first, second = cuda.Device("cpu").make_context(), cuda.Device("null").make_context()
        assert made(1) == made(1) and made(1, y=2) != made(1)
        on_null = made(1)
        cuda.Context.pop()
        assert made(1) != on_null
        second.push()
        assert made(1) == on_null
        tools.clear_context_caches()
        assert made(1) != on_null
    finally:
        second.pop()
        first.pop()
        td.use(None)


def test_numbers_and_types():
    assert [tools.bitlog2(n) for n in (1, 2, 3, 4, 1023, 1024, 2**40)] == [0, 1, 1, 2, 9, 10, 40]
    for wrong in (0, -3):
        with pytest.raises(ValueError):
            tools.bitlog2(wrong)
    with pytest.raises(TypeError):
        tools.bitlog2(1.5)
    for dtype, name in (
        ("f4", "float"),
        ("f8", "double"),
        ("i4", "int"),
        ("i8", "long"),
        ("u1", "unsigned char"),
        ("i1", "signed char"),
        ("?", "bool"),
        ("c8", "pycuda::complex<float>"),
        ("f2", "half"),
    ):
        assert tools.dtype_to_ctype(dtype) == name and tools.get_or_register_dtype(name) == np.dtype(dtype)
    assert tools.dtype_to_ctype("f8", with_fp_tex_hack=True) == "fp_tex_double"
    record = np.dtype([("a", "i4"), ("b", "f4")])
    for call in (lambda: tools.dtype_to_ctype(record), lambda: tools.dtype_to_ctype(None)):
        with pytest.raises(ValueError):
            call()
    with pytest.raises(TypeError, match="my_pair"):
        tools.get_or_register_dtype("my_pair")
    assert tools.get_or_register_dtype(["my_pair", "my_other_pair"], record) == record
    assert tools.dtype_to_ctype(record) == "my_pair" and tools.get_or_register_dtype("my_other_pair") == record
    with pytest.raises(RuntimeError, match="my_pair"):
        tools.register_dtype(np.dtype([("a", "i8")]), "my_pair")
    assert tools.platform_bits() == 64


def test_arguments_from_text():
    found = [
        tools.parse_c_arg(text)
        for text in ("float *x", "const unsigned int n", "double* const __restrict__ y", "long long k")
    ]
    assert [(type(a).__name__, a.name, a.dtype.name) for a in found] == [
        ("VectorArg", "x", "float32"),
        ("ScalarArg", "n", "uint32"),
        ("VectorArg", "y", "float64"),
        ("ScalarArg", "k", "int64"),
    ]
    assert (
        [a.declarator() for a in found[:2]] == ["float *x", "unsigned n"]
        and found[1].struct_char == "I"
        and found[0].struct_char == "P"
    )
    for wrong in ("x", "float **x", "", "no_such_type y", "float *"):
        with pytest.raises((ValueError, TypeError)):
            tools.parse_c_arg(wrong)


def test_devices_in_numbers(ctx):
    data = tools.DeviceData()
    assert (
        data.max_threads == 1024 and data.warp_size == 32 and data.shared_memory >= 48 << 10 and data.registers == 65536
    )
    assert (
        data.align_bytes() == 64
        and data.align(65) == 128
        and data.align_words(8) == 16
        and data.align_dtype(3, 4) == 16
    )
    assert [data.make_valid_tex_channel_count(n) for n in (1, 2, 3, 4)] == [1, 2, 4, 4]
    for wrong in (lambda: data.make_valid_tex_channel_count(5), lambda: data.align_bytes(3)):
        with pytest.raises(ValueError):
            wrong()
    record = tools.OccupancyRecord(data, 256, shared_mem=data.shared_memory // 2)
    assert (record.tb_per_mp, record.limited_by) == (2, "smem") and 0 < record.occupancy <= 1
    assert (
        tools.OccupancyRecord(data, 1024).limited_by == "warps"
        and tools.OccupancyRecord(data, 32).limited_by == "device"
    )
    assert tools.OccupancyRecord(data, 512, registers=128).limited_by == "regs"
    with pytest.raises(ValueError):
        tools.OccupancyRecord(data, 2048)
    assert characterize.sizeof("pair", "struct pair { int a; double b; };") == 16
    assert characterize.has_stack() and characterize.has_double_support()
    assert [characterize.sizeof(t) for t in ("int", "unsigned long long", "float *", "const char", "unsigned")] == [
        4,
        8,
        8,
        1,
        4,
    ]
