"""treadle.cupyx.jit: CuPy's names for kernels in Python."""

import numpy as np
import pytest

import treadle as td
from treadle.cupyx import jit


@jit.rawkernel()
def copy(x, y, size):
    tid = jit.blockIdx.x * jit.blockDim.x + jit.threadIdx.x
    ntid = jit.gridDim.x * jit.blockDim.x
    for i in jit.range(tid, size, ntid):
        y[i] = x[i]


@jit.rawkernel()
def total(x, y, size):
    tid = jit.threadIdx.x
    ntid = jit.blockDim.x
    value = np.float32(0)
    for i in range(tid, size, ntid):
        value += x[i]
    smem = jit.shared_memory(np.float32, 1024)
    smem[tid] = value
    jit.syncthreads()
    if tid == 0:
        value = np.float32(0)
        for i in range(ntid):
            value += smem[i]
        y[0] = value


@jit.rawkernel(device=True)
def squared(a):
    return a * a


@jit.rawkernel()
def places(x, y):
    i = jit.grid(1)
    y[i] = jit.laneid() + jit.gridsize(1) + jit.shfl_xor_sync(0xFFFFFFFF, squared(i), 1) + jit.warpsize
    jit.syncwarp()
    jit.atomic_add(x, 0, 1)
    jit.atomic_max(x, 1, i)
    jit.atomic_cas(x, 2, 0, 5)


@jit.rawkernel()
def turned(x):
    s = jit.shared_memory(np.float32, 0)
    i = jit.threadIdx.x
    s[i] = x[i]
    jit.syncthreads()
    x[i] = s[jit.blockDim.x - 1 - i]


@jit.rawkernel()
def waits(x):
    g = jit.cg.this_grid()
    x[jit.grid(1)] = 1
    jit.cg.sync(g)
    if jit.grid(1) == 0:
        x[0] = x.size


def test_copy(dev, rng):
    a = rng.random(1000).astype("f4")
    x, y, z = td.asarray(a), td.zeros(1000, dtype=td.float32), td.zeros(1000, dtype=td.float32)
    copy((8,), (64,), (x, y, np.uint32(1000)))
    copy[8, 64](x, z, 1000)
    assert (y.get() == a).all() and (z.get() == a).all() and copy.__name__ == "copy"


def test_shared_memory(dev, rng):
    a = rng.random(1000).astype("f4")
    y = td.zeros(1, dtype=td.float32)
    total((1,), (256,), (td.asarray(a), y, 1000))
    np.testing.assert_allclose(y.get()[0], a.sum(), rtol=1e-5)
    x = td.arange(32, dtype=td.float32)
    turned((1,), (32,), (x,), shared_mem=128)
    np.testing.assert_array_equal(x.get(), np.arange(32)[::-1])


def test_places_and_atomics(dev):
    x, y = td.zeros(3, dtype=td.int32), td.zeros(64, dtype=td.int64)
    places((2,), (32,), (x, y))
    i = np.arange(64)
    np.testing.assert_array_equal(y.get(), i % 32 + 64 + (i ^ 1) ** 2 + 32)
    assert x.get().tolist() == [64, 63, 5]


def test_grid_barrier(dev):
    x = td.zeros(32, dtype=td.float32)
    waits((2,), (16,), (x,))
    assert x.get().tolist() == [32] + [1] * 31


def test_names():
    for name in jit.__all__:
        assert getattr(jit, name) is not None
    with pytest.raises(ValueError, match="mode"):
        jit.rawkernel(mode="fast")
    with pytest.raises(AttributeError, match="cupy.md"):
        getattr(td.cupyx, "nothing")  # noqa: B009
