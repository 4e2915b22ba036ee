"""The kernels of the benchmark: what a thread of a grid does. One text for every library.

`from treadle import …` names another library where that one runs the text (`kernels.py`), so
nothing here is special to one of them: constants are NumPy's scalars, since a Python literal
widens a float32 in Numba. Each function below the kernels launches what its row measures, into
arrays that it is given.
"""

import math

import numpy as np

from treadle import cuda

THREADS = 256
WARP = 32
TILE = 16
BINS = 256
FULL = 0xFFFFFFFF
ZERO, QUARTER, ONE, TWO, FOUR = (np.float32(x) for x in (0, 0.25, 1, 2, 4))
SOFTENING = np.float32(1e-3)
LEFT, BOTTOM, SPAN = np.float32(-2.2), np.float32(-1.5), np.float32(3)


def blocks(n, threads=THREADS):
    """How many blocks hold n threads."""
    return -(-n // threads)


# ---- elementwise ----


@cuda.jit
def add_kernel(a, b, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i] + b[i]


def add(a, b, out):
    add_kernel[blocks(out.size), THREADS](a, b, out)


@cuda.jit
def chain_kernel(a, b, c, d, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = math.sqrt(a[i] * a[i] + b[i] * b[i]) * math.exp(-c[i]) + d[i]


def chain(a, b, c, d, out):
    chain_kernel[blocks(out.size), THREADS](a, b, c, d, out)


@cuda.jit
def stencil_kernel(a, out):
    j, i = cuda.grid(2)
    h, w = out.shape
    if 0 < i < h - 1 and 0 < j < w - 1:
        out[i, j] = QUARTER * (a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1])
    elif i < h and j < w:
        out[i, j] = a[i, j]


def stencil(a, out):
    h, w = out.shape
    stencil_kernel[(blocks(w, 32), blocks(h, 8)), (32, 8)](a, out)


@cuda.jit
def mandelbrot_kernel(out, limit):
    j, i = cuda.grid(2)
    h, w = out.shape
    if i < h and j < w:
        cr = LEFT + SPAN * np.float32(j) / np.float32(w)
        ci = BOTTOM + SPAN * np.float32(i) / np.float32(h)
        zr = ZERO
        zi = ZERO
        count = 0
        while count < limit and zr * zr + zi * zi < FOUR:
            zr, zi = zr * zr - zi * zi + cr, TWO * zr * zi + ci
            count += 1
        out[i, j] = count


def mandelbrot(out, limit):
    h, w = out.shape
    mandelbrot_kernel[(blocks(w, 32), blocks(h, 8)), (32, 8)](out, limit)


# ---- shared memory ----


def matmul_of(dtype):
    """The tiled product of a dtype; outside the matrices a tile holds zeros."""
    zero = dtype(0)

    @cuda.jit
    def kernel(a, b, c):
        tile_a = cuda.shared.array((TILE, TILE), dtype=dtype)
        tile_b = cuda.shared.array((TILE, TILE), dtype=dtype)
        tx = cuda.threadIdx.x
        ty = cuda.threadIdx.y
        j, i = cuda.grid(2)
        inner = a.shape[1]
        total = zero
        for start in range(0, inner, TILE):
            tile_a[ty, tx] = a[i, start + tx] if i < c.shape[0] and start + tx < inner else zero
            tile_b[ty, tx] = b[start + ty, j] if j < c.shape[1] and start + ty < inner else zero
            cuda.syncthreads()
            for k in range(TILE):
                total += tile_a[ty, k] * tile_b[k, tx]
            cuda.syncthreads()
        if i < c.shape[0] and j < c.shape[1]:
            c[i, j] = total

    return kernel


matmul_kernels = {dtype: matmul_of(dtype.type) for dtype in (np.dtype("f4"), np.dtype("f8"))}


def matmul(a, b, c):
    grid = blocks(c.shape[1], TILE), blocks(c.shape[0], TILE)
    matmul_kernels[np.dtype(c.dtype)][grid, (TILE, TILE)](a, b, c)


@cuda.jit
def clear_kernel(bins):
    bins[cuda.threadIdx.x] = 0


@cuda.jit
def histogram_kernel(values, bins):
    own = cuda.shared.array(BINS, dtype=np.int32)
    t = cuda.threadIdx.x
    own[t] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), values.size, cuda.gridsize(1)):
        cuda.atomic.add(own, values[i], 1)
    cuda.syncthreads()
    cuda.atomic.add(bins, t, own[t])


def histogram(values, bins):
    clear_kernel[1, BINS](bins)
    histogram_kernel[min(1024, blocks(values.size)), BINS](values, bins)


def total_of(dtype):
    """The sum of a dtype: a thread's, then a block's by halving in shared memory."""
    zero = dtype(0)

    @cuda.jit
    def kernel(a, out):
        sums = cuda.shared.array(THREADS, dtype=dtype)
        t = cuda.threadIdx.x
        own = zero
        for i in range(cuda.grid(1), a.size, cuda.gridsize(1)):
            own += a[i]
        sums[t] = own
        cuda.syncthreads()
        half = THREADS // 2
        while half > 0:
            if t < half:
                sums[t] += sums[t + half]
            cuda.syncthreads()
            half //= 2
        if t == 0:
            out[cuda.blockIdx.x] = sums[0]

    return kernel


def shuffled_of(dtype):
    """The same by shuffles: in a warp, and once more in the first one."""
    zero = dtype(0)

    @cuda.jit
    def kernel(a, out):
        sums = cuda.shared.array(WARP, dtype=dtype)
        t = cuda.threadIdx.x
        own = zero
        for i in range(cuda.grid(1), a.size, cuda.gridsize(1)):
            own += a[i]
        for k in range(5):
            own += cuda.shfl_down_sync(FULL, own, 16 >> k)
        if t % WARP == 0:
            sums[t // WARP] = own
        cuda.syncthreads()
        if t < WARP:
            own = sums[t] if t < THREADS // WARP else zero
            for k in range(5):
                own += cuda.shfl_down_sync(FULL, own, 16 >> k)
            if t == 0:
                out[cuda.blockIdx.x] = own

    return kernel


DTYPES = tuple(np.dtype(t) for t in ("f4", "f8", "i4"))
total_kernels = {dtype: total_of(dtype.type) for dtype in DTYPES}
shuffled_kernels = {dtype: shuffled_of(dtype.type) for dtype in DTYPES}


def summed(kernel, a, parts, out):
    """Partial sums of as many blocks as `parts` has elements, and their sum."""
    kernel[parts.size, THREADS](a, parts)
    kernel[1, THREADS](parts, out)


def total(a, parts, out):
    summed(total_kernels[np.dtype(out.dtype)], a, parts, out)


def shuffled(a, parts, out):
    summed(shuffled_kernels[np.dtype(out.dtype)], a, parts, out)


@cuda.jit
def nbody_kernel(x, y, z, m, out):
    sx = cuda.shared.array(THREADS, dtype=np.float32)
    sy = cuda.shared.array(THREADS, dtype=np.float32)
    sz = cuda.shared.array(THREADS, dtype=np.float32)
    sm = cuda.shared.array(THREADS, dtype=np.float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    n = x.size
    own = min(i, n - 1)
    xi, yi, zi = x[own], y[own], z[own]
    ax, ay, az = ZERO, ZERO, ZERO
    for start in range(0, n, THREADS):
        j = start + t
        if j < n:
            sx[t], sy[t], sz[t], sm[t] = x[j], y[j], z[j], m[j]
        else:
            sx[t], sy[t], sz[t], sm[t] = ZERO, ZERO, ZERO, ZERO
        cuda.syncthreads()
        for k in range(THREADS):
            dx, dy, dz = sx[k] - xi, sy[k] - yi, sz[k] - zi
            inverse = ONE / math.sqrt(dx * dx + dy * dy + dz * dz + SOFTENING)
            pull = sm[k] * inverse * inverse * inverse
            ax += pull * dx
            ay += pull * dy
            az += pull * dz
        cuda.syncthreads()
    if i < n:
        out[0, i], out[1, i], out[2, i] = ax, ay, az


def nbody(x, y, z, m, out):
    nbody_kernel[blocks(x.size), THREADS](x, y, z, m, out)
