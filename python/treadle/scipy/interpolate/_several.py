"""Piecewise polynomials and B-splines of several variables: tensor products of those of one variable, summed over the
terms that are not zero at a point."""

import functools
import itertools
import math

import numpy

import treadle as td

from ..._core import asarray, ndarray
from ._grid import _coordinates
from ._piecewise import PPoly
from ._support import scipys, take


def _as_tuple(value, n):
    return (int(value),) * n if numpy.ndim(value) == 0 else tuple(int(v) for v in value)


class NdPPoly:
    """NdPPoly(c, x, extrapolate=None): a tensor product of PPoly. c: coefficients of shape (k0, …, m0, …, …); x: a
    tuple with the breakpoints of each variable. Raises ValueError where shapes do not match."""

    def __init__(self, c, x, extrapolate=None):
        device = next((a.device for a in (c, *x) if isinstance(a, ndarray)), None)
        c = asarray(c, device=device)
        self.c = c.astype("complex128" if c.dtype.kind == "c" else "float64")
        self.x = tuple(asarray(v, device=device).astype("float64") for v in x)
        self.extrapolate = True if extrapolate is None else bool(extrapolate)
        n = len(self.x)
        if any(v.ndim != 1 for v in self.x):
            raise ValueError("x arrays must all be 1-dimensional")
        if any(v.size < 2 for v in self.x):
            raise ValueError("x arrays must all contain at least 2 points")
        if self.c.ndim < 2 * n:
            raise ValueError("c must have at least 2*len(x) dimensions")
        if any(v.size != m + 1 for v, m in zip(self.x, self.c.shape[n : 2 * n], strict=True)):
            raise ValueError("x and c do not agree on the number of intervals")
        if not all(td.stack([(v[1:] > v[:-1]).all() for v in self.x]).tolist()):
            raise ValueError("x-coordinates are not in increasing order")

    @classmethod
    def construct_fast(cls, c, x, extrapolate=None):
        """Make an object of c and x without checking them."""
        self = object.__new__(cls)
        self.c, self.x = asarray(c), tuple(map(asarray, x))
        self.extrapolate = True if extrapolate is None else extrapolate
        return self

    def _scipy_(self):
        return scipys().NdPPoly.construct_fast(self.c.get(), tuple(v.get() for v in self.x), self.extrapolate)

    def __call__(self, x, nu=None, extrapolate=None):
        """Evaluate at points, whose last axis holds coordinates. nu: the order of the derivative in each variable."""
        extrapolate = self.extrapolate if extrapolate is None else bool(extrapolate)
        n = len(self.x)
        x = _coordinates(x, n, self.c.device)
        orders = (0,) * n if nu is None else _as_tuple(nu, n)
        degrees, pieces, rest = self.c.shape[:n], self.c.shape[n : 2 * n], self.c.shape[2 * n :]
        steps = [math.prod(pieces[k + 1 :]) for k in range(n)]
        table = self.c.reshape((*degrees, math.prod(pieces), math.prod(rest)))
        parts, place, outside = [], 0, None
        for k, (places, step) in enumerate(zip(self.x, steps, strict=True)):
            v = x[..., k].reshape(-1)
            at = td.clip(td.searchsorted(places, v, "right") - 1, 0, places.size - 2)
            parts.append((v - take(places, at))[:, None])
            place = place + at * step
            beyond = ~((v >= places[0]) & (v <= places[-1]))
            outside = beyond if outside is None else outside | beyond
        r = self._sum(table, parts, orders, place)
        if not extrapolate:
            r = td.where(outside[:, None], self.c.dtype.type(numpy.nan), r)
        return r.reshape(x.shape[:-1] + rest)

    def _sum(self, table, parts, orders, place):
        """Horner's method in the first variable, whose coefficients are such sums in the other variables."""
        if not parts:
            return take(table, place)
        degree, nu, r = table.shape[0] - 1, orders[0], None
        for j in range(degree + 1 - nu):
            term = self._sum(table[j], parts[1:], orders[1:], place) * float(math.perm(degree - j, nu))
            r = term if r is None else r * parts[0] + term
        return td.zeros((place.size, table.shape[-1]), dtype=table.dtype, device=table.device) if r is None else r

    def _along(self, axis, change):
        """Apply a function of PPoly to the polynomials in one variable."""
        n = len(self.x)
        order = [axis, n + axis] + [k for k in range(self.c.ndim) if k not in (axis, n + axis)]
        changed = change(PPoly.construct_fast(self.c.transpose(order), self.x[axis], self.extrapolate))
        back = [order.index(k) for k in range(self.c.ndim)]
        return changed.c.transpose(back)

    def derivative(self, nu):
        """The derivative of the orders in the tuple nu, as an NdPPoly."""
        p = self
        for axis, order in enumerate(nu):
            c = p._along(axis, lambda f, order=order: f.derivative(order))
            p = self.construct_fast(c, self.x, self.extrapolate)
        return p

    def antiderivative(self, nu):
        """The antiderivative of the orders in the tuple nu, as an NdPPoly."""
        p = self
        for axis, order in enumerate(nu):
            c = p._along(axis, lambda f, order=order: f.antiderivative(order))
            p = self.construct_fast(c, self.x, self.extrapolate)
        return p

    def integrate_1d(self, a, b, axis, extrapolate=None):
        """The integral over one variable from a to b: an NdPPoly of the other variables, or a number."""
        extrapolate = self.extrapolate if extrapolate is None else bool(extrapolate)
        n, axis = len(self.x), int(axis) % len(self.x)
        order = [axis, n + axis] + [k for k in range(self.c.ndim) if k not in (axis, n + axis)]
        f = PPoly.construct_fast(self.c.transpose(order), self.x[axis], extrapolate)
        out = f.integrate(a, b, extrapolate=extrapolate)
        if n == 1:
            return out
        return self.construct_fast(out, self.x[:axis] + self.x[axis + 1 :], extrapolate)

    def integrate(self, ranges, extrapolate=None):
        """The integral over a box. ranges: a pair (a, b) for each variable."""
        if len(ranges) != len(self.x):
            raise ValueError("Range not a sequence of correct length")
        p = self
        for a, b in ranges:
            p = p.integrate_1d(a, b, 0, extrapolate)
        return p


class NdBSpline:
    """NdBSpline(t, c, k, extrapolate=None): a tensor product of B-splines. t: a tuple of knots; k: the degrees, a
    number or a tuple; c: coefficients of shape (n0, n1, …, …). Raises ValueError where shapes do not match."""

    def __init__(self, t, c, k, *, extrapolate=None):
        device = next((a.device for a in (c, *t) if isinstance(a, ndarray)), None)
        c = asarray(c, device=device)
        self.c = c.astype("complex128" if c.dtype.kind == "c" else "float64")
        self.t = tuple(asarray(v, device=device).astype("float64") for v in t)
        self.k = _as_tuple(k, len(self.t))
        self.extrapolate = True if extrapolate is None else bool(extrapolate)
        if len(self.k) != len(self.t):
            raise ValueError(f"len(t) = {len(self.t)} != len(k) = {len(self.k)}")
        if self.c.ndim < len(self.t):
            raise ValueError(f"Coefficients must be at least {len(self.t)}-dimensional.")
        for d, (v, degree) in enumerate(zip(self.t, self.k, strict=True)):
            n = v.size - degree - 1
            if v.ndim != 1:
                raise ValueError(f"Knot vector in dimension {d} must be one-dimensional.")
            if n < degree + 1:
                raise ValueError(f"Need at least {2 * degree + 2} knots for degree {degree} in dimension {d}.")
            if self.c.shape[d] != n:
                raise ValueError(f"Knots, coefficients and degree in dimension {d} are inconsistent.")
        if not all(td.stack([(v[1:] >= v[:-1]).all() for v in self.t]).tolist()):
            raise ValueError("Knots must be in a non-decreasing order.")

    @classmethod
    def _of(cls, theirs):
        return cls(theirs.t, theirs.c, theirs.k, extrapolate=theirs.extrapolate)

    def _scipy_(self):
        t = tuple(v.get() for v in self.t)
        return scipys().NdBSpline(t, self.c.get(), self.k, extrapolate=self.extrapolate)

    def __call__(self, xi, *, nu=None, extrapolate=None):
        """Evaluate at points, whose last axis holds coordinates. nu: the order of the derivative in each variable."""
        extrapolate = self.extrapolate if extrapolate is None else bool(extrapolate)
        n = len(self.t)
        xi = _coordinates(xi, n, self.c.device)
        if xi.shape[-1] != n:
            raise ValueError(f"Shapes: xi.shape={xi.shape} and ndim={n}")
        orders = (0,) * n if nu is None else _as_tuple(nu, n)
        if len(orders) != n or min(orders) < 0:
            raise ValueError(f"invalid number of derivative orders nu = {nu} for ndim = {n}.")
        heads, rest = self.c.shape[:n], self.c.shape[n:]
        table = self.c.reshape(math.prod(heads), math.prod(rest))
        steps = [math.prod(heads[d + 1 :]) for d in range(n)]
        firsts, bases, outside = [], [], None
        for d, (t, k) in enumerate(zip(self.t, self.k, strict=True)):
            x = xi[..., d].reshape(-1)
            beyond = ~((x >= t[k]) & (x <= t[t.size - k - 1]))
            outside = beyond if outside is None else outside | beyond
            at, basis = _basis(t, k, x, orders[d])
            firsts.append((at - k) * steps[d])
            bases.append(basis)
        place, r = functools.reduce(lambda a, b: a + b, firsts), 0
        for terms in itertools.product(*(range(k + 1) for k in self.k)):
            weight = functools.reduce(lambda a, b: a * b, (basis[j] for basis, j in zip(bases, terms, strict=True)))
            away = sum(j * step for j, step in zip(terms, steps, strict=True))
            r = r + take(table, place + away) * weight[:, None]
        if not extrapolate:
            r = td.where(outside[:, None], self.c.dtype.type(numpy.nan), r)
        return r.reshape(xi.shape[:-1] + rest)


def _basis(t, k, x, nu):
    """(the knot interval of each x, the values or derivatives of the k + 1 B-splines that are not zero on it)."""
    at = td.clip(td.searchsorted(t, x, "right") - 1, k, t.size - k - 2)
    if nu > k:
        return at, [td.zeros_like(x)] * (k + 1)
    knot = {j: take(t, at + j) for j in range(1 - k, k + 1)}
    values = [td.ones_like(x)]
    for r in range(1, k + 1):  # raise the degree from r - 1 to r
        grown = [0.0] * (r + 1)
        for j, value in enumerate(values):
            low, high = knot[j - r + 1], knot[j + 1]
            width = high - low
            share = value / td.where(width == 0, 1.0, width)
            left, right = (-r, r) if r > k - nu else (high - x, x - low)
            grown[j] = grown[j] + left * share
            grown[j + 1] = grown[j + 1] + right * share
        values = grown
    return at, values
