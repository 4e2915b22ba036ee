"""treadle.cuda's names inside kernels: every one, on every device, against a model of what it means.

The names come from the compiler's table; @covers says which a test is about, and one that none covers fails.
"""

import numpy as np
import pytest
from kernel_names import assemble, cuda_names, function, typed_names

import treadle as td
from treadle import cuda

COVERED = set()
FULL = 0xFFFFFFFF


def covers(*names):
    COVERED.update("cuda." + n for n in names)
    return lambda f: f


def run(kernel, grid, block, *args, shared=0, debug=False):
    """Launches over copies of NumPy arrays; returns what they hold then."""
    given = [td.asarray(a) if isinstance(a, np.ndarray) and a.dtype.names is None else a for a in args]
    cuda.jit(kernel, debug=debug)[grid, block, 0, shared](*given)
    td.synchronize()
    return [np.asarray(g) for g, a in zip(given, args) if isinstance(a, np.ndarray)]


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
        mine = cuda.local.array(shape=3, dtype=d)
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

    a, sizes = run(kernel, 1, 32, np.zeros(8, np.float32), np.zeros(2, np.int64), shared=64)
    assert a.tolist() == [7 - t + 0.5 + 10 * t for t in range(8)]
    assert sizes.tolist() == [16, 8]


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


def test_dynamic_shared_too_small():
    def kernel(a):
        x = cuda.shared.dynamic("tile", a.size, cuda.float32)
        x[0] = 1
        a[0] = x[0]

    with td.device("null"):
        run(kernel, 1, 1, np.zeros(16, np.float32), shared=64, debug=True)
        with pytest.raises(IndexError, match="tile"):
            run(kernel, 1, 1, np.zeros(16, np.float32), shared=60, debug=True)


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
def test_grid_sync():
    def kernel(a, b):
        g = cuda.cg.this_grid()
        i = cuda.grid(1)
        for _ in range(3):
            a[i] = b[(i + 1) % a.size] + 1
            g.sync()
            b[i] = a[(i + 1) % a.size] * 2
            cuda.cg.this_grid().sync()

    n = 64
    with td.device("null"):
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


# ---- atomics ----

INTS = ["int32", "uint32", "int64", "uint64"]
FLOATS = ["float32", "float64"]
ARITHMETIC = {"add": lambda old, v: old + v, "sub": lambda old, v: old - v, "max": lambda old, v: v if v > old else old,
              "min": lambda old, v: v if v < old else old, "nanmax": np.fmax, "nanmin": np.fmin,
              "exch": lambda old, v: v}  # fmt: skip
BITWISE = {"and_": lambda old, v: old & v, "or_": lambda old, v: old | v, "xor": lambda old, v: old ^ v}
COUNTERS = {"inc": lambda old, v: old * 0 if old >= v else old + 1,
            "dec": lambda old, v: v if old == 0 or old > v else old - 1}  # fmt: skip
ATOMICS = [(n, d) for n in ARITHMETIC for d in INTS + FLOATS] + [(n, d) for n in BITWISE for d in INTS]
ATOMICS += [(n, d) for n in COUNTERS for d in ("uint32", "uint64")] + [("add", "float16"), ("sub", "float16")]
ATOMIC = ARITHMETIC | BITWISE | COUNTERS
covers(*("atomic." + n for n in ATOMIC))(None)


@pytest.mark.parametrize("where", ["global", "shared"])
@pytest.mark.parametrize(("name", "dtype"), ATOMICS)
def test_atomic_chain(dev, name, dtype, where, rng):
    """One thread after the other: the old values and the last one are the model's."""
    place = "a" if where == "global" else "s"
    text = f"""def kernel(a, v, old):
    s = cuda.shared.array(4, d)
    if cuda.grid(1) == 0:
        for k in range(4):
            s[k] = a[k]
        for i in range(v.size):
            old[i] = cuda.atomic.{name}({place}, i % 4, v[i])
        for k in range(4):
            a[k] = {place}[k]
"""
    d = np.dtype(dtype)
    low = -20 if d.kind != "u" else 0
    v = rng.integers(low, 20, 40).astype(d)
    a = rng.integers(0, 20, 4).astype(d)
    if d.kind == "f" and name in ("max", "min", "nanmax", "nanmin"):
        v[::7] = np.nan
        a[1] = np.nan
    got, _, old = run(function(text, cuda=cuda, d=d), 1, 32, a, v, np.zeros(40, d))
    want = a.copy()
    with np.errstate(over="ignore"):
        for i in range(40):
            assert np.array_equal(old[i], want[i % 4], equal_nan=d.kind == "f"), i
            want[i % 4] = ATOMIC[name](want[i % 4], v[i])
    assert np.array_equal(got, want, equal_nan=d.kind == "f")


@pytest.mark.parametrize(("name", "dtype"), [(n, d) for n, d in ATOMICS if n not in ("exch", "sub") and d != "float16"])
def test_atomics_of_many_threads(dev, name, dtype, rng):
    """All threads at once, on elements of an array of two axes: the result does not depend on their order."""
    text = f"def kernel(a, v):\n    i = cuda.grid(1)\n    cuda.atomic.{name}(a, (i % 2, i % 3), v[i])\n"
    d = np.dtype(dtype)
    v = rng.integers(0, 100, 128).astype(d)
    if name in COUNTERS:
        v[:] = 9
    a = rng.integers(0, 8, (2, 3)).astype(d)
    got, _ = run(function(text, cuda=cuda), 2, 64, a, v)
    want = a.copy()
    for i in range(128):
        want[i % 2, i % 3] = ATOMIC[name](want[i % 2, i % 3], v[i])
    assert np.array_equal(got, want)


@covers("atomic.cas", "atomic.compare_and_swap")
@pytest.mark.parametrize("dtype", INTS + FLOATS)
def test_compare_and_swap(dev, dtype):
    def kernel(a, first, old, won):
        i = cuda.grid(1)
        old[i] = cuda.atomic.cas(a, (i % 2, 1), 5, i + 100)
        if cuda.atomic.compare_and_swap(first, 0, i + 1) == 0:
            cuda.atomic.add(won, 0, 1)

    a = np.array([[1, 5, 2], [1, 6, 2]], dtype)
    got, first, old, won = run(kernel, 2, 32, a, np.zeros(1, dtype), np.zeros(64, dtype), np.zeros(1, np.int32))
    assert won[0] == 1 and 1 <= first[0] <= 64
    assert np.array_equal(got[1], a[1]) and got[0, 1] >= 100 and (old[1::2] == 6).all()
    assert sorted(old[::2])[0] == 5 and (old[::2] == 5).sum() == 1 and set(old[::2]) <= {5, got[0, 1]}


def test_a_lock_of_cas_and_exch(dev):
    def kernel(lock, total):
        if cuda.threadIdx.x == 0:
            while cuda.atomic.cas(lock, 0, 0, 1) != 0:
                pass
            cuda.threadfence()
            total[0] += 1
            cuda.threadfence()
            cuda.atomic.exch(lock, 0, 0)

    _, total = run(kernel, 8, 32, np.zeros(1, np.int32), np.zeros(1, np.int64))
    assert total[0] == 8


def test_atomics_on_fields(dev):
    def kernel(r, out):
        i = cuda.grid(1)
        cuda.atomic.add(r[i % 2], "n", 1)
        cuda.atomic.max(r[i % 2], "x", i)
        if i < 2:
            cuda.atomic.add(out, i, r[i].n)

    records = np.array([(1, 2.5), (3, 4.5)], np.dtype([("n", np.int32), ("x", np.float64)], align=True))
    cuda.jit(kernel)[1, 32](cuda.InOut(records), td.zeros(2, dtype="int32"))
    td.synchronize()
    assert records["n"].tolist() == [17, 19] and records["x"].tolist() == [30, 31]


def test_fields_of_packed_records(dev):
    """They lie where no aligned access may; an atomic one is refused."""
    def kernel(r):
        i = cuda.grid(1)
        r[i].x = r[i].x + r[i].n
        r[i].z = r[i].z * 2

    packed = np.array([(1, 2.5, 1 + 2j), (3, 4.5, 3j)], [("n", np.int8), ("x", np.float64), ("z", np.complex64)])
    cuda.jit(kernel)[1, 2](cuda.InOut(packed))
    td.synchronize()
    assert packed["x"].tolist() == [3.5, 7.5] and packed["z"].tolist() == [2 + 4j, 6j]
    with pytest.raises(TypeError, match="align=True"):
        cuda.jit(function('def kernel(r):\n    cuda.atomic.add(r[0], "x", 1)\n', cuda=cuda))[1, 1](cuda.InOut(packed))


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


def test_atomic_index_is_checked():
    def kernel(counts, v):
        cuda.atomic.add(counts, v[cuda.grid(1)], 1)

    with td.device("null"):
        v = np.array([0, 1, 9, 2], np.int32)
        with pytest.raises(IndexError, match="counts.*9|9.*counts"):
            run(kernel, 1, 4, np.zeros(4, np.int32), v, debug=True)


# ---- caches ----


@covers("ldca", "ldcg", "ldcs", "ldlu", "ldcv", "stcg", "stcs", "stwb", "stwt")
@pytest.mark.parametrize("load", ["ldca", "ldcg", "ldcs", "ldlu", "ldcv"])
@pytest.mark.parametrize("store", ["stcg", "stcs", "stwb", "stwt"])
def test_cached(dev, load, store):
    text = f"def kernel(a, b):\n    i = cuda.grid(1)\n    cuda.{store}(b, i, cuda.{load}(a, i) + cuda.{load}(b, (i,)))\n"
    a, b = np.arange(32, dtype=np.float32), np.arange(32, 0, -1).astype(np.float32)
    assert (run(function(text, cuda=cuda), 1, 32, a, b)[1] == 32).all()


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
    assert not set(cuda_names()) - COVERED


def test_names_agree():
    """treadle.cuda has a stand-in for every name that kernels know."""
    for name in [*cuda_names(), *typed_names()]:
        o = cuda
        for part in name.split(".")[1:]:
            o = getattr(o, part)
        assert getattr(o, "_td_name", name) == name


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




@pytest.mark.parametrize(("name", "dtype"), ATOMICS)
def test_atomic_ptx(name, dtype):
    text = f"""def kernel(a, out):
    s = cuda.shared.array(8, d)
    i = cuda.grid(1)
    cuda.atomic.{name}(a, (i, 1), 3)
    out[i] = cuda.atomic.{name}(s, i, out[i])
"""
    t = cuda.types
    e = getattr(t, dtype)
    ptx = cuda.compile_ptx(function(text, cuda=cuda, d=np.dtype(dtype)), (t.Array(e, 2, "A"), t.Array(e, 1, "C")), cc=(9, 0))[0]
    assemble(ptx, "sm_90")


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
