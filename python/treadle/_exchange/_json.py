"""The json module and treadle's numbers."""

from functools import wraps

from .. import _core


def register(encoder):
    """Let json's encoder write what it writes of NumPy: float64, which is a Python float there."""
    refuse, make = encoder.JSONEncoder.default, encoder._make_iterencode

    @wraps(refuse)
    def default(self, o):
        if isinstance(o, _core.ndarray) and isinstance(o, float):  # a number of float64, not an array
            return o.item()
        return refuse(self, o)

    @wraps(make)
    def make_in_python(markers, default, encode, indent, text_of_float, *args, **kwargs):
        # The encoder in Python asks isinstance(x, float), and then takes float's own methods of x.
        return make(markers, default, encode, indent, lambda x: text_of_float(float(x)), *args, **kwargs)

    encoder.JSONEncoder.default, encoder._make_iterencode = default, make_in_python
