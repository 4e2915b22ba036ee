"""What distributions have in common: shapes of draws, and distances between pairs of them."""

import math

from .._prim import Tensor, td
from .._tensor._create import as_tensor
from .._tensor._size import Size
from ..autograd.grad_mode import no_grad

_KL = {}


def broadcast(*values):
    """The values as tensors of one shape, of the dtype of the first tensor among them."""
    like = next((v for v in values if isinstance(v, Tensor)), None)
    given = [
        v
        if isinstance(v, Tensor)
        else as_tensor(float(v))
        if like is None
        else as_tensor(v, dtype=like.dtype, device=like.device)
        for v in values
    ]
    shape = td.broadcast_shapes(*(tuple(v.shape) for v in given))
    return [v.expand(shape) for v in given]


class Distribution:
    """A distribution of tensors: batch_shape of them, each with event_shape."""

    has_rsample = False

    def __init__(self, batch_shape=(), event_shape=(), validate_args=None):
        self._batch, self._event = Size(batch_shape), Size(event_shape)

    batch_shape = property(lambda self: self._batch, doc="The shape of the parameters.")
    event_shape = property(lambda self: self._event, doc="The shape of one draw.")
    stddev = property(lambda self: self.variance.sqrt(), doc="The standard deviation.")

    def _extended(self, sample_shape):
        return (*sample_shape, *self._batch, *self._event)

    def sample(self, sample_shape=()):
        """Draws, sample_shape of them for each distribution, without a gradient."""
        with no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape=()):
        """Draws that depend on the parameters differentiably. NotImplementedError: this distribution has none."""
        raise NotImplementedError(f"{type(self).__name__} has no rsample")

    def sample_n(self, n):
        """n draws."""
        return self.sample((n,))

    def log_prob(self, value):
        """The logarithm of the density at value."""
        raise NotImplementedError(f"{type(self).__name__} has no log_prob")

    def perplexity(self):
        """exp(entropy)."""
        return self.entropy().exp()

    def __repr__(self):
        names = ", ".join(
            f"{k}: {getattr(self, k) if getattr(self, k).numel() == 1 else getattr(self, k).size()}"
            for k in self.arg_names
            if k in self.__dict__
        )
        return f"{type(self).__name__}({names})"

    arg_names = ()


class Independent(Distribution):
    """A distribution whose last batch dimensions are parts of one draw."""

    def __init__(self, base_distribution, reinterpreted_batch_ndims, validate_args=None):
        self.base_dist, self._n = base_distribution, reinterpreted_batch_ndims
        batch, n = tuple(base_distribution.batch_shape), reinterpreted_batch_ndims
        cut = len(batch) - n
        super().__init__(batch[:cut], (*batch[cut:], *base_distribution.event_shape))

    mean = property(lambda self: self.base_dist.mean, doc="The mean.")
    variance = property(lambda self: self.base_dist.variance, doc="The variance.")

    def rsample(self, sample_shape=()):
        """The base's draws."""
        return self.base_dist.rsample(sample_shape)

    def sample(self, sample_shape=()):
        """The base's draws."""
        return self.base_dist.sample(sample_shape)

    def _summed(self, x):
        return x.sum(tuple(range(-self._n, 0))) if self._n else x

    def log_prob(self, value):
        """The sum of the base's over the parts of a draw."""
        return self._summed(self.base_dist.log_prob(value))

    def entropy(self):
        """The sum of the base's."""
        return self._summed(self.base_dist.entropy())


def register_kl(p, q):
    """Enters f(p, q) as the divergence of two kinds of distributions."""

    def enter(f):
        _KL[p, q] = f
        return f

    return enter


def kl_divergence(p, q):
    """The divergence of q from p. NotImplementedError: none is known for the two kinds."""
    for (a, b), f in _KL.items():
        if isinstance(p, a) and isinstance(q, b):
            return f(p, q)
    raise NotImplementedError(
        f"No KL(p || q) is implemented for p type {type(p).__name__} and q type {type(q).__name__}"
    )


@register_kl(Independent, Independent)
def _(p, q):
    return p._summed(kl_divergence(p.base_dist, q.base_dist))


LOG_2PI = math.log(2 * math.pi)
