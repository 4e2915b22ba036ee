"""treadle.config: what was read from the environment, and what can be set while the program runs."""

from types import SimpleNamespace

from . import _core


class Config(SimpleNamespace):
    """check_bounds: integer arrays used as indices are checked, and IndexError tells of one out of range.
    When False they are trusted; what an index out of range then reads is undefined."""

    def __init__(self, **options):
        super().__init__(check_bounds=True, **options)

    def __setattr__(self, name, value):
        if name == "check_bounds":
            _core._check_bounds(value)
        super().__setattr__(name, value)
