"""array_api_extra, alone or inside SciPy and scikit-learn, and treadle's numbers."""

from functools import wraps

from .. import _core


def register(helpers):
    """Let it take our numbers for arrays: a number of float64 is an instance of float, as NumPy's scalar is."""
    asked = helpers.is_python_scalar

    @wraps(asked)
    def is_python_scalar(x):
        return not isinstance(x, _core.ndarray) and asked(x)

    helpers.is_python_scalar = is_python_scalar
