"""What Dask and its workers know of treadle's arrays."""
