"""Calculus with samples: differences, integrals, interpolation, sliding products, covariances."""
