# Written by tools/stubs/write.py from the package itself.
from contextlib import AbstractContextManager as _AbstractContextManager
from typing import Any

def optimize(*, key: Any = None, path: Any = None, readonly: Any = False, **config_dict: Any) -> _AbstractContextManager[Any]: ...

__all__ = ['optimize']
