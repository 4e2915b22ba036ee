# Written by tools/stubs/write.py from the package itself.
from typing import Any

def repeat(func: Any, args: Any = ..., kwargs: Any = None, n_repeat: Any = 10000, *, name: Any = None, n_warmup: Any = 10, max_duration: Any = ..., devices: Any = None) -> Any: ...

__all__ = ['repeat']
