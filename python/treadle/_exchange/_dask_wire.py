"""Arrays on their way between Dask's processes: the values go as they lie in memory, without a pickle.

An array arrives on the receiver's own default device where that is of the sender's kind (`cuda:0` of one worker is
`cuda:1` of another), and on the default device where the receiver has none of that kind; an array on the CPU stays on
the CPU.
"""

import numpy

from .. import _core
from .._core import ndarray


def register(serialize):
    """Told of distributed.protocol.serialize when it has been imported."""
    serialize.dask_serialize.register(ndarray)(_pack)
    serialize.dask_deserialize.register(ndarray)(_unpack)


def _pack(x, context=None):
    dtype = "bfloat16" if x.dtype.kind == "V" else x.dtype.str
    host = (x.view("uint16") if dtype == "bfloat16" else x).get()
    frame = memoryview(numpy.ascontiguousarray(host).reshape(-1)).cast("B") if host.size else b""
    return {"shape": x.shape, "dtype": dtype, "kind": x.device.kind}, [frame]


def _unpack(header, frames):
    bits = "uint16" if header["dtype"] == "bfloat16" else header["dtype"]
    # What came over a wire in pieces is in several frames.
    frame = frames[0] if len(frames) == 1 else b"".join(bytes(f) for f in frames)
    host = numpy.frombuffer(frame, bits).reshape(header["shape"])
    x = _core.array(host, device="cpu" if header["kind"] == "cpu" else _core.device())
    return x.view("bfloat16") if header["dtype"] == "bfloat16" else x
