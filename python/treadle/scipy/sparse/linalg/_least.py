"""Least squares by the Golub-Kahan process: LSQR after Paige and Saunders, LSMR after Fong and Saunders.

The two vectors and the solution stay on the device. The bidiagonal matrix and all estimates are numbers on the host. An
iteration fetches one array of two or three norms.
"""

import math

import numpy

import treadle as td

from ...._core import asarray
from ._operator import aslinearoperator


def _length(x):
    return td.sqrt((td.abs(x) ** 2).sum())


def _unit(x, length):
    """x scaled to length 1. x itself if its length is 0. Nothing is fetched."""
    return x * td.where(length > 0, 1 / length, 1.0).astype(x.real.dtype)


def _rotation(a, b):
    """c, s and r with c a + s b = r and s a = c b."""
    r = math.hypot(a, b)
    return (a / r, b / r, r) if r else (1.0, 0.0, 0.0)


class _Process:
    """The vectors u and v of the bidiagonalisation, both of length 1, and the numbers alpha and beta."""

    def __init__(self, A, b, x0):
        self.A = aslinearoperator(A)
        b = td.atleast_1d(asarray(b))
        b = b.reshape(-1) if b.ndim > 1 else b
        self.dtype = numpy.result_type(self.A.dtype, b.dtype, "float32" if b.dtype.itemsize < 8 else "float64")
        self.b = b.astype(self.dtype)
        u = self.b
        if x0 is None:
            self.x = td.zeros(self.A.shape[1], dtype=self.dtype, device=b.device)
        else:
            self.x = asarray(x0).astype(self.dtype).reshape(-1).copy()
            u = u - self.A.matvec(self.x)
        beta = _length(u)
        self.u = _unit(u, beta)
        v = self.A.rmatvec(self.u)
        alpha = _length(v)
        self.v = _unit(v, alpha)
        self.size, self.beta, self.alpha = td.stack([_length(self.b), beta, alpha]).tolist()
        if self.beta == 0:
            self.alpha = 0.0

    def turn(self, *more):
        """Compute the next u and v. Fetches and returns alpha, beta and more."""
        u = self.A.matvec(self.v) - self.alpha * self.u
        beta = _length(u)
        self.u = _unit(u, beta)
        v = self.A.rmatvec(self.u) - beta * self.v
        alpha = _length(v)
        self.v = _unit(v, alpha)
        self.beta, self.alpha, *rest = td.stack([beta, alpha, *more]).tolist()
        return rest


def _stop(turn, most, tests, tolerances):
    """SciPy's number of the reason to end, or 0 to go on. tests: of the residual, of its product with A, of the
    condition, and of the residual at this machine's precision."""
    test1, test2, test3, t1 = tests
    ctol, atol, rtol = tolerances
    reason = 7 if turn >= most else 0
    for number, holds in (
        (6, 1 + test3 <= 1),
        (5, 1 + test2 <= 1),
        (4, 1 + t1 <= 1),
        (3, test3 <= ctol),
        (2, test2 <= atol),
        (1, test1 <= rtol),
    ):
        reason = number if holds else reason
    return reason


def lsqr(A, b, damp=0.0, atol=1e-6, btol=1e-6, conlim=1e8, iter_lim=None, show=False, calc_var=False, x0=None):
    """The solution x of least length of the damped least squares problem: it minimises norm(b - A x)**2 + damp**2
    norm(x - x0)**2.

    Returns x, istop, itn, r1norm, r2norm, anorm, acond, arnorm, xnorm, var, as SciPy does. show is accepted.
    """
    p = _Process(A, b, x0)
    most = 2 * p.A.shape[1] if iter_lim is None else iter_lim
    x, w, var = p.x, p.v, td.zeros(p.A.shape[1], device=p.b.device)
    e = _LsqrEstimates(p, damp, 1 / conlim if conlim > 0 else 0.0, atol, btol)
    if e.arnorm == 0:
        return x, 0, 0, e.r1, e.r2, 0.0, 0.0, e.arnorm, 0.0, var
    turn = reason = 0
    while turn < most and not reason:
        turn += 1
        alpha = p.alpha
        (square,) = p.turn((td.abs(w) ** 2).sum())
        t1, t2, rho = e.step(alpha, p.alpha, p.beta, square)
        var = var + td.abs(w / rho) ** 2 if calc_var else var
        x, w = x + t1 * w, p.v + t2 * w
        td.evaluate(x, w, p.u, p.v)
        reason = e.reason(turn, most)
    return x, reason, turn, e.r1, e.r2, e.anorm, e.acond, e.arnorm, e.xnorm, var


class _LsqrEstimates:
    """The plane rotations of lsqr, and the norms that follow from them."""

    def __init__(self, p, damp, ctol, atol, btol):
        self.damp, self.tolerances, self.size = damp, (ctol, atol, btol), p.size
        self.rhobar, self.phibar, self.r1, self.r2, self.arnorm = p.alpha, p.beta, p.beta, p.beta, p.alpha * p.beta
        self.anorm = self.acond = self.ddnorm = self.xnorm = self.xxnorm = self.z = self.res2 = self.sn2 = 0.0
        self.cs2 = -1.0

    def step(self, before, alpha, beta, square):
        """One step, from alpha before and after, beta, and the squared length of w. Returns the factors of the steps of
        x and w, and rho."""
        if beta > 0:
            self.anorm = math.sqrt(self.anorm**2 + before**2 + beta**2 + self.damp**2)
        psi, rhobar1 = 0.0, self.rhobar
        if self.damp > 0:
            rhobar1 = math.hypot(self.rhobar, self.damp)
            psi = self.damp / rhobar1 * self.phibar
            self.phibar *= self.rhobar / rhobar1
        cs, sn, rho = _rotation(rhobar1, beta)
        theta, phi = sn * alpha, cs * self.phibar
        self.rhobar, self.phibar = -cs * alpha, sn * self.phibar
        self.ddnorm += square / rho**2
        delta, gambar, tau = self.sn2 * rho, -self.cs2 * rho, sn * phi
        right = phi - delta * self.z
        self.xnorm = math.sqrt(self.xxnorm + (right / gambar) ** 2)
        gamma = math.hypot(gambar, theta)
        self.cs2, self.sn2, self.z = gambar / gamma, theta / gamma, right / gamma
        self.xxnorm += self.z**2
        self.acond = self.anorm * math.sqrt(self.ddnorm)
        self.res2 += psi**2
        self.r2 = math.sqrt(self.phibar**2 + self.res2)
        self.arnorm = alpha * abs(tau)
        square = self.r2**2 - self.damp**2 * self.xxnorm
        self.r1 = math.copysign(math.sqrt(abs(square)), square) if self.damp > 0 else self.r2
        return phi / rho, -theta / rho, rho

    def reason(self, turn, most):
        eps, (ctol, atol, btol) = numpy.finfo(float).eps, self.tolerances
        test1 = self.r2 / self.size
        tests = test1, self.arnorm / (self.anorm * self.r2 + eps), 1 / (self.acond + eps)
        scale = self.anorm * self.xnorm / self.size
        return _stop(turn, most, (*tests, test1 / (1 + scale)), (ctol, atol, btol + atol * scale))


def lsmr(A, b, damp=0.0, atol=1e-6, btol=1e-6, conlim=1e8, maxiter=None, show=False, x0=None):
    """The least squares solution of A x = b, as lsqr. The product of A with its residual shrinks in every iteration.

    Returns x, istop, itn, normr, normar, norma, conda, normx, as SciPy does. show is accepted.
    """
    p = _Process(A, b, x0)
    most = min(p.A.shape) if maxiter is None else maxiter
    e = _LsmrEstimates(p, damp, 1 / conlim if conlim > 0 else 0.0, atol, btol)
    x, h, hbar = p.x, p.v, td.zeros_like(p.x)
    if e.normar == 0:
        return x, 0, 0, e.normr, e.normar, e.norma, 1.0, 0.0
    if p.size == 0:
        return td.zeros_like(x), 0, 0, e.normr, e.normar, e.norma, 1.0, 0.0
    turn = reason = 0
    while turn < most and not reason:
        turn += 1
        p.turn()
        a, b, c = e.step(p.alpha, p.beta)
        hbar = h + a * hbar
        x = x + b * hbar
        h = p.v + c * h
        td.evaluate(x, h, hbar, p.u, p.v)
        reason = e.reason(turn, most, float(_length(x)))
    return x, reason, turn, e.normr, e.normar, e.norma, e.conda, e.normx


class _LsmrEstimates:
    """The plane rotations of lsmr, and the norms that follow from them."""

    def __init__(self, p, damp, ctol, atol, btol):
        self.damp, self.tolerances, self.size = damp, (ctol, atol, btol), p.size
        self.zetabar, self.alphabar, self.rho, self.rhobar = p.alpha * p.beta, p.alpha, 1.0, 1.0
        self.cbar, self.sbar, self.betadd, self.betad, self.rhodold = 1.0, 0.0, p.beta, 0.0, 1.0
        self.tau = self.theta = self.zeta = self.d = self.most = self.normx = 0.0
        self.squares, self.least, self.turns = p.alpha**2, 1e100, 0
        self.norma, self.normr, self.normar, self.conda = p.alpha, p.beta, p.alpha * p.beta, 1.0

    def step(self, alpha, beta):
        """One step, from alpha and beta. Returns the factors of hbar, of hbar in x, and of h."""
        self.turns += 1
        chat, shat, alphahat = _rotation(self.alphabar, self.damp)
        rho_before, (c, s, self.rho) = self.rho, _rotation(alphahat, beta)
        theta, self.alphabar = s * alpha, c * alpha
        bar_before, zeta_before, thetabar = self.rhobar, self.zeta, self.sbar * self.rho
        temp = self.cbar * self.rho
        self.cbar, self.sbar, self.rhobar = _rotation(temp, theta)
        self.zeta, self.zetabar = self.cbar * self.zetabar, -self.sbar * self.zetabar
        factors = (
            -thetabar * self.rho / (rho_before * bar_before),
            self.zeta / (self.rho * self.rhobar),
            -theta / self.rho,
        )
        self._residual(c, s, chat, shat, thetabar, zeta_before)
        self.squares += beta**2
        self.norma = math.sqrt(self.squares)
        self.squares += alpha**2
        self.most = max(self.most, bar_before)
        self.least = min(self.least, bar_before) if self.turns > 1 else self.least
        self.conda = max(self.most, temp) / min(self.least, temp)
        self.normar = abs(self.zetabar)
        return factors

    def _residual(self, c, s, chat, shat, thetabar, zeta_before):
        acute, check = chat * self.betadd, -shat * self.betadd
        hat, self.betadd = c * acute, -s * acute
        theta_before = self.theta
        ctilde, stilde, rhotilde = _rotation(self.rhodold, thetabar)
        self.theta, self.rhodold = stilde * self.rhobar, ctilde * self.rhobar
        self.betad = -stilde * self.betad + ctilde * hat
        self.tau = (zeta_before - theta_before * self.tau) / rhotilde
        last = (self.zeta - self.theta * self.tau) / self.rhodold
        self.d += check**2
        self.normr = math.sqrt(self.d + (self.betad - last) ** 2 + self.betadd**2)

    def reason(self, turn, most, length):
        self.normx, (ctol, atol, btol) = length, self.tolerances
        test1, product = self.normr / self.size, self.norma * self.normr
        test2 = self.normar / product if product else math.inf
        scale = self.norma * length / self.size
        return _stop(turn, most, (test1, test2, 1 / self.conda, test1 / (1 + scale)), (ctol, atol, btol + atol * scale))
