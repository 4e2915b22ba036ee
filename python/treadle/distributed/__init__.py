"""Several devices, processes and machines: collectives on treadle arrays.

    import treadle as td
    import treadle.distributed as dist

    dist.init()                                # started by mpirun, torchrun or dist.spawn
    total = dist.all_reduce(gradient, "mean")  # gradient: an array on this process's device

A program is started in one of these ways, and init() finds out in which:

- ``mpirun -n 4 python program.py``: MPI (mpi4py) carries arrays on CPUs, NCCL those on GPUs;
- ``torchrun --nproc-per-node 4 program.py``, or any launcher that sets RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT:
  NCCL for GPUs, sockets for CPUs;
- ``dist.spawn(f, 4, *args)`` in a program: the same, for processes of this machine.

Without any of them the program is a group of one. Collectives return a new array, or write ``out=`` and return that;
all processes of a group make the same calls in the same order, with arrays of one shape and dtype. Lazy values are
computed first. With ``wait=False`` they return a Work, whose wait() gives the array.

A process that dies breaks the groups that it is in: calls raise PeerError in finite time, also those that wait already.
"""

import atexit
import json
import time

from .. import _core
from . import _launch
from ._errors import DistributedError, PeerError
from ._group import REDUCTIONS, Group, Work

BACKENDS = ("local", "mpi", "nccl")

# The process's: what init() made.
_state = {"world": None, "store": None, "server": None, "mesh": None, "groups": []}


# ---- starting and ending ----


def init(backend=None, device=None, *, rank=None, size=None, address=None, timeout=600.0):
    """Finds the other processes; returns the Group of all of them. All processes call it.

    ``device`` is where this process's arrays will lie, and becomes the thread's default device: by default, where there
    are GPUs, the one that the process's number on its machine says, else the CPU. ``backend`` is "nccl", "mpi" or
    "local" (sockets); by default NCCL for a GPU, and for the CPU MPI under mpirun, else sockets. ``rank``, ``size`` and
    ``address`` ("host:port", where rank 0 will listen) say what else the launcher's variables say. ``timeout``
    (seconds) holds for starting and for every collective that the host waits for.

    Raises: TimeoutError: not all processes came; ValueError: the launcher's variables contradict each other;
    MissingLibraryError, ModuleNotFoundError: the backend's library, and what to install.
    """
    if rank is None and size is None and address is None:
        place = _launch.place()
    else:
        place = _launch.explicit(rank, size, address)
    return _begin(backend, device, place, timeout)


def _begin(backend, device, place, timeout):
    if _state["world"] is not None:
        raise DistributedError("init: was called before; finalize() ends what it made")
    device = _device(device, place)
    backend = _backend(backend, device, place)
    _core.use(device)
    try:
        _state["world"] = _make(backend, device, place, timeout)
    except BaseException:
        _close()
        raise
    return _state["world"]


def launched():
    """Was this process started by mpirun, torchrun, spawn() or another launcher whose variables init() reads?"""
    place = _launch.place()
    return place.mpi or place.host is not None


def is_initialized():
    """Has init() been called, and finalize() not since?"""
    return _state["world"] is not None


def finalize():
    """Ends the groups after what is under way; the next init() starts anew. Without init() it does nothing."""
    if _state["world"] is not None:
        _close()


def abort(why="aborted"):
    """Breaks the groups: whoever waits in one, here and in the other processes, gets PeerError."""
    for g in [*_state["groups"], _state["world"]]:
        if g is not None:
            g.abort(why)
    _close(well=False)


def spawn(f, n, *args, backend=None, devices=None, timeout=None):
    """Runs f(*args) in n new processes of this machine, which have called init(): the list of what they return.

    f and args are pickled, so f stands in a module (and a program's own start in ``if __name__ == "__main__":``).
    ``devices`` is a device for all, or a list of n. Where one raises, its exception is raised here, with its traceback
    as the cause, and the others are ended; PeerError: one died. ``timeout``: seconds after which they are ended with
    TimeoutError.
    """
    from ._spawn import start

    if n < 1:
        raise ValueError(f"spawn: {n} processes")
    if isinstance(devices, (list, tuple)) and len(devices) != n:
        raise ValueError(f"spawn: {len(devices)} devices for {n} processes")
    devices = list(map(str, devices)) if isinstance(devices, (list, tuple)) else devices and str(devices)
    return start(f, n, args, {"backend": backend, "device": devices}).join(timeout)


def _device(device, place):
    if device is not None:
        return _core.device(device)
    count = _core._gpu_count() if _core.options()["device"] in (None, "", "cuda") else 0
    if count and (place.mpi or place.host is not None):  # the others are not even opened: each costs memory
        return _core.device(f"cuda:{place.local % count}")
    return _core.device()


def _backend(backend, device, place):
    if backend is None:
        backend = "nccl" if device.kind != "cpu" else "mpi" if place.mpi else "local"
    if backend not in BACKENDS:
        raise ValueError(f"init: backend {backend!r} is none of {', '.join(BACKENDS)}")
    if (backend == "nccl") != (device.kind != "cpu"):
        raise ValueError(f"init: the backend {backend!r} does not carry arrays on {device}")
    if backend == "local" and place.mpi:
        raise ValueError("init: under mpirun arrays on the CPU are carried by the backend 'mpi'")
    return backend


def _make(backend, device, place, timeout):
    if backend == "mpi":
        from ._mpi import world

        return world(device, timeout)
    if not place.mpi and place.size > 1:
        _state["store"] = _join(place, timeout)
    if backend == "nccl":
        from ._nccl import world

        return world(device, place, _state["store"], timeout)
    from ._local import LocalGroup
    from ._mesh import Mesh

    _state["mesh"] = Mesh(place.rank, place.size, _state["store"], timeout)
    return LocalGroup(_state["mesh"], place.rank, range(place.size), device)


def _join(place, timeout):
    """The store; rank 0 serves it."""
    from ._store import Client, Server

    if place.serves and place.rank == 0:
        _state["server"] = _serve(Server, place)
    return Client(place.host, place.ports, str(place.rank), timeout)


def _serve(Server, place):
    for port in place.ports:
        try:
            return Server(place.host, port, place.size)
        except OSError as error:
            why = error
    ports = ", ".join(map(str, place.ports))
    raise DistributedError(
        f"rank 0 cannot listen at {place.host}, port {ports}: {why}. Set MASTER_ADDR to an address that rank 0's "
        "machine itself has, and MASTER_PORT to a port that is free there; other addresses are not listened "
        "at, since whoever reaches them could join"
    )


def _close(well=True):
    groups, world, mesh, store, server = (_state[k] for k in ("groups", "world", "mesh", "store", "server"))
    _state.update(world=None, store=None, server=None, mesh=None, groups=[])
    last = {g.name: g.count for g in [*groups, world] if g is not None}
    ending = [g for g in [*groups, world] if g is not None and well]
    for g in ending:
        g.drain()
    if store is not None and well:  # first: who waits for this process is to know
        store.farewell(json.dumps(last).encode())
    for g in ending:
        g.close()
    if mesh is not None:
        mesh.close()
    if store is not None:
        store.close(well)
    if server is not None:
        _let_go(server)


def _let_go(server, seconds=2.0):
    """The others may still want to say that they go."""
    until = time.monotonic() + seconds
    while server.guests() and time.monotonic() < until:
        time.sleep(0.005)
    server.close()


atexit.register(finalize)


# ---- groups ----


def _group(g):
    if g is not None:
        return g
    if _state["world"] is None:
        raise DistributedError("treadle.distributed: init() comes first")
    return _state["world"]


def world():
    """The Group that init() made. DistributedError: it was not called."""
    return _group(None)


def group(ranks, parent=None):
    """A Group of those processes, numbered in this order; None in the others. All processes of parent (default: all)
    call it.
    """
    parent, ranks = _group(parent), list(ranks)
    if not ranks or len(set(ranks)) != len(ranks) or not all(0 <= r < parent.size for r in ranks):
        raise ValueError(f"group: {ranks} are no ranks of a group of {parent.size}")
    g = parent.split(ranks)
    if g is not None:
        _state["groups"].append(g)
    return g


def local_group(devices):
    """Several devices of this process as a group, without init(): see LocalDevices."""
    from ._nccl import LocalDevices

    return LocalDevices(devices)


def rank(group=None):
    """This process's number."""
    return _group(group).rank


def size(group=None):
    """How many processes there are."""
    return _group(group).size


# ---- collectives: those of the group, by default of all processes ----


def broadcast(a, root=0, *, out=None, group=None, wait=True):
    """The array of process `root`, on all of them; a gives shape and dtype, elsewhere its values do not matter."""
    return _group(group).broadcast(a, root, out=out, wait=wait)


def all_reduce(a, op="sum", *, out=None, group=None, wait=True):
    """The sum of all processes' arrays, the same bits everywhere. op: "sum", "prod", "min", "max", "mean"."""
    return _group(group).all_reduce(a, op, out=out, wait=wait)


def all_reduce_(arrays, op="sum", *, group=None, wait=True):
    """The same for a list of arrays at once, each of which gets its result in place: the list. Between GPUs one launch,
    elsewhere one message for each dtype. With wait=False nothing may use the arrays before the Work's wait()."""
    return _group(group).all_reduce_(arrays, op, wait=wait)


def reduce(a, op="sum", root=0, *, out=None, group=None, wait=True):
    """As all_reduce, but only process `root` has the values; elsewhere they are undefined."""
    return _group(group).reduce(a, op, root, out=out, wait=wait)


def all_gather(a, *, out=None, group=None, wait=True):
    """All processes' arrays, stacked: shape (size, *a.shape)."""
    return _group(group).all_gather(a, out=out, wait=wait)


def reduce_scatter(a, op="sum", *, out=None, group=None, wait=True):
    """Of a of shape (size, …): row r of all processes' arrays reduced, on process r."""
    return _group(group).reduce_scatter(a, op, out=out, wait=wait)


def all_to_all(a, *, out=None, group=None, wait=True):
    """Of a of shape (size, …): row r goes to process r; row r of the result came from there."""
    return _group(group).all_to_all(a, out=out, wait=wait)


def gather(a, root=0, *, out=None, group=None, wait=True):
    """As all_gather, but only process `root` gets the arrays; None elsewhere."""
    return _group(group).gather(a, root, out=out, wait=wait)


def scatter(a, root=0, *, like=None, out=None, group=None, wait=True):
    """Row r of process `root`'s array, on process r; elsewhere `like` gives shape and dtype of a row."""
    return _group(group).scatter(a, root, like=like, out=out, wait=wait)


def send(a, peer, *, group=None, wait=True):
    """Sends a to the process `peer`, which receives it with recv."""
    return _group(group).send(a, peer, wait=wait)


def recv(like, peer, *, out=None, group=None, wait=True):
    """What the process `peer` sends; like gives shape and dtype."""
    return _group(group).recv(like, peer, out=out, wait=wait)


def exchange(sends, likes, *, group=None, wait=True):
    """Several sends and receives at once: lists of (array, peer); likes give shapes and dtypes. Returns what came."""
    return _group(group).exchange(sends, likes, wait=wait)


def barrier(group=None):
    """Returns when all processes have called it."""
    _group(group).barrier()


def __getattr__(name):
    if name in ("from_numpy", "use_devices"):  # Dask's arrays, imported when they are wanted
        from . import _dask

        return getattr(_dask, name)
    raise AttributeError(f"module 'treadle.distributed' has no attribute {name!r}")


__all__ = [
    "BACKENDS",
    "REDUCTIONS",
    "DistributedError",
    "Group",
    "PeerError",
    "Work",
    "abort",
    "all_gather",
    "all_reduce",
    "all_reduce_",
    "all_to_all",
    "barrier",
    "broadcast",
    "exchange",
    "finalize",
    "from_numpy",
    "gather",
    "group",
    "init",
    "is_initialized",
    "launched",
    "local_group",
    "rank",
    "recv",
    "reduce",
    "reduce_scatter",
    "scatter",
    "send",
    "size",
    "spawn",
    "use_devices",
    "world",
]
