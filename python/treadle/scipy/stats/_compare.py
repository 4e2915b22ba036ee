"""Tests of means, variances and frequencies. Reductions compute the statistic, special functions its probability."""

import collections
import math

import numpy

import treadle as td

from ..._core import asarray
from .. import special
from ._axes import along, floating, host
from ._summary import kurtosis, skew

F_onewayResult = collections.namedtuple("F_onewayResult", "statistic pvalue")
Power_divergenceResult = collections.namedtuple("Power_divergenceResult", "statistic pvalue")
SkewtestResult = collections.namedtuple("SkewtestResult", "statistic pvalue")
KurtosistestResult = collections.namedtuple("KurtosistestResult", "statistic pvalue")
NormaltestResult = collections.namedtuple("NormaltestResult", "statistic pvalue")
SignificanceResult = collections.namedtuple("SignificanceResult", "statistic pvalue")


class TtestResult(collections.namedtuple("TtestResult", "statistic pvalue")):
    """The result of a t test: statistic and pvalue; also df, the degrees of freedom, and
    confidence_interval(confidence_level)."""

    def __new__(cls, statistic, pvalue, df=None, alternative="two-sided", error=None, estimate=None):
        self = super().__new__(cls, statistic, pvalue)
        self.df, self._alternative, self._standard_error, self._estimate = df, alternative, error, estimate
        return self

    def confidence_interval(self, confidence_level=0.95):
        """The confidence interval of the mean, or of the difference of means: a pair low, high."""
        part = (1 - confidence_level) / 2 if self._alternative == "two-sided" else 1 - confidence_level
        away = -special.stdtrit(self.df, td.full_like(self._estimate, part)) * self._standard_error
        low, high = self._estimate - away, self._estimate + away
        low = td.full_like(low, -numpy.inf) if self._alternative == "less" else low
        high = td.full_like(high, numpy.inf) if self._alternative == "greater" else high
        return ConfidenceInterval(low, high)


ConfidenceInterval = collections.namedtuple("ConfidenceInterval", "low high")


def by_tails(statistic, below, alternative):
    """The probability of a statistic whose distribution is symmetric about 0. below(x) is its cdf."""
    if alternative == "less":
        return below(statistic)
    if alternative == "greater":
        return below(-statistic)
    if alternative != "two-sided":
        raise ValueError("`alternative` must be 'less', 'greater', or 'two-sided'.")
    return 2 * below(-abs(statistic))


def student(t, df, alternative):
    """The probability of a statistic with Student's t distribution."""
    return by_tails(t, lambda x: special.stdtr(df, x), alternative).astype(t.dtype, copy=False)


def normal(z, alternative):
    """The probability of a statistic with a normal distribution."""
    return by_tails(z, special.ndtr, alternative)


# ---- means ----


def _t(mean, error, df, estimate, alternative):
    t = mean / error
    df = df if hasattr(df, "shape") else td.full(t.shape, df, dtype=t.dtype, device=t.device)
    return TtestResult(t, student(t, df, alternative), df, alternative, error, estimate)


def ttest_1samp(a, popmean, axis=0, nan_policy="propagate", alternative="two-sided", *, keepdims=False):
    """Whether the mean along axis is popmean: a TtestResult."""
    a = floating(a)

    def ttest_1samp(x):
        n, mean = x.shape[-1], x.mean(-1)
        expected = asarray(popmean, device=x.device).astype(x.dtype) if not numpy.isscalar(popmean) else popmean
        if not numpy.isscalar(expected) and expected.ndim:
            expected = expected.squeeze(axis) if axis is not None else expected.reshape(())
        return _t(mean - expected, td.sqrt(x.var(-1, ddof=1) / n), n - 1, mean, alternative)

    return along()(ttest_1samp)(a, axis=axis, nan_policy=nan_policy, keepdims=keepdims)


def ttest_rel(a, b, axis=0, nan_policy="propagate", alternative="two-sided", *, keepdims=False):
    """Whether the means of two related samples are equal: ttest_1samp of their difference."""
    return ttest_1samp(floating(a) - floating(b), 0.0, axis, nan_policy, alternative, keepdims=keepdims)


def _two_means(m1, v1, n1, m2, v2, n2, equal_var, alternative):
    """The test of two means. v1, v2: variances with denominator n - 1."""
    if equal_var:
        df = n1 + n2 - 2.0
        pooled = ((n1 - 1) * (v1 if n1 > 1 else 0) + (n2 - 1) * (v2 if n2 > 1 else 0)) / df
        error = td.sqrt(pooled * (1.0 / n1 + 1.0 / n2))
    else:
        a, b = v1 / n1, v2 / n2
        df = (a + b) ** 2 / (a**2 / (n1 - 1) + b**2 / (n2 - 1))
        df, error = td.where(td.isnan(df), 1.0, df), td.sqrt(a + b)
    return _t(m1 - m2, error, df, m1 - m2, alternative)


def ttest_ind(
    a,
    b,
    *,
    axis=0,
    equal_var=True,
    nan_policy="propagate",
    alternative="two-sided",
    trim=0,
    method=None,
    keepdims=False,
):
    """Whether the means of two independent samples are equal: a TtestResult. equal_var=False: Welch's test.

    trim and method (resampling): SciPy on the host.
    """
    a, b = floating(a), floating(b)
    if trim or method is not None:
        said = {"axis": axis, "equal_var": equal_var, "nan_policy": nan_policy, "alternative": alternative}
        return host("ttest_ind", (a, b), {**said, "trim": trim, "method": method}, "trim or method is given")

    def ttest_ind(x, y):
        n1, n2 = x.shape[-1], y.shape[-1]
        return _two_means(x.mean(-1), x.var(-1, ddof=1), n1, y.mean(-1), y.var(-1, ddof=1), n2, equal_var, alternative)

    return along(2)(ttest_ind)(a, b, axis=axis, nan_policy=nan_policy, keepdims=keepdims)


def ttest_ind_from_stats(mean1, std1, nobs1, mean2, std2, nobs2, equal_var=True, alternative="two-sided"):
    """ttest_ind of two samples of which only means, standard deviations and sizes are known."""
    mean1, std1, mean2, std2 = (floating(x) for x in (mean1, std1, mean2, std2))
    return _two_means(mean1, std1**2, nobs1, mean2, std2**2, nobs2, equal_var, alternative)


def f_oneway(*samples, axis=0, equal_var=True, nan_policy="propagate", keepdims=False):
    """Whether the means of two or more samples are equal: statistic and pvalue. equal_var=False: SciPy on the host."""
    if len(samples) < 2:
        raise TypeError(f"at least two inputs are required; got {len(samples)}.")
    samples = [floating(s) for s in samples]
    if not equal_var:
        said = {"axis": axis, "equal_var": equal_var, "nan_policy": nan_policy}
        return host("f_oneway", tuple(samples), said, "equal_var=False")

    def f_oneway(*parts):
        everything = td.concatenate(parts, axis=-1)
        n, k = everything.shape[-1], len(parts)
        offset = everything.mean(-1, keepdims=True)
        away = everything - offset
        shift = away.sum(-1) ** 2 / n
        total = (away * away).sum(-1) - shift
        between = sum((p - offset).sum(-1) ** 2 / p.shape[-1] for p in parts) - shift
        f = (between / (k - 1)) / ((total - between) / (n - k))
        return F_onewayResult(f, special.fdtrc(float(k - 1), float(n - k), f))

    return along(len(samples))(f_oneway)(*samples, axis=axis, nan_policy=nan_policy, keepdims=keepdims)


# ---- frequencies ----

_LAMBDAS = {
    "pearson": 1,
    "log-likelihood": 0,
    "freeman-tukey": -0.5,
    "mod-log-likelihood": -1,
    "neyman": -2,
    "cressie-read": 2 / 3,
}


def power_divergence(f_obs, f_exp=None, ddof=0, axis=0, lambda_=None):
    """Whether frequencies are those expected (None: all equal), by the Cressie-Read statistic of power lambda_, a
    number or a name. Raises ValueError if the sums of both differ."""
    if isinstance(lambda_, str) and lambda_ not in _LAMBDAS:
        raise ValueError(f"invalid string for lambda_: {lambda_!r}. Valid strings are {', '.join(map(repr, _LAMBDAS))}")
    power = 1 if lambda_ is None else _LAMBDAS.get(lambda_, lambda_)
    observed = floating(f_obs)
    observed = observed.reshape(-1) if axis is None else observed
    axis = 0 if axis is None else axis
    if f_exp is None:
        expected = observed.mean(axis, keepdims=True)
    else:
        observed, expected = td.broadcast_arrays(observed, floating(f_exp))
        sums = observed.sum(axis), expected.sum(axis)
        if bool((abs(sums[0] - sums[1]) / td.minimum(*sums) > numpy.finfo(observed.dtype).eps ** 0.5).any()):
            raise ValueError(
                "For each axis slice, the sum of the observed frequencies must agree with that of the expected."
            )
    if power == 1:
        terms = (observed - expected) ** 2 / expected
    elif power == 0:
        terms = 2.0 * special.xlogy(observed, observed / expected)
    elif power == -1:
        terms = 2.0 * special.xlogy(expected, expected / observed)
    else:
        terms = observed * ((observed / expected) ** power - 1) / (0.5 * power * (power + 1))
    statistic = terms.sum(axis)
    df = observed.shape[axis] - 1 - ddof
    return Power_divergenceResult(statistic, special.chdtrc(float(df), statistic))


def chisquare(f_obs, f_exp=None, ddof=0, axis=0):
    """Whether frequencies are those expected (None: all equal), by Pearson's statistic."""
    return power_divergence(f_obs, f_exp, ddof, axis, "pearson")


# ---- normality ----


def _skew_z(x):
    n = float(x.shape[-1])
    if n < 8:
        return td.full(x.shape[:-1], numpy.nan, dtype=x.dtype, device=x.device)
    y = skew(x, axis=-1) * math.sqrt((n + 1) * (n + 3) / (6.0 * (n - 2)))
    second = 3.0 * (n**2 + 27 * n - 70) * (n + 1) * (n + 3) / ((n - 2) * (n + 5) * (n + 7) * (n + 9))
    width = -1 + math.sqrt(2 * (second - 1))
    y = td.where(y == 0, 1.0, y) / math.sqrt(2.0 / (width - 1))
    return 1 / math.sqrt(0.5 * math.log(width)) * td.log(y + td.sqrt(y * y + 1))


@along()
def skewtest(a, *, alternative="two-sided"):
    """Whether the skewness is that of a normal distribution."""
    z = _skew_z(floating(a))
    return SkewtestResult(z, normal(z, alternative))


def _kurtosis_z(x):
    n = float(x.shape[-1])
    if n < 5:
        return td.full(x.shape[:-1], numpy.nan, dtype=x.dtype, device=x.device)
    variance = 24.0 * n * (n - 2) * (n - 3) / ((n + 1) ** 2 * (n + 3) * (n + 5))
    y = (kurtosis(x, axis=-1, fisher=False) - 3.0 * (n - 1) / (n + 1)) / variance**0.5
    root = 6.0 * (n * n - 5 * n + 2) / ((n + 7) * (n + 9)) * (6.0 * (n + 3) * (n + 5) / (n * (n - 2) * (n - 3))) ** 0.5
    a = 6.0 + 8.0 / root * (2.0 / root + (1 + 4.0 / root**2) ** 0.5)
    under = 1 + y * (2 / (a - 4.0)) ** 0.5
    cube = td.sign(under) * td.where(under == 0, numpy.nan, td.cbrt((1 - 2.0 / a) / abs(under)))
    return (1 - 2 / (9.0 * a) - cube) / (2 / (9.0 * a)) ** 0.5


@along()
def kurtosistest(a, *, alternative="two-sided"):
    """Whether the kurtosis is that of a normal distribution."""
    z = _kurtosis_z(floating(a))
    return KurtosistestResult(z, normal(z, alternative))


@along()
def normaltest(a):
    """Whether skewness and kurtosis are those of a normal distribution."""
    x = floating(a)
    statistic = _skew_z(x) ** 2 + _kurtosis_z(x) ** 2
    return NormaltestResult(statistic, special.chdtrc(2.0, statistic))


@along(axis=None)
def jarque_bera(x):
    """Whether skewness and kurtosis are those of a normal distribution, for large samples."""
    x = floating(x)
    away = x - x.mean(-1, keepdims=True)
    statistic = x.shape[-1] / 6 * (skew(away, axis=-1) ** 2 + kurtosis(away, axis=-1) ** 2 / 4)
    return SignificanceResult(statistic, special.chdtrc(2.0, statistic))
