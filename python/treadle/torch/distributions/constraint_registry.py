"""torch.distributions.constraint_registry: transforms from unconstrained real numbers to a constraint's set."""

from ..._public import dir_of as _dir_of
from . import constraints, transforms

__all__ = ["ConstraintRegistry", "biject_to", "transform_to"]


class ConstraintRegistry:
    """registry(constraint) returns the transform that the factory of the constraint's class makes. register(constraint,
    f) adds a factory."""

    def __init__(self):
        self._factories = {}

    def register(self, constraint, factory=None):
        """Register factory(constraint), which makes the transform; without factory this is a decorator. constraint is a
        class, or an object of a class of its own, such as `simplex`."""
        if factory is None:
            return lambda f: self.register(constraint, f)
        self._factories[_key(constraint)] = factory
        return factory

    def __call__(self, constraint):
        if type(constraint) in self._factories:
            return self._factories[type(constraint)](constraint)
        raise NotImplementedError(f"Cannot transform {type(constraint).__name__} constraints")


def _key(constraint):
    return constraint if isinstance(constraint, type) else type(constraint)


biject_to, transform_to = ConstraintRegistry(), ConstraintRegistry()


def _both(*kinds):
    """Register a factory in both registries."""

    def enter(f):
        for kind in kinds:
            biject_to.register(kind, f)
            transform_to.register(kind, f)
        return f

    return enter


_both(constraints.real)(lambda c: transforms.identity_transform)
_both(constraints.greater_than, constraints.greater_than_eq)(
    lambda c: (
        transforms.ExpTransform()
        if not _moved(c.lower_bound)
        else transforms.ComposeTransform([transforms.ExpTransform(), transforms.AffineTransform(c.lower_bound, 1)])
    )
)
_both(constraints.less_than)(
    lambda c: transforms.ComposeTransform([transforms.ExpTransform(), transforms.AffineTransform(c.upper_bound, -1)])
)
_both(constraints.lower_cholesky)(lambda c: transforms.LowerCholeskyTransform())
_both(constraints.positive_definite, constraints.positive_semidefinite)(
    lambda c: transforms.PositiveDefiniteTransform()
)
_both(constraints.corr_cholesky)(lambda c: transforms.CorrCholeskyTransform())
biject_to.register(constraints.simplex, lambda c: transforms.StickBreakingTransform())
transform_to.register(constraints.simplex, lambda c: transforms.SoftmaxTransform())


def _moved(bound):
    return not (isinstance(bound, (int, float)) and bound == 0)


@_both(constraints.interval, constraints.half_open_interval)
def _(c):
    low, high = c.lower_bound, c.upper_bound
    if isinstance(low, (int, float)) and isinstance(high, (int, float)) and (low, high) == (0, 1):
        return transforms.SigmoidTransform()
    return transforms.ComposeTransform([transforms.SigmoidTransform(), transforms.AffineTransform(low, high - low)])


for _registry in (biject_to, transform_to):

    @_registry.register(constraints.independent)
    def _(c, registry=_registry):
        return transforms.IndependentTransform(registry(c.base_constraint), c.reinterpreted_batch_ndims)

    @_registry.register(constraints.cat)
    def _(c, registry=_registry):
        return transforms.CatTransform([registry(part) for part in c.cseq], c.dim, c.lengths)

    @_registry.register(constraints.stack)
    def _(c, registry=_registry):
        return transforms.StackTransform([registry(part) for part in c.cseq], c.dim)


__dir__ = _dir_of(__name__)
