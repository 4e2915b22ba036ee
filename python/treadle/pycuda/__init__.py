"""PyCUDA's names over treadle: with ``treadle.`` before ``pycuda`` in its imports a program runs, on a GPU or none.

``docs/pycuda.md`` says what is the same, what differs and what is not here.
"""

from .._public import dir_of as _dir_of

VERSION = (2025, 1, 2)  # the PyCUDA whose names these are
VERSION_STATUS = ""
VERSION_TEXT = ".".join(str(n) for n in VERSION) + VERSION_STATUS

__dir__ = _dir_of(__name__)
