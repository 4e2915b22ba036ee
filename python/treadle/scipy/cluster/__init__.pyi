# Written by tools/stubs/write.py from the package itself.
from . import hierarchy as hierarchy
from . import vq as vq



__all__ = ['hierarchy', 'vq']
