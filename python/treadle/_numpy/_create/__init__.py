"""Functions that make arrays: of other arrays, of ranges, of shapes."""
