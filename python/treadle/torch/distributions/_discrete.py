"""Distributions of counts and classes."""

import math

from .._prim import apply, array, joint_shape, scalar, td, wrap
from .._register import FUNCTIONS
from .._tensor._random import _source, _uniform
from .._tensor._reduce import log_softmax, logsumexp, softmax
from ..special import lgamma
from ._base import Distribution, ExponentialFamily, broadcast, register_kl
from ._continuous import _between, drawn


def _one_of(probs, logits):
    if (probs is None) == (logits is None):
        raise ValueError("Either `probs` or `logits` must be specified, but not both.")


class _Binary(Distribution):
    """The base of distributions with probs, or with their log odds as logits."""

    arg_names = ("probs", "logits")

    def __init__(self, probs=None, logits=None, validate_args=None):
        _one_of(probs, logits)
        if probs is None:
            (self.logits,) = broadcast(logits)
        else:
            (self.probs,) = broadcast(probs)
        super().__init__((self.logits if probs is None else self.probs).shape)

    def __getattr__(self, name):
        if name == "probs":
            self.probs = apply("sigmoid", self.logits)
            return self.probs
        if name == "logits":
            p = self.probs.clamp(1e-7, 1 - 1e-7)
            self.logits = p.log() - apply("log1p", -p)
            return self.logits
        raise AttributeError(name)


class Bernoulli(_Binary, ExponentialFamily):
    """1 with probability probs, else 0."""

    mean = property(lambda self: self.probs, doc="The mean.")
    variance = property(lambda self: self.probs * (1 - self.probs), doc="The variance.")

    def sample(self, sample_shape=()):
        """Draws, without a gradient."""
        p = self.probs.detach()
        return (drawn(_uniform, self._extended_shape(sample_shape), p) < p).to(p.dtype)

    def log_prob(self, value):
        """The logarithm of value's probability."""
        return value * self.logits - apply("softplus", self.logits)

    has_enumerate_support = True
    mode = property(lambda self: (self.probs >= 0.5).to(self.probs.dtype), doc="The likelier value.")
    param_shape = property(lambda self: self._batch_shape, doc="The shape of the parameters.")

    def enumerate_support(self, expand=True):
        """0 and 1."""
        return self._enumerated(wrap(td.arange(2)).to(self.probs.dtype), expand)

    def entropy(self):
        """The entropy."""
        return apply("softplus", self.logits) - self.probs * self.logits


class Geometric(_Binary):
    """The number of failures before the first success. A success has probability probs."""

    mode = property(lambda self: self.probs * 0, doc="0.")
    mean = property(lambda self: 1 / self.probs - 1, doc="The mean.")
    variance = property(lambda self: (1 / self.probs - 1) / self.probs, doc="The variance.")

    def sample(self, sample_shape=()):
        """By inversion, without a gradient."""
        p = self.probs.detach()
        return (_between(self._extended_shape(sample_shape), p).log() / apply("log1p", -p)).floor()

    def log_prob(self, value):
        """The logarithm of value's probability."""
        return value * apply("log1p", -self.probs) + self.probs.log()

    def entropy(self):
        """The entropy."""
        p = self.probs
        return -(apply("xlogy", p, p) + apply("xlogy", 1 - p, 1 - p)) / p


class Binomial(Distribution):
    """The number of successes in total_count trials, each of probability probs."""

    arg_names = ("total_count", "probs")

    def __init__(self, total_count=1, probs=None, logits=None, validate_args=None):
        _one_of(probs, logits)
        p = apply("sigmoid", logits) if probs is None else probs
        self.probs, self.total_count = broadcast(p, total_count)
        super().__init__(self.probs.shape)

    mean = property(lambda self: self.total_count * self.probs, doc="The mean.")
    variance = property(lambda self: self.total_count * self.probs * (1 - self.probs), doc="The variance.")

    def sample(self, sample_shape=()):
        """Draws, without a gradient."""
        n, p = array(self.total_count.detach()).astype("int64"), array(self.probs.detach()).astype("float64")
        return wrap(_source(None, n.device).binomial(n, p, self._extended_shape(sample_shape))).to(self.probs.dtype)

    def log_prob(self, value):
        """The logarithm of value's probability."""
        n, p = self.total_count, self.probs
        ways = lgamma(n + 1) - lgamma(value + 1) - lgamma(n - value + 1)
        return ways + apply("xlogy", value, p) + apply("xlogy", n - value, 1 - p)

    @property
    def mode(self):
        """The likeliest count."""
        return ((self.total_count + 1) * self.probs).floor().minimum(self.total_count)

    def entropy(self):
        """The entropy, as a sum over all counts. Raises NotImplementedError unless total_count is one number."""
        logs = self._of_counts()
        return -(logs.exp() * logs).sum(0)

    def enumerate_support(self, expand=True):
        """The counts 0 to total_count along a new first dim. Raises NotImplementedError unless it is one number."""
        n = int(self.total_count.max())
        if int(self.total_count.min()) != n:
            raise NotImplementedError("Inhomogeneous total count not supported by `enumerate_support`.")
        return self._enumerated(wrap(td.arange(n + 1, device=array(self.probs).device)).to(self.probs.dtype), expand)

    def _of_counts(self):
        """log_prob of the counts 0 to total_count, along a new first dim."""
        return self.log_prob(self.enumerate_support(False))


class Poisson(ExponentialFamily):
    """The number of events. rate is its mean."""

    arg_names = ("rate",)

    def __init__(self, rate, validate_args=None):
        (self.rate,) = broadcast(rate)
        super().__init__(self.rate.shape)

    mode = property(lambda self: self.rate.floor(), doc="The likeliest count.")
    mean = property(lambda self: self.rate, doc="The mean.")
    variance = mean

    def sample(self, sample_shape=()):
        """Draws, without a gradient."""
        return FUNCTIONS["poisson"](self.rate.detach().expand(self._extended_shape(sample_shape)))

    def log_prob(self, value):
        """The logarithm of value's probability."""
        return apply("xlogy", value, self.rate) - self.rate - lgamma(value + 1)


class Categorical(Distribution):
    """A class number. The last dimension holds the classes' probabilities, or logits that are their logarithms up to a
    constant."""

    arg_names = ("probs", "logits")

    def __init__(self, probs=None, logits=None, validate_args=None):
        _one_of(probs, logits)
        if probs is not None:
            self.probs = probs / probs.sum(-1, True)
            self.logits = self.probs.clamp(1.1920929e-07, 1 - 1.1920929e-07).log()
        else:
            self.logits = logits - logsumexp(logits, -1, True)
            self.probs = softmax(self.logits, -1)
        super().__init__(self.logits.shape[:-1])

    mean = property(lambda self: self.probs[..., 0] * math.nan, doc="NaN: classes have no mean.")
    variance = mean
    mode = property(lambda self: self.probs.argmax(-1), doc="The likeliest class.")
    param_shape = property(lambda self: self.logits.shape, doc="The shape of the parameters.")

    has_enumerate_support = True
    _num_events = property(lambda self: self.logits.shape[-1])

    def enumerate_support(self, expand=True):
        """All classes."""
        return self._enumerated(wrap(td.arange(self._num_events)), expand)

    def sample(self, sample_shape=()):
        """int64 draws, without a gradient."""
        shape = (*sample_shape, *self._batch_shape)
        edges = self.probs.detach().cumsum(-1)
        u = drawn(_uniform, shape, edges)[..., None] * edges[..., -1:]
        return (edges <= u).sum(-1)

    def log_prob(self, value):
        """The logarithm of the class's probability."""
        value = value.long()
        shape = joint_shape(tuple(value.shape), tuple(self._batch_shape))
        logits = self.logits.expand((*shape, self.logits.shape[-1]))
        return logits.gather(-1, value.expand(shape)[..., None])[..., 0]

    def entropy(self):
        """The entropy."""
        return -(self.probs * self.logits.clamp(min=-3.4028234663852886e38)).sum(-1)


class OneHotCategorical(Distribution):
    """A class as a one-hot vector."""

    def __init__(self, probs=None, logits=None, validate_args=None):
        self._class = Categorical(probs, logits)
        self.probs, self.logits = self._class.probs, self._class.logits
        super().__init__(self.probs.shape[:-1], self.probs.shape[-1:])

    @property
    def mode(self):
        """The likeliest class."""
        return (self.probs.argmax(-1, True) == wrap(td.arange(self.probs.shape[-1]))).to(self.probs.dtype)

    mean = property(lambda self: self.probs, doc="The mean.")
    variance = property(lambda self: self.probs * (1 - self.probs), doc="The variance.")

    def sample(self, sample_shape=()):
        """Draws, without a gradient."""
        at = wrap(td.arange(self.probs.shape[-1], device=array(self.probs).device))
        return (self._class.sample(sample_shape)[..., None] == at).to(self.probs.dtype)

    def enumerate_support(self, expand=True):
        """All classes along a new first dim."""
        n = self.probs.shape[-1]
        values = wrap(td.eye(n, device=array(self.probs).device)).to(self.probs.dtype)
        values = values.reshape(n, *[1] * len(self.batch_shape), n)
        return values.expand(n, *self.batch_shape, n) if expand else values

    def log_prob(self, value):
        """The logarithm of the class's probability."""
        return self._class.log_prob(value.argmax(-1))

    def entropy(self):
        """The entropy."""
        return self._class.entropy()


class Multinomial(Distribution):
    """How often each class occurs among total_count draws."""

    def __init__(self, total_count=1, probs=None, logits=None, validate_args=None):
        self.total_count, self._class = total_count, Categorical(probs, logits)
        self.probs, self.logits = self._class.probs, self._class.logits
        super().__init__(self.probs.shape[:-1], self.probs.shape[-1:])

    mean = property(lambda self: self.probs * self.total_count, doc="The mean.")
    variance = property(lambda self: self.total_count * self.probs * (1 - self.probs), doc="The variance.")

    def sample(self, sample_shape=()):
        """Draws, without a gradient."""
        at = wrap(td.arange(self.probs.shape[-1], device=array(self.probs).device))
        draws = self._class.sample((self.total_count, *sample_shape))
        return (draws[..., None] == at).sum(0).to(self.probs.dtype)

    def log_prob(self, value):
        """The logarithm of the counts' probability."""
        ways = lgamma(value.sum(-1) + 1) - lgamma(value + 1).sum(-1)
        logits = apply("select", value == 0, scalar(0, self.logits), self.logits)
        return ways + (logits * value).sum(-1)

    def entropy(self):
        """The entropy."""
        chances = Binomial(self.total_count, self.probs)._of_counts().exp()
        counts = wrap(td.arange(self.total_count + 1, device=array(self.probs).device)).to(self.probs.dtype)
        lost = chances * lgamma(counts + 1).reshape([-1] + [1] * self.probs.ndim)
        return self.total_count * self._class.entropy() - math.lgamma(self.total_count + 1) + lost.sum(0).sum(-1)


@register_kl(Bernoulli, Bernoulli)
def _(p, q):
    gap = apply("softplus", q.logits) - apply("softplus", p.logits)
    return gap + p.probs * (p.logits - q.logits)


@register_kl(Categorical, Categorical)
def _(p, q):
    return (p.probs * (log_softmax(p.logits, -1) - log_softmax(q.logits, -1))).sum(-1)


@register_kl(Poisson, Poisson)
def _(p, q):
    return p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate)
