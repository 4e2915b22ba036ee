# Written by tools/stubs/write.py from the package itself.

cuda: None
debug: bool
git_version: None
hip: None
def parallel_info() -> str: ...
def show() -> str: ...
