"""Arrays for tests, of numpy or treadle (xp), with the same values in both."""

from math import prod

import numpy

import treadle


def _counted(values, shape, xp, dtype, order="C"):
    dtype = numpy.dtype(dtype)
    if dtype.kind == "b":
        values = values % 2 == 0
    elif dtype.kind == "c":
        values = values + values * 1j
    return xp.array(values.astype(dtype).reshape(shape), order=order)


def _size(shape):
    return prod(shape) if hasattr(shape, "__iter__") else shape


def shaped_arange(shape, xp=treadle, dtype=numpy.float32, order="C"):
    """1, 2, … in this shape. Complex numbers are n + nj, bools tell whether n is even."""
    return _counted(numpy.arange(1, _size(shape) + 1), shape, xp, dtype, order)


def shaped_reverse_arange(shape, xp=treadle, dtype=numpy.float32):
    """…, 2, 1 in this shape, as shaped_arange."""
    return _counted(numpy.arange(_size(shape), 0, -1), shape, xp, dtype)


def shaped_linspace(start, stop, shape, xp=treadle, dtype=numpy.float32):
    """Numbers from start to stop in this shape, clipped to the range of bool and unsigned integers."""
    dtype = numpy.dtype(dtype)
    start = max(start, 0) if dtype.kind in "bu" else start
    stop = min(stop, 1) if dtype.kind == "b" else stop
    return xp.array(numpy.linspace(start, stop, _size(shape)).astype(dtype).reshape(shape))


def shaped_random(shape, xp=treadle, dtype=numpy.float32, scale=10, seed=0, order="C"):
    """Uniform random numbers in [0, scale), or random bools. A seed always gives the same ones."""
    rng, dtype = numpy.random.RandomState(seed), numpy.dtype(dtype)
    if dtype.kind == "b":
        values = rng.randint(2, size=shape)
    elif dtype.kind == "c":
        values = (rng.random_sample(shape) + 1j * rng.random_sample(shape)) * scale
    else:
        values = rng.random_sample(shape) * scale
    return xp.asarray(values.astype(dtype), order=order)


def shaped_sparse_random(shape, sp=None, dtype=numpy.float32, density=0.01, format="coo", seed=0):
    """A random sparse matrix of this density, in a format of sp: scipy.sparse, or treadle.scipy.sparse (None)."""
    import scipy.sparse

    sp = treadle.scipy.sparse if sp is None else sp
    found = scipy.sparse.random(*shape, density, random_state=seed).astype(dtype)
    if not hasattr(sp, "coo_matrix"):
        raise ValueError(f"shaped_sparse_random: {sp} has no sparse matrices")
    return sp.coo_matrix(found).asformat(format)


def generate_matrix(shape, xp=treadle, dtype=numpy.float32, *, singular_values=None):
    """Random matrices of shape (…, M, N) with the given singular values, which broadcast to (…, min(M, N)).

    Raises ValueError for fewer than two axes or a negative singular value. Raises TypeError where dtype is neither
    float nor complex, or the singular values are missing or complex."""
    dtype = numpy.dtype(dtype)
    if len(shape) < 2:
        raise ValueError(f"generate_matrix: {shape} is no shape of matrices")
    if singular_values is None:
        raise TypeError("generate_matrix: singular_values is missing")
    if dtype.kind not in "fc":
        raise TypeError(f"generate_matrix: dtype {dtype} is none of floats or complex numbers")
    values = xp.asarray(singular_values)
    if values.dtype.kind == "c":
        raise TypeError("generate_matrix: singular values are real")
    if bool((values < 0).any()):
        raise ValueError("generate_matrix: singular values are not negative")
    random = xp.random.standard_normal(shape)
    if dtype.kind == "c":
        random = random + 1j * xp.random.standard_normal(shape)
    u, s, vh = xp.linalg.svd(random, full_matrices=False)
    return (u * xp.broadcast_to(values, s.shape)[..., None, :] @ vh).astype(dtype)
