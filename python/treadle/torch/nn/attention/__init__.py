"""``torch.nn.attention``: how scaled_dot_product_attention is computed, and masks for it.

There is one way here: products and a softmax, which are fused. PyTorch's choices of kernels are accepted and have no
effect.
"""

import contextlib
import enum

from ... import _modules

WARN_FOR_UNFUSED_KERNELS = False


class SDPBackend(enum.IntEnum):
    """PyTorch's kernels for attention."""

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4


@contextlib.contextmanager
def sdpa_kernel(backends, set_priority=False):
    """with sdpa_kernel(SDPBackend.MATH): has no effect. Raises TypeError unless it gets an SDPBackend or a list of
    them."""
    given = [backends] if isinstance(backends, SDPBackend) else list(backends)
    for b in given:
        if not isinstance(b, SDPBackend):
            raise TypeError(f"sdpa_kernel: backends are SDPBackend's members; {b!r} is none")
    yield


def list_flash_attention_impls():
    """[]: there is nothing to choose from."""
    return []


def current_flash_attention_impl():
    """None."""
    return None


def restore_flash_attention_impl(*args, **kwargs):
    """Does nothing."""


__getattr__, __dir__ = _modules.refusing("torch.nn.attention")
