"""What the oldest NumPy that treadle runs with has in other places, or not at all."""

import numpy

exceptions = getattr(numpy, "exceptions", numpy)  # a module of its own since 1.25
linalg = getattr(numpy.linalg, "_linalg", None) or numpy.linalg.linalg  # where the named results are, since 1.25
array_utils = getattr(numpy.lib, "array_utils", None) or numpy.core.multiarray  # since 2.0
