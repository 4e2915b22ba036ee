"""Names of CuPy's that NumPy does not have: their definitions, and the reasons for those that are refused."""
