"""torch.linalg: solvers, factorisations and norms of the array layer's library, with their derivatives.

Factorisations and solvers stand in _factors.py. The other functions are composed of them.
"""

import math
from operator import index as _index

from ..linalg import _best_order
from . import _modules
from ._prim import Tensor, apply, array, cast, derived, reduce, td, wrap
from ._register import all_with_out, both, function
from ._tensor import _axes
from ._tensor._dtypes import DTYPES, finfo
from ._tensor._factors import (
    LinAlgError,
    adj,
    cholesky,
    cholesky_ex,
    det,
    eig,
    eigh,
    eigvals,
    eigvalsh,
    inv,
    inv_ex,
    lu,
    lu_factor,
    lu_factor_ex,
    lu_solve,
    qr,
    slogdet,
    solve,
    solve_ex,
    solve_triangular,
    square,
    square_shape,
    svd,
    svdvals,
)
from ._tensor._products import cross as _cross
from ._tensor._products import norm_of
from ._tensor._reflectors import householder_product
from ._tensor._results import named
from ._tensor._shape import diagonal as _diagonal
from ._tensor._shape import movedim, reshape, tril

__all__ = [
    "LinAlgError", "cholesky", "cholesky_ex", "cond", "cross", "det", "diagonal", "eig", "eigh", "eigvals", "eigvalsh",
    "householder_product", "inv", "inv_ex", "lstsq", "lu", "lu_factor", "lu_factor_ex", "lu_solve", "matmul",
    "matrix_exp", "matrix_norm", "matrix_power", "matrix_rank", "multi_dot", "norm", "pinv", "qr", "slogdet", "solve",
    "solve_ex", "solve_triangular", "svd", "svdvals", "tensorinv", "tensorsolve", "vander", "vecdot", "vector_norm",
]  # fmt: skip


def lstsq(A, B, rcond=None, *, driver=None):
    """(solution, residuals, rank, singular_values) of min ‖A X - B‖, by the pseudo-inverse."""
    for name, matrix in (("input", A), ("other", B)):
        if matrix.ndim < (2 if matrix is A else 1):
            raise RuntimeError(f"torch.linalg.lstsq: {name} must have more than {matrix.ndim} dimensions.")
    x = pinv(A, rtol=rcond) @ B
    m, n = A.shape[-2:]
    empty = A.new_empty(0)
    left = ((A @ x - B).abs() ** 2).sum(-2) if m > n and driver not in (None, "gelsy") else empty.real  # as LAPACK's
    none = wrap(td.zeros(0, dtype="int64", device=array(A).device))
    rank = none if driver == "gels" else matrix_rank(A)
    values = svdvals(A.detach()) if driver in ("gelsd", "gelss") else empty.real
    return named("linalg_lstsq", "solution residuals rank singular_values")(x, left, rank, values)


def pinv(A, *, atol=None, rtol=None, hermitian=False):
    """The pseudo-inverse. Singular values below max(atol, rtol * largest) count as 0."""
    if min(A.shape[-2:]) == 0:
        return A.new_zeros((*A.shape[:-2], A.shape[-1], A.shape[-2]))
    whole = _mirrored(A.detach()) if hermitian else A.detach()
    return _pinv(A, least=array(_tolerance(A, svdvals(whole), atol, rtol)), hermitian=hermitian)


def _mirrored(A):
    """The Hermitian matrices that A's lower triangle determines. Only the real parts of its diagonal count."""
    below = tril(A, -1)
    return below + adj(below) + A.diagonal(0, -2, -1).real.to(A.dtype).diag_embed()


@derived("LinalgPinv")
def _pinv(a, *, least, hermitian):
    """The pseudo-inverse; singular values up to `least` count as 0. hermitian: of the matrix that a's lower triangle
    determines."""
    a = array(_mirrored(wrap(a))) if hermitian else a
    u, s, vh = td.linalg.svd(a, full_matrices=False)
    keep = s > least
    inverse = td.where(keep, 1 / td.where(keep, s, 1), 0).astype(s.dtype)
    back = inverse[..., None] * td.conjugate(td.swapaxes(u, -2, -1))
    return td.conjugate(td.swapaxes(vh, -2, -1)) @ back.astype(a.dtype)


@_pinv.backward
def _(inputs, P, g, *, least, hermitian):
    """The adjoint of -P dA P + P P^H dA^H (1 - A P) + (1 - P A) dA^H P^H P, which is the derivative as long as the rank
    stays."""
    (A,), Ph, gh = inputs, adj(P), adj(g)
    return (gh - A @ (P @ gh)) @ P @ Ph + Ph @ (P @ (gh - gh @ P @ A)) - Ph @ g @ Ph


def _tolerance(A, s, atol, rtol):
    atol = 0.0 if atol is None else atol
    if rtol is None:
        rtol = finfo(A.dtype).eps * max(A.shape[-2:]) if not isinstance(atol, Tensor) and atol == 0 else 0.0
    top = s.detach().amax(-1, True) if s.shape[-1] else s.sum(-1, True)
    if isinstance(rtol, Tensor) and rtol.ndim:
        rtol = rtol[..., None]
    atol = atol[..., None] if isinstance(atol, Tensor) and atol.ndim else atol
    return (top * rtol).clamp(min=atol)


def matrix_rank(A, *, atol=None, rtol=None, hermitian=False):
    """The number of singular values above max(atol, rtol * largest)."""
    s = svdvals(A.detach())
    return (s > _tolerance(A, s, atol, rtol)).sum(-1)


def cond(A, p=None):
    """The condition number by a norm p (None: 2)."""
    if p in (None, 2, -2):
        s = svdvals(A)
        return s[..., 0] / s[..., -1] if p != -2 else s[..., -1] / s[..., 0]
    return matrix_norm(A, p) * matrix_norm(inv(A), p)


def vector_norm(x, ord=2, dim=None, keepdim=False, *, dtype=None):
    """The norm of elements over dim (None: all)."""
    return norm_of(x if dtype is None else x.to(dtype), ord, dim, keepdim)


def matrix_norm(A, ord="fro", dim=(-2, -1), keepdim=False, *, dtype=None):
    """The norm of matrices: fro, nuc, inf, -inf, 1, -1, 2, -2."""
    A = A if dtype is None else A.to(dtype)
    a, b = (_axes.one(d, A.ndim) for d in dim)
    if ord == "fro":
        return norm_of(A, 2, (a, b), keepdim)
    if ord in ("nuc", 2, -2):
        s = svdvals(movedim(A, (a, b), (-2, -1)))
        r = s.sum(-1) if ord == "nuc" else s[..., 0] if ord == 2 else s[..., -1]
    elif ord in (1, -1, math.inf, -math.inf):
        m = movedim(A, (a, b), (-2, -1)).abs().sum(-2 if abs(ord) == 1 else -1)
        r = reduce("max" if ord > 0 else "min", m, -1, False)
    else:
        raise RuntimeError(f"linalg.matrix_norm: Order {ord} not supported.")
    return reshape(r, [1 if i in (a, b) else n for i, n in enumerate(A.shape)]) if keepdim else r


def norm(A, ord=None, dim=None, keepdim=False, *, dtype=None):
    """vector_norm or matrix_norm, depending on dim and ord. Without both: the 2-norm of all elements."""
    if dim is None and ord is None:
        return vector_norm(A, 2, None, keepdim, dtype=dtype)
    if isinstance(dim, (tuple, list)) and len(dim) == 2 or (dim is None and A.ndim == 2):
        return matrix_norm(A, "fro" if ord is None else ord, dim or (0, 1), keepdim, dtype=dtype)
    if dim is None and A.ndim > 2:
        raise RuntimeError(
            f"linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got {A.ndim}D."
        )
    return vector_norm(A, 2 if ord is None else ord, dim, keepdim, dtype=dtype)


def matrix_power(A, n):
    """A to the power n, by repeated squaring. A negative n takes powers of the inverse."""
    square_shape("matrix_power", A)
    n = _index(n)
    if n < 0:
        A, n = inv(A), -n
    r = None
    while n:
        if n & 1:
            r = A if r is None else r @ A
        A, n = (A @ A if n > 1 else A), n >> 1
    return (
        wrap(td.eye(A.shape[-1], dtype=A.dtype._numpy, device=array(A).device)).expand(A.shape).clone()
        if r is None
        else r
    )


def matrix_exp(A):
    """The exponential of matrices: a Taylor polynomial of A / 2**k, squared k times."""
    square("matrix_exp", A)
    size = float(matrix_norm(A.detach(), 1).max()) if A.numel() else 0.0
    double = A.dtype._name in ("float64", "complex128")
    k = max(0, math.ceil(math.log2(size / 0.5))) if size > 0.5 and math.isfinite(size) else 0
    x = A / 2.0**k
    one = wrap(td.eye(A.shape[-1], dtype=A.dtype._numpy, device=array(A).device))
    r = one
    for n in range(18 if double else 10, 0, -1):
        r = one + x @ r / n
    for _ in range(k):
        r = r @ r
    return r.expand(A.shape)


def multi_dot(tensors):
    """The product of matrices, in the order that needs the least work. The first and the last may be vectors."""
    parts = list(tensors)
    for i, p in enumerate(parts):
        end = i in (0, len(parts) - 1)
        if not (1 if end else 2) <= p.ndim <= 2:
            which = ("the first tensor" if i == 0 else "the last tensor") if end else f"tensor {i}"
            raise RuntimeError(f"multi_dot(): {which} must be {'1D or ' if end else ''}2D but got {p.ndim}D")
    first, last = parts[0].ndim == 1, parts[-1].ndim == 1
    if first:
        parts[0] = parts[0][None]
    if last:
        parts[-1] = parts[-1][:, None]
    if len(parts) == 2:
        r = parts[0] @ parts[1]
    else:
        r = _by_order(parts, _best_order([p.shape[0] for p in parts] + [parts[-1].shape[1]]), 0, len(parts) - 1)
    r = r[0] if first else r
    return r[..., 0] if last else r


def _by_order(parts, order, i, j):
    if i == j:
        return parts[i]
    k = order[i, j]
    return _by_order(parts, order, i, k) @ _by_order(parts, order, k + 1, j)


def vecdot(x, y, *, dim=-1):
    """Sums of conj(x) * y along dim."""
    return (x.conj() * y).sum(dim)


def matmul(A, B):
    """A @ B."""
    return A @ B


def cross(input, other, *, dim=-1):
    """Vector products along dim, which has 3 elements."""
    if input.ndim != other.ndim:
        raise RuntimeError("linalg.cross: inputs must have the same number of dimensions.")
    return _cross(input, other, dim)


def diagonal(A, *, offset=0, dim1=-2, dim2=-1):
    """The diagonal of matrices: a view."""
    return _diagonal(A, offset, dim1, dim2)


def vander(x, *, N=None):
    """The powers 0 to N - 1 (None: as many as x has elements) of the last dim's elements, along a new last dim."""
    n = x.shape[-1] if N is None else N
    x = reshape(x, (1,)) if x.ndim == 0 else x
    x = x if x.dtype._kind in "fc" else cast(x, DTYPES["int64"])
    return apply("power", x[..., None], wrap(td.arange(n, device=array(x).device)))


def tensorinv(A, ind=2):
    """The inverse with respect to tensordot over the first ind dimensions."""
    front, back = tuple(A.shape[:ind]), tuple(A.shape[ind:])
    return inv(A.reshape(math.prod(front), -1)).reshape((*back, *front))


def tensorsolve(A, B, dims=None):
    """The X of tensordot(A, X, X.ndim) = B."""
    if dims is not None:
        A = movedim(A, tuple(dims), tuple(range(A.ndim - len(dims), A.ndim)))
    shape = tuple(A.shape[B.ndim :])
    return solve(A.reshape(-1, math.prod(shape)), B.reshape(-1)).reshape(shape)


# ---- the same functions under their names in torch ----

for _name in "det slogdet matrix_power matrix_exp".split():
    both()(globals()[_name])


@function()
def chain_matmul(*matrices):
    """The product of matrices, in the cheapest order."""
    return multi_dot(matrices[0] if len(matrices) == 1 else matrices)


@both("norm")
def _norm(x, p="fro", dim=None, keepdim=False, dtype=None):
    """The p-norm over dim (None: all elements); "fro" is 2, "nuc" the sum of singular values."""
    x = x if dtype is None else x.to(dtype)
    if p == "nuc":
        return matrix_norm(x, "nuc", (0, 1) if dim is None else dim, keepdim)
    return norm_of(x, 2 if p in ("fro", None) else p, dim, keepdim)


@both()
def inverse(x):
    """The inverses of square matrices. LinAlgError: one is singular."""
    return inv(x)


@both()
def logdet(x):
    """The logarithm of the determinant; NaN where it is negative."""
    sign, size = slogdet(x)
    if sign.dtype.is_complex:
        return apply("log", sign) + size
    return apply("select", sign < 0, math.nan, size)


@both()
def pinverse(x, rcond=1e-15):
    """The pseudo-inverse. Singular values below rcond times the largest count as 0."""
    return pinv(x, rtol=rcond)


@both("svd")
def _svd_thin(x, some=True, compute_uv=True):
    """(U, S, V): x = U diag(S) V^H."""
    u, s, vh = svd(x, not some)
    return named("svd", "U S V")(u, s, adj(vh))


@both("lu_solve")
def _lu_solve(b, LU_data, LU_pivots):
    """The X of A X = b, given linalg.lu_factor(A) = (LU_data, LU_pivots)."""
    return lu_solve(LU_data, LU_pivots, b)


@both()
def cholesky_solve(b, L, upper=False):
    """The X of A X = b, given a Cholesky factor L of A."""
    L = adj(L) if upper else L
    return solve_triangular(adj(L), solve_triangular(L, b, upper=False), upper=True)


@both()
def cholesky_inverse(L, upper=False):
    """The inverse of A, given a Cholesky factor L of A."""
    return cholesky_solve(wrap(td.eye(L.shape[-1], dtype=L.dtype._numpy, device=array(L).device)), L, upper)


@function()
def lobpcg(
    A,
    k=None,
    B=None,
    X=None,
    n=None,
    iK=None,
    niter=None,
    tol=None,
    largest=None,
    method=None,
    tracker=None,
    ortho_iparams=None,
    ortho_fparams=None,
    ortho_bparams=None,
):
    """The k largest (largest=False: smallest) eigenvalues of symmetric A, or of A x = w B x, and their vectors.

    All are computed, so what steers PyTorch's iteration changes nothing: X gives k where k is None."""
    wanted = X.shape[-1] if k is None and X is not None else 1 if k is None else k
    if not 1 <= wanted <= A.shape[-1] // 3:
        raise ValueError(
            f"LPBPCG algorithm is not applicable when the number of A rows (={A.shape[-1]}) is smaller "
            f"than 3 x the number of requested eigenpairs (={wanted})"
        )
    if B is None:
        values, vectors = eigh(A)
    else:
        L = cholesky(B)
        half = solve_triangular(L, A, upper=False)
        values, vectors = eigh(solve_triangular(adj(L), half, upper=True, left=False))
        vectors = solve_triangular(adj(L), vectors, upper=True)
    first, last = (values[..., :wanted], vectors[..., :wanted])
    if largest is None or largest:
        first, last = values[..., -wanted:].flip(-1), vectors[..., -wanted:].flip(-1)
    return first, last


@function()
def nuclear_norm(x, dim=(-2, -1), keepdim=False):
    """The sum of singular values."""
    return matrix_norm(x, "nuc", dim, keepdim)


@function()
def frobenius_norm(x, dim=None, keepdim=False):
    """The root of the sum of squares over dim (None: all)."""
    return norm_of(x, 2, dim, keepdim)


@both()
def triangular_solve(b, A, upper=True, transpose=False, unitriangular=False):
    """(solution, cloned_coefficient) of A X = b for triangular A."""
    a = A.transpose(-2, -1) if transpose else A
    x = solve_triangular(a, b, upper=upper != transpose, unitriangular=unitriangular)
    return named("triangular_solve", "solution cloned_coefficient")(x, A.clone())


all_with_out(__all__, globals())
__getattr__, __dir__ = _modules.refusing("torch.linalg")
