"""CuPy's names that NumPy has not: what they are here, and which are refused with what reason."""
