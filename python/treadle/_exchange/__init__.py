"""Exchange with other libraries and processes: protocols, copies, computation on the host."""
