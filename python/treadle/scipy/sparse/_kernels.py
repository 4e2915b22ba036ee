"""Loops over the rows of compressed matrices, in the kernel language: one text for CPU threads and for GPUs.

All arrays lie on one device and are contiguous. The caller makes the arrays for results. zero is a number of the
result's dtype with which sums begin, so that elements are added in that dtype. They are added in the order in which
they are stored.
"""

import functools

from ... import cuda
from ..._compile import _jit

prange = _jit.prange


# On a CPU each thread goes through a piece of the rows, one after another. With rows as lanes of vectors each read
# would be a gather, which took five times as long for rows of 60 elements. Two things tell the compiler so: a piece
# reads its own row of start, a table of zeros with one column, and a row begins where the one before has ended.


@_jit.jit(parallel=True)
def row_products_cpu(indptr, indices, data, x, y, start):
    """row_products, with as many pieces as start has rows."""
    pieces = start.shape[0]
    for c in prange(pieces):
        low = c * y.size // pieces
        last = indptr[low]
        for i in range(low, (c + 1) * y.size // pieces):
            s = start[c, 0]
            first = last
            last = indptr[i + 1]
            for k in range(first, last):
                s += data[k] * x[indices[k]]
            y[i] = s


@_jit.jit(parallel=True)
def segment_sums_cpu(starts, data, out, start):
    """segment_sums, with as many pieces as start has rows."""
    pieces = start.shape[0]
    for c in prange(pieces):
        low = c * out.size // pieces
        last = starts[low]
        for i in range(low, (c + 1) * out.size // pieces):
            s = start[c, 0]
            first = last
            last = starts[i + 1]
            for k in range(first, last):
                s += data[k]
            out[i] = s


@_jit.jit(parallel=True)
def row_products(indptr, indices, data, x, y, zero):
    """y[i] = sum of data[k] * x[indices[k]] over row i. Each thread computes a row."""
    for i in prange(y.size):
        s = zero
        for k in range(indptr[i], indptr[i + 1]):
            s += data[k] * x[indices[k]]
        y[i] = s


@functools.cache
def group_products(width):
    """row_products with width neighbouring threads of a warp for each row, for longer rows on a GPU."""

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
    """row_products for each column of x. On a GPU neighbouring threads compute neighbouring columns."""
    for i in prange(y.shape[0]):
        for j in prange(y.shape[1]):
            s = zero
            for k in range(indptr[i], indptr[i + 1]):
                s += data[k] * x[indices[k], j]
            y[i, j] = s


@_jit.jit(parallel=False)
def scattered_products(row, col, data, x, y):
    """y[row[k]] += data[k] * x[col[k]] in sequence, for a CPU."""
    for k in range(row.size):
        y[row[k]] += data[k] * x[col[k]]


@cuda.jit
def atomic_products(row, col, data, x, y):
    """scattered_products by atomic additions. Each thread adds an element."""
    k = cuda.grid(1)
    if k < row.size:
        cuda.atomic.add(y, row[k], data[k] * x[col[k]])


@_jit.jit(parallel=True)
def diagonal_products(offsets, data, x, y, zero):
    """y[i] = sum of data[d, i + offsets[d]] * x[i + offsets[d]] over the diagonals d that cross row i."""
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
    """The greatest number of each segment that is not empty. NaN if it holds one."""
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
    """The least number of each segment that is not empty. NaN if it holds one."""
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
    """The stable order of keys below starts.size - 1, by a counting sort on a CPU. starts holds zeros."""
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
    """out[places[k]] = data[k]. No place occurs twice."""
    for k in prange(places.size):
        out[places[k]] = data[k]


# Merges two matrices with sorted rows. The first kernel counts the places of each row, the second fills in the places
# with the elements of both. On a GPU there are as many pieces as rows.


@_jit.jit(parallel=True)
def merge_count(ap, ai, bp, bi, beyond, start, counts):
    """counts[i] = the number of columns in which row i of either matrix has an element. All columns are below beyond.
    start holds zeros."""
    pieces = start.shape[0]
    for c in prange(pieces):
        low = c * counts.size // pieces
        ka = ap[low]
        kb = bp[low]
        for i in range(low, (c + 1) * counts.size // pieces):
            n = start[c, 0]
            last_a = ap[i + 1]
            last_b = bp[i + 1]
            while ka < last_a or kb < last_b:
                ja = beyond
                jb = beyond
                if ka < last_a:
                    ja = ai[ka]
                if kb < last_b:
                    jb = bi[kb]
                if ja <= jb:
                    ka += 1
                if jb <= ja:
                    kb += 1
                n += 1
            counts[i] = n


@_jit.jit(parallel=True)
def merge_fill(ap, ai, av, bp, bi, bv, beyond, start, zero, op, oi, oa, ob):
    """oi, oa and ob: the columns of the merged rows, which begin at op, and the elements of both matrices there, or
    zero."""
    pieces = start.shape[0]
    rows = op.size - 1
    for c in prange(pieces):
        low = c * rows // pieces
        ka = ap[low]
        kb = bp[low]
        for i in range(low, (c + 1) * rows // pieces):
            o = op[i] + start[c, 0]
            last_a = ap[i + 1]
            last_b = bp[i + 1]
            while ka < last_a or kb < last_b:
                ja = beyond
                jb = beyond
                if ka < last_a:
                    ja = ai[ka]
                if kb < last_b:
                    jb = bi[kb]
                oa[o] = zero
                ob[o] = zero
                if ja <= jb:
                    oi[o] = ja
                    oa[o] = av[ka]
                    ka += 1
                if jb <= ja:
                    oi[o] = jb
                    ob[o] = bv[kb]
                    kb += 1
                o += 1


# The product of two matrices by rows, on a CPU. Each piece has a table with a number for each column: the last row that
# had an element there, or the position of its sum.


@_jit.jit(parallel=True)
def product_count(ap, ai, bp, bi, met, counts):
    """counts[i] = the number of columns of row i of the product. met: a row of -1 for each piece."""
    pieces = met.shape[0]
    for c in prange(pieces):
        for i in range(c * counts.size // pieces, (c + 1) * counts.size // pieces):
            n = 0
            for ka in range(ap[i], ap[i + 1]):
                for kb in range(bp[ai[ka]], bp[ai[ka] + 1]):
                    j = bi[kb]
                    if met[c, j] != i:
                        met[c, j] = i
                        n += 1
            counts[i] = n


@_jit.jit(parallel=True)
def product_fill(ap, ai, av, bp, bi, bv, place, op, oi, ov):
    """The product's columns and sums, in the order in which columns occur. place: a row of -1 for each piece."""
    pieces = place.shape[0]
    rows = op.size - 1
    for c in prange(pieces):
        for i in range(c * rows // pieces, (c + 1) * rows // pieces):
            first = op[i]
            o = first
            for ka in range(ap[i], ap[i + 1]):
                v = av[ka]
                for kb in range(bp[ai[ka]], bp[ai[ka] + 1]):
                    j = bi[kb]
                    if place[c, j] < first:
                        place[c, j] = o
                        oi[o] = j
                        ov[o] = v * bv[kb]
                        o += 1
                    else:
                        ov[place[c, j]] += v * bv[kb]
