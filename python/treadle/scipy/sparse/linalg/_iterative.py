"""Iterative solvers. Vectors stay on the device. An iteration fetches one number, the norm that decides whether it
ends; GMRES also fetches a column of a small matrix.

They are called alike: x, info = solver(A, b, x0=None, *, rtol=1e-5, atol=0.0, maxiter=None, M=None, callback=None). A:
a matrix, dense or sparse, or a LinearOperator. x0: the start. M: an approximate inverse of A. callback(x) is called
after each iteration. A solver ends when norm(b - A x) <= max(rtol norm(b), atol). info: 0 then, the number of
iterations if they did not suffice, or a negative number if the method broke down. CuPy's name tol stands for rtol.
"""

import numpy

import treadle as td

from ...._core import asarray
from ...._numpy._create._filled import zeros_like
from ._operator import IdentityOperator, aslinearoperator


def system(A, M, x0, b):
    """The operators of A and M, and the start and b as vectors of one dtype. Raises ValueError if shapes do not fit."""
    A = aslinearoperator(A)
    if A.shape[0] != A.shape[1]:
        raise ValueError(f"expected square matrix, but got shape={A.shape}")
    n, b = A.shape[0], asarray(b)
    if b.shape not in ((n, 1), (n,)):
        raise ValueError(f"shapes of A {A.shape} and b {b.shape} are incompatible")
    own = [numpy.dtype(t) if numpy.dtype(t).char in "fdFD" else numpy.dtype("float64") for t in (A.dtype, b.dtype)]
    dtype = numpy.result_type(*own)
    b = b.astype(dtype).reshape(-1)
    M = IdentityOperator(A.shape, A.dtype) if M is None else aslinearoperator(M)
    if M.shape != A.shape:
        raise ValueError("matrix and preconditioner have different shapes")
    if x0 is None:
        return A, M, zeros_like(b), b
    x = M.matvec(b) if isinstance(x0, str) and x0 == "Mb" else asarray(x0)
    if x.shape not in ((n, 1), (n,)):
        raise ValueError(f"shapes of A {A.shape} and x0 {x.shape} are incompatible")
    return A, M, x.astype(dtype).reshape(-1).copy(), b


def norm(x):
    """The length of a vector, fetched."""
    return float(td.sqrt((td.abs(x) ** 2).sum()))


def dot(x, y):
    """The product of x, conjugated, with y: an array without axes."""
    return td.vdot(x, y)


def bound(name, size, rtol, atol, tol):
    """The residual to reach. Raises ValueError if atol is "legacy"."""
    if atol == "legacy":
        raise ValueError(f"{name} called with 'atol' set to 'legacy'; give a number")
    return max(float(atol or 0.0), float(rtol if tol is None else tol) * size)


def _starts(A, x, b, x0):
    """The residual of the start x."""
    return b.copy() if x0 is None else b - A.matvec(x)


def _begin(name, A, M, x0, b, rtol, atol, tol, maxiter):
    """A, M, x, b, the residual, the norm that it has to reach, and the number of iterations allowed. That is 0 if b is
    0, because then x is 0, too."""
    A, M, x, b = system(A, M, x0, b)
    size = norm(b)
    goal = bound(name, size, rtol, atol, tol)
    if size == 0:
        return A, M, b, b, b, goal, 0
    return A, M, x, b, _starts(A, x, b, x0), goal, 10 * len(b) if maxiter is None else maxiter


def _judged(r, rho, goal, omega=None):
    """info if a solver has to end before its next step, else None. r: the residual. rho, omega: the numbers by which
    the step divides."""
    asked = [td.sqrt((td.abs(r) ** 2).sum()), td.abs(rho)] + ([] if omega is None else [td.abs(omega)])
    length, *divisors = td.stack(asked).tolist()
    if length < goal:
        return 0
    small = numpy.finfo(r.dtype).eps ** 2
    return next((info for info, d in zip((-10, -11), divisors) if d < small), None)


def cg(A, b, x0=None, *, rtol=1e-5, atol=0.0, maxiter=None, M=None, callback=None, tol=None):
    """Conjugate gradients, for Hermitian positive definite A."""
    A, M, x, b, r, goal, maxiter = _begin("cg", A, M, x0, b, rtol, atol, tol, maxiter)
    p = before = None
    for _ in range(maxiter):
        if norm(r) < goal:
            return x, 0
        z = M.matvec(r)
        rho = dot(r, z)
        p = z if p is None else z + (rho / before) * p
        q = A.matvec(p)
        alpha = rho / dot(p, q)
        x, r, before = x + alpha * p, r - alpha * q, rho
        td.evaluate(x, r, p)
        if callback:
            callback(x)
    return x, maxiter


def cgs(A, b, x0=None, *, rtol=1e-5, atol=0.0, maxiter=None, M=None, callback=None, tol=None):
    """Conjugate gradients squared, for any square A. info -10: breakdown, because the residual is orthogonal to the
    first one."""
    A, M, x, b, r, goal, maxiter = _begin("cgs", A, M, x0, b, rtol, atol, tol, maxiter)
    first, p, q, before = r, None, None, None
    for _ in range(maxiter):
        rho = dot(first, r)
        if (info := _judged(r, rho, goal)) is not None:
            return x, info
        u = r if p is None else r + (rho / before) * q
        p = u if p is None else u + (rho / before) * (q + (rho / before) * p)
        v = A.matvec(M.matvec(p))
        alpha = rho / dot(first, v)
        q = u - alpha * v
        step = M.matvec(u + q)
        x, before = x + alpha * step, rho
        r = b - A.matvec(x)  # computed anew, since the recurrence drifts away from it
        td.evaluate(x, r, p, q)
        if callback:
            callback(x)
    return x, maxiter


def bicg(A, b, x0=None, *, rtol=1e-5, atol=0.0, maxiter=None, M=None, callback=None, tol=None):
    """Biconjugate gradients, for any square A whose conjugate transpose can be applied. info -10: breakdown."""
    A, M, x, b, r, goal, maxiter = _begin("bicg", A, M, x0, b, rtol, atol, tol, maxiter)
    s, p, t, before = r, None, None, None
    for _ in range(maxiter):
        z, w = M.matvec(r), M.rmatvec(s)
        rho = dot(s, z)
        if (info := _judged(r, rho, goal)) is not None:
            return x, info
        p = z if p is None else z + (rho / before) * p
        t = w if t is None else w + td.conj(rho / before) * t
        q, u = A.matvec(p), A.rmatvec(t)
        alpha = rho / dot(t, q)
        x, r, s, before = x + alpha * p, r - alpha * q, s - td.conj(alpha) * u, rho
        td.evaluate(x, r, s, p, t)
        if callback:
            callback(x)
    return x, maxiter


def bicgstab(A, b, x0=None, *, rtol=1e-5, atol=0.0, maxiter=None, M=None, callback=None, tol=None):
    """Biconjugate gradients, stabilised, for any square A. info -10, -11: breakdown."""
    A, M, x, b, r, goal, maxiter = _begin("bicgstab", A, M, x0, b, rtol, atol, tol, maxiter)
    first, p, v, before, alpha, omega = r, None, None, None, None, None
    for _ in range(maxiter):
        rho = dot(first, r)
        if (info := _judged(r, rho, goal, omega)) is not None:
            return x, info
        p = r if p is None else r + (rho / before) * (alpha / omega) * (p - omega * v)
        turned = M.matvec(p)
        v = A.matvec(turned)
        alpha = rho / dot(first, v)
        s = r - alpha * v
        x = x + alpha * turned
        if norm(s) < goal:
            return x, 0
        other = M.matvec(s)
        t = A.matvec(other)
        omega = dot(t, s) / dot(t, t)
        x, r, before = x + omega * other, s - omega * t, rho
        td.evaluate(x, r, p, v)
        if callback:
            callback(x)
    return x, maxiter


def minres(
    A, b, x0=None, *, rtol=1e-5, shift=0.0, maxiter=None, M=None, callback=None, show=False, check=False, tol=None
):
    """Minimal residuals of A - shift I, for a symmetric A that need not be definite.

    It ends by SciPy's tests of estimates that the Lanczos process provides. show and check are accepted.
    """
    A, M, x, b = system(A, M, x0, b)
    rtol = rtol if tol is None else tol
    maxiter = 5 * len(b) if maxiter is None else maxiter
    r1 = b.copy() if x0 is None else b - A.matvec(x)
    y = M.matvec(r1)
    beta1 = float(dot(r1, y).real)
    if beta1 < 0:
        raise ValueError("indefinite preconditioner")
    if beta1 == 0:
        return x, 0
    if norm(b) == 0:
        return b, 0
    beta1 = beta1**0.5
    state = _Minres(beta1, numpy.finfo(x.dtype).eps, rtol)
    r2, w, w2, old = r1, zeros_like(b), zeros_like(b), 0.0
    for turn in range(1, maxiter + 1):
        beta = state.beta
        v = y * (1.0 / beta)
        y = A.matvec(v) - shift * v
        if turn >= 2:
            y = y - (beta / old) * r1
        alpha = dot(v, y).real
        y = y - (alpha / beta) * r2
        r1, r2 = r2, y
        y = M.matvec(r2)
        fetched = td.stack([alpha, dot(r2, y).real]).tolist()
        old = beta
        if fetched[1] < 0:
            raise ValueError("non-symmetric matrix")
        phi, gamma, delta, before = state.step(fetched[0], fetched[1] ** 0.5)
        w1, w2 = w2, w
        w = (v - before * w1 - delta * w2) * (1.0 / gamma)
        x = x + phi * w
        td.evaluate(x, w, r2, y)
        done = state.done(norm(x), turn)
        if callback:
            callback(x)
        if done:
            return x, 0
    return x, maxiter


class _Minres:
    """The plane rotations of minres and its estimates, on the host."""

    def __init__(self, beta1, eps, rtol):
        self.beta, self.beta1, self.eps, self.rtol = beta1, beta1, eps, rtol
        self.bar, self.epsilon, self.phi, self.c, self.s = 0.0, 0.0, beta1, -1.0, 0.0
        self.squares, self.greatest, self.least, self.rhs1, self.rhs2 = 0.0, 0.0, numpy.finfo(float).max, beta1, 0.0
        self.alone = False

    def step(self, alpha, beta):
        """Add a row of the tridiagonal matrix. Returns phi, gamma, delta and the previous epsilon."""
        if self.squares == 0 and beta / self.beta1 <= 10 * self.eps:
            self.alone = True  # the start is an eigenvector
        self.squares += alpha**2 + self.beta**2 + beta**2
        before = self.epsilon
        delta = self.c * self.bar + self.s * alpha
        bar = self.s * self.bar - self.c * alpha
        self.epsilon, self.bar = self.s * beta, -self.c * beta
        self.root = (bar**2 + self.bar**2) ** 0.5
        gamma = max((bar**2 + beta**2) ** 0.5, self.eps)
        self.c, self.s = bar / gamma, beta / gamma
        phi, self.phi = self.c * self.phi, self.s * self.phi
        self.greatest, self.least = max(self.greatest, gamma), min(self.least, gamma)
        z = self.rhs1 / gamma
        self.rhs1, self.rhs2 = self.rhs2 - delta * z, -self.epsilon * z
        self.beta = beta
        return phi, gamma, delta, before

    def done(self, length, turn):
        """Whether one of SciPy's tests ends the solver. length: that of x."""
        whole = self.squares**0.5
        first = numpy.inf if length == 0 or whole == 0 else self.phi / (whole * length)
        second = numpy.inf if whole == 0 else self.root / whole
        condition = self.greatest / self.least
        return bool(
            self.alone
            or 1 + second <= 1
            or 1 + first <= 1
            or condition >= 0.1 / self.eps
            or whole * length * self.eps >= self.beta1
            or second <= self.rtol
            or first <= self.rtol
        )


def gmres(
    A,
    b,
    x0=None,
    *,
    rtol=1e-5,
    atol=0.0,
    restart=None,
    maxiter=None,
    M=None,
    callback=None,
    callback_type=None,
    tol=None,
):
    """Generalised minimal residuals, for any square A. It restarts after `restart` (20) vectors; maxiter counts such
    cycles.

    callback_type: "x" calls callback(x) after each cycle; "pr_norm" and "legacy" call callback(relative residual) after
    each vector. "legacy", the default, counts vectors in maxiter.
    """
    if callback_type not in (None, "x", "pr_norm", "legacy"):
        raise ValueError(f"Unknown callback_type: {callback_type!r}")
    kind = None if callback is None else callback_type or "legacy"
    A, M, x, b = system(A, M, x0, b)
    size = norm(b)
    goal = bound("gmres", size, rtol, atol, tol)
    if size == 0:
        return b, 0
    n = len(b)
    maxiter, restart = 10 * n if maxiter is None else maxiter, min(restart or 20, n)
    r, first, factor, vectors, length = _starts(A, x, b, x0), norm(M.matvec(b)), 1.0, 0, None
    limit = first * min(factor, goal / size)
    for turn in range(maxiter):
        if turn == 0 and norm(r) < goal:
            return x, 0
        cycle = _Cycle(A, M, M.matvec(r), restart)
        while cycle.count < restart:
            residual = cycle.vector()
            vectors += 1
            if kind in ("pr_norm", "legacy"):
                callback(residual / size)
            if kind == "legacy" and vectors == maxiter or residual <= limit or cycle.broken:
                break
        x = x + cycle.step()
        r = b - A.matvec(x)
        td.evaluate(x, r)
        length = norm(r)
        if kind == "x":
            callback(x)
        if kind == "legacy" and vectors == maxiter:
            break
        if length <= goal or cycle.broken:
            break
        if residual <= limit:
            factor = max(numpy.finfo(x.dtype).eps, 0.25 * factor)
        else:
            factor = min(1.0, 1.5 * factor)
        limit = residual * min(factor, goal / length)
    return x, 0 if length is not None and length <= goal else maxiter


class _Cycle:
    """The orthogonal vectors of a Krylov space, on the device, and their small least squares problem, on the host."""

    def __init__(self, A, M, start, most):
        self.A, self.M, self.count, self.broken = A, M, 0, False
        self.size = norm(start)
        self.v = td.zeros((most + 1, len(start)), dtype=start.dtype, device=start.device)
        self.v[0] = start * (1.0 / self.size) if self.size else start
        self.h = numpy.zeros((most + 1, most), numpy.result_type(start.dtype, "float64"))

    def vector(self):
        """Add a vector. Returns the residual of the best combination."""
        k = self.count
        known, w = self.v[: k + 1], self.M.matvec(self.A.matvec(self.v[k]))
        before = td.sqrt((td.abs(w) ** 2).sum())
        total = 0
        for _ in range(2):  # twice, since the first pass leaves rounding errors
            part = known.conj() @ w
            w, total = w - part @ known, total + part
        length = td.sqrt((td.abs(w) ** 2).sum())
        column = td.concatenate([total, td.stack([length, before]).astype(total.dtype)]).get()
        self.h[: k + 2, k] = column[: k + 2]
        self.count += 1
        if abs(column[k + 1]) <= numpy.finfo(w.dtype).eps * abs(column[k + 2]):
            self.broken, self.h[k + 1, k] = True, 0
        else:
            self.v[k + 1] = w * (1.0 / length)
        return self._residual()

    def _residual(self):
        k = self.count
        right = numpy.zeros(k + 1, self.h.dtype)
        right[0] = self.size
        self.y = numpy.linalg.lstsq(self.h[: k + 1, :k], right, rcond=None)[0]
        return float(numpy.linalg.norm(right - self.h[: k + 1, :k] @ self.y))

    def step(self):
        """Move to the best combination of the vectors."""
        y = asarray(self.y.astype(self.v.dtype), device=self.v.device)
        return y @ self.v[: self.count]
