# Written by tools/stubs/write.py from the package itself.
from typing import Any

class ConstraintRegistry:
    def __init__(self) -> None: ...
    def register(self, constraint: Any, factory: Any = None) -> Any: ...
    def __call__(self, constraint: Any) -> Any: ...
biject_to: ConstraintRegistry
transform_to: ConstraintRegistry

__all__ = ['ConstraintRegistry', 'biject_to', 'transform_to']
