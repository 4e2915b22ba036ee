# Written by tools/stubs/write.py from the package itself.
from treadle.torch.nn.modules.module import Handle as RemovableHandle
from typing import Any

def unserializable_hook(f: Any) -> Any: ...
def warn_if_has_hooks(tensor: Any) -> None: ...

__all__ = ['RemovableHandle', 'unserializable_hook', 'warn_if_has_hooks']
