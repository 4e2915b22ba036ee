"""torch.backends: settings of the libraries that PyTorch uses. Programs may set them; they have no effect here."""

from ..._public import dir_of as _dir_of
from . import cuda, cudnn, mkl, mkldnn, mps, openmp, opt_einsum

__all__ = ["cuda", "cudnn", "mkl", "mkldnn", "mps", "openmp", "opt_einsum"]

__dir__ = _dir_of(__name__)
