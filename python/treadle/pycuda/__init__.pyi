# Written by tools/stubs/write.py from the package itself.
from . import autoinit as autoinit
from . import autoprimaryctx as autoprimaryctx
from . import characterize as characterize
from . import compiler as compiler
from . import cumath as cumath
from . import curandom as curandom
from . import driver as driver
from . import elementwise as elementwise
from . import gpuarray as gpuarray
from . import reduction as reduction
from . import scan as scan
from . import tools as tools
from typing import Any

VERSION: tuple[Any, ...]
VERSION_STATUS: str
VERSION_TEXT: str
