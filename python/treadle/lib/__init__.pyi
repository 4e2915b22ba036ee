# Written by tools/stubs/write.py from the package itself.
from numpy.lib import Arrayterator as Arrayterator
from numpy.lib import NumpyVersion as NumpyVersion
import numpy.lib.array_utils as array_utils
import numpy.lib.format as format
import numpy.lib.introspect as introspect
import numpy.lib.mixins as mixins
import numpy.lib.npyio as npyio
import numpy.lib.scimath as scimath
from . import stride_tricks as stride_tricks
from typing import Any

def add_docstring(*args: Any, **kwargs: Any) -> Any: ...
def add_newdoc(place: str, obj: Any, doc: Any, warn_on_python: bool = True) -> None: ...
test: Any
tracemalloc_domain: int

__all__ = ['Arrayterator', 'NumpyVersion', 'add_docstring', 'add_newdoc', 'array_utils', 'format', 'introspect', 'mixins', 'npyio', 'scimath', 'stride_tricks', 'tracemalloc_domain']
