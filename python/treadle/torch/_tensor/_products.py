"""Products of tensors: the matrix products, einsum, and functions that are composed of these."""

import math
from functools import cache

from .._device import once
from .._prim import apply, cast, joint_shape, nothing_of, permuted, recording, reduce, reshaped, scalar, td, wrap
from .._register import both, factors_first, function, inplace
from . import _axes, _dtypes
from ._elementwise import complex_, scaled
from ._shape import expand, permute, transpose


def _dims(name, x, n, what):
    if x.ndim != n:
        raise RuntimeError(f"{name}: expected {what} to have {n} dimensions, but got {x.ndim}D")


@both()
def matmul(x, other):
    """The matrix product: sums over the last dimension of x and the last but one of other. A vector has only one."""
    return x @ other


@both()
def mm(x, mat2):
    """The product of two matrices."""
    if x.ndim != 2:
        raise RuntimeError("self must be a matrix")
    if mat2.ndim != 2:
        raise RuntimeError("mat2 must be a matrix")
    return x @ mat2


@both()
def bmm(x, mat2):
    """The products of two stacks of matrices."""
    _dims("batch1 must be a 3D tensor", x, 3, "batch1")
    _dims("batch2 must be a 3D tensor", mat2, 3, "batch2")
    if x.shape[0] != mat2.shape[0]:
        raise RuntimeError(
            f"Expected size for first two dimensions of batch2 tensor to be: [{x.shape[0]}, {x.shape[2]}] but "
            f"got: [{mat2.shape[0]}, {mat2.shape[1]}]."
        )
    return x @ mat2


@both()
def mv(x, vec):
    """A matrix times a vector."""
    _dims("mv", x, 2, "the matrix")
    _dims("mv", vec, 1, "the vector")
    return x @ vec


@both()
def dot(x, tensor):
    """The sum of products of two vectors."""
    if x.ndim != 1 or tensor.ndim != 1:
        raise RuntimeError(f"1D tensors expected, but got {x.ndim}D and {tensor.ndim}D tensors")
    if x.shape != tensor.shape:
        raise RuntimeError(
            f"inconsistent tensor size, expected tensor [{x.numel()}] and src [{tensor.numel()}] to have the same "
            f"number of elements, but got {x.numel()} and {tensor.numel()} elements respectively"
        )
    return x @ tensor


@both()
def vdot(x, other):
    """dot with the first vector conjugated."""
    return dot(x.conj(), other)


@both()
def inner(x, other):
    """Sums of products along the last dimensions."""
    if x.ndim == 0 or other.ndim == 0:
        return x * other
    if x.shape[-1] != other.shape[-1]:
        raise RuntimeError(
            "inner() the last dimension must match on both input tensors but got shapes "
            f"{list(x.shape)} and {list(other.shape)}"
        )
    return tensordot(x, other, ([-1], [-1]))


@both("ger")
def outer(x, vec2):
    """The products of all pairs of elements of two vectors."""
    if x.ndim != 1 or vec2.ndim != 1:
        raise RuntimeError(
            f"outer: Expected 1-D argument {'self' if x.ndim != 1 else 'vec2'}, but got "
            f"{x.ndim if x.ndim != 1 else vec2.ndim}-D"
        )
    return x[:, None] * vec2[None, :]


def _spread(x, shape):
    """x. Raises RuntimeError if it does not expand to the product's shape: PyTorch does not make the product larger."""
    shape = tuple(shape)
    for d in range(1, x.ndim + 1):
        want = shape[-d] if d <= len(shape) else None
        if x.shape[-d] not in (1, want) or want is None:
            raise RuntimeError(
                f"The expanded size of the tensor ({want}) must match the existing size ({x.shape[-d]}) at "
                f"non-singleton dimension {len(shape) - d}.  Target sizes: {list(shape)}.  Tensor sizes: "
                f"{list(x.shape)}"
            )
    return x


def _sum(x, product, beta, alpha):
    if x.dtype._kind in "bui" and product.dtype._kind in "bui":
        alpha, beta = int(alpha), int(beta)
        product = cast(product, x.dtype)
    product = scaled(product, alpha)
    if type(beta) not in (int, float) or beta != 0:
        r = scaled(x, beta) + product
        return r.to(x.dtype) if x.dtype._kind == "b" and r.dtype._kind in "iu" else r
    shape = joint_shape(tuple(x.shape), tuple(product.shape))  # x is not read: NaNs in it do not count
    product = product if tuple(product.shape) == shape else expand(product, shape)
    return product + nothing_of(x) if recording() and x.requires_grad else product


@both()
@factors_first("beta", "alpha")
def addmm(x, mat1, mat2, *, beta=1, alpha=1):
    """beta * x + alpha * mat1 @ mat2."""
    return _sum(_spread(x, (*mat1.shape[:1], *mat2.shape[-1:])), mm(mat1, mat2), beta, alpha)


@both()
@factors_first("beta", "alpha")
def addmv(x, mat, vec, *, beta=1, alpha=1):
    """beta * x + alpha * mat @ vec."""
    return _sum(_spread(x, mat.shape[:1]), mv(mat, vec), beta, alpha)


@both()
@factors_first("beta", "alpha")
def addr(x, vec1, vec2, *, beta=1, alpha=1):
    """beta * x + alpha * outer(vec1, vec2)."""
    return _sum(_spread(x, (*vec1.shape, *vec2.shape)), outer(vec1, vec2), beta, alpha)


@both()
@factors_first("beta", "alpha")
def baddbmm(x, batch1, batch2, *, beta=1, alpha=1):
    """beta * x + alpha * batch1 @ batch2, for each matrix."""
    return _sum(_spread(x, (*batch1.shape[:2], *batch2.shape[2:])), bmm(batch1, batch2), beta, alpha)


@both()
@factors_first("beta", "alpha")
def addbmm(x, batch1, batch2, *, beta=1, alpha=1):
    """beta * x + alpha times the sum over all products of two stacks of matrices."""
    total = reduce("sum", bmm(batch1, batch2), 0, False)
    return _sum(_spread(x, total.shape), total, beta, alpha)


# ---- sums over chosen dimensions ----


@function()
def tensordot(a, b, dims=2):
    """Sums of products over dims of both tensors: a number of dims (the last of a, the first of b), or two lists of
    them."""
    if isinstance(dims, int):
        ours, theirs = list(range(a.ndim - dims, a.ndim)), list(range(dims))
    else:
        ours, theirs = (list(d) if isinstance(d, (tuple, list)) else [int(d)] for d in dims)
    ours, theirs = [_axes.one(d, a.ndim) for d in ours], [_axes.one(d, b.ndim) for d in theirs]
    for i, j in zip(ours, theirs, strict=True):
        if 1 in (a.shape[i], b.shape[j]):  # one side broadcasts: its element times the other's sum
            a, b = (t if t.shape[d] == 1 else cast(reduce("sum", t, d, True), t.dtype) for t, d in ((a, i), (b, j)))
        if a.shape[i] != b.shape[j]:
            raise RuntimeError(
                f"contracted dimensions need to match, but first has size {a.shape[i]} in dim {i} and second has "
                f"size {b.shape[j]} in dim {j}"
            )
    left, right = [d for d in range(a.ndim) if d not in ours], [d for d in range(b.ndim) if d not in theirs]
    n = math.prod(a.shape[d] for d in ours)
    x = reshaped(permute(a, (*left, *ours)), (math.prod(a.shape[d] for d in left), n))
    y = reshaped(permute(b, (*theirs, *right)), (n, math.prod(b.shape[d] for d in right)))
    return reshaped(x @ y, (*(a.shape[d] for d in left), *(b.shape[d] for d in right)))


@function()
def einsum(equation, *operands):
    """Sums of products by labels, as NumPy's einsum takes them: letters of either case, and "..." for the dimensions
    that broadcast."""
    if not isinstance(equation, str):
        equation, operands = _spelled((equation, *operands))
    if len(operands) == 1 and isinstance(operands[0], (tuple, list)):
        operands = tuple(operands[0])
    given, out = _labels(equation, tuple(x.ndim for x in operands))
    if strange := [k for k in out if not any(k in labels for labels in given)]:
        raise RuntimeError(
            f"einsum(): output subscript {strange[0]} does not appear in the equation for any input operand"
        )
    pairs = [_once(x, labels) for x, labels in zip(operands, given, strict=True)]
    while len(pairs) > 1:
        kept = {k for _, labels in pairs[2:] for k in labels} | set(out)
        pairs[:2] = [_pair(*pairs[0], *pairs[1], kept)]
    x, labels = pairs[0]
    gone = tuple(i for i, k in enumerate(labels) if k not in out)
    x = reduce("sum", x, gone, False) if gone else x
    labels = [k for k in labels if k in out]
    return permute(x, [labels.index(k) for k in out])


def _spelled(given):
    """(equation, operands) of operands that are each followed by a list of their labels: numbers, and Ellipsis."""

    def text(labels):
        return "".join("..." if k is Ellipsis else chr(k + (65 if k < 26 else 71)) for k in labels)

    equation = ",".join(map(text, given[1::2][: len(given) // 2]))
    return (f"{equation}->{text(given[-1])}" if len(given) % 2 else equation), given[: len(given) // 2 * 2 : 2]


@cache
def _labels(equation, ndims):
    """The labels of each operand and of the result, as lists. Numbers stand for the dimensions of an ellipsis."""
    left, arrow, right = equation.replace(" ", "").partition("->")
    for at, k in enumerate(equation):
        if not (k.isascii() and k.isalpha()) and k not in " ,.->":
            raise RuntimeError(
                f"einsum(): invalid subscript given at index {at} in the equation string, subscripts must be in "
                "[a-zA-Z]"
            )
    parts = left.split(",")
    if len(parts) != len(ndims):
        raise RuntimeError(
            f"einsum(): {'fewer' if len(parts) > len(ndims) else 'more'} operands were provided than specified "
            "in the equation"
        )
    given, most = [], 0
    for part, ndim in zip(parts, ndims, strict=True):
        named = part.replace("...", "")
        rest = ndim - len(named)
        if rest < 0 or (rest and "..." not in part):
            raise RuntimeError(
                f"einsum(): the number of subscripts in the equation ({len(named)}) does not match the number of "
                f"dimensions ({ndim}) for operand {len(given)} and no ellipsis was given"
            )
        most = max(most, rest)
        at = part.find("...")
        given.append(list(part) if at < 0 else [*part[:at], *range(-rest, 0), *part[at + 3 :]])
    dots = list(range(-most, 0))
    if not arrow:
        letters = [k for part in parts for k in part if k != "."]
        return given, [*dots, *sorted(k for k in set(letters) if letters.count(k) == 1)]
    at = right.find("...")
    return given, list(right) if at < 0 else [*right[:at], *dots, *right[at + 3 :]]


def _once(x, labels):
    """x with each label once. A label that occurs twice takes the diagonal."""
    while len(set(labels)) < len(labels):
        k = next(k for k in labels if labels.count(k) > 1)
        i = labels.index(k)
        j = labels.index(k, i + 1)
        x = x.diagonal(0, i, j)
        labels = [m for n, m in enumerate(labels) if n not in (i, j)] + [k]
    return x, labels


def _pair(x, a, y, b, kept):
    """The product of two operands, summed over the labels that occur nowhere else. It is a matrix product if there are
    any."""
    alone_a, alone_b = (tuple(i for i, k in enumerate(p) if k not in q and k not in kept) for p, q in ((a, b), (b, a)))
    x, y = (reduce("sum", t, gone, False) if gone else t for t, gone in ((x, alone_a), (y, alone_b)))
    a, b = [k for k in a if k in b or k in kept], [k for k in b if k in a or k in kept]
    summed = [k for k in a if k in b and k not in kept]
    batch = [k for k in a if k in b and k in kept]
    left, right = [k for k in a if k not in b], [k for k in b if k not in a]
    extent = {}
    for t, labels in ((x, a), (y, b)):
        for k, n in zip(labels, t.shape, strict=True):
            if extent.setdefault(k, n) != n:
                if 1 not in (n, extent[k]):
                    raise RuntimeError(
                        f"einsum(): subscript {k} has size {n} for operand 1 which does not broadcast with "
                        f"previously seen size {extent[k]}"
                    )
                extent[k] = max(n, extent[k])
    x = _laid(x, a, (batch, left, summed), extent)
    y = _laid(y, b, (batch, summed, right), extent)
    r = x @ y if summed else x * y
    labels = [*batch, *left, *right]
    return r if len(left) == len(right) == 1 else reshaped(r, tuple(extent[k] for k in labels)), labels


def _laid(t, labels, groups, extent):
    """t with its dims in the order of groups. Each group but the first becomes one dim."""
    order = [k for group in groups for k in group]
    if order != labels:
        t = permuted(t, [labels.index(k) for k in order])
    shape = [extent[k] for k in order]
    if list(t.shape) != shape:
        t = expand(t, shape)
    if len(groups[1]) == len(groups[2]) == 1:
        return t
    merged = (math.prod(extent[k] for k in group) for group in groups[1:])
    return reshaped(t, (*(extent[k] for k in groups[0]), *merged))


@both()
def kron(x, other):
    """The Kronecker product: each element of x times the whole of other, as blocks."""
    n = max(x.ndim, other.ndim)
    a, b = ((1,) * (n - t.ndim) + tuple(t.shape) for t in (x, other))
    left = reshaped(x, tuple(m for k in a for m in (k, 1)))
    right = reshaped(other, tuple(m for k in b for m in (1, k)))
    return reshaped(left * right, tuple(i * j for i, j in zip(a, b, strict=True)))


@both()
def cross(x, other, dim=None):
    """Vector products along dim, which has 3 elements. None means the first such dim."""
    if dim is None:
        once(
            "Using torch.cross without specifying the dim arg is deprecated. Pass the dim explicitly, or use "
            "torch.linalg.cross, whose dim is -1 unless given."
        )
        dim = next((i for i, n in enumerate(x.shape) if n == 3), None)
        if dim is None:
            raise RuntimeError("linalg.cross: no dimension of size 3 in input")
    if x.shape[dim] != 3 or other.shape[dim] != 3:
        raise RuntimeError(
            f"linalg.cross: inputs dimension {dim} must have length 3. Got {x.shape[dim]} and {other.shape[dim]}"
        )
    return x.roll(-1, dim) * other.roll(-2, dim) - x.roll(-2, dim) * other.roll(-1, dim)


@both()
def trace(x):
    """The sum of a matrix's diagonal."""
    if x.ndim != 2:
        raise RuntimeError(f"trace: expected a matrix, but got tensor with dim {x.ndim}")
    return x.diagonal().sum()


# ---- distances ----


def norm_of(x, p, dims, keepdim):
    """The p-norm of elements over dims. Its gradient at 0 is 0. Half types are summed in float32."""
    if x.dtype._name in ("float16", "bfloat16"):
        return cast(norm_of(cast(x, _dtypes.DTYPES["float32"]), p, dims, keepdim), x.dtype)
    size = apply("absolute", x) if p != 2 or x.dtype.is_complex else x  # the square is smooth at 0, |x| is not
    if p == math.inf or p == -math.inf:
        return reduce("max" if p > 0 else "min", size, dims, keepdim)
    if p == 0:
        return reduce("sum", (size != 0).to(size.dtype), dims, keepdim)
    if p == 1:
        return reduce("sum", size, dims, keepdim)
    if p == 2:
        powers = apply("square", size)
    elif p > 1:
        powers = apply("power", size, p)
    else:  # its derivative at 0 is infinite
        none = size == 0
        powers = apply("select", none, scalar(0, size), apply("power", apply("select", none, scalar(1, size), size), p))
    total = reduce("sum", powers, dims, keepdim)
    nothing = total == 0 if p > 0 else reduce("any", size == 0, dims, keepdim)
    safe = apply("select", nothing, scalar(1, total), total)
    root = apply("sqrt", safe) if p == 2 else apply("power", safe, 1 / p)
    return apply("select", nothing, scalar(0, total), root)


@both()
def dist(x, other, p=2):
    """The p-norm of x - other."""
    return norm_of(x - other, p, None, False)


@both()
def renorm(x, p, dim, maxnorm):
    """The slices along dim. Those whose p-norm exceeds maxnorm are scaled down to it."""
    if x.ndim < 2:
        raise RuntimeError(f"renorm: input needs at least 2 dimensions, got {x.ndim} dimensions")
    dim = _axes.one(dim, x.ndim)
    size = norm_of(x, p, tuple(d for d in range(x.ndim) if d != dim), True)
    return x * apply("select", size > maxnorm, maxnorm / (size + 1e-7), scalar(1, size))


@function()
def cdist(x1, x2, p=2.0, compute_mode=None):
    """The p-norm distances between all rows of two matrices."""
    for i, t in enumerate((x1, x2), 1):
        if t.ndim < 2:
            raise RuntimeError(f"cdist only supports at least 2D tensors, X{i} got: {t.ndim}D")
    if x1.shape[-1] != x2.shape[-1]:
        raise RuntimeError(f"X1 and X2 must have the same number of columns. X1: {x1.shape[-1]} X2: {x2.shape[-1]}")
    return norm_of(x1[..., :, None, :] - x2[..., None, :, :], p, -1, False)


@function()
def pdist(x, p=2.0):
    """The p-norm distances between all pairs of different rows, in PyTorch's order."""
    if x.ndim != 2:
        raise RuntimeError(f"pdist only supports 2D tensors, got: {x.ndim}D")
    i, j = (wrap(k) for k in td.triu_indices(len(x), 1))
    return norm_of(x[i.to(x.device)] - x[j.to(x.device)], p, -1, False)


@function()
def pairwise_distance(x1, x2, p=2.0, eps=1e-06, keepdim=False):
    """The p-norms of the differences of rows. eps is added to each difference."""
    return norm_of(x1 - x2 + eps, p, -1, keepdim)


@function()
def cosine_similarity(x1, x2, dim=1, eps=1e-08):
    """The cosine of the angle between vectors along dim, after broadcasting. Norms count as at least eps.

    Raises RuntimeError if the common dtype is not a floating-point one.
    """
    kind = _dtypes.result_of([x1, x2])
    if kind._kind not in "fc":
        raise RuntimeError(f"expected common dtype to be floating point, yet common dtype is {kind._name}")
    shape = joint_shape(tuple(x1.shape), tuple(x2.shape))
    units = []
    for x in (x1, x2):
        x = expand(cast(x, kind), shape)
        n = norm_of(x, 2, dim, True)
        held = eps + (n - n.detach())  # the value is eps, the derivative the norm's, as in PyTorch
        units.append(x / apply("select", n < eps, held, n))
    return reduce("sum", units[0] * units[1], dim, False)


# ---- statistics ----


@both()
def cov(x, *, correction=1, fweights=None, aweights=None):
    """The covariances of rows; of a vector its variance. fweights: how often each column counts; aweights: the weight
    of each."""
    if x.dtype._kind == "b":
        raise NotImplementedError("cov(): bool dtype is not supported for input")
    if x.ndim > 2:
        raise RuntimeError(f"cov(): expected input to have two or fewer dimensions but got an input with {x.ndim}")
    x = x if x.ndim == 2 else reshaped(x, (1, -1))
    x = x if x.dtype._kind in "fc" else cast(x, _dtypes.get_default_dtype())
    n, w = x.shape[1], None
    _weighable("fweights", fweights, n, "iu", "integral")
    _weighable("aweights", aweights, n, "f", "floating point")
    for one in (fweights, aweights):
        w = one.to(x.dtype) if w is None and one is not None else w * one if one is not None else w
    total = scalar(n, x) if w is None else w.sum()
    mean = reduce("mean", x, 1, True) if w is None else reduce("sum", x * w, 1, True) / total
    off = x - mean
    lost = correction if aweights is None else correction * (w * aweights).sum() / total
    r = (off if w is None else off * w) @ transpose(off, 0, 1).conj() / (total - lost).real.clamp(min=0)
    return r.squeeze()


def _weighable(name, weights, n, kinds, what):
    """Raise RuntimeError unless these can be the weights of cov's n columns."""
    if weights is None:
        return
    if weights.ndim > 1:
        raise RuntimeError(f"cov(): expected {name} to have one or fewer dimensions but got {weights.ndim}")
    if weights.dtype._kind not in kinds:
        raise RuntimeError(f"cov(): expected {name} to have {what} dtype but got {weights.dtype}")
    if weights.numel() != n:
        raise RuntimeError(
            f"cov(): expected {name} to have the same numel as there are observations in the input but got "
            f"{weights.numel()} != {n}"
        )
    if weights.device.type == "cpu" and not hasattr(weights, "_value") and bool((weights < 0).any()):
        raise RuntimeError(f"cov(): {name} cannot be negative")


@both()
def corrcoef(x):
    """The correlations of rows."""
    c = cov(x)
    if c.ndim == 0:
        return c / c
    size = apply("sqrt", c.diagonal())
    r = c / size[:, None] / size[None, :]
    return complex_(*(part.clamp(-1, 1) for part in (r.real, r.imag))) if r.is_complex() else r.clamp(-1, 1)


inplace(*"addmm addmv addr baddbmm addbmm renorm".split())
