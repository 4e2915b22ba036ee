# Written by tools/stubs/write.py from the package itself.
from treadle.torch import Size as Size
from typing import Any

Device: Any
Number: Any
