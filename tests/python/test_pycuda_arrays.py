"""treadle.pycuda.driver: host memory that devices reach, copies of blocks, arrays, textures; pools and tools."""

import gc
import itertools

import ml_dtypes
import numpy as np
import pytest

import treadle.pycuda.driver as cuda

# ---- host memory ----

EMPTY = {
    "pagelocked": (cuda.pagelocked_empty, cuda.PagelockedHostAllocation),
    "managed": (cuda.managed_empty, cuda.ManagedAllocation),
    "aligned": (cuda.aligned_empty, cuda.AlignedHostAllocation),
}


@pytest.mark.parametrize("kind", EMPTY)
@pytest.mark.parametrize(
    "dtype", ["float32", "uint8", "complex128", "float16", [("a", "i4"), ("b", "f8")], ml_dtypes.bfloat16]
)
@pytest.mark.parametrize(
    "shape,order", [((3, 4), "C"), ((3, 4), "F"), (5, "C"), ((), "C"), ((0, 3), "C"), ((2, 0), "F")]
)
def test_host_memory(ctx, kind, dtype, shape, order):
    empty, owner = EMPTY[kind]
    x = empty(shape, dtype, order)
    like = np.empty(shape, dtype, order)
    assert x.shape == like.shape and x.dtype == like.dtype and (x.strides == like.strides or not x.size)
    if x.dtype != ml_dtypes.bfloat16:  # numpy lays a view over it
        assert type(x.base) is owner
    zeros, empty_like, zeros_like = (getattr(cuda, f"{kind}_{n}") for n in ("zeros", "empty_like", "zeros_like"))
    assert (zeros(shape, dtype, order) == np.zeros(shape, dtype)).all()
    assert empty_like(like).strides == like.strides or not x.size
    y = zeros_like(like)
    assert (y.strides == like.strides or not x.size) and y.dtype == like.dtype and y.nbytes == like.nbytes


def test_owners_of_host_memory(ctx):
    x = cuda.pagelocked_empty(
        100, np.float32, mem_flags=cuda.host_alloc_flags.DEVICEMAP | cuda.host_alloc_flags.WRITECOMBINED
    )
    assert (
        x.base.get_flags() == cuda.host_alloc_flags(6)
        and isinstance(x.base, cuda.HostAllocation)
        and isinstance(x.base, cuda.HostPointer)
    )
    x[:] = 3
    np.testing.assert_array_equal(cuda.from_device(x.base.get_device_pointer(), 100, np.float32), x)
    owner, view = x.base, x[10:20]
    owner.free()
    del x
    gc.collect()
    view[:] = 4  # the memory lives as long as arrays on it
    for call in (owner.free, owner.get_device_pointer):
        with pytest.raises(cuda.LogicError, match="freed"):
            call()
    for mode in cuda.mem_attach_flags:
        managed = cuda.managed_zeros(10, np.int32, mem_flags=mode)
        cuda.memset_d32(managed.base.get_device_pointer(), 5, 10)
        cuda.Context.synchronize()
        assert (managed == 5).all()
    managed.base.attach(cuda.mem_attach_flags.HOST)
    managed.base.attach(cuda.mem_attach_flags.SINGLE, cuda.Stream())
    managed.base.free()
    with pytest.raises(cuda.LogicError):
        managed.base.attach(cuda.mem_attach_flags.HOST)
    with pytest.raises(cuda.LogicError, match="register"):
        cuda.aligned_empty(3, np.uint8).base.get_device_pointer()


def test_host_memory_that_cannot_be(ctx):
    for wrong, error in (((-1,), ValueError), ((2, -3), ValueError), ("x", TypeError), (1.5, TypeError)):
        for empty, _ in EMPTY.values():
            with pytest.raises(error):
                empty(wrong, np.float32)
    for empty, _ in EMPTY.values():
        with pytest.raises(TypeError, match="objects"):
            empty(3, object)
        with pytest.raises(cuda.LogicError, match="order"):
            empty(3, np.float32, order="K")
    for alignment in (0, 3, -4):
        with pytest.raises(ValueError, match="power of two"):
            cuda.aligned_empty(3, np.float32, alignment=alignment)
    for alignment in (1, 64, 4096, 1 << 16):
        assert cuda.aligned_empty(3, np.float32, alignment=alignment).ctypes.data % alignment == 0
    with pytest.raises(cuda.LogicError, match="mem_attach_flags"):
        cuda.managed_empty(3, np.float32, mem_flags=3)


def test_registered_memory(ctx):
    x = np.arange(1000, dtype=np.float32).reshape(10, 100)
    y = cuda.register_host_memory(x, flags=cuda.mem_host_register_flags.DEVICEMAP)
    assert y.base.base is x and y.ctypes.data == x.ctypes.data and y.strides == x.strides
    memory = cuda.mem_alloc_like(x)
    stream = cuda.Stream()
    cuda.memcpy_htod_async(memory, y, stream)
    stream.synchronize()
    np.testing.assert_array_equal(cuda.from_device_like(memory, x), x)
    np.testing.assert_array_equal(cuda.from_device_like(y.base.get_device_pointer(), x), x)
    y.base.unregister()
    with pytest.raises(cuda.LogicError, match="freed"):
        y.base.unregister()
    del x
    gc.collect()
    assert y[9, 99] == 999
    with pytest.raises(ValueError, match="contiguous"):
        cuda.register_host_memory(np.zeros((4, 4))[:, :2])
    with pytest.raises((ValueError, cuda.Error)):
        cuda.register_host_memory(np.zeros(0))


# ---- blocks ----


def _sides(kind, shape):
    """(set name, object, read) of uint8 memory of shape (depth, height, width) as one side of a copy."""
    if kind == "host":
        memory = np.arange(np.prod(shape), dtype=np.uint8).reshape(shape)
        return "host", memory, lambda: memory.copy()
    start = np.arange(np.prod(shape), dtype=np.uint8).reshape(shape)
    if kind == "device":
        memory = cuda.to_device(start)
        return "device", memory, lambda: cuda.from_device_like(memory, start)
    if kind == "unified":
        managed = cuda.managed_empty(shape, np.uint8)
        managed[:] = start
        return "unified", managed, lambda: (cuda.Context.synchronize(), managed.copy())[1]
    array = cuda.np_to_array(start, "C")

    def read():
        out = np.empty_like(start)
        copy = cuda.Memcpy3D()
        copy.set_src_array(array)
        copy.set_dst_host(out)
        copy.width_in_bytes, copy.height, copy.depth = shape[::-1]
        copy.dst_pitch, copy.dst_height = shape[2], shape[1]
        copy()
        return out

    return "array", array, read


KINDS = ["host", "device", "array", "unified"]


@pytest.mark.parametrize("src,dst", list(itertools.product(KINDS, KINDS)))
@pytest.mark.parametrize("later", [False, True])
def test_blocks(ctx, src, dst, later):
    shape, to, start, size = (3, 5, 16), (1, 2, 3), (0, 1, 8), (2, 3, 6)
    kind_a, a, _ = _sides(src, shape)
    kind_b, b, read = _sides(dst, shape)
    copy = cuda.Memcpy3D()
    getattr(copy, f"set_src_{kind_a}")(a)
    getattr(copy, f"set_dst_{kind_b}")(b)
    copy.src_z, copy.src_y, copy.src_x_in_bytes = start
    copy.dst_z, copy.dst_y, copy.dst_x_in_bytes = to
    copy.depth, copy.height, copy.width_in_bytes = size
    copy.src_height, copy.src_pitch = copy.dst_height, copy.dst_pitch = shape[1:]
    expected = np.arange(np.prod(shape), dtype=np.uint8).reshape(shape)
    whole = expected.copy()
    cut = [tuple(slice(o, o + n) for o, n in zip(offset, size, strict=True)) for offset in (to, start)]
    expected[cut[0]] = whole[cut[1]]
    stream = cuda.Stream() if later else None
    copy(stream) if later else copy()
    if later:
        stream.synchronize()
    np.testing.assert_array_equal(read(), expected)


def test_rows(ctx):
    x = np.arange(40, dtype=np.float32).reshape(4, 10)
    memory, pitch = cuda.mem_alloc_pitch(40, 4, 4)
    for how in ((), (True,), (False,), (cuda.Stream(),)):
        copy = cuda.Memcpy2D()
        copy.set_src_host(x)
        copy.set_dst_device(memory)
        copy.width_in_bytes = copy.src_pitch = 40
        copy.dst_pitch, copy.height = pitch, 4
        copy(*how)
        cuda.Context.synchronize()
        y = np.zeros((4, 12), np.float32)
        back = cuda.Memcpy2D()
        back.set_src_device(int(memory))
        back.set_dst_host(y[:, 1:11])  # a part of an array, its strides told by the pitch
        back.src_pitch, back.dst_pitch = pitch, y.strides[0]
        back.width_in_bytes, back.height = 40, 4
        back(*how)
        cuda.Context.synchronize()
        np.testing.assert_array_equal(y[:, 1:11], x)
        assert (y[:, [0, 11]] == 0).all()


def test_blocks_beyond_a_side_are_refused(ctx):
    x = np.arange(80, dtype=np.uint8).reshape(8, 10)
    memory, small = cuda.to_device(x), cuda.to_device(np.full(79, 9, np.uint8))
    array = cuda.np_to_array(x, "C")
    target = np.full((8, 10), 5, np.uint8)

    def copy(set_dst, dst, **more):
        made = cuda.Memcpy3D()
        made.set_src_device(memory)
        getattr(made, set_dst)(dst)
        made.width_in_bytes, made.height, made.depth = 10, 8, 1
        for name, value in more.items():
            setattr(made, name, value)
        made()

    for set_dst, dst, more in (
        ("set_dst_device", small, {}),
        ("set_dst_host", np.full(79, 5, np.uint8), {}),
        ("set_dst_host", target, {"dst_y": 1}),
        ("set_dst_host", target, {"src_x_in_bytes": 1}),
        ("set_dst_host", target, {"src_pitch": 9}),
        ("set_dst_host", target, {"depth": 2}),
        ("set_dst_host", target, {"height": 2**62, "dst_pitch": 2**62}),
        ("set_dst_host", target, {"width_in_bytes": -1}),
        ("set_dst_host", target, {"src_y": -1}),
        ("set_dst_array", array, {"dst_x_in_bytes": 1}),
        ("set_dst_array", array, {"dst_y": 1}),
        ("set_dst_array", array, {"dst_z": 1}),
        ("set_dst_device", 4096, {}),
    ):
        with pytest.raises(cuda.LogicError, match="cuMemcpy3D"):
            copy(set_dst, dst, **more)
    with pytest.raises(cuda.LogicError, match="not set"):
        cuda.Memcpy2D()()
    with pytest.raises(TypeError):
        copy("set_dst_array", 3)
    with pytest.raises(ValueError):
        copy("set_dst_host", target[::-1])
    frozen = target.copy()
    frozen.flags.writeable = False
    with pytest.raises((ValueError, BufferError)):
        copy("set_dst_host", frozen)
    assert (target == 5).all() and (cuda.from_device(small, 79, np.uint8) == 9).all()
    read = np.empty_like(x)
    cuda.memcpy_atoh(read, array, 0)
    np.testing.assert_array_equal(read, x)


def test_blocks_between_contexts(ctx):
    a, b = cuda.to_device(np.arange(64, dtype=np.uint8)), cuda.to_device(np.zeros(64, np.uint8))
    copy = cuda.Memcpy3DPeer()
    copy.set_src_context(ctx)
    copy.set_dst_context(ctx)
    copy.set_src_device(a)
    copy.set_dst_device(b)
    copy.width_in_bytes, copy.height, copy.depth = 4, 2, 2
    copy.src_pitch = copy.dst_pitch = 8
    copy.src_height = copy.dst_height = 4
    copy()
    expected = np.zeros((2, 4, 8), np.uint8)
    expected[:, :2, :4] = np.arange(64).reshape(2, 4, 8)[:, :2, :4]
    np.testing.assert_array_equal(cuda.from_device_like(b, expected), expected)


# ---- arrays ----


def _read(array, like):
    out = np.empty_like(like)
    copy = cuda.Memcpy3D()
    copy.set_src_array(array)
    copy.set_dst_host(out)
    found = array.get_descriptor_3d()
    copy.height, copy.depth = max(found.height, 1), max(found.depth, 1)
    copy.width_in_bytes = like.nbytes // copy.height // copy.depth
    copy()
    return out


@pytest.mark.parametrize("dtype", ["u1", "u2", "u4", "i1", "i2", "i4", "f2", "f4", "f8", "c8", "c16"])
@pytest.mark.parametrize("shape", [(7,), (3, 5), (2, 3, 4)])
@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_from_numpy(ctx, dtype, shape, order):
    x = np.asarray(np.arange(np.prod(shape)).reshape(shape).astype(dtype), order=order)
    array = cuda.np_to_array(x, order)
    found = array.get_descriptor_3d()
    extents = shape[::-1] if order == "C" else shape
    assert [found.width, found.height, found.depth] == [*extents, 0, 0][:3]
    assert found.num_channels == {"f8": 2, "c8": 2, "c16": 4}.get(dtype, 1) and array.handle
    flat = _read(array, np.empty(x.size, x.dtype))
    np.testing.assert_array_equal(flat, x.ravel(order=order))


def test_arrays_from_matrices(ctx):
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    for order, (w, h) in (("C", (4, 3)), ("F", (3, 4))):
        array = cuda.matrix_to_array(x, order)
        found = array.get_descriptor()
        assert (found.width, found.height, found.num_channels, found.format) == (w, h, 1, cuda.array_format.FLOAT)
        np.testing.assert_array_equal(_read(array, x.ravel()), x.ravel(order=order))
    with pytest.raises(TypeError, match="float64"):
        cuda.matrix_to_array(x.astype("f8"), "C")
    doubles = cuda.matrix_to_array(x.astype("f8"), "C", allow_double_hack=True)
    np.testing.assert_array_equal(_read(doubles, x.astype("f8")), x)
    pixels = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)
    array = cuda.make_multichannel_2d_array(pixels, "C")
    assert (array.get_descriptor().width, array.get_descriptor().height, array.get_descriptor().num_channels) == (
        3,
        2,
        4,
    )
    np.testing.assert_array_equal(_read(array, pixels), pixels)
    turned = np.asfortranarray(pixels.T)
    np.testing.assert_array_equal(_read(cuda.make_multichannel_2d_array(turned, "F"), pixels), pixels)
    for wrong in (pixels[0], pixels[:, :, :3]):
        with pytest.raises(cuda.LogicError):
            cuda.make_multichannel_2d_array(wrong, "C")
    with pytest.raises(cuda.LogicError):
        cuda.matrix_to_array(x, "K")
    with pytest.raises(cuda.LogicError, match="one to three axes"):
        cuda.np_to_array(np.zeros((1, 1, 1, 1), np.float32), "C")


def test_arrays_that_cannot_be(ctx):
    def make(**more):
        d = cuda.ArrayDescriptor3D()
        d.width = 4
        for name, value in more.items():
            setattr(d, name, value)
        return cuda.Array(d)

    make(height=2, depth=3, flags=cuda.array3d_flags.ARRAY3D_LAYERED).free()
    for more in (
        {"width": 0},
        {"width": -1},
        {"height": -1},
        {"num_channels": 3},
        {"format": 77},
        {"width": 2**62},
        {"width": 2**40, "height": 2**30},
    ):
        with pytest.raises(cuda.LogicError, match="cuArray"):
            make(**more)
    with pytest.raises(cuda.LogicError, match="NOT_SUPPORTED.*cube"):
        make(height=4, depth=6, flags=cuda.array3d_flags.CUBEMAP)
    with pytest.raises((cuda.MemoryError, cuda.LogicError)):
        make(width=2**30, height=2**14)
    array = make()
    array.free()
    for call in (
        array.free,
        lambda: array.handle,
        array.get_descriptor,
        lambda: cuda.TextureReference().set_array(array),
    ):
        with pytest.raises(cuda.LogicError, match="freed"):
            call()


def test_copies_of_bytes_of_arrays(ctx):
    x = np.arange(60, dtype=np.uint8).reshape(6, 10)
    a, b = cuda.np_to_array(x, "C"), cuda.np_to_array(np.zeros_like(x), "C")
    memory = cuda.to_device(np.zeros(60, np.uint8))
    cuda.memcpy_atod(memory, a, 13, 25)
    np.testing.assert_array_equal(cuda.from_device(memory, 25, np.uint8), x.ravel()[13:38])
    cuda.memcpy_dtoa(b, 7, memory, 25)
    expected = np.zeros(60, np.uint8)
    expected[7:32] = x.ravel()[13:38]
    np.testing.assert_array_equal(_read(b, x).ravel(), expected)
    out = np.zeros(20, np.uint8)
    cuda.memcpy_atoh(out, a, 35)
    np.testing.assert_array_equal(out, x.ravel()[35:55])
    cuda.memcpy_htoa(b, 40, out)
    expected[40:60] = out
    np.testing.assert_array_equal(_read(b, x).ravel(), expected)
    cuda.memcpy_atoa(b, 3, a, 19, 33)
    expected[3:36] = x.ravel()[19:52]
    np.testing.assert_array_equal(_read(b, x).ravel(), expected)
    for call in (
        lambda: cuda.memcpy_atoh(out, a, 41),
        lambda: cuda.memcpy_htoa(b, 55, out),
        lambda: cuda.memcpy_atod(memory, a, 0, -1),
    ):
        with pytest.raises(cuda.LogicError):
            call()


def test_what_texture_units_hold():
    for dtype, format in (("f4", "FLOAT"), ("f2", "HALF"), ("u1", "UNSIGNED_INT8"), ("i4", "SIGNED_INT32")):
        assert cuda.dtype_to_array_format(dtype) is cuda.array_format[format]
    for dtype in ("f8", "i8", "bool", "c8"):
        with pytest.raises(TypeError, match="texture"):
            cuda.dtype_to_array_format(dtype)
