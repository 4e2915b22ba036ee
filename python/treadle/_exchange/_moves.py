"""A count of what operations on sharded arrays have moved between devices: copies and bytes for each line."""

import threading

from .._callers import site

_lock = threading.Lock()  # guards _sites
_sites = {}  # (what, file, line): [copies, bytes]


def note(what, nbytes):
    """Count a move of nbytes bytes between devices for the operation called `what`."""
    with _lock:
        entry = _sites.setdefault((what, *site()), [0, 0])
        entry[0] += 1
        entry[1] += nbytes


def moves(clear=False):
    """What operations on sharded arrays have moved between devices.

    Parameters
    ----------
    clear : bool, default False
        Start counting anew.

    Returns
    -------
    list of tuples: name, "file:line", copies, bytes
        Most bytes first.

    Examples
    --------
    >>> np.sharding.moves(clear=True) is not None
    True
    """
    with _lock:
        rows = [(what, f"{file}:{line}", *entry) for (what, file, line), entry in _sites.items()]
        if clear:
            _sites.clear()
    return sorted(rows, key=lambda row: (-row[3], -row[2], row[0]))
