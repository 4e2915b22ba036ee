# Written by tools/stubs/write.py from the package itself.
from typing import Any

FUNCTIONS: dict[Any, Any]
