"""Loops over the rows of compressed matrices, in the kernel language: one text for CPU threads and for GPUs.

Every array lies on one device and is contiguous; results are arrays that the caller made. zero is a number of the
result's dtype, which sums begin with, so that they are added in that dtype and in the order in which elements are
stored.
"""

import functools

from ... import _jit, cuda

prange = _jit.prange


@_jit.jit(parallel=True)
def row_products(indptr, indices, data, x, y, zero):
    """y[i] = sum of data[k] * x[indices[k]] over row i, a row a thread."""
    for i in prange(y.size):
        s = zero
        for k in range(indptr[i], indptr[i + 1]):
            s += data[k] * x[indices[k]]
        y[i] = s


@functools.cache
def group_products(width):
    """row_products with width neighbouring threads of a warp for each row: for longer rows on a GPU."""

    @cuda.jit
    def grouped_products(indptr, indices, data, x, y, zero):
        t = cuda.grid(1)
        i = t // width
        s = zero
        if i < y.size:
            for k in range(indptr[i] + t % width, indptr[i + 1], width):
                s += data[k] * x[indices[k]]
        step = width // 2
        while step > 0:
            s += cuda.shfl_down_sync(0xFFFFFFFF, s, step)
            step //= 2
        if i < y.size and t % width == 0:
            y[i] = s

    return grouped_products


@_jit.jit(parallel=True)
def matrix_products(indptr, indices, data, x, y, zero):
    """row_products of each column of x; on a GPU neighbouring threads take neighbouring columns."""
    for i in prange(y.shape[0]):
        for j in prange(y.shape[1]):
            s = zero
            for k in range(indptr[i], indptr[i + 1]):
                s += data[k] * x[indices[k], j]
            y[i, j] = s


@_jit.jit(parallel=False)
def scattered_products(row, col, data, x, y):
    """y[row[k]] += data[k] * x[col[k]], one after the other: on a CPU."""
    for k in range(row.size):
        y[row[k]] += data[k] * x[col[k]]


@cuda.jit
def atomic_products(row, col, data, x, y):
    """scattered_products by atomic additions, an element a thread."""
    k = cuda.grid(1)
    if k < row.size:
        cuda.atomic.add(y, row[k], data[k] * x[col[k]])


@_jit.jit(parallel=True)
def diagonal_products(offsets, data, x, y, zero):
    """y[i] = sum of data[d, i + offsets[d]] * x[i + offsets[d]] over the diagonals d that row i meets."""
    n = min(x.size, data.shape[1])
    for i in prange(y.size):
        s = zero
        for d in range(offsets.size):
            j = i + offsets[d]
            if 0 <= j < n:
                s += data[d, j] * x[j]
        y[i] = s


@_jit.jit(parallel=True)
def segment_sums(starts, data, out, zero):
    """out[i] = data[starts[i]] + … + data[starts[i + 1] - 1], in this order."""
    for i in prange(out.size):
        s = zero
        for k in range(starts[i], starts[i + 1]):
            s += data[k]
        out[i] = s


@_jit.jit(parallel=True)
def segment_greatest(starts, data, out):
    """The greatest number of each segment that is not empty; NaN where it holds one."""
    for i in prange(out.size):
        if starts[i] < starts[i + 1]:
            s = data[starts[i]]
            for k in range(starts[i], starts[i + 1]):
                v = data[k]
                if v > s or v != v:
                    s = v
            out[i] = s


@_jit.jit(parallel=True)
def segment_least(starts, data, out):
    """The least number of each segment that is not empty; NaN where it holds one."""
    for i in prange(out.size):
        if starts[i] < starts[i + 1]:
            s = data[starts[i]]
            for k in range(starts[i], starts[i + 1]):
                v = data[k]
                if v < s or v != v:
                    s = v
            out[i] = s


@_jit.jit(parallel=True)
def expand(indptr, rows):
    """rows[k] = the row of element k."""
    for i in prange(indptr.size - 1):
        for k in range(indptr[i], indptr[i + 1]):
            rows[k] = i


@_jit.jit(parallel=False)
def counting_order(keys, starts, order):
    """The stable order of keys below starts.size - 1, by counting: on a CPU. starts holds zeros."""
    for k in range(keys.size):
        starts[keys[k] + 1] += 1
    for i in range(starts.size - 1):
        starts[i + 1] += starts[i]
    for k in range(keys.size):
        at = starts[keys[k]]
        order[at] = k
        starts[keys[k]] = at + 1


@_jit.jit(parallel=True)
def scatter(places, data, out):
    """out[places[k]] = data[k], for places of which none occurs twice."""
    for k in prange(places.size):
        out[places[k]] = data[k]
