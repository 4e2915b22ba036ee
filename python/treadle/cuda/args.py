"""How a launch copies a NumPy array that is a kernel's argument: ``kernel[grid, block](cuda.In(a), cuda.Out(b))``."""


from .._public import dir_of as _dir_of


class ArgHint:
    """An array with the copies that a launch makes of it. value: the array."""

    __slots__ = ("value",)
    _td_in = _td_out = True

    def __init__(self, value):
        self.value = value.value if isinstance(value, ArgHint) else value

    def __repr__(self):
        return f"{type(self).__name__}({self.value!r})"


class In(ArgHint):
    """Copied to the device before the kernel; what the kernel writes is lost."""

    __slots__ = ()
    _td_out = False


class Out(ArgHint):
    """Copied back after the kernel, which finds it uninitialised."""

    __slots__ = ()
    _td_in = False


class InOut(ArgHint):
    """Copied to the device before the kernel, and back after it."""

    __slots__ = ()


def wrap_arg(value, default=InOut):
    """value, if it says its way already, else default(value)."""
    return value if isinstance(value, ArgHint) else default(value)


__dir__ = _dir_of(__name__)
