"""torch.backends.mkl: Intel's library: not used."""

enabled = False


def is_available():
    """No."""
    return False


def is_built():
    """No."""
    return False
