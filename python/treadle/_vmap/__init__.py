"""Functions of one item, run once for all items."""
