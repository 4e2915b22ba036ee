"""cupyx.optimizing.optimize: a block in which CuPy searches for shapes of launches."""

import contextlib

from .._public import dir_of as _dir_of

__all__ = ["optimize"]
_KNOWN = {"max_trials", "timeout", "expected_total_time_per_trial", "max_total_time_per_trial"}


@contextlib.contextmanager
def optimize(*, key=None, path=None, readonly=False, **config_dict):
    """A block that runs as it would without: treadle's compiler chooses the shapes of launches, so nothing is searched
    for, and nothing is written to path. TypeError: a setting that CuPy has not."""
    unknown = set(config_dict) - _KNOWN
    if unknown:
        raise TypeError(f"optimize: {sorted(unknown)[0]!r} is none of {', '.join(sorted(_KNOWN))}")
    yield None


__dir__ = _dir_of(__name__)
