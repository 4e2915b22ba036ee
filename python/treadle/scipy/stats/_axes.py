"""The parameters that SciPy's functions of samples share: one or several axes or None, keepdims, and the treatment of
NaN."""

import functools
import inspect

import treadle as td

from ... import _old_numpy
from ..._core import asarray, ndarray
from .. import _table

POLICIES = ("propagate", "raise", "omit")


def floating(x):
    """x as floating-point numbers. Integers become float64."""
    x = asarray(x)
    return x if x.dtype.kind in "fc" else x.astype("float64")


def has_nan(*arrays):
    """Whether one of the arrays holds NaN. The answer is fetched."""
    return any(a.dtype.kind in "fc" and a.size and bool(td.isnan(a).any()) for a in arrays)


def host(name, args, kwargs, why):
    """Call the function of that name in scipy.stats, on the host."""
    try:
        import scipy.stats
    except ImportError:
        return _table._missing(f"scipy.stats.{name}")()
    return _table.call(f"scipy.stats.{name}", getattr(scipy.stats, name), args, kwargs, why)


def asked(name, policy, arrays, args, kwargs):
    """Do what a nan_policy other than "propagate" asks for: return the host's result, or None to go on. Raises
    ValueError if it is "raise" and there is NaN, and for an unknown policy."""
    if policy not in POLICIES:
        raise ValueError("nan_policy must be one of {'propagate', 'raise', 'omit'}")
    if policy == "propagate" or not has_nan(*arrays):
        return None
    if policy == "raise":
        raise ValueError("The input contains nan values")
    return host(name, args, kwargs, "nan_policy='omit'")


def _one_axis(arrays, axis):
    """Arrays in which the axes to reduce are merged into one, the last."""
    if axis is None:
        return [a.reshape(-1) for a in arrays]
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    out = []
    for a in arrays:
        where = [_old_numpy.array_utils.normalize_axis_index(k, a.ndim) for k in axes]
        rest = [n for k, n in enumerate(a.shape) if k not in where]
        out.append(td.moveaxis(a, where, list(range(-len(where), 0))).reshape((*rest, -1)))
    return out


def _kept(r, axis, ndim):
    if axis is None:
        return r.reshape((1,) * ndim)
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    return td.expand_dims(r, tuple(k % ndim for k in axes))


def along(samples=1, axis=0, broadcast=False):
    """A decorator that gives f(*samples, ...), which reduces the last axis, SciPy's parameters axis, nan_policy and
    keepdims. f returns an array or a named tuple of arrays. broadcast: the samples are broadcast to one shape first."""

    def decorate(f):
        names = list(inspect.signature(f).parameters)

        @functools.wraps(f)
        def reduced(*args, axis=axis, nan_policy="propagate", keepdims=False, **kwargs):
            count = len(args) if samples is None else samples
            given = [*args[:count], *(kwargs.pop(n) for n in names[len(args) : count] if n in kwargs)]
            rest = args[count:]
            if rest and position is not None and len(rest) > position:
                axis, rest = rest[position], (*rest[:position], *rest[position + 1 :])
            arrays = [asarray(a) for a in given]
            if broadcast and len({a.shape for a in arrays}) > 1:
                arrays = list(td.broadcast_arrays(*arrays))
            said = {**kwargs, "axis": axis, "nan_policy": nan_policy}
            if keepdims:
                said["keepdims"] = keepdims
            done = asked(f.__name__, nan_policy, arrays, (*arrays, *rest), said)
            if done is not None:
                return done
            ndim = arrays[0].ndim
            r = f(*_one_axis(arrays, axis), *rest, **kwargs)
            if not keepdims:
                return r
            if isinstance(r, ndarray):
                return _kept(r, axis, ndim)
            return type(r)(*(_kept(x, axis, ndim) for x in r))

        position = _POSITIONS.get(f.__name__)
        return reduced

    return decorate


# The position of axis among the arguments after the samples, for programs that give it by position.
_FIRST = "skew kurtosis sem variation describe gmean hmean mode skewtest kurtosistest normaltest ttest_rel zscore"
_POSITIONS = dict.fromkeys(_FIRST.split(), 0)
_POSITIONS |= {"moment": 1, "entropy": 2, "trim_mean": 1, "ttest_1samp": 1, "tmin": 1, "tmax": 1}
