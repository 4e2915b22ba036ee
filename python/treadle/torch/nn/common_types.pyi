# Written by tools/stubs/write.py from the package itself.



__all__ = []
