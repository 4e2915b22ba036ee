"""Types of kernels' values. treadle.types has their names, and says what a type is asked."""

from . import _spellings  # noqa: F401  (enters the readers of spellings, before anybody parses one)
