"""Sends arrays between Dask's processes: their memory is sent as it is, without pickle.

The receiver puts an array on its own default device if that is of the sender's kind: `cuda:0` of one worker becomes
`cuda:1` of another. If it has no device of that kind, its default device is used. An array on the CPU stays on the
CPU.
"""

import numpy

from ... import _core
from ..._core import ndarray


def register(serialize):
    """Register the functions that send arrays. Called once distributed.protocol.serialize has been imported."""
    serialize.dask_serialize.register(ndarray)(_pack)
    serialize.dask_deserialize.register(ndarray)(_unpack)


def _pack(x, context=None):
    dtype = "bfloat16" if x.dtype.kind == "V" else x.dtype.str
    host = (x.view("uint16") if dtype == "bfloat16" else x).get()
    frame = memoryview(numpy.ascontiguousarray(host).reshape(-1)).cast("B") if host.size else b""
    return {"shape": x.shape, "dtype": dtype, "kind": x.device.kind}, [frame]


def _unpack(header, frames):
    bits = "uint16" if header["dtype"] == "bfloat16" else header["dtype"]
    # Dask may have cut the memory into several frames.
    frame = frames[0] if len(frames) == 1 else b"".join(bytes(f) for f in frames)
    host = numpy.frombuffer(frame, bits).reshape(header["shape"])
    x = _core.array(host, device="cpu" if header["kind"] == "cpu" else _core.device())
    return x.view("bfloat16") if header["dtype"] == "bfloat16" else x
