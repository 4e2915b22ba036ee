"""GPUArray and the text of its kernels."""
