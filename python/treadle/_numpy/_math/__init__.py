"""NumPy's functions that are composed of operations of the core's table."""
