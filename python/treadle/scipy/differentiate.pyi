# Written by tools/stubs/write.py from the package itself.
from collections.abc import Callable as _Callable
from treadle import _Int
from treadle import _Real
from typing import Any

def derivative(f: _Callable[..., Any], x: Any, *, args: Any = ..., tolerances: Any = None, maxiter: _Int = 10, order: _Int = 8, initial_step: Any = 0.5, step_factor: _Real = 2.0, step_direction: Any = 0, preserve_shape: bool = False, callback: _Callable[..., Any] | None = None) -> Any: ...
def hessian(f: _Callable[..., Any], x: Any, *, tolerances: Any = None, maxiter: _Int = 10, order: _Int = 8, initial_step: _Real = 0.5, step_factor: _Real = 2.0) -> Any: ...
def jacobian(f: _Callable[..., Any], x: Any, *, tolerances: Any = None, maxiter: _Int = 10, order: _Int = 8, initial_step: Any = 0.5, step_factor: _Real = 2.0, step_direction: Any = 0) -> Any: ...

__all__ = ['derivative', 'hessian', 'jacobian']
