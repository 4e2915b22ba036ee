"""Rules of vmap: arithmetic, reductions, products, linear algebra. A row names functions and what they are of items.

A rule gets the call (`c`, see Call) and the function's own arguments, and calls the function once, on values.
"""

import numpy

from .. import _core
from .._numpy._shape import _axes, _axis
from ._array import apply, function, rule

# ---- elements ----

# What lets its operands broadcast, beside the rows of ops.def.
ELEMENTS = (
    "clip where isclose float_power fix sinc nan_to_num real imag angle around round real_if_close isneginf isposinf "
    "divmod frexp ldexp modf nextafter spacing bitwise_count iscomplex isreal i0 heaviside"
)


def _ndim(x):
    return x.ndim if hasattr(x, "ndim") else numpy.ndim(x) if isinstance(x, (list, tuple)) else 0


@rule("ufunc " + ELEMENTS)
def elements(c, *args, **kwargs):
    n = max(map(_ndim, [*args, *kwargs.values()]))
    return c.fn(*(c.aligned(a, n) for a in args), **{k: c.aligned(a, n) for k, a in kwargs.items()})


# The rows of ops.def: their operands broadcast.
for _name in _core.ufuncs():
    rule(_name)(elements)


@rule("where")
def _where(c, condition, *rest, **kwargs):
    return elements(c, condition, *rest, **kwargs) if len(rest) + len(kwargs) == 2 else NotImplemented


@rule("allclose array_equal array_equiv", boxed=False)
def _alike(c, a, b, **kwargs):
    raise TypeError(f"{c.name} gives a Python truth value, which every item has for itself")


@rule("ufunc.reduce")
def _ufunc_reduce(c, a, axis=0, *args, **kwargs):
    if c.has(args) or c.has(kwargs):
        return NotImplemented
    return c.fn(c.front(a), _places(axis, a.ndim), *args, **kwargs)


@rule("ufunc.accumulate")
def _ufunc_accumulate(c, a, axis=0, *args, **kwargs):
    return c.fn(c.front(a), _axis(axis, a.ndim, "accumulate") + 1, *args, **kwargs)


@rule("ufunc.outer")
def _ufunc_outer(c, a, b, **kwargs):
    ufunc = c.fn.__self__
    a, b = c.plain(a), c.plain(b)
    n = a.ndim + b.ndim
    if c.has(a):
        v = c.front(a)
        a = v.reshape((*v.shape, *(1,) * b.ndim))
    else:
        a = a.reshape((*a.shape, *(1,) * b.ndim))
    return ufunc(a, c.aligned(b, n), **kwargs)


# ---- reductions and what runs along one axis ----


def _places(axis, ndim):
    """The values' axes for the items' axis, axes or, None, all of them."""
    if axis is None:
        return tuple(range(1, ndim + 1))
    places = tuple(k + 1 for k in _axes(axis, ndim, "axis"))
    return places if isinstance(axis, (tuple, list)) else places[0]


REDUCTIONS = (
    "sum prod mean std var min max amin amax all any count_nonzero ptp nansum nanprod nanmean nanstd nanvar nanmax "
    "nanmin median nanmedian"
)


@rule(REDUCTIONS)
def _reduction(c, a, axis=None, *args, **kwargs):
    a = c.plain(a)
    kwargs = {k: c.aligned(v, a.ndim) for k, v in kwargs.items()}
    return NotImplemented if c.has((args, kwargs)) else c.fn(c.front(a), _places(axis, a.ndim), *args, **kwargs)


@rule("percentile quantile nanpercentile nanquantile")
def _quantile(c, a, q, axis=None, **kwargs):
    if c.has((q, kwargs)):
        return NotImplemented
    a = c.plain(a)
    r = c.fn(c.front(a), q, _places(axis, a.ndim), **kwargs)
    return function("moveaxis")(r, _ndim(q), 0)


@rule("average")
def _average(c, a, axis=None, weights=None, **kwargs):
    a = c.plain(a)
    if weights is not None:
        weights = c.plain(weights)
        if weights.shape != a.shape:  # those of one axis
            if weights.ndim != 1 or not isinstance(axis, int) or weights.shape[0] != a.shape[axis]:
                return NotImplemented
            rest = (1,) * (a.ndim - 1 - _axis(axis, a.ndim, "average"))
            weights = apply("broadcast_to", apply("reshape", weights, (weights.shape[0], *rest)), a.shape)
        weights = c.front(weights)
    return c.fn(c.front(a), _places(axis, a.ndim), weights, **kwargs)


# name: (where axis stands among the parameters behind the array, its default); None: of all elements in order.
ALONG = {
    "argmax argmin nanargmax nanargmin cumsum cumprod nancumsum nancumprod": (0, None),
    "sort argsort": (0, -1),
    "partition argpartition diff": (1, -1),
    "trapezoid": (2, -1),
    "unwrap": (1, -1),
    "flip": (0, ()),
    "fft.fft fft.ifft fft.rfft fft.irfft fft.hfft fft.ihfft": (1, -1),
    "take": (1, None),
    "repeat": (1, None),
    "topk": (1, -1),
    "roll": (1, None),
    "delete": (1, None),
    "append": (1, None),
}


def _along(place, default):
    def along(c, a, *args, **kwargs):
        if c.has((args, kwargs)) or "out" in kwargs:
            return NotImplemented
        a = c.plain(a)
        v = c.front(a)
        given = len(args) > place
        axis = args[place] if given else kwargs.get("axis", default)
        keep = kwargs.pop("keepdims", False) if axis is None else False
        if axis is None:
            v, at = v.reshape((c.n, a.size)), 1
        elif isinstance(axis, (tuple, list)):
            at = _places(axis or None, a.ndim)
        else:
            at = _axis(axis, a.ndim, "axis") + 1
        if given:
            args = (*args[:place], at, *args[place + 1 :])
        else:
            kwargs["axis"] = at
        r = c.fn(v, *args, **kwargs)
        if c.name == "roll" and axis is None:
            return r.reshape((c.n, *a.shape))
        return r.reshape((c.n, *(1,) * a.ndim)) if keep else r

    return along


for _names, (_place, _default) in ALONG.items():
    rule(_names)(_along(_place, _default))


@rule("flip", boxed=True)
def _flip(c, m, axis=None):
    return c.fn(c.front(m), _places(axis, m.ndim))


@rule("sort_complex", boxed=False)
def _sort_complex(c, a):
    a = apply("sort", a)
    return a if a.dtype.kind == "c" else a.astype(numpy.result_type(a.dtype, numpy.complex64))


@rule("cumulative_sum cumulative_prod")
def _cumulative(c, x, /, *, axis=None, **kwargs):
    if axis is None and x.ndim != 1:
        raise ValueError("axis is needed where there is more than one")
    return c.fn(c.front(x), axis=_axis(-1 if axis is None else axis, x.ndim, "axis") + 1, **kwargs)


@rule("gradient")
def _gradient(c, f, *spacing, axis=None, **kwargs):
    if c.has(spacing):
        return NotImplemented
    places = _places(axis, f.ndim)
    if axis is None and f.ndim == 1:  # one array, not a list of one
        places = 1
    return c.fn(c.front(f), *spacing, axis=places, **kwargs)


FOURIER = "fft.fft2 fft.ifft2 fft.rfft2 fft.irfft2 fft.fftn fft.ifftn fft.rfftn fft.irfftn"


@rule(FOURIER)
def _fourier(c, a, s=None, axes=None, norm=None):
    a = c.plain(a)
    if axes is None:
        count = 2 if c.name.endswith("2") else len(s) if s is not None else a.ndim
        axes = tuple(range(-count, 0))
    return c.fn(c.front(a), s, _places(tuple(axes), a.ndim), norm)


@rule("fft.fftshift fft.ifftshift")
def _fftshift(c, x, axes=None):
    return c.fn(c.front(x), _places(axes, x.ndim))


@rule("searchsorted")
def _searchsorted(c, a, v, side="left", sorter=None):
    if c.has((a, sorter)) or side not in ("left", "right"):
        return NotImplemented
    return c.fn(a, c.front(v), side, sorter)


@rule("convolve", boxed=False)
def _convolve(c, a, v, mode="full"):
    a, v = c.plain(a), c.plain(v)
    if a.ndim != 1 or v.ndim != 1 or not a.size or not v.size or mode not in ("full", "same", "valid"):
        return NotImplemented
    a, v = (v, a) if v.size > a.size else (a, v)
    n = v.size
    padded = apply("pad", a, n - 1) if n > 1 else a
    at = numpy.arange(a.size + n - 1)[:, None] + numpy.arange(n)
    r = apply("matmul", apply("getitem", padded, at), apply("flip", v))
    low = {"full": 0, "same": (n - 1) // 2, "valid": n - 1}[mode]
    return r[low : low + {"full": a.size + n - 1, "same": a.size, "valid": a.size - n + 1}[mode]]


@rule("cov corrcoef", boxed=False)
def _cov(c, m, y=None, rowvar=True, bias=False, ddof=None, fweights=None, aweights=None):
    m = c.plain(m)
    if m.ndim > 2 or y is not None or fweights is not None or aweights is not None or m.dtype.kind not in "biuf":
        return NotImplemented
    m = apply("expand_dims", m, 0) if m.ndim == 1 else m if rowvar else m.T
    m = m if m.dtype.kind == "f" else m.astype("float64")
    if c.name == "corrcoef":
        bias, ddof = False, None
    freedom = m.shape[1] - ((0 if bias else 1) if ddof is None else ddof)
    if freedom <= 0:
        return NotImplemented
    m = m - m.mean(1, keepdims=True)
    r = apply("matmul", m, m.T) / freedom
    if c.name == "corrcoef":
        d = apply("sqrt", apply("diagonal", r))
        r = apply("clip", r / d[:, None] / d[None, :], -1, 1)
    return apply("squeeze", r)


@rule("ediff1d", boxed=False)
def _ediff1d(c, ary, to_end=None, to_begin=None):
    a = apply("ravel", c.plain(ary))
    parts = [to_begin, a[1:] - a[:-1], to_end]
    parts = [apply("ravel", c.plain(x)) for x in parts if x is not None]
    if any(x.dtype != a.dtype for x in parts):
        parts = [x.astype(a.dtype) for x in parts]
    return apply("concatenate", parts)


@rule("vander", boxed=False)
def _vander(c, x, N=None, increasing=False):
    if x.ndim != 1:
        raise ValueError("x must be a one-dimensional array or sequence.")
    n = x.shape[0] if N is None else N
    wide = x.astype(numpy.promote_types(x.dtype, int))
    powers = numpy.arange(n) if increasing else numpy.arange(n)[::-1].copy()
    return wide[:, None] ** function("asarray")(powers)


@rule("polyval", boxed=False)
def _polyval(c, p, x):
    if not hasattr(p, "ndim") and not isinstance(p, (list, tuple)) or hasattr(x, "coeffs"):
        return NotImplemented
    r = 0
    for k in range(len(p)):
        r = apply("add", apply("multiply", r, x), p[k])
    return r


@rule("digitize")
def _digitize(c, x, bins, right=False):
    return NotImplemented if c.has(bins) else c.fn(c.front(x), bins, right)


@rule("interp")
def _interp(c, x, xp, fp, left=None, right=None, period=None):
    return NotImplemented if c.has((xp, fp, left, right)) else c.fn(c.front(x), xp, fp, left, right, period)


@rule("isin")
def _isin(c, element, test_elements, *args, **kwargs):
    return NotImplemented if c.has(test_elements) else c.fn(c.front(element), test_elements, *args, **kwargs)


@rule("histogram bincount")
def _ragged(c, *args, **kwargs):
    return NotImplemented


# ---- products ----


def _cores(c, cores, *args):
    """Values whose last `cores` axes are the function's own, with those before them broadcasting."""
    args = [c.plain(a) for a in args]
    for a, n in zip(args, cores, strict=True):
        if a.ndim < n:
            raise ValueError(f"{c.name}: an array of {a.ndim} axes where {n} are needed")
    loop = max(a.ndim - n for a, n in zip(args, cores, strict=True))
    return [c.aligned(a, loop + n) for a, n in zip(args, cores, strict=True)]


@rule("matmul")
def _matmul(c, a, b, **kwargs):
    a, b = c.plain(a), c.plain(b)
    if kwargs or not a.ndim or not b.ndim or a.shape[-1] != b.shape[max(b.ndim - 2, 0)]:
        return NotImplemented  # an item says what is wrong
    first, second = c.has(a), c.has(b)
    if first and not second and (a.ndim <= 2 or b.ndim == 1) and b.ndim <= 2:  # one product of all rows
        v = c.front(a)
        rows = v.reshape((-1, v.shape[-1])) if v.size else v
        return c.fn(rows, b).reshape((*v.shape[:-1], *b.shape[1:])) if v.size else c.fn(v, b)
    if second and not first and b.ndim == 1 and a.ndim == 2:
        return c.fn(c.front(b), function("swapaxes")(a, 0, 1))
    row, column = a.ndim == 1, b.ndim == 1
    a = apply("expand_dims", a, 0) if row else a
    b = apply("expand_dims", b, 1) if column else b
    r = c.fn(*_cores(c, (2, 2), a, b))
    gone = tuple(k for k, out in ((-2, row), (-1, column)) if out)
    return function("squeeze")(r, gone) if gone else r


@rule("matvec vecmat vecdot linalg.vecdot")
def _small(c, a, b, *, axis=-1, **kwargs):
    if kwargs:
        return NotImplemented
    if axis != -1:
        a, b = (apply("moveaxis", c.plain(x), axis, -1) for x in (a, b))
    return c.fn(*_cores(c, {"matvec": (2, 1), "vecmat": (1, 2)}.get(c.name, (1, 1)), a, b))


@rule("dot", boxed=False)
def _dot(c, a, b):
    a, b = c.plain(a), c.plain(b)
    if not a.ndim or not b.ndim:
        return apply("multiply", a, b)
    if b.ndim <= 2:
        return apply("matmul", a, b)
    return apply("tensordot", a, b, ([-1], [-2]))


@rule("inner", boxed=False)
def _inner(c, a, b):
    a, b = c.plain(a), c.plain(b)
    if not a.ndim or not b.ndim:
        return apply("multiply", a, b)
    return apply("tensordot", a, b, ([-1], [-1]))


@rule("outer linalg.outer", boxed=False)
def _outer(c, a, b):
    if c.name == "linalg.outer" and (c.plain(a).ndim, c.plain(b).ndim) != (1, 1):
        return NotImplemented
    a, b = (apply("ravel", c.plain(x)) for x in (a, b))
    return apply("multiply", apply("expand_dims", a, 1), b)


@rule("vdot", boxed=False)
def _vdot(c, a, b):
    return apply("matmul", apply("conjugate", apply("ravel", c.plain(a))), apply("ravel", c.plain(b)))


@rule("kron", boxed=False)
def _kron(c, a, b):
    a, b = c.plain(a), c.plain(b)
    n = max(a.ndim, b.ndim)
    a, b = (apply("reshape", x, (*(1,) * (n - x.ndim), *x.shape)) for x in (a, b))
    wide = [k for extent in a.shape for k in (extent, 1)]
    other = [k for extent in b.shape for k in (1, extent)]
    r = apply("multiply", apply("reshape", a, wide), apply("reshape", b, other))
    return apply("reshape", r, tuple(i * k for i, k in zip(a.shape, b.shape, strict=True)))


@rule("tensordot linalg.tensordot", boxed=False)
def _tensordot(c, a, b, axes=2):
    a, b = c.plain(a), c.plain(b)
    if isinstance(axes, int):
        axes = tuple(range(a.ndim - axes, a.ndim)), tuple(range(axes))
    left, right = (_axes(k if isinstance(k, (tuple, list)) else (k,), x.ndim, "tensordot")
                   for k, x in zip(axes, (a, b), strict=True))  # fmt: skip
    if len(left) != len(right) or any(a.shape[i] != b.shape[k] for i, k in zip(left, right, strict=True)):
        return NotImplemented
    names, others = list(range(a.ndim)), list(range(a.ndim, a.ndim + b.ndim))
    for i, k in zip(left, right, strict=True):
        others[k] = names[i]
    kept = [n for k, n in enumerate(names) if k not in left] + [n for k, n in enumerate(others) if k not in right]
    letters = ["".join(map(_letter, x)) for x in (names, others, kept)]
    return apply("einsum", f"{letters[0]},{letters[1]}->{letters[2]}", a, b)


def _letter(k):
    return chr(ord("a") + k) if k < 26 else chr(ord("A") + k - 26)


@rule("einsum")
def _einsum(c, subscripts, *operands, **kwargs):
    if not isinstance(subscripts, str) or c.has(kwargs):
        return NotImplemented
    text = subscripts.replace(" ", "")
    left, arrow, right = text.partition("->")
    if not arrow:
        letters = left.replace(",", "").replace(".", "")
        right = "..." * ("..." in left) + "".join(sorted(x for x in set(letters) if letters.count(x) == 1))
    new = next(x for x in map(_letter, range(52)) if x not in text)
    operands = [c.plain(x) for x in operands]
    parts = [new + part if c.has(x) else part for part, x in zip(left.split(","), operands, strict=True)]
    return c.fn(f"{','.join(parts)}->{new}{right}", *(c.aligned(x, x.ndim) for x in operands), **kwargs)


@rule("cross linalg.cross")
def _cross(c, a, b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    if (axisa, axisb, axisc) != (-1, -1, -1) or axis not in (None, -1):
        return NotImplemented
    return c.fn(*_cores(c, (1, 1), a, b))


@rule("trace", boxed=True)
def _trace(c, a, offset=0, axis1=0, axis2=1, dtype=None):
    one, two = (_axis(k, a.ndim, "trace") + 1 for k in (axis1, axis2))
    return c.fn(c.front(a), offset, one, two, dtype)


@rule("diagonal")
def _diagonal(c, a, offset=0, axis1=0, axis2=1):
    one, two = (_axis(k, a.ndim, "diagonal") + 1 for k in (axis1, axis2))
    return c.fn(c.front(a), offset, one, two)


# ---- linear algebra ----

STACKED = (
    "cholesky det eig eigh eigvals eigvalsh inv pinv qr slogdet svd svdvals matrix_power diagonal trace matrix_norm "
    "matrix_transpose cond"
)


@rule(" ".join(f"linalg.{name}" for name in STACKED.split()))
def _stacked(c, a, *args, **kwargs):
    a = c.plain(a)
    if a.ndim < 2:
        raise ValueError(f"{c.name}: an array of {a.ndim} axes where 2 are needed")
    return NotImplemented if c.has((args, kwargs)) else c.fn(c.front(a), *args, **kwargs)


@rule("linalg.matrix_rank")
def _rank(c, A, *args, **kwargs):
    return NotImplemented if A.ndim < 2 or c.has((args, kwargs)) else c.fn(c.front(A), *args, **kwargs)


@rule("linalg.solve")
def _solve(c, a, b):
    a, b = c.plain(a), c.plain(b)
    if b.ndim != 1:
        return c.fn(*_cores(c, (2, 2), a, b))
    x = c.fn(*_cores(c, (2, 2), a, apply("expand_dims", b, 1)))
    return function("squeeze")(x, -1)


@rule("linalg.norm")
def _norm(c, x, ord=None, axis=None, keepdims=False):
    x = c.plain(x)
    if axis is None and (ord is None or x.ndim == 1):
        r = c.fn(c.front(x).reshape((c.n, x.size)), ord, 1)
        return r.reshape((c.n, *(1,) * x.ndim)) if keepdims else r
    if axis is None:
        axis = tuple(range(x.ndim))
        if x.ndim != 2:
            return NotImplemented
    return c.fn(c.front(x), ord, _places(axis, x.ndim), keepdims)


@rule("linalg.vector_norm")
def _vector_norm(c, x, /, *, axis=None, keepdims=False, ord=2):
    return c.fn(c.front(x), axis=_places(axis, x.ndim), keepdims=keepdims, ord=ord)


@rule("linalg.multi_dot", boxed=False)
def _multi_dot(c, arrays):
    r, *rest = arrays
    if not rest or any(a.ndim != 2 for a in rest[:-1]) or r.ndim > 2 or rest[-1].ndim > 2:
        return NotImplemented
    for a in rest:
        r = apply("matmul", r, a)
    return r


def _same(name):
    rule(f"linalg.{name}", boxed=False)(lambda c, *args, **kwargs: apply(name, *args, **kwargs))


_same("matmul")
