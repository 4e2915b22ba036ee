"""torch.xpu: Intel's GPUs, of which there are none here."""

from .. import _modules


def is_available():
    """False."""
    return False


def device_count():
    """0."""
    return 0


__getattr__, __dir__ = _modules.refusing("torch.xpu")
