# Written by tools/stubs/write.py from the package itself.
from typing import Any

def cho_solve(c_and_lower: Any, b: Any, overwrite_b: bool = False, check_finite: bool = True) -> Any: ...
def invh(a: Any) -> Any: ...

__all__ = ['cho_solve', 'invh']
