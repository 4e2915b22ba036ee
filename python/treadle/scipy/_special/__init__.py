"""Special functions, family by family."""
