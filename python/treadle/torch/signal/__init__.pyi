# Written by tools/stubs/write.py from the package itself.
from . import windows as windows


