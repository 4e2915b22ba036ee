"""Imports NumPy so that the threads of its BLAS sleep soon after a product.

OpenBLAS's threads otherwise wait for the next product on their cores for 2^26 cycles, some 25 ms, and take these cores
from treadle's kernels. 2^18 cycles are 0.1 ms: products in quick succession take as long as before. OpenBLAS reads the
setting when it is loaded; a setting of the user's stays.
"""

import os

_NAME = "OPENBLAS_THREAD_TIMEOUT"

if _NAME in os.environ:
    import numpy
else:
    os.environ[_NAME] = "18"
    import numpy  # noqa: F401

    del os.environ[_NAME]
