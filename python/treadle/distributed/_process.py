"""The state of this process: the group of all processes, and what init() makes and finalize() ends."""

import atexit
import json
import time

from .. import _core
from . import _launch, _proof
from ._errors import DistributedError

BACKENDS = ("local", "mpi", "nccl")

# What init() made.
_state = {"world": None, "store": None, "server": None, "mesh": None, "groups": []}


def init(backend=None, device=None, *, rank=None, size=None, address=None, timeout=600.0):
    """Find the other processes; all of them call it.

    Parameters
    ----------
    backend : {"nccl", "mpi", "local"}, optional
        Who carries arrays; "local" means sockets. None means NCCL for a GPU, and for the CPU MPI under mpirun, else
        sockets.
    device : device or str, optional
        Where this process's arrays will lie; it becomes the thread's default. None means the GPU that the process's
        number on its machine says, else the CPU.
    rank, size : int, optional
        This process's number and how many there are, where no launcher's variables say so.
    address : str, optional
        "host:port", where rank 0 will listen.
    timeout : float, default 600.0
        Seconds for starting, and for every collective that the host waits for.

    Returns
    -------
    Group
        All processes.

    Raises
    ------
    TimeoutError
        Not all processes came.
    ValueError
        The launcher's variables, or the arguments, contradict each other.
    MissingLibraryError, ModuleNotFoundError
        The backend's library is missing; the text says what to install.

    Examples
    --------
    >>> from treadle import distributed
    >>> distributed.init("local", "cpu").size
    1
    >>> distributed.finalize()
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
    """Whether this process was started by mpirun, torchrun, spawn() or another launcher whose variables init() reads.

    Returns
    -------
    bool
        False in a program that was started by itself.

    Examples
    --------
    >>> from treadle import distributed
    >>> distributed.launched()
    False
    """
    place = _launch.place()
    return place.mpi or place.host is not None


def is_initialized():
    """Whether init() has been called, and finalize() not since.

    Returns
    -------
    bool
        At first False.

    Examples
    --------
    >>> from treadle import distributed
    >>> distributed.is_initialized()
    False
    """
    return _state["world"] is not None


def proven():
    """Whether the processes of the group have proven to each other that they belong to one job.

    True for a single process, under MPI, and where the job has a token."""
    world = _state["world"]
    return world is None or world.size == 1 or _launch.place().mpi or bool(_proof.token())


def finalize():
    """End the groups after what is under way; the next init() starts anew.

    Examples
    --------
    >>> from treadle import distributed
    >>> distributed.finalize()
    """
    if _state["world"] is not None:
        _close()


def abort(why="aborted"):
    """Break the groups: who waits in one, here and in the other processes, gets PeerError.

    Parameters
    ----------
    why : str, default 'aborted'
        Told to the others.

    Examples
    --------
    >>> from treadle import distributed
    >>> distributed.abort("no more data")
    """
    for g in [*_state["groups"], _state["world"]]:
        if g is not None:
            g.abort(why)
    _close(well=False)


def _device(device, place):
    if device is not None:
        return _core.device(device)
    count = _core._gpu_count() if _core.options()["device"] in (None, "", "cuda") else 0
    if count and (place.mpi or place.host is not None):  # only this GPU: opening the others would take memory on each
        return _core.device(f"cuda:{place.local % count}")
    return _core.device()


def _backend(backend, device, place):
    if backend is None:
        backend = ("mpi" if place.mpi else "local") if device.host else "nccl"
    if backend not in BACKENDS:
        raise ValueError(f"init: backend {backend!r} is none of {', '.join(BACKENDS)}")
    if (backend == "nccl") == device.host:
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
    """Connect to the store. Rank 0 serves it, unless the process that started it does."""
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
    if store is not None and well:  # first, so that processes that wait for this one learn that it leaves
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
    """Close the server, after waiting a while for the other processes to say that they leave."""
    until = time.monotonic() + seconds
    while server.guests() and time.monotonic() < until:
        time.sleep(0.005)
    server.close()


atexit.register(finalize)


def _group(g):
    if g is not None:
        return g
    if _state["world"] is None:
        raise DistributedError("treadle.distributed: init() comes first")
    return _state["world"]
