"""torch.distributions.transforms: invertible functions, with the logarithm of the absolute value of their derivative.
"""

import functools
import math
import operator

from ... import torch
from ..._public import dir_of as _dir_of
from . import constraints
from .utils import tril_matrix_to_vec, vec_to_tril_matrix

__all__ = [
    "AbsTransform", "AffineTransform", "CatTransform", "ComposeTransform", "CorrCholeskyTransform",
    "CumulativeDistributionTransform", "ExpTransform", "IndependentTransform", "LowerCholeskyTransform",
    "PositiveDefiniteTransform", "PowerTransform", "ReshapeTransform", "SigmoidTransform", "SoftmaxTransform",
    "SoftplusTransform", "StackTransform", "StickBreakingTransform", "TanhTransform", "Transform", "identity_transform",
]  # fmt: skip


def _summed(value, dim):
    """The sum over the last dim dims."""
    return value.reshape(*value.shape[:-dim], -1).sum(-1) if dim > 0 else value


class Transform:
    """A function of tensors: t(x), t.inv(y), t.log_abs_det_jacobian(x, y). A subclass defines _call, _inverse and
    log_abs_det_jacobian. With cache_size=1 the inverse of the last result is looked up, not computed."""

    bijective = False
    domain = codomain = constraints.real

    def __init__(self, cache_size=0):
        if cache_size not in (0, 1):
            raise ValueError("cache_size must be 0 or 1")
        super().__init__()  # of a program's class that is a Module, too
        self._cache_size, self._cached_x_y = cache_size, (None, None)

    @property
    def event_dim(self):
        """The number of an event's dims. Raises ValueError if the transform changes it."""
        if self.domain.event_dim == self.codomain.event_dim:
            return self.domain.event_dim
        raise ValueError("Please use either .domain.event_dim or .codomain.event_dim")

    @property
    def inv(self):
        """The inverse transform."""
        return _InverseTransform(self)

    @property
    def sign(self):
        """1 if the transform increases, -1 if it decreases. Raises NotImplementedError if it does not say."""
        raise NotImplementedError(f"{type(self).__name__} has no sign")

    def with_cache(self, cache_size=1):
        """This transform with another cache size."""
        if self._cache_size == cache_size:
            return self
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__, _cache_size=cache_size, _cached_x_y=(None, None))
        return made

    def __call__(self, x):
        if not self._cache_size:
            return self._call(x)
        old, y = self._cached_x_y
        if x is not old:
            y = self._call(x)
            self._cached_x_y = x, y
        return y

    def _inv_call(self, y):
        if self._cache_size and y is self._cached_x_y[1]:
            return self._cached_x_y[0]
        x = self._inverse(y)
        if self._cache_size:
            self._cached_x_y = x, y
        return x

    def _call(self, x):
        raise NotImplementedError(f"{type(self).__name__} has no _call")

    def _inverse(self, y):
        raise NotImplementedError(f"{type(self).__name__} has no inverse")

    def log_abs_det_jacobian(self, x, y):
        """log |dy / dx| for each event."""
        raise NotImplementedError(f"{type(self).__name__} has no log_abs_det_jacobian")

    def forward_shape(self, shape):
        """The shape of t(x), given x's shape."""
        return torch.Size(shape)

    def inverse_shape(self, shape):
        """The shape of x, given the shape of t(x)."""
        return torch.Size(shape)

    def __eq__(self, other):
        return self is other

    __hash__ = object.__hash__

    def __repr__(self):
        return type(self).__name__ + "()"


class _InverseTransform(Transform):
    """The inverse of a transform."""

    def __init__(self, transform):
        super().__init__(transform._cache_size)
        self._inv = transform

    domain = property(lambda self: self._inv.codomain)
    codomain = property(lambda self: self._inv.domain)
    bijective = property(lambda self: self._inv.bijective)
    sign = property(lambda self: self._inv.sign)
    inv = property(lambda self: self._inv)

    def with_cache(self, cache_size=1):
        return self._inv.with_cache(cache_size).inv

    def __call__(self, x):
        return self._inv._inv_call(x)

    def _inv_call(self, y):
        return self._inv(y)

    def log_abs_det_jacobian(self, x, y):
        return -self._inv.log_abs_det_jacobian(y, x)

    def forward_shape(self, shape):
        return self._inv.inverse_shape(shape)

    def inverse_shape(self, shape):
        return self._inv.forward_shape(shape)

    def __eq__(self, other):
        return isinstance(other, _InverseTransform) and self._inv == other._inv

    __hash__ = Transform.__hash__

    def __repr__(self):
        return f"_InverseTransform({self._inv!r})"


class ComposeTransform(Transform):
    """Transforms that are applied one after another."""

    def __init__(self, parts, cache_size=0):
        super().__init__(cache_size)
        self.parts = [p.with_cache(cache_size) for p in parts] if cache_size else list(parts)

    bijective = property(lambda self: all(p.bijective for p in self.parts))
    sign = property(lambda self: functools.reduce(operator.mul, (p.sign for p in self.parts), 1))

    def _side(self, parts, inner, outer):
        """The constraint on the input of parts, with the dims that later parts need."""
        found = getattr(parts[0], inner)
        dim = getattr(parts[-1], outer).event_dim
        for p in reversed(parts):
            dim += getattr(p, inner).event_dim - getattr(p, outer).event_dim
            dim = max(dim, getattr(p, inner).event_dim)
        return constraints.independent(found, dim - found.event_dim) if dim > found.event_dim else found

    @property
    def domain(self):
        return self._side(self.parts, "domain", "codomain") if self.parts else constraints.real

    @property
    def codomain(self):
        return self._side(self.parts[::-1], "codomain", "domain") if self.parts else constraints.real

    @property
    def inv(self):
        return ComposeTransform([p.inv for p in reversed(self.parts)], self._cache_size)

    def with_cache(self, cache_size=1):
        return self if self._cache_size == cache_size else ComposeTransform(self.parts, cache_size)

    def __call__(self, x):
        for part in self.parts:
            x = part(x)
        return x

    def _inv_call(self, y):
        for part in reversed(self.parts):
            y = part._inv_call(y)
        return y

    def log_abs_det_jacobian(self, x, y):
        if not self.parts:
            return torch.zeros_like(x)
        values = [x]
        for part in self.parts[:-1]:
            values.append(part(values[-1]))
        values.append(y)
        terms, dim = [], self.domain.event_dim
        for part, a, b in zip(self.parts, values[:-1], values[1:], strict=True):
            terms.append(_summed(part.log_abs_det_jacobian(a, b), dim - part.domain.event_dim))
            dim += part.codomain.event_dim - part.domain.event_dim
        return functools.reduce(operator.add, terms)

    def forward_shape(self, shape):
        for part in self.parts:
            shape = part.forward_shape(shape)
        return shape

    def inverse_shape(self, shape):
        for part in reversed(self.parts):
            shape = part.inverse_shape(shape)
        return shape

    def __eq__(self, other):
        return isinstance(other, ComposeTransform) and self.parts == other.parts

    __hash__ = Transform.__hash__

    def __repr__(self):
        return "ComposeTransform(\n    " + ",\n    ".join(map(repr, self.parts)) + "\n)"


identity_transform = ComposeTransform([])


class IndependentTransform(Transform):
    """A transform whose events have reinterpreted_batch_ndims more dims."""

    def __init__(self, base_transform, reinterpreted_batch_ndims, cache_size=0):
        super().__init__(cache_size)
        self.base_transform = base_transform.with_cache(cache_size)
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims

    bijective = property(lambda self: self.base_transform.bijective)
    sign = property(lambda self: self.base_transform.sign)
    domain = property(lambda self: constraints.independent(self.base_transform.domain, self.reinterpreted_batch_ndims))
    codomain = property(
        lambda self: constraints.independent(self.base_transform.codomain, self.reinterpreted_batch_ndims)
    )

    def _call(self, x):
        if x.dim() < self.domain.event_dim:
            raise ValueError("Too few dimensions on input")
        return self.base_transform(x)

    def _inverse(self, y):
        if y.dim() < self.codomain.event_dim:
            raise ValueError("Too few dimensions on input")
        return self.base_transform.inv(y)

    def log_abs_det_jacobian(self, x, y):
        return _summed(self.base_transform.log_abs_det_jacobian(x, y), self.reinterpreted_batch_ndims)

    def forward_shape(self, shape):
        return self.base_transform.forward_shape(shape)

    def inverse_shape(self, shape):
        return self.base_transform.inverse_shape(shape)

    def __repr__(self):
        return f"IndependentTransform({self.base_transform!r}, {self.reinterpreted_batch_ndims})"


class ReshapeTransform(Transform):
    """Reshapes events of in_shape to events of out_shape. Raises ValueError if they differ in the number of elements.
    """

    bijective = True

    def __init__(self, in_shape, out_shape, cache_size=0):
        self.in_shape, self.out_shape = torch.Size(in_shape), torch.Size(out_shape)
        if self.in_shape.numel() != self.out_shape.numel():
            raise ValueError("in_shape, out_shape have different numbers of elements")
        super().__init__(cache_size)

    domain = property(lambda self: constraints.independent(constraints.real, len(self.in_shape)))
    codomain = property(lambda self: constraints.independent(constraints.real, len(self.out_shape)))

    def _call(self, x):
        return x.reshape(x.shape[: x.dim() - len(self.in_shape)] + self.out_shape)

    def _inverse(self, y):
        return y.reshape(y.shape[: y.dim() - len(self.out_shape)] + self.in_shape)

    def log_abs_det_jacobian(self, x, y):
        return x.new_zeros(x.shape[: x.dim() - len(self.in_shape)])

    def _shaped(self, shape, before, after):
        cut = len(shape) - len(before)
        if cut < 0 or tuple(shape[cut:]) != tuple(before):
            raise ValueError(f"Shape mismatch: expected {tuple(before)} at the end of {tuple(shape)}")
        return torch.Size((*shape[:cut], *after))

    def forward_shape(self, shape):
        return self._shaped(shape, self.in_shape, self.out_shape)

    def inverse_shape(self, shape):
        return self._shaped(shape, self.out_shape, self.in_shape)


class ExpTransform(Transform):
    """exp(x)."""

    codomain, bijective, sign = constraints.positive, True, 1

    def __eq__(self, other):
        return isinstance(other, ExpTransform)

    __hash__ = Transform.__hash__

    def _call(self, x):
        return x.exp()

    def _inverse(self, y):
        return y.log()

    def log_abs_det_jacobian(self, x, y):
        return x


class PowerTransform(Transform):
    """x ** exponent, of positive numbers."""

    domain = codomain = constraints.positive
    bijective = True

    def __init__(self, exponent, cache_size=0):
        super().__init__(cache_size)
        self.exponent = torch.as_tensor(exponent)

    sign = property(lambda self: self.exponent.sign())

    def __eq__(self, other):
        return isinstance(other, PowerTransform) and bool(self.exponent.eq(other.exponent).all())

    __hash__ = Transform.__hash__

    def _call(self, x):
        return x.pow(self.exponent)

    def _inverse(self, y):
        return y.pow(1 / self.exponent)

    def log_abs_det_jacobian(self, x, y):
        return (self.exponent * y / x).abs().log()

    def _shape(self, shape):
        return torch.broadcast_shapes(tuple(shape), tuple(self.exponent.shape))

    forward_shape = inverse_shape = _shape


def _inside(p):
    """Numbers in [0, 1], kept away from both ends."""
    info = torch.finfo(p.dtype)
    return p.clamp(min=info.tiny, max=1 - info.eps)


class SigmoidTransform(Transform):
    """1 / (1 + exp(-x))."""

    codomain, bijective, sign = constraints.unit_interval, True, 1

    def __eq__(self, other):
        return isinstance(other, SigmoidTransform)

    __hash__ = Transform.__hash__

    def _call(self, x):
        return _inside(torch.sigmoid(x))

    def _inverse(self, y):
        y = _inside(y)
        return y.log() - (-y).log1p()

    def log_abs_det_jacobian(self, x, y):
        F = torch.nn.functional
        return -F.softplus(-x) - F.softplus(x)


class SoftplusTransform(Transform):
    """log(1 + exp(x))."""

    codomain, bijective, sign = constraints.positive, True, 1

    def __eq__(self, other):
        return isinstance(other, SoftplusTransform)

    __hash__ = Transform.__hash__

    def _call(self, x):
        return torch.nn.functional.softplus(x)

    def _inverse(self, y):
        return (-y).expm1().neg().log() + y

    def log_abs_det_jacobian(self, x, y):
        return -torch.nn.functional.softplus(-x)


class TanhTransform(Transform):
    """tanh(x)."""

    codomain, bijective, sign = constraints.interval(-1.0, 1.0), True, 1

    def __eq__(self, other):
        return isinstance(other, TanhTransform)

    __hash__ = Transform.__hash__

    def _call(self, x):
        return x.tanh()

    def _inverse(self, y):
        return torch.atanh(y)

    def log_abs_det_jacobian(self, x, y):
        return 2.0 * (math.log(2.0) - x - torch.nn.functional.softplus(-2.0 * x))


class AbsTransform(Transform):
    """|x|. The inverse is the positive number."""

    codomain = constraints.positive

    def __eq__(self, other):
        return isinstance(other, AbsTransform)

    __hash__ = Transform.__hash__

    def _call(self, x):
        return x.abs()

    def _inverse(self, y):
        return y


class AffineTransform(Transform):
    """loc + scale * x. event_dim: the number of an event's dims."""

    bijective = True

    def __init__(self, loc, scale, event_dim=0, cache_size=0):
        super().__init__(cache_size)
        self.loc, self.scale, self._dim = loc, scale, event_dim

    event_dim = property(lambda self: self._dim)

    @property
    def domain(self):
        return constraints.independent(constraints.real, self._dim) if self._dim else constraints.real

    codomain = domain

    @property
    def sign(self):
        return self.scale.sign() if isinstance(self.scale, torch.Tensor) else (self.scale > 0) - (self.scale < 0)

    def __eq__(self, other):
        return isinstance(other, AffineTransform) and all(
            bool(torch.as_tensor(a).eq(torch.as_tensor(b)).all())
            for a, b in ((self.loc, other.loc), (self.scale, other.scale))
        )

    __hash__ = Transform.__hash__

    def _call(self, x):
        return self.loc + self.scale * x

    def _inverse(self, y):
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x, y):
        scale = self.scale if isinstance(self.scale, torch.Tensor) else torch.full_like(x, float(self.scale))
        result = scale.abs().log().expand(torch.broadcast_shapes(tuple(scale.shape), tuple(x.shape)))
        return _summed(result, self._dim)

    def _shape(self, shape):
        parts = [tuple(t.shape) for t in (self.loc, self.scale) if isinstance(t, torch.Tensor)]
        return torch.broadcast_shapes(tuple(shape), *parts)

    forward_shape = inverse_shape = _shape


class SoftmaxTransform(Transform):
    """exp(x), divided by its sum. This is not one to one."""

    domain, codomain = constraints.real_vector, constraints.simplex

    def __eq__(self, other):
        return isinstance(other, SoftmaxTransform)

    __hash__ = Transform.__hash__

    def _call(self, x):
        return torch.softmax(x, -1)

    def _inverse(self, y):
        return y.log()


class StickBreakingTransform(Transform):
    """Turns n numbers into n + 1 shares. Each number says which part of the remaining stick its share takes."""

    domain, codomain, bijective = constraints.real_vector, constraints.simplex, True

    def __eq__(self, other):
        return isinstance(other, StickBreakingTransform)

    __hash__ = Transform.__hash__

    def _offset(self, x):
        n = x.shape[-1]
        return torch.arange(n, 0, -1, dtype=x.dtype, device=x.device)

    def _call(self, x):
        F = torch.nn.functional
        z = _inside(torch.sigmoid(x - self._offset(x).log()))
        left = (1 - z).cumprod(-1)
        return F.pad(z, (0, 1), value=1.0) * F.pad(left, (1, 0), value=1.0)

    def _inverse(self, y):
        part = y[..., :-1]
        left = (1 - part.cumsum(-1)).clamp(min=torch.finfo(y.dtype).tiny)
        return part.log() - left.log() + self._offset(part).log()

    def log_abs_det_jacobian(self, x, y):
        x = x - self._offset(x).log()
        return (-x + torch.nn.functional.logsigmoid(x) + y[..., :-1].log()).sum(-1)

    def forward_shape(self, shape):
        return torch.Size((*shape[:-1], shape[-1] + 1))

    def inverse_shape(self, shape):
        return torch.Size((*shape[:-1], shape[-1] - 1))


class CorrCholeskyTransform(Transform):
    """Turns the numbers below a diagonal into the Cholesky factor of a correlation matrix."""

    domain, codomain, bijective = constraints.real_vector, constraints.corr_cholesky, True

    def _call(self, x):
        x = torch.tanh(x)
        eps = torch.finfo(x.dtype).eps
        r = vec_to_tril_matrix(x.clamp(min=-1 + eps, max=1 - eps), diag=-1)
        left = (1 - r * r).sqrt().cumprod(-1)
        r = r + torch.eye(r.shape[-1], dtype=r.dtype, device=r.device)
        return r * torch.nn.functional.pad(left[..., :-1], (1, 0), value=1.0)

    def _inverse(self, y):
        left = 1 - torch.cumsum(y * y, -1)
        shifted = torch.nn.functional.pad(left[..., :-1], (1, 0), value=1.0)
        below, root = tril_matrix_to_vec(y, diag=-1), tril_matrix_to_vec(shifted, diag=-1).sqrt()
        t = below / root
        return (t.log1p() - t.neg().log1p()) / 2

    def log_abs_det_jacobian(self, x, y):
        left = 1 - (y * y).cumsum(-1)
        part = 0.5 * tril_matrix_to_vec(left, diag=-2).log().sum(-1)
        return part - 2 * (x + torch.nn.functional.softplus(-2 * x) - math.log(2.0)).sum(-1)

    def forward_shape(self, shape):
        n = round((0.25 + 2 * shape[-1]) ** 0.5 + 0.5)
        if n * (n - 1) // 2 != shape[-1]:
            raise ValueError("Input is not a flattened lower-diagonal number")
        return torch.Size((*shape[:-1], n, n))

    def inverse_shape(self, shape):
        if shape[-2] != shape[-1]:
            raise ValueError("Input is not square")
        return torch.Size((*shape[:-2], shape[-1] * (shape[-1] - 1) // 2))


class LowerCholeskyTransform(Transform):
    """Takes the lower triangle of a matrix, and makes its diagonal positive by exp."""

    domain, codomain = constraints.independent(constraints.real, 2), constraints.lower_cholesky

    def __eq__(self, other):
        return isinstance(other, LowerCholeskyTransform)

    __hash__ = Transform.__hash__

    def _call(self, x):
        return x.tril(-1) + x.diagonal(0, -2, -1).exp().diag_embed()

    def _inverse(self, y):
        return y.tril(-1) + y.diagonal(0, -2, -1).log().diag_embed()


class PositiveDefiniteTransform(LowerCholeskyTransform):
    """Turns any square matrix into a positive definite one."""

    codomain = constraints.positive_definite

    def __eq__(self, other):
        return isinstance(other, PositiveDefiniteTransform)

    __hash__ = Transform.__hash__

    def _call(self, x):
        low = super()._call(x)
        return low @ low.mT

    def _inverse(self, y):
        return super()._inverse(torch.linalg.cholesky(y))


class CatTransform(Transform):
    """One transform for each part along dim; the parts have the given lengths."""

    def __init__(self, tseq, dim=0, lengths=None, cache_size=0):
        super().__init__(cache_size)
        self.transforms, self.dim = [t.with_cache(cache_size) for t in tseq], dim
        self.lengths = [1] * len(self.transforms) if lengths is None else list(lengths)

    event_dim = property(lambda self: max(t.event_dim for t in self.transforms))
    length = property(lambda self: sum(self.lengths), doc="The length along dim.")
    bijective = property(lambda self: all(t.bijective for t in self.transforms))
    domain = property(lambda self: constraints.cat([t.domain for t in self.transforms], self.dim, self.lengths))
    codomain = property(lambda self: constraints.cat([t.codomain for t in self.transforms], self.dim, self.lengths))

    def _parts(self, x):
        return zip(self.transforms, x.split(self.lengths, self.dim), strict=True)

    def _call(self, x):
        return torch.cat([t(v) for t, v in self._parts(x)], self.dim)

    def _inverse(self, y):
        return torch.cat([t.inv(v) for t, v in self._parts(y)], self.dim)

    def log_abs_det_jacobian(self, x, y):
        found = []
        for (t, a), b in zip(self._parts(x), y.split(self.lengths, self.dim), strict=True):
            part = t.log_abs_det_jacobian(a, b)
            found.append(_summed(part, self.event_dim - t.event_dim))
        dim = self.dim if self.dim < 0 else self.dim - x.dim()
        dim += self.event_dim
        return torch.cat(found, dim) if dim < 0 else sum(found)


class StackTransform(Transform):
    """One transform for each slice along dim."""

    def __init__(self, tseq, dim=0, cache_size=0):
        super().__init__(cache_size)
        self.transforms, self.dim = [t.with_cache(cache_size) for t in tseq], dim

    bijective = property(lambda self: all(t.bijective for t in self.transforms))
    domain = property(lambda self: constraints.stack([t.domain for t in self.transforms], self.dim))
    codomain = property(lambda self: constraints.stack([t.codomain for t in self.transforms], self.dim))

    def _each(self, call, *values):
        slices = zip(self.transforms, *(v.unbind(self.dim) for v in values), strict=True)
        return torch.stack([call(*given) for given in slices], self.dim)

    def _call(self, x):
        return self._each(lambda t, v: t(v), x)

    def _inverse(self, y):
        return self._each(lambda t, v: t.inv(v), y)

    def log_abs_det_jacobian(self, x, y):
        return self._each(lambda t, a, b: t.log_abs_det_jacobian(a, b), x, y)


class CumulativeDistributionTransform(Transform):
    """The cdf of a distribution, as a transform."""

    bijective, codomain, sign = True, constraints.unit_interval, 1

    def __init__(self, distribution, cache_size=0):
        super().__init__(cache_size)
        self.distribution = distribution

    domain = property(lambda self: self.distribution.support)

    def _call(self, x):
        return self.distribution.cdf(x)

    def _inverse(self, y):
        return self.distribution.icdf(y)

    def log_abs_det_jacobian(self, x, y):
        return self.distribution.log_prob(x)


__dir__ = _dir_of(__name__)
