"""Interpolation on rectangular grids of any number of axes."""

import itertools
import math

import numpy

import treadle as td

from ..._core import asarray, ndarray
from .. import _table
from ._support import scipys

_ON_HOST = ("slinear", "cubic", "quintic", "pchip", "slinear_legacy", "cubic_legacy", "quintic_legacy")
_METHODS = ("linear", "nearest", *_ON_HOST)


def _coordinates(points, ndim, device):
    """Points as an array whose last axis holds coordinates. A tuple has one array for each axis; they are broadcast."""
    if isinstance(points, tuple) and len(points) == 1:
        points = points[0]
    if isinstance(points, tuple):
        parts = td.broadcast_arrays(*(asarray(p, device=device) for p in points))
        return td.stack([p.astype("float64") for p in parts], axis=-1)
    points = asarray(points, device=None if isinstance(points, ndarray) else device)
    if points.ndim == 1:
        points = points.reshape(-1, 1) if ndim in (None, 1) else points.reshape(1, -1)
    return points.astype("float64")


class RegularGridInterpolator:
    """RegularGridInterpolator(points, values, method="linear", bounds_error=True, fill_value=nan).

    points: the grid's coordinates along each axis, ascending or descending. values: an array of shape (len(points[0]),
    …), which may have further axes. The device computes methods "linear" and "nearest", SciPy on the host those of
    splines. Points outside the grid raise ValueError, or with bounds_error=False give fill_value (None extrapolates).
    """

    def __init__(
        self, points, values, method="linear", bounds_error=True, fill_value=math.nan, *, solver=None, solver_args=None
    ):
        if method not in _METHODS:
            raise ValueError(f"Method '{method}' is not defined")
        given = [a.device for a in (values, *points) if isinstance(a, ndarray)]
        device = given[0] if given else None
        values = asarray(values, device=device)
        self.values = values if values.dtype.kind in "fc" else values.astype("float64")
        self.method, self.bounds_error, self.fill_value = method, bounds_error, fill_value
        self._solver = {k: v for k, v in (("solver", solver), ("solver_args", solver_args)) if v is not None}
        if len(points) > self.values.ndim:
            raise ValueError(f"There are {len(points)} point arrays, but values has {self.values.ndim} dimensions")
        self.grid, falling = [], []
        for k, p in enumerate(points):
            p = asarray(p, device=self.values.device).astype("float64").reshape(-1)
            rises, falls = td.stack([(p[1:] > p[:-1]).all(), (p[1:] < p[:-1]).all()]).tolist()
            if not rises and not falls:
                raise ValueError(f"The points in dimension {k} must be strictly ascending or descending")
            if p.size != self.values.shape[k]:
                raise ValueError(f"There are {p.size} points and {self.values.shape[k]} values in dimension {k}")
            self.grid.append(p if rises else p[::-1])
            falling += [] if rises else [k]
        self.grid = tuple(self.grid)
        self.values = td.flip(self.values, falling) if falling else self.values
        if fill_value is not None and not numpy.can_cast(
            numpy.asarray(fill_value).dtype, self.values.dtype, "same_kind"
        ):
            raise ValueError("fill_value must be either 'None' or of a type compatible with values")

    def __call__(self, xi, method=None, *, nu=None):
        """Interpolate at the points xi: an array whose last axis holds coordinates, or a tuple of arrays."""
        method = self.method if method is None else method
        if method not in _METHODS:
            raise ValueError(f"Method '{method}' is not defined")
        xi = _coordinates(xi, len(self.grid), self.values.device)
        if xi.shape[-1] != len(self.grid):
            raise ValueError(
                f"The requested sample points xi have dimension {xi.shape[-1]} but this RegularGridInterpolator has "
                f"dimension {len(self.grid)}"
            )
        if method in _ON_HOST:
            return self._on_host(xi, method, nu)
        if nu is not None:
            raise ValueError(f"Can only compute derivatives for methods slinear, cubic and quintic, got {method =}.")
        x = [xi[..., k].reshape(-1) for k in range(len(self.grid))]
        outside = [~((v >= g[0]) & (v <= g[-1])) for v, g in zip(x, self.grid, strict=True)]
        if self.bounds_error:
            self._refuse(x, outside)
        rest = self.values.shape[len(self.grid) :]
        r = self._linear(x, rest) if method == "linear" else self._nearest(x, rest)
        if not self.bounds_error and self.fill_value is not None:
            beyond = outside[0]
            for o in outside[1:]:
                beyond = beyond | o
            r = td.where(beyond[:, None], self.fill_value, r).astype(r.dtype)
        lost = td.isnan(xi).any(-1).reshape(-1)
        r = td.where(lost[:, None], r.dtype.type(numpy.nan), r)
        return r.reshape(xi.shape[:-1] + rest)

    def _on_host(self, xi, method, nu):
        def made(grid, values, xi):
            f = scipys().RegularGridInterpolator(
                grid, values, method, self.bounds_error, self.fill_value, **self._solver
            )
            return f(xi, nu=nu)

        return _table.call("scipy.interpolate.RegularGridInterpolator", made, (self.grid, self.values, xi), {})

    def _refuse(self, x, outside):
        wrong = td.stack([o.any() for o in outside]).tolist() if x[0].size else []
        for k, one in enumerate(wrong):
            if one:
                raise ValueError(f"One of the requested xi is out of bounds in dimension {k}")

    def _cells(self, x):
        """(the lower corner of the grid cell of each point, the point's offset as a fraction of the cell's width)."""
        at, parts = [], []
        for v, g in zip(x, self.grid, strict=True):
            if g.size == 1:
                at.append(td.zeros(v.shape, dtype="int64", device=v.device))
                parts.append(td.zeros(v.shape, device=v.device))
                continue
            k = td.clip(td.searchsorted(g, v, "right") - 1, 0, g.size - 2)
            low, high = td.take(g, k), td.take(g, k + 1)
            at.append(k)
            parts.append((v - low) / (high - low))
        return at, parts

    def _flat(self, rest):
        """(the values as a matrix, the stride of each grid axis in its rows)."""
        shape = self.values.shape[: len(self.grid)]
        steps = [math.prod(shape[k + 1 :]) for k in range(len(shape))]
        return self.values.reshape(math.prod(shape), math.prod(rest)), steps

    def _linear(self, x, rest):
        (table, steps), (at, parts) = self._flat(rest), self._cells(x)
        total = 0
        for corner in itertools.product((0, 1), repeat=len(x)):
            place, weight = 0, 1.0
            for side, k, part, step, g in zip(corner, at, parts, steps, self.grid, strict=True):
                if side and g.size == 1:
                    break
                place = place + (k + side) * step
                weight = weight * (part if side else 1 - part)
            else:
                total = total + td.take(table, place, axis=0) * weight[:, None].astype(self.values.real.dtype)
        return total

    def _nearest(self, x, rest):
        (table, steps), (at, parts) = self._flat(rest), self._cells(x)
        place = 0
        for k, part, step in zip(at, parts, steps, strict=True):
            place = place + td.where(part <= 0.5, k, k + 1) * step
        return td.take(table, place, axis=0)


def interpn(points, values, xi, method="linear", bounds_error=True, fill_value=math.nan):
    """Interpolate at xi, as RegularGridInterpolator(points, values). SciPy computes method "splinef2d" on the host."""
    if method == "splinef2d":
        args = (points, values, xi, method, bounds_error, fill_value)
        return _table.call("scipy.interpolate.interpn", scipys().interpn, args, {})
    if method not in _METHODS:
        raise ValueError(
            f"interpn only understands the methods {', '.join(_METHODS)} and 'splinef2d'. You provided {method}."
        )
    return RegularGridInterpolator(points, values, method, bounds_error, fill_value)(xi)
