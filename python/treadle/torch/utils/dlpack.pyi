# Written by tools/stubs/write.py from the package itself.
from treadle.torch import from_dlpack as from_dlpack
from treadle.torch import to_dlpack as to_dlpack



__all__ = ['from_dlpack', 'to_dlpack']
