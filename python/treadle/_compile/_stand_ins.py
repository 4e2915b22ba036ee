"""What is compiled in place of functions of NumPy's and Python's: ``STAND_INS``, by the function.

By name it has what stands for methods of arrays. The core asks for them.
"""

from . import _arraymatrices, _arraynumbers, _arrays, _draws, _heaps, _linear

STAND_INS = _draws.DRAWS | _arrays.ARRAYS | _arraynumbers.ARRAYS | _arraymatrices.ARRAYS
STAND_INS |= _heaps.HEAPS | _linear.LINALGS | _arrays.METHODS | _arraymatrices.METHODS
