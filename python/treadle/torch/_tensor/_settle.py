"""Evaluating recorded values together."""

from ... import evaluate


def settle(tensors):
    """Launches what the tensors' values are recorded as; a kernel writes what later ones want too."""
    evaluate(*(t._array for t in tensors if hasattr(t, "_array")))
