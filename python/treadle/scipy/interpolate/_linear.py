"""interp1d: interpolation along one axis by constants, lines or splines."""

import math

import numpy

import treadle as td

from ..._core import asarray, ndarray
from ._bspline import make_interp_spline
from ._support import axes_moved, take

_ORDERS = {"zero": 0, "slinear": 1, "quadratic": 2, "cubic": 3}
_KINDS = ("linear", "nearest", "nearest-up", "previous", "next")


class interp1d:
    """interp1d(x, y, kind="linear", axis=-1, copy=True, bounds_error=None, fill_value=nan, assume_sorted=False).

    kind: "linear", "nearest", "nearest-up", "previous", "next", "zero", "slinear", "quadratic", "cubic" or a spline's
    order (of which SciPy solves the equations on the host). Beyond x: ValueError, or where bounds_error is False
    fill_value, a pair (below, above) of them, or "extrapolate".
    """

    def __init__(
        self, x, y, kind="linear", axis=-1, copy=True, bounds_error=None, fill_value=math.nan, assume_sorted=False
    ):
        device = next((a.device for a in (y, x) if isinstance(a, ndarray)), None)
        x, y = asarray(x, device=device), asarray(y, device=device)
        order = _ORDERS.get(kind, kind if isinstance(kind, int) else None)
        if order is None and kind not in _KINDS:
            raise NotImplementedError(f"{kind} is unsupported: Use fitpack routines for other types.")
        if x.ndim != 1:
            raise ValueError("the x array must have exactly one dimension.")
        if y.ndim == 0:
            raise ValueError("the y array must have at least one dimension.")
        if y.shape[axis] != x.size:
            raise ValueError("x and y arrays must be equal in length along interpolation axis.")
        if not assume_sorted:
            at = td.argsort(x, kind="stable")
            x, y = take(x, at), td.take(y, at, axis=axis)
        if x.size < (order or 0) + 1:
            raise ValueError(f"x and y arrays must have at least {(order or 0) + 1} entries")
        self.axis, self._kind, self.x = axis % y.ndim, kind, x
        self.y = y if y.dtype.kind in "fc" else y.astype("float64")
        lines = td.moveaxis(self.y, self.axis, 0)
        self._shape = lines.shape[1:]
        self._y = lines.reshape(x.size, math.prod(self._shape))
        self._fill(fill_value, bounds_error, kind, lines)
        self._spline = None if order is None else make_interp_spline(x, self._y, k=order, check_finite=False)

    def _fill(self, fill, bounds_error, kind, lines):
        extrapolate = isinstance(fill, str) and fill == "extrapolate"
        if extrapolate and bounds_error:
            raise ValueError("Cannot extrapolate and raise at the same time.")
        self.fill_value, self._extrapolate = fill, extrapolate
        self.bounds_error = (not extrapolate and _is_nan(fill)) if bounds_error is None else bool(bounds_error)
        if extrapolate:
            self._outer = (None, None)
            if kind == "previous":
                self._outer, self._extrapolate = (math.nan, lines[-1].reshape(-1)), False
            elif kind == "next":
                self._outer, self._extrapolate = (lines[0].reshape(-1), math.nan), False
            return
        pair = fill if isinstance(fill, tuple) and len(fill) == 2 else (fill, fill)
        self._outer = tuple(v if numpy.isscalar(v) else self._spread(v) for v in pair)

    def _spread(self, fill):
        """The fill values, broadcast to the values of one point."""
        return td.broadcast_to(asarray(fill, device=self.y.device), self._shape).reshape(-1)

    def __call__(self, x):
        """Interpolate at x. In the result's shape, x's shape replaces y's axis of interpolation."""
        x = asarray(x, device=None if isinstance(x, ndarray) else self.y.device)
        x = x if x.dtype.kind == "f" and x.dtype.itemsize >= 4 else x.astype("float64")
        flat = x.reshape(-1)
        r = self._values(flat)
        if not self._extrapolate:
            below, above = flat < self.x[0], flat > self.x[-1]
            if self.bounds_error and flat.size:
                self._refuse(flat, below, above)
            r = td.where(below[:, None], self._outer[0], td.where(above[:, None], self._outer[1], r)).astype(r.dtype)
        return axes_moved(r.reshape(x.shape + self._shape), x.ndim, self.axis)

    def _refuse(self, x, below, above):
        low, high = td.stack([below.any(), above.any()]).tolist()
        for outside, mask, what, end in ((low, below, "below", self.x[0]), (high, above, "above", self.x[-1])):
            if outside:
                value, bound = float(x[mask][0]), float(end)
                least = "minimum" if what == "below" else "maximum"
                raise ValueError(
                    f"A value ({value}) in x_new is {what} the interpolation range's {least} value ({bound})."
                )

    def _values(self, x):
        n = self.x.size
        if self._spline is not None:
            return self._spline(x)
        if self._kind in ("nearest", "nearest-up"):
            middles = self.x / 2.0
            middles = middles[1:] + middles[:-1]
            at = td.searchsorted(middles, x, "left" if self._kind == "nearest" else "right")
            return take(self._y, td.clip(at, 0, n - 1))
        if self._kind == "previous":
            at = td.searchsorted(self.x, x, "right") - 1
            return take(self._y, td.clip(at, 0, n - 1))
        if self._kind == "next":
            return take(self._y, td.clip(td.searchsorted(self.x, x, "left"), 0, n - 1))
        if n == 1:
            return take(self._y, td.zeros(x.shape, dtype="int64", device=x.device))
        at = td.clip(td.searchsorted(self.x, x), 1, n - 1)
        low, high = take(self.x, at - 1), take(self.x, at)
        below, above = take(self._y, at - 1), take(self._y, at)
        return (above - below) / (high - low)[:, None] * (x - low)[:, None] + below


def _is_nan(v):
    return isinstance(v, (float, numpy.floating)) and v != v
