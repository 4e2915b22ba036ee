"""Implicit conversions to NumPy, such as ``numpy.asarray(a)`` of an array on a GPU.

Each copies over the bus and waits for the device. ``treadle.config.implicit_host`` says what happens.
"""

import warnings

from .._callers import site

MODES = ("allow", "warn", "error")

mode = "allow"
_sites = {}  # (file, line): [conversions, bytes]
_warned = set()


def note(a):
    """Called before an array on a GPU is converted to NumPy without .get()."""
    at = site()
    if mode == "error":
        raise TypeError(
            f"implicit conversion of an array on {a.device} to NumPy ({a.nbytes} bytes); write .get() where it is "
            'meant, or set treadle.config.implicit_host = "allow"'
        )
    entry = _sites.setdefault(at, [0, 0])
    entry[0] += 1
    entry[1] += a.nbytes
    if mode == "warn" and at not in _warned:
        _warned.add(at)
        text = f"implicit conversion of an array on {a.device} to NumPy: {a.nbytes} bytes"
        warnings.warn_explicit(text + "; write .get() where it is meant", RuntimeWarning, *at)


def sites(clear=False):
    """The lines of the program that converted arrays on a GPU to NumPy's without .get().

    Parameters
    ----------
    clear : bool, default False
        Whether to reset the counts afterwards, and to warn of each line again.

    Returns
    -------
    dict
        For each "file:line" a pair of ints, the number of conversions and their bytes. Most bytes come first.

    Examples
    --------
    >>> earlier = np.config.implicit_host_sites(clear=True)
    >>> np.config.implicit_host_sites()
    {}
    """
    table = sorted(_sites.items(), key=lambda row: -row[1][1])
    if clear:
        _sites.clear()
        _warned.clear()
    return {f"{file}:{line}": tuple(entry) for (file, line), entry in table}
