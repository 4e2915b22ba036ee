# Written by tools/stubs/write.py from the package itself.
from . import cluster as cluster
from . import constants as constants
from . import datasets as datasets
from . import differentiate as differentiate
from . import fft as fft
from . import fftpack as fftpack
from . import integrate as integrate
from . import interpolate as interpolate
from . import io as io
from . import linalg as linalg
from . import ndimage as ndimage
from . import odr as odr
from . import optimize as optimize
from . import signal as signal
from . import sparse as sparse
from . import spatial as spatial
from . import special as special
from . import stats as stats
from typing import Any

def get_array_module(*args: Any) -> Any: ...
