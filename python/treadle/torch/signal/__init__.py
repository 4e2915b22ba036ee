"""torch.signal: windows."""

from . import windows as windows
