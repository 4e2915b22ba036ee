"""PyCUDA's exceptions, which are treadle's. Error is the base of all, RuntimeError of LogicError and LaunchError."""

from ..._core import CompileError, DeviceError, Error, LaunchError, LogicError, OutOfMemoryError

MemoryError = OutOfMemoryError
RuntimeError = DeviceError

# What PyCUDA's CompileError holds besides its text. The compiler's words are the text itself.
CompileError.msg = property(str, doc="The text.")
CompileError.stderr = property(str, doc="What the compiler said: the text.")
CompileError.stdout = property(lambda self: "", doc="Nothing: compilers write to stderr.")
CompileError.command_line = property(
    lambda self: (), doc="(): no compiler was started by a command, or its text names it."
)


def refusal(call, why, name="INVALID_VALUE"):
    """The LogicError of a call with its arguments that cannot be, as the core words it."""
    return LogicError(f"{call} failed: CUDA_ERROR_{name}: {why}")


__all__ = ["CompileError", "Error", "LaunchError", "LogicError", "MemoryError", "RuntimeError"]
