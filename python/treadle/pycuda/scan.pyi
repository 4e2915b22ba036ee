# Written by tools/stubs/write.py from the package itself.
from typing import Any

class ExclusiveScanKernel:
    def __init__(self, dtype: Any, scan_expr: Any, neutral: Any = None, name_prefix: Any = 'scan', options: Any = None, preamble: Any = '', devices: Any = None, keep: bool = False) -> None: ...
    def __call__(self, input_ary: Any, output_ary: Any = None, allocator: Any = None, stream: Any = None) -> Any: ...
    dtype: Any
    neutral: Any
class InclusiveScanKernel:
    def __init__(self, dtype: Any, scan_expr: Any, neutral: Any = None, name_prefix: Any = 'scan', options: Any = None, preamble: Any = '', devices: Any = None, keep: bool = False) -> None: ...
    def __call__(self, input_ary: Any, output_ary: Any = None, allocator: Any = None, stream: Any = None) -> Any: ...
    dtype: Any
    neutral: Any

__all__ = ['ExclusiveScanKernel', 'InclusiveScanKernel']
