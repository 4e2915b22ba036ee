"""``STAND_INS``: the functions that are compiled in place of functions of NumPy's and Python's. The core looks them up
here.

Methods of arrays are found by name.
"""

from . import _arrayjoins, _arraymatrices, _arraynumbers, _arrays, _draws, _heaps, _linear

STAND_INS = _draws.DRAWS | _arrays.ARRAYS | _arraynumbers.ARRAYS | _arraymatrices.ARRAYS
STAND_INS |= _arrayjoins.ARRAYS | _arrayjoins.METHODS
STAND_INS |= _heaps.HEAPS | _linear.LINALGS | _arrays.METHODS | _arraymatrices.METHODS
