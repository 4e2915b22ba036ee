"""The CUDA driver's interface by PyCUDA's names, on a GPU, or on the CPU where there is none."""

from .. import _core
from ._contexts import Context, Device, init
from ._enums import *  # noqa: F403
from ._enums import (
    TR_DEFAULT,
    TRSA_OVERRIDE_FORMAT,
    TRSF_NORMALIZED_COORDINATES,
    TRSF_READ_AS_INTEGER,
    TRSF_SRGB,
)
from ._errors import CompileError, Error, LaunchError, LogicError, MemoryError, RuntimeError
from ._memory import *  # noqa: F403
from ._events import Event, Stream
