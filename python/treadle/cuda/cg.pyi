# Written by tools/stubs/write.py from the package itself.
from treadle.types import Opaque as _Opaque

GridGroup: _Opaque
