"""PyCUDA's names over treadle. With ``treadle.`` before ``pycuda`` in its imports a program runs, with or without a
GPU.

``docs/pycuda.md`` says what is the same, what differs and what is missing.
"""

from .._public import dir_of as _dir_of

VERSION = (2025, 1, 2)  # the version of PyCUDA that has these names
VERSION_STATUS = ""
VERSION_TEXT = ".".join(str(n) for n in VERSION) + VERSION_STATUS

__dir__ = _dir_of(__name__)
