"""Copies that run while the program goes on."""

from concurrent.futures import Future
from threading import Thread

import numpy

from .. import _core


def start(snapshot):
    """A Future of snapshot.get(); a thread of its own waits for the copy."""
    later = Future()
    later.set_running_or_notify_cancel()

    def run(array):
        try:
            value = array.get()
        except BaseException as error:  # whoever asks for the result is told
            later.set_exception(error)
        else:
            later.set_result(value)

    Thread(target=run, args=(snapshot,), name="treadle-get").start()
    return later


def copy_on(dst, src, stream):
    """dst[...] = src on a stream: C-contiguous, of one shape and dtype, on the stream's device or the host."""
    if not isinstance(src, _core.ndarray):
        src = numpy.asarray(src)
    if dst.shape != src.shape or dst.dtype != src.dtype:
        raise ValueError(
            f"copyto: on a stream both sides have one shape and dtype, not {dst.shape} {dst.dtype} "
            f"and {src.shape} {src.dtype}"
        )
    if dst.size:
        _core._copy_on(dst, src, stream)
