"""Kernels written as CUDA C++ text, by CuPy's names."""
