# Written by tools/stubs/write.py from the package itself.
from typing import Any

def as_strided(x: Any, shape: Any = None, strides: Any = None, subok: bool = False, writeable: bool = True, *, check_bounds: Any = None) -> Any: ...
def sliding_window_view(x: Any, window_shape: Any, axis: Any = None, *, subok: bool = False, writeable: bool = False) -> Any: ...

__all__ = ['as_strided', 'sliding_window_view']
