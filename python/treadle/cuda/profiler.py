"""What profilers outside of the process collect, by CuPy's names: start(), stop(). treadle.profile() profiles by
itself."""

from .._public import dir_of as _dir_of
from ._devices import profile_start as start
from ._devices import profile_stop as stop

__all__ = ["start", "stop"]

__dir__ = _dir_of(__name__)
