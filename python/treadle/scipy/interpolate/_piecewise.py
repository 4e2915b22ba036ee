"""Piecewise polynomials in the power basis and in Bernstein's. One kernel evaluates all points: it finds a point's
interval, reads its coefficients and sums.
"""

import functools
import math

import numpy

import treadle as td

from ..._core import asarray, ndarray, zeros
from .. import _table
from ._bspline import BSpline
from ._support import axes_moved, host, scipys, take


class Piecewise:
    """The base of PPoly and BPoly. c: coefficients of shape (k, m, …) for m intervals; x: their m + 1 breakpoints."""

    def __init__(self, c, x, extrapolate=None, axis=0):
        device = next((a.device for a in (c, x) if isinstance(a, ndarray)), None)
        c, x = asarray(c, device=device), asarray(x, device=device).astype("float64")
        c = c.astype("complex128" if c.dtype.kind == "c" else "float64")
        self.extrapolate = (
            True if extrapolate is None else extrapolate if extrapolate == "periodic" else bool(extrapolate)
        )
        if c.ndim < 2:
            raise ValueError("Coefficients array must be at least 2-dimensional.")
        if not 0 <= axis < c.ndim - 1:
            raise ValueError(f"axis={axis} must be between 0 and {c.ndim - 1}")
        self.axis = axis
        if axis:
            c = td.moveaxis(c, axis + 1, 0)
            c = td.moveaxis(c, axis + 1, 0)
        if x.ndim != 1:
            raise ValueError("x must be 1-dimensional")
        if x.size < 2:
            raise ValueError("at least 2 breakpoints are needed")
        if c.shape[0] == 0:
            raise ValueError("polynomial must be at least of order 0")
        if c.shape[1] != x.size - 1:
            raise ValueError("number of coefficients != len(x)-1")
        steps = x[1:] - x[:-1]
        rising, falling = td.stack([(steps >= 0).all(), (steps <= 0).all()]).tolist()
        if not rising and not falling:
            raise ValueError("`x` must be strictly increasing or decreasing.")
        self.c, self.x, self._falls = c, x, not rising

    @classmethod
    def construct_fast(cls, c, x, extrapolate=None, axis=0):
        """Make an object of c and x without checking them."""
        self = object.__new__(cls)
        self.c, self.x, self.axis = asarray(c), asarray(x), axis
        self.extrapolate = True if extrapolate is None else extrapolate
        self._falls = bool(self.x[0] > self.x[-1])
        return self

    @classmethod
    def _of(cls, theirs):
        """Convert SciPy's object to one on the current device."""
        return cls.construct_fast(asarray(theirs.c), asarray(theirs.x), theirs.extrapolate, theirs.axis)

    def _like(self, c):
        """The piecewise polynomial of coefficients c on the same intervals."""
        base = PPoly if isinstance(self, PPoly) else BPoly
        return base.construct_fast(c, self.x, self.extrapolate, self.axis)

    def _scipy_(self):
        base = "PPoly" if isinstance(self, PPoly) else "BPoly"
        cls = getattr(scipys(), base)
        return cls.construct_fast(self.c.get(), self.x.get(), self.extrapolate, self.axis)

    def _find(self, x, extrapolate):
        """(the points, mapped into the period of a periodic one; the interval of each; a mask of those outside, or
        None)."""
        if extrapolate == "periodic":
            x, extrapolate = self.x[0] + (x - self.x[0]) % (self.x[-1] - self.x[0]), False
        if self._falls:
            at = td.searchsorted(-self.x, -x, "right") - 1
        else:
            at = td.searchsorted(self.x, x, "right") - 1
        at = td.clip(at, 0, self.x.size - 2)
        if extrapolate:
            return x, at, None
        low, high = (self.x[-1], self.x[0]) if self._falls else (self.x[0], self.x[-1])
        return x, at, ~((x >= low) & (x <= high))

    def __call__(self, x, nu=0, extrapolate=None):
        """Evaluate the polynomial, or its derivative of order nu, at x. Points outside give NaN unless it
        extrapolates."""
        extrapolate = self.extrapolate if extrapolate is None else extrapolate
        x = asarray(x, device=None if isinstance(x, ndarray) else self.c.device).astype("float64")
        rest = self.c.shape[2:]
        flat, at, outside = self._find(x.reshape(-1), extrapolate)
        c = self.c.reshape((*self.c.shape[:2], math.prod(rest)))
        r = self._values(c, flat, at, int(nu))
        if outside is not None:
            r = td.where(outside[:, None], self.c.dtype.type(numpy.nan), r)
        return axes_moved(r.reshape(x.shape + rest), x.ndim, self.axis)

    def _joined(self, c):
        """The constant for each interval that makes antiderivatives c, 0 at each start, continuous: the sum before
        it."""
        ends = self._like(c)._ends()
        before = td.concatenate(
            [zeros((1, *ends.shape[1:]), dtype=c.dtype, device=c.device), td.cumsum(ends, axis=0)[:-1]]
        )
        return before

    def integrate(self, a, b, extrapolate=None):
        """The integral from a to b, two numbers."""
        extrapolate = self.extrapolate if extrapolate is None else extrapolate
        sign = 1
        if b < a:
            a, b, sign = b, a, -1
        whole = self.antiderivative()
        if extrapolate == "periodic":
            ends = self.x[td.asarray([0, -1], device=self.x.device)].tolist()
            period = ends[1] - ends[0]
            turns, left = divmod(b - a, period)
            once = whole(ends[1], extrapolate=True) - whole(ends[0], extrapolate=True)
            start = ends[0] + (a - ends[0]) % period
            stop = start + left
            r = once * turns
            if stop <= ends[1]:
                r = r + whole(stop, extrapolate=True) - whole(start, extrapolate=True)
            else:
                first = whole(ends[1], extrapolate=True) - whole(start, extrapolate=True)
                r = (
                    r
                    + first
                    + whole(ends[0] + left + start - ends[1], extrapolate=True)
                    - whole(ends[0], extrapolate=True)
                )
            return sign * r
        return sign * (whole(b, extrapolate=extrapolate) - whole(a, extrapolate=extrapolate))

    def extend(self, c, x, right=None):
        """Add intervals after the last one or before the first."""
        c, x = asarray(c, device=self.c.device), asarray(x, device=self.c.device).astype("float64")
        if not x.size:
            return
        if c.ndim < 2 or c.shape[1] != x.size or c.shape[2:] != self.c.shape[2:]:
            raise ValueError(f"Shapes of self.c {self.c.shape} and c {c.shape} are incompatible")
        rising = bool(x[-1] >= x[0])
        if right is None:
            right = bool(x[0] >= self.x[-1]) if rising else bool(x[0] <= self.x[-1])
        degree = max(c.shape[0], self.c.shape[0])
        dtype = numpy.result_type(self.c.dtype, c.dtype)
        parts = [self._raised(p.astype(dtype), degree) for p in ((self.c, c) if right else (c, self.c))]
        self.c = td.concatenate(parts, axis=1)
        self.x = td.concatenate([self.x, x] if right else [x, self.x])


class PPoly(Piecewise):
    """PPoly(c, x, extrapolate=None, axis=0): the sum of c[j, i] (t - x[i]) ** (k - 1 - j), for t in interval i.

    extrapolate: True (None), False (NaN outside) or "periodic". Raises ValueError where shapes do not match, or x is
    not strictly monotonic.
    """

    def _values(self, c, x, at, nu):
        if nu < 0:
            raise ValueError("order of derivative cannot be negative")
        s, r = (x - take(self.x, at))[:, None], None
        for j in range(c.shape[0] - nu):
            degree = c.shape[0] - 1 - j
            term = take(c[j], at) * float(math.perm(degree, nu))
            r = term if r is None else r * s + term
        return zeros((x.size, c.shape[2]), dtype=c.dtype, device=c.device) if r is None else r

    def _ends(self):
        """The value at the end of each piece."""
        h = (self.x[1:] - self.x[:-1]).reshape((-1,) + (1,) * (self.c.ndim - 2))
        return functools.reduce(lambda r, c: r * h + c, [self.c[j] for j in range(self.c.shape[0])])

    def _raised(self, c, k):
        missing = k - c.shape[0]
        return td.concatenate([zeros((missing, *c.shape[1:]), dtype=c.dtype, device=c.device), c]) if missing else c

    def derivative(self, nu=1):
        """The derivative of order nu, as a PPoly. A negative nu gives an antiderivative."""
        if nu < 0:
            return self.antiderivative(-nu)
        k = self.c.shape[0] - nu
        if k <= 0:
            return self._like(td.zeros_like(self.c[:1]))
        factors = [float(math.perm(k - 1 - j + nu, nu)) for j in range(k)]
        factors = asarray(factors, device=self.c.device).reshape((-1,) + (1,) * (self.c.ndim - 1))
        return self._like(self.c[:k] * factors)

    def antiderivative(self, nu=1):
        """The antiderivative of order nu, as a PPoly that is 0 at the first breakpoint. A negative nu gives a
        derivative."""
        if nu <= 0:
            return self.derivative(-nu)
        c = self.c
        for _ in range(nu):
            k = c.shape[0]
            factors = asarray([1.0 / (k - j) for j in range(k)], device=c.device).reshape((-1,) + (1,) * (c.ndim - 1))
            c = td.concatenate([c * factors, td.zeros_like(c[:1])])
            c = td.concatenate([c[:-1], self._joined(c)[None]])
        r = self._like(c)
        r.extrapolate = False if self.extrapolate == "periodic" else self.extrapolate
        return r

    def solve(self, y=0.0, discontinuity=True, extrapolate=None):
        """The points where the value is y. SciPy finds them on the host."""
        return host("PPoly", "solve", self, (y, discontinuity, extrapolate), {})

    def roots(self, discontinuity=True, extrapolate=None):
        """The roots. SciPy finds them on the host."""
        return self.solve(0, discontinuity, extrapolate)

    @classmethod
    def from_spline(cls, tck, extrapolate=None):
        """The PPoly equal to a BSpline or (t, c, k), from its derivatives at the knots."""
        spline = tck if isinstance(tck, BSpline) else BSpline(*tck)
        t, k = spline.t, spline.k
        parts = [spline(t[:-1], nu=m, extrapolate=True) / math.factorial(m) for m in range(k, -1, -1)]
        return PPoly.construct_fast(td.stack(parts), t, spline.extrapolate if extrapolate is None else extrapolate)

    @classmethod
    def from_bernstein_basis(cls, bp, extrapolate=None):
        """The PPoly equal to a BPoly."""
        k = bp.c.shape[0] - 1
        h = (bp.x[1:] - bp.x[:-1]).reshape((-1,) + (1,) * (bp.c.ndim - 2))
        c = [0.0] * (k + 1)
        for a in range(k + 1):
            for s in range(a, k + 1):
                c[k - s] = c[k - s] + (-1) ** (a + s) * math.comb(k, a) * math.comb(k - a, s - a) * bp.c[a] / h**s
        return PPoly.construct_fast(td.stack(c), bp.x, bp.extrapolate if extrapolate is None else extrapolate, bp.axis)


class BPoly(Piecewise):
    """BPoly(c, x, extrapolate=None, axis=0): the sum of c[a, i] times Bernstein polynomials in interval i.

    extrapolate and errors are those of PPoly.
    """

    def _values(self, c, x, at, nu):
        k, low, high = c.shape[0] - 1, take(self.x, at), take(self.x, at + 1)
        h = high - low
        s = ((x - low) / h)[:, None]
        if nu > k:
            return zeros((x.size, c.shape[2]), dtype=c.dtype, device=c.device)
        level = [take(c[a], at) for a in range(k + 1)]
        for n in range(nu):
            level = [(b - a) * ((k - n) / h)[:, None] for a, b in zip(level, level[1:], strict=False)]
        while len(level) > 1:  # de Casteljau's algorithm
            level = [a * (1.0 - s) + b * s for a, b in zip(level, level[1:], strict=False)]
        return level[0]

    def _ends(self):
        return self.c[-1]

    def _raised(self, c, k):
        """The coefficients of the same polynomials in the Bernstein basis of k functions."""
        while c.shape[0] < k:
            n = c.shape[0]
            part = (td.arange(1, n, dtype="float64", device=c.device) / n).reshape((-1,) + (1,) * (c.ndim - 1))
            c = td.concatenate([c[:1], part * c[:-1] + (1 - part) * c[1:], c[-1:]])
        return c

    def derivative(self, nu=1):
        """The derivative of order nu, as a BPoly. A negative nu gives an antiderivative."""
        if nu < 0:
            return self.antiderivative(-nu)
        c, h = self.c, (self.x[1:] - self.x[:-1]).reshape((-1,) + (1,) * (self.c.ndim - 2))
        for _ in range(nu):
            k = c.shape[0] - 1
            c = (c[1:] - c[:-1]) * k / h if k > 0 else td.zeros_like(c)
        return self._like(c)

    def antiderivative(self, nu=1):
        """The antiderivative of order nu, as a BPoly that is 0 at the first breakpoint. A negative nu gives a
        derivative."""
        if nu <= 0:
            return self.derivative(-nu)
        c, h = self.c, (self.x[1:] - self.x[:-1]).reshape((-1,) + (1,) * (self.c.ndim - 2))
        for _ in range(nu):
            sums = td.cumsum(c, axis=0) / c.shape[0] * h
            c = td.concatenate([td.zeros_like(c[:1]), sums])
            c = c + self._joined(c)[None]
        r = self._like(c)
        r.extrapolate = False if self.extrapolate == "periodic" else self.extrapolate
        return r

    @classmethod
    def from_power_basis(cls, pp, extrapolate=None):
        """The BPoly equal to a PPoly."""
        k = pp.c.shape[0] - 1
        h = (pp.x[1:] - pp.x[:-1]).reshape((-1,) + (1,) * (pp.c.ndim - 2))
        c = [0.0] * (k + 1)
        for a in range(k + 1):
            part = pp.c[a] / math.comb(k, k - a) * h ** (k - a)
            for j in range(k - a, k + 1):
                c[j] = c[j] + part * math.comb(j, k - a)
        return cls.construct_fast(td.stack(c), pp.x, pp.extrapolate if extrapolate is None else extrapolate, pp.axis)

    @classmethod
    def from_derivatives(cls, xi, yi, orders=None, extrapolate=None):
        """The BPoly with the values and derivatives yi at xi. SciPy computes it on the host."""
        make = scipys().BPoly.from_derivatives
        return _table.call("scipy.interpolate.BPoly.from_derivatives", make, (xi, yi, orders, extrapolate), {})
