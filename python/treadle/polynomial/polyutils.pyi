# Written by tools/stubs/write.py from the package itself.
from treadle import ndarray as ndarray
from typing import Any

def mapdomain(x: Any, old: Any, new: Any) -> Any: ...
