"""Streams and events by PyCUDA's names: treadle's own, with other methods."""

from ... import _core
from ._enums import event_flags, stream_flags
from ._errors import refusal


class Stream(_core.Stream):
    """Stream(flags=0, priority=0): a queue of work on the current device. flags: stream_flags.NON_BLOCKING does not
    wait for the default stream; a lower priority number comes first. On the CPU work is done when it is given."""

    __slots__ = ()

    def __new__(cls, flags=0, priority=0):
        if int(flags) not in (0, stream_flags.NON_BLOCKING):
            raise refusal(f"cuStreamCreate({int(flags)})", "flags is one of stream_flags")
        return super().__new__(cls, _core._raw_current(), non_blocking=bool(flags), priority=priority)

    def __init__(self, flags=0, priority=0):
        pass

    handle = property(lambda self: self.ptr, doc="The CUstream as an int; 0 on the CPU.")

    def is_done(self):
        """Has the work given so far passed?"""
        return self.done

    def wait_for_event(self, event):
        """Work given to the stream later waits for the event."""
        self.wait_event(event)


class Event(_core.Event):
    """Event(flags=0): a mark in a stream, whose time can be asked; flags as in event_flags."""

    __slots__ = ()

    def __new__(cls, flags=0):
        if int(flags) & ~7:
            raise refusal(f"cuEventCreate({int(flags)})", "flags are event_flags")
        return super().__new__(
            cls,
            _core._raw_current(),
            timing=not flags & event_flags.DISABLE_TIMING,
            blocking=bool(flags & event_flags.BLOCKING_SYNC),
            interprocess=bool(flags & event_flags.INTERPROCESS),
        )

    def __init__(self, flags=0):
        pass

    def record(self, stream=None):
        """Marks the stream's work so far; returns the event."""
        super().record(stream)
        return self

    def synchronize(self):
        """Waits for the event; returns it."""
        super().synchronize()
        return self

    def time_since(self, event):
        """Milliseconds from event to this one; both recorded and passed. LogicError: one is not, or has no time."""
        try:
            return event.elapsed(self)
        except ValueError as error:
            raise refusal("cuEventElapsedTime", f"{error}", "INVALID_HANDLE") from None

    def time_till(self, event):
        """Milliseconds from this event to the other one, as time_since."""
        return Event.time_since(event, self)

    @staticmethod
    def from_ipc_handle(handle):
        """The event of another process whose ipc_handle() gave the bytes."""
        return _core.Event.__new__(Event, _core._raw_current(), handle=bytes(handle))
