"""Texture and surface references of CUDA C++ text, bound through treadle.pycuda, against NumPy."""

import gc

import numpy as np
import pytest

import treadle.pycuda.driver as cuda
from treadle.pycuda import gpuarray
from treadle.pycuda.compiler import SourceModule

TEXT = """
texture<float, 2> plain;
texture<float, 1> line;
texture<float4, 2> pixels;
texture<unsigned char, 2, cudaReadModeNormalizedFloat> gray;
texture<int, 3> volume;
__constant__ float scale;

__global__ void look(float *out, int w, int h, float dx, float dy)
{
    int x = threadIdx.x + blockIdx.x * blockDim.x, y = threadIdx.y + blockIdx.y * blockDim.y;
    if (x < w && y < h)
        out[y * w + x] = tex2D(plain, x + dx, y + dy) * scale;
}

__global__ void look_line(float *out)
{
    out[threadIdx.x] = tex1Dfetch(line, threadIdx.x);
}

__global__ void look_pixels(float *out)
{
    float4 p = tex2D(pixels, threadIdx.x, threadIdx.y);
    out[threadIdx.y * blockDim.x + threadIdx.x] = p.x + 10 * p.y + 100 * p.z + 1000 * p.w;
}

__global__ void look_gray(float *out)
{
    out[threadIdx.y * blockDim.x + threadIdx.x] = tex2D(gray, threadIdx.x, threadIdx.y);
}

__global__ void look_volume(int *out)
{
    out[(threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x] = tex3D(volume, threadIdx.x, threadIdx.y, threadIdx.z);
}
"""


@pytest.fixture
def module(ctx):
    found = SourceModule(TEXT)
    cuda.memcpy_htod(found.get_global("scale")[0], np.float32(2))
    return found


def look(module, w, h, dx=0.0, dy=0.0):
    out = np.full((h, w), np.nan, np.float32)
    module.get_function("look")(cuda.Out(out), w, h, np.float32(dx), np.float32(dy), block=(8, 8, 1), grid=(-(-w // 8), -(-h // 8)))
    return out


def test_matrices(module):
    x = np.random.default_rng(1).standard_normal((13, 21)).astype(np.float32)
    texture = module.get_texref("plain")
    assert module.get_texref("plain") is texture
    cuda.matrix_to_texref(x, texture, "C")
    np.testing.assert_array_equal(look(module, 21, 13), 2 * x)
    cuda.matrix_to_texref(x, texture, "F")  # bound anew: the next launch sees it
    np.testing.assert_array_equal(look(module, 13, 21), 2 * x.T)
    gc.collect()
    np.testing.assert_array_equal(look(module, 13, 21), 2 * x.T)
    with pytest.raises(cuda.LogicError, match="no_such"):
        module.get_texref("no_such")


def test_what_is_shown_outside_and_between(module):
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    texture = module.get_texref("plain")
    cuda.matrix_to_texref(x, texture, "C")
    np.testing.assert_array_equal(look(module, 4, 3, 2, 1), 2 * np.pad(x, 3, mode="edge")[4:7, 5:9])  # clamped
    for axis in range(2):
        texture.set_address_mode(axis, cuda.address_mode.BORDER)
    np.testing.assert_array_equal(look(module, 4, 3, 2, 1), 2 * np.pad(x, 3)[4:7, 5:9])
    texture.set_filter_mode(cuda.filter_mode.LINEAR)  # elements' values are at their middles
    padded = np.pad(x, 1)
    expected = (padded[1:4, 1:5] + padded[1:4, :4]) / 2
    np.testing.assert_allclose(look(module, 4, 3, 0.0, 0.5), 2 * expected, rtol=1e-2)


def test_device_memory(module):
    x = np.arange(16, dtype=np.float32)
    memory, texture = cuda.to_device(x), module.get_texref("line")
    texture.set_address(memory, x.nbytes)
    texture.set_format(cuda.array_format.FLOAT, 1)
    out = np.empty_like(x)
    module.get_function("look_line")(cuda.Out(out), block=(16, 1, 1), texrefs=[texture])
    np.testing.assert_array_equal(out, x)
    array = gpuarray.to_gpu(x[::-1].copy())
    array.bind_to_texref_ext(texture)
    module.get_function("look_line")(cuda.Out(out), block=(16, 1, 1), texrefs=[texture])
    np.testing.assert_array_equal(out, x[::-1])
    rows, pitch = cuda.mem_alloc_pitch(16, 3, 4)
    copy = cuda.Memcpy2D()
    copy.set_src_host(x)
    copy.set_dst_device(rows)
    copy.width_in_bytes = copy.src_pitch = 16
    copy.dst_pitch, copy.height = pitch, 3
    copy()
    descriptor = cuda.ArrayDescriptor()
    descriptor.width, descriptor.height, descriptor.format, descriptor.num_channels = 4, 3, cuda.array_format.FLOAT, 1
    module.get_texref("plain").set_address_2d(rows, descriptor, pitch)
    np.testing.assert_array_equal(look(module, 4, 3), 2 * x[:12].reshape(3, 4))


def test_channels(module):
    x = np.random.default_rng(2).integers(0, 10, (3, 5, 4)).astype(np.float32)
    cuda.bind_array_to_texref(cuda.make_multichannel_2d_array(x, "C"), module.get_texref("pixels"))
    out = np.empty((3, 5), np.float32)
    module.get_function("look_pixels")(cuda.Out(out), block=(5, 3, 1))
    np.testing.assert_array_equal(out, x @ np.float32([1, 10, 100, 1000]))


def test_bytes_as_fractions(module):
    x = np.arange(0, 255, 17, dtype=np.uint8).reshape(3, 5)
    cuda.matrix_to_texref(x, module.get_texref("gray"), "C")
    out = np.empty((3, 5), np.float32)
    module.get_function("look_gray")(cuda.Out(out), block=(5, 3, 1))
    np.testing.assert_allclose(out, x / 255, rtol=1e-6)


def test_volumes(module):
    x = np.arange(24, dtype=np.int32).reshape(2, 3, 4)
    module.get_texref("volume").set_array(cuda.np_to_array(x, "C"))
    out = np.empty_like(x)
    module.get_function("look_volume")(cuda.Out(out), block=(4, 3, 2))
    np.testing.assert_array_equal(out, x)


def test_surfaces(ctx):
    module = SourceModule("""
__constant__ cudaSurfaceObject_t board;  // what a surface<void, 2> is underneath
__global__ void invert(int w, int h)
{
    int x = threadIdx.x, y = threadIdx.y;
    float v;
    if (x < w && y < h) {
        surf2Dread(&v, board, 4 * x, y);
        surf2Dwrite(-v, board, 4 * x, y);
    }
}
""")
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    array = cuda.np_to_array(x, "C", allowSurfaceBind=True)
    surface = module.get_surfref("board")
    surface.set_array(array)
    module.get_function("invert")(4, 3, block=(4, 3, 1))
    out = np.empty_like(x)
    copy = cuda.Memcpy2D()
    copy.set_src_array(array)
    copy.set_dst_host(out)
    copy.width_in_bytes = copy.dst_pitch = 16
    copy.height = 3
    copy()
    np.testing.assert_array_equal(out, -x)
