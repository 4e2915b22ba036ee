"""The program's frames: the nearest frame of the stack that is not treadle's."""

import sys


def outside(also=()):
    """(frame, level): the nearest frame whose module is neither treadle's nor of a package named in also.

    level is what warnings.warn takes as stacklevel, to point there from the function that calls outside."""
    passed = ("treadle", *also)
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in passed:
        frame, level = frame.f_back, level + 1
    return frame, level


def site():
    """(file, line) of the nearest frame that is neither treadle's nor NumPy's."""
    frame, _ = outside(also=("numpy",))
    return frame.f_code.co_filename, frame.f_lineno
