"""Series in the six bases of numpy.polynomial, from one table of recurrences.

p[0] = 1 and p[k + 1] = (a x + b) p[k] - g p[k - 1]. The bases differ in a, b and g, which are functions of k, and in
the weight under which the polynomials are orthogonal.
"""

import functools
import importlib
import inspect
import warnings

import numpy

from treadle import _core, _old_numpy
from treadle._core import asarray, ndarray
from treadle._exchange import _host
from treadle._exchange._place import on
from treadle._numpy._join import stack

_UFUNC = _core.ufuncs()
_exp, _sqrt = _UFUNC["exp"], _UFUNC["sqrt"]

_COEFFICIENTS = "the few coefficients of a series are worked on one after another"

# module: (prefix, class, the recurrence at k as (a, b, g), weight or None)
BASES = {
    "polynomial": ("poly", "Polynomial", lambda k: (1, 0, 0), None),
    "chebyshev": (
        "cheb", "Chebyshev", lambda k: (2 if k else 1, 0, 1), lambda x: 1.0 / (_sqrt(1.0 + x) * _sqrt(1.0 - x)),
    ),
    "legendre": ("leg", "Legendre", lambda k: ((2 * k + 1) / (k + 1), 0, k / (k + 1)), lambda x: x * 0.0 + 1.0),
    "laguerre": ("lag", "Laguerre", lambda k: (-1 / (k + 1), (2 * k + 1) / (k + 1), k / (k + 1)), lambda x: _exp(-x)),
    "hermite": ("herm", "Hermite", lambda k: (2, 0, 2 * k), lambda x: _exp(-(x * x))),
    "hermite_e": ("herme", "HermiteE", lambda k: (1, 0, k), lambda x: _exp(-0.5 * (x * x))),
}  # fmt: skip


def _floating(x):
    x = x if isinstance(x, ndarray) else asarray(x)
    return x if x.dtype.kind in "fcV" else x.astype("float64")


def _step(rule, k, x):
    """(the factor a x + b, g) of the recurrence at k."""
    a, b, g = rule(k)
    factor = x if a == 1 else a * x
    return factor + b if b else factor, g


# ---- values ----


def _value(rule, x, c, tensor=True):
    """Evaluate the series at x by Clenshaw's recurrence. The first axis of c runs over coefficients. With tensor each
    of its other axes is combined with all of x; otherwise they broadcast with x."""
    x = x if isinstance(x, ndarray) else asarray(x)
    c = _floating(on(x.device, c) if isinstance(c, ndarray) else numpy.array(c, ndmin=1))
    c = on(x.device, c) if c.device != x.device else c
    c = c.reshape(1) if c.ndim == 0 else c
    if tensor:
        c = c.reshape(c.shape + (1,) * x.ndim)
    one, two = c[-1], 0.0
    for k in range(c.shape[0] - 2, -1, -1):
        factor, _ = _step(rule, k, x)
        _, g = _step(rule, k + 1, x)
        one, two = c[k] + factor * one - (g * two if g and k + 2 < c.shape[0] else 0), one
    return one + x * 0 if c.shape[0] == 1 else one


def _valued(rule, grid):
    """Make the function that evaluates a series in several variables, at points, or with grid on their Cartesian
    product."""

    def value(*args):
        *points, c = args
        points = [x if isinstance(x, ndarray) else asarray(x) for x in points]
        if not grid and any(x.shape != points[0].shape for x in points):
            names = ", ".join("xyz"[: len(points)]) if len(points) <= 3 else "ordinates"
            raise ValueError(f"{names} are incompatible")
        for i, x in enumerate(points):
            c = _value(rule, x, c, grid or i == 0)
        return c

    return value


def _valued_at(rule, module, name):
    """Make the function that evaluates a series in any number of variables, which NumPy has since 2.5."""

    def fn(pts, c):
        """Evaluate a series in several variables at points.

        Parameters
        ----------
        pts : sequence of array_like
            One array for each variable, all of one shape.
        c : array_like
            The coefficients; an axis for each variable, and further axes for further series.

        Returns
        -------
        ndarray, shape c.shape[len(pts):] + pts[0].shape
            The values.

        Raises
        ------
        ValueError
            The arrays in pts differ in shape.
        """
        return _valued(rule, False)(*pts, c)

    fn.__module__, fn.__name__, fn.__qualname__ = f"treadle.polynomial.{module}", name, name
    return fn


def _from_roots(x, r, tensor=True):
    """The product of x - r over the roots, which lie along r's first axis."""
    x = x if isinstance(x, ndarray) else asarray(x)
    r = _floating(on(x.device, r))
    r = r.reshape(1) if r.ndim == 0 else r
    if tensor:
        r = r.reshape(r.shape + (1,) * x.ndim)
    elif x.ndim >= r.ndim:
        raise ValueError("x.ndim must be < r.ndim when tensor == False")
    return (x - r).prod(0)


# ---- matrices ----


def _degree(deg):
    try:
        n = deg.__index__()
    except AttributeError:
        raise TypeError(f"deg must be an integer, received {deg!r}") from None
    if n < 0:
        raise ValueError("deg must be non-negative")
    return n


def _matrix(rule, x, deg):
    """The polynomials up to degree deg at x, in a new last axis."""
    n = _degree(deg)
    x = x if isinstance(x, ndarray) else asarray(x)
    x = (x.reshape(1) if x.ndim == 0 else x) + 0.0
    columns = [x * 0 + 1]
    for k in range(n):
        factor, g = _step(rule, k, x)
        columns.append(factor * columns[k] - g * columns[k - 1] if g and k else factor * columns[k])
    return stack(columns, -1)


def _matrices(rule, n):
    """Make the function that computes products of the polynomials in n variables, in a new last axis."""

    def matrix(*args):
        *points, degrees = args
        if len(degrees) != n:
            raise ValueError(f"Expected {n} dimensions of degrees, got {len(degrees)}")
        r = None
        for x, deg in zip(_core._beside("vander", *points), degrees, strict=True):
            m = _matrix(rule, x, deg)
            r = m if r is None else (r[..., :, None] * m[..., None, :]).reshape((*m.shape[:-1], -1))
        return r

    return matrix


# ---- fits ----


def _check(x, y, deg):
    from treadle._numpy._poly import check_points

    if deg.ndim > 1 or deg.dtype.kind not in "iu" or deg.size == 0:
        raise TypeError("deg must be an int or non-empty 1-D array of int")
    if deg.min() < 0:
        raise ValueError("expected deg >= 0")
    check_points(x, y)


def _fit(rule, x, y, deg, rcond=None, full=False, w=None):
    """The coefficients of the least-squares fit of a series to the points."""
    from treadle.linalg import lstsq

    x, y = _core._beside("fit", x, y)
    deg = numpy.asarray(deg)
    _check(x, y, deg)
    x, rhs = x + 0.0, y + 0.0
    degrees = numpy.sort(numpy.atleast_1d(deg))
    lhs = _matrix(rule, x, int(degrees[-1]))
    if deg.ndim:
        lhs = lhs[:, degrees]
    if w is not None:
        w = on(x.device, w) + 0.0
        if w.ndim != 1:
            raise TypeError("expected 1D vector for w")
        if w.shape != x.shape:
            raise TypeError("expected x and w to have same length")
        lhs, rhs = lhs * w[:, None], rhs * (w[:, None] if rhs.ndim == 2 else w)
    rcond = x.size * numpy.finfo(x.dtype).eps if rcond is None else rcond
    squares = lhs.real * lhs.real + lhs.imag * lhs.imag if lhs.dtype.kind == "c" else lhs * lhs
    scale = _sqrt(squares.sum(0))
    scale = _UFUNC["select"](scale == 0, 1.0, scale)
    c, residuals, rank, s = lstsq(lhs / scale, rhs, rcond)
    c = (c.T / scale).T
    if deg.ndim:
        every = _core.zeros((int(degrees[-1]) + 1, *c.shape[1:]), c.dtype, device=c.device)
        every[degrees] = c
        c = every
    if int(rank) != len(degrees if deg.ndim else range(int(deg) + 1)) and not full:
        warnings.warn("The fit may be poorly conditioned", _old_numpy.exceptions.RankWarning, stacklevel=3)
    return (c, [residuals, rank, s, rcond]) if full else c


# ---- a module's names ----


def _named(f, theirs, several=False):
    """f with the name, the signature and the docstring of NumPy's function. several: f takes any number of positional
    arguments, and theirs says how many."""
    signature = inspect.signature(theirs)

    @functools.wraps(theirs)
    def fn(*args, **kwargs):
        if several:
            args, kwargs = signature.bind(*args, **kwargs).args, {}
        return f(*args, **kwargs)

    fn.__module__ = theirs.__module__.replace("numpy", "treadle", 1)
    return fn


def _arithmetic(theirs):
    """NumPy's function of coefficients, for treadle's arrays."""

    @functools.wraps(theirs)
    def fn(*args, **kwargs):
        return _host.library(f"{theirs.__module__}.{theirs.__name__}", theirs, args, kwargs, _COEFFICIENTS)

    fn.__module__ = theirs.__module__.replace("numpy", "treadle", 1)
    return fn


def _domain(x):
    """The ends of the smallest interval that contains x. For complex x it is a rectangle."""
    if x.dtype.kind != "c":
        return numpy.array((float(x.min()), float(x.max())))
    re, im = x.real, x.imag
    return numpy.array((complex(re.min(), im.min()), complex(re.max(), im.max())))


def _series(theirs, rule):
    """The class of series: NumPy's class, with values and fits computed here."""

    name = f"numpy.polynomial.{theirs.__name__}"

    class Series(theirs):
        __doc__ = f"A series of class numpy.polynomial.{theirs.__name__}, whose values and fits are treadle's arrays."

        def __init__(self, coef, domain=None, window=None, symbol="x"):
            init = functools.partial(super().__init__, symbol=symbol)
            _host.library(name, init, (coef, domain, window), {}, _COEFFICIENTS)

        def __call__(self, arg):
            if not isinstance(arg, (ndarray, numpy.ndarray, list, tuple)):
                return super().__call__(arg)
            off, scale = self.mapparms()
            try:
                return _value(rule, off + scale * asarray(arg), self.coef)
            except _core.NoNumbersError:
                return _host.fallback(name, super().__call__, (arg,), {}, _COEFFICIENTS, quiet=True)

        @classmethod
        def fit(cls, x, y, deg, domain=None, rcond=None, full=False, w=None, window=None, symbol="x"):
            x = x if isinstance(x, ndarray) else asarray(x)
            if domain is None:
                domain = _domain(x)
                if domain[0] == domain[1]:
                    domain = domain + numpy.array((-1, 1))
            elif type(domain) is list and len(domain) == 0:
                domain = cls.domain
            window = cls.window if window is None else window
            off, scale = numpy.polynomial.polyutils.mapparms(domain, window)
            r = _fit(rule, off + scale * x, y, deg, rcond, full, w)
            series = cls(r[0] if full else r, domain=domain, window=window, symbol=symbol)
            return (series, r[1]) if full else series

    Series.fit.__func__.__doc__ = theirs.fit.__doc__
    Series.__name__ = Series.__qualname__ = theirs.__name__
    Series.__module__ = "treadle.polynomial"
    return Series


def names(module):
    """The names of treadle.polynomial.<module>."""
    theirs = importlib.import_module(f"numpy.polynomial.{module}")
    prefix, cls, rule, weight = BASES[module]
    ours = {
        "val": functools.partial(_value, rule),
        "fit": functools.partial(_fit, rule),
        "vander": functools.partial(_matrix, rule),
        "valfromroots": _from_roots,
        "weight": weight and (lambda x: weight(x if isinstance(x, ndarray) else asarray(x))),
    }
    for n in (2, 3):
        ours[f"val{n}d"], ours[f"grid{n}d"] = _valued(rule, False), _valued(rule, True)
        ours[f"vander{n}d"] = _matrices(rule, n)
    made = {prefix + "valnd": _valued_at(rule, module, prefix + "valnd")}
    for name in theirs.__all__:
        value = getattr(theirs, name)
        if name in made:
            continue
        if name == cls:
            made[name] = _series(value, rule)
        elif not callable(value):
            made[name] = value  # domain, zero, one, x
        elif name.startswith(prefix) and name[len(prefix) :] in ours:
            of = name[len(prefix) :]
            made[name] = _named(ours[of], value, several=of[-1:] == "d")
        else:
            made[name] = _arithmetic(value)
    return {"__all__": list(made), **made}
