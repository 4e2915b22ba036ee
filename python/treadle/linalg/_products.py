"""Products of vectors and matrices. The core computes them, except that on a CPU NumPy multiplies integers and host
arrays.
"""

import operator
import warnings
from functools import cache
from math import prod

import numpy

from .. import _core
from .._core import empty, ndarray
from .._exchange._host import check_out, few, store
from .._exchange._rows import by_rows
from .._numpy._join import stack
from .._numpy._shape import moveaxis
from .._numpy._spelled import generalised

_UFUNC = _core.ufuncs()


def _pair(a, b):
    """The operands as arrays on one device."""
    return _core._beside("product", a, b)


def _matmul_shape(sa, sb):
    if not sa or not sb:
        raise ValueError("matmul: operands have no axis to multiply along; use * for scalars")
    k, rows = sa[-1], sb[-2] if len(sb) > 1 else sb[0]
    if k != rows:
        raise ValueError(f"matmul: shapes {sa} and {sb}: inner sizes {k} and {rows} differ")
    if len(sa) == len(sb) == 2:
        return sa[0], sb[1]
    try:
        batch = numpy.broadcast_shapes(sa[:-2], sb[:-2])
    except ValueError:
        raise ValueError(f"matmul: shapes {sa} and {sb}: leading axes do not broadcast") from None
    return (*batch, *sa[-2:-1], *(sb[-1:] if len(sb) > 1 else ()))


def _matmul(a, b):
    shape = _matmul_shape(a.shape, b.shape)
    where = a.device
    halves = any(x.dtype.kind == "V" for x in (a, b)) or a.dtype == b.dtype == "float16"  # NumPy has no BLAS for these
    if not where.host or halves or _core._capturing():
        return _core._matmul(a, b)
    hosted = _core._on_host(a) or _core._on_host(b)
    if hosted:
        r = _in_chunks(a, b)
        if r is not None:
            return r
    if not hosted and a.dtype.kind in "fc" and b.dtype.kind in "fc":
        return _core._matmul(a, b)
    na, nb = _core._host_view(a), _core._host_view(b)
    dt = na.dtype if na.dtype is nb.dtype else numpy.result_type(na, nb)
    if hosted:  # the result stays on the host too: it may be as large
        return _core._from_host(_in_blocks(na, nb, dt), where)
    r = empty(shape, dt, device=where)
    if not _core._looks():
        numpy.matmul(na, nb, out=_core._host_view(r))
        return r
    with numpy.errstate(all="ignore"):
        numpy.matmul(na, nb, out=_core._host_view(r))
    _core._look_at("matmul", a, b, r)
    return r


_BLOCK = 1 << 30  # multiplications that take less than a tenth of a second


def _in_blocks(a, b, dtype):
    """The product of NumPy's arrays, block by block along the longest axis: between blocks Python looks for signals.

    Not on a thread that the caller could leave: BLAS waits for ever where a program ends in the middle of a call."""
    if a.ndim != 2 or b.ndim != 2 or len(a) * b.size <= _BLOCK:
        return numpy.matmul(a, b)
    sizes = len(a), b.shape[1], len(b)
    along = max(range(3), key=sizes.__getitem__)
    step = max(_BLOCK * sizes[along] // (len(a) * b.size) // 64 * 64, 64)
    r = numpy.zeros(sizes[:2], dtype)
    for k in range(0, sizes[along], step):
        part = slice(k, k + step)
        if along == 0:
            numpy.matmul(a[part], b, out=r[part])
        elif along == 1:
            numpy.matmul(a, b[:, part], out=r[:, part])
        else:
            r += numpy.matmul(a[:, part], b[part])
    return r


def _in_chunks(a, b):
    """Rows of a times b, or a times columns of b, of one that the device does not hold; None where that is not so."""
    if b.ndim <= 2 and a.ndim > 1 and b.nbytes <= a.nbytes:
        return by_rows(lambda x: _matmul(x, b), a, (a.ndim - 1,), b.ndim == 2)
    if a.ndim == b.ndim == 2 and a.shape[0] > b.shape[0] // 4:  # else the result is small
        return by_rows(lambda x: _matmul(a, x), b, (0,))
    return None


def matmul(a, b, /, out=None, *, casting="same_kind", order="K", dtype=None, subok=True, axes=None, axis=None,
           keepdims=False, signature=None, sig=None):  # fmt: skip
    """The matrix product, broadcast over the leading axes.

    Parameters
    ----------
    a, b : array_like, shape (..., M, K) and (..., K, N)
        The factors; a vector (K,) stands for a row in a and for a column in b.
    out : ndarray, optional
        Takes the result and is returned: an array of treadle's or NumPy's with the result's shape.
    casting : str, default 'same_kind'
        Which casts are allowed, by numpy.can_cast's names.
    order : {'C', 'F', 'A', 'K'}, default 'K'
        Order of the elements in memory.
    dtype : dtype, optional
        Dtype to cast the operands to.
    subok : bool, default True
        Accepted for NumPy's signature; treadle has no subclasses of its array.
    axes : list of tuples of ints, optional
        The axes of each operand and of the result that the product is about.
    axis : int, optional
        The one axis of both operands, where each has one.
    keepdims : bool, default False
        Keep the axis with extent 1.
    signature : str or tuple of dtypes, optional
        Dtypes to cast the operands to, as ``"dd->d"``.
    sig : str or tuple of dtypes, optional
        Another name of signature.

    Returns
    -------
    ndarray, shape (..., M, N)
        Without the axis of a factor that is a vector; of the dtype that they promote to.

    Raises
    ------
    ValueError
        The inner extents differ, or a factor has no axes.

    Examples
    --------
    >>> np.matmul([[1, 2], [3, 4]], [5, 6])
    array([17, 39])
    """
    plain = axes is None and axis is None and not keepdims and signature is None and sig is None
    if out is None and dtype is None and plain and casting == "same_kind":
        return r if (r := _core._fused_product(a, b)) is not None else _matmul(*_pair(a, b))
    f = _MATMULS[tuple((x.ndim if isinstance(x, ndarray) else numpy.ndim(x)) == 1 for x in (a, b))]
    return f(a, b, out, casting=casting, dtype=dtype, axes=axes, axis=axis, keepdims=keepdims, signature=signature,
             sig=sig)  # fmt: skip


def _product(signature):
    def product(a, b):
        return _matmul(a, b)

    product.__name__ = "matmul"
    return generalised(signature)(product)


# matmul by which operands are vectors
_MATMULS = {
    (False, False): _product("(n,k),(k,m)->(n,m)"),
    (False, True): _product("(n,k),(k)->(n)"),
    (True, False): _product("(k),(k,m)->(m)"),
    (True, True): _product("(k),(k)->()"),
}


def dot(a, b, out=None):
    """The sum of products over the last axis of a and the last but one of b.

    Parameters
    ----------
    a, b : array_like
        The factors; the only axis of a vector is taken, and a number multiplies.
    out : ndarray, optional
        Takes the result and is returned: an array of treadle's or NumPy's with the result's shape.

    Returns
    -------
    ndarray, shape (*a.shape[:-1], *b.shape[:-2], b.shape[-1])
        Of the dtype that they promote to.

    Raises
    ------
    ValueError
        The extents differ, or out is not as the result.

    Examples
    --------
    >>> np.dot([1, 2], [3, 4])
    np.int64(11)
    """
    if out is None and (r := _core._fused_product(a, b)) is not None:
        return r
    a, b = _pair(a, b)
    if out is not None:
        return into_dot("dot", dot(a, b), out)
    if a.ndim == 0 or b.ndim == 0:
        return a * b
    if a.ndim <= 2 and b.ndim <= 2:
        return matmul(a, b)
    return tensordot(a, b, ((a.ndim - 1,), (b.ndim - 2 if b.ndim > 1 else 0,)))


def into_dot(name, r, out):
    """Write r into out, which must have the dtype and shape of dot's result and be C-contiguous."""
    check_out(name, out)
    if out.dtype != r.dtype or out.shape != r.shape or not out.flags.c_contiguous:
        raise ValueError(
            "output array is not acceptable (must have the right datatype, number of dimensions, and be a C-Array): "
            f"it has {out.dtype} and shape {out.shape}, the result {r.dtype} and {r.shape}"
        )
    return store(name, out, r)


@few(numpy.tensordot)
def tensordot(a, b, axes=2):
    """The sum of products over pairs of axes.

    Parameters
    ----------
    a, b : array_like
        The factors.
    axes : int or pair of sequences of ints, default 2
        How many of a's last and b's first axes, or those of a and of b.

    Returns
    -------
    ndarray
        a's other axes, then b's.

    Raises
    ------
    ValueError
        Extents of a pair differ.

    Examples
    --------
    >>> np.tensordot([[1, 2], [3, 4]], [[1, 2], [3, 4]])
    array(30)
    """
    a, b = _pair(a, b)
    try:
        iter(axes)
    except TypeError:  # a number of axes, the last ones of a and the first ones of b
        axes = (tuple(range(-axes, 0)), tuple(range(axes)))
    left, right = (tuple(x) if isinstance(x, (tuple, list)) else (x,) for x in axes)
    # all() ends at the first pair that differs, and raises IndexError at an axis that is not there, as NumPy does
    if len(left) != len(right) or not all(a.shape[i] == b.shape[k] for i, k in zip(left, right, strict=True)):
        raise ValueError(f"tensordot: shapes {a.shape} and {b.shape} differ along axes {left} and {right}")
    left, right = [k % a.ndim for k in left], [k % b.ndim for k in right]
    keep_a = [k for k in range(a.ndim) if k not in left]
    keep_b = [k for k in range(b.ndim) if k not in right]
    n = prod(a.shape[k] for k in left)
    rows, columns = [a.shape[k] for k in keep_a], [b.shape[k] for k in keep_b]
    m = matmul(
        a.transpose(keep_a + left).reshape((prod(rows), n)), b.transpose(right + keep_b).reshape((n, prod(columns)))
    )
    return m.reshape((*rows, *columns))


def _conjugate(a):
    """The conjugate of a, or a itself where it is real."""
    return _core.ufuncs()["conjugate"](a) if a.dtype.kind == "c" else a


def vdot(a, b, /):
    """The scalar product of two flattened arrays, the first one conjugated.

    Parameters
    ----------
    a, b : array_like
        Arrays of as many elements.

    Returns
    -------
    ndarray, shape ()
        Of the dtype that they promote to.

    Raises
    ------
    ValueError
        The numbers of elements differ.

    Examples
    --------
    >>> np.vdot([1j, 2], [1j, 1])
    np.complex128(3+0j)
    """
    a, b = _pair(a, b)
    return matmul(_conjugate(a.ravel()), b.ravel())


@generalised("(n),(n)->()")
def vecdot(a, b):
    """The scalar products of the vectors along an axis of both, the first one conjugated.

    Parameters
    ----------
    x1, x2 : array_like, shape (..., N)
        The vectors; the other axes broadcast.
    out : ndarray, optional
        Takes the result and is returned: an array of treadle's or NumPy's with the result's shape.
    casting : str, default 'same_kind'
        Which casts are allowed, by numpy.can_cast's names.
    order : {'C', 'F', 'A', 'K'}, default 'K'
        Order of the elements in memory.
    dtype : dtype, optional
        Dtype to cast the operands to.
    subok : bool, default True
        Accepted for NumPy's signature; treadle has no subclasses of its array.
    axes : list of tuples of ints, optional
        The axes of each operand and of the result that the product is about.
    axis : int, optional
        The one axis of both operands, where each has one.
    keepdims : bool, default False
        Keep the axis with extent 1.
    signature : str or tuple of dtypes, optional
        Dtypes to cast the operands to, as ``"dd->d"``.
    sig : str or tuple of dtypes, optional
        Another name of signature.

    Returns
    -------
    ndarray, shape (...)
        Of the dtype that they promote to.

    Raises
    ------
    ValueError
        The vectors differ in length.

    Examples
    --------
    >>> np.vecdot([[1, 2], [3, 4]], [5, 6])
    array([17, 39])
    """
    if a.shape[-1] != b.shape[-1]:
        raise ValueError(f"vecdot: the axes have {a.shape[-1]} and {b.shape[-1]} elements")
    product = _conjugate(a) * b
    if product.dtype.kind == "b":
        return product.any(-1)
    return product.sum(-1, dtype=product.dtype)


@generalised("(m,n),(n)->(m)")
def matvec(a, b):
    """Matrices times vectors.

    Parameters
    ----------
    x1, x2 : array_like, shape (..., M, N) and (..., N)
        The factors; leading axes broadcast.
    out : ndarray, optional
        Takes the result and is returned: an array of treadle's or NumPy's with the result's shape.
    casting : str, default 'same_kind'
        Which casts are allowed, by numpy.can_cast's names.
    order : {'C', 'F', 'A', 'K'}, default 'K'
        Order of the elements in memory.
    dtype : dtype, optional
        Dtype to cast the operands to.
    subok : bool, default True
        Accepted for NumPy's signature; treadle has no subclasses of its array.
    axes : list of tuples of ints, optional
        The axes of each operand and of the result that the product is about.
    axis : int, optional
        The one axis of both operands, where each has one.
    keepdims : bool, default False
        Keep the axis with extent 1.
    signature : str or tuple of dtypes, optional
        Dtypes to cast the operands to, as ``"dd->d"``.
    sig : str or tuple of dtypes, optional
        Another name of signature.

    Returns
    -------
    ndarray, shape (..., M)
        Of the dtype that they promote to.

    Raises
    ------
    ValueError
        The inner extents differ.

    Examples
    --------
    >>> np.matvec([[1, 2], [3, 4]], [5, 6])
    array([17, 39])
    """
    return matmul(a, b[..., None])[..., 0]


@generalised("(n),(n,m)->(m)")
def vecmat(a, b):
    """Vectors, conjugated, times matrices.

    Parameters
    ----------
    x1, x2 : array_like, shape (..., M) and (..., M, N)
        The factors; leading axes broadcast.
    out : ndarray, optional
        Takes the result and is returned: an array of treadle's or NumPy's with the result's shape.
    casting : str, default 'same_kind'
        Which casts are allowed, by numpy.can_cast's names.
    order : {'C', 'F', 'A', 'K'}, default 'K'
        Order of the elements in memory.
    dtype : dtype, optional
        Dtype to cast the operands to.
    subok : bool, default True
        Accepted for NumPy's signature; treadle has no subclasses of its array.
    axes : list of tuples of ints, optional
        The axes of each operand and of the result that the product is about.
    axis : int, optional
        The one axis of both operands, where each has one.
    keepdims : bool, default False
        Keep the axis with extent 1.
    signature : str or tuple of dtypes, optional
        Dtypes to cast the operands to, as ``"dd->d"``.
    sig : str or tuple of dtypes, optional
        Another name of signature.

    Returns
    -------
    ndarray, shape (..., N)
        Of the dtype that they promote to.

    Raises
    ------
    ValueError
        The inner extents differ.

    Examples
    --------
    >>> np.vecmat([5, 6], [[1, 2], [3, 4]])
    array([23, 34])
    """
    return matmul(_conjugate(a)[..., None, :], b)[..., 0, :]


def kron(a, b):
    """The Kronecker product: a with every element replaced by itself times b.

    Parameters
    ----------
    a, b : array_like
        The factors.

    Returns
    -------
    ndarray
        The extents are multiplied.

    Examples
    --------
    >>> np.kron([1, 2], [1, 10])
    array([ 1, 10,  2, 20])
    """
    a, b = _pair(a, b)
    n = max(a.ndim, b.ndim)
    sa, sb = (1,) * (n - a.ndim) + a.shape, (1,) * (n - b.ndim) + b.shape
    left = a.reshape([x for m in sa for x in (m, 1)])
    right = b.reshape([x for m in sb for x in (1, m)])
    return (left * right).reshape([p * q for p, q in zip(sa, sb, strict=True)])


@cache
def _crosses_pairs():
    """Whether NumPy's cross takes vectors of 2 elements. It did so up to 2.4."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            numpy.cross([1, 0], [0, 1])
        except ValueError:
            return False
    return True


@few(numpy.cross)
def cross(a, b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    """The vector product along axes of 2 or 3 elements; a missing third one is 0.

    Parameters
    ----------
    a, b : array_like
        The vectors; the other axes broadcast.
    axisa, axisb, axisc : int, default -1
        The axes of the vectors in a, b and the result.
    axis : int, optional
        All three of them at once.

    Returns
    -------
    ndarray
        Without the axis where both have 2 elements.

    Raises
    ------
    ValueError
        An axis has neither 2 nor 3 elements; or 2, where the installed NumPy refuses them (from 2.5 on).

    Examples
    --------
    >>> np.cross([1, 0, 0], [0, 1, 0])
    array([0, 0, 1])
    """
    if axis is not None:
        axisa = axisb = axisc = operator.index(axis)
    a, b = _pair(a, b)
    if not (a.ndim and b.ndim):
        raise ValueError("cross: at least one array has no axes")
    a, b = moveaxis(a, axisa, -1), moveaxis(b, axisb, -1)
    m, n = a.shape[-1], b.shape[-1]
    if not (2 <= m <= 3 and 2 <= n <= 3):
        raise ValueError(f"cross: both arrays must be (arrays of) 2- or 3-dimensional vectors, but have {m} and {n}")
    if 2 in (m, n) and not _crosses_pairs():
        raise ValueError(f"cross: both arrays must be (arrays of) 3-dimensional vectors, but have {m} and {n}")
    if m == n == 3 and not a.device.host and a.size and b.size:  # one kernel, where three parts would be four
        x, y = ([_core._roll(v, (*[0] * (v.ndim - 1), -k)) for k in (1, 2)] for v in (a, b))
        return moveaxis(x[0] * y[1] - x[1] * y[0], -1, axisc)
    x, y = ([v[..., k] for k in range(v.shape[-1])] for v in (a, b))
    third = x[0] * y[1] - x[1] * y[0]
    if m == n == 2:
        return third
    if m == 2:
        parts = [x[1] * y[2], -(x[0] * y[2]), third]
    elif n == 2:
        parts = [-(x[2] * y[1]), x[2] * y[0], third]
    else:
        parts = [x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], third]
    return moveaxis(stack(parts, -1), -1, axisc)


@few(numpy.inner)
def inner(a, b, /):
    """The sum of products over the last axes.

    Parameters
    ----------
    a, b : array_like
        The factors.

    Returns
    -------
    ndarray, shape (*a.shape[:-1], *b.shape[:-1])
        Of the dtype that they promote to.

    Raises
    ------
    ValueError
        The last extents differ.

    Examples
    --------
    >>> np.inner([1, 2], [3, 4])
    np.int64(11)
    """
    a, b = _pair(a, b)
    return a * b if a.ndim == 0 or b.ndim == 0 else tensordot(a, b, ((a.ndim - 1,), (b.ndim - 1,)))


def outer(a, b, out=None):
    """Every element of a times every element of b.

    Parameters
    ----------
    a, b : array_like, M and N elements
        The factors; they are flattened.
    out : ndarray, optional
        Takes the result and is returned: an array of treadle's or NumPy's with the result's shape.

    Returns
    -------
    ndarray, shape (M, N)
        Of the dtype that they promote to.

    Examples
    --------
    >>> np.outer([1, 2], [3, 4])
    array([[3, 4],
           [6, 8]])
    """
    a, b = _pair(a, b)
    return _UFUNC["multiply"](a.ravel()[:, None], b.ravel()[None, :], out=out)
