"""treadle.cuda's names inside kernels: every one, on every device, against a model of what it means.

The names come from the compiler's table; @covers says which a test is about, and one that none covers fails.
"""

import os

import numpy as np
import pytest
from kernel_names import assemble, cuda_names, function, run, typed_names

import treadle as td
from treadle import cuda

COVERED = set()
FULL = 0xFFFFFFFF


def covers(*names):
    COVERED.update("cuda." + n for n in names)
    return lambda f: f


# ---- the grid ----


@covers("threadIdx.x", "threadIdx.y", "threadIdx.z", "blockIdx.x", "blockIdx.y", "blockIdx.z", "blockDim.x", "blockDim.y",
        "blockDim.z", "gridDim.x", "gridDim.y", "gridDim.z", "grid", "gridsize")  # fmt: skip
def test_indices(dev):
    def kernel(out, sizes):
        x, y, z = cuda.grid(3)
        u, v = cuda.grid(2)
        sx, sy, sz = cuda.gridsize(3)
        i = (z * sy + y) * sx + x
        out[i, 0] = cuda.threadIdx.x + 10 * cuda.threadIdx.y + 100 * cuda.threadIdx.z
        out[i, 1] = cuda.blockIdx.x + 10 * cuda.blockIdx.y + 100 * cuda.blockIdx.z
        out[i, 2] = u + 100 * v
        out[i, 3] = cuda.grid(1)
        if i == 0:
            sizes[0] = cuda.blockDim.x + 10 * cuda.blockDim.y + 100 * cuda.blockDim.z
            sizes[1] = cuda.gridDim.x + 10 * cuda.gridDim.y + 100 * cuda.gridDim.z
            sizes[2] = cuda.gridsize(1)

    grid, block = (2, 3, 2), (4, 2, 3)
    n = int(np.prod(grid) * np.prod(block))
    out, sizes = run(kernel, grid, block, np.zeros((n, 4), np.int64), np.zeros(3, np.int64))
    z, y, x = np.meshgrid(*(np.arange(g * b) for g, b in zip(grid[::-1], block[::-1])), indexing="ij")
    tid = x % 4 + 10 * (y % 2) + 100 * (z % 3)
    bid = x // 4 + 10 * (y // 2) + 100 * (z // 3)
    want = np.stack([tid, bid, x + 100 * y, x], -1).reshape(n, 4)
    assert np.array_equal(out, want)
    assert sizes.tolist() == [4 + 20 + 300, 2 + 30 + 200, 8]


def test_the_place_of_a_changed_element_is_computed_once(dev):
    def kernel(count, out):
        out[cuda.atomic.add(count, 0, 1)] += 2

    count, out = run(kernel, 2, 50, np.zeros(1, np.int32), np.ones(200, np.float32))
    assert count[0] == 100
    assert np.array_equal(out, np.repeat([3, 1], 100))


@covers("laneid", "warpsize", "lanemask_lt", "activemask")
def test_lanes(dev):
    def kernel(out):
        i = cuda.grid(1)
        out[i, 0] = cuda.laneid
        out[i, 1] = cuda.warpsize
        out[i, 2] = cuda.lanemask_lt()
        if cuda.laneid % 2 == 0:
            out[i, 3] = cuda.activemask()

    (out,) = run(kernel, 2, 40, np.zeros((80, 4), np.uint32))
    lane = np.arange(40) % 32
    assert out[:, 0].tolist() == [*lane, *lane]
    assert (out[:, 1] == 32).all()
    assert out[:, 2].tolist() == [(1 << int(n)) - 1 for n in lane] * 2
    assert (out[1::2, 3] == 0).all()
    for i in range(0, 80, 2):  # at least itself, at most the even lanes
        assert out[i, 3] >> int(lane[i % 40]) & 1 and not out[i, 3] & 0xAAAAAAAA


# ---- arrays ----


@covers("shared.array", "local.array", "syncthreads")
@pytest.mark.parametrize("dtype", ["float32", "int8", "uint64", "complex64", "complex128", "float16"])
def test_shared_and_local(dev, dtype):
    def kernel(a, out):
        tile = cuda.shared.array((2, n), d)
        mine = cuda.local.array(shape=3, dtype=a.dtype)
        t = cuda.threadIdx.x
        tile[0, t] = a[cuda.grid(1)]
        tile[1, t] = a[cuda.grid(1)] + a[cuda.grid(1)]
        cuda.syncthreads()
        for k in range(3):
            mine[k] = tile[k % 2, (t + k) % n]
        out[cuda.grid(1)] = mine[0] + mine[1] + mine[2]

    n, d = 48, np.dtype(dtype)
    a = (np.arange(2 * n) % 11).astype(dtype)
    if a.dtype.kind == "c":
        a = a * (1 + 2j)
    (_, out) = run(kernel, 2, n, a, np.zeros(2 * n, dtype))
    b = a.reshape(2, n)
    want = b + 2 * np.roll(b, -1, 1) + np.roll(b, -2, 1)
    assert np.array_equal(out, want.reshape(-1).astype(dtype))


def store_if(a):
    if a[1] > 0:
        a[0] = 42


def store_else(a):
    if a[1] < 0:
        a[1] = 1
    else:
        a[0] = 42


def store_in_loop(a):
    for _ in range(3):
        a[0] += 1


def store_in_while(a):
    while a[0] < 20:
        a[0] += 4


def add_if(a):
    if a[1] > 0:
        cuda.atomic.add(a, 0, 5)


def store_in_nest(a):
    for k in range(4):
        if k > 1:
            a[0] += k


STORES = {store_if: 42, store_else: 42, store_in_loop: 10, store_in_while: 23, add_if: 12, store_in_nest: 12}


@pytest.mark.parametrize("store", STORES, ids=lambda f: f.__name__)
@pytest.mark.parametrize("wait", ["none", "syncwarp", "threadfence", "syncthreads"])
def test_a_read_sees_the_store_in_the_region_before_it(dev, store, wait):
    def whole(a, b):
        store(a)
        if wait == "syncwarp":
            cuda.syncwarp()
        elif wait == "threadfence":
            cuda.threadfence()
        elif wait == "syncthreads":
            cuda.syncthreads()
        b[0] = a[0]
        for k in range(2):
            b[1 + k] = a[0]
            store(a)
        b[3] = a[0]

    def of_shared(a, b):
        s = cuda.shared.array(2, np.int64)
        s[0] = a[0]
        s[1] = a[1]
        whole(s, b)

    wanted = [STORES[store]]
    a = [wanted[0], 7]
    for _ in range(2):
        wanted.append(a[0])
        a[0] = STORES[store] if store in (store_if, store_else) else a[0]
        a[0] += 3 if store is store_in_loop else 5 if store in (add_if, store_in_nest) else 0
    wanted.append(a[0])
    for kernel in (whole, of_shared):
        assert run(kernel, 1, 1, np.array([7, 7]), np.zeros(4, int))[1].tolist() == wanted


def test_array_alignment_and_layout(dev):
    def kernel(out):
        a = cuda.shared.array(5, cuda.float32, alignment=256)
        b = cuda.shared.array(shape=(3, 4), dtype=cuda.int32, layout="F")
        c = cuda.local.array((2, 3), cuda.int32, 64, "C")
        t = cuda.threadIdx.x
        if t < 5:
            a[t] = t
        if t < 12:
            b[t // 4, t % 4] = t
        for i in range(6):
            c[i // 3, i % 3] = i + t
        cuda.syncthreads()
        if t < 5:
            out[t] = a[t] + 1000 * c[1, t % 3]
        if t < 12:
            out[20 + t] = b.T[t % 4, t // 4]
            out[40] = b.strides[0]

    (out,) = run(kernel, 1, 32, np.zeros(50, np.int64))
    assert out[:5].tolist() == [t + 1000 * (3 + t % 3 + t) for t in range(5)]
    assert out[20:32].tolist() == list(range(12)) and out[40] == 4


@pytest.mark.parametrize("bad", ["'X'", "3"])
def test_array_options_are_refused(bad):
    text = f"def kernel(a):\n    s = cuda.shared.array(4, cuda.int32, {'layout=' if bad[0] == chr(39) else 'alignment='}{bad})\n"
    with td.device("null"), pytest.raises((TypeError, ValueError), match="layout is|power of two"):
        cuda.jit(function(text + "    a[0] = s[0]\n", cuda=cuda))[1, 1](td.zeros(4))


def test_dynamic_shared_is_one_array(dev):
    """As with Numba: each shared.array(0) is all of the launch's memory; views cut it."""
    def kernel(a, sizes):
        f = cuda.shared.array(0, cuda.float32)
        i = cuda.shared.array(shape=0, dtype=cuda.int32)
        first, rest = f[:8], i[8:]
        t = cuda.threadIdx.x
        if t < 8:
            first[t] = t + 0.5
            rest[t] = 10 * t
        cuda.syncthreads()
        if t < 8:
            a[t] = f[7 - t] + i[8 + t]
        sizes[0] = f.size
        sizes[1] = len(cuda.shared.array(0, cuda.float64))
        sizes[2] = i[1]

    a, sizes = run(kernel, 1, 32, np.zeros(8, np.float32), np.zeros(3, np.int64), shared=64)
    assert a.tolist() == [7 - t + 0.5 + 10 * t for t in range(8)]
    assert sizes.tolist() == [16, 8, np.float32(1.5).view(np.int32)]


@covers("shared.dynamic")
def test_dynamic_shared_parts_do_not_alias(dev):
    def kernel(a, n, out):
        x = cuda.shared.dynamic("x", n, cuda.int8)
        y = cuda.shared.dynamic("y", (n, 2), cuda.float64)
        z = cuda.shared.dynamic("z", shape=(3,), dtype=cuda.int16)
        again = cuda.shared.dynamic("x", n, cuda.int8)
        t = cuda.threadIdx.x
        if t < n:
            x[t] = a[t]
            y[t, 0] = 2 * a[t]
            y[t, 1] = 3 * a[t]
        if t < 3:
            z[t] = 1000 + t
        cuda.syncthreads()
        if t < n:
            out[t] = again[n - 1 - t] + 100 * y[n - 1 - t, 1] + 10000 * y[n - 1 - t, 0] + z[2]

    n = 17
    a = np.arange(n).astype(np.int64)
    _, out = run(kernel, 1, 32, a, n, np.zeros(n, np.int64), shared=32 + 16 * n + 6)
    assert np.array_equal(out, a[::-1] * 20301 + 1002)


def test_dynamic_shared_part_under_a_condition():
    text = """def kernel(a):
    if a[0] > 0:
        x = cuda.shared.dynamic("x", 4, cuda.int8)
        a[1] = x[0]
    y = cuda.shared.dynamic("y", 4, cuda.int8)
    a[0] = y[0]
"""
    with td.device("null"), pytest.raises(TypeError, match="at the beginning of the kernel"):
        cuda.jit(function(text, cuda=cuda))[1, 1](td.zeros(4))


@pytest.mark.parametrize("debug", [False, True])
def test_dynamic_shared_too_small(dev, debug):
    def kernel(a):
        x = cuda.shared.dynamic("tile", a.size, cuda.float32)
        x[a.size - 1] = 1
        a[0] = x[a.size - 1]

    run(kernel, 1, 1, np.zeros(16, np.float32), shared=64, debug=debug)
    with pytest.raises(IndexError, match="tile"):
        run(kernel, 1, 1, np.zeros(16, np.float32), shared=60, debug=debug)


def test_dynamic_shared_of_known_size_is_checked_at_the_launch(dev):
    def parts(a):
        x = cuda.shared.dynamic("x", (3, 3), cuda.int8)
        y = cuda.shared.dynamic("y", 4, cuda.float64)
        x[2, 2] = 1
        y[3] = 2
        a[0] = x[2, 2] + y[3]

    assert run(parts, 1, 1, np.zeros(1), shared=48)[0][0] == 3
    with pytest.raises(ValueError, match="shared memory, 48 bytes a block, and the launch gives 47"):
        run(parts, 1, 1, np.zeros(1), shared=47)

    def whole(a):
        x = cuda.shared.array(0, cuda.float64)
        x[0] = 4
        a[0] = x[0]

    assert run(whole, 1, 1, np.zeros(1), shared=8)[0][0] == 4
    with pytest.raises(ValueError, match="at least 8 bytes a block, and the launch gives 0: write whole\\[grid"):
        run(whole, 1, 1, np.zeros(1))


def test_writing_past_dynamic_shared_memory_meets_nothing_else_on_a_cpu():
    """All that any launch may ask for belongs to the thread: stores beyond what this one gives are lost there."""
    def whole(a, n):
        x = cuda.shared.array(0, cuda.float32)
        for i in range(cuda.threadIdx.x, n, 32):
            x[i] = i
        cuda.syncthreads()
        if cuda.threadIdx.x == 0:
            a[cuda.blockIdx.x] = x[0] + x[1]

    with td.device("cpu"):
        if os.environ.get("TREADLE_KERNELS") == "interpret":  # which tells of it
            with pytest.raises(IndexError, match="outside the launch's 64 bytes of shared memory"):
                run(whole, 40, 32, np.zeros(40), 227 * 256, shared=64)
            return
        a = run(whole, 40, 32, np.zeros(40), 227 * 256, shared=64)[0]
    assert a.tolist() == [1] * 40


def test_records_in_shared_and_local_arrays(dev):
    def kernel(a, out):
        s = cuda.shared.array(32, pair)
        mine = cuda.local.array(2, pair)
        t = cuda.threadIdx.x
        s[t].n = a[t]
        s[t]["x"] = a[t] + 0.5
        cuda.syncthreads()
        mine[1] = s[31 - t]
        mine[0].x = mine[1].x * 2
        cuda.syncthreads()
        cuda.atomic.add(s[t % 2], "n", 1000)
        cuda.syncthreads()
        out[t] = mine[0].x + mine[1].n + s[t].n

    pair = np.dtype([("n", np.int32), ("x", np.float64)], align=True)
    a = np.arange(32)
    _, out = run(kernel, 1, 32, a, np.zeros(32))
    want = 2 * (a[::-1] + 0.5) + a[::-1] + a
    want[:2] += 16000
    assert np.array_equal(out, want)


TABLE = np.array([[3, 1, 4], [1, 5, 9]], np.float32)


@covers("const.array_like")
def test_const(dev):
    def kernel(a):
        c = cuda.const.array_like(TABLE)
        i = cuda.grid(1)
        if i < 3:
            a[i] = c[0, i] + 10 * c[1, i] + c.shape[1]

    (a,) = run(kernel, 1, 32, np.zeros(3, np.float32))
    assert a.tolist() == [16, 54, 97]


# ---- barriers and fences ----


@covers("syncthreads_count", "syncthreads_and", "syncthreads_or")
@pytest.mark.parametrize("threshold", [0, 1, 17, 100])
def test_barrier_votes(dev, threshold):
    def kernel(out, threshold):
        t = cuda.threadIdx.x
        out[t, 0] = cuda.syncthreads_count(t < threshold)
        out[t, 1] = cuda.syncthreads_and(t < threshold)
        out[t, 2] = cuda.syncthreads_or(t - threshold < 0)

    (out,) = run(kernel, 1, 70, np.full((70, 3), -1, np.int32), threshold)
    assert (out == [min(threshold, 70), threshold >= 70, threshold > 0]).all()


@covers("threadfence", "threadfence_block", "threadfence_system", "nanosleep", "clock")
def test_fences_and_time(dev):
    def kernel(a, out):
        before = cuda.clock()
        a[cuda.grid(1)] = cuda.grid(1)
        cuda.threadfence()
        cuda.threadfence_block()
        cuda.threadfence_system()
        cuda.nanosleep(100)
        out[cuda.grid(1)] = cuda.clock() - before

    a, out = run(kernel, 1, 32, np.zeros(32, np.int32), np.zeros(32, np.int64))
    assert a.tolist() == list(range(32)) and (out >= 0).all()


@covers("cg.this_grid")
def test_grid_sync(dev):
    def kernel(a, b):
        g = cuda.cg.this_grid()
        i = cuda.grid(1)
        for _ in range(3):
            a[i] = b[(i + 1) % a.size] + 1
            g.sync()
            b[i] = a[(i + 1) % a.size] * 2
            cuda.cg.this_grid().sync()

    n = 64
    a, b = run(kernel, 4, 16, np.zeros(n, np.int64), np.arange(n))
    x, y = np.zeros(n, np.int64), np.arange(n)
    for _ in range(3):
        x = np.roll(y, -1) + 1
        y = np.roll(x, -1) * 2
    assert np.array_equal(a, x) and np.array_equal(b, y)


# ---- warps ----

SHUFFLED = ["bool", "int8", "uint16", "int32", "uint32", "int64", "uint64", "float16", "float32", "float64", "complex64",
            "complex128"]  # fmt: skip


@covers("shfl_sync", "shfl_up_sync", "shfl_down_sync", "shfl_xor_sync")
@pytest.mark.parametrize("dtype", SHUFFLED)
def test_shuffles(dev, dtype, rng):
    def kernel(a, by, out):
        i = cuda.grid(1)
        k = by[i % 32]
        out[0, i] = cuda.shfl_sync(FULL, a[i], k)
        out[1, i] = cuda.shfl_up_sync(FULL, a[i], 3)
        out[2, i] = cuda.shfl_down_sync(FULL, a[i], 5)
        out[3, i] = cuda.shfl_xor_sync(FULL, a[i], 9)
        out[4, i] = cuda.shfl_sync(-1, a[i], 35)

    n = 64
    a = rng.integers(0, 2 if dtype == "bool" else 100, n).astype(dtype)
    if a.dtype.kind == "c":
        a = a + 1j * a[::-1]
    by = rng.integers(0, 32, 32).astype(np.int32)
    _, _, out = run(kernel, 1, n, a, by, np.zeros((5, n), dtype))
    lane, base = np.arange(n) % 32, np.arange(n) // 32 * 32
    want = [a[base + by[lane]], a[np.where(lane < 3, lane, lane - 3) + base], a[np.where(lane > 26, lane, lane + 5) + base],
            a[base + (lane ^ 9)], a[base + 3]]  # fmt: skip
    assert np.array_equal(out, np.array(want))


def test_shuffle_reduces_a_warp(dev):
    def kernel(a, out):
        x = a[cuda.grid(1)]
        k = 16
        while k > 0:
            x += cuda.shfl_down_sync(FULL, x, k)
            k //= 2
        if cuda.laneid == 0:
            out[cuda.grid(1) // 32] = x

    a = np.arange(128, dtype=np.float32)
    _, out = run(kernel, 2, 64, a, np.zeros(4, np.float32))
    assert np.array_equal(out, a.reshape(4, 32).sum(1))


@covers("all_sync", "any_sync", "eq_sync", "ballot_sync")
@pytest.mark.parametrize("bits", [0, FULL, 0x10, 0xFFFF0000])
def test_votes(dev, bits):
    def kernel(bits, out):
        i = cuda.grid(1)
        p = (bits >> cuda.laneid) & 1
        out[i, 0] = cuda.all_sync(FULL, p)
        out[i, 1] = cuda.any_sync(FULL, p != 0)
        out[i, 2] = cuda.eq_sync(FULL, p)
        out[i, 3] = cuda.ballot_sync(FULL, p)

    (out,) = run(kernel, 1, 64, bits, np.zeros((64, 4), np.uint32))
    assert (out == [bits == FULL, bits != 0, bits in (0, FULL), bits]).all()


def test_votes_of_some_lanes(dev):
    """The mask names the lanes that come; a block whose last warp is not full has fewer."""
    def kernel(out):
        i = cuda.grid(1)
        if cuda.laneid < 8:
            out[i, 0] = cuda.ballot_sync(0xFF, cuda.laneid % 2)
            out[i, 1] = cuda.all_sync(0xFF, cuda.laneid < 8)
            out[i, 2] = cuda.shfl_sync(0xFF, i, 2)
        cuda.syncwarp(FULL)

    (out,) = run(kernel, 1, 40, np.zeros((40, 3), np.uint32))
    for i in range(40):
        first = i // 32 * 32
        assert out[i].tolist() == ([0xAA, 1, first + 2] if i - first < 8 else [0, 0, 0])


@covers("match_any_sync", "match_all_sync")
@pytest.mark.parametrize("dtype", ["int32", "uint64", "float32", "float64"])
def test_matches(dev, dtype):
    def kernel(a, out):
        i = cuda.grid(1)
        out[i, 0] = cuda.match_any_sync(FULL, a[i])
        m, all_ = cuda.match_all_sync(FULL, a[i])
        out[i, 1] = m
        out[i, 2] = all_

    a = np.concatenate([np.arange(32) % 5, np.full(32, 7)]).astype(dtype)
    _, out = run(kernel, 1, 64, a, np.zeros((64, 3), np.uint32))
    for i in range(32):
        assert out[i].tolist() == [sum(1 << j for j in range(32) if a[j] == a[i]), 0, 0]
    assert (out[32:] == [FULL, FULL, 1]).all()


@covers("syncwarp")
def test_syncwarp(dev):
    def kernel(a):
        s = cuda.shared.array(32, cuda.int32)
        t = cuda.threadIdx.x
        s[t] = a[t]
        cuda.syncwarp()
        a[t] = s[31 - t]

    (a,) = run(kernel, 1, 32, np.arange(32, dtype=np.int32))
    assert a.tolist() == list(range(31, -1, -1))


# ---- bits and numbers ----


@covers("popc", "brev", "clz", "ffs")
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "uint32", "int64", "uint64"])
def test_bits(dev, dtype, rng):
    def kernel(a, out, reversed_):
        i = cuda.grid(1)
        if i < a.size:
            out[i, 0] = cuda.popc(a[i])
            out[i, 1] = cuda.clz(a[i])
            out[i, 2] = cuda.ffs(a[i])
            reversed_[i] = cuda.brev(a[i])

    d = np.dtype(dtype)
    info = np.iinfo(d)
    a = np.array([0, 1, info.max, info.min, 2, 8, *rng.integers(info.min, info.max, 58, d)], d)
    wide = max(d.itemsize * 8, 32)
    r = np.dtype(("i" if d.kind == "i" else "u") + str(wide // 8))
    _, out, reversed_ = run(kernel, 1, 64, a, np.zeros((64, 3), np.int32), np.zeros(64, r))
    for i, x in enumerate(int(v) & (1 << wide) - 1 for v in a):
        assert out[i].tolist() == [x.bit_count(), wide - x.bit_length(), (x & -x).bit_length()]
        assert int(reversed_[i]) & (1 << wide) - 1 == int(f"{x:0{wide}b}"[::-1], 2)


@covers("fma", "cbrt", "selp")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_numbers(dev, dtype):
    def kernel(a, out):
        i = cuda.grid(1)
        out[0, i] = cuda.fma(a[i], a[i], -a[i] * a[i])
        out[1, i] = cuda.cbrt(a[i])
        out[2, i] = cuda.selp(i > 3, a[i], 7)
        out[3, i] = cuda.fma(a[i], 2, 1)

    a = (np.arange(32) + 0.1).astype(dtype)
    _, out = run(kernel, 1, 32, a, np.zeros((4, 32), dtype))
    np.testing.assert_allclose(out[1], np.cbrt(a), rtol=4 * np.finfo(dtype).eps)
    assert np.array_equal(out[2], np.where(np.arange(32) > 3, a, np.dtype(dtype).type(7)))
    assert np.array_equal(out[3], (a.astype(np.longdouble) * 2 + 1).astype(dtype))


REFUSED = {
    "cuda.atomic.add(a, 0, 1)": ("int8", "atomic.add is not defined on int8, only on float16"),
    "cuda.atomic.inc(a, 0, 1)": ("int32", "only on uint32, uint64"),
    "cuda.atomic.xor(a, 0, 1)": ("float32", "atomic.xor is not defined on float32"),
    "cuda.atomic.add(a, (0, 0), 1)": ("int32", "dims"),
    "cuda.atomic.add(a, 0)": ("int32", "takes 3 arguments"),
    "cuda.atomic.add(a[0], 0, 1)": ("int32", "changes an element of an array"),
    "cuda.shfl_sync(1.5, a[0], 1)": ("int32", "takes an integer"),
    "cuda.popc(a[0])": ("float32", "takes an integer"),
    "cuda.grid(4)": ("int32", "takes 1, 2 or 3"),
    "cuda.cg.this_grid().wait()": ("int32", "only sync"),
    "cuda.ldcs(a[0], 0)": ("int32", "takes an array"),
    "cuda.libdevice.sinf(a, 1)": ("float32", "sinf takes 1 arguments"),
}


@pytest.mark.parametrize("call", list(REFUSED))
def test_refusals(call):
    dtype, text = REFUSED[call]
    k = cuda.jit(function(f"def kernel(a):\n    {call}\n", cuda=cuda))
    with td.device("null"), pytest.raises((TypeError, ValueError), match=text):
        k[1, 1](td.zeros(4, dtype=dtype))


# ---- caches ----


@covers("ldca", "ldcg", "ldcs", "ldlu", "ldcv", "stcg", "stcs", "stwb", "stwt")
@pytest.mark.parametrize("load", ["ldca", "ldcg", "ldcs", "ldlu", "ldcv"])
@pytest.mark.parametrize("store", ["stcg", "stcs", "stwb", "stwt"])
def test_cached(dev, load, store):
    text = f"def kernel(a, b):\n    i = cuda.grid(1)\n    cuda.{store}(b, i, cuda.{load}(a, i) + cuda.{load}(b, (i,)))\n"
    a, b = np.arange(32, dtype=np.float32), np.arange(32, 0, -1).astype(np.float32)
    assert (run(function(text, cuda=cuda), 1, 32, a, b)[1] == 32).all()


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int32", "int64", "float16", "float32", "float64", "complex64"])
def test_cache_operators_in_ptx(dtype):
    """Every name is PTX's operator; complex numbers, whose parts are one access, are plain."""
    for load, store in zip(["ldca", "ldcg", "ldcs", "ldlu", "ldcv"], ["stcg", "stcs", "stwb", "stwt", "stcg"]):
        text = f"def kernel(a, b, i):\n    if a[i] != 0:\n        cuda.{store}(b, i, cuda.{load}(a, i))\n"
        kind = f"{dtype}[::1]"
        ptx, _ = cuda.compile_ptx(function(text, cuda=cuda), f"void({kind}, {kind}, int64)", cc=(8, 0))
        if dtype != "complex64":
            assert f"ld.global.{load[2:]}." in ptx and f"st.global.{store[2:]}." in ptx, ptx
        assemble(ptx)


# ---- random numbers ----


def test_random(dev):
    from treadle.cuda import random

    text = """def kernel(states, a):
    i = cuda.grid(1)
    a[i, 0] = random.xoroshiro128p_uniform_float32(states, i)
    a[i, 1] = random.xoroshiro128p_uniform_float64(states, i)
    a[i, 2] = random.xoroshiro128p_normal_float32(states, i)
    a[i, 3] = random.xoroshiro128p_normal_float64(states, i)
"""
    states = random.init_xoroshiro128p_states_cpu(np.empty(64, random.xoroshiro128p_dtype), 5, 0)
    want = np.empty((64, 4))
    mine = states.copy()
    with np.errstate(over="ignore"):
        for i in range(64):
            draws = [random.xoroshiro128p_uniform_float32, random.xoroshiro128p_uniform_float64,
                     random.xoroshiro128p_normal_float32, random.xoroshiro128p_normal_float64]  # fmt: skip
            want[i] = [f(mine, i) for f in draws]
    k = cuda.jit(function(text, cuda=cuda, random=random))
    a = td.zeros((64, 4))
    k[2, 32](cuda.InOut(states), a)
    td.synchronize()
    assert np.array_equal(states, mine)
    np.testing.assert_allclose(np.asarray(a)[:, :2], want[:, :2], rtol=1e-7)
    np.testing.assert_allclose(np.asarray(a)[:, 2:], want[:, 2:], rtol=1e-5, atol=1e-6)


# ---- all of them ----


def test_every_name_is_covered():
    """But cuda.atomic's, which test_kernel_atomics.py enumerates."""
    assert not {n for n in cuda_names() if "atomic" not in n} - COVERED


def test_names_agree():
    """treadle.cuda has a stand-in for every name that kernels know."""
    for name in [*cuda_names(), *typed_names()]:
        o = cuda
        for part in name.split(".")[1:]:
            o = getattr(o, part)
        assert getattr(o, "_td_name", name) == name


MISSING = {f"cuda.libdevice.{n}{t}" for t in ("", "f")
           for n in ("erfcinv", "erfcx", "erfinv", "j0", "j1", "jn", "normcdfinv", "y0", "y1", "yn")}  # fmt: skip


def test_what_is_missing():
    """docs/numba.md names the functions that no kernel knows."""
    stand_ins = {f"cuda.{m}.{n}" for m in ("fp16", "bf16", "libdevice", "atomic", "shared", "local", "cg")
                 for n, o in vars(getattr(cuda, m)).items() if hasattr(o, "_td_name")}  # fmt: skip
    stand_ins |= {f"cuda.{n}" for n, o in vars(cuda).items() if getattr(o, "_td_name", "") == f"cuda.{n}" and callable(o)}
    assert stand_ins - set(cuda_names()) - set(typed_names()) == MISSING


FLOAT32 = """def kernel(a, b, n):
    s = cuda.shared.array(64, cuda.float32)
    i = cuda.grid(1)
    x = a[i] * 0.5 + 2
    s[cuda.threadIdx.x] = x / 3 - i
    cuda.syncthreads()
    y = cuda.shfl_down_sync(0xffffffff, s[63 - cuda.threadIdx.x], 1) * i
    cuda.atomic.add(b, 0, cuda.fma(y, 2, 1.5))
    cuda.atomic.max(b, 1, cuda.libdevice.rsqrtf(y) + cuda.cbrt(x) if i < n else 0)
    if cuda.any_sync(0xffffffff, x > 1.25):
        b[i] = cuda.selp(x < 0, x ** 2, abs(y) ** 0.5) + math.exp(x)
"""


def test_float32_kernel_has_no_float64():
    import math

    t = cuda.types
    sig = (t.Array(t.float32, 1, "C"), t.Array(t.float32, 1, "C"), t.int32)
    text = cuda.compile_ptx(function(FLOAT32, cuda=cuda, math=math), sig)[0]
    assert ".f64" not in text and "%fd" not in text
    assemble(text)




def test_warp_and_block_ptx():
    text = """def kernel(a, b, n):
    d = cuda.shared.dynamic("d", n, cuda.float64)
    i = cuda.grid(1)
    d[cuda.threadIdx.x] = a[i]
    cuda.syncwarp()
    g = cuda.cg.this_grid()
    g.sync()
    m, same = cuda.match_all_sync(0xffffffff, b[i])
    b[i] = cuda.shfl_sync(cuda.activemask(), b[i], 3) + m + same + cuda.match_any_sync(cuda.lanemask_lt(), a[i])
    a[i] = cuda.shfl_xor_sync(0xffffffff, a[i], 5) + d[0] + cuda.syncthreads_count(a[i] > 0) + cuda.syncthreads_or(i > 5)
    cuda.threadfence_system()
    cuda.nanosleep(20)
    b[i] = cuda.popc(b[i]) + cuda.clz(i) + cuda.ffs(b[i]) + cuda.brev(b[i]) + cuda.clock() + cuda.eq_sync(0xffffffff, i > 1)
"""
    t = cuda.types
    sig = (t.Array(t.float64, 1, "C"), t.Array(t.uint64, 1, "C"), t.int32)
    assemble(cuda.compile_ptx(function(text, cuda=cuda), sig)[0])
