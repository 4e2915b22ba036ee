# Written by tools/stubs/write.py from the package itself.
from typing import Any

def mapdomain(x: Any, old: Any, new: Any) -> Any: ...
