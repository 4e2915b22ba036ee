"""Densities estimated from samples by Gaussian kernels. One kernel combines every point with every sample, and stores
nothing for the pairs."""

import math

import numpy

import treadle as td

from ..._core import asarray, ndarray
from .. import _table, special


class gaussian_kde:
    """The density of dataset, of shape (dims, samples) or (samples,): gaussian_kde(dataset, bw_method=None,
    weights=None).

    bw_method: "scott" (None), "silverman", a number, or a function of this object, gives the factor of the bandwidth.
    Raises ValueError for too few samples, LinAlgError if they lie in a space of fewer dims.
    """

    def __init__(self, dataset, bw_method=None, weights=None):
        self.dataset = td.atleast_2d(asarray(dataset))
        if self.dataset.dtype.kind != "f":
            self.dataset = self.dataset.astype("float64")
        if self.dataset.size < 2:
            raise ValueError("`dataset` input should have multiple elements.")
        self.d, self.n = self.dataset.shape
        if weights is None:
            self.weights = td.full((self.n,), 1 / self.n, device=self.dataset.device)
        else:
            w = asarray(weights, device=None if isinstance(weights, ndarray) else self.dataset.device).astype("float64")
            if w.ndim != 1:
                raise ValueError("`weights` input should be one-dimensional.")
            if w.size != self.n:
                raise ValueError("`weights` input should be of length n")
            self.weights = w / w.sum()
        self.neff = float(self.n) if weights is None else float(1 / (self.weights**2).sum())
        if self.d > self.n:
            raise ValueError(
                "Number of dimensions is greater than number of samples: each column of `dataset` is a point."
            )
        away = self.dataset - (self.dataset * self.weights).sum(1, keepdims=True)
        self._data_covariance = (away * self.weights) @ away.T / (1 - (self.weights**2).sum())
        self._data_root = td.linalg.cholesky(self._data_covariance)
        self.set_bandwidth(bw_method)

    def scotts_factor(self):
        """neff ** (-1 / (d + 4))."""
        return self.neff ** (-1.0 / (self.d + 4))

    def silverman_factor(self):
        """(neff (d + 2) / 4) ** (-1 / (d + 4))."""
        return (self.neff * (self.d + 2.0) / 4.0) ** (-1.0 / (self.d + 4))

    covariance_factor = scotts_factor

    def set_bandwidth(self, bw_method=None):
        """Set another factor of the bandwidth. None keeps the present one."""
        if bw_method == "scott":
            self.covariance_factor = self.scotts_factor
        elif bw_method == "silverman":
            self.covariance_factor = self.silverman_factor
        elif callable(bw_method):
            self.covariance_factor = lambda: bw_method(self)
        elif bw_method is not None:
            if isinstance(bw_method, str) or not numpy.isscalar(bw_method):
                raise ValueError("`bw_method` should be 'scott', 'silverman', a scalar or a callable.")
            self.covariance_factor = lambda: bw_method
        self.factor = self.covariance_factor()
        self.covariance = self._data_covariance * self.factor**2
        self.cho_cov = self._data_root * self.factor

    @property
    def inv_cov(self):
        """The inverse of the kernels' covariance."""
        return td.linalg.inv(self._data_covariance) / self.factor**2

    def _points(self, points):
        points = td.atleast_2d(asarray(points, device=None if isinstance(points, ndarray) else self.dataset.device))
        points = points.astype("float64")
        if points.shape[0] != self.d:
            if points.shape != (1, self.d):
                raise ValueError(f"points have dimension {points.shape[0]}, dataset has dimension {self.d}")
            points = points.reshape(self.d, 1)
        return points

    def _energies(self, points):
        """Half the squared distances of all points and samples, in units of the kernels' widths, and the logarithm of
        the norm."""
        root = self.cho_cov.astype("float64")
        a, b = (td.linalg.solve(root, x.astype("float64")) for x in (self._points(points), self.dataset))
        away = a.T[:, None, :] - b.T[None, :, :]
        log_norm = self.d / 2 * math.log(2 * math.pi) + td.log(td.diagonal(root)).sum()
        return (away * away).sum(-1) / 2, log_norm

    def evaluate(self, points):
        """The density at points, of shape (dims, points)."""
        energies, log_norm = self._energies(points)
        return (td.exp(-energies) * self.weights).sum(1) * td.exp(-log_norm)

    __call__ = pdf = evaluate

    def logpdf(self, x):
        """The logarithm of the density at points. It is finite where the density itself underflows, too."""
        energies, log_norm = self._energies(x)
        return special.logsumexp(-energies, axis=1, b=self.weights) - log_norm

    def integrate_box_1d(self, low, high):
        """The probability between two numbers, for samples of one dim."""
        if self.d != 1:
            raise ValueError("integrate_box_1d() only handles 1D pdfs")
        width = td.sqrt(self.covariance)[0, 0]
        parts = special.ndtr((high - self.dataset[0]) / width) - special.ndtr((low - self.dataset[0]) / width)
        return (self.weights * parts).sum()

    def _overlap(self, covariance, means, weights):
        """The integral of the product with Gaussians of these means (columns). covariance is the sum of both
        covariances."""
        root = td.linalg.cholesky(covariance)
        a, b = (td.linalg.solve(root, x) for x in (means, self.dataset))
        away = a.T[:, None, :] - b.T[None, :, :]
        parts = (td.exp(-(away * away).sum(-1) / 2) * self.weights).sum(1)
        return (parts * weights).sum() / ((2 * math.pi) ** (self.d / 2) * td.diagonal(root).prod())

    def integrate_gaussian(self, mean, cov):
        """The integral of the product with a Gaussian."""
        mean, cov = td.atleast_1d(td.squeeze(asarray(mean))), td.atleast_2d(asarray(cov))
        if mean.shape != (self.d,):
            raise ValueError(f"mean does not have dimension {self.d}")
        if cov.shape != (self.d, self.d):
            raise ValueError(f"covariance does not have dimension {self.d}")
        return self._overlap(self.covariance + cov, mean[:, None], td.ones(1, device=mean.device))

    def integrate_kde(self, other):
        """The integral of the product with another estimate."""
        if other.d != self.d:
            raise ValueError("KDEs are not the same dimensionality")
        return self._overlap(self.covariance + other.covariance, other.dataset, other.weights)

    def integrate_box(self, low_bounds, high_bounds, maxpts=None, *, rng=None):
        """The probability within a box, computed by SciPy on the host."""
        f = self._scipy_().integrate_box
        return _table.call("scipy.stats.gaussian_kde.integrate_box", f, (low_bounds, high_bounds, maxpts), {"rng": rng})

    def resample(self, size=None, seed=None):
        """Draws from the density, of shape (dims, size). seed: of treadle's generator."""
        size = int(self.neff) if size is None else size
        rng = seed if hasattr(seed, "standard_normal") else td.random.default_rng(seed)
        noise = self.cho_cov @ asarray(rng.standard_normal((self.d, size)), device=self.dataset.device)
        at = asarray(rng.choice(self.n, size, p=self.weights), device=self.dataset.device)
        return td.take(self.dataset, at, axis=1) + noise

    def marginal(self, dimensions):
        """The estimate of the density of some of the dims."""
        dims = numpy.atleast_1d(td.asnumpy(dimensions))
        if dims.dtype.kind not in "iu" or len(numpy.unique(dims % self.d)) != len(dims) or (abs(dims) > self.d).any():
            raise ValueError(f"dimensions {dims.tolist()} are not different dims of {self.d}")
        part = td.take(self.dataset, asarray(dims % self.d, device=self.dataset.device), axis=0)
        return gaussian_kde(part, bw_method=self.factor, weights=self.weights)

    def _scipy_(self):
        import scipy.stats

        return scipy.stats.gaussian_kde(self.dataset.get(), bw_method=self.factor, weights=self.weights.get())
