"""Relations of two samples: correlations and regression lines."""

import collections
import math
import statistics
import warnings

import numpy

import treadle as td

from ..._core import asarray
from .. import special
from ._axes import asked, floating, has_nan, host
from ._compare import ConfidenceInterval, SignificanceResult, by_tails, student
from ._ranks import rankdata

_Line = collections.namedtuple("LinregressResult", "slope intercept rvalue pvalue stderr")


class LinregressResult(_Line):
    """slope, intercept, rvalue, pvalue, stderr; also intercept_stderr."""

    def __new__(cls, slope, intercept, rvalue, pvalue, stderr, intercept_stderr):
        self = super().__new__(cls, slope, intercept, rvalue, pvalue, stderr)
        self.intercept_stderr = intercept_stderr
        return self


class PearsonRResult(collections.namedtuple("PearsonRResult", "statistic pvalue")):
    """statistic and pvalue; also correlation, and confidence_interval(confidence_level)."""

    def __new__(cls, statistic, pvalue, n=0, alternative="two-sided"):
        self = super().__new__(cls, statistic, pvalue)
        self.correlation, self._n, self._alternative = statistic, n, alternative
        return self

    def confidence_interval(self, confidence_level=0.95, method=None):
        """The confidence interval, by Fisher's transformation. method (resampling) is not implemented."""
        if method is not None:
            raise NotImplementedError("confidence_interval: resampling is SciPy's; scipy.stats.pearsonr has it")
        r, error = self.statistic, math.sqrt(1 / (self._n - 3)) if self._n > 3 else math.inf
        part = (1 + confidence_level) / 2 if self._alternative == "two-sided" else confidence_level
        away, middle = statistics.NormalDist().inv_cdf(part) * error, td.arctanh(r)
        low, high = td.tanh(middle - away), td.tanh(middle + away)
        low = td.full_like(low, -1.0) if self._alternative == "less" else low
        high = td.full_like(high, 1.0) if self._alternative == "greater" else high
        return ConfidenceInterval(low, high)


def _unit(x):
    """x minus its mean, scaled to length 1 along the last axis without overflow."""
    away = x - x.mean(-1, keepdims=True)
    top = abs(away).max(-1, keepdims=True)
    length = top * td.sqrt(((away / top) ** 2).sum(-1, keepdims=True))
    return away / length


def pearsonr(x, y, *, alternative="two-sided", method=None, axis=0):
    """The correlation of x and y along axis, and the probability of one at least as far from 0. NaN if a sample is
    constant.

    method (resampling): SciPy on the host. Raises ValueError if lengths differ or are below 2.
    """
    x, y = asarray(x), asarray(y)
    if method is not None:
        return host("pearsonr", (x, y), {"alternative": alternative, "method": method, "axis": axis}, "method is given")
    if "c" in (x.dtype.kind, y.dtype.kind):
        raise ValueError("This function does not support complex data")
    x, y = (a.reshape(-1) for a in (x, y)) if axis is None else (x, y)
    axis = 0 if axis is None else axis
    if x.shape[axis] != y.shape[axis]:
        raise ValueError("`x` and `y` must have the same length along `axis`.")
    n = x.shape[axis]
    if n < 2:
        raise ValueError("`x` and `y` must have length at least 2.")
    x, y = (td.moveaxis(floating(a), axis, -1) for a in td.broadcast_arrays(x, y))
    constant = (x == x[..., :1]).all(-1) | (y == y[..., :1]).all(-1)
    if bool(constant.any()):
        warnings.warn(
            "An input array is constant; the correlation coefficient is not defined.", RuntimeWarning, stacklevel=2
        )
    if n == 2:
        r = td.round((_unit(x) * _unit(y)).sum(-1))
        p = td.ones_like(r)
    else:
        r = td.clip((_unit(x) * _unit(y)).sum(-1), -1.0, 1.0)
        half = n / 2 - 1
        p = by_tails(r, lambda t: special.betainc(half, half, (1 + t) / 2), alternative)
    r, p = (td.where(constant, numpy.nan, v).astype(x.dtype) for v in (r, p))
    return PearsonRResult(r, p, n, alternative)


def pointbiserialr(x, y):
    """The correlation of a bool and a number."""
    r = pearsonr(x, y)
    return SignificanceResult(r.statistic, r.pvalue)


def spearmanr(a, b=None, axis=0, nan_policy="propagate", alternative="two-sided"):
    """The correlation of the ranks of the columns (axis=0) or rows of a and b, and its probability. Two columns give
    numbers, more give matrices. NaN gives NaN. Raises ValueError for more than two axes."""
    a = asarray(a)
    arrays = [a] if b is None else [a, asarray(b)]
    done = asked(
        "spearmanr",
        nan_policy,
        arrays,
        (*arrays,),
        {"axis": axis, "nan_policy": nan_policy, "alternative": alternative},
    )
    if done is not None:
        return done
    if any(x.ndim > 2 for x in arrays) or axis not in (0, 1, None):
        raise ValueError("spearmanr only handles 1-D or 2-D arrays")
    if axis is None:
        arrays, axis = [x.reshape(-1) for x in arrays], 0
    columns = [x.reshape(-1, 1) if x.ndim < 2 else x if axis == 0 else x.T for x in arrays]
    both = td.concatenate(columns, axis=1)
    if b is None and a.ndim < 2:
        raise ValueError("`spearmanr` needs at least 2 variables to compare")
    nan = td.isnan(both).any(0) if has_nan(both) else None
    rs = td.corrcoef(rankdata(both, axis=0).T)
    df = both.shape[0] - 2
    t = rs * td.sqrt(td.maximum(df / ((rs + 1.0) * (1.0 - rs)), 0))
    p = student(t, td.full_like(t, float(df)), alternative)
    if nan is not None:
        none = nan[:, None] | nan[None, :]
        rs, p = td.where(none, numpy.nan, rs), td.where(none, numpy.nan, p)
    return SignificanceResult(rs[1, 0], p[1, 0]) if rs.shape == (2, 2) else SignificanceResult(rs, p)


def linregress(x, y, alternative="two-sided", *, axis=0, nan_policy="propagate"):
    """The line of least squares through points (x, y): slope, intercept, rvalue, pvalue (that the slope is 0), stderr.

    Raises ValueError if all x are equal, or if there are none. More than one axis: SciPy on the host.
    """
    x, y = asarray(x), asarray(y)
    said = {"alternative": alternative, "axis": axis, "nan_policy": nan_policy}
    if x.ndim != 1 or y.ndim != 1:
        return host("linregress", (x, y), said, "arrays of several axes")
    done = asked("linregress", nan_policy, [x, y], (x, y), said)
    if done is not None:
        return done
    if not x.size or not y.size:
        raise ValueError("Inputs must not be empty.")
    x, y = floating(x), floating(y)
    n = x.size
    if n > 1 and bool((x == x[0]).all()):
        raise ValueError("Cannot calculate a linear regression if all x values are identical")
    xmean, ymean = x.mean(), y.mean()
    dx, dy = x - xmean, y - ymean
    xx, xy, yy = (dx * dx).mean(), (dx * dy).mean(), (dy * dy).mean()
    flat = (xx == 0) | (yy == 0)
    r = td.where(flat, td.where(xy == 0, numpy.nan, 0.0), td.clip(xy / td.sqrt(xx * yy), -1.0, 1.0))
    slope = xy / xx
    intercept = ymean - slope * xmean
    if n == 2:
        zero = td.zeros_like(slope)
        return LinregressResult(slope, intercept, r, td.where(y[0] == y[1], 1.0, 0.0), zero, zero)
    df, tiny = n - 2, 1.0e-20
    t = r * td.sqrt(df / ((1.0 - r + tiny) * (1.0 + r + tiny)))
    error = td.sqrt((1 - r**2) * yy / xx / df)
    p = student(t, td.full_like(t, float(df)), alternative)
    return LinregressResult(slope, intercept, r, p, error, error * td.sqrt(xx + xmean**2))
