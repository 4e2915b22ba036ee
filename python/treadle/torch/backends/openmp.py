"""torch.backends.openmp: threads by OpenMP: not used."""

enabled = False


def is_available():
    """No."""
    return False


def is_built():
    """No."""
    return False
