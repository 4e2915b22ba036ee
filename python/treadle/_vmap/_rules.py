"""Rules of vmap for arithmetic, reductions, products and linear algebra.

A rule gets the call (`c`, see Call) and the function's arguments. It calls the function once, on values. A row of a
table makes a rule of the parameters' roles (_table.py).
"""

import math

import numpy

from .._numpy._shape import _axes, _axis
from ._array import apply, function, rule
from ._table import elements, places, row

# ---- elements ----


@rule("where")
def _where(c, condition, *rest, **kwargs):
    return elements(c, condition, *rest, **kwargs) if len(rest) + len(kwargs) == 2 else NotImplemented


@rule("allclose array_equal array_equiv", boxed=False)
def _alike(c, a, b, **kwargs):
    raise TypeError(f"{c.name} gives a Python truth value, which every item has for itself")


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


@rule("percentile quantile nanpercentile nanquantile")
def _quantile(c, a, q, axis=None, **kwargs):
    if c.has((q, kwargs)):
        return NotImplemented
    a = c.plain(a)
    r = c.fn(c.front(a), q, places(axis, a.ndim), **kwargs)
    return function("moveaxis")(r, numpy.ndim(q), 0)


@rule("average")
def _average(c, a, axis=None, weights=None, **kwargs):
    a = c.plain(a)
    if weights is not None:
        weights = c.plain(weights)
        if weights.shape != a.shape:  # weights of one axis
            if weights.ndim != 1 or not isinstance(axis, int) or weights.shape[0] != a.shape[axis]:
                return NotImplemented
            rest = (1,) * (a.ndim - 1 - _axis(axis, a.ndim, "average"))
            weights = apply("broadcast_to", apply("reshape", weights, (weights.shape[0], *rest)), a.shape)
        weights = c.front(weights)
    return c.fn(c.front(a), places(axis, a.ndim), weights, **kwargs)


_line = row("a:x _ axis:flat=None")


@rule("roll")
def _roll(c, a, shift, axis=None):
    r = _line(c, a, shift, axis)
    return r if r is NotImplemented or axis is not None else r.reshape((c.n, *c.plain(a).shape))


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
    at = places(axis, f.ndim)
    if axis is None and f.ndim == 1:  # of one axis: a single array, not a list
        at = 1
    return c.fn(c.front(f), *spacing, axis=at, **kwargs)


FOURIER = "fft.fft2 fft.ifft2 fft.rfft2 fft.irfft2 fft.fftn fft.ifftn fft.rfftn fft.irfftn"


@rule(FOURIER)
def _fourier(c, a, s=None, axes=None, norm=None):
    a = c.plain(a)
    if axes is None:
        count = 2 if c.name.endswith("2") else len(s) if s is not None else a.ndim
        axes = tuple(range(-count, 0))
    return c.fn(c.front(a), s, places(tuple(axes), a.ndim), norm)


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


@rule("polyval", boxed=False)
def _polyval(c, p, x):
    if not hasattr(p, "ndim") and not isinstance(p, (list, tuple)) or hasattr(x, "coeffs"):
        return NotImplemented
    r = 0
    for k in range(len(p)):
        r = apply("add", apply("multiply", r, x), p[k])
    return r


@rule("histogram bincount")
def _ragged(c, *args, **kwargs):
    return NotImplemented


# ---- products ----


def _cores(c, cores, *args):
    """The arguments' values. Their last `cores` axes belong to the function, those before them broadcast."""
    args = [c.plain(a) for a in args]
    for a, n in zip(args, cores, strict=True):
        if a.ndim < n:
            raise ValueError(f"{c.name}: an array of {a.ndim} axes where {n} are needed")
    loop = max(a.ndim - n for a, n in zip(args, cores, strict=True))
    return [c.aligned(a, loop + n) for a, n in zip(args, cores, strict=True)]


@rule("matmul")
def matmul(c, a, b, **kwargs):
    """matmul of arrays and of tensors."""
    a, b = c.plain(a), c.plain(b)
    if kwargs or not a.ndim or not b.ndim or a.shape[-1] != b.shape[max(b.ndim - 2, 0)]:
        return NotImplemented  # run one item: its error names the item's shapes
    first, second = c.has(a), c.has(b)
    if first and not second and (a.ndim <= 2 or b.ndim == 1) and b.ndim <= 2:  # one product of all rows
        *rows, inner = c.front(a).shape
        return c.fn(c.front(a).reshape((math.prod(rows), inner)), b).reshape((*rows, *b.shape[1:]))
    if second and not first and b.ndim == 1 and a.ndim == 2:
        return c.fn(c.front(b), a.T)
    row, column = a.ndim == 1, b.ndim == 1
    a = a.reshape((1, *a.shape)) if row else a
    b = b.reshape((*b.shape, 1)) if column else b
    r = c.fn(*_cores(c, (2, 2), a, b))
    *loop, rows, columns = r.shape
    return r.reshape((*loop, *[rows] * (not row), *[columns] * (not column))) if row or column else r


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


# ---- linear algebra ----


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
    return c.fn(c.front(x), ord, places(axis, x.ndim), keepdims)


@rule("linalg.multi_dot", boxed=False)
def _multi_dot(c, arrays):
    r, *rest = arrays
    if not rest or any(a.ndim != 2 for a in rest[:-1]) or r.ndim > 2 or rest[-1].ndim > 2:
        return NotImplemented
    for a in rest:
        r = apply("matmul", r, a)
    return r
