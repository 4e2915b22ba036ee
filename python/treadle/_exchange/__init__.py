"""Other libraries and other processes: protocols, copies, trips to the host."""
