"""Programs that run unchanged: ``python -m treadle script.py``, ``%load_ext treadle``, ``treadle.install()``."""

_installed = False


def install():
    """Let numpy, cupy, numba and pycuda mean treadle in the program's own files.

    It holds for imports that come later, in the caller's own file too; libraries keep NumPy. Cells of a notebook that
    were run before keep what they imported. Another call changes nothing.

    Examples
    --------
    >>> callable(np.install)
    True
    """
    global _installed

    if not _installed:
        from . import _start

        _start.start()
        _installed = True


def load_ipython_extension(ipython):
    """``%load_ext treadle``: the cells that follow are the program's own code.

    Parameters
    ----------
    ipython : IPython's shell
        Names in it that hold NumPy's module get treadle's.

    Examples
    --------
    >>> callable(np.load_ipython_extension)
    True
    """
    import sys

    from . import _faces

    install()
    for name, value in list(ipython.user_ns.items()):
        if value is sys.modules.get("numpy"):
            ipython.user_ns[name] = _faces.face("numpy")
