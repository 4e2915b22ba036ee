"""Choosing, ordering and counting elements: subscripts with arrays, sorting, searching, sets, histograms."""
