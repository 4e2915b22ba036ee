# Written by tools/stubs/write.py from the package itself.
from typing import Any

def jitclass(cls_or_spec: Any = None, spec: Any = None) -> Any: ...

__all__ = ['jitclass']
