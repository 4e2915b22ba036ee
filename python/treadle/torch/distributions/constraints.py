"""torch.distributions.constraints: sets of values. check(value) tells which values belong to a set."""

from ... import torch
from ..._public import dir_of as _dir_of

__all__ = [
    "Constraint", "MixtureSameFamilyConstraint", "boolean", "cat", "corr_cholesky", "dependent", "dependent_property",
    "greater_than", "greater_than_eq", "half_open_interval", "independent", "integer_interval", "interval",
    "is_dependent", "less_than", "lower_cholesky", "lower_triangular", "multinomial", "nonnegative",
    "nonnegative_integer", "one_hot", "positive", "positive_definite", "positive_integer", "positive_semidefinite",
    "real", "real_vector", "simplex", "square", "stack", "symmetric", "unit_interval",
]  # fmt: skip


class Constraint:
    """A set of events. check(value) tells which events belong to it; event_dim is the number of an event's dims."""

    is_discrete = False
    event_dim = 0

    def check(self, value):
        """A tensor of bools, of value's shape without the dims of an event."""
        raise NotImplementedError  # each constraint has its own

    def __repr__(self):
        return f"{type(self).__name__.lstrip('_')}()"

    def __eq__(self, other):
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self):
        return hash(type(self))


class _Dependent(Constraint):
    """A set that depends on other values, so it cannot be checked."""

    def __init__(self, *, is_discrete=NotImplemented, event_dim=NotImplemented):
        self._discrete, self._dim = is_discrete, event_dim

    is_discrete = property(lambda self: False if self._discrete is NotImplemented else self._discrete)
    event_dim = property(lambda self: 0 if self._dim is NotImplemented else self._dim)

    def __call__(self, *, is_discrete=NotImplemented, event_dim=NotImplemented):
        pick = [b if a is NotImplemented else a for a, b in ((is_discrete, self._discrete), (event_dim, self._dim))]
        return _Dependent(is_discrete=pick[0], event_dim=pick[1])

    def check(self, value):
        raise ValueError("Cannot determine validity of dependent constraint")


def is_dependent(constraint):
    """Is it one that depends on other values?"""
    return isinstance(constraint, (_Dependent, dependent_property))


class dependent_property(property, _Dependent):
    """A property that gives a constraint. The constraint depends on the distribution's parameters."""

    def __init__(self, fn=None, *, is_discrete=NotImplemented, event_dim=NotImplemented):
        property.__init__(self, fn)
        _Dependent.__init__(self, is_discrete=is_discrete, event_dim=event_dim)

    def __call__(self, fn):
        return dependent_property(fn, is_discrete=self._discrete, event_dim=self._dim)


def _tested(name, test, event_dim=0, is_discrete=False):
    """A set given by a function of the value. It is the only object of a new class, from which other constraints can
    derive."""
    facts = {"event_dim": event_dim, "is_discrete": is_discrete, "check": lambda self, value: test(value)}
    cls = globals()["_" + name] = type("_" + name, (Constraint,), facts)
    return cls()


class _Bounded(Constraint):
    """Numbers between bounds."""

    def __init__(self, *bounds, **named):
        given = [*zip(self._names, bounds, strict=False), *named.items()]
        if sorted(name for name, _ in given) != sorted(self._names) or len(given) < len(bounds) + len(named):
            raise TypeError(f"{type(self).__name__}({', '.join(self._names)}): not {bounds} and {named}")
        for name, bound in given:
            setattr(self, name, bound)

    def __repr__(self):
        name = "".join(part.title() for part in type(self).__name__.split("_"))
        return f"{name}({', '.join(f'{n}={getattr(self, n)}' for n in self._names)})"

    def __eq__(self, other):
        same = type(self) is type(other)
        return same and all(_equal(getattr(self, n), getattr(other, n)) for n in self._names)

    __hash__ = Constraint.__hash__


def _equal(a, b):
    r = a == b
    return bool(r.all()) if isinstance(r, torch.Tensor) else bool(r)


class greater_than(_Bounded):
    """Numbers above lower_bound."""

    _names = ("lower_bound",)

    def check(self, value):
        return self.lower_bound < value


class greater_than_eq(greater_than):
    """Numbers greater than or equal to lower_bound."""

    def check(self, value):
        return self.lower_bound <= value


class less_than(_Bounded):
    """Numbers below upper_bound."""

    _names = ("upper_bound",)

    def check(self, value):
        return value < self.upper_bound


class interval(_Bounded):
    """Numbers from lower_bound to upper_bound."""

    _names = ("lower_bound", "upper_bound")

    def check(self, value):
        return (self.lower_bound <= value) & (value <= self.upper_bound)


class half_open_interval(interval):
    """Numbers from lower_bound up to, but not including, upper_bound."""

    def check(self, value):
        return (self.lower_bound <= value) & (value < self.upper_bound)


class integer_interval(interval):
    """Whole numbers from lower_bound to upper_bound."""

    is_discrete = True

    def check(self, value):
        return (value % 1 == 0) & super().check(value)


class _integer_greater_than(greater_than):
    is_discrete = True

    def check(self, value):
        return (value % 1 == 0) & (value >= self.lower_bound)


class multinomial(_Bounded):
    """Counts that sum to at most upper_bound."""

    is_discrete, event_dim, _names = True, 1, ("upper_bound",)

    def check(self, x):
        return (x >= 0).all(-1) & (x.sum(-1) <= self.upper_bound)


class independent(Constraint):
    """Events with additional last dims. All their parts belong to base_constraint."""

    def __init__(self, base_constraint, reinterpreted_batch_ndims):
        self.base_constraint, self.reinterpreted_batch_ndims = base_constraint, reinterpreted_batch_ndims

    is_discrete = property(lambda self: self.base_constraint.is_discrete)
    event_dim = property(lambda self: self.base_constraint.event_dim + self.reinterpreted_batch_ndims)

    def __repr__(self):
        return f"IndependentConstraint({self.base_constraint}, {self.reinterpreted_batch_ndims})"

    def check(self, value):
        result = self.base_constraint.check(value)
        n = self.reinterpreted_batch_ndims
        if result.dim() < n:
            raise ValueError(f"Expected value.dim() >= {self.event_dim} but got {value.dim()}")
        return result.reshape(*result.shape[: result.dim() - n], -1).all(-1) if n else result


class cat(Constraint):
    """Parts of the given lengths along dim, each with its own constraint."""

    def __init__(self, cseq, dim=0, lengths=None):
        self.cseq, self.dim = list(cseq), dim
        self.lengths = [1] * len(self.cseq) if lengths is None else list(lengths)

    is_discrete = property(lambda self: any(c.is_discrete for c in self.cseq))
    event_dim = property(lambda self: max(c.event_dim for c in self.cseq))

    def check(self, value):
        parts = value.split(self.lengths, self.dim)
        return torch.cat([c.check(v) for c, v in zip(self.cseq, parts, strict=True)], self.dim)


class stack(Constraint):
    """Slices along dim, each with its own constraint."""

    def __init__(self, cseq, dim=0):
        self.cseq, self.dim = list(cseq), dim

    is_discrete = property(lambda self: any(c.is_discrete for c in self.cseq))

    @property
    def event_dim(self):
        dim = max(c.event_dim for c in self.cseq)
        return dim + 1 if self.dim + dim < 0 else dim

    def check(self, value):
        slices = value.unbind(self.dim)
        return torch.stack([c.check(v) for c, v in zip(self.cseq, slices, strict=True)], self.dim)


class MixtureSameFamilyConstraint(Constraint):
    """Values that all components of a mixture allow."""

    def __init__(self, base_constraint):
        if not isinstance(base_constraint, Constraint):
            raise AssertionError(f"base_constraint need to be a Constraint, got {type(base_constraint)}")
        self.base_constraint = base_constraint

    is_discrete = property(lambda self: self.base_constraint.is_discrete)
    event_dim = property(lambda self: self.base_constraint.event_dim)

    def check(self, value):
        unsqueezed = value.unsqueeze(-1 - self.event_dim)
        result = self.base_constraint.check(unsqueezed)
        return result.all(-1) if self.event_dim == 0 else result.reshape(*result.shape[:-1], -1).all(-1)


def _lower(x):
    return (x.tril() == x).reshape(*x.shape[:-2], -1).all(-1)


def _symmetric(x):
    return torch.isclose(x, x.mT, atol=1e-6).all(-2).all(-1)


def _square(x):
    return torch.full(tuple(x.shape[:-2]), x.shape[-2] == x.shape[-1], dtype=torch.bool, device=x.device)


def _unit_rows(x):
    return (torch.linalg.norm(x.detach(), dim=-1) - 1).abs().le(1e-4 if x.dtype == torch.float32 else 1e-8).all(-1)


def _eigen(least):
    return lambda x: _symmetric(x) & (torch.linalg.eigvalsh(x).min(-1).values > least)


dependent = _Dependent()
boolean = _tested("Boolean", lambda x: (x == 0) | (x == 1), 0, True)
one_hot = _tested("OneHot", lambda x: ((x == 0) | (x == 1)).all(-1) & x.sum(-1).eq(1), 1, True)
nonnegative_integer, positive_integer = _integer_greater_than(0), _integer_greater_than(1)
real = _tested("Real", lambda x: x == x)
real_vector = independent(real, 1)
positive, nonnegative, unit_interval = greater_than(0.0), greater_than_eq(0.0), interval(0.0, 1.0)
simplex = _tested("Simplex", lambda x: (x >= 0).all(-1) & ((x.sum(-1) - 1).abs() < 1e-6), 1)
lower_triangular = _tested("LowerTriangular", _lower, 2)
lower_cholesky = _tested("LowerCholesky", lambda x: _lower(x) & (x.diagonal(0, -2, -1) > 0).all(-1), 2)
corr_cholesky = _tested("CorrCholesky", lambda x: lower_cholesky.check(x) & _unit_rows(x), 2)
square = _tested("Square", _square, 2)
symmetric = _tested("Symmetric", _symmetric, 2)
positive_semidefinite = _tested("PositiveSemidefinite", _eigen(-1e-6), 2)
positive_definite = _tested("PositiveDefinite", lambda x: _symmetric(x) & torch.linalg.cholesky_ex(x).info.eq(0), 2)

__dir__ = _dir_of(__name__)
