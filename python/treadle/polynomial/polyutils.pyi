# Written by tools/stubs/write.py from the package itself.
from treadle import _ArrayLike
from typing import Any

def mapdomain(x: _ArrayLike, old: Any, new: Any) -> Any: ...
