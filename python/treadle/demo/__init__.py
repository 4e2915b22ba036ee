"""The demonstration: the programs of `examples/` under NumPy and under treadle, side by side."""
