# Written by tools/stubs/write.py from the package itself.


