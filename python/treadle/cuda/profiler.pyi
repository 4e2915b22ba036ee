# Written by tools/stubs/write.py from the package itself.
from treadle.cuda import profile_start as start
from treadle.cuda import profile_stop as stop



__all__ = ['start', 'stop']
