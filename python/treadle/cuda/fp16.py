"""Functions of float16 numbers inside kernels."""

from .._public import dir_of as _dir_of
from . import _stubs

globals().update(_stubs.fp16())

__dir__ = _dir_of(__name__)
