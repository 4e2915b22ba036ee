"""PyCUDA's names over treadle: put ``treadle.`` before ``pycuda`` in a program's imports, and it runs, with or
without a GPU.

``docs/pycuda.md`` says what is the same, what differs and what is not here.
"""

VERSION = (2025, 1, 2)  # the PyCUDA whose names these are
VERSION_STATUS = ""
VERSION_TEXT = ".".join(str(n) for n in VERSION) + VERSION_STATUS
