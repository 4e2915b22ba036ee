# Written by tools/stubs/write.py from the package itself.
from . import devicearray as devicearray
from . import devices as devices
from . import driver as driver


