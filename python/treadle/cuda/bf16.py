"""bfloat16 numbers inside kernels: the type and its functions."""

from ..types import bfloat16
from . import _stubs

globals().update(_stubs.bf16())
