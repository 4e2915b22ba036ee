# Written by tools/stubs/write.py from the package itself.

fill_uninitialized_memory: bool
