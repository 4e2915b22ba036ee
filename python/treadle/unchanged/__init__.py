"""Programs that run unchanged: ``python -m treadle script.py``, ``%load_ext treadle``, ``treadle.install()``."""

_installed = False


def install():
    """From now on numpy, cupy, numba and pycuda mean treadle in the program's own files, for imports that come later,
    in the caller's own file too. Libraries keep NumPy. May be called again: nothing more happens.

    In an interactive session or a notebook, cells that were run before keep what they imported: import again."""
    global _installed

    if not _installed:
        from . import _start

        _start.start()
        _installed = True


def load_ipython_extension(ipython):
    """``%load_ext treadle``: the cells that follow are the program's own code; names that hold NumPy's module get
    treadle's."""
    import sys

    from . import _faces

    install()
    for name, value in list(ipython.user_ns.items()):
        if value is sys.modules.get("numpy"):
            ipython.user_ns[name] = _faces.face("numpy")
