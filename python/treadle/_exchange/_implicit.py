"""Conversions to NumPy that a program does not spell out: ``numpy.asarray(a)`` of an array on a GPU.

Each copies over the bus and waits for the device. ``treadle.config.implicit_host`` says what happens.
"""

import sys
import warnings

MODES = ("allow", "warn", "error")

mode = "allow"
_sites = {}  # (file, line): [conversions, bytes]
_warned = set()


def _site():
    """File and line of the nearest frame that is neither ours nor NumPy's."""
    frame = sys._getframe(2)
    while frame.f_back and frame.f_globals.get("__name__", "").split(".")[0] in ("treadle", "numpy"):
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno


def note(a):
    """Called before an array on a GPU becomes a NumPy array without .get()."""
    site = _site()
    if mode == "error":
        raise TypeError(
            f"implicit conversion of an array on {a.device} to NumPy ({a.nbytes} bytes); write .get() where it is "
            'meant, or set treadle.config.implicit_host = "allow"'
        )
    entry = _sites.setdefault(site, [0, 0])
    entry[0] += 1
    entry[1] += a.nbytes
    if mode == "warn" and site not in _warned:
        _warned.add(site)
        text = f"implicit conversion of an array on {a.device} to NumPy: {a.nbytes} bytes"
        warnings.warn_explicit(text + "; write .get() where it is meant", RuntimeWarning, *site)


def sites(clear=False):
    """A dict "file:line" -> (conversions, bytes), most bytes first; with clear counting starts anew."""
    table = sorted(_sites.items(), key=lambda row: -row[1][1])
    if clear:
        _sites.clear()
        _warned.clear()
    return {f"{file}:{line}": tuple(entry) for (file, line), entry in table}
