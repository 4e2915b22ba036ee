"""Dask's arrays with treadle's chunks: dask.array cuts, schedules and moves; workers compute on their own devices."""

import os

from .. import _core
from .._core import ndarray


def _dask():
    try:
        import dask.array
    except ImportError as error:
        raise ModuleNotFoundError("from_numpy needs Dask: pip install 'dask[array,distributed]'") from error
    return dask.array


def from_numpy(a, chunks="auto", *, devices=None, client=None, name=None):
    """A dask.array of a's values whose chunks are treadle's arrays, made on the workers' devices.

    a: an array, NumPy's or treadle's, or what dask.array.from_array takes (a memmap, a Zarr array: its blocks are read
    by the workers). chunks: as of dask.array.from_array. client: the distributed.Client whose workers get their devices
    (see use_devices; default: the current one, if there is one). devices: their names, in turn. name: of the array in
    Dask's graphs.

    All of dask.array works on the result; compute() gives treadle's array. Chunks are a part of the graph until they
    are computed, so that a worker that dies loses nothing. ModuleNotFoundError: Dask is not installed.
    """
    da = _dask()
    use_devices(devices, client)
    from .._exchange._dask import _chunk, _like

    source = a.get() if isinstance(a, ndarray) else a
    x = da.from_array(source, chunks=chunks, name=name if name is not None else None)
    return x.map_blocks(_chunk, dtype=x.dtype, meta=_like(x))


def _client(client):
    if client is not None:
        return client
    try:
        from distributed import get_client
    except ImportError:
        return None
    try:
        return get_client()
    except ValueError:  # there is none: Dask computes in this process
        return None


def use_devices(devices=None, client=None):
    """Gives every worker process of a distributed.Client a device, the default one of its threads from now on: devices
    in turn, by default all GPUs of the worker's machine (a worker without GPUs keeps the CPU). Workers that start later
    get theirs too. from_numpy calls it; programs that begin with dask.array.random call it themselves.
    """
    client = _client(client)
    if client is not None:
        devices = [str(d) for d in devices] if devices is not None else None
        client.register_plugin(_plugin()(devices))


def _plugin():
    from distributed.diagnostics.plugin import WorkerPlugin

    class Devices(WorkerPlugin):
        """Chooses a worker's device, once."""

        name = "treadle-devices"

        def __init__(self, devices):
            self.devices, self.client = devices, os.getpid()

        def __reduce__(self):
            return _restored, (self.devices, self.client)

        def setup(self, worker):
            if os.getpid() != self.client:  # workers as threads share the program's default device
                place(worker.name, self.devices)

    return Devices


def _restored(devices, client):
    made = _plugin()(devices)
    made.client = client
    return made


def place(name, devices=None):
    """Makes a device the default of this process: that of the worker's number, which its name says, among devices."""
    if devices is None:
        if _core.device().kind != "cuda":
            return
        devices = [str(d) for d in _core.devices() if d.kind == "cuda"]
    digits = "".join(c for c in str(name).rpartition("-")[2] if c.isdigit())
    number = int(digits) if digits and len(digits) < 6 else os.getpid()
    _core._choose_device(devices[number % len(devices)])
