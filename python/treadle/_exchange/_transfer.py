"""Copies from the device that run while the program continues."""

from concurrent.futures import Future
from threading import Thread

import numpy

from .. import _core


def start(snapshot):
    """A Future of snapshot.get(). A thread waits for the copy."""
    later = Future()
    later.set_running_or_notify_cancel()

    def run(array):
        try:
            value = array.get()
        except BaseException as error:  # result() raises it
            later.set_exception(error)
        else:
            later.set_result(value)

    Thread(target=run, args=(snapshot,), name="treadle-get").start()
    return later


def get_into(a, stream, order, out, blocking):
    """get() of an array with CuPy's parameters.

    The copy follows the stream's work by itself. The values are there on return, or with blocking=False in the Future.
    Raises TypeError where out has another dtype, ValueError where it has another shape or layout."""
    if isinstance(stream, bool):
        raise TypeError("get: the first parameter is stream; say blocking=False")
    order = "C" if order is None else order
    if order not in ("C", "F", "A"):
        raise ValueError(f"get: order={order!r} is none of 'C', 'F' and 'A'")
    if out is None and blocking:
        host = a.get()
        fortran = order == "F" or (order == "A" and a.flags.f_contiguous and not a.flags.c_contiguous)
        return numpy.asarray(host, order="F" if fortran else "C")
    if out is None:
        return a.get(blocking=False)
    if not isinstance(out, numpy.ndarray):
        raise TypeError(f"get: out is a numpy.ndarray, not {type(out).__name__}")
    if out.dtype != a.dtype:
        raise TypeError(f"get: the array holds {a.dtype}, out {out.dtype}")
    if out.shape != a.shape:
        raise ValueError(f"get: the array's shape is {a.shape}, out's {out.shape}")
    if not (out.flags.c_contiguous or out.flags.f_contiguous):
        raise ValueError("get: out lies in neither C's nor Fortran's order")
    numpy.copyto(out, a.get())
    return out


def copy_on(dst, src, stream):
    """Copy src to dst on a stream.

    Both are C-contiguous, of one shape and dtype, and lie on the stream's device or the host."""
    if not isinstance(src, _core.ndarray):
        src = numpy.asarray(src)
    if dst.shape != src.shape or dst.dtype != src.dtype:
        raise ValueError(
            f"copyto: on a stream both sides have one shape and dtype, not {dst.shape} {dst.dtype} "
            f"and {src.shape} {src.dtype}"
        )
    if dst.size:
        _core._copy_on(dst, src, stream)
