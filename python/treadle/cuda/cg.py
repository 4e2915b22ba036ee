"""Cooperative groups: the grid as a whole."""

from ..types import GridGroup
from . import _stubs

globals().update(_stubs.cg())
