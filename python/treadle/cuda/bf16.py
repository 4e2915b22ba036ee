"""bfloat16 numbers inside kernels: the type and its functions."""

from .._public import dir_of as _dir_of
from ..types import bfloat16
from . import _stubs

globals().update(_stubs.bf16())

__dir__ = _dir_of(__name__)
