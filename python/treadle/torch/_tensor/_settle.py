"""Evaluating recorded values together."""

from ... import evaluate


def settle(tensors):
    """Launch the work that the tensors' values are recorded as. A kernel may also write what later tensors need."""
    evaluate(*(t._array for t in tensors if hasattr(t, "_array")))
