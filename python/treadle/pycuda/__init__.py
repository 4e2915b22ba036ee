"""PyCUDA's modules: ``import treadle.pycuda.driver as drv``."""
