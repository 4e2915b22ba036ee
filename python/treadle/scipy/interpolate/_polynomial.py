"""Interpolating polynomials: in barycentric form, and in Newton's form with given derivatives (Krogh)."""

import math

import numpy

import treadle as td

from ..._core import asarray, ndarray
from .. import _table
from ._support import axes_moved, host, scipys


class _Interpolator:
    """What both classes share: the axis of the values, and the shapes of results."""

    def _set(self, xi, yi, axis):
        device = next((a.device for a in (yi, xi) if isinstance(a, ndarray)), None)
        self.xi = asarray(xi, device=device).astype("float64")
        if yi is None:
            self.yi, self._rest = None, None
            return
        yi = asarray(yi, device=self.xi.device)
        self._axis = axis % yi.ndim
        lines = td.moveaxis(yi, self._axis, 0)
        if lines.shape[0] != self.xi.size:
            raise ValueError("x and y arrays must be equal in length along interpolation axis.")
        self._rest = lines.shape[1:]
        self.yi = lines.reshape(self.xi.size, math.prod(self._rest))
        self.yi = self.yi.astype("complex128" if yi.dtype.kind == "c" else "float64")
        self.n, self.r = self.yi.shape

    @property
    def dtype(self):
        return self.yi.dtype

    def __call__(self, x):
        """Evaluate the polynomial at x."""
        x = asarray(x, device=None if isinstance(x, ndarray) else self.xi.device).astype("float64")
        return axes_moved(self._values(x.reshape(-1)).reshape(x.shape + self._rest), x.ndim, self._axis)

    def derivatives(self, x, der=None):
        """All derivatives of orders below der. SciPy computes them on the host."""
        return host(type(self).__name__, "derivatives", self, (x, der), {})

    def derivative(self, x, der=1):
        """The derivative of order der. SciPy computes it on the host."""
        return host(type(self).__name__, "derivative", self, (x, der), {})

    def _given(self):
        """yi in the shape in which the program passed it."""
        return td.moveaxis(self.yi.reshape((self.n, *self._rest)), 0, self._axis).get()


class BarycentricInterpolator(_Interpolator):
    """BarycentricInterpolator(xi, yi=None, axis=0, wi=None, rng=None): the polynomial through all points.

    rng is accepted but unused: the weights need no random order here. Raises ValueError where two xi are equal.
    """

    def __init__(self, xi, yi=None, axis=0, *, wi=None, rng=None, random_state=None):
        self._set(xi, yi, axis)
        self._axis_given = axis
        self._make_weights() if wi is None else setattr(self, "wi", asarray(wi))

    def _make_weights(self):
        self._inv_capacity = 4.0 / float(self.xi.max() - self.xi.min()) if self.xi.size > 1 else 1.0
        away = self._inv_capacity * (self.xi[:, None] - self.xi[None, :])
        own = td.eye(self.xi.size, dtype=bool, device=self.xi.device)
        products = td.where(own, 1.0, away).prod(1)
        if bool((products == 0).any()):
            raise ValueError("Interpolation points xi must be distinct.")
        self.wi = 1.0 / products

    def set_yi(self, yi, axis=None):
        """Replace the values at the same points."""
        self._set(self.xi, yi, self._axis_given if axis is None else axis)

    def add_xi(self, xi, yi=None):
        """Add points, with their values if the interpolator has values."""
        if (yi is None) != (self.yi is None):
            raise ValueError("No update to yi provided!" if yi is None else "No previous yi value to update!")
        self.xi = td.concatenate([self.xi, asarray(xi, device=self.xi.device).astype("float64").reshape(-1)])
        if yi is not None:
            more = td.moveaxis(asarray(yi, device=self.xi.device), self._axis, 0) if numpy.ndim(yi) else asarray(yi)
            self.yi = td.concatenate([self.yi, more.astype(self.yi.dtype).reshape(-1, self.r)])
            self.n = self.xi.size
        self._make_weights()

    def _values(self, x):
        away = x[:, None] - self.xi[None, :]
        hit = away == 0
        weights = self.wi / td.where(hit, 1.0, away)
        value = (weights.astype(self.yi.dtype) @ self.yi) / weights.sum(1)[:, None]
        exact = td.take(self.yi, hit.argmax(1), axis=0)
        return td.where(hit.any(1)[:, None], exact, value)

    def _scipy_(self):
        return scipys().BarycentricInterpolator(self.xi.get(), self._given(), axis=self._axis)


class KroghInterpolator(_Interpolator):
    """KroghInterpolator(xi, yi, axis=0): the polynomial with the values yi at xi. Where xi repeats a point, the further
    yi are derivatives there. SciPy computes the divided differences on the host."""

    def __init__(self, xi, yi, axis=0):
        self._set(xi, yi, axis)

        def made(xi, yi):
            return scipys().KroghInterpolator(xi, yi).c

        self.c = _table.call("scipy.interpolate.KroghInterpolator", made, (self.xi, self.yi), {})
        self.c = self.c[: self.n].reshape(self.n, self.r)

    def _values(self, x):
        r = td.zeros((x.size, self.r), dtype=self.c.dtype, device=x.device) + self.c[self.n - 1]
        for k in range(self.n - 2, -1, -1):
            r = r * (x - self.xi[k])[:, None] + self.c[k]
        return r

    def _scipy_(self):
        return scipys().KroghInterpolator(self.xi.get(), self._given(), axis=self._axis)


def _of(cls, xi, yi, x, der, axis):
    p = cls(xi, yi, axis=axis)
    if numpy.ndim(der) == 0:
        return p(x) if der == 0 else p.derivative(x, der=der)
    return p.derivatives(x, der=max(der) + 1)[td.asarray(list(der))]


def barycentric_interpolate(xi, yi, x, axis=0, *, der=0, rng=None):
    """Evaluate the BarycentricInterpolator of (xi, yi) at x. der: the order of the derivative, or a list of orders."""
    return _of(BarycentricInterpolator, xi, yi, x, der, axis)


def krogh_interpolate(xi, yi, x, der=0, axis=0):
    """Evaluate the KroghInterpolator of (xi, yi) at x. der: the order of the derivative, or a list of orders."""
    return _of(KroghInterpolator, xi, yi, x, der, axis)
