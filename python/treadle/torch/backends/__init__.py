"""torch.backends: what PyTorch's libraries are told; it may be set and changes nothing here."""

from . import cuda, cudnn, mkl, mkldnn, mps, openmp, opt_einsum

__all__ = ["cuda", "cudnn", "mkl", "mkldnn", "mps", "openmp", "opt_einsum"]
