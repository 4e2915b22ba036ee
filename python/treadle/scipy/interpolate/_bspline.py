"""B-splines. One kernel evaluates them by de Boor's algorithm. SciPy computes their coefficients on the host."""

import math

import numpy

import treadle as td

from ..._core import asarray, ndarray, zeros
from .. import _table
from ._support import axes_moved, host, scipys, take


class BSpline:
    """BSpline(t, c, k, extrapolate=True, axis=0): the sum of c[j] times the B-spline of degree k on knots t[j] … t[j
    + k + 1].

    extrapolate: True, False (NaN beyond the base interval t[k] … t[n]) or "periodic". ValueError: knots descend, or
    there are too few of them or of coefficients.
    """

    def __init__(self, t, c, k, extrapolate=True, axis=0):
        device = next((a.device for a in (c, t) if isinstance(a, ndarray)), None)
        c, self.k = asarray(c, device=device), int(k)
        self.t = asarray(t, device=device).astype("float64")
        self.extrapolate = extrapolate if extrapolate == "periodic" else bool(extrapolate)
        n = self.t.size - self.k - 1
        self.axis = axis % c.ndim
        if axis:
            c = td.moveaxis(c, self.axis, 0)
        self.c = c.astype("complex128" if c.dtype.kind == "c" else "float64")
        if self.k < 0:
            raise ValueError("Spline order cannot be negative.")
        if self.t.ndim != 1:
            raise ValueError("Knot vector must be one-dimensional.")
        if n < self.k + 1:
            raise ValueError(f"Need at least {2 * self.k + 2} knots for degree {self.k}")
        if self.c.shape[0] < n:
            raise ValueError("Knots, coefficients and degree are inconsistent.")
        rises, inside, finite = td.stack(
            [(self.t[1:] >= self.t[:-1]).all(), self.t[self.k] < self.t[n], td.isfinite(self.t).all()]
        ).tolist()
        if not rises:
            raise ValueError("Knots must be in a non-decreasing order.")
        if not inside:
            raise ValueError("Need at least two internal knots.")
        if not finite:
            raise ValueError("Knots should not have nans or infs.")

    @classmethod
    def construct_fast(cls, t, c, k, extrapolate=True, axis=0):
        """Make an object of t and c without checking them."""
        self = object.__new__(cls)
        self.t, self.c, self.k, self.extrapolate, self.axis = asarray(t), asarray(c), k, extrapolate, axis
        return self

    @classmethod
    def _of(cls, theirs):
        """Convert SciPy's object to one on the current device."""
        return cls.construct_fast(asarray(theirs.t), asarray(theirs.c), theirs.k, theirs.extrapolate, theirs.axis)

    def _scipy_(self):
        return scipys().BSpline.construct_fast(self.t.get(), self.c.get(), self.k, self.extrapolate, self.axis)

    @property
    def tck(self):
        return self.t, self.c, self.k

    @classmethod
    def basis_element(cls, t, extrapolate=True):
        """The B-spline on the knots t, of degree len(t) - 2."""
        t = asarray(t).astype("float64")
        k = t.size - 2
        low, high = (td.full((k,), 0.0, device=t.device) + v for v in (t[0] - 1, t[-1] + 1))
        t = td.concatenate([low, t, high])
        c = zeros(t.size, device=t.device)
        c[k] = 1.0
        return cls.construct_fast(t, c, k, extrapolate)

    def __call__(self, x, nu=0, extrapolate=None):
        """Evaluate the spline, or its derivative of order nu, at x."""
        extrapolate = self.extrapolate if extrapolate is None else extrapolate
        x = asarray(x, device=None if isinstance(x, ndarray) else self.c.device).astype("float64")
        rest, n = self.c.shape[1:], self.t.size - self.k - 1
        flat = x.reshape(-1)
        low, high = self.t[self.k], self.t[n]
        if extrapolate == "periodic":
            flat, extrapolate = low + (flat - low) % (high - low), False
        c = self.c[:n].reshape((n, math.prod(rest)))
        r = _de_boor(self.t, c, self.k, flat, int(nu))
        if not extrapolate:
            r = td.where(((flat >= low) & (flat <= high))[:, None], r, self.c.dtype.type(numpy.nan))
        return axes_moved(r.reshape(x.shape + rest), x.ndim, self.axis)

    def derivative(self, nu=1):
        """The derivative of order nu, as a BSpline."""
        t, c, k = splder(self.tck, nu)
        return self.construct_fast(t, c, k, self.extrapolate, self.axis)

    def antiderivative(self, nu=1):
        """The antiderivative of order nu, as a BSpline."""
        t, c, k = splantider(self.tck, nu)
        return self.construct_fast(t, c, k, False if self.extrapolate == "periodic" else self.extrapolate, self.axis)

    def integrate(self, a, b, extrapolate=None):
        """The integral from a to b, two numbers. SciPy computes it on the host for periodic splines."""
        extrapolate = self.extrapolate if extrapolate is None else extrapolate
        if extrapolate == "periodic":
            return host("BSpline", "integrate", self, (a, b), {"extrapolate": extrapolate})
        sign = 1
        if b < a:
            a, b, sign = b, a, -1
        whole = self.antiderivative()
        if not extrapolate:
            ends = take(self.t, td.asarray([self.k, self.t.size - self.k - 1], device=self.t.device)).tolist()
            a, b = max(a, ends[0]), min(b, ends[1])
        return sign * (whole(b, extrapolate=True) - whole(a, extrapolate=True))

    def insert_knot(self, x, m=1):
        """The same spline with the knot x inserted m times. SciPy computes it on the host."""
        return host("BSpline", "insert_knot", self, (x, m), {})

    @classmethod
    def design_matrix(cls, x, t, k, extrapolate=False):
        """A csr_array with the values of all basis functions at x. SciPy computes it on the host."""
        import treadle.scipy.sparse  # noqa: F401  results become its matrices

        make = scipys().BSpline.design_matrix
        return _table.call("scipy.interpolate.BSpline.design_matrix", make, (x, t, k, extrapolate), {})

    @classmethod
    def from_power_basis(cls, pp, bc_type="not-a-knot"):
        """The BSpline equal to a CubicSpline. SciPy computes it on the host."""
        make = scipys().BSpline.from_power_basis
        return _table.call("scipy.interpolate.BSpline.from_power_basis", make, (pp,), {"bc_type": bc_type})


def _de_boor(t, c, k, x, nu):
    """Evaluate the derivative of order nu of a spline at x. t: the knots; c: coefficients, as a matrix."""
    n = c.shape[0]
    if nu > k:
        return zeros((x.size, c.shape[1]), dtype=c.dtype, device=c.device)
    at = td.clip(td.searchsorted(t, x, "right") - 1, k, n - 1)
    knots = [take(t, at + j) for j in range(1 - k, k + 1)]  # the knots on which the intervals of x depend
    level = [take(c, at + (j - k)) for j in range(k + 1)]
    for r in range(1, k + 1):
        left, right = knots[r - 1 : k], knots[k:]
        level = [
            _step(a, b, x, left[j], right[j], k + 1 - r, r <= nu)
            for j, (a, b) in enumerate(zip(level, level[1:], strict=False))
        ]
    return level[0]


def _step(a, b, x, low, high, degree, differs):
    """One step of de Boor's algorithm: the difference of two coefficients, or their average weighted by x between two
    knots."""
    width = high - low
    width = td.where(width == 0, 1.0, width)
    if differs:
        return (b - a) * (degree / width)[:, None]
    part = ((x - low) / width)[:, None]
    return a * (1.0 - part) + b * part


def _padded(tck):
    """t, c and k as arrays, with c padded with zeros to the length of t."""
    t, c, k = asarray(tck[0]), asarray(tck[1]), tck[2]
    missing = t.size - c.shape[0]
    if missing > 0:
        c = td.concatenate([c, zeros((missing, *c.shape[1:]), dtype=c.dtype, device=c.device)])
    return t, c, k


def splder(tck, n=1):
    """The derivative of order n of a BSpline or of (t, c, k), as the same kind. ValueError: k is below n."""
    if isinstance(tck, BSpline):
        return tck.derivative(n)
    if n < 0:
        return splantider(tck, -n)
    t, c, k = _padded(tck)
    if n > k:
        raise ValueError(f"Order of derivative (n = {n!r}) must be <= order of spline (k = {tck[2]!r})")
    for _ in range(n):
        width = (t[k + 1 : -1] - t[1 : -k - 1]).reshape((-1,) + (1,) * (c.ndim - 1))
        c = (c[1 : -1 - k] - c[: -2 - k]) * k / width
        c = td.concatenate([c, zeros((k, *c.shape[1:]), dtype=c.dtype, device=c.device)])
        t, k = t[1:-1], k - 1
    return t, c, k


def splantider(tck, n=1):
    """The antiderivative of order n of a BSpline or of (t, c, k), as the same kind."""
    if isinstance(tck, BSpline):
        return tck.antiderivative(n)
    if n < 0:
        return splder(tck, -n)
    t, c, k = _padded(tck)
    for _ in range(n):
        width = (t[k + 1 :] - t[: -k - 1]).reshape((-1,) + (1,) * (c.ndim - 1))
        sums = td.cumsum(c[: -k - 1] * width, axis=0) / (k + 1)
        c = td.concatenate([zeros((1, *c.shape[1:]), dtype=c.dtype, device=c.device), sums, *[sums[-1:]] * (k + 2)])
        t, k = td.concatenate([t[:1], t, t[-1:]]), k + 1
    return t, c, k


def splev(x, tck, der=0, ext=0):
    """Evaluate a BSpline or (t, c, k), or its derivative of order der, at x. ext beyond the base interval: 0
    extrapolates, 1 gives zeros, 2 raises ValueError, 3 gives the value at the end."""
    if isinstance(tck, BSpline):
        if tck.c.ndim > 1:
            raise ValueError(
                "Calling splev() with BSpline objects with c.ndim > 1 is not allowed. Use BSpline.__call__(x)."
            )
        return tck(x, nu=der, extrapolate={0: True, 1: False}.get(ext, tck.extrapolate))
    t, c, k = tck
    if isinstance(c, (list, tuple)) and len(c) and numpy.ndim(c[0]) > 0 or getattr(c, "ndim", 1) > 1:
        return [splev(x, (t, part, k), der, ext) for part in c]
    if not 0 <= der <= k:
        raise ValueError(f"0<=der={der}<=k={k} must hold")
    if ext not in (0, 1, 2, 3):
        raise ValueError(f"ext = {ext} not in (0, 1, 2, 3) ")
    spline = BSpline.construct_fast(asarray(t), asarray(c), k)
    x = asarray(x).astype("float64")
    low, high = spline.t[k], spline.t[spline.t.size - k - 1]
    inside = (x >= low) & (x <= high)
    if ext == 2 and not bool(inside.all()):
        raise ValueError("splev: a point lies beyond the knots")
    r = spline(td.clip(x, low, high) if ext == 3 else x, nu=der, extrapolate=True)
    return td.where(inside, r, 0.0) if ext == 1 else r


# ---- made by SciPy ----


def _made(name):
    def make(*args, **kwargs):
        return _table.call(f"scipy.interpolate.{name}", getattr(scipys(), name), args, kwargs)

    make.__name__ = make.__qualname__ = name
    make.__doc__ = (
        f"scipy.interpolate.{name}: its equations are solved by SciPy on the host, the BSpline is evaluated here."
    )
    return make


make_interp_spline, make_lsq_spline, make_smoothing_spline = map(
    _made, ("make_interp_spline", "make_lsq_spline", "make_smoothing_spline")
)
