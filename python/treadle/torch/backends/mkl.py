"""torch.backends.mkl: Intel's math library, which treadle does not use."""

from .. import _modules

enabled = False


def is_available():
    """No."""
    return False


def is_built():
    """No."""
    return False


__getattr__, __dir__ = _modules.refusing("torch.backends.mkl")
