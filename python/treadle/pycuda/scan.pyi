# Written by tools/stubs/write.py from the package itself.
from treadle import _DTypeLike
from typing import Any

class ExclusiveScanKernel:
    def __init__(self, dtype: _DTypeLike | None, scan_expr: str, neutral: str | None = None, name_prefix: str = 'scan', options: Any = None, preamble: str = '', devices: Any = None, keep: bool = False) -> None: ...
    def __call__(self, input_ary: Any, output_ary: Any = None, allocator: Any = None, stream: Any = None) -> Any: ...
    dtype: Any
    neutral: Any
class InclusiveScanKernel:
    def __init__(self, dtype: _DTypeLike | None, scan_expr: str, neutral: str | None = None, name_prefix: str = 'scan', options: Any = None, preamble: str = '', devices: Any = None, keep: bool = False) -> None: ...
    def __call__(self, input_ary: Any, output_ary: Any = None, allocator: Any = None, stream: Any = None) -> Any: ...
    dtype: Any
    neutral: Any

__all__ = ['ExclusiveScanKernel', 'InclusiveScanKernel']
