"""PyCUDA's exceptions, which are treadle's. Error is the base of all, RuntimeError of LogicError and LaunchError."""

from ..._core import CompileError, DeviceError, Error, LaunchError, LogicError, OutOfMemoryError

MemoryError = OutOfMemoryError
RuntimeError = DeviceError

# PyCUDA's CompileError has further attributes besides its text. Here the compiler's messages are the text.
CompileError.msg = property(str, doc="The text.")
CompileError.stderr = property(str, doc="What the compiler said: the text.")
CompileError.stdout = property(lambda self: "", doc="Nothing: compilers write to stderr.")
CompileError.command_line = property(
    lambda self: (), doc="(): no compiler was started by a command, or its text names it."
)


def refusal(call, why, name="INVALID_VALUE"):
    """The LogicError for a call with impossible arguments, worded as the core words it."""
    return LogicError(f"{call} failed: CUDA_ERROR_{name}: {why}")


__all__ = ["CompileError", "Error", "LaunchError", "LogicError", "MemoryError", "RuntimeError"]
