# Written by tools/stubs/write.py from the package itself.
from treadle import profile as profile
from typing import Any
from typing import Self as _Self

class DebugPrintHook(MemoryHook):
    def __init__(self, file: Any = None, flush: bool = True) -> None: ...
    name: Any
    records: Any
    file: Any
    flush: Any
class LineProfileHook(MemoryHook):
    def __init__(self, max_depth: Any = 0) -> None: ...
    name: Any
    def totals(self) -> Any: ...
    def print_report(self, file: Any = None) -> None: ...
class MemoryHook:
    def __init__(self) -> None: ...
    name: Any
    def __enter__(self) -> _Self: ...
    def __exit__(self, *exc: Any) -> None: ...
    records: Any
debug_print: Any
line_profile: Any
