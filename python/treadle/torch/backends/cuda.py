"""torch.backends.cuda: settings of PyTorch's GPU libraries. Programs may set them; they have no effect here."""

import contextlib
from types import SimpleNamespace

from .. import _modules

matmul = SimpleNamespace(
    allow_tf32=False, allow_fp16_reduced_precision_reduction=False, allow_bf16_reduced_precision_reduction=False
)


def is_built():
    """True: GPUs are used if there are any."""
    return True


def sdp_kernel(enable_flash=True, enable_math=True, enable_mem_efficient=True, enable_cudnn=True):
    """A with statement that changes nothing."""
    return contextlib.nullcontext()


def enable_flash_sdp(enabled):
    """Does nothing."""


enable_math_sdp = enable_mem_efficient_sdp = enable_flash_sdp


__getattr__, __dir__ = _modules.refusing("torch.backends.cuda")
