"""torch.backends.mps: Apple's GPUs: not used."""

enabled = False


def is_available():
    """No."""
    return False


def is_built():
    """No."""
    return False
