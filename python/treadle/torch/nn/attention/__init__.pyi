# Written by tools/stubs/write.py from the package itself.
from contextlib import AbstractContextManager as _AbstractContextManager
from enum import IntEnum as _IntEnum
from . import bias as bias
from . import flex_attention as flex_attention
from typing import Any

class SDPBackend(_IntEnum):
    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4
WARN_FOR_UNFUSED_KERNELS: bool
def current_flash_attention_impl() -> None: ...
def list_flash_attention_impls() -> Any: ...
def restore_flash_attention_impl(*args: Any, **kwargs: Any) -> None: ...
def sdpa_kernel(backends: Any, set_priority: bool = False) -> _AbstractContextManager[Any]: ...
