"""Cooperative groups: the grid as a whole."""

from .._public import dir_of as _dir_of
from ..types import GridGroup
from . import _stubs

globals().update(_stubs.cg())

__dir__ = _dir_of(__name__)
