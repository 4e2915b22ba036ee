"""The metrics, for vectors along the last axis of arrays that broadcast, and by SciPy's names for two vectors."""

import math

import treadle as td

from ..._core import asarray, ndarray


class Metric:
    """of(x, y, w, **options): the distance along the last axis of floats, with weights or None. bools: cdist makes its
    operands true or false. dots(x, y, w): the same of all pairs of rows, where products of matrices compute it."""

    def __init__(self, of, names="", bools=False, dots=None):
        self.of, self.names, self.bools, self.dots = of, names.split(), bools, dots


METRICS = {}


def metric(names="", **more):
    def enter(of):
        name = of.__name__.strip("_")
        METRICS[name] = Metric(of, names, **more)
        return of

    return enter


def find(name):
    """The metric of a full or short name. Raises ValueError for an unknown one."""
    name = name.lower()
    for own, m in METRICS.items():
        if name == own or name in m.names:
            return own, m
    raise ValueError(f"Unknown Distance Metric: {name}")


def _sum(x, w):
    return x.sum(-1) if w is None else (x * w).sum(-1)


# ---- differences ----


@metric("euclid eu e")
def _euclidean(x, y, w):
    return td.sqrt(_sqeuclidean(x, y, w))


@metric("sqe sqeuclid")
def _sqeuclidean(x, y, w):
    away = x - y
    return _sum(away * away, w)


@metric("cblock cb c manhattan")
def _cityblock(x, y, w):
    return _sum(abs(x - y), w)


@metric("chebychev cheby cheb ch")
def _chebyshev(x, y, w):
    away = abs(x - y)
    return (away if w is None else td.where(w != 0, away, 0)).max(-1)


@metric("mi m pnorm")
def _minkowski(x, y, w, p=2):
    if not p > 0:
        raise ValueError("p must be greater than 0")
    if p == math.inf:
        return _chebyshev(x, y, w)
    if p in (1, 2):
        return (_cityblock if p == 1 else _euclidean)(x, y, w)
    return _sum(abs(x - y) ** p, w) ** (1.0 / p)


@metric("se s")
def _seuclidean(x, y, w, V):
    return _euclidean(x, y, 1 / V)


@metric("mahal mahalanobis mah")
def _mahalanobis(x, y, w, VI):
    away = x - y
    return td.sqrt((away[..., :, None] * VI * away[..., None, :]).sum((-2, -1)))


@metric("")
def _canberra(x, y, w):
    size = abs(x) + abs(y)
    return _sum(td.where(size > 0, abs(x - y) / td.where(size > 0, size, 1), 0), w)


@metric("")
def _braycurtis(x, y, w):
    return _sum(abs(x - y), w) / _sum(abs(x + y), w)


@metric("matching hamm ha h")
def _hamming(x, y, w):
    differ = (x != y).astype("float64")
    return differ.mean(-1) if w is None else (differ * w).sum(-1) / w.sum()


# ---- angles ----


def _angle(uv, uu, vv):
    return td.clip(1.0 - uv / td.sqrt(uu * vv), 0.0, 2.0)


def _cosine_dots(x, y, w):
    weighed = y if w is None else y * w
    return _angle(x @ weighed.T, _sum(x * x, w)[:, None], _sum(y * y, w)[None, :])


def _centred(x, w):
    mean = x.mean(-1, keepdims=True) if w is None else (x * w).sum(-1, keepdims=True) / w.sum()
    return x - mean


@metric("cos", dots=_cosine_dots)
def _cosine(x, y, w):
    return _angle(_sum(x * y, w), _sum(x * x, w), _sum(y * y, w))


@metric("co", dots=lambda x, y, w: _cosine_dots(_centred(x, w), _centred(y, w), w))
def _correlation(x, y, w):
    return _cosine(_centred(x, w), _centred(y, w), w)


# ---- distributions ----


def _relative(x, y):
    """x log(x / y). Unless both are positive it is 0 where x is 0 and y not negative, inf elsewhere."""
    both = (x > 0) & (y > 0)
    r = x * td.log(td.where(both, x, 1) / td.where(both, y, 1))
    return td.where(both, r, td.where((x == 0) & (y >= 0), 0.0, math.inf))


@metric("js")
def _jensenshannon(x, y, w, base=None):
    x, y = x / x.sum(-1, keepdims=True), y / y.sum(-1, keepdims=True)
    middle = (x + y) / 2.0
    total = _relative(x, middle).sum(-1) + _relative(y, middle).sum(-1)
    return td.sqrt((total if base is None else total / math.log(base)) / 2.0)


@metric("")
def _hellinger(x, y, w):
    return td.sqrt(td.maximum(1.0 - td.sqrt(x * y).sum(-1), 0.0))


@metric("")
def _kl_divergence(x, y, w):
    return _relative(x, y).sum(-1)


# ---- booleans ----


def _counts(x, y, w):
    """The counts of elements where both are true, only the first, only the second."""
    return _sum(x * y, w), _sum(x * (1.0 - y), w), _sum((1.0 - x) * y, w)


def _ratio(over, under, instead=0.0):
    none = under == 0
    return td.where(none, instead, over / td.where(none, 1, under))


def _total(x, w):
    return float(x.shape[-1]) if w is None else w.sum()


@metric("jacc ja j")
def _jaccard(x, y, w):
    x, y = x != 0, y != 0
    return _ratio(_sum((x ^ y).astype("float64"), w), _sum((x | y).astype("float64"), w))


@metric("", bools=True)
def _dice(x, y, w):
    both, first, second = _counts(x, y, w)
    return (first + second) / (2.0 * both + first + second)


@metric("", bools=True)
def _rogerstanimoto(x, y, w):
    _, first, second = _counts(x, y, w)
    away = 2.0 * (first + second)
    return away / (_total(x, w) - first - second + away)


@metric("", bools=True)
def _russellrao(x, y, w):
    n = _total(x, w)
    return (n - _sum(x * y, w)) / n


@metric("", bools=True)
def _sokalsneath(x, y, w):
    both, first, second = _counts(x, y, w)
    away = 2.0 * (first + second)
    return away / (both + away)


@metric("", bools=True)
def _yule(x, y, w):
    both, first, second = _counts(x, y, w)
    neither = _total(x, w) - both - first - second
    half = first * second
    return _ratio(2.0 * half, both * neither + half)


# ---- of two vectors ----


def vector(u, name="Input vector"):
    """u as a vector of floats. Raises ValueError unless it has one axis."""
    u = asarray(u)
    if u.ndim != 1:
        raise ValueError(f"{name} should be 1-D.")
    return u if u.dtype.kind == "f" and u.dtype.itemsize >= 4 else u.astype("float64")


def weights(w, device):
    """Weights as floats. Raises ValueError for a negative one."""
    if w is None:
        return None
    w = vector(asarray(w, device=None if isinstance(w, ndarray) else device)).astype("float64")
    if w.size and bool((w < 0).any()):
        raise ValueError("Input weights should be all non-negative")
    return w


def _of_vectors(name, u, v, w, **options):
    u, v = vector(u), vector(v)
    if u.shape != v.shape:
        raise ValueError(f"{name}: the 1d arrays must have equal lengths, not {u.shape[0]} and {v.shape[0]}")
    return METRICS[name].of(u, v, weights(w, u.device), **options)


_MEANINGS = {
    "braycurtis": "the sum of abs(u - v) by that of abs(u + v)",
    "canberra": "the sum of abs(u - v) / (abs(u) + abs(v))",
    "chebyshev": "the greatest difference",
    "cityblock": "the sum of differences",
    "dice": "of truth values: what differs by what differs and twice what both have",
    "euclidean": "the length of u - v",
    "hamming": "the part that differs",
    "jaccard": "of truth values: what differs by what either has",
    "rogerstanimoto": "of truth values: twice what differs by itself and what agrees",
    "russellrao": "of truth values: the part that not both have",
    "sqeuclidean": "the squared length of u - v",
    "yule": "of truth values: 2 R / (tt ff + R / 2), R being 2 tf ft",
    "sokalsneath": "of truth values: twice what differs by itself and what both have",
}


def _plain(name, meaning):
    def distance(u, v, w=None):
        return _of_vectors(name, u, v, w)

    distance.__name__ = distance.__qualname__ = name
    distance.__doc__ = f"The distance of two vectors, w weighing their elements: {meaning}."
    return distance


globals().update({name: _plain(name, meaning) for name, meaning in _MEANINGS.items()})


def minkowski(u, v, p=2, w=None):
    """The p-norm of u - v, with weights w of the elements. Raises ValueError unless p is above 0."""
    return _of_vectors("minkowski", u, v, w, p=p)


def seuclidean(u, v, V):
    """The standardized Euclidean distance: the norm of u - v, its squared elements divided by the variances V."""
    return _of_vectors("seuclidean", u, v, None, V=vector(V))


def mahalanobis(u, v, VI):
    """The Mahalanobis distance of u and v. VI: the inverse of the covariance matrix."""
    return _of_vectors("mahalanobis", u, v, None, VI=td.atleast_2d(asarray(VI)))


def correlation(u, v, w=None, centered=True):
    """1 minus the correlation of u and v. centered=False does not subtract the means."""
    return _of_vectors("correlation" if centered else "cosine", u, v, w)


def cosine(u, v, w=None):
    """1 minus the cosine of the angle between u and v."""
    return _of_vectors("cosine", u, v, w)


def jensenshannon(p, q, base=None, *, axis=0, keepdims=False):
    """The Jensen-Shannon distance of distributions along axis: the root of the divergence. Sums are normalized to 1."""
    p, q = td.moveaxis(asarray(p), axis, -1), td.moveaxis(asarray(q), axis, -1)
    r = _jensenshannon(p, q, None, base)
    return td.expand_dims(r, axis) if keepdims else r


def hellinger(u, v):
    """The Hellinger distance of two distributions, sqrt(1 - sum(sqrt(u v)))."""
    return _of_vectors("hellinger", u, v, None)


def kl_divergence(u, v):
    """The Kullback-Leibler divergence of two distributions, sum(u log(u / v))."""
    return _of_vectors("kl_divergence", u, v, None)
