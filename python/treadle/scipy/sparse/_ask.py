"""Questions about matrices, their index dtypes, and files."""

import numpy

import treadle as td

from ..._core import ndarray
from . import _parts
from ._base import Sparse, spmatrix
from ._kinds import CLASSES


def issparse(x):
    """Is x one of treadle's sparse matrices or arrays?"""
    return isinstance(x, Sparse)


def isspmatrix(x):
    """Is x one of treadle's sparse matrices, but not a sparse array?"""
    return isinstance(x, spmatrix)


def _asks(fmt):
    def ask(x):
        return isinstance(x, CLASSES[fmt, False])

    ask.__name__ = ask.__qualname__ = f"isspmatrix_{fmt}"
    ask.__doc__ = f"Is x a {fmt}_matrix?"
    return ask


isspmatrix_csr, isspmatrix_csc, isspmatrix_coo, isspmatrix_dia = map(_asks, ("csr", "csc", "coo", "dia"))


def get_index_dtype(arrays=(), maxval=None, check_contents=False):
    """int32 if it can hold the arrays' indices and maxval, else int64. check_contents looks at the values in the
    arrays."""
    arrays = [arrays] if isinstance(arrays, (ndarray, numpy.ndarray)) else arrays
    if maxval is not None and int(maxval) > _parts.INT32_MAX:
        return numpy.int64
    for a in map(td.asarray, arrays):
        if numpy.can_cast(a.dtype, numpy.int32):
            continue
        if check_contents and a.dtype.kind in "iu":
            if not a.size or (int(a.min()) >= -_parts.INT32_MAX - 1 and int(a.max()) <= _parts.INT32_MAX):
                continue
        return numpy.int64
    return numpy.int32


def safely_cast_index_arrays(A, idx_dtype=numpy.int32, msg=""):
    """The index arrays of A, converted to idx_dtype. Raises ValueError if they do not fit."""
    if A.format == "dia":
        arrays, most = (A.offsets,), max(A.shape)
    elif A.format == "coo":
        arrays, most = A.coords, max(A.shape)
    else:
        arrays, most = (A.indices, A.indptr), max(*A.shape, A.nnz)
    if most > numpy.iinfo(idx_dtype).max:
        raise ValueError(f"{A.format} has indices up to {most}, too large for {numpy.dtype(idx_dtype)}. {msg}".strip())
    done = tuple(a.astype(idx_dtype) for a in arrays)
    return done[0] if len(done) == 1 else done


def save_npz(file, matrix, compressed=True):
    """Write a matrix to a .npz file, which SciPy can read, too."""
    parts = {"format": matrix.format.encode("ascii"), "shape": matrix.shape, "data": matrix.data.get()}
    if matrix.format == "dia":
        parts["offsets"] = matrix.offsets.get()
    elif matrix.format == "coo":
        names = ("row", "col") if matrix.ndim == 2 else ("coords",)
        values = [c.get() for c in matrix.coords]
        parts.update(zip(names, values if matrix.ndim == 2 else [numpy.stack(values)], strict=True))
    else:
        parts.update(indices=matrix.indices.get(), indptr=matrix.indptr.get())
    if matrix._is_array:
        parts["_is_array"] = True
    (numpy.savez_compressed if compressed else numpy.savez)(file, **parts)


def load_npz(file):
    """Read the matrix from a .npz file that save_npz or SciPy wrote. Raises ValueError if it holds none, or one of a
    format that is not here."""
    with numpy.load(file, allow_pickle=False) as parts:
        if "format" not in parts:
            raise ValueError(f"The file {file} does not contain a sparse array or matrix.")
        fmt, is_array = parts["format"].item(), "_is_array" in parts
        fmt = fmt.decode("ascii") if isinstance(fmt, bytes) else fmt
        if (fmt, is_array) not in CLASSES:
            raise ValueError(f"load_npz: matrices of format {fmt} are not on devices; scipy.sparse.load_npz reads it")
        cls, shape = CLASSES[fmt, is_array], tuple(parts["shape"].tolist())
        if fmt == "dia":
            return cls((parts["data"], parts["offsets"]), shape=shape)
        if fmt == "coo":
            coords = parts["coords"] if "coords" in parts else (parts["row"], parts["col"])
            return cls((parts["data"], tuple(coords)), shape=shape)
        return cls((parts["data"], parts["indices"], parts["indptr"]), shape=shape)
