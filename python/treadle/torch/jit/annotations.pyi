# Written by tools/stubs/write.py from the package itself.
from builtins import dict as Dict
from builtins import list as List
from builtins import tuple as Tuple
from typing import Any as Any



__all__ = ['Any', 'Dict', 'List', 'Tuple']
