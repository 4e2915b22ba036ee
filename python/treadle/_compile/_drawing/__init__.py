"""Random numbers in compiled functions: Numba's states, NumPy's distributions, and NumPy's generators as arguments."""
