"""Streams and events by numba.cuda's and CuPy's names. They are treadle.Stream and treadle.Event.

A thread has a current stream (``with stream:``, ``stream.use()``). Kernels of CUDA C++ and copies go there unless they
name a stream. Operations of arrays run on the device's default stream in any case. The two wait for each other.
"""

import contextlib
import functools
import os
import queue
import threading
import weakref

from .. import _core
from . import _graphs
from ._devices import number

# The threads that run callbacks, by (device, stream). Each runs the callbacks of its stream in order.
_callers = {}
_lock = threading.Lock()
_local = threading.local()
_IDLE = 5.0  # seconds without callbacks after which such a thread ends


def _forked():
    """A child of fork() does not inherit the threads."""
    global _lock
    _lock = threading.Lock()
    _callers.clear()


os.register_at_fork(after_in_child=_forked)


def stream():
    """A new stream of the current device. Where a stream is asked for, 0 and None are the default one, and numbers of
    CUstream and objects with __cuda_stream__ work as well."""
    return _core.Stream()


def default_stream():
    """The current device's default stream: the legacy one."""
    return _core._stream_of(None, 0)


legacy_default_stream = default_stream


def per_thread_default_stream():
    """The calling thread's default stream."""
    return _core._stream_of(None, 2)


def external_stream(ptr):
    """A stream of another library, by its CUstream as a number. It has to live until its work is done."""
    return _core._stream_of(None, ptr)


def event(timing=True):
    """A new event of the current device; timing: event_elapsed_time can be asked."""
    return _core.Event(timing=timing)


def event_elapsed_time(evtstart, evtend):
    """Milliseconds from one event to the other, both recorded and passed."""
    return evtstart.elapsed(evtend)


def given(stream, device):
    """The Stream that an argument stream= means. None means the default stream, where arrays are computed."""
    found = _core._stream_of(device, stream)
    return found if found.ptr else None


def get_current_stream(device_id=None):
    """The thread's current stream, if it is one of the current device (or that of the number); else the default one."""
    device = _core.device() if device_id is None else number(device_id)
    found = _core._current_stream(device)
    return _core._stream_of(device, 0) if found is None else found


class ExternalStream:
    """ExternalStream(ptr, device_id=-1): a treadle.Stream over a stream of another library, by its CUstream as a
    number. It has to live until its work is done."""

    def __new__(cls, ptr, device_id=-1):
        return _core._stream_of(None if device_id < 0 else number(device_id), ptr)


def get_elapsed_time(start_event, end_event):
    """Milliseconds from one event to the other, both recorded and passed."""
    return start_event.elapsed(end_event)


# ---- methods of Stream ----


def use(self):
    _core._use_stream(self)
    return self


def enter(self):
    if not hasattr(_local, "outer"):
        _local.outer = []
    _local.outer.append(_core._current_stream(self.device))
    _core._use_stream(self)
    return self


def leave(self, *exc):
    _core._use_stream(_local.outer.pop())


def record(self, event=None):
    event = _core.Event(self.device) if event is None else event
    return event.record(self)


def launch_host_func(self, callback, arg=None):
    add_callback(self, lambda stream, status, given: callback(given), arg)


def begin_capture(self, mode=None):
    _graphs.begin(self)


def end_capture(self):
    return _graphs.end(self)


def is_capturing(self):
    return _graphs.is_open(self)


@functools.cache
def _handle_class():
    import ctypes

    class Handle(ctypes.c_void_p):
        """A stream's address, for libraries of C: a c_void_p that int() takes too."""

        def __int__(self):
            return self.value or 0

        __index__ = __int__

    return Handle


def handle(self):
    return _handle_class()(self.ptr)


@contextlib.contextmanager
def auto_synchronize(self):
    yield self
    self.synchronize()


class _Caller:
    """A thread that runs the callbacks of one stream."""

    def __init__(self, key):
        self.key, self.waiting = key, queue.SimpleQueue()
        self.pending = 0

    def run(self):
        while True:
            try:
                event, callback, stream, arg = self.waiting.get(timeout=_IDLE)
            except queue.Empty:
                with _lock:
                    if self.pending:
                        continue
                    del _callers[self.key]
                    return
            try:
                event.synchronize()
                status = 0
            except RuntimeError:
                status = 1
            try:
                callback(stream, status, arg)
            except Exception as error:
                _unraisable(callback, error)
            with _lock:
                self.pending -= 1
            del event, callback, stream, arg


def _unraisable(callback, error):
    import sys
    from types import SimpleNamespace

    told = {"exc_type": type(error), "exc_value": error, "exc_traceback": error.__traceback__}
    sys.unraisablehook(SimpleNamespace(**told, err_msg="Exception ignored in a stream's callback", object=callback))


def add_callback(self, callback, arg=None):
    mark = _core.Event(self.device, timing=False).record(self)
    key = (self.device.name, self.ptr)
    with _lock:
        caller = _callers.get(key)
        if caller is None:
            caller = _callers[key] = _Caller(key)
            threading.Thread(target=caller.run, name="treadle-callbacks", daemon=True).start()
        caller.pending += 1
        caller.waiting.put((mark, callback, self, arg))


def async_done(self):
    import asyncio

    loop = asyncio.get_running_loop()
    done = loop.create_future()
    later = weakref.ref(done)

    def settle(status):
        f = later()
        if f is None or f.done():
            return
        if status:
            f.set_exception(RuntimeError("the stream's work failed"))
        else:
            f.set_result(None)

    def passed(stream, status, future):
        with contextlib.suppress(RuntimeError):  # the event loop was closed meanwhile
            loop.call_soon_threadsafe(settle, status)

    add_callback(self, passed, done)
    return done
