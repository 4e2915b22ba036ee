"""``torch.cuda.CUDAGraph``: work that is recorded once and replayed, by treadle's recordings (``td.graph``), on all
devices."""

import contextlib

from ... import _core
from ..._public import dir_of as _dir_of
from .. import _device


def is_current_stream_capturing():
    """Is this thread's work being recorded?"""
    return _core._capturing()


def graph_pool_handle():
    """A number, which nothing reads: each recording has its own memory."""
    return (0, 0)


class CUDAGraph:
    """Recorded work that replay() repeats. ``with torch.cuda.graph(g):`` records it.

    A replay reads the present values of tensors that existed before the recording, and writes to those that the
    recording changed in place. Tensors that were made while recording get their values from the first replay, and new
    ones from each later replay. Random draws continue with their generator. Collectives are recorded if all processes
    record them.
    """

    def __init__(self, keep_graph=False):
        self._capture = self._recorded = None

    def capture_begin(self, pool=None, capture_error_mode="global"):
        """Record the thread's work from now on instead of doing it. Raises RuntimeError if it is being recorded
        already."""
        if is_current_stream_capturing():
            raise RuntimeError("capture_begin: the thread records another graph")
        self.reset()
        self._capture, _ = _core._capture(_device.of_recordings(), ())

    def capture_end(self):
        """End the recording. Raises ValueError for work that cannot be recorded, with its line."""
        capture, self._capture = self._capture, None
        if capture is None:
            raise RuntimeError("capture_end: capture_begin comes first")
        try:
            capture.end((), True)
        except BaseException:
            capture.drop()
            raise
        self._recorded = capture

    def _drop(self):
        capture, self._capture = self._capture, None
        if capture is not None:
            capture.drop()

    def replay(self):
        """Do the recorded work once, after the device's other work."""
        if self._recorded is None:
            raise RuntimeError("replay: nothing has been recorded")
        if self._recorded.play(()) is None:
            raise RuntimeError("replay: a tensor that the recorded work changes shares its memory with another by now")

    def reset(self):
        """Forget the recording."""
        self._drop()
        self._recorded = None

    def pool(self):
        """See graph_pool_handle."""
        return graph_pool_handle()


class graph(contextlib.AbstractContextManager):
    """``with torch.cuda.graph(g):`` records the block's work in the CUDAGraph g without doing it.

    pool, stream and capture_error_mode have no effect. State that is created at its first use, such as an optimizer's,
    has to exist: take a step before the recording.
    """

    def __init__(self, cuda_graph, pool=None, stream=None, capture_error_mode="global"):
        self.cuda_graph = cuda_graph

    def __enter__(self):
        self.cuda_graph.capture_begin()

    def __exit__(self, kind, *_):
        if kind is None:
            self.cuda_graph.capture_end()
        else:
            self.cuda_graph._drop()


__dir__ = _dir_of(__name__)
