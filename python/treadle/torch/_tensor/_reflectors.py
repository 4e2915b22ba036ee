"""Products of reflections, LAPACK's form of an orthogonal matrix."""

from .._prim import apply, array, scalar, td, wrap
from .._register import both
from ._factors import adj
from ._results import named


def _vectors(A, count):
    """The vectors of the first reflections: columns below the diagonal, with 1 on it and 0 above."""
    rows = td.arange(A.shape[-2], device=array(A).device)
    for k in range(count):
        below = apply("select", wrap((rows > k)[:, None]), A[..., :, k : k + 1], scalar(0, A))
        yield apply("select", wrap((rows == k)[:, None]), scalar(1, A), below)


def _reflected(A, tau, x, backwards):
    """The product of reflections, or of their adjoints in the other order, times x."""
    steps = list(enumerate(_vectors(A, tau.shape[-1])))
    for k, v in reversed(steps) if backwards else steps:
        factor = tau[..., k, None, None]
        x = x - (factor if backwards else factor.conj()) * (v @ (adj(v) @ x))
    return x


@both()
def geqrf(x):
    """(a, tau): R of x = Q R in a's upper triangle; below it, with tau, the reflections whose product is Q."""
    r = td.linalg.qr(array(x.detach()), "raw")
    return named("geqrf", "a tau")(wrap(r[0]).transpose(-2, -1), wrap(r[1]))


def householder_product(A, tau):
    """The first columns of the product of reflections I - tau v v^H, where v are A's columns below the diagonal."""
    m, n = A.shape[-2:]
    return _reflected(A, tau, wrap(td.eye(m, n, dtype=A.dtype._numpy, device=array(A).device)), True)


both("orgqr")(householder_product)


@both()
def ormqr(x, tau, other, left=True, transpose=False):
    """Q other, or other Q, for the whole product Q of reflections that geqrf gives; transpose: for its adjoint."""
    if x.ndim < 2:
        raise RuntimeError("torch.ormqr: input must have at least 2 dimensions.")
    side = -2 if left else -1
    if other.ndim < 2 or tau.shape[-1] != min(other.shape[side], x.shape[-1]):
        raise RuntimeError(f"torch.ormqr: tau.shape[-1] must be equal to min(other.shape[{side}], input.shape[-1])")
    if left:
        return _reflected(x, tau, other, not transpose)
    return adj(_reflected(x, tau, adj(other), transpose))
