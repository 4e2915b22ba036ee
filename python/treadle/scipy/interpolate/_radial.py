"""Interpolation of scattered data by radial basis functions."""

import itertools
import warnings

import numpy

import treadle as td

from ..._core import asarray, ndarray
from .. import _table
from ._support import scipys

# The kernels, as functions of the distance times epsilon.
_KERNELS = {
    "linear": lambda r: -r,
    "thin_plate_spline": lambda r: td.where(r == 0, 0.0, r * r * td.log(td.where(r == 0, 1.0, r))),
    "cubic": lambda r: r * r * r,
    "quintic": lambda r: -(r * r * r * r * r),
    "multiquadric": lambda r: -td.sqrt(r * r + 1),
    "inverse_multiquadric": lambda r: 1 / td.sqrt(r * r + 1),
    "inverse_quadratic": lambda r: 1 / (r * r + 1),
    "gaussian": lambda r: td.exp(-(r * r)),
}
_SCALE_INVARIANT = ("linear", "thin_plate_spline", "cubic", "quintic")
_LEAST = {"multiquadric": 0, "linear": 0, "thin_plate_spline": 1, "cubic": 1, "quintic": 2}


def _powers(ndim, degree):
    """The exponents of the variables in each monomial up to degree."""
    out = []
    for n in range(degree + 1):
        for chosen in itertools.combinations_with_replacement(range(ndim), n):
            out.append([chosen.count(k) for k in range(ndim)])
    return out


class RBFInterpolator:
    """RBFInterpolator(y, d, neighbors=None, smoothing=0.0, kernel="thin_plate_spline", epsilon=None, degree=None).

    y: the data points, as a matrix; d: the values there. One system of equations covers all points. With neighbors,
    SciPy solves a system for the nearest points of each on the host. Raises ValueError for shapes, a kernel, an epsilon
    or a degree that does not fit.
    """

    def __init__(self, y, d, neighbors=None, smoothing=0.0, kernel="thin_plate_spline", epsilon=None, degree=None):
        device = next((a.device for a in (y, d) if isinstance(a, ndarray)), None)
        self.y, d = asarray(y, device=device).astype("float64"), asarray(d, device=device)
        if self.y.ndim != 2:
            raise ValueError("`y` must be a 2-dimensional array.")
        n, ndim = self.y.shape
        if d.shape[0] != n:
            raise ValueError(f"Expected the first axis of `d` to have length {n}.")
        self.d_shape, self.d_dtype = d.shape[1:], numpy.dtype("complex128" if d.dtype.kind == "c" else "float64")
        self.d = d.astype(self.d_dtype).reshape(n, -1)
        self.smoothing = td.broadcast_to(asarray(smoothing, device=device).astype("float64"), (n,))
        self.kernel = kernel.lower()
        self.epsilon = self._epsilon(epsilon)
        self.neighbors, degree = neighbors, self._degree(degree)
        self.powers = _powers(ndim, degree)
        if len(self.powers) > (n if neighbors is None else min(int(neighbors), n)):
            raise ValueError(
                f"At least {len(self.powers)} data points are required when `degree` is {degree} and the number of "
                f"dimensions is {ndim}."
            )
        self._theirs = self._made(degree) if neighbors is not None else None
        if neighbors is None:
            self._solve()

    def _epsilon(self, epsilon):
        if self.kernel not in _KERNELS:
            raise ValueError(f"`kernel` must be one of {set(_KERNELS)}.")
        if epsilon is None and self.kernel not in _SCALE_INVARIANT:
            raise ValueError(f"`epsilon` must be specified if `kernel` is not one of {set(_SCALE_INVARIANT)}.")
        return 1.0 if epsilon is None else float(epsilon)

    def _degree(self, degree):
        least = _LEAST.get(self.kernel, -1)
        if degree is None:
            return max(least, 0)
        if degree < -1:
            raise ValueError("`degree` must be at least -1.")
        if -1 < degree < least:
            warnings.warn(
                f"`degree` should not be below {least} except -1 when `kernel` is '{self.kernel}'.", stacklevel=3
            )
        return int(degree)

    def _made(self, degree):
        make = scipys().RBFInterpolator
        d = self.d.reshape((-1, *self.d_shape))
        args = (self.y, d, self.neighbors, self.smoothing, self.kernel, self.epsilon, degree)
        return _table.call("scipy.interpolate.RBFInterpolator", make, args, {})

    def _radial(self, x, y):
        """The matrix of the kernel between all points of x and y."""
        away = x[:, None, :] * self.epsilon - y[None, :, :] * self.epsilon
        return _KERNELS[self.kernel](td.sqrt((away * away).sum(-1)))

    def _monomials(self, x):
        x = (x - self._shift) / self._scale
        columns = []
        for powers in self.powers:
            column = td.ones(x.shape[0], device=x.device)
            for k, p in enumerate(powers):
                column = column * x[:, k] ** p if p else column
            columns.append(column)
        return td.stack(columns, axis=1)

    def _solve(self):
        n, m = self.y.shape[0], len(self.powers)
        low, high = self.y.min(0), self.y.max(0)
        self._shift, width = (high + low) / 2, (high - low) / 2
        self._scale = td.where(width == 0, 1.0, width)
        left = self._radial(self.y, self.y) + td.diag(self.smoothing)
        right = self.d
        if m:
            p = self._monomials(self.y)
            corner = td.zeros((m, m), device=p.device)
            left = td.concatenate([td.concatenate([left, p], axis=1), td.concatenate([p.T, corner], axis=1)])
            right = td.concatenate([right, td.zeros((m, right.shape[1]), dtype=right.dtype, device=p.device)])
        if self.d_dtype.kind == "c":
            c = td.linalg.solve(left, td.concatenate([right.real, right.imag], axis=1))
            half = right.shape[1]
            self._coeffs = c[:, :half] + 1j * c[:, half:]
        else:
            self._coeffs = td.linalg.solve(left, right)
        self._n = n

    def __call__(self, x):
        """Interpolate at the points x, a matrix with a point in each row."""
        x = asarray(x, device=None if isinstance(x, ndarray) else self.y.device).astype("float64")
        if x.ndim != 2:
            raise ValueError("`x` must be a 2-dimensional array.")
        if x.shape[1] != self.y.shape[1]:
            raise ValueError(f"Expected the second axis of `x` to have length {self.y.shape[1]}.")
        if self._theirs is not None:
            return self._theirs(x)
        r = self._radial(x, self.y).astype(self.d_dtype) @ self._coeffs[: self._n]
        if self.powers:
            r = r + self._monomials(x).astype(self.d_dtype) @ self._coeffs[self._n :]
        return r.reshape((x.shape[0], *self.d_shape))
