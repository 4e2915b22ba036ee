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

from .._public import dir_of as _dir_of
from .._words import near_in
from ._collectives import (
    all_gather,
    all_reduce,
    all_reduce_,
    all_to_all,
    barrier,
    broadcast,
    exchange,
    gather,
    recv,
    reduce,
    reduce_scatter,
    scatter,
    send,
)
from ._errors import DistributedError, PeerError
from ._group import REDUCTIONS, Group, Work
from ._process import BACKENDS, _group, _state, abort, finalize, init, is_initialized, launched

# ---- starting processes ----


def spawn(f, n, *args, backend=None, devices=None, timeout=None):
    """Run a function in new processes of this machine, which have called init().

    Parameters
    ----------
    f : callable
        It is pickled, so it stands in a module, and a program's own start in ``if __name__ == "__main__":``.
    n : int
        How many processes.
    *args : any
        Passed on to f; they are pickled.
    backend : {"nccl", "mpi", "local"}, optional
        As init's.
    devices : device, str or list of n of them, optional
        A device for all, or one for each.
    timeout : float, optional
        Seconds after which the processes are ended.

    Returns
    -------
    list
        What the processes return.

    Raises
    ------
    ValueError
        n is less than 1, or devices are not n.
    PeerError
        A process died.
    TimeoutError
        They did not end in time.
    Exception
        What f raises in a process is raised here too.

    Examples
    --------
    >>> from treadle import distributed
    >>> distributed.spawn(abs, 2, -3, devices="cpu")
    [3, 3]
    """
    from ._spawn import start

    if n < 1:
        raise ValueError(f"spawn: {n} processes")
    if isinstance(devices, (list, tuple)) and len(devices) != n:
        raise ValueError(f"spawn: {len(devices)} devices for {n} processes")
    devices = list(map(str, devices)) if isinstance(devices, (list, tuple)) else devices and str(devices)
    return start(f, n, args, {"backend": backend, "device": devices}).join(timeout)


# ---- groups ----


def world():
    """The Group of all processes.

    Returns
    -------
    Group
        What init() returned.

    Raises
    ------
    DistributedError
        init() was not called.

    Examples
    --------
    >>> from treadle import distributed
    >>> distributed.init("local", "cpu") is distributed.world()
    True
    >>> distributed.finalize()
    """
    return _group(None)


def group(ranks, parent=None):
    """A Group of some processes, numbered in the given order; all processes of parent call it.

    Parameters
    ----------
    ranks : sequence of ints
        Their numbers in parent.
    parent : Group, optional
        The processes that are chosen from; None means all.

    Returns
    -------
    Group or None
        None in the processes that are left out.

    Raises
    ------
    ValueError
        A number is named twice, or is nobody's.

    Examples
    --------
    >>> from treadle import distributed
    >>> group = distributed.init("local", "cpu")
    >>> distributed.group([0]).ranks
    (0,)
    >>> distributed.finalize()
    """
    parent, ranks = _group(parent), list(ranks)
    if not ranks or len(set(ranks)) != len(ranks) or not all(0 <= r < parent.size for r in ranks):
        raise ValueError(f"group: {ranks} are no ranks of a group of {parent.size}")
    g = parent.split(ranks)
    if g is not None:
        _state["groups"].append(g)
    return g


def local_group(devices):
    """Several devices of this process as a group, without init().

    Parameters
    ----------
    devices : sequence of devices or str
        The devices.

    Returns
    -------
    LocalDevices
        Its collectives take and return a list with one array for each device.

    Raises
    ------
    ValueError
        There is no device, or one is named twice.

    Examples
    --------
    >>> from treadle import distributed
    >>> distributed.local_group(["cpu"]).all_reduce([np.ones(2)])
    [array([1., 1.])]
    """
    from ._nccl import LocalDevices

    return LocalDevices(devices)


def rank(group=None):
    """This process's number.

    Parameters
    ----------
    group : Group, optional
        The processes that take part; None means all.

    Returns
    -------
    int
        From 0 on.

    Raises
    ------
    DistributedError
        init() was not called.

    Examples
    --------
    >>> from treadle import distributed
    >>> group = distributed.init("local", "cpu")
    >>> distributed.rank()
    0
    >>> distributed.finalize()
    """
    return _group(group).rank


def size(group=None):
    """How many processes there are.

    Parameters
    ----------
    group : Group, optional
        The processes that take part; None means all.

    Returns
    -------
    int
        1 in a program that was started by itself.

    Raises
    ------
    DistributedError
        init() was not called.

    Examples
    --------
    >>> from treadle import distributed
    >>> group = distributed.init("local", "cpu")
    >>> distributed.size()
    1
    >>> distributed.finalize()
    """
    return _group(group).size


def __getattr__(name):
    if name in ("from_numpy", "use_devices"):  # Dask's arrays, imported when they are wanted
        from . import _dask

        return getattr(_dask, name)
    raise AttributeError(f"module 'treadle.distributed' has no attribute {name!r}{near_in(__name__, name)}", name=name)


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

__dir__ = _dir_of(__name__)
