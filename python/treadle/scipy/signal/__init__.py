"""Signals, under scipy.signal's names."""

from .._table import Table

__getattr__, __dir__, __all__ = Table("signal").attach()
