"""torch.backends.opt_einsum: orders of einsum: not used."""

enabled = False


def is_available():
    """No."""
    return False


def is_built():
    """No."""
    return False
