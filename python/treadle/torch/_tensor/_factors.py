"""Matrix factorisations and solvers with their derivatives, for linalg.py. The array layer's library computes them.

A factorisation runs when it is called. A backward formula consists of matrix products and solves, so it can be
differentiated again.
"""

import math

import numpy
from numpy.linalg import LinAlgError as _TheirError

from ...linalg import _solver
from .._prim import apply, array, derived, join, joint_shape, scalar, td, wrap
from .._register import function
from ._dtypes import DTYPES
from ._results import named
from ._shape import tril, triu
from ._singular import INFO, inverse, leading, reason, solution

_la = td.linalg


class LinAlgError(RuntimeError):
    """A matrix has no such factors, or the iteration did not converge."""


def _checked(name, f, *args, **kwargs):
    try:
        return f(*args, **kwargs)
    except _TheirError as e:
        known = INFO.get(name) if issubclass(type(args[0]), td._core.ndarray) else None
        said = e if known is None else reason(name, known(td.asarray(args[0]).get()))
        raise LinAlgError(f"linalg.{name}: {said}") from None
    except (TypeError, ValueError) as e:  # of shapes and dtypes
        raise RuntimeError(f"linalg.{name}: {e}") from None


def square_shape(name, a):
    """Raise RuntimeError unless a holds square matrices."""
    if a.ndim < 2:
        raise RuntimeError(f"linalg.{name}: The input tensor A must have at least 2 dimensions.")
    if a.shape[-1] != a.shape[-2]:
        raise RuntimeError(
            f"linalg.{name}: A must be batches of square matrices, but they are {a.shape[-2]} by {a.shape[-1]} matrices"
        )


def square(name, a):
    """Raise RuntimeError unless a holds square matrices of floating-point or complex numbers."""
    square_shape(name, a)
    if a.dtype._kind not in "fc":
        raise NotImplementedError(f"linalg.{name}: Expected a floating point or complex tensor as input. Got {a.dtype}")


def adj(a):
    return a.transpose(-2, -1).conj()


# ---- solving ----


@derived("LinalgInvEx")
def _inv(a):
    return _checked("inv", _la.inv, a)


@_inv.backward
def _(inputs, r, g):
    return -adj(r) @ g @ adj(r)


def inv(A):
    """The inverses of square matrices. Raises LinAlgError if one is singular."""
    square("inv", A)
    return _inv(A)


@derived("LinalgSolveEx")
def _solve(a, b):
    return _checked("solve", _la.solve, a, b)


@_solve.backward
def _(inputs, x, g):
    a, _ = inputs
    back = _solve(adj(a), g)
    ga = -back @ adj(x)
    return _reduced(ga, a), _reduced(back, inputs[1])


def _reduced(g, like):
    """g summed to like's shape, which a product had broadcast."""
    return g if g.shape == like.shape else g.sum_to_size(like.shape)


def solve(A, B, *, left=True):
    """The X of A X = B, or of X A = B with left=False. B holds vectors or matrices. Raises LinAlgError if A is
    singular."""
    square("solve", A)
    if not left:
        return solve(A.transpose(-2, -1), B.transpose(-2, -1)).transpose(-2, -1)
    if B.ndim == 1 or (B.ndim == A.ndim - 1 and B.shape == A.shape[:-1]):
        return _solve(A, B[..., None])[..., 0]
    return _solve(A, B)


def _with_info(A, check_errors, whole, rest):
    """(what whole() gives, zeros), or where a matrix has no such factors and check_errors is False, what rest(A's
    values) gives: the result as far as it goes, and LAPACK's numbers of the places where it ends."""
    try:
        return whole(), A.new_zeros(A.shape[:-2], dtype=DTYPES["int32"])
    except LinAlgError:
        if check_errors:
            raise
    dev = array(A).device
    return tuple(wrap(td.asarray(a, device=dev)) for a in rest(array(A.detach()).get()))


def solve_ex(A, B, *, left=True, check_errors=False):
    """(solve(A, B), info). info of a singular matrix is the place of its first zero pivot; its result is NaN."""

    def rest(a):
        return solution(a, array(B.detach()).get(), left)

    kind = named("linalg_solve_ex", "result info")
    return kind(*_with_info(A, check_errors, lambda: solve(A, B, left=left), rest))


def inv_ex(A, *, check_errors=False):
    """(inv(A), info). info of a singular matrix is the place of its first zero pivot; its result is NaN."""
    kind = named("linalg_inv_ex", "inverse info")
    return kind(*_with_info(A, check_errors, lambda: inv(A), inverse))


@derived("LinalgSolveTriangular")
def _triangular(a, b, *, upper, unit):
    lead = joint_shape(a.shape[:-2], b.shape[:-2])
    a, b = td.broadcast_to(a, (*lead, *a.shape[-2:])), td.broadcast_to(b, (*lead, *b.shape[-2:]))
    if _solver.missing(a.device, "trsm") == "":
        return _solver.triangular(a, b, lower=not upper, unit=unit)
    half = td.triu(a) if upper else td.tril(a)
    if unit:
        n = a.shape[-1]
        half = td.where(td.eye(n, dtype="bool", device=a.device), 1, half).astype(a.dtype)
    if not (issubclass(type(half), td.ndarray) and half.device.host):  # one of vmap only says that it is an array
        return _checked("solve_triangular", _by_halves, half, b, upper, td)
    return td.asarray(_checked("solve_triangular", _by_halves, half.get(), b.get(), upper, numpy), device=a.device)


_BLOCK = 64  # rows that a general solver takes


def _by_halves(a, b, upper, np):
    """The X of A X = B for triangular A where the library has no such function: mostly matrix products. np: the module
    of the arrays."""
    n = a.shape[-1]
    if n <= _BLOCK:
        return np.linalg.solve(a, b)
    first, then = slice(n // 2), slice(n // 2, n)
    first, then = (then, first) if upper else (first, then)
    x = _by_halves(a[..., first, first], b[..., first, :], upper, np)
    y = _by_halves(a[..., then, then], b[..., then, :] - a[..., then, first] @ x, upper, np)
    return np.concatenate((y, x) if upper else (x, y), -2)


@_triangular.backward
def _(inputs, x, g, *, upper, unit):
    a, b = inputs
    back = _triangular(adj(a), g, upper=not upper, unit=unit)
    ga = -back @ adj(x)
    half = triu(ga, int(unit)) if upper else tril(ga, -int(unit))
    return _reduced(half, a), _reduced(back, b)


def solve_triangular(A, B, *, upper, left=True, unitriangular=False, out=None):
    """The X of A X = B, or of X A = B with left=False, for triangular A. Only that triangle of A is read."""
    if left:
        return _triangular(A, B, upper=upper, unit=unitriangular)
    return solve_triangular(
        A.transpose(-2, -1), B.transpose(-2, -1), upper=not upper, unitriangular=unitriangular
    ).transpose(-2, -1)


# ---- determinants ----


@derived("LinalgDet")
def _det(a):
    return td.asarray(_checked("det", _la.det, a), device=a.device)


@_det.backward
def _(inputs, r, g):
    (a,) = inputs
    try:
        return (g * r.conj())[..., None, None] * adj(_inv(a))
    except LinAlgError:
        return g[..., None, None] * _cofactors(a)


def _cofactors(a):
    """The conjugated cofactors: det is the sum of any row times these. They exist for singular matrices, too."""
    u, s, vh = _svd(a, full=True)
    n = s.shape[-1]
    same = wrap(td.eye(n, dtype="bool", device=array(s).device))
    others = apply("select", same, scalar(1, s), s[..., None, :].expand(*s.shape, n)).prod(-1)
    phase = (_det(u) * _det(vh)).conj()
    return phase[..., None, None] * ((u * others[..., None, :].to(u.dtype)) @ vh)


def det(A):
    """Determinants of square matrices."""
    square("det", A)
    return _det(A)


@derived("LinalgSlogdet")
def _slogdet(a):
    sign, size = _checked("slogdet", _la.slogdet, a)
    return td.asarray(sign, device=a.device), td.asarray(size, device=a.device)


@_slogdet.backward
def _(inputs, r, gs):
    (a,), (sign, _), (turn, g) = inputs, r, gs
    g = scalar(0, sign).expand(sign.shape) if g is None else g.to(sign.dtype)
    if turn is not None and sign.dtype.is_complex:
        g = g - 1j * (turn.conj() * sign).imag
    return g[..., None, None] * adj(_inv(a))


def slogdet(A):
    """(sign, logabsdet) of square matrices."""
    square("slogdet", A)
    return named("slogdet", "sign logabsdet")(*_slogdet(A))


# ---- factors ----


@derived("LinalgCholeskyEx")
def _cholesky(a):
    return _checked("cholesky", _la.cholesky, a)


@_cholesky.backward
def _(inputs, r, g):
    """L^-H Φ(L^H g) L^-1, of which the Hermitian half is taken. Φ takes the lower triangle and halves its diagonal."""
    phi = tril(adj(r) @ tril(g))
    phi = phi - 0.5 * tril(triu(phi))
    half = _triangular(adj(r), phi, upper=True, unit=False)
    ga = adj(_triangular(adj(r), adj(half), upper=True, unit=False))
    return (ga + adj(ga)) * 0.5


def cholesky(A, *, upper=False):
    """The L of A = L L^H for Hermitian positive-definite A. upper=True gives L^H. Raises LinAlgError for other
    matrices."""
    square("cholesky", A)
    r = _cholesky(A)
    return adj(r) if upper else r


def cholesky_ex(A, *, upper=False, check_errors=False):
    """(cholesky(A), info). info of a matrix that has no factor is the order of its first leading minor that is not
    positive; its columns from there on are the matrix's."""

    def rest(a):
        factor, info = leading(a)
        return (numpy.conj(numpy.swapaxes(factor, -1, -2)) if upper else factor), info

    kind = named("linalg_cholesky_ex", "L info")
    return kind(*_with_info(A, check_errors, lambda: cholesky(A, upper=upper), rest))


@derived("LinalgQr")
def _qr(a, *, mode):
    return tuple(_checked("qr", _la.qr, a, mode))


@_qr.backward
def _(inputs, r, gs, *, mode):
    (a,), (Q, R), (gq, gr) = inputs, r, gs
    rows, columns = a.shape[-2:]
    if mode == "complete" and rows > columns:
        raise RuntimeError("The QR decomposition is not differentiable when mode='complete' and nrows > ncols")
    if rows >= columns:
        return _qr_back(a, Q, R, gq, gr)
    rest = a[..., rows:]  # A = Q [R1, R2] with R2 = Q^H rest
    if gr is None:
        g = _qr_back(a[..., :rows], Q, R[..., :rows], gq, None)
        return join([g, scalar(0, a).expand(rest.shape)], a.ndim - 1)
    more = rest @ adj(gr[..., rows:])
    g = _qr_back(a[..., :rows], Q, R[..., :rows], more if gq is None else gq + more, gr[..., :rows])
    return join([g, Q @ gr[..., rows:]], a.ndim - 1)


def _qr_back(a, Q, R, gq, gr):
    m = scalar(0, a).expand(R.shape)
    if gr is not None:
        m = m + R @ adj(gr)
    if gq is not None:
        m = m - adj(gq) @ Q
    below, own = tril(m, -1), m.diagonal(0, -2, -1)
    own = own.real.to(m.dtype) if m.dtype.is_complex else own  # the library fixes the phases of Q's columns
    side = below + adj(below) + own.diag_embed()
    inner = Q @ side if gq is None else gq + Q @ side
    return adj(_triangular(R, adj(inner), upper=True, unit=False))


def qr(A, mode="reduced"):
    """(Q, R): A = Q R; mode: reduced, complete, or r (Q is empty)."""
    kind = named("linalg_qr", "Q R")
    if mode == "r":
        if A.requires_grad:
            raise RuntimeError(
                "The derivative of linalg.qr depends on Q, which is not computed when mode='r'. Please use "
                "linalg.qr(A, mode='reduced') if you are going to differentiate through linalg.qr."
            )
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
        inner = adj(v) @ gv
        middle = apply("select", same, scalar(0, inner), inner / apply("select", same, scalar(1, away), away))
    if gw is not None:
        middle = middle + gw.to(v.dtype).diag_embed()
    ga = v @ middle @ adj(v)
    return (ga + adj(ga)) * 0.5


def eigh(A, UPLO="L"):
    """(eigenvalues, eigenvectors) of Hermitian A, of which one half is read; values ascend."""
    square("eigh", A)
    return named("linalg_eigh", "eigenvalues eigenvectors")(*_eigh(A, lower=UPLO.upper() == "L"))


def eigvalsh(A, UPLO="L"):
    """The eigenvalues of Hermitian A in ascending order."""
    return eigh(A, UPLO)[0]


@derived("LinalgEig")
def _eig(a):
    return tuple(_checked("eig", _la.eig, a))


@_eig.backward
def _(inputs, r, gs):
    """V^-H (diag(gw) + (V^H gV - V^H V diag(Re V^H gV)) / E) V^H, where E holds the conjugated differences of
    eigenvalues. The vectors have length 1. Their phases are arbitrary, so what changes only them has no gradient."""
    (w, v), (gw, gv) = r, gs
    middle = scalar(0, v).expand(v.shape)
    if gv is not None:
        inner = adj(v) @ gv
        along = inner.diagonal(0, -2, -1).real.to(v.dtype)
        inner = inner - adj(v) @ (v * along[..., None, :])
        apart = (w[..., None, :] - w[..., :, None]).conj()
        same = wrap(td.eye(w.shape[-1], dtype="bool", device=array(w).device))
        middle = apply("select", same, scalar(0, inner), inner / apply("select", same, scalar(1, apart), apart))
    if gw is not None:
        middle = middle + gw.diag_embed()
    return _solve(adj(v), middle @ adj(v))


def eig(A):
    """(eigenvalues, eigenvectors) of square A, complex."""
    square("eig", A)
    whole = A if A.dtype.is_complex else A.to(A.dtype.to_complex())
    return named("linalg_eig", "eigenvalues eigenvectors")(*_eig(whole))


def eigvals(A):
    """The eigenvalues of square A, complex."""
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
    v = adj(vh)
    middle = scalar(0, u).expand((*s.shape, k))
    if gd is not None:
        middle = middle + gd.to(u.dtype).diag_embed()
    apart = s[..., None, :] ** 2 - s[..., :, None] ** 2
    same = wrap(td.eye(k, dtype="bool", device=array(s).device))
    f = apply("select", same, scalar(0, s), 1 / apply("select", same, scalar(1, apart), apart))
    if gu is not None:
        j = f * (adj(u) @ gu)
        middle = middle + (j + adj(j)) * s[..., None, :]
    if gvh is not None:
        j = f * (vh @ adj(gvh))
        middle = middle + s[..., :, None] * (j + adj(j))
    if u.dtype.is_complex and (gu is not None or gvh is not None):
        # The phase of each pair of vectors is arbitrary. Turning the two against each other does have a gradient, half
        # for each.
        turns = [x.diagonal(0, -2, -1).imag for x in ([adj(u) @ gu] if gu is not None else [])]
        turns += [-(vh @ adj(gvh)).diagonal(0, -2, -1).imag] if gvh is not None else []
        middle = middle + (sum(turns) / (2 * s) * 1j).diag_embed()
    ga = u @ middle @ vh
    if gu is not None and a.shape[-2] > k:
        inner = gu / s[..., None, :]
        ga = ga + (inner - u @ (adj(u) @ inner)) @ vh
    if gvh is not None and a.shape[-1] > k:
        inner = adj(gvh) / s[..., None, :]
        ga = ga + u @ adj(inner - v @ (vh @ inner))
    return ga


def svd(A, full_matrices=True, *, driver=None):
    """(U, S, Vh) with A = U diag(S) Vh. full_matrices=True gives all columns of U and all rows of Vh. The gradient is
    that of the thin factorisation."""
    return named("linalg_svd", "U S Vh")(*_svd(A, full=full_matrices))


def svdvals(A, *, driver=None):
    """The singular values, descending."""
    return svd(A, False)[1]


def lu_factor_ex(A, *, pivot=True, check_errors=False):
    """(LU, pivots, info): lu_factor, and an info of 0."""
    return named("linalg_lu_factor_ex", "LU pivots info")(
        *lu_factor(A), A.new_zeros(A.shape[:-2], dtype=DTYPES["int32"])
    )


def lu_factor(A, *, pivot=True):
    """(LU, pivots): both factors in one matrix, and the row exchanges, counted from 1."""
    m, n = A.shape[-2:]
    if m == n:
        LU, pivots = _lu_factor(A)
    elif m > n:
        LU, pivots = _tall_lu(A)
    else:  # A = P L [U, L^-1 P^T rest]
        LU, pivots = _lu_factor(A[..., :m])
        rest = _triangular(LU, adj(_permutation(LU, pivots)) @ A[..., m:], upper=False, unit=True)
        LU = join([LU, rest], A.ndim - 1)
    return named("linalg_lu_factor", "LU pivots")(LU, pivots.to(DTYPES["int32"]))


def _tall_lu(A):
    """The pivots are found without recording. Given them, the factors of the upper square follow, and a solve gives the
    rows below."""
    m, n = A.shape[-2:]
    pivots = wrap(_host_lu(array(A.detach()))[1])
    rows = adj(_permutation(A, pivots)) @ A
    top = rows[..., :n, :]
    LU = _unpivoted(top)
    below = rows[..., n:, :]
    low = _triangular(adj(triu(LU)), adj(below), upper=False, unit=False)  # below = low^H U
    return join([LU, adj(low)], A.ndim - 2), pivots


@derived("LinalgLu")
def _unpivoted(a):
    """L and U of a in one matrix. The rows of a are in their final order already."""
    import numpy

    stack = a.get().reshape((math.prod(a.shape[:-2]), *a.shape[-2:])).copy()
    for m in stack:
        for k in range(len(m)):
            if m[k, k] != 0:
                m[k + 1 :, k] /= m[k, k]
                m[k + 1 :, k + 1 :] -= numpy.outer(m[k + 1 :, k], m[k, k + 1 :])
    return td.asarray(stack.reshape(a.shape), device=a.device)


@_unpivoted.backward
def _(inputs, LU, g):
    return _lu_slope(LU, g)


@derived("LinalgLuFactorEx")
def _lu_factor(a):
    if _solver.missing(a.device, "getrf") == "":
        columns, pivots, _ = _solver.lu(_solver.columns(a))
        lu = td.matrix_transpose(columns)
    else:
        lu, pivots = _host_lu(a)
    return lu, pivots


@_lu_factor.backward
def _(inputs, r, gs):
    """L^-H (tril(L^H gL, -1) + triu(gU U^H)) U^-H, with the rows put back in A's order."""
    (LU, pivots), (g, _) = r, gs
    if g is None:
        return None
    return _permutation(LU, pivots) @ _lu_slope(LU, g)


def _lu_slope(LU, g):
    middle = tril(_unit_lower_adjoint(LU) @ tril(g, -1), -1) + triu(triu(g) @ adj(triu(LU)))
    inner = _triangular(adj(LU), middle, upper=True, unit=True)
    return adj(_triangular(LU, adj(inner), upper=True, unit=False))


def _unit_lower_adjoint(LU):
    one = wrap(td.eye(LU.shape[-1], dtype=LU.dtype._numpy, device=array(LU).device))
    return adj(tril(LU, -1) + one)


def _host_lu(a):
    """LU by columns in the array's own operations. Pivots are chosen and counted as LAPACK does."""
    import numpy

    stack = a.get().reshape((math.prod(a.shape[:-2]), *a.shape[-2:])).copy()
    pivots = numpy.zeros((len(stack), min(a.shape[-2:])), "i4")
    for m, p in zip(stack, pivots, strict=True):
        for k in range(len(p)):
            q = k + int((numpy.abs(m[k:, k].real) + numpy.abs(m[k:, k].imag)).argmax())  # LAPACK compares |re| + |im|
            p[k] = q + 1
            m[[k, q]] = m[[q, k]]
            if m[k, k] != 0:
                m[k + 1 :, k] /= m[k, k]
                m[k + 1 :, k + 1 :] -= numpy.outer(m[k + 1 :, k], m[k, k + 1 :])
    pivots = pivots.reshape((*a.shape[:-2], pivots.shape[-1]))
    return td.asarray(stack.reshape(a.shape), device=a.device), td.asarray(pivots, device=a.device)


def _order_of(pivots, n):
    """The order of rows that a sequence of exchanges leads to, as a NumPy array (batch, n)."""
    import numpy

    p = pivots.cpu().numpy().reshape((math.prod(pivots.shape[:-1]), pivots.shape[-1])) - 1
    order = numpy.tile(numpy.arange(n), (len(p), 1))
    for o, exchanges in zip(order, p, strict=True):
        for k, q in enumerate(exchanges):
            o[[k, q]] = o[[q, k]]
    return order


def lu_solve(LU, pivots, B, *, left=True, adjoint=False):
    """The X of A X = B, given lu_factor(A) = (LU, pivots)."""
    order = _order_of(pivots, LU.shape[-1])
    P = wrap(td.asarray(order.reshape((*LU.shape[:-1],)), device=array(LU).device))
    if not left:
        return lu_solve(LU, pivots, adj(B), adjoint=not adjoint).transpose(-2, -1).conj()
    if adjoint:
        y = solve_triangular(adj(LU), solve_triangular(adj(LU), B, upper=False), upper=True, unitriangular=True)
        back = P.argsort(-1)
        return y.take_along_dim(back[..., None], -2)
    rows = B.take_along_dim(P[..., None], -2)
    return solve_triangular(LU, solve_triangular(LU, rows, upper=False, unitriangular=True), upper=True)


def lu(A, *, pivot=True):
    """(P, L, U): A = P L U."""
    return named("linalg_lu", "P L U")(*lu_unpack(*lu_factor(A)))


@function()
def lu_unpack(LU_data, LU_pivots, unpack_data=True, unpack_pivots=True):
    """(P, L, U) from lu_factor's results."""
    m, k = LU_data.shape[-2], min(LU_data.shape[-2:])
    none = LU_data.new_empty(0)
    one = wrap(td.eye(m, k, dtype=LU_data.dtype._numpy, device=array(LU_data).device))
    P = _permutation(LU_data, LU_pivots) if unpack_pivots else none
    L, U = (tril(LU_data[..., :k], -1) + one, triu(LU_data[..., :k, :])) if unpack_data else (none, none)
    return named("lu_unpack", "P L U")(P, L, U)


def _permutation(A, pivots):
    n = A.shape[-2]
    order = wrap(td.asarray(_order_of(pivots, n).reshape(A.shape[:-1]), device=array(A).device))
    return (order[..., None, :] == wrap(td.arange(n, device=array(A).device))[:, None]).to(A.dtype)
