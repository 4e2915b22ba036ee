# Written by tools/stubs/write.py from the package itself.
from . import checkpoint as checkpoint
from . import data as data
from typing import Any

def set_module(obj: Any, mod: Any) -> None: ...
def swap_tensors(t1: Any, t2: Any) -> None: ...

__all__ = ['checkpoint', 'data', 'set_module', 'swap_tensors']
