# Written by tools/stubs/write.py from the package itself.
from treadle.pycuda.driver import Context as _Context
from treadle.pycuda.driver import Device as _Device

context: _Context
device: _Device
