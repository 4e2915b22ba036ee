"""NumPy's functions that are composed of others, and what NumPy's names are here."""
