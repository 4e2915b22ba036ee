"""torch.sparse: tensors that keep only some elements, with their coordinates (COO), and products of them.

A SparseTensor is a pair of ordinary tensors, so gradients reach its values as they reach other tensors. Compressed
formats, and products of two sparse tensors, are not implemented and raise an error. to_dense() is the way around it.
"""

import math
import re

from . import _modules
from ._prim import Tensor, array, derived, td
from ._tensor import _axes, _dtypes
from ._tensor._create import tensor, zeros
from ._tensor._layout import layout
from ._tensor._parts import cat
from ._tensor._size import Size

__all__ = ["SparseTensor", "addmm", "mm", "sparse_coo_tensor", "sum"]

sparse_coo = layout("sparse_coo")


class _Pattern:
    """The places of a coalesced matrix as compressed rows. The same for its transpose is computed when it is asked for.
    """

    def __init__(self, rows, columns, shape):
        self.rows, self.columns, self.shape = rows, columns, shape
        self.starts = td.searchsorted(array(rows), td.arange(shape[0] + 1, device=array(rows).device))
        self._turned = None

    def turned(self):
        """(where the values of the transpose are among these, the transpose's pattern)."""
        if self._turned is None:
            order = self.columns.argsort(stable=True)
            self._turned = order, _Pattern(self.columns[order], self.rows[order], self.shape[::-1])
        return self._turned


@derived("SparseMm")
def _product(values, dense, *, pattern):
    from ..scipy.sparse import csr_array

    kept = (values, array(pattern.columns), pattern.starts)
    return csr_array(kept, shape=pattern.shape) @ dense


@_product.backward
def _(inputs, r, g, *, pattern):
    values, dense = inputs
    order, turned = pattern.turned()
    own = (g[pattern.rows] * dense.conj()[pattern.columns]).sum(-1)
    return own, _product(values.conj()[order], g, pattern=turned)


class SparseTensor:
    """A tensor whose elements are 0 except for values (nnz, …) at indices (sparse dimensions, nnz).

    sparse_coo_tensor and Tensor.to_sparse make it. Until coalesce() a place may occur several times; its element is the
    sum of its values. It is no Tensor: functions of tensors take to_dense() of it.
    """

    is_sparse, is_leaf, layout = True, True, sparse_coo

    def __init__(self, indices, values, shape, coalesced=False):
        self._at, self._kept, self._shape, self._coalesced = indices, values, tuple(shape), coalesced
        self._pattern = None

    # ---- what it is ----

    shape = property(lambda self: Size(self._shape), doc="The extents.")
    dtype = property(lambda self: self._kept.dtype, doc="The values' dtype.")
    device = property(lambda self: self._kept.device, doc="Where the values lie.")
    ndim = property(lambda self: len(self._shape), doc="The number of dimensions.")
    requires_grad = property(lambda self: self._kept.requires_grad, doc="Do the values require a gradient?")
    is_cuda = property(lambda self: self._kept.is_cuda, doc="Does it lie on a GPU?")

    _version = property(lambda self: self._kept._version, doc="How often the values have been written to.")

    @property
    def grad(self):
        """The values' gradient at the same places, or None."""
        g = self._kept.grad
        return None if g is None else SparseTensor(self._at, g, self._shape, self._coalesced)

    def requires_grad_(self, requires_grad=True):
        """Set whether the values require a gradient. Returns itself."""
        self._kept.requires_grad_(requires_grad)
        return self

    def size(self, dim=None):
        """The shape; with dim one extent."""
        return self.shape if dim is None else self.shape[dim]

    def dim(self):
        """The number of dimensions."""
        return self.ndim

    def numel(self):
        """The number of elements, including zeros."""
        return math.prod(self._shape)

    def sparse_dim(self):
        """The number of leading dimensions that are sparse."""
        return self._at.size(0)

    def dense_dim(self):
        """The number of dimensions that the values of a place have."""
        return self._kept.ndim - 1

    def _nnz(self):
        return self._at.size(1)

    def is_coalesced(self):
        """Does each place occur once, in order?"""
        return self._coalesced

    def _indices(self):
        return self._at

    def _values(self):
        return self._kept

    def indices(self):
        """The places, (sparse dimensions, nnz). Raises RuntimeError unless it is coalesced."""
        return self._checked("indices")._at

    def values(self):
        """The values, (nnz, …). Raises RuntimeError unless it is coalesced."""
        return self._checked("values")._kept

    def _checked(self, what):
        if not self._coalesced:
            raise RuntimeError(f"Cannot get {what} on an uncoalesced tensor, please call .coalesce() first")
        return self

    def __repr__(self):
        def part(name, t):
            whole = re.sub(r",\s+(dtype|device)=[^,)]+", "", repr(t.detach()))  # the text of the whole says both
            return f"{name}=" + whole.replace("\n", "\n" + " " * (len(name) + 8))

        text = ",\n       ".join((part("indices", self._at), part("values", self._kept)))
        where = f"device='{self.device}', " * (self.device.type != "cpu")
        text += f",\n       {where}size={self._shape}, nnz={self._nnz()}"
        known = _dtypes.get_default_dtype(), _dtypes.DTYPES["int64"]
        text += f", dtype={self.dtype}" * (self.dtype not in known)
        return f"tensor({text}, layout=torch.sparse_coo" + ", requires_grad=True" * self.requires_grad + ")"

    def _repr_html_(self):
        from .._observe import _html

        return _html.tensor(self)

    def __len__(self):
        return self._shape[0]

    # ---- the same elements elsewhere, or in another form ----

    def _with(self, values):
        r = SparseTensor(self._at, values, self._shape, self._coalesced)
        r._pattern = self._pattern
        return r

    def to(self, *args, **kwargs):
        """The tensor in another dtype or on another device."""
        values = self._kept.to(*args, **kwargs)
        if values is self._kept:
            return self
        return SparseTensor(self._at.to(values.device), values, self._shape, self._coalesced)

    def cpu(self):
        """On the CPU."""
        return self.to("cpu")

    def cuda(self, device=None):
        """On a GPU."""
        return self.to("cuda" if device is None else device)

    def detach(self):
        """The same values without their history."""
        return self._with(self._kept.detach())

    def clone(self):
        """A copy."""
        return self._with(self._kept.clone())

    def _flat_places(self):
        flat = self._at[0]
        for k in range(1, self.sparse_dim()):
            flat = flat * self._shape[k] + self._at[k]
        return flat

    def coalesce(self):
        """The tensor with each place once, in order, with the sum of its values. On a GPU this waits, because the
        number of places has to be known."""
        if self._coalesced:
            return self
        own, at = self._flat_places().unique(return_inverse=True)
        sums = zeros((own.numel(), *self._kept.shape[1:]), dtype=self.dtype, device=self.device)
        sums = sums.index_add(0, at, self._kept)
        places = []
        for n in reversed(self._shape[: self.sparse_dim()]):
            places.append(own % n)
            own = own // n
        indices = places[0].new_zeros((len(places), places[0].numel()))
        for k, place in enumerate(reversed(places)):
            indices[k] = place
        return SparseTensor(indices, sums, self._shape, True)

    def to_dense(self, dtype=None, *, masked_grad=None):
        """All elements, as an ordinary tensor."""
        lead = self._shape[: self.sparse_dim()]
        flat = zeros((math.prod(lead), *self._kept.shape[1:]), dtype=self.dtype, device=self.device)
        r = flat.index_add(0, self._flat_places(), self._kept).reshape(self._shape)
        return r if dtype is None else r.to(dtype)

    def to_sparse(self, sparse_dim=None):
        """Itself."""
        return self

    def transpose(self, dim0, dim1):
        """Exchange two sparse dimensions."""
        a, b = (_axes.one(d, self.ndim) for d in (dim0, dim1))
        if max(a, b) >= self.sparse_dim():
            raise RuntimeError("SparseTensor.transpose: dense dimensions stay where they are")
        order, shape = list(range(self.sparse_dim())), list(self._shape)
        order[a], order[b] = b, a
        shape[a], shape[b] = shape[b], shape[a]
        return SparseTensor(self._at[tensor(order, device=self.device)], self._kept, shape)

    def t(self):
        """The transpose of a matrix."""
        if self.ndim != 2:
            raise RuntimeError(
                f"t() expects a tensor with <= 2 sparse and 0 dense dimensions, but self is {self.ndim}D"
            )
        return self.transpose(0, 1)

    T = property(t, doc="A matrix, transposed.")

    # ---- arithmetic ----

    def __neg__(self):
        return self._with(-self._kept)

    def __mul__(self, other):
        if isinstance(other, SparseTensor):
            raise _refused("the product of the elements of two sparse tensors")
        if isinstance(other, Tensor) and other.ndim:
            own = self.coalesce()
            if tuple(other.shape) != self._shape:
                raise RuntimeError(
                    f"mul: sizes {tuple(other.shape)} and {self._shape} of a dense and a sparse tensor differ"
                )
            return own._with(own._kept * other[tuple(own._at)])
        return self._with(self._kept * other)

    __rmul__ = __mul__

    def __truediv__(self, other):
        if isinstance(other, SparseTensor) or (isinstance(other, Tensor) and other.ndim):
            raise _refused("division by anything but a number")
        return self._with(self._kept / other)

    def __add__(self, other):
        if not isinstance(other, SparseTensor):
            raise TypeError(
                "add(sparse, dense) is not supported. Use add(dense, sparse) instead."
                if isinstance(other, Tensor)
                else f"unsupported operand type(s) for +: 'SparseTensor' and '{type(other).__name__}'"
            )
        if self._shape != other._shape or self.sparse_dim() != other.sparse_dim():
            raise RuntimeError(
                f"add: expected sizes of 'self' and 'other' to match, but {self._shape} != {other._shape}"
            )
        dtype = _dtypes.promote_types(self.dtype, other.dtype)
        values = cat([self._kept.to(dtype), other._kept.to(dtype)])
        r = SparseTensor(cat([self._at, other._at], 1), values, self._shape)
        return r.coalesce() if self._coalesced and other._coalesced else r

    def __radd__(self, dense):
        if not isinstance(dense, Tensor):
            return NotImplemented
        return dense + self.to_dense()

    def __sub__(self, other):
        return self + -other if isinstance(other, SparseTensor) else NotImplemented

    def __rsub__(self, dense):
        return dense - self.to_dense() if isinstance(dense, Tensor) else NotImplemented

    def __matmul__(self, other):
        if isinstance(other, SparseTensor):
            raise _refused("the product of two sparse matrices")
        return mm(self, other) if other.ndim == 2 else mm(self, other.unsqueeze(1)).squeeze(1)

    matmul = mv = mm = __matmul__

    def __rmatmul__(self, dense):
        turned = mm(self.t(), dense.unsqueeze(1) if dense.ndim == 1 else dense.t())
        return turned.squeeze(1) if dense.ndim == 1 else turned.t()

    def add(self, other, *, alpha=1):
        """self + alpha * other."""
        return self + (other if alpha == 1 else other * alpha)

    def mul(self, other):
        """The values times a number, or times a dense tensor of the same shape."""
        return self * other

    def sum(self, dim=None):
        """torch.sparse.sum."""
        return sum(self, dim)

    neg, div, sub = __neg__, __truediv__, __sub__

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        """Call sparse.f(…) for torch.f(sparse, …). Raises NotImplementedError if there is no such method."""
        name = func.__name__
        if name not in vars(cls) or not args or not isinstance(args[0], cls):
            raise _refused(f"torch.{name}")
        return getattr(args[0], name)(*args[1:], **(kwargs or {}))

    def __getattr__(self, name):
        if hasattr(Tensor, name):
            raise _refused(f"Tensor.{name}")
        raise AttributeError(f"'SparseTensor' object has no attribute {name!r}")


def _refused(what):
    return NotImplementedError(f"sparse tensors: {what} is not there; use to_dense()")


_KEEP_ZERO = (
    "abs sin sinh asin asinh tan tanh atan atanh sqrt square expm1 log1p erf relu sign sgn floor ceil round trunc"
)
for _name in _KEEP_ZERO.split():

    def _each(self, _name=_name):
        own = self.coalesce()
        return own._with(getattr(own._kept, _name)())

    _each.__name__, _each.__doc__ = _name, f"{_name} of each element: what is 0 stays so."
    setattr(SparseTensor, _name, _each)


def _as(value, dtype, device):
    if not isinstance(value, Tensor):
        return tensor(value, dtype=dtype, device=device)
    return value.to(device or value.device, dtype or value.dtype)


def sparse_coo_tensor(
    indices,
    values,
    size=None,
    *,
    dtype=None,
    device=None,
    pin_memory=False,
    requires_grad=False,
    check_invariants=None,
    is_coalesced=None,
):
    """A SparseTensor of values (nnz, …) at integer indices (sparse dimensions, nnz). size None means the smallest that
    holds them.

    Raises RuntimeError if an index lies outside of size, or if the shapes do not fit.
    """
    values = _as(values, dtype, device)
    indices = _as(indices, _dtypes.DTYPES["int64"], values.device)
    if indices.ndim != 2:
        raise RuntimeError(f"indices must be sparse_dim x nnz, but got: {list(indices.shape)}")
    if not values.ndim or values.size(0) != indices.size(1):
        raise RuntimeError(
            f"number of dimensions must be sparse_dim ({indices.size(0)}) + dense_dim, with as many values as indices: "
            f"{list(values.shape)} of {list(indices.shape)}"
        )
    top = (indices.amax(1) + 1).tolist() if indices.numel() else [0] * indices.size(0)
    shape = (*top, *values.shape[1:]) if size is None else tuple(size)
    if len(shape) != indices.size(0) + values.ndim - 1 or shape[indices.size(0) :] != tuple(values.shape[1:]):
        raise RuntimeError(
            f"number of dimensions must be sparse_dim ({indices.size(0)}) + dense_dim ({values.ndim - 1}), but got "
            f"{len(shape)}"
        )
    if indices.numel() and indices.min().item() < 0:
        raise RuntimeError(f"found negative index {indices.min().item()}")
    for d, (n, most) in enumerate(zip(shape, top)):
        if most > n:
            raise RuntimeError(
                f"size is inconsistent with indices: for dim {d}, size is {n} but found index {most - 1}"
            )
    if requires_grad:
        values = values.detach().requires_grad_()
    return SparseTensor(indices, values, shape, bool(is_coalesced))


def to_sparse(self, sparse_dim, layout):
    """A SparseTensor of the nonzero elements. Its first sparse_dim dimensions are sparse; None means all."""
    if layout not in (None, sparse_coo):
        raise _refused(f"the layout {layout}")
    n = self.ndim if sparse_dim is None else sparse_dim
    there = self.detach() != 0
    there = there if n == self.ndim else there.flatten(n).any(-1)
    indices = there.nonzero().t().contiguous()
    return SparseTensor(indices, self[tuple(indices)], self.shape, True)


def mm(sparse, dense):
    """A sparse matrix times a dense one."""
    if not isinstance(sparse, SparseTensor) or isinstance(dense, SparseTensor):
        raise _refused("a product that is not of a sparse and a dense matrix")
    if sparse.ndim != 2 or sparse.sparse_dim() != 2 or dense.ndim != 2:
        raise RuntimeError(f"sparse.mm: expected matrices, got {sparse.ndim}D and {dense.ndim}D tensors")
    if sparse._shape[1] != dense.size(0):
        raise RuntimeError(
            f"mat1 and mat2 shapes cannot be multiplied ({'x'.join(map(str, sparse._shape))} and "
            f"{'x'.join(map(str, dense.shape))})"
        )
    if sparse.dtype != dense.dtype:
        raise RuntimeError(f"expected m1 and m2 to have the same dtype, but got: {sparse.dtype} != {dense.dtype}")
    own = sparse.coalesce()
    if own._pattern is None:
        own._pattern = _Pattern(own._at[0], own._at[1], own._shape)
    kept, half = own._kept, own.dtype._name in ("float16", "bfloat16")
    if half:
        kept, dense = kept.float(), dense.float()
    r = _product(kept, dense, pattern=own._pattern)
    return r.to(own.dtype) if half else r


def addmm(mat, mat1, mat2, *, beta=1.0, alpha=1.0):
    """beta * mat + alpha * (mat1 @ mat2), mat1 sparse."""
    return beta * mat + alpha * mm(mat1, mat2)


def sum(input, dim=None, dtype=None):
    """The sum over dim. Without dim it is a dense number. Over all sparse dimensions it is a dense tensor, else a
    sparse one."""
    input = input if dtype is None else input.to(dtype)
    if dim is None:
        return input._kept.sum()
    dims = {_axes.one(d, input.ndim) for d in (dim if isinstance(dim, (tuple, list)) else (dim,))}
    n = input.sparse_dim()
    values = input._kept
    dense = tuple(d - n + 1 for d in dims if d >= n)
    values = values.sum(dense) if dense else values
    kept = [k for k in range(n) if k not in dims]
    if not kept:
        return values.sum(0)
    shape = [s for d, s in enumerate(input._shape) if d not in dims]
    indices = input._at[tensor(kept, device=input.device)]
    return SparseTensor(indices, values, shape, input._coalesced and len(kept) == n).coalesce()


def spmm(input, mat2):
    """The product of a sparse, or a dense, matrix and a dense one."""
    return input @ mat2 if isinstance(input, Tensor) and isinstance(mat2, Tensor) else mm(input, mat2)


def _old(name, dtype):
    def make(indices=None, values=None, size=None, *, device=None):
        if values is None:
            shape = tuple(indices or ()) if size is None else tuple(size)
            indices, values = zeros(len(shape), 0, dtype=_dtypes.DTYPES["int64"]), zeros(0)
            size = shape
        return sparse_coo_tensor(indices, values, size, dtype=_dtypes.DTYPES[dtype], device=device)

    make.__name__ = make.__qualname__ = name
    make.__doc__ = f"sparse_coo_tensor(indices, values, size) of {dtype}, by its older name; also of a size alone."
    return make


_OLD = {
    "FloatTensor": "float32", "DoubleTensor": "float64", "HalfTensor": "float16", "BFloat16Tensor": "bfloat16",
    "LongTensor": "int64", "IntTensor": "int32", "ShortTensor": "int16", "CharTensor": "int8", "ByteTensor": "uint8",
}  # fmt: skip
for _name, _dtype in _OLD.items():
    globals()[_name] = _old(_name, _dtype)


__getattr__, __dir__ = _modules.refusing("torch.sparse")
