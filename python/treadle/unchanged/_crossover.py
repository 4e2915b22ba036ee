"""From how many elements on an array is treadle's: measured once a machine and device, kept in the cache's folder."""

import os

DEFAULT = 1 << 15


def elements():
    """What TREADLE_CROSSOVER says, else what was measured."""
    said = os.environ.get("TREADLE_CROSSOVER")
    return int(float(said)) if said else DEFAULT
