"""Functions that return several tensors return named tuples, as torch.return_types defines them."""

from collections import namedtuple
from functools import cache


@cache
def named(function, fields):
    """The type of function's results: a tuple with these fields."""
    kind = namedtuple(function, fields)
    kind.__module__ = "torch.return_types"
    kind.__repr__ = _written
    return kind


def _written(self):
    parts = ",\n".join(f"{k}={v!r}" for k, v in zip(self._fields, self, strict=True))
    return f"torch.return_types.{type(self).__name__}(\n{parts})"
