"""Differences of neighbouring elements, and the integrals and derivatives that are made of them."""

from operator import index as _index

from .._prim import Tensor, apply, scalar
from .._register import both, function
from . import _axes, _dtypes
from ._parts import cat
from ._reduce import cumsum

_BOOL = _dtypes.DTYPES["bool"]


@both()
def diff(x, n=1, dim=-1, prepend=None, append=None):
    """Differences of neighbours along dim, taken n times."""
    if n < 0:
        raise RuntimeError(f"order must be non-negative but got {n}")
    ends = [t for t in (prepend, x, append) if t is not None]
    if len(ends) > 1:
        x = cat(ends, dim)
    for _ in range(_index(n)):
        count = x.shape[dim]
        a, b = x.narrow(dim, min(1, count), max(count - 1, 0)), x.narrow(dim, 0, max(count - 1, 0))
        x = apply("not_equal", a, b) if x.dtype is _BOOL else a - b
    return x


def _steps(y, x, dx, dim):
    """Twice the areas of the trapezia along dim. They are computed in the operands' own dtype, as in PyTorch."""
    n = y.shape[dim]
    pairs = y.narrow(dim, 1, n - 1) + y.narrow(dim, 0, n - 1)
    if x is None:
        return pairs * dx
    if x.ndim == 1:
        return pairs * diff(x).reshape([-1 if i == dim else 1 for i in range(y.ndim)])
    return pairs * diff(x, dim=dim)


@function("trapz")
def trapezoid(y, x=None, *, dx=1, dim=-1):
    """The integral of y along dim by the trapezoidal rule. x: the coordinates; dx: the distance of neighbours."""
    dim = _axes.one(dim, y.ndim)
    if any(t is not None and t.dtype._kind == "b" for t in (y, x)):
        raise NotImplementedError("trapezoid: received a bool input for `x` or `y`, but bool is not supported")
    if x is None:
        ends = y.narrow(dim, 0, 1) + y.narrow(dim, y.shape[dim] - 1, 1)
        return (y.sum(dim) - ends.squeeze(dim) * 0.5) * dx
    if x.ndim == 1 and x.shape[0] != y.shape[dim]:
        raise RuntimeError("trapezoid: There must be one `x` value for each sample point")
    return _steps(y, x, dx, dim).sum(dim) / 2


@function()
def cumulative_trapezoid(y, x=None, *, dx=1, dim=-1):
    """The running integral of y along dim."""
    dim = _axes.one(dim, y.ndim)
    return cumsum(_steps(y, x, dx, dim), dim) / 2


@function(out=False)
def gradient(input, *, spacing=1, dim=None, edge_order=1):
    """The derivatives of input along its dims by central differences, as a tuple of tensors. spacing: one number, one
    for each dim, or coordinates."""
    if input.dtype._name == "uint8":
        raise NotImplementedError("torch.gradient does not support uint8 input.")
    dims, spacing = _axes.several(dim, input.ndim), 1 if spacing is None else spacing
    steps = list(spacing) if isinstance(spacing, (tuple, list)) else [spacing] * len(dims)
    if len(steps) != len(dims):
        raise RuntimeError(
            "torch.gradient expected spacing to be unspecified, a scalar or as long as the dims, but got "
            f"{len(steps)} spacings for {len(dims)} dims"
        )
    return tuple(_slope(input, d, h, edge_order) for d, h in zip(dims, steps, strict=True))


def _slope(x, dim, step, order):
    n = x.shape[dim]
    if n < order + 1:
        raise RuntimeError(f"torch.gradient expected each dimension size to be at least {order + 1}")
    shape = [-1 if i == dim else 1 for i in range(x.ndim)]
    at = step if isinstance(step, Tensor) else None
    d = diff(x, dim=dim)
    kind = x.dtype if x.dtype._kind in "fc" else _dtypes.get_default_dtype()
    h = scalar(step, x, kind).expand(n - 1).reshape(shape) if at is None else diff(at).reshape(shape)
    slope = d / h
    a, b = (slope.narrow(dim, i, n - 2) for i in (0, 1))
    ha, hb = (h.narrow(dim, i, n - 2) for i in (0, 1))
    inner = (a * hb + b * ha) / (ha + hb)
    first, last = slope.narrow(dim, 0, 1), slope.narrow(dim, n - 2, 1)
    if order == 2:
        first = first + (first - inner.narrow(dim, 0, 1))
        last = last + (last - inner.narrow(dim, n - 3, 1))
    return cat([first, inner, last], dim)
