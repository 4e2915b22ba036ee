"""torch.backends.mkldnn: Intel's library of layers: not used."""

enabled = False


def is_available():
    """No."""
    return False


def is_built():
    """No."""
    return False
