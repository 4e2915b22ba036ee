"""The base of distributions: shapes of draws, checks of parameters and values, and divergences between pairs."""

import functools
import inspect
import math
import types
import warnings

from ... import _core
from .._prim import Tensor, joint_shape
from .._tensor._create import as_tensor
from .._tensor._size import Size
from ..autograd.grad_mode import no_grad

_KL = {}


def broadcast(*values):
    """The values as tensors of one shape, in the dtype of the first tensor among them."""
    like = next((v for v in values if isinstance(v, Tensor)), None)
    given = [
        v
        if isinstance(v, Tensor)
        else as_tensor(float(v))
        if like is None
        else as_tensor(v, dtype=like.dtype, device=like.device)
        for v in values
    ]
    shape = joint_shape(*(tuple(v.shape) for v in given))
    return [v.expand(shape) for v in given]


def _holds(constraint, value):
    """Whether all of the value lies in the constraint's set. True inside of vmap, where a value stands for all items
    and has no truth."""
    if not issubclass(type(value), Tensor):
        return True
    found = constraint.check(value).all()
    return not issubclass(type(found), Tensor) or bool(found)


def _looking(init):
    """An __init__ that ends with a check of the parameters, unless validate_args=False. Of nested __init__s only the
    outermost one checks."""
    code = init.__code__ if isinstance(init, types.FunctionType) else None
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount] if code else ()
    takes = "validate_args" in names or (code is not None and code.co_flags & inspect.CO_VARKEYWORDS)

    @functools.wraps(init)
    def looking(self, *args, **kwargs):
        state = self.__dict__
        asked = kwargs.get("validate_args") if takes else kwargs.pop("validate_args", None)
        if "_making" in state:
            return init(self, *args, **kwargs)
        state["_making"] = True
        try:
            init(self, *args, **kwargs)
        finally:
            del state["_making"]
        if asked is not None:
            self._validate_args = bool(asked)
        if self._validate_args and not _core._capturing():
            self._check_parameters()

    return looking


def _checking(log_prob):
    """A log_prob that first checks whether the value lies in the distribution's support."""

    @functools.wraps(log_prob)
    def checked(self, value):
        if self._validate_args and not _core._capturing():
            self._validate_sample(value)
        return log_prob(self, value)

    return checked


class Distribution:
    """A distribution of tensors: batch_shape of them, each with events of event_shape.

    arg_constraints: {parameter: the constraint of its values}. support: the constraint of the draws. With validate_args
    (the default, unless set_default_validate_args(False) was called), parameters and values outside of these raise
    ValueError.
    """

    has_rsample = has_enumerate_support = False
    arg_constraints = {}
    _validate_args = True

    def __init_subclass__(cls, **keywords):
        super().__init_subclass__(**keywords)
        own = cls.__module__.startswith(__package__)  # a program's log_prob calls _validate_sample itself, or does not
        for name, wrap in (("__init__", _looking), ("log_prob", _checking))[: 1 + own]:
            if name in vars(cls):
                setattr(cls, name, wrap(vars(cls)[name]))

    def __init__(self, batch_shape=(), event_shape=(), validate_args=None):
        self._batch_shape, self._event_shape = Size(batch_shape), Size(event_shape)
        if validate_args is not None:
            self._validate_args = validate_args
        super().__init__()  # of a program's class that is a Module, too

    def _get_checked_instance(self, cls, _instance=None):
        """What a subclass's expand() fills: _instance, or a new object of its class, whose parameters may differ."""
        if _instance is None and type(self).__init__ is not cls.__init__:
            raise NotImplementedError(
                f"Subclass {type(self).__name__} of {cls.__name__} that defines a custom __init__ method must also "
                "define a custom .expand() method."
            )
        return type(self).__new__(type(self)) if _instance is None else _instance

    batch_shape = property(lambda self: self._batch_shape, doc="The shape of the parameters.")
    event_shape = property(lambda self: self._event_shape, doc="The shape of one draw.")
    stddev = property(lambda self: self.variance.sqrt(), doc="The standard deviation.")

    @property
    def mode(self):
        """The likeliest value. Raises NotImplementedError if it is not known."""
        raise NotImplementedError(f"{type(self).__name__} has no mode")

    @property
    def mean(self):
        """The mean. Raises NotImplementedError if it is not known."""
        raise NotImplementedError(f"{type(self).__name__} has no mean")

    @property
    def variance(self):
        """The variance. Raises NotImplementedError if it is not known."""
        raise NotImplementedError(f"{type(self).__name__} has no variance")

    @property
    def support(self):
        """The constraint of the draws. Raises NotImplementedError if it is not known."""
        raise NotImplementedError(f"{type(self).__name__} has no support")

    @staticmethod
    def set_default_validate_args(value):
        """Set whether parameters and values are checked when validate_args is not given."""
        if value not in (True, False):
            raise ValueError
        Distribution._validate_args = value

    def _check_parameters(self):
        from .constraints import is_dependent

        for name, constraint in self.arg_constraints.items():
            value = self.__dict__.get(name)
            if isinstance(value, Tensor) and not is_dependent(constraint) and not _holds(constraint, value):
                raise ValueError(
                    f"Expected parameter {name} ({type(value).__name__} of shape {tuple(value.shape)}) of distribution "
                    f"{self!r} to satisfy the constraint {constraint!r}, but found invalid values:\n{value}"
                )

    def _validate_sample(self, value):
        """Raise ValueError if the value's shape does not fit, or if it lies outside of the support."""
        if not hasattr(value, "dim"):
            raise ValueError("The value argument to log_prob must be a Tensor")
        cut = value.dim() - len(self._event_shape)
        if cut < 0 or tuple(value.shape[cut:]) != tuple(self._event_shape):
            raise ValueError(
                f"The right-most size of value must match event_shape: {tuple(value.shape)} vs "
                f"{tuple(self._event_shape)}."
            )
        for i, j in zip(reversed(value.shape[:cut]), reversed(self._batch_shape), strict=False):
            if i != 1 and j != 1 and i != j:
                raise ValueError(
                    f"Value is not broadcastable with batch_shape+event_shape: {tuple(value.shape)} vs "
                    f"{self._extended_shape(())}."
                )
        try:
            support = self.support
        except NotImplementedError:
            warnings.warn(
                f"{type(self)} does not define `support` to enable sample validation. Please initialize the "
                "distribution with `validate_args=False` to turn off validation.",
                stacklevel=2,
            )
            return
        if not _holds(support, value):
            raise ValueError(
                f"Expected value argument ({type(value).__name__} of shape {tuple(value.shape)}) to be within the "
                f"support ({support!r}) of the distribution {self!r}, but found invalid values:\n{value}"
            )

    def expand(self, batch_shape, _instance=None):
        """The same distribution with another batch_shape."""
        batch, own = tuple(batch_shape), len(self._batch_shape)
        made = object.__new__(type(self)) if _instance is None else _instance
        filled = dict(made.__dict__)  # by a subclass's expand()
        made.__dict__.update(self.__dict__)
        for name, value in self.__dict__.items():
            if name == "temperature":  # one temperature holds for all distributions
                continue
            if isinstance(value, Tensor) and tuple(value.shape[:own]) == tuple(self._batch_shape):
                made.__dict__[name] = value.expand((*batch, *value.shape[own:]))
            elif isinstance(value, Distribution) and value.batch_shape[:own] == self._batch_shape:
                made.__dict__[name] = value.expand((*batch, *value.batch_shape[own:]))
        made.__dict__.update(filled, _batch_shape=Size(batch))
        return made

    def cdf(self, value):
        """The probability of a draw up to value."""
        raise NotImplementedError(f"{type(self).__name__} has no cdf")

    def icdf(self, value):
        """The value up to which draws have this probability."""
        raise NotImplementedError(f"{type(self).__name__} has no icdf")

    def entropy(self):
        """The entropy."""
        raise NotImplementedError(f"{type(self).__name__} has no entropy")

    def enumerate_support(self, expand=True):
        """All values, along a new first dim. Raises NotImplementedError if there are infinitely many."""
        raise NotImplementedError(f"{type(self).__name__} has no enumerate_support")

    def _enumerated(self, values, expand):
        """values (n,) in the shape (n, *batch_shape), or (n, 1, …) unless expanded."""
        values = values.reshape((-1, *[1] * len(self._batch_shape)))
        return values.expand((values.shape[0], *self._batch_shape)) if expand else values

    def _extended_shape(self, sample_shape=()):
        return (*sample_shape, *self._batch_shape, *self._event_shape)

    _extended_shape = _extended_shape

    def sample(self, sample_shape=()):
        """Draws, sample_shape of them for each distribution. They have no gradient."""
        with no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape=()):
        """Draws whose gradients flow to the parameters. Raises NotImplementedError if the distribution has none."""
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


class ExponentialFamily(Distribution):
    """The base of a program's own distributions with density exp(natural parameters times statistics - normaliser)."""


class Independent(Distribution):
    """A distribution whose last batch dims become dims of its events."""

    def __init__(self, base_distribution, reinterpreted_batch_ndims, validate_args=None):
        self.base_dist, self._n = base_distribution, reinterpreted_batch_ndims
        batch, n = tuple(base_distribution.batch_shape), reinterpreted_batch_ndims
        cut = len(batch) - n
        if cut < 0:
            raise ValueError(
                f"Expected reinterpreted_batch_ndims <= len(base_distribution.batch_shape), actual {n} vs {len(batch)}"
            )
        super().__init__(batch[:cut], (*batch[cut:], *base_distribution.event_shape))

    mean = property(lambda self: self.base_dist.mean, doc="The mean.")
    mode = property(lambda self: self.base_dist.mode, doc="The likeliest draw.")
    variance = property(lambda self: self.base_dist.variance, doc="The variance.")
    has_rsample = property(lambda self: self.base_dist.has_rsample, doc="Are draws differentiable?")

    @property
    def support(self):
        """The constraint of the draws."""
        from .constraints import independent

        return independent(self.base_dist.support, self._n) if self._n else self.base_dist.support

    reinterpreted_batch_ndims = property(lambda self: self._n, doc="How many dims are parts of a draw.")

    def expand(self, batch_shape, _instance=None):
        """The same distribution, batch_shape of them."""
        parts = tuple(self._event_shape[: self._n])
        return Independent(self.base_dist.expand((*batch_shape, *parts)), self._n, validate_args=False)

    def __repr__(self):
        return f"Independent({self.base_dist}, {self._n})"

    def rsample(self, sample_shape=()):
        """The base's draws."""
        return self.base_dist.rsample(sample_shape)

    def sample(self, sample_shape=()):
        """The base's draws."""
        return self.base_dist.sample(sample_shape)

    def _summed(self, x):
        return x.sum(tuple(range(-self._n, 0))) if self._n else x

    def log_prob(self, value):
        """The sum of the base's log_prob over the parts of an event."""
        return self._summed(self.base_dist.log_prob(value))

    def entropy(self):
        """The sum of the base's entropies."""
        return self._summed(self.base_dist.entropy())


def register_kl(p, q):
    """Register f(p, q) as the divergence between two kinds of distributions."""

    def enter(f):
        _KL[p, q] = f
        return f

    return enter


def kl_divergence(p, q):
    """The divergence of q from p. Raises NotImplementedError if none is registered for the two kinds."""
    found = [(type(p).__mro__.index(a) + type(q).__mro__.index(b), f) for (a, b), f in _KL.items()
             if isinstance(p, a) and isinstance(q, b)]  # fmt: skip
    if not found:
        raise NotImplementedError(
            f"No KL(p || q) is implemented for p type {type(p).__name__} and q type {type(q).__name__}"
        )
    return min(found, key=lambda pair: pair[0])[1](p, q)  # of the closest classes


@register_kl(Independent, Independent)
def _(p, q):
    return p._summed(kl_divergence(p.base_dist, q.base_dist))


LOG_2PI = math.log(2 * math.pi)
