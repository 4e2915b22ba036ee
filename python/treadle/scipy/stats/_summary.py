"""Moments, several kinds of means, entropies and transformations of samples."""

import collections
import math

import numpy

import treadle as td

from ..._core import asarray
from .. import special
from ._axes import along, asked, floating, host

DescribeResult = collections.namedtuple("DescribeResult", "nobs minmax mean variance skewness kurtosis")


def _about(a, order, centre):
    """The mean of (a - centre) ** order, by repeated squaring."""
    away, r = a - centre, None
    while order:
        if order & 1:
            r = away if r is None else r * away
        away, order = away * away, order >> 1
    return r.mean(-1)


@along()
def moment(a, order=1, *, center=None):
    """Moments about the mean, or about center. Several orders give several moments, along a new first axis."""
    a = floating(a)
    orders = numpy.atleast_1d(td.asnumpy(order))
    if not orders.size:
        raise ValueError("`order` must be a scalar or a non-empty 1D array.")
    if (orders != numpy.round(orders)).any():
        raise ValueError("All elements of `order` must be integral.")
    mean = a.mean(-1, keepdims=True) if center is None else center
    parts = []
    for n in orders.astype(int).tolist():
        trivial = n == 0 or n == 1 and center is None
        parts.append(
            td.full(a.shape[:-1], float(n == 0), dtype=a.dtype, device=a.device) if trivial else _about(a, n, mean)
        )
    if a.dtype.kind == "f":
        lost = td.isnan(a).any(-1)
        parts = [td.where(lost, a.dtype.type(numpy.nan), p) for p in parts]
    return parts[0] if numpy.ndim(order) == 0 else td.stack(parts)


def _central(a):
    """The mean and the second moment, and where the moment is negligible beside the mean."""
    mean = a.mean(-1, keepdims=True)
    second = _about(a, 2, mean)
    return mean, second, second <= (numpy.finfo(a.dtype).eps * mean[..., 0]) ** 2


@along()
def skew(a, bias=True):
    """The third moment divided by the second to the power 1.5. NaN if all elements are equal. bias=False corrects the
    bias."""
    a = floating(a)
    n = a.shape[-1]
    mean, second, none = _central(a)
    r = _about(a, 3, mean) / second**1.5
    if not bias and n > 2:
        r = r * (((n - 1.0) * n) ** 0.5 / (n - 2.0))
    return td.where(none, a.dtype.type(numpy.nan), r)


@along()
def kurtosis(a, fisher=True, bias=True):
    """The fourth moment divided by the square of the second, minus 3 if fisher. NaN if all elements are equal.
    bias=False corrects the bias."""
    a = floating(a)
    n = a.shape[-1]
    mean, second, none = _central(a)
    r = _about(a, 4, mean) / second**2
    if not bias and n > 3:
        r = 1.0 / (n - 2) / (n - 3) * ((n**2 - 1.0) * r - 3 * (n - 1) ** 2.0) + 3.0
    return td.where(none, a.dtype.type(numpy.nan), r - 3 if fisher else r)


@along()
def sem(a, ddof=1):
    """The standard error of the mean."""
    a = floating(a)
    return a.std(-1, ddof=ddof) / a.shape[-1] ** 0.5


@along()
def variation(a, ddof=0):
    """The standard deviation divided by the mean."""
    a = floating(a)
    n, mean = a.shape[-1], a.mean(-1)
    if n == ddof:
        deviates = a.std(-1) > 0
        return td.where(deviates, td.copysign(a.dtype.type(numpy.inf), mean), a.dtype.type(numpy.nan))
    return a.std(-1, ddof=ddof) / mean


def describe(a, axis=0, ddof=1, bias=True, nan_policy="propagate"):
    """The number of elements, the smallest and the largest, mean, variance, skewness and kurtosis along axis."""
    a = asarray(a)
    done = asked("describe", nan_policy, [a], (a, axis, ddof, bias, nan_policy), {})
    if done is not None:
        return done
    if not a.size:
        raise ValueError("The input must not be empty.")
    if axis is None:
        a, axis = a.reshape(-1), 0
    x = floating(a)
    return DescribeResult(
        a.shape[axis],
        (a.min(axis), a.max(axis)),
        x.mean(axis),
        x.var(axis, ddof=ddof),
        skew(x, axis=axis, bias=bias),
        kurtosis(x, axis=axis, bias=bias),
    )


# ---- means ----


def _mean(x, weights):
    return x.mean(-1) if weights is None else (x * weights).sum(-1) / weights.sum(-1)


def _weighed(f):
    """A function of a and weights. If weights are given, they are its second sample."""

    def given(a, *args, axis=0, dtype=None, weights=None, nan_policy="propagate", keepdims=False, **kwargs):
        a = asarray(a) if dtype is None else asarray(a).astype(dtype)
        if args and f.__name__ != "pmean":
            axis, args = args[0], args[1:]
        samples = [floating(a)] if weights is None else [floating(a), floating(weights)]
        if len(samples) == 2 and samples[0].shape != samples[1].shape:
            samples[1] = _spread(samples[1], samples[0], axis)
        call = along(len(samples))(lambda *x: f(x[0], x[1] if weights is not None else None, *args, **kwargs))
        return call(*samples, axis=axis, nan_policy=nan_policy, keepdims=keepdims)

    given.__name__ = given.__qualname__ = f.__name__
    given.__doc__ = f.__doc__
    return given


def _spread(w, a, axis):
    """Weights along axis, broadcast to a's shape."""
    if w.ndim == 1 and axis is not None and a.ndim > 1:
        shape = [1] * a.ndim
        shape[axis] = w.shape[0]
        w = w.reshape(shape)
    return td.broadcast_to(w, a.shape)


@_weighed
def gmean(a, weights):
    """The geometric mean along axis. weights: those of the elements."""
    return td.exp(_mean(td.log(a), weights))


@_weighed
def hmean(a, weights):
    """The harmonic mean along axis. weights: those of the elements. NaN if an element is negative."""
    return 1.0 / _mean(1.0 / td.where(a < 0, a.dtype.type(numpy.nan), a), weights)


@_weighed
def pmean(a, weights, p):
    """The mean of p-th powers to the power 1 / p along axis. p = 0 gives the geometric mean. NaN if an element is
    negative."""
    if not isinstance(p, (int, float)):
        raise ValueError("Power mean only defined for exponent of type int or float.")
    if math.isinf(p):
        raise NotImplementedError("Power mean only implemented for finite `p`")
    if p == 0:
        return td.exp(_mean(td.log(a), weights))
    return _mean(td.where(a < 0, a.dtype.type(numpy.nan), a) ** float(p), weights) ** (1 / p)


@along(samples=1)
def trim_mean(a, proportiontocut):
    """The mean without this share of the elements at both ends. Raises ValueError if nothing would be left."""
    n = a.shape[-1]
    cut = int(proportiontocut * n)
    if cut > n - cut:
        raise ValueError("Proportion too big.")
    return floating(td.sort(a, axis=-1)[..., cut : n - cut]).mean(-1)


# ---- scores ----


def zmap(scores, compare, axis=0, ddof=0, nan_policy="propagate"):
    """The distance of scores from the mean of compare, in standard deviations, along axis."""
    same = scores is compare
    scores, compare = floating(scores), floating(compare)
    done = asked(
        "zmap", nan_policy, [compare], (scores, compare), {"axis": axis, "ddof": ddof, "nan_policy": nan_policy}
    )
    if done is not None:
        return done
    mean, deviation = compare.mean(axis, keepdims=True), compare.std(axis, ddof=ddof, keepdims=True)
    z = (scores - mean) / deviation
    if not same:
        return z
    return td.where(deviation <= abs(numpy.finfo(z.dtype).eps * mean), z.dtype.type(numpy.nan), z)


def zscore(a, axis=0, ddof=0, nan_policy="propagate"):
    """The distance of elements from the mean, in standard deviations, along axis. NaN if all elements are equal."""
    return zmap(a, a, axis, ddof, nan_policy)


def gzscore(a, *, axis=0, ddof=0, nan_policy="propagate"):
    """zscore of the logarithms."""
    return zscore(td.log(floating(a)), axis, ddof, nan_policy)


def gstd(a, axis=0, ddof=1, *, keepdims=False, nan_policy="propagate"):
    """The exponential of the logarithms' standard deviation."""
    logs = td.log(floating(a))
    done = asked("gstd", nan_policy, [logs], (a,), {"axis": axis, "ddof": ddof, "nan_policy": nan_policy})
    return td.exp(logs.std(axis, ddof=ddof, keepdims=keepdims)) if done is None else done


# ---- entropy ----


def entropy(pk, qk=None, base=None, axis=0, *, nan_policy="propagate", keepdims=False):
    """The entropy of distributions along axis, or the relative entropy to qk. They are normalised first. base: of the
    logarithms."""
    if base is not None and base <= 0:
        raise ValueError("`base` must be a positive number or `None`.")
    given = [floating(pk)] if qk is None else list(td.broadcast_arrays(floating(pk), floating(qk)))

    def entropy(p, q=None):
        p = p / p.sum(-1, keepdims=True)
        r = special.entr(p).sum(-1) if q is None else special.rel_entr(p, q / q.sum(-1, keepdims=True)).sum(-1)
        return r if base is None else r / math.log(base)

    return along(len(given))(entropy)(*given, axis=axis, nan_policy=nan_policy, keepdims=keepdims)


# ---- transformations ----


def boxcox_llf(lmb, data, *, axis=0, keepdims=False, nan_policy="propagate"):
    """The log-likelihood of data after a Box-Cox transform with parameter lmb."""

    def boxcox_llf(x):
        n, logs = x.shape[-1], td.log(floating(x))
        if lmb == 0:
            spread = td.log(logs.var(-1))
        else:
            scaled = lmb * logs
            top = scaled.max(-1, keepdims=True)
            spread = td.log(td.exp(scaled - top).var(-1)) + 2 * top[..., 0] - 2 * math.log(abs(lmb))
        return (lmb - 1) * logs.sum(-1) - n / 2 * spread

    return along()(boxcox_llf)(data, axis=axis, keepdims=keepdims, nan_policy=nan_policy)


def boxcox(x, lmbda=None, alpha=None, optimizer=None):
    """The Box-Cox transform with parameter lmbda. Without lmbda SciPy finds the best one on the host."""
    x = asarray(x)
    if lmbda is None:
        return host("boxcox", (x, lmbda, alpha, optimizer), {}, "the best lmbda is searched for")
    if x.ndim != 1:
        raise ValueError("Data must be 1-dimensional.")
    return special.boxcox(x, lmbda)


def _yeojohnson(x, lmb):
    up, down = x >= 0, 2 - lmb
    above, below = td.where(up, x, 0), td.where(up, 0, -x)
    high = td.log1p(above) if abs(lmb) < numpy.spacing(1.0) else td.expm1(lmb * td.log1p(above)) / lmb
    low = -td.log1p(below) if abs(down) <= numpy.spacing(1.0) else -td.expm1(down * td.log1p(below)) / down
    return td.where(up, high, low)


def yeojohnson(x, lmbda=None):
    """The Yeo-Johnson transform with parameter lmbda. Without lmbda SciPy finds the best one on the host."""
    x = asarray(x)
    if lmbda is None:
        return host("yeojohnson", (x,), {}, "the best lmbda is searched for")
    return _yeojohnson(floating(x), lmbda) if x.size else x


def yeojohnson_llf(lmb, data, *, axis=0, nan_policy="propagate", keepdims=False):
    """The log-likelihood of data after a Yeo-Johnson transform with parameter lmb."""

    def yeojohnson_llf(x):
        x = floating(x)
        variance = _yeojohnson(x, lmb).var(-1)
        r = -x.shape[-1] / 2 * td.log(variance) + (lmb - 1) * (td.sign(x) * td.log1p(abs(x))).sum(-1)
        return td.where(variance < numpy.finfo(variance.dtype).tiny, x.dtype.type(numpy.inf), r)

    return along()(yeojohnson_llf)(data, axis=axis, keepdims=keepdims, nan_policy=nan_policy)
