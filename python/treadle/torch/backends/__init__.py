"""torch.backends: what PyTorch's libraries are told; it may be set and changes nothing here."""

from ..._public import dir_of as _dir_of
from . import cuda, cudnn, mkl, mkldnn, mps, openmp, opt_einsum

__all__ = ["cuda", "cudnn", "mkl", "mkldnn", "mps", "openmp", "opt_einsum"]

__dir__ = _dir_of(__name__)
