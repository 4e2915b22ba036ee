"""``torch.cuda.CUDAGraph``: work recorded once and replayed by treadle's recordings (``td.graph``), on all devices."""

import contextlib

from ... import _core
from ..._public import dir_of as _dir_of
from .. import _device


def is_current_stream_capturing():
    """Is this thread's work being recorded?"""
    return _core._capturing()


def graph_pool_handle():
    """A recording keeps memory of its own: a number that nothing looks at."""
    return (0, 0)


class CUDAGraph:
    """Recorded work, to be done by replay() any number of times; made by ``with torch.cuda.graph(g):``.

    A replay reads what tensors from before the recording hold then, and changes those that were changed in place;
    tensors that were made while it was recorded have values after the first replay, which each one renews. Random
    draws go on with their generator. Collectives are recorded as well, when all processes record them."""

    def __init__(self, keep_graph=False):
        self._capture = self._recorded = None

    def capture_begin(self, pool=None, capture_error_mode="global"):
        """The thread's work is recorded from now on instead of done. RuntimeError: it is being recorded already."""
        if is_current_stream_capturing():
            raise RuntimeError("capture_begin: the thread records another graph")
        self.reset()
        self._capture, _ = _core._capture(_device.of_recordings(), ())

    def capture_end(self):
        """Recording has ended. ValueError names what could not be recorded, with its line."""
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
        """Does the recorded work once, behind the device's other work."""
        if self._recorded is None:
            raise RuntimeError("replay: nothing has been recorded")
        if self._recorded.play(()) is None:
            raise RuntimeError("replay: a tensor that the recorded work changes shares its memory with another by now")

    def reset(self):
        """Forgets the recording."""
        self._drop()
        self._recorded = None

    def pool(self):
        """See graph_pool_handle."""
        return graph_pool_handle()


class graph(contextlib.AbstractContextManager):
    """``with torch.cuda.graph(g):`` records the block's work in the CUDAGraph g; nothing of it is done.

    pool, stream and capture_error_mode change nothing. What is created when it is first needed, such as an optimizer's
    state, has to be there: take a step before."""

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
