"""torch.linalg: solving, factors and norms, of the array layer's library, with their derivatives.

Factorisations run when they are called; a backward formula is composed of matrix products and solves, so that
derivatives of any order follow.
"""

import math
from operator import index as _index

from numpy.linalg import LinAlgError as _TheirError

from . import _axes
from ._prim import Tensor, apply, array, derived, reduce, scalar, td, wrap
from ._products import cross as _cross
from ._products import norm_of
from ._register import both, function
from ._results import named
from ._shape import movedim, reshape, tril, triu
from ._shape import diagonal as _diagonal
from ._shape import vander as _vander

_la = td.linalg


class LinAlgError(RuntimeError):
    """A matrix has no such factors, or the iteration did not converge."""


def _checked(name, f, *args, **kwargs):
    try:
        return f(*args, **kwargs)
    except _TheirError as e:
        raise LinAlgError(f"linalg.{name}: {e}") from None


def _square(name, a):
    if a.ndim < 2:
        raise RuntimeError(f"linalg.{name}: The input tensor A must have at least 2 dimensions.")
    if a.shape[-1] != a.shape[-2]:
        raise RuntimeError(f"linalg.{name}: A must be batches of square matrices, but they are {a.shape[-2]} by {a.shape[-1]} matrices")
    if a.dtype._kind not in "fc":
        raise RuntimeError(f"linalg.{name}: Expected a floating point or complex tensor as input. Got {a.dtype}")


def _adj(a):
    return a.transpose(-2, -1).conj()


# ---- solving ----


@derived("LinalgInvEx")
def _inv(a):
    return _checked("inv", _la.inv, a)


@_inv.backward
def _(inputs, r, g):
    return -_adj(r) @ g @ _adj(r)


def inv(A):
    """The inverses of square matrices. LinAlgError: one is singular."""
    _square("inv", A)
    return _inv(A)


@derived("LinalgSolveEx")
def _solve(a, b):
    return _checked("solve", _la.solve, a, b)


@_solve.backward
def _(inputs, x, g):
    a, _ = inputs
    back = _solve(_adj(a), g)
    ga = -back @ _adj(x)
    return _reduced(ga, a), _reduced(back, inputs[1])


def _reduced(g, like):
    """g summed to like's shape, to which it was broadcast."""
    return g if g.shape == like.shape else g.sum_to_size(like.shape)


def solve(A, B, *, left=True):
    """X of A X = B (of X A = B with left=False); B: vectors or matrices. LinAlgError: A is singular."""
    _square("solve", A)
    if not left:
        return solve(A.transpose(-2, -1), B.transpose(-2, -1)).transpose(-2, -1)
    if B.ndim == 1 or (B.ndim == A.ndim - 1 and B.shape == A.shape[:-1]):
        return _solve(A, B[..., None])[..., 0]
    return _solve(A, B)


def solve_ex(A, B, *, left=True, check_errors=False):
    """(solve(A, B), info): info is 0, since a singular A raises."""
    return named("linalg_solve_ex", "result info")(solve(A, B, left=left), _zero_info(A))


def inv_ex(A, *, check_errors=False):
    """(inv(A), info): info is 0, since a singular A raises."""
    return named("linalg_inv_ex", "inverse info")(inv(A), _zero_info(A))


def _zero_info(A):
    from ._dtypes import DTYPES

    return A.new_zeros(A.shape[:-2], dtype=DTYPES["int32"])


@derived("LinalgSolveTriangular")
def _triangular(a, b, *, upper, unit):
    from .. import _solver

    lead = td.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    a, b = td.broadcast_to(a, (*lead, *a.shape[-2:])), td.broadcast_to(b, (*lead, *b.shape[-2:]))
    if _solver.missing(a.device, "trsm") == "":
        return _solver.triangular(a, b, lower=not upper, unit=unit)
    half = td.triu(a) if upper else td.tril(a)
    if unit:
        n = a.shape[-1]
        half = td.where(td.eye(n, dtype="bool", device=a.device), 1, half).astype(a.dtype)
    return _checked("solve_triangular", _la.solve, half, b)


@_triangular.backward
def _(inputs, x, g, *, upper, unit):
    a, b = inputs
    back = _triangular(_adj(a), g, upper=not upper, unit=unit)
    ga = -back @ _adj(x)
    half = triu(ga, int(unit)) if upper else tril(ga, -int(unit))
    return _reduced(half, a), _reduced(back, b)


def solve_triangular(A, B, *, upper, left=True, unitriangular=False, out=None):
    """X of A X = B (of X A = B with left=False) for triangular A, of which one half is read."""
    if left:
        return _triangular(A, B, upper=upper, unit=unitriangular)
    return solve_triangular(A.transpose(-2, -1), B.transpose(-2, -1), upper=not upper, unitriangular=unitriangular).transpose(-2, -1)


# ---- determinants ----


@derived("LinalgDet")
def _det(a):
    return td.asarray(_checked("det", _la.det, a), device=a.device)


@_det.backward
def _(inputs, r, g):
    (a,) = inputs
    return (g * r.conj())[..., None, None] * _adj(_inv(a))


def det(A):
    """Determinants of square matrices."""
    _square("det", A)
    return _det(A)


@derived("LinalgSlogdet")
def _slogdet(a):
    sign, size = _checked("slogdet", _la.slogdet, a)
    return td.asarray(sign, device=a.device), td.asarray(size, device=a.device)


@_slogdet.backward
def _(inputs, r, gs):
    (a,), (_, g) = inputs, gs
    return None if g is None else g[..., None, None] * _adj(_inv(a))


def slogdet(A):
    """(sign, logabsdet) of square matrices."""
    _square("slogdet", A)
    return named("slogdet", "sign logabsdet")(*_slogdet(A))


# ---- factors ----


@derived("LinalgCholeskyEx")
def _cholesky(a):
    return _checked("cholesky", _la.cholesky, a)


@_cholesky.backward
def _(inputs, r, g):
    """L^-H Φ(L^H g) L^-1, its Hermitian half, where Φ halves the diagonal of the lower triangle."""
    phi = tril(_adj(r) @ tril(g))
    phi = phi - 0.5 * tril(triu(phi))
    half = _triangular(_adj(r), phi, upper=True, unit=False)
    ga = _adj(_triangular(_adj(r), _adj(half), upper=True, unit=False))
    return (ga + _adj(ga)) * 0.5


def cholesky(A, *, upper=False):
    """L of A = L L^H for Hermitian positive-definite A; with upper its adjoint. LinAlgError: A is not."""
    _square("cholesky", A)
    r = _cholesky(A)
    return _adj(r) if upper else r


def cholesky_ex(A, *, upper=False, check_errors=False):
    """(cholesky(A), info): info is 0, since an A that has no factor raises."""
    return named("linalg_cholesky_ex", "L info")(cholesky(A, upper=upper), _zero_info(A))


@derived("LinalgQr")
def _qr(a, *, mode):
    return tuple(_checked("qr", _la.qr, a, mode))


@_qr.backward
def _(inputs, r, gs, *, mode):
    (a,), (Q, R), (gq, gr) = inputs, r, gs
    if a.shape[-2] < a.shape[-1] or (mode == "complete" and a.shape[-2] != a.shape[-1]):
        raise RuntimeError("The QR decomposition is not differentiable when mode='complete' and nrows > ncols or when there are fewer rows than columns")
    m = scalar(0, a).expand(R.shape)
    if gr is not None:
        m = m + R @ _adj(gr)
    if gq is not None:
        m = m - _adj(gq) @ Q
    side = tril(m) + _adj(tril(m, -1))
    inner = Q @ side if gq is None else gq + Q @ side
    return _adj(_triangular(R, _adj(inner), upper=True, unit=False))


def qr(A, mode="reduced"):
    """(Q, R): A = Q R; mode: reduced, complete, or r (Q is empty)."""
    kind = named("linalg_qr", "Q R")
    if mode == "r":
        if A.requires_grad:
            raise RuntimeError("The derivative of linalg.qr depends on Q, which is not computed when mode='r'. Please use linalg.qr(A, mode='reduced') if you are going to differentiate through linalg.qr.")
        return kind(A.new_empty(0), wrap(_la.qr(array(A), "r")))
    return kind(*_qr(A, mode=mode))


@derived("LinalgEigh")
def _eigh(a, *, lower):
    return tuple(_checked("eigh", _la.eigh, a, "L" if lower else "U"))


@_eigh.backward
def _(inputs, r, gs, *, lower):
    (w, v), (gw, gv) = r, gs
    n = w.shape[-1]
    middle = scalar(0, v).expand(v.shape)
    if gv is not None:
        away = w[..., None, :] - w[..., :, None]
        same = wrap(td.eye(n, dtype="bool", device=array(w).device))
        inner = _adj(v) @ gv
        middle = apply("select", same, scalar(0, inner), inner / apply("select", same, scalar(1, away), away))
    if gw is not None:
        middle = middle + gw.to(v.dtype).diag_embed()
    ga = v @ middle @ _adj(v)
    return (ga + _adj(ga)) * 0.5


def eigh(A, UPLO="L"):
    """(eigenvalues, eigenvectors) of Hermitian A, of which one half is read; values ascend."""
    _square("eigh", A)
    return named("linalg_eigh", "eigenvalues eigenvectors")(*_eigh(A, lower=UPLO.upper() == "L"))


def eigvalsh(A, UPLO="L"):
    """The eigenvalues of Hermitian A, ascending."""
    return eigh(A, UPLO)[0]


def eig(A):
    """(eigenvalues, eigenvectors) of square A, complex. Not differentiated."""
    _square("eig", A)
    kind = named("linalg_eig", "eigenvalues eigenvectors")
    whole = A.detach() if A.dtype.is_complex else A.detach().to(A.dtype.to_complex())
    return kind(*(wrap(part) for part in _checked("eig", _la.eig, array(whole))))


def eigvals(A):
    """The eigenvalues of square A, complex. Not differentiated."""
    return eig(A)[0]


@derived("LinalgSvd")
def _svd(a, *, full):
    return tuple(_checked("svd", _la.svd, a, full))


@_svd.backward
def _(inputs, r, gs, *, full):
    (a,), (u, s, vh), (gu, gd, gvh) = inputs, r, gs
    k = s.shape[-1]
    u, vh = u[..., :, :k], vh[..., :k, :]
    gu, gvh = (None if gu is None else gu[..., :, :k]), (None if gvh is None else gvh[..., :k, :])
    v = _adj(vh)
    middle = scalar(0, u).expand((*s.shape, k))
    if gd is not None:
        middle = middle + gd.to(u.dtype).diag_embed()
    apart = s[..., None, :] ** 2 - s[..., :, None] ** 2
    same = wrap(td.eye(k, dtype="bool", device=array(s).device))
    f = apply("select", same, scalar(0, s), 1 / apply("select", same, scalar(1, apart), apart))
    if gu is not None:
        j = f * (_adj(u) @ gu)
        middle = middle + (j + _adj(j)) * s[..., None, :]
    if gvh is not None:
        j = f * (vh @ _adj(gvh))
        middle = middle + s[..., :, None] * (j + _adj(j))
    ga = u @ middle @ vh
    if gu is not None and a.shape[-2] > k:
        inner = gu / s[..., None, :]
        ga = ga + (inner - u @ (_adj(u) @ inner)) @ vh
    if gvh is not None and a.shape[-1] > k:
        inner = _adj(gvh) / s[..., None, :]
        ga = ga + u @ _adj(inner - v @ (vh @ inner))
    return ga


def svd(A, full_matrices=True, *, driver=None):
    """(U, S, Vh): A = U diag(S) Vh; full_matrices: all columns of U and rows of Vh. Its gradient is that of the thin one."""
    return named("linalg_svd", "U S Vh")(*_svd(A, full=full_matrices))


def svdvals(A, *, driver=None):
    """The singular values, descending."""
    return svd(A, False)[1]


def lu_factor_ex(A, *, pivot=True, check_errors=False):
    """(LU, pivots, info): lu_factor, and an info of 0."""
    return named("linalg_lu_factor_ex", "LU pivots info")(*lu_factor(A), _zero_info(A))


def lu_factor(A, *, pivot=True):
    """(LU, pivots): both factors in one matrix, and the rows' exchanges, counted from 1."""
    from ._dtypes import DTYPES

    _square("lu_factor", A)
    LU, pivots = _lu_factor(A)
    return named("linalg_lu_factor", "LU pivots")(LU, pivots.to(DTYPES["int32"]))


@derived("LinalgLuFactorEx")
def _lu_factor(a):
    from .. import _solver

    if _solver.missing(a.device, "getrf") == "":
        columns, pivots, _ = _solver.lu(_solver.columns(a))
        lu = td.matrix_transpose(columns)
    else:
        lu, pivots = _host_lu(a)
    return lu, pivots


@_lu_factor.backward
def _(inputs, r, gs):
    """L^-H (tril(L^H gL, -1) + triu(gU U^H)) U^-H, its rows put back in A's order."""
    (LU, pivots), (g, _) = r, gs
    if g is None:
        return None
    middle = tril(_unit_lower_adjoint(LU) @ tril(g, -1), -1) + triu(triu(g) @ _adj(triu(LU)))
    inner = _triangular(_adj(LU), middle, upper=True, unit=True)
    return _permutation(LU, pivots) @ _adj(_triangular(LU, _adj(inner), upper=True, unit=False))


def _unit_lower_adjoint(LU):
    one = wrap(td.eye(LU.shape[-1], dtype=LU.dtype._numpy, device=array(LU).device))
    return _adj(tril(LU, -1) + one)


def _host_lu(a):
    """LU by columns, in the array's own operations: pivots as LAPACK counts them."""
    import numpy

    stack = a.get().reshape((-1, *a.shape[-2:])).copy()
    pivots = numpy.zeros((len(stack), a.shape[-1]), "i4")
    for m, p in zip(stack, pivots, strict=True):
        for k in range(len(m)):
            q = k + int(numpy.abs(m[k:, k]).argmax())
            p[k] = q + 1
            m[[k, q]] = m[[q, k]]
            if m[k, k] != 0:
                m[k + 1 :, k] /= m[k, k]
                m[k + 1 :, k + 1 :] -= numpy.outer(m[k + 1 :, k], m[k, k + 1 :])
    lead = a.shape[:-2]
    return td.asarray(stack.reshape(a.shape), device=a.device), td.asarray(pivots.reshape((*lead, -1)), device=a.device)


def _order_of(pivots, n):
    """The rows' order that exchanges make, a NumPy array (batch, n)."""
    import numpy

    p = pivots.cpu().numpy().reshape((-1, pivots.shape[-1])) - 1
    order = numpy.tile(numpy.arange(n), (len(p), 1))
    for o, exchanges in zip(order, p, strict=True):
        for k, q in enumerate(exchanges):
            o[[k, q]] = o[[q, k]]
    return order


def lu_solve(LU, pivots, B, *, left=True, adjoint=False):
    """X of A X = B, where lu_factor(A) is (LU, pivots)."""
    order = _order_of(pivots, LU.shape[-1])
    P = wrap(td.asarray(order.reshape((*LU.shape[:-1],)), device=array(LU).device))
    if not left:
        return lu_solve(LU, pivots, _adj(B), adjoint=not adjoint).transpose(-2, -1).conj()
    if adjoint:
        y = solve_triangular(_adj(LU), solve_triangular(_adj(LU), B, upper=False), upper=True, unitriangular=True)
        back = P.argsort(-1)
        return y.take_along_dim(back[..., None], -2)
    rows = B.take_along_dim(P[..., None], -2)
    return solve_triangular(LU, solve_triangular(LU, rows, upper=False, unitriangular=True), upper=True)


def lu(A, *, pivot=True):
    """(P, L, U): A = P L U."""
    return named("linalg_lu", "P L U")(*lu_unpack(*lu_factor(A)))


# ---- composed ----


def lstsq(A, B, rcond=None, *, driver=None):
    """(solution, residuals, rank, singular_values) of min ‖A X - B‖, by the pseudo-inverse."""
    x = pinv(A, rtol=rcond) @ B
    m, n = A.shape[-2:]
    empty = A.new_empty(0)
    left = ((A @ x - B) ** 2).sum(-2) if m > n else empty
    return named("linalg_lstsq", "solution residuals rank singular_values")(x, left, matrix_rank(A), empty)


def pinv(A, *, atol=None, rtol=None, hermitian=False):
    """The pseudo-inverse: singular values below max(atol, rtol * largest) count as 0."""
    if min(A.shape[-2:]) == 0:
        return A.new_zeros((*A.shape[:-2], A.shape[-1], A.shape[-2]))
    u, s, vh = svd(A, False)
    keep = s > _tolerance(A, s, atol, rtol)
    inverse = apply("select", keep, 1 / apply("select", keep, s, scalar(1, s)), scalar(0, s))
    return _adj(vh) @ (inverse[..., None].to(A.dtype) * _adj(u))


def _tolerance(A, s, atol, rtol):
    from ._dtypes import finfo

    atol = 0.0 if atol is None else atol
    if rtol is None:
        rtol = finfo(A.dtype).eps * max(A.shape[-2:]) if not isinstance(atol, Tensor) and atol == 0 else 0.0
    top = s.detach().amax(-1, True) if s.shape[-1] else s.sum(-1, True)
    return (top * rtol).clamp(min=atol)


def matrix_rank(A, *, atol=None, rtol=None, hermitian=False):
    """How many singular values are above max(atol, rtol * largest)."""
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
    """vector_norm or matrix_norm, as dim and ord say; without both the 2-norm of all elements."""
    if dim is None and ord is None:
        return vector_norm(A, 2, None, keepdim, dtype=dtype)
    if isinstance(dim, (tuple, list)) and len(dim) == 2 or (dim is None and A.ndim == 2):
        return matrix_norm(A, "fro" if ord is None else ord, dim or (0, 1), keepdim, dtype=dtype)
    return vector_norm(A, 2 if ord is None else ord, dim, keepdim, dtype=dtype)


def matrix_power(A, n):
    """A to the power n, by squaring; of the inverse for a negative n."""
    _square("matrix_power", A)
    n = _index(n)
    if n < 0:
        A, n = inv(A), -n
    r = None
    while n:
        if n & 1:
            r = A if r is None else r @ A
        A, n = (A @ A if n > 1 else A), n >> 1
    return wrap(td.eye(A.shape[-1], dtype=A.dtype._numpy, device=array(A).device)).expand(A.shape).clone() if r is None else r


def matrix_exp(A):
    """The exponential function of matrices: a Taylor polynomial of A / 2**k, squared k times."""
    _square("matrix_exp", A)
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
    """The product of matrices, in the order of least work; the first and last may be vectors."""
    from ..linalg import _best_order

    parts = list(tensors)
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
    """The powers 0 to N - 1 of x as columns."""
    return _vander(x, N, True)


def tensorinv(A, ind=2):
    """The inverse for tensordot over the first ind dimensions."""
    front, back = tuple(A.shape[:ind]), tuple(A.shape[ind:])
    return inv(A.reshape(math.prod(front), -1)).reshape((*back, *front))


def tensorsolve(A, B, dims=None):
    """X of tensordot(A, X, X.ndim) = B."""
    if dims is not None:
        A = movedim(A, tuple(dims), tuple(range(A.ndim - len(dims), A.ndim)))
    shape = tuple(A.shape[B.ndim :])
    return solve(A.reshape(-1, math.prod(shape)), B.reshape(-1)).reshape(shape)


def householder_product(A, tau):
    """The first columns of the product of reflections I - tau v v^H, v being A's columns below the diagonal."""
    m, n = A.shape[-2:]
    q = wrap(td.eye(m, n, dtype=A.dtype._numpy, device=array(A).device))
    for k in range(tau.shape[-1] - 1, -1, -1):
        v = tril(A, -1)[..., :, k : k + 1]
        spot = wrap((td.arange(m, device=array(A).device) == k)[:, None])
        below = wrap((td.arange(m, device=array(A).device) > k)[:, None])
        v = apply("select", spot, scalar(1, A), apply("select", below, v, scalar(0, A)))
        q = q - tau[..., k, None, None] * (v @ (_adj(v) @ q))
    return q


# ---- the same in torch itself ----

for _name in "det slogdet matrix_power matrix_exp".split():
    both()(globals()[_name])


@both()
def inverse(x):
    """The inverses of square matrices. LinAlgError: one is singular."""
    return inv(x)


@both()
def logdet(x):
    """The logarithm of the determinant; NaN where it is negative."""
    sign, size = slogdet(x)
    return apply("select", sign < 0, math.nan, size)


@both()
def pinverse(x, rcond=1e-15):
    """The pseudo-inverse: singular values below rcond times the largest count as 0."""
    return pinv(x, rtol=rcond)


@both("svd")
def _svd_thin(x, some=True, compute_uv=True):
    """(U, S, V): x = U diag(S) V^H."""
    u, s, vh = svd(x, not some)
    return named("svd", "U S V")(u, s, _adj(vh))


@both("lu_solve")
def _lu_solve(b, LU_data, LU_pivots):
    """X of A X = b, where linalg.lu_factor(A) is (LU_data, LU_pivots)."""
    return lu_solve(LU_data, LU_pivots, b)


@both()
def cholesky_solve(b, L, upper=False):
    """X of A X = b, where L is a Cholesky factor of A."""
    L = _adj(L) if upper else L
    return solve_triangular(_adj(L), solve_triangular(L, b, upper=False), upper=True)


@both()
def cholesky_inverse(L, upper=False):
    """The inverse of A, where L is a Cholesky factor of A."""
    return cholesky_solve(wrap(td.eye(L.shape[-1], dtype=L.dtype._numpy, device=array(L).device)), L, upper)


@both("orgqr")
def _orgqr(x, tau):
    """linalg.householder_product."""
    return householder_product(x, tau)


@function()
def lu_unpack(LU_data, LU_pivots, unpack_data=True, unpack_pivots=True):
    """(P, L, U) of lu_factor's results."""
    n = LU_data.shape[-1]
    one = wrap(td.eye(n, dtype=LU_data.dtype._numpy, device=array(LU_data).device))
    return named("lu_unpack", "P L U")(_permutation(LU_data, LU_pivots), tril(LU_data, -1) + one, triu(LU_data))


def _permutation(A, pivots):
    n = A.shape[-1]
    order = wrap(td.asarray(_order_of(pivots, n).reshape(A.shape[:-1]), device=array(A).device))
    return (order[..., None, :] == wrap(td.arange(n, device=array(A).device))[:, None]).to(A.dtype)


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

