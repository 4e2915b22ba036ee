"""CuPy's capture of streams, by treadle's recordings (treadle.graph).

Everything that the thread does between begin_capture() and end_capture() is recorded, on any stream, on GPUs and on
the CPU.
"""

import threading

from .. import _core

_local = threading.local()


class Graph:
    """What stream.end_capture() gives: recorded work, to be done by launch() any number of times.

    It uses the arrays that it was recorded with, whatever they hold by then; arrays that were there before and that it
    writes to (kernels, x[...] = y, in-place operations) have the new values afterwards. An array that was made while
    it was recorded has no values outside. kernels: how many it launches."""

    def __init__(self, capture, stream):
        self._capture, self._stream = capture, stream

    kernels = property(lambda self: self._capture.info["kernels"])

    def launch(self, stream=None):
        """Does the recorded work once. It goes to the default stream, which waits for what the others were given
        before, and they for it."""
        self._capture.play(())

    def upload(self, stream=None):
        """Does nothing: the device has had what it needs since the end of the capture."""

    def __repr__(self):
        return f"<Graph of {self.kernels} kernels>"


def begin(stream):
    if _open() is not None:
        raise RuntimeError("begin_capture: the thread is capturing a stream already")
    capture, _ = _core._capture(stream.device, ())
    _local.open = (stream, capture)
    _core._capture_stream(stream)


def end(stream):
    found = _open()
    if found is None or found[0] != stream:
        raise RuntimeError("end_capture: the thread does not capture this stream")
    _local.open = None
    _core._capture_stream(None)
    try:
        found[1].end((), True)
    except BaseException:
        found[1].drop()
        raise
    return Graph(found[1], stream)


def is_open(stream):
    found = _open()
    return found is not None and found[0] == stream


def _open():
    return getattr(_local, "open", None)
