"""torch.backends.opt_einsum: a library that orders einsum's products, which treadle does not use."""

from ..._public import dir_of as _dir_of

enabled = False


def is_available():
    """No."""
    return False


def is_built():
    """No."""
    return False


__dir__ = _dir_of(__name__)
