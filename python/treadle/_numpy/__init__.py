"""NumPy's functions that are composed of others, and the tables of NumPy's names."""
