"""Dask's arrays with treadle's arrays as chunks. Dask cuts, schedules and moves them; each worker uses its own device.
"""

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
    """A dask.array whose chunks are treadle's arrays, made on the workers' devices.

    All of dask.array works on it; compute() gives treadle's array. Chunks are a part of the graph until they are
    computed, so a worker that dies loses nothing.

    Parameters
    ----------
    a : array_like, memmap or Zarr array
        The values; what dask.array.from_array takes is read by the workers.
    chunks : int, tuple or str, default 'auto'
        As dask.array.from_array's.
    devices : sequence of devices or str, optional
        The workers' devices, in turn.
    client : distributed.Client, optional
        The client whose workers get their devices; None means the current one, if there is one.
    name : str, optional
        Name of the array in Dask's graphs.

    Returns
    -------
    dask.array.Array
        Of a's shape and dtype.

    Raises
    ------
    ModuleNotFoundError
        Dask is not installed.

    Examples
    --------
    >>> from treadle import distributed
    >>> callable(distributed.from_numpy)
    True
    """
    da = _dask()
    use_devices(devices, client)
    from .._exchange._dask._arrays import _chunk, _like

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
    except ValueError:  # no distributed.Client: Dask computes in this process
        return None


def use_devices(devices=None, client=None):
    """Give every worker process of a distributed.Client a device.

    It is the default one of its threads from now on, and workers that start later get theirs too. from_numpy calls it;
    programs that begin with dask.array.random call it themselves.

    Parameters
    ----------
    devices : sequence of devices or str, optional
        In turn; None means all GPUs of the worker's machine, and the CPU where there is none.
    client : distributed.Client, optional
        None means the current one.

    Raises
    ------
    ModuleNotFoundError
        Dask is not installed.

    Examples
    --------
    >>> from treadle import distributed
    >>> callable(distributed.use_devices)
    True
    """
    client = _client(client)
    if client is not None:
        devices = [str(d) for d in devices] if devices is not None else None
        client.register_plugin(_plugin()(devices))


def _plugin():
    from distributed.diagnostics.plugin import WorkerPlugin

    class Devices(WorkerPlugin):
        """A plugin that chooses the device of a worker process when it starts."""

        name = "treadle-devices"

        def __init__(self, devices):
            self.devices, self.client = devices, os.getpid()

        def __reduce__(self):
            return _restored, (self.devices, self.client)

        def setup(self, worker):
            if os.getpid() != self.client:  # workers that are threads of this process keep its default device
                place(worker.name, self.devices)

    return Devices


def _restored(devices, client):
    made = _plugin()(devices)
    made.client = client
    return made


def place(name, devices=None):
    """Make one of the devices this process's default.

    The number at the end of the worker's name chooses it; without such a number the process id does."""
    if devices is None:
        if _core.device().kind != "cuda":
            return
        devices = [str(d) for d in _core.devices() if d.kind == "cuda"]
    digits = "".join(c for c in str(name).rpartition("-")[2] if c.isdigit())
    number = int(digits) if digits and len(digits) < 6 else os.getpid()
    _core._choose_device(devices[number % len(devices)])
