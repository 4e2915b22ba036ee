"""Python functions that are compiled: their source, their types, what makes kernels of them."""
