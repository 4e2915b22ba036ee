"""Where the package's functions of several arrays compute: on one device, that of their first array."""

from . import _core
from ._core import asarray, empty, ndarray


def on(device, x, dtype=None):
    """x, an array or what becomes one, on device, as dtype if that is given. ValueError: it lies on another device."""
    if isinstance(x, ndarray) and x.device != device:
        _core._beside("operands", empty(0, device=device), x)
    return asarray(x, dtype, device=device)
