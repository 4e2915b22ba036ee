"""A few eigenvalues and singular values of large matrices, by Lanczos processes that restart from what they have found.
"""

import numpy

import treadle as td

from ...._core import asarray
from .. import _host as hosts
from ._operator import LinearOperator, aslinearoperator

_WHICH = ("LM", "LA", "SA")


class _Lanczos:
    """Orthogonal vectors on the device, and the small matrix t on the host that represents A in them."""

    def __init__(self, A, count, start):
        self.A, self.count = A, count
        self.v = td.zeros((count + 1, A.shape[0]), dtype=start.dtype, device=start.device)
        self.v[0] = start / td.sqrt((td.abs(start) ** 2).sum())
        self.t = numpy.zeros((count, count), numpy.result_type(start.dtype, "float64"))
        self.beta = 0.0

    def extend(self, known):
        """Compute the vectors from `number` on. Each fetches one column."""
        for k in range(known, self.count):
            basis = self.v[: k + 1]
            w, total = self.A.matvec(self.v[k]), 0
            for _ in range(2):  # twice, since the first pass leaves rounding errors
                part = basis.conj() @ w
                w, total = w - part @ basis, total + part
            length = td.sqrt((td.abs(w) ** 2).sum())
            column = td.concatenate([total, length.astype(total.dtype).reshape(1)]).get()
            self.t[: k + 1, k] = column[:-1]
            self.t[k, : k + 1] = column[:-1].conj()
            self.t[k, k] = self.t[k, k].real
            self.beta = float(column[-1].real)
            scale = numpy.finfo(w.dtype).eps * max(abs(self.t[: k + 1, : k + 1]).max(), numpy.finfo(w.dtype).tiny)
            if self.beta <= scale:  # the space is invariant: continue with another vector
                self.beta = 0.0
                w = self._other(k)
                length = td.sqrt((td.abs(w) ** 2).sum())
            self.v[k + 1] = w / length

    def _other(self, k):
        draws = numpy.random.default_rng(k).standard_normal(self.A.shape[0])
        w, basis = asarray(draws, device=self.v.device).astype(self.v.dtype), self.v[: k + 1]
        for _ in range(2):
            w = w - (basis.conj() @ w) @ basis
        return w

    def restart(self, s, values):
        """Keep the combinations s of the vectors, which are eigenvectors of t with these values, and the last vector.
        """
        k = len(values)
        last = self.v[self.count].copy()
        self.v[:k] = asarray(s.T.astype(self.v.dtype), device=self.v.device) @ self.v[: self.count]
        self.v[k] = last
        self.t[:] = 0
        self.t[range(k), range(k)] = values
        return k


def _chosen(values, k, which):
    """The indices of the k eigenvalues asked for, in ascending order of value."""
    order = numpy.argsort(abs(values) if which == "LM" else values if which == "LA" else -values, kind="stable")[-k:]
    return order[numpy.argsort(values[order], kind="stable")]


def eigsh(
    A, k=6, M=None, sigma=None, which="LM", v0=None, ncv=None, maxiter=None, tol=0, return_eigenvectors=True, **more
):
    """k eigenvalues in ascending order, and eigenvectors, of a Hermitian matrix or operator.

    which: "LM" (largest absolute values), "LA" (largest) and "SA" (smallest) run a Lanczos process on the device with
    ncv vectors. It restarts at most maxiter times, until residuals are below tol (0: the precision) times the
    eigenvalue. For other values of which, and with M, sigma and further arguments, SciPy's ARPACK computes on the host.
    Raises ValueError if A is not square or k is not below its size.
    """
    if M is not None or sigma is not None or which not in _WHICH or more:
        return hosts.call("eigsh", A, k=k, M=M, sigma=sigma, which=which, v0=v0, ncv=ncv, maxiter=maxiter, tol=tol,
                          return_eigenvectors=return_eigenvectors, **more)  # fmt: skip
    A = aslinearoperator(A)
    n = A.shape[0]
    if n != A.shape[1]:
        raise ValueError(f"expected square matrix (shape={A.shape})")
    if not 0 < k < n:
        raise ValueError(f"k={k} must be greater than 0 and less than n={n}")
    dtype = A.dtype if A.dtype.kind in "fc" else numpy.dtype("float64")
    count = min(n, max(2 * k + 1, 20) if ncv is None else ncv)
    if not k < count:
        raise ValueError(f"ncv must be k<ncv<=n, ncv={ncv}")
    device = A.A.device if hasattr(A, "A") else None
    start = asarray(numpy.random.default_rng(0).standard_normal(n) if v0 is None else v0, device=device).astype(dtype)
    process, known = _Lanczos(A, count, start.reshape(-1)), 0
    tol = max(float(tol), numpy.finfo(dtype).eps)
    for _ in range(10 * n if maxiter is None else maxiter):
        process.extend(known)
        values, vectors = numpy.linalg.eigh(process.t)
        at = _chosen(values, k, which)
        missing = process.beta * abs(vectors[-1, at])
        if (missing <= tol * numpy.maximum(abs(values[at]), numpy.finfo(dtype).eps ** (2 / 3))).all():
            break
        keep = _chosen(values, min(k + (count - k) // 2, count - 1), which)
        known = process.restart(vectors[:, keep], values[keep])
        _couple(process, vectors[-1, keep], known)
    real = numpy.dtype(dtype.char.lower())
    w = asarray(values[at].astype(real), device=process.v.device)
    if not return_eigenvectors:
        return w
    s = asarray(vectors[:, at].T.astype(dtype), device=process.v.device)
    return w, (s @ process.v[:count]).T


def _couple(process, last, known):
    """Couple the kept vectors of a restarted process to the next one, which gives t the form of an arrow. extend
    computes these numbers again as that vector's column."""
    process.t[known, :known] = process.beta * last
    process.t[:known, known] = (process.beta * last).conj()


class _Gram(LinearOperator):
    """The operator A^H A or A A^H."""

    def __init__(self, A, wide):
        n = A.shape[0] if wide else A.shape[1]
        super().__init__(A.dtype, (n, n))
        self.first, self.second = (A.rmatvec, A.matvec) if wide else (A.matvec, A.rmatvec)

    def _matvec(self, x):
        return self.second(self.first(x))


def svds(
    A,
    k=6,
    ncv=None,
    tol=0,
    which="LM",
    v0=None,
    maxiter=None,
    return_singular_vectors=True,
    solver="arpack",
    rng=None,
    **more,
):
    """k singular values in ascending order with vectors: u, s, vh. return_singular_vectors may ask for s alone, or for
    one side by "u" or "vh"; the other side is None.

    which "LM", the largest: eigsh of the product of A with its conjugate transpose, so values below sqrt(eps) times the
    largest are noise. "SM" and further arguments: SciPy on the host.
    """
    if which != "LM" or solver != "arpack" or more:
        return hosts.call("svds", A, k=k, ncv=ncv, tol=tol, which=which, v0=v0, maxiter=maxiter,
                          return_singular_vectors=return_singular_vectors, solver=solver, **more)  # fmt: skip
    A = aslinearoperator(A)
    m, n = A.shape
    if not 0 < k < min(m, n):
        raise ValueError(f"k={k} must be greater than 0 and less than min(A.shape)={min(m, n)}")
    wide = m < n
    gram = _Gram(A, wide)
    gram.A = A.A if hasattr(A, "A") else asarray([])
    w, x = eigsh(gram, k, v0=v0, ncv=ncv, tol=tol**2, maxiter=maxiter)
    s = td.sqrt(td.maximum(w, 0))
    if return_singular_vectors is False:
        return s
    other = (A.rmatmat if wide else A.matmat)(x)
    other = td.linalg.qr(other / td.where(s > 0, s, 1))[0] * 1
    other = other * _signs(other, (A.rmatmat if wide else A.matmat)(x))
    u, vh = (x, other.conj().T) if wide else (other, x.conj().T)
    if return_singular_vectors in ("u", "vh"):
        return (u, s, None) if return_singular_vectors == "u" else (None, s, vh)
    return u, s, vh


def _signs(q, y):
    """Numbers of absolute value 1 that turn the columns of q into the directions of y's columns."""
    p = (q.conj() * y).sum(0)
    size = td.abs(p)
    return td.where(size > 0, p / td.where(size > 0, size, 1), 1)
