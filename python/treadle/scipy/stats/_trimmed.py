"""Summaries of the elements within limits, quantiles, and summaries of angles."""

import collections
import math

import numpy

import treadle as td

from ..._core import asarray
from ._axes import along, floating

SigmaclipResult = collections.namedtuple("SigmaclipResult", "clipped lower upper")


def _outside(a, limits, inclusive):
    """Which elements lie outside of the limits. Raises ValueError if all do."""
    mask = td.zeros(a.shape, dtype=bool, device=a.device)
    low, high = (None, None) if limits is None else limits
    if low is not None:
        mask = mask | (a < low if inclusive[0] else a <= low)
    if high is not None:
        mask = mask | (a > high if inclusive[1] else a >= high)
    if (low is not None or high is not None) and bool(mask.all()):
        raise ValueError("No array values within given limits")
    return mask


@along(axis=None)
def tmean(a, limits=None, inclusive=(True, True)):
    """The mean of the elements within limits."""
    out, x = _outside(a, limits, inclusive), floating(a)
    inside = (~out).sum(-1)
    return (td.where(out, 0, x).sum(-1) / inside).astype(x.dtype)


def _variance(a, limits, inclusive, ddof):
    out, x = _outside(a, limits, inclusive), floating(a)
    n = (~out).sum(-1, keepdims=True)
    mean = td.where(out, 0, x).sum(-1, keepdims=True) / n
    away = td.where(out, 0, x - mean)
    return ((away * away).sum(-1) / (n[..., 0] - ddof)).astype(x.dtype)


@along()
def tvar(a, limits=None, inclusive=(True, True), *, ddof=1):
    """The variance of the elements within limits."""
    return _variance(a, limits, inclusive, ddof)


@along()
def tstd(a, limits=None, inclusive=(True, True), *, ddof=1):
    """The standard deviation of the elements within limits."""
    return td.sqrt(_variance(a, limits, inclusive, ddof))


@along()
def tsem(a, limits=None, inclusive=(True, True), *, ddof=1):
    """The standard error of the mean of the elements within limits."""
    n = (~_outside(a, limits, inclusive)).sum(-1)
    return td.sqrt(_variance(a, limits, inclusive, ddof) / n).astype(floating(a).dtype)


def _extreme(a, limit, inclusive, least):
    top = numpy.iinfo(a.dtype) if a.dtype.kind in "iu" else numpy.finfo(a.dtype)
    instead = top.max if least else top.min
    if a.dtype.kind == "f":
        instead = math.inf if least else -math.inf
    out = _outside(a, (limit, None) if least else (None, limit), (inclusive, inclusive))
    kept = td.where(out, a.dtype.type(instead), a)
    r = kept.min(-1) if least else kept.max(-1)
    none = out.all(-1)
    return td.where(none, numpy.nan, floating(r)) if bool(none.any()) else r


@along()
def tmin(a, lowerlimit=None, inclusive=True):
    """The smallest element that is not below lowerlimit."""
    return _extreme(a, lowerlimit, inclusive, True)


@along()
def tmax(a, upperlimit=None, inclusive=True):
    """The largest element that is not above upperlimit."""
    return _extreme(a, upperlimit, inclusive, False)


def sigmaclip(a, low=4.0, high=4.0):
    """The elements that remain when those more than low and high standard deviations from the mean are removed,
    repeatedly."""
    c = asarray(a).reshape(-1)
    while True:
        n, mean, deviation = c.size, c.mean(), c.std()
        lower, upper = mean - deviation * low, mean + deviation * high
        c = c[(c >= lower) & (c <= upper)]
        if c.size == n:
            return SigmaclipResult(c, lower, upper)


# ---- quantiles ----

_NORMAL = 0.6744897501960817  # the normal distribution's third quartile


@along(axis=None)
def iqr(x, rng=(25, 75), scale=1.0, interpolation="linear"):
    """The distance of two percentiles, divided by scale ("normal": that distance for the normal distribution)."""
    if isinstance(scale, str):
        if scale.lower() != "normal":
            raise ValueError(f"{scale} not a valid scale for `iqr`")
        scale = 2 * _NORMAL
    if len(rng) != 2:
        raise TypeError("`rng` must be a two element sequence.")
    if numpy.isnan(rng).any():
        raise ValueError("`rng` must not contain NaNs.")
    low, high = td.percentile(x, sorted(rng), axis=-1, method=interpolation)
    return ((high - low) / scale if scale != 1.0 else high - low).astype(floating(x).dtype)


@along()
def median_abs_deviation(x, center=None, scale=1.0):
    """The median distance to the median, divided by scale (a number or "normal")."""
    if center is not None and not callable(center):
        raise TypeError(f"The argument 'center' must be callable. The given value {center!r} is not callable.")
    if isinstance(scale, str):
        if scale.lower() != "normal":
            raise ValueError(f"{scale} is not a valid scale value.")
        scale = _NORMAL
    middle = (td.median if center is None else center)(x, axis=-1)
    return td.median(abs(x - td.expand_dims(middle, -1)), axis=-1) / scale


# ---- angles ----


def _resultant(x, high, low):
    """The mean sines and cosines of samples, which have the period from low to high."""
    x = floating(x) * ((2.0 * math.pi) / (high - low))
    return td.sin(x), td.cos(x)


@along(axis=None)
def circmean(samples, high=2 * math.pi, low=0):
    """The mean of angles, which have the period from low to high."""
    sines, cosines = _resultant(samples, high, low)
    angle = td.arctan2(sines.sum(-1), cosines.sum(-1))
    return (angle * ((high - low) / (2.0 * math.pi)) - low) % (high - low) + low


def _length(samples, high, low):
    sines, cosines = _resultant(samples, high, low)
    return td.minimum((sines.mean(-1) ** 2 + cosines.mean(-1) ** 2) ** 0.5, 1.0)


@along(axis=None)
def circvar(samples, high=2 * math.pi, low=0):
    """1 minus the length of the mean direction."""
    return 1.0 - _length(samples, high, low)


@along(axis=None)
def circstd(samples, high=2 * math.pi, low=0, *, normalize=False):
    """sqrt(-2 log(length of the mean direction)), in the units of the samples unless normalize is true."""
    r = td.sqrt(-2 * td.log(_length(samples, high, low))) + 0.0
    return r if normalize else r * ((high - low) / (2.0 * math.pi))
