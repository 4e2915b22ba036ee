# Written by tools/stubs/write.py from the package itself.
from typing import Any

allow_tf32: bool
benchmark: bool
benchmark_limit: int
deterministic: bool
enabled: bool
def flags(**kwargs: Any) -> Any: ...
def is_available() -> bool: ...
def version() -> None: ...
