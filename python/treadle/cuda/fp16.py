"""Functions of float16 numbers inside kernels."""

from . import _stubs

globals().update(_stubs.fp16())
